#pragma once

#include "line_sums.hpp"
#include "loops.hpp"
#include "sparse.hpp"

#include <map>
#include <numeric>
#include <optional>

// The fit of every column alone: min over (v, b) of sum_i c_i phi(y_i, o_i + x_i v + b) + ridge_j/2 v^2 for each column
// x of X, by Newton's method in two unknowns. Columns are fitted on a copy with mean 0 (with an intercept) and mean
// square 1. Rows where a sparse column is zero are one row per level, a pair (y, o), with the weight of all of them, so
// that an evaluation costs the column's entries and the levels.
//
// What is said of a column is proved by a dual point. With Newton step s and turn = x s_v + s_b,
//
//   a = phi' + phi'' turn   has   sum c a x = -ridge (v + s_v),  sum c a = 0,
//
// so where a lies in the domain of phi* the minimum is at least sum c (a o - phi*(a)) - ridge/2 (v + s_v)^2. For losses
// with |phi'''| <= phi'' that is at least f - dec / (2 (1 - tau)), tau = max |turn| (likelihood_fit.hpp), which needs
// no pass: most columns are excluded by it after a step or two.

namespace pursuit {

enum class ColumnEnd : std::uint8_t { above, minimum, floor, undecided }; // above: its value is a lower bound

struct ColumnFit {
  double f = HUGE_VAL, v = 0.0, b = 0.0;
  ColumnEnd end = ColumnEnd::undecided;
};

struct ColumnLimits {
  double start;  // the intercept of the null model
  LineSums null; // and its value, slope and curvature in it
  double floor, goal, scale, curve;
  bool intercept;
  double size(double f) const { return std::max(std::fabs(f), scale); }
};

// A column and its samples.
struct Line {
  const double *x, *y, *c, *offset;
  const double *d, *h; // c phi' and c phi'' at the null model
  i64 n;
  double low = HUGE_VAL, high = -HUGE_VAL; // of x, where c > 0
};

PURSUIT_CLONES inline void null_sums(const double* x, const double* d, const double* h, i64 n, LineSums* out) {
  double gv = 0.0, hvv = 0.0, hvb = 0.0;
#pragma omp simd reduction(+ : gv, hvv, hvb)
  for (i64 i = 0; i < n; ++i) gv += d[i] * x[i], hvv += h[i] * x[i] * x[i], hvb += h[i] * x[i];
  out->gv = gv, out->hvv = hvv, out->hvb = hvb;
}

template <class Loss>
class ColumnFitter {
public:
  ColumnFitter(const Loss& loss_, const ColumnLimits& limits_) : loss(loss_), limits(limits_) {}

  // From the first Newton step, or as much of it as is safe.
  ColumnFit fit(const Line& line, double ridge) {
    first_bound(line, ridge);
    const double far = std::max(std::fabs(line.low * sv + sb), std::fabs(line.high * sv + sb));
    const double part = std::isfinite(far) ? std::min(1.0, kFirstStep / std::max(far, kFirstStep)) : 0.0;
    at = {HUGE_VAL, part > 0.0 ? part * sv : 0.0, limits.start + (part > 0.0 ? part * sb : 0.0), ColumnEnd::undecided};
    LineSums s = evaluate(line, ridge, at.v, at.b), ahead;
    at.f = s.f;
    double damp = 0.0;
    for (int step = 0; step < kSteps; ++step) {
      if (!(at.f > limits.floor)) return closed(ColumnEnd::floor);
      if (!std::isfinite(at.f)) return at;
      const double dec = direction(s, damp);
      if (!(dec >= 0.0)) return at;
      const double tau = std::max(std::fabs(line.low * sv + sb), std::fabs(line.high * sv + sb));
      if (Loss::bounded && damp == 0.0 && tau < 0.999) {
        const double least = at.f - 0.5 * dec * (1 + 1e-6) / (1 - tau * (1 + 1e-6));
        if (least > limits.goal + 2e-11 * limits.size(at.f)) return at.f = least, closed(ColumnEnd::above);
      }
      const bool settled = dec <= kConverged * limits.size(at.f);
      double t = 1.0;
      ahead = evaluate(line, ridge, at.v + sv, at.b + sb);
      if (settled) {
        const bool sure = damp == 0.0 && at.f - bound(line, ridge) <= kSure * limits.size(at.f);
        if (ahead.f <= at.f) move(1.0, ahead.f);
        return sure ? closed(ColumnEnd::minimum) : at;
      }
      while (!(ahead.f <= at.f - 1e-4 * t * dec) && t > 1e-7) {
        t *= t > 0.1 ? 0.5 : 0.1;
        ahead = evaluate(line, ridge, at.v + t * sv, at.b + t * sb);
      }
      if (!(t > 1e-7)) { // rounding, or a kink of phi'
        const bool near = dec <= 1e-10 * limits.size(at.f);
        if (near && damp == 0.0 && at.f - bound(line, ridge) <= kSure * limits.size(at.f))
          return closed(ColumnEnd::minimum);
        if (near || damp > 1e3) return at;
        damp = std::max(kDamp, 10.0 * damp);
        continue;
      }
      move(t, ahead.f);
      s = ahead;
      // steps that stay long lead to coefficients without end: the last step as often as it helps
      for (double more = 1.0; tau > 0.5 && t == 1.0 && more < 64.0; more *= 2.0) {
        ahead = evaluate(line, ridge, at.v + more * sv, at.b + more * sb);
        if (!(ahead.f < at.f - 0.1 * dec)) break;
        move(more, ahead.f);
        s = ahead;
      }
      damp = damp > 1e-4 * kDamp ? 0.1 * damp : 0.0;
    }
    return at;
  }

