#pragma once

#include "blas.hpp"
#include "loops.hpp"
#include "search.hpp"
#include "sparse.hpp"

// The columns of a search for a loss that is not squared, scaled to mean square 1: a_j, n numbers each. Dense columns
// are also centred where there is an intercept; sparse ones are not, so that only what is stored is multiplied.

namespace pursuit {

// The entries of a column; row is null where all rows are there.
struct Entries {
  const double* value;
  const std::int32_t* row;
  i64 count;
  i64 at(i64 e) const { return row ? row[e] : e; }
};

PURSUIT_CLONES inline double weighted_square(const double* a, const double* w, i64 len) {
  double s = 0.0;
#pragma omp simd reduction(+ : s)
  for (i64 i = 0; i < len; ++i) s += w[i] * a[i] * a[i];
  return s;
}

class EvenColumns {
public:
  const i64 n, p;
  const double *ridge, *unit; // per column: the ridge, and by how much the objective's own column is larger
  const bool intercept;

  EvenColumns(i64 n_, i64 p_, const double* ridge_, const double* unit_, bool intercept_)
      : n(n_), p(p_), ridge(ridge_), unit(unit_), intercept(intercept_) {}
  virtual ~EvenColumns() = default;
  virtual void gather(const Units& cols, double* out) const = 0;        // n x |cols|
  virtual void products(const double* V, i64 q, double* out) const = 0; // V'A, q x p, for V of n x q
  virtual void squares(const double* W, i64 q, double* out) = 0;        // the same for the squares of A
  virtual Entries entries(i64 j) const = 0;
  virtual double stored() const = 0; // entries of all columns
  virtual bool sparse() const { return false; }

  // out += t a_j
  void add(i64 j, double t, double* out) const {
    const Entries a = entries(j);
    if (!a.row) return add_rows<1>(a.value, 0, &t, n, out);
    for (i64 e = 0; e < a.count; ++e) out[a.row[e]] += t * a.value[e];
  }
  // The largest |a_ij| of each column.
  const std::vector<double>& largest() {
    if (largest_.empty()) {
      largest_.resize(static_cast<std::size_t>(p));
      for (i64 j = 0; j < p; ++j) {
        const Entries a = entries(j);
        double most = 0.0;
        for (i64 e = 0; e < a.count; ++e) most = std::max(most, std::fabs(a.value[e]));
        largest_[j] = most;
      }
    }
    return largest_;
  }

private:
  std::vector<double> largest_;
};

// A copy with one column after the other.
class DenseEvenColumns final : public EvenColumns {
public:
  DenseEvenColumns(const double* A_, i64 n_, i64 p_, const double* ridge_, const double* unit_, bool intercept_)
      : EvenColumns(n_, p_, ridge_, unit_, intercept_), A(A_) {}

