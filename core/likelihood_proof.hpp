#pragma once

#include "likelihood_state.hpp"

// Every exchange of one unit, judged. For each unit i that may leave, S - i is fitted exactly (the model at S fails
// where a fit is nearly separated); there, for every j outside, the Newton step of S - i + j has a closed form:
//
//   D_j = H_jj - H_jT U_j,  U_j = H_TT^-1 H_Tj,  slope_j = g_j - U_j' g_T,  s_j = -D_j^-1 slope_j,
//   dec = slope_j' D_j^-1 slope_j + g_T' H_TT^-1 g_T,  turn = a_j s_j - D_T (U_j s_j + H_TT^-1 g_T),
//
// so that one set of numbers ranks the exchanges and, by the bound of likelihood_fit.hpp, excludes most of them. What
// it leaves is fitted. Cost: k models (likelihood_state.hpp) and as many products of n x M with M x p r.

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

  // Fits at most `most` exchanges, and none once the state has done `work` in all.
  Judged run(i64 most, double work) {
    Judged out;
    out.open = 0;
    const LikelihoodFit whole = state.keep();
    const double goal = whole.f - 1e-10 * plan.size(whole.f);
    std::vector<LikelihoodFit> parts(whole.S.size());
    std::vector<std::vector<double>> starts;
    for (i64 i = 0; i < state.size(); ++i) starts.push_back(state.lowered(i));
    std::vector<Todo> todo;
    for (std::size_t i = 0; i < whole.S.size(); ++i) {
      if (plan.forced[whole.S[i]]) continue;
      i64 others = 0;
      for (i64 j = 0; j < p; ++j) others += enters(whole, j);
      out.total += others;
      if (poll.stop() || state.work() > work) {
        out.open += others;
        continue;
      }
      parts[i] = state.without(whole, static_cast<i64>(i), starts[i]);
      state.to(parts[i]);
      judge(whole, static_cast<i64>(i), goal, todo);
    }
    std::sort(todo.begin(), todo.end(), [](const Todo& a, const Todo& b) { return a.predicted < b.predicted; });
    state.to(whole);
    for (Todo& next : todo) {
      if (most-- <= 0 || poll.stop() || state.work() > work) {
        ++out.open;
        continue;
      }
      LikelihoodFit trial = state.with(parts[next.i], next.j, std::move(next.z), goal);
      if (trial.end != End::above && trial.f < goal) {
        state.to(std::move(trial));
        out.improved = true;
        return out;
      }
      const bool decided = state.fitter.loss.bounded && (trial.end == End::above || trial.end == End::minimum);
      out.open += !decided;
    }
    if (!state.fitter.loss.bounded) out.open = std::max<i64>(out.open, out.total > 0);
    out.leave = nearest.i < 0 ? -1 : whole.S[nearest.i];
    out.enter = nearest.j;
    out.change = nearest.predicted - whole.f;
    return out;
  }

private:
  struct Todo {
    double predicted;
    i64 i, j;
    std::vector<double> z; // where the Newton step leads
  };

  bool enters(const LikelihoodFit& whole, i64 j) const {
    return plan.allowed[j] && state.X.unit[j] > 0.0 && std::find(whole.S.begin(), whole.S.end(), j) == whole.S.end();
  }

  // At the state S - i: what each unit outside would bring.
  void judge(const LikelihoodFit& whole, i64 i, double goal, std::vector<Todo>& todo) {
    state.model();
    const LikelihoodFit& part = state.fitted();
    const i64 M = state.size() + (state.X.intercept ? 1 : 0), N = M * r, wide = p * r;
    const bool sure = part.end == End::minimum && state.pivots > 1e-8;
    std::vector<double> U(static_cast<std::size_t>(N * wide)), back(static_cast<std::size_t>(N), 0.0);
    gemm(false, wide, N, N, state.rows.data(), wide, state.B.data(), N, 0.0, U.data(), wide);
    double rest = 0.0;
    for (i64 l = 0; l < N; ++l) {
      for (i64 q = 0; q < N; ++q) back[l] += state.B[l * N + q] * state.residual[q];
      rest += state.residual[l] * back[l];
    }
    // W: the change of the coefficients inside, a column for each (j, o); V = D_T W
    std::vector<double> W(static_cast<std::size_t>(M * wide), 0.0), V(static_cast<std::size_t>(n * wide)),
        steps(static_cast<std::size_t>(wide), 0.0), decs(static_cast<std::size_t>(p), 0.0);
    std::vector<double> Dj(static_cast<std::size_t>(r * r)), s(static_cast<std::size_t>(r));
    for (i64 j = 0; j < p; ++j) {
      if (!enters(whole, j)) continue;
      for (i64 o = 0; o < r; ++o) {
        s[o] = -state.g[j * r + o];
        for (i64 l = 0; l < N; ++l) s[o] += U[l * wide + j * r + o] * state.residual[l];
        for (i64 u = 0; u < r; ++u) {
          double d = state.own[(j * r + o) * r + u];
          for (i64 l = 0; l < N; ++l) d -= state.rows[l * wide + j * r + o] * U[l * wide + j * r + u];
          Dj[o * r + u] = d;
        }
      }
      small_cholesky(Dj.data(), r);
      decs[j] = pursuit::forward(Dj.data(), r, s.data()) + rest;
      backward_solve(Dj.data(), r, s.data());
      std::copy(s.begin(), s.end(), &steps[j * r]);
      for (i64 l = 0; l < M; ++l)
        for (i64 o = 0; o < r; ++o) {
          double w = back[l * r + o];
          for (i64 u = 0; u < r; ++u) w += U[(l * r + o) * wide + j * r + u] * s[u];
          W[(j * r + o) * M + l] = -w;
        }
    }
    if (sure && state.fitter.loss.bounded) {
      state.fitter.gather(part.S);
      gemm(false, n, wide, M, state.fitter.D.get(), n, W.data(), M, 0.0, V.data(), n);
      state.fitter.evaluate(part.eta.data(), state.fitter.d1.get(), state.fitter.d2.get()); // `reach` is at the last
    }
    for (i64 j = 0; j < p; ++j) {
      if (!enters(whole, j)) continue;
      const double predicted = part.f - 0.5 * decs[j];
      if (predicted < nearest.predicted) nearest = {predicted, i, j, {}};
      if (sure && state.fitter.loss.bounded && state.left[j] > 1e-6) {
        for (i64 o = 0; o < r; ++o) add_rows<1>(state.X.A + j * n, 0, &steps[j * r + o], n, &V[(j * r + o) * n]);
        if (state.fitter.excluded(part.f, decs[j], state.fitter.loss.reach(&V[j * r * n]), goal)) continue;
      }
      std::vector<double> z = part.z;
      for (i64 l = 0; l < M; ++l)
        for (i64 o = 0; o < r; ++o) z[l * r + o] += W[(j * r + o) * M + l];
      z.insert(z.begin() + state.size() * r, &steps[j * r], &steps[j * r] + r);
      todo.push_back({predicted, i, j, std::move(z)});
    }
  }

  LikelihoodState& state;
  const SearchPlan& plan;
  Poll& poll;
  const i64 n, r, p;
  Todo nearest{HUGE_VAL, -1, -1, {}};
};

} // namespace pursuit
