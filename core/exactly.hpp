#pragma once

#include "common.hpp"

// Twice the digits: sums and products of pairs hi + lo (T. J. Dekker, Numer. Math. 18, 1971; Y. Hida, X. S. Li, D. H.
// Bailey, ARITH-15, 2001). For the few refits whose columns are too close to dependent for double precision. Files that
// include this are compiled without contraction: an fma in the wrong place loses the low part.

namespace pursuit {

struct Twofold {
  double hi = 0.0, lo = 0.0;
};

PURSUIT_INLINE Twofold quick_sum(double a, double b) { // |a| >= |b|
  const double s = a + b;
  return {s, b - (s - a)};
}

PURSUIT_INLINE Twofold sum(double a, double b) {
  const double s = a + b, v = s - a;
  return {s, (a - (s - v)) + (b - v)};
}

PURSUIT_INLINE Twofold product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

PURSUIT_INLINE Twofold operator+(Twofold a, Twofold b) {
  Twofold s = sum(a.hi, b.hi);
  const Twofold t = sum(a.lo, b.lo);
  s = quick_sum(s.hi, s.lo + t.hi);
  return quick_sum(s.hi, s.lo + t.lo);
}

PURSUIT_INLINE Twofold operator-(Twofold a) { return {-a.hi, -a.lo}; }

PURSUIT_INLINE Twofold operator*(Twofold a, Twofold b) {
  const Twofold p = product(a.hi, b.hi);
  return quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

PURSUIT_INLINE Twofold operator*(Twofold a, double b) {
  const Twofold p = product(a.hi, b);
  return quick_sum(p.hi, p.lo + a.lo * b);
}

inline Twofold inverse(Twofold a) {
  const double q = 1.0 / a.hi;
  const Twofold left = Twofold{1.0, 0.0} + -(a * q);
  return quick_sum(q, q * left.hi);
}

inline Twofold root(Twofold a) {
  if (!(a.hi > 0.0)) return {};
  const double s = std::sqrt(a.hi);
  const Twofold left = a + -product(s, s);
  return quick_sum(s, left.hi / (2.0 * s));
}

// Columns of pairs: hi and lo apart, so that loops over rows vectorise.
struct TwofoldColumn {
  double *hi, *lo;
};

inline constexpr int kLanes = 8;

// sum_i w_i a_i b_i
PURSUIT_CLONES inline Twofold weighted_dot(const double* w, TwofoldColumn a, TwofoldColumn b, i64 n) {
  Twofold lane[kLanes];
  i64 i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const i64 k = i + l;
      lane[l] = lane[l] + Twofold{a.hi[k], a.lo[k]} * Twofold{b.hi[k], b.lo[k]} * w[k];
    }
  for (; i < n; ++i) lane[0] = lane[0] + Twofold{a.hi[i], a.lo[i]} * Twofold{b.hi[i], b.lo[i]} * w[i];
  Twofold total;
  for (int l = 0; l < kLanes; ++l) total = total + lane[l];
  return total;
}

// a -= t b
PURSUIT_CLONES inline void subtract(TwofoldColumn a, Twofold t, TwofoldColumn b, i64 n) {
  for (i64 i = 0; i < n; ++i) {
    const Twofold r = Twofold{a.hi[i], a.lo[i]} + -(Twofold{b.hi[i], b.lo[i]} * t);
    a.hi[i] = r.hi;
    a.lo[i] = r.lo;
  }
}

PURSUIT_CLONES inline void scale(TwofoldColumn a, Twofold t, i64 n) {
  for (i64 i = 0; i < n; ++i) {
    const Twofold r = Twofold{a.hi[i], a.lo[i]} * t;
    a.hi[i] = r.hi;
    a.lo[i] = r.lo;
  }
}

// Gram-Schmidt on the m columns of A (n rows, columns lda apart), with one more row per column for a ridge:
// <a, b> = sum_i w_i a_i b_i + sum_l ridge_l T_la T_lb, where T (m x m) holds each column in terms of those of A. With
// an intercept the columns are made orthogonal to the ones first. Q (n x m) and T get the orthonormal columns; left_j
// is the share of column j that its predecessors did not explain, and 0 where that is at most `nothing` (1e-25: exactly
// nothing): then Q_j is zero and T_j, of largest entry 1, is a combination of columns that vanishes (but for a
// constant, with an intercept).
inline void orthonormal(const double* A, i64 lda, i64 n, i64 m, const double* w, const double* ridge, bool intercept,
                        double nothing, double* Q, double* T, double* left) {
  const i64 rows = n + m;
  Buffer store = reals(2 * rows * m + rows);
  double* weights = store.get() + 2 * rows * m;
  std::copy(w, w + n, weights);
  std::copy(ridge, ridge + m, weights + n);
  auto column = [&](i64 j) { return TwofoldColumn{store.get() + 2 * j * rows, store.get() + (2 * j + 1) * rows}; };
  double total = 0.0;
  for (i64 i = 0; i < n; ++i) total += w[i];
  Buffer one = reals(2 * n);
  std::fill(one.get(), one.get() + n, 1.0);
  std::fill(one.get() + n, one.get() + 2 * n, 0.0);
  const TwofoldColumn ones{one.get(), one.get() + n};
  const Twofold weight = weighted_dot(w, ones, ones, n);
  for (i64 j = 0; j < m; ++j) {
    const TwofoldColumn v = column(j);
    double most = std::sqrt(ridge[j]);
    for (i64 i = 0; i < n; ++i) most = std::max(most, std::fabs(A[j * lda + i]));
    int power = 0;
    if (most > 0.0 && std::isfinite(most)) std::frexp(most, &power);
    std::fill(v.lo, v.lo + rows, 0.0);
    std::fill(v.hi + n, v.hi + rows, 0.0);
    for (i64 i = 0; i < n; ++i) v.hi[i] = std::ldexp(A[j * lda + i], -power);
    v.hi[n + j] = std::ldexp(1.0, -power);
    const double size = std::sqrt(weighted_dot(weights, v, v, rows).hi);
    if (intercept && total > 0.0) // twice: the first mean of a large column is rounded at its size
      for (int turn = 0; turn < 2; ++turn) subtract(v, weighted_dot(w, ones, v, n) * inverse(weight), ones, n);
    for (i64 l = 0; l < j; ++l)
      if (left[l] > 0.0) subtract(v, weighted_dot(weights, column(l), v, rows), column(l), rows);
    const Twofold norm = root(weighted_dot(weights, v, v, rows));
    left[j] = size > 0.0 ? norm.hi / size : 0.0;
    if (left[j] > nothing) {
      scale(v, inverse(norm), rows);
      continue;
    }
    left[j] = 0.0;
    double largest = 0.0;
    for (i64 l = n; l < rows; ++l) largest = std::max(largest, std::fabs(v.hi[l]));
    for (i64 i = 0; i < n; ++i) v.hi[i] = 0.0;
    for (i64 l = n; l < rows; ++l) v.hi[l] /= largest;
  }
  for (i64 j = 0; j < m; ++j) {
    std::copy(column(j).hi, column(j).hi + n, Q + j * n);
    std::copy(column(j).hi + n, column(j).hi + rows, T + j * m);
  }
}

// eta_i = sum_k A_ik coef_k + b + offset_i, rounded once.
PURSUIT_CLONES inline void exact_eta(const double* A, i64 lda, i64 n, i64 m, const double* coef, double b,
                                     const double* offset, double* eta) {
  for (i64 i = 0; i < n; ++i) {
    Twofold s{b, 0.0};
    if (offset) s = s + Twofold{offset[i], 0.0};
    for (i64 k = 0; k < m; ++k) s = s + product(A[k * lda + i], coef[k]);
    eta[i] = s.hi + s.lo;
  }
}

} // namespace pursuit
