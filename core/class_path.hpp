#pragma once

#include "group_path.hpp"
#include "likelihood_fit.hpp"

// A light path for several classes, for those who need many of them (folds): the best support found of some sizes, each
// on a quadratic model of f at the fit before it. The model is
//
//     q(x) = f + g'(x - z) + (x - z)'H(x - z)/2,      minimised over the intercepts,
//
// on a working set W: the support and the columns of largest g_j' H_jj^-1 g_j, where H_jj is the r x r block of a
// column. In it columns enter and are exchanged (group_path.hpp: a column is a group of r coefficients) up to the next
// size; where that leads is fitted by Newton's method from the model's coefficients. Where the new model finds
// exchanges that help at the size itself, they are fitted too. Rare columns are misjudged by the model: where that is
// wanted, half of W and of the newcomers are those of largest gain along the column itself (likelihood.hpp). Cost of a
// model: n |W|^2 r (r + 1) / 2 multiplications for H, |S| (|W| r)^2 r for the state in which exchanges are judged; a
// step of a fit costs n |S|^2 r (r + 1) / 2.

namespace pursuit {

class ClassPath {
public:
  std::vector<LikelihoodFit> best; // of the sizes that were wanted and reached
  bool stopped = false;            // before its end
  Units columns;                   // of all models, in order

  // `outside`: columns of the working set beside the support; `exact`: the gain along a column counts beside the
  // model's.
  ClassPath(EvenColumns& X_, Likelihood& loss_, const SearchPlan& plan_, i64 outside_, bool exact_, double floor_,
            Poll& poll_)
      : X(X_), plan(plan_), n(X_.n), p(X_.p), r(loss_.r), outside(outside_), exact(exact_), floor(floor_), poll(poll_),
        fitter(X_, loss_, std::min(X_.p, plan_.k + std::max(outside_, 2 * plan_.k)), floor_, plan_.scale, poll_) {}

  // From the units `start`, all that are forced in among them. `wanted`: a flag for each size up to k;
  // `reached(size, f)` stops the path by returning true.
  void run(const Units& start, const std::uint8_t* wanted, const std::function<bool(i64, double)>& reached) {
    best.clear();
    at = fitter.fit({}, std::vector<double>(static_cast<std::size_t>(r), 0.0));
    if (!start.empty()) {
      std::vector<double> z(start.size() * static_cast<std::size_t>(r), 0.0);
      z.insert(z.end(), at.z.begin(), at.z.end());
      at = fitter.fit(start, std::move(z));
    }
    if (!std::isfinite(at.f)) return;
    i64 size = static_cast<i64>(start.size());
    auto take = [&] {
      best.push_back(at);
      stopped = poll.stop() || (reached && reached(size, at.f));
    };
    take();
    while (size < plan.k && !stopped && at.f > floor) {
      i64 next = size + 1;
      while (next < plan.k && !wanted[next]) ++next;
      if (!advance(size, next)) break;
      best.back() = previous; // exchanges may have improved it
      size = next;
      take();
    }
    if (!stopped && at.f > floor && size > std::count(plan.forced, plan.forced + p, 1)) {
      advance(size, size);
      best.back() = previous;
    }
    stopped = stopped || poll.stop();
  }

  // A fit with its columns in order.
  Found found(const LikelihoodFit& fit) const {
    Units places(fit.S.size());
    std::iota(places.begin(), places.end(), 0);
    std::sort(places.begin(), places.end(), [&](i64 a, i64 b) { return fit.S[a] < fit.S[b]; });
    Found point{{}, {}, fit.f};
    for (i64 i : places) {
      point.support.push_back(fit.S[i]);
      point.x.insert(point.x.end(), fit.z.begin() + i * r, fit.z.begin() + (i + 1) * r);
    }
    point.x.insert(point.x.end(), fit.z.end() - r, fit.z.end());
    return point;
  }

private:
  static constexpr double kHelps = 1e-9;     // share of f by which an exchange must help
  static constexpr double kLift = 1e-9;      // of the model's diagonal, so that it has a minimum
  static constexpr double kPromising = 0.05; // share of f that the model may err by
  static constexpr int kMaxModels = 20;      // at one size
  static constexpr i64 kSmall = 15;          // units up to which fits cost little beside those of larger sizes
  static constexpr i64 kLooked = 4;          // times as many sparse columns whose gain is computed
  static constexpr std::size_t kTries = 8;   // exchanges that are fitted there

