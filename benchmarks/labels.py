"""Some labels, some links: SemiFNMF and its peers.

    FNMF_DATA_HOME=... python benchmarks/labels.py [accuracy noise wrong new links] [--splits 10]

Accuracy on rows without a label at one label a class, 5 %, 10 % and 30 %; the same with ten noise
features for each real one; with wrong labels; with a class that nobody labelled; with links.
Classes do not depend on the iterations of the factorisation, so that only what comes before it is
run, and what does not depend on labels once for a data set. Results go to ``results/labels.csv``.
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
from _label_peers import CHOSEN_ON, IMAGES, PEERS, TABLES, Peers, data, labelled
from fnmf import FNMF
from fnmf._settings import Settings
from fnmf.data import view_of
from fnmf.execution import Runner, threads
from fnmf.factorization import NullObserver, Problem
from fnmf.labels.guidance import Guidance
from fnmf.labels.guided import Spoken, guide
from fnmf.labels.known import read_labels
from fnmf.labels.links import read_links
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.pipeline import inputs_of, search_features

SHARES = (1, 0.05, 0.1, 0.3)
FIELDS = ("part", "data", "share", "split", "method", "value")
Row = tuple[str, str, float, int, str, float]


class Guided:
    """Everything of a fit that labels do not change, then as many fits as there are splits."""

    def __init__(self, X: np.ndarray, n_classes: int, runner: Runner) -> None:
        settings = Settings.of(FNMF(n_classes).get_params(deep=False)).for_data(X)
        self.inputs = inputs_of(Problem(settings, view_of(X), 0, NullObserver()), runner)
        self.search = search_features(self.inputs, 0)

    def fit(self, given: Any, **options: Any) -> tuple[np.ndarray, Spoken]:
        """Classes of all rows by number, and what led to them."""
        n = self.inputs.statistics.view.shape[0]
        known = read_labels(given, n)
        links = (read_links(name, options.get(name), n) for name in ("must_link", "cannot_link"))
        guidance = Guidance(known, *links, True, options.get("class_sizes"))
        found, spoken = guide(self.inputs, *self.search, guidance, 0)
        return np.asarray(found.labels), spoken


def calibration_error(shares: np.ndarray, y: np.ndarray) -> float:
    """Mean gap between probability and accuracy in ten bins."""
    sure, right = shares.max(axis=1), shares.argmax(axis=1) == y
    place = np.minimum((sure * 10).astype(int), 9)
    bins = [place == one for one in np.unique(place)]
    return float(sum(abs(sure[b].mean() - right[b].mean()) * b.mean() for b in bins))


def accuracy(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """All sets and shares, without and with class sizes, and the calibration error."""
    for name in sets:
        X, y = data(name)
        sizes = np.bincount(y) / len(y)
        ours, peers = Guided(X, len(sizes), runner), Peers(X, name in IMAGES)
        for share in SHARES:
            for split in range(splits):
                given = np.where(labelled(y, share, split), y, -1)
                yield from _compared("accuracy", name, share, split, (ours, peers, given, y))
                free = given < 0
                found, _ = ours.fit(given, class_sizes=sizes)
                right = float(np.mean(found[free] == y[free]))
                yield "accuracy", name, share, split, "ours, sizes", right


def _compared(part: str, name: str, share: float, split: int, of: Any) -> Iterator[Row]:
    ours, peers, given, y = of
    free = given < 0
    found, spoken = ours.fit(given)
    yield part, name, share, split, "ours", float(np.mean(found[free] == y[free]))
    error = calibration_error(spoken.shares[free], y[free])
    yield f"calibration, {part}", name, share, split, "ours", error
    sizes = np.bincount(y) / len(y)
    for method, value in peers.accuracies(given, y, sizes).items():
        yield part, name, share, split, method, value


def noise(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """Ten features that are permuted copies of real ones, for each real one."""
    for name in ("mfeat", "usps", "semeion"):
        X, y = data(name)
        rng = np.random.default_rng(0)
        copies = [rng.permuted(X, axis=0) for _ in range(10)]
        noisy = np.hstack([X, *copies])
        for part, rows in (("clean", X), ("noise", noisy)):
            ours, peers = Guided(rows, y.max() + 1, runner), Peers(rows, True)
            for share in (1, 0.1):
                for split in range(splits):
                    given = np.where(labelled(y, share, split), y, -1)
                    yield from _compared(part, name, share, split, (ours, peers, given, y))


def wrong(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """A fifth of the labels wrong: any other class, or the class most like it."""
    for name in ("mfeat", "usps", "semeion", "cnae-9"):
        X, y = data(name)
        k = int(y.max()) + 1
        ours, peers = Guided(X, k, runner), Peers(X, True)
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
                suspicious = ours.fit(given)[1].suspicious
                hits = np.cumsum(np.isin(suspicious["row"], flipped))
                place = np.searchsorted(hits, recall * len(flipped))
                precise = hits[place] / (place + 1) if place < len(hits) else 0.0
                yield part, name, 0.1, split, f"precision at recall {recall}", float(precise)


def new(splits: int, runner: Runner, sets: tuple[str, ...]) -> Iterator[Row]:
    """A class without any label, in turn."""
    for name in ("mfeat", "usps"):
        X, y = data(name)
        k = int(y.max()) + 1
        ours = Guided(X, k, runner)
        for split in range(splits):
            given = np.where(labelled(y, 0.1, split), y, -1)
            given[y == split % k] = -1
            found, spoken = ours.fit(given)
            told = f1_score(y == split % k, spoken.classes[found] == "new 1")
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
            found, spoken = ours.fit(None, must_link=pairs[same], cannot_link=pairs[~same])
            yield "links", name, 0, split, "accuracy", clustering_accuracy(y, found)
            yield "links", name, 0, split, "kept", 1 - len(spoken.violated) / len(pairs)


def draw(rows: list[Row], path: Path) -> None:
    """Mean accuracy by share of labels, of ours and the peers without class sizes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for method in ("ours", *PEERS):
        means = [
            np.mean([r[5] for r in rows if r[0] == "accuracy" and r[2] == s and r[4] == method])
            for s in SHARES
        ]
        own = method == "ours"
        style = {"color": "black", "linewidth": 2.5} if own else {"alpha": 0.8}
        axes.plot(range(len(SHARES)), means, "o-", label="SemiFNMF" if own else method, **style)
    axes.set_xticks(range(len(SHARES)), ["1 a class", "5 %", "10 %", "30 %"])
    axes.set(xlabel="labels", ylabel="accuracy on samples without a label")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


