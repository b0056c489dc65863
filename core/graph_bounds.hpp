#pragma once

#include "graph_fit.hpp"

// What one edge more, one less, or one exchanged does to f at a refit, by bounds that cost no refit.
//
// With all of W but row i fixed and W_ii minimised out, f is exactly the quadratic w'Cw + 2 R_iN'w of row i,
// C = Sigma - Sigma_i Sigma_i' / Sigma_ii, N the neighbours of i. So the formulas for all single exchanges
// (docs/notation.md) with H = 2 C bound the true changes from above:
//
//   (i, j) enters: -gain_j = -delta_j^2 / v_j,  delta = R_i - Sigma_i,  v_j = C_jj - C_jN C_NN^-1 C_Nj
//   (i, e) leaves: cost_e = W_ie^2 / (2 b_e),   b = diag(C_NN^-1) / 2
//   (i, e) leaves, (i, j) enters:  cost_e - (2 delta_j - W_ie U_ej / b_e)^2 / (2 (2 v_j + U_ej^2 / b_e)),  U = C_NN^-1
//   C_N
//
// O(p^2 d^2) for all of them. `hope` < 1 scales costs: no longer a bound, but nearer to the truth.

namespace pursuit {

struct EdgeMove {
  double change;
  i64 out, in; // edges; out is a place in the fit's edges
};

class NodeBounds {
public:
  Buffer gain;              // p x p, upper triangle: of pairs that may enter; -1 elsewhere
  std::vector<double> cost; // of edges; infinite for those that are forced in
  std::vector<EdgeMove>
      moves; // exchanges at a node, the best one for each way to enter, that lower f by `least` or more

  explicit NodeBounds(i64 p_) : gain(reals(p_ * p_)), p(p_), best(reals(2 * p_)), unit(reals(p_)), who(index(p_)) {}

  // `closed`: p x p, pairs that may not enter; `forced`: edges that may not leave, by place.
  void look(const GraphFitter& f, const GraphFit& fit, const std::uint8_t* closed, const std::uint8_t* forced,
            double hope, double least, bool exchanges) {
    const Adjacency graph(p, fit.edges);
    cost.assign(fit.edges.size(), HUGE_VAL);
    moves.clear();
    const i64 d = graph.widest();
    if (d > room) {
      room = d;
      rows = reals(d * p);
      U = reals(d * p);
      B = reals(2 * d * d);
    }
    for (i64 j = 0; j < p; ++j) unit[j] = fit.Sigma[j * p + j];
    for (i64 i = 0; i < p; ++i) node(f, fit, graph, i, closed, forced, hope, least, exchanges);
    for (i64 i = 0; i < p; ++i)
      for (i64 j = i + 1; j < p; ++j)
        gain[i * p + j] = closed[i * p + j] ? -1.0 : std::max(gain[i * p + j], gain[j * p + i]);
    for (i64 e : fit.edges) gain[e] = -1.0;
  }

private:
  void node(const GraphFitter& f, const GraphFit& fit, const Adjacency& graph, i64 i, const std::uint8_t* closed,
            const std::uint8_t* forced, double hope, double least, bool exchanges) {
    const i64 d = graph.degree(i), *N = graph.near(i), *edge = graph.edges(i);
    const double *S = fit.Sigma.get(), *s = S + i * p, *r = f.R + i * p;
    double *v = best.get(), *change = best.get() + p, *inverse = B.get();
    if (!project(S, s, i, d, N, v)) {
      std::fill(gain.get() + i * p, gain.get() + (i + 1) * p, -1.0);
      return;
    }
    enter(r, s, v, gain.get() + i * p);
    std::fill(change, change + p, 0.0);
    for (i64 l = 0; l < d; ++l) {
      const std::size_t e = index(edge[l]);
      if (forced[e]) continue;
      const double x = fit.w[e], b = 0.5 * inverse[l * d + l], drop = hope * x * x / (2.0 * b);
      cost[e] = std::min(cost[e], drop);
      if (exchanges) exchange(U.get() + l * p, r, s, v, x / b, 1.0 / b, drop, l, change);
    }
    if (!exchanges) return;
    for (i64 l = 0; l < d; ++l) change[N[l]] = 0.0;
    for (i64 j = 0; j < p; ++j)
      if (change[j] < -least && j != i && !closed[i * p + j])
        moves.push_back({change[j], edge[who[index(j)]], std::min(i, j) * p + std::max(i, j)});
  }

