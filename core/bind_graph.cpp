#include "bind_search.hpp"
#include "graph_search.hpp"

namespace pursuit {
namespace {

using U2 = const Array2<std::uint8_t>&;

// Edges as numbers i * p + j with i < j, sorted and different.
Units checked_edges(I1 edges_, i64 p) {
  const Vector<i64> edges(edges_);
  Units out(edges.data(), edges.data() + edges.size());
  for (std::size_t e = 0; e < out.size(); ++e)
    require(out[e] >= 0 && out[e] / p < out[e] % p && out[e] / p < p && (e == 0 || out[e - 1] < out[e]),
            "edges must be sorted numbers i * p + j with i < j");
  return out;
}

struct Correlations {
  Lines R;
  explicit Correlations(A2 R_) : R(packed(R_)) { require(R.n() == R.p() && R.n() > 0, "R must be square"); }
  i64 p() const { return R.n(); }
};

struct ForbiddenPairs {
  Array<std::uint8_t> data;
  ForbiddenPairs(U2 a, i64 p) : data(allocate<std::uint8_t>(p * p)) {
    require(static_cast<i64>(a.shape(0)) == p && static_cast<i64>(a.shape(1)) == p, "sizes differ");
    for (i64 i = 0; i < p; ++i)
      for (i64 j = 0; j < p; ++j) data[i * p + j] = i == j || a.data()[i * a.stride(0) + j * a.stride(1)];
  }
};

// Edges, W on them, its diagonal, its inverse, value, gap.
nb::tuple given(GraphFit&& fit, i64 p) {
  return nb::make_tuple(indices(fit.edges), numbers(fit.w), numbers(fit.d), to_numpy(std::move(fit.Sigma), p, p),
                        fit.value, fit.gap);
}

GraphFit taken(const Correlations& R, const Units& edges, A1 w_, A1 d_, A2 Sigma_) {
  const i64 p = R.p();
  const Vector<double> w(w_), d(d_);
  const Lines Sigma = packed(Sigma_);
  require(w.size() == static_cast<i64>(edges.size()) && d.size() == p && Sigma.n() == p && Sigma.p() == p,
          "sizes differ");
  GraphFit fit;
  fit.edges = edges;
  fit.w.assign(w.data(), w.data() + w.size());
  fit.d.assign(d.data(), d.data() + p);
  fit.Sigma = reals(p * p);
  std::copy(Sigma.data(), Sigma.data() + p * p, fit.Sigma.get());
  return fit;
}

nb::tuple moved(const std::vector<EdgeMove>& moves) {
  std::vector<i64> out, in;
  std::vector<double> change;
  for (const EdgeMove& move : moves) out.push_back(move.out), in.push_back(move.in), change.push_back(move.change);
  return nb::make_tuple(indices(out), indices(in), numbers(change));
}

nb::tuple graph_refit(A2 R_, I1 edges_, double lam, const Optional2& start_, double tol, int patience, nb::object ask) {
  const Correlations R(R_);
  const i64 p = R.p();
  const Units edges = checked_edges(edges_, p);
  std::optional<Lines> start;
  if (start_) start.emplace(packed(*start_));
  require(!start || (start->n() == p && start->p() == p), "sizes differ");
  StopCallback stop_callback(std::move(ask));
  Poll poll(stop_callback.call());
  GraphFit fit;
  bool found = false;
  without_gil([&] {
    GraphFitter fitter(R.R.data(), p, lam, poll);
    found = fitter.refit(edges, start ? start->data() : nullptr, tol, patience, fit);
  });
  if (!found) return nb::make_tuple(nb::none(), stop_callback.error);
  return nb::make_tuple(given(std::move(fit), p), stop_callback.error);
}

nb::tuple graph_path(A2 R_, I1 sizes_, I1 include_, I1 start_, U2 closed_, bool thorough, double tol, nb::object ask,
                     nb::object reached) {
  const Correlations R(R_);
  const i64 p = R.p();
  const Vector<i64> sizes(sizes_);
  const Units include = checked_edges(include_, p), start = checked_edges(start_, p);
  const ForbiddenPairs closed(closed_, p);
  StopCallback stop_callback(std::move(ask));
  Poll poll(stop_callback.call());
  std::vector<GraphFit> fits;
  bool stopped = false;
  without_gil([&] {
    GraphSearch search(R.R.data(), p, closed.data.get(), include, poll);
    bool fine = search.begin(start);
    for (i64 s = 0; s < sizes.size() && fine && !poll.stop() && !stopped; ++s) {
      search.search(sizes[s], thorough);
      GraphFit end;
      fine = search.tighten(tol, end);
      if (!fine) break;
      fits.push_back(std::move(end));
      if (reached.is_none()) continue;
      nb::gil_scoped_acquire hold;
      try {
        stopped = is_true(reached(sizes[s], fits.back().value));
      } catch (nb::python_error& error) {
        stop_callback.error = nb::borrow(error.value());
        stopped = true;
      }
    }
  });
  nb::list out;
  for (GraphFit& fit : fits) out.append(given(std::move(fit), p));
  return nb::make_tuple(std::move(out), stopped, stop_callback.error);
}

nb::tuple graph_moves(A2 R_, I1 edges_, A1 w, A1 d, A2 Sigma, I1 include_, U2 closed_, i64 most) {
  const Correlations R(R_);
  const Units edges = checked_edges(edges_, R.p()), include = checked_edges(include_, R.p());
  const ForbiddenPairs closed(closed_, R.p());
  require(most >= 0, "most must not be negative");
  Poll poll(nullptr);
  GraphSearch search(R.R.data(), R.p(), closed.data.get(), include, poll);
  search.fit = taken(R, edges, w, d, Sigma);
  std::vector<EdgeMove> moves;
  std::vector<double> costs;
  without_gil([&] {
    if (most > 0) moves = search.ranked(static_cast<std::size_t>(most));
    costs = search.costs();
  });
  return nb::make_tuple(moved(moves), numbers(costs));
}

nb::tuple graph_open(A2 R_, I1 edges_, A1 w, A1 d, A2 Sigma, I1 include_, U2 closed_, double least, int sweeps,
                     i64 most, nb::object ask) {
  const Correlations R(R_);
  const Units edges = checked_edges(edges_, R.p()), include = checked_edges(include_, R.p());
  const ForbiddenPairs closed(closed_, R.p());
  StopCallback stop_callback(std::move(ask));
  Poll poll(stop_callback.call());
  GraphSearch search(R.R.data(), R.p(), closed.data.get(), include, poll);
  const GraphFit fit = taken(R, edges, w, d, Sigma);
  std::vector<EdgeMove> left;
  i64 looked = 0;
  bool whole = true;
  without_gil([&] {
    left = search.open(fit, least, sweeps, most, looked);
    whole = !poll.stop();
  });
  return nb::make_tuple(moved(left), looked, whole, stop_callback.error);
}

} // namespace

void bind_graph(nb::module_& m) {
  m.def("graph_refit", &graph_refit, array("R"), array("edges"), "lam"_a, array("start").none(), "tol"_a, "patience"_a,
        "ask"_a.none());
  m.def("graph_path", &graph_path, array("R"), array("sizes"), array("include"), array("start"), array("closed"),
        "thorough"_a, "tol"_a, "ask"_a.none(), "reached"_a.none());
  m.def("graph_moves", &graph_moves, array("R"), array("edges"), array("w"), array("d"), array("Sigma"),
        array("include"), array("closed"), "most"_a);
  m.def("graph_open", &graph_open, array("R"), array("edges"), array("w"), array("d"), array("Sigma"), array("include"),
        array("closed"), "least"_a, "sweeps"_a, "most"_a, "ask"_a.none());
}

} // namespace pursuit
