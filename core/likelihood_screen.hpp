#pragma once

#include "likelihood_state.hpp"

// Which exchanges of one unit may help, for losses with one output. S - i is fitted for each i; the models of f at
// several of these fits are one product with X. At S - i the Newton step of T = S - i + j has a closed form for every j
// (H = A'WA + ridge, W = phi'' there, B = H_TT^-1 without j):
//
//   U_j = B H_Tj,  D_j = H_jj - H_jT U_j,  s_j = -(g_j - U_j'g_T) / D_j,  s_T = -(U_j s_j + B g_T),
//
// and the bounds of likelihood_fit.hpp exclude j there: first with what is known of turn = A s without a product of
// length n (the largest entries of the columns, and the largest leverage of a row), then with `turn` itself. What is
// left takes up to three steps with the same H: with the gradient g' at eta' and H s' = -g', a = phi'(eta') + W A s'
// satisfies the constraints of the dual problem, so that the gap at eta' bounds the minimum too; this costs n |T| where
// a step of Newton's method costs n |T|^2.

namespace pursuit {

struct Exchanged {
  double predicted;         // the value in the model
  i64 i, j;                 // the place of the unit that leaves, the unit that enters
  double lower = -HUGE_VAL; // a bound of the minimum
};

class ExchangeScreen {
public:
  // `whole` is the support, `parts` its fits without the unit at a place.
  ExchangeScreen(LikelihoodFitter& fitter_, const Units& whole, const std::vector<LikelihoodFit>& parts_, double goal_)
      : fitter(fitter_), X(fitter_.X), n(fitter_.n), p(fitter_.X.p), M(static_cast<i64>(whole.size()) - !X.intercept),
        parts(parts_), goal(goal_), D(reals(n * (M + 1))), ahead(reals(n)), first(reals(n)), second(reals(n)),
        turn(reals(n)), lifted(reals(n)), step(static_cast<std::size_t>(M)), u(step), moved(step), slope(step),
        c(step) {
    X.gather(whole, D.get());
    if (X.intercept) std::fill(D.get() + M * n, D.get() + (M + 1) * n, 1.0);
  }

  // How many places are judged together.
  i64 together() const { return std::max<i64>(1, kTogether / std::max<i64>(M, 1)); }

  // `left(exchange)` for what no bound excludes, `gone(exchange)` for the others; `enters(j)`: whether j may come in.
  template <class Enters, class Left, class Gone>
  void run(const Units& places, Enters&& enters, Left&& left, Gone&& gone) {
    const i64 K = static_cast<i64>(places.size());
    std::vector<double> V(static_cast<std::size_t>(n * M * K)), P(static_cast<std::size_t>(n * K)),
        C(static_cast<std::size_t>(p * M * K)), G(static_cast<std::size_t>(p * K)), U(static_cast<std::size_t>(p * M)),
        own(G);
    std::vector<Place> at(static_cast<std::size_t>(K));
    for (i64 e = 0; e < K; ++e) at[e] = prepare(places[e], V.data() + e * n * M, P.data() + e * n);
    X.products(P.data(), K, G.data());
    if (M > 0) X.products(V.data(), M * K, C.data());
    for (i64 j = 0; j < p; ++j) { // a column is read once
      const Entries a = X.entries(j);
      for (i64 e = 0; e < K; ++e) own[e * p + j] = square(a, at[e].W.data()) + X.ridge[j];
    }
    fitter.spent += X.stored() * static_cast<double>(K * (M + 2));
    for (i64 e = 0; e < K; ++e) {
      const double* rows = C.data() + e * M * p;
      failed = 0;
      gemm(false, p, M, M, rows, p, at[e].B.data(), M, 0.0, U.data(), p);
      for (i64 j = 0; j < p; ++j) {
        if (!enters(j)) continue;
        for (i64 l = 0; l < M; ++l) c[l] = rows[l * p + j], u[l] = U[l * p + j];
        Exchanged exchange{HUGE_VAL, places[e], j};
        if (excluded(at[e], exchange, G[e * p + j], own[e * p + j]))
          gone(exchange);
        else
          left(exchange);
      }
    }
  }

private:
  static constexpr i64 kTogether = 128; // columns of a product
  static constexpr int kChords = 3;
  static constexpr i64 kFailed = 50; // exchanges of a place that such steps may leave, before there are no more of them

