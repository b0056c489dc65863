#pragma once

#include "basis_loops.hpp"
#include "search.hpp"

// The state of a search (search.hpp) for least squares with columns that are close to dependent: spectra, copies with
// noise, polynomials. basis_state.hpp works on products of columns, which square the condition number. Here Q is an
// orthonormal basis of the chosen columns themselves. Columns have length 1 (the ridge is further rows); at the
// minimiser over S, with T lower triangular and Q = T A_S' (a row for each basis vector):
//
//   V = Q A,   E = A - Q'V,   z = Q y,   r = y - Q'z,   g = E'r,   d_j = |E_j|^2,   f = |r|^2 / 2
//
// E is stored, so that d_j has digits where little is left of a column. With u_i = T_:i / |T_:i|, the direction that
// column i alone adds, a_i = u_i'z and w_ij = u_i'V_j, exchanging i for j changes f by
//
//   (a_i^2 d_j - g_j^2 - 2 w_ij g_j a_i) / (2 (d_j + w_ij^2)).
//
// Of several responses a_i and g_j have a number for each; squares are of norms, products are inner ones. A column that
// enters or leaves costs 3 m p multiplications, all exchanges |S|^2 p / 2. m is at most p + q: the caller has replaced
// the rows by those of a triangular factor.

namespace pursuit {

// E (m x p) += by v', and from it d and g (q x p) at the residuals r (q x m).
PURSUIT_CLONES inline void update_columns(const double* __restrict by, double sign, const double* __restrict v,
                                          const double* r, i64 m, i64 p, i64 q, double* __restrict E,
                                          double* __restrict d, double* __restrict g) {
  constexpr i64 rows = 4; // at a time, so that v, d and g are read less often
  std::fill(d, d + p, 0.0);
  std::fill(g, g + q * p, 0.0);
  i64 t = 0;
  for (; t + rows <= m; t += rows) {
    double* __restrict line = E + t * p;
    const double *a = by + t, *b = r + t;
#pragma omp simd
    for (i64 j = 0; j < p; ++j) {
      double square = d[j], slope = g[j];
      const double step = sign * v[j];
      for (i64 l = 0; l < rows; ++l) {
        const double e = line[l * p + j] + a[l] * step;
        line[l * p + j] = e;
        square += e * e;
        slope += b[l] * e;
      }
      d[j] = square, g[j] = slope;
    }
  }
  for (; t < m; ++t) {
    double* __restrict line = E + t * p;
    const double times = sign * by[t], first = r[t];
#pragma omp simd
    for (i64 j = 0; j < p; ++j) {
      const double e = line[j] + times * v[j];
      line[j] = e;
      d[j] += e * e;
      g[j] += first * e;
    }
  }
  for (i64 l = 1; l < q; ++l) add_lines(E, p, r + l * m, m, p, g + l * p);
}

// What exchanging a unit for each column changes f by, from u = w |T_:i|, g a_i and |g|^2.
PURSUIT_CLONES inline void exchange_changes(const double* __restrict u, double inverse, double square,
                                            const double* __restrict across, const double* __restrict norm2,
                                            const double* __restrict d, const double* __restrict least, i64 p,
                                            double* __restrict out) {
#pragma omp simd
  for (i64 j = 0; j < p; ++j) {
    const double w = u[j] * inverse, curve = d[j] + w * w;
    const double change = 0.5 * (square * d[j] - norm2[j] - 2.0 * w * across[j]) / curve;
    out[j] = curve > least[j] ? change : HUGE_VAL;
  }
}

class OrthonormalState {
public:
  double f = 0.0;
  Move nearest; // the best exchange when improve() last found none that helps

  // A is m x p, Y q x m, both in C-order; `length`: of the columns in the units of the objective, with the ridge;
  // `least`: the squared length up to which what others leave of a column is nothing.
  OrthonormalState(const double* A_, const double* Y_, const double* length_, const double* least_, i64 m_, i64 p_,
                   i64 q_, i64 most, double floor_)
      : A(A_), Y(Y_), length(length_), least(least_), m(m_), p(p_), q(q_), cap(most), floor(floor_),
        at(static_cast<std::size_t>(p), -1), Q(reals(cap * m)), V(reals(cap * p)), T(reals(cap * cap)),
        z(reals(cap * q)), E(reals(m * p)), r(reals(q * m)), d(reals(p)), g(reals(q * p)), U(reals(p)),
        change(reals(p)), across(reals(p)), norm2(reals(p)), zeros(static_cast<std::size_t>(std::max(m, p)), 0.0) {
    clear();
  }

