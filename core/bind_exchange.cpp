#include "bindings.hpp"
#include "exchange.hpp"

namespace pursuit {
namespace {

// What the kernels share: shapes checked, the quadratic, and room for the answers (one per column or group).
struct Call {
  Lines B;
  Vector<double> g, x;
  Vector<std::uint8_t> droppable;
  SupportRows q;
  Buffer change, add, left;
  Array<i64> who;
  i64 answers;
  Call(const double* HS, i64 k, i64 m, i64 ld, A2 B_, A1 g_, A1 x_, U1 droppable_, i64 units, i64 answers_)
      : B(packed(B_)), g(g_), x(x_), droppable(droppable_), q{HS, B.data(), g.data(), x.data(), k, m, ld},
        change(reals(answers_)), add(reals(answers_)), left(reals(answers_)), who(allocate<i64>(answers_)),
        answers(answers_) {
    require(B.n() == k && B.p() == k, "B must be k x k");
    require(g.size() == m && x.size() == k && droppable.size() == units, "g, x or droppable has a wrong length");
  }
  nb::tuple single(A1 h_) {
    const Vector<double> h(h_);
    require(h.size() == q.m, "h has a wrong length");
    without_gil([&] { exchange(q, h.data(), droppable.data(), change.get(), who.get(), add.get(), left.get()); });
    return give_all();
  }
  nb::tuple give_all() {
    return nb::make_tuple(to_numpy(std::move(change), answers), to_numpy(std::move(who), answers),
                          to_numpy(std::move(add), answers), to_numpy(std::move(left), answers));
  }
};

nb::tuple exchange_single(A2 HS_, A2 B, A1 g, A1 h, A1 x, U1 droppable) {
  const Lines HS(HS_, true);
  return Call(HS.data(), HS.n(), HS.p(), HS.ld(), B, g, x, droppable, HS.n(), HS.p()).single(h);
}

// Group boundaries must rise from 0 to `size`.
void check_bounds(const Vector<i64>& at, i64 size) {
  require(at.size() >= 1 && at[0] == 0 && at[at.size() - 1] == size, "group boundaries do not fit");
  for (i64 i = 1; i < at.size(); ++i) require(at[i] > at[i - 1], "group boundaries must rise");
}

nb::tuple exchange_groups(A2 HS_, A2 B, A1 g, A1 HJ_, A1 x, I1 rows_, I1 cols_, U1 droppable) {
  const Lines HS(HS_, true);
  const Vector<i64> rows(rows_), cols(cols_);
  const Vector<double> HJ(HJ_);
  check_bounds(rows, HS.n());
  check_bounds(cols, HS.p());
  const i64 nrows = rows.size() - 1, ncols = cols.size() - 1;
  std::vector<i64> at(static_cast<std::size_t>(ncols) + 1, 0);
  for (i64 J = 0; J < ncols; ++J) {
    const i64 s = cols[J + 1] - cols[J];
    at[static_cast<std::size_t>(J) + 1] = at[static_cast<std::size_t>(J)] + s * s;
  }
  require(HJ.size() == at.back(), "HJ has a wrong length");
  Call call(HS.data(), HS.n(), HS.p(), HS.ld(), B, g, x, droppable, nrows, ncols);
  const Groups groups{rows.data(), cols.data(), nrows, ncols, HJ.data(), at.data()};
  without_gil([&] {
    group_exchange(call.q, groups, call.droppable.data(), call.change.get(), call.who.get(), call.add.get(),
                   call.left.get());
  });
  return call.give_all();
}

} // namespace

void bind_exchange(nb::module_& m) {
  m.def("exchange", &exchange_single, array("HS"), array("B"), array("g"), array("h"), array("x"), array("droppable"));
  m.def("group_exchange", &exchange_groups, array("HS"), array("B"), array("g"), array("HJ"), array("x"), array("rows"),
        array("cols"), array("droppable"));
}

} // namespace pursuit
