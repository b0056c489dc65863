#pragma once

#include "fit.hpp"
#include "likelihood.hpp"
#include "search.hpp"

// Fits of f(z) = loss(D z) + sum_j ridge_j/2 |z_j|^2 on a few columns D = [A_S, 1] by Newton's method, which end as
// soon as they are known not to matter. At any point, with Newton step s and turn = D s, a = phi' + phi'' turn is
// feasible in the dual problem, since H s = -g. So
//
//   min f  >=  f - gap(turn) - sum_j ridge_j/2 |s_j|^2                     (likelihood.hpp: `gap`)
//
// and where |phi'''| <= phi'' and tau = reach(turn) < 1 that is at least f - dec / (2 (1 - tau)), dec = g'H^-1 g, which
// is tried first. Cost of a step: n M^2 r (r + 1) flops for the Hessian, 2 n M r (D is n x M), one evaluation of the
// loss; the gap costs n r logarithms.

namespace pursuit {

enum class End { minimum, above, floor, undecided }; // above: proved to be above the goal; undecided: whatever else

struct LikelihoodFit {
  Units S;
  std::vector<double> z, eta;               // (|S| + 1) x r, unit after unit, the intercept last; n x r
  double f = HUGE_VAL, expected = HUGE_VAL; // the value, and what the last Newton step would make of it
  End end = End::undecided;
  bool endless = false;   // it ended where steps stay long although they gain nothing
  bool dependent = false; // it ended where the Hessian had to be lifted: f may be far above the minimum
  std::uint64_t id = 0;   // no two fits of a fitter have the same
};

class LikelihoodFitter {
public:
  EvenColumns& X;
  Likelihood& loss;
  const i64 n, r;

  LikelihoodFitter(EvenColumns& X_, Likelihood& loss_, i64 most, double floor_, double scale_, Poll& poll_)
      : X(X_), loss(loss_), n(X_.n), r(loss_.r), D(reals(X_.n * (most + 1))), d1(reals(X_.n * loss_.r)),
        d2(reals(X_.n * loss_.pairs())), H(reals((most + 1) * (most + 1) * loss_.r * loss_.r)),
        g(reals((most + 1) * loss_.r)), ahead1(reals(X_.n * loss_.r)), ahead2(reals(X_.n * loss_.pairs())),
        turn(reals(X_.n * loss_.r)), there(reals(X_.n * loss_.r)), s(reals((most + 1) * loss_.r)), floor(floor_),
        scale(scale_), poll(poll_) {}

  static constexpr double kClose = 1e-8, kExact = 1e-13; // decrements, relative to f, to end with

  // The minimiser over a support, from z, but for `tol`; it may end early where it cannot come below `goal`, and does
  // at once where z is above `ceiling`.
  LikelihoodFit fit(Units S, std::vector<double> z, double goal = -HUGE_VAL, double ceiling = HUGE_VAL,
                    double tol = kClose) {
    gather(S);
    return descend(std::move(S), std::move(z), goal, ceiling, tol);
  }

  // The same on an orthonormal basis of the columns, for columns that are nearly dependent and have no ridge.
  LikelihoodFit fit_on_basis(const Units& S, std::vector<double> z, double goal) {
    gather(S);
    std::vector<double> R(static_cast<std::size_t>(M * M), 0.0); // D = Q R, by Gram and Schmidt, twice
    for (i64 l = 0; l < M; ++l) {
      double *d = D.get() + l * n, before = dot(d, d, n);
      for (int turn = 0; turn < 2; ++turn)
        for (i64 k = 0; k < l; ++k) {
          const double *q = D.get() + k * n, t = dot(q, d, n) / static_cast<double>(n), back = -t;
          R[k * M + l] += t;
          add_rows<1>(q, 0, &back, n, d);
        }
      const double after = dot(d, d, n);
      if (!(after > kNewColumn * before)) return {};
      R[l * M + l] = std::sqrt(after / static_cast<double>(n));
      for (i64 i = 0; i < n; ++i) d[i] /= R[l * M + l];
    }
    for (i64 l = 0; l < M; ++l) // R z, from the first row on
      for (i64 o = 0; o < r; ++o) {
        double sum = 0.0;
        for (i64 k = l; k < M; ++k) sum += R[l * M + k] * z[k * r + o];
        z[l * r + o] = sum;
      }
    LikelihoodFit at = descend(S, std::move(z), goal, HUGE_VAL, kClose);
    for (i64 l = M - 1; l >= 0; --l)
      for (i64 o = 0; o < r; ++o) {
        double sum = at.z[l * r + o];
        for (i64 k = l + 1; k < M; ++k) sum -= R[l * M + k] * at.z[k * r + o];
        at.z[l * r + o] = sum / R[l * M + l];
      }
    return at;
  }