  // From the fit of a size to the next one wanted (the same: exchanges only), and whether there is one. `previous` is
  // then the best of the size before.
  bool advance(i64 size, i64 next) {
    std::vector<std::uint8_t> flags(static_cast<std::size_t>(next + 1), 0);
    for (int turn = 0;; ++turn) {
      previous = at;
      if (!build(next - size)) return false;
      const GroupProblem problem{H.get(), linear.data(), w * r, starts, forced, allowed};
      const double tolerance = kHelps * plan.size(at.f);
      GroupPath path(problem, tolerance, poll);
      flags[size] = flags[next] = 1;
      path.run(S, next, flags);
      if (poll.stop()) return false;
      const Units here = path.best[size].groups, there = path.best[next].groups;
      if (size > 0 && turn < kMaxModels && exchange(path, here, size <= kSmall ? kTries : 0)) continue;
      previous = at;
      if (size <= kSmall) down(path);
      if (next == size) return true;
      LikelihoodFit up;
      auto offer = [&](const Units& groups) {
        LikelihoodFit trial = fit(groups, path.coefficients(groups), up.f < HUGE_VAL ? up.f - tolerance : -HUGE_VAL);
        if (trial.end != End::above && trial.f < up.f) up = std::move(trial);
      };
      if (static_cast<i64>(there.size()) == next) offer(there);
      if (next == size + 1 && next <= kSmall) { // the best of these may not be the model's
        std::vector<double> times(static_cast<std::size_t>(w));
        for (i64 l = 0; l < w; ++l) times[l] = share[W[l]];
        Units others = path.newcomers(S, kTries);
        if (exact)
          for (i64 b : path.newcomers(S, kTries, times.data()))
            if (std::find(others.begin(), others.end(), b) == others.end()) others.push_back(b);
        for (i64 b : others) {
          Units groups = S;
          groups.push_back(b);
          std::sort(groups.begin(), groups.end());
          if (groups != there) offer(groups);
        }
      } else if (!(up.f <= at.f)) { // without exchanges, which the model may be wrong about
        flags[size] = flags[next] = 0;
        GroupPath nested(problem, tolerance, poll);
        nested.run(S, next, flags);
        if (static_cast<i64>(nested.best[next].groups.size()) == next) offer(nested.best[next].groups);
      }
      if (!(up.f <= at.f) || poll.stop()) return false;
      at = std::move(up);
      return true;
    }
  }

  // One unit down, where the size below is on the path: what that is worth there.
  void down(GroupPath& path) {
    if (best.size() < 2 || best[best.size() - 2].S.size() + 1 != S.size()) return;
    LikelihoodFit& below = best[best.size() - 2];
    const double goal = below.f - kHelps * plan.size(below.f);
    const Units fewer = path.reduced(S);
    if (fewer.size() == S.size()) return;
    LikelihoodFit trial = fit(fewer, path.coefficients(fewer), goal);
    if (trial.end != End::above && trial.f < goal) below = std::move(trial);
  }

  // To where exchanges lead in the model, or else to the first of the best-ranked ones that helps; whether one does.
  bool exchange(GroupPath& path, const Units& here, std::size_t tries) {
    const double goal = at.f - kHelps * plan.size(at.f);
    auto helps = [&](const Units& groups) {
      LikelihoodFit trial = fit(groups, path.coefficients(groups), goal);
      if (trial.end == End::above || !(trial.f < goal)) return false;
      at = std::move(trial);
      return true;
    };
    if (here.size() == S.size() && here != S && helps(here)) return true;
    if (tries == 0) return false;
    for (const Move& move : path.ranked(S, tries)) {
      if (poll.stop() || move.change > kPromising * plan.size(at.f)) return false;
      Units groups = S;
      *std::find(groups.begin(), groups.end(), move.leave) = move.enter;
      std::sort(groups.begin(), groups.end());
      if (groups != here && helps(groups)) return true;
    }
    return false;
  }

