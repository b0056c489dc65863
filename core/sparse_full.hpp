#pragma once

#include "sparse.hpp"

namespace pursuit {

// out (m x p, C-order) = w^T X, w is n x m with columns ldw apart.
template <class T, class I>
void cross(const Sparse<T, I>& X, const double* w, i64 ldw, i64 m, double* out) {
  const i64 p = X.p, n = X.n;
  const int nt = plan((X.stored() + p) * std::max<i64>(m, 1));
  if (m == 0) return;
  if (X.rows) {
    // each thread owns some columns of w and takes up to eight of them per trip through X
    const i64 width = std::clamp<i64>((m + nt - 1) / nt, 1, 8), blocks = (m + width - 1) / width;
    const int used = static_cast<int>(std::min<i64>(nt, blocks));
    Buffer sums = reals(used * p * width);
    parallel(used, [&](int t) {
      double* sum = sums.get() + t * p * width;
      for (i64 block = t; block < blocks; block += used) {
        const i64 first = block * width, q = std::min(width, m - first);
        std::fill(sum, sum + p * q, 0.0);
        double d[8];
        for (i64 i = 0; i < n; ++i) {
          for (i64 l = 0; l < q; ++l) d[l] = w[(first + l) * ldw + i];
          for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
            const double v = static_cast<double>(X.data[e]);
            double* at = sum + static_cast<i64>(X.indices[e]) * q;
            for (i64 l = 0; l < q; ++l) at[l] += v * d[l];
          }
        }
        for (i64 l = 0; l < q; ++l)
          for (i64 j = 0; j < p; ++j) out[(first + l) * p + j] = sum[j * q + l];
      }
    });
    return;
  }
  constexpr i64 group = 16;
  Buffer rows = reals(n * m), sums = reals(nt * group * m);
  parallel(nt, [&](int t) {
    const Range r = part(n, t, nt, 16);
    for (i64 i0 = r.begin; i0 < r.end; i0 += 16)
      for (i64 l = 0; l < m; ++l)
        for (i64 i = i0; i < std::min(r.end, i0 + 16); ++i) rows[i * m + l] = w[l * ldw + i];
  });
  parallel(nt, [&](int t) {
    double* sum = sums.get() + t * group * m;
    const Range c = part(X, t, nt);
    for (i64 j0 = c.begin; j0 < c.end; j0 += group) {
      const i64 count = std::min(group, c.end - j0);
      std::fill(sum, sum + count * m, 0.0);
      for (i64 j = 0; j < count; ++j)
        for (i64 e = X.indptr[j0 + j]; e < X.indptr[j0 + j + 1]; ++e) {
          const double v = static_cast<double>(X.data[e]);
          add_rows<1>(rows.get() + static_cast<i64>(X.indices[e]) * m, 0, &v, m, sum + j * m);
        }
      for (i64 l = 0; l < m; ++l)
        for (i64 j = 0; j < count; ++j) out[l * p + j0 + j] = sum[j * m + l];
    }
  });
}

// Entries of one compressed line with duplicates added up, as f(index, value).
class Line {
public:
  explicit Line(i64 width) : value_(width, 0.0), seen_(width, -1) {}
  template <class T, class I, class F>
  void visit(const Sparse<T, I>& X, i64 line, F&& f) {
    const i64 begin = X.indptr[line], end = X.indptr[line + 1];
    bool increasing = true;
    for (i64 e = begin + 1; e < end; ++e) increasing &= X.indices[e] > X.indices[e - 1];
    if (increasing) {
      for (i64 e = begin; e < end; ++e) f(static_cast<i64>(X.indices[e]), static_cast<double>(X.data[e]));
      return;
    }
    touched_.clear();
    ++stamp_;
    for (i64 e = begin; e < end; ++e) {
      const i64 at = static_cast<i64>(X.indices[e]);
      if (seen_[at] != stamp_) {
        seen_[at] = stamp_;
        value_[at] = 0.0;
        touched_.push_back(at);
      }
      value_[at] += static_cast<double>(X.data[e]);
    }
    for (const i64 at : touched_) f(at, value_[at]);
  }

private:
  std::vector<double> value_;
  std::vector<i64> seen_, touched_;
  i64 stamp_ = 0;
};

// Two trips: means, then squared deviations of the stored entries plus mean^2 for the rest. A full column has no rest;
// counting entries, rather than subtracting weights, says so exactly.
template <class T, class I>
void stats(const Sparse<T, I>& X, const double* w, double* mean, double* var) {
  const i64 n = X.n, p = X.p;
  double total = 0.0;
  for (i64 i = 0; i < n; ++i) total += w[i];
  const double inv = total > 0.0 ? 1.0 / total : 0.0;
  Buffer weight = reals(p);
  auto count = allocate<i64>(p);
  std::fill(mean, mean + p, 0.0);
  std::fill(var, var + p, 0.0);
  std::fill(weight.get(), weight.get() + p, 0.0);
  std::fill(count.get(), count.get() + p, 0);
  Line line(X.rows ? p : n);
  auto each = [&](i64 l, auto&& f) {
    line.visit(X, l, [&](i64 at, double x) { f(X.rows ? l : at, X.rows ? at : l, x); });
  };
  for (i64 l = 0; l < X.lines(); ++l)
    each(l, [&](i64 i, i64 j, double x) {
      mean[j] += w[i] * x;
      weight[j] += w[i];
      ++count[j];
    });
  for (i64 j = 0; j < p; ++j) mean[j] *= inv;
  for (i64 l = 0; l < X.lines(); ++l)
    each(l, [&](i64 i, i64 j, double x) {
      const double dev = x - mean[j];
      var[j] += w[i] * dev * dev;
    });
  for (i64 j = 0; j < p; ++j) {
    const double rest = count[j] == n ? 0.0 : std::max(0.0, total - weight[j]);
    var[j] = (var[j] + rest * mean[j] * mean[j]) * inv;
  }
}

} // namespace pursuit
