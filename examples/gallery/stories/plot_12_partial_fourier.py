"""
Exact recovery from a partial Fourier transform
===============================================

A complex signal with 12 spikes among 2048 places, measured by 200 of its Fourier coefficients. The operator is an FFT:
no matrix is formed.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import LinearOperator

import pursuit

rng = np.random.default_rng(0)
p, n, k = 2048, 200, 12
rows = np.sort(rng.choice(p, n, replace=False))
matrix_free = {"products": 0}


def forward(v):
    matrix_free["products"] += 1
    return np.fft.fft(np.ravel(v))[rows] / np.sqrt(n)


def adjoint(u):
    full = np.zeros(p, complex)
    full[rows] = np.ravel(u)
    return p * np.fft.ifft(full) / np.sqrt(n)


A = LinearOperator((n, p), matvec=forward, rmatvec=adjoint, dtype=complex)
x = np.zeros(p, complex)
spikes = rng.choice(p, k, replace=False)
x[spikes] = rng.normal(size=k) + 1j * rng.normal(size=k)
result = pursuit.recover(A, forward(x), k)
error = np.linalg.norm(result.x - x) / np.linalg.norm(x)
print(f"{matrix_free['products']} transforms, relative error {error:.1e}, {result.reason}")

# %%
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.vlines(np.sort(spikes), 0, np.abs(x[np.sort(spikes)]), color="C1", linewidth=4, alpha=0.5, label="signal")
ax.plot(result.support, np.abs(result.x[result.support]), "o", color="C0", label="recovered")
ax.set_xlabel("place")
ax.set_ylabel("modulus")
ax.legend()

# %%
# **Story 12.** Exact, complex, matrix-free:

assert set(result.support) == set(spikes)
assert error < 1e-8
assert np.iscomplexobj(result.x)
