#pragma once

#include "loops.hpp"
#include "losses.hpp"

namespace pursuit {

// For each column of X, the chain of positions in `cols` that name it (a column may be named twice).
struct Positions {
  Array<std::int32_t> head, next;
  Positions(i64 p, const i64* cols, i64 m) : head(allocate<std::int32_t>(p)), next(allocate<std::int32_t>(m)) {
    std::fill(head.get(), head.get() + p, -1);
    for (i64 k = m - 1; k >= 0; --k) {
      next[k] = head[cols[k]];
      head[cols[k]] = static_cast<std::int32_t>(k);
    }
  }
};

// Four chains of additions, since one would wait for each sum.
template <class T, class I>
PURSUIT_INLINE double gather_dot(const T* data, const I* at, i64 len, const double* x) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  i64 e = 0;
  for (; e + 4 <= len; e += 4) {
    s0 += static_cast<double>(data[e]) * x[static_cast<i64>(at[e])];
    s1 += static_cast<double>(data[e + 1]) * x[static_cast<i64>(at[e + 1])];
    s2 += static_cast<double>(data[e + 2]) * x[static_cast<i64>(at[e + 2])];
    s3 += static_cast<double>(data[e + 3]) * x[static_cast<i64>(at[e + 3])];
  }
  for (; e < len; ++e) s0 += static_cast<double>(data[e]) * x[static_cast<i64>(at[e])];
  return (s0 + s1) + (s2 + s3);
}

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
          if (q == 1) {
            g[X.indices[e]] += v * D[i];
            continue;
          }
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
        const i64 e = X.indptr[j];
        G[j] = gather_dot(X.data + e, X.indices + e, X.indptr[j + 1] - e, D);
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

// One bit per column says whether it is named: the bits stay in a near cache where numbers would not.
struct Marks {
  Array<std::uint64_t> bits;
  Marks(i64 p, const i64* cols, i64 m) : bits(allocate<std::uint64_t>((p + 63) / 64)) {
    std::fill(bits.get(), bits.get() + (p + 63) / 64, 0);
    for (i64 k = 0; k < m; ++k) bits[cols[k] >> 6] |= std::uint64_t(1) << (cols[k] & 63);
  }
  template <class I>
  PURSUIT_INLINE bool operator[](I j) const {
    return bits[j >> 6] >> (j & 63) & 1;
  }
};

// A k-sparse vector of length p. When p is large its columns are marked: a row meets few of them.
struct SparseVector {
  bool marked;
  Marks marks;
  Buffer value; // when marked, set only where the mark is
  SparseVector(i64 p, const i64* cols, const double* coef, i64 m)
      : marked(p > (1 << 15)), marks(p, cols, m), value(reals(p)) {
    if (!marked) std::fill(value.get(), value.get() + p, 0.0);
    for (i64 k = 0; k < m; ++k) value[cols[k]] = 0.0;
    for (i64 k = 0; k < m; ++k) value[cols[k]] += coef[k];
  }
  template <class T, class I>
  PURSUIT_INLINE double dot(const T* data, const I* at, i64 len) const {
    if (!marked) return gather_dot(data, at, len, value.get());
    double s = 0.0;
    for (i64 e = 0; e < len; ++e)
      if (marks[at[e]]) s += static_cast<double>(data[e]) * value[at[e]];
    return s;
  }
};

