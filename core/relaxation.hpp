#pragma once

#include "ksupport.hpp"
#include "loops.hpp"
#include "losses.hpp"

#include <array>

// Lower bounds for  min F(x) + mu/2 ||x||^2  over k-sparse x, by the perspective relaxation  min F(x) + mu K(x)  and
// accelerated proximal gradient with restarts. Where F has the gradient g at y, and low(y) = F(y) - g'y (that is minus
// the conjugate of F at g, for linear predictors a dual value that is feasible by construction),
//
//   low(y) - (sum of the squares of g over the k largest units) / (2 mu)
//
// is a valid bound, however far the iteration is from its end.

namespace pursuit {

struct Relaxed {
  double lower, relaxed, L; // best bound; smallest value of the relaxation met (no bound can exceed it); curvature used
  i64 iterations;
};

// From x (overwritten by the last iterate) until the bound reaches `target`, the relaxation's own gap is below
// `tolerance` times the distance from `target` (no use going on), or max_iter. z receives -g/mu of the best bound,
// `best_y` (or null) the y it was found at, and t the indicators of the last iterate. L is a first guess of F's
// curvature, and grows where it proves too small. `unit` is the size of the numbers that F adds up: its values are
// rounded at that.
//
// F has p, rounding (of its values, relative), start(x), advance(fresh, ahead, beta), which looks at fresh and at ahead
// = fresh + beta (fresh - last), accept(), and then: value (at fresh), here (F at ahead), low, gradient (both at
// ahead), keep() for a better bound.
template <class F>
Relaxed relax(F& f, Norms& norms, double mu, double L, double unit, double target, double tolerance, i64 max_iter,
              double* x, double* z, double* best_y, double* t) {
  const i64 p = f.p;
  Buffer store = reals(4 * p);
  double *y = store.get(), *v = y + p, *fresh = y + 2 * p, *ahead = y + 3 * p;
  std::copy(x, x + p, y);
  std::fill(z, z + p, 0.0);
  Relaxed best{-HUGE_VAL, HUGE_VAL, L, 0};
  double momentum = 1.0;
  for (f.start(x);; ++best.iterations) {
    const double* g = f.gradient();
    const double low = f.low - norms.charge(g) / (2.0 * mu);
    if (low > best.lower) {
      best.lower = low;
      for (i64 j = 0; j < p; ++j) z[j] = -g[j] / mu;
      if (best_y) std::copy(y, y + p, best_y);
      f.keep();
    }
    if (best.iterations >= max_iter || best.lower >= target ||
        best.relaxed - best.lower <= tolerance * std::fabs(target - best.lower))
      return best;
    double K = 0.0, next = 1.0;
    for (int turn = 0; turn < 60; ++turn) {
      for (i64 j = 0; j < p; ++j) v[j] = y[j] - g[j] / best.L;
      K = norms.prox(v, mu / best.L, fresh, t);
      double linear = 0.0, square = 0.0, against = 0.0;
      for (i64 j = 0; j < p; ++j) {
        const double move = fresh[j] - y[j];
        linear += g[j] * move;
        square += move * move;
        against -= move * (fresh[j] - x[j]);
      }
      const double last = against > 0.0 ? 1.0 : momentum; // the step points against the last move: restart
      next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * last * last));
      const double beta = (last - 1.0) / next;
      for (i64 j = 0; j < p; ++j) ahead[j] = fresh[j] + beta * (fresh[j] - x[j]);
      f.advance(fresh, ahead, beta);
      const double rise = f.value - f.here - linear, rounding = F::rounding * (unit + std::fabs(f.here));
      if (rise <= 0.5 * best.L * square + rounding || !(square > 0.0)) break;
      best.L = std::max(1.2 * best.L, std::min(2.2 * rise / square, 64.0 * best.L));
    }
    f.accept();
    best.relaxed = std::min(best.relaxed, f.value + mu * K);
    momentum = next;
    std::copy(fresh, fresh + p, x);
    std::copy(ahead, ahead + p, y);
  }
}

