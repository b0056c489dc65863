#pragma once

#include "leaps_data.hpp"

#include <bit>

// The best subsets of every size, for the squared loss and up to 64 columns: leaps and bounds (G. M. Furnival, R. W.
// Wilson, "Regressions by Leaps and Bounds", Technometrics 16, 1974) on inverses, with a stronger bound.
//
//     f(S) = base + min over x of ||z - R_S x||^2 / 2,     columns of R of norm 1
//
// Several responses share the support: z and x then have a column for each, and squares are summed over them.
//
// A node is a set S = F + U: the columns F stay in, each of U may still be dropped. It holds G = (R_S'R_S)^-1 on U
// alone, the coefficients x on U, and f(S).
//
// - Dropping d costs delta_d = x_d^2 / (2 G_dd), so that f(S - d) is known for every d: m flops.
// - The child that drops d has G - g g'/G_dd, x - g x_d/G_dd, f + delta_d on the columns that may still go: 2 m^2.
// - With r columns still to be dropped f rises by at least max(r-th smallest delta, sum of the r smallest / rho).
//
// rho is at least the largest eigenvalue of G on a unit diagonal, so that x_D' G_DD^-1 x_D / 2 >= sum of delta_D / rho
// for every D; it is a Collatz-Wielandt bound from one product with |G|. Columns are sorted by falling delta; child i
// drops the i-th and keeps all before it, so that strong columns are dropped in small trees only.
//
// Invariant: every subset is either in a list, or below a node whose bound for its size is at least the nbest-th value
// of that size less the tolerance, or below a node that is still to be visited.
//
// Dependent columns: where a column of S is a combination of others (what is new of it is below kDependent), every
// subset lacks one of that circuit's columns or has them all. The latter's last column changes nothing: it counts, and
// is not in G. A column of which less than kNear is new makes G useless as long as it may be dropped: such circuits are
// branched on in the same way, and those that are in lie in F, of which G knows nothing. Below kClear nothing is
// claimed (`unclear`), nor is it below kNear where R comes from a Gram matrix.
//
// Rounding: (R'R)_ij, R'z and f0 are known to within u, with what the steps here add (each rounds G_ij by eps at most
// sqrt(G_ii G_jj), which only falls). Then f(S) is known to within u (1 + ||x||_1)^2 / 2, and since
// x_j^2 / G_jj / 2 = f(S - j) - f(S) <= 1, one number serves all subsets below a root: u (1 + sqrt(2) sum_j
// sqrt(G_jj))^2, taken twice as large as it is to first order. Terms of higher order are small while u m ||G|| is,
// which is checked. Where the columns of R are themselves known to within v, f moves by at most
// v ||x||_1 sqrt(2 f) + (v ||x||_1)^2: that is what near-dependent columns in F add.

namespace pursuit {

PURSUIT_CLONES inline void drop_column(const double* G, i64 ld, const double* g, double pivot, i64 m, double* out) {
  for (i64 i = 0; i < m; ++i) {
    const double t = g[i] / pivot;
    const double* row = G + i * ld;
    double* to = out + i * m;
    for (i64 j = 0; j < m; ++j) to[j] = row[j] - t * g[j];
  }
}

class Leaps {
public:
  std::vector<LeapsSize> sizes; // by size
  bool complete = false;        // all was visited or excluded
  bool unclear = false;         // columns that are neither dependent nor clearly independent
  double work = 0.0;
  i64 nodes = 0;

  Leaps(const LeapsData& data_, const LeapsPlan& plan_, Poll& poll_)
      : sizes(static_cast<std::size_t>(data_.p) + 1), data(data_), plan(plan_), poll(poll_),
        levels(static_cast<std::size_t>(data_.p) + 2) {}

  void run() {
    Mask all = data.p == 64 ? ~Mask(0) : (Mask(1) << data.p) - 1;
    forward(all);
    build(plan.forced, 0, all & ~plan.forced);
    complete = !over();
  }

private:
  static constexpr double kDependent = 1e-12; // of a column's norm: a combination of others
  static constexpr double kClear = 1e-10, kNear = 1e-4;
  static constexpr double kFelt = 1e-6;      // coefficient of a column that is part of a circuit
  static constexpr double kLost = 1e-2;      // share of G_ii that may be rounding
  static constexpr std::size_t kSpare = 300; // subsets of a size that rounding may leave undecided

