#pragma once

#include "least_squares.hpp"
#include "path_search.hpp"

// The path of a large least squares problem: on a working set of columns, then a test over all columns, at every size
// at once, that no exchange with one outside helps (working_set.hpp has it for one size). With U the union of the
// supports in the order in which columns come in, Q an orthonormal basis of A_U and m the place in U where a size's
// support is complete,
//
//   |Q_S'a_j| <= |(Q'a_j)_1..m|,   g_j = -a_j'y + (Q'a_j)'t,   t = Q'A_S x,
//
// so that one product Q'A, in single precision, serves all sizes. Columns that it leaves at some size join the set, and
// every size is improved from itself and its neighbours.

namespace pursuit {

class WorkingSetPath {
public:
  using Path = PathSearch<BasisState>;
  std::vector<Path::Size> best; // of the sizes `first`, `first` + 1, ...
  i64 first = 0;
  bool stopped = false;

  WorkingSetPath(const LeastSquares& problem_, const SearchPlan& plan_, Poll& poll_)
      : problem(problem_), A(problem_.A), height(std::sqrt(2.0 * std::fabs(problem_.f0))), plan(plan_), poll(poll_),
        set(problem_, plan_) {}

  // False where so many columns are contested that a path on all of them costs no more, or columns are too close to
  // dependent. Without `claims` columns outside the set are not tested.
  bool run(bool claims, const std::function<bool(i64, double)>& reached) {
    grow(!claims || plan.k >= kLong ? 1 : 0, reached);
    Units open; // sizes that are not tested, by place
    for (std::size_t at = 0; at < best.size(); ++at) open.push_back(static_cast<i64>(at));
    least.assign(best.size(), HUGE_VAL);
    for (int round = 0; claims && round < kTests && !open.empty() && !poll.stop(); ++round)
      if (!test(open)) return false;
    for (i64 at : open) best[at].settled = false;
    for (auto& size : best) {
      size.point = set.to_columns(size.point);
      for (i64& j : size.doubtful) j = set.cols[j];
    }
    return true;
  }

private:
  static constexpr i64 kFewest = 40;
  static constexpr i64 kSizes = 8;        // sizes whose gradients are looked at
  static constexpr i64 kLong = 64;        // sizes from which on a pass over X costs less than a longer test
  static constexpr int kRounds = 2;       // in which the set grows from a forward search
  static constexpr int kTests = 6;        // of all columns at most
  static constexpr double kNear = 0.7;    // of the gradient that the next column of the path has
  static constexpr double kMargin = 1e-4; // of the test, so that what it excludes is beyond rounding
  static constexpr double kMost = 0.25;   // share of all columns that may be contested
  static constexpr double kClose = 0.05; // what the sum that is tested may be below 1 for a column to join all the same
  static constexpr double kCheap = 2.5;  // as long as its rows of the Gram matrix have at most so many numbers a column
  static constexpr double kProducts = 2.0; // times the rounding of V that gradients may have
  static constexpr i64 kBlock = 512;       // columns that are tested at a time

  i64 room() const { return std::min(set.size(), plan.k + 1); }

  // A path on the set, which grows by the columns whose gradient at one of a few sizes comes near to that of the next
  // column: sizes of a forward search first, then of the path itself.
  void grow(int followed, const std::function<bool(i64, double)>& reached) {
    set.add(set.first_columns(std::max(kFewest, 2 * plan.k), {}));
    bool more = true;
    for (int round = 0; more && round < kRounds && !poll.stop(); ++round) more = add(forward());
    follow(reached);
    if (stopped) plan.k = first + static_cast<i64>(best.size()) - 1;
    for (int round = 0; more && round < followed && !poll.stop(); ++round)
      if ((more = add(points()))) follow(nullptr);
  }

  void follow(const std::function<bool(i64, double)>& reached) {
    SearchPlan local = set.local_plan();
    local.k = plan.k;
    BasisState state(set.quad(), room(), problem.floor);
    Path path(state, local, poll, false, nullptr, reached);
    path.run();
    take(path);
  }

