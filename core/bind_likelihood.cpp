#include "bind_columns.hpp"
#include "bind_search.hpp"
#include "likelihood_working_set.hpp"

namespace pursuit {
namespace {

// Points in columns of mean square 1; `contested` is -1 where the search did not come to its end.
SearchSolution working_set_search(const SampleArrays& samples, double curve, const Matrix& X, A1 mean_, A1 scale_,
                                  A1 ridge_, A1 unit_, A1 gradient_, bool intercept, double floor, i64 sweep_above,
                                  SearchRequest& request) {
  const i64 n = X.n(), p = X.p();
  const Vector<double> mean(mean_), scale(scale_), ridge(ridge_), unit(unit_), gradient(gradient_);
  for (const auto* some : {&mean, &scale, &ridge, &unit, &gradient}) require(some->size() == p, "sizes differ");
  request.check(p);
  const Samples& s = samples.of(n);
  const std::unique_ptr<UnitColumns> plain = unit_columns(X), weighted = unit_columns(X);
  plain->mean = mean.data(), plain->scale = scale.data();
  plain->root.assign(static_cast<std::size_t>(n), 1.0);
  Poll poll(request.stop.call());
  SearchSolution out;
  with_loss(s, [&](auto loss) {
    without_gil([&] {
      ScalarLikelihood likelihood(loss, s, curve);
      const LikelihoodProblem problem{*plain,       *weighted,   likelihood,      mean.data(), scale.data(),
                                      ridge.data(), unit.data(), gradient.data(), intercept,   floor};
      LikelihoodWorkingSet search(problem, request.plan, sweep_above, poll);
      search.run(request.start);
      out.points = std::move(search.found);
      out.contested = search.ended ? search.contested : -1;
    });
  });
  return out;
}

} // namespace

void bind_likelihood(nb::module_& m) {
  m.def("working_set_search", &working_set_search, "samples"_a, "curve"_a, "X"_a, array("mean"), array("scale"),
        array("ridge"), array("unit"), array("gradient"), "intercept"_a, "floor"_a, "sweep_above"_a, "request"_a);
}

} // namespace pursuit
