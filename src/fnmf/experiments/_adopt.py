"""A store from stored results: the runs of an earlier export, so that only the others are done."""

import csv
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from fnmf.experiments._plan import PROFILES, Run, grid_points
from fnmf.experiments._registry import methods
from fnmf.experiments._store import Store

_NUMBERS = ("acc", "nmi", "objective", "seconds", "cpu_seconds")
_COUNTS = ("n_iter", "n_found")
_TEXTS = ("notes", "reason", "finished")


def adopt(store: Store, folder: Path, again: Collection[str] = ()) -> int:
    """Put the finished runs of ``folder/runs.csv`` into the store; how many.

    Runs of the methods ``again``, runs with settings that are no longer in the grid, and runs made
    for their arrays, which the export does not hold, are left out: they are done anew. What the
    store has already stays.
    """
    runs, about = folder / "runs.csv", folder / "about.json"
    if not (runs.is_file() and about.is_file()):
        raise FileNotFoundError(
            f"--from {folder}: there are no runs.csv and about.json of an earlier run."
        )
    facts = json.loads(about.read_text("utf-8"))
    with runs.open(newline="", encoding="utf-8") as lines:
        return store.adopt(_rows(csv.DictReader(lines), facts, frozenset(again)))


def _rows(
    lines: Iterator[dict[str, str]], facts: dict[str, Any], again: frozenset[str]
) -> Iterator[dict[str, Any]]:
    known = methods()
    grids = {
        name: {tuple(sorted(point)) for point in grid_points(method, PROFILES["full"])}
        for name, method in known.items()
    }
    for line in lines:
        name, purpose = line["method"], line["purpose"]
        params = tuple(sorted(json.loads(line["params"]).items()))
        current = purpose != "table" or name not in known or params in grids[name]
        if line["state"] != "done" or purpose == "detail" or name in again or not current:
            continue
        digest = facts["data"][line["dataset"]]
        made_with = facts["versions"][int(line.get("versions") or 0)]
        run = Run(line["dataset"], name, params, int(line["seed"]), purpose)
        yield {
            "key": run.key(digest),
            "dataset": run.dataset,
            "data_sha256": digest,
            "method": name,
            "params": run.params_json,
            "seed": run.seed,
            "purpose": purpose,
            "state": "done",
            "versions": json.dumps(made_with, sort_keys=True),
            **{column: _value(line, column, float) for column in _NUMBERS},
            **{column: _value(line, column, int) for column in _COUNTS},
            **{column: _value(line, column, str) for column in _TEXTS},
        }


def _value(line: dict[str, str], column: str, kind: type) -> Any:
    return kind(line[column]) if line[column] else None
