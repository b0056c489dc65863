#pragma once

#include "common.hpp"

#include <functional>

namespace pursuit {

// Candidates for the k largest |v|, in index order, with a threshold that only rises. An element equal to the
// threshold comes after k others at least as large, so the test is strict and ties go to the lowest index.
template <class T>
class TopK {
public:
  TopK(i64 k, T threshold)
      : k_(k), capacity_(2 * k + 1024), threshold_(threshold), values_(allocate<T>(capacity_)),
        indices_(allocate<i64>(capacity_)), scratch_(allocate<T>(capacity_)) {}

  void scan(const T* v, i64 begin, i64 end) {
    for (i64 at = begin; at < end;) {
      at = collect(v, at, end);
      if (at < end) compact();
    }
  }
  void compact() {
    if (count_ <= k_) return;
    std::copy(values_.get(), values_.get() + count_, scratch_.get());
    std::nth_element(scratch_.get(), scratch_.get() + (k_ - 1), scratch_.get() + count_, std::greater<T>());
    threshold_ = scratch_[k_ - 1];
    i64 ties = k_, kept = 0;
    for (i64 i = 0; i < count_; ++i) ties -= values_[i] > threshold_;
    for (i64 i = 0; i < count_; ++i) {
      const bool tie = values_[i] == threshold_ && ties > 0;
      ties -= tie;
      if (!tie && !(values_[i] > threshold_)) continue;
      values_[kept] = values_[i];
      indices_[kept++] = indices_[i];
    }
    count_ = kept;
  }
  i64 count() const { return count_; }
  const i64* indices() const { return indices_.get(); }

private:
  static constexpr i64 block = 32;

  // Appends what lies above the threshold until the buffer might overflow; returns where it stopped.
  PURSUIT_CLONES i64 collect(const T* v, i64 at, i64 end) {
    const T threshold = threshold_;
    T* values = values_.get();
    i64* indices = indices_.get();
    i64 count = count_;
    const i64 full = capacity_ - block;
    while (at < end && count <= full) {
      const i64 stop = std::min(end, at + block);
      if (stop == at + block) {
        int any = 0;
        for (i64 i = 0; i < block; ++i) any |= std::fabs(v[at + i]) > threshold;
        if (!any) {
          at = stop;
          continue;
        }
      }
      for (; at < stop; ++at) {
        const T a = std::fabs(v[at]);
        values[count] = a;
        indices[count] = at;
        count += a > threshold;
      }
    }
    count_ = count;
    return at;
  }

  i64 k_, capacity_, count_ = 0;
  T threshold_;
  Array<T> values_;
  Array<i64> indices_;
  Array<T> scratch_;
};

// A guess just below the k-th largest |v| from an evenly spaced sample; -1 when the sample is no guide. The guess
// only saves work: when it is too high the scan is repeated without it.
template <class T>
T guess_threshold(const T* v, i64 p, i64 k) {
  const i64 size = std::min<i64>(8192, p / 8);
  if (size < 128 || k > p / 2) return T(-1);
  const i64 stride = p / size;
  auto sample = allocate<T>(size);
  i64 found = 0;
  for (i64 s = 0; s < size; ++s) {
    // a varying phase inside each stride, so that periodic data does not fool the sample
    const T a =
        std::fabs(v[s * stride + static_cast<i64>((static_cast<std::uint64_t>(s) * 2654435761u >> 7) % stride)]);
    if (a == a) sample[found++] = a;
  }
  const double expected = static_cast<double>(k) * size / static_cast<double>(p);
  const i64 rank = static_cast<i64>(expected + 4.0 * std::sqrt(expected) + 4.0);
  if (rank >= found) return T(-1);
  std::nth_element(sample.get(), sample.get() + rank, sample.get() + found, std::greater<T>());
  const T guess = sample[rank];
  return guess > T(0) ? std::nextafter(guess, T(-1)) : T(-1);
}

// Sorted indices of the k largest |v| into out.
template <class T>
void top_k(const T* v, i64 p, i64 k, i64* out) {
  if (k >= p) {
    for (i64 i = 0; i < p; ++i) out[i] = i;
    return;
  }
  if (k == 0) return;
  const T guess = guess_threshold(v, p, k);
  i64 found = 0;
  for (const T threshold : {guess, T(-1)}) {
    TopK<T> best(k, threshold);
    best.scan(v, 0, p);
    best.compact();
    found = best.count();
    if (found == k || threshold == T(-1)) {
      std::copy(best.indices(), best.indices() + found, out);
      break;
    }
  }
  if (found == k) return;
  // fewer than k numbers: the first NaNs fill up
  const i64 numbers = found;
  for (i64 i = 0; i < p && found < k; ++i)
    if (std::isnan(v[i])) out[found++] = i;
  std::inplace_merge(out, out + numbers, out + k);
}

} // namespace pursuit
