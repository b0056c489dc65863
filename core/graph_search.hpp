#pragma once

#include "graph_bounds.hpp"

// The search for a graph of k edges on which f is least: grow in batches by the gain at a node, then exchange in
// batches of disjoint exchanges, best first, a batch that does not help being halved; then once more with costs scaled
// by `kHope`, which finds exchanges that the bounds are too careful for. Refits are rough while it searches. A graph
// without an optimum is never taken: the edge that would complete it stays closed until others have been exchanged.

namespace pursuit {

class GraphSearch {
public:
  GraphFit fit;

  // `closed`: p x p, pairs that may not be edges (and the diagonal); `include`: edges that are always there.
  GraphSearch(const double* R, i64 p_, const std::uint8_t* closed_, const Units& include_, Poll& poll_)
      : p(p_), include(include_), poll(poll_), f(R, p_, 0.0, poll_), bounds(p_), closed(closed_, closed_ + p_ * p_),
        taken(index(p_ * p_), 0) {}

  // From a graph, or from the edges that are always there; false where that has no optimum.
  bool begin(const Units& edges) { return f.refit(edges, nullptr, kRough, kPatient, fit); }

  // To k edges; fewer where no further one adds anything or leaves an optimum.
  void grow(i64 k) {
    std::vector<i64> barren;
    while (size() < k && !poll.stop()) {
      look(1.0, false);
      std::vector<i64> order;
      for (i64 i = 0; i < p; ++i)
        for (i64 e = i * p + i + 1; e < (i + 1) * p; ++e)
          if (bounds.gain[e] > kNothing) order.push_back(e);
      i64 n = std::min(k - size(), std::max<i64>(1, size() / 10));
      if (order.empty()) break;
      bool grown = false;
      int refused = 0;
      while (!order.empty() && refused < kRefused && !poll.stop()) {
        n = std::min(n, static_cast<i64>(order.size()));
        std::partial_sort(order.begin(), order.begin() + n, order.end(),
                          [&](i64 a, i64 b) { return better(bounds.gain[a], bounds.gain[b], a, b); });
        if (f.refit(changed({}, Units(order.begin(), order.begin() + n)), fit.Sigma.get(), kRough, kPatient, trial)) {
          std::swap(fit, trial);
          grown = true;
          break;
        }
        if (n == 1) { // no graph that holds this one has an optimum either
          ++refused;
          barren.push_back(order.front());
          closed[index(order.front())] = closed[index(mirrored(order.front()))] = 1;
          order.erase(order.begin());
        }
        n = std::max<i64>(1, n / 2);
      }
      if (!grown) break;
    }
    for (i64 e : barren) closed[index(e)] = closed[index(mirrored(e))] = 0;
  }

  // Batches of exchanges while they lower f.
  void exchange(double hope) {
    for (int round = 0; round < kRounds && !poll.stop(); ++round) {
      look(hope, true);
      std::vector<EdgeMove> moves = bounds.moves;
      pairs(moves);
      std::sort(moves.begin(), moves.end(), [](const EdgeMove& a, const EdgeMove& b) {
        return a.change != b.change ? a.change < b.change : a.in != b.in ? a.in < b.in : a.out < b.out;
      });
      std::vector<EdgeMove> batch;
      for (const EdgeMove& move : moves) {
        std::uint8_t &gone = taken[index(fit.edges[index(move.out)])], &come = taken[index(move.in)];
        if (gone || come) continue;
        gone = come = 1;
        batch.push_back(move);
      }
      for (const EdgeMove& move : batch) taken[index(fit.edges[index(move.out)])] = taken[index(move.in)] = 0;
      if (!improve(batch)) return;
    }
  }

  // The whole search for k edges from where it stands; thoroughly: also back from twice as many, and restarts from the
  // best (some edges leave and stay closed while others come in) for as much work as `kEffort` times all before, as
  // long as one in `kPatience` helps.
  void search(i64 k, bool thorough) {
    if (thorough && every(k)) return;
    grow(k);
    exchange(1.0);
    if (!thorough) return;
    exchange_until_stable();
    if (size() < k || size() == static_cast<i64>(include.size())) return;
    GraphFit best = copied(fit);
    auto keep = [&] {
      exchange_until_stable();
      const bool better = size() <= k && fit.value < best.value - kLeast;
      if (better) best = copied(fit);
      return better;
    };
    if (2.0 * f.work < kMost) {
      grow(2 * k);
      shrink(k);
      keep();
    }
    Random random(0);
    const double budget = std::min(std::max(kEffort * f.work, kAlways), kMost);
    for (int idle = 0; idle < kPatience && f.work < budget && !poll.stop();) {
      fit = copied(best);
      shake(random, k);
      idle = size() == k && keep() ? 0 : idle + 1;
    }
    fit = std::move(best);
  }

