#pragma once

#include "search.hpp"
#include "sparse_full.hpp"
#include "stats.hpp"

// The columns of a least squares problem, scaled to unit length and computed from X as they are needed:
//
//   a_j = (sqrt(c_i) (x_ij - mean_j) for all rows i, sqrt(ridge_j) e_j) scale_j,   |a_j| = 1
//
// The coordinate e_j of the ridge belongs to column j alone: products of two different columns do not contain it.

namespace pursuit {

inline constexpr double kSingle = 6e-8; // rounding of single precision, a little more than 2^-24

// The test that excludes columns from every helpful exchange (working_set.hpp has the derivation): of Q, an orthonormal
// basis of the chosen columns, only an upper bound of |Q'a_j| is needed.
struct Screen {
  const double* Q; // n x k, a column after the other, each row times sqrt(c_i)
  i64 k;
  const double* gradient;
  const std::uint8_t* excluded; // columns that need no test
  double least, noise;          // min_i |x_i| / sqrt(B_ii); rounding error of the gradient
  double margin;                // room that is left between the two sides of the test

  bool keeps(double bound, i64 j) const {
    return !(bound + margin <= 1.0 - (1.0 + 1e-6) * (std::fabs(gradient[j]) + noise) / least);
  }
};

class UnitColumns {
public:
  i64 n = 0, p = 0;
  const double *c = nullptr, *mean = nullptr, *scale = nullptr; // scale_j = 0: a column that is not used
  const double* ridge = nullptr;                                // share of the ridge in |a_j|^2
  std::vector<double> root;                                     // sqrt(c)
  bool far = false; // means so large beside the spread that they are subtracted before columns are multiplied

  virtual ~UnitColumns() = default;
  // The largest k for which |Q'a_j| is computed in single precision with digits to spare.
  virtual double rounding(i64 k) const = 0;
  virtual void raw(const Units& cols, double* out) const = 0;
  virtual void transpose_product(const double* W, i64 m, double* out) const = 0; // W'(X - mean), m x p
  virtual Units screen(const Screen& test, Poll& poll) const = 0;
  // out = Q'A in single precision, m x p, for Q whose rows are times sqrt(c).
  virtual void rough_products(const double* Q, i64 m, float* out, Poll& poll) const = 0;
  // Means of all columns of X under weights w, sums of squares about them, and products of these deviations with d.
  virtual void weighted(const double* w, const double* d, double* mean, double* square, double* product) const = 0;

  // A = a_cols without the coordinates of the ridge, n x |cols|.
  void gather(const Units& cols, double* A) const {
    raw(cols, A);
    for (std::size_t l = 0; l < cols.size(); ++l) {
      const double m = mean[cols[l]], s = scale[cols[l]];
      double* a = A + static_cast<i64>(l) * n;
#pragma omp simd
      for (i64 i = 0; i < n; ++i) a[i] = root[i] * ((a[i] - m) * s);
    }
  }

  // out = W'a for all columns, m x p, for W whose rows are times sqrt(c).
  void products(const double* W, i64 m, double* out) const {
    transpose_product(W, m, out);
    for (i64 l = 0; l < m; ++l) {
      double sum = 0.0, *line = out + l * p;
      for (i64 i = 0; i < n; ++i) sum += W[l * n + i];
      if (far) sum = 0.0;
      for (i64 j = 0; j < p; ++j) line[j] = (line[j] - sum * mean[j]) * scale[j];
    }
  }
};

template <class T>
class DenseUnitColumns final : public UnitColumns {
public:
  explicit DenseUnitColumns(const Dense<T>& X_) : X(X_) { n = X.n, p = X.p; }

  double rounding(i64 k) const override {
    return std::sqrt(static_cast<double>(k)) * static_cast<double>(std::min(n, kFlush) + 16) * kSingle;
  }
  void raw(const Units& cols, double* out) const override {
    pursuit::gather(X, cols.data(), static_cast<i64>(cols.size()), out);
  }
  void transpose_product(const double* W, i64 m, double* out) const override {
    cross(X, W, n, m, far ? mean : nullptr, out);
  }
  void weighted(const double* w, const double* d, double* mean_, double* square, double* product) const override {
    double total = 0.0;
    for (i64 i = 0; i < n; ++i) total += w[i];
    first_pass(X, w, d, mean_, square, product);
    for (i64 j = 0; j < p; ++j) square[j] *= total;
  }

