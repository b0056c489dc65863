#pragma once

#include "basis_state.hpp"
#include "bind_search.hpp"
#include "path_search.hpp"

// What the bindings of paths share.

namespace pursuit {

// Whether no exchange helps, for certain: the nearest is further off than rounding can be
// (pursuit/kernels/rounding.py).
template <class Size>
bool is_claimed(const Size& at, double f0, double rounded) {
  return at.settled && std::min(at.condition, at.share) > kDoubtful &&
         at.nearest > rounded / at.condition * (1 + 1 / at.share) * f0;
}

// The best point of a size, and what is known of it.
struct PathPoint {
  Found point;
  bool settled;                     // no exchange was found that helps
  double condition, share, nearest; // a bound of the reciprocal condition number, the least share that is left of a
                                    // column outside, the change by the nearest exchange
  Units doubtful; // columns outside whose exchanges the formula cannot judge: condition, share, nearest leave them out
  Move exchange;  // where every exchange was judged: the one that changes f least

  bool claimed(double f0, double rounded) const { return is_claimed(*this, f0, rounded); }
};

struct PathSolution {
  std::vector<PathPoint> points; // from the forced-in units on
  bool stopped = false;

  // Whether that is so at all sizes beyond the forced-in units.
  bool claimed(double f0, double rounded) const {
    return std::all_of(points.begin() + 1, points.end(), [&](const PathPoint& at) { return at.claimed(f0, rounded); });
  }
};

// Every size from the forced-in units to k; `thorough`: with a search for every size; `reached` is called with each.
// `judged`: the requested size, which gets most of the restarts, from the request's start too; every
// exchange is judged there (-1: all).
struct PathRequest {
  SearchRequest& search;
  bool thorough;
  nb::object reached;
  i64 judged = -1;
  double f0 = 0.0, rounded = 0.0; // where rounded > 0: the path ends at the first size whose claim rounding prevents
  bool below = false;             // the size below `judged` has as many restarts

  i64 room() const {
    const SearchPlan& plan = search.plan;
    return std::min(search.forced.size(), (thorough ? plan.widest : 1) * plan.k + 1);
  }

  std::function<bool(i64, double)> callback() {
    if (reached.is_none()) return nullptr;
    return [this](i64 size, double f) {
      nb::gil_scoped_acquire hold;
      return search.stop.ask([&] { return is_true(reached(size, f)); });
    };
  }

  template <class State>
  PathSolution run(State& state, Poll& poll, const std::uint8_t* sizes = nullptr) {
    SearchPlan plan = search.plan;
    if (judged >= 0) plan.patience = (plan.patience + kLess - 1) / kLess, plan.effort /= kLess;
    PathSearch<State> path(state, plan, poll, thorough, sizes, callback());
    if constexpr (requires { state.condition(); })
      if (rounded > 0.0) path.is_sufficient = [this](const auto& size) { return is_claimed(size, f0, rounded); };
    Move exchange;
    without_gil([&] {
      path.run();
      if constexpr (requires { state.pursue(path); }) state.pursue(path);
      if constexpr (requires { state.closest(plan); }) exchange = judge(path, state, poll);
    });
    PathSolution out = to_solution(path.best, path.stopped);
    if (exchange.leave >= 0) out.points[static_cast<std::size_t>(judged - path.first)].exchange = exchange;
    return out;
  }

  template <class Size>
  static PathSolution to_solution(std::vector<Size>& best, bool stopped) {
    PathSolution out;
    for (Size& size : best) {
      size.point.f = size.f;
      out.points.push_back({std::move(size.point),
                            size.settled,
                            size.condition,
                            size.share,
                            size.nearest,
                            std::move(size.doubtful),
                            {}});
    }
    out.stopped = stopped;
    return out;
  }

private:
  static constexpr i64 kLess = 10; // times less patience at sizes that are on the way to the requested one

  // The size `judged`: restarts with all patience, and where the state can tell what is known of their end.
  template <class State>
  Move judge(PathSearch<State>& path, State& state, Poll& poll) const {
    const i64 index = judged - path.first;
    if (path.stopped || index < 0 || index >= static_cast<i64>(path.best.size())) return {};
    if (below && index > 1 && thorough) restart(path, state, judged - 1, poll);
    if (index > 0 && (thorough || !search.start.empty())) restart(path, state, judged, poll);
    auto& size = path.best[static_cast<std::size_t>(index)];
    SearchPlan plan = search.plan;
    plan.k = judged;
    if constexpr (requires { state.condition(); }) return judged_exchange(path, state, size, plan);
    return {};
  }

  // Restarts at a size with all patience; what they find is offered to the sizes next to it.
  template <class State>
  void restart(PathSearch<State>& path, State& state, i64 at, Poll& poll) const {
    auto& size = path.best[static_cast<std::size_t>(at - path.first)];
    SearchPlan plan = search.plan;
    plan.k = at;
    Search<State> more(state, plan, poll);
    if (at == judged) more.from(search.start);
    more.restart_from(size.point.support);
    path.stopped = poll.stop();
    const double enough = size.f - 1e-11 * plan.size(size.f);
    if (more.found.empty() || !(more.found.back().f < enough) || !state.set(more.found.back().support)) return;
    if (state.size() != at || !(state.f < enough)) return; // many updates had left behind what was better
    if (at == judged)
      size.point = state.found(), size.kept = state.keep(), size.f = state.f;
    else
      path.offer();
  }

  template <class State, class Size>
  static Move judged_exchange(const PathSearch<State>& path, State& state, Size& size, const SearchPlan& plan) {
    state.set({}); // what many updates have left behind goes
    size.settled = !path.stopped && state.restore(size.kept) && !state.improve(plan);
    if (!size.settled) return {};
    size.point = state.found(), size.f = state.f;
    size.condition = state.condition(), size.share = state.least_share(plan);
    size.nearest = state.closest(plan).change;
    size.doubtful = state.dependent(plan);
    return state.closest(plan, -HUGE_VAL); // the share of a copy may be rounded below 0
  }
};

} // namespace pursuit
