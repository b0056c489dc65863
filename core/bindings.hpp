#pragma once

#include "common.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

namespace pursuit {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using Optional1 = std::optional<Array1<double>>;
using Optional2 = std::optional<Array2<double>>;
using A1 = const Array1<double>&;
using A2 = const Array2<double>&;
using I1 = const Array1<i64>&;
using U1 = const Array1<std::uint8_t>&;

inline auto array(const char* name) { return nb::arg(name).noconvert(); }

inline void require(bool ok, const char* message) {
  if (!ok) throw std::invalid_argument(message);
}

// A vector of the caller's, copied only when it is strided.
template <class T>
class Vector {
public:
  explicit Vector(const Array1<T>& a) : data_(a.data()), size_(static_cast<i64>(a.shape(0))) {
    if (size_ <= 1 || a.stride(0) == 1) return;
    copy_ = allocate<T>(size_);
    for (i64 i = 0; i < size_; ++i) copy_[i] = data_[i * a.stride(0)];
    data_ = copy_.get();
  }
  const T* data() const { return data_; }
  i64 size() const { return size_; }

private:
  const T* data_;
  i64 size_;
  Array<T> copy_;
};

// A float64 matrix as lines of contiguous numbers `ld` apart: rows (C-order) or columns (F-order); copied when it is
// laid out otherwise.
class Matrix {
public:
  Matrix(const Array2<double>& a, bool rows)
      : data_(a.data()), n_(static_cast<i64>(a.shape(0))), p_(static_cast<i64>(a.shape(1))) {
    const i64 lines = rows ? n_ : p_, len = rows ? p_ : n_;
    const i64 across = rows ? a.stride(0) : a.stride(1), along = rows ? a.stride(1) : a.stride(0);
    ld_ = std::max<i64>(len, 1);
    if (len <= 1 || along == 1) {
      if (lines <= 1) return;
      if (across >= ld_) {
        ld_ = across;
        return;
      }
    }
    copy_ = reals(lines * len);
    for (i64 l = 0; l < lines; ++l)
      for (i64 k = 0; k < len; ++k) copy_[l * len + k] = data_[l * across + k * along];
    data_ = copy_.get();
  }
  const double* data() const { return data_; }
  i64 n() const { return n_; }
  i64 p() const { return p_; }
  i64 ld() const { return ld_; }

private:
  const double* data_;
  i64 n_, p_, ld_ = 1;
  Buffer copy_;
};

// C-order with no gaps, for the kernels that index by i * q + l.
class Packed {
public:
  explicit Packed(const Array2<double>& a)
      : data_(a.data()), n_(static_cast<i64>(a.shape(0))), p_(static_cast<i64>(a.shape(1))) {
    if ((p_ <= 1 || a.stride(1) == 1) && (n_ <= 1 || a.stride(0) == p_)) return;
    copy_ = reals(n_ * p_);
    for (i64 i = 0; i < n_; ++i)
      for (i64 j = 0; j < p_; ++j) copy_[i * p_ + j] = data_[i * a.stride(0) + j * a.stride(1)];
    data_ = copy_.get();
  }
  const double* data() const { return data_; }
  i64 n() const { return n_; }
  i64 p() const { return p_; }

private:
  const double* data_;
  i64 n_, p_;
  Buffer copy_;
};

template <class T>
Dense<T> dense(const Array2<T>& a) {
  const i64 n = static_cast<i64>(a.shape(0)), p = static_cast<i64>(a.shape(1));
  i64 rs = a.stride(0), cs = a.stride(1);
  if (n == 0 || p == 0) return {a.data(), n, p, p, 1, true};
  // the stride along an axis of one element means nothing
  const bool by_rows = cs == 1 || p == 1, by_columns = rs == 1 || n == 1;
  require(by_rows || by_columns, "X needs unit stride along one axis");
  if (by_columns && (!by_rows || p == 1)) return {a.data(), n, p, 1, p == 1 ? n : cs, false};
  return {a.data(), n, p, n == 1 ? p : rs, 1, true};
}

// The sparse arrays of one call; n and p are checked against indptr.
template <class T, class I>
struct SparseArrays {
  Vector<T> data;
  Vector<I> indices, indptr;
  Sparse<T, I> view;
  SparseArrays(const Array1<T>& d, const Array1<I>& i, const Array1<I>& ptr, i64 n, i64 p, bool rows)
      : data(d), indices(i), indptr(ptr), view{data.data(), indices.data(), indptr.data(), n, p, rows} {
    require(n >= 0 && p >= 0 && indptr.size() == (rows ? n : p) + 1, "indptr does not match the shape");
    require(indices.size() == data.size(), "data and indices differ in length");
    require(indptr.data()[0] >= 0 && view.stored() <= data.size(), "indptr points past the data");
  }
};

struct Cols {
  Vector<i64> cols;
  Cols(const Array1<i64>& a, i64 p) : cols(a) {
    for (i64 k = 0; k < cols.size(); ++k)
      require(cols.data()[k] >= 0 && cols.data()[k] < p, "a column is out of range");
  }
  const i64* data() const { return cols.data(); }
  i64 size() const { return cols.size(); }
};

struct SampleArrays {
  Vector<double> y, c;
  std::optional<Vector<double>> offset;
  Samples view;
  SampleArrays(const Array1<double>& y_, const Array1<double>& c_, const Optional1& offset_, i64 n) : y(y_), c(c_) {
    if (offset_) offset.emplace(*offset_);
    require(y.size() == n && c.size() == n && (!offset || offset->size() == n), "y, c or offset has a wrong length");
    view = {y.data(), c.data(), offset ? offset->data() : nullptr, n};
  }
};

template <class T>
nb::object give(Array<T> data, i64 n) {
  T* raw = data.get();
  nb::capsule owner(raw, [](void* q) noexcept { std::free(q); });
  data.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(raw, {static_cast<std::size_t>(n)}, owner));
}

template <class T>
nb::object give(Array<T> data, i64 n, i64 p, bool rows = true) {
  T* raw = data.get();
  nb::capsule owner(raw, [](void* q) noexcept { std::free(q); });
  data.release();
  const i64 rs = rows ? p : 1, cs = rows ? 1 : n;
  return nb::cast(
      nb::ndarray<nb::numpy, T>(raw, {static_cast<std::size_t>(n), static_cast<std::size_t>(p)}, owner, {rs, cs}));
}

void bind_dense(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_support(nb::module_& m);
void bind_exchange(nb::module_& m);
void bind_relaxation(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_exactly(nb::module_& m);
void bind_search(nb::module_& m);

} // namespace pursuit
