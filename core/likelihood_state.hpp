#pragma once

#include "exchange.hpp"
#include "likelihood_fit.hpp"

// The state of a search (search.hpp) for a loss that is not squared: a fit over S, and on demand the
// quadratic model of f there, in which all exchanges are ranked as if f were that model (exchange.hpp; the intercept is
// a row that is never dropped). The best-ranked are fitted, and the first that helps is taken.
// Cost of the model: 2 n p M r (r + 1) flops for M columns inside.

namespace pursuit {

inline constexpr double kPromising =
    0.01; // share of f that the model may err by: what it puts further up is not fitted

// The derivatives of f around a fit, computed on demand.
struct LocalModel {
  std::uint64_t of = 0;                        // the fit's id
  std::vector<double> d1, d2, g;               // the loss's derivatives, the gradient (p x r)
  std::vector<double> B, rows, own, add, left; // H_SS^-1, rows of H, blocks of its diagonal; of units outside: what
                                               // they gain, and the share of them that S leaves
  std::vector<double> residual;                // of the gradient inside: what rounding has left
  std::vector<double> change, dropped;         // of every exchange with the best partner, of dropping a unit
  Units who;                                   // that partner
  double pivots = 0.0;
  bool sloped = false, inverted = false, modelled = false;
};

class LikelihoodState : public LocalModel {
public:
  double f = HUGE_VAL;

  // `budget`: the number of units that is looked for.
  LikelihoodState(LikelihoodFitter& fitter_, i64 budget_, double floor_)
      : fitter(fitter_), X(fitter_.X), n(fitter_.n), r(fitter_.r), p(fitter_.X.p), budget(budget_), floor(floor_),
        inside(static_cast<std::size_t>(p), 0) {
    to(fitter.fit({}, std::vector<double>(static_cast<std::size_t>(r), 0.0)));
    null = at;
  }

  i64 units() const { return p; }
  i64 size() const { return static_cast<i64>(at.S.size()); }
  const Units& support() const { return at.S; }
  const LikelihoodFit& fitted() const { return at; }
  bool has(i64 j) const { return inside[j]; }
  bool done() const { return !(f > floor); }
  double work() const { return fitter.spent; }
  bool open(i64 j) const { return !inside[j] && X.unit[j] > 0.0 && (!modelled || left[j] > kNewShare); }

  bool even(bool yes) {
    scaled = yes;
    double low = HUGE_VAL, high = 0.0;
    for (i64 j = 0; j < p; ++j)
      if (X.unit[j] > 0.0) low = std::min(low, X.unit[j]), high = std::max(high, X.unit[j]);
    return high > kUneven * low;
  }
  double pull(i64 j) {
    slopes();
    return unit(j) * norm(&g[j * r]);
  }
  double curve(i64 j) {
    slopes();
    double sum = 0.0;
    const double u2 = unit(j) * unit(j);
    std::vector<double> a(static_cast<std::size_t>(n), 0.0);
    X.add(j, 1.0, a.data());
    i64 pair = 0;
    for (i64 o = 0; o < r; ++o) {
      const double* w = &d2[pair * n];
      double square = 0.0, cross = 0.0, total = 0.0;
      for (i64 i = 0; i < n; ++i) square += w[i] * a[i] * a[i], cross += w[i] * a[i], total += w[i];
      if (X.intercept && total > 0.0) square -= cross * cross / total;
      sum += u2 * g[j * r + o] * g[j * r + o] * (u2 * square + u2 * X.ridge[j]);
      pair += r - o;
    }
    return sum;
  }
  double moved(i64 j, double step) {
    slopes();
    const double u = unit(j);
    if (!(u > 0.0)) return 0.0;
    const double* z = inside[j] ? &at.z[place(j) * r] : nullptr;
    double sum = 0.0;
    for (i64 o = 0; o < r; ++o) {
      const double v = (z ? z[o] / u : 0.0) - step * u * g[j * r + o];
      sum += v * v;
    }
    return std::sqrt(sum);
  }
  double gain(i64 j) {
    model();
    return open(j) ? add[j] : 0.0;
  }
  double cost(i64 i) {
    inverse();
    return dropped[i];
  }
  double size(i64 i) const { return norm(&at.z[i * r]) / unit(at.S[i]); }

  LikelihoodFit keep() const { return at; }
  bool restore(const LikelihoodFit& kept) {
    to(kept);
    return true;
  }

