#include "basis_state.hpp"
#include "bind_search.hpp"
#include "path_search.hpp"
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
      unlocked([&] { condition = products.solve(S.data(), S.size(), c.data(), ridge.data(), x.get()); });
      out.append(nb::make_tuple(give(std::move(x), S.size()), condition));
    }
    return out;
  }
};

// Which sizes: from the forced-in units to k; `thorough` with a search for every size; whom to tell when one is
// reached.
struct Steps {
  Wanted wanted;
  bool thorough;
  Asked asked;
  nb::object told;
  Steps(i64 k, U1 forced, U1 allowed, bool thorough_, i64 restarts, i64 patience, i64 widest, double effort,
        std::uint64_t seed, double scale, i64 p, nb::object ask, nb::object reached)
      : wanted(k, forced, allowed, none(), restarts, patience, widest, effort, seed, scale, p), thorough(thorough_),
        asked(std::move(ask)), told(std::move(reached)) {}

  i64 room() const {
    const SearchPlan& plan = wanted.plan;
    return std::min(wanted.forced.size(), (thorough ? plan.widest : 1) * plan.k + 1);
  }

  std::function<bool(i64, double)> reached() {
    if (told.is_none()) return nullptr;
    return [this](i64 size, double f) {
      nb::gil_scoped_acquire hold;
      try {
        return is_true(told(size, f));
      } catch (nb::python_error& error) {
        asked.trouble = nb::borrow(error.value());
        return true;
      }
    };
  }

  // Per size, from the first on: support, coefficients, value, whether no exchange was found that helps, a bound of the
  // reciprocal condition number, the least share that is left of a column outside, the change by the nearest exchange;
  // then what was raised meanwhile.
  template <class State>
  nb::tuple run(State& state, Poll& poll, const std::uint8_t* sizes = nullptr) {
    PathSearch<State> path(state, wanted.plan, poll, thorough, sizes, reached());
    unlocked([&] { path.run(); });
    nb::list out;
    for (const auto& size : path.best)
      out.append(nb::make_tuple(indices(size.point.support), numbers(size.point.x), size.f, size.settled,
                                size.condition, size.share, size.nearest));
    return nb::make_tuple(std::move(out), path.stopped, asked.trouble);
  }

private:
  static Array1<i64> none() {
    static const i64 nothing = 0;
    return Array1<i64>(&nothing, {0});
  }
};

// `rows`: the whole matrix, Products, or an object with row(j) (or None), block(cols), fetch(cols); without the ridge.
nb::tuple quadratic_path(nb::object rows, A1 c_, A1 h_, A1 ridge_, double f0, double floor, i64 k, U1 forced,
                         U1 allowed, bool thorough, i64 restarts, i64 patience, i64 widest, double effort,
                         std::uint64_t seed, double scale, nb::object ask, nb::object reached) {
  const Vector<double> c(c_), h(h_), ridge(ridge_);
  const i64 p = c.size();
  require(h.size() == p && ridge.size() == p, "sizes differ");
  Steps steps(k, forced, allowed, thorough, restarts, patience, widest, effort, seed, scale, p, std::move(ask),
              std::move(reached));
  Poll poll(steps.asked.call());
  std::optional<Array2<double>> whole;
  std::optional<Lines> H;
  Array1<double> held; // the row that was given last
  Rows source;
  // What Python raises ends the path.
  auto ask_python = [&](auto&& question) {
    nb::gil_scoped_acquire hold;
    try {
      question();
      return true;
    } catch (nb::python_error& error) {
      steps.asked.trouble = nb::borrow(error.value());
      poll.halt();
      return false;
    }
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
  BasisState state({c.data(), h.data(), ridge.data(), f0, p, source}, steps.room(), floor);
  return steps.run(state, poll);
}

nb::tuple likelihood_path(const SampleArrays& samples, double curve, A2 A, A1 ridge, A1 unit_, bool intercept,
                          double floor, i64 k, U1 forced, U1 allowed, bool thorough, i64 restarts, i64 patience,
                          i64 widest, double effort, std::uint64_t seed, double scale, U1 sizes_, nb::object ask,
                          nb::object reached) {
  const Data data(A, ridge, samples.n());
  const Vector<double> unit(unit_);
  const Vector<std::uint8_t> sizes(sizes_); // whether each size from 0 to k is wanted
  require(unit.size() == data.A.p() && sizes.size() == k + 1, "sizes differ");
  Steps steps(k, forced, allowed, thorough, restarts, patience, widest, effort, seed, scale, data.A.p(), std::move(ask),
              std::move(reached));
  Poll poll(steps.asked.call());
  const Samples& s = samples.of(data.A.n());
  return with_loss(s, [&](auto loss) {
    ScalarLikelihood likelihood(loss, s, curve);
    LikelihoodFitter fitter(data.evened(unit.data(), intercept), likelihood, steps.room(), floor, scale, poll);
    LikelihoodState state(fitter, 0, floor);
    return steps.run(state, poll, sizes.data());
  });
}

nb::tuple multinomial_path(I1 label, A1 c, Optional2 offset, A2 E, A2 A, A1 ridge, A1 unit_, bool intercept,
                           double floor, i64 k, U1 forced, U1 allowed, bool thorough, i64 restarts, i64 patience,
                           i64 widest, double effort, std::uint64_t seed, double scale, U1 sizes_, nb::object ask,
                           nb::object reached) {
  const Classes classes(label, c, offset, E);
  const Data data(A, ridge, classes.c.size());
  const Vector<double> unit(unit_);
  const Vector<std::uint8_t> sizes(sizes_);
  require(unit.size() == data.A.p() && sizes.size() == k + 1, "sizes differ");
  Steps steps(k, forced, allowed, thorough, restarts, patience, widest, effort, seed, scale, data.A.p(), std::move(ask),
              std::move(reached));
  Poll poll(steps.asked.call());
  Multinomial likelihood = classes.likelihood();
  LikelihoodFitter fitter(data.evened(unit.data(), intercept), likelihood, steps.room(), floor, scale, poll);
  LikelihoodState state(fitter, 0, floor);
  return steps.run(state, poll, sizes.data());
}

} // namespace

void bind_path(nb::module_& m) {
  nb::class_<HeldProducts>(m, "Products")
      .def(nb::init<A2>(), array("A"))
      .def("solve", &HeldProducts::solve, array("c"), array("ridge"), "supports"_a);
  m.def("quadratic_path", &quadratic_path, "rows"_a, array("c"), array("h"), array("ridge"), "f0"_a, "floor"_a, "k"_a,
        array("forced"), array("allowed"), "thorough"_a, "restarts"_a, "patience"_a, "widest"_a, "effort"_a, "seed"_a,
        "scale"_a, "ask"_a.none(), "reached"_a.none());
  m.def("likelihood_path", &likelihood_path, "samples"_a, "curve"_a, array("A"), array("ridge"), array("unit"),
        "intercept"_a, "floor"_a, "k"_a, array("forced"), array("allowed"), "thorough"_a, "restarts"_a, "patience"_a,
        "widest"_a, "effort"_a, "seed"_a, "scale"_a, array("sizes"), "ask"_a.none(), "reached"_a.none());
  m.def("multinomial_path", &multinomial_path, array("label"), array("c"), array("offset").none(), array("E"),
        array("A"), array("ridge"), array("unit"), "intercept"_a, "floor"_a, "k"_a, array("forced"), array("allowed"),
        "thorough"_a, "restarts"_a, "patience"_a, "widest"_a, "effort"_a, "seed"_a, "scale"_a, array("sizes"),
        "ask"_a.none(), "reached"_a.none());
}

} // namespace pursuit
