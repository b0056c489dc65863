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
};

struct PathSolution {
  std::vector<PathPoint> points; // from the forced-in units on
  bool stopped = false;
};

// Every size from the forced-in units to k; `thorough`: with a search for every size; `reached` is called with each.
struct PathRequest {
  SearchRequest& search;
  bool thorough;
  nb::object reached;

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
    unlocked([&] { path.run(); });
    PathSolution out;
    for (auto& size : path.best) {
      size.point.f = size.f;
      out.points.push_back({std::move(size.point), size.settled, size.condition, size.share, size.nearest});
    }
    out.stopped = path.stopped;
    return out;
  }
};

} // namespace pursuit
