#pragma once

#include "graph.hpp"

// The minimiser of  tr(R W) - log det W + lam sum_{i != j} |W_ij|  over W > 0 with entries on a graph and the diagonal;
// R has a unit diagonal.
//
// Its dual is  max log det Q + p,  Q = R on the diagonal and (within lam) on the edges, attained at Q = W^-1. A sweep
// of block ascent gives column j of Q, one node after the other, its best completion (T. Hastie, R. Tibshirani, J.
// Friedman, The Elements of Statistical Learning, algorithm 17.1): with N the neighbours of j
//
//   Q_NN b = R_Nj  (lam > 0: the lasso of it),   Q_:j = Q_:N b,   W_jj = 1 / (1 - Q_jN b),   W_jN = -W_jj b
//
// O(p |E| + sum d^3) a sweep, nothing p^3. At the end the two rows that know an entry of W agree on it: their largest
// difference, on a unit diagonal of W, is the gap. With lam = 0 there is no minimiser where a core of the graph is
// larger than the rank of R: some node then has no variance left.
//
// A sweep needs a feasible Q to begin with. Where none is at hand, (1 - t) R + t I is fitted roughly, for which it is
// one itself, and t falls: the Q of one t, with the next one's entries on the edges, is feasible if t falls by little.

namespace pursuit {

inline constexpr double kNoVariance = 1e-11; // of a node given its neighbours, of 1
inline constexpr double kAgrees = 1e-8;      // how far W^-1 may be from R on the edges of a graph at the end

struct GraphFit {
  Units edges;
  std::vector<double> w, d; // of W: on the edges, on the diagonal
  Buffer Sigma;             // p x p, W^-1 (for a rough fit nearly)
  double value = 0.0;
  double gap = 0.0; // of a rough fit; else how far W^-1 is from R on the edges (lam > 0: the gap too)
};

class GraphFitter {
public:
  const double* R;
  const i64 p;
  const double lam;
  double work = 0.0; // numbers that were touched, roughly

  GraphFitter(const double* R_, i64 p_, double lam_, Poll& poll_)
      : R(R_), p(p_), lam(lam_), poll(poll_), Q(reals(p_ * p_)), W(reals(p_ * p_)), column(reals(p_)) {}

  // The minimiser on a graph, into `out`; false where no start leads to one. Starts in turn: `start` (W^-1 of another
  // graph, or null), R, and, with `patience`, what comes from following t down to 30^-patience.
  bool refit(const Units& edges, const double* start, double tol, int patience, GraphFit& out) {
    const Adjacency graph(p, edges);
    prepare(graph);
    if (start) {
      begin(graph, edges, start, 1.0);
      if (finish(graph, edges, tol, out)) return true;
    }
    double most = lam; // with lam > 0 there is room: R pulled towards the identity is feasible, and positive
    for (i64 e : edges) most = std::max(most, std::fabs(R[e]));
    begin(graph, edges, R, lam > 0.0 ? 1.0 - lam / most : 1.0);
    if (finish(graph, edges, tol, out)) return true;
    return patience > 0 && follow(graph, edges, tol, std::pow(30.0, -patience), out);
  }

  // Whether f on the graph is above `least`: log det Q + p is below f for every feasible Q, and rises with every sweep.
  bool above(const Units& edges, const double* feasible, double least, int sweeps) {
    const Adjacency graph(p, edges);
    prepare(graph);
    std::copy(feasible, feasible + p * p, Q.get());
    for (int s = 0; s < sweeps && !poll.stop(); ++s) {
      if (!sweep(graph)) return false;
      std::copy(Q.get(), Q.get() + p * p, W.get());
      if (!factorise(W.get(), p)) return false;
      if (log_det(W.get(), p) + static_cast<double>(p) > least) return true;
      if (gap < 1e-10) return false;
    }
    return false;
  }

private:
  static constexpr int kSweeps = 2000;

  void prepare(const Adjacency& graph) {
    const i64 d = graph.widest();
    if (d > room) block = reals(2 * d * fours(d)), right = reals(fours(d)), room = d;
    b.assign(graph.node.size(), 0.0);
    known.assign(graph.node.size(), 0.0);
    diagonal.assign(index(p), 1.0);
    gap = 1.0;
  }

  // Q = T, pulled towards the identity, with R on the edges (within lam) and nothing between components.
  void begin(const Adjacency& graph, const Units& edges, const double* T, double pulled) {
    const std::vector<i64> part = graph.components();
    std::fill(b.begin(), b.end(), 0.0);
    gap = 1.0;
    const bool whole = std::all_of(part.begin(), part.end(), [](i64 root) { return root == 0; });
    for (i64 i = 0; i < p; ++i) {
      for (i64 j = 0; j < p; ++j) Q[i * p + j] = pulled * T[i * p + j];
      for (i64 j = 0; j < p && !whole; ++j)
        if (part[index(i)] != part[index(j)]) Q[i * p + j] = 0.0;
      Q[i * p + i] = 1.0;
    }
    for (i64 e : edges) {
      const double r = share * R[e], q = std::min(std::max(Q[e], r - lam), r + lam);
      Q[e] = Q[e % p * p + e / p] = q;
    }
  }