// F(x) = f0 - c'x + x'Qx/2 with Q = H - mu I, H symmetric (m x m); with q responses c and x are m x q, a row per column
// of H, and F is the sum over the responses.
class Quadratic {
public:
  static constexpr double rounding = 1e-12;
  const i64 p; // numbers in x
  double value = 0.0, here = 0.0, low = 0.0;
  Quadratic(const double* H_, const double* c_, i64 m_, i64 q_, double f0_, double mu_)
      : p(m_ * q_), H(H_), c(c_), m(m_), q(q_), f0(f0_), mu(mu_), store(reals(5 * p)), Qx(store.get()), Qnew(Qx + p),
        g(Qx + 2 * p), gnew(Qx + 3 * p), responses(Qx + 4 * p) {}
  const double* gradient() const { return g; }
  void keep() {}
  void start(const double* x) {
    std::fill(Qx, Qx + p, 0.0);
    advance(x, x, 0.0);
    accept();
  }
  void advance(const double* fresh, const double* ahead, double beta) {
    multiply(fresh);
    double linear = 0.0, square = 0.0, l = 0.0, s = 0.0;
    for (i64 j = 0; j < p; ++j) {
      const double q = Qnew[j] + beta * (Qnew[j] - Qx[j]);
      linear += c[j] * fresh[j];
      square += fresh[j] * Qnew[j];
      l += c[j] * ahead[j];
      s += ahead[j] * q;
      gnew[j] = q - c[j];
    }
    value = f0 - linear + 0.5 * square;
    there = {f0 - l + 0.5 * s, f0 - 0.5 * s};
  }
  void accept() {
    std::swap(Qx, Qnew);
    std::swap(g, gnew);
    here = there[0];
    low = there[1];
  }

private:
  void multiply(const double* x) {
    const int nt = plan(p * m);
    double* to = q == 1 ? Qnew : responses; // one response after the other
    parallel(nt, [&](int t) {
      const Range r = part(m, t, nt, 8);
      for (i64 s = 0; s < q; ++s) std::fill(to + s * m + r.begin, to + s * m + r.end, 0.0);
      for (i64 j = 0; j < m; ++j)
        for (i64 s = 0; s < q; ++s)
          if (x[j * q + s] != 0.0) add_rows<1>(H + j * m + r.begin, 0, x + j * q + s, r.size(), to + s * m + r.begin);
      for (i64 j = r.begin; j < r.end; ++j)
        for (i64 s = 0; s < q; ++s) Qnew[j * q + s] = to[s * m + j] - mu * x[j * q + s];
    });
  }
  const double *H, *c;
  const i64 m, q;
  double f0, mu;
  Buffer store;
  double *Qx, *Qnew, *g, *gnew, *responses;
  std::array<double, 2> there{};
};

// out = H[keep, keep] - W[:, keep]' W[:, keep]: H without some columns, r others minimised out. H is p x p, W r x p.
inline void schur(const double* H, const double* W, i64 p, i64 r, const i64* keep, i64 m, double* out) {
  const int nt = plan(m * m * (1 + r));
  parallel(nt, [&](int t) {
    const Range rows = part(m, t, nt);
    for (i64 i = rows.begin; i < rows.end; ++i) {
      const double* row = H + keep[i] * p;
      double* to = out + i * m;
      for (i64 j = 0; j < m; ++j) to[j] = row[keep[j]];
      for (i64 l = 0; l < r; ++l) {
        const double *w = W + l * p, s = w[keep[i]];
        for (i64 j = 0; j < m; ++j) to[j] -= s * w[keep[j]];
      }
    }
  });
}

struct Sums {
  double value = 0.0, here = 0.0, low = 0.0;
};