  // Single precision, tile by tile. After the rows 1 of a tile |Q'a_j| <= |Q_1'a_j1| + |Q_2| |a_j2| for the rows 2 to
  // come, so that most columns are excluded after a part of the rows.
  Units screen(const Screen& test, Poll& poll) const override {
    const i64 k = test.k, tiles = (p + kTile - 1) / kTile;
    Array<float> Q = allocate<float>(n * k);
    for (i64 e = 0; e < n * k; ++e) Q[e] = static_cast<float>(test.Q[e]);
    const i64 stride = std::max<i64>(1, (n + kRows * kChecks - 1) / (kRows * kChecks)); // blocks between two tests
    const std::vector<double> rest = norms_of_rest(test, stride * kRows);
    const int nt = plan(n * p * (1 + k / 16), tiles);
    const i64 batch = at_a_time(nt, kTile, k);
    std::vector<Units> kept(static_cast<std::size_t>(tiles));
    for (i64 first = 0; first < tiles && !poll.stop(); first += batch)
      parallel(nt, [&](int t) {
        Tile tile(k);
        for (i64 at = first + t; at < std::min(tiles, first + batch); at += nt)
          kept[at] = screen_tile(test, at * kTile, std::min(p, (at + 1) * kTile), Q.get(), rest, stride, tile);
      });
    Units all;
    for (const Units& some : kept) all.insert(all.end(), some.begin(), some.end());
    return all;
  }

  void rough_products(const double* Q_, i64 m, float* out, Poll& poll) const override {
    const i64 tiles = (p + kNarrowTile - 1) / kNarrowTile;
    Array<float> Q = allocate<float>(n * m);
    for (i64 e = 0; e < n * m; ++e) Q[e] = static_cast<float>(Q_[e]);
    const int nt = plan(n * p * (1 + m / 16), tiles);
    const i64 batch = at_a_time(nt, kNarrowTile, m);
    for (i64 first = 0; first < tiles && !poll.stop(); first += batch)
      parallel(nt, [&](int t) {
        Array<float> x = allocate<float>(kTallTile * kNarrowTile), V = allocate<float>(m * kNarrowTile);
        Buffer sums = reals(m * kNarrowTile);
        for (i64 at = first + t; at < std::min(tiles, first + batch); at += nt) {
          const i64 low = at * kNarrowTile, count = std::min(p - low, kNarrowTile);
          add_products(low, count, Q.get(), m, x.get(), V.get(), sums.get());
          for (i64 l = 0; l < m; ++l)
            for (i64 e = 0; e < count; ++e) out[l * p + low + e] = static_cast<float>(sums[l * count + e]);
        }
      });
  }

private:
  static constexpr i64 kTile = 2048, kRows = 64;           // half a megabyte of floats
  static constexpr i64 kNarrowTile = 512, kTallTile = 256; // where all rows are multiplied
  static constexpr i64 kFlush = 256, kChecks = 16;
  static constexpr double kBatch = 1e9; // multiplications between two looks at the clock

  // Tiles of `width` columns between two looks at the clock.
  i64 at_a_time(int nt, i64 width, i64 k) const {
    return std::max<i64>(nt,
                         static_cast<i64>(kBatch / (static_cast<double>(n * width) * (static_cast<double>(k) + 8))));
  }

  struct Tile {
    Array<float> x, products, squares;
    Buffer sums, square, bound;
    std::vector<i64> cols, kept;
    explicit Tile(i64 k)
        : x(allocate<float>(kRows * kTile)), products(allocate<float>(k * kTile)), squares(allocate<float>(kTile)),
          sums(reals(k * kTile)), square(reals(kTile)), bound(reals(kTile)), cols(kTile), kept(kTile) {}
  };

