#pragma once

#include "losses.hpp"

namespace pursuit {

// The value of sum_i c_i phi(y_i, x_i v + b + offset_i) and its derivatives in v and b.
struct LineSums {
  double f = 0.0, gv = 0.0, gb = 0.0, hvv = 0.0, hvb = 0.0, hbb = 0.0;
};

template <class Loss>
PURSUIT_CLONES void line_sums(Loss loss, i64 n, const double* x, const double* y, const double* c, const double* offset,
                              double v, double b, LineSums* out) {
  double f = 0.0, gv = 0.0, gb = 0.0, hvv = 0.0, hvb = 0.0, hbb = 0.0;
#pragma omp simd reduction(+ : f, gv, gb, hvv, hvb, hbb)
  for (i64 i = 0; i < n; ++i) {
    const double w = c[i], z = x[i];
    const Jet jet = loss(y[i], z * v + b + offset[i]);
    const double d = w * jet.d1, h = w * jet.d2;
    f += w * jet.value;
    gv += d * z;
    gb += d;
    hvv += h * z * z;
    hvb += h * z;
    hbb += h;
  }
  *out = {f, gv, gb, hvv, hvb, hbb};
}

} // namespace pursuit