  // Columns that may still be dropped, by falling delta once `sort` has run.
  struct Level {
    i64 m = 0, fixed = 0; // fixed: columns that stay, those that count only among them
    double f = 0.0;
    Mask kept = 0;                                       // F, with those that count only
    std::vector<double> G, x, delta, sum, sorted, scale; // x: a row per column
    std::vector<i64> column, order;
    void reserve(i64 most, i64 responses) {
      m = most;
      const std::size_t n = static_cast<std::size_t>(most), all = n * static_cast<std::size_t>(responses);
      if (delta.size() >= n) return;
      x.resize(all), scale.resize(all), delta.resize(n);
      sum.resize(n + 1);
      G.resize(n * n), sorted.resize(n * n), column.resize(n), order.resize(n);
    }
  };

  LeapsData data;
  LeapsPlan plan;
  Poll& poll;
  std::vector<Level> levels;
  std::vector<double> Q, tri, coef, inverse; // of a build
  double slack = 0.0, lost = 0.0;            // rounding of f below a root, and of G as a share

  bool halted = false;
  bool over() { return halted = halted || unclear || work > plan.effort || poll.stop(); }
  LeapsSize& of(i64 k) { return sizes[static_cast<std::size_t>(k)]; }
  double error(double size) const { return data.rounding * size * size; }
  double shift(double size, double f) const { // of f, where columns move by v
    const double step = data.column_rounding * size;
    return step * (std::sqrt(2.0 * std::max(f, 0.0)) + step);
  }

  void offer(i64 k, Mask columns, double f, double error) {
    if (k < plan.kmin || k > plan.kmax) return;
    LeapsSize& size = of(k);
    if (!(f - error < size.target)) return;
    std::vector<LeapsEntry>& found = size.found;
    for (const LeapsEntry& e : found)
      if (e.columns == columns) return;
    const auto above = [](const LeapsEntry& a, const LeapsEntry& b) { return a.f + a.error < b.f + b.error; };
    const LeapsEntry entry{columns, f, error};
    found.insert(std::upper_bound(found.begin(), found.end(), entry, above), entry);
    const std::size_t n = static_cast<std::size_t>(plan.nbest);
    if (found.size() < n) return;
    const LeapsEntry& last = found[n - 1];
    const double upper = last.f + last.error;
    const bool exact = last.f <= std::max(plan.exact, 4.0 * last.error); // no better one can be distinguished from it
    size.target = exact ? -HUGE_VAL : upper - plan.tolerance * std::max(upper, plan.smallest);
    found.erase(std::remove_if(found.begin() + static_cast<std::ptrdiff_t>(n), found.end(),
                               [&](const LeapsEntry& e) { return !(e.f - e.error < size.target); }),
                found.end());
    if (found.size() > n + kSpare) size.unclear = true, size.target = -HUGE_VAL;
  }

  // Whether some size between low and high is not excluded; bound(k) is what it is at least.
  template <class B>
  bool alive(i64 low, i64 high, B&& bound) {
    for (i64 k = std::max(low, plan.kmin); k <= std::min(high, plan.kmax); ++k)
      if (bound(k) < of(k).target) return true;
    return false;
  }

  const double* column(i64 j) const { return data.R + j * data.rows; }
  double product(const double* a, const double* b) const { // of two columns, in order
    double sum = 0.0;
    for (i64 i = 0; i < data.rows; ++i) sum += a[i] * b[i];
    return sum;
  }

