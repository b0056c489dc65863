#include "bindings.hpp"
#include "sparse_full.hpp"

namespace pursuit {
namespace {

template <class T, class I>
struct Bind {
  using Data = const Array1<T>&;
  using Indices = const Array1<I>&;
  using Arrays = SparseArrays<T, I>;

  static nb::tuple value_gradient_(Data data, Indices indices, Indices indptr, i64 p, bool rows,
                                   const Array1<double>& y, const Array1<double>& c, const Optional1& offset, int loss,
                                   double param, const Array1<i64>& cols_, const Array1<double>& coef_, double b) {
    const Arrays X(data, indices, indptr, static_cast<i64>(y.shape(0)), p, rows);
    const SampleArrays s(y, c, offset, X.view.n);
    const Cols cols(cols_, p);
    const Vector<double> coef(coef_);
    require(coef.size() == cols.size(), "cols and coef differ in length");
    double value = 0.0, slope = 0.0;
    Buffer g = reals(p);
    {
      nb::gil_scoped_release release;
      with_loss({loss, param}, [&](auto phi) {
        value_gradient(X.view, s.view, phi, {cols.data(), coef.data(), cols.size(), b}, &value, g.get(), &slope);
      });
    }
    return nb::make_tuple(value, give(std::move(g), p), slope);
  }

  static nb::object matmat(Data data, Indices indices, Indices indptr, i64 n, i64 p, bool rows,
                           const Array1<i64>& cols_, const Array2<double>& coef_) {
    const Arrays X(data, indices, indptr, n, p, rows);
    const Cols cols(cols_, p);
    const Packed coef(coef_);
    require(coef.n() == cols.size(), "coef needs a row for every column of cols");
    Buffer out = reals(n * coef.p());
    {
      nb::gil_scoped_release release;
      right_multiply(X.view, cols.data(), coef.data(), coef.n(), coef.p(), out.get());
    }
    return give(std::move(out), n, coef.p());
  }

  static nb::object rmatmat(Data data, Indices indices, Indices indptr, i64 p, bool rows, const Array2<double>& d_) {
    const Packed d(d_);
    const Arrays X(data, indices, indptr, d.n(), p, rows);
    Buffer out = reals(p * d.p());
    {
      nb::gil_scoped_release release;
      left_multiply(X.view, d.data(), d.p(), out.get());
    }
    return give(std::move(out), p, d.p());
  }

  static nb::object gather_(Data data, Indices indices, Indices indptr, i64 n, i64 p, bool rows,
                            const Array1<i64>& cols_) {
    const Arrays X(data, indices, indptr, n, p, rows);
    const Cols cols(cols_, p);
    Buffer out = reals(n * cols.size());
    {
      nb::gil_scoped_release release;
      gather(X.view, cols.data(), cols.size(), out.get());
    }
    return give(std::move(out), n, cols.size(), false);
  }

  static nb::tuple gather_csc_(Data data, Indices indices, Indices indptr, i64 n, i64 p, bool rows,
                               const Array1<i64>& cols_) {
    const Arrays X(data, indices, indptr, n, p, rows);
    const Cols cols(cols_, p);
    Columns out;
    {
      nb::gil_scoped_release release;
      out = gather_csc(X.view, cols.data(), cols.size());
    }
    const i64 nnz = out.indptr[cols.size()];
    return nb::make_tuple(give(std::move(out.data), nnz), give(std::move(out.indices), nnz),
                          give(std::move(out.indptr), cols.size() + 1));
  }

  static nb::object cross_(const Array2<double>& w_, Data data, Indices indices, Indices indptr, i64 p, bool rows) {
    const Matrix w(w_, false);
    const Arrays X(data, indices, indptr, w.n(), p, rows);
    Buffer out = reals(w.p() * p);
    {
      nb::gil_scoped_release release;
      cross(X.view, w.data(), w.ld(), w.p(), out.get());
    }
    return give(std::move(out), w.p(), p);
  }

  static nb::tuple stats_(Data data, Indices indices, Indices indptr, i64 n, i64 p, bool rows,
                          const Array1<double>& c_) {
    const Arrays X(data, indices, indptr, n, p, rows);
    const Vector<double> c(c_);
    require(c.size() == n, "c has a wrong length");
    Buffer mean = reals(p), var = reals(p);
    {
      nb::gil_scoped_release release;
      stats(X.view, c.data(), mean.get(), var.get());
    }
    return nb::make_tuple(give(std::move(mean), p), give(std::move(var), p));
  }

  static void all(nb::module_& m) {
    m.def("sparse_value_gradient", &value_gradient_, array("data"), array("indices"), array("indptr"), "p"_a, "rows"_a,
          array("y"), array("c"), array("offset").none(), "loss"_a, "param"_a, array("cols"), array("coef"), "b"_a);
    m.def("sparse_matmat", &matmat, array("data"), array("indices"), array("indptr"), "n"_a, "p"_a, "rows"_a,
          array("cols"), array("coef"));
    m.def("sparse_rmatmat", &rmatmat, array("data"), array("indices"), array("indptr"), "p"_a, "rows"_a, array("d"));
    m.def("sparse_gather", &gather_, array("data"), array("indices"), array("indptr"), "n"_a, "p"_a, "rows"_a,
          array("cols"));
    m.def("sparse_gather_csc", &gather_csc_, array("data"), array("indices"), array("indptr"), "n"_a, "p"_a, "rows"_a,
          array("cols"));
    m.def("sparse_cross", &cross_, array("w"), array("data"), array("indices"), array("indptr"), "p"_a, "rows"_a);
    m.def("sparse_stats", &stats_, array("data"), array("indices"), array("indptr"), "n"_a, "p"_a, "rows"_a,
          array("c"));
  }
};

} // namespace

void bind_sparse(nb::module_& m) {
  Bind<double, std::int32_t>::all(m);
  Bind<double, std::int64_t>::all(m);
  Bind<float, std::int32_t>::all(m);
  Bind<float, std::int64_t>::all(m);
}

} // namespace pursuit
