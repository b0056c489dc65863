#pragma once

#include "common.hpp"

#include <limits>

namespace pursuit {

// Fortran BLAS and LAPACK of SciPy, handed over at import. The caller keeps them on one thread while kernels run, so
// they are called from inside our own parts.
using gemm_t = void (*)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*);
using syrk_t = void (*)(char*, char*, int*, int*, double*, double*, int*, double*, double*, int*);
using sgemm_t = void (*)(char*, char*, int*, int*, int*, float*, float*, int*, float*, int*, float*, float*, int*);

using trsv_t = void (*)(char*, char*, char*, int*, double*, int*, double*, int*);
using potrf_t = void (*)(char*, int*, double*, int*, int*);
using potrs_t = void (*)(char*, int*, int*, double*, int*, double*, int*, int*);
using potri_t = void (*)(char*, int*, double*, int*, int*);
using pocon_t = void (*)(char*, int*, double*, int*, double*, double*, double*, int*, int*);

struct Lapack {
  gemm_t gemm;
  sgemm_t sgemm;
  syrk_t syrk;
  trsv_t trsv;
  potrf_t potrf;
  potrs_t potrs;
  potri_t potri;
  pocon_t pocon;
};
inline Lapack lapack;

// A size as BLAS takes it.
inline int small(i64 n) {
  if (n > std::numeric_limits<int>::max())
    throw std::length_error("X has a dimension beyond 2^31 - 1, which is more than BLAS can count");
  return static_cast<int>(n);
}

// C (m x n) = op(A) B + beta C, column-major; op(A) is A^T (A is k x m) when `transpose`.
template <class T>
void gemm(bool transpose, i64 m_, i64 n_, i64 k_, const T* A, i64 lda_, const T* B, i64 ldb_, T beta, T* C, i64 ldc_) {
  int m = small(m_), n = small(n_), k = small(k_), lda = small(lda_), ldb = small(ldb_), ldc = small(ldc_);
  if (m == 0 || n == 0) return;
  if (k == 0 && beta == T(0)) {
    for (i64 j = 0; j < n; ++j) std::fill(C + j * ldc_, C + j * ldc_ + m, T(0));
  } else if (k > 0) {
    char ta = transpose ? 'T' : 'N', tb = 'N';
    T one = 1;
    auto call = [&](auto* routine) {
      routine(&ta, &tb, &m, &n, &k, &one, const_cast<T*>(A), &lda, const_cast<T*>(B), &ldb, &beta, C, &ldc);
    };
    if constexpr (std::is_same_v<T, float>)
      call(lapack.sgemm);
    else
      call(lapack.gemm);
  }
}

// Upper triangle of C (m x m) += A^T A, A is k x m, column-major.
inline void syrk(i64 m_, i64 k_, const double* A, i64 lda_, double* C, i64 ldc_) {
  int m = small(m_), k = small(k_), lda = small(lda_), ldc = small(ldc_);
  if (m == 0 || k == 0) return;
  char uplo = 'U', trans = 'T';
  double one = 1.0;
  lapack.syrk(&uplo, &trans, &m, &k, &one, const_cast<double*>(A), &lda, &one, C, &ldc);
}

inline void mirror_upper(double* C, i64 m) {
  for (i64 j = 0; j < m; ++j)
    for (i64 i = 0; i < j; ++i) C[j + i * m] = C[i + j * m];
}

} // namespace pursuit
