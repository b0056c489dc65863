#pragma once

#include "cholesky.hpp"
#include "even_columns.hpp"
#include "line_sums.hpp"

// What a search needs of a loss with r outputs per sample, r = 1 but for several classes: the sum of c_i phi(y_i,
// eta_i) with its gradient and Hessian in eta_i for every sample; and how far a step may go before its quadratic model
// proves nothing.

namespace pursuit {

// u log(u) for a normal u > 0, and 0 for what is not above 0, without branches.
PURSUIT_INLINE double entropy_(double u) {
  const bool some = u > 1e-300;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(some ? u : 1.0);
  // 2^52 and the exponent in the low bits: AVX2 has no conversion of 64-bit integers
  const double power = std::bit_cast<double>((bits >> 52) | 0x4330000000000000ull) - (4503599627370496.0 + 1023.0);
  const double mantissa = std::bit_cast<double>((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
  const double product = u * (log1p_(mantissa - 1.0) + power * 0.693147180559945309417);
  return some ? product : 0.0;
}
// The gaps of these losses (losses.hpp) without branches, for loops that vectorise.
PURSUIT_INLINE double quick_gap(const Logistic&, double y, double d1, double, double turn) {
  const double p = d1 + y, q = 1.0 - p, up = 1.0 + q * turn, down = 1.0 - p * turn;
  return (up < 0.0) | (down < 0.0) ? kInfinity : p * entropy_(up) + q * entropy_(down);
}
PURSUIT_INLINE double quick_gap(const Poisson&, double, double, double mean, double turn) {
  return turn < -1.0 ? kInfinity : mean * (entropy_(1.0 + turn) - turn);
}

class Likelihood {
public:
  const i64 n, r;
  const bool bounded; // whether `reach` below 1 bounds what a Newton step leaves (likelihood_fit.hpp)
  const double curve; // what phi'' does not exceed, or 0 where there is no such number
  Likelihood(i64 n_, i64 r_, bool bounded_, double curve_) : n(n_), r(r_), bounded(bounded_), curve(curve_) {}
  virtual ~Likelihood() = default;
  // eta is n x r, columns one after the other, and so is d1; d2 has a column for each pair (o, u), o <= u.
  virtual double evaluate(const double* eta, double* d1, double* d2) = 0;
  // The largest relative change of a sample's second derivative that a change `turn` of eta can bring, to first order,
  // at the eta that was evaluated last.
  virtual double reach(const double* turn) = 0;
  // How far below the point that was evaluated last (eta, and its d1 and d2) the minimum can be, where `turn` is what a
  // Newton step changes eta by: sum_i c_i (phi + phi*(a) - a eta) at a = phi' + phi'' turn; infinite where a lies
  // outside the domain of phi*.
  virtual double gap(const double* eta, const double* d1, const double* d2, const double* turn) = 0;
  // f(x) - min over t of f(x + t e_j) for a column outside the support, roughly, which has the derivatives g and h
  // there.
  virtual double gain(const double*, const Entries&, double, double g, double h, double) { return 0.5 * g * g / h; }
  // The same for several outputs, whose r coefficients of the column all move.
  virtual double gain(const double*, const Entries&, double) { return HUGE_VAL; }
  // By how much each sample's loss can fall at most.
  virtual void slack(const double*, double* out) const { std::fill(out, out + n, HUGE_VAL); }
  i64 pairs() const { return r * (r + 1) / 2; }
};

template <class Loss>
class ScalarLikelihood final : public Likelihood {
public:
  ScalarLikelihood(Loss loss_, const Samples& s_, double curve_)
      : Likelihood(s_.n, 1, Loss::bounded, curve_), loss(loss_), s(s_), shifted(reals(s_.offset ? s_.n : 0)) {}
  double evaluate(const double* eta, double* d1, double* d2) override {
    if (s.offset) {
      for (i64 i = 0; i < n; ++i) shifted[i] = eta[i] + s.offset[i];
      eta = shifted.get();
    }
    double value = 0.0, slope = 0.0;
    pursuit::evaluate(loss, n, s.y, s.c, eta, d1, d2, &value, &slope);
    return value;
  }
  double reach(const double* turn) override { return farthest(turn, s.c, n); }

  double gap(const double* eta, const double* d1, const double* d2, const double* turn) override {
    if constexpr (Loss::bounded) return sum_gaps(loss, s, d1, d2, turn);
    double sum = 0.0;
    for (i64 i = 0; i < n; ++i) {
      const double c = s.c[i];
      if (!(c > 0.0)) continue;
      if (!(std::fabs(turn[i]) < kFarthest)) return HUGE_VAL;
      const double some = loss.gap(s.y[i], eta[i] + offset(i), d1[i] / c, d2[i] / c, turn[i]);
      if (!(some < HUGE_VAL)) return HUGE_VAL;
      sum += c * some;
    }
    return sum;
  }

  // A few Newton steps along the column, kept between two points where the slopes have different signs.
  double gain(const double* eta, const Entries& a, double ridge, double g, double h, double largest) override {
    const double* offsets = eta;
    const double *y = s.y, *c = s.c;
    if (a.row || s.offset) {
      picked.resize(static_cast<std::size_t>(3 * a.count));
      double *ys = picked.data(), *cs = ys + a.count, *es = cs + a.count;
      for (i64 e = 0; e < a.count; ++e) {
        const i64 i = a.at(e);
        ys[e] = s.y[i], cs[e] = s.c[i], es[e] = eta[i] + offset(i);
      }
      y = ys, c = cs, offsets = es;
    }
    const double way = g < 0.0 ? 1.0 : -1.0;
    LineSums at;
    line_sums(loss, a.count, a.value, y, c, offsets, 0.0, 0.0, &at);
    const double start = at.f;
    double t = std::min(std::fabs(g) / h, 3.0 / largest), low = 0.0, high = HUGE_VAL, least = 0.0;
    for (int step = 0; step < 10; ++step) {
      line_sums(loss, a.count, a.value, y, c, offsets, way * t, 0.0, &at);
      const double slope = way * at.gv + ridge * t, curve = at.hvv + ridge;
      least = std::min(least, at.f - start + 0.5 * ridge * t * t);
      (slope < 0.0 ? low : high) = t;
      if (!(curve > 0.0) || slope * slope < -4e-3 * least * curve || t * largest > 30.0) break;
      const double next = t + std::min(-slope / curve, 4.0 / largest);
      t = low < next && next < high ? next : high < HUGE_VAL ? 0.5 * (low + high) : 2.0 * t;
    }
    return -least;
  }

  void slack(const double* eta, double* out) const override {
    for (i64 i = 0; i < n; ++i)
      out[i] = s.c[i] * std::max(0.0, loss(s.y[i], eta[i] + offset(i)).value + loss.conjugate(s.y[i], 0.0));
  }

private:
  static constexpr double kFarthest = 1e6; // a change of eta beyond which nothing is said

  double offset(i64 i) const { return s.offset ? s.offset[i] : 0.0; }

  // The sum of gaps that need no eta; infinite where one is, or a change is too far.
  PURSUIT_CLONES static double sum_gaps(Loss loss, Samples s, const double* d1, const double* d2, const double* turn) {
    double sum = 0.0;
    const double *y = s.y, *c = s.c;
    const i64 n = s.n;
#pragma omp simd reduction(+ : sum)
    for (i64 i = 0; i < n; ++i) {
      const bool some = c[i] > 0.0;
      const double w = some ? c[i] : 1.0, v = some ? turn[i] : 0.0;
      const double gap = quick_gap(loss, y[i], d1[i] / w, d2[i] / w, v);
      sum += std::fabs(v) < kFarthest ? w * gap : kInfinity;
    }
    return sum < HUGE_VAL ? sum : HUGE_VAL;
  }
  PURSUIT_CLONES static double farthest(const double* turn, const double* c, i64 n) {
    double most = 0.0;
#pragma omp simd reduction(max : most)
    for (i64 i = 0; i < n; ++i) {
      const double size = c[i] > 0.0 ? std::fabs(turn[i]) : 0.0;
      most = size > most ? size : most;
    }
    return most;
  }
  Loss loss;
  Samples s;
  Buffer shifted;
  std::vector<double> picked; // of the rows of a column
};

// Several classes: eta of all q classes is E eta_r + o, E (q x r, r = q - 1) an orthonormal basis of what changes
// probabilities. Everything is kept class by class, so that loops over samples vectorise.
class Multinomial final : public Likelihood {
public:
  Multinomial(const i64* label_, const double* c_, const double* offset_, const double* E_, i64 n_, i64 q_)
      : Likelihood(n_, q_ - 1, true, 0.5), label(label_), c(c_), offset(offset_), E(E_), q(q_), P(reals(n_ * q_)),
        scratch(reals(n_ * (q_ + 4))), turned(reals(q_ * r)), products(reals(q_ * pairs())) {
    double* out = products.get();
    for (i64 o = 0; o < r; ++o)
      for (i64 t = 0; t < q; ++t) turned[o * q + t] = E[t * r + o];
    for (i64 o = 0; o < r; ++o)
      for (i64 u = o; u < r; ++u)
        for (i64 t = 0; t < q; ++t) *out++ = E[t * r + o] * E[t * r + u];
  }

  double evaluate(const double* eta, double* d1, double* d2) override {
    double *top = scratch.get() + n * q, *others = top + n, *mine = others + n, *rest = mine + n, *G = scratch.get();
    std::fill(top, top + n, -HUGE_VAL);
    for (i64 t = 0; t < q && offset; ++t)
      for (i64 i = 0; i < n; ++i) P[t * n + i] = offset[i * q + t];
    gemm(false, n, q, r, eta, n, E, r, offset ? 1.0 : 0.0, P.get(), n);
    for (i64 t = 0; t < q; ++t) raise(P.get() + t * n, top, n);
    for (i64 i = 0; i < n; ++i) mine[i] = top[i] - P[label[i] * n + i]; // how far the sample's class is below the best
    std::fill(others, others + n, 0.0);
    std::fill(rest, rest + n, 0.0);
    for (i64 t = 0; t < q; ++t) exponentiate(P.get() + t * n, top, label, t, others, rest, n);
    const double value = losses(mine, others, rest, c, n);
    for (i64 t = 0; t < q; ++t) divide(P.get() + t * n, others, n);
    gemm(false, n, r, q, P.get(), n, turned.get(), q, 0.0, G, n);
    for (i64 o = 0; o < r; ++o)
      for (i64 i = 0; i < n; ++i) d1[o * n + i] = c[i] * (G[o * n + i] - E[label[i] * r + o]);
    if (!d2) return value;
    gemm(false, n, pairs(), q, P.get(), n, products.get(), q, 0.0, d2, n);
    for (i64 o = 0; o < r; ++o)
      for (i64 u = o; u < r; ++u, d2 += n) spread(d2, G + o * n, G + u * n, c, n);
    return value;
  }

  double reach(const double* turn) override {
    double most = 0.0, *mean = scratch.get() + n * q, *V = scratch.get();
    std::fill(mean, mean + n, 0.0);
    gemm(false, n, q, r, turn, n, E, r, 0.0, V, n);
    for (i64 t = 0; t < q; ++t) add_product(P.get() + t * n, V + t * n, mean, n);
    for (i64 t = 0; t < q; ++t) most = std::max(most, farthest(V + t * n, mean, c, n));
    return most;
  }

  double gap(const double*, const double*, const double*, const double* turn) override {
    double sum = 0.0, *mean = scratch.get() + n * q, *V = scratch.get();
    std::fill(mean, mean + n, 0.0);
    gemm(false, n, q, r, turn, n, E, r, 0.0, V, n);
    for (i64 t = 0; t < q; ++t) add_product(P.get() + t * n, V + t * n, mean, n);
    for (i64 t = 0; t < q; ++t) sum += sum_entropies(V + t * n, mean, P.get() + t * n, c, n);
    sum = sum < HUGE_VAL ? sum : HUGE_VAL;
    return sum;
  }

  // Newton steps in the coefficients of the column, halved where the loss rises.
  double gain(const double* eta, const Entries& a, double ridge) override {
    const i64 m = a.count;
    picked.resize(static_cast<std::size_t>(m * q + q + q * q + 3 * r + r * r));
    double *base = picked.data(), *G = base + m * q, *H = G + q, *t = H + q * q, *s = t + r, *g = s + r, *L = g + r;
    for (i64 e = 0; e < m; ++e) {
      const i64 i = a.at(e);
      for (i64 u = 0; u < q; ++u) {
        double sum = offset ? offset[i * q + u] : 0.0;
        for (i64 o = 0; o < r; ++o) sum += E[u * r + o] * eta[o * n + i];
        base[e * q + u] = sum;
      }
    }
    std::fill(t, t + r, 0.0);
    const double start = along(a, base, t, G, H, ridge);
    double f = start;
    for (int step = 0; step < kGainSteps; ++step) {
      for (i64 o = 0; o < r; ++o) {
        g[o] = ridge * t[o];
        for (i64 u = 0; u < q; ++u) g[o] += E[u * r + o] * G[u];
        for (i64 l = 0; l <= o; ++l) {
          double sum = o == l ? ridge : 0.0;
          for (i64 u = 0; u < q; ++u)
            for (i64 v = 0; v < q; ++v) sum += E[u * r + o] * E[v * r + l] * H[std::min(u, v) * q + std::max(u, v)];
          L[o * r + l] = sum;
        }
      }
      small_cholesky(L, r);
      const double dec = forward(L, r, g);
      backward_solve(L, r, g);
      double length = 1.0, next = HUGE_VAL;
      for (; length > 1e-3; length *= 0.5) {
        for (i64 o = 0; o < r; ++o) s[o] = t[o] - length * g[o];
        next = along(a, base, s, G, H, ridge);
        if (next < f) break;
      }
      if (!(next < f)) break;
      std::copy(s, s + r, t);
      f = next;
      if (dec < 0.02 * (start - f)) break;
    }
    return start - f;
  }

private:
  static constexpr double kFarthest = 1e6; // times as likely a class, beyond which nothing is said
  static constexpr int kGainSteps = 6;

  // The loss of a column's rows with the ridge where its coefficients are t, the slopes in the scores of the classes,
  // and the upper triangle of the Hessian in them.
  double along(const Entries& a, const double* base, const double* t, double* G, double* H, double ridge) const {
    double sum = 0.0;
    std::vector<double> move(static_cast<std::size_t>(q), 0.0), p(static_cast<std::size_t>(q));
    for (i64 o = 0; o < r; ++o) {
      sum += 0.5 * ridge * t[o] * t[o];
      for (i64 u = 0; u < q; ++u) move[u] += E[u * r + o] * t[o];
    }
    std::fill(G, G + q, 0.0);
    std::fill(H, H + q * q, 0.0);
    for (i64 e = 0; e < a.count; ++e) {
      const i64 i = a.at(e);
      const double x = a.value[e], *from = base + e * q;
      double top = -HUGE_VAL, total = 0.0;
      for (i64 u = 0; u < q; ++u) p[u] = from[u] + x * move[u], top = std::max(top, p[u]);
      const double mine = p[label[i]];
      for (i64 u = 0; u < q; ++u) p[u] = exp_(p[u] - top), total += p[u];
      sum += c[i] * (std::log(total) + top - mine);
      const double inverse = 1.0 / total, w = c[i] * x;
      for (i64 u = 0; u < q; ++u) p[u] *= inverse;
      for (i64 u = 0; u < q; ++u) {
        const double wp = w * p[u], back = -wp * x;
        G[u] += wp, H[u * q + u] += wp * x;
        double* row = H + u * q;
        for (i64 v = u; v < q; ++v) row[v] += back * p[v];
      }
      G[label[i]] -= w;
    }
    return sum;
  }

  // The sum of c p (1 + u) log(1 + u), u = v - mean; infinite, or no number, where that is not defined.
  PURSUIT_CLONES static double sum_entropies(const double* v, const double* mean, const double* p, const double* c,
                                             i64 n) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (i64 i = 0; i < n; ++i) {
      const double share = c[i] > 0.0 ? 1.0 + (v[i] - mean[i]) : 1.0;
      const double some = c[i] * p[i] * entropy_(share);
      sum += (share >= 0.0) & (share < kFarthest) ? some : kInfinity;
    }
    return sum;
  }
  PURSUIT_CLONES static void raise(const double* a, double* top, i64 n) {
#pragma omp simd
    for (i64 i = 0; i < n; ++i) top[i] = a[i] > top[i] ? a[i] : top[i];
  }
  PURSUIT_CLONES static void exponentiate(double* a, const double* top, const i64* label, i64 t, double* sum,
                                          double* rest, i64 n) {
#pragma omp simd
    for (i64 i = 0; i < n; ++i) {
      a[i] = exp_(a[i] - top[i]);
      sum[i] += a[i];
      rest[i] += label[i] == t ? 0.0 : a[i];
    }
  }
  // Where the sample's own class is the best, what the others add up to keeps a small loss's digits.
  PURSUIT_CLONES static double losses(const double* mine, const double* sum, const double* rest, const double* c,
                                      i64 n) {
    double value = 0.0;
#pragma omp simd reduction(+ : value)
    for (i64 i = 0; i < n; ++i) {
      const double u = mine[i] == 0.0 ? rest[i] : sum[i] - 1.0;
      value += c[i] * (log1p_any(u) + mine[i]);
    }
    return value;
  }
  PURSUIT_CLONES static void divide(double* a, const double* sum, i64 n) {
#pragma omp simd
    for (i64 i = 0; i < n; ++i) a[i] /= sum[i];
  }
  PURSUIT_CLONES static void spread(double* both, const double* a, const double* b, const double* c, i64 n) {
#pragma omp simd
    for (i64 i = 0; i < n; ++i) both[i] = c[i] * (both[i] - a[i] * b[i]);
  }
  PURSUIT_CLONES static void add_product(const double* a, const double* b, double* out, i64 n) {
#pragma omp simd
    for (i64 i = 0; i < n; ++i) out[i] += a[i] * b[i];
  }
  PURSUIT_CLONES static double farthest(const double* v, const double* mean, const double* c, i64 n) {
    double most = 0.0;
#pragma omp simd reduction(max : most)
    for (i64 i = 0; i < n; ++i) {
      const double size = c[i] > 0.0 ? std::fabs(v[i] - mean[i]) : 0.0;
      most = size > most ? size : most;
    }
    return most;
  }
  const i64* label;
  const double *c, *offset, *E;
  i64 q;
  std::vector<double> picked;          // of the rows of a column
  Buffer P, scratch, turned, products; // turned: E column by column; products: of two columns of E, a column each
};

} // namespace pursuit