  // All graphs of k edges, where they are few.
  bool every(i64 k) {
    Units pairs;
    for (i64 i = 0; i < p; ++i)
      for (i64 c = i * p + i + 1; c < (i + 1) * p; ++c)
        if (!closed[index(c)] && !std::binary_search(include.begin(), include.end(), c)) pairs.push_back(c);
    const i64 n = static_cast<i64>(pairs.size()), m = k - static_cast<i64>(include.size());
    double graphs = 1.0;
    for (i64 l = 0; l < m; ++l) graphs *= static_cast<double>(n - l) / static_cast<double>(l + 1);
    if (m < 1 || m > n || graphs > kFewGraphs) return false;
    std::vector<i64> which(index(m));
    for (i64 l = 0; l < m; ++l) which[index(l)] = l;
    GraphFit best;
    best.value = HUGE_VAL;
    for (bool more = true; more && !poll.stop();) {
      Units edges = include;
      for (i64 l : which) edges.push_back(pairs[index(l)]);
      std::sort(edges.begin(), edges.end());
      if (f.refit(edges, nullptr, kSure, kPatient, trial) && trial.value < best.value) std::swap(best, trial);
      i64 l = m - 1;
      while (l >= 0 && which[index(l)] == n - m + l) --l;
      more = l >= 0;
      if (more)
        for (++which[index(l)]; l + 1 < m; ++l) which[index(l + 1)] = which[index(l)] + 1;
    }
    if (!std::isfinite(best.value)) return false;
    fit = std::move(best);
    return true;
  }

  void exchange_until_stable() {
    exchange(kHope);
    exchange(1.0);
  }

  // Down to k edges, a tenth of those too many at a time, the cheapest first.
  void shrink(i64 k) {
    while (size() > k && !poll.stop()) {
      look(1.0, false);
      std::vector<i64> order(fit.edges.size());
      for (std::size_t e = 0; e < order.size(); ++e) order[e] = static_cast<i64>(e);
      std::sort(order.begin(), order.end(),
                [&](i64 a, i64 b) { return better(bounds.cost[index(b)], bounds.cost[index(a)], a, b); });
      order.resize(index(std::max<i64>(1, (size() - k) / 10)));
      if (!f.refit(changed(order, {}), fit.Sigma.get(), kRough, kPatient, trial)) return;
      std::swap(fit, trial);
    }
  }

  // Some of the free edges, up to a third, leave; others come in.
  void shake(Random& random, i64 k) {
    const std::vector<std::uint8_t> forced = forced_in(fit.edges);
    std::vector<i64> free;
    for (std::size_t e = 0; e < forced.size(); ++e)
      if (!forced[e]) free.push_back(static_cast<i64>(e));
    const i64 many = static_cast<i64>(free.size());
    const i64 gone = 1 + random.below(std::max((many + 2) / 3, std::min<i64>(many, 3)));
    for (i64 l = 0; l < gone; ++l)
      std::swap(free[index(l)], free[index(l + random.below(static_cast<i64>(free.size()) - l))]);
    free.resize(index(gone));
    std::vector<i64> away;
    for (i64 e : free) away.push_back(fit.edges[index(e)]);
    if (!f.refit(changed(free, {}), fit.Sigma.get(), kRough, kPatient, trial)) return;
    std::swap(fit, trial);
    for (i64 e : away) closed[index(e)] = closed[index(mirrored(e))] = 1;
    grow(k);
    for (i64 e : away) closed[index(e)] = closed[index(mirrored(e))] = 0;
  }

  static GraphFit copied(const GraphFit& from) {
    GraphFit to;
    to.edges = from.edges, to.w = from.w, to.d = from.d, to.value = from.value, to.gap = from.gap;
    const i64 p = static_cast<i64>(from.d.size());
    to.Sigma = reals(p * p);
    std::copy(from.Sigma.get(), from.Sigma.get() + p * p, to.Sigma.get());
    return to;
  }

