"""Everything a user can say about how a table is to be read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from fnmf.io._messages import TableError, listed
from fnmf.io._numbers import ALL_MARKS, Marks
from fnmf.validation import check_choice

Progress = Callable[[int], None]
# What belongs to one call and not to the record of a run.
_UNRECORDED = ("required", "texts", "dtype", "shown_as")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table; each reader takes what concerns its format.

    Parameters
    ----------
    id_column, label_column : str, default=None
        Columns that name the rows and their known classes. They are kept apart from the data.
        In a ``.npz`` file they name arrays, in ``.h5ad`` columns of ``obs``. Without
        ``id_column`` a column of text without repetition names the rows.
    exclude : sequence of str, default=()
        Columns to leave out.
    required : sequence of str, default=()
        Columns that are taken as numbers whatever they look like, if they exist.
    texts : sequence of str, default=()
        Columns that are taken as text whatever they look like, if they exist, and kept.
    keep_texts : bool, default=False
        Keep all columns of text, so that :meth:`Recipe.learn` turns them into features.
    transpose : bool, default=False
        The samples are the columns of the file, as where genes are rows.
    delimiter, decimal, thousands, header, encoding : default=None
        How a text file is written. None detects it, delimiter and marks together; where the file
        can be read in two ways, a note says which was taken. ``thousands=""`` means that there
        is no such mark.
    na_values : sequence of str, default=()
        Cells that count as missing, beyond the usual ones.
    duplicates : {"error", "number"}, default="error"
        What to do about columns of the same name.
    layer : str, default=None
        Layer of an ``.h5ad`` file to read instead of its main matrix.
    raw : bool, default=False
        Read the raw data of an ``.h5ad`` file.
    sheet : str, default=None
        Sheet of an Excel workbook; the first one by default.
    dtype : {numpy.float64, numpy.float32}
        Type of the numbers read from text and tables of columns.
    shown_as : path-like, default=None
        The file that messages name, if it is not the one that is read.

    Examples
    --------
    >>> from fnmf.io import ReadOptions
    >>> ReadOptions(decimal=",", exclude=["city"]).record()["decimal"]
    ','
    """

    id_column: str | None = None
    label_column: str | None = None
    exclude: Sequence[str] = ()
    required: Sequence[str] = ()
    texts: Sequence[str] = ()
    keep_texts: bool = False
    transpose: bool = False
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    header: bool | None = None
    encoding: str | None = None
    na_values: Sequence[str] = ()
    duplicates: str = "error"
    layer: str | None = None
    raw: bool = False
    sheet: str | None = None
    dtype: type = np.float64
    shown_as: Path | None = None

    def __post_init__(self) -> None:
        check_choice("duplicates", self.duplicates, ("error", "number"))

    def record(self) -> dict[str, Any]:
        """Plain values for the record of a run."""
        return {name: value for name, value in asdict(self).items() if name not in _UNRECORDED}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "ReadOptions":
        """What a record says about reading; anything else in it is passed over."""
        known = {field.name for field in fields(cls)} - set(_UNRECORDED)
        return cls(**{name: value for name, value in record.items() if name in known})

    def features_only(self) -> "ReadOptions":
        """The same for a file whose names of rows and classes do not lie among the columns."""
        return replace(self, id_column=None, label_column=None)

    def named(self) -> list[str]:
        """Every column the user set apart."""
        return [name for name in (self.id_column, self.label_column) if name] + list(self.exclude)

    def check_columns(self, names: Sequence[str], path: Path) -> None:
        """Raise if a column the user named does not exist or has two roles."""
        if len(set(self.named())) < len(self.named()):
            raise TableError("A column is named twice", "roles")
        known = set(names)
        for name in self.named():
            if name not in known:
                shown = listed(list(names), 12)
                raise TableError(f"{path} has no column {name!r}; its columns are {shown}")

    def marks(self, delimiter: str) -> list[Marks]:
        """The marks that are possible, the more probable ones first."""
        found = [
            marks
            for marks in ALL_MARKS
            if self.decimal in (None, marks.decimal) and self.thousands in (None, marks.thousands)
        ]
        if delimiter == ",":
            # Who writes commas between columns has no decimal commas.
            found.sort(key=lambda marks: marks.decimal == ",")
        return found

    def check_marks(self) -> None:
        """Raise if delimiter and marks contradict each other."""
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise TableError(f"the delimiter {self.delimiter!r} must be a single character")
        if not self.marks(self.delimiter or ""):
            raise TableError(
                f"decimal mark {self.decimal!r} and thousands mark {self.thousands!r} do not go "
                "together: a point or comma for decimals, and another of point, comma, space and "
                "apostrophe, or nothing, for thousands are needed"
            )
