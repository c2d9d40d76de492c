"""Groups of columns: several tables joined by a column that names their rows, or prefixes."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fnmf.cli._data import read
from fnmf.cli._errors import UsageError

if TYPE_CHECKING:
    from fnmf.cli._options import Reading
    from fnmf.io import ReadOptions, Recipe, Table, TableError

_NAMED = 3


@dataclass(frozen=True)
class Sources:
    """Where the columns of a run come from.

    Attributes
    ----------
    files : tuple of Path
        Tables, the first of which names the run.
    join : str or None
        Column that names the rows in all of them.
    sign : str or None
        Columns named alike up to this sign are a group.
    """

    files: tuple[Path, ...]
    join: str | None = None
    sign: str | None = None

    @classmethod
    def of_run(
        cls, record: dict[str, Any], recipe: "Recipe", data: Path | None = None
    ) -> "Sources":
        """The tables of a run, as they were; ``data`` is where the first of them is now."""
        from fnmf.cli._folder import content_hash

        read = record["input"]
        joined = read.get("joined", [])
        digests = {data or Path(str(read["file"])): read["sha256"]}
        digests |= {Path(str(one["file"])): one["sha256"] for one in joined}
        for path, digest in digests.items():
            if not path.exists():
                raise UsageError(f"{path}, a table of the run, is gone; name it with --data.")
            if content_hash(path) != digest:
                raise UsageError(f"{path} is not the table of this run: it has changed since.")
        return cls(tuple(digests), recipe.id_column if joined else None)

    def check(self, reading: "Reading", with_columns: bool, large: bool) -> None:
        """Raise if other options contradict several tables."""
        if len(self.files) == 1:
            if self.join is not None:
                raise UsageError("--join joins several files; name them all, or leave it out.")
            return
        if self.join is None:
            raise UsageError("Several files are joined by a column of row names: --join COLUMN.")
        refused: dict[str, object] = {"--with-columns": with_columns}
        refused |= {"--id-column": reading.id_column, "--labels": reading.labels}
        refused |= {"--memory or --scheduler": large}
        for option, given in refused.items():
            if given:
                raise UsageError(f"{option} does not go with several files; leave it out.")

    def read(self, how: "ReadOptions", problems: "list[TableError] | None" = None) -> "Table":
        """One table of all columns; a row that a file lacks has missing cells there.

        Classes and batches are columns of the first file.
        """
        first = self.files[0]
        if len(self.files) == 1:
            return read(first, how, problems)
        if how.transpose:
            raise UsageError("--transpose does not go with several files; leave it out.")
        plain = replace(how, id_column=self.join, exclude=[], required=(), texts=())
        tables = [read(first, plain, problems)]
        tables += [read(one, replace(plain, label_column=None), problems) for one in self.files[1:]]
        return _joined(tables, set(how.exclude))

    def read_new(self, recipe: "Recipe", how: "ReadOptions") -> "Table":
        """New rows for a recipe."""
        known = recipe.reading(how)
        if len(self.files) == 1:
            return read(self.files[0], known)
        table = self.read(replace(known, keep_texts=True))
        there = {*table.names, *table.texts}
        if lost := [name for name in recipe.sources if name not in there]:
            raise UsageError(f"No file has column {lost[0]!r}, which the model needs.")
        return table

    def groups(self, table: "Table", recipe: "Recipe") -> np.ndarray | None:
        """The group of each feature, if the user asked for groups."""
        if self.sign is not None:
            if not any(self.sign in name for name in recipe.sources):
                raise UsageError(f"--groups {self.sign}: no column has it in its name.")
            return np.array([name.split(self.sign)[0] for name in recipe.sources])
        if len(self.files) == 1:
            return None
        return np.array([table.groups[name] for name in recipe.sources])


def _joined(tables: list["Table"], exclude: set[str]) -> "Table":
    from fnmf.io import Note, Table

    places = _places(tables)
    names = _table_names(tables)
    repeated = Counter(name for one in tables for name in (*one.names, *one.texts))
    known = {name for name in repeated if name in exclude}
    if lost := sorted(exclude - known):
        raise UsageError(f"--exclude {lost[0]}: no file has such a column.")
    ids = list(places)
    blocks: list[np.ndarray] = []
    columns: list[str] = []
    texts: dict[str, list[str]] = {}
    groups: dict[str, str] = {}
    notes: list[Any] = []
    for one, name in zip(tables, names, strict=True):
        rows = np.array([places[row] for row in one.ids or []], np.intp)

        def called(column: str, name: str = name) -> str:
            return f"{name}.{column}" if repeated[column] > 1 else column

        kept = [k for k, column in enumerate(one.names) if column not in exclude]
        block = np.full((len(ids), len(kept)), np.nan, one.X.dtype)
        block[rows] = one.X[:, kept]
        blocks.append(block)
        columns += [called(one.names[k]) for k in kept]
        for column, cells in one.texts.items():
            if column not in exclude:
                spread = np.full(len(ids), "", dtype=object)
                spread[rows] = cells
                texts[called(column)] = spread.tolist()
        groups |= {called(c): name for c in (*one.names, *one.texts) if c not in exclude}
        notes += [note for note in one.notes if note not in notes]
        if lacking := len(ids) - len(rows):
            notes.append(Note(f"{lacking:,} of {len(ids):,} rows are not in {one.path.name}"))
    labels = None
    if tables[0].labels is not None:
        known_labels = dict(zip(tables[0].ids or [], tables[0].labels, strict=True))
        labels = [known_labels.get(row, "") for row in ids]
    path, id_name = tables[0].path, tables[0].id_name
    return Table(
        path, np.hstack(blocks), columns, ids, labels, notes, None, texts, None, id_name, groups
    )


def _places(tables: list["Table"]) -> dict[str, int]:
    """The place of each row, in the order in which the files have them."""
    places: dict[str, int] = {}
    for one in tables:
        if not isinstance(one.X, np.ndarray):
            raise UsageError(f"{one.path} is sparse; several files are joined as dense tables.")
        ids = one.ids or []
        twice = [name for name, count in Counter(ids).items() if count > 1]
        if twice:
            named = ", ".join(map(repr, twice[:_NAMED]))
            raise UsageError(f"{one.path} has several rows of the same name: {named}.")
        for row in ids:
            places.setdefault(row, len(places))
    return places


def _table_names(tables: list["Table"]) -> list[str]:
    """Names of the files without their endings, numbered where they are the same."""
    stems = [one.path.name.split(".")[0] for one in tables]
    return [
        stem if stems.count(stem) == 1 else f"{stem} {number}"
        for number, stem in enumerate(stems, start=1)
    ]
