#pragma once

#include "basis_state.hpp"
#include "likelihood_search.hpp"
#include "unit_columns.hpp"

// The best k columns for a loss that is not squared, for X of any size: a search on a small working set of columns, and
// a test over all columns.
//
// On the working set the weighted Gram matrix at a fit gives a quadratic model of f; the whole search of search.hpp
// runs on it, and where it leads is fitted. Where that is no better, the best-ranked exchanges are fitted one by one.
// Then one pass over X gives the gradient and the weighted lengths of all columns: those of large gradient join the
// working set. At the end the test of unit_columns.hpp, on columns weighted by the square roots of phi'', tells which
// columns may take part in an exchange that helps in the model; these are judged, and join where they would. The test
// ranks; it proves nothing, since f is no quadratic.

namespace pursuit {

// The loss on columns of mean square 1, a_j = (x_j - mean_j) scale_j.
struct LikelihoodProblem {
  UnitColumns& X;  // without weights
  UnitColumns& XW; // the same X, to be weighted
  Likelihood& loss;
  const double *mean, *scale, *ridge, *unit; // per column; scale 0: a column that is not used
  const double* gradient;                    // of the null model, in a_j
  bool intercept;
  double floor;
};

class LikelihoodWorkingSet {
public:
  std::vector<Found> found; // each better than the one before
  i64 contested = 0;        // columns outside the support that the test did not exclude
  bool ended = false;       // it came to its end

  // Where nothing else helps and more than `sweep_above` columns are contested: exchanges ranked at S - i.
  LikelihoodWorkingSet(const LikelihoodProblem& problem_, const SearchPlan& plan_, i64 sweep_above_, Poll& poll_)
      : problem(problem_), X(problem_.X), plan(plan_), sweep_above(sweep_above_), poll(poll_), n(problem_.X.n),
        p(problem_.X.p), inside(static_cast<std::size_t>(problem_.X.p), 0),
        g(problem_.gradient, problem_.gradient + problem_.X.p), mean(reals(p)), square(reals(p)), product(reals(p)) {}

  void run(const Units& start) {
    add(first_columns(start));
    Units from = start;
    double entry = kNear;
    for (int rounds = 0; rounds < kRounds && !poll.stop(); ++rounds) {
      search(from);
      if (poll.stop() || found.empty() || state->done()) return;
      pass();
      Units more = nearest_columns(std::max<i64>(kFewest / 2, plan.k / 2), entry);
      if (more.empty()) {
        more = helpful(screen());
        if (more.empty() && !by_sweep()) return void(ended = !poll.stop());
      }
      if (static_cast<i64>(W.size() + more.size()) > std::max(kMost, 8 * plan.k)) return;
      from = found.back().support;
      if (!more.empty()) add(more);
      entry = kNearer;
    }
  }

private:
  static constexpr i64 kFewest = 40, kMost = 400, kTries = 6;
  static constexpr int kRounds = 20, kModels = 30, kSweeps = 2;
  static constexpr double kNear = 0.7, kNearer = 0.9; // |g_j| / min a from which on a column joins the working set
  static constexpr double kHelps = 1e-9;

  bool usable(i64 j) const { return plan.allowed[j] && problem.scale[j] > 0.0; }

  Units first_columns(const Units& start) const {
    std::vector<double> score(static_cast<std::size_t>(p));
    for (i64 j = 0; j < p; ++j) score[j] = plan.forced[j] ? HUGE_VAL : usable(j) ? std::fabs(g[j]) : -1.0;
    for (i64 j : start) score[j] = HUGE_VAL;
    const i64 certain = std::count(score.begin(), score.end(), HUGE_VAL);
    return top_of(score, std::max(kFewest, 2 * plan.k) + certain);
  }

  // Columns join the working set.
  void add(const Units& cols) {
    const i64 old = static_cast<i64>(W.size()), w = old + static_cast<i64>(cols.size());
    Buffer more = reals(n * w);
    std::copy(A.get(), A.get() + n * old, more.get());
    X.gather(cols, more.get() + n * old);
    A = std::move(more);
    for (i64 j : cols) {
      W.push_back(j), inside[j] = 1;
      ridge.push_back(problem.ridge[j]), unit.push_back(problem.unit[j]);
      forced.push_back(plan.forced[j]), allowed.push_back(plan.allowed[j]);
    }
    local = plan;
    local.forced = forced.data(), local.allowed = allowed.data(), local.restarts = 0;
    state.reset();
    fitter.reset();
    columns = std::make_unique<DenseEvenColumns>(A.get(), n, w, ridge.data(), unit.data(), problem.intercept);
    fitter = std::make_unique<LikelihoodFitter>(*columns, problem.loss, std::min(w, plan.widest * plan.k + 1),
                                                problem.floor, plan.scale, poll);
    state = std::make_unique<LikelihoodState>(*fitter, plan.k, problem.floor);
  }