  void take(Path& path) { first = path.first, best = std::move(path.best), stopped = stopped || path.stopped; }

  std::vector<Found> points() const {
    std::vector<Found> out;
    for (const auto& size : best) out.push_back(size.point);
    return out;
  }

  bool add(const std::vector<Found>& sizes) {
    const Units more = entering(sizes);
    if (!more.empty()) set.add(more);
    return !more.empty();
  }

  // Supports of all sizes, each the one before and the column of the largest gain.
  std::vector<Found> forward() {
    const SearchPlan local = set.local_plan();
    BasisState state(set.quad(), room(), problem.floor);
    Units forced;
    for (i64 l = 0; l < set.size(); ++l)
      if (set.is_forced(l)) forced.push_back(l);
    state.set(forced);
    std::vector<Found> sizes{state.found()};
    while (state.size() < plan.k && !state.done() && !poll.stop()) {
      i64 most = -1;
      double gain = 0.0;
      for (i64 l = 0; l < set.size(); ++l)
        if (local.allowed[l] && state.open(l) && state.gain(l) > gain) gain = state.gain(l), most = l;
      if (most < 0 || !state.enter(most)) break;
      sizes.push_back(state.found());
    }
    return sizes;
  }

  Units entering(const std::vector<Found>& sizes) const {
    const i64 n = A.n, p = A.p, q = problem.q, last = static_cast<i64>(sizes.size()) - 1;
    const i64 count = std::min(kSizes, last);
    std::vector<double> down(static_cast<std::size_t>(count * q * n)), score(static_cast<std::size_t>(p), -1.0);
    std::vector<double> limit;
    for (i64 l = 0; l < count; ++l) {
      const i64 at = last * (l + 1) / (count + 1);
      const Buffer A_S = set.copy(sizes[at].support);
      set.down(A_S.get(), sizes[at].x, down.data() + l * q * n);
      limit.push_back(kNear * std::sqrt(2.0 * std::max(sizes[at].f - sizes[at + 1].f, 0.0)));
    }
    Buffer g = reals(count * q * p), norm = reals(p);
    A.products(down.data(), count * q, g.get());
    for (i64 l = 0; l < count; ++l) {
      column_norms(g.get() + l * q * p, q, p, norm.get());
      for (i64 j = 0; j < p; ++j)
        if (set.usable(j) && !set.has(j) && norm[j] > limit[l]) score[j] = std::max(score[j], norm[j] / limit[l]);
    }
    return top_of(score, plan.k);
  }

  // Columns outside that may help at one of the sizes `open` join; `open` is then what has another support.
  bool test(Units& open) {
    if (!describe(open)) return false;
    multiply();
    const Units left = poll.stop() ? Units() : contested();
    if (poll.stop()) return true;
    if (static_cast<double>(left.size()) > kMost * static_cast<double>(A.p)) return false;
    open.clear();
    if (!left.empty()) {
      set.join(left);
      open = improve();
    }
    for (i64 at = 0; at < static_cast<i64>(best.size()); ++at)
      if (std::find(open.begin(), open.end(), at) == open.end())
        best[at].nearest = std::min(best[at].nearest, margin() * least[at] * least[at]);
    return true;
  }

  double margin() const { return std::max(A.rounding(static_cast<i64>(U.size())), kMargin); }

  // Every size from where it is and from its neighbours, on the set as it is now; those with another support.
  Units improve() {
    const std::vector<Found> known = points();
    const SearchPlan local = set.local_plan();
    BasisState state(set.quad(), room(), problem.floor);
    Path path(state, local, poll, false, nullptr, nullptr);
    path.revisit(first, known);
    take(path);
    Units changed;
    for (std::size_t at = 0; at < known.size(); ++at)
      if (best[at].point.support != known[at].support) changed.push_back(static_cast<i64>(at));
    return changed;
  }

