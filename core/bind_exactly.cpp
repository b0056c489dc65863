#include "bindings.hpp"
#include "exactly.hpp"

namespace pursuit {
namespace {

nb::tuple orthonormal_(A2 A_, A1 w_, A1 ridge_, bool intercept, double nothing) {
  const Lines A(A_, false);
  const Vector<double> w(w_), ridge(ridge_);
  const i64 n = A.n(), m = A.p();
  require(w.size() == n && ridge.size() == m, "w needs one number per row, ridge one per column");
  Buffer Q = reals(n * m), T = reals(m * m), left = reals(m);
  without_gil([&] {
    orthonormal(A.data(), A.ld(), n, m, w.data(), ridge.data(), intercept, nothing, Q.get(), T.get(), left.get());
  });
  return nb::make_tuple(to_numpy(std::move(Q), n, m, false), to_numpy(std::move(T), m, m, false),
                        to_numpy(std::move(left), m));
}

nb::object exact_eta_(A2 A_, A1 coef_, double b, const Optional1& offset_) {
  const Lines A(A_, false);
  const Vector<double> coef(coef_);
  const Vector<double> offset(offset_);
  require(coef.size() == A.p() && offset.none_or(A.n()), "coef or offset has a wrong length");
  Buffer eta = reals(A.n());
  without_gil([&] { exact_eta(A.data(), A.ld(), A.n(), A.p(), coef.data(), b, offset.data(), eta.get()); });
  return to_numpy(std::move(eta), A.n());
}

} // namespace

void bind_exactly(nb::module_& m) {
  m.def("orthonormal", &orthonormal_, array("A"), array("w"), array("ridge"), "intercept"_a, "nothing"_a);
  m.def("exact_eta", &exact_eta_, array("A"), array("coef"), "b"_a, array("offset").none());
}

} // namespace pursuit
