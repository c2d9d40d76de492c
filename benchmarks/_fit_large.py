"""Parts of the speed benchmark on large data; each takes whether its sizes are the full ones."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import MiniBatchNMF
from threadpoolctl import threadpool_limits

import fnmf
from _fit_data import K, planted, written_table
from _fit_parts import ours
from _fit_rows import Clock, report
from _streams import BATCH, clustered, digits, one_pass
from _timing import THREADS, best, seconds
from fnmf import Checkpoint, MiniBatchFNMF
from memory import Peak


def growth(full: bool) -> None:
    for sizes, informative, noise in (
        ((20_000, 40_000, 80_000, 160_000), 100, 684),
        ((20_000, 80_000, 320_000, *([640_000] * full)), 30, 70),
    ):
        times = []
        for n in sizes:
            X = planted(n, informative, noise)
            ours(X)
            times.append(best(lambda X=X: seconds(lambda: ours(X)), 2))
            print(f"  {n:>8,} x {informative + noise}: {times[-1]:.2f} s", flush=True)
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        report(f"slope of log time on log n, {sizes[0]:,} to {sizes[-1]:,}", float(slope), 1.05)


def tall(full: bool) -> None:
    n = 10_000_000 if full else 1_000_000
    X = planted(n, 20, 30)
    ours(X[:20_000])
    with Peak() as peak:
        a = seconds(lambda: ours(X))
    with threadpool_limits(THREADS):
        b = seconds(lambda: KMeans(K, n_init=1, random_state=0).fit(X))
    report(f"{n:,} x 50 against KMeans (1 start)", a / b, 1, f"{a:.1f} s against {b:.1f} s")
    report("  extra memory, share of X", peak.extra / X.nbytes, 0.25)


def mapped(full: bool) -> None:
    n = 2_000_000 if full else 200_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        X = np.lib.format.open_memmap(path, "w+", np.float32, (n, 784))
        spans = [slice(start, start + 20_000) for start in range(0, n, 20_000)]
        for rows in spans:
            X[rows] = planted(20_000, seed=rows.start)
        X.flush()
        X = np.load(path, mmap_mode="r")
        passed = seconds(lambda: [float(np.vdot(X[rows], X[rows])) for rows in spans])
        with Peak() as peak:
            took = seconds(lambda: ours(X))
        report(f"{n:,} x 784 mapped, anonymous memory in GB", peak.most / 2**30, 2)
        report("  passes over the file (sum of squares)", took / passed, 6, f"{took:.1f} s")


def stream(full: bool) -> None:
    """One pass of MiniBatchFNMF against MiniBatchNMF."""
    n = 200_000 if full else 50_000
    usps = digits(os.environ.get("FNMF_DATA_HOME"))
    sets = [(f"{n:,} x 800", clustered(n, 800, 200)[0], 1.5)]
    sets += [] if usps is None else [("USPS", usps[0], 3)]
    for name, X, bar in sets:
        order = np.random.default_rng(0).permutation(len(X))
        with threadpool_limits(Clock.threads):
            # What is compiled or loaded on first use is not part of a pass.
            for warm in (MiniBatchFNMF(K, random_state=0), MiniBatchNMF(K, random_state=0)):
                one_pass(warm, X[:2048], np.arange(2048))
            times = [
                [
                    Clock.seconds(lambda m=model, X=X, order=order: one_pass(m, X, order))
                    for model in (
                        MiniBatchFNMF(K, random_state=0),
                        MiniBatchNMF(K, random_state=0, batch_size=BATCH),
                    )
                ]
                for _ in range(2)
            ]
        a, b = np.min(times, axis=0)
        what = f"pass of MiniBatchFNMF against MiniBatchNMF, {name}"
        report(what, a / b, bar, f"{a:.2f} s against {b:.2f} s")


def checkpoint(full: bool) -> None:
    """What a checkpoint costs, as a share of the 30 s between two of them."""
    n, often = 1_000_000 if full else 250_000, 20
    X = clustered(n, 100, 30)[0]

    def fit(kept: Checkpoint | None = None) -> None:
        model = fnmf.FNMF(K, tol=0.0, max_iter=often, random_state=0, n_jobs=Clock.threads)
        model.fit(X, checkpoint=kept)

    fit()
    plain, kept = [], []
    for _ in range(2):
        plain.append(Clock.seconds(fit))
        with tempfile.TemporaryDirectory() as folder:
            kept.append(Clock.seconds(lambda f=folder: fit(Checkpoint(f, every=0))))
    each = (min(kept) - min(plain)) / often * 1_000_000 / n
    what = "checkpoint every 30 s, 1,000,000 x 100, per cent"
    report(what, 100 * each / 30, 2, f"{each:.2f} s each, from {n:,} rows")


_COMMAND = "import sys; from fnmf.cli import main; sys.argv[0] = 'fnmf'; main()"
_PEER = """
import sys
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler
X = StandardScaler().fit_transform(pd.read_csv(sys.argv[1]))
KMeans(10, n_init=10, random_state=0).fit(X)
"""


def csv_file(full: bool) -> None:
    """The command from file to report against pandas, StandardScaler and KMeans."""
    n = 1_000_000 if full else 100_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        written_table(path, n, 40)
        own = [_COMMAND, "cluster", str(path), "-k", "10", "-o", str(Path(folder) / "out")]
        times = []
        for code, *given in (own, [_PEER, str(path)]):
            command = [sys.executable, "-W", "ignore", "-c", code, *given]
            times.append(
                seconds(lambda c=command: subprocess.run(c, check=True, capture_output=True))
            )
    a, b = times
    what = f"fnmf cluster, CSV of {n:,} x 40, against pandas + KMeans (10)"
    report(what, a / b, 2, f"{a:.1f} s against {b:.1f} s")


def page(full: bool) -> None:
    """The report of many rows and columns: its size, and its seconds beyond the fit."""
    n = 1_000_000 if full else 100_000
    X = planted(n, 50, 450)
    model = ours(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        took = seconds(lambda: fnmf.report(model, X, path))
        size = path.stat().st_size / 1e6
    report(f"report of {n:,} x 500, MB", size, 5)
    report("  seconds beyond the fit", took, 10)
