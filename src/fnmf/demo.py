"""The main job on data that come with the package: clusters, and the features that matter."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from fnmf import FNMF
from fnmf.datasets import add_noise_features, make_noisy_gaussians, unit_rows
from fnmf.metrics import clustering_accuracy, normalized_mutual_information

_SEED = 0
_N_NOISE = 183


@dataclass(frozen=True)
class Example:
    """A data set whose informative features are known."""

    name: str
    X: np.ndarray
    y: np.ndarray
    informative: np.ndarray
    image_pixels: np.ndarray | None = None

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y))


@dataclass(frozen=True)
class Outcome:
    """What the demonstration found on one data set."""

    example: Example
    scores: dict[str, tuple[float, float]]
    model: FNMF

    @property
    def weight_on_informative(self) -> float:
        """Share of the feature importance that lies on informative features."""
        return float(self.model.feature_importances_[self.example.informative].sum())


def examples() -> list[Example]:
    """The article's three Gaussians, and scikit-learn's digits with noise features added."""
    toy, classes = make_noisy_gaussians(random_state=_SEED)
    digits = load_digits()
    live = digits.data.max(axis=0) > 0
    X, informative = add_noise_features(digits.data[:, live], _N_NOISE, random_state=_SEED)
    return [
        Example("three Gaussians", toy, classes, np.arange(toy.shape[1]) < 2),
        Example("noisy digits", unit_rows(X), digits.target, informative, live),
    ]


def run(example: Example) -> Outcome:
    """k-means, NMF and FNMF on one data set."""
    c = example.n_classes

    def cluster(X: np.ndarray) -> np.ndarray:
        return KMeans(c, n_init=10, random_state=_SEED).fit_predict(X)

    model = FNMF(c, random_state=_SEED)
    methods: dict[str, Callable[[], np.ndarray]] = {
        "k-means": lambda: cluster(example.X),
        "NMF": lambda: cluster(NMF(c, random_state=_SEED, init="nndsvda").fit_transform(example.X)),
        "FNMF": lambda: model.fit_predict(example.X),
    }
    scores = {}
    for name, labels in methods.items():
        with warnings.catch_warnings():
            # Neither method needs its last digit here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = labels()
        scores[name] = (
            clustering_accuracy(example.y, found),
            normalized_mutual_information(example.y, found),
        )
    return Outcome(example, scores, model)


def write_report(outcome: Outcome, path: Path) -> None:
    """The page of one data set."""
    from fnmf.reporting import report

    names = [
        f"informative {k}" if useful else f"noise {k}"
        for k, useful in enumerate(outcome.example.informative, start=1)
    ]
    title = f"Demonstration: {outcome.example.name}"
    report(outcome.model, outcome.example.X, path, title=title, feature_names=names)


def draw(outcomes: list[Outcome], path: Path) -> None:
    """Clusters and feature weights of each data set, one row of panels a set."""
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'drawing needs matplotlib; install it with: pip install "fnmf[plot]"', name=error.name
        ) from error

    figure, axes = plt.subplots(
        len(outcomes), 3, figsize=(11, 3.4 * len(outcomes)), layout="constrained"
    )
    for row, outcome in zip(axes, outcomes, strict=True):
        _draw_map(row[0], outcome)
        _draw_scores(row[1], outcome)
        _draw_weights(row[2], outcome)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _draw_map(axis: Any, outcome: Outcome) -> None:
    example = outcome.example
    if example.image_pixels is None:
        points = example.X[:, :2]
        labels = "first informative feature", "second informative feature"
    else:
        centred = outcome.model.embedding_ - outcome.model.embedding_.mean(axis=0)
        left, size, _ = np.linalg.svd(centred, full_matrices=False)
        points = left[:, :2] * size[:2]
        labels = "representation, first axis", "second axis"
    axis.scatter(*points.T, c=outcome.model.labels_, cmap="tab10", s=5)
    axis.set(title=f"{example.name}: FNMF's clusters", xlabel=labels[0], ylabel=labels[1])


def _draw_scores(axis: Any, outcome: Outcome) -> None:
    names = list(outcome.scores)
    places = np.arange(len(names))
    for shift, metric, colour in ((-0.2, "ACC", "#1f5a8a"), (0.2, "NMI", "#9cc3e0")):
        values = [outcome.scores[name][metric == "NMI"] for name in names]
        bars = axis.bar(places + shift, values, 0.38, label=metric, color=colour)
        axis.bar_label(bars, fmt="%.2f", fontsize=8)
    axis.set_xticks(places, names)
    axis.set(ylim=(0, 1.12), title="agreement with the true classes")
    axis.legend(loc="upper left", ncols=2, frameon=False)


def _draw_weights(axis: Any, outcome: Outcome) -> None:
    informative = outcome.example.informative
    importances = outcome.model.feature_importances_
    places = np.arange(len(importances))
    for mask, name, colour in (
        (informative, "informative", "#1f5a8a"),
        (~informative, "noise", "#d9822b"),
    ):
        axis.bar(
            places[mask],
            importances[mask],
            width=1.0 if len(places) > 20 else 0.8,
            color=colour,
            label=name,
        )
    axis.set(title="learned feature importance", xlabel="feature", xlim=(-1, len(places)))
    axis.legend(frameon=False)