  // Upper bounds of the norms of the rows of Q from each test on.
  std::vector<double> norms_of_rest(const Screen& test, i64 step) const {
    const i64 k = test.k, count = (n + step - 1) / step;
    std::vector<double> out(static_cast<std::size_t>(count + 1), 0.0);
    Buffer M = reals(k * k), L = reals(k * k), R = reals(step * k);
    std::fill(M.get(), M.get() + k * k, 0.0);
    std::vector<double> v(static_cast<std::size_t>(k), 1.0), u(v);
    for (i64 b = count - 1; b > 0; --b) {
      const i64 low = b * step, rows = std::min(n, low + step) - low;
      for (i64 l = 0; l < k; ++l)
        for (i64 i = 0; i < rows; ++i) {
          const double w = root[low + i];
          R[l * rows + i] = w > 0.0 ? test.Q[l * n + low + i] / w : 0.0;
        }
      syrk(k, rows, R.get(), rows, M.get(), k);
      double guess = 0.0;
      for (int turn = 0; turn < 12; ++turn) { // power iteration
        double norm = 0.0;
        for (i64 a = 0; a < k; ++a) {
          double s = 0.0;
          for (i64 e = 0; e < k; ++e) s += M[std::min(a, e) + std::max(a, e) * k] * v[e];
          u[a] = s, norm += s * s;
        }
        guess = std::sqrt(norm);
        if (!(guess > 0.0)) break;
        for (i64 a = 0; a < k; ++a) v[a] = u[a] / guess;
      }
      for (double top = 1.01 * guess + 1e-12;; top *= 1.05) { // proved: top I - M has a Cholesky factor
        if (!(top < 1.0)) {
          out[b] = 1.0 + 1e-9;
          break;
        }
        for (i64 a = 0; a < k; ++a)
          for (i64 e = 0; e < k; ++e) L[a + e * k] = (a == e ? top : 0.0) - M[std::min(a, e) + std::max(a, e) * k];
        char upper = 'U';
        int size = small(k), info = 0;
        lapack.potrf(&upper, &size, L.get(), &size, &info);
        bool proved = info == 0;
        for (i64 a = 0; a < k; ++a) proved = proved && L[a * (k + 1)] > 0.0;
        if (!proved) continue;
        out[b] = std::sqrt(top) + 1e-9;
        break;
      }
    }
    return out;
  }

  PURSUIT_CLONES static void convert_line(const T* __restrict x, const double* __restrict m, const double* __restrict s,
                                          i64 len, float* __restrict out) {
#pragma omp simd
    for (i64 j = 0; j < len; ++j) out[j] = static_cast<float>((static_cast<double>(x[j]) - m[j]) * s[j]);
  }
  PURSUIT_CLONES static void convert_line(const T* __restrict x, double m, double s, i64 len, float* __restrict out) {
#pragma omp simd
    for (i64 i = 0; i < len; ++i) out[i] = static_cast<float>((static_cast<double>(x[i]) - m) * s);
  }
  PURSUIT_CLONES static void convert_row(const T* __restrict x, const double* __restrict m, const double* __restrict s,
                                         float w, i64 len, float* __restrict out, float* __restrict squares) {
#pragma omp simd
    for (i64 j = 0; j < len; ++j) {
      const float a = static_cast<float>((static_cast<double>(x[j]) - m[j]) * s[j]);
      out[j] = a;
      squares[j] += w * a * a;
    }
  }
  PURSUIT_CLONES static float convert_column(const T* __restrict x, double m, double s, const double* __restrict w,
                                             i64 len, float* __restrict out) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (i64 i = 0; i < len; ++i) {
      const float a = static_cast<float>((static_cast<double>(x[i]) - m) * s);
      out[i] = a;
      sum += static_cast<float>(w[i]) * a * a;
    }
    return sum;
  }
  PURSUIT_CLONES static void add_floats(const float* __restrict a, i64 len, double* __restrict out) {
#pragma omp simd
    for (i64 e = 0; e < len; ++e) out[e] += static_cast<double>(a[e]);
  }
  PURSUIT_CLONES static void add_squares(const double* __restrict a, i64 len, double* __restrict out) {
#pragma omp simd
    for (i64 e = 0; e < len; ++e) out[e] += a[e] * a[e];
  }

