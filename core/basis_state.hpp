#pragma once

#include "basis_loops.hpp"
#include "row_quad.hpp"

// The state of a search (search.hpp) along a path of a quadratic f(x) = f0 + c'x + x'Hx/2 whose rows are computed on
// demand. At the minimiser over S, with T lower triangular, T H_SS T' = I:
//
//   V = T H_S:,   z = -T c_S,   x = T'z,   g = c + V'z,   d_j = H_jj - |V_:j|^2,   f = f0 - |z|^2 / 2
//
// and of docs/notation.md's B = T'T, U = T'V only what is needed is formed. Several responses share T and V; z, x
// and g have a number for each response, and norms take the place of absolute values (ADR 35). A column that enters is
// one more row of T, V, z: one trip through V and no change to what is there. One that leaves is rotated to the last
// row, which goes; as long as nothing is written there, the same column comes back to the same others for nothing.
//
// Exchanges: with a_i = |x_i| / sqrt(B_ii) and v = U_ij / sqrt(B_ii), i -> j changes f by
//
//   a_i^2 / 2 - |g_j - v x_i / sqrt(B_ii)|^2 / (2 (d_j + v^2)),   v^2 <= H_jj - d_j
//
// from which find_bounds (basis_loops.hpp) has a lower bound over all i. U_:j is formed, |S|^2 / 2 each, of the columns
// with the lowest bounds, until what they give excludes the others.

namespace pursuit {

inline constexpr double kDoubtful = 1e-7; // share of a column below which the formula for exchanges has no digits
inline constexpr double kCopy = 1e-3;     // unless the column that leaves explains so much of it
inline constexpr double kRounded = 7e-15; // share of |H_ij| and |c_j| that rounding and updates may be off by

class BasisState {
public:
  double f = 0.0;
  Move nearest; // the best exchange when improve() last found none that helps

  BasisState(const RowQuad& quad_, i64 most, double floor_)
      : quad(quad_), p(quad_.p), q(quad_.q), cap(most), floor(floor_), at(static_cast<std::size_t>(p), -1),
        z(reals(most * q)), T(reals(most * most)), V(reals(most * p)), d(reals(p)), g(reals(q * p)),
        norm(reals(q > 1 ? p : 0)), removed(static_cast<std::size_t>(most) + 1), unit(static_cast<std::size_t>(p), 1.0),
        root(unit), bound(unit) {
    for (i64 j = 0; j < p; ++j) root[j] = std::sqrt(std::max(quad.h[j], 0.0));
    even(false);
    clear();
  }

  i64 units() const { return p; }
  i64 size() const { return static_cast<i64>(S.size()); }
  const Units& support() const { return S; }
  bool has(i64 j) const { return at[j] >= 0; }
  bool done() const { return !(f > floor); }
  double work() const { return spent; }
  double share(i64 j) const { return quad.h[j] > 0.0 ? d[j] / quad.h[j] : 0.0; }
  bool open(i64 j) const { return d[j] > kPivot * quad.h[j] && !has(j); }
  bool even(bool yes) {
    double low = HUGE_VAL, high = 0.0;
    for (i64 j = 0; j < p; ++j) {
      const double size = quad.length ? quad.length[j] : 1.0, square = quad.h[j] * size * size;
      unit[j] = yes && quad.h[j] > 0.0 ? 1.0 / root[j] : size;
      if (square > 0.0) low = std::min(low, square), high = std::max(high, square);
    }
    return high > kUneven * kUneven * low;
  }
  double pull(i64 j) const { return unit[j] * std::fabs(slopes()[j]); }
  double curve(i64 j) const { return unit[j] * unit[j] * pull(j) * pull(j) * quad.h[j]; }
  double moved(i64 j, double s) {
    solve();
    double sum = 0.0;
    for (i64 r = 0; r < q; ++r) {
      const double step = (has(j) ? x[at[j] * q + r] : 0.0) / unit[j] - s * unit[j] * g[r * p + j];
      sum += step * step;
    }
    return std::sqrt(sum);
  }
  double gain(i64 j) const { return d[j] > kPivot * quad.h[j] ? 0.5 * slopes()[j] * slopes()[j] / d[j] : 0.0; }
  double cost(i64 i) {
    solve();
    return 0.5 * a[i] * a[i];
  }
  double size(i64 i) {
    solve();
    return a[i] * std::sqrt(b[i]) / unit[S[i]];
  }
  Units keep() const { return S; }
  bool restore(const Units& support) { return set(support); }

