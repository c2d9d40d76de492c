"""Time, memory and accuracy of the competitors, and of FNMF beside them.

    python benchmarks/competitors.py                  growth with the number of samples
    python benchmarks/competitors.py --orientation    ACC/NMI on small data, many seeds
    python benchmarks/competitors.py --table          ACC/NMI/time on the eight data sets

Each fit of the first and last mode runs in a process of its own, after a warm-up on small
data that compiles the kernels. Peak memory is that of the whole process. The data of the
first mode are digit-like: each sample is a random convex mixture of a scikit-learn digit and
three of its twenty nearest neighbours, with Gaussian noise of standard deviation 1 on the
pixels that were not empty, scaled to unit length. The last mode needs the data sets
(``fnmf data fetch``, or FNMF_DATA_HOME).
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from fnmf.baselines import all_methods
from fnmf.metrics import clustering_accuracy, normalized_mutual_information

Data = tuple[np.ndarray, np.ndarray, int]

DATASETS = (
    "yale",
    "orl",
    "binary-alphadigits",
    "usps",
    "semeion",
    "mfeat",
    "cnae-9",
    "glass",
)
SIZES = (500, 1000, 2000, 5000, 10_000)
# The value with which each searched method is shown when nothing is searched.
SETTINGS: dict[str, dict[str, Any]] = {
    "GNMF": {"smoothness": 100.0},
    "RMNMF": {"smoothness": 10.0},
    "ONGR": {"coupling": 0.1},
}


def digits_like(n: int, seed: int = 0) -> Data:
    """n digit-like samples of unit length, see above."""
    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    near = NearestNeighbors(n_neighbors=21).fit(X).kneighbors(X, return_distance=False)[:, 1:]
    base = rng.integers(0, len(X), n)
    partners = np.take_along_axis(near[base], rng.integers(0, 20, (n, 3)), axis=1)
    shares = rng.dirichlet(np.ones(4), n)
    mixed = np.einsum("nk,nkd->nd", shares, X[np.column_stack([base, partners])])
    mixed += (X[base] > 0) * rng.normal(0, 1, mixed.shape)
    return normalize(mixed.clip(0)), y[base], 10


def orientation_data() -> dict[str, Data]:
    """The three small data sets of the orientation table."""
    X, y = load_digits(return_X_y=True)
    moons, of_moons = make_moons(200, noise=0.06, random_state=0)
    centres = [[1, 1], [4, 1], [2.5, 4]]
    gauss, of_gauss = make_blobs(300, centers=centres, cluster_std=0.5, random_state=0)
    return {
        "digits-500": (normalize(X[:500]), y[:500], 10),
        "two moons": (moons - moons.min(axis=0) + 0.1, of_moons, 2),
        "three gaussians": (gauss - gauss.min(axis=0) + 0.1, of_gauss, 3),
    }


def run_once(name: str, data: Data, seed: int = 0, **params: Any) -> dict[str, Any]:
    """Fit, and measure what came out."""
    X, y, c = data
    model = all_methods()[name].factory(n_clusters=c, random_state=seed, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        began, began_cpu = time.perf_counter(), time.process_time()
        labels = model.fit_predict(X)
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    return {
        "acc": clustering_accuracy(y, labels),
        "nmi": normalized_mutual_information(y, labels),
        "seconds": seconds,
        "cpu": cpu,
        "n_iter": int(getattr(model, "n_iter_", 0)),
        "converged": bool(getattr(model, "converged_", True)),
        "components": int(getattr(model, "n_connected_components_", 0)),
    }


def load_named(name: str) -> Data:
    """``like:5000`` is made here; anything else is one of the package's data sets."""
    if name.startswith("like:"):
        return digits_like(int(name.removeprefix("like:")))
    from fnmf import datasets

    bunch = datasets.load(name)
    X = bunch.data.astype(np.float64)
    return normalize(X), np.asarray(bunch.target), len(np.unique(bunch.target))


def child(method: str, data: str) -> None:
    """One fit in this process, printed as JSON."""
    run_once(method, digits_like(120), **SETTINGS.get(method, {}))
    loaded = load_named(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = run_once(method, loaded, **SETTINGS.get(method, {}))
    result["before_mb"] = before
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


def in_own_process(method: str, data: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", method, data]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def growth(methods: list[str], sizes: list[int]) -> None:
    print(
        f"{'method':16}{'n':>7}{'seconds':>10}{'CPU s':>9}{'peak MB':>9}{'ACC':>7}{'NMI':>7}  steps"
    )
    for method in methods:
        seconds, used = [], []
        for n in sizes:
            result = in_own_process(method, f"like:{n}")
            if "error" in result:
                print(f"{method:16}{n:7d}  {result['error']}", flush=True)
                continue
            seconds.append(result["cpu"])
            used.append(n)
            mark = "" if result["converged"] else "  not converged"
            print(
                f"{method:16}{n:7d}{result['seconds']:10.2f}{result['cpu']:9.2f}"
                f"{result['peak_mb']:9.0f}{result['acc']:7.3f}{result['nmi']:7.3f}"
                f"  {result['n_iter']}{mark}",
                flush=True,
            )
        if len(used) > 1:
            slope = np.polyfit(np.log(used), np.log(seconds), 1)[0]
            print(f"{method:16}CPU time grows like n^{slope:.2f}\n", flush=True)


def orientation(methods: list[str], seeds: int) -> None:
    print(f"{'method':18}{'data':18}{'ACC':>15}{'NMI':>8}{'seeds':>7}{'seconds':>9}")
    # The reference values were measured with these limits.
    limits = {"RMNMF": {"max_iter": 300}, "ONGR": {"max_iter": 200}}
    variants: list[tuple[str, str, dict[str, Any]]] = [
        (m, m, SETTINGS.get(m, {}) | limits.get(m, {})) for m in methods
    ]
    if "LCNMF" in methods:
        variants.append(("LCNMF components", "LCNMF", {"labels": "components"}))
    if "ONGR" in methods:
        variants.append(("ONGR argmax", "ONGR", {"coupling": 0.1, "labels": "argmax"}))
    for title, method, params in variants:
        for data_name, data in orientation_data().items():
            n_seeds = seeds if all_methods()[method].random else 1
            results = [run_once(method, data, seed, **params) for seed in range(n_seeds)]
            acc, nmi, seconds = (
                np.array([r[k] for r in results]) for k in ("acc", "nmi", "seconds")
            )
            print(
                f"{title:18}{data_name:18}{acc.mean():7.3f} ± {acc.std():.3f}{nmi.mean():8.3f}"
                f"{n_seeds:7d}{seconds.mean():9.2f}",
                flush=True,
            )


def table(methods: list[str]) -> None:
    print(f"{'method':16}{'data':20}{'ACC':>7}{'NMI':>7}{'seconds':>9}{'peak MB':>9}")
    for name in DATASETS:
        for method in methods:
            result = in_own_process(method, name)
            if "error" in result:
                print(f"{method:16}{name:20}  {result['error']}", flush=True)
                continue
            found = result["components"]
            mark = "" if result["converged"] else "  not converged"
            mark += f", {found} components" if mark and found else ""
            print(
                f"{method:16}{name:20}{result['acc']:7.3f}{result['nmi']:7.3f}"
                f"{result['seconds']:9.2f}{result['peak_mb']:9.0f}{mark}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orientation", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", nargs="+", default=list(all_methods()))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--child", nargs=2, metavar=("METHOD", "DATA"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
    elif options.orientation:
        orientation(options.methods, options.seeds)
    elif options.table:
        table(options.methods)
    else:
        growth(options.methods, options.sizes)


if __name__ == "__main__":
    main()