  // Rows [i, i + rows) of the tile's columns as floats, a row (or for columns that are contiguous a column) after the
  // other; squares += c a^2.
  void convert(i64 i, i64 rows, i64 low, i64 count, bool all, Tile& tile) const {
    if (X.rows) {
      for (i64 r = 0; r < rows; ++r) {
        const T* x = X.at(i + r, low);
        float *out = tile.x.get() + r * count, *squares = tile.squares.get();
        const float w = static_cast<float>(c[i + r]);
        if (all) {
          convert_row(x, mean + low, scale + low, w, count, out, squares);
          continue;
        }
        for (i64 q = 0; q < count; ++q) {
          const i64 j = tile.cols[q];
          const float a = static_cast<float>((static_cast<double>(x[j]) - mean[low + j]) * scale[low + j]);
          out[q] = a, squares[q] += w * a * a;
        }
      }
      return;
    }
    for (i64 q = 0; q < count; ++q) {
      const i64 j = low + tile.cols[q];
      tile.squares[q] += convert_column(X.at(i, j), mean[j], scale[j], c + i, rows, tile.x.get() + q * rows);
    }
  }

  Units screen_tile(const Screen& test, i64 low, i64 high, const float* Q, const std::vector<double>& rest, i64 stride,
                    Tile& tile) const {
    const i64 k = test.k;
    i64 count = high - low, wanted = 0;
    for (i64 q = 0; q < count; ++q) tile.cols[q] = q, wanted += !test.excluded[low + q];
    if (wanted == 0) return {};
    bool all = true; // columns that need no test go with those that the first test excludes: rows are read in one piece
    std::fill(tile.square.get(), tile.square.get() + count, 0.0);
    std::fill(tile.sums.get(), tile.sums.get() + count * k, 0.0);
    i64 pending = 0; // rows whose products are still in single precision
    for (i64 i = 0, block = 1; i < n && count > 0; i += kRows, ++block) {
      const i64 rows = std::min(kRows, n - i);
      const bool last = i + rows == n;
      std::fill(tile.squares.get(), tile.squares.get() + count, 0.0f);
      convert(i, rows, low, count, all, tile);
      add_floats(tile.squares.get(), count, tile.square.get());
      gemm(!X.rows, count, k, rows, tile.x.get(), X.rows ? count : rows, Q + i, n, pending > 0 ? 1.0f : 0.0f,
           tile.products.get(), count);
      pending += rows;
      const bool look = last || block % stride == 0;
      if (!look && pending < kFlush) continue;
      add_floats(tile.products.get(), count * k, tile.sums.get());
      pending = 0;
      if (!look) continue;
      double* bound = tile.bound.get();
      std::fill(bound, bound + count, 0.0);
      for (i64 l = 0; l < k; ++l) add_squares(tile.sums.get() + l * count, count, bound);
      const double ahead = last ? 0.0 : rest[block / stride];
      i64 left = 0;
      for (i64 q = 0; q < count; ++q) {
        const i64 j = low + tile.cols[q];
        const double seen = tile.square[q] * (1.0 - 4e-5), most = 1.0 - ridge[j] + 1e-9;
        const double upper = std::sqrt(bound[q]) + (last ? 0.0 : ahead * std::sqrt(std::max(0.0, most - seen)));
        if (!test.excluded[j] && test.keeps(upper, j)) tile.kept[left++] = q;
      }
      if (10 * left > 9 * count && !last) continue; // packing would cost more than it saves
      for (i64 l = 0; l < k; ++l)
        for (i64 q = 0; q < left; ++q) tile.sums[l * left + q] = tile.sums[l * count + tile.kept[q]];
      for (i64 q = 0; q < left; ++q) tile.cols[q] = tile.cols[tile.kept[q]], tile.square[q] = tile.square[tile.kept[q]];
      all = all && left == count;
      count = left;
    }
    Units out;
    for (i64 q = 0; q < count; ++q) out.push_back(low + tile.cols[q]);
    return out;
  }

