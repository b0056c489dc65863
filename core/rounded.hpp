#pragma once

#include "fit.hpp"
#include "loops.hpp"

// The hinge on a few columns, its kink rounded over a width gamma:
//
//   f(v, b) = sum_i c_i phi(1 - y_i eta_i) + sum_j l2_j/2 v_j^2,    phi(s) = s^2/(2 gamma) on [0, gamma], s - gamma/2
//   above
//
// Newton's method. f is quadratic in pieces: a whole step that stays on its piece ends at the minimiser, and between
// pieces an exact search on the slope, n flops a trial, finds the way. Only samples on the rounded part have curvature.

namespace pursuit {

struct RoundedHinge {
  const double* A; // n x m, columns lda apart
  i64 lda, m, n;
  const double *y, *c, *offset;
  const double* l2; // all positive
  bool intercept;
};

class RoundedFitter {
public:
  explicit RoundedFitter(const RoundedHinge& P_)
      : P(P_), size(P_.m + (P_.intercept ? 1 : 0)), short_(reals(P_.n)), turn(reals(P_.n)), g(reals(size)),
        ahead(reals(size)), row(reals(size)), H(reals(size * size)), bound(reals(size)) {
    std::fill(bound.get(), bound.get() + size, P.intercept ? 1.0 : 0.0);
    for (i64 j = 0; j < P.m; ++j) {
      bound[j] = 0.0;
      for (i64 i = 0; i < P.n; ++i) bound[j] += P.c[i] * P.A[j * P.lda + i] * P.A[j * P.lda + i];
    }
  }

  // Minimise from z; true when the decrement is at most `tol` times the value, which is left in `end`.
  bool minimise(double* z, double gamma, double tol, double* end = nullptr) {
    double damp = 0.0;
    for (int step = 0; step < 100; ++step) {
      const double value = system(z, gamma);
      if (!std::isfinite(value)) return false;
      if (!direction(z, gamma, damp)) {
        damp = std::max(10 * damp, 1e-8);
        if (damp > 1.0) return false;
        continue;
      }
      double decrement = 0.0;
      for (i64 j = 0; j < size; ++j) decrement -= g[j] * ahead[j];
      if (damp == 0.0 && decrement <= tol * value) {
        for (i64 j = 0; j < size; ++j) z[j] += ahead[j];
        if (end) *end = system(z, gamma);
        return true;
      }
      const double t = search(z, gamma, -decrement);
      if (!(t > 0.0)) return false;
      for (i64 j = 0; j < size; ++j) z[j] += t * ahead[j];
      damp = 0.0;
    }
    return false;
  }

  // alpha = phi'(1 - y eta) at z.
  void dual(const double* z, double gamma, double* alpha) {
    margins(z);
    for (i64 i = 0; i < P.n; ++i) alpha[i] = std::clamp(short_[i] / gamma, 0.0, 1.0);
  }

private:
  void margins(const double* z) {
    const double b = P.intercept ? z[P.m] : 0.0;
    for (i64 i = 0; i < P.n; ++i) short_[i] = b + (P.offset ? P.offset[i] : 0.0);
    for (i64 j = 0; j < P.m; ++j) {
      const double* a = P.A + j * P.lda;
      const double v = z[j];
      for (i64 i = 0; i < P.n; ++i) short_[i] += v * a[i];
    }
    for (i64 i = 0; i < P.n; ++i) short_[i] = 1.0 - P.y[i] * short_[i];
  }

  // The value, the gradient in g, the Hessian in H.
  double system(const double* z, double gamma) {
    margins(z);
    double value = 0.0;
    std::fill(g.get(), g.get() + size, 0.0);
    std::fill(H.get(), H.get() + size * size, 0.0);
    for (i64 i = 0; i < P.n; ++i) {
      const double s = short_[i], w = s < gamma ? s / gamma : 1.0;
      turn[i] = s > 0.0 ? -P.c[i] * P.y[i] * w : 0.0;
      if (s > 0.0) value += P.c[i] * (s < gamma ? 0.5 * s * w : s - 0.5 * gamma);
    }
    for (i64 j = 0; j < P.m; ++j) g[j] = dot(P.A + j * P.lda, turn.get(), P.n);
    if (P.intercept)
      for (i64 i = 0; i < P.n; ++i) g[P.m] += turn[i];
    for (i64 i = 0; i < P.n; ++i) {
      if (!(short_[i] > 0.0 && short_[i] < gamma)) continue;
      const double h = P.c[i] / gamma;
      for (i64 j = 0; j < P.m; ++j) row[j] = P.A[j * P.lda + i];
      if (P.intercept) row[P.m] = 1.0;
      for (i64 j = 0; j < size; ++j) {
        const double x = h * row[j];
        for (i64 k = 0; k <= j; ++k) H[j * size + k] += x * row[k];
      }
    }
    for (i64 j = 0; j < size; ++j) {
      if (j < P.m) {
        g[j] += P.l2[j] * z[j];
        value += 0.5 * P.l2[j] * z[j] * z[j];
        H[j * size + j] += P.l2[j];
      }
      for (i64 k = 0; k < j; ++k) H[k * size + j] = H[j * size + k];
    }
    return value;
  }

  // Newton's direction in `ahead`; a share `damp` of the largest curvature there can be stands in for a missing one.
  bool direction(const double* z, double gamma, double damp) {
    if (damp > 0.0)
      for (i64 j = 0; j < size; ++j) H[j * size + j] += damp * bound[j] / gamma;
    const Factor factor(H.get(), size, size);
    if (!factor.ok || !(factor.pivots() > 1e-14)) return false;
    factor.step(z, g.get(), ahead.get());
    for (i64 j = 0; j < size; ++j) ahead[j] -= z[j];
    return true;
  }

  // Where along `ahead` the slope has all but vanished; 0 where it does not.
  double search(const double* z, double gamma, double first) {
    const double b = P.intercept ? ahead[P.m] : 0.0;
    std::fill(turn.get(), turn.get() + P.n, b);
    double straight = 0.0, bent = 0.0;
    for (i64 j = 0; j < P.m; ++j) {
      const double *a = P.A + j * P.lda, d = ahead[j];
      for (i64 i = 0; i < P.n; ++i) turn[i] += d * a[i];
      straight += P.l2[j] * z[j] * d;
      bent += P.l2[j] * d * d;
    }
    for (i64 i = 0; i < P.n; ++i) turn[i] *= -P.y[i];
    auto slope = [&](double t) {
      double total = straight + t * bent;
      for (i64 i = 0; i < P.n; ++i) {
        const double s = short_[i] + t * turn[i];
        total += P.c[i] * turn[i] * (s > 0.0 ? (s < gamma ? s / gamma : 1.0) : 0.0);
      }
      return total;
    };
    double low = 0.0, high = 0.0, at_low = first, at_high = 0.0, t = 1.0;
    for (int trial = 0; trial < 80; ++trial) {
      const double here = slope(t);
      if (!std::isfinite(here)) return 0.0;
      if (std::fabs(here) <= -0.1 * first) return t;
      if (here < 0.0)
        low = t, at_low = here;
      else
        high = t, at_high = here;
      if (high == 0.0)
        t *= 4.0;
      else // the slope is linear in pieces; a secant now and then, halves else
        t = trial % 2 ? 0.5 * (low + high) : low + (high - low) * at_low / (at_low - at_high);
    }
    return low;
  }

  RoundedHinge P;
  i64 size;
  Buffer short_, turn, g, ahead, row, H, bound;
};

} // namespace pursuit