  Units places(const Units& cols) const {
    Units out;
    for (i64 j : cols) out.push_back(std::find(W.begin(), W.end(), j) - W.begin());
    return out;
  }

  // Models and fits in turn until neither the model nor the best-ranked exchanges lead to a better support.
  void search(const Units& from) {
    state->set(places(from));
    for (int turn = 0; turn < kModels && !poll.stop() && !state->done(); ++turn) {
      const bool first = state->size() < std::min<i64>(plan.k, static_cast<i64>(W.size()));
      if (first || turn == 0 || better) {
        better = by_model(found.empty() || first);
        if (better) {
          take();
          continue;
        }
      }
      if (first || !state->improve(local)) break;
      better = true;
      take();
    }
    take();
  }

  // To where the search on the quadratic model leads, if that is better.
  bool by_model(bool starts) {
    const i64 w = static_cast<i64>(W.size()), k = state->size();
    const LikelihoodFit before = state->keep();
    std::vector<double> d1(static_cast<std::size_t>(n)), d2(static_cast<std::size_t>(n)),
        slope(static_cast<std::size_t>(w), 0.0), h(static_cast<std::size_t>(w)), edge(static_cast<std::size_t>(w), 0.0);
    fitter->evaluate(before.eta.data(), d1.data(), d2.data());
    for (i64 i = 0; i < n; ++i) d2[i] = std::sqrt(d2[i]);
    Buffer weighted = reals(n * w), H = reals(w * w);
    double total = 0.0;
    for (i64 l = 0; l < w; ++l) multiply(A.get() + l * n, d2.data(), n, weighted.get() + l * n);
    std::fill(H.get(), H.get() + w * w, 0.0);
    syrk(w, n, weighted.get(), n, H.get(), w);
    mirror_upper(H.get(), w);
    add_dots(A.get(), n, d1.data(), w, n, slope.data());
    if (problem.intercept) { // which the model has always minimised over
      add_dots(weighted.get(), n, d2.data(), w, n, edge.data());
      for (i64 i = 0; i < n; ++i) total += d2[i] * d2[i];
      if (!(total > 0.0)) return false;
      for (i64 l = 0; l < w; ++l) {
        const double t = -edge[l] / total;
        add_rows<1>(edge.data(), 0, &t, w, H.get() + l * w);
      }
    }
    fitter->spent += static_cast<double>(n * w * w) / 2.0;
    double f0 = before.f;
    for (i64 l = 0; l < w; ++l) h[l] = H[l * (w + 1)] + ridge[l];
    for (i64 i = 0; i < k; ++i) slope[before.S[i]] = 0.0; // but for rounding
    for (i64 i = 0; i < k; ++i) {
      const i64 a = before.S[i];
      const double z = before.z[i];
      for (i64 l = 0; l < w; ++l) slope[l] -= z * (H[a * w + l] + (l == a ? ridge[a] : 0.0));
    }
    for (i64 i = 0; i < k; ++i) f0 -= 0.5 * slope[before.S[i]] * before.z[i];
    Rows rows;
    rows.row = [&](i64 l) { return H.get() + l * w; };
    rows.has = [](i64) { return true; };
    const RowQuad quad{slope.data(), h.data(), ridge.data(), f0, w, rows, unit.data()};
    BasisState basis(quad, std::min(w, plan.widest * plan.k + 1), -HUGE_VAL);
    Search<BasisState> kernel(basis, local, poll);
    if (starts)
      kernel.run(before.S);
    else
      kernel.from(before.S);
    for (auto at = kernel.found.rbegin(); at != kernel.found.rend() && !poll.stop(); ++at) {
      Units S = before.S, T = at->support;
      std::sort(S.begin(), S.end());
      if (S == T) return false;
      std::vector<double> z(at->x);
      z.push_back(before.z.back());
      for (std::size_t i = 0; i < T.size() && problem.intercept; ++i) {
        const auto place = std::find(before.S.begin(), before.S.end(), T[i]) - before.S.begin();
        const double was = place < k ? before.z[place] : 0.0;
        z.back() -= edge[T[i]] / total * (z[i] - was);
      }
      for (i64 i = 0; i < k && problem.intercept; ++i)
        if (std::find(T.begin(), T.end(), before.S[i]) == T.end()) z.back() += edge[before.S[i]] / total * before.z[i];
      const double goal = k == plan.k ? before.f - kHelps * plan.size(before.f) : -HUGE_VAL;
      LikelihoodFit trial = fitter->fit(T, std::move(z), goal, before.f);
      if (trial.end == End::above || !(trial.f < before.f - kHelps * plan.size(before.f))) {
        if (k == plan.k) return false;
        continue;
      }
      state->to(std::move(trial));
      return true;
    }
    return false;
  }