  // Q'A of all columns of a tile, summed in double precision every kFlush rows.
  void add_products(i64 low, i64 count, const float* Q, i64 m, float* x, float* V, double* sums) const {
    std::fill(sums, sums + count * m, 0.0);
    i64 pending = 0;
    for (i64 i = 0; i < n; i += kTallTile) {
      const i64 rows = std::min(kTallTile, n - i);
      for (i64 l = 0; l < (X.rows ? rows : count); ++l) {
        if (X.rows)
          convert_line(X.at(i + l, low), mean + low, scale + low, count, x + l * count);
        else
          convert_line(X.at(i, low + l), mean[low + l], scale[low + l], rows, x + l * rows);
      }
      gemm(!X.rows, count, m, rows, x, X.rows ? count : rows, Q + i, n, pending > 0 ? 1.0f : 0.0f, V, count);
      pending += rows;
      if (i + rows < n && pending < kFlush) continue;
      add_floats(V, count * m, sums);
      pending = 0;
    }
  }

  const Dense<T> X;
};

template <class T, class I>
class SparseUnitColumns final : public UnitColumns {
public:
  explicit SparseUnitColumns(const Sparse<T, I>& X_) : X(X_) { n = X.n, p = X.p; }

  double rounding(i64) const override { return 0.0; }
  void raw(const Units& cols, double* out) const override {
    pursuit::gather(X, cols.data(), static_cast<i64>(cols.size()), out);
  }
  void transpose_product(const double* W, i64 m, double* out) const override { cross(X, W, n, m, out); }
  void weighted(const double* w, const double* d, double* mean_, double* square, double* product) const override {
    double total = 0.0, slope = 0.0;
    for (i64 i = 0; i < n; ++i) total += w[i], slope += d[i];
    std::fill(mean_, mean_ + p, 0.0), std::fill(square, square + p, 0.0), std::fill(product, product + p, 0.0);
    for (i64 line = 0; line < X.lines(); ++line)
      for (i64 e = X.indptr[line]; e < static_cast<i64>(X.indptr[line + 1]); ++e) {
        const i64 other = static_cast<i64>(X.indices[e]), i = X.rows ? line : other, j = X.rows ? other : line;
        const double v = static_cast<double>(X.data[e]);
        mean_[j] += w[i] * v, square[j] += w[i] * v * v, product[j] += d[i] * v;
      }
    for (i64 j = 0; j < p; ++j) {
      mean_[j] = total > 0.0 ? mean_[j] / total : 0.0;
      square[j] = std::max(0.0, square[j] - total * mean_[j] * mean_[j]);
      product[j] -= mean_[j] * slope;
    }
  }

  // Only stored entries are multiplied, in double precision.
  Units screen(const Screen& test, Poll& poll) const override {
    const i64 width = std::min<i64>(test.k, 8);
    Buffer some = reals(width * p), bound = reals(p);
    std::fill(bound.get(), bound.get() + p, 0.0);
    for (i64 l = 0; l < test.k && !poll.stop(); l += width) {
      const i64 m = std::min(width, test.k - l);
      products(test.Q + l * n, m, some.get());
      for (i64 a = 0; a < m; ++a)
        for (i64 j = 0; j < p; ++j) bound[j] += some[a * p + j] * some[a * p + j];
    }
    Units out;
    for (i64 j = 0; j < p; ++j)
      if (!test.excluded[j] && test.keeps(std::sqrt(bound[j]), j)) out.push_back(j);
    return out;
  }

  void rough_products(const double* Q, i64 m, float* out, Poll& poll) const override {
    const i64 width = std::min<i64>(m, 8);
    Buffer some = reals(width * p);
    for (i64 l = 0; l < m && !poll.stop(); l += width) {
      const i64 lines = std::min(width, m - l);
      products(Q + l * n, lines, some.get());
      for (i64 e = 0; e < lines * p; ++e) out[l * p + e] = static_cast<float>(some[e]);
    }
  }

private:
  const Sparse<T, I> X;
};

} // namespace pursuit
