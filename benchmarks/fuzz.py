"""Mutated inputs over all readers, model files and names: no crash, no hang, no odd error.

    python benchmarks/fuzz.py --cases 100000 --out results/fuzz.json
    python benchmarks/fuzz.py --every-place

Two thirds of the cases change the structure of a good file (cells, headers, shapes, signed JSON),
one third its bytes. Every case has a number; the same number is the same file. Cases run in batches
in a process of their own whose memory is bounded; a batch that dies is continued behind the case
that ended it. Interrupted, the same command goes on where it stopped. Seconds are those of
processors, so that a busy machine makes no hang; who only waits hangs after ten minutes.

With ``--every-place`` each place in the headers of six models is removed and set to twelve values.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import _mutations as mutations
from _fuzz_models import every_place, make_models, use

HANG_SECONDS, LONGEST_WAIT = 30, 600
# What the process may take beyond what its imports take: the stated bound for small files.
MEMORY = 5 << 29
BATCH = 2000
# Share of the cases; .h5ad and .xlsx are slow, because of a process for each and of XML.
KINDS = {
    "text": 0.30,
    "packed": 0.08,
    "npy": 0.10,
    "npz": 0.14,
    "mtx": 0.11,
    "parquet": 0.08,
    "model": 0.13,
    "names": 0.035,
    "xlsx": 0.015,
    "h5ad": 0.01,
}


def make(case: int, seed: int, folder: Path, models: list[bytes]) -> tuple[str, Path]:
    """Write the file of a case; its kind and its path."""
    rng = np.random.default_rng([seed, case])
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    # Nearly every changed byte of a model file only proves its checksum.
    by_bytes = rng.random() < (0.1 if kind == "model" else 0.35)
    path = folder / f"case.{kind}"
    writers: dict[str, Callable[..., None]] = {
        "parquet": mutations.parquet,
        "h5ad": mutations.h5ad,
        "xlsx": mutations.workbook,
    }
    if kind in writers:
        writers[kind](rng, path)
        content = path.read_bytes()
    elif kind == "text":
        path, content = folder / "case.csv", mutations.text_table(rng)
    elif kind == "packed":
        ending, content = mutations.packed(rng, mutations.text_table(rng))
        path = folder / f"case{ending}"
    elif kind == "model":
        model = models[int(rng.integers(len(models)))]
        content = model if by_bytes else mutations.signed_model(rng, model)
    elif kind == "names":
        return kind, path
    else:
        content = getattr(mutations, "matrix_market" if kind == "mtx" else kind)(rng)
    path.write_bytes(mutations.flip_bytes(rng, content) if by_bytes else content)
    return kind, path


def try_names(case: int, seed: int, folder: Path) -> str:
    """Hostile names through the writer of results and back through the reader."""
    from fnmf.cli._outputs import safe_cell, write_csv
    from fnmf.io import read_table

    rng = np.random.default_rng([seed, case])
    names = list(dict.fromkeys(mutations.hostile_name(rng).strip() for _ in range(4)))
    names = [name for name in names if name and not name.isspace()] or ["a"]
    path = folder / "names.csv"
    write_csv(path, ["id", *names], [[f"r{i}", *rng.random(len(names))] for i in range(9)])
    for name in names:
        cell = safe_cell(name)
        if set(cell) & set("\x1b\x07\x00\x9b") or cell.lstrip()[:1] in ("=", "@"):
            return "odd"
    read = read_table(path, duplicates="number").names
    wanted = [safe_cell(name).strip() for name in names]
    same = sorted(x.replace("\r\n", "\n").replace("\r", "\n") for x in read)
    expected = sorted(x.replace("\r\n", "\n").replace("\r", "\n") for x in wanted)
    # Names that come twice, the heading of the row names among them, are numbered.
    twice = len({*wanted, "id"}) <= len(wanted)
    return "read" if same == expected or twice else "odd"


def attempt(case: int, seed: int, folder: Path, models: list[bytes]) -> dict[str, Any]:
    """What became of a case."""
    from fnmf.io import TableError, read_table
    from fnmf.persistence import ModelFileError, load

    kind, path = make(case, seed, folder, models)
    used = sum(os.times()[:4])
    told = ""
    try:
        if kind == "names":
            outcome = try_names(case, seed, folder)
        elif kind == "model":
            told = use(load(path))
            outcome = "read"
        else:
            read_table(path)
            outcome = "read"
    except (TableError, ModelFileError) as error:
        outcome, told = "refused", str(error)
        if path.name not in told and path.stem not in told:
            outcome = "odd"
    except HangError:
        outcome = "hang"
    except MemoryError:
        outcome = "memory"
    except Exception as error:
        outcome, told = "odd", f"{type(error).__name__}: {error}"
    seconds = sum(os.times()[:4]) - used
    path.unlink(missing_ok=True)
    return {"case": case, "kind": kind, "outcome": outcome, "s": round(seconds, 3), "told": told}


class HangError(BaseException):
    """A case took longer than it may."""


class Watch:
    """Raises ``HangError`` in a case that takes too long; looks every second."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self.start()
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, 1, 1)

    def start(self) -> None:
        """A case begins."""
        self._used, self._began = sum(os.times()[:4]), time.monotonic()

    def _look(self, *_: Any) -> None:
        # Times of children that ended are known; those that run have to be asked.
        used = sum(os.times()[:4]) - self._used
        for child in self._process.children(recursive=True):
            with suppress(psutil.Error):
                used += sum(child.cpu_times()[:2])
        if used > HANG_SECONDS or time.monotonic() - self._began > LONGEST_WAIT:
            self.start()
            raise HangError


