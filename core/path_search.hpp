#pragma once

#include "search.hpp"

// The best point of every size, each from its neighbours (pursuit/solvers/path_search.py has the same in Python, for
// whatever objective). Stage K begins when no size up to K - 1 can be improved from its neighbours: up from K - 1,
// exchanges, and whenever the best point of a size is new, from it one unit down and one unit up again. Sizes that are
// not wanted are passed through: up from K - 1, and no more.

namespace pursuit {

inline constexpr i64 kFewTries = 2;
inline constexpr double kFar = 0.5; // of what a unit more gains: a start that is further up is not pursued

// What a path needs of a state: less than a search of one size does (search.hpp).
template <class State>
concept PathState = requires(State& state, i64 j, const Units& units, const SearchPlan& plan) {
  { state.units() } -> std::convertible_to<i64>;
  { state.size() } -> std::convertible_to<i64>;
  { state.support() } -> std::convertible_to<const Units&>;
  { state.f } -> std::convertible_to<double>;
  { state.done() } -> std::convertible_to<bool>;
  { state.open(j) } -> std::convertible_to<bool>;
  { state.gain(j) } -> std::convertible_to<double>;
  { state.cost(j) } -> std::convertible_to<double>;
  { state.enter(j) } -> std::convertible_to<bool>;
  { state.leave(j) } -> std::convertible_to<bool>;
  { state.set(units) } -> std::convertible_to<bool>;
  { state.restore(state.keep()) } -> std::convertible_to<bool>;
  { state.improve(plan) } -> std::convertible_to<bool>;
  { state.found() } -> std::convertible_to<Found>;
};

template <PathState State>
class PathSearch {
public:
  struct Size {
    Found point;
    decltype(std::declval<State&>().keep()) kept;
    double f = HUGE_VAL;
    bool settled = false;                                    // it was left where no exchange is found that helps
    double condition = 0.0, share = 0.0, nearest = HUGE_VAL; // `doubtful` columns outside are left out of them
    Units doubtful;
  };
  std::vector<Size> best; // of the sizes `first`, `first` + 1, ...
  i64 first = 0;
  bool stopped = false;                           // before its end, by the caller
  std::function<bool(const Size&)> is_sufficient; // where it is given, the path ends at the first size that is not

  // `thorough`: at every size also the starts and restarts of a search for it alone. `wanted`: a flag for each size up
  // to k, or null for all of them.
  PathSearch(State& state_, const SearchPlan& plan_, Poll& poll_, bool thorough_, const std::uint8_t* wanted_,
             std::function<bool(i64, double)> reached_)
      : state(state_), plan(plan_), poll(poll_), thorough(thorough_), wanted(wanted_), reached(std::move(reached_)) {
    if (!thorough) plan.tries = kFewTries;
  }

  void run() {
    Units forced;
    for (i64 j = 0; j < state.units(); ++j)
      if (plan.forced[j]) forced.push_back(j);
    first = static_cast<i64>(forced.size());
    if (!state.set(forced)) return;
    const i64 last = plan.k;
    seen.resize(static_cast<std::size_t>(last + 1));
    best.emplace_back();
    take(first, true);
    stopped = should_stop(first);
    for (i64 size = first + 1; size <= last && !stopped; ++size) {
      if (!stage(size)) break;
      stopped = should_stop(size);
      if (is_sufficient && !is_sufficient(of(size))) break;
    }
    stopped = stopped || poll.stop();
  }

  // Points that are known, of sizes `first_`, ..., each after exchanges; what is better goes on to the sizes next to
  // it.
  void revisit(i64 first_, const std::vector<Found>& known) {
    first = first_;
    seen.resize(static_cast<std::size_t>(first) + known.size());
    Units better;
    for (const Found& point : known) {
      const i64 size = first + static_cast<i64>(best.size());
      best.emplace_back();
      if (poll.stop() || !state.set(point.support) || !take(size, local(size)))
        best.back().point = point, best.back().kept = state.keep(), best.back().f = point.f;
      else if (best.back().point.support != point.support)
        better.push_back(size);
    }
    for (i64 size : better)
      if (!poll.stop()) spread(size);
    stopped = poll.stop();
  }

  // The state, after exchanges, as the best point of its size, if it is better than what the path found.
  void offer() {
    const i64 size = state.size();
    if (size <= first || size >= first + static_cast<i64>(best.size()) || passes(size)) return;
    if (state.f < of(size).f && take(size, local(size))) spread(size);
  }

private:
  bool should_stop(i64 size) { return poll.stop() || (reached && reached(size, of(size).f)); }

