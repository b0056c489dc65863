#include "bindings.hpp"
#include "blas.hpp"
#include "threads.hpp"

namespace pursuit {
namespace {

// SciPy names each capsule after the C signature.
template <class F>
F unpack(nb::handle capsule) {
  if (!PyCapsule_CheckExact(capsule.ptr())) throw nb::type_error("scipy.linalg.cython_blas has no capsules");
  const char* name = PyCapsule_GetName(capsule.ptr());
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), name);
  if (!pointer) throw nb::python_error();
  return reinterpret_cast<F>(pointer);
}

// SciPy's own BLAS: no second one, no link step, and there before the first kernel runs.
void take_blas() {
  const nb::object capsules = nb::module_::import_("scipy.linalg.cython_blas").attr("__pyx_capi__");
  blas = {unpack<gemm_t>(capsules["dgemm"]), unpack<syrk_t>(capsules["dsyrk"]), unpack<sgemm_t>(capsules["sgemm"])};
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
  take_blas();
  m.attr("VERSION") = 1;
  m.def("set_threads", &set_threads, "n"_a);
  m.def("get_threads", &threads);
  MatrixClass matrix = bind_matrix(m);
  bind_support(m, matrix);
  bind_passes(matrix);
  bind_exchange(m);
  bind_relaxation(m);
  bind_exactly(m);
  bind_search(m);
}