// clip(a - s) with sum_i c_i clip(a_i - s) = total, in place, by Newton on a decreasing, piecewise linear function of
// s. Returns what is left of the sum, relative to sum_i c_i |a_i|. box(i) gives the limits of a_i.
template <class Box>
double balance(i64 n, const double* c, double total, Box&& box, double* a) {
  double below = -kInfinity, above = kInfinity, s = 0.0, excess = 0.0, size = 0.0;
  auto cut = [&](i64 i, double at) {
    const Interval limit = box(i);
    return std::clamp(a[i] - at, limit.low, limit.high);
  };
  for (int turn = 0; turn < 200; ++turn) {
    double slope = 0.0;
    excess = -total, size = 0.0;
    for (i64 i = 0; i < n; ++i) {
      const double u = a[i] - s;
      const Interval limit = box(i);
      const double v = std::clamp(u, limit.low, limit.high);
      excess += c[i] * v;
      size += c[i] * std::fabs(v);
      slope += u > limit.low && u < limit.high ? c[i] : 0.0;
    }
    if (std::fabs(excess) <= 1e-16 * size) break;
    (excess > 0.0 ? below : above) = s;
    double ahead = slope > 0.0 ? s + excess / slope : std::numeric_limits<double>::quiet_NaN();
    if (!(ahead > below && ahead < above)) {
      const double unit = size > 0.0 ? size : 1.0; // a has the unit of y where the loss is a residual's
      if (std::isinf(below))
        ahead = s < 0.0 ? std::min(2.0 * s, s - unit) : s - unit;
      else if (std::isinf(above))
        ahead = s > 0.0 ? std::max(2.0 * s, s + unit) : s + unit;
      else
        ahead = 0.5 * (below + above);
    }
    if (ahead == s) break;
    s = ahead;
  }
  excess = -total, size = 0.0;
  for (i64 i = 0; i < n; ++i) {
    a[i] = cut(i, s);
    excess += c[i] * a[i];
    size += c[i] * std::fabs(a[i]);
  }
  if (excess != 0.0) { // the last rounding goes to the heaviest sample that has room for it
    i64 best = -1;
    for (i64 i = 0; i < n; ++i) {
      const Interval limit = box(i);
      const double room = excess > 0.0 ? a[i] - limit.low : limit.high - a[i];
      if (c[i] * std::min(room, size) > 2.0 * std::fabs(excess) && (best < 0 || c[i] > c[best])) best = i;
    }
    if (best >= 0) {
      const Interval limit = box(best);
      a[best] = std::clamp(a[best] - excess / c[best], limit.low, limit.high);
      excess = -total;
      for (i64 i = 0; i < n; ++i) excess += c[i] * a[i];
    }
  }
  return size > 0.0 ? std::fabs(excess) / size : std::fabs(excess);
}

inline constexpr double kBalanced = 1e-12; // share of sum_i c_i |a_i| by which an intercept's constraint may be off

// The loss of all samples at linear predictors, and feasible dual variables there: a_i = phi'(y_i, eta_i) cut to the
// domain and, with an intercept (which is minimised out), made to satisfy sum_i c_i a_i = 0. `loss` is what is
// minimised; it may be a rounded version of the one whose conjugate is `dual`.
template <class Loss, class Dual>
struct Terms {
  Samples s;
  Loss loss;
  Dual dual;
  bool intercept;
  double b = 0.0;
  Buffer work = reals(3 * s.n);

  bool separable() const { return !intercept; }

  // The rows r at the images X x, and their w = c a at the images X y; the latter starts at 0.
  PURSUIT_INLINE void rows(Range r, const double* image, const double* image_y, double* w, Sums* sums) const {
    double value = 0.0, here = 0.0, low = 0.0;
    for (i64 i = r.begin; i < r.end; ++i) {
      const double c = s.c[i], o = s.offset ? s.offset[i] : 0.0;
      const i64 k = i - r.begin;
      value += c * loss(s.y[i], image[k] + o).value;
      const Jet jet = loss(s.y[i], image_y[k] + o);
      here += c * jet.value;
      const Interval box = dual.domain(s.y[i]);
      const double a = std::clamp(jet.d1, box.low, box.high);
      w[k] = c * a;
      if (c > 0.0) low += c * (a * o - dual.conjugate(s.y[i], a));
    }
    sums->value += value;
    sums->here += here;
    sums->low += low;
  }

