#include "bindings.hpp"
#include "hinge.hpp"
#include "rounded.hpp"
#include "single_column.hpp"

namespace pursuit {
namespace {

nb::tuple terms(const SampleArrays& samples, A1 eta_) {
  const Vector<double> eta(eta_);
  const i64 n = eta.size();
  const Samples& s = samples.of(n);
  double value = 0.0, slope = 0.0;
  Buffer d = reals(n), h = reals(n);
  without_gil(
      [&] { with_loss(s, [&](auto loss) { evaluate_all(loss, s, eta.data(), d.get(), h.get(), &value, &slope); }); });
  return nb::make_tuple(value, to_numpy(std::move(d), n), to_numpy(std::move(h), n));
}

// work(columns) for X as the kernels of newton.hpp want it; a copy where it is stored otherwise.
template <class X, class F>
void as_columns(const X& x, F&& work) {
  if constexpr (std::is_same_v<X, DenseColumns> || std::is_same_v<X, SparseColumns>)
    if (!x.rows) return work(x);
  Array<i64> every = allocate<i64>(x.p);
  for (i64 j = 0; j < x.p; ++j) every[j] = j;
  if constexpr (is_dense<X>) {
    Buffer copy = reals(x.n * x.p);
    gather(x, every.get(), x.p, copy.get());
    work(DenseColumns{copy.get(), x.n, x.p, 1, x.n, false});
  } else {
    const Columns copy = gather_csc(x, every.get(), x.p);
    work(SparseColumns{copy.data.get(), copy.indices.get(), copy.indptr.get(), x.n, x.p, false});
  }
}

template <class F>
void run_columns(const Matrix& A, F&& work) {
  A.run([&](const auto& x) { as_columns(x, work); });
}

// The same for sparse X only, without the GIL.
template <class F>
void with_sparse(const Matrix& A, F&& work) {
  A.visit([&]<class X>(const X& x) {
    if constexpr (is_dense<X>)
      throw std::invalid_argument("the columns must be sparse");
    else
      as_columns(x, work);
  });
}

nb::object gram_(const Matrix& A, A1 w_) {
  const Vector<double> w(w_);
  const i64 m = A.p();
  require(w.size() == A.n(), "w has a wrong length");
  Buffer out = reals(m * m);
  run_columns(A, [&](const auto& X) { gram(X, w.data(), out.get()); });
  return to_numpy(std::move(out), m, m);
}

// The same about the weighted means, and these.
nb::tuple centred_gram_(const Matrix& A, A1 w_) {
  const Vector<double> w(w_);
  const i64 n = A.n(), m = A.p();
  require(w.size() == n, "w has a wrong length");
  Buffer out = reals(m * m), means = reals(m), copy = reals(n * m);
  A.run([&](const auto& X) {
    Array<i64> every = allocate<i64>(m);
    for (i64 j = 0; j < m; ++j) every[j] = j;
    gather(X, every.get(), m, copy.get());
    double total = 0.0;
    for (i64 i = 0; i < n; ++i) total += w[i];
    for (i64 j = 0; j < m; ++j) means[j] = centre_column(copy.get() + j * n, n, w.data(), std::max(total, 1e-300));
    gram(DenseColumns{copy.get(), n, m, 1, n, false}, w.data(), out.get());
  });
  return nb::make_tuple(to_numpy(std::move(out), m, m), to_numpy(std::move(means), m));
}

nb::object between_(const Matrix& A, A1 w_, const Matrix& other) {
  const Vector<double> w(w_);
  const i64 m = A.p(), q = other.p();
  require(w.size() == A.n() && other.n() == A.n(), "w and the columns differ in rows");
  Buffer out = reals(m * q);
  without_gil([&] {
    with_sparse(A, [&](const SparseColumns& left) {
      with_sparse(other, [&](const SparseColumns& right) { between(left, w.data(), right, out.get()); });
    });
  });
  return to_numpy(std::move(out), m, q);
}

nb::tuple newton_(const Matrix& A, const SampleArrays& samples, A1 coef_, double b, bool hessian) {
  const Samples& s = samples.of(A.n());
  const Vector<double> coef(coef_);
  require(coef.size() == A.p(), "coef has a wrong length");
  const i64 size = A.p() + 1;
  double value = 0.0;
  Buffer g = reals(size), H = hessian ? reals(size * size) : nullptr;
  run_columns(A, [&](const auto& X) {
    const auto rows = by_row(X, hessian);
    with_loss(s, [&](auto loss) { newton(X, rows, s, loss, coef.data(), b, &value, g.get(), H.get()); });
  });
  return nb::make_tuple(value, to_numpy(std::move(g), size), hessian ? to_numpy(std::move(H), size, size) : nb::none());
}

constexpr i64 kSearched = 100; // columns, and root of the rows, up to which RoundedFitter is quick

// A whole refit. A smoothed hinge that Newton's whole steps did not bring to its end goes on with a search on its
// pieces.
nb::tuple fit(const Matrix& A, const SampleArrays& samples, A1 l2_, bool intercept, A1 z_, double floor, double lower,
              double converged, double singular, double seconds) {
  const Samples& s = samples.of(A.n());
  const Vector<double> l2(l2_), start(z_);
  const i64 m = A.p();
  require(l2.size() == m && start.size() == m + 1, "l2 needs one number per column, z one more");
  const FitLimits limits{floor, lower, converged, singular, seconds};
  Buffer z = reals(m + 1), again = reals(m + 1);
  std::copy(start.data(), start.data() + m + 1, z.get());
  if (!intercept) z[m] = 0.0;
  std::copy(z.get(), z.get() + m + 1, again.get());
  Fit found{};
  run_columns(A, [&]<class X>(const X& x) {
    const auto rows = by_row(x, true);
    with_loss(s, [&]<class Loss>(Loss loss) {
      auto system = [&](const double* at, double* value, double* g, double* H) {
        newton(x, rows, s, loss, at, at[m], value, g, H);
      };
      Fitter fitter(system, m, intercept, l2.data());
      found = Loss::quadratic ? fitter.quadratic(z.get(), limits) : fitter.newton(z.get(), limits);
      if constexpr (is_dense<X>) {
        if constexpr (std::is_same_v<Loss, SmoothedHinge>) {
          const bool ridged = std::all_of(l2.data(), l2.data() + m, [](double ridge) { return ridge > 0.0; });
          if (found.done || !ridged || m > kSearched || s.n > kSearched * kSearched) return;
          double value = 0.0;
          found.done = RoundedFitter(x, s, l2.data(), intercept).minimise(again.get(), loss, converged, &value);
          if (found.done) found.value = value, std::swap(z, again);
        }
      }
    });
  });
  return nb::make_tuple(to_numpy(std::move(z), m + 1), found.value, found.done);
}

// Every column fitted alone: values, coefficients, intercepts, and how each ended (ColumnEnd). `best` holds the lowest
// and the next lowest value known before.
nb::tuple fit_columns_(const Matrix& A, const SampleArrays& samples, A1 ridge_, bool intercept, double start,
                       double floor, double scale, double curve, A1 best_) {
  const Samples& s = samples.of(A.n());
  const Vector<double> ridge(ridge_), known(best_);
  const i64 p = A.p();
  require(ridge.size() == p && known.size() == 2, "ridge needs one number per column, best two numbers");
  std::vector<ColumnFit> fits(static_cast<std::size_t>(p));
  double best[2] = {known[0], known[1]};
  const ColumnLimits limits{start, {}, floor, HUGE_VAL, scale, curve, intercept};
  run_columns(A, [&](const auto& X) {
    with_loss(s, [&](auto loss) { fit_columns(X, s, loss, ridge.data(), limits, best, fits.data()); });
  });
  Buffer f = reals(p), v = reals(p), b = reals(p);
  Array<std::uint8_t> end = allocate<std::uint8_t>(p);
  for (i64 j = 0; j < p; ++j)
    f[j] = fits[j].f, v[j] = fits[j].v, b[j] = fits[j].b, end[j] = static_cast<std::uint8_t>(fits[j].end);
  return nb::make_tuple(to_numpy(std::move(f), p), to_numpy(std::move(v), p), to_numpy(std::move(b), p),
                        to_numpy(std::move(end), p));
}

nb::tuple hinge_dual_(A2 At_, const SampleArrays& samples, double l2, double rho, double centre, A1 alpha_, double tol,
                      i64 max_epochs, std::uint64_t seed) {
  require(l2 > 0.0 && rho > 0.0, "l2 and rho must be positive");
  const Lines At(At_, false);
  const i64 m = At.n(), n = At.p();
  const Samples& s = samples.of(n);
  const Vector<double> start(alpha_);
  require(start.size() == n, "alpha has a wrong length");
  Buffer alpha = reals(n), x = reals(m);
  std::copy(start.data(), start.data() + n, alpha.get());
  double b = 0.0;
  i64 epochs = 0;
  without_gil([&] {
    epochs = hinge_dual({At.data(), m, At.ld(), s, l2, rho, centre}, tol, max_epochs, seed, alpha.get(), x.get(), &b);
  });
  return nb::make_tuple(to_numpy(std::move(alpha), n), to_numpy(std::move(x), m), b, epochs);
}

nb::tuple rounded_hinge(A2 A_, const SampleArrays& samples, A1 l2_, bool intercept, A1 z_, A1 widths_, double tol) {
  const Lines A(A_, false);
  const i64 n = A.n(), m = A.p(), size = m + (intercept ? 1 : 0);
  const Samples& s = samples.of(n);
  const Vector<double> l2(l2_), start(z_), widths(widths_);
  require(l2.size() == m && start.size() == size, "l2 needs one number per column, z one per unknown");
  for (i64 j = 0; j < m; ++j) require(l2[j] > 0.0, "l2 must be positive");
  for (i64 k = 0; k < widths.size(); ++k) require(widths[k] > 0.0, "widths must be positive");
  Buffer z = reals(size), alpha = reals(n);
  std::copy(start.data(), start.data() + size, z.get());
  std::fill(alpha.get(), alpha.get() + n, 0.0);
  bool done = widths.size() > 0;
  without_gil([&] {
    RoundedFitter fitter(columns(A), s, l2.data(), intercept);
    const i64 last = widths.size() - 1;
    for (i64 k = 0; k <= last && done; ++k) {
      done = fitter.minimise(z.get(), SmoothedHinge(widths[k]), k == last ? tol : 1e-4);
      if (k == last && done) fitter.dual(z.get(), SmoothedHinge(widths[k]), alpha.get());
    }
  });
  return nb::make_tuple(to_numpy(std::move(z), size), to_numpy(std::move(alpha), n), done);
}

} // namespace

void bind_support(nb::module_& m, MatrixClass& matrix) {
  nb::class_<SampleArrays>(m, "Samples")
      .def(nb::init<A1, A1, const Optional1&, int, double>(), array("y"), array("c"), array("offset").none(), "loss"_a,
           "param"_a)
      .def("terms", &terms, array("eta"));
  matrix.def("gram", &gram_, array("w"))
      .def("centred_gram", &centred_gram_, array("w"))
      .def("between", &between_, array("w"), "other"_a)
      .def("newton", &newton_, "samples"_a, array("coef"), "b"_a, "hessian"_a)
      .def("fit", &fit, "samples"_a, array("l2"), "intercept"_a, array("z"), "floor"_a, "lower"_a, "converged"_a,
           "singular"_a, "seconds"_a = HUGE_VAL)
      .def("fit_columns", &fit_columns_, "samples"_a, array("ridge"), "intercept"_a, "start"_a, "floor"_a, "scale"_a,
           "curve"_a, array("best"));
  m.def("hinge_dual", &hinge_dual_, array("At"), "samples"_a, "l2"_a, "rho"_a, "centre"_a, array("alpha"), "tol"_a,
        "max_epochs"_a, "seed"_a);
  m.def("rounded_hinge", &rounded_hinge, array("A"), "samples"_a, array("l2"), "intercept"_a, array("z"),
        array("widths"), "tol"_a);
}

} // namespace pursuit