  // What the test needs to know of a size, in units of the null model's residuals.
  struct Size {
    i64 rank;             // how many of the first columns of Q span the support
    std::vector<float> t; // q x m
    double least, noise;  // min_i |x_i| / sqrt(B_ii); rounding error of the gradient
  };

  // The union of all supports, T with Q = A_U T', and the sizes that are open; false where columns are too close to
  // dependent.
  bool describe(const Units& open) {
    const i64 q = problem.q;
    const RowQuad quad = set.quad();
    std::vector<i64> rank(static_cast<std::size_t>(set.size()), 0);
    Units all;
    for (const auto& size : best)
      for (i64 l : size.point.support)
        if (rank[l] == 0) all.push_back(l), rank[l] = static_cast<i64>(all.size());
    const i64 m = static_cast<i64>(all.size());
    same = static_cast<i64>(std::mismatch(U.begin(), U.end(), all.begin(), all.end()).first - U.begin());
    U = std::move(all);
    BasisState whole(quad, m, problem.floor), state(quad, room(), problem.floor);
    for (i64 l : U)
      if (!whole.enter(l)) return false;
    if (!(whole.condition() > kDoubtful)) return false;
    T.assign(static_cast<std::size_t>(m * m), 0.0);
    for (i64 l = 0; l < m; ++l) std::copy(whole.triangle(l), whole.triangle(l) + l + 1, T.begin() + l * m);
    std::vector<double> along(static_cast<std::size_t>(m));
    sizes.clear();
    for (i64 at : open) {
      if (!state.set(best[at].point.support)) return false;
      const Units& S = state.support();
      const std::vector<double>&x = state.coefficients(), &b = state.inverse_diagonal();
      Size size{0, std::vector<float>(static_cast<std::size_t>(q * m), 0.0f), HUGE_VAL, 0.0};
      double spread = 0.0, square = 0.0;
      for (std::size_t i = 0; i < S.size(); ++i) {
        size.rank = std::max(size.rank, rank[S[i]]);
        spread += std::sqrt(b[i]);
        if (!set.is_forced(S[i])) size.least = std::min(size.least, std::sqrt(dot(&x[i * q], &x[i * q], q) / b[i]));
      }
      for (i64 r = 0; r < q; ++r) { // t = T H_US x
        std::fill(along.begin(), along.end(), 0.0);
        for (std::size_t i = 0; i < S.size(); ++i) {
          const double* H = quad.rows.row(S[i]);
          for (i64 e = 0; e < size.rank; ++e)
            along[e] += x[i * q + r] * (H[U[e]] + (U[e] == S[i] ? quad.ridge[S[i]] : 0.0));
        }
        for (i64 e = 0; e < size.rank; ++e) {
          const double t = dot(&T[e * m], along.data(), e + 1) / height;
          size.t[r * m + e] = static_cast<float>(t);
          square += t * t;
        }
      }
      const double single = kProducts * A.rounding(m) + static_cast<double>(m + 2) * kSingle;
      size.noise = kRounded * spread + single * std::sqrt(square);
      least[at] = size.least, size.least /= height;
      sizes.push_back(std::move(size));
    }
    std::sort(sizes.begin(), sizes.end(), [](const Size& a, const Size& e) { return a.rank < e.rank; });
    return true;
  }

  // V = Q'A, a row for each column of the union; those before the first change are there.
  void multiply() {
    const i64 n = A.n, p = A.p, m = static_cast<i64>(U.size()), rest = m - same;
    const Buffer A_U = set.copy(U);
    Buffer Q = reals(n * m);
    gemm(false, n, m, m, A_U.get(), n, T.data(), m, 0.0, Q.get(), n);
    for (i64 l = same; l < m; ++l)
      for (i64 i = 0; i < n; ++i) Q[l * n + i] *= A.root[i];
    Array<float> next = allocate<float>(m * p);
    std::copy(V.get(), V.get() + same * p, next.get());
    V = std::move(next);
    A.rough_products(Q.get() + same * n, rest, V.get() + same * p, poll);
  }

