"""Random problems of the worst kind: every single exchange at every ``swap_optimal``, by a referee.

    python tools/fuzz_exchange.py --problems 5000 --large 100 --jobs 2 [--seed 0] [--minutes 30] [--effort fast]
    python tools/fuzz_exchange.py --losses --problems 2000 --jobs 2
    python tools/fuzz_exchange.py --losses multinomial --problems 500 --jobs 2
    python tools/fuzz_exchange.py --losses responses --problems 1000 --jobs 2
    python tools/fuzz_exchange.py --paths --problems 1000 --jobs 2

The loss is the squared one; with ``--losses`` logistic, Poisson, Huber and the two smooth hinges take turns; with
``--losses responses`` it is the squared one of two to five responses. Checks of each problem: no exchange helps where
that is said; ``value`` is that of the coefficients and the least on its columns; the next best exchange is right;
solve(k + 1) and solve(k) are monotone; neither is above the path. With ``--paths``: the same of every size of a path on
a working set of columns (problems of at least 160 columns). Every problem is a line of JSON in ``--out`` as soon
as it is done; complaints are printed as they come, with the share by which each fails of the null value (above the
infimum of the loss). ``--again SEED`` repeats one problem. The exit code is 1 if anything was false.
"""

import argparse
import json
import os
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np  # noqa: E402

from fuzz import likelihood_problems  # noqa: E402
from fuzz.exchange_judge import Complaint, ExchangeJudge  # noqa: E402
from fuzz.exchange_problems import draw, draw_responses  # noqa: E402
from fuzz.path_judge import FEWEST_COLUMNS, PathJudge  # noqa: E402

Row = dict[str, Any]


def judge(
    losses: str, paths: bool, options: dict[str, Any], monotone: bool, end: float, task: tuple[int, bool]
) -> Row | None:
    """The row of one problem; None when time is up or it has too few columns. A crash is a complaint too."""
    if time.time() > end:
        return None
    seed, large = task
    loss = "multinomial" if losses == "multinomial" else None
    if losses == "responses":
        problem = draw_responses(seed)
    else:
        problem = likelihood_problems.draw(seed, loss) if losses else draw(seed, large)
    n, p = problem.X.shape
    if paths and p < FEWEST_COLUMNS:
        return None
    row: Row = {
        "seed": seed,
        "large": large,
        "n": n,
        "p": p,
        "k": problem.k,
        "loss": problem.loss,
        "layout": problem.layout,
        "single": problem.single,
        "traits": problem.traits,
    }
    referee = PathJudge(problem) if paths else ExchangeJudge(problem, options, monotone)
    try:
        with np.errstate(all="ignore"):
            found = list(referee.complaints())
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        found = [Complaint("crash", np.inf, text)]
    return row | referee.notes | {"complaints": [complaint._asdict() for complaint in found]}


def show(row: Row) -> None:
    where = f"{row['n']}x{row['p']} k={row['k']} {row['layout']}{' float32' * row['single']} {', '.join(row['traits'])}"
    for complaint in row["complaints"]:
        text = f"{complaint['kind']} ({complaint['amount']:.1e} of null): {complaint['text']}"
        print(f"seed {row['seed']}{' large' * row['large']}: {text} [{where}]", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=5000, help="how many, up to 150 x 300")
    parser.add_argument(
        "--losses",
        nargs="?",
        default="",
        const="all",
        choices=["all", "multinomial", "responses"],
        help="losses other than the squared one (all of them but multinomial), up to 100 x 30; or several responses",
    )
    parser.add_argument("--paths", action="store_true", help="every size of a path on a working set of columns")
    parser.add_argument("--large", type=int, default=0, help="further problems, up to 700 x 1500")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after so long")
    parser.add_argument("--claims", action="store_true", help="no comparison with the next size and the path")
    parser.add_argument("--again", type=int, action="append", metavar="SEED", help="this problem only (with --large 1)")
    parser.add_argument("--solver", help="another solver than auto")
    parser.add_argument("--effort", choices=["fast", "default", "thorough"], help="passed on to solve and path")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "build" / "fuzz_exchange.jsonl")
    args = parser.parse_args()
    if args.losses and args.large:
        parser.error("--large: the problems of --losses have one size only")
    options = {name: getattr(args, name) for name in ("solver", "effort") if getattr(args, name)}
    seeds = range(args.seed, args.seed + args.problems)
    tasks = [(seed, False) for seed in seeds] + [(args.seed + i, True) for i in range(args.large)]
    if args.again:
        tasks = [(seed, args.large > 0) for seed in args.again]
    began = time.time()
    work = partial(judge, args.losses, args.paths, options, not args.claims, began + 60 * args.minutes)
    kinds: Counter[str] = Counter()
    claims: Counter[str] = Counter()
    by_loss: dict[str, Counter[str]] = {}
    worst: dict[str, float] = {}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(args.jobs) as pool, args.out.open("w") as file:
        for row in filter(None, pool.map(work, tasks, chunksize=1 if args.again else 5)):
            file.write(json.dumps(row) + "\n")
            file.flush()
            show(row)
            claims[row.get("optimality", "crash")] += 1
            false = sum(complaint["kind"] == "false claim" for complaint in row["complaints"])
            claimed = row.get("optimality") == "swap_optimal"
            by_loss.setdefault(row["loss"], Counter()).update(
                {"problems": 1, "claims": int(claimed), "false claims": false}
            )
            for complaint in row["complaints"]:
                kinds[complaint["kind"]] += 1
                worst[complaint["kind"]] = max(worst.get(complaint["kind"], 0.0), complaint["amount"])
    print(f"{claims.total()} problems in {time.time() - began:.0f} s: {dict(claims)}; rows in {args.out}")
    for loss, tally in by_loss.items():
        counts = ", ".join(f"{tally[name]} {name}" for name in ("problems", "claims", "false claims"))
        print(f"{loss}: {counts}")
    for kind, count in kinds.most_common():
        print(f"{count:6d}  {kind}, worst by {worst[kind]:.1e} of the null value")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
