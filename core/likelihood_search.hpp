#pragma once

#include "likelihood_proof.hpp"

// The search for the best k units of a loss that is not squared.
//
// Where columns have many entries: the starts of search.hpp. Where they have few, or there are more columns than rows,
// gradients say little about what a column brings: then forward with several supports at once (a beam), each extended
// by the newcomers that rank best, which are fitted. From there exchanges: the best-ranked at S, and where none of
// these helps, the best-ranked at S - i for each i. Then restarts: some units of the best point are dropped, others
// come in, and it goes on from there. At the end every exchange is judged.

namespace pursuit {

struct LikelihoodPlan {
  SearchPlan search;
  i64 beam;  // supports that are extended at once; 0: the starts of search.hpp; -1: none but the caller's
  int prove; // 0 the best-ranked exchanges only, 1 for as much work as the search was, 2 to the end
};

class LikelihoodSearch {
public:
  std::vector<Found> found; // each better than the one before
  Judged judged;

  LikelihoodSearch(LikelihoodState& state_, const LikelihoodPlan& plan_, Poll& poll_)
      : state(state_), plan(plan_.search), beam(plan_.beam), prove(plan_.prove), poll(poll_), random(plan.seed),
        budget(std::isfinite(plan.effort) ? kBudget : HUGE_VAL) {}

  void run(const Units& start) {
    if (state.r > 1 && plan.k == 1) {
      best_unit();
    } else if (beam > 0) {
      if (!state.X.sparse() && state.r == 1) from_starts({});
      forward_beam();
      if (!over() && !start.empty() && state.set(start)) fill({}, 1), descend();
      restart();
      if (!state.X.sparse()) from_columns();
      if (state.X.stored() * static_cast<double>(plan.k) <= 10.0 * kNearby) around();
    } else if (beam < 0) {
      if (state.set(start)) fill({}, 1), take(); // the proof finds what exchanges there are
      if (state.X.stored() * static_cast<double>(plan.k) <= kNearby) around();
    } else {
      from_starts(start);
    }
    const double most = prove == 2 ? HUGE_VAL : std::max(2.0 * state.work(), kJudged);
    budget = HUGE_VAL; // what follows has its own
    while (!found.empty() && !over() && (at_best() || state.set(found.back().support))) {
      ExchangeProof proof(state, plan, poll);
      if (prove == 0) {
        judged.improved = proof.sweep(plan.tries);
      } else {
        judged = proof.run(kTries, most);
      }
      if (!judged.improved) break;
      descend();
    }
  }

private:
  static constexpr i64 kTries = 20;        // newcomers that are fitted at S - i
  static constexpr double kJudged = 3e8;   // multiplications that may always go to judging exchanges
  static constexpr double kBudget = 1e10;  // multiplications, where restarts have a limit
  static constexpr double kNearby = 1e6;   // entries times k up to which sizes nearby are tried
  static constexpr i64 kAround = 2;        // units more, or fewer, from which it comes back
  static constexpr i64 kBest = 3;          // supports of the beam from which exchanges go on
  static constexpr i64 kLeaders = 100;     // columns that are tried as a first one
  static constexpr double kLed = 2.0;      // what that may cost, as a multiple of what went before
  static constexpr double kNearBest = 0.1; // share of the best value above it from where exchanges go on

  bool over() { return poll.stop() || state.done() || ended || state.work() > budget; }

  // The best of the best-ranked units, each fitted alone: the proof judges all others.
  void best_unit() {
    beam = 1;
    forward_beam();
  }

  // The starts of search.hpp; its restarts too, where there is no beam.
  void from_starts(const Units& start) {
    SearchPlan own = plan;
    if (beam > 0) own.restarts = 0;
    Search<LikelihoodState> starts(state, own, poll);
    starts.run(start);
    for (Found& point : starts.found)
      if (found.empty() || point.f < found.back().f - 1e-12 * plan.size(point.f)) found.push_back(std::move(point));
    ended = starts.over(); // the state itself may have gone on
  }

  void take() {
    if (!found.empty() && !(state.f < found.back().f - 1e-12 * plan.size(state.f))) return;
    Found point = state.found();
    if (static_cast<i64>(point.support.size()) < plan.k && !state.done()) return;
    found.push_back(std::move(point));
    ended = state.done();
  }

  bool at_best() const {
    Units S = state.support();
    std::sort(S.begin(), S.end());
    return S == found.back().support && state.f <= found.back().f;
  }

  bool unseen() { return seen.insert(set_key(state.support())).second; }

  // Exchanges while one is found that helps; `sweeps`: also those ranked at S - i.
  void descend(bool sweeps = true) { descend(sweeps, plan); }
  void descend(bool sweeps, const SearchPlan& own) {
    take();
    while (!over() && unseen()) {
      if (!state.improve(own) && !(sweeps && ExchangeProof(state, own, poll).sweep(kTries))) return;
      take();
    }
  }