  // From z on the columns D that are gathered.
  LikelihoodFit descend(Units S, std::vector<double> z, double goal, double ceiling, double tol) {
    LikelihoodFit at;
    at.S = std::move(S);
    at.z = std::move(z);
    at.eta.resize(static_cast<std::size_t>(n * r));
    predict(at.z.data(), at.eta.data());
    at.f = evaluate(at.eta.data(), d1.get(), d2.get()) + ridge(at.S, at.z.data());
    if (!(at.f <= ceiling)) return close(at, End::undecided);
    double damp = 0.0;
    for (int step = 0; step < kSteps; ++step) {
      if (!(at.f > floor)) return close(at, End::floor);
      if (poll.stop() || !std::isfinite(at.f)) return close(at, End::undecided);
      system(at);
      spent += static_cast<double>(n * M * (M + 20) * loss.pairs());
      double pivots = 0.0;
      const double dec = direction(damp, pivots);
      at.dependent = damp > 0.0, lifted = damp;
      if (!(dec >= 0.0)) return close(at, End::undecided);
      at.expected = at.f - 0.5 * dec;
      predict(s.get(), turn.get());
      const double tau = loss.bounded ? loss.reach(turn.get()) : 0.0;
      const bool exact = damp == 0.0 && pivots > kSurePivots;
      if (exact && excluded(at, dec, tau, goal)) return close(at, End::above);
      const bool unlikely = !loss.bounded && step >= 2 && goal > -HUGE_VAL && at.f - 2.0 * dec > goal;
      if (unlikely && !careful) return close(at, End::undecided);
      const double height = floor > -HUGE_VAL ? 0.0 : 1e6 * scale; // above a floor there is no end
      const bool settled = dec <= tol * std::max(std::fabs(at.f), height);
      // a step that stays long while it gains nothing: coefficients that grow without end
      if (damp == 0.0) at.endless = tau >= 0.1 && dec <= 1e-8 * size(at.f);
      if (settled && (tau >= kLong || damp > 0.0)) return close(at, End::undecided);
      if (settled && !loss.bounded && !(gap(at) <= 1e2 * tol * size(at.f))) return close(at, End::undecided);
      if (tau > kSeparating && loss.bounded && loss.curve > 0.0 && floor > -HUGE_VAL && separates(at))
        return close(at, End::floor);
      const bool moved = advance(at, dec, tau, settled);
      if (settled) return close(at, exact ? End::minimum : End::undecided);
      if (moved) {
        damp = damp > 1e-4 * kDamp ? 0.1 * damp : 0.0; // a flat direction may not be one further on
        continue;
      }
      if (dec <= 1e-11 * size(at.f)) return close(at, exact ? End::minimum : End::undecided);
      if (damp > 1e3) return close(at, End::undecided);
      damp = std::max(kDamp, 10.0 * damp);
      evaluate(at.eta.data(), d1.get(), d2.get()); // where it stands: `reach` belongs to the last evaluation
    }
    return close(at, End::undecided);
  }

  // Whether the minimum is above a goal for certain, with room for rounding; turn, s, d1 and d2 are those of the point.
  bool excluded(const LikelihoodFit& at, double dec, double tau, double goal) {
    const double least = goal + 2e-11 * size(at.f);
    if (!(goal > -HUGE_VAL) || !(at.f - 0.5 * dec > least)) return false;
    if (loss.bounded && lower_bound(at.f, dec, tau) > least) return true;
    return at.f - gap(at) * (1 + 1e-6) > least;
  }
  // The bounds that need no logarithms: dec / (2 (1 - tau)), and for tau < 1, which keeps a in the domain, dec, since
  // KL_i <= phi'' turn^2.
  static double lower_bound(double f, double dec, double tau) {
    return tau < 0.999 ? f - dec * (1 + 1e-6) * std::min(1.0, 0.5 / (1 - tau * (1 + 1e-6))) : -HUGE_VAL;
  }

  // D = [A_S, 1], without the ones where there is no intercept.
  void gather(const Units& S) {
    m = static_cast<i64>(S.size());
    M = m + (X.intercept ? 1 : 0);
    X.gather(S, D.get());
    if (X.intercept) std::fill(D.get() + m * n, D.get() + M * n, 1.0);
    ahead.resize(static_cast<std::size_t>((m + 1) * r));
  }

  // out (n x r) = D v for v in the layout of z.
  void predict(const double* v, double* out) {
    if (r == 1) {
      std::fill(out, out + n, 0.0);
      return add_lines(D.get(), n, v, M, n, out);
    }
    columns.resize(static_cast<std::size_t>(M * r));
    transpose(v, M, r, columns.data());
    gemm(false, n, r, M, D.get(), n, columns.data(), M, 0.0, out, n);
  }

