#pragma once

#include "common.hpp"

namespace pursuit {

// Fortran BLAS of SciPy, handed over at import; plain loops stand in for it until then. The caller keeps that BLAS on
// one thread while kernels run, so these are called from inside our own regions.
using gemm_t = void (*)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*);
using syrk_t = void (*)(char*, char*, int*, int*, double*, double*, int*, double*, double*, int*);
using sgemm_t = void (*)(char*, char*, int*, int*, int*, float*, float*, int*, float*, int*, float*, float*, int*);

struct Blas {
  gemm_t gemm = nullptr;
  syrk_t syrk = nullptr;
  sgemm_t sgemm = nullptr;
};
inline Blas blas;

// C (m x n) = op(A) B + beta C, column-major; op(A) is A^T (A is k x m) when `transpose`.
inline void gemm(bool transpose, int m, int n, int k, const double* A, int lda, const double* B, int ldb, double beta,
                 double* C, int ldc) {
  if (m == 0 || n == 0) return;
  if (blas.gemm && k > 0) {
    char ta = transpose ? 'T' : 'N', tb = 'N';
    double one = 1.0;
    blas.gemm(&ta, &tb, &m, &n, &k, &one, const_cast<double*>(A), &lda, const_cast<double*>(B), &ldb, &beta, C, &ldc);
    return;
  }
  for (i64 j = 0; j < n; ++j) {
    double* out = C + j * ldc;
    for (i64 i = 0; i < m; ++i) out[i] = beta == 0.0 ? 0.0 : beta * out[i];
    for (i64 l = 0; l < k; ++l) {
      const double b = B[l + j * ldb];
      for (i64 i = 0; i < m; ++i) out[i] += (transpose ? A[l + i * lda] : A[i + l * lda]) * b;
    }
  }
}

// Upper triangle of C (m x m) += A^T A, A is k x m, column-major.
inline void syrk(int m, int k, const double* A, int lda, double* C, int ldc) {
  if (m == 0 || k == 0) return;
  if (blas.syrk) {
    char uplo = 'U', trans = 'T';
    double one = 1.0;
    blas.syrk(&uplo, &trans, &m, &k, &one, const_cast<double*>(A), &lda, &one, C, &ldc);
    return;
  }
  for (i64 j = 0; j < m; ++j)
    for (i64 i = 0; i <= j; ++i) {
      double s = 0.0;
      for (i64 l = 0; l < k; ++l) s += A[l + i * lda] * A[l + j * lda];
      C[i + j * ldc] += s;
    }
}

inline void mirror_upper(double* C, i64 m) {
  for (i64 j = 0; j < m; ++j)
    for (i64 i = 0; i < j; ++i) C[j + i * m] = C[i + j * m];
}

// Single precision: C (m x n) = A B + beta C, column-major.
inline void gemm(int m, int n, int k, const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc) {
  if (m == 0 || n == 0) return;
  if (blas.sgemm && k > 0) {
    char plain = 'N';
    float one = 1.0f;
    blas.sgemm(&plain, &plain, &m, &n, &k, &one, const_cast<float*>(A), &lda, const_cast<float*>(B), &ldb, &beta, C,
               &ldc);
    return;
  }
  for (i64 j = 0; j < n; ++j)
    for (i64 i = 0; i < m; ++i) {
      float s = beta == 0.0f ? 0.0f : beta * C[i + j * ldc];
      for (i64 l = 0; l < k; ++l) s += A[i + l * lda] * B[l + j * ldb];
      C[i + j * ldc] = s;
    }
}

} // namespace pursuit
