#pragma once

#include "loops.hpp"

#include <limits>

namespace pursuit {

// The convex conjugate of each loss: its domain, value, slope and curvature. `straight` says that the slope is linear
// on a closed domain, so that one Newton step, cut to the domain, is the maximiser; otherwise the slope is infinite at
// the domain's ends.
struct Conjugate {
  double low, high;
};
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kInside = 1e-15; // how near the end of a domain the logarithms are taken

inline double entropy(double u) { return u > 0.0 ? u * std::log(u) : 0.0; }

struct SquaredDual {
  static constexpr bool straight = true;
  Conjugate domain(double) const { return {-kInfinity, kInfinity}; }
  double value(double y, double a) const { return a * (0.5 * a + y); }
  double slope(double y, double a) const { return a + y; }
  double curve(double, double) const { return 1.0; }
};

struct HuberDual {
  static constexpr bool straight = true;
  double delta;
  Conjugate domain(double) const { return {-delta, delta}; }
  double value(double y, double a) const { return a * (0.5 * a + y); }
  double slope(double y, double a) const { return a + y; }
  double curve(double, double) const { return 1.0; }
};

struct HingeDual { // the plain one with gamma = 0
  static constexpr bool straight = true;
  double gamma;
  Conjugate domain(double y) const { return {std::min(-y, 0.0), std::max(-y, 0.0)}; }
  double value(double y, double a) const { return a * (y + 0.5 * gamma * a); }
  double slope(double y, double a) const { return y + gamma * a; }
  double curve(double, double) const { return gamma; }
};

struct SquaredHingeDual {
  static constexpr bool straight = true;
  Conjugate domain(double y) const { return y > 0.0 ? Conjugate{-kInfinity, 0.0} : Conjugate{0.0, kInfinity}; }
  double value(double y, double a) const { return a * (y + 0.25 * a); }
  double slope(double y, double a) const { return y + 0.5 * a; }
  double curve(double, double) const { return 0.5; }
};

struct LogisticDual {
  static constexpr bool straight = false;
  Conjugate domain(double y) const { return {-y, 1.0 - y}; }
  static double inside(double u) { return std::clamp(u, kInside, 1.0 - kInside); }
  double value(double y, double a) const { return entropy(a + y) + entropy(1.0 - (a + y)); }
  double slope(double y, double a) const {
    const double u = inside(a + y);
    return std::log(u) - std::log1p(-u);
  }
  double curve(double y, double a) const {
    const double u = inside(a + y);
    return 1.0 / (u * (1.0 - u));
  }
};

struct PoissonDual {
  static constexpr bool straight = false;
  Conjugate domain(double y) const { return {-y, kInfinity}; }
  double value(double y, double a) const { return entropy(a + y) - (a + y); }
  double slope(double y, double a) const { return std::log(std::max(a + y, kInside)); }
  double curve(double y, double a) const { return 1.0 / std::max(a + y, kInside); }
};

template <class F>
auto with_conjugate(LossSpec spec, F&& f) {
  switch (spec.code) {
  case 0:
    return f(SquaredDual{});
  case 1:
    return f(LogisticDual{});
  case 2:
    return f(HuberDual{spec.param});
  case 3:
    return f(HingeDual{spec.param});
  case 4:
    return f(HingeDual{0.0});
  case 5:
    return f(SquaredHingeDual{});
  case 6:
    return f(PoissonDual{});
  default:
    throw std::invalid_argument("unknown loss code");
  }
}

// Rows on the columns of the support: row i times v, and the squared length (in the metric of `gain`) of row i, or of
// the difference of rows i and j. No entry of a sparse row is stored twice.
template <class T>
struct DenseRows {
  const Dense<T>& X;
  const double *v, *gain;
  const i64* cols;
  i64 m;
  double eta(i64 i) const {
    double s = 0.0;
    for (i64 k = 0; k < m; ++k) s += static_cast<double>(*X.at(i, cols[k])) * v[cols[k]];
    return s;
  }
  double curvature(i64 i, i64 j) const {
    double s = 0.0;
    for (i64 k = 0; k < m; ++k) {
      const double d = static_cast<double>(*X.at(i, cols[k])) - (j < 0 ? 0.0 : static_cast<double>(*X.at(j, cols[k])));
      s += d * d * gain[cols[k]];
    }
    return s;
  }
  void add(i64 i, double w, double* to) const {
    for (i64 k = 0; k < X.p; ++k) to[k] += w * static_cast<double>(*X.at(i, k)) * gain[k];
  }
};

template <class T, class I>
struct SparseRows {
  const Sparse<T, I>& X;
  const double *v, *gain;
  std::vector<std::uint64_t> chosen;
  std::vector<double> scratch; // zero between calls; for pairs
  SparseRows(const Sparse<T, I>& X_, const double* v_, const double* gain_, const i64* cols, i64 m, bool pairs)
      : X(X_), v(v_), gain(gain_), chosen((X_.p + 63) / 64, 0), scratch(pairs ? X_.p : 0, 0.0) {
    for (i64 k = 0; k < m; ++k) chosen[cols[k] >> 6] |= std::uint64_t(1) << (cols[k] & 63);
  }
  template <class F>
  void visit(i64 i, F&& f) const { // the row's entries on the support
    for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e) {
      const i64 at = static_cast<i64>(X.indices[e]);
      if (chosen[at >> 6] >> (at & 63) & 1) f(at, static_cast<double>(X.data[e]));
    }
  }
  double eta(i64 i) const {
    double s = 0.0;
    visit(i, [&](i64 at, double x) { s += x * v[at]; });
    return s;
  }
  double curvature(i64 i, i64 j) {
    double s = 0.0;
    if (j < 0) {
      visit(i, [&](i64 at, double x) { s += x * x * gain[at]; });
      return s;
    }
    visit(i, [&](i64 at, double x) { scratch[at] += x; });
    visit(j, [&](i64 at, double x) { scratch[at] -= x; });
    visit(i, [&](i64 at, double x) { s += x * scratch[at] * gain[at]; });
    visit(j, [&](i64 at, double x) { s -= x * scratch[at] * gain[at]; });
    visit(i, [&](i64 at, double) { scratch[at] = 0.0; });
    visit(j, [&](i64 at, double) { scratch[at] = 0.0; });
    return std::max(s, 0.0);
  }
  void add(i64 i, double w, double* to) const {
    for (i64 e = X.indptr[i]; e < X.indptr[i + 1]; ++e)
      to[X.indices[e]] += w * static_cast<double>(X.data[e]) * gain[X.indices[e]];
  }
};