  bool enter(i64 j) {
    Units S = at.S;
    std::vector<double> z = at.z;
    S.push_back(j);
    z.insert(z.end() - r, static_cast<std::size_t>(r), 0.0);
    to(fit(std::move(S), std::move(z), -HUGE_VAL));
    return true;
  }
  bool leave(i64 j) {
    const i64 i = place(j);
    to(without(at, i, lowered(i)));
    return true;
  }
  bool set(const Units& support) {
    std::vector<double> z(support.size() * static_cast<std::size_t>(r) + static_cast<std::size_t>(r), 0.0);
    for (std::size_t l = 0; l < support.size(); ++l)
      if (inside[support[l]]) std::copy_n(&at.z[place(support[l]) * r], r, &z[l * r]);
    std::copy_n(at.z.end() - r, r, z.end() - r);
    to(fit(support, std::move(z), -HUGE_VAL));
    return std::isfinite(f);
  }

  bool improve(const SearchPlan& plan) {
    model();
    std::vector<std::pair<double, i64>> ranked;
    for (i64 j = 0; j < p; ++j)
      if (!inside[j] && plan.allowed[j] && who[j] >= 0 && who[j] < size() && !plan.forced[at.S[who[j]]])
        ranked.emplace_back(change[j], j);
    const i64 most = std::min<i64>(plan.tries, static_cast<i64>(ranked.size()));
    std::partial_sort(ranked.begin(), ranked.begin() + most, ranked.end());
    const double goal = f - 1e-9 * plan.size(f);
    for (i64 t = 0; t < most; ++t) {
      const auto [predicted, j] = ranked[t];
      if (t > 0 && predicted > kPromising * plan.size(f)) break;
      LikelihoodFit trial = exchanged(who[j], j, goal);
      if (trial.end == End::above || !(trial.f < goal)) continue;
      to(std::move(trial));
      return true;
    }
    return false;
  }

  Found found() const {
    Units order(at.S.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](i64 a, i64 b) { return at.S[a] < at.S[b]; });
    Found point{{}, {}, f};
    for (i64 i : order) {
      point.support.push_back(at.S[i]);
      point.x.insert(point.x.end(), at.z.begin() + i * r, at.z.begin() + (i + 1) * r);
    }
    point.x.insert(point.x.end(), at.z.end() - r, at.z.end());
    return point;
  }

  void to(LikelihoodFit next) {
    for (i64 j : at.S) inside[j] = 0;
    at = std::move(next);
    for (i64 j : at.S) inside[j] = 1;
    f = at.f;
    if (at.id == of) return;
    std::swap(static_cast<LocalModel&>(*this), before); // walks go back and forth between two supports
    if (at.id == of) return;
    of = at.id;
    sloped = inverted = modelled = false;
  }

  // The coefficients without the i-th unit, where the model expects them: z - B_:i B_ii^-1 z_i.
  std::vector<double> lowered(i64 i) {
    inverse();
    const i64 N = (size() + (X.intercept ? 1 : 0)) * r;
    std::vector<double> z = at.z, L(static_cast<std::size_t>(r * r)), v(z.begin() + i * r, z.begin() + (i + 1) * r);
    for (i64 o = 0; o < r; ++o)
      for (i64 u = 0; u < r; ++u) L[o * r + u] = B[(i * r + o) * N + i * r + u];
    small_cholesky(L.data(), r);
    pursuit::forward(L.data(), r, v.data());
    backward_solve(L.data(), r, v.data());
    for (i64 l = 0; l < N; ++l)
      for (i64 o = 0; o < r; ++o) z[l] -= B[(i * r + o) * N + l] * v[o];
    z.erase(z.begin() + i * r, z.begin() + (i + 1) * r);
    return z;
  }

  // The fit without the i-th unit of another, from z.
  LikelihoodFit without(const LikelihoodFit& whole, i64 i, std::vector<double> z) {
    Units S = whole.S;
    S.erase(S.begin() + i);
    return fit(std::move(S), std::move(z), -HUGE_VAL);
  }

  // The fit with unit j on top of another, from z, or where that is no better, from the other.
  LikelihoodFit with(const LikelihoodFit& part, i64 j, std::vector<double> z, double goal) {
    Units S = part.S;
    S.push_back(j);
    LikelihoodFit next = fitter.fit(S, std::move(z), goal, part.f);
    if (next.f <= part.f) return next;
    z = part.z;
    z.insert(z.end() - r, static_cast<std::size_t>(r), 0.0);
    return fit(std::move(S), std::move(z), goal);
  }