  bool passes(i64 size) const { return wanted && !wanted[size]; }

  Size& of(i64 size) { return best[static_cast<std::size_t>(size - first)]; }

  // False where there is nothing to come in any more, or time is up before the size was reached.
  bool stage(i64 size) {
    if (!state.restore(of(size - 1).kept) || state.done()) return false;
    best.emplace_back();
    step(size - 1, size);
    if (poll.stop() && !(of(size).f < HUGE_VAL)) return best.pop_back(), false;
    if (!(of(size).f <= of(size - 1).f)) return best.pop_back(), false;
    if (passes(size)) return true;
    if constexpr (SearchState<State>)
      if (thorough) alone(size);
    spread(size);
    return true;
  }

  // From the best point of a size, which is new, to its neighbours, and from those that are better to theirs.
  void spread(i64 size) {
    const i64 last = first + static_cast<i64>(best.size()) - 1;
    Units fresh{size};
    while (!fresh.empty() && !poll.stop()) {
      const i64 at = fresh.back();
      fresh.pop_back();
      for (i64 to : {at - 1, at + 1})
        if (to > first && to <= last && !passes(to) && step(at, to)) fresh.push_back(to);
    }
  }

  // From the best point of one size to a size next to it, and exchanges there unless it is only passed; whether that is
  // better than what was known there.
  bool step(i64 from, i64 to) {
    if (!state.restore(of(from).kept)) return false;
    const std::uint64_t sum = set_key(state.support());
    if (to < from) {
      i64 least = -1;
      double cost = HUGE_VAL;
      for (i64 i = 0; i < state.size(); ++i)
        if (!plan.forced[state.support()[i]] && (least < 0 || state.cost(i) < cost))
          cost = state.cost(i), least = state.support()[i];
      const double known = of(to).f;
      const bool hopeless = !thorough && state.f + cost > known + kFar * (known - state.f);
      if (least < 0 || hopeless || !unseen(to, sum - unit_key(least)) || !state.leave(least)) return false;
    } else {
      i64 most = -1;
      double gain = 0.0;
      for (i64 j = 0; j < state.units(); ++j) {
        if (!plan.allowed[j] || !state.open(j)) continue;
        const double more = state.gain(j);
        if (more > gain || most < 0) gain = more, most = j;
      }
      if (most < 0 || !unseen(to, sum + unit_key(most))) return false;
      while (!state.enter(most)) { // it has turned out to be a combination of the others
        most = -1, gain = -1.0;
        for (i64 j = 0; j < state.units(); ++j)
          if (plan.allowed[j] && state.open(j) && state.gain(j) > gain) gain = state.gain(j), most = j;
        if (most < 0 || poll.stop()) return false;
      }
    }
    return take(to, !passes(to) && local(to));
  }

  // Exchanges while one helps; whether it ended where none does.
  bool local(i64 size) {
    while (!poll.stop()) {
      if (!state.improve(plan)) return !poll.stop();
      if (!unseen(size, set_key(state.support()))) return false;
    }
    return false;
  }

  // A search for this size alone.
  void alone(i64 size) {
    SearchPlan own = plan;
    own.k = size;
    if (!state.restore(of(size).kept)) return;
    Search<State> search(state, own, poll);
    search.run(of(size).point.support);
    if (search.found.empty() || !(search.found.back().f < of(size).f - 1e-11 * plan.size(of(size).f))) return;
    if (state.set(search.found.back().support)) take(size, local(size));
  }

  bool take(i64 size, bool settled) {
    Size& known = of(size);
    if (state.size() != size) return false; // a column has turned out to be a combination of the others
    if (!(state.f < known.f - 1e-11 * plan.size(state.f))) return false;
    known.f = state.f;
    known.point = state.found();
    known.kept = state.keep();
    known.settled = settled;
    if constexpr (requires { state.condition(); }) judge(known);
    return true;
  }

  void judge(Size& known) {
    known.condition = state.condition(), known.nearest = state.nearest.change;
    known.share = state.least_share(plan);
    known.doubtful = state.dependent(plan);
    if (!known.doubtful.empty() && known.nearest > -HUGE_VAL) known.nearest = state.closest(plan).change;
  }

  bool unseen(i64 size, std::uint64_t sum) { return seen[static_cast<std::size_t>(size)].insert(sum).second; }

  State& state;
  SearchPlan plan;
  Poll& poll;
  const bool thorough;
  const std::uint8_t* wanted;
  std::function<bool(i64, double)> reached;
  std::vector<std::unordered_set<std::uint64_t>> seen;
};

} // namespace pursuit
