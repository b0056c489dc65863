#pragma once

#include "basis_state.hpp"
#include "unit_columns.hpp"

// A least squares problem on columns of unit length (unit_columns.hpp); rows of its Gram matrix, computed in blocks as
// they are needed; and a working set: some of its columns with their own Gram matrix.

namespace pursuit {

struct LeastSquares {
  const UnitColumns& A;
  i64 q;                             // responses
  const double *residual, *gradient; // of the null model: sqrt(c) (y - ..), q x n, and -A'residual, q x p
  const double* length;              // of the columns in the units of the objective
  double f0, floor;
};

// The norms of the columns of g (q x p).
inline void column_norms(const double* g, i64 q, i64 p, double* out) {
  std::fill(out, out + p, 0.0);
  for (i64 r = 0; r < q; ++r)
    for (i64 j = 0; j < p; ++j) out[j] += g[r * p + j] * g[r * p + j];
  for (i64 j = 0; j < p; ++j) out[j] = std::sqrt(out[j]);
}

// Rows of the Gram matrix A'A, computed when they are needed; beyond `room` numbers all are given up.
class GramRows {
public:
  GramRows(const UnitColumns& A_, double room_) : A(A_), room(room_), slot(static_cast<std::size_t>(A_.p), nullptr) {}

  Rows source() {
    Rows rows;
    rows.row = [this](i64 j) { return slot[j]; };
    rows.has = [this](i64 j) { return slot[j] != nullptr; };
    rows.fetch = [this](const Units& cols) { return fetch(cols), true; };
    rows.block = [this](const Units& cols, double* out) {
      const i64 m = static_cast<i64>(cols.size());
      Buffer some = reals(A.n * m);
      A.gather(cols, some.get());
      gemm(true, m, m, A.n, some.get(), A.n, some.get(), A.n, 0.0, out, m);
      return true;
    };
    return rows;
  }

private:
  void fetch(const Units& cols) {
    Units missing;
    for (i64 j : cols)
      if (!slot[j] && std::find(missing.begin(), missing.end(), j) == missing.end()) missing.push_back(j);
    const i64 m = static_cast<i64>(missing.size());
    if (m == 0) return;
    if (static_cast<double>((held + m) * A.p) > room) {
      std::fill(slot.begin(), slot.end(), nullptr);
      blocks.clear();
      held = 0;
      if (m < static_cast<i64>(cols.size())) return fetch(cols);
    }
    Buffer some = reals(A.n * m), out = reals(m * A.p);
    A.gather(missing, some.get());
    for (i64 l = 0; l < m; ++l)
      for (i64 i = 0; i < A.n; ++i) some[l * A.n + i] *= A.root[i];
    A.products(some.get(), m, out.get());
    for (i64 l = 0; l < m; ++l) slot[missing[l]] = out.get() + l * A.p;
    held += m;
    blocks.push_back(std::move(out));
  }

  const UnitColumns& A;
  const double room;
  i64 held = 0;
  std::vector<const double*> slot;
  std::vector<Buffer> blocks;
};

// Some columns, and the least squares problem on them.
class WorkingSet {
public:
  Units cols; // by place in the set

  WorkingSet(const LeastSquares& problem_, const SearchPlan& plan_)
      : problem(problem_), A(problem_.A), plan(plan_), inside(static_cast<std::size_t>(A.p), 0) {}

  i64 size() const { return static_cast<i64>(cols.size()); }
  bool has(i64 j) const { return inside[j]; }
  bool usable(i64 j) const { return plan.allowed[j] && A.scale[j] > 0.0; }
  bool is_forced(i64 place) const { return forced[place]; }
  const double* column(i64 place) const { return column_at[place]; }

  // Where columns of the set are.
  Units places(const Units& S) const {
    Units out;
    for (i64 j : S) out.push_back(std::find(cols.begin(), cols.end(), j) - cols.begin());
    return out;
  }