  // The fit on columns of the working set, from the model's coefficients; from those at hand where that is no better.
  LikelihoodFit fit(const Units& places, const std::vector<double>& x, double goal) {
    Units T;
    for (i64 l : places) T.push_back(W[l]);
    std::vector<double> z = x, cold(T.size() * static_cast<std::size_t>(r), 0.0);
    for (std::size_t l = 0; l < T.size(); ++l) {
      const auto i = std::find(at.S.begin(), at.S.end(), T[l]) - at.S.begin();
      if (i < static_cast<i64>(at.S.size())) std::copy_n(&at.z[i * r], r, &cold[l * r]);
    }
    const double* b = &at.z[at.z.size() - static_cast<std::size_t>(r)];
    cold.insert(cold.end(), b, b + r);
    std::vector<double> shift(b, b + r);
    if (X.intercept) // b moves by -H_00^-1 H_0: (x - z)
      for (i64 o = 0; o < r; ++o) {
        for (std::size_t l = 0; l < T.size(); ++l)
          for (i64 u = 0; u < r; ++u) shift[o] -= edge[o * w * r + places[l] * r + u] * x[l * r + u];
        for (std::size_t i = 0; i < at.S.size(); ++i)
          for (i64 u = 0; u < r; ++u) shift[o] += edge[o * w * r + S[i] * r + u] * at.z[order[i] * r + u];
      }
    z.insert(z.end(), shift.begin(), shift.end());
    LikelihoodFit next = fitter.fit(T, std::move(z), goal, at.f);
    return next.f <= at.f ? next : fitter.fit(std::move(T), std::move(cold), goal);
  }

  // The model at the fit, on its support and the columns of largest gain.
  bool build(i64 more) {
    d1.resize(static_cast<std::size_t>(n * r)), d2.resize(static_cast<std::size_t>(n * fitter.loss.pairs()));
    fitter.evaluate(at.eta.data(), d1.data(), d2.data());
    choose(more);
    const i64 m = static_cast<i64>(at.S.size());
    w = static_cast<i64>(W.size());
    const i64 wide = w * r, all = wide + (X.intercept ? r : 0);
    fitter.gather(W);
    Buffer whole = reals(all * all);
    auto product = [&](const double* V, i64 q, double* out) {
      gemm(true, fitter.M, q, n, fitter.D.get(), n, V, n, 0.0, out, fitter.M);
    };
    fitter.weighted_products(fitter.M, product, d2.data(), [&](i64 o, i64 u, const double* block) {
      for (i64 l = 0; l < fitter.M; ++l)
        for (i64 k = 0; k < fitter.M; ++k)
          whole[(l * r + o) * all + k * r + u] = whole[(l * r + u) * all + k * r + o] = block[l * fitter.M + k];
    });
    fitter.spent += static_cast<double>(n * w * w * fitter.loss.pairs());
    H = reals(wide * wide);
    edge.assign(static_cast<std::size_t>(r * wide), 0.0);
    if (X.intercept) {
      Buffer corner = reals(r * r), inverse = reals(r * r);
      for (i64 o = 0; o < r; ++o)
        for (i64 u = 0; u < r; ++u) corner[o * r + u] = whole[(wide + o) * all + wide + u];
      const Factor factor(corner.get(), r, r);
      if (!factor.ok) return false;
      factor.inverse(inverse.get(), r);
      for (i64 o = 0; o < r; ++o)
        for (i64 u = 0; u < r; ++u)
          add_rows<1>(whole.get() + (wide + u) * all, 0, &inverse[o * r + u], wide, &edge[o * wide]);
    }
    for (i64 a = 0; a < wide; ++a) {
      double* row = H.get() + a * wide;
      std::copy_n(whole.get() + a * all, wide, row);
      for (i64 o = 0; o < r && X.intercept; ++o) {
        const double t = -whole[(wide + o) * all + a];
        add_rows<1>(&edge[o * wide], 0, &t, wide, row);
      }
    }
    double top = 0.0;
    for (i64 a = 0; a < wide; ++a) top = std::max(top, H[a * (wide + 1)]);
    if (!(top > 0.0) || !std::isfinite(top)) return false;
    linear.assign(static_cast<std::size_t>(wide), 0.0); // -g + H z, with the ridge; g is 0 inside
    for (i64 l = 0; l < w; ++l)
      for (i64 o = 0; o < r; ++o) {
        H[(l * r + o) * (wide + 1)] += X.ridge[W[l]] + kLift * (H[(l * r + o) * (wide + 1)] + kLift * top);
        if (l >= m) linear[l * r + o] = -dot(fitter.D.get() + l * n, d1.data() + o * n, n);
      }
    for (i64 i = 0; i < m; ++i)
      for (i64 o = 0; o < r; ++o) {
        const double z = at.z[order[i] * r + o];
        add_rows<1>(H.get() + (i * r + o) * wide, 0, &z, wide, linear.data());
      }
    starts.resize(static_cast<std::size_t>(w + 1));
    for (i64 l = 0; l <= w; ++l) starts[l] = l * r;
    forced.clear(), allowed.clear();
    for (i64 j : W) forced.push_back(plan.forced[j]), allowed.push_back(plan.allowed[j]);
    return true;
  }

