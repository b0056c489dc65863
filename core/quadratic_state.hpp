#pragma once

#include "fit.hpp"
#include "search.hpp"

// The state of a search (search.hpp) for a small quadratic f(x) = f0 + c'x + x'Hx/2. At the minimiser over S
//
//   B = H_SS^-1,   U = B H_S:,   d_j = H_jj - H_jS U_Sj,   x,   g = c + H x,   f
//
// are kept by rank-one updates (docs/notation.md): a column that enters or leaves costs a few passes over U (|S| x p),
// and all k (p - k) exchanges are one more.

namespace pursuit {

struct Quad {
  const double *H, *c; // H is p x p, symmetric, with the ridge on its diagonal
  double f0;
  i64 p;
};

inline constexpr double kNew = 1e-11; // share of H_jj below which a column is a combination of those that are in

// The minimiser over a support, with all that is known of its exchanges.
class QuadraticState {
public:
  double f = 0.0;

  QuadraticState(const Quad& q_, i64 most) // room for so many columns
      : q(q_), cap(most), at(static_cast<std::size_t>(q_.p), -1), x(static_cast<std::size_t>(most)),
        d(static_cast<std::size_t>(q_.p)), g(static_cast<std::size_t>(q_.p)), column(static_cast<std::size_t>(most)),
        unit(static_cast<std::size_t>(q_.p), 1.0), B(reals(most * most)), U(reals(most * q_.p)), row(reals(q_.p)) {
    clear();
  }

  i64 units() const { return q.p; }
  i64 size() const { return static_cast<i64>(S.size()); }
  const Units& support() const { return S; }
  bool has(i64 j) const { return at[j] >= 0; }
  bool done() const { return false; }
  double work() const { return spent; }
  bool open(i64 j) const { return !has(j) && share(j) > kNew; }
  bool even(bool yes) {
    double low = HUGE_VAL, high = 0.0;
    for (i64 j = 0; j < q.p; ++j) {
      const double h = q.H[j * q.p + j];
      unit[j] = yes && h > 0.0 ? 1.0 / std::sqrt(h) : 1.0;
      if (h > 0.0) low = std::min(low, h), high = std::max(high, h);
    }
    return high > kUneven * kUneven * low;
  }
  double pull(i64 j) const { return unit[j] * std::fabs(g[j]); }
  double curve(i64 j) const { return unit[j] * unit[j] * unit[j] * unit[j] * g[j] * g[j] * q.H[j * q.p + j]; }
  double moved(i64 j, double s) const { return std::fabs((has(j) ? x[at[j]] : 0.0) / unit[j] - s * unit[j] * g[j]); }
  double gain(i64 j) const { return open(j) ? 0.5 * g[j] * g[j] / d[j] : 0.0; }
  double cost(i64 i) const { return 0.5 * x[i] * x[i] / B[i * cap + i]; }
  double size(i64 i) const { return std::fabs(x[i]) / unit[S[i]]; }
  Units keep() const { return S; }
  void restore(const Units& support) { set(support); }

  bool enter(i64 j) {
    if (!open(j)) return false;
    add(j);
    if (updates >= kStale) refresh();
    return true;
  }

  bool leave(i64 j) {
    drop(j);
    if (updates >= kStale) refresh();
    return true;
  }

  bool improve(const SearchPlan& plan) {
    Move move = best(plan);
    if (!(move.change < -1e-11 * plan.size(f)) && updates > 0) { // what updates have left behind may hide one
      refresh();
      move = best(plan);
    }
    if (!(move.change < -1e-11 * plan.size(f))) return false;
    const Units before = S;
    drop(move.leave);
    if (enter(move.enter)) return true;
    set(before); // rounding had promised too much
    return false;
  }

  Found found() {
    refresh();
    Units order(S.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](i64 a, i64 b) { return S[a] < S[b]; });
    Found point{{}, {}, f};
    for (i64 i : order) point.support.push_back(S[i]), point.x.push_back(x[i]);
    return point;
  }

  // The share of H_jj that the columns inside leave of column j.
  double share(i64 j) const { return q.H[j * q.p + j] > 0.0 ? d[j] / q.H[j * q.p + j] : 0.0; }

  // From nothing: updates leave rounding behind. False where the columns are too close to dependent.
  bool set(const Units& support) {
    clear();
    const i64 m = static_cast<i64>(support.size()), p = q.p;
    spent += static_cast<double>(p * m * m);
    Buffer A = reals(m * m);
    for (i64 i = 0; i < m; ++i)
      for (i64 l = 0; l < m; ++l) A[i * m + l] = q.H[support[i] * p + support[l]];
    const Factor factor(A.get(), m, m);
    if (!factor.ok || !(factor.pivots() > kNew)) return false;
    for (i64 i = 0; i < m; ++i) S.push_back(support[i]), at[support[i]] = i;
    factor.inverse(B.get(), cap);
    std::vector<double> rhs(static_cast<std::size_t>(m)), zero(static_cast<std::size_t>(m), 0.0);
    for (i64 i = 0; i < m; ++i) rhs[i] = q.c[support[i]];
    factor.step(zero.data(), rhs.data(), x.data());
    for (i64 l = 0; l < m; ++l) {
      double* u = U.get() + l * p;
      std::fill(u, u + p, 0.0);
      for (i64 k = 0; k < m; ++k) add_rows<1>(q.H + S[k] * p, 0, &B[l * cap + k], p, u);
    }
    for (i64 l = 0; l < m; ++l) {
      const double *h = q.H + S[l] * p, *u = U.get() + l * p;
      for (i64 j = 0; j < p; ++j) d[j] -= h[j] * u[j], g[j] += x[l] * h[j];
    }
    f = q.f0;
    for (i64 l = 0; l < m; ++l) f += 0.5 * q.c[S[l]] * x[l];
    for (i64 l = 0; l < m; ++l) d[S[l]] = 0.0, g[S[l]] = 0.0;
    return true;
  }

