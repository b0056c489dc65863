#pragma once

#include "bindings.hpp"
#include "likelihood_state.hpp"

// What the bindings of searches and of paths share.

namespace pursuit {

// Python is asked whether to stop; an exception there (Ctrl-C) stops too, and is handed over beside what was found.
class Asked {
public:
  explicit Asked(nb::object ask_) : ask(std::move(ask_)) {}
  std::function<bool()> call() {
    if (ask.is_none()) return nullptr;
    return [this] {
      nb::gil_scoped_acquire hold;
      try {
        return nb::cast<bool>(ask());
      } catch (nb::python_error& error) {
        trouble = nb::borrow(error.value());
        return true;
      }
    };
  }
  nb::object trouble = nb::none();

private:
  nb::object ask;
};

inline nb::object numbers(const std::vector<double>& v) {
  Buffer out = reals(static_cast<i64>(v.size()));
  std::copy(v.begin(), v.end(), out.get());
  return give(std::move(out), static_cast<i64>(v.size()));
}

inline nb::object indices(const Units& v) {
  Array<i64> out = allocate<i64>(static_cast<i64>(v.size()));
  std::copy(v.begin(), v.end(), out.get());
  return give(std::move(out), static_cast<i64>(v.size()));
}

inline nb::list listed(const std::vector<Found>& found) {
  nb::list out;
  for (const Found& point : found) out.append(nb::make_tuple(indices(point.support), numbers(point.x), point.f));
  return out;
}

// What to search for: k, which units are forced in and allowed, where to start, and how long.
struct Wanted {
  Vector<std::uint8_t> forced, allowed;
  Units start;
  SearchPlan plan;
  Wanted(i64 k, U1 forced_, U1 allowed_, I1 start_, i64 restarts, i64 patience, i64 widest, double effort,
         std::uint64_t seed, double scale, i64 p)
      : forced(forced_), allowed(allowed_) {
    const Cols from(start_, p);
    start.assign(from.data(), from.data() + from.size());
    require(forced.size() == p && allowed.size() == p, "sizes differ");
    require(k >= 1 && static_cast<i64>(start.size()) <= k, "k must be positive and start have at most k units");
    plan = {k, forced.data(), allowed.data(), restarts, patience, effort, widest, seed, scale};
  }
};

// Columns of a search or a fit, checked against n samples.
struct Data {
  Lines A;
  Vector<double> ridge;
  Data(A2 A_, A1 ridge_, i64 n) : A(packed_columns(A_)), ridge(ridge_) {
    require(A.n() == n && ridge.size() == A.p(), "sizes differ");
  }
  Evened evened(const double* unit, bool intercept) const {
    return {A.data(), A.n(), A.p(), ridge.data(), unit, intercept};
  }
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
