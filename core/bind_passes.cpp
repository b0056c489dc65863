#include "bindings.hpp"
#include "dense.hpp"
#include "dual.hpp"
#include "sparse.hpp"

namespace pursuit {
namespace {

nb::tuple value_gradient_(const Matrix& A, const SampleArrays& samples, I1 cols_, A1 coef_, double b) {
  const Samples& s = samples.of(A.n());
  const Cols cols(cols_, A.p());
  const Vector<double> coef(coef_);
  require(coef.size() == cols.size(), "cols and coef differ in length");
  const Point x{cols.data(), coef.data(), cols.size(), b};
  double value = 0.0, slope = 0.0;
  Buffer g = reals(A.p());
  A.run(
      [&](const auto& X) { with_loss(s, [&](auto loss) { value_gradient(X, s, loss, x, &value, g.get(), &slope); }); });
  return nb::make_tuple(value, to_numpy(std::move(g), A.p()), slope);
}

using Changed = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void dual_sweep_(const Matrix& A, const SampleArrays& samples, I1 order_, A1 gain_, I1 cols_, bool pairs, double damp,
                 Changed a, Changed v) {
  const i64 n = A.n(), p = A.p();
  const Samples& s = samples.of(n);
  const Vector<i64> order(order_);
  const Vector<double> gain(gain_);
  const Cols cols(cols_, p);
  require(gain.size() == p && static_cast<i64>(v.shape(0)) == p, "gain or v has a wrong length");
  require(static_cast<i64>(a.shape(0)) == n, "a has a wrong length");
  require(aligned(a.data()) && aligned(v.data()), "a and v must be aligned");
  for (i64 k = 0; k < order.size(); ++k) require(order[k] >= 0 && order[k] < n, "a sample is out of range");
  A.run([&]<class X>(const X& x) {
    require(is_dense<X> || x.rows, "X must be dense or CSR");
    with_loss(s, [&](auto loss) {
      dual_sweep(support_rows(x, v.data(), gain.data(), cols.data(), cols.size(), pairs), s, loss, order.data(),
                 order.size(), pairs, damp, a.data(), v.data());
    });
  });
}

} // namespace

void bind_passes(MatrixClass& matrix) {
  matrix.def("value_gradient", &value_gradient_, "samples"_a, array("cols"), array("coef"), "b"_a)
      .def("dual_sweep", &dual_sweep_, "samples"_a, array("order"), array("gain"), array("cols"), "pairs"_a, "damp"_a,
           array("a"), array("v"));
}

} // namespace pursuit
