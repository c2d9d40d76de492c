"""Options that several verbs share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fnmf.cli._errors import UsageError

# What a record may say about reading; anything else in it is not handed on.
READING = {
    *("id_column", "label_column", "exclude", "delimiter", "decimal", "thousands", "header"),
    *("encoding", "na_values", "duplicates", "keep_texts", "transpose", "layer", "raw"),
    "sheet",
}
_MARKS = {"point": ".", "comma": ",", "space": " ", "apostrophe": "'", "none": "", "tab": "\t"}


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
    """What to do about missing values."""

    error = "error"
    drop = "drop"
    zero = "zero"
    median = "median"


def number_of_clusters(text: str) -> int | None:
    """A number from 1, or ``None`` where the data shall say it."""
    if text.strip().lower() == "auto":
        return None
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise typer.BadParameter(f"{text!r} is neither a whole number from 1 nor auto.")
    return number


_READING = "Reading"
_OUTPUT = "Output"

Table = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV (also compressed), Excel, Parquet, .npy, .npz, Matrix Market, .h5ad, a "
        "folder of images or a 10x folder.",
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
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal mark: point or comma; detected by default.", rich_help_panel=_READING
    ),
]
Thousands = Annotated[
    str | None,
    typer.Option(
        help="Mark between thousands: none, point, comma, space or apostrophe; detected by "
        "default.",
        rich_help_panel=_READING,
    ),
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        "--na", help="Text that counts as missing; may be repeated.", rich_help_panel=_READING
    ),
]
NumberDuplicates = Annotated[
    bool,
    typer.Option(
        "--number-duplicates",
        help="Number columns of the same name.",
        rich_help_panel=_READING,
    ),
]
Layer = Annotated[
    str | None,
    typer.Option(help="Layer of an .h5ad file to use.", rich_help_panel=_READING),
]
Raw = Annotated[
    bool,
    typer.Option("--raw", help="Use the raw data of an .h5ad file.", rich_help_panel=_READING),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        help="Sheet of an Excel workbook; the first by default.", rich_help_panel=_READING
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        help="File with known classes, matched by the names of the rows or by position.",
        rich_help_panel=_READING,
        show_default=False,
    ),
]
Transpose = Annotated[
    bool,
    typer.Option(
        "--transpose",
        help="The samples are the columns, as where genes are rows.",
        rich_help_panel=_READING,
    ),
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


def reading_options(**given: Any) -> dict[str, Any]:
    """What the user said about the file, as :func:`fnmf.io.read_table` takes it."""
    reading = dict(given)
    for name in ("delimiter", "decimal", "thousands"):
        value = given.get(name)
        if value is not None:
            reading[name] = {"\\t": "\t"}.get(value, _MARKS.get(value, value))
            if name != "thousands" and len(reading[name]) != 1:
                raise UsageError(f"--{name} {value!r} must be a single character or its name.")
    reading["exclude"] = given.get("exclude") or []
    reading["na_values"] = reading.pop("na", None) or []
    numbered = reading.pop("number_duplicates", False)
    reading["duplicates"] = "number" if numbered else "error"
    return reading


def typed(context: typer.Context) -> list[str]:
    """The command as the user typed it, in the order of its parameters."""
    words = ["fnmf", str(context.info_name)]
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[str(parameter.name)]
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            no = list(parameter.secondary_opts)
            words.append(parameter.opts[0] if value or not no else no[0])
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [parameter.opts[0], str(getattr(one, "value", one))]
    return words
