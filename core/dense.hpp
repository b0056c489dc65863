#pragma once

#include "blas.hpp"
#include "loops.hpp"
#include "losses.hpp"

namespace pursuit {

inline constexpr i64 kRowBlock = 64, kColTile = 1024, kRowTile = 4096;

// G[l, j] += sum over the rows i in `r` of D[l, i - r.begin] X[i, j], for the columns in `c`; the lines of D and G are
// ldd and ldg apart. Tiled so that the slice of G (rows contiguous) or of D (columns contiguous) stays in cache.
template <class T>
void accumulate(const Dense<T>& X, Range r, Range c, const double* D, i64 ldd, i64 q, double* G, i64 ldg) {
  if (X.rows) {
    for (i64 i = r.begin; i < r.end; i += kRowBlock) {
      const i64 rows = std::min(kRowBlock, r.end - i);
      for (i64 j = c.begin; j < c.end; j += kColTile)
        for (i64 l = 0; l < q; ++l)
          add_lines(X.at(i, j), X.row_stride, D + l * ldd + i - r.begin, rows, std::min(kColTile, c.end - j),
                    G + l * ldg + j);
    }
  } else {
    for (i64 i = r.begin; i < r.end; i += kRowTile) {
      const i64 rows = std::min(kRowTile, r.end - i);
      for (i64 j = c.begin; j < c.end; j += 8)
        for (i64 l = 0; l < q; ++l)
          add_dots(X.at(i, j), X.col_stride, D + l * ldd + i - r.begin, std::min<i64>(8, c.end - j), rows,
                   G + l * ldg + j);
    }
  }
}

// G (q x p) = D (q x n, lines ldd apart) X.
template <class T>
void left_multiply(const Dense<T>& X, const double* D, i64 ldd, i64 q, double* G) {
  const int nt = plan(X.n * X.p * std::max<i64>(q, 1));
  const bool by_columns = X.p >= nt * (X.rows ? 512 : 16);
  if (by_columns) {
    parallel(nt, [&](int t) {
      const Range c = part(X.p, t, nt, 8);
      for (i64 l = 0; l < q; ++l) std::fill(G + l * X.p + c.begin, G + l * X.p + c.end, 0.0);
      accumulate(X, {0, X.n}, c, D, ldd, q, G, X.p);
    });
    return;
  }
  Parts parts(G, q * X.p, nt);
  parallel(nt, [&](int t) {
    std::fill(parts[t], parts[t] + q * X.p, 0.0);
    const Range r = part(X.n, t, nt, 8);
    accumulate(X, r, {0, X.p}, D + r.begin, ldd, q, parts[t], X.p);
  });
  parts.sum();
}

// Four chains of plain loads: gather instructions are slower.
template <class T>
PURSUIT_CLONES double sparse_dot(const T* row, const i64* cols, const double* coef, i64 m) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  i64 k = 0;
  for (; k + 4 <= m; k += 4) {
    s0 += coef[k] * static_cast<double>(row[cols[k]]);
    s1 += coef[k + 1] * static_cast<double>(row[cols[k + 1]]);
    s2 += coef[k + 2] * static_cast<double>(row[cols[k + 2]]);
    s3 += coef[k + 3] * static_cast<double>(row[cols[k + 3]]);
  }
  for (; k < m; ++k) s0 += coef[k] * static_cast<double>(row[cols[k]]);
  return (s0 + s1) + (s2 + s3);
}

// eta[0 .. r.size()) = (X[:, cols] coef + b + offset) on the rows r.
template <class T>
void predict(const Dense<T>& X, Range r, const Point& x, const double* offset, double* eta) {
  for (i64 i = 0; i < r.size(); ++i) eta[i] = x.b + (offset ? offset[r.begin + i] : 0.0);
  if (X.rows) {
    for (i64 i = 0; i < r.size(); ++i) eta[i] += sparse_dot(X.at(r.begin + i, 0), x.cols, x.coef, x.m);
  } else {
    for (i64 k = 0; k < x.m; ++k) add_rows<1>(X.at(r.begin, x.cols[k]), 0, x.coef + k, r.size(), eta);
  }
}