def work(start: int, stop: int, seed: int, model_folder: Path) -> None:
    """Run cases and print a line for each, so that nothing is lost if one ends the process."""
    import resource
    import warnings

    import anndata  # noqa: F401 (its import is no part of a case)

    import fnmf.cli._outputs
    import fnmf.io
    import fnmf.persistence

    warnings.simplefilter("ignore")
    files = sorted(model_folder.iterdir())
    models = [file.read_bytes() for file in files]
    for file in files:
        # What is loaded and compiled on first use does not count.
        if told := use(fnmf.persistence.load(file)):
            raise RuntimeError(f"{file.name} does not work: {told}")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch()
        for case in range(start, stop):
            print(json.dumps({"begin": case}), flush=True)
            watch.start()
            try:
                result = attempt(case, seed, Path(folder), models)
            except HangError:
                result = {"case": case, "kind": "?", "outcome": "hang", "told": ""}
                result["s"] = HANG_SECONDS
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(json.dumps(result | {"mb": peak}), flush=True)
        signal.setitimer(signal.ITIMER_REAL, 0)


def batch(start: int, stop: int, seed: int, model_folder: Path) -> list[dict[str, Any]]:
    """Results of some cases; a case that ends the process is a crash."""
    results: list[dict[str, Any]] = []
    while start < stop:
        command = [sys.executable, __file__, "--work", str(start), str(stop)]
        command += ["--seed", str(seed), "--models", str(model_folder)]
        # Twice the limit for every case is more than any batch may take.
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        results += [line for line in lines if "outcome" in line]
        begun = [line["begin"] for line in lines if "begin" in line]
        if done.returncode == 0:
            break
        if not begun:
            raise RuntimeError(f"the worker failed before its first case: {done.returncode}")
        crash = {"case": begun[-1], "kind": "?", "outcome": "crash", "told": str(done.returncode)}
        results.append(crash | {"s": 0.0, "mb": 0})
        start = begun[-1] + 1
    return results


def main() -> None:
    """Run, store and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every-place", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("results/fuzz.json"))
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--models", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work, options.seed, options.models)
        return
    if options.every_place:
        every_place()
        return
    import fnmf

    state: dict[str, Any] = {"seed": options.seed, "cases": 0, "seconds": 0.0, "counts": {}}
    state |= {"slowest": 0.0, "most_mb": 0, "wrong": []}
    if options.out.exists():
        stored = json.loads(options.out.read_text())
        state = stored if stored["seed"] == options.seed else state
    state["command"] = f"python benchmarks/fuzz.py --cases {options.cases} --seed {options.seed}"
    state["versions"] = {"python": platform.python_version(), "numpy": np.__version__}
    state["versions"]["fnmf"] = fnmf.__version__
    state["memory_bound_mb"] = MEMORY >> 20
    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder) / "models"
        make_models(models)
        while state["cases"] < options.cases:
            start = state["cases"]
            stop = min(start + BATCH, options.cases)
            began = time.perf_counter()
            _add(state, batch(start, stop, options.seed, models))
            state["seconds"] = round(state["seconds"] + time.perf_counter() - began, 1)
            state["cases"] = stop
            _store(state, options.out)
            print(_line(state), file=sys.stderr)
    show(state)


def _add(state: dict[str, Any], results: list[dict[str, Any]]) -> None:
    counts = {kind: Counter(entry) for kind, entry in state["counts"].items()}
    for result in results:
        counts.setdefault(result["kind"], Counter())[result["outcome"]] += 1
        state["slowest"] = max(state["slowest"], result["s"])
        state["most_mb"] = max(state["most_mb"], result.get("mb", 0))
        if result["outcome"] not in ("read", "refused"):
            state["wrong"].append({k: result[k] for k in ("case", "kind", "outcome", "told")})
    state["counts"] = {kind: dict(entry) for kind, entry in sorted(counts.items())}


def _store(state: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(state, indent=1) + "\n")
    os.replace(partial, path)


def _line(state: dict[str, Any]) -> str:
    total: Counter[str] = Counter()
    for entry in state["counts"].values():
        total.update(entry)
    return f"{state['cases']:,} cases: " + ", ".join(f"{v:,} {k}" for k, v in total.most_common())


def show(state: dict[str, Any]) -> None:
    """The table of the bar."""
    outcomes = ("read", "refused", "odd", "hang", "crash", "memory")
    print(f"{'kind':10}" + "".join(f"{name:>9}" for name in outcomes))
    for kind, entry in state["counts"].items():
        print(f"{kind:10}" + "".join(f"{entry.get(name, 0):9,}" for name in outcomes))
    total = sum(sum(entry.values()) for entry in state["counts"].values())
    read = sum(entry.get("read", 0) for entry in state["counts"].values())
    print(f"{total:,} cases, {read / max(total, 1):.0%} got past the parser; slowest case ", end="")
    print(f"{state['slowest']:.1f} s; most memory {state['most_mb']:,} MB")


if __name__ == "__main__":
    main()