  // First values to beat: columns in the order of their gain, each next to those before it.
  void forward(Mask all) {
    const i64 r = data.rows, p = data.p;
    std::vector<double> rest(data.R, data.R + r * p), t(data.z, data.z + r * data.responses);
    Mask in = 0;
    for (i64 k = 1; k <= std::min(plan.kmax, p); ++k) {
      double most = -1.0;
      i64 best = -1;
      const bool forced = (plan.forced & ~in) != 0;
      for (i64 j = 0; j < p; ++j) {
        if (in >> j & 1 || (forced && !(plan.forced >> j & 1)) || !(all >> j & 1)) continue;
        const double* v = rest.data() + j * r;
        const double square = product(v, v);
        if (!(square > kNear * kNear)) continue;
        double gain = 0.0;
        for (i64 s = 0; s < data.responses; ++s) {
          const double dot = product(v, t.data() + s * r);
          gain += dot * dot / square;
        }
        if (gain > most) most = gain, best = j;
      }
      if (best < 0) return;
      in |= Mask(1) << best;
      std::vector<double> q(rest.begin() + best * r, rest.begin() + (best + 1) * r);
      const double square = product(q.data(), q.data());
      const auto remove = [&](double* v) {
        const double dot = product(q.data(), v);
        for (i64 i = 0; i < r; ++i) v[i] -= dot / square * q[static_cast<std::size_t>(i)];
      };
      for (i64 j = 0; j < p; ++j) remove(rest.data() + j * r);
      for (i64 s = 0; s < data.responses; ++s) remove(t.data() + s * r);
      if ((plan.forced & ~in) == 0) probe(in, k);
    }
  }

  // The value of one subset, with the rounding that its coefficients bring.
  void probe(Mask in, i64 k) {
    Basis basis;
    factor(in, 0, basis);
    if (!basis.vague && basis.circuit == 0) offer(k, in, basis.f, error(basis));
  }

  struct Basis {
    std::vector<i64> columns; // independent ones, in order
    Mask circuit = 0;         // the first set of columns that are dependent, and its last column
    i64 last = -1;
    Mask idle = 0;                    // columns that depend on those before them
    bool vague = false, near = false; // near: the circuit is one only nearly
    double f = 0.0, size = 1.0;       // 1 + ||x||_1, of the response for which it is largest
  };

  double error(const Basis& basis) const {
    return data.column_rounding > 0.0 ? std::min(error(basis.size), shift(basis.size, basis.f)) : error(basis.size);
  }

  // Gram-Schmidt, twice, on the columns of F and then of U.
  void factor(Mask F, Mask U, Basis& basis) {
    const i64 r = data.rows, q = std::popcount(F | U);
    Q.resize(static_cast<std::size_t>(r * q));
    tri.assign(static_cast<std::size_t>(q * q), 0.0);
    std::vector<double> v(static_cast<std::size_t>(r)), c(static_cast<std::size_t>(q)), w;
    for (Mask set : {F, U})
      for (Mask left = set; left; left &= left - 1) {
        const i64 j = std::countr_zero(left), m = static_cast<i64>(basis.columns.size());
        std::copy(column(j), column(j) + r, v.begin());
        std::fill(c.begin(), c.end(), 0.0);
        for (int turn = 0; turn < 2; ++turn)
          for (i64 l = 0; l < m; ++l) {
            const double* b = Q.data() + l * r;
            const double dot = product(b, v.data());
            for (i64 i = 0; i < r; ++i) v[static_cast<std::size_t>(i)] -= dot * b[i];
            c[static_cast<std::size_t>(l)] += dot;
          }
        double norm = 0.0;
        for (double t : v) norm += t * t;
        norm = std::sqrt(norm);
        if (norm > kDependent) {
          const bool near = norm < kNear;
          basis.vague = basis.vague || norm < kClear || (near && data.column_rounding == 0.0);
          for (i64 l = 0; l < m; ++l) tri[static_cast<std::size_t>(l * q + m)] = c[static_cast<std::size_t>(l)];
          tri[static_cast<std::size_t>(m * q + m)] = norm;
          for (i64 i = 0; i < r; ++i) Q[static_cast<std::size_t>(m * r + i)] = v[static_cast<std::size_t>(i)] / norm;
          basis.columns.push_back(j);
          if (!near || F >> j & 1 || basis.circuit) continue;
          basis.near = true;
        } else {
          basis.idle |= Mask(1) << j;
          if (F >> j & 1 || basis.circuit) continue;
        }
        w.assign(c.begin(), c.begin() + m);
        solve(w.data(), m, q);
        basis.circuit = Mask(1) << j, basis.last = j;
        for (i64 l = 0; l < m; ++l) { // columns of F stay in any case
          const double size = std::fabs(w[static_cast<std::size_t>(l)]);
          const Mask one = Mask(1) << basis.columns[static_cast<std::size_t>(l)];
          if (one & U && size > kFelt) basis.circuit |= one;
          basis.vague = basis.vague || (one & U && size <= kFelt && size > 100.0 * kDependent && !basis.near);
        }
      }
    const i64 m = static_cast<i64>(basis.columns.size());
    basis.f = data.base;
    coef.resize(static_cast<std::size_t>(m * data.responses));
    for (i64 s = 0; s < data.responses; ++s) {
      double* x = coef.data() + s * m;
      std::copy(data.z + s * r, data.z + (s + 1) * r, v.begin());
      for (i64 l = 0; l < m; ++l) {
        const double* b = Q.data() + l * r;
        x[l] = product(b, v.data());
        for (i64 i = 0; i < r; ++i) v[static_cast<std::size_t>(i)] -= x[l] * b[i];
      }
      for (double t : v) basis.f += 0.5 * t * t;
      solve(x, m, q);
      double size = 1.0;
      for (i64 l = 0; l < m; ++l) size += std::fabs(x[l]);
      basis.size = std::max(basis.size, size);
    }
    work += 8.0 * static_cast<double>(r * q * q);
  }

