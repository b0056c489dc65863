#pragma once

#include "basis_state.hpp"
#include "exchange.hpp"
#include "likelihood_working_set.hpp"
#include "path_search.hpp"

// The state of a path (path_search.hpp) for a loss that is not squared, for X of any size. At a fit over S the Gram
// matrix of a working set of columns, weighted by phi'', is a quadratic model of f. In it units enter and leave, and
// the exchanges of search.hpp run; where they lead is fitted by Newton's method from the model's coefficients, and the
// best-ranked single exchanges where that is no better. The working set W goes along from size to size: S and the
// columns of largest gradient at the last pass over X. The next pass is due when fits and models have cost as much as
// one. Cost of a model: n |W|^2 / 2 multiplications.

namespace pursuit {

// Columns a_j = (x_j - mean_j) scale_j, kept once they were needed.
class CachedColumns final : public EvenColumns {
public:
  CachedColumns(const LikelihoodProblem& problem, i64 most_)
      : EvenColumns(problem.X.n, problem.X.p, problem.ridge, problem.unit, problem.intercept), X(problem.X),
        most(most_), column(static_cast<std::size_t>(p), nullptr) {}

  // All of these at once; what was read before may go.
  void load(const Units& cols) const {
    Units missing;
    for (i64 j : cols)
      if (!column[j]) missing.push_back(j);
    if (missing.empty()) return;
    if (held + static_cast<i64>(missing.size()) > most) {
      blocks.clear();
      std::fill(column.begin(), column.end(), nullptr);
      held = 0, missing = cols;
    }
    blocks.push_back(reals(n * static_cast<i64>(missing.size())));
    X.gather(missing, blocks.back().get());
    for (std::size_t l = 0; l < missing.size(); ++l) column[missing[l]] = blocks.back().get() + static_cast<i64>(l) * n;
    held += static_cast<i64>(missing.size());
  }
  const double* operator[](i64 j) const { return column[j]; }

  void gather(const Units& cols, double* out) const override {
    load(cols);
    for (std::size_t l = 0; l < cols.size(); ++l)
      std::copy(column[cols[l]], column[cols[l]] + n, out + static_cast<i64>(l) * n);
  }
  void products(const double* V, i64 q, double* out) const override { X.products(V, q, out); }
  void squares(const double* W, i64 q, double* out) override {
    std::vector<double> none(static_cast<std::size_t>(n), 0.0), mean(static_cast<std::size_t>(p)), product(mean);
    for (i64 l = 0; l < q; ++l) {
      X.weighted(W + l * n, none.data(), mean.data(), out + l * p, product.data());
      double total = 0.0;
      for (i64 i = 0; i < n; ++i) total += W[l * n + i];
      for (i64 j = 0; j < p; ++j) {
        const double from = mean[j] - X.mean[j], s = X.scale[j];
        out[l * p + j] = (out[l * p + j] + total * from * from) * s * s;
      }
    }
  }
  Entries entries(i64 j) const override {
    load({j});
    return {column[j], nullptr, n};
  }
  double stored() const override { return static_cast<double>(n * p); }

private:
  UnitColumns& X;
  const i64 most;
  mutable std::vector<const double*> column;
  mutable std::vector<Buffer> blocks;
  mutable i64 held = 0;
};

// The quadratic model of f at a fit, on the columns W; minimised over the intercept.
struct WeightedModel {
  std::uint64_t of = 0;                        // the fit's id
  Units W, S;                                  // columns; places in W of the fit's units, in their order
  Buffer H;                                    // without the ridge
  std::vector<double> g, h, ridge, unit, edge; // gradient, diagonal with the ridge, products with the intercept
  std::vector<double> linear;                  // gradient of the model at 0
  std::vector<double> gain, cost, share;       // of every column outside that enters, of every unit that leaves
  double f0 = 0.0, total = 0.0;
  bool usable = false;
};

class WorkingSetState {
public:
  double f = HUGE_VAL;

