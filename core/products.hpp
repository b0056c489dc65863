#pragma once

#include "cholesky.hpp"
#include "loops.hpp"

#include <mutex>
#include <unordered_map>

// Rows of H = A'A for data so small that a row costs little more than using it: computed on demand, and kept as
// long as there is room. Several threads may ask.

namespace pursuit {

class Products {
public:
  Products(const double* A_, i64 n_, i64 p_) : A(A_), n(n_), p(p_) {}
  i64 columns() const { return p; }

  // H_j:; `spare` has room for a row that is not kept.
  const double* row(i64 j, Buffer& spare) {
    {
      std::lock_guard<std::mutex> hold(lock);
      const auto known = rows.find(j);
      if (known != rows.end()) return known->second.get();
    }
    Buffer fresh = reals(p);
    std::fill(fresh.get(), fresh.get() + p, 0.0);
    add_dots(A, n, A + j * n, p, n, fresh.get());
    std::lock_guard<std::mutex> hold(lock);
    if (static_cast<i64>(rows.size()) * p < kKept) return rows.emplace(j, std::move(fresh)).first->second.get();
    spare = std::move(fresh);
    return spare.get();
  }

  // The minimiser x of c'x + x'(H + ridge)x/2 over a support, and the reciprocal condition number of H_SS + ridge.
  double solve(const i64* S, i64 m, const double* c, const double* ridge, double* x) {
    Buffer H = reals(m * m), spare;
    std::vector<double> g(static_cast<std::size_t>(m)), once(static_cast<std::size_t>(m));
    for (i64 i = 0; i < m; ++i) {
      const double* h = row(S[i], spare);
      for (i64 l = 0; l < m; ++l) H[i * m + l] = h[S[l]];
      H[i * (m + 1)] += ridge[S[i]];
      g[i] = c[S[i]];
    }
    const Factor factor(H.get(), m, m);
    if (!factor.ok) return 0.0;
    factor.step(nullptr, g.data(), once.data());
    for (i64 i = 0; i < m; ++i) g[i] += dot(&H[i * m], once.data(), m);
    factor.step(once.data(), g.data(), x);
    return factor.rcond();
  }

private:
  static constexpr i64 kKept = i64(1) << 21; // numbers
  const double* A;                           // n x p, a column after the other
  const i64 n, p;
  std::mutex lock;
  std::unordered_map<i64, Buffer> rows;
};

} // namespace pursuit
