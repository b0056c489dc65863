#pragma once

#include "blas.hpp"
#include "loops.hpp"
#include "search.hpp"

// A quadratic whose rows are computed on demand, and the unit that would enter next if only a few columns were there.

namespace pursuit {

inline constexpr double kPivot = 1e-11; // share of H_jj below which a column is a combination of those that are in

// Where H comes from, without the ridge. Where rows are expensive several are computed at a time, ahead of their use.
struct Rows {
  std::function<const double*(i64)> row;            // H_j:, or null where it is not at hand
  std::function<bool(const Units&, double*)> block; // H of a few columns among themselves; false stops
  std::function<bool(const Units&)> fetch;          // see to it that these rows are at hand; false stops
  std::function<bool(i64)> has;                     // whether a row is
};

// The quadratic f0 + sum over q responses of c_r'x_r + x_r'Hx_r/2: diagonal h (with the ridge), linear terms c (q x p).
// `length`: of the columns in the units of the objective, in which gradients are compared (null: 1). A row that is
// fetched costs `row_cost` multiplications.
struct RowQuad {
  const double *c, *h, *ridge;
  double f0;
  i64 p;
  Rows rows;
  const double* length = nullptr;
  double row_cost = 0.0;
  i64 q = 1;
};

// The order in which columns enter, each by the largest gain, `first` first; G is their Hessian given what is in, slope
// (a row for each of q responses) their gradients, and a column with less than `least` left on the diagonal does not
// enter. Until `enough(step, column)`.
template <class Enough>
Units by_gain(double* G, std::vector<double> slope, const std::vector<double>& least, i64 first, Enough&& enough) {
  const i64 many = static_cast<i64>(least.size()), q = static_cast<i64>(slope.size()) / many;
  std::vector<double> r(least.size());
  Units order;
  for (i64 step = 0; step < many; ++step) {
    i64 best = -1;
    double most = 0.0;
    for (i64 l = 0; l < many; ++l) {
      const double left = G[l * (many + 1)];
      if (!(left > least[l])) continue;
      double square = 0.0;
      for (i64 a = 0; a < q; ++a) square += slope[a * many + l] * slope[a * many + l];
      const double more = step == 0 && l == first ? HUGE_VAL : square / left;
      if (more > most) most = more, best = l;
    }
    if (best < 0) return order;
    order.push_back(best);
    if (enough(step, best)) return order;
    const double inv = 1.0 / std::sqrt(G[best * (many + 1)]);
    for (i64 l = 0; l < many; ++l) r[l] = G[best * many + l] * inv;
    for (i64 a = 0; a < q; ++a) {
      const double last = -slope[a * many + best] * inv;
      add_rows<1>(r.data(), 0, &last, many, slope.data() + a * many);
    }
    for (i64 l = 0; l < many; ++l) {
      const double w = -r[l];
      add_rows<1>(r.data(), 0, &w, many, G + l * many);
    }
  }
  return order;
}

// A state that V (m x p) and the gradients g (q x p) belong to: column j and the columns that are likely to come in
// after it, those that would if only the columns of largest gain were there, whose own Gram matrix less V'V tells
// exactly. A few rows more cost little beside a pass over X. Empty where the data are at an end.
inline Units likely_next(const RowQuad& quad, i64 j, std::vector<double> gains, const double* V, const double* g, i64 m,
                         i64 room) {
  constexpr i64 kAhead = 128, kEnough = 12, kPool = 256;
  const i64 steps = std::clamp<i64>(room, 1, kAhead), p = quad.p, q = quad.q;
  const i64 most = std::clamp<i64>(static_cast<i64>(0.5 * std::sqrt(static_cast<double>(p * steps))), 2, kPool);
  gains[j] = HUGE_VAL;
  const Units pool = top_of(gains, most);
  const i64 many = static_cast<i64>(pool.size());
  if (steps == 1 || many == 1) return {j};
  Buffer G = reals(many * many), A = reals(m * many), N = reals(m * many);
  if (!quad.rows.block(pool, G.get())) return {};
  std::vector<double> slope(static_cast<std::size_t>(many * q)), least(static_cast<std::size_t>(many));
  for (i64 l = 0; l < many; ++l) {
    for (i64 r = 0; r < m; ++r) A[l * m + r] = V[r * p + pool[l]], N[l * m + r] = -A[l * m + r];
    for (i64 r = 0; r < q; ++r) slope[r * many + l] = g[r * p + pool[l]];
    G[l * (many + 1)] += quad.ridge[pool[l]];
    least[l] = kPivot * quad.h[pool[l]];
  }
  gemm(true, many, many, m, A.get(), m, N.get(), m, 1.0, G.get(), many);
  const i64 first = std::lower_bound(pool.begin(), pool.end(), j) - pool.begin();
  Units next;
  i64 missing = 0;
  for (i64 l : by_gain(G.get(), slope, least, first, [&](i64 step, i64 l) {
         missing += !quad.rows.has(pool[l]);
         return missing >= kAhead || (step + 1 >= steps && missing >= kEnough);
       }))
    next.push_back(pool[l]);
  if (next.empty() || next.front() != j) next.insert(next.begin(), j);
  return next;
}

} // namespace pursuit
