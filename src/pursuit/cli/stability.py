"""``pursuit stability``: which features half-samples agree on."""

from dataclasses import replace
from pathlib import Path

from pursuit._files import write_text
from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.asked import Asked, question
from pursuit.cli.show import PICTURES, draw, say, writable
from pursuit.progress import Progress

LARGEST = 10  # size, where none are asked for


def run(
    asked: Asked, ks: list[int] | None, pairs: int, threshold: float, seed: int, out: Path | None, picture: Path | None
) -> int:
    import pursuit

    writable("--out", out, (".csv",))
    writable("--picture", picture, PICTURES)
    asks = question(asked)
    largest = min(max(LARGEST, len(asked.include)), asks.X.shape[1])
    with Progress("half-samples", pairs) as bar:
        bar(0)
        found = pursuit.stability(
            asks.estimator(k=largest), asks.X, asks.y, n_pairs=pairs, ks=ks, threshold=threshold, random_state=seed,
            callback=bar, **asks.more,
        )  # fmt: skip
    found = replace(found, names=asks.names)
    say(f"{asks.heading}\n\n{found}")
    if found.n_done and out is not None:
        write_text(out, found.to_frame().to_csv(index=False, lineterminator="\n"))
        say(f"frequencies  {out}")
    if found.n_done and picture is not None:
        draw(picture, found.plot())
        say(f"picture      {picture}")
    return {"converged": OK, "interrupted": INTERRUPTED}.get(found.status, NOT_CONVERGED)
