#pragma once

#include "blas.hpp"

// The core's Cholesky factors: SciPy's LAPACK (measured faster than plain loops from six columns on), and one for tiny
// groups of columns that may be dependent. A row-major lower triangle is LAPACK's column-major upper one.

namespace pursuit {

// Of a matrix scaled to a unit diagonal.
class Factor {
public:
  bool ok;
  Factor(const double* H, i64 ldh, i64 m_) : ok(true), m(small(m_)), L(reals(m_ * m_)), s(reals(m_)) {
    for (i64 j = 0; j < m; ++j) {
      const double d = H[j * ldh + j];
      ok = ok && d > 0.0;
      s[j] = d > 0.0 ? 1.0 / std::sqrt(d) : 0.0;
    }
    for (i64 j = 0; j < m; ++j) {
      double sum = 0.0;
      for (i64 k = 0; k < m; ++k) sum += std::fabs(L[j * m + k] = H[j * ldh + k] * s[j] * s[k]);
      norm = std::max(norm, sum);
    }
    if (!ok || m == 0) return;
    char upper = 'U';
    int info = 0;
    lapack.potrf(&upper, &m, L.get(), &m, &info);
    ok = info == 0;
    for (i64 j = 0; j < m; ++j) ok = ok && L[j * m + j] > 0.0; // LAPACK lets a NaN pass
  }
  // The squared ratio of the pivots: no smaller than the reciprocal condition number; 0 where there is no factor.
  double pivots() const {
    if (!ok) return 0.0;
    double low = HUGE_VAL, high = 0.0;
    for (i64 j = 0; j < m; ++j) low = std::min(low, L[j * m + j]), high = std::max(high, L[j * m + j]);
    return m == 0 ? 1.0 : low / high * (low / high);
  }
  // The reciprocal condition number in the 1-norm: exact for few columns, else LAPACK's estimate.
  double rcond() const {
    if (m == 0) return 1.0;
    Buffer work = reals(m * std::max(m, 3));
    if (m > kExact) {
      std::vector<int> places(static_cast<std::size_t>(m));
      char upper = 'U';
      int n = m, info = 0;
      double size = norm, out = 0.0;
      lapack.pocon(&upper, &n, L.get(), &n, &size, &out, work.get(), places.data(), &info);
      return out;
    }
    invert(work.get(), m, nullptr);
    double most = 0.0;
    for (i64 j = 0; j < m; ++j) {
      double sum = 0.0;
      for (i64 k = 0; k < m; ++k) sum += std::fabs(work[j * m + k]);
      most = std::max(most, sum);
    }
    return 1.0 / (norm * most);
  }
  // A step of Newton's method: x = z - H^-1 g (no z: zero). Returns its decrement g'(z - x), twice what the quadratic
  // model falls by; of the step as it is rounded at the size of z.
  double step(const double* z, const double* g, double* x) const {
    for (i64 j = 0; j < m; ++j) x[j] = s[j] * g[j];
    char upper = 'U', plain = 'N';
    int n = m, one = 1;
    if (m > 0)
      for (char turned : {'T', 'N'}) lapack.trsv(&upper, &turned, &plain, &n, L.get(), &n, x, &one);
    double decrement = 0.0;
    for (i64 j = 0; j < m; ++j) {
      const double from = z ? z[j] : 0.0;
      x[j] = from - s[j] * x[j];
      decrement += g[j] * (from - x[j]);
    }
    return decrement;
  }
  // out = H^-1, rows ldo apart
  void inverse(double* out, i64 ldo) const { invert(out, ldo, s.get()); }

private:
  static constexpr int kExact = 16;
  // scale (L L^T)^-1 scale; no scale is one of ones.
  void invert(double* out, i64 ldo, const double* scale) const {
    for (i64 j = 0; j < m; ++j) {
      std::fill(out + j * ldo, out + j * ldo + m, 0.0);
      out[j * ldo + j] = scale ? scale[j] : 1.0;
    }
    char upper = 'U';
    int n = m, ld = small(ldo), info = 0;
    if (m > 0) lapack.potrs(&upper, &n, &n, L.get(), &n, out, &ld, &info);
    for (i64 j = 0; j < m && scale; ++j)
      for (i64 k = 0; k < m; ++k) out[j * ldo + k] *= scale[k];
  }

  int m;
  Buffer L, s;
  double norm = 0.0;
};

inline constexpr double kDependent = 1e-11; // a share of H_jj below this is rounding: column j adds nothing new

// In place of a small s x s matrix (lower triangle); columns that depend on earlier ones get a zero pivot and are left
// out of every solve.
inline void small_cholesky(double* M, i64 s) {
  for (i64 c = 0; c < s; ++c) {
    const double original = M[c * s + c];
    for (i64 l = 0; l < c; ++l) M[c * s + c] -= M[c * s + l] * M[c * s + l];
    const bool fine = M[c * s + c] > kDependent * original && M[c * s + c] > 0;
    M[c * s + c] = fine ? std::sqrt(M[c * s + c]) : 0.0;
    for (i64 r = c + 1; r < s; ++r) {
      double v = M[r * s + c];
      for (i64 l = 0; l < c; ++l) v -= M[r * s + l] * M[c * s + l];
      M[r * s + c] = fine ? v / M[c * s + c] : 0.0;
    }
  }
}

// v <- L^-1 v; returns ||v||^2, that is v' M^-1 v.
inline double forward(const double* L, i64 s, double* v) {
  double square = 0;
  for (i64 r = 0; r < s; ++r) {
    for (i64 l = 0; l < r; ++l) v[r] -= L[r * s + l] * v[l];
    v[r] = L[r * s + r] > 0 ? v[r] / L[r * s + r] : 0.0;
    square += v[r] * v[r];
  }
  return square;
}

// v <- L^-T v
inline void backward_solve(const double* L, i64 s, double* v) {
  for (i64 r = s - 1; r >= 0; --r) {
    for (i64 l = r + 1; l < s; ++l) v[r] -= L[l * s + r] * v[l];
    v[r] = L[r * s + r] > 0 ? v[r] / L[r * s + r] : 0.0;
  }
}

} // namespace pursuit