  bool enter(i64 j) {
    if (size() >= cap || !open(j)) return false;
    if (restore_removed(j)) return true;
    const double* H = quad.rows.row(j);
    if (!H && quad.rows.fetch && look_ahead(j)) H = quad.rows.row(j);
    if (!H) {
      d[j] = 0.0; // or it would be computed again
      return false;
    }
    const i64 m = size();
    double* v = V.get() + m * p;
    column.resize(static_cast<std::size_t>(m));
    for (i64 r = 0; r < m; ++r) column[r] = -V[r * p + j];
    spent += static_cast<double>(p * (m + 2));
    removed[m].column = -1;
    for (i64 low = 0; low < p; low += kChunk) {
      const i64 len = std::min(kChunk, p - low);
      std::copy(H + low, H + low + len, v + low);
      add_lines(V.get() + low, p, column.data(), m, len, v + low);
    }
    v[j] += quad.ridge[j];
    if (!(v[j] > kPivot * quad.h[j])) {
      d[j] = 0.0; // which is what it comes to
      return false;
    }
    least_pivot_share = std::min(least_pivot_share, v[j] / quad.h[j]);
    const double inv = 1.0 / std::sqrt(v[j]);
    double* t = T.get() + m * cap;
    std::fill(t, t + m, 0.0);
    for (i64 r = 0; r < m; ++r) add_rows<1>(T.get() + r * cap, 0, &column[r], r + 1, t);
    for (i64 s = 0; s < m; ++s) t[s] *= inv;
    t[m] = inv;
    append(j, inv);
    return true;
  }

  bool leave(i64 j) {
    const i64 i = at[j], m = size() - 1;
    spent += static_cast<double>(2 * p * (m + 1 - i));
    turns.resize(static_cast<std::size_t>(2 * (m - i)));
    double carried = T[i * cap + i];
    for (i64 r = i; r < m; ++r) { // zero T[r][i] into T[r + 1][i]
      const double e = T[(r + 1) * cap + i], length = std::sqrt(carried * carried + e * e);
      turns[2 * (r - i)] = e / length, turns[2 * (r - i) + 1] = carried / length;
      carried = length;
    }
    for (i64 r = i; r < m; ++r) {
      const double c = turns[2 * (r - i)], s = turns[2 * (r - i) + 1];
      T[r * cap + r + 1] = 0.0;
      rotate_rows(T.get() + r * cap, cap, 1, &turns[2 * (r - i)], r + 2);
      for (i64 l = r * q; l < (r + 1) * q; ++l) {
        const double u = z[l], e = z[l + q];
        z[l] = c * u - s * e, z[l + q] = s * u + c * e;
      }
    }
    rotate_rows(V.get() + i * p, p, m - i, turns.data(), p);
    for (i64 r = i; r < m; ++r) { // column i goes
      double* t = T.get() + r * cap;
      for (i64 k = i; k <= r; ++k) t[k] = t[k + 1];
    }
    add_row_squares(V.get() + m * p, p, d.get());
    add_slopes(V.get() + m * p, z.get() + m * q, -1.0, q, p, g.get(), norm.get());
    f += 0.5 * dot(z.get() + m * q, z.get() + m * q, q);
    S.erase(S.begin() + i);
    sum -= unit_key(j);
    cache_removed(j, i);
    at[j] = -1;
    for (i64 l = i; l < m; ++l) at[S[l]] = l;
    finish_update();
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
    while (size() < cap && removed[size()].column >= 0 && wanted[removed[size()].column] &&
           restore_removed(removed[size()].column)) {
    }
    if (quad.rows.fetch) { // all that is missing in one block
      Units missing;
      for (i64 j : support)
        if (!has(j) && !quad.rows.has(j)) missing.push_back(j);
      spent += quad.row_cost * static_cast<double>(missing.size());
      if (missing.size() > 1 && !quad.rows.fetch(missing)) return false;
    }
    for (i64 j : support)
      if (!has(j) && !enter(j)) return false;
    return true;
  }

  // The best exchange, if it helps.
  bool improve(const SearchPlan& plan) {
    Move move = best(plan);
    nearest = move;
    if (!(move.change < -kHelps * plan.size(f))) {
      if (least_pivot_share > kLostDigits && (updates == 0 || move.change > kClear * plan.size(f))) return false;
      if (!refactor()) { // what updates have left behind may hide one
        nearest = {-1, -1, -HUGE_VAL};
        return false;
      }
      move = best(plan);
      nearest = move;
      if (!(move.change < -kHelps * plan.size(f))) return false;
    }
    const Units before = S;
    const double was = f;
    leave(move.leave);
    if (enter(move.enter) && f < was - 1e-12 * plan.size(was)) return true;
    set(before); // rounding had promised too much
    return false;
  }