  // The columns of largest gradient at the null model, besides those that are forced in and a start.
  Units first_columns(i64 most, const Units& start) const {
    std::vector<double> score(static_cast<std::size_t>(A.p));
    column_norms(problem.gradient, problem.q, A.p, score.data());
    for (i64 j = 0; j < A.p; ++j) score[j] = plan.forced[j] ? HUGE_VAL : usable(j) ? score[j] : -1.0;
    for (i64 j : start) score[j] = HUGE_VAL;
    i64 certain = 0;
    for (i64 j = 0; j < A.p; ++j) certain += score[j] == HUGE_VAL;
    return top_of(score, most + certain);
  }

  // Columns join, and their products with all others the Gram matrix.
  void add(const Units& more) {
    const i64 old = size(), w = old + static_cast<i64>(more.size());
    gather(more);
    Buffer next = reals(w * w);
    for (i64 l = 0; l < old; ++l) std::copy(gram.get() + l * old, gram.get() + (l + 1) * old, next.get() + l * w);
    multiply(0, column(old), w - old, next.get() + old * w, w);
    for (i64 l = 0; l < old; ++l)
      for (i64 e = old; e < w; ++e) next[l * w + e] = next[e * w + l];
    gram = std::move(next), among = w;
    used.resize(static_cast<std::size_t>(w), 0);
  }

  // Columns join, the most likely to be needed first, with their products with the columns whose rows of the Gram
  // matrix were in use; other rows are computed in blocks as they are needed.
  void join(const Units& more) {
    const i64 old = size();
    const std::vector<const double*> known = among == old ? std::vector<const double*>() : rows;
    const std::vector<Buffer> owners = std::move(row_blocks);
    gather(more);
    row_blocks.clear();
    used.resize(cols.size(), 0);
    rows.assign(cols.size(), nullptr);
    Units needed;
    for (i64 l = 0; l < old; ++l)
      if (used[l]) needed.push_back(l);
    const i64 m = static_cast<i64>(needed.size());
    Buffer out = reals(m * size());
    multiply(old, copy(needed).get(), m, out.get(), size());
    for (i64 e = 0; e < m; ++e) {
      const i64 l = needed[e];
      const double* before = known.empty() ? gram.get() + l * among : known[l];
      std::copy(before, before + old, out.get() + e * size());
      rows[l] = out.get() + e * size();
    }
    row_blocks.push_back(std::move(out));
  }

  // The problem and the plan on the set; both are good until more columns join.
  RowQuad quad() {
    Rows source;
    source.row = [this](i64 l) {
      used[l] = 1;
      if (among == size()) return static_cast<const double*>(gram.get() + l * among);
      if (!rows[l]) fetch(l < among ? Units{l} : next_rows(l));
      return rows[l];
    };
    return {slope.data(), h.data(), ridge.data(), problem.f0, size(), source, length.data(), 0.0, problem.q};
  }
  SearchPlan local_plan() const {
    SearchPlan local = plan;
    local.forced = forced.data(), local.allowed = allowed.data();
    local.restarts = 0;
    return local;
  }

  // A point of the set, in columns.
  Found to_columns(const Found& point) const {
    const i64 q = problem.q;
    std::vector<std::pair<i64, i64>> pairs; // columns, and where their coefficients are
    for (std::size_t i = 0; i < point.support.size(); ++i)
      pairs.emplace_back(cols[point.support[i]], static_cast<i64>(i) * q);
    std::sort(pairs.begin(), pairs.end());
    Found out{{}, {}, point.f};
    for (const auto& [j, from] : pairs) {
      out.support.push_back(j);
      out.x.insert(out.x.end(), point.x.begin() + from, point.x.begin() + from + q);
    }
    return out;
  }

