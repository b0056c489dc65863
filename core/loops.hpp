#pragma once

#include "common.hpp"

#include <utility>

namespace pursuit {

// g[j] += sum over R rows of d[r] x[r][j]: R rows share one trip through g.
template <int R, class T>
PURSUIT_CLONES void add_rows(const T* __restrict x, i64 stride, const double* d, i64 len, double* __restrict g) {
  double w[R];
  for (int r = 0; r < R; ++r) w[r] = d[r];
#pragma omp simd
  for (i64 j = 0; j < len; ++j) {
    double s = g[j];
    [&]<std::size_t... r>(std::index_sequence<r...>) __attribute__((always_inline)) {
      ((s += w[r] * static_cast<double>(x[static_cast<i64>(r) * stride + j])), ...);
    }(std::make_index_sequence<R>{});
    g[j] = s;
  }
}

// out[c] += sum_i d[i] x[c][i] for eight columns at once.
template <class T>
PURSUIT_CLONES void add_dots8(const T* x, i64 stride, const double* d, i64 len, double* out) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
  const T *x0 = x, *x1 = x + stride, *x2 = x + 2 * stride, *x3 = x + 3 * stride;
  const T *x4 = x + 4 * stride, *x5 = x + 5 * stride, *x6 = x + 6 * stride, *x7 = x + 7 * stride;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
  for (i64 i = 0; i < len; ++i) {
    const double w = d[i];
    s0 += w * static_cast<double>(x0[i]);
    s1 += w * static_cast<double>(x1[i]);
    s2 += w * static_cast<double>(x2[i]);
    s3 += w * static_cast<double>(x3[i]);
    s4 += w * static_cast<double>(x4[i]);
    s5 += w * static_cast<double>(x5[i]);
    s6 += w * static_cast<double>(x6[i]);
    s7 += w * static_cast<double>(x7[i]);
  }
  out[0] += s0, out[1] += s1, out[2] += s2, out[3] += s3;
  out[4] += s4, out[5] += s5, out[6] += s6, out[7] += s7;
}

template <class T>
PURSUIT_CLONES double dot(const T* x, const double* d, i64 len) {
  double s = 0.0;
#pragma omp simd reduction(+ : s)
  for (i64 i = 0; i < len; ++i) s += d[i] * static_cast<double>(x[i]);
  return s;
}

// out[i] = a[i] * b[i]
template <class T>
PURSUIT_CLONES void multiply(const T* __restrict a, const double* __restrict b, i64 len, double* __restrict out) {
#pragma omp simd
  for (i64 i = 0; i < len; ++i) out[i] = static_cast<double>(a[i]) * b[i];
}

template <class T>
PURSUIT_CLONES void widen(const T* __restrict a, i64 len, double* __restrict out) {
#pragma omp simd
  for (i64 i = 0; i < len; ++i) out[i] = static_cast<double>(a[i]);
}

// g += sum_r d[r] * (line r of x): whole groups of eight lines, then one by one.
template <class T>
void add_lines(const T* x, i64 stride, const double* d, i64 lines, i64 len, double* g) {
  i64 r = 0;
  for (; r + 8 <= lines; r += 8) add_rows<8>(x + r * stride, stride, d + r, len, g);
  if (r + 4 <= lines) {
    add_rows<4>(x + r * stride, stride, d + r, len, g);
    r += 4;
  }
  if (r + 2 <= lines) {
    add_rows<2>(x + r * stride, stride, d + r, len, g);
    r += 2;
  }
  if (r < lines) add_rows<1>(x + r * stride, stride, d + r, len, g);
}

// out[c] += x[c] . d for every line c.
template <class T>
void add_dots(const T* x, i64 stride, const double* d, i64 lines, i64 len, double* out) {
  i64 c = 0;
  for (; c + 8 <= lines; c += 8) add_dots8(x + c * stride, stride, d, len, out + c);
  for (; c < lines; ++c) out[c] += dot(x + c * stride, d, len);
}

// out (cols x rows, C-order) = in (rows x cols, C-order) transposed.
inline void transpose(const double* in, i64 rows, i64 cols, double* out) {
  constexpr i64 b = 16;
  for (i64 i0 = 0; i0 < rows; i0 += b)
    for (i64 j0 = 0; j0 < cols; j0 += b)
      for (i64 i = i0; i < std::min(rows, i0 + b); ++i)
        for (i64 j = j0; j < std::min(cols, j0 + b); ++j) out[j * rows + i] = in[i * cols + j];
}

} // namespace pursuit
