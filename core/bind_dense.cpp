#include "bindings.hpp"
#include "dense.hpp"
#include "rough.hpp"
#include "stats.hpp"
#include "topk.hpp"

namespace pursuit {
namespace {

template <class T>
nb::object top_k_(const Array1<T>& v_, i64 k) {
  require(k >= 0, "k is negative");
  const Vector<T> v(v_);
  k = std::min(k, v.size());
  auto out = allocate<i64>(k);
  {
    nb::gil_scoped_release release;
    top_k(v.data(), v.size(), k, out.get());
  }
  return give(std::move(out), k);
}

template <class T>
nb::tuple value_gradient_(const Array2<T>& X_, const Array1<double>& y, const Array1<double>& c,
                          const Optional1& offset, int loss, double param, const Array1<i64>& cols_,
                          const Array1<double>& coef_, double b) {
  const Dense<T> X = dense(X_);
  const SampleArrays s(y, c, offset, X.n);
  const Cols cols(cols_, X.p);
  const Vector<double> coef(coef_);
  require(coef.size() == cols.size(), "cols and coef differ in length");
  double value = 0.0, slope = 0.0;
  Buffer g = reals(X.p);
  {
    nb::gil_scoped_release release;
    with_loss({loss, param}, [&](auto phi) {
      value_gradient(X, s.view, phi, {cols.data(), coef.data(), cols.size(), b}, &value, g.get(), &slope);
    });
  }
  return nb::make_tuple(value, give(std::move(g), X.p), slope);
}

template <class T>
nb::object matmat(const Array2<T>& X_, const Array1<i64>& cols_, const Array2<double>& coef_) {
  const Dense<T> X = dense(X_);
  const Cols cols(cols_, X.p);
  const Packed coef(coef_);
  require(coef.n() == cols.size(), "coef needs a row for every column of cols");
  Buffer out = reals(X.n * coef.p());
  {
    nb::gil_scoped_release release;
    right_multiply(X, cols.data(), coef.data(), coef.n(), coef.p(), out.get());
  }
  return give(std::move(out), X.n, coef.p());
}

template <class T>
nb::object rmatmat(const Array2<T>& X_, const Array2<double>& d_) {
  const Dense<T> X = dense(X_);
  const Packed d(d_);
  require(d.n() == X.n, "d needs a row for every row of X");
  const i64 q = d.p();
  Buffer out = reals(X.p * q);
  {
    nb::gil_scoped_release release;
    if (q == 1) {
      left_multiply(X, d.data(), X.n, 1, out.get());
    } else if (q > 1) {
      Buffer dt = reals(X.n * q), gt = reals(X.p * q);
      transpose(d.data(), X.n, q, dt.get());
      cross(X, dt.get(), std::max<i64>(X.n, 1), q, nullptr, gt.get());
      transpose(gt.get(), q, X.p, out.get());
    }
  }
  return give(std::move(out), X.p, q);
}

template <class T>
nb::object gather_(const Array2<T>& X_, const Array1<i64>& cols_) {
  const Dense<T> X = dense(X_);
  const Cols cols(cols_, X.p);
  Buffer out = reals(X.n * cols.size());
  {
    nb::gil_scoped_release release;
    gather(X, cols.data(), cols.size(), out.get());
  }
  return give(std::move(out), X.n, cols.size(), false);
}

template <class T>
void narrow_(const Array2<T>& X_, const Array1<i64>& cols_, nb::ndarray<float, nb::ndim<2>, nb::device::cpu> out) {
  const Dense<T> X = dense(X_);
  const Cols cols(cols_, X.p);
  const i64 m = cols.size();
  require(static_cast<i64>(out.shape(0)) == X.n && static_cast<i64>(out.shape(1)) == m, "out has a wrong shape");
  require(m <= 1 || out.stride(1) == 1, "out must be in C order");
  nb::gil_scoped_release release;
  narrow(X, cols.data(), m, out.data(), out.stride(0));
}

template <class T>
nb::tuple rough_cross_(const Array2<double>& w_, const Array1<double>& c_, const Array2<T>& X_) {
  const Dense<T> X = dense(X_);
  const Matrix w(w_, false);
  const Vector<double> c(c_);
  require(w.n() == X.n && c.size() == X.n, "w or c has a wrong length");
  const i64 m = w.p();
  Array<float> out = allocate<float>(m * X.p);
  Buffer mean = reals(X.p), var = reals(X.p);
  {
    nb::gil_scoped_release release;
    rough_cross(X, w.data(), w.ld(), m, c.data(), out.get(), mean.get(), var.get());
  }
  return nb::make_tuple(give(std::move(out), m, X.p), give(std::move(mean), X.p), give(std::move(var), X.p));
}

template <class T>
nb::object cross_(const Array2<double>& w_, const Array2<T>& X_, const Optional1& shift_) {
  const Dense<T> X = dense(X_);
  const Matrix w(w_, false);
  std::optional<Vector<double>> shift;
  if (shift_) shift.emplace(*shift_);
  require(w.n() == X.n, "w and X differ in rows");
  require(!shift || shift->size() == X.p, "shift needs one number per column");
  Buffer out = reals(w.p() * X.p);
  {
    nb::gil_scoped_release release;
    cross(X, w.data(), w.ld(), w.p(), shift ? shift->data() : nullptr, out.get());
  }
  return give(std::move(out), w.p(), X.p);
}

template <class T>
nb::tuple stats_(const Array2<T>& X_, const Array1<double>& c_) {
  const Dense<T> X = dense(X_);
  const Vector<double> c(c_);
  require(c.size() == X.n, "c has a wrong length");
  Buffer mean = reals(X.p), var = reals(X.p);
  {
    nb::gil_scoped_release release;
    stats(X, c.data(), mean.get(), var.get());
  }
  return nb::make_tuple(give(std::move(mean), X.p), give(std::move(var), X.p));
}

template <class T>
void bind(nb::module_& m) {
  m.def("top_k", &top_k_<T>, array("v"), "k"_a);
  m.def("dense_value_gradient", &value_gradient_<T>, array("X"), array("y"), array("c"), array("offset").none(),
        "loss"_a, "param"_a, array("cols"), array("coef"), "b"_a);
  m.def("dense_matmat", &matmat<T>, array("X"), array("cols"), array("coef"));
  m.def("dense_rmatmat", &rmatmat<T>, array("X"), array("d"));
  m.def("dense_gather", &gather_<T>, array("X"), array("cols"));
  m.def("dense_narrow", &narrow_<T>, array("X"), array("cols"), array("out"));
  m.def("dense_cross", &cross_<T>, array("w"), array("X"), array("shift").none() = nb::none());
  m.def("dense_rough_cross", &rough_cross_<T>, array("w"), array("c"), array("X"));
  m.def("dense_stats", &stats_<T>, array("X"), array("c"));
}

} // namespace

void bind_dense(nb::module_& m) {
  bind<double>(m);
  bind<float>(m);
}

} // namespace pursuit
