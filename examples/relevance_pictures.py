"""Draws the pictures of the page on relevance weights.

python examples/relevance_pictures.py [folder]
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from fnmf import FNMF
from fnmf.datasets import add_noise_features, make_planted_subspaces, unit_rows
from fnmf.metrics import clustering_accuracy

BLUE, ORANGE = "#1f5a8a", "#d9822b"


def collapse(folder: Path) -> None:
    """Where the weights go on digits: the article's and those of relevance."""
    digits = load_digits()
    live = digits.data.max(axis=0) > 0
    X, informative = add_noise_features(digits.data[:, live], 61, random_state=0)
    figure = Figure(figsize=(10, 5.4), layout="constrained")
    axes = figure.subplots(2, 3, width_ratios=[1, 1, 2.2])
    for row, name in zip(axes, ("paper", "relevance"), strict=True):
        clean = FNMF(10, weighting=name, random_state=0).fit(unit_rows(digits.data))
        row[0].imshow(digits.data.mean(axis=0).reshape(8, 8), cmap="gray_r")
        row[0].set_title("mean digit", fontsize=10)
        row[1].imshow(clean.feature_importances_.reshape(8, 8), cmap="viridis", vmin=0)
        row[1].set_title(f"importance, {name}", fontsize=10)
        for axis in row[:2]:
            axis.set_axis_off()
        model = FNMF(10, weighting=name, random_state=0).fit(unit_rows(X))
        acc = clustering_accuracy(digits.target, model.labels_)
        places = np.arange(len(informative))
        for mask, label, colour in ((informative, "pixels", BLUE), (~informative, "noise", ORANGE)):
            heights = model.feature_importances_[mask]
            row[2].bar(places[mask], heights, width=1.0, color=colour, label=label)
        row[2].set_title(f"{name}, 61 noise features added: ACC {acc:.2f}", fontsize=10)
        row[2].legend(frameon=False, fontsize=8)
    axes[1, 2].set_xlabel("feature")
    figure.savefig(folder / "relevance-collapse.png", dpi=110)


def planted(folder: Path) -> None:
    """Clusters in subspaces of their own: each weighting finds one, samples choose theirs."""
    X, y, features = make_planted_subspaces(random_state=0)
    order = np.argsort(-features.argmax(axis=0) * features.any(axis=0), kind="stable")
    order = np.concatenate([*(np.flatnonzero(own) for own in features), order])
    order = np.array(list(dict.fromkeys(order.tolist())))
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    axes = figure.subplots(2, 2, width_ratios=[2.4, 1])
    for row, name in zip(axes, ("paper", "relevance"), strict=True):
        model = FNMF(4, n_weightings=4, weighting=name, random_state=0).fit(unit_rows(X))
        drawn = {"aspect": "auto", "cmap": "viridis", "interpolation": "nearest", "vmin": 0}
        row[0].imshow(model.feature_weights_[:, order], **drawn)
        acc = clustering_accuracy(y, model.labels_)
        row[0].set_title(f"weightings, {name}: ACC {acc:.2f}", fontsize=10)
        row[0].set(yticks=range(len(model.feature_weights_)), ylabel="weighting")
        shown = row[1].imshow(model.assignments_, **drawn, vmax=0.6)
        figure.colorbar(shown, ax=row[1])
        row[1].set_title("which weighting samples use", fontsize=10)
        row[1].set(xticks=range(len(model.feature_weights_)), ylabel="sample, by cluster")
    axes[1, 0].set_xlabel("feature: ten of each cluster, then 160 of noise")
    axes[1, 1].set_xlabel("weighting")
    figure.savefig(folder / "relevance-planted.png", dpi=110)


def noise(folder: Path) -> None:
    """Accuracy on digits while noise features are added."""
    digits = load_digits()
    X = digits.data[:, digits.data.max(axis=0) > 0]
    counts = (0, 20, 61, 183, 610)
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axis = figure.subplots()
    for name, colour in (("relevance", BLUE), ("uniform", "#6b6b6b"), ("paper", ORANGE)):
        found = []
        for count in counts:
            noised, _ = add_noise_features(X, count, random_state=0)
            model = FNMF(10, weighting=name, random_state=0).fit(unit_rows(noised))
            found.append(clustering_accuracy(digits.target, model.labels_))
        label = "uniform (GNMF)" if name == "uniform" else name
        axis.plot(range(len(counts)), found, "o-", color=colour, label=label)
    axis.set_xticks(range(len(counts)), [str(count) for count in counts])
    axis.set(xlabel="uniform noise features beside 61 pixels", ylabel="ACC", ylim=(0, 1))
    axis.legend(frameon=False)
    figure.savefig(folder / "relevance-noise.png", dpi=110)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/images")
    folder.mkdir(parents=True, exist_ok=True)
    # Collapse is what one picture is about, and none needs the last digit.
    warnings.simplefilter("ignore")
    for draw in (planted, collapse, noise):
        draw(folder)


if __name__ == "__main__":
    main()
