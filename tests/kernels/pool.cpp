// The pool and the count of CPUs, without Python: compiled and run by test_pool.py, and by `make sanitize` under the
// thread sanitiser. Says what went wrong and returns 1, or returns 0.

#include "threads.hpp"

#include <cstdio>

using namespace pursuit;

static int failures = 0;
static void check(bool ok, const char* what) {
  if (ok) return;
  std::printf("%s\n", what);
  ++failures;
}

static void every_part_once() {
  for (int parts = 1; parts < 9; ++parts) {
    std::vector<int> count(static_cast<std::size_t>(parts), 0);
    parallel(parts, [&](int t) { ++count[static_cast<std::size_t>(t)]; });
    check(std::count(count.begin(), count.end(), 1) == parts, "a part was left out or done twice");
  }
}

// Every part throws, or the last one only; inside a region of its own; the pool goes on working.
static void exceptions_reach_the_caller() {
  for (int round = 0; round < 200; ++round)
    for (int first : {0, 3}) {
      bool caught = false;
      try {
        parallel(4, [&](int t) {
          parallel(2, [&](int) {
            Buffer room = reals(64);
            if (t >= first) throw std::bad_alloc();
          });
        });
      } catch (const std::bad_alloc&) {
        caught = true;
      }
      check(caught, "an exception did not reach the caller");
    }
  every_part_once();
}

static void callers_at_once() {
  std::vector<std::thread> callers;
  std::atomic<i64> total{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      thread_count = 3;
      for (int round = 0; round < 300; ++round) parallel(5, [&](int t) { total.fetch_add(t); });
    });
  for (std::thread& caller : callers) caller.join();
  check(total.load() == 4 * 300 * 10, "sums of several callers differ");
}

// A wait that is longer than the pool stays awake for.
static void long_parts() {
  std::atomic<int> late{0};
  parallel(2, [&](int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++late;
  });
  check(late.load() == 2, "the caller did not wait");
}

int main(int argc, char** argv) {
  if (argc == 3) { // root and group: the CPUs that their quota is worth
    std::printf("%d\n", quota_cpus(argv[1], argv[2]));
    return 0;
  }
  if (argc == 2) { // a file like /proc/self/cgroup
    std::printf("%s\n", control_group(argv[1]).c_str());
    return 0;
  }
  thread_count = 3;
  every_part_once();
  exceptions_reach_the_caller();
  callers_at_once();
  long_parts();
  return failures > 0;
}
