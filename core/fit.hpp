#pragma once

#include "cholesky.hpp"
#include "newton.hpp"

#include <chrono>

// Whole refits on a few columns as long as nothing unusual happens. Where it does (a Hessian close to singular, a full
// step that does not help, data that may be separated) they stop and say so, and the caller goes on with more care.

namespace pursuit {

struct FitLimits {
  double floor, lower, converged, singular; // stop unfinished at this value; a lower bound of f (or -inf); decrement,
                                            // relative to the height above it, that ends it; condition not trusted
  double seconds;                           // stop unfinished after that long
};

struct Fit {
  double value;
  bool done;
};

// `loss(z, &value, gradient, hessian)` is the weighted mean loss in z = (v, b), hessian null or (m + 1)^2 row-major.
template <class System>
class Fitter {
public:
  Fitter(System& loss_, i64 m_, bool intercept, const double* l2_)
      : loss(loss_), m(m_), size(m_ + (intercept ? 1 : 0)), l2(l2_), store(reals(3 * (m_ + 1))),
        hessians(reals(2 * (m_ + 1) * (m_ + 1))) {}

  // Newton's method from z (m + 1 numbers, the last one 0 without an intercept).
  Fit newton(double* z, const FitLimits& limits) {
    double *g = store.get(), *g_ahead = g + m + 1, *ahead = g + 2 * (m + 1);
    double *H = hessians.get(), *H_ahead = H + (m + 1) * (m + 1);
    double value = system(z, g, H);
    const double start = value;
    const auto began = std::chrono::steady_clock::now();
    for (int turn = 0; turn < 60; ++turn) {
      if (!(value > limits.floor)) return {value, false};
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > limits.seconds)
        return {value, false};
      const Factor factor(H, m + 1, size);
      if (!(factor.pivots() > limits.singular)) return {value, false};
      ahead[m] = 0.0;
      const double decrement = factor.step(z, g, ahead);
      const double height = std::isinf(limits.lower) ? std::fabs(value) : value - limits.lower;
      // above a floor there is no end, and a start that is far too high says nothing
      const double fallen = std::min(std::fabs(start - value), 1e2 * (height + std::fabs(value)));
      const bool last = decrement <= limits.converged * std::max(height, std::isinf(limits.floor) ? fallen : 0.0);
      const double trial = system(ahead, g_ahead, last ? nullptr : H_ahead);
      if (last) {
        if (!(factor.rcond() >= limits.singular)) return {value, false}; // pivots may hide it, rounded as they are
        if (!(value - trial <= 2 * decrement + 1e-12 * std::fabs(value)))
          return {value, false}; // f is no parabola here
        if (trial <= value) std::copy(ahead, ahead + m + 1, z);
        return {std::min(trial, value), true};
      }
      if (!(trial <= value - 1e-4 * decrement)) return {value, false};
      std::copy(ahead, ahead + m + 1, z);
      std::swap(g, g_ahead);
      std::swap(H, H_ahead);
      value = trial;
    }
    return {value, false};
  }

  // A quadratic loss: one step from zero, refined once.
  Fit quadratic(double* z, const FitLimits& limits) {
    double *g = store.get(), *ahead = g + m + 1, *better = g + 2 * (m + 1), *H = hessians.get();
    std::fill(z, z + m + 1, 0.0);
    ahead[m] = better[m] = 0.0;
    const double start = system(z, g, H);
    const Factor factor(H, m + 1, size);
    if (!factor.ok || !(factor.rcond() >= limits.singular)) return {start, false};
    factor.step(z, g, ahead);
    const double value = system(ahead, g, nullptr);
    factor.step(ahead, g, better);
    const double refined = system(better, g, nullptr);
    const double* best = refined <= value ? better : ahead;
    std::copy(best, best + m + 1, z);
    return {std::min(refined, value), std::isfinite(value)};
  }

private:
  double system(const double* z, double* g, double* H) {
    double value = 0.0, ridge = 0.0;
    loss(z, &value, g, H);
    for (i64 j = 0; j < m; ++j) {
      g[j] += l2[j] * z[j];
      ridge += l2[j] * z[j] * z[j];
      if (H) H[j * (m + 1) + j] += l2[j];
    }
    return value + 0.5 * ridge;
  }

  System& loss;
  i64 m, size;
  const double* l2;
  Buffer store, hessians;
};

} // namespace pursuit
