#pragma once

#include "losses.hpp"

#include <cstring>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <variant>

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

// Work that needs no Python.
template <class F>
void without_gil(F&& work) {
  nb::gil_scoped_release release;
  work();
}

// Arrays may begin anywhere in memory: parts of packed records, of files, of messages.
template <class T>
bool aligned(const T* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}
template <class T>
T load(const T* data) {
  T value;
  std::memcpy(&value, static_cast<const void*>(data), sizeof(T));
  return value;
}

// A vector of the caller's, or none; kept alive, copied only when it is strided or not aligned.
template <class T>
class Vector {
public:
  explicit Vector(const Array1<T>& a) : owner_(a), data_(a.data()), size_(static_cast<i64>(a.shape(0))) {
    if ((size_ <= 1 || a.stride(0) == 1) && aligned(data_)) return;
    copy_ = allocate<T>(size_);
    for (i64 i = 0; i < size_; ++i) copy_[i] = load(data_ + i * a.stride(0));
    data_ = copy_.get();
  }
  explicit Vector(const std::optional<Array1<T>>& a) {
    if (a) *this = Vector(*a);
  }
  const T* data() const { return data_; }
  i64 size() const { return size_; }
  bool none_or(i64 n) const { return !owner_.is_valid() || size_ == n; }
  T operator[](i64 i) const { return data_[i]; }

private:
  Array1<T> owner_;
  const T* data_ = nullptr;
  i64 size_ = 0;
  Array<T> copy_;
};