  // A lower bound of the fit from one step at the null model, -inf where that says nothing.
  double first_bound(const Line& line, double ridge) {
    at = {HUGE_VAL, 0.0, limits.start, ColumnEnd::undecided};
    double damp = 0.0;
    LineSums s = limits.null;
    null_sums(line.x, line.d, line.h, line.n, &s);
    s.hvv += ridge;
    const double dec = direction(s, damp);
    if (!(dec >= 0.0)) return sv = sb = 0.0, -HUGE_VAL;
    const double tau = std::max(std::fabs(line.low * sv + sb), std::fabs(line.high * sv + sb));
    if (!Loss::bounded || damp > 0.0 || !(tau < 0.999)) return -HUGE_VAL;
    return s.f - 0.5 * dec * (1 + 1e-6) / (1 - tau * (1 + 1e-6)) - 2e-11 * limits.size(s.f);
  }

private:
  static constexpr int kSteps = 100;
  static constexpr double kFirstStep = 2.0; // in the linear predictor
  static constexpr double kConverged = 1e-12, kSure = 1e-9, kDamp = 1e-4, kSingular = 1e-13;

  LineSums evaluate(const Line& line, double ridge, double v, double b) const {
    LineSums s;
    line_sums(loss, line.n, line.x, line.y, line.c, line.offset, v, b, &s);
    s.f += 0.5 * ridge * v * v, s.gv += ridge * v, s.hvv += ridge;
    return s;
  }

  // The Newton step, with as much damping as it needs; returns the decrement, negative where all fails.
  double direction(const LineSums& s, double& damp) {
    const double top = limits.curve > 0.0 ? limits.curve : std::max(s.hvv, s.hbb);
    for (; damp <= 1e4; damp = std::max(kDamp, 10.0 * damp)) {
      const double a = s.hvv + damp * (s.hvv + top), d = s.hbb + damp * (s.hbb + top);
      if (!limits.intercept) {
        if (!(a > 0.0)) continue;
        sv = -s.gv / a, sb = 0.0;
        return -s.gv * sv;
      }
      const double det = a * d - s.hvb * s.hvb;
      if (!(a > 0.0 && d > 0.0 && det > kSingular * a * d)) continue;
      sv = (s.hvb * s.gb - d * s.gv) / det;
      sb = (s.hvb * s.gv - a * s.gb) / det;
      return -(s.gv * sv + s.gb * sb);
    }
    return -1.0;
  }

  // The bound by the dual point of the last direction, which was undamped.
  double bound(const Line& line, double ridge) const {
    double sum = 0.0;
    for (i64 i = 0; i < line.n; ++i) {
      if (!(line.c[i] > 0.0)) continue;
      const double o = line.offset[i], y = line.y[i];
      const Jet jet = loss(y, line.x[i] * at.v + at.b + o);
      double a = jet.d1 + jet.d2 * (line.x[i] * sv + sb);
      const Interval in = loss.domain(y);
      const double room = 1e-13 * (1.0 + std::fabs(a));
      if (a < in.low - room || a > in.high + room) return -HUGE_VAL;
      a = std::clamp(a, in.low, in.high);
      sum += line.c[i] * (a * o - loss.conjugate(y, a));
    }
    return sum - 0.5 * ridge * (at.v + sv) * (at.v + sv);
  }

  void move(double t, double f) { at.v += t * sv, at.b += t * sb, at.f = f; }
  ColumnFit closed(ColumnEnd end) {
    at.end = end;
    return at;
  }

