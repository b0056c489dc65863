#pragma once

#include "cholesky.hpp"
#include "loops.hpp"
#include "threads.hpp"

// All single exchanges of a quadratic at once. At a minimiser over S with Hessian rows H_S = H[S, :], B = H_SS^-1,
// U = B H_S, d_j = H_jj - sum_l H_lj U_lj, exchanging i in S for j outside changes f by
//
//   x_i^2 / (2 B_ii) - (g_j - x_i U_ij / B_ii)^2 / (2 (d_j + U_ij^2 / B_ii)).
//
// Columns are worked on in tiles that stay in cache, so U is never stored.

namespace pursuit {

inline constexpr i64 kTile = 128;

// H on the columns of S and m others: HS is k x m in C-order with rows ld apart, B is k x k.
struct SupportRows {
  const double *HS, *B, *g, *x;
  i64 k, m, ld;
};

// U = B HS[:, j .. j + w), row by row into U (k x w).
inline void solve_tile(const SupportRows& q, i64 j, i64 w, double* U) {
  // row-major U = B HS is column-major U' = HS' B', and B is symmetric
  gemm(false, w, q.k, q.k, q.HS + j, q.ld, q.B, q.k, 0.0, U, w);
}

// For every column the best partner to drop, the change of f, the gain of adding it without dropping anything, and the
// share of H_jj that S leaves of it: near 0 all of these are rounding.
PURSUIT_CLONES inline void exchange_tile(const SupportRows& q, const double* h, const std::uint8_t* droppable, i64 w,
                                         const double* U, double* d, double* change, i64* who, double* add,
                                         double* left) {
  for (i64 l = 0; l < w; ++l) d[l] = h[l];
  for (i64 i = 0; i < q.k; ++i) {
    const double *a = q.HS + i * q.ld, *u = U + i * w;
    for (i64 l = 0; l < w; ++l) d[l] -= a[l] * u[l];
  }
  for (i64 l = 0; l < w; ++l) {
    const double least = kDependent * h[l];
    left[l] = h[l] > 0 && d[l] > 0 ? d[l] / h[l] : 0.0;
    d[l] = d[l] > least ? d[l] : 0.0;
    add[l] = d[l] > 0 ? q.g[l] * q.g[l] / (2 * d[l]) : 0.0;
    change[l] = HUGE_VAL;
    who[l] = -1;
  }
  for (i64 i = 0; i < q.k; ++i) {
    if (!droppable[i]) continue;
    const double b = q.B[i * q.k + i];
    if (!(b > 0)) continue;
    const double t = q.x[i] / b, drop = 0.5 * q.x[i] * t, inverse = 1.0 / b;
    const double* u = U + i * w;
    for (i64 l = 0; l < w; ++l) {
      const double slope = q.g[l] - t * u[l], curve = d[l] + u[l] * u[l] * inverse;
      const bool real = h[l] > 0 && curve > kDependent * h[l]; // of a constant column all is rounding
      const double gain = real ? 0.5 * slope * slope / curve : 0.0;
      const double delta = drop - gain;
      const bool better = delta < change[l];
      change[l] = better ? delta : change[l];
      who[l] = better ? i : who[l];
    }
  }
}

inline void exchange(const SupportRows& q, const double* h, const std::uint8_t* droppable, double* change, i64* who,
                     double* add, double* left) {
  const int nt = plan(q.m * q.k * std::max<i64>(q.k, 4));
  parallel(nt, [&](int t) {
    const Range r = part(q.m, t, nt, kTile);
    Buffer U = reals(q.k * kTile), d = reals(kTile);
    for (i64 j = r.begin; j < r.end; j += kTile) {
      const i64 w = std::min(kTile, r.end - j);
      const SupportRows tile{q.HS + j, q.B, q.g + j, q.x, q.k, w, q.ld};
      solve_tile(tile, 0, w, U.get());
      exchange_tile(tile, h + j, droppable, w, U.get(), d.get(), change + j, who + j, add + j, left + j);
    }
  });
}

// Groups I of rows (begin at rows[I]) and J of columns (begin at cols[J]); HJ holds the blocks H_JJ one after another.
struct Groups {
  const i64 *rows, *cols;
  i64 nrows, ncols;
  const double* HJ;
  const i64* at; // where each H_JJ begins
};

inline void group_exchange(const SupportRows& q, const Groups& G, const std::uint8_t* droppable, double* change,
                           i64* who, double* add, double* left) {
  i64 widest = 1, tallest = 1;
  for (i64 J = 0; J < G.ncols; ++J) widest = std::max(widest, G.cols[J + 1] - G.cols[J]);
  for (i64 I = 0; I < G.nrows; ++I) tallest = std::max(tallest, G.rows[I + 1] - G.rows[I]);
  // Per group of rows: the Cholesky factor of B_II, z = L^-1 x_I, and half its square, the cost of dropping it.
  std::vector<i64> where(static_cast<std::size_t>(G.nrows) + 1, 0);
  for (i64 I = 0; I < G.nrows; ++I) {
    const i64 s = G.rows[I + 1] - G.rows[I];
    where[static_cast<std::size_t>(I) + 1] = where[static_cast<std::size_t>(I)] + s * s;
  }
  Buffer factors = reals(where.back()), z = reals(q.k), drop = reals(G.nrows);
  for (i64 I = 0; I < G.nrows; ++I) {
    const i64 first = G.rows[I], s = G.rows[I + 1] - first;
    double* L = factors.get() + where[static_cast<std::size_t>(I)];
    for (i64 r = 0; r < s; ++r)
      for (i64 c = 0; c < s; ++c) L[r * s + c] = q.B[(first + r) * q.k + first + c];
    small_cholesky(L, s);
    std::copy(q.x + first, q.x + first + s, z.get() + first);
    drop[I] = 0.5 * forward(L, s, z.get() + first);
  }
  const int nt = plan(q.m * q.k * (q.k + widest + tallest), std::max<i64>(G.ncols, 1));
  parallel(nt, [&](int t) {
    const Range r = part(G.ncols, t, nt);
    Buffer U = reals(q.k * widest), D = reals(widest * widest), M = reals(widest * widest), v = reals(widest),
           V = reals(tallest * widest);
    for (i64 J = r.begin; J < r.end; ++J) {
      const i64 j = G.cols[J], s = G.cols[J + 1] - j;
      solve_tile(q, j, s, U.get());
      const double* HJ = G.HJ + G.at[J];
      for (i64 a = 0; a < s; ++a)
        for (i64 b = 0; b < s; ++b) {
          double sum = HJ[a * s + b];
          for (i64 i = 0; i < q.k; ++i) sum -= q.HS[i * q.ld + j + a] * U[i * s + b];
          D[a * s + b] = sum;
        }
      left[J] = 1.0;
      for (i64 a = 0; a < s; ++a)
        left[J] = std::min(left[J], HJ[a * s + a] > 0 ? std::max(0.0, D[a * s + a]) / HJ[a * s + a] : 0.0);
      for (i64 a = 0; a < s; ++a)
        if (D[a * s + a] <= kDependent * HJ[a * s + a])
          for (i64 b = 0; b < s; ++b) D[a * s + b] = D[b * s + a] = 0.0;
      std::copy(D.get(), D.get() + s * s, M.get());
      small_cholesky(M.get(), s);
      for (i64 a = 0; a < s; ++a) // within the group too
        if (D[a * s + a] > 0) left[J] = std::min(left[J], M[a * s + a] * M[a * s + a] / HJ[a * s + a]);
      std::copy(q.g + j, q.g + j + s, v.get());
      add[J] = 0.5 * forward(M.get(), s, v.get());
      change[J] = HUGE_VAL;
      who[J] = -1;
      for (i64 I = 0; I < G.nrows; ++I) {
        if (!droppable[I]) continue;
        const i64 first = G.rows[I], h = G.rows[I + 1] - first;
        const double* L = factors.get() + where[static_cast<std::size_t>(I)];
        for (i64 b = 0; b < s; ++b) { // V[:, b] = L^-1 U_Ib
          for (i64 a = 0; a < h; ++a) V[b * h + a] = U[(first + a) * s + b];
          forward(L, h, V.get() + b * h);
        }
        for (i64 a = 0; a < s; ++a) {
          v[a] = q.g[j + a];
          for (i64 l = 0; l < h; ++l) v[a] -= V[a * h + l] * z[first + l];
          for (i64 b = 0; b < s; ++b) {
            double sum = D[a * s + b];
            for (i64 l = 0; l < h; ++l) sum += V[a * h + l] * V[b * h + l];
            M[a * s + b] = sum;
          }
        }
        small_cholesky(M.get(), s);
        const double delta = drop[I] - 0.5 * forward(M.get(), s, v.get());
        if (delta < change[J]) {
          change[J] = delta;
          who[J] = I;
        }
      }
    }
  });
}

} // namespace pursuit
