#pragma once

#include "blas.hpp"
#include "threads.hpp"

namespace pursuit {

// w^T X in single precision (m x p, C-order) and the weighted mean and variance of every column, X read once: half the
// cost of `cross`, for sweeps that only have to tell far from near. Tiles of X, shifted by the first row (a large mean
// would take all digits), are turned into floats in cache; the moments are added up in double.
template <class T>
PURSUIT_CLONES void rough_tile(const Dense<T>& X, Range rows, Range cols, const double* c, const double* shift,
                               double* s1, double* s2, float* tile) {
  const i64 width = cols.size();
  for (i64 i = rows.begin; i < rows.end; ++i) {
    const T* x = X.at(i, cols.begin);
    const i64 step = X.col_stride;
    float* out = tile + (i - rows.begin) * width;
    const double weight = c[i];
    if (step == 1) {
      for (i64 j = 0; j < width; ++j) {
        const double d = static_cast<double>(x[j]) - shift[j];
        s1[j] += weight * d;
        s2[j] += weight * d * d;
        out[j] = static_cast<float>(d);
      }
    } else {
      for (i64 j = 0; j < width; ++j) {
        const double d = static_cast<double>(x[j * step]) - shift[j];
        s1[j] += weight * d;
        s2[j] += weight * d * d;
        out[j] = static_cast<float>(d);
      }
    }
  }
}

template <class T>
void rough_cross(const Dense<T>& X, const double* w, i64 ldw, i64 m, const double* c, float* out, double* mean,
                 double* var) {
  constexpr i64 tile_rows = 512, tile_cols = 512;
  Array<float> narrow = allocate<float>(X.n * m); // w as floats, n x m column-major
  for (i64 l = 0; l < m; ++l)
    for (i64 i = 0; i < X.n; ++i) narrow[l * X.n + i] = static_cast<float>(w[l * ldw + i]);
  double total = 0.0;
  for (i64 i = 0; i < X.n; ++i) total += c[i];
  Buffer lines = reals(m); // sums of the columns of w: what the shift takes off is added again
  for (i64 l = 0; l < m; ++l) {
    lines[l] = 0.0;
    for (i64 i = 0; i < X.n; ++i) lines[l] += w[l * ldw + i];
  }
  const int nt = plan(X.n * X.p * (1 + m / 16));
  parallel(nt, [&](int t) {
    const Range mine = part(X.p, t, nt, 16);
    Array<float> tile = allocate<float>(tile_rows * tile_cols);
    Buffer sums = reals(3 * tile_cols);
    double *shift = sums.get(), *s1 = shift + tile_cols, *s2 = s1 + tile_cols;
    for (i64 j = mine.begin; j < mine.end; j += tile_cols) {
      const Range cols{j, std::min(mine.end, j + tile_cols)};
      const i64 width = cols.size();
      for (i64 l = 0; l < width; ++l) {
        shift[l] = X.n > 0 ? static_cast<double>(*X.at(0, j + l)) : 0.0;
        s1[l] = s2[l] = 0.0;
      }
      for (i64 i = 0; i < X.n; i += tile_rows) {
        const Range rows{i, std::min(X.n, i + tile_rows)};
        rough_tile(X, rows, cols, c, shift, s1, s2, tile.get());
        gemm(false, width, m, rows.size(), tile.get(), width, narrow.get() + i, X.n, i == 0 ? 0.0f : 1.0f, out + j,
             X.p);
      }
      for (i64 k = 0; k < m; ++k)
        for (i64 l = 0; l < width; ++l) out[k * X.p + j + l] += static_cast<float>(lines[k] * shift[l]);
      for (i64 l = 0; l < width; ++l) {
        const double off = total > 0 ? s1[l] / total : 0.0, v = total > 0 ? s2[l] / total - off * off : 0.0;
        mean[j + l] = shift[l] + off;
        var[j + l] = v < 0.0 ? 0.0 : v;
      }
    }
  });
}

} // namespace pursuit