  // To the best of the exchanges on the working set that rank best at S - i, for the
  // first i where one helps.
  bool by_sweep() {
    if (contested <= sweep_above || swept++ == kSweeps || !state->set(places(found.back().support))) return false;
    if (!ExchangeProof(*state, local, poll).sweep(kTries)) return false;
    take();
    return true;
  }

  void take() {
    if (state->size() < plan.k && !state->done()) return;
    if (!found.empty() && !(state->f < found.back().f - 1e-12 * plan.size(state->f))) return;
    const Found at = state->found();
    std::vector<std::pair<i64, double>> pairs;
    for (std::size_t i = 0; i < at.support.size(); ++i) pairs.emplace_back(W[at.support[i]], at.x[i]);
    std::sort(pairs.begin(), pairs.end());
    Found point{{}, {}, at.f};
    for (const auto& [j, x] : pairs) point.support.push_back(j), point.x.push_back(x);
    point.x.push_back(at.x.back());
    found.push_back(std::move(point));
  }

  // One pass over X at the best point: g, weighted means and lengths of all columns; and what dropping a chosen one
  // costs.
  void pass() {
    state->set(places(found.back().support));
    const LikelihoodFit& at = state->fitted();
    const i64 k = state->size();
    std::vector<double> d1(static_cast<std::size_t>(n));
    weight.resize(static_cast<std::size_t>(n));
    fitter->evaluate(at.eta.data(), d1.data(), weight.data());
    X.weighted(weight.data(), d1.data(), mean.get(), square.get(), product.get());
    double total = 0.0, slope = 0.0;
    for (i64 i = 0; i < n; ++i) total += weight[i], slope += d1[i];
    length.resize(static_cast<std::size_t>(p));
    for (i64 j = 0; j < p; ++j) {
      const double s = problem.scale[j];
      if (!problem.intercept) {
        square[j] += total * mean[j] * mean[j], product[j] += mean[j] * slope, mean[j] = 0.0;
      }
      const double h = s > 0.0 ? square[j] + problem.ridge[j] / (s * s) : 0.0;
      length[j] = square[j] > kFlat * total / (s * s) ? std::sqrt(h) : 0.0;
      g[j] = length[j] > 0.0 ? product[j] / length[j] : 0.0;
    }
    least = HUGE_VAL;
    for (i64 i = 0; i < k; ++i)
      if (!forced[at.S[i]]) least = std::min(least, std::sqrt(2.0 * state->cost(i)));
  }

  Units nearest_columns(i64 most, double share) const {
    std::vector<double> score(static_cast<std::size_t>(p));
    for (i64 j = 0; j < p; ++j) {
      const bool open = usable(j) && !inside[j] && least < HUGE_VAL && std::fabs(g[j]) > share * least;
      score[j] = open ? std::fabs(g[j]) : -1.0;
    }
    return top_of(score, most);
  }

  // Columns that may take part in an exchange that helps in the model; those outside the working set are returned.
  Units screen() {
    if (!(least < HUGE_VAL)) return {};
    const i64 k = state->size();
    UnitColumns& XW = problem.XW;
    scale.resize(static_cast<std::size_t>(p)), share.resize(static_cast<std::size_t>(p));
    XW.root.resize(static_cast<std::size_t>(n));
    for (i64 i = 0; i < n; ++i) XW.root[i] = std::sqrt(weight[i]);
    for (i64 j = 0; j < p; ++j) {
      scale[j] = length[j] > 0.0 ? 1.0 / length[j] : 0.0;
      const double s = problem.scale[j];
      share[j] = length[j] > 0.0 ? problem.ridge[j] / (s * s) * scale[j] * scale[j] : 0.0;
    }
    XW.c = weight.data(), XW.mean = mean.get(), XW.scale = scale.data(), XW.ridge = share.data();
    std::vector<std::uint8_t> excluded(static_cast<std::size_t>(p));
    for (i64 j = 0; j < p; ++j) excluded[j] = !usable(j) || !(scale[j] > 0.0);
    for (i64 j : found.back().support) excluded[j] = 1;
    if (!basis()) return {};
    Buffer Q = reals(n * k);
    for (i64 l = 0; l < k; ++l) multiply(orthonormal.get() + l * n, XW.root.data(), n, Q.get() + l * n);
    Units left = XW.screen({Q.get(), k, g.data(), excluded.data(), least, 0.0, std::max(XW.rounding(k), 1e-4)}, poll);
    contested = static_cast<i64>(left.size());
    std::erase_if(left, [&](i64 j) { return inside[j] != 0; }); // which have been judged by fits
    return left;
  }