  Loss loss;
  ColumnLimits limits;
  ColumnFit at;
  double sv = 0.0, sb = 0.0;
};

// The distinct pairs (y, o) of rows with a weight, what all rows of each weigh, and each row's own.
struct Levels {
  std::vector<double> y, offset, c, weight; // what all rows weigh, and what the first one does
  std::vector<i64> count, of, row;          // how many there are, whose each row is, the first row of each
  explicit Levels(const Samples& s) : of(static_cast<std::size_t>(s.n), -1) {
    std::map<std::pair<double, double>, i64> known;
    for (i64 i = 0; i < s.n; ++i) {
      if (!(s.c[i] > 0.0)) continue;
      const double o = s.offset ? s.offset[i] : 0.0;
      const auto [place, fresh] = known.try_emplace({s.y[i], o}, static_cast<i64>(y.size()));
      if (fresh) {
        y.push_back(s.y[i]), offset.push_back(o), c.push_back(0.0), count.push_back(0);
        weight.push_back(s.c[i]), row.push_back(i);
      }
      of[i] = place->second;
      c[place->second] += s.c[i], ++count[place->second];
    }
  }
};

// c phi' and c phi'' of every row at the null model.
struct NullTerms {
  std::vector<double> d, h;
  LineSums sums;
  template <class Loss>
  NullTerms(const Samples& s, Loss loss, double b)
      : d(static_cast<std::size_t>(s.n)), h(static_cast<std::size_t>(s.n)), sums{} {
    std::vector<double> eta(static_cast<std::size_t>(s.n), b);
    for (i64 i = 0; s.offset && i < s.n; ++i) eta[i] += s.offset[i];
    evaluate(loss, s.n, s.y, s.c, eta.data(), d.data(), h.data(), &sums.f, &sums.gb);
    for (double curve : h) sums.hbb += curve;
  }
};

// One column after the other as a Line, scaled to unit mean square; a thread has its own.
class LineMaker {
public:
  LineMaker(const Samples& s_, const NullTerms& terms_, const Levels* levels_, bool intercept_)
      : s(s_), terms(terms_), levels(levels_), intercept(intercept_),
        room(s_.n + (levels_ ? static_cast<i64>(levels_->y.size()) : 0)), x(reals(room)), y(reals(room)),
        c(reals(room)), o(reals(room)), d(reals(room)), h(reals(room)) {
    std::fill(o.get(), o.get() + room, 0.0);
    if (!levels) return;
    left = levels->c, many = levels->count;
    place.assign(static_cast<std::size_t>(s.n), -1);
  }

  double mean = 0.0, scale = 1.0;

  // False where the column is constant.
  bool make(const DenseColumns& X, i64 j, Line& line) {
    widen(X.at(0, j), X.n, x.get());
    line = {x.get(), s.y, s.c, s.offset ? s.offset : o.get(), terms.d.data(), terms.h.data(), X.n};
    return even(line);
  }

  bool make(const SparseColumns& X, i64 j, Line& line) {
    i64 m = 0;
    left.assign(levels->c.begin(), levels->c.end());
    many.assign(levels->count.begin(), levels->count.end());
    for (i64 e = X.indptr[j]; e < X.indptr[j + 1]; ++e) {
      const i64 i = X.indices[e], level = levels->of[i];
      if (level < 0) continue;
      if (place[i] >= 0) { // a row may be named twice
        x[place[i]] += X.data[e];
        continue;
      }
      x[m] = X.data[e], y[m] = s.y[i], c[m] = s.c[i], o[m] = s.offset ? s.offset[i] : 0.0;
      d[m] = terms.d[i], h[m] = terms.h[i];
      left[level] -= s.c[i], --many[level], place[i] = m++;
    }
    for (i64 e = X.indptr[j]; e < X.indptr[j + 1]; ++e) place[X.indices[e]] = -1;
    for (std::size_t l = 0; l < left.size(); ++l) {
      if (many[l] <= 0 || !(left[l] > 0.0)) continue;
      x[m] = 0.0, y[m] = levels->y[l], c[m] = left[l], o[m] = levels->offset[l];
      d[m] = left[l] / levels->weight[l] * terms.d[levels->row[l]];
      h[m] = left[l] / levels->weight[l] * terms.h[levels->row[l]];
      ++m;
    }
    line = {x.get(), y.get(), c.get(), o.get(), d.get(), h.get(), m};
    return even(line);
  }

private:
  bool even(Line& line) {
    double total = 0.0, sum = 0.0, square = 0.0;
    add_up(line.c, x.get(), line.n, &total, &sum);
    mean = intercept ? sum / total : 0.0;
    move(x.get(), line.c, mean, line.n, &square, &line.low, &line.high);
    scale = std::sqrt(square / total);
    if (!(std::isfinite(scale) && scale > 1e-14 * std::fabs(mean))) return false;
    divide(x.get(), 1.0 / scale, line.n);
    line.low /= scale, line.high /= scale;
    return true;
  }
  PURSUIT_CLONES static void add_up(const double* c, const double* x, i64 n, double* total, double* sum) {
    double a = 0.0, b = 0.0;
#pragma omp simd reduction(+ : a, b)
    for (i64 i = 0; i < n; ++i) a += c[i], b += c[i] * x[i];
    *total = a, *sum = b;
  }
  PURSUIT_CLONES static void move(double* x, const double* c, double mean, i64 n, double* square, double* low,
                                  double* high) {
    double s = 0.0, least = HUGE_VAL, most = -HUGE_VAL;
#pragma omp simd reduction(+ : s) reduction(min : least) reduction(max : most)
    for (i64 i = 0; i < n; ++i) {
      const double z = x[i] - mean;
      x[i] = z;
      s += c[i] * z * z;
      const double up = c[i] > 0.0 ? z : -HUGE_VAL, down = c[i] > 0.0 ? z : HUGE_VAL;
      most = up > most ? up : most;
      least = down < least ? down : least;
    }
    *square = s, *low = least, *high = most;
  }
  PURSUIT_CLONES static void divide(double* x, double by, i64 n) {
#pragma omp simd
    for (i64 i = 0; i < n; ++i) x[i] *= by;
  }

