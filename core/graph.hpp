#pragma once

#include "blas.hpp"
#include "search.hpp"

// Graphs on p nodes as sorted edges i < j, each the number i * p + j, and the small linear algebra of their nodes.

namespace pursuit {

inline std::size_t place(i64 j) { return static_cast<std::size_t>(j); }

struct Adjacency {
  const i64 p;
  std::vector<i64> first, node, edge; // of node j: places first[j] .. first[j + 1] of its neighbours and their edges
  Adjacency(i64 p_, const Units& edges)
      : p(p_), first(place(p_) + 1, 0), node(2 * edges.size()), edge(2 * edges.size()) {
    for (i64 e : edges) ++first[place(e / p) + 1], ++first[place(e % p) + 1];
    for (i64 j = 0; j < p; ++j) first[place(j) + 1] += first[place(j)];
    std::vector<i64> next(first.begin(), first.end() - 1);
    auto put = [&](i64 i, i64 j, std::size_t e) {
      const std::size_t at = place(next[place(i)]++);
      node[at] = j;
      edge[at] = static_cast<i64>(e);
    };
    for (std::size_t e = 0; e < edges.size(); ++e)
      put(edges[e] / p, edges[e] % p, e), put(edges[e] % p, edges[e] / p, e);
  }
  i64 degree(i64 j) const { return first[place(j) + 1] - first[place(j)]; }
  const i64* near(i64 j) const { return node.data() + first[place(j)]; }
  const i64* edges(i64 j) const { return edge.data() + first[place(j)]; }
  i64 widest() const {
    i64 d = 0;
    for (i64 j = 0; j < p; ++j) d = std::max(d, degree(j));
    return d;
  }
  // The number of each node's component.
  std::vector<i64> components() const {
    std::vector<i64> of(place(p), -1), stack;
    for (i64 root = 0; root < p; ++root) {
      if (of[place(root)] >= 0) continue;
      stack.assign(1, root);
      of[place(root)] = root;
      while (!stack.empty()) {
        const i64 j = stack.back();
        stack.pop_back();
        for (i64 l = 0; l < degree(j); ++l) {
          const i64 other = near(j)[l];
          if (of[place(other)] < 0) of[place(other)] = root, stack.push_back(other);
        }
      }
    }
    return of;
  }
};

// out = sum_l b_l Q[N_l], rows of length p.
PURSUIT_CLONES inline void combine_rows(const double* Q, i64 p, const i64* N, const double* b, i64 d, double* out) {
  std::fill(out, out + p, 0.0);
  i64 l = 0;
  for (; l + 4 <= d; l += 4) {
    const double *q0 = Q + N[l] * p, *q1 = Q + N[l + 1] * p, *q2 = Q + N[l + 2] * p, *q3 = Q + N[l + 3] * p;
    const double b0 = b[l], b1 = b[l + 1], b2 = b[l + 2], b3 = b[l + 3];
    for (i64 i = 0; i < p; ++i) out[i] += b0 * q0[i] + b1 * q1[i] + b2 * q2[i] + b3 * q3[i];
  }
  for (; l < d; ++l) {
    const double* q = Q + N[l] * p;
    const double bl = b[l];
    for (i64 i = 0; i < p; ++i) out[i] += bl * q[i];
  }
}

// In place of the lower triangle (by rows) of a d x d matrix its Cholesky factor; false where it is not positive.
PURSUIT_CLONES inline bool factorise(double* A, i64 d) {
  constexpr i64 kByHand = 24;
  if (d > kByHand) {
    char upper = 'U';
    int n = small(d), info = 0;
    lapack.potrf(&upper, &n, A, &n, &info);
    bool fine = info == 0;
    for (i64 j = 0; j < d; ++j) fine = fine && A[j * d + j] > 0.0; // LAPACK lets a NaN pass
    return fine;
  }
  for (i64 r = 0; r < d; ++r) {
    double* row = A + r * d;
    for (i64 c = 0; c < r; ++c) {
      const double* other = A + c * d;
      double sum = row[c];
      for (i64 l = 0; l < c; ++l) sum -= row[l] * other[l];
      row[c] = sum / other[c];
    }
    double pivot = row[r];
    for (i64 l = 0; l < r; ++l) pivot -= row[l] * row[l];
    if (!(pivot > 0.0)) return false;
    row[r] = std::sqrt(pivot);
  }
  return true;
}

// x <- (L L')^-1 x
inline void solve_factor(const double* L, i64 d, double* x) {
  for (i64 r = 0; r < d; ++r) {
    double sum = x[r];
    for (i64 l = 0; l < r; ++l) sum -= L[r * d + l] * x[l];
    x[r] = sum / L[r * d + r];
  }
  for (i64 r = d - 1; r >= 0; --r) {
    const double v = x[r] /= L[r * d + r];
    for (i64 l = 0; l < r; ++l) x[l] -= L[r * d + l] * v;
  }
}

inline double log_det(const double* L, i64 p) {
  double sum = 0.0;
  for (i64 j = 0; j < p; ++j) sum += std::log(L[j * p + j]);
  return 2.0 * sum;
}

// In place of a factor (lower triangle by rows) the whole inverse of what was factorised.
inline void invert_factor(double* L, i64 p) {
  char upper = 'U';
  int n = small(p), info = 0;
  lapack.potri(&upper, &n, L, &n, &info);
  for (i64 i = 0; i < p; ++i)
    for (i64 j = 0; j < i; ++j) L[j * p + i] = L[i * p + j];
}

} // namespace pursuit
