#include "bindings.hpp"
#include "blas.hpp"
#include "threads.hpp"

namespace pursuit {

void bind_likelihood_path(nb::module_& m); // bind_likelihood_path.cpp
void bind_subset(nb::module_& m);          // bind_subset.cpp

namespace {

// SciPy names each capsule after the C signature.
template <class F>
void unpack(nb::handle capsule, F& routine) {
  if (!PyCapsule_CheckExact(capsule.ptr())) throw nb::type_error("scipy.linalg's BLAS and LAPACK are no capsules");
  const char* name = PyCapsule_GetName(capsule.ptr());
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), name);
  if (!pointer) throw nb::python_error();
  routine = reinterpret_cast<F>(pointer);
}

// SciPy's own BLAS and LAPACK: no second ones, no link step, and there before the first kernel runs.
void take_lapack() {
  const nb::object first = nb::module_::import_("scipy.linalg.cython_blas").attr("__pyx_capi__");
  const nb::object second = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
  unpack(first["dgemm"], lapack.gemm);
  unpack(first["sgemm"], lapack.sgemm);
  unpack(first["dsyrk"], lapack.syrk);
  unpack(first["dtrsv"], lapack.trsv);
  unpack(second["dpotrf"], lapack.potrf);
  unpack(second["dpotrs"], lapack.potrs);
  unpack(second["dpotri"], lapack.potri);
  unpack(second["dpocon"], lapack.pocon);
}

int set_threads(int n) {
  require(n >= 1, "the thread count must be at least 1");
  const int old = threads();
  thread_count = n;
  return old;
}

} // namespace
} // namespace pursuit

NB_MODULE(_core, m) {
  using namespace pursuit;
  watch_forks();
  take_lapack();
  m.attr("VERSION") = 1;
  m.def("set_threads", &set_threads, "n"_a);
  m.def("get_threads", &threads);
  MatrixClass matrix = bind_matrix(m);
  bind_support(m, matrix);
  bind_passes(matrix);
  bind_exchange(m);
  bind_relaxation(m);
  bind_exactly(m);
  bind_leaps(m);
  bind_search(m);
  bind_path(m);
  bind_least_squares(m);
  bind_subset(m);
  bind_likelihood(m);
  bind_likelihood_path(m);
  bind_graph(m);
}
