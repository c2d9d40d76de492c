"""What each part of the score of a number of clusters finds alone, and together; and a picture.

    python benchmarks/choose_parts.py [results/choosing.json] [--draw docs/images/choosing.png]

Reads what ``choose.py real planted --out results/choosing.json`` kept; nothing is fitted.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from choose import OWN, exact, stored

ALONE = ("eigengap", "features_agree", "rows_agree")
PRICES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0)
GAPS = (0.0, 0.05, 0.1, 0.2)
# Sets of one kind are left out together: knowing one tells about the others.
KINDS = {
    "characters": ("usps", "semeion", "mfeat", "digits", "mnist2000"),
    "faces": ("yale", "jaffe", "warppie10p"),
    "documents": ("cnae-9", "tdt2_10"),
    "cells": ("pbmc", "worm"),
    "genes": ("glioma", "tox_171", "lung_small", "ma_leukemia"),
    "tables": ("glass", "iris", "wine", "breast_cancer", "gaussians"),
}

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", nargs="?", type=Path, default=Path("results/choosing.json"))
    parser.add_argument("--draw", type=Path)
    arguments = parser.parse_args()
    kept = stored(arguments.store)
    everything = {part: kept[part]["rows"] for part in ("planted", "real")}
    # Tables are judged by halves of their rows, and have no ties by chance.
    groups = {
        part: [row for row in rows if any(row["scores"]["chance"])]
        for part, rows in everything.items()
    }
    for name in ALONE:
        tell(name, {part: [by(row, name) for row in rows] for part, rows in groups.items()})
    for gap in GAPS:
        for price in PRICES:
            found = {
                part: [together(row, price, gap) for row in rows] for part, rows in groups.items()
            }
            tell(f"price {price}, eigengap {gap}", found)
    tell("both from other kinds of labelled sets", {"real": left_out(groups["real"], [])})
    tell("… and from planted ones", {"real": left_out(groups["real"], groups["planted"])})
    if arguments.draw:
        draw(everything, arguments.draw)


def tell(name: str, found: dict[str, list[Row]]) -> None:
    print(f"{name:45s}", " | ".join(f"{part}: {exact(rows)}" for part, rows in found.items()))


def by(row: Row, name: str) -> Row:
    """What one column of the table would choose."""
    return {**row, "found": row["scores"]["k"][int(np.argmax(row["scores"][name]))]}


def together(row: Row, price: float, gap: float) -> Row:
    """What the score would choose with these weights."""
    table = {name: np.array(values) for name, values in row["scores"].items()}
    score = table["inside"] - price * table["chance"] + gap * table["eigengap"]
    enough = score >= score.max() - 2 * table["spread"][score.argmax()]
    return {**row, "found": int(table["k"][np.argmax(enough)])}


def left_out(rows: list[Row], planted: list[Row]) -> list[Row]:
    """Answers with the weights that do best on all other kinds of data, and on planted ones."""
    ways = [(price, gap) for price in PRICES for gap in GAPS]

    def right(some: list[Row], way: tuple[float, float]) -> float:
        off = np.abs([together(row, *way)["found"] - row["k"] for row in some])
        return float(np.mean(off == 0) + np.mean(off <= 1))

    found = []
    for names in KINDS.values():
        others = [row for row in rows if row["data"] not in names]
        groups = [others, planted] if planted else [others]
        best = max(ways, key=lambda way: sum(right(group, way) for group in groups))
        found += [together(row, *best) for row in rows if row["data"] in names]
    return found


def draw(groups: dict[str, list[Row]], path: Path) -> None:
    """Right answers of all rules on the labelled sets, and found against planted numbers."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), width_ratios=(1.35, 1))
    rules = sorted(groups["real"][0]["answers"], key=lambda rule: rule == OWN)
    off = {r: np.abs([row["answers"][r] - row["k"] for row in groups["real"]]) for r in rules}
    for most, colour, name in ((1, "#d9b8a5", "within one"), (0, "#c2502e", "exact")):
        left.barh(rules, [np.mean(off[r] <= most) for r in rules], color=colour, label=name)
    left.set(xlim=(0, 1), xlabel=f"share of {len(groups['real'])} labelled sets")
    left.legend(frameon=False)
    for noise, colour in ((0, "#333333"), (1, "#5b7f9e"), (3, "#9db4c8"), (10, "#c2502e")):
        rows = [row for row in groups["planted"] if row["noise"] == noise]
        places = [[row[name] for row in rows] for name in ("k", "found")]
        right.scatter(*places, s=26, color=colour, alpha=0.7, label=f"{noise} for each real one")
    right.plot([1, 15], [1, 15], color="#999999", linewidth=0.8, zorder=0)
    right.set(xlabel="planted clusters", ylabel="recommended", xticks=range(2, 16, 2))
    right.legend(frameon=False, title="noise features", fontsize=8, title_fontsize=8)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
