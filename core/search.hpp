#pragma once

#include "common.hpp"

#include <array>
#include <chrono>
#include <concepts>
#include <functional>
#include <numeric>
#include <unordered_set>

// A whole search for the best k units: several starts, each taken to where no exchange of one unit is found that helps,
// then restarts. What the problem is, its `SearchState` knows: the minimiser over a support and what can be said of its
// neighbours (basis_state.hpp, likelihood_state.hpp).

namespace pursuit {

// Time for others: `call` is called every few milliseconds and stops the search by returning true.
class Poll {
public:
  explicit Poll(std::function<bool()> call_) : call(std::move(call_)), next(Clock::now() + kEvery) {}
  bool stop() {
    if (stopped || !call) return stopped;
    if (Clock::now() < next) return false;
    stopped = call();
    next = Clock::now() + kEvery;
    return stopped;
  }
  void halt() { stopped = true; }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kEvery{10};
  std::function<bool()> call;
  Clock::time_point next;
  bool stopped = false;
};

using Units = std::vector<i64>;

// A number for each unit; their sum stands for a set, in whatever order.
inline std::uint64_t unit_key(i64 j) {
  return Random(static_cast<std::uint64_t>(j) * 0x2545f4914f6cdd1dull + 1).next();
}
inline std::uint64_t set_key(const Units& S) {
  std::uint64_t sum = 0;
  for (i64 j : S) sum += unit_key(j);
  return sum;
}

inline constexpr double kFew = 24;     // supports that are simply all tried
inline constexpr double kUneven = 1.5; // ratio of column sizes up to which gradients rank alike in either units

struct Found {
  Units support;
  std::vector<double> x; // the coefficients of each unit one after the other, then the intercepts
  double f;
};

struct Move {
  i64 leave = -1, enter = -1;
  double change = HUGE_VAL;
};

struct SearchPlan {
  i64 k;
  const std::uint8_t *forced, *allowed; // forced units are in and stay; only allowed ones may be in
  i64 restarts, patience;               // how many, and how many in a row may be unsuccessful
  double effort;                        // what they may cost, as a multiple of what went before
  i64 widest;                           // multiple of k to which units are added before all but k are dropped
  std::uint64_t seed;
  double scale;  // the least that differences of f are relative to
  i64 tries = 6; // exchanges that are fitted before a point counts as one where none helps, where that needs fits
  double size(double f) const { return std::max(std::fabs(f), scale); }
};

template <class State>
concept SearchState =
    requires(State& state, const State& fixed, i64 j, double step, const Units& units, const SearchPlan& plan) {
      // the minimiser over a support: units in order of entry, value, whether nothing is left to explain
      { fixed.units() } -> std::convertible_to<i64>;
      { fixed.size() } -> std::convertible_to<i64>;
      { fixed.support() } -> std::convertible_to<const Units&>;
      { state.f } -> std::convertible_to<double>;
      { fixed.has(j) } -> std::convertible_to<bool>;
      { fixed.done() } -> std::convertible_to<bool>;
      // whether unit j is outside and not a combination of those inside
      { fixed.open(j) } -> std::convertible_to<bool>;
      // |g_j|, g_j' H_jj g_j and |x_j - step g_j| in the units of the objective, or of columns of length 1 after
      // even(true), which says whether these differ
      { state.pull(j) } -> std::convertible_to<double>;
      { state.curve(j) } -> std::convertible_to<double>;
      { state.moved(j, step) } -> std::convertible_to<double>;
      { state.even(true) } -> std::convertible_to<bool>;
      // what entering j, or leaving the j-th, changes f by; |x| of the j-th
      { state.gain(j) } -> std::convertible_to<double>;
      { state.cost(j) } -> std::convertible_to<double>;
      { state.size(j) } -> std::convertible_to<double>;
      // to another minimiser; false where there is none to be had
      { state.enter(j) } -> std::convertible_to<bool>;
      { state.leave(j) } -> std::convertible_to<bool>;
      { state.set(units) } -> std::convertible_to<bool>;
      // back to a minimiser that was met before; false where rounding keeps a column out
      { state.restore(state.keep()) } -> std::convertible_to<bool>;
      // to a better support by one exchange; false where none is found
      { state.improve(plan) } -> std::convertible_to<bool>;
      // the point, for the caller; roughly the multiplications so far
      { state.found() } -> std::convertible_to<Found>;
      { fixed.work() } -> std::convertible_to<double>;
    };

// The k units of largest score, sorted; a negative score says never.
inline Units top_of(const std::vector<double>& score, i64 k) {
  Units order(score.size());
  std::iota(order.begin(), order.end(), 0);
  k = std::min<i64>(k, static_cast<i64>(order.size()));
  std::partial_sort(order.begin(), order.begin() + k, order.end(),
                    [&](i64 a, i64 b) { return score[a] > score[b] || (score[a] == score[b] && a < b); });
  order.resize(static_cast<std::size_t>(k));
  while (!order.empty() && score[order.back()] < 0.0) order.pop_back();
  std::sort(order.begin(), order.end());
  return order;
}

template <SearchState State>
class Search {
public:
  std::vector<Found> found; // each better than the one before

