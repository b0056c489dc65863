#include "bindings.hpp"
#include "fit.hpp"
#include "hinge.hpp"
#include "rounded.hpp"

namespace pursuit {
namespace {

nb::tuple pointwise(int loss, double param, A1 y_, A1 eta_, A1 c_) {
  const Vector<double> eta(eta_);
  const i64 n = eta.size();
  const SampleArrays s(y_, c_, std::nullopt, n);
  double value = 0.0, slope = 0.0;
  Buffer d = reals(n), h = reals(n);
  {
    nb::gil_scoped_release release;
    with_loss({loss, param},
              [&](auto phi) { evaluate_all(phi, s.view, eta.data(), d.get(), h.get(), &value, &slope); });
  }
  return nb::make_tuple(value, give(std::move(d), n), give(std::move(h), n));
}

nb::object dense_gram(A2 A_, A1 w_) {
  const Matrix A(A_, false);
  const Vector<double> w(w_);
  require(w.size() == A.n(), "w has a wrong length");
  const i64 m = A.p();
  Buffer out = reals(m * m);
  {
    nb::gil_scoped_release release;
    gram(A.data(), A.ld(), A.n(), m, w.data(), out.get());
  }
  return give(std::move(out), m, m);
}

nb::object csc_gram(A1 data, I1 indices, I1 indptr, i64 n, A1 w_) {
  const i64 m = static_cast<i64>(indptr.shape(0)) - 1;
  const SparseArrays<double, i64> A(data, indices, indptr, n, m, false);
  const Vector<double> w(w_);
  require(w.size() == n, "w has a wrong length");
  Buffer out = reals(m * m);
  {
    nb::gil_scoped_release release;
    gram(A.view, w.data(), out.get(), m);
  }
  return give(std::move(out), m, m);
}

nb::tuple system(double value, Buffer gradient, Buffer hessian, i64 size) {
  return nb::make_tuple(value, give(std::move(gradient), size),
                        hessian ? give(std::move(hessian), size, size) : nb::none());
}

nb::tuple dense_newton(A2 A_, A1 y, A1 c, const Optional1& offset, int loss, double param, A1 coef_, double b,
                       bool hessian) {
  const Matrix A(A_, false);
  const SampleArrays s(y, c, offset, A.n());
  const Vector<double> coef(coef_);
  require(coef.size() == A.p(), "coef has a wrong length");
  const i64 size = A.p() + 1;
  double value = 0.0;
  Buffer g = reals(size), H = hessian ? reals(size * size) : nullptr;
  {
    nb::gil_scoped_release release;
    with_loss({loss, param}, [&](auto phi) {
      newton(A.data(), A.ld(), A.p(), s.view, phi, coef.data(), b, &value, g.get(), H.get());
    });
  }
  return system(value, std::move(g), std::move(H), size);
}

nb::tuple csc_newton(A1 data, I1 indices, I1 indptr, A1 y, A1 c, const Optional1& offset, int loss, double param,
                     A1 coef_, double b, bool hessian) {
  const i64 m = static_cast<i64>(indptr.shape(0)) - 1;
  const SparseArrays<double, i64> A(data, indices, indptr, static_cast<i64>(y.shape(0)), m, false);
  const SampleArrays s(y, c, offset, A.view.n);
  const Vector<double> coef(coef_);
  require(coef.size() == m, "coef has a wrong length");
  double value = 0.0;
  Buffer g = reals(m + 1), H = hessian ? reals((m + 1) * (m + 1)) : nullptr;
  {
    nb::gil_scoped_release release;
    with_loss({loss, param}, [&](auto phi) { newton(A.view, s.view, phi, coef.data(), b, &value, g.get(), H.get()); });
  }
  return system(value, std::move(g), std::move(H), m + 1);
}

// A whole refit; `evaluate(phi, z, value, gradient, hessian)` is the loss phi on the columns at hand.
template <class Evaluate>
nb::tuple fit(i64 m, int loss, double param, A1 l2_, bool intercept, A1 z_, const FitLimits& limits,
              Evaluate&& evaluate) {
  const Vector<double> l2(l2_), start(z_);
  require(l2.size() == m && start.size() == m + 1, "l2 needs one number per column, z one more");
  Buffer z = reals(m + 1);
  std::copy(start.data(), start.data() + m + 1, z.get());
  if (!intercept) z[m] = 0.0;
  Fit found{};
  {
    nb::gil_scoped_release release;
    with_loss({loss, param}, [&](auto phi) {
      auto system = [&](const double* at, double* value, double* g, double* H) { evaluate(phi, at, value, g, H); };
      Fitter fitter(system, m, intercept, l2.data());
      found = loss == 0 ? fitter.quadratic(z.get(), limits) : fitter.newton(z.get(), limits);
    });
  }
  return nb::make_tuple(give(std::move(z), m + 1), found.value, found.done);
}

constexpr int kSmoothedHinge = 3;
constexpr i64 kSearched = 100; // columns, and root of the rows, up to which that is quick

// A smoothed hinge that Newton's whole steps did not bring to its end: with a search on its pieces.
nb::tuple rounded(const Matrix& A, const Samples& s, double gamma, A1 l2_, bool intercept, A1 z_, double tol,
                  const nb::tuple& otherwise) {
  const Vector<double> l2(l2_), start(z_);
  const i64 m = A.p();
  if (m > kSearched || s.n > kSearched * kSearched) return otherwise;
  for (i64 j = 0; j < m; ++j)
    if (!(l2.data()[j] > 0.0)) return otherwise;
  Buffer z = reals(m + 1);
  std::copy(start.data(), start.data() + m + 1, z.get());
  if (!intercept) z[m] = 0.0;
  double value = 0.0;
  bool done = false;
  {
    nb::gil_scoped_release release;
    RoundedFitter fitter({A.data(), A.ld(), m, s.n, s.y, s.c, s.offset, l2.data(), intercept});
    done = fitter.minimise(z.get(), gamma, tol, &value);
  }
  if (!done) return otherwise;
  return nb::make_tuple(give(std::move(z), m + 1), value, true);
}

nb::tuple dense_fit(A2 A_, A1 y, A1 c, const Optional1& offset, int loss, double param, A1 l2, bool intercept, A1 z,
                    double floor, double lower, double converged, double singular, double seconds) {
  const Matrix A(A_, false);
  const SampleArrays s(y, c, offset, A.n());
  const nb::tuple found = fit(A.p(), loss, param, l2, intercept, z, {floor, lower, converged, singular, seconds},
                              [&](auto phi, const double* at, double* value, double* g, double* H) {
                                newton(A.data(), A.ld(), A.p(), s.view, phi, at, at[A.p()], value, g, H);
                              });
  if (loss != kSmoothedHinge || nb::cast<bool>(found[2])) return found;
  return rounded(A, s.view, param, l2, intercept, z, converged, found);
}

nb::tuple csc_fit(A1 data, I1 indices, I1 indptr, A1 y, A1 c, const Optional1& offset, int loss, double param, A1 l2,
                  bool intercept, A1 z, double floor, double lower, double converged, double singular, double seconds) {
  const i64 m = static_cast<i64>(indptr.shape(0)) - 1;
  const SparseArrays<double, i64> A(data, indices, indptr, static_cast<i64>(y.shape(0)), m, false);
  const SampleArrays s(y, c, offset, A.view.n);
  return fit(m, loss, param, l2, intercept, z, {floor, lower, converged, singular, seconds},
             [&](auto phi, const double* at, double* value, double* g, double* H) {
               newton(A.view, s.view, phi, at, at[m], value, g, H);
             });
}

nb::tuple hinge_dual_(A2 At_, A1 y, A1 c, const Optional1& offset, double l2, double rho, double centre, A1 alpha_,
                      double tol, i64 max_epochs, std::uint64_t seed) {
  require(l2 > 0.0 && rho > 0.0, "l2 and rho must be positive");
  const Matrix At(At_, false);
  const i64 m = At.n(), n = At.p();
  const SampleArrays s(y, c, offset, n);
  const Vector<double> start(alpha_);
  require(start.size() == n, "alpha has a wrong length");
  Buffer alpha = reals(n), x = reals(m);
  std::copy(start.data(), start.data() + n, alpha.get());
  double b = 0.0;
  i64 epochs = 0;
  {
    nb::gil_scoped_release release;
    const HingeProblem P{At.data(), m, n, At.ld(), s.view.y, s.view.c, s.view.offset, l2, rho, centre};
    epochs = hinge_dual(P, tol, max_epochs, seed, alpha.get(), x.get(), &b);
  }
  return nb::make_tuple(give(std::move(alpha), n), give(std::move(x), m), b, epochs);
}

nb::tuple rounded_hinge(A2 A_, A1 y, A1 c, const Optional1& offset, A1 l2_, bool intercept, A1 z_, A1 widths_,
                        double tol) {
  const Matrix A(A_, false);
  const i64 n = A.n(), m = A.p(), size = m + (intercept ? 1 : 0);
  const SampleArrays s(y, c, offset, n);
  const Vector<double> l2(l2_), start(z_), widths(widths_);
  require(l2.size() == m && start.size() == size, "l2 needs one number per column, z one per unknown");
  for (i64 j = 0; j < m; ++j) require(l2.data()[j] > 0.0, "l2 must be positive");
  for (i64 k = 0; k < widths.size(); ++k) require(widths.data()[k] > 0.0, "widths must be positive");
  Buffer z = reals(size), alpha = reals(n);
  std::copy(start.data(), start.data() + size, z.get());
  bool done = widths.size() > 0;
  {
    nb::gil_scoped_release release;
    RoundedFitter fitter({A.data(), A.ld(), m, n, s.view.y, s.view.c, s.view.offset, l2.data(), intercept});
    const i64 last = widths.size() - 1;
    for (i64 k = 0; k <= last && done; ++k) {
      done = fitter.minimise(z.get(), widths.data()[k], k == last ? tol : 1e-4);
      if (k == last) fitter.dual(z.get(), widths.data()[k], alpha.get());
    }
  }
  if (!done) std::fill(alpha.get(), alpha.get() + n, 0.0);
  return nb::make_tuple(give(std::move(z), size), give(std::move(alpha), n), done);
}

} // namespace

void bind_support(nb::module_& m) {
  m.def("pointwise", &pointwise, "loss"_a, "param"_a, array("y"), array("eta"), array("c"));
  m.def("dense_gram", &dense_gram, array("A"), array("w"));
  m.def("csc_gram", &csc_gram, array("data"), array("indices"), array("indptr"), "n"_a, array("w"));
  m.def("dense_newton", &dense_newton, array("A"), array("y"), array("c"), array("offset").none(), "loss"_a, "param"_a,
        array("coef"), "b"_a, "hessian"_a);
  m.def("csc_newton", &csc_newton, array("data"), array("indices"), array("indptr"), array("y"), array("c"),
        array("offset").none(), "loss"_a, "param"_a, array("coef"), "b"_a, "hessian"_a);
  m.def("dense_fit", &dense_fit, array("A"), array("y"), array("c"), array("offset").none(), "loss"_a, "param"_a,
        array("l2"), "intercept"_a, array("z"), "floor"_a, "lower"_a, "converged"_a, "singular"_a,
        "seconds"_a = HUGE_VAL);
  m.def("csc_fit", &csc_fit, array("data"), array("indices"), array("indptr"), array("y"), array("c"),
        array("offset").none(), "loss"_a, "param"_a, array("l2"), "intercept"_a, array("z"), "floor"_a, "lower"_a,
        "converged"_a, "singular"_a, "seconds"_a = HUGE_VAL);
  m.def("hinge_dual", &hinge_dual_, array("At"), array("y"), array("c"), array("offset").none(), "l2"_a, "rho"_a,
        "centre"_a, array("alpha"), "tol"_a, "max_epochs"_a, "seed"_a);
  m.def("rounded_hinge", &rounded_hinge, array("A"), array("y"), array("c"), array("offset").none(), array("l2"),
        "intercept"_a, array("z"), array("widths"), "tol"_a);
}

} // namespace pursuit
