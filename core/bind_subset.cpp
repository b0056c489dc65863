#include "bind_path.hpp"
#include "newton.hpp"
#include "working_set.hpp"

// Small least squares problems in one call from the rows to the best support and what is proved of it: a call costs
// less than the Python around several.

namespace pursuit {
namespace {

// The squared loss of dense rows: the model without columns, the Gram matrix, and the gradient there, both about the
// columns' means where there is an intercept.
struct SmallProblem {
  i64 n, p;
  Buffer H, mean, slope, h;
  double b0 = 0.0, f0 = 0.0, tilt = 0.0; // intercept, value and its derivative in the intercept, without columns

  SmallProblem(i64 n_, i64 p_) : n(n_), p(p_), H(reals(p * p)), mean(reals(p)), slope(reals(p)), h(reals(p)) {}

  template <class T>
  void fill(const Dense<T>& X, const double* y, const double* c, const double* offset, const double* shift,
            const double* scale, bool intercept) {
    Buffer A = reals(n * p), r = reals(n);
    Units every(static_cast<std::size_t>(p));
    std::iota(every.begin(), every.end(), 0);
    gather(X, every.data(), p, A.get());
    double total = 0.0;
    for (i64 i = 0; i < n; ++i) r[i] = offset ? y[i] - offset[i] : y[i], total += c[i];
    for (int turn = 0; turn < 2 && intercept; ++turn) { // twice: the first mean is rounded at its own size
      const double b = dot(c, r.get(), n) / total;
      b0 += b;
      for (i64 i = 0; i < n; ++i) r[i] -= b;
    }
    for (i64 i = 0; i < n; ++i) {
      const double d = c[i] * r[i];
      f0 += 0.5 * d * r[i], tilt -= d;
      r[i] = -d;
    }
    for (i64 j = 0; j < p; ++j) {
      double* a = A.get() + j * n;
      if (shift)
        for (i64 i = 0; i < n; ++i) a[i] = (a[i] - shift[j]) / scale[j];
      mean[j] = intercept ? centre_column(a, n, c, std::max(total, 1e-300)) : 0.0;
      slope[j] = dot(a, r.get(), n);
    }
    gram(DenseColumns{A.get(), n, p, 1, n, false}, c, H.get());
  }

