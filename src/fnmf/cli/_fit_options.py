"""Options of a fit, in groups: the method with its parameters, and what takes long."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from fnmf.cli._errors import UsageError
from fnmf.cli._options import option

_MODEL, _RUN = "Model", "Large data"


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


def parse_parameters(pairs: list[str]) -> dict[str, Any]:
    """``NAME=VALUE`` pairs; a value is a number, true, false, null or text."""
    result: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--param {pair!r} is not of the form NAME=VALUE.")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if isinstance(value, dict | list):
            raise UsageError(f"--param {name}: only numbers, true, false, null and text work here.")
        result[name] = value
    return result


def _number(help_text: str, metavar: str) -> Any:
    return option(_MODEL, help_text, show_default=False, metavar=metavar)


MoreTables = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE",
        help="Further tables of the same rows; --join names the column they share.",
        show_default=False,
    ),
]
Join = Annotated[
    str | None,
    option(
        "Reading",
        "Column that names the rows in each of several files; the columns of a file are a group.",
        metavar="COLUMN",
        show_default=False,
    ),
]
Plugins = Annotated[
    list[Path] | None,
    option(
        _MODEL,
        "Python file that registers methods of your own; may be repeated.",
        "--with",
        metavar="FILE.py",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Model:
    """The method and its parameters."""

    clusters: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--clusters",
            parser=number_of_clusters,
            metavar="K|auto",
            help="Number of clusters (default: auto, recommended from the data).",
            show_default=False,
        ),
    ] = None
    known: Annotated[
        str | None,
        option(
            _MODEL,
            "Column with the classes of some rows, which lead the fit; empty cells, and texts of "
            "--na, are unknown. More clusters than classes finds new ones.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None
    batch: Annotated[
        str | None,
        option(
            _MODEL,
            "Column that says which rows were measured together; groups are found across batches.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None
    join: Join = None
    groups: Annotated[
        str | None,
        option(
            _MODEL,
            "Columns whose names are the same before this sign are a group: with _ blood_iron and "
            "blood_zinc are one, blood. Groups count alike, however many columns they have.",
            metavar="SIGN",
            show_default=False,
        ),
    ] = None
    kind: Annotated[
        list[str] | None,
        option(
            "Treatment of the data",
            "What a column is, where that would be decided wrongly: flag, category (of a code such "
            "as a region), ordinal, integer or continuous; may be repeated.",
            metavar="COLUMN=KIND",
            show_default=False,
        ),
    ] = None
    method: Annotated[
        str, option(_MODEL, "Any name 'fnmf methods' lists, or kmeans.", metavar="NAME")
    ] = "FNMF"
    layers: Annotated[
        str | None,
        _number("Finer parts below the components: 100,30 makes three layers (DeepFNMF).", "N,N"),
    ] = None
    components: Annotated[int | None, _number("Size of the representation (default: K).", "N")] = (
        None
    )
    weightings: Annotated[
        int | None, _number("Number of feature weightings (default: 3).", "N")
    ] = None
    diversity: Annotated[
        float | None,
        _number("How different weightings must be with --weighting paper (default: 0.01).", "X"),
    ] = None
    smoothness: Annotated[
        float | None, _number("How alike neighbours must be (default: 100).", "X")
    ] = None
    neighbors: Annotated[int | None, _number("Neighbours of each row (default: 5).", "N")] = None
    weighting: Annotated[
        str | None,
        _number("How features are weighted (default: relevance).", "relevance|paper|uniform"),
    ] = None
    assignment: Annotated[
        str | None,
        _number(
            "sample: each row mixes weightings on its own; shared: all alike (default: sample).",
            "sample|shared",
        ),
    ] = None
    solver: Annotated[
        str | None,
        _number("Update rule of the factorisation (default: mu-fast).", "mu|mu-fast|hals"),
    ] = None
    init: Annotated[
        str | None,
        _number("What the factorisation starts with (default: kmeans).", "kmeans|random|nndsvda"),
    ] = None
    max_iter: Annotated[int | None, _number("Most iterations (default: 300).", "N")] = None
    tol: Annotated[
        float | None,
        _number(
            "Stop when the objective changes by less than this part of it (default: 0.0001).", "X"
        ),
    ] = None
    n_init: Annotated[
        int | None, _number("Number of starts; the best is kept (default: 1).", "N")
    ] = None
    consensus: Annotated[
        int | None,
        _number("Resamples that vote for the clusters and say how sure they are.", "N"),
    ] = None
    param: Annotated[
        list[str] | None,
        _number("Any other parameter of the method; may be repeated.", "NAME=VALUE"),
    ] = None
    plugins: Plugins = None
    seed: Annotated[
        int, option(_MODEL, "Random seed: same seed, same result.", min=0, metavar="N")
    ] = 0
    jobs: Annotated[int | None, _number("Number of threads (default: all cores).", "N")] = None
    restarts: Annotated[
        int | None,
        option(
            _MODEL,
            "Further fits to see how stable the clusters are (default: 3 for small tables).",
            min=0,
            show_default=False,
            metavar="N",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Parameters of the estimator that the user has set."""
        values = {
            "n_components": self.components,
            "n_weightings": self.weightings,
            "diversity": self.diversity,
            "smoothness": self.smoothness,
            "n_neighbors": self.neighbors,
            "weighting": self.weighting,
            "assignment": self.assignment,
            "solver": self.solver,
            "init": self.init,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "n_init": self.n_init,
            "consensus": self.consensus,
            **parse_parameters(self.param or []),
        }
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Running:
    """For what takes long, or does not fit."""

    checkpoint: Annotated[
        Path | None,
        option(
            _RUN,
            "Folder for checkpoints, every 30 s; the same command goes on from there.",
            metavar="FOLDER",
            show_default=False,
        ),
    ] = None
    memory: Annotated[
        str | None,
        option(
            _RUN,
            "Read by blocks that take no more than this altogether, like 4GB.",
            metavar="SIZE",
            show_default=False,
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        option(
            _RUN,
            "Read by blocks and fit on the Dask cluster of this address.",
            metavar="ADDRESS",
            show_default=False,
        ),
    ] = None
