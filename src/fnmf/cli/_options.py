"""Options that several verbs share, in groups."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fnmf.cli._errors import UsageError

if TYPE_CHECKING:
    from fnmf.io import ReadOptions

_MARKS = {"point": ".", "comma": ",", "space": " ", "apostrophe": "'", "none": "", "tab": "\t"}
_READING, _OUTPUT, _DATA = "Reading", "Output", "Treatment of the data"


class Normalize(StrEnum):
    """What to scale to unit length."""

    auto = "auto"
    samples = "samples"
    none = "none"

    def for_model(self, model: Any) -> str:
        """What is done for a model: one that finds out by itself is left to it."""
        if self is not Normalize.auto:
            return self.value
        return "none" if getattr(model, "weighting", None) == "relevance" else "samples"


class Scale(StrEnum):
    """How to make columns comparable."""

    none = "none"
    max = "max"


class Missing(StrEnum):
    """What to do about missing cells."""

    auto = "auto"
    error = "error"
    keep = "keep"
    drop = "drop"
    zero = "zero"
    median = "median"


def option(panel: str, help_text: str, *names: str, **more: Any) -> Any:
    """An option of a panel of the help."""
    return typer.Option(*names, help=help_text, rich_help_panel=panel, **more)


def _choice(kind: type[StrEnum], panel: str, help_text: str) -> Any:
    """An option with few values, which are told if it has another one."""
    known = [one.value for one in kind]

    def parse(text: str) -> StrEnum:
        if text in known:
            return kind(text)
        raise typer.BadParameter(f"{text!r} is none of {', '.join(known)}.")

    return option(panel, help_text, parser=parse, metavar="|".join(known))


def _reading(help_text: str, *names: str, **more: Any) -> Any:
    return option(_READING, help_text, *names, show_default=False, **more)


def _sign(name: str, value: str | None) -> str | None:
    """A delimiter or mark by its name or as itself."""
    if value is None:
        return None
    sign = {"\\t": "\t"}.get(value, _MARKS.get(value, value))
    if name != "thousands" and len(sign) != 1:
        raise UsageError(f"--{name} {value!r} must be a single character or its name.")
    return sign


Table = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV (also compressed), Excel, Parquet, .npy, .npz, Matrix Market, .h5ad, a "
        "folder of images or a 10x folder.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="model.fnmf, or the folder of a run.", show_default=False),
]
Json = Annotated[bool, option(_OUTPUT, "Print the result as JSON.", "--json")]
Float32 = Annotated[bool, option(_READING, "Single precision: half the memory.", "--float32")]
Title = Annotated[
    str | None, option(_OUTPUT, "Heading of the report.", metavar="TEXT", show_default=False)
]
Names = Annotated[
    str | None,
    option(
        _OUTPUT,
        "Names of the clusters: 'frequent, rare' in their order, or the names.csv that the report "
        "downloads. They stay with the model.",
        show_default=False,
        metavar="NAMES|FILE",
    ),
]
RowsAre = Annotated[
    str | None,
    option(
        _OUTPUT,
        "What a row is, in the plural: customers, cells.",
        "--rows-are",
        metavar="WORD",
        show_default=False,
    ),
]
ImageShape = Annotated[
    str | None,
    option(
        _DATA,
        "Size of the images that the rows are; the report then draws clusters as images.",
        metavar="HEIGHTxWIDTH",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Output:
    """Where results go and what they look like."""

    out: Annotated[
        Path | None,
        option(
            _OUTPUT,
            "Folder for the results (default: the name of FILE and what was done).",
            "--out",
            "-o",
            metavar="FOLDER",
            show_default=False,
        ),
    ] = None
    force: Annotated[bool, option(_OUTPUT, "Replace older results.", "--force")] = False
    as_json: Json = False
    with_columns: Annotated[
        bool, option(_OUTPUT, "Put the columns of FILE beside the labels.", "--with-columns")
    ] = False
    rows_are: RowsAre = None


@dataclass(frozen=True)
class RunOutput(Output):
    """What a run shows beyond that."""

    title: Title = None
    names: Names = None


@dataclass(frozen=True)
class Reading:
    """How the file is written, and which columns have a role."""

    id_column: Annotated[str | None, _reading("Column that names the rows.", metavar="COLUMN")] = (
        None
    )
    label_column: Annotated[
        str | None,
        _reading("Column with known classes; only used to score the result.", metavar="COLUMN"),
    ] = None
    exclude: Annotated[
        list[str] | None, _reading("Column to leave out; may be repeated.", metavar="COLUMN")
    ] = None
    delimiter: Annotated[
        str | None, _reading("Sign between columns (default: detected).", metavar="SIGN")
    ] = None
    decimal: Annotated[
        str | None,
        _reading("Decimal mark (default: detected).", metavar="point|comma"),
    ] = None
    thousands: Annotated[
        str | None,
        _reading(
            "Mark between thousands: none, point, comma, space, apostrophe (default: detected).",
            metavar="MARK",
        ),
    ] = None
    header: Annotated[
        bool | None,
        _reading(
            "Whether the first line names the columns (default: detected).", "--header/--no-header"
        ),
    ] = None
    encoding: Annotated[
        str | None, _reading("Encoding of the text (default: detected).", metavar="NAME")
    ] = None
    na: Annotated[
        list[str] | None,
        _reading("Text that counts as missing; may be repeated.", "--na", metavar="TEXT"),
    ] = None
    number_duplicates: Annotated[
        bool, option(_READING, "Number columns of the same name.", "--number-duplicates")
    ] = False
    layer: Annotated[str | None, _reading("Layer of an .h5ad file to use.", metavar="NAME")] = None
    raw: Annotated[bool, option(_READING, "Use the raw data of an .h5ad file.", "--raw")] = False
    sheet: Annotated[
        str | None, _reading("Sheet of an Excel workbook (default: the first).", metavar="NAME")
    ] = None
    labels: Annotated[
        Path | None,
        _reading(
            "File with known classes, matched by the names of the rows or by position.",
            metavar="FILE",
        ),
    ] = None
    float32: Float32 = False

    def options(self) -> "ReadOptions":
        """What the user said about the file, as :func:`fnmf.io.read_table` takes it."""
        import numpy as np

        from fnmf.io import ReadOptions

        return ReadOptions(
            id_column=self.id_column,
            # A file of classes has its own column for them.
            label_column=None if self.labels else self.label_column,
            exclude=self.exclude or [],
            delimiter=_sign("delimiter", self.delimiter),
            decimal=_sign("decimal", self.decimal),
            thousands=_sign("thousands", self.thousands),
            header=self.header,
            encoding=self.encoding,
            na_values=self.na or [],
            duplicates="number" if self.number_duplicates else "error",
            layer=self.layer,
            raw=self.raw,
            sheet=self.sheet,
            dtype=np.float32 if self.float32 else np.float64,
        )

    def add_labels(self, table: Any) -> None:
        """Put known classes from a file of their own beside the rows."""
        if self.labels is not None:
            from fnmf.io import add_labels

            add_labels(table, self.labels, self.label_column)


@dataclass(frozen=True)
class Treatment:
    """What is done to the table before the fit."""

    strict: Annotated[
        bool,
        option(_DATA, "Stop where something would be decided for you.", "--strict"),
    ] = False
    missing: Annotated[
        Missing,
        _choice(
            Missing,
            _DATA,
            "Missing cells: keep leaves them missing, which auto does with methods that take them "
            "(FNMF), median fills them, as auto does with others, drop leaves such rows out, zero "
            "puts 0, error stops.",
        ),
    ] = Missing.auto
    shift: Annotated[
        bool,
        option(
            _DATA,
            "Move columns with negative values up to 0 (done unless --abs or --strict).",
            "--shift",
        ),
    ] = False
    absolute: Annotated[
        bool, option(_DATA, "Take -3 as 3: values without their signs.", "--abs")
    ] = False
    encode: Annotated[
        bool,
        option(_DATA, "Turn dates, and text that hardly repeats, into features too.", "--encode"),
    ] = False
    normalize: Annotated[
        Normalize,
        _choice(
            Normalize,
            _DATA,
            "Scale every row to unit length, or not; auto leaves it to the default weighting, "
            "which finds out, and scales for all others.",
        ),
    ] = Normalize.auto
    scale: Annotated[
        Scale, _choice(Scale, _DATA, "max: divide every column by its largest value.")
    ] = Scale.none
    transpose: Annotated[
        bool,
        option(_DATA, "The samples are the columns, as where genes are rows.", "--transpose"),
    ] = False
    image_shape: ImageShape = None

    def check(self) -> None:
        """Raise if two choices exclude each other."""
        if self.shift and self.absolute:
            raise UsageError("--shift and --abs exclude each other.")

    @property
    def keep_texts(self) -> bool:
        """Whether columns of text are read: as categories, or all of them."""
        return (self.encode or not self.strict) and not self.transpose

    def recipe(self, model: Any) -> dict[str, str]:
        """What :meth:`fnmf.io.Recipe.learn` takes."""
        from sklearn.utils import get_tags

        from fnmf.io import DECIDED_MISSING, DECIDED_NEGATIVE

        takes = bool(get_tags(model).input_tags.allow_nan)
        if self.missing is Missing.keep and not takes:
            name = type(model).__name__
            raise UsageError(f"{name} takes no missing cells; choose --missing median or drop.")
        missing, negative = self.missing.value, "shift" if self.shift else "error"
        if self.missing is Missing.auto:
            missing = "error" if self.strict else DECIDED_MISSING[takes]
        if not self.strict:
            negative = DECIDED_NEGATIVE
        return {
            "missing": missing,
            "negative": "abs" if self.absolute else negative,
            "normalize": self.normalize.for_model(model),
            "scale": self.scale.value,
            "texts": "all" if self.encode else "categories",
        }
