"""``fnmf cluster`` killed at random moments: what is left of the user's files and of the results.

    python benchmarks/kills.py --kills 100 --out results/kills.json

Every run has an older result, the input and a file of the user's in its folder; half of the runs
use ``--force`` and half write a new folder. Half of the moments are anywhere in the run, half while
it writes. After each kill the folder must hold the old or the new
result whole: at once, or after the next command has opened it (a run that was killed between two
renames is finished then). The next run must clear away what was left. Interrupted, the same command
goes on where it stopped.
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
# Results are written in less.
WRITING_SECONDS = 0.3
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


def kill_once(folder: Path, force: bool, moment: float, writing: bool) -> str:
    """Kill a run and say what became of everything.

    ``moment`` counts from its start, or, if it is to be killed ``writing``, from its first file.
    """
    table = (folder / "table.csv").read_bytes()
    more = ["-o", ".", "--force"] if force else ["-o", "new"]
    process = run(folder, 2, *more)
    while writing and process.poll() is None and not _hidden(folder):
        time.sleep(0.0005)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    target = folder if force else folder / "new"
    at_once = after = whole(target)
    if target.exists() and at_once is None:
        words = ["inspect", str(target), "--json"]
        subprocess.run([*COMMAND, *words], capture_output=True, check=False)
        after = whole(target)
    if (folder / "thesis.txt").read_text() != "precious" or (
        folder / "table.csv"
    ).read_bytes() != table:
        return "LOST a file of the user's"
    if not force and not target.exists():
        if whole(folder) != "k3":
            return "LOST the old result"
        return "nothing new, old kept" + _cleared(folder, target)
    if after is None:
        return "LOST: neither result is whole"
    told = f"{'new' if after == 'k2' else 'old'} whole {'at once' if at_once else 'when opened'}"
    return told + _cleared(folder, target)


def _cleared(folder: Path, target: Path) -> str:
    """What the next run does with what a killed one left behind."""
    if not _hidden(folder, target):
        return ""
    again = run(folder, 2, "-o", "." if target == folder else "new", "--force")
    if again.wait() != 0:
        return "; the next run FAILED"
    return "; LEFTOVERS stay" if _hidden(folder, target) else "; leftovers cleared by the next run"


def _hidden(*folders: Path) -> list[str]:
    return [
        path.name
        for folder in folders
        if folder.exists()
        for path in folder.iterdir()
        if path.name[0] == "."
    ]


def main() -> None:
    """Kill, look and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = _stored(options)
    # Most of a run is imports; the moments that matter are in its second half.
    moments = np.random.default_rng(options.seed).uniform(0, 1, options.kills)
    with tempfile.TemporaryDirectory() as place:
        older = Path(place) / "older"
        older.mkdir()
        write_table(older / "table.csv")
        run(older, 3, "-o", ".").wait()
        started = time.perf_counter()
        shutil.copytree(older, Path(place) / "timed")
        run(Path(place) / "timed", 2, "-o", ".", "--force").wait()
        usual = time.perf_counter() - started
        for number in range(found.total(), options.kills):
            folder = Path(place) / f"run {number}"
            prepare(folder, older)
            force = number % 2 == 0
            writing = number % 4 >= 2
            share = float(moments[number])
            moment = share * WRITING_SECONDS if writing else (0.4 + 0.65 * share) * usual
            told = kill_once(folder, force, moment, writing)
            found[
                f"{'--force' if force else 'new folder'}{', writing' if writing else ''}: {told}"
            ] += 1
            shutil.rmtree(folder)
            print(f"{number + 1}/{options.kills} {told}", file=sys.stderr)
            _store(options, found)
    for told, count in sorted(found.items()):
        print(f"{count:5} {told}")


def _command(options: argparse.Namespace) -> str:
    return f"python benchmarks/kills.py --kills {options.kills} --seed {options.seed}"


def _stored(options: argparse.Namespace) -> Counter[str]:
    """What an interrupted run of the same command has found."""
    if options.out is None or not options.out.exists():
        return Counter()
    record = json.loads(options.out.read_text())
    return Counter(record["outcomes"] if record["command"] == _command(options) else {})


def _store(options: argparse.Namespace, found: Counter[str]) -> None:
    if options.out is None:
        return
    record = {
        "command": _command(options),
        "python": platform.python_version(),
        "system": f"{platform.system()} {os.uname().release.split('-')[0]}",
        "kills": found.total(),
        "outcomes": dict(sorted(found.items())),
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
