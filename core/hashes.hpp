#pragma once

#include "dense.hpp"
#include "sparse.hpp"

#include <bit>

namespace pursuit {

using u64 = std::uint64_t;

// Vigna's splitmix64: a bijection whose every output bit depends on every input bit.
inline u64 splitmix(u64 x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// An odd factor for each column: a row in which one entry differs always has another hash.
inline std::vector<u64> column_keys(i64 first, i64 p) {
  std::vector<u64> keys(static_cast<std::size_t>(p));
  for (i64 j = 0; j < p; ++j) keys[j] = splitmix(static_cast<u64>(first + j)) | 1u;
  return keys;
}

// 0 for both zeros, so that entries which a sparse matrix does not store count nothing. The upper half goes into the
// lower: a product modulo 2^64 would otherwise lose a flipped sign, the topmost bit, wherever two rows or columns have
// one.
template <class T>
PURSUIT_INLINE u64 entry_bits(T x) {
  const u64 bits = std::bit_cast<u64>(static_cast<double>(x) + 0.0);
  return bits ^ (bits >> 32);
}

template <class T>
PURSUIT_CLONES u64 hash_row(const T* x, i64 len, const u64* keys) {
  u64 sum = 0;
#pragma omp simd reduction(+ : sum)
  for (i64 j = 0; j < len; ++j) sum += entry_bits(x[j]) * keys[j];
  return sum;
}

template <class T>
PURSUIT_CLONES void hash_column(const T* x, i64 len, u64 key, u64* __restrict out) {
#pragma omp simd
  for (i64 i = 0; i < len; ++i) out[i] += entry_bits(x[i]) * key;
}

// out[i] = sum over j of bits(x_ij) key_j modulo 2^64, the same for every layout and precision of the same numbers.
template <class T>
void row_hashes(const Dense<T>& X, i64 first, u64* out) {
  const auto keys = column_keys(first, X.p);
  std::fill(out, out + X.n, u64{0});
  const int nt = plan(X.n * X.p);
  parallel(nt, [&](int t) {
    const Range r = part(X.n, t, nt, 8);
    if (X.rows) {
      for (i64 i = r.begin; i < r.end; ++i) out[i] = hash_row(X.at(i, 0), X.p, keys.data());
      return;
    }
    for (i64 i = r.begin; i < r.end; i += kRowTile)
      for (i64 j = 0; j < X.p; ++j) hash_column(X.at(i, j), std::min(kRowTile, r.end - i), keys[j], out + i);
  });
}

template <class T, class I>
void row_hashes(const Sparse<T, I>& X, i64 first, u64* out) {
  const auto keys = column_keys(first, X.p);
  std::fill(out, out + X.n, u64{0});
  const int nt = X.rows ? plan(X.stored()) : 1;
  parallel(nt, [&](int t) {
    const Range lines = part(X, t, nt);
    for (i64 l = lines.begin; l < lines.end; ++l)
      for (i64 e = X.indptr[l]; e < X.indptr[l + 1]; ++e) {
        const i64 at = X.indices[e];
        out[X.rows ? l : at] += entry_bits(X.data[e]) * keys[X.rows ? at : l];
      }
  });
}

} // namespace pursuit