  // The best exchange of a column that may go for one that may come.
  Move best(const SearchPlan& plan) {
    Move found;
    spent += static_cast<double>(q.p * size());
    for (i64 i = 0; i < size(); ++i) {
      if (plan.forced[S[i]]) continue;
      const double b = B[i * cap + i], inv = 1.0 / b, t = x[i] * inv, drop = 0.5 * x[i] * t;
      const double* u = U.get() + i * q.p;
      for (i64 j = 0; j < q.p; ++j) {
        const double slope = g[j] - t * u[j], curve = d[j] + u[j] * u[j] * inv;
        const bool open = plan.allowed[j] && at[j] < 0 && curve > kNew * q.H[j * q.p + j];
        const double change = open ? drop - 0.5 * slope * slope / curve : drop;
        if (change < found.change && plan.allowed[j] && at[j] < 0) found = {S[i], j, change};
      }
    }
    return found;
  }

  // Whether the columns that are in are so far from dependent that the exchanges' numbers have digits.
  double condition() const {
    Buffer A = reals(size() * size());
    for (i64 i = 0; i < size(); ++i)
      for (i64 l = 0; l < size(); ++l) A[i * size() + l] = q.H[S[i] * q.p + S[l]];
    const Factor factor(A.get(), size(), size());
    return factor.ok ? factor.rcond() : 0.0;
  }

private:
  void clear() {
    for (i64 j : S) at[j] = -1;
    S.clear();
    for (i64 j = 0; j < q.p; ++j) d[j] = q.H[j * q.p + j], g[j] = q.c[j];
    f = q.f0;
    updates = 0;
  }

  void add(i64 a) {
    const i64 m = size(), p = q.p;
    const double delta = d[a], inv = 1.0 / delta, t = -g[a] * inv;
    double* r = row.get();
    std::copy(q.H + a * p, q.H + (a + 1) * p, r);
    for (i64 l = 0; l < m; ++l) {
      const double h = q.H[a * p + S[l]], *u = U.get() + l * p;
      for (i64 j = 0; j < p; ++j) r[j] -= h * u[j];
    }
    double* last = U.get() + m * p;
    for (i64 j = 0; j < p; ++j) last[j] = r[j] * inv;
    for (i64 l = 0; l < m; ++l) {
      double* u = U.get() + l * p;
      const double w = u[a];
      column[l] = w;
      for (i64 j = 0; j < p; ++j) u[j] -= w * last[j];
    }
    for (i64 i = 0; i < m; ++i)
      for (i64 l = 0; l < m; ++l) B[i * cap + l] += column[i] * column[l] * inv;
    for (i64 i = 0; i < m; ++i) B[i * cap + m] = B[m * cap + i] = -column[i] * inv, x[i] -= column[i] * t;
    B[m * cap + m] = inv;
    x[m] = t;
    f -= 0.5 * g[a] * g[a] * inv;
    for (i64 j = 0; j < p; ++j) d[j] -= r[j] * last[j], g[j] += t * r[j];
    at[a] = m;
    S.push_back(a);
    settle();
  }

  void drop(i64 gone) {
    const i64 i = at[gone], m = size() - 1, p = q.p;
    const double beta = B[i * cap + i], inv = 1.0 / beta, xi = x[i];
    f += 0.5 * xi * xi * inv;
    double* ui = row.get();
    std::copy(U.get() + i * p, U.get() + (i + 1) * p, ui);
    for (i64 l = 0; l <= m; ++l) column[l] = B[l * cap + i] * inv;
    for (i64 j = 0; j < p; ++j) d[j] += ui[j] * ui[j] * inv, g[j] -= xi * inv * ui[j];
    for (i64 l = 0; l <= m; ++l) {
      if (l == i) continue;
      double* u = U.get() + l * p;
      for (i64 j = 0; j < p; ++j) u[j] -= column[l] * ui[j];
      for (i64 k = 0; k <= m; ++k) B[l * cap + k] -= column[l] * column[k] * beta;
      x[l] -= column[l] * xi;
    }
    if (i != m) { // the last takes its place
      std::copy(U.get() + m * p, U.get() + (m + 1) * p, U.get() + i * p);
      for (i64 k = 0; k <= m; ++k) B[i * cap + k] = B[m * cap + k];
      for (i64 k = 0; k <= m; ++k) B[k * cap + i] = B[k * cap + m];
      B[i * cap + i] = B[m * cap + m];
      x[i] = x[m];
      S[i] = S[m];
      at[S[i]] = i;
    }
    S.pop_back();
    at[gone] = -1;
    settle();
  }

  void refresh() {
    if (updates > 0) {
      const Units support = S;
      set(support);
    }
  }
  void settle() {
    ++updates;
    spent += 2.0 * static_cast<double>(q.p * (size() + 1));
    for (i64 j : S) d[j] = 0.0, g[j] = 0.0;
  }

  static constexpr int kStale = 24; // updates after which all is computed anew
  const Quad q;
  const i64 cap;
  Units S;  // columns, in order of entry
  Units at; // position in S, or -1
  std::vector<double> x, d, g, column, unit;
  Buffer B, U, row;
  int updates = 0;
  double spent = 0.0;
};

} // namespace pursuit
