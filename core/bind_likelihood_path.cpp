#include "bind_columns.hpp"
#include "bind_path.hpp"
#include "likelihood_path.hpp"

namespace pursuit {
namespace {

// Points in columns of mean square 1, each followed by the intercept.
PathSolution working_set_path(const SampleArrays& samples, double curve, const Matrix& X, A1 mean_, A1 scale_,
                              A1 ridge_, A1 unit_, A1 gradient_, bool intercept, double floor, U1 sizes_, i64 fewest,
                              double pass_work, SearchRequest& request, nb::object reached) {
  const i64 n = X.n(), p = X.p();
  const Vector<double> mean(mean_), scale(scale_), ridge(ridge_), unit(unit_), gradient(gradient_);
  for (const auto* some : {&mean, &scale, &ridge, &unit, &gradient}) require(some->size() == p, "sizes differ");
  const Vector<std::uint8_t> sizes(sizes_); // whether each size from 0 to k is wanted
  require(sizes.size() == request.plan.k + 1, "sizes differ");
  request.check(p);
  const Samples& s = samples.of(n);
  const std::unique_ptr<UnitColumns> columns = unit_columns(X);
  columns->c = s.c, columns->mean = mean.data(), columns->scale = scale.data();
  columns->root.assign(static_cast<std::size_t>(n), 1.0);
  Poll poll(request.stop.call());
  PathRequest path{request, false, std::move(reached)};
  return with_loss(s, [&](auto loss) {
    ScalarLikelihood likelihood(loss, s, curve);
    const LikelihoodProblem problem{*columns,     *columns,    likelihood,      mean.data(), scale.data(),
                                    ridge.data(), unit.data(), gradient.data(), intercept,   floor};
    std::optional<WorkingSetState> state;
    without_gil([&] { state.emplace(problem, request.plan, fewest, pass_work, poll); });
    return path.run(*state, poll, sizes.data());
  });
}

} // namespace

void bind_likelihood_path(nb::module_& m) {
  m.def("working_set_path", &working_set_path, "samples"_a, "curve"_a, "X"_a, array("mean"), array("scale"),
        array("ridge"), array("unit"), array("gradient"), "intercept"_a, "floor"_a, array("sizes"), "fewest"_a,
        "pass_work"_a, "request"_a, "reached"_a.none());
}

} // namespace pursuit