  // `fewest`: columns of the working set beside the support; `pass_work`: multiplications that a pass over X stands
  // for.
  WorkingSetState(const LikelihoodProblem& problem_, const SearchPlan& plan_, i64 fewest_, double pass_work_,
                  Poll& poll_)
      : problem(problem_), X(problem_.X), plan(plan_), n(X.n), p(X.p), fewest(fewest_),
        columns(problem_, std::max(kMost, 8 * plan_.k) + fewest_),
        fitter(columns, problem_.loss, plan_.k + 1, problem_.floor, plan_.scale, poll_), poll(poll_),
        pass_work(pass_work_), score(static_cast<std::size_t>(p)), inside(static_cast<std::size_t>(p), 0) {
    for (i64 j = 0; j < p; ++j) score[j] = std::fabs(problem.gradient[j]);
    to(fitter.fit({}, {0.0}));
    null = at;
  }

  i64 units() const { return p; }
  i64 size() const { return static_cast<i64>(at.S.size()); }
  const Units& support() const { return at.S; }
  bool done() const { return !(f > problem.floor); }
  bool open(i64 j) {
    const i64 l = local(j);
    return !inside[j] && l >= 0 && model().share[l] > LikelihoodState::kNewShare;
  }
  double gain(i64 j) {
    const i64 l = local(j);
    return l < 0 ? 0.0 : model().gain[l];
  }
  double cost(i64 i) { return model().cost[i]; }

  LikelihoodFit keep() const { return at; }
  bool restore(const LikelihoodFit& kept) {
    to(kept);
    return true;
  }
  Found found() const {
    Found point{at.S, {}, f};
    std::sort(point.support.begin(), point.support.end());
    for (i64 j : point.support) point.x.push_back(at.z[std::find(at.S.begin(), at.S.end(), j) - at.S.begin()]);
    point.x.push_back(at.z.back());
    return point;
  }

  bool set(const Units& support) {
    std::vector<double> z(support.size(), 0.0);
    z.push_back(at.z.back());
    to(fit(support, std::move(z), -HUGE_VAL, HUGE_VAL));
    return std::isfinite(f);
  }
  bool enter(i64 j) {
    Units S = at.S;
    S.push_back(j);
    std::vector<double> z = at.z;
    z.insert(z.end() - 1, 0.0);
    return move(std::move(S), std::move(z));
  }
  bool leave(i64 j) {
    Units S = at.S;
    std::vector<double> z = at.z;
    const auto i = std::find(S.begin(), S.end(), j) - S.begin();
    S.erase(S.begin() + i), z.erase(z.begin() + i);
    return move(std::move(S), std::move(z));
  }

  // To where exchanges lead in the model, or to the first of the best-ranked ones that helps.
  bool improve(const SearchPlan& request) {
    const WeightedModel& M = model();
    if (!M.usable || poll.stop() || done() || size() == 0) return false;
    const double goal = f - kHelps * plan.size(f);
    const Found there = searched(request);
    if (!there.support.empty() && there.support != sorted(M.S)) {
      LikelihoodFit trial = fitter.fit(columns_of(there.support), coefficients(there), goal, f);
      if (trial.end != End::above && trial.f < goal) return to(std::move(trial)), true;
    }
    for (const auto& [change, i, l] : ranked(request)) {
      if (poll.stop()) return false;
      Units T = M.S;
      T[i] = l;
      const Found next = minimiser(T);
      if (next.support.empty()) continue;
      LikelihoodFit trial = fitter.fit(columns_of(next.support), coefficients(next), goal, kFarUp * plan.size(f));
      if (trial.end != End::above && trial.f < goal) return to(std::move(trial)), true;
    }
    return false;
  }

  // Plain matching pursuit beside a path: models on a working set can miss what the largest gradient finds.
  template <class Path>
  void pursue(Path& path) {
    if (columns.stored() * static_cast<double>(plan.k) > kPursuit || path.best.empty()) return;
    LikelihoodFit chain = path.best.front().kept;
    std::vector<double> gradient(static_cast<std::size_t>(p));
    for (i64 size = path.first + 1; size < path.first + static_cast<i64>(path.best.size()); ++size) {
      if (poll.stop() || !(chain.f > problem.floor)) return;
      d1.resize(static_cast<std::size_t>(n)), d2.resize(static_cast<std::size_t>(n));
      fitter.evaluate(chain.eta.data(), d1.data(), d2.data());
      columns.products(d1.data(), 1, gradient.data());
      i64 most = -1;
      for (i64 j = 0; j < p; ++j) {
        const bool open = usable(j) && std::find(chain.S.begin(), chain.S.end(), j) == chain.S.end();
        gradient[j] = open ? problem.unit[j] * std::fabs(gradient[j]) : 0.0;
        if (gradient[j] > 0.0 && (most < 0 || gradient[j] > gradient[most])) most = j;
      }
      if (most < 0) return;
      Units S = chain.S;
      std::vector<double> z = chain.z;
      S.push_back(most), z.insert(z.end() - 1, 0.0);
      chain = fit(S, std::move(z), -HUGE_VAL, HUGE_VAL);
      if (!std::isfinite(chain.f)) return;
      to(chain);
      path.offer();
    }
  }

private:
  static constexpr double kPursuit = 1e7; // multiplications up to which a pursuit costs little beside a path
  static constexpr i64 kMost = 400;       // columns that are kept
  static constexpr double kHelps = 1e-9;
  static constexpr double kFarUp = 1.5;       // of f: the model is wrong about an exchange that begins above it
  static constexpr double kLeastCurve = 1e-3; // of the bound on phi'', which the model has at least