  // The columns at some places, n x |S|.
  Buffer copy(const Units& S) const {
    Buffer out = reals(A.n * static_cast<i64>(S.size()));
    for (std::size_t i = 0; i < S.size(); ++i)
      std::copy(column(S[i]), column(S[i]) + A.n, out.get() + static_cast<i64>(i) * A.n);
    return out;
  }

  // The residuals (q x n) at coefficients x of some of the set's columns A_S, multiplied by -sqrt(c): what `products`
  // takes to gradients.
  void down(const double* A_S, const std::vector<double>& x, double* out) const {
    const i64 n = A.n, q = problem.q, k = static_cast<i64>(x.size()) / q;
    std::copy(problem.residual, problem.residual + q * n, out);
    for (i64 r = 0; r < q; ++r) {
      double* e = out + r * n;
      for (i64 i = 0; i < k; ++i) {
        const double t = -x[i * q + r];
        add_rows<1>(A_S + i * n, 0, &t, n, e);
      }
      for (i64 i = 0; i < n; ++i) e[i] *= -A.root[i];
    }
  }

private:
  static constexpr i64 kAhead = 8; // rows of columns that joined last, computed at a time

  void gather(const Units& more) {
    const i64 n = A.n, q = problem.q, m = static_cast<i64>(more.size());
    Buffer some = reals(n * m);
    A.gather(more, some.get());
    for (i64 l = 0; l < m; ++l) {
      const i64 j = more[l];
      cols.push_back(j), column_at.push_back(some.get() + l * n), inside[j] = 1;
      ridge.push_back(A.ridge[j]), length.push_back(problem.length[j]);
      forced.push_back(plan.forced[j]), allowed.push_back(plan.allowed[j]);
    }
    column_blocks.push_back(std::move(some));
    ends.push_back(size());
    h.assign(cols.size(), 1.0);
    slope.resize(static_cast<std::size_t>(q * size()));
    for (i64 r = 0; r < q; ++r)
      for (i64 l = 0; l < size(); ++l) slope[r * size() + l] = problem.gradient[r * A.p + cols[l]];
  }

  // out = the products of m columns B with those of the set from the block on that begins at `from`; lines of out are
  // w apart.
  void multiply(i64 from, const double* B, i64 m, double* out, i64 w) const {
    i64 begin = 0;
    for (std::size_t b = 0; b < ends.size(); begin = ends[b++]) {
      if (begin < from) continue;
      gemm(true, ends[b] - begin, m, A.n, column(begin), A.n, B, A.n, 0.0, out + begin, w);
    }
  }

  // Rows of the Gram matrix; what it has already is not computed again.
  void fetch(const Units& places) {
    const i64 w = size();
    for (const bool old : {true, false}) {
      Units some;
      for (i64 l : places)
        if ((l < among) == old) some.push_back(l);
      const i64 m = static_cast<i64>(some.size());
      Buffer out = reals(m * w);
      multiply(old ? among : 0, copy(some).get(), m, out.get(), w);
      for (i64 e = 0; e < m; ++e) {
        rows[some[e]] = out.get() + e * w;
        if (old) std::copy(gram.get() + some[e] * among, gram.get() + (some[e] + 1) * among, out.get() + e * w);
      }
      row_blocks.push_back(std::move(out));
    }
  }

  // Row l and others of columns that joined.
  Units next_rows(i64 l) const {
    Units places{l};
    for (i64 e = among; e < size() && static_cast<i64>(places.size()) < kAhead; ++e)
      if (!rows[e] && e != l) places.push_back(e);
    return places;
  }

  const LeastSquares& problem;
  const UnitColumns& A;
  const SearchPlan plan;
  std::vector<std::uint8_t> inside, forced, allowed, used;
  std::vector<double> slope, h, ridge, length;
  std::vector<Buffer> column_blocks, row_blocks;
  std::vector<const double*> column_at, rows;
  Units ends;  // of the blocks of columns
  Buffer gram; // the Gram matrix of the first columns, `among` of them
  i64 among = 0;
};

} // namespace pursuit
