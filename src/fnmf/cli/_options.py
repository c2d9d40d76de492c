"""Options that several verbs share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Normalize(StrEnum):
    """What to scale to unit length."""

    samples = "samples"
    none = "none"


class Scale(StrEnum):
    """How to make columns comparable."""

    none = "none"
    max = "max"


class Missing(StrEnum):
    """What to do about missing values."""

    error = "error"
    drop = "drop"
    zero = "zero"
    median = "median"


_READING = "Reading"
_OUTPUT = "Output"

Table = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV (also compressed), Parquet, .npy, .npz, Matrix Market or .h5ad.",
        show_default=False,
    ),
]
IdColumn = Annotated[
    str | None, typer.Option(help="Column that names the rows.", rich_help_panel=_READING)
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        help="Column with known classes; only used to score the result.", rich_help_panel=_READING
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="Column to leave out; may be repeated.", rich_help_panel=_READING),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="Sign between columns; detected by default.", rich_help_panel=_READING),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns; detected by default.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding of the text; detected by default.", rich_help_panel=_READING),
]
Float32 = Annotated[
    bool,
    typer.Option("--float32", help="Single precision: half the memory.", rich_help_panel=_READING),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace older results.", rich_help_panel=_OUTPUT)
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_OUTPUT),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Folder for the results.", rich_help_panel=_OUTPUT),
]