  // Columns outside that the test does not exclude at every open size, and a few that it nearly does not, the furthest
  // from it first.
  Units contested() const {
    const i64 p = A.p, q = problem.q, m = static_cast<i64>(U.size()), many = static_cast<i64>(sizes.size()) * q;
    Array<float> t = allocate<float>(m * many), g = allocate<float>(kBlock * many);
    for (std::size_t s = 0; s < sizes.size(); ++s)
      std::copy(sizes[s].t.begin(), sizes[s].t.end(), t.get() + static_cast<i64>(s) * m * q);
    std::vector<double> bound(kBlock), excess(static_cast<std::size_t>(p), -1.0);
    for (i64 low = 0; low < p; low += kBlock) {
      const i64 count = std::min(kBlock, p - low);
      gemm(false, count, many, m, V.get() + low, p, t.get(), m, 0.0f, g.get(), count);
      std::fill(bound.begin(), bound.end(), 0.0);
      i64 l = 0;
      for (std::size_t s = 0; s < sizes.size(); ++s) {
        for (; l < sizes[s].rank; ++l) add_float_squares(V.get() + l * p + low, count, bound.data());
        raise_excess(problem.gradient + low, 1.0 / height, g.get() + static_cast<i64>(s) * q * count, bound.data(),
                     count, p, q, (1.0 + 1e-6) / sizes[s].least, sizes[s].noise, excess.data() + low);
      }
    }
    Units left;
    for (i64 j = 0; j < p; ++j) {
      if (!set.usable(j) || set.has(j)) excess[j] = -1.0;
      if (!(excess[j] <= 1.0 - margin() - kClose)) left.push_back(j);
    }
    std::sort(left.begin(), left.end(),
              [&](i64 a, i64 e) { return excess[a] > excess[e] || (excess[a] == excess[e] && a < e); });
    const auto cheap = static_cast<std::size_t>(kCheap * static_cast<double>(p) / static_cast<double>(m));
    while (!left.empty() && left.size() > cheap && excess[left.back()] <= 1.0 - margin()) left.pop_back();
    return left;
  }

  PURSUIT_CLONES static void add_float_squares(const float* __restrict v, i64 len, double* __restrict out) {
#pragma omp simd
    for (i64 e = 0; e < len; ++e) out[e] += static_cast<double>(v[e]) * static_cast<double>(v[e]);
  }

  // excess = max(excess, |V| + |g| / least), where g = unit gradient + by.
  PURSUIT_CLONES static void raise_excess(const double* gradient, double unit, const float* by,
                                          const double* __restrict bound, i64 len, i64 p, i64 q, double inverse,
                                          double noise, double* __restrict excess) {
    double square[kBlock];
    for (i64 e = 0; e < len; ++e) square[e] = 0.0;
    for (i64 r = 0; r < q; ++r) {
      const double* own = gradient + r * p;
      const float* more = by + r * len;
#pragma omp simd
      for (i64 e = 0; e < len; ++e) {
        const double slope = unit * own[e] + static_cast<double>(more[e]);
        square[e] += slope * slope;
      }
    }
#pragma omp simd
    for (i64 e = 0; e < len; ++e) {
      const double sum = std::sqrt(bound[e]) + inverse * (std::sqrt(square[e]) + noise);
      excess[e] = sum > excess[e] ? sum : excess[e];
    }
  }

  const LeastSquares& problem;
  const UnitColumns& A;
  const double height; // norm of the null model's residuals
  SearchPlan plan;
  Poll& poll;
  WorkingSet set;
  Units U;                      // the union of the supports, by place, in the order in which they come in
  i64 same = 0;                 // how many of its first columns were its first columns before
  std::vector<Size> sizes;      // that are open, by rank
  std::vector<double> T, least; // of the union's basis; by size
  Array<float> V;
};

} // namespace pursuit