  struct Place {
    bool sure = false;
    const double* d1 = nullptr;                 // phi'
    std::vector<double> B, g, back, tallest, W; // H_TT^-1, the gradient, B g, the largest entries; phi''
    double rest = 0.0, leverage = 0.0;          // g'B g; the largest of a row
  };

  // The model at the fit without a unit: W times its columns, phi', and what belongs to it.
  Place prepare(i64 i, double* V, double* d1) {
    const LikelihoodFit& part = parts[i];
    Place at;
    at.d1 = d1;
    at.W.resize(static_cast<std::size_t>(n));
    fitter.evaluate(part.eta.data(), d1, at.W.data());
    fitter.gather(part.S);
    const double* T = fitter.D.get();
    const std::size_t size = static_cast<std::size_t>(M);
    at.g.assign(size, 0.0), at.back.assign(size, 0.0), at.tallest.assign(size, 0.0), at.B.assign(size * size, 0.0);
    std::vector<double> H(size * size), leverages(static_cast<std::size_t>(n), 0.0), line(leverages);
    for (i64 l = 0; l < M; ++l) multiply(T + l * n, at.W.data(), n, V + l * n);
    gemm(true, M, M, n, T, n, V, n, 0.0, H.data(), M);
    add_dots(T, n, d1, M, n, at.g.data());
    for (i64 l = 0; l < M; ++l) {
      if (l < static_cast<i64>(part.S.size())) {
        H[l * (M + 1)] += X.ridge[part.S[l]];
        at.g[l] += X.ridge[part.S[l]] * part.z[l];
      }
      for (i64 e = 0; e < n; ++e) at.tallest[l] = std::max(at.tallest[l], std::fabs(T[l * n + e]));
    }
    const Factor factor(H.data(), M, M);
    at.sure = part.end == End::minimum && factor.pivots() > 1e-8;
    if (!at.sure) return at;
    factor.inverse(at.B.data(), M);
    for (i64 l = 0; l < M; ++l) {
      at.back[l] = dot(at.g.data(), &at.B[l * M], M);
      at.rest += at.g[l] * at.back[l];
      std::fill(line.begin(), line.end(), 0.0);
      add_lines(T, n, &at.B[l * M], M, n, line.data());
      for (i64 e = 0; e < n; ++e) leverages[e] += line[e] * T[l * n + e];
    }
    for (double h : leverages) at.leverage = std::max(at.leverage, h);
    fitter.spent += static_cast<double>(2 * n * M * M);
    return at;
  }

  // Whether the bounds put the minimum over S - i + j above the goal; and its value in the model. c and u are H_Tj and
  // U_j, `own` is H_jj.
  bool excluded(const Place& at, Exchanged& exchange, double gradient, double own) {
    const i64 j = exchange.j;
    const LikelihoodFit& part = parts[exchange.i];
    const Entries a = X.entries(j);
    const double least = goal + 2e-11 * fitter.size(part.f);
    double inside = 0.0, pull = gradient;
    for (i64 l = 0; l < M; ++l) inside += c[l] * u[l], pull -= u[l] * at.g[l];
    const double left = own - inside, s = -pull / left, dec = pull * pull / left + at.rest;
    exchange.predicted = part.f - 0.5 * dec;
    if (!(at.sure && left > 1e-6 * own)) {
      if (!(left > 0.0)) exchange.predicted = part.f;
      return false;
    }
    if (!(exchange.predicted > least)) return false;
    double reach = 0.0, length = 0.0;
    for (i64 l = 0; l < M; ++l) {
      step[l] = -(u[l] * s + at.back[l]);
      reach += at.tallest[l] * std::fabs(step[l]);
      length -= step[l] * (c[l] * s + at.g[l]); // step'H step
    }
    if (fitter.loss.bounded) {
      reach = std::min(reach, std::sqrt(std::max(0.0, length * (1 + 1e-9)) * at.leverage));
      reach += X.largest()[j] * std::fabs(s);
      if (bounded(exchange, LikelihoodFitter::lower_bound(part.f, dec, reach), least)) return true;
    }
    turn_by(exchange.j, exchange.i, s);
    fitter.spent += static_cast<double>(n * (M + 4));
    if (fitter.loss.bounded &&
        bounded(exchange, LikelihoodFitter::lower_bound(part.f, dec, fitter.loss.reach(turn.get())), least))
      return true;
    const double gap = fitter.loss.gap(part.eta.data(), at.d1, at.W.data(), turn.get());
    if (bounded(exchange, part.f - (gap + penalty(part, j, step.data(), s)) * (1 + 1e-6), least)) return true;
    if (!fitter.loss.bounded || failed > kFailed) return false;
    const bool out = by_chords(at, exchange, a, s, left, least);
    failed += !out;
    return out;
  }

