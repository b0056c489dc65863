#pragma once

#include "loops.hpp"
#include "losses.hpp"

namespace pursuit {

// For each column of X, the chain of positions in `cols` that name it (a column may be named twice).
struct Positions {
  std::unique_ptr<std::int32_t[]> head, next;
  Positions(i64 p, const i64* cols, i64 m) : head(allocate<std::int32_t>(p)), next(allocate<std::int32_t>(m)) {
    std::fill(head.get(), head.get() + p, -1);
    for (i64 k = m - 1; k >= 0; --k) {
      next[k] = head[cols[k]];
      head[cols[k]] = static_cast<std::int32_t>(k);
    }
  }
};

// X^T D for D of n x q (C-order) into G of p x q (C-order).
template <class T, class I>
void left_multiply(const Sparse<T, I>& X, const double* D, i64 q, double* G) {
  const int nt = plan(X.stored() * std::max<i64>(q, 1));
  if (X.rows) {
    Parts parts(G, X.p * q, nt);
    parallel(nt, [&](int t) {
      double* g = parts[t];
      std::fill(g, g + X.p * q, 0.0);
      const Range r = part(X, t, nt);
      for (i64 i = r.begin; i < r.end; ++i)
        for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
          const double v = static_cast<double>(X.data[e]);
          double* out = g + static_cast<i64>(X.indices[e]) * q;
          for (i64 l = 0; l < q; ++l) out[l] += v * D[i * q + l];
        }
    });
    parts.sum();
    return;
  }
  parallel(nt, [&](int t) {
    const Range c = part(X, t, nt);
    for (i64 j = c.begin; j < c.end; ++j) {
      if (q == 1) {
        double s = 0.0;
        for (i64 e = X.indptr[j]; e < X.indptr[j + 1]; ++e) s += static_cast<double>(X.data[e]) * D[X.indices[e]];
        G[j] = s;
        continue;
      }
      double* out = G + j * q;
      std::fill(out, out + q, 0.0);
      for (i64 e = X.indptr[j]; e < X.indptr[j + 1]; ++e) {
        const double v = static_cast<double>(X.data[e]);
        const double* d = D + static_cast<i64>(X.indices[e]) * q;
        for (i64 l = 0; l < q; ++l) out[l] += v * d[l];
      }
    }
  });
}

// CSR in one trip. A column's coefficient and its gradient sum lie side by side, so that the product that reads the
// one brings the other into the cache.
template <class T, class I, class Loss>
void csr_value_gradient(const Sparse<T, I>& X, const Samples& s, Loss loss, const Point& x, double* value, double* g,
                        double* slope) {
  const int nt = plan(X.stored() + X.p);
  const i64 width = 2 * X.p;
  Buffer pairs = reals(width * nt);
  std::vector<double> sums(2 * nt, 0.0);
  parallel(nt, [&](int t) {
    double* pair = pairs.get() + t * width;
    std::fill(pair, pair + width, 0.0);
    for (i64 k = 0; k < x.m; ++k) pair[2 * x.cols[k]] += x.coef[k];
    const Range r = part(X, t, nt);
    double v = 0.0, sl = 0.0;
    for (i64 i = r.begin; i < r.end; ++i) {
      double eta = x.b + (s.offset ? s.offset[i] : 0.0);
      const i64 begin = X.indptr[i], end = X.indptr[i + 1];
      for (i64 e = begin; e < end; ++e)
        eta += static_cast<double>(X.data[e]) * pair[2 * static_cast<i64>(X.indices[e])];
      const Jet jet = loss(s.y[i], eta);
      const double d = s.c[i] * jet.d1;
      v += s.c[i] * jet.value;
      sl += d;
      for (i64 e = begin; e < end; ++e)
        pair[2 * static_cast<i64>(X.indices[e]) + 1] += static_cast<double>(X.data[e]) * d;
    }
    sums[2 * t] = v;
    sums[2 * t + 1] = sl;
  });
  const int nr = plan(X.p * nt);
  parallel(nr, [&](int t) {
    const Range c = part(X.p, t, nr, 8);
    for (i64 j = c.begin; j < c.end; ++j) {
      double sum = 0.0;
      for (int u = 0; u < nt; ++u) sum += pairs[u * width + 2 * j + 1];
      g[j] = sum;
    }
  });
  *value = *slope = 0.0;
  for (int t = 0; t < nt; ++t) *value += sums[2 * t], *slope += sums[2 * t + 1];
}

template <class T, class I, class Loss>
void value_gradient(const Sparse<T, I>& X, const Samples& s, Loss loss, const Point& x, double* value, double* g,
                    double* slope) {
  if (X.rows) return csr_value_gradient(X, s, loss, x, value, g, slope);
  Buffer eta = reals(X.n);
  for (i64 i = 0; i < X.n; ++i) eta[i] = x.b + (s.offset ? s.offset[i] : 0.0);
  for (i64 k = 0; k < x.m; ++k)
    for (i64 e = X.indptr[x.cols[k]]; e < X.indptr[x.cols[k] + 1]; ++e)
      eta[X.indices[e]] += static_cast<double>(X.data[e]) * x.coef[k];
  evaluate_all(loss, s, eta.get(), eta.get(), nullptr, value, slope);
  left_multiply(X, eta.get(), 1, g);
}