  // Of all exchanges the one that changes f least, newcomers with less than a share left passed over.
  Move closest(const SearchPlan& plan, double least_left = kDoubtful) { return best(plan, true, least_left); }

  // Row l of T, l + 1 numbers; x = T'z (q numbers for each unit) and the diagonal of B = T'T, in the order of
  // support().
  const double* triangle(i64 l) const { return T.get() + l * cap; }
  const std::vector<double>& coefficients() {
    solve();
    return x;
  }
  const std::vector<double>& inverse_diagonal() {
    solve();
    return b;
  }

  Found found() {
    solve();
    Units sorted(S.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](i64 l, i64 e) { return S[l] < S[e]; });
    Found point{{}, {}, f};
    for (i64 i : sorted) {
      point.support.push_back(S[i]);
      point.x.insert(point.x.end(), x.begin() + i * q, x.begin() + (i + 1) * q);
    }
    return point;
  }

  // A lower bound of the reciprocal condition number of H_SS on a unit diagonal.
  double condition() {
    solve();
    double trace = 0.0;
    for (i64 i = 0; i < size(); ++i) trace += b[i] * quad.h[S[i]];
    return size() == 0 ? 1.0 : 1.0 / (static_cast<double>(size()) * trace);
  }

  // Of the columns outside that may come in: the smallest share that those inside leave of one, of at least
  // `least_left`.
  double least_share(const SearchPlan& plan, double least_left = kDoubtful) const {
    double least = 1.0;
    for (i64 j = 0; j < p; ++j)
      if (plan.allowed[j] && !has(j) && share(j) >= least_left) least = std::min(least, share(j));
    return least;
  }

  // Those of which less is left.
  Units dependent(const SearchPlan& plan, double least_left = kDoubtful) const {
    Units out;
    for (i64 j = 0; j < p; ++j)
      if (plan.allowed[j] && !has(j) && share(j) < least_left) out.push_back(j);
    return out;
  }

private:
  static constexpr i64 kChunk = 1024;
  static constexpr i64 kWide = 16, kBatches = 4; // newcomers judged at a time, and how often before others are excluded
  static constexpr double kHelps = 1e-11;        // share of f that an exchange must lower it by
  static constexpr double kClear = 1e-8;         // share of f that updates leave behind at most
  static constexpr int kStale = 48;              // updates after which g and d are computed anew
  static constexpr double kLostDigits = 1e-4;    // share below which a column leaves its rounding behind

  // A column outside that may help, and what an exchange with it changes f by at least.
  struct Newcomer {
    double bound;
    i64 column;
    bool operator<(const Newcomer& other) const {
      return bound < other.bound || (bound == other.bound && column < other.column);
    }
  };

  // The row of T of a column that left, by column, as long as row m of V is still its own.
  struct RemovedRow {
    i64 column = -1;
    std::uint64_t others = 0; // the set that it left
    Units order;
    std::vector<double> t;
  };

  // g_j, or for several responses its norm
  const double* slopes() const { return q == 1 ? g.get() : norm.get(); }

  // Column j left position i, and S is without it: its row is the last one.
  void cache_removed(i64 j, i64 i) {
    const i64 m = size();
    const double* t = T.get() + m * cap;
    RemovedRow& last = removed[m];
    last.column = j, last.others = sum, last.order = S;
    last.t.assign(t, t + m + 1);
    last.t.erase(last.t.begin() + i);
    last.t.push_back(t[i]);
  }

  // Column j back to the set that it left, if it is the last one that did.
  bool restore_removed(i64 j) {
    const i64 m = size();
    RemovedRow& last = removed[m];
    if (last.column != j || last.others != sum) return false;
    double* t = T.get() + m * cap;
    for (i64 l = 0; l < m; ++l) t[at[last.order[l]]] = last.t[l];
    t[m] = last.t[m];
    last.column = -1;
    append(j, 1.0);
    return true;
  }