  struct Ranked {
    double change;
    i64 leave, enter; // places in S and in W
    bool operator<(const Ranked& other) const { return change < other.change; }
  };

  static Units sorted(Units S) {
    std::sort(S.begin(), S.end());
    return S;
  }
  bool usable(i64 j) const { return plan.allowed[j] && problem.scale[j] > 0.0; }
  i64 local(i64 j) {
    model();
    return position[j];
  }
  Units columns_of(const Units& T) {
    Units out;
    for (i64 l : T) out.push_back(model().W[l]);
    return out;
  }

  void to(LikelihoodFit next) {
    for (i64 j : at.S) inside[j] = 0;
    at = std::move(next);
    for (i64 j : at.S) inside[j] = 1;
    f = at.f;
  }

  // A fit from z; from the null model where that leads nowhere.
  LikelihoodFit fit(const Units& S, std::vector<double> z, double goal, double ceiling) {
    LikelihoodFit next = fitter.fit(S, std::move(z), goal, ceiling);
    if (next.end != End::undecided || next.f <= null.f) return next;
    std::vector<double> cold(S.size(), 0.0);
    cold.push_back(null.z.back());
    return fitter.fit(S, std::move(cold), goal);
  }

  // To a support next to this one: from the model's coefficients, or from z where they are no better.
  bool move(Units S, std::vector<double> z) {
    const WeightedModel& M = model();
    if (M.usable) {
      Units T;
      for (i64 j : S) T.push_back(position[j]);
      const Found next = minimiser(T);
      if (!next.support.empty()) {
        LikelihoodFit trial = fitter.fit(columns_of(next.support), coefficients(next), -HUGE_VAL, null.f);
        if (trial.end != End::undecided || trial.f <= f) return to(std::move(trial)), true;
      }
    }
    to(fit(S, std::move(z), -HUGE_VAL, null.f));
    return true;
  }

  // Coefficients of a point of the model, with the intercept that belongs to them.
  std::vector<double> coefficients(const Found& next) {
    const WeightedModel& M = model();
    std::vector<double> z = next.x;
    double b = at.z.back();
    if (problem.intercept) {
      for (std::size_t i = 0; i < M.S.size(); ++i) b += M.edge[M.S[i]] / M.total * at.z[i];
      for (std::size_t i = 0; i < next.support.size(); ++i) b -= M.edge[next.support[i]] / M.total * next.x[i];
    }
    z.push_back(b);
    return z;
  }

  RowQuad quad(WeightedModel& M) const {
    Rows rows;
    const i64 w = static_cast<i64>(M.W.size());
    rows.row = [&M, w](i64 l) { return M.H.get() + l * w; };
    rows.has = [](i64) { return true; };
    return {M.linear.data(), M.h.data(), M.ridge.data(), M.f0, w, rows, M.unit.data()};
  }

  // Where exchanges lead in the model from the support, and the minimiser over another one; places in W.
  Found searched(const SearchPlan& request) {
    WeightedModel& M = model();
    const i64 w = static_cast<i64>(M.W.size());
    std::vector<std::uint8_t> forced, allowed;
    for (i64 j : M.W) forced.push_back(plan.forced[j]), allowed.push_back(plan.allowed[j]);
    SearchPlan own = request;
    own.k = size(), own.forced = forced.data(), own.allowed = allowed.data(), own.restarts = 0;
    BasisState basis(quad(M), std::min(w, size() + 1), -HUGE_VAL);
    Search<BasisState> search(basis, own, poll);
    search.from(M.S);
    return search.found.empty() ? Found{} : search.found.back();
  }
  Found minimiser(const Units& T) {
    WeightedModel& M = model();
    BasisState basis(quad(M), static_cast<i64>(T.size()), -HUGE_VAL);
    return basis.set(T) && basis.size() == static_cast<i64>(T.size()) ? basis.found() : Found{};
  }

