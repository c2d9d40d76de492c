"""The paper's figures, drawn from the store alone, readable in print."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fnmf.experiments._plan import FACE_SETS, PAPER_WEIGHTINGS, STUDIED, TOY_METHODS
from fnmf.experiments._registry import NOISED_SETS, TABLE_SETS, problems
from fnmf.experiments._store import Store
from fnmf.experiments._summary import by_setting, summarise
from fnmf.metrics import clustering_accuracy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Dark, well apart for colour-blind readers, and different in grey.
_COLOURS = ("#0b4f8a", "#d1690b", "#3a8f5c")
_MARKERS = ("o", "^", "s")
_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "fnmf",
    "svg.fonttype": "none",
}
_SHOWN_ITERATIONS = 100
_TOP_SHARE = 0.25


def _new(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'figures need matplotlib; install it with: pip install "fnmf[plot]"'
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def _letter(index: int) -> str:
    return f"({chr(ord('a') + index)})"


def _title(name: str) -> str:
    return problems()[name].title if name in problems() else name


def _panels(names: list[str]) -> tuple["Figure", dict[str, "Axes"]]:
    """The paper's layout of data sets: four panels a row."""
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure = _new(1.8 * columns + 0.2, 1.55 * rows + 0.2)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for index, (name, ax) in enumerate(zip(names, axes, strict=False)):
        ax.set_title(f"{_letter(index)} {_title(name)}")
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    return figure, dict(zip(names, axes, strict=False))


def toy(store: Store) -> "Figure | None":
    """The toy's two informative dimensions: classes, then the clusters of each method."""
    picture = store.picture("toy")
    cells = summarise(store.results())
    # Adopted runs have no labels until they are done again.
    drawn = [
        m for m in TOY_METHODS if ("toy", m) in cells and store.has_labels(cells["toy", m].key)
    ]
    if picture is None or not drawn:
        return None
    points, classes = picture["points"], picture["classes"]
    panels: list[tuple[str, np.ndarray, float | None]] = [("Original data", classes, None)]
    for method in drawn:
        labels = store.labels(cells["toy", method].key)
        # The accuracy of the run shown, not the mean of all.
        shown = clustering_accuracy(classes, labels)
        panels.append((method, _matched(classes, labels), shown))
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = _new(2.3 * columns, 2.2 * rows)
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for index, (ax, (name, labels, acc)) in enumerate(zip(axes, panels, strict=False)):
        for label in range(3):
            chosen = labels == label
            ax.scatter(
                *points[chosen].T, s=4, c=_COLOURS[label], marker=_MARKERS[label], linewidths=0
            )
        ending = "" if acc is None else f", ACC {acc:.2f}"
        ax.set_title(f"{_letter(index)} {name}{ending}")
        ax.set_aspect("equal")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax in axes[len(panels) - columns : len(panels)]:
        ax.tick_params(labelbottom=True)
    return figure