  // Row m of T is column j's, and row m of V times `scale`.
  void append(i64 j, double scale) {
    const i64 m = size();
    double* last = z.get() + m * q;
    for (i64 r = 0; r < q; ++r) last[r] = -g[r * p + j] * T[m * cap + m];
    scale_row(V.get() + m * p, scale, p, d.get());
    add_slopes(V.get() + m * p, last, 1.0, q, p, g.get(), norm.get());
    f -= 0.5 * dot(last, last, q);
    at[j] = m;
    S.push_back(j);
    sum += unit_key(j);
    finish_update();
  }

  void clear() {
    for (i64 j : S) at[j] = -1;
    S.clear();
    sum = 0;
    least_pivot_share = 1.0;
    refresh();
  }

  void finish_update() {
    clear_support();
    if (++updates >= kStale) refresh();
  }

  void clear_support() {
    for (i64 j : S) {
      d[j] = 0.0;
      for (i64 r = 0; r < q; ++r) g[r * p + j] = 0.0;
      if (q > 1) norm[j] = 0.0;
    }
    solved = false;
  }

  // As if the columns had just come in, where others that were close to combinations of them have been in meanwhile.
  bool refactor() {
    if (least_pivot_share > kLostDigits) {
      refresh();
      return true;
    }
    const Units support = S;
    clear();
    for (i64 j : support)
      if (!enter(j)) return false;
    least_pivot_share = 1.0; // the condition of the set itself is another matter
    return true;
  }

  // g, d and f from V and z.
  void refresh() {
    std::copy(quad.h, quad.h + p, d.get());
    std::copy(quad.c, quad.c + q * p, g.get());
    f = quad.f0;
    const std::vector<double> none(static_cast<std::size_t>(q), 0.0);
    if (size() == 0) add_slopes(quad.h, none.data(), 1.0, q, p, g.get(), norm.get()); // norms
    for (i64 r = 0; r < size(); ++r) {
      scale_row(V.get() + r * p, 1.0, p, d.get());
      add_slopes(V.get() + r * p, z.get() + r * q, 1.0, q, p, g.get(), norm.get());
      f -= 0.5 * dot(z.get() + r * q, z.get() + r * q, q);
    }
    clear_support();
    updates = 0;
  }

  // Row j, and those that are likely to be needed next.
  bool look_ahead(i64 j) {
    std::vector<double> gains(static_cast<std::size_t>(p), -1.0);
    for (i64 l = 0; l < p; ++l)
      if (open(l)) gains[l] = gain(l);
    const Units next = likely_next(quad, j, std::move(gains), V.get(), g.get(), size(), cap - 1 - size());
    spent += quad.row_cost * static_cast<double>(next.size());
    return !next.empty() && quad.rows.fetch(next);
  }

  // x = T'z, the diagonal of B = T'T, and a_i = |x_i| / sqrt(B_ii).
  void solve() {
    if (solved) return;
    x.assign(S.size() * static_cast<std::size_t>(q), 0.0);
    b.assign(S.size(), 0.0);
    a.resize(S.size());
    for (i64 r = 0; r < size(); ++r) {
      const double* t = T.get() + r * cap;
      for (i64 i = 0; i <= r; ++i) b[i] += t[i] * t[i];
      if (q == 1)
        add_rows<1>(t, 0, z.get() + r, r + 1, x.data());
      else
        for (i64 i = 0; i <= r; ++i) add_rows<1>(z.get() + r * q, 0, t + i, q, x.data() + i * q);
    }
    for (i64 i = 0; i < size(); ++i) a[i] = std::sqrt(dot(x.data() + i * q, x.data() + i * q, q) / b[i]);
    solved = true;
  }

