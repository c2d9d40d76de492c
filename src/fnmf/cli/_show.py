"""What a person sees on the terminal. Names from the data are cleaned and never read as markup."""

import sys
from typing import Any

_MOST_CLUSTERS = 20
_TOP = 5


def console() -> Any:
    """Standard output without markup or guessed colours."""
    from rich.console import Console

    # Piped output has no terminal to ask for its width; lines must not be broken then.
    width = None if sys.stdout.isatty() else 160
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True, width=width)


def table(*columns: str, title: str | None = None) -> Any:
    """A plain table whose cells are never read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    built = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        built.add_column(Text(column), overflow="fold")
    return built


def add_row(built: Any, *cells: Any) -> None:
    """A row of text cells."""
    from rich.text import Text

    built.add_row(*(Text(str(cell)) for cell in cells))


def show_choice(choice: Any) -> None:
    """The recommended number of clusters, and the scores it rests on."""
    out = console()
    out.print(f"Recommended: {choice}")
    scores = table("k", "score", "±", "below the best", "halves of features", "halves of rows")
    for row in choice.scores:
        mark = " *" if row["k"] == choice.n_components else ""
        add_row(
            scores,
            f"{row['k']}{mark}",
            f"{row['score']:.3f}",
            f"{row['spread']:.3f}",
            f"{choice.price(int(row['k'])):.3f}",
            f"{row['features_agree']:.2f}",
            f"{row['rows_agree']:.2f}",
        )
    if len(choice.scores):
        out.print(scores)


def show_summary(summary: dict[str, Any], notes: list[str]) -> None:
    """Clusters, weights, quality and warnings on one screen."""
    out = console()
    facts = ", ".join(f"{fact['value']} {fact['name']}" for fact in summary["facts"])
    out.print(f"{summary['method']}: {facts}")
    clusters = table("cluster", "size", "share", "stability", "features that set it apart")
    for cluster in summary["clusters"][:_MOST_CLUSTERS]:
        stability = cluster.get("stability")
        add_row(
            clusters,
            cluster["name"],
            cluster["size"],
            f"{cluster['share']:.1%}",
            stability["word"] if stability else "",
            ", ".join(cluster["apart"]) or "none does clearly",
        )
    out.print(clusters)
    if len(summary["clusters"]) > _MOST_CLUSTERS:
        out.print(f"... and {len(summary['clusters']) - _MOST_CLUSTERS} more clusters")
    if any(entry["features"] for entry in summary["weights"]["each"]):
        weights = table("weighting", "features that count", "largest weights")
        for j, entry in enumerate(summary["weights"]["each"], start=1):
            told = [f"{f['name']} {f['value']:.2g}" for f in entry["features"][:_TOP]]
            add_row(weights, j, f"{entry['effective']:.1f}", ", ".join(told))
        out.print(weights)
    for entry in summary["quality"]:
        out.print(f"{entry['name']} {entry['value']}: {entry['text']}")
    told_notes = [f["text"] for f in summary["diagnosis"] if f["level"] == "warn"] + notes
    for note in told_notes:
        out.print(f"Note: {note}")
