"""Some labels, some links: SemiFNMF and its peers.

    FNMF_DATA_HOME=... python benchmarks/labels.py [accuracy usps noise wrong new links effects
    budget time] [--splits 10] [--print]

Accuracy on rows without a label at one label a class, 5 %, 10 % and 30 %; on all of USPS; with ten
noise features for each real one; with wrong labels beside confident learning; with a class that
nobody labelled; with links beside PCKMeans; without what labels do to ties, features and names;
labels that are asked for or drawn at random; CPU time beside FNMF. Classes do not depend on the
iterations of the factorisation, so that only what comes before it is run, and what does not depend
on labels once for a data set. Results go to ``results/labels.csv``; what is there already is not
run again, but for ours with --ours.
"""

import argparse
import csv
import platform
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.metrics import f1_score

import fnmf
from _label_parts import Guided, Row, budget, effects, time
from _label_peers import (
    CHOSEN_ON,
    IMAGES,
    PEERS,
    TABLES,
    Peers,
    confident_order,
    data,
    labelled,
    pck_means,
)
from fnmf.execution import Runner, threads
from fnmf.metrics import clustering_accuracy

SHARES = (1, 0.05, 0.1, 0.3)
FIELDS = ("part", "data", "share", "split", "method", "value")


# Cells of accuracies that are complete.
_STORED: set[tuple[str, str, float, int]] = set()
# Peers that are run; none with --ours.
_PEERS: list[type[Peers]] = [Peers]


def done(part: str, name: str, share: float, split: int) -> bool:
    """Whether a cell is among the results already."""
    return (part, name, float(share), split) in _STORED


def calibration_error(shares: np.ndarray, y: np.ndarray) -> float:
    """Mean gap between probability and accuracy in ten bins."""
    sure, right = shares.max(axis=1), shares.argmax(axis=1) == y
    place = np.minimum((sure * 10).astype(int), 9)
    bins = [place == one for one in np.unique(place)]
    return float(sum(abs(sure[b].mean() - right[b].mean()) * b.mean() for b in bins))


