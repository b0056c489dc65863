#pragma once

#include "common.hpp"

#include <limits>

// Half the squared k-support norm, K(x) = min { sum_j x_j^2 / (2 t_j) : 0 <= t <= 1, sum t <= k }, over the norms of
// units of columns; some units may be forced in (t = 1) or out (t = 0, x = 0).

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

enum State : std::uint8_t { kFree = 0, kIn = 1, kOut = 2 };

struct UnitStates {
  const i64* ends;           // unit u has the columns ends[u] .. ends[u + 1]; null: one column each
  const std::uint8_t* state; // null: all are free
  i64 count, k;              // k: how many of the free units may be chosen
};

// Prox and conjugate of K over units, with the scratch they need.
class Norms {
public:
  explicit Norms(const UnitStates& units) : U(units), store(reals(4 * units.count)) {}

  // x (columns) and t (units) = prox of g K at v; returns K(x).
  double prox(const double* v, double g, double* x, double* t) {
    if (!U.ends && !U.state && U.k > 0) return ksupport_prox(v, U.count, U.k, g, x, t);
    double *size = store.get(), *few = size + U.count, *cut = few + U.count, *share = cut + U.count;
    i64 m = 0;
    for (i64 u = 0; u < U.count; ++u) {
      size[u] = std::sqrt(square(v, u));
      if (state(u) == kFree) few[m++] = size[u];
    }
    if (U.k > 0)
      ksupport_prox(few, m, U.k, g, cut, share);
    else
      std::fill(share, share + m, 0.0);
    double K = 0.0;
    m = 0;
    for (i64 u = 0; u < U.count; ++u) {
      t[u] = state(u) == kFree ? share[m++] : (state(u) == kIn ? 1.0 : 0.0);
      const double shrink = t[u] / (t[u] + g), held = size[u] * shrink;
      for (i64 j = begin(u); j < end(u); ++j) x[j] = v[j] * shrink;
      if (t[u] > 0.0) K += held * held / (2.0 * t[u]);
    }
    return K;
  }

  // The sum of squares of r over the forced units and the k largest free ones.
  double charge(const double* r) {
    double *few = store.get(), sum = 0.0;
    i64 m = 0;
    for (i64 u = 0; u < U.count; ++u) {
      if (state(u) == kOut) continue;
      const double s = square(r, u);
      if (state(u) == kIn)
        sum += s;
      else
        few[m++] = s;
    }
    if (U.k < m) std::nth_element(few, few + U.k, few + m, std::greater<double>());
    for (i64 u = 0; u < std::min(U.k, m); ++u) sum += few[u];
    return sum;
  }

private:
  i64 begin(i64 u) const { return U.ends ? U.ends[u] : u; }
  i64 end(i64 u) const { return U.ends ? U.ends[u + 1] : u + 1; }
  std::uint8_t state(i64 u) const { return U.state ? U.state[u] : static_cast<std::uint8_t>(kFree); }
  double square(const double* v, i64 u) const {
    double s = 0.0;
    for (i64 j = begin(u); j < end(u); ++j) s += v[j] * v[j];
    return s;
  }
  UnitStates U;
  Buffer store;
};

} // namespace pursuit
