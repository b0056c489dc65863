"""What is true of a precision matrix on a graph, found slowly in plain NumPy: nothing here imports the library.

f(W) = tr(S W) - log det W + l1 sum_{i != j} |W_ij|. Graphs are arrays of edges (m, 2); many of one size are refitted
together. Newton's method damped by 1 / (1 + decrement) needs no line search on a self-concordant function (Y. Nesterov
and A. Nemirovskii, 1994), and a decrement below 1 proves that a minimiser exists: without one it never comes there.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

TURNS = 400
FAR = 1e7  # entries of W, on a unit diagonal of S, beyond which an optimum counts as none: what follows is rounding
EXACT = 1e-11  # Newton decrement at which a refit ends: its square is what is left to gain, twice over


class Refits(NamedTuple):
    """Of several graphs: matrices, values, and which have an optimum within reach (else the value is -inf)."""

    W: np.ndarray
    value: np.ndarray
    exists: np.ndarray


def value(S, W, l1=0.0):
    """f, inf where W is not positive definite."""
    try:
        L = np.linalg.cholesky(W)
    except np.linalg.LinAlgError:
        return np.inf
    penalty = l1 * (np.abs(W).sum() - np.abs(W.diagonal()).sum())
    return float(np.sum(S * W) - 2 * np.log(L.diagonal()).sum() + penalty)


def correlations(S):
    """S on a unit diagonal, and the scales."""
    d = np.sqrt(S.diagonal())
    R = S / d / d[:, None]
    np.fill_diagonal(R, 1.0)
    return 0.5 * (R + R.T), d


def shrunk(S, t):
    """(1 - t) S + t diag S: on the correlation scale (1 - t) R + t I."""
    return (1 - t) * S + t * np.diag(S.diagonal())


def every_pair(p):
    return np.array(list(combinations(range(p), 2)), dtype=np.int64).reshape(-1, 2)


def refits(S, graphs):
    """f's minima over many graphs with equally many edges (b, m, 2): damped Newton, dense, O(b (p + m)^3) a turn."""
    graphs = np.asarray(graphs, dtype=np.int64)
    R, d = correlations(np.asarray(S, dtype=float))
    many, p, own = len(graphs), len(R), np.arange(len(R))
    a = np.concatenate([np.tile(own, (many, 1)), graphs[:, :, 0]], axis=1)
    b = np.concatenate([np.tile(own, (many, 1)), graphs[:, :, 1]], axis=1)
    unit = np.where(a == b, 0.5, 1.0)
    W = np.tile(np.eye(p), (many, 1, 1))
    exists, running = np.zeros(many, dtype=bool), np.arange(many)
    for _ in range(TURNS):
        if not len(running):
            break
        aa, bb, u, row = a[running], b[running], unit[running], np.arange(len(running))[:, None, None]
        Sigma = np.linalg.inv(W[running])
        Sigma = 0.5 * (Sigma + Sigma.transpose(0, 2, 1))
        i, j, s, t = aa[:, :, None], bb[:, :, None], aa[:, None, :], bb[:, None, :]
        H = Sigma[row, i, s] * Sigma[row, j, t] + Sigma[row, i, t] * Sigma[row, j, s]
        H = 2 * u[:, :, None] * u[:, None, :] * H
        g = 2 * u * (R[aa, bb] - Sigma[row[:, :, 0], aa, bb])
        s = 1 / np.sqrt(np.einsum("bii->bi", H))  # a unit diagonal: graphs without an optimum end badly scaled
        step = -s * _solve(H * s[:, :, None] * s[:, None, :], s * g)
        decrement = np.sqrt(np.maximum(-np.einsum("bi,bi->b", g, step), 0.0))
        exists[running] |= decrement < 0.9
        step = step / np.where(decrement > 0.25, 1 + decrement, 1.0)[:, None]
        ahead = W[running]
        ahead[row[:, :, 0], aa, bb] += step
        ahead[row[:, :, 0], bb, aa] = ahead[row[:, :, 0], aa, bb]
        lost = ~np.isfinite(step).all(axis=1) | (np.abs(ahead).max(axis=(1, 2)) > FAR)
        W[running[~lost]] = ahead[~lost]
        exists[running[lost]] = False
        running = running[~lost & (decrement > EXACT)]
    values = np.array([value(R, w) if there else -np.inf for w, there in zip(W, exists, strict=True)])
    return Refits(W / d / d[:, None], values + 2 * np.log(d).sum(), exists)