def accuracy(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """All sets and shares, without and with class sizes, and the calibration error."""
    for name in sets:
        if done("accuracy", name, SHARES[-1], splits - 1):
            continue
        X, y = data(name)
        ours, peers = Guided(X, y.max() + 1, runner), [one(X, name in IMAGES) for one in _PEERS]
        for share in SHARES:
            for split in range(splits):
                if done("accuracy", name, share, split):
                    continue
                given = np.where(labelled(y, share, split), y, -1)
                yield from _compared("accuracy", name, share, split, (ours, peers, given, y))


def _compared(part: str, name: str, share: float, split: int, of: Any) -> Iterator[Row]:
    ours, peers, given, y = of
    free = given < 0
    found, classes = ours.fit(given)
    yield part, name, share, split, "ours", float(np.mean(found[free] == y[free]))
    error = calibration_error(classes.shares[free], y[free])
    yield f"calibration, {part}", name, share, split, "ours", error
    sizes = np.bincount(y) / len(y)
    for peer in peers:
        for method, value in peer.accuracies(given, y, sizes).items():
            yield part, name, share, split, method, value
    found, _ = ours.fit(given, class_sizes=sizes)
    yield part, name, share, split, "ours, sizes", float(np.mean(found[free] == y[free]))


def noise(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """Ten features that are permuted copies of real ones, for each real one."""
    for name in ("mfeat", "usps", "semeion"):
        X, y = data(name)
        rng = np.random.default_rng(0)
        copies = [rng.permuted(X, axis=0) for _ in range(10)]
        noisy = np.hstack([X, *copies])
        for part, rows in (("clean", X), ("noise", noisy)):
            ours, peers = Guided(rows, y.max() + 1, runner), [one(rows, True) for one in _PEERS]
            for share in (1, 0.1):
                for split in range(splits):
                    given = np.where(labelled(y, share, split), y, -1)
                    yield from _compared(part, name, share, split, (ours, peers, given, y))


def wrong(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """A fifth of the labels wrong: any other class, or the class most like it."""
    for name in ("mfeat", "usps", "semeion", "cnae-9"):
        X, y = data(name)
        k = int(y.max()) + 1
        ours, peers = Guided(X, k, runner), [one(X, True) for one in _PEERS]
        means = np.array([X[y == code].mean(axis=0) for code in range(k)])
        gaps = ((means[:, None] - means) ** 2).sum(axis=2) + np.diag(np.full(k, np.inf))
        for kind, recall in (("random", 0.7), ("confused", 0.5)):
            for split in range(splits):
                mask, rng = labelled(y, 0.1, split), np.random.RandomState(split)
                given, rows = np.where(mask, y, -1), rng.permutation(np.flatnonzero(mask))
                flipped = rows[: len(rows) // 5]
                other = (y[flipped] + rng.randint(1, k, len(flipped))) % k
                given[flipped] = other if kind == "random" else gaps.argmin(axis=1)[y[flipped]]
                part = f"wrong, {kind}"
                yield from _compared(part, name, 0.1, split, (ours, peers, given, y))
                classes, told = ours.fit(given)[1], np.flatnonzero(given >= 0)
                order = confident_order(np.exp(classes.held_out), given[told])
                listed = {"": classes.suspicious["row"], ", confident learning": told[order]}
                for method, ranked in listed.items():
                    value = precision(np.isin(ranked, flipped), recall * len(flipped))
                    yield part, name, 0.1, split, f"precision at recall {recall}{method}", value


def precision(hits: np.ndarray, wanted: float) -> float:
    """Share of hits among those listed up to the one that makes enough of them."""
    found = np.cumsum(hits)
    place = int(np.searchsorted(found, wanted))
    return float(found[place] / (place + 1)) if place < len(found) else 0.0


def new(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """A class without any label, in turn."""
    for name in ("mfeat", "usps"):
        X, y = data(name)
        k = int(y.max()) + 1
        ours = Guided(X, k, runner)
        for split in range(splits):
            given = np.where(labelled(y, 0.1, split), y, -1)
            given[y == split % k] = -1
            found, classes = ours.fit(given)
            told = f1_score(y == split % k, classes.classes[found] == "new 1")
            yield "new class", name, 0.1, split, "F1", float(told)


def links(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """Two hundred random pairs, no labels."""
    for name in ("mfeat", "usps"):
        X, y = data(name)
        ours = Guided(X, y.max() + 1, runner)
        for split in range(splits):
            pairs = np.random.RandomState(split).randint(0, len(y), (200, 2))
            pairs = pairs[pairs[:, 0] != pairs[:, 1]]
            same = y[pairs[:, 0]] == y[pairs[:, 1]]
            found, classes = ours.fit(None, must_link=pairs[same], cannot_link=pairs[~same])
            yield "links", name, 0, split, "accuracy", clustering_accuracy(y, found)
            yield "links", name, 0, split, "kept", 1 - len(classes.violated) / len(pairs)
            if not _PEERS:
                continue
            peer = pck_means(X, y.max() + 1, pairs[same], pairs[~same], split)
            kept = (peer[pairs[:, 0]] == peer[pairs[:, 1]]) == same
            yield "links", name, 0, split, "PCKMeans", clustering_accuracy(y, peer)
            yield "links", name, 0, split, "PCKMeans, kept", float(kept.mean())


def usps(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """All rows of USPS."""
    name = "usps, ten classes"
    X, y = data(name)
    ours = Guided(X, y.max() + 1, runner)
    for split in range(splits):
        given = np.where(labelled(y, 0.3, split), y, -1)
        found, _ = ours.fit(given)
        yield "usps", name, 0.3, split, "ours", float(np.mean(found[given < 0] == y[given < 0]))


def draw(rows: list[Row], path: Path) -> None:
    """Mean accuracy by share of labels, of ours and the peers without class sizes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for method in ("ours", *PEERS):
        means = []
        for share in SHARES:
            own = [row for row in rows if row[0] == "accuracy" and row[2] == share]
            sets = dict.fromkeys(row[1] for row in own)
            means.append(np.mean([np.mean(_values(own, method, name)) for name in sets]))
        own = method == "ours"
        style = {"color": "black", "linewidth": 2.5} if own else {"alpha": 0.8}
        axes.plot(range(len(SHARES)), means, "o-", label="SemiFNMF" if own else method, **style)
    axes.set_xticks(range(len(SHARES)), ["1 a class", "5 %", "10 %", "30 %"])
    axes.set(xlabel="labels", ylabel="accuracy on samples without a label")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


PARTS = {
    one.__name__: one for one in (accuracy, usps, noise, wrong, new, links, effects, budget, time)
}


def show(rows: list[Row]) -> None:
    """Means by part, share and method, and the sets that fall short of a peer."""
    keys = sorted({(part, share) for part, _, share, *_ in rows}, key=str)
    for part, share in keys:
        own = [row for row in rows if row[0] == part and row[2] == share]
        methods = list(dict.fromkeys(row[4] for row in own))
        sets = list(dict.fromkeys(row[1] for row in own))
        means = {
            # Sets count alike, whatever the number of their splits.
            m: np.mean([np.mean(values) for name in sets if (values := _values(own, m, name))])
            for m in methods
        }
        print(f"{part}, {share}: " + ", ".join(f"{m} {v:.3f}" for m, v in means.items()))
        for name in sets:
            each = {m: float(np.mean(v)) for m in methods if (v := _values(own, m, name))}
            best = max((each[m] for m in PEERS if m in each), default=np.nan)
            short = "  *" if each.get("ours", 1) < best - 0.01 else ""
            chosen = "chosen on" if name in CHOSEN_ON else "other"
            values = " ".join(f"{m} {v:.3f}" for m, v in each.items())
            print(f"    {name} ({chosen}): {values}{short}")


def _values(rows: list[Row], method: str, name: str) -> list[float]:
    """Values of a method on a set, of the splits that ours has, if it has any."""
    own = [row for row in rows if row[1] == name]
    splits = {row[2:4] for row in own if row[4] == "ours"}
    return [row[5] for row in own if row[4] == method and (not splits or row[2:4] in splits)]


def stored(path: Path) -> list[Row]:
    """Results so far; lines of comments say which command made what follows."""
    if not path.exists():
        return []
    kinds: Any = (str, str, float, int, str, float)
    with path.open() as file:
        lines = csv.DictReader(line for line in file if not line.startswith("#"))
        rows = [tuple(k(row[n]) for k, n in zip(kinds, FIELDS, strict=True)) for row in lines]
    # Later lines take the places of earlier ones.
    return list({row[:5]: row for row in rows}.values())  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", nargs="*", default=[*IMAGES, *TABLES])
    parser.add_argument("--out", type=Path, default=Path("results/labels.csv"))
    parser.add_argument("--ours", action="store_true", help="run again, without the peers")
    parser.add_argument("--print", action="store_true", help="only print what is stored")
    parser.add_argument("--figure", type=Path, help="where to draw the accuracies")
    options = parser.parse_args()
    found = stored(options.out)
    if options.ours:
        _PEERS.clear()
    else:
        # What a cell ends with.
        _STORED.update(row[:4] for row in found if row[4] == "ours, sizes")
    if not options.print:
        warnings.simplefilter("ignore")
        with options.out.open("a", newline="") as file, threads(1) as runner:
            versions = f"fnmf {fnmf.__version__}, scikit-learn {sklearn.__version__}"
            command = " ".join(["benchmarks/labels.py", *sys.argv[1:]])
            writer = csv.writer(file)
            if not found:
                writer.writerow(FIELDS)
            file.write(f"# {command}; {versions}, Python {platform.python_version()}; seed 0\n")
            for part in options.parts:
                for row in PARTS[part](options.splits, runner, tuple(options.sets)):
                    writer.writerow((*row[:5], f"{row[5]:.4f}"))
                    file.flush()
        found = stored(options.out)
    show(found)
    if options.figure is not None:
        draw(found, options.figure)


if __name__ == "__main__":
    main()
