#include "bindings.hpp"
#include "hashes.hpp"
#include "sparse_full.hpp"
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
  without_gil([&] { top_k(v.data(), v.size(), k, out.get()); });
  return to_numpy(std::move(out), k);
}

nb::object matmat(const Matrix& A, I1 cols_, A2 coef_) {
  const Cols cols(cols_, A.p());
  const Lines coef = packed(coef_);
  const i64 m = coef.n(), q = coef.p();
  require(m == cols.size(), "coef needs a row for every column of cols");
  Buffer out = reals(A.n() * q);
  A.run([&](const auto& X) { right_multiply(X, cols.data(), coef.data(), m, q, out.get()); });
  return to_numpy(std::move(out), A.n(), q);
}

nb::object rmatmat(const Matrix& A, A2 d_) {
  const Lines d = packed(d_);
  require(d.n() == A.n(), "d needs a row for every row of X");
  Buffer out = reals(A.p() * d.p());
  A.run([&](const auto& X) { left_multiply(X, d.data(), d.p(), out.get()); });
  return to_numpy(std::move(out), A.p(), d.p());
}

nb::object gather_(const Matrix& A, I1 cols_) {
  const Cols cols(cols_, A.p());
  Buffer out = reals(A.n() * cols.size());
  A.run([&](const auto& X) { gather(X, cols.data(), cols.size(), out.get()); });
  return to_numpy(std::move(out), A.n(), cols.size(), false);
}

nb::tuple gather_csc_(const Matrix& A, I1 cols_) {
  const Cols cols(cols_, A.p());
  Columns out;
  A.run([&]<class X>(const X& x) {
    if constexpr (!is_dense<X>) out = gather_csc(x, cols.data(), cols.size());
  });
  require(out.data != nullptr, "X must be sparse");
  const i64 nnz = out.indptr[cols.size()];
  return nb::make_tuple(to_numpy(std::move(out.data), nnz), to_numpy(std::move(out.indices), nnz),
                        to_numpy(std::move(out.indptr), cols.size() + 1));
}

nb::tuple gather_rows_(const Matrix& A, I1 cols_) {
  const Cols cols(cols_, A.p());
  RowLines out;
  A.run([&]<class X>(const X& x) {
    if constexpr (!is_dense<X>)
      if (x.rows) out = gather_rows(x, cols.data(), cols.size());
  });
  require(out.data != nullptr, "X must be CSR");
  const i64 nnz = out.indptr[A.n()];
  return nb::make_tuple(to_numpy(std::move(out.data), nnz), to_numpy(std::move(out.indices), nnz),
                        to_numpy(std::move(out.indptr), A.n() + 1));
}

nb::tuple turn_(const Matrix& A, A1 w_, A1 v_, double a) {
  const Vector<double> w(w_), v(v_);
  require(w.size() == A.n() && v.size() == A.p(), "w or v has a wrong length");
  Buffer out = reals(A.p());
  double sum = 0.0;
  bool sparse = false;
  A.run([&]<class X>(const X& x) {
    if constexpr (!is_dense<X>) sum = turn(x, w.data(), v.data(), a, out.get()), sparse = true;
  });
  require(sparse, "X must be sparse");
  return nb::make_tuple(to_numpy(std::move(out), A.p()), sum);
}

void narrow_(const Matrix& A, I1 cols_, nb::ndarray<float, nb::ndim<2>, nb::device::cpu> out) {
  const Cols cols(cols_, A.p());
  const i64 m = cols.size();
  require(static_cast<i64>(out.shape(0)) == A.n() && static_cast<i64>(out.shape(1)) == m, "out has a wrong shape");
  require((m <= 1 || out.stride(1) == 1) && aligned(out.data()), "out must be in C order and aligned");
  A.run([&]<class X>(const X& x) {
    require(is_dense<X>, "X must be dense");
    if constexpr (is_dense<X>) narrow(x, cols.data(), m, out.data(), out.stride(0));
  });
}

nb::object cross_(const Matrix& A, A2 w_, const Optional1& shift_) {
  const Lines w(w_, false);
  const Vector<double> shift(shift_);
  require(w.n() == A.n(), "w and X differ in rows");
  require(shift.none_or(A.p()), "shift needs one number per column");
  Buffer out = reals(w.p() * A.p());
  A.run([&](const auto& X) { cross(X, w.data(), w.ld(), w.p(), shift.data(), out.get()); });
  return to_numpy(std::move(out), w.p(), A.p());
}

nb::tuple stats_(const Matrix& A, A1 c_) {
  const Vector<double> c(c_);
  require(c.size() == A.n(), "c has a wrong length");
  Buffer mean = reals(A.p()), var = reals(A.p());
  A.run([&](const auto& X) { stats(X, c.data(), mean.get(), var.get()); });
  return nb::make_tuple(to_numpy(std::move(mean), A.p()), to_numpy(std::move(var), A.p()));
}

nb::tuple first_pass_(const Matrix& A, A1 c_, A1 d_) {
  const Vector<double> c(c_), d(d_);
  require(c.size() == A.n() && d.size() == A.n(), "c or d has a wrong length");
  Buffer mean = reals(A.p()), var = reals(A.p()), product = reals(A.p());
  A.run([&]<class X>(const X& x) {
    require(is_dense<X>, "X must be dense");
    if constexpr (is_dense<X>) first_pass(x, c.data(), d.data(), mean.get(), var.get(), product.get());
  });
  return nb::make_tuple(to_numpy(std::move(mean), A.p()), to_numpy(std::move(var), A.p()),
                        to_numpy(std::move(product), A.p()));
}

nb::object row_hashes_(const Matrix& A, i64 first) {
  auto out = allocate<u64>(A.n());
  A.run([&](const auto& X) { row_hashes(X, first, out.get()); });
  return to_numpy(std::move(out), A.n());
}

template <class T, class I>
void sparse_init(MatrixClass& matrix) {
  matrix.def(nb::init<const Array1<T>&, const Array1<I>&, const Array1<I>&, i64, i64, bool>(), array("data"),
             array("indices"), array("indptr"), "n"_a, "p"_a, "rows"_a);
}

} // namespace

MatrixClass bind_matrix(nb::module_& m) {
  m.def("top_k", &top_k_<double>, array("v"), "k"_a);
  m.def("top_k", &top_k_<float>, array("v"), "k"_a);
  MatrixClass matrix(m, "Matrix");
  matrix.def(nb::init<const Array2<double>&>(), array("X")).def(nb::init<const Array2<float>&>(), array("X"));
  sparse_init<double, std::int32_t>(matrix);
  sparse_init<double, i64>(matrix);
  sparse_init<float, std::int32_t>(matrix);
  sparse_init<float, i64>(matrix);
  matrix.def("matmat", &matmat, array("cols"), array("coef"))
      .def("rmatmat", &rmatmat, array("d"))
      .def("gather", &gather_, array("cols"))
      .def("gather_csc", &gather_csc_, array("cols"))
      .def("gather_rows", &gather_rows_, array("cols"))
      .def("turn", &turn_, array("w"), array("v"), "a"_a)
      .def("narrow", &narrow_, array("cols"), array("out"))
      .def("cross", &cross_, array("w"), array("shift").none() = nb::none())
      .def("stats", &stats_, array("c"))
      .def("first_pass", &first_pass_, array("c"), array("d"))
      .def("row_hashes", &row_hashes_, "first"_a);
  return matrix;
}

} // namespace pursuit
