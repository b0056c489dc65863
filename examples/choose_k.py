"""From raw data to a chosen number of features, how stable they are, and what the model says.

    .venv/bin/python examples/choose_k.py

prints each step and writes pictures to ./example/. The data come with scikit-learn: 442 patients, ten measurements, and
how far their diabetes progressed in a year. Squares and products of the measurements make 64 columns, most of them
noise, which is where choosing few of them pays.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # pictures go to files

from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import PolynomialFeatures

from pursuit import GLM, SparseRegressor, SparseRegressorCV, path, save_model, split_intervals, stability
from pursuit.plots import CVDisplay, PathDisplay, plot_coefficients


def main(out: Path = Path("example"), pairs: int = 50) -> None:
    out.mkdir(exist_ok=True)

    # 1. The data, and columns that might matter.
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = (X - X.mean()) / X.std()  # so that squares and products are about the mean
    products = PolynomialFeatures(2, include_bias=False).set_output(transform="pandas")
    X = products.fit_transform(X).drop(columns="sex^2")  # sex has two values: its square says nothing new
    print(f"{len(y)} rows, {X.shape[1]} columns\n")

    # 2. Every size at once: which columns come, which go, and how little the later ones add.
    sizes = path(GLM(X, y, standardize=True), range(1, 16))
    for k, share, result in zip(sizes.ks, sizes.explained, sizes, strict=True):
        print(f"k = {k:2}  explains {share:.3f}  {', '.join(result.names)}")
    PathDisplay.from_path(sizes).figure_.savefig(out / "path.png", dpi=150)

    # 3. How many? What is explained in sample only ever rises, so held-out rows decide.
    model = SparseRegressorCV().fit(X, y)
    seen = model.held_out_
    print(f"\n{model.reason_}; the smallest within one standard error is k={model.k_1se_}")
    print(f"{seen.name} {seen.score:.3f} on the folds' held-out rows (standard error {seen.error:.3f})")
    CVDisplay.from_estimator(model).figure_.savefig(out / "held_out.png", dpi=150)
    # That score chose k, so it flatters a little. The same again inside an outer split does not:
    outer = cross_val_score(SparseRegressorCV(), X, y, cv=KFold(10, shuffle=True, random_state=0))
    error = outer.std(ddof=1) / len(outer) ** 0.5
    print(f"R2 {outer.mean():.3f} on rows that had no part in the choice (standard error {error:.3f})\n")

    # 4. What does it say? The table's costs tell which features have a stand-in, and which have none.
    print(model.summary())
    plot_coefficients(model).figure.savefig(out / "coefficients.png", dpi=150, bbox_inches="tight")

    # 5. Would other rows have chosen the same? Halves of the rows vote.
    votes = stability(SparseRegressor(k=model.k_), X, y, n_pairs=pairs, random_state=0)
    print(f"\n{votes}")
    votes.plot().figure_.savefig(out / "stability.png", dpi=150)

    # 6. How sure are the coefficients? Half of the rows choose, the other half estimates: intervals that mean it.
    print(f"\n{split_intervals(SparseRegressor(k=max(1, model.k_1se_)), X, y, random_state=0)}")

    # 7. Keep it: plain JSON, which `pursuit predict` and pursuit.load_model read.
    print(f"\nmodel in {save_model(model, out / 'model.json')}, pictures in {out}")


if __name__ == "__main__":
    main()