  // Back substitution with the triangle of the last factor.
  void solve(double* w, i64 m, i64 q) const {
    for (i64 l = m - 1; l >= 0; --l) {
      double s = w[l];
      for (i64 j = l + 1; j < m; ++j) s -= tri[static_cast<std::size_t>(l * q + j)] * w[j];
      w[l] = s / tri[static_cast<std::size_t>(l * q + l)];
    }
  }

  // The subsets between F + idle and F + idle + U, where `idle` are in and change nothing.
  void build(Mask F, Mask idle, Mask U) {
    if (over()) return;
    ++nodes;
    Basis basis;
    factor(F, U, basis);
    const i64 fixed = std::popcount(F | idle), free = std::popcount(U);
    if (basis.vague) {
      unclear = true;
      return;
    }
    offer(fixed + free, F | idle | U, basis.f, error(basis));
    if (free == 0 || !alive(fixed, fixed + free - 1, [&](i64) { return basis.f - error(basis); })) return;
    if (basis.circuit == 0) {
      idle |= basis.idle; // only forced columns can be idle here
      root(F | idle, fixed, U, basis);
      return;
    }
    Mask in = F;
    Mask rest = U;
    for (Mask left = basis.circuit & U; left; left &= left - 1) {
      const Mask one = left & (~left + 1);
      rest &= ~one;
      if (std::popcount(in | idle) <= plan.kmax) build(in, idle, rest);
      in |= one;
    }
    const Mask last = basis.near ? 0 : Mask(1) << basis.last;
    if (std::popcount(in | idle) <= plan.kmax) build(in & ~last, idle | last, rest);
  }

