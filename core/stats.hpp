#pragma once

#include "dense.hpp"

namespace pursuit {

// Narrower than the gradient's tiles: a tile is read twice and should stay in the second-level cache.
inline constexpr i64 kStatsTile = 256;

// Moves the mean by what is left of the weighted deviations; a NaN stays.
PURSUIT_INLINE void correct(double rest, double inv, double& mean, double& m2) {
  mean += rest * inv;
  const double less = m2 - rest * rest * inv;
  m2 = less < 0.0 ? 0.0 : less;
}

// Mean and sum of squared deviations of each column of a tile, by two passes over the tile in cache. The shift by the
// first row makes a constant column's deviations exactly zero; the second pass also corrects the mean, which the shift
// spoils when the first row is an outlier of little weight.
template <class T>
PURSUIT_CLONES void tile_moments(const T* x, i64 stride, i64 rows, i64 len, const double* c, double total,
                                 double* __restrict mean, double* __restrict m2, double* __restrict rest) {
  const double inv = total > 0.0 ? 1.0 / total : 0.0;
  for (i64 j = 0; j < len; ++j) mean[j] = m2[j] = rest[j] = 0.0;
  for (i64 i = 0; i < rows; ++i) {
    const T* row = x + i * stride;
    const double w = c[i];
#pragma omp simd
    for (i64 j = 0; j < len; ++j) mean[j] += w * (static_cast<double>(row[j]) - static_cast<double>(x[j]));
  }
#pragma omp simd
  for (i64 j = 0; j < len; ++j) mean[j] = static_cast<double>(x[j]) + mean[j] * inv;
  for (i64 i = 0; i < rows; ++i) {
    const T* row = x + i * stride;
    const double w = c[i];
#pragma omp simd
    for (i64 j = 0; j < len; ++j) {
      const double dev = static_cast<double>(row[j]) - mean[j];
      rest[j] += w * dev;
      m2[j] += w * dev * dev;
    }
  }
#pragma omp simd
  for (i64 j = 0; j < len; ++j) correct(rest[j], inv, mean[j], m2[j]);
}

template <class T>
PURSUIT_CLONES void column_moments(const T* x, i64 rows, const double* c, double total, double* mean, double* m2) {
  const double inv = total > 0.0 ? 1.0 / total : 0.0, shift = static_cast<double>(x[0]);
  double s = 0.0, s2 = 0.0, rest = 0.0;
#pragma omp simd reduction(+ : s)
  for (i64 i = 0; i < rows; ++i) s += c[i] * (static_cast<double>(x[i]) - shift);
  const double centre = shift + s * inv;
#pragma omp simd reduction(+ : s2, rest)
  for (i64 i = 0; i < rows; ++i) {
    const double dev = static_cast<double>(x[i]) - centre;
    rest += c[i] * dev;
    s2 += c[i] * dev * dev;
  }
  *mean = centre;
  *m2 = s2;
  correct(rest, inv, *mean, *m2);
}

// (total, mean, m2) absorbs (weight, mean_b, m2_b), all of length len.
inline void merge_moments(double total, double weight, i64 len, const double* mean_b, const double* m2_b, double* mean,
                          double* m2) {
  const double sum = total + weight;
  const double share = sum > 0.0 ? weight / sum : 0.0, cross = sum > 0.0 ? total * weight / sum : 0.0;
  for (i64 j = 0; j < len; ++j) {
    const double delta = mean_b[j] - mean[j];
    mean[j] += delta * share;
    m2[j] += m2_b[j] + delta * delta * cross;
  }
}

// Moments of a rectangle of X, tile by tile; returns the weight of its rows. `scratch` holds 3 kStatsTile numbers.
template <class T>
double moments(const Dense<T>& X, Range r, Range c, const double* w, double* mean, double* m2, double* scratch) {
  double total = 0.0;
  const i64 step = X.rows ? kRowBlock : kRowTile;
  for (i64 i = r.begin; i < r.end; i += step) {
    const i64 rows = std::min(step, r.end - i);
    double weight = 0.0;
    for (i64 k = 0; k < rows; ++k) weight += w[i + k];
    for (i64 j = c.begin; j < c.end; j += kStatsTile) {
      const i64 len = std::min(kStatsTile, c.end - j);
      double *tm = scratch, *ts = scratch + kStatsTile;
      if (X.rows)
        tile_moments(X.at(i, j), X.row_stride, rows, len, w + i, weight, tm, ts, ts + kStatsTile);
      else
        for (i64 k = 0; k < len; ++k) column_moments(X.at(i, j + k), rows, w + i, weight, tm + k, ts + k);
      if (i == r.begin) {
        std::copy(tm, tm + len, mean + j);
        std::copy(ts, ts + len, m2 + j);
      } else {
        merge_moments(total, weight, len, tm, ts, mean + j, m2 + j);
      }
    }
    total += weight;
  }
  return total;
}

template <class T>
void stats(const Dense<T>& X, const double* w, double* mean, double* var) {
  std::fill(mean, mean + X.p, 0.0);
  std::fill(var, var + X.p, 0.0);
  if (X.n == 0) return;
  const int nt = plan(X.n * X.p);
  const bool by_columns = nt == 1 || X.p >= nt * 64;
  Buffer scratch = reals(nt * 3 * kStatsTile);
  Buffer rest = reals(by_columns ? 0 : 2 * X.p * nt);
  std::vector<double> totals(nt, 0.0);
  parallel(nt, [&](int t) {
    double* own = scratch.get() + t * 3 * kStatsTile;
    if (by_columns) {
      totals[t] = moments(X, {0, X.n}, part(X.p, t, nt, 8), w, mean, var, own);
    } else {
      double* m = rest.get() + 2 * X.p * t;
      totals[t] = moments(X, part(X.n, t, nt, 8), {0, X.p}, w, m, m + X.p, own);
    }
  });
  double total = totals[0];
  if (!by_columns) {
    std::copy(rest.get(), rest.get() + X.p, mean);
    std::copy(rest.get() + X.p, rest.get() + 2 * X.p, var);
    for (int t = 1; t < nt; ++t) {
      const double* m = rest.get() + 2 * X.p * t;
      merge_moments(total, totals[t], X.p, m, m + X.p, mean, var);
      total += totals[t];
    }
  }
  if (total > 0.0)
    for (i64 j = 0; j < X.p; ++j) var[j] /= total;
}

// Weighted means and variances of all columns and their products with d, about the means, in one trip through X: sums
// of deviations from the first row. Where that row is far from a column's mean the column is read again.
template <class T>
PURSUIT_CLONES void add_deviations(const T* x, i64 stride, i64 rows, i64 len, const double* w, const double* d,
                                   const double* __restrict origin, double* __restrict sum, double* __restrict square,
                                   double* __restrict product) {
  i64 i = 0;
  for (; i + 4 <= rows; i += 4) {
    const T *a = x + i * stride, *b = a + stride, *e = b + stride, *f = e + stride;
#pragma omp simd
    for (i64 j = 0; j < len; ++j) {
      const double o = origin[j], p = static_cast<double>(a[j]) - o, q = static_cast<double>(b[j]) - o,
                   r = static_cast<double>(e[j]) - o, s = static_cast<double>(f[j]) - o;
      const double wp = w[i] * p, wq = w[i + 1] * q, wr = w[i + 2] * r, ws = w[i + 3] * s;
      sum[j] += (wp + wq) + (wr + ws);
      square[j] += (wp * p + wq * q) + (wr * r + ws * s);
      product[j] += (d[i] * p + d[i + 1] * q) + (d[i + 2] * r + d[i + 3] * s);
    }
  }
  for (; i < rows; ++i) {
    const T* row = x + i * stride;
#pragma omp simd
    for (i64 j = 0; j < len; ++j) {
      const double dev = static_cast<double>(row[j]) - origin[j];
      sum[j] += w[i] * dev, square[j] += w[i] * dev * dev, product[j] += d[i] * dev;
    }
  }
}

template <class T>
PURSUIT_CLONES void column_deviations(const T* x, i64 stride, i64 n, const double* w, const double* d, double origin,
                                      double* sum, double* square, double* product) {
  double a = 0.0, b = 0.0, c = 0.0;
#pragma omp simd reduction(+ : a, b, c)
  for (i64 i = 0; i < n; ++i) {
    const double dev = static_cast<double>(x[i * stride]) - origin;
    a += w[i] * dev, b += w[i] * dev * dev, c += d[i] * dev;
  }
  *sum = a, *square = b, *product = c;
}

// The weights sum to one; var and product (sum_i d_i (x_ij - mean_j)) are about the mean.
template <class T>
void first_pass(const Dense<T>& X, const double* w, const double* d, double* mean, double* var, double* product) {
  constexpr double kFarRow = 16.0; // squared distance of the first row from the mean, in variances
  const i64 n = X.n, p = X.p;
  std::fill(mean, mean + p, 0.0), std::fill(var, var + p, 0.0), std::fill(product, product + p, 0.0);
  if (n == 0) return;
  const int nt = plan(n * p);
  Buffer origin = reals(p);
  for (i64 j = 0; j < p; ++j) origin[j] = static_cast<double>(*X.at(0, j));
  double total = 0.0, slope = 0.0;
  for (i64 i = 0; i < n; ++i) total += w[i], slope += d[i];
  auto finish = [&](i64 j) {
    const double off = mean[j] / total, left = var[j] / total - off * off;
    mean[j] = origin[j] + off;
    var[j] = left < 0.0 ? 0.0 : left;
    product[j] -= off * slope;
    return !(off * off > kFarRow * var[j]);
  };
  parallel(nt, [&](int t) {
    const Range c = part(p, t, nt, 8);
    if (X.rows) {
      for (i64 i = 0; i < n; i += 4)
        for (i64 j = c.begin; j < c.end; j += kColTile)
          add_deviations(X.at(i, j), X.row_stride, std::min<i64>(4, n - i), std::min(kColTile, c.end - j), w + i, d + i,
                         origin.get() + j, mean + j, var + j, product + j);
    } else {
      for (i64 j = c.begin; j < c.end; ++j)
        column_deviations(X.at(0, j), 1, n, w, d, origin[j], mean + j, var + j, product + j);
    }
    for (i64 j = c.begin; j < c.end; ++j) {
      bool near = finish(j);
      for (int turn = 0; turn < 2 && !near; ++turn) {
        origin[j] = mean[j];
        column_deviations(X.at(0, j), X.rows ? X.row_stride : 1, n, w, d, origin[j], mean + j, var + j, product + j);
        near = finish(j);
      }
    }
  });
}

} // namespace pursuit