// out (n x q, C-order) = X[:, cols] coef, coef is m x q in C-order.
template <class T, class I>
void right_multiply(const Sparse<T, I>& X, const i64* cols, const double* coef, i64 m, i64 q, double* out) {
  if (!X.rows) {
    std::fill(out, out + X.n * q, 0.0);
    for (i64 k = 0; k < m; ++k)
      for (i64 e = X.indptr[cols[k]]; e < X.indptr[cols[k] + 1]; ++e) {
        const double v = static_cast<double>(X.data[e]);
        double* row = out + static_cast<i64>(X.indices[e]) * q;
        for (i64 l = 0; l < q; ++l) row[l] += v * coef[k * q + l];
      }
    return;
  }
  const Positions at(X.p, cols, m);
  const int nt = plan(X.stored());
  parallel(nt, [&](int t) {
    const Range r = part(X, t, nt);
    std::fill(out + r.begin * q, out + r.end * q, 0.0);
    for (i64 i = r.begin; i < r.end; ++i)
      for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e)
        for (std::int32_t k = at.head[X.indices[e]]; k >= 0; k = at.next[k]) {
          const double v = static_cast<double>(X.data[e]);
          for (i64 l = 0; l < q; ++l) out[i * q + l] += v * coef[k * q + l];
        }
  });
}

// out (F-order n x m) = X[:, cols].
template <class T, class I>
void gather(const Sparse<T, I>& X, const i64* cols, i64 m, double* out) {
  if (!X.rows) {
    const int nt = plan(X.n * m, m);
    parallel(nt, [&](int t) {
      const Range c = part(m, t, nt);
      std::fill(out + c.begin * X.n, out + c.end * X.n, 0.0);
      for (i64 k = c.begin; k < c.end; ++k)
        for (i64 e = X.indptr[cols[k]]; e < X.indptr[cols[k] + 1]; ++e)
          out[k * X.n + static_cast<i64>(X.indices[e])] += static_cast<double>(X.data[e]);
    });
    return;
  }
  const Positions at(X.p, cols, m);
  const int nt = plan(X.stored() + X.n * m);
  parallel(nt, [&](int t) {
    const Range z = part(m, t, nt);
    std::fill(out + z.begin * X.n, out + z.end * X.n, 0.0);
  });
  parallel(nt, [&](int t) {
    const Range r = part(X, t, nt);
    for (i64 i = r.begin; i < r.end; ++i)
      for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e)
        for (std::int32_t k = at.head[X.indices[e]]; k >= 0; k = at.next[k])
          out[k * X.n + i] += static_cast<double>(X.data[e]);
  });
}

struct Columns {
  Buffer data;
  std::unique_ptr<i64[]> indices, indptr;
};

// The named columns as CSC. From CSR every thread counts its rows' entries, then writes to its own places.
template <class T, class I>
Columns gather_csc(const Sparse<T, I>& X, const i64* cols, i64 m) {
  Columns out;
  out.indptr = allocate<i64>(m + 1);
  out.indptr[0] = 0;
  if (!X.rows) {
    for (i64 k = 0; k < m; ++k) out.indptr[k + 1] = out.indptr[k] + X.indptr[cols[k] + 1] - X.indptr[cols[k]];
    out.data = reals(out.indptr[m]);
    out.indices = allocate<i64>(out.indptr[m]);
    const int nt = plan(out.indptr[m], m);
    parallel(nt, [&](int t) {
      const Range c = part(m, t, nt);
      for (i64 k = c.begin; k < c.end; ++k) {
        i64 to = out.indptr[k];
        for (i64 e = X.indptr[cols[k]]; e < X.indptr[cols[k] + 1]; ++e, ++to) {
          out.data[to] = static_cast<double>(X.data[e]);
          out.indices[to] = static_cast<i64>(X.indices[e]);
        }
      }
    });
    return out;
  }
  const Positions at(X.p, cols, m);
  const int nt = plan(X.stored());
  std::vector<i64> place(nt * m, 0);
  auto visit = [&](int t, auto&& f) {
    const Range r = part(X, t, nt);
    for (i64 i = r.begin; i < r.end; ++i)
      for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e)
        for (std::int32_t k = at.head[X.indices[e]]; k >= 0; k = at.next[k]) f(i, e, place[t * m + k]);
  };
  parallel(nt, [&](int t) { visit(t, [](i64, i64, i64& count) { ++count; }); });
  i64 total = 0;
  for (i64 k = 0; k < m; ++k) {
    for (int t = 0; t < nt; ++t) total += std::exchange(place[t * m + k], total);
    out.indptr[k + 1] = total;
  }
  out.data = reals(total);
  out.indices = allocate<i64>(total);
  parallel(nt, [&](int t) {
    visit(t, [&](i64 i, i64 e, i64& to) {
      out.data[to] = static_cast<double>(X.data[e]);
      out.indices[to++] = i;
    });
  });
  return out;
}

} // namespace pursuit