// A float64 matrix as lines of contiguous numbers `ld` apart: rows (C-order) or columns (F-order); copied when it is
// laid out otherwise, not aligned, or `packed` and there are gaps between its lines.
class Lines {
public:
  Lines(const Array2<double>& a, bool rows, bool packed = false)
      : data_(a.data()), n_(static_cast<i64>(a.shape(0))), p_(static_cast<i64>(a.shape(1))) {
    const i64 lines = rows ? n_ : p_, len = rows ? p_ : n_;
    const i64 across = rows ? a.stride(0) : a.stride(1), along = rows ? a.stride(1) : a.stride(0);
    ld_ = std::max<i64>(len, 1);
    if ((len <= 1 || along == 1) && aligned(data_)) {
      if (lines <= 1) return;
      if (packed ? across == len : across >= ld_) {
        ld_ = across;
        return;
      }
    }
    copy_ = reals(lines * len);
    for (i64 l = 0; l < lines; ++l)
      for (i64 k = 0; k < len; ++k) copy_[l * len + k] = load(data_ + l * across + k * along);
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

// For the kernels that index by i * q + l, or by j * n + i.
inline Lines packed(A2 a) { return {a, true, true}; }
inline Lines packed_columns(A2 a) { return {a, false, true}; }
inline DenseColumns columns(const Lines& a) { return {a.data(), a.n(), a.p(), 1, a.ld(), false}; }

template <class T>
struct DenseArray {
  Array2<T> owner;
  Dense<T> view;
  explicit DenseArray(const Array2<T>& a) : owner(a) {
    const i64 n = static_cast<i64>(a.shape(0)), p = static_cast<i64>(a.shape(1));
    const i64 rs = a.stride(0), cs = a.stride(1);
    // the stride along an axis of one element means nothing
    const bool by_rows = cs == 1 || p <= 1, by_columns = rs == 1 || n <= 1;
    require(by_rows || by_columns || n == 0 || p == 0, "X needs unit stride along one axis");
    // copied where it came in or was unpickled (designs/make.py, designs/base.py)
    require(aligned(a.data()) || n == 0 || p == 0, "X must be aligned");
    if (by_columns && (!by_rows || p <= 1))
      view = {a.data(), n, p, 1, p <= 1 ? n : cs, false};
    else
      view = {a.data(), n, p, n <= 1 ? p : rs, 1, true};
  }
};

// That the indices lie inside has been checked where X came in (pursuit/designs/make.py).
template <class T, class I>
struct SparseArrays {
  Vector<T> data;
  Vector<I> indices, indptr;
  Sparse<T, I> view;
  SparseArrays(const Array1<T>& d, const Array1<I>& i, const Array1<I>& ptr, i64 n, i64 p, bool rows)
      : data(d), indices(i), indptr(ptr), view{data.data(), indices.data(), indptr.data(), n, p, rows} {
    require(n >= 0 && p >= 0 && indptr.size() == (rows ? n : p) + 1, "indptr does not match the shape");
    require(indices.size() == data.size(), "data and indices differ in length");
    require(indptr[0] >= 0 && view.stored() <= data.size(), "indptr points past the data");
  }
};

// X as the caller stores it; its arrays live as long as this does.
class Matrix {
public:
  template <class T>
  explicit Matrix(const Array2<T>& X) : held(DenseArray<T>(X)) {}
  template <class T, class I>
  Matrix(const Array1<T>& data, const Array1<I>& indices, const Array1<I>& indptr, i64 n, i64 p, bool rows)
      : held(SparseArrays<T, I>(data, indices, indptr, n, p, rows)) {}

  // work(X) for the Dense or Sparse that it is, without the GIL.
  template <class F>
  void run(F&& work) const {
    nb::gil_scoped_release release;
    std::visit([&](const auto& arrays) { work(arrays.view); }, held);
  }
  // The same, called without the GIL.
  template <class F>
  void visit(F&& work) const {
    std::visit([&](const auto& arrays) { work(arrays.view); }, held);
  }
  i64 n() const {
    return std::visit([](const auto& arrays) { return arrays.view.n; }, held);
  }
  i64 p() const {
    return std::visit([](const auto& arrays) { return arrays.view.p; }, held);
  }

private:
  std::variant<DenseArray<double>, DenseArray<float>, SparseArrays<double, std::int32_t>, SparseArrays<double, i64>,
               SparseArrays<float, std::int32_t>, SparseArrays<float, i64>>
      held;
};

template <class X>
inline constexpr bool is_dense = false;
template <class T>
inline constexpr bool is_dense<Dense<T>> = true;

struct Cols {
  Vector<i64> cols;
  Cols(const Array1<i64>& a, i64 p) : cols(a) {
    for (i64 k = 0; k < cols.size(); ++k) require(cols[k] >= 0 && cols[k] < p, "a column is out of range");
  }
  const i64* data() const { return cols.data(); }
  i64 size() const { return cols.size(); }
};

// Targets, weights and offset with their loss, as the caller stores them; the arrays live as long as this does.
class SampleArrays {
public:
  SampleArrays(A1 y_, A1 c_, const Optional1& offset_, int code, double param)
      : y(y_), c(c_), offset(offset_),
        view{y.data(), c.data(), offset.data(), y.size(), static_cast<LossCode>(code), param} {
    require(c.size() == view.n && offset.none_or(view.n), "y, c and offset differ in length");
    with_loss(view, [](auto) {});
  }
  const Samples& of(i64 n) const {
    require(view.n == n, "the samples are not as many as the rows");
    return view;
  }
  i64 n() const { return view.n; }

private:
  Vector<double> y, c, offset;
  Samples view;
};

template <class T>
nb::object to_numpy(Array<T> data, i64 n) {
  T* raw = data.get();
  nb::capsule owner(raw, [](void* q) noexcept { std::free(q); });
  data.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(raw, {static_cast<std::size_t>(n)}, owner));
}

template <class T>
nb::object to_numpy(Array<T> data, i64 n, i64 p, bool rows = true) {
  T* raw = data.get();
  nb::capsule owner(raw, [](void* q) noexcept { std::free(q); });
  data.release();
  const i64 rs = rows ? p : 1, cs = rows ? 1 : n;
  return nb::cast(
      nb::ndarray<nb::numpy, T>(raw, {static_cast<std::size_t>(n), static_cast<std::size_t>(p)}, owner, {rs, cs}));
}

using MatrixClass = nb::class_<Matrix>;
MatrixClass bind_matrix(nb::module_& m); // the class, and products
void bind_passes(MatrixClass& matrix);   // what reads all of X for a loss
void bind_support(nb::module_& m, MatrixClass& matrix);
void bind_exchange(nb::module_& m);
void bind_relaxation(nb::module_& m);
void bind_exactly(nb::module_& m);
void bind_leaps(nb::module_& m);
void bind_search(nb::module_& m);
void bind_path(nb::module_& m);
void bind_least_squares(nb::module_& m);
void bind_likelihood(nb::module_& m);
void bind_graph(nb::module_& m);

} // namespace pursuit
