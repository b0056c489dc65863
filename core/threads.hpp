#pragma once

#include "common.hpp"
#include "cpus.hpp"
#include "pool.hpp"

#include <pthread.h>

namespace pursuit {

// Below this many simple operations (about a millisecond) a region costs more than it saves, above all when the cores
// are shared.
inline constexpr i64 kSmallWork = 1 << 21;

// A pool does not survive fork(): children never use one.
inline std::atomic<bool> in_forked_child{false};
inline thread_local int thread_count = 0;

inline int threads() {
  if (in_forked_child.load(std::memory_order_relaxed)) return 1;
  static const int available = default_threads(); // once: it reads files, and threads come and go
  return thread_count > 0 ? thread_count : available;
}

inline void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { in_forked_child.store(true, std::memory_order_relaxed); });
}

// Threads for about `work` simple operations, and at most `most` parts.
inline int plan(i64 work) { return work < kSmallWork ? 1 : threads(); }
inline int plan(i64 work, i64 most) { return static_cast<int>(std::clamp<i64>(most, 1, plan(work))); }

// body(t) for every part t < nt, by this thread and the free ones of the pool. The parts, not the threads, decide the
// result. What a body throws reaches the caller; it may itself run parallel parts.
template <class Body>
void parallel(int nt, Body&& body) {
  if (nt <= 1) {
    body(0);
    return;
  }
  Pool::shared().run(nt, std::min(nt, threads()) - 1, body);
}

// out += parts[1] + parts[2] + ..., in that order; parts[0] is out itself.
inline void sum_parts(double* out, const double* parts, i64 len, int nt) {
  if (nt <= 1) return;
  parallel(plan(len * nt), [=, used = plan(len * nt)](int t) {
    const Range r = part(len, t, used, 64);
    for (int s = 1; s < nt; ++s) {
      const double* other = parts + (s - 1) * len;
      for (i64 j = r.begin; j < r.end; ++j) out[j] += other[j];
    }
  });
}

// The thread's own accumulator: part 0 writes the result, the others a scratch that sum_parts adds.
struct Parts {
  double* out;
  i64 len;
  int nt;
  Buffer rest;
  Parts(double* out_, i64 len_, int nt_) : out(out_), len(len_), nt(nt_), rest(reals(len_ * (nt_ - 1))) {}
  double* operator[](int t) { return t == 0 ? out : rest.get() + (t - 1) * len; }
  void sum() { sum_parts(out, rest.get(), len, nt); }
};

} // namespace pursuit
