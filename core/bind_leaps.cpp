#include "bind_search.hpp"
#include "leaps.hpp"

namespace pursuit {
namespace {

nb::object chosen(Mask columns) {
  Array<i64> out = allocate<i64>(std::popcount(columns));
  i64 at = 0;
  for (Mask left = columns; left; left &= left - 1) out[at++] = std::countr_zero(left);
  return to_numpy(std::move(out), at);
}

// Per size from kmin on: the subsets that may be among the best (columns, value, rounding), and whether none is
// missing; whether columns are neither dependent nor clearly independent, the number of nodes, and what `ask` raised.
nb::tuple leaps(A2 R_, A2 z_, double base, double rounding, double column_rounding, U1 forced_, i64 kmin, i64 kmax,
                i64 nbest, double tolerance, double smallest, double exact, double effort, nb::object ask) {
  const Lines R = packed_columns(R_), z = packed_columns(z_);
  const Vector<std::uint8_t> forced(forced_);
  const i64 p = R.p();
  require(p <= 64 && z.n() == R.n() && forced.size() == p, "R, z and forced do not fit, or have over 64 columns");
  require(0 <= kmin && kmin <= kmax && kmax <= p && nbest >= 1, "kmin, kmax or nbest is out of range");
  Mask in = 0;
  for (i64 j = 0; j < p; ++j) in |= forced[j] ? Mask(1) << j : 0;
  StopCallback stop_callback(std::move(ask));
  Poll poll(stop_callback.call());
  Leaps search({R.data(), R.n(), p, z.data(), z.p(), base, rounding, column_rounding},
               {kmin, kmax, nbest, tolerance, smallest, exact, effort, in}, poll);
  without_gil([&] { search.run(); });
  nb::list sizes;
  for (i64 k = kmin; k <= kmax; ++k) {
    const LeapsSize& size = search.sizes[static_cast<std::size_t>(k)];
    nb::list found;
    for (const LeapsEntry& e : size.found) found.append(nb::make_tuple(chosen(e.columns), e.f, e.error));
    sizes.append(nb::make_tuple(found, search.complete && !size.unclear));
  }
  return nb::make_tuple(sizes, search.unclear, search.nodes, stop_callback.error);
}

} // namespace

void bind_leaps(nb::module_& m) {
  m.def("leaps", &leaps, array("R"), array("z"), "base"_a, "rounding"_a, "column_rounding"_a, array("forced"), "kmin"_a,
        "kmax"_a, "nbest"_a, "tolerance"_a, "smallest"_a, "exact"_a, "effort"_a, "ask"_a.none());
}

} // namespace pursuit