  // The fit at the end, tight.
  bool tighten(double tol, GraphFit& out) { return f.refit(fit.edges, fit.Sigma.get(), tol, kPatientAtTheEnd, out); }

  // Exchanges (places of edges that leave, edges that enter) that bounds of f cannot exclude from lowering it below
  // `least`, and how many were looked at. What the four-node bound leaves is judged by sweeps of the dual if it is at
  // most `most`.
  std::vector<EdgeMove> open(const GraphFit& at, double least, int sweeps, i64 most, i64& looked) {
    const FourNodes four(f, at);
    std::vector<EdgeMove> left = unbounded(four, at, least, looked), undecided;
    if (static_cast<i64>(left.size()) > most) return left;
    Buffer feasible = reals(p * p);
    for (const EdgeMove& move : left) {
      const i64 e = at.edges[index(move.out)];
      double a = 0.0;
      if (std::isfinite(move.change) && four.change(e, move.in, a) == move.change) {
        four.shift(e, move.in, a, feasible.get());
        if (f.above(exchanged(at.edges, move.out, move.in), feasible.get(), least, sweeps)) continue;
      }
      undecided.push_back(move);
      if (poll.stop()) break;
    }
    return undecided;
  }

  // The best ranked exchanges at a fit, and what dropping each edge costs at most.
  std::vector<EdgeMove> ranked(std::size_t most) {
    look(1.0, true);
    std::vector<EdgeMove> moves = bounds.moves;
    nearest(moves, most);
    std::sort(moves.begin(), moves.end(), [](const EdgeMove& a, const EdgeMove& b) { return a.change < b.change; });
    if (moves.size() > most) moves.resize(most);
    return moves;
  }
  const std::vector<double>& costs() {
    look(1.0, false);
    return bounds.cost;
  }

private:
  static constexpr double kRough = 1e-3, kSure = 1e-7, kFewGraphs = 1500, kNothing = 1e-13, kLeast = 1e-6, kHope = 0.7;
  static constexpr double kEffort = 3.0, kAlways = 2e8, kMost = 4e9; // in numbers that refits touch
  static constexpr int kRounds = 60, kPatient = 3, kPatientAtTheEnd = 6, kPatience = 12, kRefused = 30;

  i64 size() const { return static_cast<i64>(fit.edges.size()); }
  i64 mirrored(i64 e) const { return e % p * p + e / p; }
  static bool better(double a, double b, i64 first, i64 second) { return a != b ? a > b : first < second; }

  std::vector<std::uint8_t> forced_in(const Units& edges) const {
    std::vector<std::uint8_t> forced(edges.size());
    for (std::size_t e = 0; e < edges.size(); ++e)
      forced[e] = std::binary_search(include.begin(), include.end(), edges[e]);
    return forced;
  }

  void look(double hope, bool exchanges) {
    const Adjacency graph(p, fit.edges);
    for (i64 j = 0; j < p; ++j) f.work += static_cast<double>(p * graph.degree(j) * (graph.degree(j) + 4)) / 2.0;
    bounds.look(f, fit, closed.data(), forced_in(fit.edges).data(), hope, kLeast, exchanges);
  }

  // Unrelated edges: the cheapest that leaves with the best that enters, and so on, scored by their two bounds.
  void pairs(std::vector<EdgeMove>& moves) const {
    std::vector<i64> weak, strong;
    double cheapest = HUGE_VAL, dearest = 0.0;
    for (std::size_t e = 0; e < bounds.cost.size(); ++e) cheapest = std::min(cheapest, bounds.cost[e]);
    for (i64 i = 0; i < p; ++i)
      for (i64 e = i * p + i + 1; e < (i + 1) * p; ++e)
        if (bounds.gain[e] > cheapest) strong.push_back(e), dearest = std::max(dearest, bounds.gain[e]);
    for (std::size_t e = 0; e < bounds.cost.size(); ++e)
      if (bounds.cost[e] < dearest) weak.push_back(static_cast<i64>(e));
    std::sort(weak.begin(), weak.end(),
              [&](i64 a, i64 b) { return better(bounds.cost[index(b)], bounds.cost[index(a)], a, b); });
    const std::size_t both = std::min(weak.size(), strong.size());
    std::partial_sort(strong.begin(), strong.begin() + static_cast<std::ptrdiff_t>(both), strong.end(),
                      [&](i64 a, i64 b) { return better(bounds.gain[a], bounds.gain[b], a, b); });
    for (std::size_t q = 0; q < both; ++q) {
      const double change = bounds.cost[index(weak[q])] - bounds.gain[strong[q]];
      if (change > -kLeast) return;
      moves.push_back({change, weak[q], strong[q]});
    }
  }