  double evaluate(const double* eta, double* first, double* second) { return loss.evaluate(eta, first, second); }

  double ridge(const Units& S, const double* z) const {
    double sum = 0.0;
    for (std::size_t l = 0; l < S.size(); ++l)
      for (i64 o = 0; o < r; ++o) sum += X.ridge[S[l]] * z[l * r + o] * z[l * r + o];
    return 0.5 * sum;
  }

  // g and H at a point whose d1 and d2 are at hand.
  void system(const LikelihoodFit& at) {
    const i64 N = M * r;
    std::vector<double> dots(static_cast<std::size_t>(M));
    for (i64 o = 0; o < r; ++o) {
      std::fill(dots.begin(), dots.end(), 0.0);
      add_dots(D.get(), n, d1.get() + o * n, M, n, dots.data());
      for (i64 l = 0; l < M; ++l) g[l * r + o] = dots[l] + (l < m ? X.ridge[at.S[l]] * at.z[l * r + o] : 0.0);
    }
    if (r == 1 && M > kFewColumns) {
      for (i64 i = 0; i < n; ++i) there[i] = std::sqrt(d2[i]); // no loss here bends down
      scaled.resize(static_cast<std::size_t>(n * M));
      for (i64 l = 0; l < M; ++l) multiply(D.get() + l * n, there.get(), n, scaled.data() + l * n);
      std::fill(H.get(), H.get() + M * M, 0.0);
      syrk(M, n, scaled.data(), n, H.get(), M);
      mirror_upper(H.get(), M);
    } else {
      auto product = [&](const double* V, i64 q, double* out) { gemm(true, M, q, n, D.get(), n, V, n, 0.0, out, M); };
      weighted_products(M, product, d2.get(), [&](i64 o, i64 u, const double* block) {
        for (i64 l = 0; l < M; ++l)
          for (i64 k = 0; k < M; ++k)
            H[(l * r + o) * N + k * r + u] = H[(l * r + u) * N + k * r + o] = block[l * M + k];
      });
    }
    for (i64 l = 0; l < m; ++l)
      for (i64 o = 0; o < r; ++o) H[(l * r + o) * (N + 1)] += X.ridge[at.S[l]];
  }

  // `use(o, u, block)` for every pair of outputs o <= u: block = L' diag(w_ou) D, a line of `width` numbers for each
  // column of D, where `product(V, q, out)` is V'L for V of q columns, and w has a column for each pair. Several pairs
  // are one product, so that L is read once.
  template <class Product, class Use>
  void weighted_products(i64 width, Product&& product, const double* w, Use&& use) {
    const i64 pairs = loss.pairs(), several = std::clamp<i64>(kTogether / std::max<i64>(M, 1), 1, pairs);
    scaled.resize(static_cast<std::size_t>(n * M * several));
    blocks.resize(static_cast<std::size_t>(width * M * several));
    i64 o = 0, u = 0;
    for (i64 first = 0; first < pairs; first += several) {
      const i64 count = std::min(several, pairs - first);
      for (i64 t = 0; t < count; ++t)
        for (i64 l = 0; l < M; ++l) multiply(D.get() + l * n, w + (first + t) * n, n, scaled.data() + (t * M + l) * n);
      product(scaled.data(), M * count, blocks.data());
      for (i64 t = 0; t < count; ++t) {
        use(o, u, blocks.data() + t * M * width);
        if (++u == r) u = ++o;
      }
    }
  }

  double size(double f) const { return std::max(std::fabs(f), scale); }

  bool careful = false; // fits go on where they most likely fail, but are not known to
  double spent = 0.0;   // multiplications, roughly
  i64 m = 0, M = 0;     // columns of S, columns of D
  Buffer D, d1, d2, H, g;

private:
  static constexpr int kSteps = 60;
  static constexpr i64 kTogether = 96, kFewColumns = 24; // columns of a product; up to which half of it is no less
  static constexpr double kDamp = 1e-4, kLong = 0.03;    // after a shorter last step less than a thousandth is left
  static constexpr double kSeparating = 0.5, kEnlarged = 64.0; // reach from which on, and times that, it is looked for
  static constexpr double kFlat = 1e-12;      // share of the largest curvature below which f counts as flat
  static constexpr double kNewColumn = 1e-14; // share of a column's square that the others must leave for a basis
  static constexpr double kDependentPivots = 1e-14, kSurePivots = 1e-9; // what is claimed wants more digits

