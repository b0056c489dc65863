#include "bindings.hpp"
#include "blas.hpp"
#include "threads.hpp"

namespace pursuit {
namespace {

// SciPy names each capsule after the C signature.
template <class F>
F unpack(nb::handle capsule) {
  if (!PyCapsule_CheckExact(capsule.ptr())) throw nb::type_error("set_blas takes the capsules of scipy's cython_blas");
  const char* name = PyCapsule_GetName(capsule.ptr());
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), name);
  if (!pointer) throw nb::python_error();
  return reinterpret_cast<F>(pointer);
}

void set_blas(nb::object gemm, nb::object syrk, nb::object sgemm) {
  blas = {unpack<gemm_t>(gemm), unpack<syrk_t>(syrk), unpack<sgemm_t>(sgemm)};
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
  m.attr("VERSION") = 1;
  m.def("set_threads", &set_threads, "n"_a);
  m.def("get_threads", &threads);
  m.def("set_blas", &set_blas, "gemm"_a, "syrk"_a, "sgemm"_a);
  bind_dense(m);
  bind_sparse(m);
  bind_support(m);
  bind_exchange(m);
  bind_relaxation(m);
  bind_dual(m);
  bind_exactly(m);
}
