#pragma once

#include "loops.hpp"
#include "losses.hpp"

namespace pursuit {

struct HingeProblem {
  const double* A; // sample i is A + i * ld, m numbers
  i64 m, ld;
  Samples s;
  double l2, rho, centre;
};

// Hsieh et al. 2008, with the intercept as one more, separately regularised, coordinate. Samples at a bound whose
// gradient points well outwards are set aside (shrunk); all samples are looked at again before it stops.
inline i64 hinge_dual(const HingeProblem& P, double tol, i64 max_epochs, std::uint64_t seed, double* alpha, double* x,
                      double* b) {
  const i64 m = P.m, n = P.s.n;
  Buffer curvature = reals(n);
  std::vector<i64> order;
  order.reserve(n);
  auto rebuild = [&] {
    std::fill(x, x + m, 0.0);
    double total = 0.0;
    for (i64 i = 0; i < n; ++i) {
      const double step = P.s.c[i] * P.s.y[i] * alpha[i];
      if (step == 0.0) continue;
      const double w = step / P.l2;
      add_rows<1>(P.A + i * P.ld, 0, &w, m, x);
      total += step;
    }
    *b = P.centre + total / P.rho;
  };
  for (i64 i = 0; i < n; ++i) {
    alpha[i] = alpha[i] > 0.0 ? std::min(alpha[i], 1.0) : 0.0;
    const double* a = P.A + i * P.ld;
    curvature[i] = P.s.c[i] * (dot(a, a, m) / P.l2 + 1.0 / P.rho);
    if (P.s.c[i] > 0.0 && std::isfinite(curvature[i])) order.push_back(i);
    if (!std::isfinite(curvature[i])) alpha[i] = 0.0;
  }
  rebuild();
  Random random(seed);
  const double infinity = std::numeric_limits<double>::infinity();
  double outward = infinity; // the shrinking threshold: the largest violation of the epoch before
  i64 active = static_cast<i64>(order.size()), epoch = 0;
  while (epoch < max_epochs) {
    ++epoch;
    for (i64 k = active - 1; k > 0; --k) std::swap(order[k], order[random.below(k + 1)]);
    double worst = 0.0;
    for (i64 k = 0; k < active; ++k) {
      const i64 i = order[k];
      const double* a = P.A + i * P.ld;
      const double eta = dot(a, x, m) + *b + (P.s.offset ? P.s.offset[i] : 0.0);
      const double g = P.s.y[i] * eta - 1.0, old = alpha[i];
      if ((old == 0.0 && g > outward) || (old == 1.0 && g < -outward)) {
        std::swap(order[k--], order[--active]);
        continue;
      }
      const double violation = old <= 0.0 ? std::max(0.0, -g) : (old >= 1.0 ? std::max(0.0, g) : std::fabs(g));
      worst = std::max(worst, violation);
      if (!(violation > 0.0)) continue;
      const double next = std::clamp(old - g / curvature[i], 0.0, 1.0);
      if (!(next != old) || std::isnan(next)) continue;
      const double step = (next - old) * P.s.c[i] * P.s.y[i];
      const double w = step / P.l2;
      add_rows<1>(a, 0, &w, m, x);
      *b += step / P.rho;
      alpha[i] = next;
    }
    const bool all = active == static_cast<i64>(order.size());
    if (worst <= tol) {
      if (all) break;
      active = static_cast<i64>(order.size());
      outward = infinity;
    } else {
      outward = std::max(worst, tol);
    }
  }
  rebuild();
  return epoch;
}

} // namespace pursuit
