"""``pursuit stability``: which features half-samples agree on."""

from dataclasses import replace
from pathlib import Path

from pursuit._utils.files import write_text
from pursuit._utils.progress import Progress
from pursuit.cli import INTERRUPTED, NOT_CONVERGED, OK
from pursuit.cli.inputs import DataOptions, read_request
from pursuit.cli.show import PICTURE_SUFFIXES, check_writable, print_text, save_picture
from pursuit.cli.sizes import DEFAULT_LARGEST_SIZE


def run(
    options: DataOptions,
    ks: list[int] | None,
    pairs: int,
    threshold: float,
    seed: int,
    out: Path | None,
    picture: Path | None,
) -> int:
    import pursuit

    check_writable("--out", out, (".csv",))
    check_writable("--picture", picture, PICTURE_SUFFIXES)
    request = read_request(options)
    largest = min(max(DEFAULT_LARGEST_SIZE, len(options.include)), request.X.shape[1])
    with Progress("half-samples", pairs) as bar:
        bar(0)
        found = pursuit.stability(
            request.estimator(k=largest),
            request.X,
            request.y,
            n_pairs=pairs,
            ks=ks,
            threshold=threshold,
            random_state=seed,
            callback=bar,
            **request.more,
        )
    if request.parameters.get("groups") is None:
        found = replace(found, names=request.names)
    print_text(f"{request.heading}\n\n{found}")
    if found.n_done and out is not None:
        write_text(out, found.to_frame().to_csv(index=False, lineterminator="\n"))
        print_text(f"frequencies  {out}")
    if found.n_done and picture is not None:
        save_picture(picture, found.plot())
        print_text(f"picture      {picture}")
    return {"converged": OK, "interrupted": INTERRUPTED}.get(found.status, NOT_CONVERGED)
