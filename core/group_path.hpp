#pragma once

#include "cholesky.hpp"
#include "loops.hpp"
#include "search.hpp"

// The best support of every number of groups of columns, for a quadratic
//
//     q(x) = x'Hx/2 - g'x,      H positive definite,
//
// by forward steps and exchanges of one group, all of them judged exactly. The state is the principal pivot transform
// of H and g with respect to the columns S of the groups that are in (N: the others):
//
//     T = [ H_SS^-1           -H_SS^-1 H_SN               ]      v = [ -x_S                       ]
//         [ H_NS H_SS^-1       H_NN - H_NS H_SS^-1 H_SN   ]          [ g_N - H_NS x_S             ]
//
// A group that enters or leaves is one pivot on its block, O(p^2 m) for m columns. With D = T_bb a group that enters
// gains, and one that leaves costs, v_b' D^-1 v_b / 2. Where i leaves first, j enters with
//
//     v_j - T_ji T_ii^-1 v_i      and      T_jj + T_ji T_ii^-1 T_ji',
//
// so that an exchange costs O(m^3) to judge. Numbers drift with every pivot: after kMaxPivots the state is made anew.
// Columns of a group that depend on others but for rounding are not pivoted: the group enters without them.
// M. J. Tsatsomeros, Principal pivot transforms: properties and applications, Linear Algebra Appl. 307 (2000).