  void gather(const Units& cols, double* out) const override {
    for (std::size_t l = 0; l < cols.size(); ++l)
      std::copy(A + cols[l] * n, A + (cols[l] + 1) * n, out + static_cast<i64>(l) * n);
  }
  void products(const double* V, i64 q, double* out) const override {
    if (q == 1) {
      std::fill(out, out + p, 0.0);
      return add_dots(A, n, V, p, n, out);
    }
    gemm(true, p, q, n, A, n, V, n, 0.0, out, p);
  }
  void squares(const double* W, i64 q, double* out) override {
    if (q == 1) {
      for (i64 j = 0; j < p; ++j) out[j] = weighted_square(A + j * n, W, n);
      return;
    }
    if (squared.empty()) {
      squared.resize(static_cast<std::size_t>(n * p));
      multiply(A, A, n * p, squared.data());
    }
    gemm(true, p, q, n, squared.data(), n, W, n, 0.0, out, p);
  }
  Entries entries(i64 j) const override { return {A + j * n, nullptr, n}; }
  double stored() const override { return static_cast<double>(n * p); }

private:
  const double* A;
  std::vector<double> squared;
};

// A scaled copy of what is stored, column by column.
class SparseEvenColumns final : public EvenColumns {
public:
  template <class T, class I>
  SparseEvenColumns(const Sparse<T, I>& X, const double* scale, const double* ridge_, const double* unit_,
                    bool intercept_)
      : EvenColumns(X.n, X.p, ridge_, unit_, intercept_), start(static_cast<std::size_t>(X.p + 1), 0),
        row(allocate<std::int32_t>(X.stored())), value(reals(X.stored())) {
    const i64 lines = X.lines(), entries = X.stored();
    for (i64 e = 0; e < entries && X.rows; ++e) ++start[X.indices[e] + 1];
    if (X.rows)
      for (i64 j = 0; j < p; ++j) start[j + 1] += start[j];
    else
      std::copy(X.indptr, X.indptr + p + 1, start.begin());
    std::vector<i64> to(start.begin(), start.end() - 1);
    for (i64 line = 0; line < lines; ++line)
      for (i64 e = X.indptr[line]; e < static_cast<i64>(X.indptr[line + 1]); ++e) {
        const i64 other = static_cast<i64>(X.indices[e]), j = X.rows ? other : line, at = to[j]++;
        row[at] = static_cast<std::int32_t>(X.rows ? line : other);
        value[at] = static_cast<double>(X.data[e]) * scale[j];
      }
  }

  void gather(const Units& cols, double* out) const override {
    std::fill(out, out + n * static_cast<i64>(cols.size()), 0.0);
    for (std::size_t l = 0; l < cols.size(); ++l) EvenColumns::add(cols[l], 1.0, out + static_cast<i64>(l) * n);
  }
  void products(const double* V, i64 q, double* out) const override {
    if (q == 1) return by_column([&](i64 j, i64 e, i64 len) { out[j] = gather_dot(&value[e], &row[e], len, V); });
    lines.resize(static_cast<std::size_t>(n * q)); // a row after the other, so that an entry meets q numbers at once
    for (i64 l = 0; l < q; ++l)
      for (i64 i = 0; i < n; ++i) lines[i * q + l] = V[l * n + i];
    std::vector<double> sums(static_cast<std::size_t>(q));
    by_column([&](i64 j, i64 e, i64 len) {
      add_entries(&value[e], &row[e], len, lines.data(), q, sums.data());
      for (i64 l = 0; l < q; ++l) out[l * p + j] = sums[l];
    });
  }
  void squares(const double* W, i64 q, double* out) override {
    for (i64 l = 0; l < q; ++l)
      by_column([&](i64 j, i64 e, i64 len) {
        double s = 0.0;
        for (i64 t = e; t < e + len; ++t) s += value[t] * value[t] * W[l * n + row[t]];
        out[l * p + j] = s;
      });
  }
  Entries entries(i64 j) const override { return {&value[start[j]], &row[start[j]], start[j + 1] - start[j]}; }
  double stored() const override { return static_cast<double>(start.back()); }
  bool sparse() const override { return true; }

private:
  template <class Use>
  void by_column(Use&& use) const {
    for (i64 j = 0; j < p; ++j) use(j, start[j], start[j + 1] - start[j]);
  }
  PURSUIT_CLONES static void add_entries(const double* value, const std::int32_t* row, i64 len, const double* lines,
                                         i64 q, double* sums) {
    for (i64 l = 0; l < q; ++l) sums[l] = 0.0;
    for (i64 e = 0; e < len; ++e) {
      const double v = value[e], *line = lines + static_cast<i64>(row[e]) * q;
#pragma omp simd
      for (i64 l = 0; l < q; ++l) sums[l] += v * line[l];
    }
  }
  std::vector<i64> start;
  Array<std::int32_t> row;
  Buffer value;
  mutable std::vector<double> lines;
};

} // namespace pursuit