  const Samples& s;
  const NullTerms& terms;
  const Levels* levels;
  bool intercept;
  i64 room;
  Buffer x, y, c, o, d, h;
  std::vector<double> left;
  std::vector<i64> many, place; // rows left of each level; where each row's entry is
};

// All columns, those of the lowest first bound first; `best` is the lowest and the next lowest value known before, and
// columns that are proved to be above the latter are not fitted to the end. Batches are fixed, so that nothing depends
// on the number of threads. A constant column keeps the value of infinity.
template <class X, class Loss>
void fit_columns(const X& A, const Samples& s, Loss loss, const double* ridge, ColumnLimits limits, double best[2],
                 ColumnFit* out) {
  constexpr i64 batch = 256;
  const i64 p = A.p;
  std::optional<Levels> levels;
  i64 work = A.n * p;
  if constexpr (std::is_same_v<X, SparseColumns>) {
    levels.emplace(s);
    work = A.stored() + p * static_cast<i64>(levels->y.size());
  }
  const NullTerms terms(s, loss, limits.start);
  limits.null = terms.sums;
  std::vector<double> first(static_cast<std::size_t>(p), HUGE_VAL);
  const int nt = plan(16 * work, p);
  std::vector<LineMaker> makers;
  makers.reserve(static_cast<std::size_t>(nt));
  for (int t = 0; t < nt; ++t) makers.emplace_back(s, terms, levels ? &*levels : nullptr, limits.intercept);
  const auto each = [&](i64 begin, i64 end, auto&& work) {
    parallel(nt, [&](int t) {
      const Range r = part(end - begin, t, nt);
      for (i64 k = begin + r.begin; k < begin + r.end; ++k) work(k, makers[static_cast<std::size_t>(t)]);
    });
  };
  each(0, p, [&](i64 j, LineMaker& maker) {
    Line line;
    if (!maker.make(A, j, line)) return;
    first[j] = ColumnFitter<Loss>(loss, limits).first_bound(line, ridge[j] / (maker.scale * maker.scale));
  });
  std::vector<i64> order(static_cast<std::size_t>(p));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return first[a] < first[b]; });
  for (i64 begin = 0; begin < p; begin += batch) {
    const i64 end = std::min(p, begin + batch);
    limits.goal = best[1];
    each(begin, end, [&](i64 k, LineMaker& maker) {
      const i64 j = order[k];
      if (!(first[j] < HUGE_VAL)) return;
      if (first[j] > limits.goal) {
        out[j] = {first[j], 0.0, limits.start, ColumnEnd::above};
        return;
      }
      Line line;
      if (!maker.make(A, j, line)) return;
      ColumnFit fit = ColumnFitter<Loss>(loss, limits).fit(line, ridge[j] / (maker.scale * maker.scale));
      fit.v /= maker.scale;
      fit.b -= maker.mean * fit.v;
      out[j] = fit;
    });
    for (i64 k = begin; k < end; ++k) {
      const ColumnFit& fit = out[order[k]];
      if (fit.end == ColumnEnd::above || !(fit.f < best[1])) continue;
      best[1] = fit.f;
      if (best[1] < best[0]) std::swap(best[0], best[1]);
    }
  }
}

} // namespace pursuit
