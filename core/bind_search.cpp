#include "bind_search.hpp"
#include "likelihood_proof.hpp"
#include "quadratic_state.hpp"

namespace pursuit {
namespace {

// The points, each better than the one before; of the last the best exchange (leave, enter, change), the columns about
// which the formula says nothing, and the reciprocal condition of its Hessian; what `ask` raised.
nb::tuple quadratic_search(A2 H_, A1 c_, double f0, i64 k, U1 forced, U1 allowed, I1 start, i64 restarts, i64 patience,
                           i64 widest, double effort, std::uint64_t seed, double scale, nb::object ask) {
  const Lines H = packed(H_);
  const Vector<double> c(c_);
  const i64 p = c.size();
  require(H.n() == p && H.p() == p, "sizes differ");
  const Wanted wanted(k, forced, allowed, start, restarts, patience, widest, effort, seed, scale, p);
  Asked asked(std::move(ask));
  Poll poll(asked.call());
  QuadraticState state({H.data(), c.data(), f0, p}, std::min(p, widest * k + 1));
  Search<QuadraticState> search(state, wanted.plan, poll);
  Move nearest;
  Units doubtful;
  double condition = 0.0;
  {
    nb::gil_scoped_release release;
    search.run(wanted.start);
    if (!search.found.empty() && state.set(search.found.back().support)) {
      nearest = state.best(wanted.plan);
      condition = state.condition();
      for (i64 j = 0; j < p; ++j)
        if (wanted.plan.allowed[j] && !state.has(j) && state.share(j) < 1e-7) doubtful.push_back(j);
    }
  }
  return nb::make_tuple(listed(search.found), nb::make_tuple(nearest.leave, nearest.enter, nearest.change),
                        indices(doubtful), condition, asked.trouble);
}

// `prove`: 0 the best-ranked exchanges only, 1 for as much work as the search was, 2 to the end.
nb::tuple searched(const Evened& X, Likelihood& loss, const Wanted& wanted, double floor, int prove, Asked& asked) {
  Poll poll(asked.call());
  Judged judged;
  std::vector<Found> found;
  std::vector<Units> doubtful;
  {
    nb::gil_scoped_release release;
    const SearchPlan& plan = wanted.plan;
    LikelihoodFitter fitter(X, loss, std::min(X.p, plan.widest * plan.k + 1), floor, plan.scale, poll);
    LikelihoodState state(fitter, plan.k, floor);
    Search<LikelihoodState> search(state, plan, poll);
    search.run(wanted.start);
    const double most = prove == 2 ? HUGE_VAL : 2.0 * state.work();
    while (!search.found.empty() && !search.over() && state.set(search.found.back().support)) {
      judged = ExchangeProof(state, plan, poll).run(prove == 0 ? kTries : INT64_MAX, most);
      if (!judged.improved) break;
      search.local();
    }
    found = std::move(search.found);
    doubtful = std::move(state.doubtful);
  }
  nb::list unsure;
  for (const Units& S : doubtful) unsure.append(indices(S));
  return nb::make_tuple(listed(found), nb::make_tuple(judged.leave, judged.enter, judged.change), judged.open,
                        judged.total, unsure, asked.trouble);
}

nb::tuple likelihood_search(const SampleArrays& samples, double curve, A2 A, A1 ridge, A1 unit_, bool intercept,
                            double floor, int prove, i64 k, U1 forced, U1 allowed, I1 start, i64 restarts, i64 patience,
                            i64 widest, double effort, std::uint64_t seed, double scale, nb::object ask) {
  const Data data(A, ridge, samples.n());
  const Vector<double> unit(unit_);
  require(unit.size() == data.A.p(), "sizes differ");
  const Wanted wanted(k, forced, allowed, start, restarts, patience, widest, effort, seed, scale, data.A.p());
  Asked asked(std::move(ask));
  const Samples& s = samples.of(data.A.n());
  return with_loss(s, [&](auto loss) {
    ScalarLikelihood likelihood(loss, s, curve);
    return searched(data.evened(unit.data(), intercept), likelihood, wanted, floor, prove, asked);
  });
}

nb::tuple multinomial_search(I1 label, A1 c, Optional2 offset, A2 E, A2 A, A1 ridge, A1 unit_, bool intercept,
                             double floor, int prove, i64 k, U1 forced, U1 allowed, I1 start, i64 restarts,
                             i64 patience, i64 widest, double effort, std::uint64_t seed, double scale,
                             nb::object ask) {
  const Classes classes(label, c, offset, E);
  const Data data(A, ridge, classes.c.size());
  const Vector<double> unit(unit_);
  require(unit.size() == data.A.p(), "sizes differ");
  const Wanted wanted(k, forced, allowed, start, restarts, patience, widest, effort, seed, scale, data.A.p());
  Asked asked(std::move(ask));
  Multinomial likelihood = classes.likelihood();
  return searched(data.evened(unit.data(), intercept), likelihood, wanted, floor, prove, asked);
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
  m.def("multinomial_fit", &multinomial_fit, array("label"), array("c"), array("offset").none(), array("E"), array("A"),
        array("ridge"), "intercept"_a, "floor"_a, array("z"));
  m.def("quadratic_search", &quadratic_search, array("H"), array("c"), "f0"_a, "k"_a, array("forced"), array("allowed"),
        array("start"), "restarts"_a, "patience"_a, "widest"_a, "effort"_a, "seed"_a, "scale"_a, "ask"_a.none());
  m.def("likelihood_search", &likelihood_search, "samples"_a, "curve"_a, array("A"), array("ridge"), array("unit"),
        "intercept"_a, "floor"_a, "prove"_a, "k"_a, array("forced"), array("allowed"), array("start"), "restarts"_a,
        "patience"_a, "widest"_a, "effort"_a, "seed"_a, "scale"_a, "ask"_a.none());
  m.def("multinomial_search", &multinomial_search, array("label"), array("c"), array("offset").none(), array("E"),
        array("A"), array("ridge"), array("unit"), "intercept"_a, "floor"_a, "prove"_a, "k"_a, array("forced"),
        array("allowed"), array("start"), "restarts"_a, "patience"_a, "widest"_a, "effort"_a, "seed"_a, "scale"_a,
        "ask"_a.none());
}

} // namespace pursuit
