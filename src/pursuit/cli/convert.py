"""``pursuit convert``: a file to a data set on the disk."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pursuit.cli import OK
from pursuit.cli.show import print_text
from pursuit.data.disk.manifest import read_manifest
from pursuit.io import convert


def run(
    data: Path,
    out: Path,
    target: str | None,
    weights: str | None,
    offset: str | None,
    exclude: Sequence[str],
    dtype: str | None,
) -> int:
    if dtype not in (None, "float32", "float64"):
        raise ValueError(f"--dtype must be float32 or float64, got {dtype!r}")
    bar = True if sys.stderr.isatty() else None  # a pipe or a log sees no bar
    convert(data, out, target, weights=weights, offset=offset, drop=exclude, dtype=dtype, callback=bar)
    manifest = read_manifest(out)
    n, p = manifest.shape
    layout = "CSR" if manifest.sparse else "dense"
    count = len(manifest.blocks)
    print_text(f"{out}: {n} rows, {p} features, {layout} {manifest.dtype} in {count} block{'s' * (count != 1)}")
    if manifest.classes is not None:
        print_text(f"classes  {', '.join(map(str, sorted(manifest.classes)))}")
    return OK
