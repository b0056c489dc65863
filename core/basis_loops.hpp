#pragma once

#include "loops.hpp"

// The loops of a search state (basis_state.hpp) over all p columns.

namespace pursuit {

inline constexpr i64 kColumnChunk = 512; // columns whose numbers stay in the nearest cache

// v *= scale; d -= v^2
PURSUIT_CLONES inline void scale_row(double* __restrict v, double scale, i64 p, double* __restrict d) {
#pragma omp simd
  for (i64 j = 0; j < p; ++j) {
    const double w = v[j] * scale;
    v[j] = w;
    d[j] -= w * w;
  }
}

// d += v^2
PURSUIT_CLONES inline void add_row_squares(const double* __restrict v, i64 p, double* __restrict d) {
#pragma omp simd
  for (i64 j = 0; j < p; ++j) d[j] += v[j] * v[j];
}

// g (q x p) += sign last v'; the norms of its columns where q > 1.
PURSUIT_CLONES inline void add_slopes(const double* __restrict v, const double* last, double sign, i64 q, i64 p,
                                      double* __restrict g, double* __restrict norm) {
  if (q == 1) {
    const double t = sign * last[0];
#pragma omp simd
    for (i64 j = 0; j < p; ++j) g[j] += t * v[j];
    return;
  }
  for (i64 low = 0; low < p; low += kColumnChunk) {
    const i64 high = std::min(p, low + kColumnChunk);
    for (i64 j = low; j < high; ++j) norm[j] = 0.0;
    for (i64 r = 0; r < q; ++r) {
      const double t = sign * last[r];
      double* __restrict line = g + r * p;
#pragma omp simd
      for (i64 j = low; j < high; ++j) {
        const double s = line[j] + t * v[j];
        line[j] = s;
        norm[j] += s * s;
      }
    }
#pragma omp simd
    for (i64 j = low; j < high; ++j) norm[j] = std::sqrt(norm[j]);
  }
}

// Rotations of neighbouring rows, one after the other: turns has a cosine and a sine for each. The row that goes on to
// the next rotation stays in registers.
PURSUIT_CLONES inline void rotate_rows(double* __restrict rows, i64 stride, i64 count, const double* __restrict turns,
                                       i64 len) {
  constexpr i64 w = 32;
  i64 low = 0;
  for (; low + w <= len; low += w) {
    double carried[w];
    for (i64 k = 0; k < w; ++k) carried[k] = rows[low + k];
    for (i64 r = 0; r < count; ++r) {
      const double c = turns[2 * r], s = turns[2 * r + 1];
      double* __restrict at = rows + r * stride + low;
      const double* __restrict next = at + stride;
#pragma omp simd
      for (i64 k = 0; k < w; ++k) {
        const double a = carried[k], e = next[k];
        at[k] = c * a - s * e;
        carried[k] = s * a + c * e;
      }
    }
    double* __restrict last = rows + count * stride + low;
    for (i64 k = 0; k < w; ++k) last[k] = carried[k];
  }
  for (; low < len; ++low) {
    double carried = rows[low];
    for (i64 r = 0; r < count; ++r) {
      const double c = turns[2 * r], s = turns[2 * r + 1], e = rows[(r + 1) * stride + low];
      rows[r * stride + low] = c * carried - s * e;
      carried = s * carried + c * e;
    }
    rows[count * stride + low] = carried;
  }
}

// For each column j outside a lower bound of what f changes by when j comes in for a unit that costs a^2 / 2 or more:
// it gains no more than by entering alone, and |v| <= sqrt(h_j - d_j) where v = U_ij / sqrt(B_ii). From a d = |g| |v|
// on that grows with a. Below `doubtful` h_j d_j has no digits for it.
PURSUIT_CLONES inline void find_bounds(double a, double noise, double doubtful, const double* __restrict h,
                                       const double* __restrict root, const double* __restrict d,
                                       const double* __restrict slope, i64 p, double* __restrict out) {
#pragma omp simd
  for (i64 j = 0; j < p; ++j) {
    const double rest = h[j] - d[j], v = std::sqrt(rest > 0.0 ? rest : 0.0);
    const double s = (std::fabs(slope[j]) + noise * root[j]) * (1 + 1e-9), t = s + a * v;
    const bool alone = a * d[j] <= s * v;
    const double bound = (alone ? 0.0 : a * a) - (alone ? s * s : t * t) / (alone ? d[j] : h[j]);
    out[j] = d[j] > doubtful * h[j] ? 0.5 * bound : -HUGE_VAL;
  }
}

// u = W't; W has rows of Wide, t a stride.
template <int Wide>
PURSUIT_CLONES void wide_products(const double* __restrict w, const double* __restrict t, i64 stride, i64 len,
                                  double* __restrict u) {
  for (i64 k = 0; k < Wide; ++k) u[k] = 0.0;
  for (i64 r = 0; r < len; ++r) {
    const double by = t[r * stride];
#pragma omp simd
    for (i64 k = 0; k < Wide; ++k) u[k] += by * w[r * Wide + k];
  }
}

// out_k = |g_k - u_k t|^2; g has rows of Wide.
template <int Wide>
PURSUIT_CLONES void wide_squares(const double* __restrict g, const double* __restrict t, i64 q,
                                 const double* __restrict u, double* __restrict out) {
  for (i64 k = 0; k < Wide; ++k) out[k] = 0.0;
  for (i64 r = 0; r < q; ++r) {
    const double by = t[r];
#pragma omp simd
    for (i64 k = 0; k < Wide; ++k) {
      const double s = g[r * Wide + k] - by * u[k];
      out[k] += s * s;
    }
  }
}

} // namespace pursuit
