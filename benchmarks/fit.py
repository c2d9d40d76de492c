"""What the default fit costs, each figure a ratio against a named peer in the same run.

    python benchmarks/fit.py [all | PART ...] [--full] [--out fit.csv]
    python benchmarks/fit.py --profile [digits | rows of 784 columns]

Two threads for both sides, float32, warm, the best of a few, in turn. The peer is scikit-learn's
NMF (nndsvda, 200 iterations) followed by KMeans (10 starts), unless said otherwise. ``all`` is
every part in about a quarter of an hour, each in a process of its own; ``--full`` takes the sizes
of the bars where these need minutes and gigabytes. With ``--out`` parts that the file has are
printed from it and not measured again. Wall clock on a quiet machine; ``--cpu`` counts processor
seconds of one thread instead, for a machine that others use. The processor is named first: ratios
differ between kinds.
"""

import argparse
import cProfile
import pstats
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import _fit_large as large
import _fit_parts as parts
from _fit_data import planted
from _fit_parts import ours
from _fit_rows import ROWS, Clock, printed, processor
from _timing import best

PARTS = {
    "small": parts.small,
    "tables": parts.tables,
    "sparse": parts.sparse,
    "cells": parts.cells_as_csr,
    "alone": parts.alone,
    "choosing": parts.choosing,
    "repeated": parts.repeated,
    "paper": parts.paper,
    "compile": parts.compiling,
    "first": parts.first,
    "predict": parts.predict,
    "wide": parts.wide,
}
LARGE = {
    "growth": large.growth,
    "tall": large.tall,
    "mapped": large.mapped,
    "stream": large.stream,
    "checkpoint": large.checkpoint,
    "csv": large.csv_file,
    "report": large.page,
}


def profile(what: str) -> None:
    """What a fit spends its time on: cumulative and own, in one thread."""
    X = load_digits().data.astype(np.float32) if what == "digits" else planted(int(what))
    Clock.of_processor()
    ours(X)
    print(f"{what}: {best(lambda: Clock.seconds(lambda: ours(X)), 3):.2f} s, with profile:")
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(ours, X)
    stats = pstats.Stats(profiler)
    stats.strip_dirs().sort_stats("cumulative").print_stats(40)
    stats.sort_stats("tottime").print_stats(20)


def in_own_processes(options: argparse.Namespace) -> None:
    """All parts; one that fails is told and does not end the others."""
    given = ["--cpu"] * options.cpu + ["--full"] * options.full
    given += ["--out", str(options.out)] if options.out else []
    for name in (*PARTS, *LARGE):
        done = subprocess.run([sys.executable, __file__, name, "--unnamed", *given], check=False)
        if done.returncode:
            print(f"{name}: FAILED with status {done.returncode}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ", ".join((*PARTS, *LARGE))
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART", help=known)
    parser.add_argument("--full", action="store_true", help="the sizes of the bars")
    parser.add_argument("--out", type=Path, metavar="CSV", help="where figures are kept")
    parser.add_argument("--cpu", action="store_true", help="processor seconds, one thread")
    parser.add_argument("--profile", metavar="DATA", help="digits, or how many rows of 784 columns")
    parser.add_argument("--unnamed", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.profile:
        profile(options.profile)
        return
    if options.cpu:
        Clock.of_processor()
    if not options.unnamed:
        print(f"{processor()}, {Clock.kind} seconds", flush=True)
    if options.parts == ["all"]:
        in_own_processes(options)
        return
    for name in options.parts:
        kept = name if name in PARTS or not options.full else f"{name} (full)"
        if options.out and printed(options.out, kept):
            continue
        ROWS.found.clear()
        (PARTS[name] if name in PARTS else partial(LARGE[name], options.full))()
        if options.out:
            ROWS.keep(options.out, kept)


if __name__ == "__main__":
    main()