namespace pursuit {

struct GroupProblem {
  const double *H, *g;
  i64 p;
  std::vector<i64> starts;           // where the columns of each group begin, and the end
  std::vector<std::uint8_t> forced;  // groups that are always in
  std::vector<std::uint8_t> allowed; // groups that may be in
  i64 groups() const { return static_cast<i64>(starts.size()) - 1; }
  i64 width(i64 b) const { return starts[b + 1] - starts[b]; }
};

class GroupState {
public:
  explicit GroupState(const GroupProblem& problem_)
      : problem(problem_), p(problem_.p), T(reals(p * p)), v(reals(p)), in(problem_.groups(), 0), swept(p, 0) {
    for (i64 b = 0; b < problem.groups(); ++b) widest = std::max(widest, problem.width(b));
    const i64 m = widest;
    rows = reals(m * p), block = reals(m * m), work = reals(5 * m * m + 4 * m);
    mine.reserve(m), theirs.reserve(m);
    restart();
  }
  double value() const { return value_; }
  i64 size() const { return size_; }
  bool has(i64 b) const { return in[b]; }
  Units support() const {
    Units out;
    for (i64 b = 0; b < problem.groups(); ++b)
      if (in[b]) out.push_back(b);
    return out;
  }
  // The coefficients of the groups that are in, one group after the other.
  std::vector<double> coefficients() const {
    std::vector<double> x;
    for (i64 b : support())
      for (i64 j = problem.starts[b]; j < problem.starts[b + 1]; ++j) x.push_back(swept[j] ? -v[j] : 0.0);
    return x;
  }
  void go_to(const Units& target) {
    if (size_ == 0 && target.size() > kFewPivots && set(target)) return;
    std::vector<std::uint8_t> wanted(in.size(), 0);
    for (i64 b : target) wanted[b] = 1;
    for (i64 b = 0; b < problem.groups(); ++b)
      if (wanted[b] != in[b]) pivot(b);
  }
  // What entering gains, or leaving costs.
  double worth(i64 b) {
    columns_of(b, mine);
    double* L = work.get();
    double* z = L + widest * widest;
    copy_block(mine, L);
    for (std::size_t i = 0; i < mine.size(); ++i) z[i] = v[mine[i]];
    return half_square(L, mine, z, z + widest);
  }
  // The change of q by an exchange: the best newcomer and its change.
  std::pair<i64, double> best_newcomer(i64 leave) {
    i64 best = -1;
    double least = HUGE_VAL;
    judge(leave, [&](i64 b, double change) {
      if (change < least) best = b, least = change;
    });
    return {best, least};
  }
  // `use(newcomer, change)` for every exchange in which a group leaves.
  template <class Use>
  void judge(i64 leave, Use&& use) {
    columns_of(leave, mine);
    const i64 m = static_cast<i64>(mine.size());
    double* L = work.get();
    double* inverse = L + widest * widest;
    double* K = inverse + widest * widest; // T_ji T_ii^-1
    double* S = K + widest * widest;
    double* shift = S + widest * widest; // T_ii^-1 v_i
    double* z = shift + widest;
    double* scratch = z + widest;
    copy_block(mine, L);
    invert(L, mine, inverse);
    double cost = 0.0;
    for (i64 i = 0; i < m; ++i) {
      shift[i] = 0.0;
      for (i64 j = 0; j < m; ++j) shift[i] += inverse[i * m + j] * v[mine[j]];
      cost += 0.5 * shift[i] * v[mine[i]];
    }
    for (i64 b = 0; b < problem.groups(); ++b) {
      if (in[b] || !problem.allowed[b]) continue;
      columns_of(b, theirs);
      const i64 w = static_cast<i64>(theirs.size());
      for (i64 i = 0; i < w; ++i) {
        const double* row = T.get() + theirs[i] * p;
        double sum = v[theirs[i]];
        for (i64 j = 0; j < m; ++j) sum -= row[mine[j]] * shift[j];
        z[i] = sum;
        for (i64 j = 0; j < m; ++j) {
          double k = 0.0;
          for (i64 l = 0; l < m; ++l) k += row[mine[l]] * inverse[l * m + j];
          K[i * m + j] = k;
        }
      }
      for (i64 i = 0; i < w; ++i)
        for (i64 j = 0; j <= i; ++j) {
          double sum = T[theirs[i] * p + theirs[j]];
          const double* row = T.get() + theirs[j] * p;
          for (i64 l = 0; l < m; ++l) sum += K[i * m + l] * row[mine[l]];
          S[i * w + j] = sum;
        }
      const double gain = half_square(S, theirs, z, scratch);
      use(b, cost - gain);
    }
  }
  PURSUIT_CLONES void pivot(i64 b) {
    if (pivots >= kMaxPivots) refactor();
    columns_of(b, mine);
    copy_block(mine, work.get());
    invert(work.get(), mine, block.get());
    i64 m = static_cast<i64>(mine.size());
    if (!in[b]) { // columns that depend on others stay out: their rows of the inverse are zero
      i64 used = 0;
      theirs.resize(m);
      for (i64 i = 0; i < m; ++i)
        if (block[i * m + i] > 0.0) theirs[used] = i, mine[used++] = mine[i];
      for (i64 i = 0; i < used; ++i)
        for (i64 j = 0; j < used; ++j) block[i * used + j] = block[theirs[i] * m + theirs[j]];
      m = used;
      mine.resize(m);
    }
    double* R = rows.get();
    for (i64 i = 0; i < m; ++i) {
      double* out = R + i * p;
      std::fill(out, out + p, 0.0);
      for (i64 j = 0; j < m; ++j) {
        const double d = block[i * m + j];
        const double* row = T.get() + mine[j] * p;
        for (i64 c = 0; c < p; ++c) out[c] += d * row[c];
      }
    }
    double* C = work.get();
    double* z = C + widest;
    double* back = z + widest;
    double moved = 0.0;
    for (i64 i = 0; i < m; ++i) {
      z[i] = 0.0;
      for (i64 j = 0; j < m; ++j) z[i] += block[i * m + j] * v[mine[j]];
      moved += 0.5 * z[i] * v[mine[i]];
      swept[mine[i]] ^= 2; // those that move now
    }
    for (i64 a = 0; a < p; ++a) {
      if (swept[a] & 2) continue;
      double* row = T.get() + a * p;
      for (i64 i = 0; i < m; ++i) C[i] = row[mine[i]];
      for (i64 i = 0; i < m; ++i) back[i] = -C[i], v[a] -= C[i] * z[i];
      add_lines(R, p, back, m, p, row);
      for (i64 i = 0; i < m; ++i) {
        double sum = 0.0;
        for (i64 j = 0; j < m; ++j) sum += C[j] * block[j * m + i];
        row[mine[i]] = sum;
      }
    }
    for (i64 i = 0; i < m; ++i) {
      double* row = T.get() + mine[i] * p;
      for (i64 c = 0; c < p; ++c) row[c] = -R[i * p + c];
      for (i64 j = 0; j < m; ++j) row[mine[j]] = block[i * m + j];
      v[mine[i]] = -z[i];
      swept[mine[i]] = !in[b];
    }
    value_ += in[b] ? moved : -moved;
    size_ += in[b] ? -1 : 1;
    in[b] = !in[b];
    ++pivots;
  }

private:
  static constexpr i64 kMaxPivots = 150;
  static constexpr double kSafePivots = 1e-6;     // squared ratio of pivots from which on no column is dependent
  static constexpr std::size_t kFewPivots = 2;    // up to which pivots cost no more than products of whole blocks
  static constexpr double kMinPivotShare = 1e-12; // of a column's own curvature: below it, it depends on others