  // The best exchanges in the model, for each newcomer with its best partner.
  std::vector<Ranked> ranked(const SearchPlan& request) {
    const WeightedModel& M = model();
    const i64 k = size(), w = static_cast<i64>(M.W.size());
    std::vector<double> rows(static_cast<std::size_t>(k * w)), B(static_cast<std::size_t>(k * k)), L(B),
        change(static_cast<std::size_t>(w)), add(change), left(change);
    std::vector<std::uint8_t> droppable;
    Units who(static_cast<std::size_t>(w));
    for (i64 i = 0; i < k; ++i) {
      std::copy_n(M.H.get() + M.S[i] * w, w, &rows[i * w]);
      rows[i * w + M.S[i]] += M.ridge[M.S[i]];
      for (i64 l = 0; l < k; ++l) L[i * k + l] = rows[i * w + M.S[l]];
      droppable.push_back(!plan.forced[at.S[i]]);
    }
    const Factor factor(L.data(), k, k);
    if (!factor.ok) return {};
    factor.inverse(B.data(), k);
    exchange(SupportRows{rows.data(), B.data(), M.g.data(), at.z.data(), k, w, w}, M.h.data(), droppable.data(),
             change.data(), who.data(), add.data(), left.data());
    std::vector<Ranked> out;
    for (i64 l = 0; l < w; ++l)
      if (!inside[M.W[l]] && plan.allowed[M.W[l]] && who[l] >= 0) out.push_back({change[l], who[l], l});
    const std::size_t most = std::min(static_cast<std::size_t>(request.tries), out.size());
    std::partial_sort(out.begin(), out.begin() + static_cast<i64>(most), out.end());
    out.resize(most);
    while (out.size() > 1 && out.back().change > kPromising * plan.size(f)) out.pop_back();
    return out;
  }

  // The model at the state; the one before is kept, since paths go back and forth between two sizes.
  WeightedModel& model() {
    if (current.of == at.id) return current;
    std::swap(current, before);
    if (current.of != at.id) build();
    index();
    return current;
  }

  void index() {
    position.assign(static_cast<std::size_t>(p), -1);
    for (std::size_t l = 0; l < current.W.size(); ++l) position[current.W[l]] = static_cast<i64>(l);
  }