  // s = -(H + damping)^-1 g, with as much damping as that needs; returns the decrement, negative where all fails. Rows
  // that the columns separate leave directions in which f is flat: a damping far below the curvature of all others
  // takes these out, and the fit goes on in the others.
  double direction(double& damp, double& pivots) {
    const i64 N = M * r;
    for (;; damp = damp < kFlat ? kFlat : std::max(kDamp, 10.0 * damp)) {
      if (damp > 0.0) { // of what phi'' can be on columns of mean square 1, or is
        double top = damp > kFlat ? loss.curve : 0.0;
        for (i64 l = 0; l < N && !(damp > kFlat && loss.curve > 0.0); ++l) top = std::max(top, H[l * (N + 1)]);
        for (i64 l = 0; l < N; ++l) H[l * (N + 1)] += damp * (H[l * (N + 1)] + top);
      }
      const Factor factor(H.get(), N, N);
      pivots = factor.pivots();
      if (pivots > kDependentPivots) return factor.step(nullptr, g.get(), s.get());
      if (damp > 1e3) return -1.0;
    }
  }

  // Along the direction to where f has fallen: the whole step, less where that is too far, more where steps stay long
  // (towards coefficients without end). The last step is taken if f does not rise.
  bool advance(LikelihoodFit& at, double dec, double tau, bool last) {
    double t = 1.0, best = trial(at, t);
    if (last) {
      if (best <= at.f + 1e-15 * size(at.f)) accept(at, best); // rounding is no rise
      return true;
    }
    while (!(best <= at.f - 1e-4 * t * dec)) {
      t *= t > 0.1 ? 0.5 : 0.1;
      if (t < 1e-7) return false;
      best = trial(at, t);
    }
    accept(at, best);
    for (double more = t; tau > 0.5 && t == 1.0 && more < 64.0; more *= 2.0) {
      const double further = trial(at, more);
      if (!(further < at.f - 0.1 * dec)) {
        evaluate(at.eta.data(), d1.get(), d2.get());
        break;
      }
      accept(at, further);
    }
    return true;
  }

  // Where the columns separate the classes f is at its floor for coefficients that are some times as large: to these,
  // and no further than that needs.
  bool separates(LikelihoodFit& at) {
    auto enlarged = [&](double times) {
      for (i64 i = 0; i < n * r; ++i) there[i] = times * at.eta[i];
      for (i64 l = 0; l < M * r; ++l) ahead[l] = times * at.z[l];
      return evaluate(there.get(), ahead1.get(), ahead2.get()) + ridge(at.S, ahead.data());
    };
    if (!(enlarged(kEnlarged) <= floor)) return false;
    double times = 1.0, f = HUGE_VAL;
    while (!(f <= floor)) f = enlarged(times *= 2.0);
    accept(at, f);
    return true;
  }

  double trial(const LikelihoodFit& at, double t) {
    for (i64 i = 0; i < n * r; ++i) there[i] = at.eta[i] + t * turn[i];
    for (i64 l = 0; l < M * r; ++l) ahead[l] = at.z[l] + t * s[l];
    return evaluate(there.get(), ahead1.get(), ahead2.get()) + ridge(at.S, ahead.data());
  }

  void accept(LikelihoodFit& at, double f) {
    std::copy(ahead.begin(), ahead.begin() + M * r, at.z.begin());
    std::copy(there.get(), there.get() + n * r, at.eta.begin());
    at.f = f;
    std::swap(d1, ahead1);
    std::swap(d2, ahead2);
  }

  // How far below the point the minimum over its support can be.
  double gap(const LikelihoodFit& at) {
    return loss.gap(at.eta.data(), d1.get(), d2.get(), turn.get()) + ridge(at.S, s.get());
  }

  // Whether the columns are far from dependent where every row counts, so that what is flat comes from the loss.
  bool independent() {
    std::fill(there.get(), there.get() + n * r, 0.0);
    evaluate(there.get(), ahead1.get(), ahead2.get());
    std::vector<double> gram(static_cast<std::size_t>(M * M), 0.0);
    scaled.resize(static_cast<std::size_t>(n * M));
    for (i64 l = 0; l < M; ++l) multiply(D.get() + l * n, ahead2.get(), n, scaled.data() + l * n);
    gemm(true, M, M, n, D.get(), n, scaled.data(), n, 0.0, gram.data(), M);
    const Factor factor(gram.data(), M, M);
    return factor.pivots() > kSurePivots;
  }

  LikelihoodFit close(LikelihoodFit& at, End end) {
    if (at.dependent && end == End::undecided && lifted <= kFlat && !poll.stop()) {
      at.dependent = !independent();
      at.endless = at.endless || !at.dependent;
    }
    at.end = end;
    at.id = ++fits;
    return std::move(at);
  }

  Buffer ahead1, ahead2, turn, there, s;
  std::vector<double> ahead, scaled, blocks, columns;
  double floor, scale;
  double lifted = 0.0; // the damping of the last direction
  std::uint64_t fits = 0;
  Poll& poll;
};

} // namespace pursuit