  i64 units() const { return p; }
  i64 size() const { return static_cast<i64>(S.size()); }
  const Units& support() const { return S; }
  bool has(i64 j) const { return at[j] >= 0; }
  bool done() const { return !(f > floor); }
  double work() const { return spent; }
  bool open(i64 j) const { return !has(j) && d[j] > least[j]; }
  bool even(bool yes) {
    double low = HUGE_VAL, high = 0.0;
    for (i64 j = 0; j < p; ++j)
      if (length[j] > 0.0) low = std::min(low, length[j]), high = std::max(high, length[j]);
    is_even = yes;
    return high > kUneven * low;
  }
  double pull(i64 j) const { return std::sqrt(squared_slope(j)) * unit(j); }
  double curve(i64 j) const { return squared_slope(j) * unit(j) * unit(j) * unit(j) * unit(j); }
  double moved(i64 j, double step) {
    solve();
    double sum = 0.0;
    for (i64 l = 0; l < q; ++l) {
      const double to =
          (has(j) ? x[at[j] * q + l] : 0.0) / unit(j) + step * unit(j) * g[l * p + j]; // g is minus the gradient
      sum += to * to;
    }
    return std::sqrt(sum);
  }
  double gain(i64 j) const { return open(j) ? 0.5 * squared_slope(j) / d[j] : 0.0; }
  double cost(i64 i) {
    solve();
    return 0.5 * dot(&x[i * q], &x[i * q], q) / b[i];
  }
  double size(i64 i) {
    solve();
    return std::sqrt(dot(&x[i * q], &x[i * q], q)) / unit(S[i]);
  }
  Units keep() const { return S; }
  bool restore(const Units& support) { return set(support); }

  bool enter(i64 j) {
    const i64 k = size();
    if (k >= std::min(cap, m) || !open(j)) return false;
    double *line = Q.get() + k * m, *v = V.get() + k * p, *t = T.get() + k * cap;
    for (i64 l = 0; l < m; ++l) line[l] = E[l * p + j];
    double square = dot(line, line, m), before = HUGE_VAL;
    for (int turn = 0; turn < 2 && square < 0.5 * before; ++turn) { // again where rounding was much of the column
      for (i64 l = 0; l < k; ++l) {
        const double part = -dot(Q.get() + l * m, line, m);
        add_rows<1>(Q.get() + l * m, 0, &part, m, line);
      }
      before = std::exchange(square, dot(line, line, m));
    }
    const double left = std::sqrt(square);
    if (!(left * left > least[j])) {
      d[j] = 0.0; // which is what it comes to
      return false;
    }
    for (i64 l = 0; l < m; ++l) line[l] /= left;
    std::fill(v, v + p, 0.0);
    add_lines(E.get(), p, line, m, p, v);
    std::fill(t, t + k, 0.0);
    for (i64 l = 0; l < k; ++l) {
      const double by = -V[l * p + j] / left;
      add_rows<1>(T.get() + l * cap, 0, &by, l + 1, t);
    }
    t[k] = 1.0 / left;
    v[j] = left;
    for (i64 l = 0; l < q; ++l) {
      double *rest = r.get() + l * m, part = dot(line, rest, m);
      z[k * q + l] = part;
      part = -part;
      add_rows<1>(line, 0, &part, m, rest);
    }
    at[j] = k;
    S.push_back(j);
    finish_update(line, -1.0, v);
    for (i64 l = 0; l < m; ++l) E[l * p + j] = 0.0; // and so it stays: nothing of it is along a basis vector to come
    return true;
  }

  bool leave(i64 j) {
    const i64 i = at[j], k = size() - 1;
    turns.resize(static_cast<std::size_t>(2 * (k - i)));
    double carried = T[i * cap + i];
    for (i64 l = i; l < k; ++l) { // zero T[l][i] into T[l + 1][i]
      const double e = T[(l + 1) * cap + i], size = std::sqrt(carried * carried + e * e);
      turns[2 * (l - i)] = e / size, turns[2 * (l - i) + 1] = carried / size;
      carried = size;
    }
    for (i64 l = i; l < k; ++l) {
      T[l * cap + l + 1] = 0.0;
      rotate_rows(T.get() + l * cap, cap, 1, &turns[2 * (l - i)], l + 2);
    }
    rotate_rows(V.get() + i * p, p, k - i, turns.data(), p);
    rotate_rows(Q.get() + i * m, m, k - i, turns.data(), m);
    rotate_rows(z.get() + i * q, q, k - i, turns.data(), q);
    for (i64 l = i; l < k; ++l) { // column i goes
      double* t = T.get() + l * cap;
      for (i64 s = i; s <= l; ++s) t[s] = t[s + 1];
    }
    const double* line = Q.get() + k * m;
    for (i64 l = 0; l < q; ++l) add_rows<1>(line, 0, z.get() + k * q + l, m, r.get() + l * m);
    S.erase(S.begin() + i);
    at[j] = -1;
    for (i64 l = i; l < k; ++l) at[S[l]] = l;
    for (i64 l : S) V[k * p + l] = 0.0; // but for rounding
    finish_update(line, 1.0, V.get() + k * p);
    return true;
  }

  // By leaving and entering; false (with what could be had) where a column is a combination of the others.
  bool set(const Units& support) {
    wanted.assign(static_cast<std::size_t>(p), 0);
    for (i64 j : support) wanted[j] = 1;
    Units gone;
    for (i64 j : S)
      if (!wanted[j]) gone.push_back(j);
    if (2 * gone.size() > S.size())
      clear();
    else
      for (auto j = gone.rbegin(); j != gone.rend(); ++j) leave(*j);
    for (i64 j : support)
      if (!has(j) && !enter(j)) return false;
    return true;
  }

