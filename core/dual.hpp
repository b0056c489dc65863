#pragma once

#include "losses.hpp"

namespace pursuit {

// Rows on the columns of the support: row i times v, and the squared length (in the metric of `gain`) of row i, or of
// the difference of rows i and j. No entry of a sparse row is stored twice.
template <class T>
struct DenseRows {
  const Dense<T>& X;
  const double *v, *gain;
  const i64* cols;
  i64 m;
  DenseRows(const Dense<T>& X_, const double* v_, const double* gain_, const i64* cols_, i64 m_, bool)
      : X(X_), v(v_), gain(gain_), cols(cols_), m(m_) {}
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

template <class T, class... More>
DenseRows<T> support_rows(const Dense<T>& X, More... more) {
  return {X, more...};
}
template <class T, class I, class... More>
SparseRows<T, I> support_rows(const Sparse<T, I>& X, More... more) {
  return {X, more...};
}

// The d that maximises r d - h d^2/2 - c_i phi*(a_i + d/c_i) - c_j phi*(a_j - d/c_j); without j when j < 0.
template <class Loss>
double best_move(Loss loss, const Samples& s, const double* a, i64 i, i64 j, double r, double h) {
  const Interval box = loss.domain(s.y[i]);
  double low = s.c[i] * (box.low - a[i]), high = s.c[i] * (box.high - a[i]);
  if (j >= 0) {
    const Interval other = loss.domain(s.y[j]);
    low = std::max(low, s.c[j] * (a[j] - other.high));
    high = std::min(high, s.c[j] * (a[j] - other.low));
  }
  auto slope = [&](double d) {
    const double g = r - h * d - loss.slope(s.y[i], a[i] + d / s.c[i]);
    return j < 0 ? g : g + loss.slope(s.y[j], a[j] - d / s.c[j]);
  };
  auto curve = [&](double d) {
    const double q = h + loss.curve(s.y[i], a[i] + d / s.c[i]) / s.c[i];
    return j < 0 ? q : q + loss.curve(s.y[j], a[j] - d / s.c[j]) / s.c[j];
  };
  double g = slope(0.0), d = 0.0;
  if (Loss::straight) {
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
template <class Rows, class Loss>
void dual_sweep(Rows X, const Samples& s, Loss loss, const i64* order, i64 count, bool pairs, double damp, double* a,
                double* v) {
  auto cut = [&](i64 i, double value) {
    const Interval box = loss.domain(s.y[i]);
    a[i] = std::clamp(value, box.low, box.high);
  };
  const i64 stride = pairs ? 2 : 1;
  for (i64 k = 0; k + stride <= count; k += stride) {
    const i64 i = order[k], j = pairs ? order[k + 1] : -1;
    if (i == j || !(s.c[i] > 0.0) || (pairs && !(s.c[j] > 0.0))) continue;
    double r = X.eta(i) + (s.offset ? s.offset[i] : 0.0);
    if (pairs) r -= X.eta(j) + (s.offset ? s.offset[j] : 0.0);
    const double d = damp * best_move(loss, s, a, i, j, r, X.curvature(i, j));
    if (!(d != 0.0) || !std::isfinite(d)) continue;
    cut(i, a[i] + d / s.c[i]);
    X.add(i, -d, v);
    if (!pairs) continue;
    cut(j, a[j] - d / s.c[j]);
    X.add(j, d, v);
  }
}

} // namespace pursuit
