#include "bind_search.hpp"
#include "class_search.hpp"

namespace pursuit {
namespace {

SearchSolution search(EvenColumns& X, Likelihood& loss, SearchRequest& request, double floor, int prove, i64 beam) {
  request.check(X.p);
  Poll poll(request.stop.call());
  SearchSolution out;
  {
    nb::gil_scoped_release release;
    const SearchPlan& plan = request.plan;
    LikelihoodFitter fitter(X, loss, std::min(X.p, plan.widest * plan.k + 1), floor, plan.scale, poll);
    LikelihoodState state(fitter, plan.k, floor);
    LikelihoodSearch search(state, {plan, beam, prove}, poll);
    search.run(request.start);
    out.points = std::move(search.found);
    const Judged& judged = search.judged;
    out.nearest = {judged.leave, judged.enter, judged.change};
    out.unjudged = judged.open, out.total = judged.total;
    out.doubtful = std::move(state.doubtful);
  }
  return out;
}

SearchSolution likelihood_search(const SampleArrays& samples, double curve, const HeldColumns& columns, double floor,
                                 int prove, i64 beam, SearchRequest& request) {
  EvenColumns& X = columns.of(samples.n());
  const Samples& s = samples.of(X.n);
  return with_loss(s, [&](auto loss) {
    ScalarLikelihood likelihood(loss, s, curve);
    return search(X, likelihood, request, floor, prove, beam);
  });
}

SearchSolution multinomial_search(I1 label, A1 c, Optional2 offset, A2 E, const HeldColumns& columns, double floor,
                                  int prove, i64 beam, SearchRequest& request) {
  const Classes classes(label, c, offset, E);
  Multinomial likelihood = classes.likelihood();
  return search(columns.of(classes.c.size()), likelihood, request, floor, prove, beam);
}

// The same on a working set of columns: `outside` of each model beside the support.
SearchSolution class_search(I1 label, A1 c, Optional2 offset, A2 E, const HeldColumns& columns, double floor, int prove,
                            i64 beam, SearchRequest& request, i64 outside) {
  const Classes classes(label, c, offset, E);
  Multinomial likelihood = classes.likelihood();
  EvenColumns& X = columns.of(classes.c.size());
  require(outside >= 1 && prove == 0, "no exchange can be judged");
  request.check(X.p);
  Poll poll(request.stop.call());
  SearchSolution out;
  without_gil([&] {
    ClassSearch search(X, likelihood, request.plan, outside, beam, floor, poll);
    search.run(request.start);
    const SearchPlan& plan = request.plan;
    const bool at_floor = !search.found.empty() && !(search.found.back().f > floor);
    out.total = plan.k * (X.p - plan.k);
    out.unjudged = at_floor ? 0 : poll.stop() ? -1 : out.total;
    out.points = std::move(search.found);
  });
  return out;
}

// A refit of a multinomial loss on the columns of A, as far as nothing unusual happens: z ((m + 1) x r, the intercepts
// last), the value, whether it is the minimiser, and whether coefficients grow without end.
nb::tuple multinomial_fit(I1 label, A1 c, Optional2 offset, A2 E, A2 A, A1 ridge_, bool intercept, double floor,
                          A1 z_) {
  const Classes classes(label, c, offset, E);
  const Lines columns = packed_columns(A);
  const Vector<double> ridge(ridge_), z(z_);
  const i64 m = columns.p();
  require(columns.n() == classes.c.size() && ridge.size() == m, "sizes differ");
  require(z.size() == (m + 1) * classes.E.p(), "sizes differ");
  LikelihoodFit fit;
  {
    nb::gil_scoped_release release;
    Poll poll(nullptr);
    Multinomial likelihood = classes.likelihood();
    DenseEvenColumns X(columns.data(), columns.n(), m, ridge.data(), nullptr, intercept);
    LikelihoodFitter fitter(X, likelihood, m, floor, 0.0, poll);
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
  nb::class_<HeldColumns>(m, "EvenColumns")
      .def(nb::init<A2, A1, A1, bool>(), array("A"), array("ridge"), array("unit"), "intercept"_a)
      .def(nb::init<const Matrix&, A1, A1, A1, A1, bool>(), "X"_a, array("mean"), array("scale"), array("ridge"),
           array("unit"), "intercept"_a)
      .def_prop_ro("shape", &HeldColumns::shape);
  m.def("likelihood_search", &likelihood_search, "samples"_a, "curve"_a, "columns"_a, "floor"_a, "prove"_a, "beam"_a,
        "request"_a);
  m.def("multinomial_search", &multinomial_search, array("label"), array("c"), array("offset").none(), array("E"),
        "columns"_a, "floor"_a, "prove"_a, "beam"_a, "request"_a);
  m.def("class_search", &class_search, array("label"), array("c"), array("offset").none(), array("E"), "columns"_a,
        "floor"_a, "prove"_a, "beam"_a, "request"_a, "outside"_a);
}

} // namespace pursuit
