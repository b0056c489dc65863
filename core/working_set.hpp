#pragma once

#include "least_squares.hpp"
#include "path_search.hpp"

// The best k columns for the squared loss, for X of any size: the search of search.hpp on a small working set of
// columns, and a test over all columns that no exchange with one outside the set helps.
//
// Columns have unit length (unit_columns.hpp), g = -A'r, Q is an orthonormal basis of A_S, V = Q'A, and
// a_i = |x_i| / sqrt(B_ii), so that a_i^2 / 2 is the cost of dropping i. The exchange of i for j lowers f if and only
// if
//
//   g_j^2 - 2 a_i v_ij g_j > a_i^2 (1 - |V_j|^2),   |v_ij| <= |V_j|
//
// which needs |V_j| > 1 - |g_j| / a_i. So only an upper bound of |Q'a_j| is wanted to exclude column j from every
// exchange, and an excluded exchange raises f by at least `margin` times min_i a_i^2. With several responses g_j and
// x_i are vectors, |g_j| is a norm, and the inequality is needed all the same (ADR 35).
//
// Where more than a few columns survive that test many supports are about as good: then the search is repeated on all
// columns, rows of the Gram matrix being computed in blocks as they are needed.

namespace pursuit {

// What a search found, in units of the columns of length 1.
struct Solution {
  std::vector<Found> points; // each better than the one before
  Move nearest;              // the exchange of the least change that was computed at the last point
  double change = -HUGE_VAL; // a lower bound of the change by any exchange there; -inf: not all were judged
  double condition = 0.0;    // a lower bound of the reciprocal condition number of the chosen columns
  double share = 0.0;        // the least share of a judged column outside that the chosen ones do not explain
  i64 contested = 0;         // columns outside the working set that the test did not exclude
  Units doubtful;            // columns outside that are too close to dependent for the formula; not in `change`
};

inline constexpr double kAllStarts = 3e7; // p k^2 up to which all starts are tried on all columns

// The better of a support and the point of its size on a path that goes two sizes further.
inline Units path_point(BasisState& state, SearchPlan plan, Poll& poll, const Units& start) {
  const i64 k = plan.k;
  double known = !start.empty() && state.set(start) ? state.f : HUGE_VAL;
  if (static_cast<i64>(start.size()) < k) known = HUGE_VAL;
  plan.k = std::min(k + 2, state.units());
  PathSearch<BasisState> path(state, plan, poll, false, nullptr, nullptr);
  path.run();
  for (const auto& size : path.best)
    if (static_cast<i64>(size.point.support.size()) == k && size.f < known) return size.point.support;
  return start;
}

// The search on all columns of a quadratic; points that are better than `solution`'s are added to them.
inline void search_quadratic(const RowQuad& quad, double floor, const SearchPlan& plan, const Units& start, Poll& poll,
                             Solution& solution) {
  BasisState state(quad, std::min(quad.p, plan.widest * plan.k + 1), floor);
  Search<BasisState> kernel(state, plan, poll);
  if (static_cast<double>(quad.p * plan.k) * static_cast<double>(plan.k) <= kAllStarts) {
    kernel.run(path_point(state, plan, poll, start));
  } else {
    kernel.restart_from(start);
  }
  auto take = [&](const Found& point) {
    if (solution.points.empty() || point.f < solution.points.back().f - 1e-12 * plan.size(point.f))
      solution.points.push_back(point);
  };
  for (const Found& point : kernel.found) take(point);
  solution.change = -HUGE_VAL;
  if (poll.stop() || solution.points.empty() || !state.set(solution.points.back().support)) return;
  while (!poll.stop() && state.improve(plan)) take(state.found());
  if (poll.stop()) return;
  solution.condition = state.condition();
  solution.share = state.least_share(plan, kDoubtful);
  solution.nearest = state.closest(plan, 0.0);
  solution.change = state.closest(plan, kDoubtful).change;
  solution.doubtful = state.dependent(plan, kDoubtful);
}

// When the search is repeated on all columns; `room` is for the rows of the Gram matrix, in numbers.
enum class AllColumns { never, contested, always };

class WorkingSetSearch {
public:
  Solution solution;

  WorkingSetSearch(const LeastSquares& problem_, const SearchPlan& plan_, AllColumns all_columns_, double room_,
                   Poll& poll_)
      : problem(problem_), A(problem_.A), plan(plan_), all_columns(all_columns_), room(room_), poll(poll_),
        q(problem_.q), set(problem_, plan_), g(reals(q * A.p)), norm(reals(A.p)) {}