  Search(State& state_, const SearchPlan& plan_, Poll& poll_)
      : state(state_), plan(plan_), poll(poll_), random(plan_.seed) {}

  // From a support only.
  void from(const Units& start) {
    if (start.empty() || !state.set(start)) return;
    forward(plan.k, true);
    local();
  }

  // From a support, then restarts.
  void restart_from(const Units& start) {
    from(start);
    again();
  }

  // From the caller's start, if there is one, and from those of grahtp, omp, ompr and local_search.
  void run(const Units& start) {
    from(start);
    if (supports() <= kFew) return enumerate();
    for (bool even : {false, true}) { // gradients in the objective's units, then in those of even columns
      if (even && !state.even(true)) break;
      grahtp();
      local();
      outward();
    }
    state.even(false);
    forced();
    forward(plan.k, true);
    local();
    again();
  }

  // Exchanges while one helps; a support that has been searched from before is left.
  void local() {
    if (state.size() == 0 || !unseen()) return;
    while (!over() && state.improve(plan))
      if (!unseen()) return;
    take();
  }

  bool over() { return poll.stop() || (!found.empty() && ended); }

private:
  // Forward to k units (OMP); from there OMPR; and on to more, and back to k.
  void outward() {
    forced();
    forward(plan.k, false);
    const auto omp = state.keep();
    replace(); // no worse than OMP, and mostly where exchanges would lead
    local();
    for (i64 times = 2; times <= plan.widest && !over(); ++times) {
      if (!state.restore(omp)) return;
      forward(std::min(state.units(), times * plan.k), false);
      backward();
      local();
    }
  }

  bool unseen() { return seen.insert(set_key(state.support())).second; }

  // How many supports there are to choose from.
  double supports() const {
    double count = 1.0;
    i64 n = 0, k = plan.k;
    for (i64 j = 0; j < state.units(); ++j) n += plan.allowed[j] && !plan.forced[j], k -= plan.forced[j];
    for (i64 i = 0; i < k; ++i) count *= static_cast<double>(n - i) / static_cast<double>(i + 1);
    return count;
  }

  void enumerate() {
    const Units inside = forced_units();
    Units free, pick;
    for (i64 j = 0; j < state.units(); ++j)
      if (plan.allowed[j] && !plan.forced[j]) free.push_back(j);
    const i64 n = static_cast<i64>(free.size()), k = std::min(n, plan.k - static_cast<i64>(inside.size()));
    for (i64 i = 0; i < k; ++i) pick.push_back(i);
    while (!over()) {
      Units S = inside;
      for (i64 i : pick) S.push_back(free[i]);
      if (state.set(S)) take();
      i64 i = k - 1;
      while (i >= 0 && pick[i] == n - k + i) --i;
      if (i < 0) return;
      for (++pick[i]; i + 1 < k; ++i) pick[i + 1] = pick[i] + 1;
    }
  }

  void take() {
    if (!found.empty() && !(state.f < found.back().f - 1e-12 * plan.size(state.f))) return;
    Found point = state.found();
    if (point.support.empty()) return; // it has turned out to be dependent
    found.push_back(std::move(point));
    ended = state.done();
  }

  bool open(i64 j) const { return plan.allowed[j] && state.open(j); }

  // The unit outside with the largest score, or -1.
  template <class Score>
  i64 largest(Score&& score) const {
    i64 best = -1;
    double most = 0.0;
    for (i64 j = 0; j < state.units(); ++j) {
      if (!open(j)) continue;
      const double s = score(j);
      if (s > most) most = s, best = j;
    }
    return best;
  }

  Units forced_units() const {
    Units S;
    for (i64 j = 0; j < state.units(); ++j)
      if (plan.forced[j]) S.push_back(j);
    return S;
  }

  void forced() {
    if (!state.set(forced_units())) state.set({});
  }

  // Units come in by the largest gradient (OMP) or the largest gain, to m of them.
  void forward(i64 m, bool gain) {
    while (state.size() < m && !over() && !state.done()) {
      const i64 j =
          gain ? largest([&](i64 j_) { return state.gain(j_); }) : largest([&](i64 j_) { return state.pull(j_); });
      if (j < 0 || !state.enter(j)) return;
    }
  }

  void backward() {
    while (state.size() > plan.k) {
      i64 least = -1;
      double cost = HUGE_VAL;
      for (i64 i = 0; i < state.size(); ++i)
        if (!plan.forced[state.support()[i]] && (least < 0 || state.cost(i) < cost))
          cost = state.cost(i), least = state.support()[i];
      if (least < 0 || !state.leave(least)) return;
    }
  }

