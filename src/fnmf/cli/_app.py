"""The command's verbs. Verb modules import nothing heavy at the top: ``--help`` is quick."""

from typing import Annotated

import typer

from fnmf import __version__
from fnmf.cli import (
    apply,
    cluster,
    data,
    demo,
    explain,
    inspect,
    label_next,
    methods,
    report,
    reproduce,
)
from fnmf.cli._commands import Command, Group

_HELP = """Cluster the rows of a table when many columns are useless, and learn which ones matter.

\b
Examples:
  fnmf cluster customers.csv
  fnmf explain customers.csv-clusters C007
  fnmf apply customers.csv-clusters new.csv

'fnmf cluster --help' tells all that cluster can do; so does --help of every command.
"""

app = typer.Typer(
    name="fnmf",
    cls=Group,
    no_args_is_help=True,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fnmf {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


app.command("cluster", cls=Command)(cluster.cluster)
app.command("apply", cls=Command)(apply.apply)
app.command("explain", cls=Command)(explain.explain)
app.command("label-next", cls=Command)(label_next.label_next)
app.command("inspect", cls=Command)(inspect.inspect)
app.command("report", cls=Command)(report.report)
app.command("demo", cls=Command)(demo.demo)
app.command("methods", cls=Command)(methods.methods)
app.add_typer(data.app, name="data")
app.command("reproduce", cls=Command)(reproduce.reproduce)