  // The same for all rows, with the best intercept for each of the two (any intercept would do for the bound).
  void whole(const double* image, const double* image_y, double* w, Sums* sums) {
    sums->value = walk_intercept(image);
    sums->here = walk_intercept(image_y);
    const double* d = work.get() + s.n;
    for (i64 i = 0; i < s.n; ++i) w[i] = s.c[i] > 0.0 ? d[i] / s.c[i] : 0.0;
    const double off = balance(s.n, s.c, 0.0, [&](i64 i) { return dual.domain(s.y[i]); }, w);
    sums->low = off <= kBalanced ? 0.0 : -HUGE_VAL;
    for (i64 i = 0; i < s.n; ++i) {
      if (s.c[i] > 0.0) sums->low += s.c[i] * (w[i] * (s.offset ? s.offset[i] : 0.0) - dual.conjugate(s.y[i], w[i]));
      w[i] *= s.c[i];
    }
  }

private:
  // Newton, kept inside a bracket, from the last intercept: the loss there; c phi' stays in `work`.
  double walk_intercept(const double* image) {
    double below = -kInfinity, above = kInfinity, value = 0.0;
    double *eta = work.get(), *d = eta + s.n, *h = d + s.n;
    for (int turn = 0;; ++turn) {
      double slope = 0.0, size = 0.0, curve = 0.0;
      for (i64 i = 0; i < s.n; ++i) eta[i] = image[i] + b + (s.offset ? s.offset[i] : 0.0);
      evaluate_all(loss, s, eta, d, h, &value, &slope);
      for (i64 i = 0; i < s.n; ++i) size += std::fabs(d[i]), curve += h[i];
      if (!(std::fabs(slope) > 1e-8 * size) || turn == 60) return value;
      (slope > 0.0 ? above : below) = b;
      double ahead = curve > 0.0 ? b - slope / curve : std::numeric_limits<double>::quiet_NaN();
      if (!(ahead > below && ahead < above)) {
        const double far = loss.unit() + std::fabs(b);
        ahead = std::isinf(below) ? b - far : (std::isinf(above) ? b + far : 0.5 * (below + above));
      }
      if (ahead == b) return value;
      b = ahead;
    }
  }
};

// out[r] += x[r] . v and g += sum_r w[r] x[r] over up to eight rows of floats, in single precision where few numbers
// are added up: what is multiplied has been rounded already, and the caller bounds with exact products in the end.
PURSUIT_CLONES inline void dots8(const float* __restrict x, i64 ld, i64 rows, const float* __restrict v, i64 len,
                                 double* out) {
  constexpr i64 chunk = 512;
  const i64 l1 = rows > 1 ? ld : 0, l2 = rows > 2 ? 2 * ld : 0, l3 = rows > 3 ? 3 * ld : 0, l4 = rows > 4 ? 4 * ld : 0,
            l5 = rows > 5 ? 5 * ld : 0, l6 = rows > 6 ? 6 * ld : 0, l7 = rows > 7 ? 7 * ld : 0;
  double sums[8] = {};
  for (i64 j = 0; j < len; j += chunk) {
    const i64 end = std::min(len, j + chunk);
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
    for (i64 k = j; k < end; ++k) {
      const float a = v[k];
      const float* at = x + k;
      s0 += a * at[0], s1 += a * at[l1], s2 += a * at[l2], s3 += a * at[l3];
      s4 += a * at[l4], s5 += a * at[l5], s6 += a * at[l6], s7 += a * at[l7];
    }
    sums[0] += s0, sums[1] += s1, sums[2] += s2, sums[3] += s3;
    sums[4] += s4, sums[5] += s5, sums[6] += s6, sums[7] += s7;
  }
  for (i64 r = 0; r < rows; ++r) out[r] += sums[r];
}

PURSUIT_CLONES inline void lines8(const float* __restrict x, i64 ld, i64 rows, const double* w, i64 len,
                                  double* __restrict g) {
  float a[8] = {};
  for (i64 r = 0; r < rows; ++r) a[r] = static_cast<float>(w[r]);
  const i64 l1 = rows > 1 ? ld : 0, l2 = rows > 2 ? 2 * ld : 0, l3 = rows > 3 ? 3 * ld : 0, l4 = rows > 4 ? 4 * ld : 0,
            l5 = rows > 5 ? 5 * ld : 0, l6 = rows > 6 ? 6 * ld : 0, l7 = rows > 7 ? 7 * ld : 0;
#pragma omp simd
  for (i64 k = 0; k < len; ++k) {
    const float* at = x + k;
    const float s = a[0] * at[0] + a[1] * at[l1] + a[2] * at[l2] + a[3] * at[l3];
    const float u = a[4] * at[l4] + a[5] * at[l5] + a[6] * at[l6] + a[7] * at[l7];
    g[k] += static_cast<double>(s + u);
  }
}

