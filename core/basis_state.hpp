#pragma once

#include "row_quad.hpp"

// The state of a search (search.hpp) along a path of a quadratic f(x) = f0 + c'x + x'Hx/2 whose rows are asked for one
// by one. At the minimiser over S, with T lower triangular, T H_SS T' = I:
//
//   V = T H_S:,   z = -T c_S,   x = T'z,   g = c + V'z,   d_j = H_jj - |V_:j|^2,   f = f0 - |z|^2 / 2
//
// and of docs/notation.md's B = T'T, U = T'V only what is asked for is formed. A column that enters is one more row of
// T, V, z: one trip through V and no change to what is there. One that leaves is rotated to the last row, which goes;
// as long as nothing is written there, the same column comes back to the same others for nothing. Exchanges: i -> j can
// help only if |x_i| / sqrt(B_ii) d_j < |g_j| (sqrt(H_jj - d_j) + sqrt(H_jj)), since U_ij^2 / B_ii
// <= H_jj - d_j; of the columns j that pass for the smallest |x_i| / sqrt(B_ii), U_:j is formed, |S|^2 / 2 each.

namespace pursuit {

inline constexpr double kDoubtful = 1e-7; // share of a column below which the formula for exchanges has no digits
inline constexpr double kCopy = 1e-3;     // unless the column that leaves explains so much of it
inline constexpr double kRounded = 7e-15; // share of |H_ij| and |c_j| that rounding and updates may be off by
class BasisState {
public:
  double f = 0.0;
  Move nearest; // the best exchange when improve() last found none that helps

  BasisState(const RowQuad& q_, i64 most, double floor_)
      : q(q_), cap(most), floor(floor_), at(static_cast<std::size_t>(q_.p), -1), z(reals(most)), T(reals(most * most)),
        V(reals(most * q_.p)), d(reals(q_.p)), g(reals(q_.p)), left(static_cast<std::size_t>(most) + 1),
        unit(static_cast<std::size_t>(q_.p), 1.0) {
    even(false);
    clear();
  }

  i64 units() const { return q.p; }
  i64 size() const { return static_cast<i64>(S.size()); }
  const Units& support() const { return S; }
  bool has(i64 j) const { return at[j] >= 0; }
  bool done() const { return !(f > floor); }
  double work() const { return spent; }
  double share(i64 j) const { return q.h[j] > 0.0 ? d[j] / q.h[j] : 0.0; }
  bool open(i64 j) const { return !has(j) && share(j) > kPivot; }
  bool even(bool yes) {
    double low = HUGE_VAL, high = 0.0;
    for (i64 j = 0; j < q.p; ++j) {
      const double size = q.length ? q.length[j] : 1.0, square = q.h[j] * size * size;
      unit[j] = yes && q.h[j] > 0.0 ? 1.0 / std::sqrt(q.h[j]) : size;
      if (square > 0.0) low = std::min(low, square), high = std::max(high, square);
    }
    return high > kUneven * kUneven * low;
  }
  double pull(i64 j) const { return unit[j] * std::fabs(g[j]); }
  double curve(i64 j) const { return unit[j] * unit[j] * unit[j] * unit[j] * g[j] * g[j] * q.h[j]; }
  double moved(i64 j, double s) {
    solve();
    return std::fabs((has(j) ? x[at[j]] : 0.0) / unit[j] - s * unit[j] * g[j]);
  }
  double gain(i64 j) const { return open(j) ? 0.5 * g[j] * g[j] / d[j] : 0.0; }
  double cost(i64 i) {
    solve();
    return 0.5 * x[i] * x[i] / b[i];
  }
  double size(i64 i) {
    solve();
    return std::fabs(x[i]) / unit[S[i]];
  }
  Units keep() const { return S; }
  bool restore(const Units& support) { return set(support); }