  // The coefficients with unit j outside on top, where the model expects them.
  std::vector<double> expected(i64 j) {
    model();
    const i64 N = (size() + (X.intercept ? 1 : 0)) * r, wide = p * r;
    std::vector<double> U(static_cast<std::size_t>(N * r), 0.0), D(static_cast<std::size_t>(r * r)),
        s(static_cast<std::size_t>(r)), z = at.z;
    for (i64 l = 0; l < N; ++l)
      for (i64 q = 0; q < N; ++q)
        for (i64 o = 0; o < r; ++o) U[l * r + o] += B[l * N + q] * rows[q * wide + j * r + o];
    for (i64 o = 0; o < r; ++o) {
      s[o] = -g[j * r + o];
      for (i64 u = 0; u < r; ++u) {
        double d = own[(j * r + o) * r + u];
        for (i64 l = 0; l < N; ++l) d -= rows[l * wide + j * r + o] * U[l * r + u];
        D[o * r + u] = d;
      }
    }
    small_cholesky(D.data(), r);
    pursuit::forward(D.data(), r, s.data());
    backward_solve(D.data(), r, s.data());
    for (i64 l = 0; l < N; ++l)
      for (i64 o = 0; o < r; ++o) z[l] -= U[l * r + o] * s[o];
    z.insert(z.begin() + size() * r, s.begin(), s.end());
    return z;
  }

  // Up to m units that may come in: the best by the exact gain along a column, corrected for what S explains of it, and
  // the best by the model, in turn. The model errs where curvature collapses: columns of few entries, rows that are
  // nearly separated.
  Units newcomers(i64 m, const SearchPlan& plan, const Units& banned) {
    model();
    std::vector<std::pair<double, i64>> by_model;
    for (i64 j = 0; j < p; ++j)
      if (plan.allowed[j] && open(j) && add[j] > 0.0 && std::find(banned.begin(), banned.end(), j) == banned.end())
        by_model.emplace_back(-add[j], j);
    const std::size_t most = std::min(static_cast<std::size_t>(m), by_model.size()),
                      first = std::min(4 * most, by_model.size());
    std::partial_sort(by_model.begin(), by_model.begin() + static_cast<i64>(first), by_model.end());
    Units out;
    auto put = [&](i64 j) {
      if (out.size() < most && std::find(out.begin(), out.end(), j) == out.end()) out.push_back(j);
    };
    std::vector<std::pair<double, i64>> exact; // a heap, the least of the best on top
    if (r == 1 && fitter.loss.bounded && most > 0) {
      const std::vector<double>& largest = X.largest();
      std::vector<double> slack(static_cast<std::size_t>(n));
      fitter.loss.slack(at.eta.data(), slack.data());
      if (!X.sparse()) by_model.resize(first); // the model errs less, and an exact gain costs n evaluations
      for (const auto& [negative, j] : by_model) {
        const double h = own[j], tau = std::fabs(g[j] / h) * largest[j];
        const bool full = exact.size() == most;
        if (full && tau < 0.999 && -negative / (1.0 - tau) <= -exact.front().first) continue;
        const Entries a = X.entries(j);
        const double share = std::max(left[j], 1e-6);
        if (full) { // no more than all of what the rows that profit have to lose
          double most_ = 0.0;
          for (i64 e = 0; e < a.count; ++e) {
            const i64 i = a.at(e);
            most_ += a.value[e] * d1[i] * g[j] > 0.0 ? slack[i] : 0.0;
          }
          if (most_ <= -exact.front().first * share) continue;
        }
        fitter.spent += 20.0 * static_cast<double>(a.count);
        const double gain = fitter.loss.gain(at.eta.data(), a, X.ridge[j], g[j], h, largest[j]) / share;
        if (full && gain <= -exact.front().first) continue;
        if (full) std::pop_heap(exact.begin(), exact.end()), exact.pop_back();
        exact.emplace_back(-gain, j);
        std::push_heap(exact.begin(), exact.end());
      }
      std::sort_heap(exact.begin(), exact.end());
    }
    for (std::size_t t = 0; t < most; ++t) {
      if (t < exact.size()) put(exact[t].second);
      put(by_model[t].second);
    }
    return out;
  }

