#include "bind_columns.hpp"
#include "bind_path.hpp"
#include "working_set.hpp"
#include "working_set_path.hpp"

namespace pursuit {
namespace {

SearchSolution to_solution(Solution found) {
  SearchSolution out;
  out.points = std::move(found.points);
  out.nearest = found.nearest, out.change = found.change, out.condition = found.condition;
  out.share = found.share, out.contested = found.contested;
  out.doubtful = {std::move(found.doubtful)};
  return out;
}

// f0 + sum over the rows c of C of c'x + x'(H + ridge)x/2.
SearchSolution quadratic_search(A2 H_, A2 C_, A1 ridge_, double f0, double floor, SearchRequest& request) {
  const Lines H = packed(H_), C = packed(C_);
  const Vector<double> ridge(ridge_);
  const i64 p = C.p();
  require(H.n() == p && H.p() == p && ridge.size() == p, "sizes differ");
  request.check(p);
  Poll poll(request.stop.call());
  Solution found;
  without_gil([&] {
    std::vector<double> h(static_cast<std::size_t>(p));
    for (i64 j = 0; j < p; ++j) h[j] = H.data()[j * p + j] + ridge[j];
    Rows rows;
    rows.row = [&](i64 j) { return H.data() + j * p; };
    const RowQuad quad{C.data(), h.data(), ridge.data(), f0, p, rows, nullptr, 0.0, C.n()};
    search_quadratic(quad, floor, request.plan, request.start, poll, found);
  });
  return to_solution(std::move(found));
}

// A least squares problem on the columns of X (working_set.hpp), a row of `residual` and `gradient` for each response;
// the arrays live as long as this does.
class HeldLeastSquares {
public:
  HeldLeastSquares(const Matrix& X, nb::object owner_, A1 c_, A2 residual_, A1 mean_, A1 scale_, A1 ridge_,
                   A2 gradient_, A1 length_, double f0_, double floor_, bool far)
      : owner(std::move(owner_)), arrays{residual_, gradient_}, c(c_), mean(mean_), scale(scale_), ridge(ridge_),
        length(length_), residual(packed(residual_)), gradient(packed(gradient_)), f0(f0_), floor(floor_) {
    const i64 n = X.n(), p = X.p();
    require(c.size() == n && residual.p() == n, "one number per row is wanted");
    require(mean.size() == p && scale.size() == p && ridge.size() == p && gradient.p() == p && length.size() == p,
            "one number per column is wanted");
    require(residual.n() == gradient.n() && residual.n() > 0, "one row per response is wanted");
    columns = unit_columns(X);
    columns->c = c.data(), columns->mean = mean.data(), columns->scale = scale.data(), columns->ridge = ridge.data();
    columns->far = far;
    columns->root.resize(static_cast<std::size_t>(n));
    for (i64 i = 0; i < n; ++i) columns->root[i] = std::sqrt(c[i]);
  }

  SearchSolution search(SearchRequest& request, int all_columns, double room) {
    require(all_columns >= 0 && all_columns <= 2, "all_columns must be 0, 1 or 2");
    request.check(columns->p);
    Poll poll(request.stop.call());
    Solution found;
    without_gil([&] {
      const LeastSquares problem{*columns, residual.n(), residual.data(), gradient.data(), length.data(), f0, floor};
      WorkingSetSearch kernel(problem, request.plan, static_cast<AllColumns>(all_columns), room, poll);
      kernel.run(request.start);
      found = std::move(kernel.solution);
      for (Found& point : found.points) to_units(point);
    });
    return to_solution(std::move(found));
  }

  nb::tuple shape() const { return nb::make_tuple(columns->n, columns->p); }

  // With `claims` every size is tested against all columns.
  PathSolution path(SearchRequest& request, bool thorough, bool claims, nb::object reached, double room) {
    request.check(columns->p);
    PathRequest path{request, thorough, std::move(reached)};
    Poll poll(request.stop.call());
    const i64 p = columns->p;
    bool stopped = false;
    if (!thorough && kColumnRatio * std::max(kFewColumns, 2 * request.plan.k) <= p) {
      const LeastSquares problem{*columns, residual.n(), residual.data(), gradient.data(), length.data(), f0, floor};
      WorkingSetPath light(problem, request.plan, poll);
      const std::function<bool(i64, double)> tell = path.callback();
      bool enough = false;
      without_gil([&] { enough = light.run(claims, tell); });
      if (enough) return in_units(PathRequest::to_solution(light.best, light.stopped));
      path.reached = nb::none(); // which knows all sizes
      stopped = light.stopped;
      if (stopped) request.plan.k = light.first + static_cast<i64>(light.best.size()) - 1;
    }
    std::vector<double> h(static_cast<std::size_t>(p));
    for (i64 j = 0; j < p; ++j) h[j] = scale[j] > 0.0 ? 1.0 : 0.0;
    GramRows rows(*columns, room);
    const RowQuad quad{gradient.data(), h.data(), ridge.data(), f0, p, rows.source(), length.data(), 0.0, gradient.n()};
    BasisState state(quad, path.room(), floor);
    PathSolution out = in_units(path.run(state, poll));
    out.stopped = out.stopped || stopped;
    return out;
  }

private:
  static constexpr i64 kColumnRatio = 4, kFewColumns = 40; // columns there are beside those of a first working set

  PathSolution in_units(PathSolution path) const {
    for (PathPoint& at : path.points) to_units(at.point);
    return path;
  }

  // Coefficients of columns of length 1 in the units of the objective.
  void to_units(Found& point) const {
    const std::size_t q = static_cast<std::size_t>(residual.n());
    for (std::size_t e = 0; e < point.x.size(); ++e) point.x[e] /= length[point.support[e / q]];
  }

  nb::object owner;
  std::array<Array2<double>, 2> arrays; // which residual and gradient may point into
  Vector<double> c, mean, scale, ridge, length;
  Lines residual, gradient;
  double f0, floor;
  std::unique_ptr<UnitColumns> columns;
};

} // namespace

void bind_least_squares(nb::module_& m) {
  nb::class_<HeldLeastSquares>(m, "LeastSquares")
      .def(
          "__init__",
          [](HeldLeastSquares* self, nb::object X, A1 c, A2 residual, A1 mean, A1 scale, A1 ridge, A2 gradient,
             A1 length, double f0, double floor, bool far) {
            const Matrix& matrix = nb::cast<const Matrix&>(X);
            new (self) HeldLeastSquares(matrix, X, c, residual, mean, scale, ridge, gradient, length, f0, floor, far);
          },
          "X"_a, array("c"), array("residual"), array("mean"), array("scale"), array("ridge"), array("gradient"),
          array("length"), nb::kw_only(), "f0"_a, "floor"_a, "far"_a)
      .def_prop_ro("shape", &HeldLeastSquares::shape)
      .def("path", &HeldLeastSquares::path, "request"_a, nb::kw_only(), "thorough"_a, "claims"_a, "reached"_a.none(),
           "room"_a)
      .def("search", &HeldLeastSquares::search, "request"_a, nb::kw_only(), "all_columns"_a, "room"_a);
  m.def("quadratic_search", &quadratic_search, array("H"), array("C"), array("ridge"), "f0"_a, "floor"_a, "request"_a);
}

} // namespace pursuit
