#pragma once

#include "likelihood_screen.hpp"

// Exchanges of one unit, ranked and judged where the unit that leaves is gone. For each unit i that may leave, S - i is
// fitted exactly (the model at S fails where a fit is nearly separated); there, for every j outside, the Newton step of
// S - i + j has a closed form:
//
//   D_j = H_jj - H_jT U_j,  U_j = H_TT^-1 H_Tj,  slope_j = g_j - U_j' g_T,  s_j = -D_j^-1 slope_j,
//   dec = slope_j' D_j^-1 slope_j + g_T' H_TT^-1 g_T,  turn = a_j s_j - D_T (U_j s_j + H_TT^-1 g_T),
//
// so that one set of numbers ranks the exchanges and, by the bounds of likelihood_fit.hpp, excludes most of them
// (likelihood_screen.hpp for losses with one output). Of the rest, the best-ranked few of each i are fitted first (a
// sweep), then all others (a proof).
// Cost: k models (likelihood_state.hpp), and for what a first bound leaves as many products of n x M with M x p r.

namespace pursuit {

struct Judged {
  i64 total = 0, open = -1; // exchanges, and those about which nothing is known; -1: none were looked at
  i64 leave = -1, enter = -1;
  double change = HUGE_VAL; // of the best-ranked
  bool improved = false;    // one was found that helps, and the state is there
};

class ExchangeProof {
public:
  ExchangeProof(LikelihoodState& state_, const SearchPlan& plan_, Poll& poll_)
      : state(state_), plan(plan_), poll(poll_), n(state_.n), r(state_.r), p(state_.p) {}

  // The best-ranked exchanges of each unit that may leave, the cheapest to drop first; to the first i that one of them
  // helps for, and there to the best.
  bool sweep(i64 tries) {
    begin();
    for (i64 i : order) {
      if (poll.stop()) break;
      if (step(i, tries, false)) return true;
    }
    state.to(whole);
    return false;
  }

  // Every exchange. Nothing is fitted any more once the state has done `work` in all.
  Judged run(i64 tries, double work) {
    begin();
    Judged out;
    i64 others = 0;
    for (i64 j = 0; j < p; ++j) others += enters(j);
    out.total = others * static_cast<i64>(order.size());
    out.open = others * (r == 1 ? screen(work) : 0); // of units that time or work did not suffice for
    for (i64 i : order) {
      if (r == 1 && !crowded[i]) continue;
      if (poll.stop() || state.work() > work) {
        if (r > 1) out.open += others;
        continue;
      }
      if (step(i, tries, true)) return out.improved = true, out;
    }
    state.to(whole);
    state.fitter.careful = true;
    std::sort(todo.begin(), todo.end(),
              [](const Exchanged& a, const Exchanged& b) { return a.predicted < b.predicted; });
    for (const Exchanged& next : todo) {
      if (poll.stop() || state.work() > work || (r > 1 && out.open >= kUndecided)) {
        ++out.open;
        near(next);
        continue;
      }
      LikelihoodFit trial = fitted(next, goal);
      near(trial, next.i, next.j);
      if (helps(trial)) {
        state.to(std::move(trial));
        out.improved = true;
        break;
      }
      out.open += !decided(trial);
    }
    if (!out.improved) fit_nearest();
    state.fitter.careful = false;
    out.leave = nearest.i < 0 ? -1 : whole.S[nearest.i];
    out.enter = nearest.j;
    out.change = nearest.predicted - whole.f;
    return out;
  }

private:
  static constexpr i64 kUndecided = 24; // fits without a verdict, several outputs, after which no more are made
  static constexpr i64 kBlock = 64;     // newcomers that are judged together
  static constexpr i64 kShortlist = 64; // exchanges of which the nearest is reported

  struct Newcomer {
    i64 j;
    double dec, square; // of the Newton step: its decrement, and twice what the ridge says of it
  };
  // Newton steps of several newcomers: W of the columns inside, output by output, s of the newcomer, turn = D W + a s.
  struct Block {
    i64 count = 0;
    const i64 n, M, r;
    std::vector<double> W, V, s;
    std::vector<Newcomer> units;
    Block(i64 n_, i64 M_, i64 r_)
        : n(n_), M(M_), r(r_), W(static_cast<std::size_t>(M_ * r_ * kBlock)),
          V(static_cast<std::size_t>(n_ * r_ * kBlock)), s(static_cast<std::size_t>(r_ * kBlock)), units(kBlock) {}
    void turns(const double* D, const EvenColumns& X) {
      if (count == 0) return;
      gemm(false, n, count * r, M, D, n, W.data(), M, 0.0, V.data(), n);
      for (i64 t = 0; t < count; ++t)
        for (i64 o = 0; o < r; ++o) X.add(units[t].j, s[t * r + o], &V[(t * r + o) * n]);
    }
  };

