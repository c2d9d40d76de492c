"""``fnmf cluster`` killed at random moments: what is left of the user's files and of the results.

    python benchmarks/kills.py --kills 100 --out results/kills.json

Every run has an older result, the input and a file of the user's in its folder; half of the runs
use ``--force`` and half write a new folder. After each kill the folder must hold the old or the new
result whole: at once, or after the next command has opened it (a run that was killed between two
renames is finished then). The next run must clear away what was left.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

COMMAND = [sys.executable, "-m", "fnmf.cli"]
QUICK = ["--restarts", "0", "--max-iter", "30", "--weighting", "uniform"]


def write_table(path: Path) -> None:
    """Sixty customers of three kinds."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 6)) + 3 * np.eye(6)[np.arange(60) % 3]
    lines = [",".join(f"f{k}" for k in range(6))]
    path.write_text("\n".join([*lines, *(",".join(f"{v:.4f}" for v in row) for row in X)]) + "\n")


def whole(folder: Path) -> str | None:
    """Which result a folder holds completely: its number of clusters, or nothing."""
    import hashlib

    try:
        record = json.loads((folder / "run.json").read_text())
    except (OSError, ValueError):
        return None
    for name, digest in record["files"].items():
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            return None
    return f"k{record['parameters']['n_clusters']}"


def run(folder: Path, k: int, *more: str) -> subprocess.Popen[bytes]:
    """Start a run whose results go where its input lies, or into a folder beside it."""
    words = ["cluster", "table.csv", "-k", str(k), *QUICK, *more]
    return subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def prepare(folder: Path, older: Path) -> None:
    """Input, a file of the user's and an older result in one folder."""
    shutil.copytree(older, folder)
    (folder / "thesis.txt").write_text("precious")


def kill_once(folder: Path, force: bool, moment: float) -> str:
    """Kill a run and say what became of everything."""
    table = (folder / "table.csv").read_bytes()
    more = ["-o", ".", "--force"] if force else ["-o", "new"]
    process = run(folder, 2, *more)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    target = folder if force else folder / "new"
    at_once = whole(target)
    subprocess.run([*COMMAND, "inspect", str(target), "--json"], capture_output=True, check=False)
    after = whole(target)
    if (folder / "thesis.txt").read_text() != "precious" or (
        folder / "table.csv"
    ).read_bytes() != table:
        return "LOST a file of the user's"
    if not force and not target.exists():
        return "nothing new, old kept" if whole(folder) == "k3" else "LOST the old result"
    if after is None:
        return "LOST: neither result is whole"
    again = run(folder, 2, *(["-o", ".", "--force"] if force else ["-o", "new", "--force"]))
    left = "" if again.wait() == 0 else "; the next run FAILED"
    hidden = [path.name for path in [*folder.iterdir(), *target.iterdir()] if path.name[0] == "."]
    left += "; LEFTOVERS stay" if hidden else ""
    return (
        f"{'new' if after == 'k2' else 'old'} whole {'at once' if at_once else 'when opened'}{left}"
    )


def main() -> None:
    """Kill, look and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        older = Path(place) / "older"
        older.mkdir()
        write_table(older / "table.csv")
        run(older, 3, "-o", ".").wait()
        started = time.perf_counter()
        shutil.copytree(older, Path(place) / "timed")
        run(Path(place) / "timed", 2, "-o", ".", "--force").wait()
        usual = time.perf_counter() - started
        for number in range(options.kills):
            folder = Path(place) / f"run {number}"
            prepare(folder, older)
            # Most of a run is imports; the moments that matter are in its second half.
            moment = float(rng.uniform(0.4, 1.05)) * usual
            force = number % 2 == 0
            told = kill_once(folder, force, moment)
            found[f"{'--force' if force else 'new folder'}: {told}"] += 1
            shutil.rmtree(folder)
            print(f"{number + 1}/{options.kills} {told}", file=sys.stderr)
            _store(options, found)
    for told, count in sorted(found.items()):
        print(f"{count:5} {told}")


def _store(options: argparse.Namespace, found: Counter[str]) -> None:
    if options.out is None:
        return
    record = {
        "command": f"python benchmarks/kills.py --kills {options.kills} --seed {options.seed}",
        "python": platform.python_version(),
        "system": f"{platform.system()} {os.uname().release.split('-')[0]}",
        "kills": found.total(),
        "outcomes": dict(sorted(found.items())),
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
