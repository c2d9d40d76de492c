"""How many clusters, how sure, and why: every bar of choosing, measured, stored and printed.

    python benchmarks/choose.py planted      exact number on 60 planted sets
    python benchmarks/choose.py shuffled     one cluster on shuffled data
    python benchmarks/choose.py real         the same on labelled sets, beside five rules
    python benchmarks/choose.py tables       the same on labelled tables and made-up ones
    python benchmarks/choose.py cost         time of choosing in fits at the chosen number
    python benchmarks/choose.py confidence   calibration on labelled sets
    python benchmarks/choose.py features     false discoveries and power on planted noise
    python benchmarks/choose.py stability    solid clusters in a fresh half of the samples

``--out results/choosing.json`` keeps the rows of a part there with command, versions and seed, and
``--print`` tells what is kept. ``--sets N`` takes N of the sixty planted sets. ``real``,
``confidence`` and ``stability`` need FNMF_DATA_HOME, see ``_unseen_sets.py``.
"""

import argparse
import json
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import fnmf
from _planted import planted, shuffled
from _rules import RULES, bic
from _unseen_sets import ALL, data
from fnmf import FNMF, choose_n_components
from fnmf._choose import NumberOfClusters
from tables import KINDS, cases, nested, segments, standardised

_MOST = 15
# More columns are no table.
_COLUMNS = 100
_RATE = 0.1
_SOLID, _BACK = 0.75, 0.5
OWN = "fnmf"

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *MEASURE])
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--print", action="store_true", dest="only_print")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = stored(arguments.out)
    for part in arguments.parts or MEASURE:
        if not arguments.only_print:
            rows = []
            before = kept.get(part, {"rows": []})["rows"]
            for row in MEASURE[part](arguments.sets, arguments.seed, before):
                rows.append({name: _plain(value) for name, value in row.items()})
                shown = (f"{name}={rows[-1][name]}" for name in row if name != "scores")
                print(part, *shown, flush=True)
            kept[part] = {**_about(arguments.seed), "rows": rows}
            if arguments.out:
                text = json.dumps(kept, indent=1)
                arguments.out.write_text(text + "\n", encoding="utf-8")
        if part in kept:
            print(*TELL[part](kept[part]["rows"]), sep="\n")


def stored(path: Path | None) -> dict[str, Any]:
    """What earlier runs kept."""
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}


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


def planted_sets(sets: int, seed: int, before: list[Row]) -> Iterator[Row]:
    for i in numbers(sets):
        one = planted(i)
        choice = choose_n_components(one.X, random_state=seed, n_jobs=1)
        yield {
            "set": i,
            "kind": one.kind,
            "noise": one.noise,
            "k": int(one.y.max()) + 1,
            "found": choice.n_components,
            "interval": list(choice.interval),
            "also": list(choice.also),
            "scores": parts(choice),
        }


def tell_planted(rows: list[Row]) -> Iterator[str]:
    for noise in sorted({row["noise"] for row in rows}):
        some = [row for row in rows if row["noise"] == noise]
        yield f"noise x{noise}: {exact(some)}"
    inside = np.mean([row["interval"][0] <= row["k"] <= row["interval"][1] for row in rows])
    flat = np.mean([not row["also"] for row in rows])
    yield f"planted: {exact(rows)}; in the interval {inside:.2f}; not called a hierarchy {flat:.2f}"


def shuffled_sets(sets: int, seed: int, before: list[Row]) -> Iterator[Row]:
    for i in numbers(sets):
        X = shuffled(planted(i).X, np.random.RandomState(i))
        found = choose_n_components(X, random_state=seed, n_jobs=1)
        yield {"set": i, "found": found.n_components}


def tell_shuffled(rows: list[Row]) -> Iterator[str]:
    share = np.mean([row["found"] == 1 for row in rows])
    yield f"one cluster on {share:.2f} of {len(rows)} shuffled sets"


def real_sets(sets: int, seed: int, before: list[Row]) -> Iterator[Row]:
    for name, X, y in labelled(_MOST):
        yield beside_rules(name, X, y, RULES, seed, before)


def table_sets(sets: int, seed: int, before: list[Row]) -> Iterator[Row]:
    made = [(f"{one.__name__} {i}", *one(100 + i)) for one in (segments, nested) for i in range(10)]
    stored = [(name, *found) for name, found in cases("tables")]
    mixed = [(name, *found) for name, found in cases("kinds")]
    for name, X, y in (*made, *mixed, *stored):
        if X.shape[1] <= _COLUMNS and y.max() < _MOST:
            rules = {**RULES, "BIC of a mixture": bic}
            yield beside_rules(name, X, y, rules, seed, before)


def beside_rules(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    rules: dict[str, Callable[[Any, int, int], int]],
    seed: int,
    before: list[Row],
) -> Row:
    """The recommended number of clusters of a set, and what other rules answer."""
    own = choose_n_components(X, random_state=seed, n_jobs=1)
    # Other rules depend on nothing of ours: what is kept of them stays.
    known = {row["data"]: row["answers"] for row in before}
    rows = standardised(X) if rules is not RULES else X
    others = known.get(name) or {rule: find(rows, _MOST, seed) for rule, find in rules.items()}
    return {
        "data": name,
        "k": int(y.max()) + 1,
        "interval": list(own.interval),
        "also": list(own.also),
        "answers": {**others, OWN: own.n_components},
        "scores": parts(own),
    }


def tell_tables(rows: list[Row]) -> Iterator[str]:
    made = [row for row in rows if row["data"].split()[0] in ("segments", "nested")]
    mixed = [row for row in rows if row["data"][:-2] in KINDS]
    others = [row for row in rows if row not in made + mixed]
    for kind, some in (("made up", made), ("of kinds", mixed), ("labelled", others)):
        for line in tell_real(some):
            yield f"{kind}: {line}"