  // The model of f at the state: rows of the Hessian, and all exchanges ranked in it.
  void model() {
    if (modelled) return;
    inverse();
    const i64 M = size() + (X.intercept ? 1 : 0), N = M * r, wide = p * r;
    const std::size_t P = static_cast<std::size_t>(p);
    fitter.gather(at.S);
    fitter.spent += X.stored() * static_cast<double>((M + 4) * fitter.loss.pairs());
    rows.resize(static_cast<std::size_t>(N * wide));
    own.resize(static_cast<std::size_t>(p * r * r));
    auto product = [&](const double* V, i64 q, double* out) { X.products(V, q, out); };
    fitter.weighted_products(p, product, d2.data(), [&](i64 o, i64 u, const double* block) {
      for (i64 l = 0; l < M; ++l)
        for (i64 j = 0; j < p; ++j)
          rows[(l * r + o) * wide + j * r + u] = rows[(l * r + u) * wide + j * r + o] = block[l * p + j];
    });
    diagonal_blocks();
    for (i64 l = 0; l < size(); ++l)
      for (i64 o = 0; o < r; ++o) rows[(l * r + o) * wide + at.S[l] * r + o] += X.ridge[at.S[l]];
    change.resize(P), who.resize(P), add.resize(P), left.resize(P);
    std::vector<std::uint8_t> droppable(static_cast<std::size_t>(M), 1);
    if (X.intercept) droppable.back() = 0;
    const SupportRows q{rows.data(), B.data(), g.data(), at.z.data(), N, wide, wide};
    if (r == 1) {
      exchange(q, own.data(), droppable.data(), change.data(), who.data(), add.data(), left.data());
    } else {
      Units down(static_cast<std::size_t>(M + 1)), across(P + 1), begins(P);
      for (i64 l = 0; l <= M; ++l) down[l] = l * r;
      for (i64 j = 0; j <= p; ++j) across[j] = j * r;
      for (i64 j = 0; j < p; ++j) begins[j] = j * r * r;
      const Groups G{down.data(), across.data(), M, p, own.data(), begins.data()};
      group_exchange(q, G, droppable.data(), change.data(), who.data(), add.data(), left.data());
    }
    modelled = true;
  }

  // H_jj of every unit.
  void diagonal_blocks() {
    const i64 pairs = fitter.loss.pairs();
    std::vector<double> sums(static_cast<std::size_t>(p * pairs));
    X.squares(d2.data(), pairs, sums.data());
    const double* sum = sums.data();
    for (i64 o = 0; o < r; ++o)
      for (i64 u = o; u < r; ++u, sum += p)
        for (i64 j = 0; j < p; ++j)
          own[(j * r + o) * r + u] = own[(j * r + u) * r + o] = sum[j] + (o == u ? X.ridge[j] : 0.0);
  }

  // B = H^-1 on the columns inside, and what dropping each unit would cost in the model.
  void inverse() {
    if (inverted) return;
    slopes();
    fitter.gather(at.S);
    std::copy(d1.begin(), d1.end(), fitter.d1.get());
    std::copy(d2.begin(), d2.end(), fitter.d2.get());
    fitter.system(at);
    const i64 N = fitter.M * r;
    residual.assign(fitter.g.get(), fitter.g.get() + N);
    B.assign(static_cast<std::size_t>(N * N), 0.0);
    double* H = fitter.H.get();
    Factor factor(H, N, N);
    pivots = factor.pivots();
    for (double lift = 1e-10; !factor.ok && lift < 1.0; lift *= 100.0) { // columns too close to dependent
      for (i64 l = 0; l < N; ++l) H[l * (N + 1)] = H[l * (N + 1)] * (1.0 + lift) + 1e-300;
      factor = Factor(H, N, N);
    }
    if (factor.ok) factor.inverse(B.data(), N);
    dropped.resize(at.S.size());
    std::vector<double> L(static_cast<std::size_t>(r * r)), v(static_cast<std::size_t>(r));
    for (i64 i = 0; i < size(); ++i) {
      for (i64 o = 0; o < r; ++o)
        for (i64 u = 0; u < r; ++u) L[o * r + u] = B[(i * r + o) * N + i * r + u];
      std::copy_n(&at.z[i * r], r, v.begin());
      small_cholesky(L.data(), r);
      dropped[i] = 0.5 * pursuit::forward(L.data(), r, v.data());
    }
    inverted = true;
  }