  // The tree below independent columns, from the triangle of the last factor.
  void root(Mask kept, i64 fixed, Mask U, const Basis& basis) {
    const i64 q = static_cast<i64>(basis.columns.size()),
              ld = static_cast<i64>(std::sqrt(static_cast<double>(tri.size())) + 0.5);
    inverse.assign(static_cast<std::size_t>(q * q), 0.0);
    for (i64 j = 0; j < q; ++j) {
      double* T = inverse.data();
      for (i64 l = j; l >= 0; --l) {
        double s = l == j ? 1.0 : 0.0;
        for (i64 k = l + 1; k <= j; ++k) s -= tri[static_cast<std::size_t>(l * ld + k)] * T[k * q + j];
        T[l * q + j] = s / tri[static_cast<std::size_t>(l * ld + l)];
      }
    }
    const double* T = inverse.data();
    const auto entry = [&](i64 i, i64 j) {
      double s = 0.0;
      for (i64 k = std::max(i, j); k < q; ++k) s += T[i * q + k] * T[j * q + k];
      return s;
    };
    Level& level = levels[0];
    level.reserve(std::popcount(U), data.responses);
    level.f = basis.f, level.kept = kept, level.fixed = fixed;
    bool near = false; // in F: U was looked at before
    for (i64 i = 0; i < q; ++i) near = near || tri[static_cast<std::size_t>(i * ld + i)] < kNear;
    double norm = 0.0, reach = 0.0, kept_reach = 0.0;
    i64 at = 0;
    for (i64 i = 0; i < q; ++i) {
      double row = 0.0;
      i64 to = 0;
      const bool free = U >> basis.columns[static_cast<std::size_t>(i)] & 1;
      for (i64 j = 0; j < q; ++j) {
        const double g = entry(i, j);
        const bool both = free && U >> basis.columns[static_cast<std::size_t>(j)] & 1;
        if (both || !near) row += std::fabs(g);
        if (both) level.G[static_cast<std::size_t>(at * level.m + to++)] = g;
      }
      norm = std::max(norm, row);
      (free || !near ? reach : kept_reach) += std::sqrt(entry(i, i));
      if (!free) continue;
      for (i64 s = 0; s < data.responses; ++s)
        level.x[static_cast<std::size_t>(at * data.responses + s)] = coef[static_cast<std::size_t>(s * q + i)];
      level.column[static_cast<std::size_t>(at++)] = basis.columns[static_cast<std::size_t>(i)];
    }
    work += 2.0 * static_cast<double>(q * q * q);
    slack = error(1.0 + std::sqrt(2.0) * reach), lost = data.rounding * static_cast<double>(q) * norm;
    if (near) {
      const double size = 1.0 + std::sqrt(2.0) * (reach + kept_reach);
      slack += shift(size, 1.0);
      lost += data.column_rounding * size * std::sqrt(norm);
    }
    if (!(lost <= kLost)) {
      unclear = true;
      return;
    }
    deltas(level);
    descend(0);
  }

  // What each column costs, and what that is worth after rounding.
  void deltas(Level& level) {
    const std::size_t w = static_cast<std::size_t>(data.responses);
    for (std::size_t j = 0, m = static_cast<std::size_t>(level.m); j < m; ++j) {
      double square = 0.0;
      for (std::size_t s = j * w; s < (j + 1) * w; ++s) square += level.x[s] * level.x[s];
      level.delta[j] = 0.5 * square / level.G[j * m + j];
    }
    const Mask all = members(level);
    for (std::size_t j = 0, m = static_cast<std::size_t>(level.m); j < m; ++j)
      offer(level.fixed + level.m - 1, all & ~(Mask(1) << level.column[j]), level.f + level.delta[j], slack);
  }

  static Mask members(const Level& level) {
    Mask all = level.kept;
    for (i64 j = 0; j < level.m; ++j) all |= Mask(1) << level.column[static_cast<std::size_t>(j)];
    return all;
  }

  // All subsets below levels[depth] that lack at least two of its columns (those that lack one are known).
  void descend(std::size_t depth) {
    if (over()) return;
    ++nodes;
    Level& level = levels[depth];
    const i64 m = level.m, fixed = level.fixed;
    if (m < 2) return;
    sort(level);
    const double rho = spread(level) * (1.0 + 4.0 * static_cast<double>(m) * lost);
    // sum[i]: of the deltas from i on
    level.sum[static_cast<std::size_t>(m)] = 0.0;
    for (i64 j = m - 1; j >= 0; --j)
      level.sum[static_cast<std::size_t>(j)] =
          level.sum[static_cast<std::size_t>(j) + 1] + level.delta[static_cast<std::size_t>(j)];
    work += 6.0 * static_cast<double>(m * m);
    Mask kept = level.kept;
    for (i64 j = 0; j + 1 < m; ++j) kept |= Mask(1) << level.column[static_cast<std::size_t>(j)];
    for (i64 i = m - 2; i >= 0; --i) { // the last column's child has nothing left to drop
      kept &= ~(Mask(1) << level.column[static_cast<std::size_t>(i)]);
      const double own = level.delta[static_cast<std::size_t>(i)];
      const bool worth = alive(fixed + i, fixed + m - 2, [&](i64 k) {
        const i64 r = fixed + m - k; // to be dropped, column i among them
        const double sum = (own + level.sum[static_cast<std::size_t>(m - (r - 1))]) / rho;
        return level.f - slack + std::max(own - slack, sum - 2.0 * static_cast<double>(r) * slack);
      });
      if (!worth) continue;
      child(level, i, kept, levels[depth + 1]);
      if (alive(fixed + i, fixed + m - 3, [&](i64) { return levels[depth + 1].f - slack; })) descend(depth + 1);
      if (halted) return;
    }
  }