template <class T, class Loss>
void value_gradient(const Dense<T>& X, const Samples& s, Loss loss, const Point& x, double* value, double* g,
                    double* slope) {
  const int nt = plan(X.n * X.p);
  if (X.rows && X.n >= nt * kRowBlock) {
    // one trip: a block of rows gives its eta and, still in cache, its share of the gradient
    Parts parts(g, X.p, nt);
    std::vector<double> sums(2 * nt, 0.0);
    parallel(nt, [&](int t) {
      double eta[kRowBlock];
      double v = 0.0, sl = 0.0;
      std::fill(parts[t], parts[t] + X.p, 0.0);
      const Range r = part(X.n, t, nt, 8);
      for (i64 i = r.begin; i < r.end; i += kRowBlock) {
        const Range block{i, std::min(r.end, i + kRowBlock)};
        predict(X, block, x, s.offset, eta);
        evaluate(loss, block.size(), s.y + i, s.c + i, eta, eta, nullptr, &v, &sl);
        accumulate(X, block, {0, X.p}, eta, 0, 1, parts[t], 0);
      }
      sums[2 * t] = v;
      sums[2 * t + 1] = sl;
    });
    parts.sum();
    *value = *slope = 0.0;
    for (int t = 0; t < nt; ++t) *value += sums[2 * t], *slope += sums[2 * t + 1];
    return;
  }
  Buffer eta = reals(X.n);
  const int nr = plan(X.n * (x.m + 1));
  parallel(nr, [&](int t) {
    const Range r = part(X.n, t, nr, 8);
    for (i64 i = r.begin; i < r.end; i += kRowTile)
      predict(X, {i, std::min(r.end, i + kRowTile)}, x, s.offset, eta.get() + i);
  });
  evaluate_all(loss, s, eta.get(), eta.get(), nullptr, value, slope);
  left_multiply(X, eta.get(), X.n, 1, g);
}

// out (n x q, C-order) = X[:, cols] coef, coef is m x q in C-order.
template <class T>
void right_multiply(const Dense<T>& X, const i64* cols, const double* coef, i64 m, i64 q, double* out) {
  const int nt = plan(X.n * (m + 1) * std::max<i64>(q, 1));
  if (q == 1) {
    parallel(nt, [&](int t) {
      const Range r = part(X.n, t, nt, 8);
      for (i64 i = r.begin; i < r.end; i += kRowTile)
        predict(X, {i, std::min(r.end, i + kRowTile)}, {cols, coef, m, 0.0}, nullptr, out + i);
    });
    return;
  }
  parallel(nt, [&](int t) {
    const Range r = part(X.n, t, nt, 8);
    std::fill(out + r.begin * q, out + r.end * q, 0.0);
    for (i64 i0 = r.begin; i0 < r.end; i0 += kRowBlock)
      for (i64 k = 0; k < m; ++k)
        for (i64 i = i0; i < std::min(r.end, i0 + kRowBlock); ++i) {
          const double x = static_cast<double>(*X.at(i, cols[k]));
          for (i64 l = 0; l < q; ++l) out[i * q + l] += x * coef[k * q + l];
        }
  });
}

// out (F-order n x m) = X[:, cols].
template <class T>
void gather(const Dense<T>& X, const i64* cols, i64 m, double* out) {
  const int nt = plan(X.n * m);
  parallel(nt, [&](int t) {
    const Range r = part(X.n, t, nt, 8);
    if (!X.rows) {
      for (i64 k = 0; k < m; ++k) widen(X.at(r.begin, cols[k]), r.size(), out + k * X.n + r.begin);
      return;
    }
    for (i64 i0 = r.begin; i0 < r.end; i0 += 16)
      for (i64 k = 0; k < m; ++k)
        for (i64 i = i0; i < std::min(r.end, i0 + 16); ++i) out[k * X.n + i] = static_cast<double>(*X.at(i, cols[k]));
  });
}

