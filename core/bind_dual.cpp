#include "bindings.hpp"
#include "dual.hpp"

namespace pursuit {
namespace {

using Changed = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What both kinds of X share: the samples, their order, the support, and the two vectors that are changed.
struct Sweep {
  SampleArrays samples;
  Vector<i64> order;
  Vector<double> gain;
  Cols cols;
  Sweep(const Array1<double>& y, const Array1<double>& c, const Optional1& offset, const Array1<i64>& order_,
        const Array1<double>& gain_, const Array1<i64>& cols_, const Changed& a, const Changed& v, i64 n, i64 p)
      : samples(y, c, offset, n), order(order_), gain(gain_), cols(cols_, p) {
    require(gain.size() == p && static_cast<i64>(v.shape(0)) == p, "gain or v has a wrong length");
    require(static_cast<i64>(a.shape(0)) == n, "a has a wrong length");
    for (i64 k = 0; k < order.size(); ++k)
      require(order.data()[k] >= 0 && order.data()[k] < n, "a sample is out of range");
  }
  template <class Rows>
  void run(Rows& X, LossSpec loss, bool pairs, double damp, double* a, double* v) const {
    with_conjugate(
        loss, [&](auto dual) { dual_sweep(X, samples.view, dual, order.data(), order.size(), pairs, damp, a, v); });
  }
};

template <class T>
void dense_sweep(const Array2<T>& X_, const Array1<double>& y, const Array1<double>& c, const Optional1& offset,
                 int loss, double param, const Array1<i64>& order, const Array1<double>& gain, const Array1<i64>& cols,
                 bool pairs, double damp, Changed a, Changed v) {
  const Dense<T> X = dense(X_);
  const Sweep sweep(y, c, offset, order, gain, cols, a, v, X.n, X.p);
  nb::gil_scoped_release release;
  DenseRows<T> rows{X, v.data(), sweep.gain.data(), sweep.cols.data(), sweep.cols.size()};
  sweep.run(rows, {loss, param}, pairs, damp, a.data(), v.data());
}

template <class T, class I>
void csr_sweep(const Array1<T>& data, const Array1<I>& indices, const Array1<I>& indptr, i64 p, const Array1<double>& y,
               const Array1<double>& c, const Optional1& offset, int loss, double param, const Array1<i64>& order,
               const Array1<double>& gain, const Array1<i64>& cols, bool pairs, double damp, Changed a, Changed v) {
  const SparseArrays<T, I> X(data, indices, indptr, static_cast<i64>(y.shape(0)), p, true);
  const Sweep sweep(y, c, offset, order, gain, cols, a, v, X.view.n, p);
  nb::gil_scoped_release release;
  SparseRows<T, I> rows(X.view, v.data(), sweep.gain.data(), sweep.cols.data(), sweep.cols.size(), pairs);
  sweep.run(rows, {loss, param}, pairs, damp, a.data(), v.data());
}

template <class T>
void dense_all(nb::module_& m) {
  m.def("dense_dual_sweep", &dense_sweep<T>, array("X"), array("y"), array("c"), array("offset").none(), "loss"_a,
        "param"_a, array("order"), array("gain"), array("cols"), "pairs"_a, "damp"_a, array("a"), array("v"));
}

template <class T, class I>
void csr_all(nb::module_& m) {
  m.def("csr_dual_sweep", &csr_sweep<T, I>, array("data"), array("indices"), array("indptr"), "p"_a, array("y"),
        array("c"), array("offset").none(), "loss"_a, "param"_a, array("order"), array("gain"), array("cols"),
        "pairs"_a, "damp"_a, array("a"), array("v"));
}

} // namespace

void bind_dual(nb::module_& m) {
  dense_all<double>(m);
  dense_all<float>(m);
  csr_all<double, std::int32_t>(m);
  csr_all<double, std::int64_t>(m);
  csr_all<float, std::int32_t>(m);
  csr_all<float, std::int64_t>(m);
}

} // namespace pursuit