  // Steps with the same H from where the first one leads.
  bool by_chords(const Place& at, Exchanged& exchange, const Entries& a, double s, double left, double least) {
    const LikelihoodFit& part = parts[exchange.i];
    const double* T = D.get();
    double x = 0.0;
    std::copy(part.eta.begin(), part.eta.end(), ahead.get());
    std::copy(part.z.begin(), part.z.begin() + M, moved.begin());
    for (int chord = 0; chord < kChords; ++chord) {
      for (i64 e = 0; e < n; ++e) ahead[e] += turn[e];
      for (i64 l = 0; l < M; ++l) moved[l] += step[l];
      x += s;
      const double f =
          fitter.evaluate(ahead.get(), first.get(), second.get()) + penalty(part, exchange.j, moved.data(), x);
      fitter.spent += static_cast<double>(n * (2 * M + 40));
      if (!(f > least) || !(f < 2.0 * part.f + fitter.size(part.f))) return false;
      double pull = X.ridge[exchange.j] * x;
      for (i64 e = 0; e < a.count; ++e) pull += a.value[e] * first[a.at(e)];
      for (i64 l = 0; l < M; ++l) {
        const bool ones = l == static_cast<i64>(part.S.size());
        slope[l] = dot(T + (l < exchange.i ? l : l + 1) * n, first.get(), n);
        if (!ones) slope[l] += X.ridge[part.S[l]] * moved[l];
        pull -= u[l] * slope[l];
      }
      s = -pull / left;
      for (i64 l = 0; l < M; ++l) step[l] = -(dot(slope.data(), &at.B[l * M], M) + u[l] * s);
      turn_by(exchange.j, exchange.i, s);
      for (i64 e = 0; e < n; ++e) {
        const double share = at.W[e] * turn[e];
        lifted[e] = share == 0.0 ? 0.0 : share / second[e];
      }
      const double gap = fitter.loss.gap(ahead.get(), first.get(), second.get(), lifted.get());
      if (bounded(exchange, f - (gap + penalty(part, exchange.j, step.data(), s)) * (1 + 1e-6), least)) return true;
    }
    return false;
  }

  // Notes a bound; whether it is above the least that matters.
  static bool bounded(Exchanged& exchange, double lower, double least) {
    exchange.lower = std::max(exchange.lower, lower);
    return lower > least;
  }

  // turn = A s of a step: of the columns of S but the i-th, and of the one that enters.
  void turn_by(i64 j, i64 i, double s) {
    std::fill(turn.get(), turn.get() + n, 0.0);
    add_lines(D.get(), n, step.data(), i, n, turn.get());
    add_lines(D.get() + (i + 1) * n, n, step.data() + i, M - i, n, turn.get());
    X.add(j, s, turn.get());
  }

  // What the ridge says of coefficients, or of a step.
  double penalty(const LikelihoodFit& part, i64 j, const double* z, double x) const {
    double sum = X.ridge[j] * x * x;
    for (std::size_t l = 0; l < part.S.size(); ++l) sum += X.ridge[part.S[l]] * z[l] * z[l];
    return 0.5 * sum;
  }

  static double square(const Entries& a, const double* w) {
    if (!a.row) return weighted_square(a.value, w, a.count);
    double sum = 0.0;
    for (i64 e = 0; e < a.count; ++e) sum += w[a.row[e]] * a.value[e] * a.value[e];
    return sum;
  }

  LikelihoodFitter& fitter;
  EvenColumns& X;
  const i64 n, p, M; // M columns are left without a unit, with the intercept
  const std::vector<LikelihoodFit>& parts;
  const double goal;
  Buffer D, ahead, first, second, turn, lifted; // of length n: a point with its derivatives, changes of eta
  std::vector<double> step, u, moved, slope, c;
  i64 failed = 0;
};

} // namespace pursuit
