#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

// One function, compiled twice and chosen when the module loads: AVX2 with FMA, or the baseline. Everything such a
// function calls must be inlined into it, or that part stays baseline code.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && __GNUC__ >= 12 &&         \
    !defined(__SANITIZE_ADDRESS__)
#define PURSUIT_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define PURSUIT_CLONES
#endif
#define PURSUIT_INLINE inline __attribute__((always_inline))

namespace pursuit {

using i64 = std::int64_t;
using Buffer = std::unique_ptr<double[]>;

// Not initialised: large results are first touched by the thread that fills them.
template <class T>
std::unique_ptr<T[]> allocate(i64 n) {
  return std::unique_ptr<T[]>(new T[static_cast<std::size_t>(std::max<i64>(n, 1))]);
}
inline Buffer reals(i64 n) { return allocate<double>(n); }

struct Range {
  i64 begin, end;
  i64 size() const { return end - begin; }
};

// Part t of nt of [0, n), cut at multiples of `grain`.
inline Range part(i64 n, int t, int nt, i64 grain = 1) {
  const i64 blocks = (n + grain - 1) / grain;
  return {std::min(n, blocks * t / nt * grain), std::min(n, blocks * (t + 1) / nt * grain)};
}

// `rows` says that each row is contiguous (C-like); otherwise each column is.
template <class T>
struct Dense {
  const T* data;
  i64 n, p, row_stride, col_stride;
  bool rows;
  const T* at(i64 i, i64 j) const { return data + i * row_stride + j * col_stride; }
};

template <class T, class I>
struct Sparse {
  const T* data;
  const I* indices;
  const I* indptr;
  i64 n, p;
  bool rows;
  i64 lines() const { return rows ? n : p; }
  i64 stored() const { return static_cast<i64>(indptr[lines()]); }
};

// Part t of nt of the compressed lines, balanced by stored entries.
template <class T, class I>
Range part(const Sparse<T, I>& X, int t, int nt) {
  const i64 lines = X.lines(), nnz = X.stored();
  auto cut = [&](int s) -> i64 {
    if (s == 0) return 0;
    if (s == nt) return lines;
    return std::lower_bound(X.indptr, X.indptr + lines, static_cast<I>(nnz * s / nt)) - X.indptr;
  };
  return {cut(t), cut(t + 1)};
}

struct Samples {
  const double *y, *c, *offset; // offset may be null
  i64 n;
};

// A point that is zero outside `cols`.
struct Point {
  const i64* cols;
  const double* coef;
  i64 m;
  double b;
};

struct LossSpec {
  int code;
  double param;
};

} // namespace pursuit