  // v = diag(C) less what the neighbours explain, C_NN^-1, and U = C_NN^-1 C_N.
  PURSUIT_CLONES bool project(const double* S, const double* s, i64 i, i64 d, const i64* N, double* v) {
    double *inverse = B.get(), *factor = B.get() + d * d;
    for (i64 j = 0; j < p; ++j) v[j] = unit[j] - s[j] * s[j] / s[i];
    for (i64 l = 0; l < d; ++l) {
      const double t = s[N[l]] / s[i], *from = S + N[l] * p;
      double* to = rows.get() + l * p;
      for (i64 j = 0; j < p; ++j) to[j] = from[j] - t * s[j];
      for (i64 c = l; c < d; ++c) factor[l * d + c] = to[N[c]];
    }
    if (!factorise(factor, d)) return false;
    inverse_of(factor, d, inverse);
    if (d > 0) gemm(false, p, d, d, rows.get(), p, inverse, d, 0.0, U.get(), p);
    for (i64 l = 0; l < d; ++l) {
      const double *a = rows.get() + l * p, *u = U.get() + l * p;
#pragma omp simd
      for (i64 j = 0; j < p; ++j) v[j] -= a[j] * u[j];
    }
    for (i64 j = 0; j < p; ++j) v[j] = std::max(v[j], 1e-10);
    return true;
  }

  PURSUIT_CLONES void enter(const double* r, const double* s, const double* v, double* __restrict out) const {
#pragma omp simd
    for (i64 j = 0; j < p; ++j) out[j] = (r[j] - s[j]) * (r[j] - s[j]) / v[j];
  }

  PURSUIT_CLONES void exchange(const double* u, const double* r, const double* s, const double* v, double t, double c,
                               double drop, i64 l, double* change) {
#pragma omp simd
    for (i64 j = 0; j < p; ++j) {
      const double h = 2.0 * (r[j] - s[j]) - t * u[j];
      const double delta = drop - h * h / (2.0 * (2.0 * v[j] + u[j] * u[j] * c));
      who[index(j)] = delta < change[j] ? l : who[index(j)];
      change[j] = std::min(change[j], delta);
    }
  }

  const i64 p;
  Buffer best, unit, rows, U, B;
  std::vector<i64> who;
  i64 room = 0;
};

// A lower bound of f after an exchange, from the dual at a feasible Q: Q + Delta(a) is feasible for the exchanged
// graph, Delta being R - Q at the pair c = (u, v) that enters and any number a at the edge e = (x, y) that leaves; with
// P = Q^-1 only P on the four nodes matters, and the best a is known in closed form.
class FourNodes {
public:
  Buffer Q, P;      // Q has R on the edges and the diagonal
  double dual = 0.; // log det Q + p
  bool ok = false;

  FourNodes(const GraphFitter& f_, const GraphFit& fit) : Q(reals(f_.p * f_.p)), P(reals(f_.p * f_.p)), f(f_) {
    const i64 p = f.p;
    std::copy(fit.Sigma.get(), fit.Sigma.get() + p * p, Q.get());
    for (i64 e : fit.edges) Q[e] = Q[e % p * p + e / p] = f.R[e];
    for (i64 j = 0; j < p; ++j) Q[j * p + j] = 1.0;
    std::copy(Q.get(), Q.get() + p * p, P.get());
    ok = factorise(P.get(), p);
    if (!ok) return;
    dual = log_det(P.get(), p) + static_cast<double>(p);
    invert_factor(P.get(), p);
  }

  // The bound less `dual` (-inf where there is none), and the a that gives it.
  double change(i64 e, i64 c, double& a) const {
    const i64 p = f.p, x = e / p, y = e % p, u = c / p, v = c % p;
    const double *Pu = P.get() + u * p, *Pv = P.get() + v * p, *Px = P.get() + x * p;
    const double t = f.R[c] - Q[c], m = 1.0 + t * Pu[v], uu = Pu[u], vv = Pv[v];
    const double det = m * m - t * t * uu * vv;
    if (!(det > kNoVariance && m > 0.0)) return -HUGE_VAL;
    const double k = t / det, ux = Pu[x], uy = Pu[y], vx = Pv[x], vy = Pv[y];
    const double xx = Px[x] - k * (-t * vv * ux * ux + 2.0 * m * ux * vx - t * uu * vx * vx);
    const double yy = P[y * p + y] - k * (-t * vv * uy * uy + 2.0 * m * uy * vy - t * uu * vy * vy);
    const double xy = Px[y] - k * (-t * vv * ux * uy + m * (ux * vy + vx * uy) - t * uu * vx * vy);
    const double left = xx * yy - xy * xy;
    if (!(left > kNoVariance * xx * yy && xx > 0.0 && yy > 0.0)) return -HUGE_VAL;
    a = xy / left;
    return std::log(det) + std::log(xx * yy / left);
  }

  // Q + Delta(a)
  void shift(i64 e, i64 c, double a, double* out) const {
    const i64 p = f.p;
    std::copy(Q.get(), Q.get() + p * p, out);
    out[c] = out[c % p * p + c / p] = f.R[c];
    out[e] = out[e % p * p + e / p] = Q[e] + a;
  }

private:
  const GraphFitter& f;
};

} // namespace pursuit