  void run(const Units& start) {
    const i64 k = plan.k;
    set.add(set.first_columns(std::max(kFewest, 2 * k), start));
    best.f = HUGE_VAL;
    Units from = start;
    double entry = kNear;
    for (int rounds = 0; !poll.stop(); ++rounds) {
      if (!search(from, rounds < 2)) return;
      if (!fit_best()) return;
      gradient();
      Units more = nearest_columns(std::max<i64>(kFewest / 2, k / 2), entry);
      if (more.empty()) {
        const Units left = screen();
        if (poll.stop()) return;
        solution.contested = static_cast<i64>(left.size());
        const bool cheap = static_cast<double>(A.n * A.p) * static_cast<double>(k) <= kCheap;
        const bool contested = solution.contested > (cheap ? 0 : std::max(kContested, A.p / kPerColumn));
        if (all_columns == AllColumns::always || (contested && all_columns == AllColumns::contested))
          return search_all();
        more = judge(left);
        if (more.empty()) return;
        solution.change = -HUGE_VAL;
      }
      set.add(more);
      entry = kNearer;
      from = best.support;
    }
  }

private:
  static constexpr i64 kFewest = 40, kContested = 5, kPerColumn = 500, kBlock = 64, kShown = 16;
  static constexpr double kCheap = 1e7;               // n p k up to which one column that survives is enough for that
  static constexpr double kNear = 0.7, kNearer = 0.9; // |g_j| / min a from which on a column joins the working set
  static constexpr double kMargin = 1e-4;             // of the test, so that what it excludes is beyond rounding

  // The search on the working set, from all starts or only from a support; false where it found nothing.
  bool search(const Units& from, bool starts) {
    state = std::make_unique<BasisState>(set.quad(), std::min(set.size(), plan.widest * plan.k + 1), problem.floor);
    const Units local = set.places(from);
    Search<BasisState> kernel(*state, set.local_plan(), poll);
    if (starts)
      kernel.run(local);
    else
      kernel.from(local);
    for (const Found& point : kernel.found) {
      if (!(point.f < best.f - 1e-12 * plan.size(point.f))) continue;
      best = set.to_columns(point);
      solution.points.push_back(best);
    }
    return !solution.points.empty();
  }

  // The state of the working set at the best point.
  bool fit_best() { return state->set(set.places(best.support)); }

  // r, g = -A'r, and of the chosen columns a basis Q, its T, x and diagonal of B. They stay as they are when the state
  // takes its columns in another order.
  void gradient() {
    chosen = state->support();
    const i64 n = A.n, k = static_cast<i64>(chosen.size());
    T.assign(static_cast<std::size_t>(k * k), 0.0);
    for (i64 l = 0; l < k; ++l) std::copy(state->triangle(l), state->triangle(l) + l + 1, T.begin() + l * k);
    x = state->coefficients(), b = state->inverse_diagonal();
    const Buffer A_S = set.copy(chosen);
    basis = reals(n * k);
    gemm(false, n, k, k, A_S.get(), n, T.data(), k, 0.0, basis.get(), n);
    std::vector<double> residual(static_cast<std::size_t>(q * n));
    set.down(A_S.get(), x, residual.data());
    A.products(residual.data(), q, g.get());
    column_norms(g.get(), q, A.p, norm.get());
    least = HUGE_VAL;
    double spread = 0.0;
    for (i64 i = 0; i < k; ++i) {
      spread += std::sqrt(b[i]);
      const double* own = x.data() + i * q;
      if (!set.is_forced(chosen[i])) least = std::min(least, std::sqrt(dot(own, own, q) / b[i]));
    }
    noise = kRounded * spread * std::sqrt(2.0 * std::fabs(problem.f0));
  }

  Units nearest_columns(i64 most, double share) const {
    std::vector<double> score(static_cast<std::size_t>(A.p));
    for (i64 j = 0; j < A.p; ++j) {
      const bool open = set.usable(j) && !set.has(j) && least < HUGE_VAL && norm[j] > share * least;
      score[j] = open ? norm[j] : -1.0;
    }
    return top_of(score, most);
  }

  // Columns outside the working set that may take part in an exchange that helps.
  Units screen() {
    if (!(least < HUGE_VAL)) return {}; // nothing may leave
    const i64 n = A.n, k = static_cast<i64>(chosen.size());
    std::vector<std::uint8_t> excluded(static_cast<std::size_t>(A.p));
    for (i64 j = 0; j < A.p; ++j) excluded[j] = set.has(j) || !set.usable(j);
    Buffer Q = reals(n * k);
    for (i64 l = 0; l < k; ++l)
      for (i64 i = 0; i < n; ++i) Q[l * n + i] = A.root[i] * basis[l * n + i];
    margin = std::max(A.rounding(k), kMargin);
    return A.screen({Q.get(), k, norm.get(), excluded.data(), least, noise, margin}, poll);
  }