  // Down from t = 1/2, each time to a share of t that grows when it was too small; at every t the end is tried.
  bool follow(const Adjacency& graph, const Units& edges, double tol, double least, GraphFit& out) {
    if (!reached) reached = reals(p * p);
    double t = 0.5, step = 0.3;
    share = 1.0 - t;
    begin(graph, edges, R, share);
    bool fine = roughly(graph), found = false;
    while (fine && !poll.stop()) {
      std::copy(Q.get(), Q.get() + p * p, reached.get());
      share = 1.0;
      begin(graph, edges, reached.get(), 1.0);
      found = finish(graph, edges, tol, out);
      for (bool lower = false; !found && !lower && fine && !poll.stop();) {
        fine = t * step >= least && step < 0.97;
        share = 1.0 - t * step;
        begin(graph, edges, reached.get(), 1.0);
        lower = fine && roughly(graph);
        if (lower) t *= step;
        step = lower ? std::max(std::pow(step, 1.5), 0.1) : std::sqrt(step);
      }
      if (found) break;
    }
    share = 1.0;
    return found;
  }

  bool roughly(const Adjacency& graph) {
    for (int s = 0; s < 100; ++s) {
      if (poll.stop() || !sweep(graph)) return false;
      if (gap < 0.01) break;
    }
    return true;
  }

  // Sweeps to the requested gap; then W, its value, and for a tight fit its inverse.
  bool finish(const Adjacency& graph, const Units& edges, double tol, GraphFit& out) {
    const bool tight = tol <= kAgrees;
    int left = kSweeps;
    for (double aim = tol;; aim /= 10.0) {
      do {
        if (poll.stop() || !sweep(graph)) return false;
      } while (gap > aim && --left > 0);
      if (!gather(edges)) return false;
      double agrees = gap;
      if (tight) {
        invert_factor(W.get(), p);
        if (lam == 0.0) agrees = apart(edges);
      }
      if (!tight || agrees <= kAgrees || left <= 0 || aim < 1e-14) {
        out.edges = edges;
        out.w = w;
        out.d = diagonal;
        out.value = value;
        out.gap = agrees;
        if (!out.Sigma) out.Sigma = reals(p * p);
        std::copy((tight ? W : Q).get(), (tight ? W : Q).get() + p * p, out.Sigma.get());
        return true;
      }
    }
  }

  // W from the two rows that know each entry, factorised; its value. False where it is not positive.
  bool gather(const Units& edges) {
    w.resize(edges.size());
    std::fill(W.get(), W.get() + p * p, 0.0);
    value = 0.0;
    for (i64 j = 0; j < p; ++j) value += W[j * p + j] = diagonal[index(j)];
    for (std::size_t e = 0; e < edges.size(); ++e) {
      w[e] = 0.5 * (known[2 * e] + known[2 * e + 1]);
      if (lam > 0.0 && (known[2 * e] == 0.0 || known[2 * e + 1] == 0.0)) w[e] = 0.0;
      W[edges[e]] = w[e];
      value += 2.0 * (R[edges[e]] * w[e] + lam * std::fabs(w[e]));
    }
    if (!factorise(W.get(), p)) return false;
    value -= log_det(W.get(), p);
    return std::isfinite(value);
  }

  // How far the inverse (in W's place) is from R on the edges and the diagonal.
  double apart(const Units& edges) const {
    double most = 0.0;
    for (i64 e : edges) most = std::max(most, std::fabs(W[e] - R[e]));
    for (i64 j = 0; j < p; ++j) most = std::max(most, std::fabs(W[j * p + j] - 1.0));
    return most;
  }

