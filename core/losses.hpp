#pragma once

#include "threads.hpp"

#include <bit>
#include <limits>

namespace pursuit {

// exp for x <= 709, without branches so that a loop over it vectorises; 0 below -708. NaN stays NaN.
PURSUIT_INLINE double exp_(double x) {
  const bool tiny = x < -708.0;
  x = tiny ? -708.0 : x;
  x = x > 709.0 ? 709.0 : x;
  const double magic = 6755399441055744.0; // 1.5 * 2^52: adding it rounds to an integer in the low bits
  const double shifted = x * 1.4426950408889634074 + magic;
  const double k = shifted - magic;
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double q = 1.0 / 6227020800.0;
  q = q * r + 1.0 / 479001600.0;
  q = q * r + 1.0 / 39916800.0;
  q = q * r + 1.0 / 3628800.0;
  q = q * r + 1.0 / 362880.0;
  q = q * r + 1.0 / 40320.0;
  q = q * r + 1.0 / 5040.0;
  q = q * r + 1.0 / 720.0;
  q = q * r + 1.0 / 120.0;
  q = q * r + 1.0 / 24.0;
  q = q * r + 1.0 / 6.0;
  q = q * r + 0.5;
  q = q * r + 1.0;
  q = q * r + 1.0;
  const std::uint64_t bits = (std::bit_cast<std::uint64_t>(shifted) + 1023u) << 52;
  return tiny ? 0.0 : q * std::bit_cast<double>(bits);
}

// log(1 + u) for 0 <= u <= 1, as 2 atanh of u/(2+u), or of the same for (1+u)/2 when u is large.
PURSUIT_INLINE double log1p_(double u) {
  const bool large = u > 0.4142135623730951;
  const double s = (large ? u - 1.0 : u) / (large ? u + 3.0 : u + 2.0);
  const double z = s * s;
  double q = 1.0 / 19.0; // z is below 0.0295: what is left out is less than 3e-17
  q = q * z + 1.0 / 17.0;
  q = q * z + 1.0 / 15.0;
  q = q * z + 1.0 / 13.0;
  q = q * z + 1.0 / 11.0;
  q = q * z + 1.0 / 9.0;
  q = q * z + 1.0 / 7.0;
  q = q * z + 1.0 / 5.0;
  q = q * z + 1.0 / 3.0;
  q = q * z;
  return 2.0 * s + 2.0 * s * q + (large ? 0.693147180559945309417 : 0.0);
}

// log(1 + u) for any u >= 0: what is above 1 is halved first.
PURSUIT_INLINE double log1p_any(double u) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(1.0 + u);
  const bool large = u > 1.0;
  const double power = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023);
  const double mantissa = std::bit_cast<double>((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
  return log1p_(large ? mantissa - 1.0 : u) + (large ? power * 0.693147180559945309417 : 0.0);
}

struct Jet {
  double value, d1, d2;
};

struct Interval {
  double low, high;
};
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kInside = 1e-15; // how near the end of a domain the logarithms are taken
inline double entropy(double u) { return u > 0.0 ? u * std::log(u) : 0.0; }

// What a loss may say of itself. Each loss is one struct: phi with two derivatives, and of its conjugate phi* in a the
// domain, the value, the slope and the curvature. A new one is a struct, a code, a line in `with_loss` and a class of
// pursuit.losses.
struct LossTraits {
  static constexpr bool quadratic = false; // phi'' is 1 everywhere
  static constexpr bool bounded = false;   // |phi'''| <= phi'', so that steps can be bounded (likelihood_fit.hpp)
  // The slope of phi* is linear on a closed domain, so that one Newton step, cut to the domain, is the maximiser;
  // otherwise the slope is infinite at the domain's ends.
  static constexpr bool straight = true;
  double unit() const { return 1.0; } // a step in eta that is neither small nor large
};

// phi(eta) + phi*(a) - a eta at a = phi' + phi'' turn: how far the loss can be below its value at eta where a belongs
// to a point of the dual problem; infinite where a lies outside the domain of phi*.
template <class Loss>
double fenchel_gap(const Loss& loss, double y, double eta, double d1, double d2, double turn) {
  const Interval domain = loss.domain(y);
  const double step = d1 + d2 * turn, a = std::clamp(step, domain.low, domain.high);
  if (!(std::fabs(step - a) <= 4e-16 * std::fabs(a))) return kInfinity; // more than rounding
  return std::max(0.0, loss(y, eta).value + loss.conjugate(y, a) - a * eta);
}

struct Squared : LossTraits {
  static constexpr bool quadratic = true;
  PURSUIT_INLINE Jet operator()(double y, double eta) const {
    const double r = eta - y;
    return {0.5 * r * r, r, 1.0};
  }
  Interval domain(double) const { return {-kInfinity, kInfinity}; }
  double conjugate(double y, double a) const { return a * (0.5 * a + y); }
  double slope(double y, double a) const { return a + y; }
  double curve(double, double) const { return 1.0; }
  double gap(double y, double eta, double d1, double d2, double turn) const {
    return fenchel_gap(*this, y, eta, d1, d2, turn);
  }
};

struct Logistic : LossTraits {
  static constexpr bool bounded = true, straight = false;
  PURSUIT_INLINE Jet operator()(double y, double eta) const {
    const double u = exp_(-std::fabs(eta));
    const bool up = eta >= 0.0;
    const double inv = 1.0 / (1.0 + u);
    const double value = (eta > 0.0 ? eta : 0.0) - y * eta + log1p_(u);
    // sigma(eta) - y without cancellation for y in {0, 1}
    const double d1 = ((1.0 - y) * (up ? 1.0 : u) - y * (up ? u : 1.0)) * inv;
    return {value, d1, u * inv * inv};
  }
  Interval domain(double y) const { return {-y, 1.0 - y}; }
  static double inside(double u) { return std::clamp(u, kInside, 1.0 - kInside); }
  double conjugate(double y, double a) const { return entropy(a + y) + entropy(1.0 - (a + y)); }
  double slope(double y, double a) const {
    const double u = inside(a + y);
    return std::log(u) - std::log1p(-u);
  }
  double curve(double y, double a) const {
    const double u = inside(a + y);
    return 1.0 / (u * (1.0 - u));
  }
  double gap(double y, double, double d1, double, double turn) const {
    const double p = d1 + y, q = 1.0 - p, up = 1.0 + q * turn, down = 1.0 - p * turn;
    return up < 0.0 || down < 0.0 ? kInfinity : p * entropy(up) + q * entropy(down);
  }
};

struct Huber : LossTraits {
  double delta;
  explicit Huber(double delta_) : delta(delta_) {}
  PURSUIT_INLINE Jet operator()(double y, double eta) const {
    const double r = eta - y, a = std::fabs(r);
    const bool far = a > delta;
    const double sign = r > 0.0 ? delta : -delta;
    return {far ? delta * (a - 0.5 * delta) : 0.5 * r * r, far ? sign : r, far ? 0.0 : 1.0};
  }
  double unit() const { return delta; }
  Interval domain(double) const { return {-delta, delta}; }
  double conjugate(double y, double a) const { return a * (0.5 * a + y); }
  double slope(double y, double a) const { return a + y; }
  double curve(double, double) const { return 1.0; }
  double gap(double y, double eta, double d1, double d2, double turn) const {
    return fenchel_gap(*this, y, eta, d1, d2, turn);
  }
};

struct SmoothedHinge : LossTraits {
  double gamma;
  explicit SmoothedHinge(double gamma_) : gamma(gamma_) {}
  PURSUIT_INLINE Jet operator()(double y, double eta) const {
    const double z = 1.0 - y * eta; // the shortfall of the margin
    const bool flat = z <= 0.0, linear = z >= gamma;
    const double slope = z / gamma;
    return {flat ? 0.0 : (linear ? z - 0.5 * gamma : 0.5 * z * slope), flat ? 0.0 : (linear ? -y : -y * slope),
            (flat | linear) ? 0.0 : 1.0 / gamma};
  }
  Interval domain(double y) const { return {std::min(-y, 0.0), std::max(-y, 0.0)}; }
  double conjugate(double y, double a) const { return a * (y + 0.5 * gamma * a); }
  double slope(double y, double a) const { return y + gamma * a; }
  double curve(double, double) const { return gamma; }
  double gap(double y, double eta, double d1, double d2, double turn) const {
    return fenchel_gap(*this, y, eta, d1, d2, turn);
  }
};

struct Hinge : LossTraits {
  PURSUIT_INLINE Jet operator()(double y, double eta) const {
    const double z = 1.0 - y * eta;
    const bool flat = z <= 0.0;
    return {flat ? 0.0 : z, flat ? 0.0 : -y, 0.0};
  }
  Interval domain(double y) const { return {std::min(-y, 0.0), std::max(-y, 0.0)}; }
  double conjugate(double y, double a) const { return a * y; }
  double slope(double y, double) const { return y; }
  double curve(double, double) const { return 0.0; }
  double gap(double y, double eta, double d1, double d2, double turn) const {
    return fenchel_gap(*this, y, eta, d1, d2, turn);
  }
};

struct SquaredHinge : LossTraits {
  PURSUIT_INLINE Jet operator()(double y, double eta) const {
    const double z = 1.0 - y * eta;
    const bool flat = z <= 0.0;
    return {flat ? 0.0 : z * z, flat ? 0.0 : -2.0 * y * z, flat ? 0.0 : 2.0};
  }
  Interval domain(double y) const { return y > 0.0 ? Interval{-kInfinity, 0.0} : Interval{0.0, kInfinity}; }
  double conjugate(double y, double a) const { return a * (y + 0.25 * a); }
  double slope(double y, double a) const { return y + 0.5 * a; }
  double curve(double, double) const { return 0.5; }
  double gap(double y, double eta, double d1, double d2, double turn) const {
    return fenchel_gap(*this, y, eta, d1, d2, turn);
  }
};

struct Poisson : LossTraits {
  static constexpr bool bounded = true, straight = false;
  PURSUIT_INLINE Jet operator()(double y, double eta) const {
    const double beyond = eta > 700.0 ? (eta < 1e4 ? eta - 700.0 : 9300.0) : 0.0; // a straight line, while it is finite
    const double e = exp_(eta > 700.0 ? 700.0 : eta);
    return {e + e * beyond - y * eta, e - y, e};
  }
  Interval domain(double y) const { return {-y, kInfinity}; }
  double conjugate(double y, double a) const { return entropy(a + y) - (a + y); }
  double slope(double y, double a) const { return std::log(std::max(a + y, kInside)); }
  double curve(double y, double a) const { return 1.0 / std::max(a + y, kInside); }
  double gap(double, double, double, double mean, double turn) const {
    return turn < -1.0 ? kInfinity : mean * (entropy(1.0 + turn) - turn);
  }
};

// The loss that is minimised where this one is bounded: itself, but for a kink, which is rounded over `width`.
template <class Loss>
Loss rounded(const Loss& loss, double) {
  return loss;
}
inline SmoothedHinge rounded(const Hinge&, double width) { return SmoothedHinge(width); }

// As in pursuit.losses.
enum class LossCode { squared, logistic, huber, smoothed_hinge, hinge, squared_hinge, poisson };

struct Samples {
  const double *y, *c, *offset; // offset may be null
  i64 n;
  LossCode code;
  double param;
};

// f(loss), whatever the loss of the samples is.
template <class F>
auto with_loss(const Samples& s, F&& f) {
  switch (s.code) {
  case LossCode::squared: return f(Squared{});
  case LossCode::logistic: return f(Logistic{});
  case LossCode::huber: return f(Huber(s.param));
  case LossCode::smoothed_hinge: return f(SmoothedHinge(s.param));
  case LossCode::hinge: return f(Hinge{});
  case LossCode::squared_hinge: return f(SquaredHinge{});
  case LossCode::poisson: return f(Poisson{});
  }
  throw std::invalid_argument("unknown loss code");
}

// c phi' into d, c phi'' into h (unless null), and the sum of c phi and of c phi'. d may be eta itself.
template <class Loss>
PURSUIT_CLONES void evaluate(Loss loss, i64 n, const double* y, const double* c, const double* eta, double* d,
                             double* h, double* value, double* slope) {
  double v = 0.0, s = 0.0;
  if (h) {
#pragma omp simd reduction(+ : v, s)
    for (i64 i = 0; i < n; ++i) {
      const double w = c[i];
      const Jet jet = loss(y[i], eta[i]);
      v += w * jet.value;
      s += w * jet.d1;
      d[i] = w * jet.d1;
      h[i] = w * jet.d2;
    }
  } else {
#pragma omp simd reduction(+ : v, s)
    for (i64 i = 0; i < n; ++i) {
      const double w = c[i];
      const Jet jet = loss(y[i], eta[i]);
      v += w * jet.value;
      s += w * jet.d1;
      d[i] = w * jet.d1;
    }
  }
  *value += v;
  *slope += s;
}

// The same for all samples; chunks are fixed, so the sums do not depend on the thread count.
template <class Loss>
void evaluate_all(Loss loss, const Samples& s, const double* eta, double* d, double* h, double* value, double* slope) {
  constexpr i64 chunk = 4096;
  const i64 chunks = (s.n + chunk - 1) / chunk;
  std::vector<double> sums(2 * chunks, 0.0);
  const int nt = plan(8 * s.n, chunks);
  parallel(nt, [&](int t) {
    const Range r = part(chunks, t, nt);
    for (i64 k = r.begin; k < r.end; ++k) {
      const i64 i = k * chunk;
      evaluate(loss, std::min(chunk, s.n - i), s.y + i, s.c + i, eta + i, d + i, h ? h + i : nullptr, &sums[2 * k],
               &sums[2 * k + 1]);
    }
  });
  *value = *slope = 0.0;
  for (i64 k = 0; k < chunks; ++k) {
    *value += sums[2 * k];
    *slope += sums[2 * k + 1];
  }
}

} // namespace pursuit
