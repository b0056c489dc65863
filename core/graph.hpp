#pragma once

#include "blas.hpp"
#include "search.hpp"

// Graphs on p nodes as sorted edges i < j, each the number i * p + j, and the small linear algebra of their nodes.

namespace pursuit {

inline std::size_t index(i64 j) { return static_cast<std::size_t>(j); }

struct Adjacency {
  const i64 p;
  std::vector<i64> first, node, edge; // of node j: places first[j] .. first[j + 1] of its neighbours and their edges
  Adjacency(i64 p_, const Units& edges)
      : p(p_), first(index(p_) + 1, 0), node(2 * edges.size()), edge(2 * edges.size()) {
    for (i64 e : edges) ++first[index(e / p) + 1], ++first[index(e % p) + 1];
    for (i64 j = 0; j < p; ++j) first[index(j) + 1] += first[index(j)];
    std::vector<i64> next(first.begin(), first.end() - 1);
    auto put = [&](i64 i, i64 j, std::size_t e) {
      const std::size_t at = index(next[index(i)]++);
      node[at] = j;
      edge[at] = static_cast<i64>(e);
    };
    for (std::size_t e = 0; e < edges.size(); ++e)
      put(edges[e] / p, edges[e] % p, e), put(edges[e] % p, edges[e] / p, e);
  }
  i64 degree(i64 j) const { return first[index(j) + 1] - first[index(j)]; }
  const i64* near(i64 j) const { return node.data() + first[index(j)]; }
  const i64* edges(i64 j) const { return edge.data() + first[index(j)]; }
  i64 widest() const {
    i64 d = 0;
    for (i64 j = 0; j < p; ++j) d = std::max(d, degree(j));
    return d;
  }
  // The number of each node's component.
  std::vector<i64> components() const {
    std::vector<i64> of(index(p), -1), stack;
    for (i64 root = 0; root < p; ++root) {
      if (of[index(root)] >= 0) continue;
      stack.assign(1, root);
      of[index(root)] = root;
      while (!stack.empty()) {
        const i64 j = stack.back();
        stack.pop_back();
        for (i64 l = 0; l < degree(j); ++l) {
          const i64 other = near(j)[l];
          if (of[index(other)] < 0) of[index(other)] = root, stack.push_back(other);
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

// In place of the upper triangle (by rows) of a d x d matrix the factor U of U'U; false where it is not positive. Small
// ones row after row: sums of products one after the other would not be vectors.
PURSUIT_CLONES inline bool factorise(double* A, i64 d) {
  constexpr i64 kByHand = 32;
  if (d > kByHand) {
    char lower = 'L'; // as LAPACK sees it, which stores by columns
    int n = small(d), info = 0;
    lapack.potrf(&lower, &n, A, &n, &info);
    bool fine = info == 0;
    for (i64 j = 0; j < d; ++j) fine = fine && A[j * d + j] > 0.0; // LAPACK lets a NaN pass
    return fine;
  }
  for (i64 k = 0; k < d; ++k) {
    double* top = A + k * d;
    if (!(top[k] > 0.0)) return false;
    top[k] = std::sqrt(top[k]);
    const double scale = 1.0 / top[k];
    for (i64 c = k + 1; c < d; ++c) top[c] *= scale;
    for (i64 r = k + 1; r < d; ++r) {
      double* row = A + r * d;
      const double t = top[r];
#pragma omp simd
      for (i64 c = r; c < d; ++c) row[c] -= t * top[c];
    }
  }
  return true;
}

// The next multiple of four: rows of so many numbers are whole vectors.
inline i64 fours(i64 d) { return (d + 3) / 4 * 4; }

// x <- A^-1 x, false where A (d x d, by its upper triangle) is not positive. Rows of A and L are fours(d) long, those
// of A filled from the group of four on that holds the diagonal; A is lost, L is room. As A = L D L', neither roots nor
// sums along a row stand between one step and the next.
PURSUIT_CLONES inline bool solve_positive(double* __restrict A, double* __restrict L, i64 d, double* __restrict x) {
  constexpr i64 kByHand = 64;
  const i64 m = fours(d);
  if (d > kByHand) {
    char lower = 'L'; // as LAPACK sees it, which stores by columns
    int n = small(d), stride = small(m), one = 1, info = 0;
    lapack.potrf(&lower, &n, A, &stride, &info);
    if (info == 0) lapack.potrs(&lower, &n, &one, A, &stride, x, &n, &info);
    return info == 0;
  }
  for (i64 r = 0; r < d; ++r) {
    std::fill(A + r * m + d, A + (r + 1) * m, 0.0);
    std::fill(L + r * m + r / 4 * 4, L + r * m + r / 4 * 4 + 4, 0.0);
  }
  for (i64 k = 0; k < d; ++k) {
    const double* top = A + k * m;
    if (!(top[k] > 0.0)) return false;
    const double inverse = 1.0 / top[k], xk = x[k];
    for (i64 r = k + 1; r < d; ++r) {
      const double t = top[r] * inverse;
      double* row = A + r * m;
      for (i64 c = r / 4 * 4; c < m; c += 4)
        for (i64 l = c; l < c + 4; ++l) row[l] -= t * top[l];
      x[r] -= t * xk;
      L[r * m + k] = t;
    }
    x[k] = xk * inverse;
  }
  for (i64 r = d - 1; r > 0; --r) {
    const double *row = L + r * m, xr = x[r];
    for (i64 c = 0; c < r; c += 4)
      for (i64 l = c; l < c + 4; ++l) x[l] -= row[l] * xr;
  }
  return true;
}

// (U'U)^-1: only its lower triangle is solved for, whose rows are vectors.
PURSUIT_CLONES inline void inverse_of(const double* U, i64 d, double* __restrict X) {
  std::fill(X, X + d * d, 0.0);
  for (i64 r = 0; r < d; ++r) {
    X[r * d + r] = 1.0;
    for (i64 l = 0; l <= r; ++l) X[r * d + l] /= U[r * d + r];
    for (i64 c = r + 1; c < d; ++c)
      for (i64 l = 0; l <= r; ++l) X[c * d + l] -= U[r * d + c] * X[r * d + l];
  }
  for (i64 r = d - 1; r >= 0; --r) {
    for (i64 c = r + 1; c < d; ++c)
      for (i64 l = 0; l <= r; ++l) X[r * d + l] -= U[r * d + c] * X[c * d + l];
    for (i64 l = 0; l <= r; ++l) X[r * d + l] /= U[r * d + r];
  }
  for (i64 r = 0; r < d; ++r)
    for (i64 l = 0; l < r; ++l) X[l * d + r] = X[r * d + l];
}

inline double log_det(const double* U, i64 p) {
  double sum = 0.0;
  for (i64 j = 0; j < p; ++j) sum += std::log(U[j * p + j]);
  return 2.0 * sum;
}

// In place of a factor the whole inverse of what was factorised.
inline void invert_factor(double* U, i64 p) {
  char lower = 'L';
  int n = small(p), info = 0;
  lapack.potri(&lower, &n, U, &n, &info);
  for (i64 i = 0; i < p; ++i)
    for (i64 j = i + 1; j < p; ++j) U[j * p + i] = U[i * p + j];
}

} // namespace pursuit
