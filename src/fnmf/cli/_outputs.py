"""The files of a run, all written before any is seen."""

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from fnmf.statistics import Statistics

_NUMBER = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?", re.ASCII)
_CONTROLS = frozenset(map(chr, (*range(9), 11, 12, *range(14, 32), *range(127, 160))))


def safe_cell(text: Any) -> str:
    """The text as it is, except that a spreadsheet must not run it and a terminal not obey it.

    Formulas get an apostrophe in front, control characters become visible; everything else,
    joiners without width and line ends within a name among them, stays.
    """
    cell = "".join("\ufffd" if char in _CONTROLS else char for char in str(text))
    if cell.lstrip()[:1] in ("=", "+", "-", "@", "|", "%") and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


class _PlainEnds:
    """Ends lines plainly; told so itself, the csv module leaves carriage returns unquoted."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, line: str) -> int:
        return self._file.write(line.removesuffix("\r\n") + "\n")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file with safe text cells; numbers keep every digit."""
    with open(path, "w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(_PlainEnds(file))
        writer.writerow([safe_cell(name) for name in header])
        for row in rows:
            writer.writerow([safe_cell(c) if isinstance(c, str) else c for c in row])


@dataclass(frozen=True)
class Labels:
    """What labels.csv holds of each row.

    Attributes
    ----------
    ids : sequence of str
        Names of the rows.
    labels : ndarray
        Their clusters, counted from 0.
    names : sequence of str
        Names of the clusters.
    known : sequence of str or None
        Known classes.
    confidence, second : ndarray or None
        How sure the cluster is, and the second-best one.
    """

    ids: Sequence[str]
    labels: Any
    names: Sequence[str]
    known: Sequence[str] | None = None
    confidence: Any = None
    second: Any = None

    def columns(self) -> dict[str, Sequence[Any]]:
        """The columns of the file; clusters are counted from 1."""
        labels = [int(label) for label in self.labels]
        found: dict[str, Sequence[Any]] = {
            "id": self.ids,
            "cluster": [label + 1 for label in labels],
            "name": [self.names[label] for label in labels],
        }
        if self.known is not None:
            found["label"] = self.known
        if self.confidence is not None:
            found["confidence"] = np.round(np.asarray(self.confidence, dtype=float), 4).tolist()
        if self.second is not None:
            found["second"] = [int(label) + 1 for label in self.second]
        return found


def write_labels(
    path: Path, labels: Labels, joined: tuple[Sequence[str], Iterable[Sequence[Any]]] | None = None
) -> None:
    """Cluster of each row, with the columns of its table if they are to be joined."""
    columns = labels.columns()
    rows: Iterable[Sequence[Any]] = zip(*columns.values(), strict=True)
    names = list(columns)
    if joined is not None:
        names += [name if name not in columns else f"{name} (table)" for name in joined[0]]
        rows = ((*row, *cells) for row, cells in zip(rows, joined[1], strict=True))
    write_csv(path, names, rows)


def write_advice(folder: Path, labels: dict[str, Any]) -> None:
    """Labels that look wrong, and rows worth a label, each with what is thought of them."""
    for file, entries, columns in (
        ("suspicious.csv", labels["suspicious"], ("row", "given", "suggested", "probability")),
        ("label-next.csv", labels["next"], ("row", "class", "confidence", "second")),
    ):
        rows = ([one[name] for name in columns] for one in entries)
        write_csv(folder / file, ("id", *columns[1:]), rows)


def number_record(choice: Any) -> dict[str, Any]:
    """The choice of a number of clusters for people and programs."""
    return {
        "recommended": choice.n_components,
        "interval": list(choice.interval),
        "also": list(choice.also),
        "scores": [
            {name: _plain(row[name]) for name in choice.scores.dtype.names} for row in choice.scores
        ],
    }


def write_embedding(path: Path, ids: Sequence[str], embedding: np.ndarray) -> None:
    """Representation of each row."""
    header = ["id", *(f"component_{c}" for c in range(1, embedding.shape[1] + 1))]
    rows = ([name, *values.tolist()] for name, values in zip(ids, embedding, strict=True))
    write_csv(path, header, rows)


def write_features(path: Path, names: Sequence[str], model: Any, stats: Statistics) -> None:
    """Weights of each feature and its means in the clusters."""
    columns: dict[str, Any] = {}
    if (importances := getattr(model, "feature_importances_", None)) is not None:
        columns["importance"] = importances
    if (weights := getattr(model, "feature_weights_", None)) is not None:
        for j, row in enumerate(np.atleast_2d(weights), start=1):
            columns[f"weighting_{j}"] = row
    if (qvalues := getattr(model, "feature_qvalues_", None)) is not None:
        columns["qvalue"] = qvalues
    columns["explained_by_clusters"] = stats.explained
    for name, row in zip(stats.names, stats.means, strict=True):
        columns[f"mean_in_{int(name) + 1}"] = row
    # The most relevant first: that is what the file is opened for.
    order = np.argsort(-np.asarray(next(iter(columns.values())), dtype=float), kind="stable")
    values = (np.asarray(column)[order].tolist() for column in columns.values())
    write_csv(path, ["feature", *columns], zip([names[k] for k in order], *values, strict=True))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """A JSON file for people and programs."""
    path.write_text(to_json(value) + "\n", encoding="utf-8")


def to_json(value: dict[str, Any]) -> str:
    """JSON with control characters escaped, safe to print."""
    return json.dumps(value, indent=2, ensure_ascii=True, default=_plain)


def row_names(ids: Sequence[str] | None, lines: np.ndarray | None, n_rows: int) -> list[str]:
    """Names of rows: the id column, else the line in the file, else the row number."""
    if ids is not None:
        return list(ids)
    if lines is not None:
        return [f"line {line}" for line in lines]
    return [f"row {i}" for i in range(1, n_rows + 1)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
