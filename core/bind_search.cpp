#include "bind_search.hpp"
#include "likelihood_proof.hpp"

namespace pursuit {
namespace {

// `prove`: 0 the best-ranked exchanges only, 1 for as much work as the search was, 2 to the end.
SearchSolution search_likelihood(const Evened& X, Likelihood& loss, SearchRequest& request, double floor, int prove) {
  request.check(X.p);
  Poll poll(request.stop.call());
  SearchSolution out;
  {
    nb::gil_scoped_release release;
    const SearchPlan& plan = request.plan;
    LikelihoodFitter fitter(X, loss, std::min(X.p, plan.widest * plan.k + 1), floor, plan.scale, poll);
    LikelihoodState state(fitter, plan.k, floor);
    Search<LikelihoodState> search(state, plan, poll);
    search.run(request.start);
    const double most = prove == 2 ? HUGE_VAL : 2.0 * state.work();
    Judged judged;
    while (!search.found.empty() && !search.over() && state.set(search.found.back().support)) {
      judged = ExchangeProof(state, plan, poll).run(prove == 0 ? plan.tries : INT64_MAX, most);
      if (!judged.improved) break;
      search.local();
    }
    out.points = std::move(search.found);
    out.nearest = {judged.leave, judged.enter, judged.change};
    out.unjudged = judged.open, out.total = judged.total;
    out.doubtful = std::move(state.doubtful);
  }
  return out;
}

SearchSolution likelihood_search(const SampleArrays& samples, double curve, A2 A, A1 ridge, A1 unit_, bool intercept,
                                 double floor, int prove, SearchRequest& request) {
  const Data data(A, ridge, samples.n());
  const Vector<double> unit(unit_);
  require(unit.size() == data.A.p(), "sizes differ");
  const Samples& s = samples.of(data.A.n());
  return with_loss(s, [&](auto loss) {
    ScalarLikelihood likelihood(loss, s, curve);
    return search_likelihood(data.evened(unit.data(), intercept), likelihood, request, floor, prove);
  });
}

SearchSolution multinomial_search(I1 label, A1 c, Optional2 offset, A2 E, A2 A, A1 ridge, A1 unit_, bool intercept,
                                  double floor, int prove, SearchRequest& request) {
  const Classes classes(label, c, offset, E);
  const Data data(A, ridge, classes.c.size());
  const Vector<double> unit(unit_);
  require(unit.size() == data.A.p(), "sizes differ");
  Multinomial likelihood = classes.likelihood();
  return search_likelihood(data.evened(unit.data(), intercept), likelihood, request, floor, prove);
}

// A refit of a multinomial loss on the columns of A, as far as nothing unusual happens: z ((m + 1) x r, the intercepts
// last), the value, whether it is the minimiser, and whether coefficients grow without end.
nb::tuple multinomial_fit(I1 label, A1 c, Optional2 offset, A2 E, A2 A, A1 ridge, bool intercept, double floor, A1 z_) {
  const Classes classes(label, c, offset, E);
  const Data data(A, ridge, classes.c.size());
  const Vector<double> z(z_);
  const i64 m = data.A.p();
  require(z.size() == (m + 1) * classes.E.p(), "sizes differ");
  LikelihoodFit fit;
  {
    nb::gil_scoped_release release;
    Poll poll(nullptr);
    Multinomial likelihood = classes.likelihood();
    LikelihoodFitter fitter(data.evened(nullptr, intercept), likelihood, m, floor, 0.0, poll);
    Units all(static_cast<std::size_t>(m));
    std::iota(all.begin(), all.end(), 0);
    fit = fitter.fit(std::move(all), std::vector<double>(z.data(), z.data() + z.size()), -HUGE_VAL, HUGE_VAL,
                     LikelihoodFitter::kExact);
  }
  return nb::make_tuple(numbers(fit.z), fit.f, fit.end == End::minimum, fit.endless);
}

} // namespace

void bind_search(nb::module_& m) {
  nb::class_<Found>(m, "FoundPoint")
      .def_prop_ro("support", [](const Found& point) { return indices(point.support); })
      .def_prop_ro("coef", [](const Found& point) { return numbers(point.x); })
      .def_ro("value", &Found::f);
  nb::class_<SearchRequest>(m, "SearchRequest")
      .def(nb::init<i64, U1, U1, I1, i64, i64, i64, double, std::uint64_t, double, nb::object>(), "k"_a,
           array("forced"), array("allowed"), array("start"), nb::kw_only(), "restarts"_a, "patience"_a, "widest"_a,
           "effort"_a, "seed"_a, "scale"_a, "stop"_a.none())
      .def("take_error", &SearchRequest::take_error);
  nb::class_<SearchSolution>(m, "SearchSolution")
      .def_prop_ro("points", [](const SearchSolution& found) { return to_list(found.points); })
      .def_prop_ro("nearest",
                   [](const SearchSolution& found) {
                     return nb::make_tuple(found.nearest.leave, found.nearest.enter, found.nearest.change);
                   })
      .def_prop_ro("doubtful",
                   [](const SearchSolution& found) {
                     nb::list out;
                     for (const Units& units : found.doubtful) out.append(indices(units));
                     return out;
                   })
      .def_ro("unjudged", &SearchSolution::unjudged)
      .def_ro("total", &SearchSolution::total)
      .def_ro("change", &SearchSolution::change)
      .def_ro("condition", &SearchSolution::condition)
      .def_ro("share", &SearchSolution::share)
      .def_ro("contested", &SearchSolution::contested);
  m.def("multinomial_fit", &multinomial_fit, array("label"), array("c"), array("offset").none(), array("E"), array("A"),
        array("ridge"), "intercept"_a, "floor"_a, array("z"));
  m.def("likelihood_search", &likelihood_search, "samples"_a, "curve"_a, array("A"), array("ridge"), array("unit"),
        "intercept"_a, "floor"_a, "prove"_a, "request"_a);
  m.def("multinomial_search", &multinomial_search, array("label"), array("c"), array("offset").none(), array("E"),
        array("A"), array("ridge"), array("unit"), "intercept"_a, "floor"_a, "prove"_a, "request"_a);
}

} // namespace pursuit