  // The best exchange, if it helps.
  bool improve(const SearchPlan& plan) {
    nearest = closest(plan);
    if (!(nearest.change < -kHelps * plan.size(f))) {
      if (updates == 0 || nearest.change > kClear * plan.size(f)) return false;
      if (!refactor()) return false; // what updates have left behind may hide one
      nearest = closest(plan);
      if (!(nearest.change < -kHelps * plan.size(f))) return false;
    }
    const Units before = S;
    const double was = f;
    leave(nearest.leave);
    if (enter(nearest.enter) && f < was - 1e-12 * plan.size(was)) return true;
    set(before); // rounding had promised too much
    return false;
  }

  // Of all exchanges the one that changes f least.
  Move closest(const SearchPlan& plan, double = 0.0) {
    solve();
    Move move;
    spent += static_cast<double>(p * size() * (size() + 4)) / 2;
    for (i64 j = 0; j < p; ++j) norm2[j] = squared_slope(j);
    for (i64 i = 0; i < size(); ++i) {
      if (plan.forced[S[i]]) continue;
      column.resize(static_cast<std::size_t>(size() - i));
      for (i64 l = i; l < size(); ++l) column[l - i] = T[l * cap + i];
      std::fill(U.get(), U.get() + p, 0.0);
      add_lines(V.get() + i * p, p, column.data(), size() - i, p, U.get());
      const double inverse = 1.0 / std::sqrt(b[i]);
      own.assign(&x[i * q], &x[i * q] + q);
      for (double& a : own) a *= inverse;
      std::fill(across.get(), across.get() + p, 0.0);
      add_lines(g.get(), p, own.data(), q, p, across.get());
      exchange_changes(U.get(), inverse, dot(own.data(), own.data(), q), across.get(), norm2.get(), d.get(), least, p,
                       change.get());
      for (i64 j = 0; j < p; ++j)
        if (change[j] < move.change && plan.allowed[j] && !has(j)) move = {S[i], j, change[j]};
    }
    return move;
  }

  Found found() {
    solve();
    Units sorted(S.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](i64 l, i64 e) { return S[l] < S[e]; });
    Found point{{}, {}, f};
    for (i64 i : sorted) {
      point.support.push_back(S[i]);
      for (i64 l = 0; l < q; ++l) point.x.push_back(x[i * q + l] / length[S[i]]);
    }
    return point;
  }

private:
  static constexpr double kHelps = 1e-11; // share of f that an exchange must lower it by
  static constexpr double kClear = 1e-8;  // share of f that updates leave behind at most
  static constexpr int kStale = 48;       // updates after which everything is computed anew

  double unit(i64 j) const { return is_even ? 1.0 : length[j]; }
  double squared_slope(i64 j) const {
    double sum = 0.0;
    for (i64 l = 0; l < q; ++l) sum += g[l * p + j] * g[l * p + j];
    return sum;
  }

  void clear() {
    for (i64 j : S) at[j] = -1;
    S.clear();
    updates = 0;
    std::copy(A, A + m * p, E.get());
    std::copy(Y, Y + q * m, r.get());
    finish(zeros.data(), 0.0, zeros.data());
  }

  void finish_update(const double* line, double sign, const double* v) {
    finish(line, sign, v);
    if (++updates >= kStale) refactor();
  }

  // E changes by a basis vector (times a sign) and its products with the columns; d, g and f follow.
  void finish(const double* line, double sign, const double* v) {
    update_columns(line, sign, v, r.get(), m, p, q, E.get(), d.get(), g.get());
    for (i64 j : S) {
      d[j] = 0.0;
      for (i64 l = 0; l < q; ++l) g[l * p + j] = 0.0;
    }
    f = 0.5 * dot(r.get(), r.get(), q * m);
    spent += static_cast<double>(3 * m * p);
    solved = false;
  }

  // As if the columns had just come in.
  bool refactor() {
    const Units support = S;
    clear();
    updates = -static_cast<int>(support.size()); // so that it ends
    bool all = true;
    for (i64 j : support) all = enter(j) && all;
    updates = 0;
    return all;
  }

  // x = T'z and the diagonal of B = T'T.
  void solve() {
    if (solved) return;
    x.assign(S.size() * static_cast<std::size_t>(q), 0.0);
    b.assign(S.size(), 0.0);
    for (i64 l = 0; l < size(); ++l) {
      const double* t = T.get() + l * cap;
      for (i64 i = 0; i <= l; ++i) {
        b[i] += t[i] * t[i];
        add_rows<1>(z.get() + l * q, 0, t + i, q, x.data() + i * q);
      }
    }
    solved = true;
  }

  const double *A, *Y, *length, *least;
  const i64 m, p, q, cap;
  const double floor;
  Units S, at; // columns in order of entry, the position of each or -1
  Buffer Q, V, T, z, E, r, d, g, U, change, across, norm2;
  std::vector<double> zeros, x, b, own, column, turns;
  std::vector<std::uint8_t> wanted;
  bool is_even = false, solved = false;
  int updates = 0;
  double spent = 0.0;
};

} // namespace pursuit
