#include "bind_search.hpp"
#include "group_path.hpp"

namespace pursuit {
namespace {

// Per size from 0 to k: the groups, or None where the size was not reached, and the values; what `stop` raised.
nb::tuple group_path(A2 H_, A1 g_, I1 starts_, U1 forced_, U1 allowed_, I1 start_, U1 wanted_, double tolerance,
                     nb::object stop) {
  const Lines H = packed(H_);
  const Vector<double> g(g_);
  const Vector<i64> starts(starts_), start(start_);
  const Vector<std::uint8_t> forced(forced_), allowed(allowed_), wanted(wanted_);
  const i64 p = g.size(), groups = starts.size() - 1, k = wanted.size() - 1;
  require(H.n() == p && H.p() == p, "sizes differ");
  require(groups >= 1 && starts[0] == 0 && starts[groups] == p, "starts must begin with 0 and end with the columns");
  for (i64 b = 0; b < groups; ++b) require(starts[b] < starts[b + 1], "every group needs a column");
  require(forced.size() == groups && allowed.size() == groups && k >= 0 && k <= groups, "sizes differ");
  Units begin;
  for (i64 i = 0; i < start.size(); ++i) {
    require(0 <= start[i] && start[i] < groups, "start holds no group");
    begin.push_back(start[i]);
  }
  const GroupProblem problem{H.data(),
                             g.data(),
                             p,
                             {starts.data(), starts.data() + groups + 1},
                             {forced.data(), forced.data() + groups},
                             {allowed.data(), allowed.data() + groups}};
  StopCallback stop_callback(std::move(stop));
  Poll poll(stop_callback.call());
  GroupPath path(problem, tolerance, poll);
  without_gil([&] { path.run(begin, k, {wanted.data(), wanted.data() + k + 1}); });
  nb::list supports, values;
  for (const GroupPoint& at : path.best) {
    if (at.value == HUGE_VAL) {
      supports.append(nb::none());
    } else {
      Array<i64> out = allocate<i64>(static_cast<i64>(at.groups.size()));
      std::copy(at.groups.begin(), at.groups.end(), out.get());
      supports.append(to_numpy(std::move(out), static_cast<i64>(at.groups.size())));
    }
    values.append(at.value);
  }
  return nb::make_tuple(supports, values, stop_callback.error);
}

} // namespace

void bind_groups(nb::module_& m) {
  m.def("group_path", &group_path, array("H"), array("g"), array("starts"), array("forced"), array("allowed"),
        array("start"), array("wanted"), "tolerance"_a, "stop"_a.none());
}

} // namespace pursuit
