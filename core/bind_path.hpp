#pragma once

#include "bind_search.hpp"
#include "path_search.hpp"

// What the bindings of paths share.

namespace pursuit {

// The best point of a size, and what is known of it.
struct PathPoint {
  Found point;
  bool settled;                     // no exchange was found that helps
  double condition, share, nearest; // a bound of the reciprocal condition number, the least share that is left of a
                                    // column outside, the change by the nearest exchange
  Move exchange;                    // the one that changes f least, where all were judged
};

struct PathSolution {
  std::vector<PathPoint> points; // from the forced-in units on
  bool stopped = false;
};

// Every size from the forced-in units to k; `thorough`: with a search for every size; `reached` is called with each. At
// the size `judged` (-1: none) the exchange that changes f least is looked for among all of them.
struct PathRequest {
  SearchRequest& search;
  bool thorough;
  nb::object reached;
  i64 judged = -1;

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
    PathSearch<State> path(state, search.plan, poll, thorough, sizes, callback());
    Move exchange;
    unlocked([&] {
      path.run();
      if constexpr (requires { state.closest(search.plan, 0.0); }) exchange = judge(path, state);
    });
    PathSolution out;
    for (auto& size : path.best) {
      size.point.f = size.f;
      out.points.push_back({std::move(size.point), size.settled, size.condition, size.share, size.nearest, {}});
    }
    if (exchange.leave >= 0) out.points[static_cast<std::size_t>(judged - path.first)].exchange = exchange;
    out.stopped = path.stopped;
    return out;
  }

private:
  // What is known of the size `judged`, computed anew, and its closest exchange.
  template <class State>
  Move judge(PathSearch<State>& path, State& state) const {
    const i64 index = judged - path.first;
    if (path.stopped || index < 0 || index >= static_cast<i64>(path.best.size())) return {};
    auto& size = path.best[static_cast<std::size_t>(index)];
    SearchPlan plan = search.plan;
    plan.k = judged;
    size.settled = state.restore(size.kept) && !state.improve(plan);
    if (!size.settled) return {};
    const Move closest = state.closest(plan, 0.0);
    size.condition = state.condition(), size.share = state.least_share(plan), size.nearest = closest.change;
    return closest;
  }
};

} // namespace pursuit
