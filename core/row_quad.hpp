#pragma once

#include "blas.hpp"
#include "loops.hpp"
#include "search.hpp"

// A quadratic whose rows are asked for one by one, and who would enter next if only a few columns were there.

namespace pursuit {

inline constexpr double kPivot = 1e-11; // share of H_jj below which a column is a combination of those that are in

// Where H comes from, without the ridge. Where rows are dear they are computed several at a time, ahead of their use.
struct Rows {
  std::function<const double*(i64)> row;            // H_j:, or null where it is not at hand
  std::function<bool(const Units&, double*)> block; // H of a few columns among themselves; false stops
  std::function<bool(const Units&)> fetch;          // see to it that these rows are at hand; false stops
  std::function<bool(i64)> has;                     // whether a row is
};

// The quadratic: diagonal h (with the ridge), linear term c. `length`: of the columns in the units of the objective, in
// which gradients are compared (null: 1). A row that is fetched costs `row_cost` multiplications.
struct RowQuad {
  const double *c, *h, *ridge;
  double f0;
  i64 p;
  Rows rows;
  const double* length = nullptr;
  double row_cost = 0.0;
};

// The order in which columns enter, each by the largest gain, `first` first; G is their Hessian given what is in, slope
// their gradients, and a column with less than `least` left on the diagonal does not enter. Until `enough(step,
// column)`.
template <class Enough>
Units by_gain(double* G, std::vector<double> slope, const std::vector<double>& least, i64 first, Enough&& enough) {
  const i64 many = static_cast<i64>(slope.size());
  std::vector<double> r(slope.size());
  Units order;
  for (i64 step = 0; step < many; ++step) {
    i64 best = -1;
    double most = 0.0;
    for (i64 l = 0; l < many; ++l) {
      const double left = G[l * (many + 1)];
      if (!(left > least[l])) continue;
      const double more = step == 0 && l == first ? HUGE_VAL : slope[l] * slope[l] / left;
      if (more > most) most = more, best = l;
    }
    if (best < 0) return order;
    order.push_back(best);
    if (enough(step, best)) return order;
    const double inv = 1.0 / std::sqrt(G[best * (many + 1)]), last = -slope[best] * inv;
    for (i64 l = 0; l < many; ++l) r[l] = G[best * many + l] * inv;
    for (i64 l = 0; l < many; ++l) {
      slope[l] += last * r[l];
      const double w = -r[l];
      add_rows<1>(r.data(), 0, &w, many, G + l * many);
    }
  }
  return order;
}

} // namespace pursuit
