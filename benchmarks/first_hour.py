"""The first hour of a new user: three made-up tables, each by the plain command without options.

Prints for each table what was found and what is true, how many messages the command had, and how
many seconds it took. ``python benchmarks/first_hour.py`` takes some tens of seconds.
"""

import csv
import json
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fnmf.metrics import clustering_accuracy

MAKE = Path(__file__).parents[1] / "examples" / "tables" / "make.py"


def named_columns(record: dict) -> set[str]:
    """Columns of the file that the sentences of the clusters name."""
    sentences = " ".join(cluster["sentence"].split(": ", 1)[-1] for cluster in record["clusters"])
    parts = sentences.replace("), ", ")|").split("|")
    return {part.split("=")[0].split(" ")[0] for part in parts if "(others" in part}


def run(table: Path, truth: np.ndarray, informative: tuple[str, ...]) -> dict:
    """One table by the plain command."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "fnmf.cli", "cluster", table.name, "--json"]
    done = subprocess.run(command, cwd=table.parent, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        return {"table": table.name, "failed": done.stderr.strip(), "seconds": seconds}
    record = json.loads(done.stdout)
    with open(table.parent / record["folder"] / "labels.csv", newline="") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    named = named_columns(record)
    return {
        "table": table.name,
        "groups": len(record["clusters"]),
        "true groups": len(np.unique(truth)),
        "accuracy": clustering_accuracy(truth, labels),
        "columns found": f"{len(named & set(informative))} of {len(informative)}",
        "columns too many": len(named - set(informative)),
        "decided": len(record["decisions"]),
        "notes": len(record["notes"]),
        "seconds": seconds,
    }


def main() -> None:
    """All three tables."""
    made = runpy.run_path(str(MAKE))
    with tempfile.TemporaryDirectory() as folder:
        truth = made["write"](Path(folder))
        for name, groups in truth.items():
            row = run(Path(folder) / name, groups, made["SEGMENTS"][name][1])
            told = (f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())
            print(", ".join(told).removeprefix("table "), flush=True)


if __name__ == "__main__":
    main()