  // An orthonormal basis Q = A_S L^-T of the chosen columns, weighted and of length 1, H_SS = L L'; x and diag H_SS^-1.
  bool basis() {
    const Units S = found.back().support;
    const i64 k = static_cast<i64>(S.size());
    orthonormal = reals(n * k);
    problem.XW.gather(S, orthonormal.get());
    L.assign(static_cast<std::size_t>(k * k), 0.0);
    x.resize(static_cast<std::size_t>(k)), b.resize(static_cast<std::size_t>(k));
    gemm(true, k, k, n, orthonormal.get(), n, orthonormal.get(), n, 0.0, L.data(), k);
    for (i64 l = 0; l < k; ++l) L[l * (k + 1)] += share[S[l]];
    const Factor factor(L.data(), k, k);
    if (!(factor.pivots() >= 1e-10)) return false;
    B.resize(static_cast<std::size_t>(k * k));
    factor.inverse(B.data(), k);
    for (i64 l = 0; l < k; ++l) { // the factor itself
      for (i64 m = 0; m <= l; ++m) {
        double sum = L[l * k + m];
        for (i64 e = 0; e < m; ++e) sum -= L[l * k + e] * L[m * k + e];
        if (m < l) {
          L[l * k + m] = sum / L[m * (k + 1)];
        } else {
          if (!(sum > 0.0)) return false;
          L[l * k + l] = std::sqrt(sum);
        }
      }
      double* q = orthonormal.get() + l * n;
      for (i64 m = 0; m < l; ++m) {
        const double t = -L[l * k + m];
        add_rows<1>(orthonormal.get() + m * n, 0, &t, n, q);
      }
      const double inverse = 1.0 / L[l * (k + 1)];
      for (i64 i = 0; i < n; ++i) q[i] *= inverse;
      b[l] = B[l * (k + 1)];
      x[l] = found.back().x[l] * length[S[l]] * problem.scale[S[l]];
    }
    return true;
  }

  // Those columns of an exchange that helps in the model.
  Units helpful(const Units& left) {
    if (left.empty()) return {};
    const Units S = found.back().support;
    const i64 k = static_cast<i64>(S.size());
    Buffer some = reals(n * kBlock), V = reals(k * kBlock);
    Units out;
    std::vector<double> u(static_cast<std::size_t>(k));
    for (std::size_t low = 0; low < left.size() && !poll.stop(); low += kBlock) {
      const Units block(left.begin() + low, left.begin() + std::min(left.size(), low + kBlock));
      const i64 m = static_cast<i64>(block.size());
      problem.XW.gather(block, some.get());
      gemm(true, k, m, n, orthonormal.get(), n, some.get(), n, 0.0, V.get(), k);
      for (i64 e = 0; e < m; ++e) {
        const double *v = V.get() + e * k, d = std::max(0.0, 1.0 - dot(v, v, k));
        for (i64 l = k - 1; l >= 0; --l) { // L'u = v
          double sum = v[l];
          for (i64 q = l + 1; q < k; ++q) sum -= L[q * k + l] * u[q];
          u[l] = sum / L[l * (k + 1)];
        }
        double change = HUGE_VAL;
        for (i64 i = 0; i < k; ++i) {
          if (plan.forced[S[i]]) continue;
          const double inv = 1.0 / b[i], t = x[i] * inv, s = g[block[e]] - t * u[i], curve = d + u[i] * u[i] * inv;
          if (curve > 1e-7) change = std::min(change, 0.5 * x[i] * t - 0.5 * s * s / curve);
        }
        if (change < -kHelps * plan.size(found.back().f)) out.push_back(block[e]);
      }
    }
    return out;
  }

  static constexpr i64 kBlock = 64;
  static constexpr double kFlat = 1e-12; // share of a column's weighted length below which it is not used

  const LikelihoodProblem& problem;
  UnitColumns& X;
  const SearchPlan plan;
  const i64 sweep_above;
  Poll& poll;
  const i64 n, p;
  SearchPlan local; // the plan for the working set
  bool better = true;
  int swept = 0;

  Units W; // the working set
  std::vector<std::uint8_t> inside, forced, allowed;
  std::vector<double> ridge, unit, g, weight, length, scale, share, L, B, x, b;
  Buffer A, mean, square, product, orthonormal;
  std::unique_ptr<DenseEvenColumns> columns;
  std::unique_ptr<LikelihoodFitter> fitter;
  std::unique_ptr<LikelihoodState> state;
  double least = HUGE_VAL;
};

} // namespace pursuit
