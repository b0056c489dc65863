"""A subsampled cosine transform that is never formed: ``grahtp`` next to hard thresholding pursuit written by hand.

    .venv/bin/python benchmarks/operators.py [--rows 14] [--columns 17] [--k 500] [--noise 0.01]

Both use the same SciPy operator (2^rows x 2^columns) on one thread; its products are counted. HTP by hand knows that
the columns have norm about one, and solves its least squares by conjugate gradients to 1e-9.
"""

import argparse
import time

import numpy as np
from scipy.fft import dct, idct
from scipy.sparse.linalg import LinearOperator

from pursuit import GLM, solve


class Counted:
    """Rows of an orthonormal cosine transform, scaled to columns of norm about one, and how often they were used."""

    def __init__(self, n, p, rng):
        self.rows, self.p, self.scale, self.products = np.sort(rng.choice(p, n, replace=False)), p, np.sqrt(p / n), 0
        self.operator = LinearOperator((n, p), matvec=self.forward, rmatvec=self.back, dtype=np.float64)

    def forward(self, x):
        self.products += 1
        return self.scale * dct(np.ravel(x), norm="ortho")[self.rows]

    def back(self, r):
        self.products += 1
        spread = np.zeros(self.p)
        spread[self.rows] = np.ravel(r)
        return self.scale * idct(spread, norm="ortho")


def by_hand(A, y, k):
    """Foucart's HTP; the refit by conjugate gradients on the normal equations, from the gradient step."""
    x, support = np.zeros(A.shape[1]), np.empty(0, int)
    while True:
        ahead = x + A.rmatvec(y - A.matvec(x))
        before, support = support, np.sort(np.argpartition(-np.abs(ahead), k)[:k])
        if np.array_equal(before, support):
            return x
        x = np.zeros_like(x)
        x[support] = ahead[support]
        r = A.rmatvec(y - A.matvec(x))[support]
        d, rr = r.copy(), r @ r
        goal = 1e-18 * rr
        while rr > goal:
            wide = np.zeros_like(x)
            wide[support] = d
            Hd = A.rmatvec(A.matvec(wide))[support]
            t = rr / (d @ Hd)
            x[support] += t * d
            r = r - t * Hd
            rr, last = r @ r, rr
            d = r + rr / last * d


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=14, help="the operator has 2^rows rows")
    parser.add_argument("--columns", type=int, default=17, help="and 2^columns columns")
    parser.add_argument("--k", type=int, default=500)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    n, p, k = 2**args.rows, 2**args.columns, args.k
    counted = Counted(n, p, rng)
    truth = np.zeros(p)
    truth[rng.choice(p, k, replace=False)] = rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 2, k)
    A = counted.operator
    y = A.matvec(truth) + args.noise * rng.normal(size=n)
    support = np.flatnonzero(truth)

    def pursuit():
        return solve(GLM(A, y, fit_intercept=False), k, solver="grahtp").x

    print(f"{n} x {p}, k={k}, best of {args.repeat}")
    seconds = {}
    for name, run in (("by hand", lambda: by_hand(A, y, k)), ("pursuit", pursuit)):
        best = np.inf
        for _ in range(args.repeat):
            counted.products = 0
            began = time.perf_counter()
            x = run()
            best = min(best, time.perf_counter() - began)
        seconds[name] = best
        found = len(np.intersect1d(np.flatnonzero(x), support))
        loss = 0.5 * float(np.mean((A.matvec(x) - y) ** 2))
        print(f"{name:8s}  {best:7.3f} s  {counted.products:6d} products  found {found}/{k}  f = {loss:.12e}")
        counted.products = 0
    print(f"pursuit / by hand: {seconds['pursuit'] / seconds['by hand']:.2f}")


if __name__ == "__main__":
    main()