  // The exchanges with some columns outside the working set, in double precision; those columns that help.
  Units judge(const Units& left) {
    judge_working_set();
    solution.change = std::min(solution.change, margin * least * least);
    Units shown = nearest_columns(kShown, 0.0), cols = left; // for the exchange that is nearest
    for (i64 j : shown)
      if (std::find(left.begin(), left.end(), j) == left.end()) cols.push_back(j);
    const i64 n = A.n, k = static_cast<i64>(chosen.size());
    Buffer some = reals(n * kBlock), V = reals(k * kBlock), U = reals(k * kBlock);
    Units helpful;
    for (std::size_t low = 0; low < cols.size() && !poll.stop(); low += kBlock) {
      const Units block(cols.begin() + low, cols.begin() + std::min(cols.size(), low + kBlock));
      const i64 m = static_cast<i64>(block.size());
      A.gather(block, some.get());
      gemm(true, k, m, n, basis.get(), n, some.get(), n, 0.0, V.get(), k);
      gemm(false, k, m, k, T.data(), k, V.get(), k, 0.0, U.get(), k); // U = T'V: T by rows is T' by columns
      for (i64 e = 0; e < m; ++e) {
        const double* v = V.get() + e * k;
        const double d = 1.0 - dot(v, v, k);
        const bool sure = d >= kDoubtful;
        if (sure)
          solution.share = std::min(solution.share, d);
        else
          solution.doubtful.push_back(block[e]);
        double change = HUGE_VAL;
        for (i64 i = 0; i < k; ++i) {
          if (set.is_forced(chosen[i])) continue;
          const double u = U[e * k + i], inv = 1.0 / b[i], curve = d + u * u * inv;
          double cost = 0.0, gain = 0.0;
          for (i64 r = 0; r < q; ++r) {
            const double own = x[i * q + r], t = own * inv, s = g[r * A.p + block[e]] - t * u;
            cost += own * t, gain += s * s;
          }
          const double by = 0.5 * (cost - (curve > kPivot ? gain / curve : 0.0));
          change = std::min(change, by);
          if ((sure || u * u * inv > kCopy) && by < solution.nearest.change)
            solution.nearest = {set.cols[chosen[i]], block[e], by};
        }
        if (sure) solution.change = std::min(solution.change, change);
        if (change < -1e-11 * plan.size(best.f)) helpful.push_back(block[e]);
      }
    }
    if (poll.stop()) solution.change = -HUGE_VAL;
    return helpful;
  }

  // Exchanges within the working set, of which none helps any more.
  void judge_working_set() {
    const SearchPlan local = set.local_plan();
    solution.change = -HUGE_VAL;
    if (!fit_best() || state->improve(local)) return; // rounding has the last word
    solution.condition = state->condition();
    solution.share = state->least_share(local, kDoubtful);
    solution.nearest = state->closest(local, 0.0);
    solution.change = state->closest(local, kDoubtful).change;
    solution.doubtful = state->dependent(local, kDoubtful);
    for (i64& j : solution.doubtful) j = set.cols[j];
    if (solution.nearest.leave >= 0)
      solution.nearest.leave = set.cols[solution.nearest.leave],
      solution.nearest.enter = set.cols[solution.nearest.enter];
  }

  // All columns, from the best point on.
  void search_all() {
    GramRows rows(A, room);
    std::vector<double> ones(static_cast<std::size_t>(A.p));
    std::vector<std::uint8_t> open(static_cast<std::size_t>(A.p));
    for (i64 j = 0; j < A.p; ++j) ones[j] = A.scale[j] > 0.0 ? 1.0 : 0.0, open[j] = set.usable(j);
    SearchPlan all = plan;
    all.allowed = open.data();
    const RowQuad quad{problem.gradient,
                       ones.data(),
                       A.ridge,
                       problem.f0,
                       A.p,
                       rows.source(),
                       problem.length,
                       static_cast<double>(A.n * A.p),
                       q};
    search_quadratic(quad, problem.floor, all, best.support, poll, solution);
  }

  const LeastSquares& problem;
  const UnitColumns& A;
  const SearchPlan plan;
  const AllColumns all_columns;
  const double room;
  Poll& poll;
  const i64 q; // responses

  WorkingSet set;
  Units chosen; // the best support, by place in the set, in the order of T, x, b and the basis
  std::vector<double> T, x, b;
  Buffer basis, g, norm; // norm: of the columns of g
  std::unique_ptr<BasisState> state;
  Found best;
  double least = HUGE_VAL, noise = 0.0, margin = 0.0;
};

} // namespace pursuit