// CSR in one trip: a block of rows gives its eta and, still in cache, its share of the gradient.
template <class T, class I, class Loss>
void csr_value_gradient(const Sparse<T, I>& X, const Samples& s, Loss loss, const Point& x, double* value, double* g,
                        double* slope) {
  const int nt = plan(2 * X.stored() + X.p);
  const SparseVector point(X.p, x.cols, x.coef, x.m);
  Parts parts(g, X.p, nt);
  std::vector<double> sums(2 * nt, 0.0);
  parallel(nt, [&](int t) {
    double* own = parts[t];
    std::fill(own, own + X.p, 0.0);
    const Range r = part(X, t, nt);
    constexpr i64 block = 64;
    double eta[block], v = 0.0, sl = 0.0;
    for (i64 i0 = r.begin; i0 < r.end; i0 += block) {
      const i64 rows = std::min(block, r.end - i0);
      for (i64 k = 0; k < rows; ++k) {
        const i64 i = i0 + k, e = X.indptr[i];
        eta[k] = x.b + (s.offset ? s.offset[i] : 0.0) + point.dot(X.data + e, X.indices + e, X.indptr[i + 1] - e);
      }
      evaluate(loss, rows, s.y + i0, s.c + i0, eta, eta, nullptr, &v, &sl);
      for (i64 k = 0; k < rows; ++k)
        for (i64 e = X.indptr[i0 + k]; e < X.indptr[i0 + k + 1]; ++e)
          own[X.indices[e]] += static_cast<double>(X.data[e]) * eta[k];
    }
    sums[2 * t] = v;
    sums[2 * t + 1] = sl;
  });
  parts.sum();
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

// Whether cols is 0, 1, ..., p - 1.
inline bool names_all(i64 p, const i64* cols, i64 m) {
  if (m != p) return false;
  for (i64 k = 0; k < m; ++k)
    if (cols[k] != k) return false;
  return true;
}

// out (p) = X^T diag(w) (X v + a), and its sum over the rows: for CSR one trip, in which a row stays at hand.
template <class T, class I>
double turn(const Sparse<T, I>& X, const double* w, const double* v, double a, double* out) {
  const int nt = plan(2 * X.stored());
  std::vector<double> sums(nt, 0.0);
  double sum = 0.0;
  if (X.rows) {
    Parts parts(out, X.p, nt);
    parallel(nt, [&](int t) {
      double* own = parts[t];
      std::fill(own, own + X.p, 0.0);
      const Range r = part(X, t, nt);
      for (i64 i = r.begin; i < r.end; ++i) {
        const i64 begin = X.indptr[i], end = X.indptr[i + 1];
        const double d = w[i] * (a + gather_dot(X.data + begin, X.indices + begin, end - begin, v));
        for (i64 e = begin; e < end; ++e) own[X.indices[e]] += d * static_cast<double>(X.data[e]);
        sums[t] += d;
      }
    });
    parts.sum();
  } else {
    Buffer eta = reals(X.n);
    std::fill(eta.get(), eta.get() + X.n, a);
    for (i64 j = 0; j < X.p; ++j)
      for (i64 e = X.indptr[j]; e < X.indptr[j + 1]; ++e) eta[X.indices[e]] += static_cast<double>(X.data[e]) * v[j];
    for (i64 i = 0; i < X.n; ++i) eta[i] *= w[i], sum += eta[i];
    left_multiply(X, eta.get(), 1, out);
  }
  for (const double part : sums) sum += part;
  return sum;
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
  const int nt = plan(X.stored());
  if (q == 1 && names_all(X.p, cols, m)) {
    parallel(nt, [&](int t) {
      const Range r = part(X, t, nt);
      for (i64 i = r.begin; i < r.end; ++i) {
        const i64 e = X.indptr[i];
        out[i] = gather_dot(X.data + e, X.indices + e, X.indptr[i + 1] - e, coef);
      }
    });
    return;
  }
  const Positions at(X.p, cols, m);
  const Marks marks(X.p, cols, m);
  parallel(nt, [&](int t) {
    const Range r = part(X, t, nt);
    std::fill(out + r.begin * q, out + r.end * q, 0.0);
    for (i64 i = r.begin; i < r.end; ++i)
      for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
        if (!marks[X.indices[e]]) continue;
        for (std::int32_t k = at.head[X.indices[e]]; k >= 0; k = at.next[k]) {
          const double v = static_cast<double>(X.data[e]);
          for (i64 l = 0; l < q; ++l) out[i * q + l] += v * coef[k * q + l];
        }
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
  Array<i64> indices, indptr;
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
  const Marks marks(X.p, cols, m);
  std::vector<i64> place(nt * m, 0);
  auto visit = [&](int t, auto&& f) {
    const Range r = part(X, t, nt);
    for (i64 i = r.begin; i < r.end; ++i)
      for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
        if (!marks[X.indices[e]]) continue;
        for (std::int32_t k = at.head[X.indices[e]]; k >= 0; k = at.next[k]) f(i, e, place[t * m + k]);
      }
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

struct RowLines {
  Buffer data;
  Array<std::int32_t> indices, indptr;
};

// The named columns of a CSR matrix, again as CSR: one trip, in which what a row has of them is found without a branch.
template <class T, class I>
RowLines gather_rows(const Sparse<T, I>& X, const i64* cols, i64 m) {
  const Positions at(X.p, cols, m);
  const Marks marks(X.p, cols, m);
  const int nt = plan(X.stored());
  std::vector<std::vector<double>> data(nt);
  std::vector<std::vector<std::int32_t>> indices(nt);
  RowLines out;
  out.indptr = allocate<std::int32_t>(X.n + 1);
  parallel(nt, [&](int t) {
    const Range r = part(X, t, nt);
    i64 longest = 0;
    for (i64 i = r.begin; i < r.end; ++i) longest = std::max<i64>(longest, X.indptr[i + 1] - X.indptr[i]);
    Array<i64> hits = allocate<i64>(longest + 1);
    for (i64 i = r.begin; i < r.end; ++i) {
      i64 count = 0;
      const std::size_t before = indices[t].size();
      for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
        hits[count] = e;
        count += marks[X.indices[e]];
      }
      for (i64 h = 0; h < count; ++h)
        for (std::int32_t k = at.head[X.indices[hits[h]]]; k >= 0; k = at.next[k]) {
          data[t].push_back(static_cast<double>(X.data[hits[h]]));
          indices[t].push_back(k);
        }
      out.indptr[i + 1] = static_cast<std::int32_t>(indices[t].size() - before);
    }
  });
  i64 total = 0;
  for (const auto& some : indices) total += static_cast<i64>(some.size());
  if (total > INT32_MAX) throw std::length_error("the chosen columns have more than 2^31 entries");
  out.indptr[0] = 0;
  for (i64 i = 0; i < X.n; ++i) out.indptr[i + 1] += out.indptr[i];
  out.data = reals(total);
  out.indices = allocate<std::int32_t>(total);
  i64 to = 0;
  for (int t = 0; t < nt; ++t) {
    std::copy(data[t].begin(), data[t].end(), out.data.get() + to);
    std::copy(indices[t].begin(), indices[t].end(), out.indices.get() + to);
    to += static_cast<i64>(indices[t].size());
    std::vector<double>().swap(data[t]);
    std::vector<std::int32_t>().swap(indices[t]);
  }
  return out;
}

} // namespace pursuit
