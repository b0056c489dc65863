#pragma once

#include "fit.hpp"

// The hinge on a few columns, its kink rounded over a width (losses.hpp: SmoothedHinge), with a ridge on each column.
// Newton's method: f is quadratic in pieces, so a whole step that stays on its piece ends at the minimiser, and between
// pieces an exact search on the slope, n flops a trial, finds the way. Only samples on the rounded part have curvature.

namespace pursuit {

class RoundedFitter {
public:
  // l2: one positive number per column.
  RoundedFitter(const DenseColumns& A_, const Samples& s_, const double* l2_, bool intercept_)
      : A(A_), s(s_), l2(l2_), intercept(intercept_), size(A_.p + (intercept_ ? 1 : 0)), eta(reals(s_.n)),
        turn(reals(s_.n)), h(reals(s_.n)), g(reals(size)), ahead(reals(size)), H(reals(size * size)),
        bound(reals(size)) {
    std::fill(bound.get(), bound.get() + size, 1.0);
    for (i64 j = 0; j < A.p; ++j) {
      bound[j] = 0.0;
      for (i64 i = 0; i < s.n; ++i) bound[j] += s.c[i] * *A.at(i, j) * *A.at(i, j);
    }
  }

  // Minimise from z; true when the decrement is at most `tol` times the value. With `end`, which gets the value, the
  // last step is confirmed: nothing else bounds how far the minimum is.
  bool minimise(double* z, SmoothedHinge loss, double tol, double* end = nullptr) {
    double damp = 0.0;
    for (int step = 0; step < 100; ++step) {
      const double value = system(z, loss);
      if (!std::isfinite(value)) return false;
      const double decrement = direction(z, loss, damp);
      if (!(decrement >= 0.0)) {
        damp = std::max(10 * damp, 1e-8);
        if (damp > 1.0) return false;
        continue;
      }
      if (damp == 0.0 && decrement <= tol * value) {
        for (i64 j = 0; j < size; ++j) z[j] += ahead[j];
        if (!end || settled(z, loss, value, tol, end)) return true;
        continue;
      }
      const double t = search(z, loss, -decrement);
      if (!(t > 0.0)) return false;
      for (i64 j = 0; j < size; ++j) z[j] += t * ahead[j];
      damp = 0.0;
    }
    return false;
  }

  // alpha = -y phi' at z.
  void dual(const double* z, SmoothedHinge loss, double* alpha) {
    predict(z, s.offset, eta.get());
    for (i64 i = 0; i < s.n; ++i) alpha[i] = -s.y[i] * loss(s.y[i], eta[i]).d1;
  }

private:
  static constexpr double kSettled = 1e-12; // share of the value that a further step may always gain

  // Whether the last step led to an end: from coefficients without measure, which a ridge next to nothing allows, a
  // step back has no digits, and a decrement that is small beside their value says nothing.
  bool settled(const double* z, SmoothedHinge loss, double before, double tol, double* end) {
    const double value = system(z, loss);
    *end = value;
    if (!(value <= before * (1 + 1e-12))) return false;
    const double decrement = direction(z, loss, 0.0);
    return decrement >= 0.0 && decrement <= std::max(tol, kSettled) * value;
  }

  void predict(const double* z, const double* offset, double* out) const {
    for (i64 i = 0; i < s.n; ++i) out[i] = (intercept ? z[A.p] : 0.0) + (offset ? offset[i] : 0.0);
    add_lines(A.data, A.col_stride, z, A.p, s.n, out);
  }

  // The value, the gradient in g, the Hessian in H.
  double system(const double* z, SmoothedHinge loss) {
    double value = 0.0, slope = 0.0;
    predict(z, s.offset, eta.get());
    evaluate(loss, s.n, s.y, s.c, eta.get(), turn.get(), h.get(), &value, &slope);
    std::fill(g.get(), g.get() + size, 0.0);
    std::fill(H.get(), H.get() + size * size, 0.0);
    if (intercept) g[A.p] = slope;
    add_dots(A.data, A.col_stride, turn.get(), A.p, s.n, g.get());
    bent.clear();
    for (i64 i = 0; i < s.n; ++i)
      if (h[i] > 0.0) bent.push_back(i), h[static_cast<i64>(bent.size()) - 1] = std::sqrt(h[i]);
    const i64 count = static_cast<i64>(bent.size());
    scaled.resize(static_cast<std::size_t>(count * size));
    for (i64 j = 0; j < size; ++j)
      for (i64 l = 0; l < count; ++l) scaled[j * count + l] = h[l] * (j < A.p ? *A.at(bent[l], j) : 1.0);
    syrk(size, count, scaled.data(), count, H.get(), size); // column-major upper, which is row-major lower
    for (i64 j = 0; j < size; ++j) {
      if (j < A.p) {
        g[j] += l2[j] * z[j];
        value += 0.5 * l2[j] * z[j] * z[j];
        H[j * size + j] += l2[j];
      }
      for (i64 k = 0; k < j; ++k) H[k * size + j] = H[j * size + k];
    }
    return value;
  }

  // Newton's direction in `ahead`, and its decrement (-1: there is none); a share `damp` of the largest curvature there
  // can be stands in for a missing one.
  double direction(const double* z, SmoothedHinge loss, double damp) {
    if (damp > 0.0)
      for (i64 j = 0; j < size; ++j) H[j * size + j] += damp * bound[j] / loss.gamma;
    const Factor factor(H.get(), size, size);
    if (!(factor.pivots() > 1e-14)) return -1.0;
    const double decrement = factor.step(z, g.get(), ahead.get());
    for (i64 j = 0; j < size; ++j) ahead[j] -= z[j];
    return decrement;
  }

  // Where along `ahead` the slope has all but vanished; 0 where it does not.
  double search(const double* z, SmoothedHinge loss, double first) {
    predict(ahead.get(), nullptr, turn.get());
    double straight = 0.0, bent = 0.0;
    for (i64 j = 0; j < A.p; ++j) straight += l2[j] * z[j] * ahead[j], bent += l2[j] * ahead[j] * ahead[j];
    double low = 0.0, high = 0.0, at_low = first, at_high = 0.0, t = 1.0;
    for (int trial = 0; trial < 80; ++trial) {
      double here = straight + t * bent;
      for (i64 i = 0; i < s.n; ++i) here += s.c[i] * turn[i] * loss(s.y[i], eta[i] + t * turn[i]).d1;
      if (!std::isfinite(here)) return 0.0;
      if (std::fabs(here) <= -0.1 * first) return t;
      if (here < 0.0)
        low = t, at_low = here;
      else
        high = t, at_high = here;
      if (high == 0.0)
        t *= 4.0;
      else // the slope is linear in pieces; a secant now and then, halves else
        t = trial % 2 ? 0.5 * (low + high) : low + (high - low) * at_low / (at_low - at_high);
    }
    return low;
  }

  const DenseColumns A;
  const Samples s;
  const double* l2;
  bool intercept;
  i64 size;
  Buffer eta, turn, h, g, ahead, H, bound;
  std::vector<i64> bent; // samples on the rounded part
  std::vector<double> scaled;
};

} // namespace pursuit
