#include "bindings.hpp"
#include "perspective.hpp"

namespace pursuit {
namespace {

using A1 = const Array1<double>&;
using A2 = const Array2<double>&;

nb::tuple prox(A1 v_, i64 k, double g) {
  const Vector<double> v(v_);
  require(k >= 0 && g > 0.0, "k must be at least 0 and g positive");
  const i64 p = v.size();
  Buffer x = reals(p), t = reals(p);
  double K = 0.0;
  {
    nb::gil_scoped_release release;
    K = ksupport_prox(v.data(), p, k, g, x.get(), t.get());
  }
  return nb::make_tuple(give(std::move(x), p), give(std::move(t), p), K);
}

nb::tuple bound(A2 Q_, A1 c_, i64 k, double f0, double mu, double L, A1 x_, double target, double tolerance,
                i64 max_iter) {
  const Packed Q(Q_);
  const Vector<double> c(c_), start(x_);
  const i64 p = c.size();
  require(Q.n() == p && Q.p() == p && start.size() == p, "Q, c and x differ in size");
  require(k >= 0 && mu > 0.0 && L > 0.0, "k must be at least 0, mu and L positive");
  Buffer x = reals(p), z = reals(p), t = reals(p);
  std::copy(start.data(), start.data() + p, x.get());
  PerspectiveResult result{};
  {
    nb::gil_scoped_release release;
    result = perspective({Q.data(), c.data(), p, k, f0, mu, L}, target, tolerance, max_iter, x.get(), z.get(), t.get());
  }
  return nb::make_tuple(result.lower, result.relaxed, give(std::move(x), p), give(std::move(z), p),
                        give(std::move(t), p), result.iterations);
}

} // namespace

void bind_perspective(nb::module_& m) {
  m.def("ksupport_prox", &prox, array("v"), "k"_a, "g"_a);
  m.def("perspective", &bound, array("Q"), array("c"), "k"_a, "f0"_a, "mu"_a, "L"_a, array("x"), "target"_a,
        "tolerance"_a, "max_iter"_a);
}

} // namespace pursuit