  void restart() {
    std::copy(problem.H, problem.H + p * p, T.get());
    std::copy(problem.g, problem.g + p, v.get());
    std::fill(in.begin(), in.end(), 0);
    std::fill(swept.begin(), swept.end(), 0);
    value_ = 0.0, size_ = 0, pivots = 0;
  }
  void refactor() {
    const Units kept = support();
    restart();
    pivots = -static_cast<i64>(kept.size()); // so that this is not made anew in between
    for (i64 b : kept) pivot(b);
  }
  // The state with these groups, by products of whole blocks; false where H_SS is too close to singular for that.
  bool set(const Units& groups) {
    restart();
    std::vector<std::uint8_t> chosen(in.size(), 0);
    for (i64 b : groups) chosen[b] = 1;
    Units S, N;
    for (i64 b = 0; b < problem.groups(); ++b)
      for (i64 j = problem.starts[b]; j < problem.starts[b + 1]; ++j) (chosen[b] ? S : N).push_back(j);
    const i64 s = static_cast<i64>(S.size()), n = static_cast<i64>(N.size());
    Buffer H = reals(s * s), B = reals(s * s), across = reals(n * s), K = reals(n * s), schur = reals(n * n);
    for (i64 i = 0; i < s; ++i)
      for (i64 j = 0; j < s; ++j) H[i * s + j] = problem.H[S[i] * p + S[j]];
    const Factor whole(H.get(), s, s);
    if (!(whole.pivots() > kSafePivots)) return false;
    whole.inverse(B.get(), s);
    for (i64 i = 0; i < n; ++i)
      for (i64 j = 0; j < s; ++j) across[i * s + j] = problem.H[N[i] * p + S[j]];
    gemm(false, s, n, s, B.get(), s, across.get(), s, 0.0, K.get(), s); // K = H_NS H_SS^-1, row by row
    gemm(true, n, n, s, across.get(), s, K.get(), s, 0.0, schur.get(), n);
    for (i64 i = 0; i < s; ++i) {
      double x = 0.0;
      for (i64 j = 0; j < s; ++j) T[S[i] * p + S[j]] = B[i * s + j], x += B[i * s + j] * problem.g[S[j]];
      for (i64 j = 0; j < n; ++j) T[S[i] * p + N[j]] = -K[j * s + i];
      v[S[i]] = -x;
      value_ -= 0.5 * x * problem.g[S[i]];
      swept[S[i]] = 1;
    }
    for (i64 i = 0; i < n; ++i) {
      double* row = T.get() + N[i] * p;
      for (i64 j = 0; j < s; ++j) row[S[j]] = K[i * s + j], v[N[i]] += across[i * s + j] * v[S[j]];
      for (i64 j = 0; j < n; ++j) row[N[j]] -= schur[i * n + j];
    }
    in = chosen;
    size_ = static_cast<i64>(groups.size());
    return true;
  }
  // The columns of a group that may enter, or those that are in.
  void columns_of(i64 b, std::vector<i64>& out) const {
    out.clear();
    for (i64 j = problem.starts[b]; j < problem.starts[b + 1]; ++j)
      if (!in[b] || swept[j]) out.push_back(j);
  }
  // The lower triangle of T on some columns, row by row.
  void copy_block(const std::vector<i64>& cols, double* L) const {
    const i64 m = static_cast<i64>(cols.size());
    for (i64 i = 0; i < m; ++i)
      for (i64 j = 0; j <= i; ++j) L[i * m + j] = T[cols[i] * p + cols[j]];
  }
  // L: a lower triangle, row by row, and then its Cholesky factor. The row and column of a column that depends on those
  // before it, and on the groups that are in, are zero.
  void factor(double* L, const std::vector<i64>& cols) const {
    const i64 m = static_cast<i64>(cols.size());
    for (i64 j = 0; j < m; ++j) {
      double own = L[j * m + j];
      for (i64 l = 0; l < j; ++l) own -= L[j * m + l] * L[j * m + l];
      const double least = swept[cols[j]] ? 0.0 : kMinPivotShare * problem.H[cols[j] * p + cols[j]];
      const bool independent = own > least && own > 0.0;
      L[j * m + j] = independent ? std::sqrt(own) : 0.0;
      for (i64 i = j + 1; i < m; ++i) {
        double sum = L[i * m + j];
        for (i64 l = 0; l < j; ++l) sum -= L[i * m + l] * L[j * m + l];
        L[i * m + j] = independent ? sum / L[j * m + j] : 0.0;
      }
      if (!independent)
        for (i64 l = 0; l < j; ++l) L[j * m + l] = 0.0;
    }
  }
  // z' S^-1 z / 2 for the lower triangle L of S, without the columns that depend on others.
  double half_square(double* L, const std::vector<i64>& cols, const double* z, double* y) const {
    factor(L, cols);
    const i64 m = static_cast<i64>(cols.size());
    double sum = 0.0;
    for (i64 i = 0; i < m; ++i) {
      double left = z[i];
      for (i64 j = 0; j < i; ++j) left -= L[i * m + j] * y[j];
      y[i] = L[i * m + i] > 0.0 ? left / L[i * m + i] : 0.0;
      sum += y[i] * y[i];
    }
    return 0.5 * sum;
  }
  // The inverse; rows and columns of what depends on others are zero.
  void invert(double* L, const std::vector<i64>& cols, double* out) const {
    factor(L, cols);
    const i64 m = static_cast<i64>(cols.size());
    for (i64 c = 0; c < m; ++c) { // columns of L^-1 in the upper triangle of out, then (L L')^-1
      for (i64 i = c; i < m; ++i) {
        double sum = i == c && L[c * m + c] > 0.0 ? 1.0 : 0.0;
        for (i64 j = c; j < i; ++j) sum -= L[i * m + j] * out[c * m + j];
        out[c * m + i] = L[i * m + i] > 0.0 ? sum / L[i * m + i] : 0.0;
      }
    }
    for (i64 i = 0; i < m; ++i)
      for (i64 j = i; j < m; ++j) {
        double sum = 0.0;
        for (i64 l = j; l < m; ++l) sum += out[i * m + l] * out[j * m + l];
        L[i * m + j] = sum; // L is done with
      }
    for (i64 i = 0; i < m; ++i)
      for (i64 j = i; j < m; ++j) out[i * m + j] = out[j * m + i] = L[i * m + j];
  }

