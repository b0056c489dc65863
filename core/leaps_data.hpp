#pragma once

#include "search.hpp"

// What leaps and bounds (leaps.hpp) is given, and the subsets of every size that it returns.

namespace pursuit {

using Mask = std::uint64_t;

struct LeapsData {
  const double* R; // rows x p, each column contiguous and of norm 1
  i64 rows, p;
  const double* z; // rows x responses, each response contiguous
  i64 responses;
  double base, rounding;  // f beyond the reach of the columns, in units of the null model's value; u
  double column_rounding; // v: the columns of R, and z, are known to within v; 0: only R'R and R'z are known
};

struct LeapsPlan {
  i64 kmin, kmax, nbest;
  double tolerance; // share of max(value, smallest) within which values are equal
  double smallest;  // share of the null model's value
  double exact;     // a value below this is an exact fit: no better one is looked for
  double effort;    // flops
  Mask forced;
};

struct LeapsEntry {
  Mask columns;
  double f, error;
};

struct LeapsSize {
  std::vector<LeapsEntry> found; // best first; all that may be among the nbest
  double target = HUGE_VAL;      // what a bound must reach
  bool unclear = false;
};

} // namespace pursuit