// The d that maximises r d - h d^2/2 - c_i phi*(a_i + d/c_i) - c_j phi*(a_j - d/c_j); without j when j < 0.
template <class Dual>
double best_move(Dual dual, const Samples& s, const double* a, i64 i, i64 j, double r, double h) {
  const Conjugate box = dual.domain(s.y[i]);
  double low = s.c[i] * (box.low - a[i]), high = s.c[i] * (box.high - a[i]);
  if (j >= 0) {
    const Conjugate other = dual.domain(s.y[j]);
    low = std::max(low, s.c[j] * (a[j] - other.high));
    high = std::min(high, s.c[j] * (a[j] - other.low));
  }
  auto slope = [&](double d) {
    const double g = r - h * d - dual.slope(s.y[i], a[i] + d / s.c[i]);
    return j < 0 ? g : g + dual.slope(s.y[j], a[j] - d / s.c[j]);
  };
  auto curve = [&](double d) {
    const double q = h + dual.curve(s.y[i], a[i] + d / s.c[i]) / s.c[i];
    return j < 0 ? q : q + dual.curve(s.y[j], a[j] - d / s.c[j]) / s.c[j];
  };
  double g = slope(0.0), d = 0.0;
  if (Dual::straight) {
    const double q = curve(0.0);
    if (g == 0.0) return 0.0;
    return std::clamp(q > 0.0 ? g / q : (g > 0.0 ? high : low), std::min(low, 0.0), std::max(high, 0.0));
  }
  const double enough = 1e-10 * (1.0 + std::fabs(r));
  for (int turn = 0; turn < 60 && std::fabs(g) > enough; ++turn) {
    (g > 0.0 ? low : high) = d;
    double ahead = d + g / curve(d);
    if (!(ahead > low && ahead < high)) ahead = 0.5 * (low + high);
    if (!std::isfinite(ahead) || ahead == d) break;
    d = ahead;
    g = slope(d);
  }
  return d;
}

// Coordinate ascent on D with the support held: samples in the given order, one at a time, or two at a time so that
// sum_i c_i a_i stays. Each move is `damp` times the best one. a and v (z in the units of X) are changed.
template <class Rows, class Dual>
void dual_sweep(Rows& X, const Samples& s, Dual dual, const i64* order, i64 count, bool pairs, double damp, double* a,
                double* v) {
  auto cut = [&](i64 i, double value) {
    const Conjugate box = dual.domain(s.y[i]);
    a[i] = std::clamp(value, box.low, box.high);
  };
  const i64 stride = pairs ? 2 : 1;
  for (i64 k = 0; k + stride <= count; k += stride) {
    const i64 i = order[k], j = pairs ? order[k + 1] : -1;
    if (i == j || !(s.c[i] > 0.0) || (pairs && !(s.c[j] > 0.0))) continue;
    double r = X.eta(i) + (s.offset ? s.offset[i] : 0.0);
    if (pairs) r -= X.eta(j) + (s.offset ? s.offset[j] : 0.0);
    const double d = damp * best_move(dual, s, a, i, j, r, X.curvature(i, j));
    if (!(d != 0.0) || !std::isfinite(d)) continue;
    cut(i, a[i] + d / s.c[i]);
    X.add(i, -d, v);
    if (!pairs) continue;
    cut(j, a[j] - d / s.c[j]);
    X.add(j, d, v);
  }
}

} // namespace pursuit