// out[:, k] = X[:, cols[k]] in single precision, row after row; the rows of out are ldo apart.
template <class T>
void narrow(const Dense<T>& X, const i64* cols, i64 m, float* out, i64 ldo) {
  const int nt = plan(X.n * m);
  parallel(nt, [&](int t) {
    const Range r = part(X.n, t, nt, 8);
    for (i64 i0 = r.begin; i0 < r.end; i0 += 16)
      for (i64 k0 = 0; k0 < m; k0 += 512)
        for (i64 i = i0; i < std::min(r.end, i0 + 16); ++i)
          for (i64 k = k0; k < std::min(m, k0 + 512); ++k) out[i * ldo + k] = static_cast<float>(*X.at(i, cols[k]));
  });
}

// Copies a tile as float64 in X's own order, less `shift` (one number per column of X, or null); returns its leading
// dimension.
template <class T>
i64 copy_tile(const Dense<T>& X, Range r, Range c, const double* shift, double* out) {
  if (X.rows) {
    for (i64 i = r.begin; i < r.end; ++i) {
      double* to = out + (i - r.begin) * c.size();
      widen(X.at(i, c.begin), c.size(), to);
      if (shift)
        for (i64 j = c.begin; j < c.end; ++j) to[j - c.begin] -= shift[j];
    }
    return c.size();
  }
  for (i64 j = c.begin; j < c.end; ++j) {
    double* to = out + (j - c.begin) * r.size();
    widen(X.at(r.begin, j), r.size(), to);
    if (shift)
      for (i64 i = 0; i < r.size(); ++i) to[i] -= shift[j];
  }
  return r.size();
}

// out (m x p, C-order) = w^T (X - 1 shift^T), w is n x m with columns ldw apart. Seen column-major, out is p x m. Where
// the lines of w sum to zero a shift changes nothing but the rounding: products with large means would lose their
// digits.
template <class T>
void cross(const Dense<T>& X, const double* w, i64 ldw, i64 m, const double* shift, double* out) {
  if (m <= 3 && !shift) return left_multiply(X, w, ldw, m, out);
  constexpr i64 tile_rows = 512, tile_cols = 256;
  const i64 ld = X.rows ? X.row_stride : X.col_stride;
  const bool direct = !shift && std::is_same_v<T, double> && ld >= std::max<i64>(1, X.rows ? X.p : X.n) &&
                      std::max(ld, X.n) < (i64(1) << 31);
  const int nt = plan(X.n * X.p * (1 + m / 8));
  Buffer tiles = reals(direct ? 0 : nt * tile_rows * tile_cols);
  parallel(nt, [&](int t) {
    const Range c = part(X.p, t, nt, 8);
    if (c.size() == 0 || m == 0) return;
    if (X.n == 0) {
      for (i64 l = 0; l < m; ++l) std::fill(out + l * X.p + c.begin, out + l * X.p + c.end, 0.0);
      return;
    }
    if constexpr (std::is_same_v<T, double>) {
      if (direct) {
        gemm(!X.rows, c.size(), m, X.n, X.at(0, c.begin), ld, w, ldw, 0.0, out + c.begin, X.p);
        return;
      }
    }
    double* tile = tiles.get() + t * tile_rows * tile_cols;
    for (i64 j = c.begin; j < c.end; j += tile_cols)
      for (i64 i = 0; i < X.n; i += tile_rows) {
        const Range rows{i, std::min(X.n, i + tile_rows)}, columns{j, std::min(c.end, j + tile_cols)};
        const i64 ldt = copy_tile(X, rows, columns, shift, tile);
        gemm(!X.rows, columns.size(), m, rows.size(), tile, ldt, w + i, ldw, i == 0 ? 0.0 : 1.0, out + j, X.p);
      }
  });
}

// X^T D for D of n x q (C-order) into G of p x q (C-order).
template <class T>
void left_multiply(const Dense<T>& X, const double* D, i64 q, double* G) {
  if (q <= 1) return left_multiply(X, D, X.n, q, G);
  Buffer lines = reals(X.n * q), sums = reals(X.p * q);
  transpose(D, X.n, q, lines.get());
  cross(X, lines.get(), std::max<i64>(X.n, 1), q, nullptr, sums.get());
  transpose(sums.get(), q, X.p, G);
}

} // namespace pursuit