  // Exchanges that the four-node bound does not exclude.
  std::vector<EdgeMove> unbounded(const FourNodes& four, const GraphFit& at, double least, i64& looked) {
    std::vector<EdgeMove> left;
    std::vector<i64> pairs;
    for (i64 e : at.edges) taken[index(e)] = 1;
    for (i64 i = 0; i < p; ++i)
      for (i64 c = i * p + i + 1; c < (i + 1) * p; ++c)
        if (!taken[index(c)] && !closed[index(c)]) pairs.push_back(c);
    for (i64 e : at.edges) taken[index(e)] = 0;
    const std::vector<std::uint8_t> forced = forced_in(at.edges);
    looked = 0;
    for (std::size_t e = 0; e < at.edges.size() && !poll.stop(); ++e) {
      if (forced[e]) continue;
      looked += static_cast<i64>(pairs.size());
      for (i64 c : pairs) {
        double a = 0.0;
        const double change = four.ok ? four.change(at.edges[e], c, a) : -HUGE_VAL;
        if (!(four.dual + change > least)) left.push_back({change, static_cast<i64>(e), c});
      }
    }
    return left;
  }

  // All pairs of the cheapest edges and the best newcomers.
  void nearest(std::vector<EdgeMove>& moves, std::size_t most) const {
    std::vector<i64> weak, strong;
    for (std::size_t e = 0; e < bounds.cost.size(); ++e)
      if (std::isfinite(bounds.cost[e])) weak.push_back(static_cast<i64>(e));
    for (i64 i = 0; i < p; ++i)
      for (i64 e = i * p + i + 1; e < (i + 1) * p; ++e)
        if (bounds.gain[e] >= 0.0) strong.push_back(e);
    auto cut = [&](std::vector<i64>& v, auto before) {
      const std::size_t n = std::min(v.size(), most);
      std::partial_sort(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n), v.end(), before);
      v.resize(n);
    };
    cut(weak, [&](i64 a, i64 b) { return better(bounds.cost[index(b)], bounds.cost[index(a)], a, b); });
    cut(strong, [&](i64 a, i64 b) { return better(bounds.gain[a], bounds.gain[b], a, b); });
    for (i64 e : weak)
      for (i64 c : strong) moves.push_back({bounds.cost[index(e)] - bounds.gain[c], e, c});
  }

  bool improve(std::vector<EdgeMove>& batch) {
    while (!batch.empty() && !poll.stop()) {
      std::vector<i64> out;
      Units in;
      for (const EdgeMove& move : batch) out.push_back(move.out), in.push_back(move.in);
      if (f.refit(changed(out, in), fit.Sigma.get(), kRough, batch.size() > 1 ? 0 : kPatient, trial) &&
          trial.value < fit.value - kLeast) {
        std::swap(fit, trial);
        return true;
      }
      batch.resize(batch.size() / 2);
    }
    return false;
  }

  // The edges without some (by place) and with others.
  Units changed(const std::vector<i64>& out, const Units& in) const {
    std::vector<std::uint8_t> gone(fit.edges.size(), 0);
    for (i64 e : out) gone[index(e)] = 1;
    Units edges;
    for (std::size_t e = 0; e < fit.edges.size(); ++e)
      if (!gone[e]) edges.push_back(fit.edges[e]);
    edges.insert(edges.end(), in.begin(), in.end());
    std::sort(edges.begin(), edges.end());
    return edges;
  }
  static Units exchanged(Units edges, i64 out, i64 in) {
    edges.erase(edges.begin() + out);
    edges.insert(std::lower_bound(edges.begin(), edges.end(), in), in);
    return edges;
  }

  const i64 p;
  const Units include;
  Poll& poll;
  GraphFitter f;
  NodeBounds bounds;
  GraphFit trial;
  std::vector<std::uint8_t> closed, taken;
};

} // namespace pursuit
