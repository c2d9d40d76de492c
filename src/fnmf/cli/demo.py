"""``fnmf demo``: the main job on data that come with the package."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from fnmf.cli._errors import handled

_NEXT = (
    ("python", "examples/tables/make.py", "tables"),
    ("fnmf", "cluster", "tables/customers.csv"),
    ("fnmf", "explain", "customers.csv-clusters", "1"),
)


def demo(
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Folder for picture and report.",
            file_okay=False,
            metavar="FOLDER",
        ),
    ] = Path("fnmf-demo"),
) -> None:
    """Compare k-means, NMF and FNMF on data with many useless features; takes a few seconds.

    \b
    Examples:
      fnmf demo
      fnmf demo -o elsewhere
    """
    with handled():
        _demo(out)


def _demo(out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from fnmf._compile import tell_first_compiling
    from fnmf.demo import draw, examples, run, write_report

    tell_first_compiling()
    console = Console()
    outcomes = []
    for example in examples():
        n, d = example.X.shape
        useful = int(example.informative.sum())
        with console.status(f"{example.name} …"):
            outcome = run(example)
        outcomes.append(outcome)
        noise = d - useful
        console.print(f"{example.name}: {n} samples, {useful} informative + {noise} noise features")
        table = Table()
        for column in ("method", "ACC", "NMI"):
            table.add_column(column, justify="left" if column == "method" else "right")
        for name, (accuracy, information) in outcome.scores.items():
            table.add_row(name, f"{accuracy:.3f}", f"{information:.3f}")
        console.print(table)
        share = 100 * outcome.weight_on_informative
        console.print(f"FNMF puts {share:.0f} % of its feature weight on the informative ones.")
        if d <= 20:
            weights = "  ".join(f"{value:.2f}" for value in outcome.model.feature_importances_)
            console.print(f"weights: {weights}")
        console.print()
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "demo.png"
    draw(outcomes, picture)
    page = out / "report.html"
    write_report(outcomes[0], page)
    console.print(f"Picture: {picture.resolve()}", soft_wrap=True)
    console.print(f"Report:  {page.resolve().as_uri()}", soft_wrap=True)
    console.print("\nNext, with the fnmf of this environment:", soft_wrap=True)
    fnmf = Path(sys.executable).with_name("fnmf")
    for words in _NEXT:
        program = fnmf if words[0] == "fnmf" else sys.executable
        shown = shlex.join([_relative(program), *words[1:]])
        console.print(f"  {shown}", soft_wrap=True, highlight=False)


def _relative(program: str | Path) -> str:
    """A path from here, if that is shorter."""
    return min(str(program), os.path.relpath(program), key=len)
