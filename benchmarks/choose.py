"""How many clusters, how sure, and why: every bar of the issue on choosing, printed.

    python benchmarks/choose.py planted      exact number on 60 planted sets
    python benchmarks/choose.py shuffled     one cluster on shuffled data
    python benchmarks/choose.py real         the same on labelled sets, beside five rules
    python benchmarks/choose.py cost         time of choosing in fits at the chosen number
    python benchmarks/choose.py confidence   calibration on labelled sets
    python benchmarks/choose.py features     false discoveries and power on planted noise
    python benchmarks/choose.py stability    solid clusters in a fresh half of the samples

``--sets N`` takes every set whose number is a multiple of the right step, so that N remain.
"""

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np

from _planted import planted, shuffled
from _rules import RULES
from _unseen_sets import ALL, data
from fnmf import FNMF, choose_n_components

_MOST = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    PARTS[arguments.part](arguments.sets, arguments.seed)


def labelled(most: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Labelled sets of at most so many classes: name, data, classes from 0."""
    for name in ALL:
        X, y = data(name)
        y = np.unique(y, return_inverse=True)[1]
        if y.max() < most:
            yield name, X, y


def numbers(sets: int) -> list[int]:
    """Numbers of so many planted sets, spread over all sixty."""
    return sorted({round(i * 60 / sets) for i in range(sets)} & set(range(60)))


def exact(errors: list[int]) -> str:
    """Shares of right answers."""
    off = np.abs(errors)
    return f"exact {np.mean(off == 0):.2f}, within one {np.mean(off <= 1):.2f} of {len(off)}"


def planted_sets(sets: int, seed: int) -> None:
    errors: dict[int, list[int]] = {}
    for i in numbers(sets):
        one = planted(i)
        k = int(one.y.max()) + 1
        choice = choose_n_components(one.X, random_state=seed, n_jobs=1)
        errors.setdefault(one.noise, []).append(choice.n_components - k)
        print(f"{i:2d} {one.kind:12s} noise x{one.noise:<2d} k={k:2d}: {choice}", flush=True)
    for noise, found in sorted(errors.items()):
        print(f"noise x{noise}: {exact(found)}")
    print(exact([e for found in errors.values() for e in found]))


def shuffled_sets(sets: int, seed: int) -> None:
    found = []
    for i in numbers(sets):
        X = shuffled(planted(i).X, np.random.RandomState(i))
        found.append(choose_n_components(X, random_state=seed, n_jobs=1).n_components == 1)
    print(f"one cluster on {np.mean(found):.2f} of {len(found)} shuffled sets")


def real_sets(sets: int, seed: int) -> None:
    errors: dict[str, list[int]] = {}
    for name, X, y in labelled(_MOST):
        k = int(y.max()) + 1
        own = choose_n_components(X, random_state=seed, n_jobs=1)
        answers = {"fnmf": own.n_components}
        answers |= {rule: find(X, _MOST, seed) for rule, find in RULES.items()}
        for rule, answer in answers.items():
            errors.setdefault(rule, []).append(answer - k)
        print(f"{name:15s} k={k:2d} {answers} interval {own.interval}", flush=True)
    for rule, found in errors.items():
        print(f"{rule:18s} {exact(found)}")


def cost(sets: int, seed: int) -> None:
    ratios = []
    for i in numbers(sets):
        X = planted(i).X
        took = []
        for _ in range(2):
            start = time.perf_counter()
            choice = choose_n_components(X, random_state=seed, n_jobs=1)
            middle = time.perf_counter()
            FNMF(choice.n_components, random_state=seed, n_jobs=1).fit(X)
            took.append((middle - start, time.perf_counter() - middle))
        chosen, fitted = np.min(took, axis=0)
        ratios.append(chosen / fitted)
        print(f"{i:2d} {X.shape}: {chosen:.2f} s, a fit {fitted:.2f} s", flush=True)
    print(f"choosing among 2 to {_MOST} costs {np.median(ratios):.1f} fits (median)")


def confidence(sets: int, seed: int) -> None:
    gains, errors = [], []
    for name, X, y in labelled(_MOST):
        model = FNMF(int(y.max()) + 1, random_state=seed, n_jobs=1).fit(X)
        right = _of_majority(model.labels_, y)
        sure = model.sample_confidence_.astype(float)
        order = np.argsort(-sure, kind="stable")
        half = len(order) // 2
        gains.append(right[order[:half]].mean() - right[order[half:]].mean())
        errors.append(calibration_error(sure, right))
        print(f"{name:15s} top half {gains[-1]:+.3f}, calibration error {errors[-1]:.3f}")
    print(
        f"top half better on {np.mean(np.array(gains) > 0):.2f} of {len(gains)} sets, "
        f"by {np.mean(gains):.3f}; calibration error {np.mean(errors):.3f}"
    )


def calibration_error(sure: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """Mean gap between what is promised and what is true, over bins of confidence."""
    at = np.minimum((sure * bins).astype(int), bins - 1)
    return sum(
        np.mean(at == b) * abs(sure[at == b].mean() - right[at == b].mean()) for b in np.unique(at)
    )


def features(sets: int, seed: int) -> None:
    false, power = [], []
    for i in numbers(min(sets, 50)):
        one = planted(i)
        k = int(one.y.max()) + 1
        model = FNMF(k, random_state=seed, n_jobs=1).fit(one.X)
        found = model.feature_qvalues_ <= 0.1
        false.append((found & ~one.real).sum() / max(found.sum(), 1))
        # A real feature in which the planted clusters happen to agree informs about nothing.
        telling = one.real & (_explained(one.X, one.y) > 0.1)
        power.append(found[telling].mean())
        print(f"{i:2d} {one.kind:12s} x{one.noise:<2d} false {false[-1]:.3f} power {power[-1]:.3f}")
    print(f"false share {np.mean(false):.3f}, power {np.mean(power):.3f} over {len(false)} sets")


def stability(sets: int, seed: int) -> None:
    back = []
    for name, X, y in labelled(_MOST):
        order = np.random.RandomState(seed).permutation(X.shape[0])
        one, other = (np.sort(order[i::2]) for i in (0, 1))
        k = int(y.max()) + 1
        if len(one) < 8 * k:
            continue
        first, second = (FNMF(k, random_state=seed, n_jobs=1).fit(X[rows]) for rows in (one, other))
        again = second.predict(X[one])
        shared = np.zeros((k, k))
        np.add.at(shared, (first.labels_, again), 1)
        either = shared.sum(axis=1)[:, None] + shared.sum(axis=0) - shared
        overlap = (shared / np.maximum(either, 1)).max(axis=1)
        solid = first.cluster_stability_ >= 0.75
        back += (overlap[solid] >= 0.5).tolist()
        print(f"{name:15s} {solid.sum()} solid, {(overlap[solid] >= 0.5).sum()} come back")
    print(f"{np.mean(back):.3f} of {len(back)} solid clusters come back")


def _of_majority(labels: np.ndarray, y: np.ndarray) -> np.ndarray:
    majority = {a: np.bincount(y[labels == a]).argmax() for a in np.unique(labels)}
    return np.array([majority[a] for a in labels]) == y


def _explained(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    means = np.array([X[y == a].mean(axis=0) for a in range(y.max() + 1)])
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    return 1 - ((X - means[y]) ** 2).sum(axis=0) / np.where(total > 0, total, 1)


PARTS = {
    "planted": planted_sets,
    "shuffled": shuffled_sets,
    "real": real_sets,
    "cost": cost,
    "confidence": confidence,
    "features": features,
    "stability": stability,
}

if __name__ == "__main__":
    main()