def tell_real(rows: list[Row]) -> Iterator[str]:
    for rule in rows[0]["answers"]:
        yield f"{rule:18s} {exact([{**row, 'found': row['answers'][rule]} for row in rows])}"
    inside = [row["interval"][0] <= row["k"] <= row["interval"][1] for row in rows]
    yield f"classes in the interval of {OWN}: {np.mean(inside):.2f}"


def cost(sets: int, seed: int, before: list[Row]) -> Iterator[Row]:
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
        yield {"set": i, "shape": list(X.shape), "choosing": chosen, "fit": fitted}


def tell_cost(rows: list[Row]) -> Iterator[str]:
    ratio = np.median([row["choosing"] / row["fit"] for row in rows])
    yield f"choosing among 2 to {_MOST} costs {ratio:.1f} fits (median of {len(rows)})"


def confidence(sets: int, seed: int, before: list[Row]) -> Iterator[Row]:
    for name, X, y in labelled(_MOST):
        model = FNMF(int(y.max()) + 1, random_state=seed, n_jobs=1).fit(X)
        right = _of_majority(model.labels_, y)
        sure = model.sample_confidence_.astype(float)
        order = np.argsort(-sure, kind="stable")
        half = len(order) // 2
        yield {
            "data": name,
            "surer half": right[order[:half]].mean(),
            "other half": right[order[half:]].mean(),
            "calibration error": calibration_error(sure, right),
        }


def tell_confidence(rows: list[Row]) -> Iterator[str]:
    gains = np.array([row["surer half"] - row["other half"] for row in rows])
    error = np.mean([row["calibration error"] for row in rows])
    yield (
        f"surer half better on {np.mean(gains > 0):.2f} of {len(rows)} sets, "
        f"by {gains.mean():.3f}; calibration error {error:.3f}"
    )


def calibration_error(sure: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """Mean gap between what is promised and what is true, over bins of confidence."""
    at = np.minimum((sure * bins).astype(int), bins - 1)
    return sum(
        np.mean(at == b) * abs(sure[at == b].mean() - right[at == b].mean()) for b in np.unique(at)
    )


def features(sets: int, seed: int, before: list[Row]) -> Iterator[Row]:
    for i in numbers(min(sets, 50)):
        one = planted(i)
        model = FNMF(int(one.y.max()) + 1, random_state=seed, n_jobs=1).fit(one.X)
        found = model.feature_qvalues_ <= _RATE
        # A real feature in which the planted clusters happen to agree informs about nothing.
        telling = one.real & (_explained(one.X, one.y) > 0.1)
        yield {
            "set": i,
            "kind": one.kind,
            "noise": one.noise,
            "false": (found & ~one.real).sum() / max(found.sum(), 1),
            "power": found[telling].mean(),
        }


def tell_features(rows: list[Row]) -> Iterator[str]:
    false, power = (np.mean([row[name] for row in rows]) for name in ("false", "power"))
    yield f"false share {false:.3f}, power {power:.3f} over {len(rows)} sets"


def stability(sets: int, seed: int, before: list[Row]) -> Iterator[Row]:
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
        solid = first.cluster_stability_ >= _SOLID
        back = overlap[solid] >= _BACK
        yield {"data": name, "clusters": k, "solid": solid.sum(), "back": back.sum()}


def tell_stability(rows: list[Row]) -> Iterator[str]:
    solid, back, all_ = (sum(row[name] for row in rows) for name in ("solid", "back", "clusters"))
    yield f"{back / max(solid, 1):.3f} of {solid} solid clusters (of {all_}) come back"


def parts(choice: NumberOfClusters) -> dict[str, list[float]]:
    """The table of scores, column by column."""
    return {name: choice.scores[name].round(5).tolist() for name in choice.scores.dtype.names}


def exact(rows: list[Row]) -> str:
    """Shares of right answers."""
    off = np.abs([row["found"] - row["k"] for row in rows])
    return f"exact {np.mean(off == 0):.2f}, within one {np.mean(off <= 1):.2f} of {len(off)}"


def _about(seed: int) -> Row:
    """How a part was made."""
    versions = {one.__name__: one.__version__ for one in (fnmf, np, scipy, sklearn)}
    command = f"python benchmarks/{Path(sys.argv[0]).name} {' '.join(sys.argv[1:])}"
    return {"command": command, "seed": seed, "python": platform.python_version(), **versions}


def _of_majority(labels: np.ndarray, y: np.ndarray) -> np.ndarray:
    majority = {a: np.bincount(y[labels == a]).argmax() for a in np.unique(labels)}
    return np.array([majority[a] for a in labels]) == y


def _explained(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    means = np.array([X[y == a].mean(axis=0) for a in range(y.max() + 1)])
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    return 1 - ((X - means[y]) ** 2).sum(axis=0) / np.where(total > 0, total, 1)


def _plain(value: Any) -> Any:
    if isinstance(value, np.integer):
        return int(value)
    return round(float(value), 5) if isinstance(value, float) else value


MEASURE: dict[str, Callable[[int, int, list[Row]], Iterator[Row]]] = {
    "planted": planted_sets,
    "shuffled": shuffled_sets,
    "real": real_sets,
    "tables": table_sets,
    "cost": cost,
    "confidence": confidence,
    "features": features,
    "stability": stability,
}
TELL: dict[str, Callable[[list[Row]], Iterator[str]]] = {
    "planted": tell_planted,
    "shuffled": tell_shuffled,
    "real": tell_real,
    "tables": tell_tables,
    "cost": tell_cost,
    "confidence": tell_confidence,
    "features": tell_features,
    "stability": tell_stability,
}

if __name__ == "__main__":
    main()
