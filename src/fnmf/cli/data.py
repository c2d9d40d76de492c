"""``fnmf data``: what there is, fetch it, prove it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fnmf.cli._commands import Command, Group

if TYPE_CHECKING:
    from fnmf.datasets.registry import Source

app = typer.Typer(
    cls=Group, no_args_is_help=True, help="List, fetch and verify the public data sets."
)

DataHome = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Folder that holds the data; the default is FNMF_DATA_HOME, then the cache.",
    ),
]


@app.command("list", cls=Command)
def list_sets(data_home: DataHome = None) -> None:
    """Show the data sets, their size, and where each would be read from."""
    from rich.console import Console
    from rich.table import Table

    from fnmf.datasets.loading import find
    from fnmf.datasets.registry import SOURCES

    table = Table("name", "in the paper", "samples", "features", "classes")
    table.add_column("read from", overflow="fold")
    for source in SOURCES.values():
        place = find(source, data_home)
        row = (*(str(size) for size in source.shape), str(source.n_classes))
        table.add_row(
            source.name,
            source.paper_name,
            *row,
            "to be downloaded" if place is None else str(place),
        )
    table.add_row("toy", "synthetic", "900", "7", "3", "made here")
    table.add_row("digits", "-", "1797", "64", "10", "scikit-learn")
    Console(markup=False).print(table)


def _wanted(names: list[str]) -> list["Source"]:
    from fnmf.datasets.loading import canonical_name
    from fnmf.datasets.registry import SOURCES

    if names == ["all"]:
        return list(SOURCES.values())
    try:
        keys = [canonical_name(name) for name in names]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    # The toy and scikit-learn's digits are always there.
    return [SOURCES[key] for key in keys if key in SOURCES]


@app.command(cls=Command)
def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help='Names of data sets, or "all".')
    ],
    data_home: DataHome = None,
) -> None:
    """Download what is not on this machine yet into the cache."""
    from fnmf.datasets.loading import fetch_original, find

    failed = False
    for source in _wanted(names):
        place = find(source, data_home)
        if place is not None:
            typer.echo(f"{source.name}: already in {place}")
            continue
        try:
            fetch_original(source)
            typer.echo(f"{source.name}: fetched. Licence: {source.licence}")
        except (OSError, ValueError, ModuleNotFoundError) as error:
            failed = True
            typer.echo(f"{source.name}: {error}", err=True)
    if failed:
        raise typer.Exit(1)


@app.command(cls=Command)
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names of data sets; all when none is given."),
    ] = None,
    data_home: DataHome = None,
) -> None:
    """Prove by checksum that the data sets on this machine are the published ones."""
    from fnmf.datasets.loading import checked_file

    failed = False
    for source in _wanted(names or ["all"]):
        try:
            path, digest = checked_file(source, data_home)
            typer.echo(f"{source.name}: ok    {path}    sha256 {digest}")
        except FileNotFoundError:
            typer.echo(f"{source.name}: not on this machine")
            failed = failed or names is not None
        except (OSError, ValueError) as error:
            failed = True
            typer.echo(f"{source.name}: WRONG {error}", err=True)
    if failed:
        raise typer.Exit(1)
