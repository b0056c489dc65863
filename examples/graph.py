"""Which measurements belong together, given all others: a graph, how many edges it should have, and how sure they are.

    .venv/bin/python examples/graph.py [GENES.npz]

prints each step and writes pictures to ./example/. The data come with scikit-learn: 178 wines, thirteen measurements.
A second graph is drawn of gene expression where a file is given: an npz with X, classes y, and names in ``probes``, of
which the 113 genes are taken that differ most between the classes.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # pictures go to files

from sklearn.datasets import load_wine

from pursuit import LogDet, SparsePrecision, SparsePrecisionCV, path, stability
from pursuit.cli import main as command
from pursuit.plots import EdgeFrequencyDisplay, EdgePathDisplay, GraphDisplay


def main(out: Path = Path("example"), genes: Path | None = None, pairs: int = 25) -> None:
    out.mkdir(exist_ok=True)
    X, _ = load_wine(return_X_y=True, as_frame=True)

    # 1. Fifteen edges, because we say so: what is strongest, and what each is worth.
    model = SparsePrecision(n_edges=15).fit(X)
    print(f"{model.edges_.head(8).to_string(index=False)}\n{model.reason_}\n")

    # 2. Every size at once: which edges stay when others come.
    sizes = path(LogDet(X.cov(), n_samples=len(X)), range(0, 41, 2))
    EdgePathDisplay.from_path(sizes).figure_.savefig(out / "edges.png", dpi=150)

    # 3. How many? Held-out rows decide, and about shrinkage too.
    chosen = SparsePrecisionCV(cv=5).fit(X)
    print(f"{chosen.n_edges_} edges, shrinkage {chosen.shrinkage_:g}, l1 {chosen.l1_:g}: {chosen.reason_}\n")
    GraphDisplay.from_estimator(chosen).figure_.savefig(out / "graph.png", dpi=150)

    # 4. Would other rows have the same? Halves of the rows vote.
    votes = stability(model, X, n_pairs=pairs, random_state=0)
    print(f"{votes}\n")
    EdgeFrequencyDisplay.from_stability(votes, order="similar").figure_.savefig(out / "edge_votes.png", dpi=150)

    # 5. The same from the command line, on more columns than rows.
    if genes is not None:
        options = ["--names", "probes", "--label", "y", "--most", "113", "--edges", "auto"]
        command(["graph", str(genes), *options, "--out", str(out / "genes.json"), "--picture", str(out / "genes.png")])
    print(f"pictures in {out}")


if __name__ == "__main__":
    main(genes=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