  bool enter(i64 j) {
    if (size() >= cap || !open(j)) return false;
    if (returns(j)) return true;
    const double* H = q.rows.row(j);
    if (!H && q.rows.fetch && look_ahead(j)) H = q.rows.row(j);
    if (!H) {
      d[j] = 0.0; // or it would be asked for again
      return false;
    }
    const i64 m = size(), p = q.p;
    double* v = V.get() + m * p;
    column.resize(static_cast<std::size_t>(m));
    for (i64 r = 0; r < m; ++r) column[r] = -V[r * p + j];
    spent += static_cast<double>(p * (m + 2));
    left[m].column = -1;
    std::copy(H, H + p, v);
    v[j] += q.ridge[j];
    for (i64 low = 0; low < p; low += kChunk)
      add_lines(V.get() + low, p, column.data(), m, std::min(kChunk, p - low), v + low);
    if (!(v[j] > kPivot * q.h[j])) {
      d[j] = 0.0; // which is what it comes to
      return false;
    }
    clean = std::min(clean, v[j] / q.h[j]);
    const double inv = 1.0 / std::sqrt(v[j]), last = -g[j] * inv;
    double* t = T.get() + m * cap;
    std::fill(t, t + m, 0.0);
    for (i64 r = 0; r < m; ++r) add_rows<1>(T.get() + r * cap, 0, &column[r], r + 1, t);
    for (i64 s = 0; s < m; ++s) t[s] *= inv;
    t[m] = inv;
    z[m] = last;
    append(j, inv, last);
    return true;
  }

  bool leave(i64 j) {
    const i64 i = at[j], m = size() - 1, p = q.p;
    spent += static_cast<double>(2 * p * (m + 1 - i));
    turns.resize(static_cast<std::size_t>(2 * (m - i)));
    double carried = T[i * cap + i];
    for (i64 r = i; r < m; ++r) { // zero T[r][i] into T[r + 1][i]
      const double a = carried, e = T[(r + 1) * cap + i], norm = std::hypot(a, e);
      turns[2 * (r - i)] = e / norm, turns[2 * (r - i) + 1] = a / norm;
      carried = norm;
    }
    for (i64 r = i; r < m; ++r) {
      const double c = turns[2 * (r - i)], s = turns[2 * (r - i) + 1];
      double *t = T.get() + r * cap, *u = t + cap;
      t[r + 1] = 0.0;
      for (i64 k = 0; k <= r + 1; ++k) {
        const double a = t[k], e = u[k];
        t[k] = c * a - s * e, u[k] = s * a + c * e;
      }
      const double a = z[r], e = z[r + 1];
      z[r] = c * a - s * e, z[r + 1] = s * a + c * e;
    }
    for (i64 low = 0; low < p; low += kChunk) rotate(V.get() + i * p + low, p, m - i, std::min(kChunk, p - low));
    for (i64 r = i; r < m; ++r) { // column i goes
      double* t = T.get() + r * cap;
      for (i64 k = i; k <= r; ++k) t[k] = t[k + 1];
    }
    removed(V.get() + m * p, z[m], p, g.get(), d.get());
    f += 0.5 * z[m] * z[m];
    S.erase(S.begin() + i);
    sum -= key(j);
    stash(j, i);
    at[j] = -1;
    for (i64 l = i; l < m; ++l) at[S[l]] = l;
    settle();
    return true;
  }

