#include "bindings.hpp"
#include "relaxation.hpp"

#include <nanobind/stl/tuple.h>

namespace pursuit {
namespace {

nb::tuple prox(A1 v_, i64 k, double g) {
  const Vector<double> v(v_);
  require(k >= 0 && g > 0.0, "k must be at least 0 and g positive");
  const i64 p = v.size();
  Buffer x = reals(p), t = reals(p);
  double K = 0.0;
  without_gil([&] { K = ksupport_prox(v.data(), p, k, g, x.get(), t.get()); });
  return nb::make_tuple(to_numpy(std::move(x), p), to_numpy(std::move(t), p), K);
}

nb::object balanced(A1 a_, A1 c_, A1 low_, A1 high_, double total) {
  const Vector<double> a(a_), c(c_), low(low_), high(high_);
  const i64 n = a.size();
  require(c.size() == n && low.size() == n && high.size() == n, "a, c, low and high differ in length");
  Buffer out = reals(n);
  std::copy(a.data(), a.data() + n, out.get());
  balance(n, c.data(), total, [&](i64 i) { return Interval{low[i], high[i]}; }, out.get());
  return to_numpy(std::move(out), n);
}

// How far to go, from where, and what comes out.
struct Walk {
  i64 p, units;
  double mu, L, unit, target, tolerance;
  i64 max_iter;
  Buffer x, z, t, y;
  Relaxed result{};
  Walk(A1 x_, i64 units_, double mu_, double L_, double unit_, double target_, double tolerance_, i64 max_iter_)
      : p(static_cast<i64>(x_.shape(0))), units(units_), mu(mu_), L(L_), unit(unit_), target(target_),
        tolerance(tolerance_), max_iter(max_iter_), x(reals(p)), z(reals(p)), t(reals(units_)), y(reals(p)) {
    require(mu > 0.0 && L > 0.0, "mu and L must be positive");
    const Vector<double> start(x_);
    std::copy(start.data(), start.data() + p, x.get());
    std::copy(start.data(), start.data() + p, y.get());
    std::fill(t.get(), t.get() + units, 1.0);
  }
  template <class F>
  void run(F& f, const UnitStates& U) {
    Norms norms(U);
    result = relax(f, norms, mu, L, unit, target, tolerance, max_iter, x.get(), z.get(), y.get(), t.get());
  }
  template <class... More>
  nb::tuple give_all(More&&... more) {
    return nb::make_tuple(result.lower, result.relaxed, to_numpy(std::move(x), p), to_numpy(std::move(z), p),
                          to_numpy(std::move(t), units), result.iterations, std::forward<More>(more)...);
  }
};

// c and x have a row per column of H, flattened: as many numbers in it as there are responses.
nb::tuple perspective(A2 H_, A1 c_, i64 k, double f0, double mu, double L, double unit, A1 x, double target,
                      double tolerance, i64 max_iter) {
  const Lines H = packed(H_);
  const Vector<double> c(c_);
  const i64 p = c.size(), m = H.n(), q = m ? p / m : 1;
  require(H.p() == m && m * q == p && static_cast<i64>(x.shape(0)) == p, "H, c and x differ in size");
  require(k >= 0, "k must be at least 0");
  Walk walk(x, m, mu, L, unit, target, tolerance, max_iter);
  std::vector<i64> ends(static_cast<std::size_t>(q > 1 ? m + 1 : 0));
  for (std::size_t j = 0; j < ends.size(); ++j) ends[j] = static_cast<i64>(j) * q;
  without_gil([&] {
    Quadratic f(H.data(), c.data(), m, q, f0, mu);
    walk.run(f, {q > 1 ? ends.data() : nullptr, nullptr, m, k});
  });
  return walk.give_all(to_numpy(std::move(walk.y), p), walk.result.L);
}

nb::object schur_(A2 H_, A2 W_, const Array1<i64>& keep_) {
  const Lines H = packed(H_), W = packed(W_);
  const i64 p = H.n();
  const Cols keep(keep_, p);
  require(H.p() == p && W.p() == p, "H and W differ in size");
  Buffer out = reals(keep.size() * keep.size());
  without_gil([&] { schur(H.data(), W.data(), p, W.n(), keep.data(), keep.size(), out.get()); });
  return to_numpy(std::move(out), keep.size(), keep.size());
}

// UnitStates as the caller gives them: where each one's columns end, and its state.
struct UnitArrays {
  Vector<i64> ends;
  Vector<std::uint8_t> state;
  UnitStates view;
  UnitArrays(const Array1<i64>& ends_, const Array1<std::uint8_t>& state_, i64 k, i64 p) : ends(ends_), state(state_) {
    require(k >= 0 && ends.size() == state.size() + 1, "ends must be one longer than state, k at least 0");
    bool single = true;
    for (i64 u = 0; u < state.size(); ++u) {
      require(ends[u] <= ends[u + 1], "ends must rise");
      single = single && ends[u] == u;
    }
    require(ends[0] == 0 && ends[state.size()] == p, "ends must go from 0 to the number of columns");
    view = {single && state.size() == p ? nullptr : ends.data(), state.data(), state.size(), k};
  }
};

template <class T>
Dense<T> by_rows(const Array2<T>& X_) {
  const Dense<T> X = DenseArray<T>(X_).view;
  require(X.rows || X.p <= 1, "X must be in C order");
  return {X.data, X.n, X.p, X.rows ? X.row_stride : 1, 1, true};
}

template <class T>
nb::tuple relaxation(const Array2<T>& X_, const SampleArrays& samples, double round, bool intercept,
                     const Optional1& mean_, const Array1<i64>& ends, const Array1<std::uint8_t>& state, i64 k,
                     double mu, double L, double unit, A1 x, double target, double tolerance, i64 max_iter) {
  const Dense<T> X = by_rows(X_);
  const Samples& s = samples.of(X.n);
  const UnitArrays units(ends, state, k, X.p);
  const Vector<double> mean(mean_);
  require(static_cast<i64>(x.shape(0)) == X.p && mean.none_or(X.p), "X, mean and x differ in size");
  Walk walk(x, units.view.count, mu, L, unit, target, tolerance, max_iter);
  Buffer dual = reals(X.n);
  std::fill(dual.get(), dual.get() + X.n, 0.0);
  without_gil([&] {
    with_loss(s, [&](auto loss) {
      const auto smoothed = rounded(loss, round);
      Terms<decltype(rounded(loss, round)), decltype(loss)> terms{s, smoothed, loss, intercept};
      Rowwise f(X.data, X.n, X.p, X.row_stride, mean.data(), terms, dual.get());
      walk.run(f, units.view);
    });
  });
  return walk.give_all(to_numpy(std::move(dual), X.n), walk.result.L);
}

// A loss without a kernel: one call gives (value, value ahead, w, low) of all rows.
struct CalledTerms {
  nb::callable call;
  i64 n;
  bool separable() const { return false; }
  nb::object copy(const double* from) const {
    Buffer out = reals(n);
    std::copy(from, from + n, out.get());
    return to_numpy(std::move(out), n);
  }
  void whole(const double* image, const double* image_y, double* w, Sums* sums) {
    const auto [value, here, weights, low] =
        nb::cast<std::tuple<double, double, Array1<double>, double>>(call(copy(image), copy(image_y)));
    const Vector<double> given(weights);
    require(given.size() == n, "w has a wrong length");
    std::copy(given.data(), given.data() + n, w);
    *sums = {value, here, low};
  }
};

nb::tuple called(A2 X_, nb::callable call, const Array1<i64>& ends, const Array1<std::uint8_t>& state, i64 k, double mu,
                 double L, double unit, A1 x, double target, double tolerance, i64 max_iter) {
  const Dense<double> X = by_rows(X_);
  const UnitArrays units(ends, state, k, X.p);
  require(static_cast<i64>(x.shape(0)) == X.p, "X and x differ in size");
  Walk walk(x, units.view.count, mu, L, unit, target, tolerance, max_iter);
  Buffer dual = reals(X.n);
  std::fill(dual.get(), dual.get() + X.n, 0.0);
  CalledTerms terms{std::move(call), X.n};
  Rowwise f(X.data, X.n, X.p, X.row_stride, nullptr, terms, dual.get());
  walk.run(f, units.view);
  return walk.give_all(to_numpy(std::move(dual), X.n), walk.result.L);
}

template <class T>
void relaxation_of(nb::module_& m) {
  m.def("relaxation", &relaxation<T>, array("X"), "samples"_a, "round"_a, "intercept"_a, array("mean").none(),
        array("ends"), array("state"), "k"_a, "mu"_a, "L"_a, "unit"_a, array("x"), "target"_a, "tolerance"_a,
        "max_iter"_a);
}

} // namespace

void bind_relaxation(nb::module_& m) {
  m.def("ksupport_prox", &prox, array("v"), "k"_a, "g"_a);
  m.def("balanced", &balanced, array("a"), array("c"), array("low"), array("high"), "total"_a);
  m.def("perspective", &perspective, array("H"), array("c"), "k"_a, "f0"_a, "mu"_a, "L"_a, "unit"_a, array("x"),
        "target"_a, "tolerance"_a, "max_iter"_a);
  m.def("schur", &schur_, array("H"), array("W"), array("keep"));
  relaxation_of<double>(m);
  relaxation_of<float>(m);
  m.def("called_relaxation", &called, array("X"), "call"_a, array("ends"), array("state"), "k"_a, "mu"_a, "L"_a,
        "unit"_a, array("x"), "target"_a, "tolerance"_a, "max_iter"_a);
}

} // namespace pursuit
