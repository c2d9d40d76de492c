"""Names of clusters and of rows: what people read in place of numbers from 0."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fnmf.cli._errors import UsageError
from fnmf.display import visible

# Keys of what a model file keeps beside the recipe.
NAMES, ROWS_ARE = "cluster_names", "rows_are"
# What rows of tables are often called; other words might not be English, or not one thing.
_THINGS = frozenset(
    (
        *("animal", "article", "author", "book", "car", "cell", "client", "colleague"),
        *("compound", "customer", "donor", "document", "event", "face", "film", "flower"),
        *("gene", "house", "image", "item", "member", "message", "molecule", "movie"),
        *("page", "patient", "person", "place", "plant", "player", "product", "protein"),
        *("respondent", "sample", "song", "source", "specimen", "star", "store", "student"),
        *("subject", "text", "user", "wine", "word", "worker"),
    )
)
_ENDINGS = ("_id", " id", "_no", " no", "_key", "_nr", "_code", "id")


def rows_are(table: Any, given: str | None = None) -> str:
    """What a row is, in the plural: as told, by the kind of file, or by the id column."""
    if given:
        return visible(given, longest=40)
    path = Path(table.path)
    if path.suffix.lower() in (".h5ad", ".h5", ".hdf5"):
        return "cells"
    if path.is_dir():
        return "images" if table.image_shape else "cells"
    word = str(table.id_name or "").lower().strip()
    for ending in _ENDINGS:
        if word.endswith(ending):
            word = word.removesuffix(ending).strip("_ ")
            break
    if word == "person":
        return "people"
    return f"{word}s" if word in _THINGS else "rows"


def number(label: Any) -> str:
    """The number of a cluster for people, who count from 1."""
    return str(int(label) + 1)


def cluster_names(given: str | None, suggested: Sequence[str]) -> list[str]:
    """A name for each cluster: those of the user, else suggested ones."""
    if given is None:
        return list(suggested)
    path = Path(given)
    names = _from_file(path) if path.suffix.lower() == ".csv" else _split(given)
    if len(names) != len(suggested):
        raise UsageError(
            f"--names has {len(names)} names, and there are {len(suggested)} clusters; "
            "write them in the order of the clusters, set apart by commas."
        )
    if len(set(names)) < len(names):
        raise UsageError("--names: two clusters cannot have the same name.")
    return names


def _split(text: str) -> list[str]:
    return [visible(name.strip(), longest=80) for name in text.split(",") if name.strip()]


def _from_file(path: Path) -> list[str]:
    """The second column of a file whose first one numbers the clusters."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        known = {int(row["cluster"]): visible(row["name"].strip(), longest=80) for row in rows}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(f"{path} has no columns 'cluster' and 'name'.") from None
    return [known[number] for number in sorted(known)]


def kept_names(metadata: dict[str, Any], n_clusters: int) -> list[str]:
    """The names that a model file keeps, or numbers."""
    names = metadata.get(NAMES)
    if names is None or len(names) != n_clusters:
        return [f"cluster {k}" for k in range(1, n_clusters + 1)]
    return [visible(name) for name in names]