  // The best exchange, newcomers with less than a share left passed over; unless `all` one that may help only.
  Move best(const SearchPlan& plan, bool all = false, double least_left = 0.0) {
    solve();
    Move move;
    order.clear(); // units that may leave, the cheapest first
    for (i64 i = 0; i < size(); ++i)
      if (!plan.forced[S[i]]) order.emplace_back(a[i], i);
    if (order.empty()) return move;
    std::sort(order.begin(), order.end());
    spent += static_cast<double>(2 * p);
    double spread = 0.0; // with it the rounding of g grows
    for (i64 i = 0; i < size(); ++i) spread += std::sqrt(b[i]) * root[S[i]];
    const double noise = kRounded * spread * std::sqrt(2.0 * std::fabs(quad.f0)), helps = -kHelps * plan.size(f);
    find_bounds(order.front().first, noise, kDoubtful, quad.h, root.data(), d.get(), slopes(), p, bound.data());
    list_newcomers(plan, all ? HUGE_VAL : kRounded * std::fabs(quad.f0), least_left);
    i64 first = std::min<i64>(kWide, static_cast<i64>(near.size())); // the most promising: one of them may do
    std::nth_element(near.begin(), near.begin() + first, near.end());
    judge_newcomers(0, first, noise, all, move);
    if (!all && move.change < helps) return move;
    while (first < static_cast<i64>(near.size())) {
      const auto rest = near.begin() + first; // what has been found excludes most others
      near.erase(std::remove_if(rest, near.end(), [&](const Newcomer& j) { return !(j.bound < move.change); }),
                 near.end());
      const i64 next = std::min<i64>(first + kWide * kBatches, static_cast<i64>(near.size()));
      if (all) std::nth_element(near.begin() + first, near.begin() + next, near.end());
      for (; first < next; first += kWide) judge_newcomers(first, std::min(next, first + kWide), noise, all, move);
    }
    return move;
  }

  // Columns outside whose bound is below a limit.
  void list_newcomers(const SearchPlan& plan, double limit, double least_left) {
    near.resize(static_cast<std::size_t>(p));
    i64 count = 0;
    for (i64 j = 0; j < p; ++j) {
      near[count] = {bound[j], j};
      count += bound[j] < limit;
    }
    near.resize(static_cast<std::size_t>(count));
    near.erase(std::remove_if(near.begin(), near.end(),
                              [&](const Newcomer& at_) {
                                const i64 j = at_.column;
                                return !plan.allowed[j] || has(j) || share(j) < least_left;
                              }),
               near.end());
  }

  // The exchanges with near[low .. high); unless `all` those that may help only.
  void judge_newcomers(i64 low, i64 high, double noise, bool all, Move& move) {
    const i64 m = size(), many = high - low;
    if (many <= 0) return;
    W.resize(static_cast<std::size_t>((m + q) * kWide));
    double *Vw = W.data(), *Gw = Vw + m * kWide, u[kWide], square[kWide], reach = all ? HUGE_VAL : 0.0;
    for (i64 k = 0; k < kWide; ++k) {
      const i64 j = near[std::min(low + k, high - 1)].column;
      const double s = (std::fabs(slopes()[j]) + noise * root[j]) * (1 + 1e-9);
      const double v = std::sqrt(std::max(quad.h[j] - d[j], 0.0));
      reach = std::max(reach, d[j] > kDoubtful * quad.h[j] ? s * (v + root[j]) / d[j] : HUGE_VAL);
      for (i64 r = 0; r < m; ++r) Vw[r * kWide + k] = V[r * p + j];
      for (i64 r = 0; r < q; ++r) Gw[r * kWide + k] = g[r * p + j];
    }
    t.resize(static_cast<std::size_t>(q));
    for (const auto& [small, i] : order) {
      if (!(small < reach)) break; // a unit that costs more cannot give way to any of them
      spent += static_cast<double>((m - i) * many);
      wide_products<kWide>(Vw + i * kWide, T.get() + i * cap + i, cap, m - i, u);
      const double inv = 1.0 / b[i], drop = 0.5 * small * small;
      for (i64 r = 0; r < q; ++r) t[r] = x[i * q + r] * inv;
      wide_squares<kWide>(Gw, t.data(), q, u, square);
      for (i64 k = 0; k < many; ++k) {
        const i64 j = near[low + k].column;
        const double taken = u[k] * u[k] * inv, curve = d[j] + taken, change = drop - 0.5 * square[k] / curve;
        if (!(change < move.change) || !(curve > kPivot * quad.h[j])) continue;
        if (share(j) < kDoubtful && !(taken > kCopy * quad.h[j])) continue;
        move = {S[i], j, change};
      }
    }
  }

  const RowQuad quad;
  const i64 p, q, cap;
  const double floor;
  Units S, at; // columns in order of entry, the position of each or -1
  std::vector<Newcomer> near;
  Buffer z, T, V, d, g, norm;
  std::vector<RemovedRow> removed; // by row
  std::uint64_t sum = 0;           // of the keys of S
  std::vector<double> unit, root, bound, x, b, a, column, turns, W, t;
  std::vector<std::uint8_t> wanted;
  std::vector<std::pair<double, i64>> order;
  bool solved = false;
  int updates = 0;
  double least_pivot_share = 1.0; // the least share that was left of a column when it came in
  double spent = 0.0;
};

} // namespace pursuit
