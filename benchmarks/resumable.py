"""Measurements in processes, one line of JSON each as soon as it is done: a stopped run goes on where it was."""

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console

Key = tuple[Any, ...]
Entry = dict[str, Any]


def attempt(measure: Callable[[Key], Entry], key: Key) -> Entry:
    """The entry of a key; an error becomes an entry too, so that the other measurements go on."""
    try:
        return {"key": list(key)} | measure(key)
    except Exception as error:
        return {"key": list(key), "failed": f"{type(error).__name__}: {error}"}


def run(measure: Callable[[Key], Entry], keys: list[Key], path: Path, jobs: int, console: Console) -> dict[Key, Entry]:
    """Measure the keys that are not in the file yet; failures are printed, left out, and tried again by a later run."""
    lines = path.read_text().splitlines() if path.exists() else []
    known: dict[Key, Entry] = {tuple(entry["key"]): entry for entry in map(json.loads, lines)}
    missing = [key for key in keys if key not in known]
    path.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs) as pool, path.open("a") as file:
        entries = pool.map(attempt, [measure] * len(missing), missing)
        for done, (key, entry) in enumerate(zip(missing, entries, strict=True), start=1):
            known[key] = entry
            if "failed" not in entry:
                file.write(json.dumps(entry) + "\n")
                file.flush()
            if console.is_terminal:
                console.print(f"{done} of {len(missing)}", end="\r")
    for key in keys:
        if "failed" in known[key]:
            console.print(f"FAILED, left out of the tables: {key}: {known[key]['failed']}")
    return {key: known[key] for key in keys if "failed" not in known[key]}