// F(x) = sum_i c_i phi(y_i, (X x)_i + o_i), the intercept minimised out; X is n x p, rows `ld` apart. Without an
// intercept X is read once per step: a few rows give their images and, still in cache, their share of the gradient.
// Squared loss needs no other intercept than y and columns that are centred: `mean` (or null) is taken off the columns,
// only in the images, since then sum_i w_i = 0.
template <class T, class RowTerms>
class Rowwise {
public:
  static constexpr double rounding = std::is_same_v<T, float> ? 1e-6 : 1e-12;
  const i64 p;
  double value = 0.0, here = 0.0, low = 0.0;
  Rowwise(const T* X_, i64 n_, i64 p_, i64 ld_, const double* mean_, RowTerms& terms_, double* dual_)
      : p(p_), X(X_), n(n_), ld(ld_), mean(mean_), terms(terms_), dual(dual_), store(reals(4 * n_ + 2 * p_)),
        image(store.get()), fresh_image(image + n), image_y(image + 2 * n), w(image + 3 * n), g(image + 4 * n),
        gnew(g + p) {}
  const double* gradient() const { return g; }
  void keep() { std::copy(w, w + n, dual); }
  void start(const double* x) {
    std::fill(image, image + n, 0.0);
    advance(x, x, 0.0);
    accept();
  }
  void advance(const double* fresh, const double*, double beta) {
    const i64 few = std::clamp<i64>((i64(1) << 18) / std::max<i64>(1, p * static_cast<i64>(sizeof(T))), 8, 64);
    const int nt = plan(2 * n * p, n / few);
    const bool once = terms.separable();
    const double shift = mean ? -dot(mean, fresh, p) : 0.0;
    std::vector<Sums> sums(nt);
    const std::vector<T> v(fresh, fresh + p);
    Parts parts(gnew, p, nt);
    auto images = [&](Range r) {
      std::fill(fresh_image + r.begin, fresh_image + r.end, shift);
      if constexpr (std::is_same_v<T, float>)
        for (i64 i = r.begin; i < r.end; i += 8)
          dots8(X + i * ld, ld, std::min<i64>(8, r.end - i), v.data(), p, fresh_image + i);
      else
        add_dots(X + r.begin * ld, ld, fresh, r.size(), p, fresh_image + r.begin);
      for (i64 i = r.begin; i < r.end; ++i) image_y[i] = fresh_image[i] + beta * (fresh_image[i] - image[i]);
    };
    if (!once) {
      parallel(nt, [&](int t) { images(part(n, t, nt, 8)); });
      terms.whole(fresh_image, image_y, w, &sums[0]);
    }
    parallel(nt, [&](int t) {
      double* mine = parts[t];
      std::fill(mine, mine + p, 0.0);
      const Range all = part(n, t, nt, 8);
      for (i64 i = all.begin; i < all.end; i += few) {
        const Range r{i, std::min(all.end, i + few)};
        if (once) {
          images(r);
          if constexpr (requires { terms.rows(r, w, w, w, &sums[0]); })
            terms.rows(r, fresh_image + i, image_y + i, w + i, &sums[t]);
        }
        if constexpr (std::is_same_v<T, float>)
          for (i64 k = i; k < r.end; k += 8) lines8(X + k * ld, ld, std::min<i64>(8, r.end - k), w + k, p, mine);
        else
          add_lines(X + i * ld, ld, w + i, r.size(), p, mine);
      }
    });
    parts.sum();
    value = 0.0, there = {};
    for (const Sums& s : sums) value += s.value, there[0] += s.here, there[1] += s.low;
  }
  void accept() {
    std::swap(image, fresh_image);
    std::swap(g, gnew);
    here = there[0];
    low = there[1];
  }

private:
  const T* X;
  i64 n, ld;
  const double* mean;
  RowTerms& terms;
  double* dual;
  Buffer store;
  double *image, *fresh_image, *image_y, *w, *g, *gnew;
  std::array<double, 2> there{};
};

} // namespace pursuit