PARTS = {"accuracy": accuracy, "noise": noise, "wrong": wrong, "new": new, "links": links}


def show(rows: list[Row]) -> None:
    """Means by part, share and method, and the sets that fall short of a peer."""
    keys = sorted({(part, share) for part, _, share, *_ in rows}, key=str)
    for part, share in keys:
        own = [row for row in rows if row[0] == part and row[2] == share]
        methods = list(dict.fromkeys(row[4] for row in own))
        means = {m: np.mean([row[5] for row in own if row[4] == m]) for m in methods}
        print(f"{part}, {share}: " + ", ".join(f"{m} {v:.3f}" for m, v in means.items()))
        for name in dict.fromkeys(row[1] for row in own):
            each = {
                m: float(np.mean([row[5] for row in own if row[4] == m and row[1] == name]))
                for m in methods
            }
            best = max((each[m] for m in PEERS if m in each), default=np.nan)
            short = "  *" if each.get("ours", 1) < best - 0.01 else ""
            chosen = "chosen on" if name in CHOSEN_ON else "other"
            values = " ".join(f"{m} {v:.3f}" for m, v in each.items())
            print(f"    {name} ({chosen}): {values}{short}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", nargs="*", default=[*IMAGES, *TABLES])
    parser.add_argument("--out", type=Path, default=Path("results/labels.csv"))
    parser.add_argument("--print", action="store_true", help="only print what is stored")
    parser.add_argument("--figure", type=Path, help="where to draw the accuracies")
    options = parser.parse_args()
    if not options.print:
        warnings.simplefilter("ignore")
        with options.out.open("w", newline="") as file, threads(1) as runner:
            versions = f"fnmf {fnmf.__version__}, scikit-learn {sklearn.__version__}"
            command = " ".join(["benchmarks/labels.py", *sys.argv[1:]])
            file.write(f"# {command}; {versions}, Python {platform.python_version()}; seed 0\n")
            writer = csv.writer(file)
            writer.writerow(FIELDS)
            for part in options.parts:
                for row in PARTS[part](options.splits, runner, tuple(options.sets)):
                    writer.writerow((*row[:5], f"{row[5]:.4f}"))
                    file.flush()
    with options.out.open() as stored:
        # Lines of comments say which command made what follows.
        file = (line for line in stored if not line.startswith("#"))
        kinds = (str, str, float, int, str, float)
        found: Any = [
            tuple(kind(row[name]) for kind, name in zip(kinds, FIELDS, strict=True))
            for row in csv.DictReader(file)
        ]
    show(found)
    if options.figure is not None:
        draw(found, options.figure)


if __name__ == "__main__":
    main()