  bool enters(i64 j) const {
    return plan.allowed[j] && state.X.unit[j] > 0.0 && std::find(whole.S.begin(), whole.S.end(), j) == whole.S.end();
  }
  bool helps(const LikelihoodFit& trial) const { return trial.end != End::above && trial.f < goal; }
  static bool decided(const LikelihoodFit& trial) { return trial.end == End::above || trial.end == End::minimum; }

  // The fit after an exchange, from that without the unit that leaves.
  LikelihoodFit fitted(const Exchanged& next, double least) {
    const LikelihoodFit& part = parts[next.i];
    std::vector<double> z = part.z;
    z.insert(z.end() - r, static_cast<std::size_t>(r), 0.0);
    return state.with(part, next.j, std::move(z), least);
  }
  // Notes an exchange that does not help, by the model, or by a fit, which may have ended early.
  void near(const Exchanged& next) {
    auto less = [](const Exchanged& a, const Exchanged& b) { return a.predicted < b.predicted; };
    if (static_cast<i64>(shortlist.size()) == kShortlist) {
      if (!(next.predicted < shortlist.front().predicted)) return;
      std::pop_heap(shortlist.begin(), shortlist.end(), less), shortlist.pop_back();
    }
    shortlist.push_back(next);
    std::push_heap(shortlist.begin(), shortlist.end(), less);
  }
  void near(const LikelihoodFit& trial, i64 i, i64 j) {
    if (trial.end == End::above)
      near(Exchanged{trial.expected, i, j, goal});
    else if (trial.f < nearest.predicted)
      nearest = {trial.f, i, j};
  }
  // The nearest of all: the most promising are fitted, as far as no bound says that they are further than one before.
  void fit_nearest() {
    std::sort_heap(shortlist.begin(), shortlist.end(),
                   [](const Exchanged& a, const Exchanged& b) { return a.predicted < b.predicted; });
    for (const Exchanged& next : shortlist) {
      if (poll.stop()) return;
      if (next.lower >= nearest.predicted) continue;
      const LikelihoodFit trial = fitted(next, nearest.i < 0 ? -HUGE_VAL : nearest.predicted);
      if (trial.f < nearest.predicted) nearest = {trial.f, next.i, next.j};
    }
  }

  void begin() {
    whole = state.keep();
    goal = whole.f - 1e-10 * plan.size(whole.f);
    parts.assign(whole.S.size(), {});
    crowded.assign(whole.S.size(), 0);
    starts.clear(), order.clear(), todo.clear(), shortlist.clear();
    std::vector<double> cost;
    for (i64 i = 0; i < state.size(); ++i) {
      starts.push_back(state.lowered(i));
      cost.push_back(state.cost(i));
      if (!plan.forced[whole.S[i]]) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return cost[a] < cost[b]; });
  }

  // Notes for every unit what the bounds leave; units of which they leave more than a few are crowded. Returns how many
  // units were not looked at.
  i64 screen(double work) {
    ExchangeScreen bounds(state.fitter, whole.S, parts, goal);
    std::vector<i64> count(whole.S.size(), 0);
    const i64 most = static_cast<i64>(order.size()), together = bounds.together();
    for (i64 low = 0; low < most; low += together) {
      const Units places(order.begin() + low, order.begin() + std::min(most, low + together));
      if (poll.stop() || state.work() > work) return most - low;
      for (i64 i : places) parts[i] = state.without(whole, i, starts[i]);
      bounds.run(
          places, [&](i64 j) { return enters(j); },
          [&](const Exchanged& next) { ++count[next.i], todo.push_back(next); },
          [&](const Exchanged& next) { near(next); });
      for (i64 i : places) crowded[i] = count[i] * (state.size() + 2) > p; // whose fits cost more than a model
    }
    return 0;
  }

  // At S - i: the best-ranked exchanges are fitted; where `all`, what the bounds leave of the others is noted. Whether
  // one helps, and the state is there.
  bool step(i64 i, i64 tries, bool all) {
    if (r > 1 || !all) parts[i] = state.without(whole, i, starts[i]);
    state.to(parts[i]);
    if (all && r > 1) {
      const std::size_t known = todo.size();
      state.model();
      judge(i);
      if (todo.size() == known) return false; // the bounds exclude them all
    }
    Units first = state.newcomers(tries, plan, {whole.S[i]});
    if (all)
      std::erase_if(first, [&](i64 j) {
        return std::none_of(todo.begin(), todo.end(), [&](const Exchanged& t) { return t.i == i && t.j == j; });
      });
    LikelihoodFit best;
    const double before = goal;
    std::vector<std::pair<i64, bool>> fitted;
    for (i64 j : first) {
      if (poll.stop()) break;
      LikelihoodFit trial = state.with(parts[i], j, state.expected(j), goal);
      fitted.emplace_back(j, decided(trial));
      near(trial, i, j);
      if (!helps(trial)) continue;
      goal = trial.f;
      best = std::move(trial);
    }
    goal = before;
    if (best.f < HUGE_VAL) {
      state.to(std::move(best));
      return true;
    }
    if (all) // what has been fitted to its end is settled
      std::erase_if(todo, [&](const Exchanged& t) {
        return t.i == i && std::find(fitted.begin(), fitted.end(), std::pair{t.j, true}) != fitted.end();
      });
    return false;
  }

