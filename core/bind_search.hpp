#pragma once

#include "bindings.hpp"
#include "likelihood_state.hpp"

// What the bindings of searches and of paths share.

namespace pursuit {

// What a person means by true, as `if` takes it.
inline bool is_true(const nb::object& answer) {
  const int yes = PyObject_IsTrue(answer.ptr());
  if (yes < 0) throw nb::python_error();
  return yes > 0;
}

// A Python function that stops a search by returning true; so does an exception (Ctrl-C), which is kept.
class StopCallback {
public:
  explicit StopCallback(nb::object stop_) : stop(std::move(stop_)) {}
  std::function<bool()> call() {
    error = nb::none();
    if (stop.is_none()) return nullptr;
    return [this] {
      nb::gil_scoped_acquire hold;
      return ask([this] { return is_true(stop()); });
    };
  }
  // What `question` says, or true where it raises.
  template <class Question>
  bool ask(Question&& question) {
    try {
      return question();
    } catch (nb::python_error& raised) {
      error = nb::borrow(raised.value());
      return true;
    }
  }
  nb::object error = nb::none();

private:
  nb::object stop;
};

inline nb::object numbers(const std::vector<double>& v) {
  Buffer out = reals(static_cast<i64>(v.size()));
  std::copy(v.begin(), v.end(), out.get());
  return to_numpy(std::move(out), static_cast<i64>(v.size()));
}

inline nb::object indices(const Units& v) {
  Array<i64> out = allocate<i64>(static_cast<i64>(v.size()));
  std::copy(v.begin(), v.end(), out.get());
  return to_numpy(std::move(out), static_cast<i64>(v.size()));
}

inline nb::list to_list(std::vector<Found> found) {
  nb::list out;
  for (Found& point : found) out.append(nb::cast(std::move(point)));
  return out;
}

// What to search for: k, which units are forced in and allowed, where to start, how many restarts and when to stop.
struct SearchRequest {
  Vector<std::uint8_t> forced, allowed;
  Units start;
  SearchPlan plan;
  StopCallback stop;
  SearchRequest(i64 k, U1 forced_, U1 allowed_, I1 start_, i64 restarts, i64 patience, i64 widest, double effort,
                std::uint64_t seed, double scale, nb::object stop_)
      : forced(forced_), allowed(allowed_), stop(std::move(stop_)) {
    const i64 p = forced.size();
    const Cols from(start_, p);
    start.assign(from.data(), from.data() + from.size());
    require(allowed.size() == p, "sizes differ");
    require(k >= 1 && static_cast<i64>(start.size()) <= k, "k must be positive and start have at most k units");
    plan = {k, forced.data(), allowed.data(), restarts, patience, effort, widest, seed, scale};
  }
  // What the callback raised, given away: an exception knows frames, and these may know the request.
  nb::object take_error() { return std::exchange(stop.error, nb::none()); }
  void check(i64 p) const { require(forced.size() == p, "the request is for another number of columns"); }
};

// What a search found: points, each better than the one before; of the last the exchange that changes f least, how many
// exchanges are not known to be of no help (-1: none was judged) of how many, and units too close to dependent for
// the formulas.
struct SearchSolution {
  std::vector<Found> points;
  Move nearest;
  i64 unjudged = 0, total = 0;
  std::vector<Units> doubtful;
  double change = -HUGE_VAL, condition = 0.0, share = 0.0;
  i64 contested = 0;
};

// Columns of mean square 1 (even_columns.hpp), and what they need to live.
class HeldColumns {
public:
  HeldColumns(A2 A_, A1 ridge_, A1 unit_, bool intercept) : ridge(ridge_), unit(unit_) {
    A.emplace(packed_columns(A_));
    check(A->p());
    columns = std::make_unique<DenseEvenColumns>(A->data(), A->n(), A->p(), ridge.data(), unit.data(), intercept);
  }
  // (X - mean) scale: a copy where X is dense; where it is sparse what it stores, and mean must be zero.
  HeldColumns(const Matrix& X, A1 mean_, A1 scale_, A1 ridge_, A1 unit_, bool intercept) : ridge(ridge_), unit(unit_) {
    const Vector<double> mean(mean_), scale(scale_);
    const i64 n = X.n(), p = X.p();
    check(p);
    require(mean.size() == p && scale.size() == p, "sizes differ");
    without_gil([&] {
      X.visit([&]<class D>(const D& x) {
        if constexpr (!is_dense<D>) {
          columns = std::make_unique<SparseEvenColumns>(x, scale.data(), ridge.data(), unit.data(), intercept);
        } else {
          Units all(static_cast<std::size_t>(p));
          std::iota(all.begin(), all.end(), 0);
          copy = reals(n * p);
          gather(x, all.data(), p, copy.get());
          for (i64 j = 0; j < p; ++j) {
            double *a = copy.get() + j * n, m = mean[j], s = scale[j];
#pragma omp simd
            for (i64 i = 0; i < n; ++i) a[i] = (a[i] - m) * s;
          }
          columns = std::make_unique<DenseEvenColumns>(copy.get(), n, p, ridge.data(), unit.data(), intercept);
        }
      });
    });
  }
  EvenColumns& of(i64 n) const {
    require(columns->n == n, "the samples are not as many as the rows");
    return *columns;
  }
  nb::tuple shape() const { return nb::make_tuple(columns->n, columns->p); }

private:
  void check(i64 p) const { require(ridge.size() == p && unit.size() == p, "sizes differ"); }
  std::optional<Lines> A;
  Buffer copy;
  Vector<double> ridge, unit;
  std::unique_ptr<EvenColumns> columns;
};

// Samples of several classes.
struct Classes {
  Lines E;
  Cols label;
  Vector<double> c;
  std::optional<Lines> offset;
  Classes(I1 label_, A1 c_, const Optional2& offset_, A2 E_)
      : E(packed(E_)), label(label_, static_cast<i64>(E_.shape(0))), c(c_) {
    if (offset_) offset.emplace(packed(*offset_));
    require(label.size() == c.size() && E.p() == E.n() - 1 &&
                (!offset || (offset->n() == c.size() && offset->p() == E.n())),
            "sizes differ");
  }
  Multinomial likelihood() const {
    return {label.data(), c.data(), offset ? offset->data() : nullptr, E.data(), c.size(), E.n()};
  }
};

} // namespace pursuit
