#pragma once

#include "common.hpp"

#include <limits>

// Lower bounds for  min f0 - c'x + x'(Q + mu I)x / 2  over k-sparse x, by the perspective (k-support) relaxation
//
//   min f0 - c'x + x'Qx/2 + mu K(x),   K(x) = min { sum_j x_j^2 / (2 t_j) : 0 <= t <= 1, sum t <= k },
//
// with accelerated proximal gradient and restarts. Every iterate x gives the valid bound
// f0 - x'Qx/2 - (sum of the k largest (c - Qx)_j^2) / (2 mu), however far the iteration is from its end.

namespace pursuit {

// x = prox of g K at v: x_j = v_j t_j / (t_j + g), t_j = clip(|v_j| s - g, 0, 1), sum t = k. Returns K(x).
PURSUIT_CLONES inline double ksupport_prox(const double* v, i64 p, i64 k, double g, double* x, double* t) {
  double top = 0.0;
  i64 some = 0;
  for (i64 j = 0; j < p; ++j) {
    top = std::max(top, std::fabs(v[j]));
    some += v[j] != 0.0;
  }
  double s = std::numeric_limits<double>::infinity();
  if (some > k && top > 0.0) {
    // sum_j clip(|v_j| s - g, 0, 1) rises with s: bracket, then safeguarded Newton on a piecewise linear function.
    double low = g / top, high = low;
    auto count = [&](double at, double* slope) {
      double sum = 0.0, rise = 0.0;
#pragma omp simd reduction(+ : sum, rise)
      for (i64 j = 0; j < p; ++j) {
        const double a = std::fabs(v[j]), r = a * at - g;
        sum += r <= 0.0 ? 0.0 : (r >= 1.0 ? 1.0 : r);
        rise += r > 0.0 && r < 1.0 ? a : 0.0;
      }
      *slope = rise;
      return sum;
    };
    double slope = 0.0;
    do high *= 2.0, high += 1.0 / top;
    while (count(high, &slope) < static_cast<double>(k));
    s = high;
    for (int round = 0; round < 100; ++round) {
      const double off = count(s, &slope) - static_cast<double>(k);
      if (std::fabs(off) <= 1e-12 * static_cast<double>(k)) break;
      (off > 0 ? high : low) = s;
      const double newton = slope > 0 ? s - off / slope : low;
      s = newton > low && newton < high ? newton : 0.5 * (low + high);
      if (high - low <= 1e-15 * high) break;
    }
  }
  double K = 0.0;
  for (i64 j = 0; j < p; ++j) {
    const double a = std::fabs(v[j]);
    t[j] = a == 0.0 ? 0.0 : std::min(1.0, std::max(0.0, a * s - g));
    x[j] = t[j] > 0.0 ? v[j] * t[j] / (t[j] + g) : 0.0;
    if (t[j] > 0.0) K += x[j] * x[j] / (2.0 * t[j]);
  }
  return K;
}

// Sum of the k largest of r_j^2; work is overwritten.
inline double largest_squares(const double* r, i64 p, i64 k, double* work) {
  for (i64 j = 0; j < p; ++j) work[j] = r[j] * r[j];
  if (k < p) std::nth_element(work, work + k, work + p, std::greater<double>());
  double sum = 0.0;
  for (i64 j = 0; j < std::min(k, p); ++j) sum += work[j];
  return sum;
}

struct PerspectiveProblem {
  const double *Q, *c; // Q symmetric p x p
  i64 p, k;
  double f0, mu, L; // L bounds the largest eigenvalue of Q
};

struct PerspectiveResult {
  double lower, relaxed; // best bound; smallest value of the relaxation met (no bound can exceed it)
  i64 iterations;
};

// From x (overwritten by the last iterate) until the bound reaches `target`, the relaxation's own gap is below
// `tolerance` times the distance from `target` (no use going on), or max_iter. z receives (c - Qx)/mu of the best
// bound and t the indicators of the last iterate.
PURSUIT_CLONES inline PerspectiveResult perspective(const PerspectiveProblem& P, double target, double tolerance,
                                                    i64 max_iter, double* x, double* z, double* t) {
  const i64 p = P.p;
  Buffer store = reals(8 * p);
  double *Qx = store.get(), *Qnew = Qx + p, *fresh = Qx + 2 * p, *v = Qx + 3 * p, *y = Qx + 4 * p, *Qy = Qx + 5 * p,
         *r = Qx + 6 * p, *work = Qx + 7 * p;
  auto multiply = [&](const double* a, double* out) {
    std::fill(out, out + p, 0.0);
    for (i64 j = 0; j < p; ++j) {
      if (a[j] == 0.0) continue;
      const double *row = P.Q + j * p, s = a[j];
      for (i64 l = 0; l < p; ++l) out[l] += s * row[l];
    }
  };
  PerspectiveResult best{-HUGE_VAL, HUGE_VAL, 0};
  auto bound = [&](const double* a, const double* Qa) {
    double quad = 0.0;
    for (i64 j = 0; j < p; ++j) {
      quad += a[j] * Qa[j];
      r[j] = P.c[j] - Qa[j];
    }
    const double low = P.f0 - 0.5 * quad - largest_squares(r, p, P.k, work) / (2.0 * P.mu);
    if (low > best.lower) {
      best.lower = low;
      for (i64 j = 0; j < p; ++j) z[j] = r[j] / P.mu;
    }
    return quad;
  };
  multiply(x, Qx);
  bound(x, Qx);
  std::copy(x, x + p, y);
  std::copy(Qx, Qx + p, Qy);
  std::fill(t, t + p, 0.0);
  double momentum = 1.0;
  for (; best.iterations < max_iter && best.lower < target; ++best.iterations) {
    for (i64 j = 0; j < p; ++j) v[j] = y[j] - (Qy[j] - P.c[j]) / P.L;
    const double K = ksupport_prox(v, p, P.k, P.mu / P.L, fresh, t);
    multiply(fresh, Qnew);
    const double quad = bound(fresh, Qnew);
    double linear = 0.0, turn = 0.0;
    for (i64 j = 0; j < p; ++j) {
      linear += P.c[j] * fresh[j];
      turn += (y[j] - fresh[j]) * (fresh[j] - x[j]);
    }
    best.relaxed = std::min(best.relaxed, P.f0 - linear + 0.5 * quad + P.mu * K);
    if (best.relaxed - best.lower <= tolerance * std::fabs(target - best.lower)) {
      ++best.iterations;
      std::copy(fresh, fresh + p, x);
      break;
    }
    if (turn > 0.0) momentum = 1.0; // the step points against the last move: restart
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum * momentum)), beta = (momentum - 1.0) / next;
    momentum = next;
    for (i64 j = 0; j < p; ++j) {
      y[j] = fresh[j] + beta * (fresh[j] - x[j]);
      Qy[j] = Qnew[j] + beta * (Qnew[j] - Qx[j]);
      x[j] = fresh[j];
      Qx[j] = Qnew[j];
    }
  }
  return best;
}

} // namespace pursuit
