#include "bind_path.hpp"
#include "basis_state.hpp"
#include "class_path.hpp"
#include "orthonormal_state.hpp"
#include "products.hpp"

namespace pursuit {
namespace {

// Products of columns that live as long as this does.
struct HeldProducts {
  Lines A;
  Array2<double> owner;
  Products products;
  explicit HeldProducts(A2 A_) : A(packed_columns(A_)), owner(A_), products(A.data(), A.n(), A.p()) {}

  // Per support its minimiser and the reciprocal condition number there.
  nb::list solve(A1 c_, A1 ridge_, nb::list supports) {
    const Vector<double> c(c_), ridge(ridge_);
    const i64 p = products.columns();
    require(c.size() == p && ridge.size() == p, "sizes differ");
    nb::list out;
    for (nb::handle support : supports) {
      const Cols S(nb::cast<Array1<i64>>(support), p);
      Buffer x = reals(S.size());
      double condition = 0.0;
      without_gil([&] { condition = products.solve(S.data(), S.size(), c.data(), ridge.data(), x.get()); });
      out.append(nb::make_tuple(to_numpy(std::move(x), S.size()), condition));
    }
    return out;
  }
};

// `rows`: the whole matrix, Products, or an object with row(j) (or None), block(cols), fetch(cols); without the ridge.
// C has a row for each response. `rounded` > 0: the path ends at the first size whose claim rounding prevents.
PathSolution quadratic_path(nb::object rows, A2 C_, A1 h_, A1 ridge_, double f0, double floor, SearchRequest& request,
                            bool thorough, nb::object reached, i64 judged, double rounded) {
  const Lines C = packed(C_);
  const Vector<double> h(h_), ridge(ridge_);
  const i64 p = C.p();
  require(h.size() == p && ridge.size() == p, "sizes differ");
  request.check(p);
  PathRequest path{request, thorough, std::move(reached), judged, f0, rounded, C.n() > 1};
  Poll poll(request.stop.call());
  std::optional<Array2<double>> whole;
  std::optional<Lines> H;
  Array1<double> held; // the row that was given last
  Rows source;
  // What Python raises ends the path.
  auto ask_python = [&](auto&& question) {
    nb::gil_scoped_acquire hold;
    const bool stopped = request.stop.ask([&] {
      question();
      return false;
    });
    if (stopped) poll.halt();
    return !stopped;
  };
  Buffer spare;
  if (nb::isinstance<HeldProducts>(rows)) {
    Products* products = &nb::cast<HeldProducts&>(rows).products;
    require(products->columns() == p, "sizes differ");
    source.row = [&spare, products](i64 j) { return products->row(j, spare); };
  } else if (nb::hasattr(rows, "fetch")) {
    source.row = [&](i64 j) -> const double* {
      const double* data = nullptr;
      ask_python([&] {
        const nb::object row = rows.attr("row")(j);
        if (row.is_none()) return;
        held = nb::cast<Array1<double>>(row);
        require(static_cast<i64>(held.shape(0)) == p && held.stride(0) == 1, "a row has another length");
        data = held.data();
      });
      return data;
    };
    source.block = [&](const Units& cols, double* out) {
      return ask_python([&] {
        const auto given = nb::cast<Array2<double>>(rows.attr("block")(indices(cols))); // which owns what is read
        const Lines block = packed(given);
        require(block.n() == block.p() && block.n() == static_cast<i64>(cols.size()), "sizes differ");
        std::copy(block.data(), block.data() + block.n() * block.n(), out);
      });
    };
    source.has = [&](i64 j) {
      bool there = false;
      ask_python([&] { there = is_true(rows.attr("has")(j)); });
      return there;
    };
    source.fetch = [&](const Units& cols) { return ask_python([&] { rows.attr("fetch")(indices(cols)); }); };
  } else {
    whole.emplace(nb::cast<Array2<double>>(rows));
    H.emplace(packed(*whole));
    require(H->n() == p && H->p() == p, "sizes differ");
    source.row = [&](i64 j) { return H->data() + j * p; };
  }
  BasisState state({C.data(), h.data(), ridge.data(), f0, p, source, nullptr, 0.0, C.n()}, path.room(), floor);
  return path.run(state, poll);
}

// The path of |Y - A z|^2 / 2 with columns of length 1 that may be close to dependent; `length`: what they were divided
// by, `least`: squared lengths that may be rounding. Y has a row for each response. Nothing is claimed of its points.
PathSolution orthonormal_path(A2 A_, A2 Y_, A1 length_, A1 least_, double floor, SearchRequest& request, bool thorough,
                              nb::object reached, i64 judged) {
  const Lines A = packed(A_), Y = packed(Y_);
  const Vector<double> length(length_), least(least_);
  require(Y.p() == A.n() && length.size() == A.p() && least.size() == A.p(), "sizes differ");
  request.check(A.p());
  PathRequest path{request, thorough, std::move(reached), judged, 0.0, 0.0, Y.n() > 1};
  Poll poll(request.stop.call());
  OrthonormalState state(A.data(), Y.data(), length.data(), least.data(), A.n(), A.p(), Y.n(), path.room(), floor);
  return path.run(state, poll);
}

PathSolution path_of(EvenColumns& X, Likelihood& likelihood, double floor, U1 sizes_, SearchRequest& request,
                     bool thorough, nb::object reached) {
  const Vector<std::uint8_t> sizes(sizes_); // whether each size from 0 to k is wanted
  require(sizes.size() == request.plan.k + 1, "sizes differ");
  request.check(X.p);
  PathRequest path{request, thorough, std::move(reached)};
  Poll poll(request.stop.call());
  LikelihoodFitter fitter(X, likelihood, path.room(), floor, request.plan.scale, poll);
  LikelihoodState state(fitter, 0, floor);
  return path.run(state, poll, sizes.data());
}

PathSolution likelihood_path(const SampleArrays& samples, double curve, const HeldColumns& columns, double floor,
                             U1 sizes, SearchRequest& request, bool thorough, nb::object reached) {
  EvenColumns& X = columns.of(samples.n());
  const Samples& s = samples.of(X.n);
  return with_loss(s, [&](auto loss) {
    ScalarLikelihood likelihood(loss, s, curve);
    return path_of(X, likelihood, floor, sizes, request, thorough, reached);
  });
}

PathSolution multinomial_path(I1 label, A1 c, Optional2 offset, A2 E, const HeldColumns& columns, double floor,
                              U1 sizes, SearchRequest& request, bool thorough, nb::object reached) {
  const Classes classes(label, c, offset, E);
  Multinomial likelihood = classes.likelihood();
  return path_of(columns.of(classes.c.size()), likelihood, floor, sizes, request, thorough, std::move(reached));
}

// A light path of several classes: only the sizes that are wanted have points. `outside`: columns of the working set
// beside the support.
PathSolution class_path(I1 label, A1 c, Optional2 offset, A2 E, const HeldColumns& columns, double floor, U1 sizes_,
                        i64 outside, SearchRequest& request, nb::object reached) {
  const Classes classes(label, c, offset, E);
  Multinomial likelihood = classes.likelihood();
  EvenColumns& X = columns.of(classes.c.size());
  const Vector<std::uint8_t> sizes(sizes_);
  require(sizes.size() == request.plan.k + 1 && outside >= 1, "sizes differ");
  request.check(X.p);
  PathRequest path{request, false, std::move(reached)};
  Poll poll(request.stop.call());
  const auto callback = path.callback();
  PathSolution out;
  without_gil([&] {
    ClassPath light(X, likelihood, request.plan, outside, false, floor, poll);
    Units forced;
    for (i64 j = 0; j < X.p; ++j)
      if (request.plan.forced[j]) forced.push_back(j);
    light.run(forced, sizes.data(), callback);
    for (const LikelihoodFit& fit : light.best)
      out.points.push_back({light.found(fit), true, 0.0, 0.0, HUGE_VAL, {}, {}});
    out.stopped = light.stopped;
  });
  return out;
}

} // namespace

void bind_path(nb::module_& m) {
  nb::class_<HeldProducts>(m, "Products")
      .def(nb::init<A2>(), array("A"))
      .def("solve", &HeldProducts::solve, array("c"), array("ridge"), "supports"_a);
  nb::class_<PathPoint>(m, "PathPoint")
      .def_prop_ro("support", [](const PathPoint& at) { return indices(at.point.support); })
      .def_prop_ro("coef", [](const PathPoint& at) { return numbers(at.point.x); })
      .def_prop_ro("value", [](const PathPoint& at) { return at.point.f; })
      .def_ro("settled", &PathPoint::settled)
      .def("claimed", &PathPoint::claimed, "f0"_a, "rounded"_a)
      .def_ro("condition", &PathPoint::condition)
      .def_ro("share", &PathPoint::share)
      .def_ro("nearest", &PathPoint::nearest)
      .def_prop_ro(
          "exchange",
          [](const PathPoint& at) { return nb::make_tuple(at.exchange.leave, at.exchange.enter, at.exchange.change); })
      .def_prop_ro("doubtful", [](const PathPoint& at) { return indices(at.doubtful); });
  nb::class_<PathSolution>(m, "PathSolution")
      .def_prop_ro("points",
                   [](const PathSolution& path) {
                     nb::list out;
                     for (const PathPoint& at : path.points) out.append(nb::cast(at));
                     return out;
                   })
      .def_prop_ro("sizes", [](const PathSolution& path) { return path.points.size(); })
      .def(
          "point", [](PathSolution& path, std::size_t i) -> PathPoint& { return path.points.at(i); }, "i"_a,
          nb::rv_policy::reference_internal)
      .def("claimed", &PathSolution::claimed, "f0"_a, "rounded"_a)
      .def_ro("stopped", &PathSolution::stopped);
  m.def("quadratic_path", &quadratic_path, "rows"_a, array("C"), array("h"), array("ridge"), "f0"_a, "floor"_a,
        "request"_a, "thorough"_a, "reached"_a.none(), "judged"_a = -1, "rounded"_a = 0.0);
  m.def("orthonormal_path", &orthonormal_path, array("A"), array("Y"), array("length"), array("least"), "floor"_a,
        "request"_a, "thorough"_a, "reached"_a.none(), "judged"_a = -1);
  m.def("likelihood_path", &likelihood_path, "samples"_a, "curve"_a, "columns"_a, "floor"_a, array("sizes"),
        "request"_a, "thorough"_a, "reached"_a.none());
  m.def("multinomial_path", &multinomial_path, array("label"), array("c"), array("offset").none(), array("E"),
        "columns"_a, "floor"_a, array("sizes"), "request"_a, "thorough"_a, "reached"_a.none());
  m.def("class_path", &class_path, array("label"), array("c"), array("offset").none(), array("E"), "columns"_a,
        "floor"_a, array("sizes"), "outside"_a, "request"_a, "reached"_a.none());
}

} // namespace pursuit
