"""The bars of streams: quality and time of one pass, a change half-way, memory."""

import csv
import resource
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.decomposition import MiniBatchNMF
from sklearn.metrics import roc_auc_score

from fnmf import FNMF, MiniBatchFNMF
from fnmf.metrics import clustering_accuracy

C = 10
BATCH = 1024
# The stream that changes: features in all and informative ones, its batches, and how fast it is
# forgotten, in three ways.
WIDE, INFORMATIVE, SMALL = 60, 20, 256
FORGET = (0.9, 0.95, 0.98)


def clustered(n: int, d: int, informative: int, seed: int = 0, first: int = 0) -> tuple:
    """Rows of ten clusters that show in some features; the others are noise."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).uniform(0, 1, (C, informative)).astype(np.float32)
    labels = rng.integers(0, C, n)
    X = rng.random((n, d), dtype=np.float32)
    X[:, first : first + informative] = centres[labels]
    X[:, first : first + informative] += 0.1 * rng.random((n, informative), dtype=np.float32)
    return X, labels


def seconds(task) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def one_pass(found, X: np.ndarray, order: np.ndarray):
    for start in range(0, len(X), BATCH):
        found.partial_fit(X[order[start : start + BATCH]])
    return found


def digits(data_home: str | None) -> tuple | None:
    """All 9,298 digits of USPS from ``usps.npz``, values from -1 to 1, if the folder has it."""
    path = Path(data_home or ".") / "usps.npz"
    if not path.exists():
        print(f"USPS: {path} with X (9298 x 256) and y is needed; left out")
        return None
    with np.load(path, allow_pickle=False) as file:
        return ((file["X"] + 1) / 2).astype(np.float32), file["y"], None


def passes(rows: int, seeds: int, data_home: str | None) -> None:
    """One pass against a fit of all rows, and against the time of scikit-learn's MiniBatchNMF."""
    X, labels = clustered(rows, 800, 200)
    sets = {"USPS": digits(data_home), "200 + 600 of noise": (X, labels, np.arange(800) < 200)}
    for name, content in sets.items():
        if content is None:
            continue
        rows, y, informative = content
        # What is compiled or loaded on first use is not part of a pass.
        for warm in (MiniBatchFNMF(C, random_state=0), MiniBatchNMF(C, random_state=0)):
            one_pass(warm, rows[:2048], np.arange(2048))
        found, whole, times = [], [], []
        for seed in range(seeds if len(rows) < 20_000 else 1):
            order = np.random.default_rng(seed).permutation(len(rows))
            mini = MiniBatchFNMF(C, random_state=seed)
            rival = MiniBatchNMF(C, random_state=seed, batch_size=BATCH)
            times.append([seconds(partial(one_pass, m, rows, order)) for m in (mini, rival)])
            whole.append(clustering_accuracy(y, FNMF(C, random_state=seed).fit(rows).labels_))
            found.append(clustering_accuracy(y, mini.predict(rows)))
        ratio = np.mean(found) / np.mean(whole)
        print(
            f"{name}: ACC {np.mean(found):.3f} {np.round(found, 3)}, FNMF {np.mean(whole):.3f} "
            f"{np.round(whole, 3)}, ratio {ratio:.3f} (>= 0.97)"
        )
        if informative is not None:
            area = roc_auc_score(informative, mini.feature_importances_)
            print(f"{name}: AUC of importances {area:.3f} (>= 0.95)")
        ours, theirs = np.median(times, axis=0)
        print(
            f"{name}: {ours:.2f} s, MiniBatchNMF {theirs:.2f} s, ratio {ours / theirs:.2f} (<= 2)",
            flush=True,
        )


def followed(forget: float, before: int, after: int) -> list[tuple[float, float, float]]:
    """Memories since the change, and AUC of the importances for the old and the new features."""
    found = MiniBatchFNMF(
        C, random_state=0, batch_size=SMALL, forget_factor=forget, sample_size=1500
    )
    memory, curve = SMALL / (1 - forget), []
    places = np.arange(WIDE)
    for number in range(before + after):
        first = 0 if number < before else WIDE // 2
        found.partial_fit(clustered(SMALL, WIDE, INFORMATIVE, seed=number, first=first)[0])
        areas = [
            float(roc_auc_score((places >= at) & (places < at + INFORMATIVE), importances))
            for importances in [found.feature_importances_]
            for at in (0, WIDE // 2)
        ]
        curve.append(((number + 1 - before) * SMALL / memory, *areas))
    return curve


def change(out: str | None, figure: str | None) -> None:
    """A stream whose informative features are others half-way."""
    curves = {}
    for forget in FORGET:
        length = round(3 / (1 - forget))
        curves[forget] = followed(forget, 2 * length, length)
        late = next((age for age, _, new in curves[forget] if age > 0 and new >= 0.95), np.inf)
        print(
            f"change, forget_factor={forget}: AUC of the new features >= 0.95 after {late:.2f} "
            f"memories of {SMALL / (1 - forget):.0f} rows",
            flush=True,
        )
    if out:
        with open(out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["forget_factor", "memories", "auc_old", "auc_new"])
            for forget, curve in curves.items():
                writer.writerows([forget, *(round(v, 4) for v in point)] for point in curve)
    if figure:
        _draw(curves, figure)


def _draw(curves: dict[float, list[tuple[float, float, float]]], figure: str) -> None:
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for place, (forget, curve) in enumerate(curves.items()):
        ages, old, new = np.array(curve).T
        style = {"color": f"C{place}", "lw": 1.5}
        ax.plot(
            ages, new, label=f"forget_factor={forget}, {SMALL / (1 - forget):.0f} rows", **style
        )
        ax.plot(ages, old, ls=":", **style)
    ax.axvline(0, color="0.6", lw=1)
    ax.axhline(0.95, color="0.6", lw=0.7, ls="--")
    ax.set(
        xlabel="memories since the informative features changed",
        ylabel="AUC of importances",
        xlim=(-1, 3),
        ylim=(-0.02, 1.02),
    )
    # Where no curve is.
    title = "solid: new features, dotted: old ones"
    ax.legend(frameon=False, fontsize=8, title=title, loc="center", bbox_to_anchor=(0.77, 0.68))
    fig.savefig(figure, dpi=150)


def flat(batches: int = 2000) -> None:
    """Peak memory along a stream."""
    found = MiniBatchFNMF(C, random_state=0, batch_size=SMALL, forget_factor=0.95, sample_size=1500)
    sizes = {}
    for number in range(batches):
        found.partial_fit(clustered(SMALL, WIDE, INFORMATIVE, seed=number)[0])
        if (number + 1) % (batches // 4) == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            sizes[number + 1] = f"{peak:.0f} MB"
    print(f"peak memory after batches, {found.n_renewals_} renewals: {sizes} (flat)")
