#pragma once

#include "dense.hpp"
#include "sparse.hpp"

#include <optional>

namespace pursuit {

inline constexpr i64 kChunk = 512;

// out (m x m) = A^T diag(w) A. Weights below zero exclude the square root.
inline void gram(const DenseColumns& A, const double* w, double* out) {
  const i64 n = A.n, m = A.p;
  bool negative = false;
  for (i64 i = 0; i < n; ++i) negative |= w[i] < 0.0;
  const int nt = plan(n * m * (1 + m / 16), (n + kChunk - 1) / kChunk);
  Buffer roots = reals(negative ? 0 : n), scaled = reals(nt * kChunk * m),
         plain = reals(negative ? nt * kChunk * m : 0);
  if (!negative)
    for (i64 i = 0; i < n; ++i) roots[i] = std::sqrt(w[i]);
  const double* factor = negative ? w : roots.get();
  Parts parts(out, m * m, nt);
  parallel(nt, [&](int t) {
    double *acc = parts[t], *own = scaled.get() + t * kChunk * m;
    std::fill(acc, acc + m * m, 0.0);
    const Range r = part(n, t, nt, 8);
    for (i64 i = r.begin; i < r.end; i += kChunk) {
      const i64 rows = std::min(kChunk, r.end - i);
      for (i64 k = 0; k < m; ++k) multiply(A.at(i, k), factor + i, rows, own + k * kChunk);
      if (!negative) {
        syrk(m, rows, own, kChunk, acc, m);
        continue;
      }
      double* copy = plain.get() + t * kChunk * m;
      for (i64 k = 0; k < m; ++k) widen(A.at(i, k), rows, copy + k * kChunk);
      gemm(true, m, m, rows, copy, kChunk, own, kChunk, 1.0, acc, m);
    }
  });
  parts.sum();
  mirror_upper(out, m);
}

inline constexpr double kConstant = 1e-14; // share of its size by which a column must vary, or that is rounding

// Takes its weighted mean off a column, in place, and returns it. Twice, since the first mean is rounded at its own
// size; a constant column becomes exactly zero.
PURSUIT_CLONES inline double centre_column(double* __restrict x, i64 n, const double* w, double total) {
  double mean = 0.0, rest = 0.0, size = 0.0, left = 0.0;
#pragma omp simd reduction(+ : mean) reduction(max : size)
  for (i64 i = 0; i < n; ++i) mean += w[i] * x[i], size = std::max(size, std::fabs(x[i]));
  mean /= total;
#pragma omp simd reduction(+ : rest)
  for (i64 i = 0; i < n; ++i) x[i] -= mean, rest += w[i] * x[i];
  rest /= total;
#pragma omp simd reduction(max : left)
  for (i64 i = 0; i < n; ++i) x[i] -= rest, left = std::max(left, std::fabs(x[i]));
  if (left <= kConstant * size && std::isfinite(mean)) std::fill(x, x + n, 0.0); // no maximum sees a NaN, but means do
  return mean + rest;
}

// Value, gradient (m + 1, the intercept's last) and, unless null, the (m+1) x (m+1) Hessian.
template <class Loss>
void newton(const DenseColumns& A, std::nullopt_t, const Samples& s, Loss loss, const double* coef, double b,
            double* value, double* gradient, double* hessian) {
  const i64 m = A.p, size = m + 1;
  const i64 work = s.n * (8 + size * (hessian ? 2 + size / 16 : 2));
  const int nt = plan(work, (s.n + kChunk - 1) / kChunk);
  Buffer scaled = reals(hessian ? nt * kChunk * size : 0);
  std::vector<double> values(nt, 0.0);
  Parts gradients(gradient, size, nt), hessians(hessian, hessian ? size * size : 0, nt);
  parallel(nt, [&](int t) {
    double eta[kChunk], curvature[kChunk], v = 0.0;
    double *g = gradients[t], *H = hessian ? hessians[t] : nullptr, *own = scaled.get() + t * kChunk * size;
    std::fill(g, g + size, 0.0);
    if (H) std::fill(H, H + size * size, 0.0);
    const Range r = part(s.n, t, nt, 8);
    for (i64 i = r.begin; i < r.end; i += kChunk) {
      const i64 rows = std::min(kChunk, r.end - i);
      for (i64 k = 0; k < rows; ++k) eta[k] = b + (s.offset ? s.offset[i + k] : 0.0);
      add_lines(A.at(i, 0), A.col_stride, coef, m, rows, eta);
      evaluate(loss, rows, s.y + i, s.c + i, eta, eta, H ? curvature : nullptr, &v, g + m);
      add_dots(A.at(i, 0), A.col_stride, eta, m, rows, g);
      if (!H) continue;
      for (i64 k = 0; k < rows; ++k) curvature[k] = std::sqrt(curvature[k]);
      for (i64 k = 0; k < m; ++k) multiply(A.at(i, k), curvature, rows, own + k * kChunk);
      std::copy(curvature, curvature + rows, own + m * kChunk);
      syrk(size, rows, own, kChunk, H, size);
    }
    values[t] = v;
  });
  gradients.sum();
  *value = 0.0;
  for (int t = 0; t < nt; ++t) *value += values[t];
  if (!hessian) return;
  hessians.sum();
  mirror_upper(hessian, size);
}

// CSC columns row by row: row i's entries are [starts[i], starts[i + 1]), in the order of the columns, and `ends` says
// for each entry of the columns where the part of its row up to its own column ends.
struct ByRow {
  Array<i64> starts, ends;
  Array<std::int32_t> cols;
  Buffer data;
  explicit ByRow(const SparseColumns& A)
      : starts(allocate<i64>(A.n + 1)), ends(allocate<i64>(A.stored())), cols(allocate<std::int32_t>(A.stored())),
        data(reals(A.stored())) {
    const i64 n = A.n, stored = A.stored();
    Array<i64> next = allocate<i64>(n);
    std::fill(starts.get(), starts.get() + n + 1, 0);
    for (i64 e = 0; e < stored; ++e) ++starts[A.indices[e] + 1];
    for (i64 i = 0; i < n; ++i) starts[i + 1] += starts[i];
    std::copy(starts.get(), starts.get() + n, next.get());
    for (i64 j = 0; j < A.p; ++j) {
      for (i64 e = A.indptr[j]; e < A.indptr[j + 1]; ++e) {
        const i64 at = next[A.indices[e]]++;
        cols[at] = static_cast<std::int32_t>(j);
        data[at] = A.data[e];
      }
      for (i64 e = A.indptr[j]; e < A.indptr[j + 1]; ++e) ends[e] = next[A.indices[e]]; // a row may be named twice
    }
  }
};

inline std::optional<ByRow> by_row(const SparseColumns& A, bool hessian) {
  return hessian ? std::optional<ByRow>(std::in_place, A) : std::nullopt;
}

inline std::nullopt_t by_row(const DenseColumns&, bool) { return std::nullopt; }

// The leading m x m of out (columns ldo apart) = A^T diag(w) A for CSC columns; each entry belongs to one thread. A
// column meets only the rows that it has entries in: the sum of squares of the rows' sizes, not m times that of the
// sizes.
inline void gram(const SparseColumns& A, const ByRow& rows, const double* w, double* out, i64 ldo) {
  const i64 m = A.p;
  i64 work = 0;
  for (i64 i = 0; i < A.n; ++i) work += (rows.starts[i + 1] - rows.starts[i]) * (rows.starts[i + 1] - rows.starts[i]);
  const int nt = plan(work / 2 + m * m, m);
  parallel(nt, [&](int t) {
    for (i64 j = t; j < m; j += nt) {
      double* own = out + j * ldo;
      std::fill(own, own + j + 1, 0.0);
      for (i64 e = A.indptr[j]; e < A.indptr[j + 1]; ++e) {
        const double v = w[A.indices[e]] * A.data[e];
        for (i64 at = rows.starts[A.indices[e]]; at < rows.ends[e]; ++at) own[rows.cols[at]] += v * rows.data[at];
      }
    }
  });
  for (i64 j = 0; j < m; ++j)
    for (i64 i = 0; i < j; ++i) out[j + i * ldo] = out[i + j * ldo];
}

inline void gram(const SparseColumns& A, const double* w, double* out) { gram(A, ByRow(A), w, out, A.p); }

// out (m x q, C-order) = A^T diag(w) C for CSC columns of both.
inline void between(const SparseColumns& A, const double* w, const SparseColumns& C, double* out) {
  const i64 m = A.p, q = C.p;
  const ByRow rows(A);
  i64 work = 0;
  for (i64 e = 0; e < C.stored(); ++e) work += rows.starts[C.indices[e] + 1] - rows.starts[C.indices[e]];
  const int nt = plan(work + m * q);
  constexpr i64 group = 16;
  Buffer sums = reals(nt * group * m);
  parallel(nt, [&](int t) {
    double* sum = sums.get() + t * group * m;
    const Range c = part(q, t, nt, group);
    for (i64 j0 = c.begin; j0 < c.end; j0 += group) {
      const i64 count = std::min(group, c.end - j0);
      std::fill(sum, sum + count * m, 0.0);
      for (i64 j = 0; j < count; ++j)
        for (i64 e = C.indptr[j0 + j]; e < C.indptr[j0 + j + 1]; ++e) {
          const i64 i = C.indices[e];
          const double v = w[i] * C.data[e];
          for (i64 at = rows.starts[i]; at < rows.starts[i + 1]; ++at) sum[j * m + rows.cols[at]] += v * rows.data[at];
        }
      for (i64 k = 0; k < m; ++k)
        for (i64 j = 0; j < count; ++j) out[k * q + j0 + j] = sum[j * m + k];
    }
  });
}

// Newton systems at several points share `rows`, which only a Hessian needs.
template <class Loss>
void newton(const SparseColumns& A, const std::optional<ByRow>& rows, const Samples& s, Loss loss, const double* coef,
            double b, double* value, double* gradient, double* hessian) {
  const i64 m = A.p, n = A.n, size = m + 1;
  Buffer eta = reals(n), curvature = reals(hessian ? n : 0);
  for (i64 i = 0; i < n; ++i) eta[i] = b + (s.offset ? s.offset[i] : 0.0);
  for (i64 k = 0; k < m; ++k)
    for (i64 e = A.indptr[k]; e < A.indptr[k + 1]; ++e) eta[A.indices[e]] += A.data[e] * coef[k];
  double* h = hessian ? curvature.get() : nullptr;
  evaluate_all(loss, s, eta.get(), eta.get(), h, value, gradient + m);
  left_multiply(A, eta.get(), 1, gradient);
  if (!hessian) return;
  gram(A, *rows, h, hessian, size);
  double last = 0.0;
  for (i64 i = 0; i < n; ++i) last += h[i];
  Buffer column = reals(m);
  left_multiply(A, h, 1, column.get());
  for (i64 k = 0; k < m; ++k) hessian[k + m * size] = hessian[m + k * size] = column[k];
  hessian[m + m * size] = last;
}

} // namespace pursuit