  const GroupProblem& problem;
  const i64 p;
  Buffer T, v, rows, block, work;
  std::vector<std::uint8_t> in;
  std::vector<std::uint8_t> swept; // columns that are pivoted: those of the groups that are in, but for dependent ones
  std::vector<i64> mine, theirs;   // columns of one group
  i64 widest = 1, size_ = 0, pivots = 0;
  double value_ = 0.0;
};

struct GroupPoint {
  Units groups;
  double value = HUGE_VAL;
};

class GroupPath {
public:
  GroupPath(const GroupProblem& problem_, double tolerance_, Poll& poll_)
      : problem(problem_), state(problem_), tolerance(tolerance_), poll(poll_) {}

  // From the groups `start` to k of them; exchanges at the sizes that are `wanted`.
  void run(const Units& start, i64 k, const std::vector<std::uint8_t>& wanted) {
    best.assign(static_cast<std::size_t>(k + 1), {});
    state.go_to(start);
    while (state.size() > k && leave_cheapest()) {
    }
    i64 size = state.size();
    improve_and_revisit(size, wanted);
    while (size < k && !poll.stop()) {
      if (best[size].value < state.value()) state.go_to(best[size].groups);
      if (!enter_best()) break;
      size = state.size();
      improve_and_revisit(size, wanted);
    }
  }
  std::vector<GroupPoint> best; // by size; a value of HUGE_VAL: the size was not reached