def _solve(H, g):
    try:
        return np.linalg.solve(H, g[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return np.stack([np.linalg.lstsq(h, v, rcond=None)[0] for h, v in zip(H, g, strict=True)])


def refit(S, edges):
    """W and f's minimum on one graph; None where it has none."""
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    W, values, exists = refits(S, edges[None])
    return (W[0], float(values[0])) if exists[0] else None


def graphs_of(p, k, include=(), exclude=()):
    """All graphs with k edges, of which some are there and some are not."""
    forced = [tuple(sorted(e)) for e in include]
    banned = {tuple(sorted(e)) for e in exclude} | set(forced)
    rest = [tuple(e) for e in every_pair(p).tolist() if tuple(e) not in banned]
    wanted = max(0, min(k - len(forced), len(rest)))
    graphs = [sorted([*forced, *more]) for more in combinations(rest, wanted)]
    return np.array(graphs, dtype=np.int64).reshape(len(graphs), len(forced) + wanted, 2)


def best_graph(S, k, include=(), exclude=()):
    """The best of all graphs with k edges, its value, and how many of them have no optimum."""
    graphs = graphs_of(len(S), k, include, exclude)
    _, values, exists = refits(S, graphs)
    values = np.where(exists, values, np.inf)
    at = int(np.argmin(values))
    return graphs[at], float(values[at]), int((~exists).sum())


def exchanged(p, edges, include=(), exclude=()):
    """All graphs that one edge less and another one more make of a graph."""
    mine = [tuple(e) for e in np.asarray(edges).tolist()]
    forced, banned = ({tuple(sorted(e)) for e in pairs} for pairs in (include, exclude))
    others = [tuple(e) for e in every_pair(p).tolist() if tuple(e) not in banned and tuple(e) not in mine]
    loose = [e for e in mine if e not in forced]
    made = [sorted([*(e for e in mine if e != out), new]) for out in loose for new in others]
    return np.array(made, dtype=np.int64).reshape(len(made), len(mine), 2)


def best_exchange(S, edges, include=(), exclude=()):
    """The least value that one exchange leads to (-inf where a graph has no optimum); inf where there is none."""
    graphs = exchanged(len(S), edges, include, exclude)
    if not len(graphs):
        return np.inf
    return float(refits(S, graphs).value.min())


# a slow twin of the kernel


def dual_refit(R, edges, tol=1e-9, sweeps=5000):
    """Block ascent over nodes on the dual (ESL, algorithm 17.1), from Sigma = R, which must be positive definite."""
    p, Sigma = len(R), R.copy()
    near = [[] for _ in range(p)]
    for i, j in edges:
        near[i].append(j)
        near[j].append(i)
    for _ in range(sweeps):
        W, before = np.zeros((p, p)), Sigma.copy()
        for j, N in enumerate(near):
            column, left = np.zeros(p), R[j, j]
            if N:
                beta = cho_solve(cho_factor(Sigma[np.ix_(N, N)]), R[N, j])
                left -= R[N, j] @ beta
                column = beta @ Sigma[N]
                W[j, N] = -beta / left
            column[j], W[j, j] = R[j, j], 1 / left
            Sigma[j] = Sigma[:, j] = column
        scale = np.sqrt(W.diagonal())
        moved = np.max(np.abs(Sigma - before))  # W can be right while columns visited early still await later ones
        if max(moved, np.max(np.abs(W - W.T) / scale / scale[:, None])) < tol:
            break
    return 0.5 * (W + W.T), Sigma


# with bounds on the eigenvalues


def bounded_refit(S, edges, alpha, beta):
    """W and f's minimum over alpha I <= W <= beta I on a graph, both bounds finite, within 1e-10: a barrier method.

    f - mu (log det(W - alpha I) + log det(beta I - W)) by Newton steps; at its minimum f is at most 2 p mu too large.
    """
    p, edges = len(S), np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    basis = np.zeros((p + len(edges), p, p))
    for q, (i, j) in enumerate([*((i, i) for i in range(p)), *edges.tolist()]):
        basis[q, i, j] = basis[q, j, i] = 1.0
    unit, W, mu = np.eye(p), 0.5 * (alpha + beta) * np.eye(p), 1.0

    def height(V):
        parts = [np.linalg.eigvalsh(M) for M in (V, V - alpha * unit, beta * unit - V)]
        if min(levels[0] for levels in parts) <= 0:
            return np.inf
        logs = [float(np.log(levels).sum()) for levels in parts]
        return float(np.sum(S * V)) - logs[0] - mu * (logs[1] + logs[2])

    while mu > 1e-12:
        for _ in range(100):
            weighted = [(W, 1.0, 1.0), (W - alpha * unit, 1.0, mu), (beta * unit - W, -1.0, mu)]
            inverses = [(np.linalg.inv(M), sign, share) for M, sign, share in weighted]
            g = np.einsum("qij,ij->q", basis, S - sum(sign * share * M for M, sign, share in inverses))
            turned = [(np.einsum("ij,qjk->qik", M, basis), share) for M, _, share in inverses]
            H = sum(share * np.einsum("qij,rji->qr", T, T) for T, share in turned)
            d = -np.linalg.solve(H, g)
            step, here, t = np.einsum("q,qij->ij", d, basis), height(W), 1.0
            while height(W + t * step) > here + 1e-4 * t * (g @ d) and t > 1e-10:
                t /= 2
            if t <= 1e-10 or -(g @ d) < 1e-20:
                break
            W = W + t * step
        mu *= 0.05
    return W, value(S, W)


# with an l1 term


def l1_refit(S, edges, l1, turns=200):
    """The minimiser of f with an l1 term on the graph's entries: proximal Newton steps, coordinate descent inside."""
    R, edges = np.asarray(S, dtype=float), np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    own = np.arange(len(R))
    a, b = np.r_[own, edges[:, 0]], np.r_[own, edges[:, 1]]
    unit, weight = np.where(a == b, 0.5, 1.0), np.where(a == b, 0.0, 2 * l1)
    W = np.diag(1 / R.diagonal())
    here = value(R, W, l1)
    for _ in range(turns):
        Sigma = np.linalg.inv(W)
        H = Sigma[np.ix_(a, a)] * Sigma[np.ix_(b, b)] + Sigma[np.ix_(a, b)] * Sigma[np.ix_(b, a)]
        H = 2 * unit[:, None] * unit * H
        g, w = 2 * unit * (R - Sigma)[a, b], W[a, b]
        ahead = _prox_quadratic(H, g, w, weight)
        d, t = ahead - w, 1.0
        fall = g @ d + weight @ (np.abs(ahead) - np.abs(w))
        while t > 1e-12:
            V = W.copy()
            V[a, b] = V[b, a] = w + t * d if t < 1 else ahead
            there = value(R, V, l1)
            if there <= here + 1e-4 * t * fall + 1e-14 * abs(here):
                break
            t /= 2
        W, here = V, there
        if -fall < 1e-20 or (t == 1.0 and np.abs(d).max() < 1e-13 * np.abs(w).max()) or t <= 1e-12:
            break
    return W, here


def _prox_quadratic(H, g, w, weight, sweeps=300):
    """argmin of g'd + d'Hd/2 + sum weight |w + d|, as w + d."""
    v, slope = w.copy(), g.copy()
    for _ in range(sweeps):
        moved = 0.0
        for q in range(len(v)):
            z = v[q] - slope[q] / H[q, q]
            new = np.sign(z) * max(abs(z) - weight[q] / H[q, q], 0.0)
            if new != v[q]:
                moved = max(moved, abs(new - v[q]) * np.sqrt(H[q, q]))
                slope += H[:, q] * (new - v[q])
                v[q] = new
        if moved < 1e-14:
            break
    return v


def violation(S, W, edges, l1=0.0):
    """How far W is from the minimiser on its graph, on the correlation scale: the conditions that are also enough.

    W^-1 = S on the diagonal; on an edge S - W^-1 + l1 sgn(W) = 0, or at most l1 in size where W is zero.
    """
    d = np.sqrt(S.diagonal())
    delta = (S - np.linalg.inv(W)) / d / d[:, None]
    worst = float(np.abs(delta.diagonal()).max())
    for i, j in edges:
        if l1 and W[i, j] == 0:
            worst = max(worst, abs(delta[i, j]) - l1)
        else:
            worst = max(worst, abs(delta[i, j] + l1 * np.sign(W[i, j])))
    return worst


# no exchange helps, proved


def four_node_bound(R, W, leave, enter):
    """A lower bound of f(E - leave + enter) - f(E): max over a of log det(I + Delta(a) W_UU), U the end nodes.

    Delta(a) is R - W^-1 at the pair that enters and a at the pair that leaves; the log determinant is concave in a.
    -inf where a = 0 leaves no positive definite matrix.
    """
    U = np.unique([*leave, *enter])
    where = {int(u): q for q, u in enumerate(U)}
    part, Sigma = W[np.ix_(U, U)], np.linalg.inv(W)
    L = np.linalg.cholesky(part)
    base, turn = np.zeros((2, len(U), len(U)))
    c, e = ([where[int(v)] for v in pair] for pair in (enter, leave))
    base[c[0], c[1]] = base[c[1], c[0]] = (R - Sigma)[enter[0], enter[1]]
    turn[e[0], e[1]] = turn[e[1], e[0]] = 1.0
    A, B = np.eye(len(U)) + L.T @ base @ L, L.T @ turn @ L

    if np.linalg.eigvalsh(A)[0] <= 0:
        return -np.inf
    rates = np.linalg.eigvalsh(np.linalg.solve(K := np.linalg.cholesky(A), np.linalg.solve(K, B).T))
    low, high = -1 / rates[-1], -1 / rates[0]  # where A + a B is positive definite; B is indefinite
    for _ in range(200):  # the slope, sum rate / (1 + a rate), falls
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sum(rates / (1 + middle * rates)) > 0 else (low, middle)
    return float(np.log(np.linalg.eigvalsh(A + low * B)).sum())