  // At the state S - i, several outputs: what each unit outside would bring, and whether the bounds exclude it.
  void judge(i64 i) {
    LikelihoodFitter& fitter = state.fitter;
    const LikelihoodFit& part = state.fitted();
    const i64 M = state.size() + (state.X.intercept ? 1 : 0), N = M * r, wide = p * r;
    const bool sure = part.end == End::minimum && state.pivots > 1e-8;
    const double least = goal + 2e-11 * fitter.size(part.f);
    std::vector<double> U(static_cast<std::size_t>(N * wide)), back(static_cast<std::size_t>(N), 0.0);
    gemm(false, wide, N, N, state.rows.data(), wide, state.B.data(), N, 0.0, U.data(), wide);
    double rest = 0.0;
    for (i64 l = 0; l < N; ++l) {
      for (i64 q = 0; q < N; ++q) back[l] += state.B[l * N + q] * state.residual[q];
      rest += state.residual[l] * back[l];
    }
    fitter.gather(part.S);
    if (sure) fitter.evaluate(part.eta.data(), fitter.d1.get(), fitter.d2.get()); // `reach` and `gap` are at the last
    std::vector<double> D(static_cast<std::size_t>(r * r)), s(static_cast<std::size_t>(r));
    Block block(n, M, r);
    auto flush = [&] {
      block.turns(fitter.D.get(), state.X);
      fitter.spent += static_cast<double>(n * r * (M + 4) * block.count);
      for (i64 t = 0; t < block.count; ++t) {
        const Newcomer& at = block.units[t];
        const double* turn = &block.V[t * n * r];
        double lower = LikelihoodFitter::lower_bound(part.f, at.dec, fitter.loss.reach(turn));
        if (!(lower > least)) {
          const double gap = fitter.loss.gap(part.eta.data(), fitter.d1.get(), fitter.d2.get(), turn);
          lower = std::max(lower, part.f - (gap + 0.5 * at.square) * (1 + 1e-6));
        }
        const Exchanged next{part.f - 0.5 * at.dec, i, at.j, lower};
        lower > least ? near(next) : todo.push_back(next);
      }
      block.count = 0;
    };
    for (i64 j = 0; j < p; ++j) {
      if (!enters(j) || j == whole.S[i]) continue;
      for (i64 o = 0; o < r; ++o) {
        s[o] = -state.g[j * r + o];
        for (i64 l = 0; l < N; ++l) s[o] += U[l * wide + j * r + o] * state.residual[l];
        for (i64 u = 0; u < r; ++u) {
          double d = state.own[(j * r + o) * r + u];
          for (i64 l = 0; l < N; ++l) d -= state.rows[l * wide + j * r + o] * U[l * wide + j * r + u];
          D[o * r + u] = d;
        }
      }
      small_cholesky(D.data(), r);
      const double dec = pursuit::forward(D.data(), r, s.data()) + rest, predicted = part.f - 0.5 * dec;
      backward_solve(D.data(), r, s.data());
      if (!(sure && state.left[j] > 1e-6 && predicted > least)) {
        todo.push_back({predicted, i, j});
        continue;
      }
      double square = 0.0, *W = &block.W[block.count * M * r];
      for (i64 o = 0; o < r; ++o) {
        block.s[block.count * r + o] = s[o];
        square += state.X.ridge[j] * s[o] * s[o];
        for (i64 l = 0; l < M; ++l) {
          double w = back[l * r + o];
          for (i64 u = 0; u < r; ++u) w += U[(l * r + o) * wide + j * r + u] * s[u];
          W[o * M + l] = -w;
          if (l < state.size()) square += state.X.ridge[part.S[l]] * w * w;
        }
      }
      block.units[block.count++] = {j, dec, square};
      if (block.count == kBlock) flush();
    }
    flush();
  }

  LikelihoodState& state;
  const SearchPlan& plan;
  Poll& poll;
  const i64 n, r, p;
  LikelihoodFit whole;
  std::vector<LikelihoodFit> parts;        // S - i
  std::vector<std::vector<double>> starts; // where the model at S expects it
  Units order;                             // of the units that may leave
  std::vector<std::uint8_t> crowded;       // per unit: the bounds leave more than a few exchanges
  std::vector<Exchanged> todo;
  Exchanged nearest{HUGE_VAL, -1, -1};
  std::vector<Exchanged> shortlist; // a heap, the furthest on top
  double goal = 0.0;
};

} // namespace pursuit
