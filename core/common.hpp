#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

// One function, compiled thrice and chosen when the module loads: AVX-512, AVX2 with FMA, or the baseline. Everything
// such a function calls must be inlined into it, or that part stays baseline code.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && __GNUC__ >= 12 &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PURSUIT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PURSUIT_CLONES
#endif
#define PURSUIT_INLINE inline __attribute__((always_inline))

namespace pursuit {

using i64 = std::int64_t;

// Memory that is not initialised: large results are first touched by the thread that fills them. Huge pages, where
// the kernel grants them, spare most of the page faults of a large result.
template <class T>
struct Free {
  void operator()(T* data) const noexcept { std::free(data); }
};
template <class T>
using Array = std::unique_ptr<T[], Free<T>>;
using Buffer = Array<double>;

template <class T>
Array<T> allocate(i64 n) {
  const std::size_t bytes = static_cast<std::size_t>(std::max<i64>(n, 1)) * sizeof(T);
  const bool large = bytes >= (std::size_t(1) << 22);
  const std::size_t align = large ? std::size_t(1) << 21 : 64;
  void* data = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!data) throw std::bad_alloc();
#if defined(__linux__)
  if (large) madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return Array<T>(static_cast<T*>(data));
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

// Reproducible random numbers (G. Steele, D. Lea, C. Flood 2014: splitmix64).
class Random {
public:
  explicit Random(std::uint64_t seed) : state(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  i64 below(i64 n) { return static_cast<i64>(next() % static_cast<std::uint64_t>(n)); }

private:
  std::uint64_t state;
};

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

// The columns of a refit: float64, each contiguous (not `rows`), or CSC with 64-bit indices.
using DenseColumns = Dense<double>;
using SparseColumns = Sparse<double, i64>;

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

// A point that is zero outside `cols`.
struct Point {
  const i64* cols;
  const double* coef;
  i64 m;
  double b;
};

} // namespace pursuit
