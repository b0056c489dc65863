#pragma once

#include "sparse.hpp"

namespace pursuit {

// out (m x p, C-order) = w^T X, w is n x m with columns ldw apart; the overload below also takes off a shift.
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
        for (i64 j0 = 0; j0 < p; j0 += 512)
          for (i64 l = 0; l < q; ++l)
            for (i64 j = j0; j < std::min(p, j0 + 512); ++j) out[(first + l) * p + j] = sum[j * q + l];
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

template <class T, class I>
void cross(const Sparse<T, I>& X, const double* w, i64 ldw, i64 m, const double* shift, double* out) {
  cross(X, w, ldw, m, out);
  for (i64 l = 0; l < m && shift; ++l) {
    double sum = 0.0;
    for (i64 i = 0; i < X.n; ++i) sum += w[l * ldw + i];
    for (i64 j = 0; j < X.p; ++j) out[l * X.p + j] -= sum * shift[j];
  }
}

template <class T, class I>
bool has_duplicates_maybe(const Sparse<T, I>& X) {
  const int nt = plan(X.stored());
  std::vector<char> found(nt, 0);
  parallel(nt, [&](int t) {
    const Range r = part(X, t, nt);
    bool increasing = true;
    for (i64 l = r.begin; l < r.end; ++l)
      for (i64 e = X.indptr[l] + 1; e < X.indptr[l + 1]; ++e) increasing &= X.indices[e] > X.indices[e - 1];
    found[t] = !increasing;
  });
  return std::count(found.begin(), found.end(), 1) > 0;
}

// Visits the entries of a compressed line as f(index, value), duplicates added up; a width of 0 promises that there
// are none.
class Line {
public:
  explicit Line(i64 width)
      : width_(width), value_(reals(width)), seen_(allocate<i64>(width)), touched_(allocate<i64>(width)) {
    std::fill(seen_.get(), seen_.get() + width, -1);
  }
  template <class T, class I, class F>
  void visit(const Sparse<T, I>& X, i64 line, F&& f) {
    const i64 begin = X.indptr[line], end = X.indptr[line + 1];
    if (width_ == 0) {
      for (i64 e = begin; e < end; ++e) f(static_cast<i64>(X.indices[e]), static_cast<double>(X.data[e]));
      return;
    }
    i64 touched = 0;
    for (i64 e = begin; e < end; ++e) {
      const i64 at = static_cast<i64>(X.indices[e]);
      if (seen_[at] != line) {
        seen_[at] = line;
        value_[at] = 0.0;
        touched_[touched++] = at;
      }
      value_[at] += static_cast<double>(X.data[e]);
    }
    for (i64 k = 0; k < touched; ++k) f(touched_[k], value_[touched_[k]]);
    for (i64 k = 0; k < touched; ++k) seen_[touched_[k]] = -1;
  }

private:
  i64 width_;
  Buffer value_;
  Array<i64> seen_, touched_;
};

// Two trips: means, then squared deviations of the stored entries plus mean^2 for the rest. A full column has no rest;
// counting entries, rather than subtracting weights, says so exactly.
template <class T, class I>
void stats(const Sparse<T, I>& X, const double* w, double* mean, double* var) {
  const i64 n = X.n, p = X.p;
  double total = 0.0;
  for (i64 i = 0; i < n; ++i) total += w[i];
  const double inv = total > 0.0 ? 1.0 / total : 0.0;
  const int nt = plan(4 * X.stored() + p);
  const i64 width = has_duplicates_maybe(X) ? (X.rows ? p : n) : 0;
  std::vector<Line> lines;
  for (int t = 0; t < nt; ++t) lines.emplace_back(width);
  // CSR rows share columns, so each thread sums on its own; CSC columns belong to one thread
  const int copies = X.rows ? nt : 1;
  Buffer weight = reals(p), count = reals(p);
  Parts means(mean, p, copies), weights(weight.get(), p, copies), counts(count.get(), p, copies), vars(var, p, copies);
  auto each = [&](auto&& f) {
    parallel(nt, [&](int t) {
      const Range r = part(X, t, nt);
      for (i64 l = r.begin; l < r.end; ++l)
        lines[t].visit(X, l, [&](i64 at, double x) { f(X.rows ? t : 0, X.rows ? l : at, X.rows ? at : l, x); });
    });
  };
  for (Parts* parts : {&means, &weights, &counts, &vars})
    for (int t = 0; t < copies; ++t) std::fill((*parts)[t], (*parts)[t] + p, 0.0);
  each([&](int t, i64 i, i64 j, double x) {
    means[t][j] += w[i] * x;
    weights[t][j] += w[i];
    counts[t][j] += 1.0;
  });
  means.sum(), weights.sum(), counts.sum();
  for (i64 j = 0; j < p; ++j) mean[j] *= inv;
  each([&](int t, i64 i, i64 j, double x) {
    const double dev = x - mean[j];
    vars[t][j] += w[i] * dev * dev;
  });
  vars.sum();
  for (i64 j = 0; j < p; ++j) {
    const double rest = count[j] == static_cast<double>(n) ? 0.0 : std::max(0.0, total - weight[j]);
    var[j] = (var[j] + rest * mean[j] * mean[j]) * inv;
  }
}

} // namespace pursuit