  // By falling delta; G into `sorted`.
  void sort(Level& level) {
    const i64 m = level.m;
    for (i64 j = 0; j < m; ++j) level.order[static_cast<std::size_t>(j)] = j;
    std::sort(level.order.begin(), level.order.begin() + m, [&](i64 a, i64 b) {
      return level.delta[static_cast<std::size_t>(a)] > level.delta[static_cast<std::size_t>(b)];
    });
    for (i64 i = 0; i < m; ++i) {
      const double* row = level.G.data() + level.order[static_cast<std::size_t>(i)] * m;
      double* to = level.sorted.data() + i * m;
      for (i64 j = 0; j < m; ++j) to[j] = row[level.order[static_cast<std::size_t>(j)]];
    }
    const auto permute = [&](std::vector<double>& v, i64 width) {
      double* to = level.scale.data();
      for (i64 j = 0; j < m; ++j) {
        const double* from = v.data() + level.order[static_cast<std::size_t>(j)] * width;
        for (i64 s = 0; s < width; ++s) *to++ = from[s];
      }
      std::copy(level.scale.data(), to, v.data());
    };
    permute(level.x, data.responses);
    permute(level.delta, 1);
    for (i64 j = 0; j < m; ++j)
      level.order[static_cast<std::size_t>(j)] =
          level.column[static_cast<std::size_t>(level.order[static_cast<std::size_t>(j)])];
    std::copy(level.order.begin(), level.order.begin() + m, level.column.begin());
  }

  // At least the largest eigenvalue of G on a unit diagonal: max_i (|G| w)_i / w_i for w = |G| 1.
  double spread(Level& level) const {
    const i64 m = level.m;
    double* s = level.scale.data();
    double w[64], v[64];
    for (i64 i = 0; i < m; ++i) s[i] = 1.0 / std::sqrt(level.sorted[static_cast<std::size_t>(i * m + i)]), w[i] = 1.0;
    double rho = HUGE_VAL;
    for (int turn = 0; turn < 2; ++turn) {
      double most = 0.0;
      for (i64 i = 0; i < m; ++i) {
        const double* row = level.sorted.data() + i * m;
        double sum = 0.0;
        for (i64 j = 0; j < m; ++j) sum += std::fabs(row[j]) * (s[j] * w[j]);
        v[i] = s[i] * sum;
        most = std::max(most, v[i] / w[i]);
      }
      rho = std::min(rho, most);
      std::copy(v, v + m, w);
    }
    return rho * (1.0 + 1e-12);
  }

  // Column i dropped, those before it kept.
  void child(const Level& level, i64 i, Mask kept, Level& to) {
    const i64 m = level.m, left = m - i - 1, w = data.responses;
    const std::size_t at = static_cast<std::size_t>(i);
    const double* g = level.sorted.data() + i * m + i + 1;
    const double pivot = level.sorted[static_cast<std::size_t>(i * m + i)];
    const double* dropped = level.x.data() + i * w;
    to.reserve(left, w);
    to.f = level.f + level.delta[at];
    to.kept = kept, to.fixed = level.fixed + i;
    for (i64 j = 0; j < left; ++j) {
      const std::size_t l = static_cast<std::size_t>(j), from = at + 1 + l;
      const double *old = dropped + (j + 1) * w, t = g[j] / pivot;
      for (i64 s = 0; s < w; ++s)
        to.x[l * static_cast<std::size_t>(w) + static_cast<std::size_t>(s)] = old[s] - t * dropped[s];
      to.column[l] = level.column[from];
    }
    drop_column(level.sorted.data() + (i + 1) * m + i + 1, m, g, pivot, left, to.G.data());
    work += 2.0 * static_cast<double>(left * left);
    deltas(to);
  }
};

} // namespace pursuit