def _matched(classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Clusters renamed after the classes they match best, so that colours can be compared."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(table, maximize=True)
    renamed = dict(zip(np.unique(labels)[columns], np.unique(classes)[rows], strict=True))
    return np.array([renamed.get(label, -1) for label in labels])


def features(store: Store) -> "Figure | None":
    """The quarter of all pixels that each weighting holds highest, on the mean face."""
    found = []
    for name in FACE_SETS:
        picture, details = store.picture(name), _details(store, name)
        if picture is not None and details is not None:
            found.append((name, picture, details["weights"]))
    if not found:
        return None
    n_weightings = max(len(weights) for _, _, weights in found)
    figure = _new(1.25 * len(found) * n_weightings, 1.6)
    groups = figure.subfigures(1, len(found), squeeze=False)[0]
    for index, (group, (name, picture, weights)) in enumerate(zip(groups, found, strict=True)):
        group.suptitle(f"{_letter(index)} Features on {_title(name)}", fontsize=9)
        for ax, theta in zip(np.atleast_1d(group.subplots(1, len(weights))), weights, strict=True):
            shape = tuple(picture["image_shape"])
            count = max(1, round(_TOP_SHARE * theta.size))
            top = np.zeros(theta.size, dtype=bool)
            top[np.argsort(-theta, kind="stable")[:count]] = True
            chosen = np.where(top, 1.0, np.nan).reshape(shape)
            ax.imshow(picture["mean"].reshape(shape), cmap="gray", alpha=0.6)
            ax.imshow(chosen, cmap=_one_colour(_COLOURS[1]), alpha=0.7)
            ax.set_axis_off()
    return figure


def _one_colour(colour: str) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([colour])


def _details(store: Store, dataset: str) -> dict[str, np.ndarray] | None:
    """History and weights of the run at the best setting."""
    rows = store.results()
    best = summarise(rows).get((dataset, STUDIED))
    for row in rows:
        wanted = (row["dataset"], row["method"], row["purpose"]) == (dataset, STUDIED, "detail")
        # Runs of an earlier, coarser grid may be there too.
        if wanted and row["state"] == "done" and best and row["params"] == best.params:
            return store.details(row["key"])
    return None


def occlusion(store: Store) -> "Figure | None":
    """Samples with blocks of each size."""
    names = [name for name in NOISED_SETS[1:] if store.picture(name) is not None]
    if not names:
        return None
    figure = _new(6.9, 0.95 * len(names))
    groups = figure.subfigures(len(names), 1, squeeze=False)[:, 0]
    for index, (group, name) in enumerate(zip(groups, names, strict=True)):
        picture = store.picture(name)
        assert picture is not None
        group.suptitle(f"{_letter(index)} {_title(name)}", fontsize=9)
        images = picture["images"]
        for ax, image in zip(group.subplots(1, len(images)), images, strict=True):
            ax.imshow(image, cmap="gray")
            ax.set_axis_off()
    return figure


def convergence(store: Store) -> "Figure | None":
    """The objective over the first hundred iterations."""
    curves = {}
    for name in TABLE_SETS:
        details = _details(store, name)
        if details is not None and "history" in details:
            curves[name] = details["history"][:_SHOWN_ITERATIONS]
    if not curves:
        return None
    figure, axes = _panels(list(curves))
    for name, values in curves.items():
        axes[name].plot(np.arange(1, len(values) + 1), values, color=_COLOURS[0], lw=1.2)
        axes[name].ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
        axes[name].yaxis.get_offset_text().set_fontsize(6)
    figure.supxlabel("Iteration", fontsize=8)
    figure.supylabel("Objective", fontsize=8)
    return figure


def parameters(store: Store) -> "Figure | None":
    """Mean accuracy over the grid of both penalties."""
    groups = by_setting(store.results())
    grids = {name: groups[name, STUDIED] for name in TABLE_SETS if (name, STUDIED) in groups}
    if not grids:
        return None
    figure, axes = _panels(list(grids))
    figure.set_size_inches(figure.get_figwidth() + 0.3, figure.get_figheight() * 1.15)
    for name, settings in grids.items():
        means = {
            (dict(params)["diversity"], dict(params)["smoothness"]): np.mean(
                [run["acc"] for run in runs]
            )
            for params, runs in settings.items()
        }
        lambdas, betas = (sorted({point[axis] for point in means}) for axis in (0, 1))
        values = np.array([[means.get((lam, b), np.nan) for b in betas] for lam in lambdas])
        image = axes[name].imshow(values, cmap="viridis", origin="lower", aspect="auto")
        _power_ticks(axes[name].set_xticks, betas)
        _power_ticks(axes[name].set_yticks, lambdas)
        bar = figure.colorbar(image, ax=axes[name], pad=0.02)
        bar.ax.tick_params(labelsize=6)
        best = np.unravel_index(np.nanargmax(values), values.shape)
        axes[name].plot(best[1], best[0], marker="*", color="white", mec="black", ms=8, mew=0.6)
    figure.supxlabel("Smoothness β (log 10)", fontsize=8)
    figure.supylabel("Diversity λ (log 10)", fontsize=8)
    return figure


def _power_ticks(set_ticks: Callable[..., Any], values: list[float]) -> None:
    labels = [f"{np.log10(v):g}".replace("-", "−") if v > 0 else "0" for v in values]
    set_ticks(range(len(values)), labels, fontsize=6)


def components(store: Store) -> "Figure | None":
    """Mean accuracy for one to six weightings, all else at the best setting for three."""
    rows = store.results()
    cells = summarise(rows)
    groups = by_setting(rows, "components")
    drawn: dict[str, dict[int, tuple[float, float]]] = {}
    for name in TABLE_SETS:
        cell = cells.get((name, STUDIED))
        if cell is None or cell.reason or (name, STUDIED) not in groups:
            continue
        curve = {PAPER_WEIGHTINGS: (cell.acc, cell.acc_std)}
        for params, runs in groups[name, STUDIED].items():
            setting = dict(params)
            m = setting.pop("n_weightings")
            if setting == dict(cell.params):
                accs = [run["acc"] for run in runs]
                curve[m] = (float(np.mean(accs)), float(np.std(accs)))
        drawn[name] = curve
    if not drawn:
        return None
    figure, axes = _panels(list(drawn))
    for name, curve in drawn.items():
        numbers = sorted(curve)
        means, spreads = np.array([curve[m] for m in numbers]).T
        axes[name].errorbar(
            numbers, means, spreads, color=_COLOURS[0], marker="o", ms=3, lw=1.2, capsize=2
        )
        axes[name].set_xticks(numbers)
    figure.supxlabel("Number of weightings m", fontsize=8)
    figure.supylabel("ACC", fontsize=8)
    return figure


DRAWINGS: Mapping[str, Callable[[Store], "Figure | None"]] = {
    "fig-toy": toy,
    "fig-features": features,
    "fig-occlusion": occlusion,
    "fig-convergence": convergence,
    "fig-parameters": parameters,
    "fig-components": components,
}


def draw(name: str, store: Store, folder: Path) -> Path | None:
    """Draw one figure as PNG and SVG; the PNG's path, or None when the store has nothing for it."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        figure = DRAWINGS[name](store)
        if figure is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        figure.savefig(folder / f"{name}.png", dpi=200, metadata={"Software": None})
    return folder / f"{name}.png"