  // The smallest coefficient for the largest gradient while that helps (OMPR).
  void replace() {
    while (state.size() == plan.k && !over()) {
      i64 least = -1;
      for (i64 i = 0; i < state.size(); ++i)
        if (!plan.forced[state.support()[i]] && (least < 0 || state.size(i) < state.size(least))) least = i;
      const i64 j = largest([&](i64 j_) { return state.pull(j_); });
      if (least < 0 || j < 0) return;
      const auto before = state.keep();
      Units next = state.support();
      next[least] = j;
      const double f = state.f;
      if (state.set(next) && state.f < f - 1e-12 * plan.size(state.f)) continue;
      state.restore(before);
      return;
    }
  }

  // GraHTP with the library's natural steps (pursuit/solvers/steps.py).
  void grahtp() {
    forced();
    std::vector<double> score(static_cast<std::size_t>(state.units()));
    for (int turn = 0; turn < 100 && !over(); ++turn) {
      for (i64 j = 0; j < state.units(); ++j) score[j] = plan.allowed[j] ? state.pull(j) : -1.0;
      double norm = 0.0, curve = 0.0;
      for (i64 j : top_of(score, std::min<i64>(plan.k, 16)))
        norm += state.pull(j) * state.pull(j), curve += state.curve(j);
      if (!(curve > 0.0)) return;
      const Units S = state.support();
      const double step = norm / curve, before = state.f;
      const auto kept = state.keep();
      double pull = 0.0, least = HUGE_VAL;
      for (i64 j = 0; j < state.units(); ++j)
        if (plan.allowed[j] && !state.has(j)) pull = std::max(pull, state.pull(j));
      for (i64 i = 0; i < state.size(); ++i)
        if (!plan.forced[S[i]]) least = std::min(least, state.size(i));
      const double change = pull > 0.0 ? least / pull : HUGE_VAL;
      bool better = false;
      for (int rung = 0; rung < 5 && !better; ++rung) {
        const double s = rung < 4 ? step / (1 << rung) : change * (1 + 1e-9);
        if (rung == 4 && !(step < change && change <= 4.0 * step)) break;
        for (i64 j = 0; j < state.units(); ++j)
          score[j] = plan.forced[j] ? HUGE_VAL : (plan.allowed[j] ? state.moved(j, s) : -1.0);
        const Units next = top_of(score, plan.k);
        if (set_key(next) == set_key(S)) continue;
        better = state.set(next) && state.f < before;
        if (!better && !state.restore(kept)) return;
      }
      if (!better) return;
    }
  }

  // One of the `many` units of largest gain that are outside and not excluded, or -1.
  i64 one_of_best(i64 many) {
    std::array<std::pair<double, i64>, 4> best;
    i64 count = 0;
    for (i64 j = 0; j < state.units(); ++j) {
      if (excluded[j] || !plan.allowed[j]) continue;
      const double gain = state.gain(j);
      if (!(gain > 0.0)) continue;
      if (count == many && !(gain > best[many - 1].first)) continue;
      i64 at = count < many ? count++ : many - 1;
      for (; at > 0 && gain > best[at - 1].first; --at) best[at] = best[at - 1];
      best[at] = {gain, j};
    }
    return count == 0 ? -1 : best[random.below(count)].second;
  }

  // Drop some units of the best point, forbid them while others come in, and go on from there.
  void again() {
    i64 idle = 0;
    const double most = (1.0 + plan.effort) * state.work();
    for (i64 turn = 0; turn < plan.restarts && idle < plan.patience && !found.empty() && !over(); ++turn) {
      if (state.work() > most) return;
      Units S, gone, free;
      for (i64 j : found.back().support) (plan.forced[j] ? S : free).push_back(j);
      if (free.empty()) return;
      const i64 count = 1 + random.below(4 * (static_cast<i64>(free.size()) + 1) / 5);
      for (i64 t = 0; t < count; ++t) {
        const i64 at = random.below(static_cast<i64>(free.size()));
        gone.push_back(free[at]);
        free.erase(free.begin() + at);
      }
      S.insert(S.end(), free.begin(), free.end());
      if (!state.set(S)) return;
      excluded.assign(static_cast<std::size_t>(state.units()), 0);
      for (i64 j : gone) excluded[j] = 1;
      while (state.size() < plan.k && !over()) {
        const i64 j = one_of_best(turn % 2 ? 4 : 2);
        if (j < 0 || !state.enter(j)) break;
      }
      const std::size_t before = found.size();
      local();
      idle = found.size() > before ? 0 : idle + 1;
    }
  }

  State& state;
  SearchPlan plan;
  Poll& poll;
  Random random;
  std::unordered_set<std::uint64_t> seen;
  std::vector<std::uint8_t> excluded;
  bool ended = false; // nothing is left to explain
};

} // namespace pursuit