  void build() {
    d1.resize(static_cast<std::size_t>(n)), d2.resize(static_cast<std::size_t>(n));
    fitter.evaluate(at.eta.data(), d1.data(), d2.data());
    for (i64 i = 0; i < n && !problem.loss.bounded; ++i) // where phi'' may be 0 on most rows
      d2[i] = std::max(d2[i], kLeastCurve * problem.loss.curve * X.c[i]);
    if (fitter.spent - passed > pass_work && static_cast<i64>(current_columns) < p) pass();
    WeightedModel& M = current;
    M.of = at.id;
    M.W = working_set();
    columns.load(M.W);
    const i64 w = static_cast<i64>(M.W.size()), k = size();
    const std::size_t many = static_cast<std::size_t>(w);
    index();
    M.S.clear();
    for (i64 j : at.S) M.S.push_back(position[j]);
    for (i64 i = 0; i < n; ++i) d2[i] = std::sqrt(d2[i]);
    Buffer weighted = reals(n * w);
    M.H = reals(w * w);
    M.g.assign(many, 0.0), M.h.resize(many), M.ridge.resize(many), M.unit.resize(many), M.edge.assign(many, 0.0);
    for (i64 l = 0; l < w; ++l) {
      const double* a = columns[M.W[l]];
      multiply(a, d2.data(), n, weighted.get() + l * n);
      M.g[l] = dot(a, d1.data(), n);
      M.ridge[l] = problem.ridge[M.W[l]], M.unit[l] = problem.unit[M.W[l]];
    }
    std::fill(M.H.get(), M.H.get() + w * w, 0.0);
    syrk(w, n, weighted.get(), n, M.H.get(), w);
    mirror_upper(M.H.get(), w);
    fitter.spent += static_cast<double>(n * w * w) / 2.0;
    M.total = 0.0;
    if (problem.intercept) {
      add_dots(weighted.get(), n, d2.data(), w, n, M.edge.data());
      for (i64 i = 0; i < n; ++i) M.total += d2[i] * d2[i];
      for (i64 l = 0; l < w && M.total > 0.0; ++l) {
        const double t = -M.edge[l] / M.total;
        add_rows<1>(M.edge.data(), 0, &t, w, M.H.get() + l * w);
      }
    }
    double top = 0.0;
    for (i64 l = 0; l < w; ++l) top = std::max(top, M.H[l * (w + 1)] + M.ridge[l]);
    for (i64 l = 0; l < w; ++l) // columns whose rows are all separated, which else end the path
      if (M.H[l * (w + 1)] + M.ridge[l] < kCollapsed * top) M.ridge[l] += kCollapsed * top;
    M.f0 = f;
    for (i64 i = 0; i < k; ++i) M.g[M.S[i]] = 0.0; // but for rounding
    M.linear = M.g;
    for (i64 l = 0; l < w; ++l) M.h[l] = M.H[l * (w + 1)] + M.ridge[l];
    for (i64 i = 0; i < k; ++i) {
      const i64 a = M.S[i];
      const double z = -at.z[i];
      add_rows<1>(M.H.get() + a * w, 0, &z, w, M.linear.data());
      M.linear[a] += z * M.ridge[a];
    }
    for (i64 i = 0; i < k; ++i) M.f0 -= 0.5 * M.linear[M.S[i]] * at.z[i];
    M.gain.assign(many, 0.0), M.share.assign(many, 0.0), M.cost.assign(static_cast<std::size_t>(k), 0.0);
    M.usable = !problem.intercept || M.total > 0.0;
    if (!M.usable) return;
    BasisState basis(quad(M), k + 1, -HUGE_VAL);
    M.usable = basis.set(M.S) && basis.size() == k;
    if (!M.usable) return;
    for (i64 l = 0; l < w; ++l) M.gain[l] = basis.gain(l), M.share[l] = basis.has(l) ? 0.0 : basis.share(l);
    for (i64 i = 0; i < k; ++i)
      M.cost[std::find(M.S.begin(), M.S.end(), basis.support()[i]) - M.S.begin()] = basis.cost(i);
  }

  // The support, and the columns of largest gradient at the last pass.
  Units working_set() {
    std::vector<double> by_gradient(static_cast<std::size_t>(p));
    for (i64 j = 0; j < p; ++j) by_gradient[j] = inside[j] ? HUGE_VAL : usable(j) ? score[j] : -1.0;
    Units W = top_of(by_gradient, std::max(fewest, size()) + size());
    current_columns = W.size();
    return W;
  }

  // One pass over X: |g_j| over the weighted length of every column.
  void pass() {
    mean.resize(static_cast<std::size_t>(p)), square.resize(mean.size()), product.resize(mean.size());
    X.weighted(d2.data(), d1.data(), mean.data(), square.data(), product.data());
    double total = 0.0, slope = 0.0;
    for (i64 i = 0; i < n; ++i) total += d2[i], slope += d1[i];
    for (i64 j = 0; j < p; ++j) {
      const double s = problem.scale[j], from = mean[j] - problem.mean[j];
      if (!problem.intercept) square[j] += total * from * from, product[j] += from * slope;
      const double h = s > 0.0 ? square[j] + problem.ridge[j] / (s * s) : 0.0;
      score[j] = s > 0.0 && square[j] > kFlat * total / (s * s) ? std::fabs(product[j]) / std::sqrt(h) : 0.0;
    }
    passed = fitter.spent;
  }

  static constexpr double kCollapsed = 1e-8; // share of the largest curvature that every column of a model has at least
  static constexpr double kFlat = 1e-12;     // share of a column's mean square that its weighted square must have
  const LikelihoodProblem problem;
  UnitColumns& X;
  const SearchPlan plan;
  const i64 n, p, fewest;
  CachedColumns columns;
  LikelihoodFitter fitter;
  Poll& poll;
  const double pass_work;
  double passed = 0.0; // work when X was last passed over
  std::size_t current_columns = 0;
  std::vector<double> score, mean, square, product, d1, d2;
  std::vector<std::uint8_t> inside;
  Units position;
  LikelihoodFit at, null;
  WeightedModel current, before;
};

} // namespace pursuit