  double norm(const double* v) const {
    double sum = 0.0;
    for (i64 o = 0; o < r; ++o) sum += v[o] * v[o];
    return std::sqrt(sum);
  }

  static constexpr double kNewShare = 1e-9; // of a column, below which it is a combination of those inside
  LikelihoodFitter& fitter;
  EvenColumns& X;
  const i64 n, r, p;
  std::vector<Units> doubtful; // supports whose columns are too close to dependent for a fit here

private:
  static constexpr std::size_t kDoubts = 16;

  double unit(i64 j) const { return scaled && X.unit[j] > 0.0 ? 1.0 : X.unit[j]; }
  i64 place(i64 j) const { return std::find(at.S.begin(), at.S.end(), j) - at.S.begin(); }

  void slopes() {
    if (sloped) return;
    d1.resize(static_cast<std::size_t>(n * r));
    d2.resize(static_cast<std::size_t>(n * fitter.loss.pairs()));
    g.assign(static_cast<std::size_t>(p * r), 0.0);
    fitter.evaluate(at.eta.data(), d1.data(), d2.data());
    std::vector<double> dots(static_cast<std::size_t>(p));
    for (i64 o = 0; o < r; ++o) {
      X.products(d1.data() + o * n, 1, dots.data());
      for (i64 j = 0; j < p; ++j) g[j * r + o] = inside[j] ? 0.0 : dots[j];
    }
    fitter.spent += X.stored() * static_cast<double>(r);
    sloped = true;
  }

  // From a start that is no worse than nothing.
  LikelihoodFit fit(Units S, std::vector<double> z, double goal) {
    LikelihoodFit next = fitter.fit(S, std::move(z), goal, null.f);
    if (r > 1 && next.dependent && next.end == End::undecided && next.f <= null.f && without_ridge(S)) {
      LikelihoodFit again = fitter.fit_on_basis(S, next.z, goal);
      again.dependent = false; // what is damped there is flat, and no combination of columns
      if (again.f <= next.f || again.end == End::above) next = std::move(again);
    }
    if (next.dependent && next.end == End::undecided && static_cast<i64>(S.size()) == budget) doubt(S);
    if (next.end != End::undecided || next.f <= null.f) return next;
    std::vector<double> cold(S.size() * static_cast<std::size_t>(r), 0.0);
    cold.insert(cold.end(), null.z.end() - r, null.z.end());
    return fitter.fit(std::move(S), std::move(cold), goal);
  }

  bool without_ridge(const Units& S) const {
    return std::all_of(S.begin(), S.end(), [&](i64 j) { return X.ridge[j] == 0.0; });
  }

  void doubt(Units S) {
    std::sort(S.begin(), S.end());
    if (doubtful.size() < kDoubts && std::find(doubtful.begin(), doubtful.end(), S) == doubtful.end())
      doubtful.push_back(std::move(S));
  }

  // The fit with unit j in the place of the i-th, from where the model expects it.
  LikelihoodFit exchanged(i64 i, i64 j, double goal) {
    Units S = at.S;
    std::vector<double> z = at.z;
    if (r == 1) {
      const i64 N = size() + (X.intercept ? 1 : 0);
      const double b = B[i * N + i], t = z[i] / b;
      std::vector<double> u(static_cast<std::size_t>(N), 0.0);
      for (i64 l = 0; l < N; ++l) add_rows<1>(&B[l * N], 0, &rows[l * p + j], N, u.data());
      double d = own[j];
      for (i64 l = 0; l < N; ++l) d -= rows[l * p + j] * u[l];
      const double slope = g[j] - t * u[i], curve = d + u[i] * u[i] / b;
      const double move = curve > kNewShare * own[j] ? -slope / curve : 0.0, turn = u[i] / b;
      for (i64 l = 0; l < N; ++l) z[l] -= t * B[i * N + l] + move * (u[l] - turn * B[i * N + l]);
      z[i] = move;
    } else {
      std::fill_n(&z[i * r], r, 0.0);
    }
    S[i] = j;
    return fit(std::move(S), std::move(z), goal);
  }

  i64 budget;
  double floor;
  std::vector<std::uint8_t> inside;
  LikelihoodFit at, null;
  LocalModel before;
  bool scaled = false;
};

} // namespace pursuit