  // The coefficients of these groups, one group after the other.
  std::vector<double> coefficients(const Units& groups) {
    state.go_to(groups);
    return state.coefficients();
  }
  // The groups that gain most beside these, the best first; `times`: what their gains are multiplied by.
  Units newcomers(const Units& groups, std::size_t most, const double* times = nullptr) {
    std::vector<std::pair<double, i64>> gains;
    state.go_to(groups);
    for (i64 b = 0; b < problem.groups(); ++b)
      if (!state.has(b) && problem.allowed[b]) gains.emplace_back(-state.worth(b) * (times ? times[b] : 1.0), b);
    most = std::min(most, gains.size());
    std::partial_sort(gains.begin(), gains.begin() + static_cast<i64>(most), gains.end());
    Units out;
    for (std::size_t i = 0; i < most; ++i) out.push_back(gains[i].second);
    return out;
  }
  // These groups without the one that costs least.
  Units reduced(const Units& groups) {
    state.go_to(groups);
    return leave_cheapest() ? state.support() : groups;
  }
  // The best exchanges of one group from these groups, the best first.
  std::vector<Move> ranked(const Units& groups, std::size_t most) {
    std::vector<Move> out;
    state.go_to(groups);
    for (i64 b : groups)
      if (!problem.forced[b])
        state.judge(b, [&](i64 newcomer, double change) { out.push_back({b, newcomer, change}); });
    most = std::min(most, out.size());
    std::partial_sort(out.begin(), out.begin() + static_cast<i64>(most), out.end(),
                      [](const Move& a, const Move& b) { return a.change < b.change; });
    out.resize(most);
    return out;
  }

private:
  static constexpr int kMaxExchanges = 50; // at one size, in one go

  bool record() {
    GroupPoint& known = best[static_cast<std::size_t>(state.size())];
    if (!(state.value() < known.value - tolerance)) return false;
    known = {state.support(), state.value()};
    return true;
  }
  // Exchanges at this size, and what the new point is worth one size below, and then again from there.
  void improve_and_revisit(i64 size, const std::vector<std::uint8_t>& wanted) {
    if (wanted[size]) improve();
    record();
    if (!wanted[size]) return;
    const Units here = state.support();
    bool lower = false;
    while (state.size() > first_size() && leave_cheapest()) {
      const GroupPoint& known = best[static_cast<std::size_t>(state.size())];
      if (known.value == HUGE_VAL || !(state.value() < known.value - tolerance)) break;
      if (wanted[state.size()]) improve();
      lower = record() || lower;
    }
    if (lower) {
      while (state.size() < size) {
        const GroupPoint& known = best[static_cast<std::size_t>(state.size())];
        if (known.value < HUGE_VAL) state.go_to(known.groups); // below the start nothing may be known
        if (!enter_best()) break;
        if (wanted[state.size()]) improve();
        record();
      }
    }
    state.go_to(best[size].groups.empty() ? here : best[size].groups);
  }
  i64 first_size() const {
    i64 count = 0;
    for (std::uint8_t f : problem.forced) count += f;
    return count;
  }
  bool enter_best() {
    i64 best_group = -1;
    double most = -1.0;
    for (i64 b = 0; b < problem.groups(); ++b) {
      if (state.has(b) || !problem.allowed[b]) continue;
      const double gain = state.worth(b);
      if (gain > most) best_group = b, most = gain;
    }
    if (best_group < 0) return false;
    state.pivot(best_group);
    return true;
  }
  bool leave_cheapest() {
    i64 cheapest = -1;
    double least = HUGE_VAL;
    for (i64 b = 0; b < problem.groups(); ++b) {
      if (!state.has(b) || problem.forced[b]) continue;
      const double cost = state.worth(b);
      if (cost < least) cheapest = b, least = cost;
    }
    if (cheapest < 0) return false;
    state.pivot(cheapest);
    return true;
  }
  void improve() {
    for (int step = 0; step < kMaxExchanges && !poll.stop(); ++step) {
      i64 leave = -1, enter = -1;
      double least = -tolerance;
      for (i64 b = 0; b < problem.groups(); ++b) {
        if (!state.has(b) || problem.forced[b]) continue;
        const auto [newcomer, change] = state.best_newcomer(b);
        if (newcomer >= 0 && change < least) leave = b, enter = newcomer, least = change;
      }
      if (leave < 0) return;
      const double before = state.value();
      const Units here = state.support();
      state.pivot(leave);
      state.pivot(enter);
      if (!(state.value() < before)) { // rounding
        state.go_to(here);
        return;
      }
    }
  }

  const GroupProblem& problem;
  GroupState state;
  const double tolerance;
  Poll& poll;
};

} // namespace pursuit