  // W: the support, in the order of its columns, and the others of largest g_j' H_jj^-1 g_j; S: places in it.
  void choose(i64 more) {
    const i64 m = static_cast<i64>(at.S.size()), pairs = fitter.loss.pairs();
    std::vector<double> g(static_cast<std::size_t>(p * r)), own(static_cast<std::size_t>(p * pairs)),
        score(static_cast<std::size_t>(p), -1.0), L(static_cast<std::size_t>(r * r)), v(static_cast<std::size_t>(r));
    X.products(d1.data(), r, g.data());
    X.squares(d2.data(), pairs, own.data());
    fitter.spent += X.stored() * static_cast<double>(r + pairs);
    for (i64 j = 0; j < p; ++j) {
      if (!plan.allowed[j] || !(X.unit[j] > 0.0)) continue;
      const double* sum = own.data() + j;
      for (i64 o = 0; o < r; ++o) {
        v[o] = g[o * p + j];
        for (i64 u = o; u < r; ++u, sum += p) L[u * r + o] = *sum + (o == u ? X.ridge[j] : 0.0);
      }
      small_cholesky(L.data(), r);
      score[j] = pursuit::forward(L.data(), r, v.data());
    }
    for (i64 j : at.S) score[j] = -1.0;
    order.resize(static_cast<std::size_t>(m));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](i64 a, i64 b) { return at.S[a] < at.S[b]; });
    W.clear(), S.clear();
    for (i64 i = 0; i < m; ++i) W.push_back(at.S[order[i]]), S.push_back(i);
    const i64 most = std::min(p - m, std::max(outside, 2 * more));
    Units by_model = top_of(score, exact ? std::min(p - m, (X.sparse() ? kLooked : 1) * most) : most), by_gain;
    std::erase_if(by_model, [&](i64 j) { return !(score[j] >= 0.0); });
    share.assign(static_cast<std::size_t>(p), 1.0);
    if (exact) {
      for (i64 j : by_model) {
        const Entries a = X.entries(j);
        fitter.spent += 20.0 * static_cast<double>(a.count * fitter.loss.pairs());
        if (score[j] > 0.0) share[j] = 2.0 * fitter.loss.gain(at.eta.data(), a, X.ridge[j]) / score[j];
      }
      by_gain = by_model;
      std::stable_sort(by_gain.begin(), by_gain.end(),
                       [&](i64 a, i64 b) { return share[a] * score[a] > share[b] * score[b]; });
    }
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(p), 0);
    auto put = [&](i64 j) {
      if (static_cast<i64>(W.size()) < m + most && !taken[j]) W.push_back(j), taken[j] = 1;
    };
    for (std::size_t t = 0; t < by_model.size(); ++t) {
      put(by_model[t]);
      if (exact) put(by_gain[t]);
    }
    Units sorted = W, all;
    std::sort(sorted.begin(), sorted.end());
    std::set_union(columns.begin(), columns.end(), sorted.begin(), sorted.end(), std::back_inserter(all));
    columns = std::move(all);
  }

  EvenColumns& X;
  const SearchPlan plan;
  const i64 n, p, r, outside;
  const bool exact;
  const double floor;
  Poll& poll;
  LikelihoodFitter fitter;
  LikelihoodFit at, previous;
  Units W, S, order; // order: the place in the fit of each column of the support, by their numbers
  i64 w = 0;
  Buffer H;
  std::vector<double> share;                // of what the model says a column gains alone that it does gain
  std::vector<double> d1, d2, linear, edge; // edge: H_00^-1 H_0:, r x |W| r
  std::vector<i64> starts;
  std::vector<std::uint8_t> forced, allowed;
};

} // namespace pursuit