  // By leaving and entering; false (with what could be had) where a column is a combination of the others.
  bool set(const Units& support) {
    std::vector<std::uint8_t> wanted(static_cast<std::size_t>(q.p), 0);
    for (i64 j : support) wanted[j] = 1;
    Units gone;
    for (i64 j : S)
      if (!wanted[j]) gone.push_back(j);
    if (2 * gone.size() > S.size())
      clear();
    else
      for (auto j = gone.rbegin(); j != gone.rend(); ++j) leave(*j);
    while (size() < cap && left[size()].column >= 0 && wanted[left[size()].column] && returns(left[size()].column)) {
    }
    if (q.rows.fetch) { // all that is missing in one block
      Units missing;
      for (i64 j : support)
        if (!has(j) && !q.rows.has(j)) missing.push_back(j);
      spent += q.row_cost * static_cast<double>(missing.size());
      if (missing.size() > 1 && !q.rows.fetch(missing)) return false;
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
      if (clean > kSoiled && (updates == 0 || move.change > kClear * plan.size(f))) return false;
      if (!renew()) { // what updates have left behind may hide one
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
  Move closest(const SearchPlan& plan, double least_left) { return best(plan, true, least_left); }

  // Row l of T, l + 1 numbers; x = T'z and the diagonal of B = T'T, in the order of support().
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
    Units order(S.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](i64 a, i64 e) { return S[a] < S[e]; });
    Found point{{}, {}, f};
    for (i64 i : order) point.support.push_back(S[i]), point.x.push_back(x[i]);
    return point;
  }

  // A lower bound of the reciprocal condition number of H_SS on a unit diagonal.
  double condition() {
    solve();
    double sum = 0.0;
    for (i64 i = 0; i < size(); ++i) sum += b[i] * q.h[S[i]];
    return size() == 0 ? 1.0 : 1.0 / (static_cast<double>(size()) * sum);
  }

  // Of the columns outside that may come in: the smallest share that those inside leave of one, of at least
  // `least_left`.
  double least_share(const SearchPlan& plan, double least_left = -HUGE_VAL) const {
    double least = 1.0;
    for (i64 j = 0; j < q.p; ++j)
      if (plan.allowed[j] && !has(j) && share(j) >= least_left) least = std::min(least, share(j));
    return least;
  }

  // Those of which less is left.
  Units dependent(const SearchPlan& plan, double least_left) const {
    Units out;
    for (i64 j = 0; j < q.p; ++j)
      if (plan.allowed[j] && !has(j) && share(j) < least_left) out.push_back(j);
    return out;
  }

private:
  static constexpr i64 kChunk = 1024, kAhead = 64, kEnough = 12, kPool = 256, kWide = 16;
  static constexpr double kHelps = 1e-11; // share of f that an exchange must lower it by
  static constexpr double kClear = 1e-8;  // share of f that updates leave behind at most
  static constexpr int kStale = 48;       // updates after which g and d are computed anew
  static constexpr double kSoiled = 1e-4; // share below which a column leaves its rounding behind

  // A column outside that may help: what an exchange with it changes f by at least, and whom it may replace.
  struct Newcomer {
    double bound, reach;
    i64 column;
    bool operator<(const Newcomer& other) const {
      return bound < other.bound || (bound == other.bound && column < other.column);
    }
  };

  // What a column that left was: its row of T, by column, as long as row m of V is still its own.
  struct Left {
    i64 column = -1;
    std::uint64_t others = 0; // the set that it left
    Units order;
    std::vector<double> t;
  };

  static std::uint64_t key(i64 j) { return Random(static_cast<std::uint64_t>(j) * 0x2545f4914f6cdd1dull + 1).next(); }

  // Column j left position i, and S is without it: its row is the last one.
  void stash(i64 j, i64 i) {
    const i64 m = size();
    const double* t = T.get() + m * cap;
    Left& last = left[m];
    last.column = j, last.others = sum, last.order = S;
    last.t.assign(t, t + m + 1);
    last.t.erase(last.t.begin() + i);
    last.t.push_back(t[i]);
  }

  // Column j back to the set that it left, if it is the last one that did.
  bool returns(i64 j) {
    const i64 m = size();
    Left& last = left[m];
    if (last.column != j || last.others != sum) return false;
    double* t = T.get() + m * cap;
    for (i64 l = 0; l < m; ++l) t[at[last.order[l]]] = last.t[l];
    t[m] = last.t[m];
    z[m] = -g[j] * t[m];
    last.column = -1;
    append(j, 1.0, z[m]);
    return true;
  }

  // Row m of V (times `scale`) is column j's.
  void append(i64 j, double scale, double last) {
    const i64 m = size();
    appended(V.get() + m * q.p, scale, last, q.p, g.get(), d.get());
    f -= 0.5 * last * last;
    at[j] = m;
    S.push_back(j);
    sum += key(j);
    settle();
  }

  void clear() {
    for (i64 j : S) at[j] = -1;
    S.clear();
    sum = 0;
    std::copy(q.h, q.h + q.p, d.get());
    std::copy(q.c, q.c + q.p, g.get());
    f = q.f0;
    updates = 0;
    clean = 1.0;
    solved = false;
  }

  void settle() {
    for (i64 j : S) d[j] = 0.0, g[j] = 0.0;
    solved = false;
    if (++updates >= kStale) refresh();
  }

  // As if the columns had just come in, where others that were close to combinations of them have been in meanwhile.
  bool renew() {
    if (clean > kSoiled) {
      refresh();
      return true;
    }
    const Units support = S;
    clear();
    for (i64 j : support)
      if (!enter(j)) return false;
    clean = 1.0; // the condition of the set itself is another matter
    return true;
  }

  void refresh() {
    std::copy(q.h, q.h + q.p, d.get());
    std::copy(q.c, q.c + q.p, g.get());
    f = q.f0;
    for (i64 r = 0; r < size(); ++r) {
      appended(V.get() + r * q.p, 1.0, z[r], q.p, g.get(), d.get());
      f -= 0.5 * z[r] * z[r];
    }
    for (i64 j : S) d[j] = 0.0, g[j] = 0.0;
    updates = 0;
  }

  // Rows of the columns that are likely to come in next, j first: those that would if only the columns of largest gain
  // were there, whose own Gram matrix less V'V tells exactly. A few rows more cost little beside a pass over X.
  bool look_ahead(i64 j) {
    const i64 steps = std::min(kAhead, std::max<i64>(1, cap - 1 - size()));
    const i64 most = std::clamp<i64>(static_cast<i64>(0.5 * std::sqrt(static_cast<double>(q.p * steps))), 2, kPool);
    std::vector<double> gains(static_cast<std::size_t>(q.p), -1.0);
    for (i64 l = 0; l < q.p; ++l)
      if (open(l)) gains[l] = gain(l);
    gains[j] = HUGE_VAL;
    const Units pool = top_of(gains, most);
    const i64 many = static_cast<i64>(pool.size()), m = size();
    Buffer G = reals(many * many), A = reals(m * many), N = reals(m * many);
    if (steps == 1 || many == 1) {
      spent += q.row_cost;
      return q.rows.fetch({j});
    }
    if (!q.rows.block(pool, G.get())) return false;
    for (i64 l = 0; l < many; ++l) {
      for (i64 r = 0; r < m; ++r) A[l * m + r] = V[r * q.p + pool[l]], N[l * m + r] = -A[l * m + r];
      G[l * (many + 1)] += q.ridge[pool[l]];
    }
    gemm(true, many, many, m, A.get(), m, N.get(), m, 1.0, G.get(), many);
    std::vector<double> slope(static_cast<std::size_t>(many));
    for (i64 l = 0; l < many; ++l) slope[l] = g[pool[l]];
    std::vector<double> least(static_cast<std::size_t>(many));
    for (i64 l = 0; l < many; ++l) least[l] = kPivot * q.h[pool[l]];
    const i64 first = std::lower_bound(pool.begin(), pool.end(), j) - pool.begin();
    Units next;
    i64 missing = 0;
    for (i64 l : by_gain(G.get(), slope, least, first, [&](i64 step, i64 l) {
           missing += !q.rows.has(pool[l]);
           return missing >= kAhead || (step + 1 >= steps && missing >= kEnough);
         }))
      next.push_back(pool[l]);
    if (next.empty() || next.front() != j) next.insert(next.begin(), j);
    spent += q.row_cost * static_cast<double>(next.size());
    return q.rows.fetch(next);
  }

  // x = T'z and the diagonal of B = T'T.
  void solve() {
    if (solved) return;
    x.assign(S.size(), 0.0);
    b.assign(S.size(), 0.0);
    for (i64 r = 0; r < size(); ++r) {
      const double* t = T.get() + r * cap;
      for (i64 i = 0; i <= r; ++i) x[i] += t[i] * z[r], b[i] += t[i] * t[i];
    }
    solved = true;
  }

  // The best exchange; unless `all` those that cannot help are passed over.
  Move best(const SearchPlan& plan, bool all = false, double least_left = 0.0) {
    solve();
    Move found;
    const i64 m = size(), p = q.p;
    order.clear(); // by |x_i| / sqrt(B_ii): what is below a column's reach may give way to it
    for (i64 i = 0; i < m; ++i)
      if (!plan.forced[S[i]]) order.emplace_back(std::fabs(x[i]) / std::sqrt(b[i]), i);
    if (order.empty()) return found;
    std::sort(order.begin(), order.end());
    const double least = order.front().first;
    spent += static_cast<double>(p);
    double spread = 0.0; // with it the rounding of g grows
    for (i64 i = 0; i < m; ++i) spread += std::sqrt(b[i] * q.h[S[i]]);
    const double noise = kRounded * spread * std::sqrt(2.0 * std::fabs(q.f0));
    reaches.resize(static_cast<std::size_t>(p));
    find_reaches(least, noise, q.h, d.get(), g.get(), p, reaches.data());
    near.clear();
    for (i64 j = 0; j < p; ++j) {
      if (!(all || least * d[j] < reaches[j]) || has(j) || !plan.allowed[j] || share(j) < least_left) continue;
      near.push_back({all ? -HUGE_VAL : lower_bound(j, least, noise), all ? HUGE_VAL : reaches[j], j});
    }
    i64 many = static_cast<i64>(near.size());
    if (!all && many > kWide) { // the most promising first: one of them that helps is good enough
      std::nth_element(near.begin(), near.begin() + kWide, near.end());
      best_of(0, kWide, found);
      if (found.change < -kHelps * plan.size(f)) return found;
      std::erase_if(near, [&](const Newcomer& other) { return !(other.bound < found.change); });
      many = static_cast<i64>(near.size());
    }
    for (i64 low = 0; low < many; low += kWide) best_of(low, std::min(many, low + kWide), found);
    return found;
  }

  // Of what f changes by when j comes in for a column that costs a^2 / 2 or more: it gains no more than by entering
  // alone, and |v| <= sqrt(H_jj - d_j) where v = U_ij / sqrt(B_ii). From a d = slope |v| on that grows with a.
  double lower_bound(i64 j, double a, double noise) const {
    if (!(d[j] > 0.0)) return -HUGE_VAL;
    const double slope = (std::fabs(g[j]) + noise * std::sqrt(q.h[j])) * (1 + 1e-9);
    const double v = std::sqrt(std::max(q.h[j] - d[j], 0.0)), s = slope + a * v;
    return a * d[j] <= slope * v ? -0.5 * slope * slope / d[j] : 0.5 * (a * a - s * s / q.h[j]);
  }

  // Of the exchanges with near[low .. high).
  void best_of(i64 low, i64 high, Move& found) {
    const i64 m = size(), p = q.p, many = high - low;
    W.resize(static_cast<std::size_t>(m * kWide));
    double u[kWide], reach = 0.0;
    for (i64 k = 0; k < kWide; ++k) {
      const Newcomer& next = near[std::min(low + k, high - 1)];
      for (i64 r = 0; r < m; ++r) W[r * kWide + k] = V[r * p + next.column];
      reach = std::max(reach, d[next.column] > 0.0 ? next.reach / d[next.column] : HUGE_VAL);
    }
    for (const auto& [small, i] : order) {
      if (!(small < reach)) break; // those that follow are further off
      spent += static_cast<double>((m - i) * many);
      wide_products(W.data() + i * kWide, T.get() + i * cap + i, cap, m - i, u);
      const double inv = 1.0 / b[i], t = x[i] * inv, drop = 0.5 * x[i] * t;
      for (i64 k = 0; k < many; ++k) {
        const i64 j = near[low + k].column;
        const double slope = g[j] - t * u[k], taken = u[k] * u[k] * inv, curve = d[j] + taken;
        const double change = drop - 0.5 * slope * slope / curve;
        if (!(change < found.change) || !(curve > kPivot * q.h[j])) continue;
        if (share(j) < kDoubtful && !(taken > kCopy * q.h[j])) continue;
        found = {S[i], j, change};
      }
    }
  }

  // The |x_i| / sqrt(B_ii) below which i may give way to j, times d_j.
  PURSUIT_CLONES static void find_reaches(double least, double noise, const double* __restrict h,
                                          const double* __restrict d_, const double* __restrict g_, i64 p,
                                          double* __restrict out) {
#pragma omp simd
    for (i64 j = 0; j < p; ++j) {
      const double root = std::sqrt(h[j]), rest = h[j] - d_[j], taken = std::sqrt(rest > 0.0 ? rest : 0.0) + root;
      out[j] = (std::fabs(g_[j]) + noise * root) * taken * (1 + 1e-9) + 1e-12 * least * h[j];
    }
  }

  // u = W't; W has rows of kWide, t a stride.
  PURSUIT_CLONES static void wide_products(const double* __restrict w, const double* __restrict t, i64 stride, i64 len,
                                           double* __restrict u) {
    for (i64 k = 0; k < kWide; ++k) u[k] = 0.0;
    for (i64 r = 0; r < len; ++r) {
      const double by = t[r * stride];
#pragma omp simd
      for (i64 k = 0; k < kWide; ++k) u[k] += by * w[r * kWide + k];
    }
  }

  // v *= scale; g += last v; d -= v^2
  PURSUIT_CLONES static void appended(double* __restrict v, double scale, double last, i64 p, double* __restrict g_,
                                      double* __restrict d_) {
#pragma omp simd
    for (i64 j = 0; j < p; ++j) {
      const double w = v[j] * scale;
      v[j] = w;
      g_[j] += last * w;
      d_[j] -= w * w;
    }
  }

  PURSUIT_CLONES static void removed(const double* __restrict v, double last, i64 p, double* __restrict g_,
                                     double* __restrict d_) {
#pragma omp simd
    for (i64 j = 0; j < p; ++j) g_[j] -= last * v[j], d_[j] += v[j] * v[j];
  }

  PURSUIT_CLONES static void turned(double* __restrict low, double* __restrict high, double c, double s, i64 len) {
#pragma omp simd
    for (i64 k = 0; k < len; ++k) {
      const double a = low[k], e = high[k];
      low[k] = c * a - s * e;
      high[k] = s * a + c * e;
    }
  }

  void rotate(double* rows, i64 stride, i64 count, i64 len) const {
    for (i64 r = 0; r < count; ++r)
      turned(rows + r * stride, rows + (r + 1) * stride, turns[2 * r], turns[2 * r + 1], len);
  }

  const RowQuad q;
  const i64 cap;
  const double floor;
  Units S, at; // columns in order of entry, the position of each or -1
  std::vector<Newcomer> near;
  Buffer z, T, V, d, g;
  std::vector<Left> left; // by row
  std::uint64_t sum = 0;  // of the keys of S
  std::vector<double> unit, x, b, column, turns, W, reaches;
  std::vector<std::pair<double, i64>> order;
  bool solved = false;
  int updates = 0;
  double clean = 1.0; // the least share that was left of a column when it came in
  double spent = 0.0;
};

} // namespace pursuit