  bool sweep(const Adjacency& graph) {
    for (i64 j = 0; j < p; ++j) {
      const i64 d = graph.degree(j), m = fours(d), *N = graph.near(j), *edge = graph.edges(j);
      if (d == 0) continue; // its column has been the identity's from the start
      double *bj = b.data() + graph.first[index(j)], *A = block.get(), *q = column.get();
      for (i64 r = 0; r < d; ++r) {
        const double* from = Q.get() + N[r] * p;
        for (i64 c = r / 4 * 4; c < d; ++c) A[r * m + c] = from[N[c]];
      }
      if (lam > 0.0) {
        lasso(R + j * p, N, d, A, bj);
      } else {
        for (i64 l = 0; l < d; ++l) right[l] = share * R[j * p + N[l]];
        std::fill(right.get() + d, right.get() + m, 0.0);
        if (!solve_positive(A, A + d * m, d, right.get())) return false;
        std::copy(right.get(), right.get() + d, bj);
      }
      combine_rows(Q.get(), p, N, bj, d, q);
      double v = 1.0;
      for (i64 l = 0; l < d; ++l) {
        if (lam == 0.0) q[N[l]] = share * R[j * p + N[l]];
        v -= q[N[l]] * bj[l];
      }
      if (!(v > kNoVariance)) return false;
      q[j] = 1.0;
      std::copy(q, q + p, Q.get() + j * p);
      for (i64 i = 0; i < p; ++i) Q[i * p + j] = q[i];
      const double own = diagonal[index(j)] = 1.0 / v;
      for (i64 l = 0; l < d; ++l) known[index(2 * edge[l] + (N[l] < j))] = -bj[l] * own;
    }
    work += static_cast<double>(p) * static_cast<double>(graph.node.size() + index(p));
    gap = 0.0;
    for (i64 j = 0; j < p; ++j) column[j] = 1.0 / std::sqrt(diagonal[index(j)]);
    for (i64 j = 0; j < p; ++j)
      for (i64 l = graph.first[index(j)]; l < graph.first[index(j) + 1]; ++l) {
        const std::size_t e = 2 * index(graph.edge[index(l)]);
        gap = std::max(gap, std::fabs(known[e] - known[e + 1]) * column[j] * column[graph.node[index(l)]]);
      }
    return std::isfinite(gap);
  }

  // min b'Ab/2 - r_N'b + lam |b|_1 by coordinate descent from b, now and then exactly with the signs that it has.
  void lasso(const double* r, const i64* N, i64 d, const double* A, double* x) {
    constexpr double enough = 1e-13; // less would cost the variance that is left its sign
    for (int pass = 1; pass <= 2000; ++pass) {
      double moved = 0.0;
      for (i64 l = 0; l < d; ++l) {
        const double g = share * r[N[l]] - without(A, d, x, l);
        const double own = A[l * fours(d) + l], next = g > lam ? (g - lam) / own : g < -lam ? (g + lam) / own : 0.0;
        moved = std::max(moved, std::fabs(next - x[l]));
        x[l] = next;
      }
      if (moved <= enough || (pass % 5 == 0 && settled(r, N, d, A, x))) return;
    }
  }

  // (A x)_l but for A_ll x_l; A by its upper triangle
  static double without(const double* A, i64 d, const double* x, i64 l) {
    const i64 m = fours(d);
    double sum = 0.0;
    for (i64 c = 0; c < l; ++c) sum += A[c * m + l] * x[c];
    for (i64 c = l + 1; c < d; ++c) sum += A[l * m + c] * x[c];
    return sum;
  }

  // The solution with the signs of x, in its place, if it is one: nothing changes sign, and what is zero may stay so.
  bool settled(const double* r, const i64* N, i64 d, const double* A, double* x) {
    on.clear();
    for (i64 l = 0; l < d; ++l)
      if (x[l] != 0.0) on.push_back(l);
    const i64 n = static_cast<i64>(on.size()), m = fours(n);
    active.resize(index(2 * n * m));
    exact.assign(index(d), 0.0);
    solution.assign(index(m), 0.0);
    for (i64 a = 0; a < n; ++a) {
      const i64 l = on[index(a)];
      for (i64 c = a / 4 * 4; c < n; ++c)
        active[index(a * m + c)] = A[std::min(l, on[index(c)]) * fours(d) + std::max(l, on[index(c)])];
      solution[index(a)] = share * r[N[l]] - std::copysign(lam, x[l]);
    }
    if (!solve_positive(active.data(), active.data() + n * m, n, solution.data())) return false;
    for (i64 a = 0; a < n; ++a) {
      const i64 l = on[index(a)];
      if (!(solution[index(a)] * x[l] > 0.0)) return false;
      exact[index(l)] = solution[index(a)];
    }
    for (i64 l = 0; l < d; ++l)
      if (x[l] == 0.0 && !(std::fabs(share * r[N[l]] - without(A, d, exact.data(), l)) <= lam * (1.0 + 1e-9)))
        return false;
    std::copy(exact.begin(), exact.end(), x);
    return true;
  }

  Poll& poll;
  Buffer Q, W, column, block, right, reached;
  i64 room = 0;
  double gap = 1.0, value = 0.0, share = 1.0; // share: 1 - t
  std::vector<double> b, known, diagonal, w;  // b by place; both rows' words on each edge; of W
  std::vector<i64> on;
  std::vector<double> active, exact, solution;
};

} // namespace pursuit