  // From each of the best single columns, which stays while others come in and are exchanged.
  void from_columns() {
    const double most = (1.0 + kLed) * state.work();
    if (plan.restarts == 0 || over() || found.empty() || !state.set(forced_units())) return;
    const Units leaders = state.newcomers(kLeaders, plan, {});
    std::vector<std::uint8_t> forced(plan.forced, plan.forced + state.p);
    for (i64 j : leaders) {
      if (over() || state.work() > most) return;
      Units first = forced_units();
      first.push_back(j);
      if (static_cast<i64>(first.size()) > plan.k || !state.set(first)) return;
      SearchPlan own = plan;
      forced[j] = 1, own.forced = forced.data();
      std::unordered_set<std::uint64_t> others;
      std::swap(seen, others);
      fill({}, 1);
      descend(false, own);
      std::swap(seen, others);
      forced[j] = 0;
      if (!found.empty() && state.f < found.back().f + kNearBest * plan.size(found.back().f)) descend();
    }
  }

  Units forced_units() const {
    Units S;
    for (i64 j = 0; j < state.p; ++j)
      if (plan.forced[j]) S.push_back(j);
    return S;
  }

  // Units come in to k of them, each time one of the best `choices`.
  void fill(const Units& banned, i64 choices) {
    while (state.size() < plan.k && !over()) {
      const Units next = state.newcomers(choices, plan, banned);
      if (next.empty()) return;
      state.enter(next[static_cast<std::size_t>(random.below(static_cast<i64>(next.size())))]);
    }
  }

  // From the best point to one or two units more, or fewer, with exchanges there, and back, while that helps.
  void around() {
    for (i64 far = 1; far <= kAround && !over(); ++far)
      for (bool up : {true, false}) {
        const std::size_t before = found.size();
        if (before == 0 || !state.set(found.back().support)) return;
        const i64 there = std::min(plan.k + (up ? far : -far), state.p - 1);
        if (!walk(there) || !walk(plan.k)) continue;
        descend(false);
        if (found.size() > before) far = 0;
        if (far == 0) break;
      }
  }

  // Unit by unit to another size, with exchanges at each; false where there is no way.
  bool walk(i64 size) {
    while (state.size() != size && !over()) {
      if (state.size() < size) {
        const Units next = state.newcomers(1, plan, {});
        if (next.empty()) return false;
        state.enter(next.front());
      } else {
        i64 least = -1;
        for (i64 i = 0; i < state.size(); ++i)
          if (!plan.forced[state.support()[i]] && (least < 0 || state.cost(i) < state.cost(least))) least = i;
        if (least < 0) return false;
        state.leave(state.support()[least]);
      }
      for (i64 turn = 0; state.size() != plan.k && turn < kTries && !over() && state.improve(plan);) ++turn;
    }
    return state.size() == size;
  }

  // Several supports are extended by one unit at a time, the best of all extensions stay.
  void forward_beam() {
    if (!state.set(forced_units())) return;
    std::vector<LikelihoodFit> best{state.keep()};
    for (i64 size = state.size(); size < plan.k && !poll.stop(); ++size) {
      std::vector<LikelihoodFit> next;
      std::unordered_set<std::uint64_t> known;
      for (const LikelihoodFit& from : best) {
        state.to(from);
        if (state.done()) return take();
        for (i64 j : state.newcomers(kTries, plan, {})) {
          Units S = from.S;
          S.push_back(j);
          if (poll.stop() || !known.insert(set_key(S)).second) continue;
          const bool full = static_cast<i64>(next.size()) == beam;
          LikelihoodFit trial = state.with(from, j, state.expected(j), full ? next.back().f : -HUGE_VAL);
          if (trial.end == End::above || (full && !(trial.f < next.back().f))) continue;
          if (full) next.pop_back();
          const auto at = std::find_if(next.begin(), next.end(), [&](const auto& fit) { return trial.f < fit.f; });
          next.insert(at, std::move(trial));
          state.to(from);
        }
      }
      if (next.empty()) return;
      best = std::move(next);
    }
    for (i64 t = 0; t < std::min<i64>(kBest, static_cast<i64>(best.size())) && !over(); ++t) {
      state.to(best[t]);
      descend();
    }
  }

  // Some units of the best point are dropped and stay out while others come in.
  void restart() {
    i64 idle = 0;
    const double most = (1.0 + plan.effort) * state.work();
    for (i64 turn = 0; turn < plan.restarts && idle < plan.patience && !found.empty() && !over(); ++turn) {
      if (state.work() > most) return;
      Units kept, free, gone;
      for (i64 j : found.back().support) (plan.forced[j] ? kept : free).push_back(j);
      if (free.empty()) return;
      for (i64 count = 1 + random.below((static_cast<i64>(free.size()) + 1) / 2); count > 0; --count) {
        const i64 at = random.below(static_cast<i64>(free.size()));
        gone.push_back(free[at]);
        free.erase(free.begin() + at);
      }
      kept.insert(kept.end(), free.begin(), free.end());
      if (!state.set(kept)) return;
      fill(gone, turn % 2 ? 4 : 1);
      const std::size_t before = found.size();
      descend();
      idle = found.size() > before ? 0 : idle + 1;
    }
  }

  LikelihoodState& state;
  const SearchPlan plan;
  i64 beam;
  const int prove;
  Poll& poll;
  Random random;
  double budget; // multiplications in all
  std::unordered_set<std::uint64_t> seen;
  bool ended = false;
};

} // namespace pursuit
