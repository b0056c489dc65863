#pragma once

#include "class_path.hpp"
#include "likelihood_search.hpp"

// The best k columns for several classes, where all columns are too many for likelihood_search.hpp: a light path
// (class_path.hpp), whose models choose columns; that search on these columns; then exchanges from where it ends on a
// new model, whose columns join. This repeats while it leads to a better support.

namespace pursuit {

class ClassSearch {
public:
  std::vector<Found> found; // each better than the one before

  // `outside`: columns of a model beside the support; `beam`: of the search on those that were chosen, 0 for none.
  ClassSearch(EvenColumns& X_, Likelihood& loss_, const SearchPlan& plan_, i64 outside_, i64 beam_, double floor_,
              Poll& poll_)
      : X(X_), loss(loss_), plan(plan_), beam(beam_), floor(floor_), poll(poll_),
        path(X_, loss_, plan_, outside_, true, floor_, poll_) {}

  void run(const Units& start) {
    follow(start);
    for (int turn = 0; turn < kTurns && beam != 0 && !over(); ++turn) {
      const double before = found.back().f;
      search();
      if (turn > 0 && !(found.back().f < before)) return;
      const std::size_t known = path.columns.size();
      if (over()) return;
      follow(found.back().support);
      if (path.columns.size() == known) return;
    }
  }

private:
  static constexpr int kTurns = 3; // searches on what models have chosen

  bool over() { return poll.stop() || found.empty() || !(found.back().f > floor); }

  void take(Found point) {
    if (static_cast<i64>(point.support.size()) < plan.k && point.f > floor) return;
    if (found.empty() || point.f < found.back().f - 1e-12 * plan.size(point.f)) found.push_back(std::move(point));
  }

  void follow(const Units& start) {
    Units from = start;
    for (i64 j = 0; j < X.p && start.empty(); ++j)
      if (plan.forced[j]) from.push_back(j);
    const std::vector<std::uint8_t> wanted(static_cast<std::size_t>(plan.k + 1), 1);
    path.run(from, wanted.data(), nullptr);
    if (!path.best.empty()) take(path.found(path.best.back()));
  }

  // The search on the columns that models have chosen.
  void search() {
    const Units& W = path.columns;
    const i64 w = static_cast<i64>(W.size());
    Buffer A = reals(X.n * w), ridge = reals(w), unit = reals(w);
    X.gather(W, A.get());
    std::vector<std::uint8_t> forced, allowed;
    Units start;
    const Units& S = found.back().support;
    for (i64 l = 0; l < w; ++l) {
      ridge[l] = X.ridge[W[l]], unit[l] = X.unit[W[l]];
      forced.push_back(plan.forced[W[l]]), allowed.push_back(plan.allowed[W[l]]);
      if (std::find(S.begin(), S.end(), W[l]) != S.end()) start.push_back(l);
    }
    SearchPlan local = plan;
    local.forced = forced.data(), local.allowed = allowed.data();
    DenseEvenColumns columns(A.get(), X.n, w, ridge.get(), unit.get(), X.intercept);
    LikelihoodFitter fitter(columns, loss, std::min(w, plan.widest * plan.k + 1), floor, plan.scale, poll);
    LikelihoodState state(fitter, plan.k, floor);
    LikelihoodSearch search(state, {local, beam, 0}, poll);
    search.run(start);
    for (Found& point : search.found) {
      for (i64& j : point.support) j = W[j]; // both are in order
      take(std::move(point));
    }
  }

  EvenColumns& X;
  Likelihood& loss;
  const SearchPlan plan;
  const i64 beam;
  const double floor;
  Poll& poll;
  ClassPath path;
};

} // namespace pursuit