  // Whether all numbers are of a size that needs no care: columns vary, none is far from zero beside its spread, and
  // the residual of the model without columns is not next to nothing.
  bool usable() const {
    constexpr double extreme = 1e150, tiny = 1e-140, far = 1e4;
    if (!(f0 > 1.0 / extreme && f0 < extreme)) return false;
    for (i64 j = 0; j < p; ++j) {
      const double square = H[j * (p + 1)];
      if (!(square > 1.0 / extreme && square < extreme)) return false;
      if (!(std::fabs(slope[j]) > tiny * std::sqrt(f0) && std::fabs(slope[j]) < extreme)) return false;
      if (!(mean[j] * mean[j] <= far * far * square)) return false;
    }
    return true;
  }
};

// The best support of a size with its minimiser, on which no exchange of one column for another helps (but for those
// with `doubtful` newcomers, which the formula cannot judge).
struct SubsetSolution {
  Found point;
  Move exchange; // the one that changes f least
  Units doubtful;
  double intercept, condition, noise; // noise: what rounding may have made of the value
  double b0, f0, tilt;
};

// `judged` >= 0: the point of that size on a path to request's k with a search at every size; else one search for k
// columns. `view`: what is taken off the columns, and what they are divided by then. None where the numbers need more
// care, or where not every exchange could be judged.
std::optional<SubsetSolution> best_subset(const Matrix& X, A1 y_, A1 c_, const Optional1& offset_, double l2,
                                          const Optional1& ridge_, const Optional2& view_, bool intercept,
                                          SearchRequest& request, i64 judged, double small_share, double rounded) {
  const i64 n = X.n(), p = X.p();
  const Vector<double> y(y_), c(c_), offset(offset_), each(ridge_);
  require(y.size() == n && c.size() == n && offset.none_or(n) && each.none_or(p), "sizes differ");
  std::optional<Lines> view;
  if (view_) view.emplace(packed(*view_));
  require(!view || (view->n() == 2 && view->p() == p), "sizes differ");
  request.check(p);
  SmallProblem problem(n, p);
  std::vector<double> ridge(static_cast<std::size_t>(p), l2);
  if (each.size() == p) ridge.assign(each.data(), each.data() + p);
  bool usable = false;
  X.run([&]<class D>(const D& x) {
    if constexpr (is_dense<D>) {
      problem.fill(x, y.data(), c.data(), offset.data(), view ? view->data() : nullptr,
                   view ? view->data() + p : nullptr, intercept);
      usable = problem.usable();
    }
  });
  if (!usable) return std::nullopt;
  const double f0 = problem.f0, floor = small_share * f0;
  for (i64 j = 0; j < p; ++j) problem.h[j] = problem.H[j * (p + 1)] + ridge[j];
  request.plan.scale = 1e-9 * f0;
  Rows rows;
  rows.row = [&](i64 j) { return problem.H.get() + j * p; };
  const RowQuad quad{problem.slope.get(), problem.h.get(), ridge.data(), f0, p, rows};
  Poll poll(request.stop.call());
  SubsetSolution out{};
  const SearchPlan& plan = request.plan;
  i64 first = 0;
  for (i64 j = 0; j < p; ++j) first += plan.forced[j];
  if (judged >= 0) {
    require(judged >= first && judged <= plan.k, "judged must be a size of the path");
    PathRequest path{request, true, nb::none(), judged, f0, rounded};
    BasisState state(quad, path.room(), floor);
    PathSolution solution = path.run(state, poll);
    if (solution.stopped || static_cast<i64>(solution.points.size()) != plan.k - first + 1) return std::nullopt;
    if (!solution.claimed(f0, rounded)) return std::nullopt;
    PathPoint& at = solution.points[static_cast<std::size_t>(judged - first)];
    out.point = std::move(at.point), out.exchange = at.exchange, out.doubtful = std::move(at.doubtful);
    out.condition = at.condition;
  } else {
    Solution found;
    without_gil([&] { search_quadratic(quad, floor, plan, request.start, poll, found); });
    if (found.points.empty()) return std::nullopt;
    PathPoint at{std::move(found.points.back()), true, found.condition, found.share, found.change, {}, {}};
    if (!at.claimed(f0, rounded) || static_cast<i64>(at.point.support.size()) != plan.k) return std::nullopt;
    i64 inside = 0;
    for (i64 j : at.point.support) inside += plan.forced[j];
    if (inside != first) return std::nullopt;
    out.point = std::move(at.point), out.exchange = found.nearest, out.doubtful = std::move(found.doubtful);
    out.condition = found.condition;
  }
  if (out.exchange.leave < 0 || !(out.point.f > floor)) return std::nullopt;
  double size = std::sqrt(2.0 * f0); // pursuit/searched.py: rounding
  out.intercept = problem.b0;
  for (std::size_t l = 0; l < out.point.support.size(); ++l) {
    const i64 j = out.point.support[l];
    size += std::fabs(out.point.x[l]) * std::sqrt(problem.h[j]);
    out.intercept -= problem.mean[j] * out.point.x[l];
  }
  out.noise = 0.5 * rounded * size * size;
  out.b0 = problem.b0, out.f0 = f0, out.tilt = problem.tilt;
  return out;
}

// Per column the middle of some rows where it is more than `far` times their spread away from zero, else 0; None where
// there is no such column.
nb::object far_origin(const Matrix& X, i64 sampled, double far) {
  const i64 n = X.n(), p = X.p(), count = std::min(n, sampled);
  Buffer out = reals(p);
  bool any = false;
  X.visit([&]<class D>(const D& x) {
    if constexpr (is_dense<D>) {
      const double step = static_cast<double>(n - 1) / static_cast<double>(std::max<i64>(count - 1, 1));
      std::vector<double> low(static_cast<std::size_t>(p), HUGE_VAL), high(low), sum(low);
      std::fill(high.begin(), high.end(), -HUGE_VAL);
      std::fill(sum.begin(), sum.end(), 0.0);
      for (i64 s = 0; s < count; ++s) {
        const i64 i = s == count - 1 ? n - 1 : static_cast<i64>(static_cast<double>(s) * step);
        for (i64 j = 0; j < p; ++j) {
          const double v = static_cast<double>(*x.at(i, j));
          low[j] = std::min(low[j], v), high[j] = std::max(high[j], v), sum[j] += v - v; // NaN where v is not finite
        }
      }
      for (i64 j = 0; j < p; ++j) {
        const double middle = 0.5 * (low[j] + high[j]), spread = high[j] - low[j];
        const bool is_far = sum[j] == 0.0 && spread > 0.0 && std::fabs(middle) > far * spread && std::isfinite(middle);
        out[j] = is_far ? middle : 0.0;
        any |= is_far;
      }
    }
  });
  return any ? to_numpy(std::move(out), p) : nb::none();
}

} // namespace

void bind_subset(nb::module_& m) {
  nb::class_<SubsetSolution>(m, "SubsetSolution")
      .def_prop_ro("support", [](const SubsetSolution& at) { return indices(at.point.support); })
      .def_prop_ro("coef", [](const SubsetSolution& at) { return numbers(at.point.x); })
      .def_prop_ro("value", [](const SubsetSolution& at) { return at.point.f; })
      .def_prop_ro("doubtful", [](const SubsetSolution& at) { return indices(at.doubtful); })
      .def_prop_ro("exchange",
                   [](const SubsetSolution& at) {
                     return nb::make_tuple(at.exchange.leave, at.exchange.enter, at.exchange.change);
                   })
      .def_ro("intercept", &SubsetSolution::intercept)
      .def_ro("condition", &SubsetSolution::condition)
      .def_ro("noise", &SubsetSolution::noise)
      .def_ro("null_intercept", &SubsetSolution::b0)
      .def_ro("null_value", &SubsetSolution::f0)
      .def_ro("tilt", &SubsetSolution::tilt);
  m.def("best_subset", &best_subset, "X"_a, array("y"), array("c"), array("offset").none(), "l2"_a,
        array("ridge").none(), array("view").none(), "intercept"_a, "request"_a, "judged"_a, "small_share"_a,
        "rounded"_a);
  m.def("far_origin", &far_origin, "X"_a, "sampled"_a, "far"_a);
}

} // namespace pursuit
