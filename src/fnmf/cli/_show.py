"""What a person sees on the terminal. Names from the data are cleaned and never read as markup."""

import sys
from typing import Any

_MOST_CLUSTERS, _MOST_LABELS = 20, 10


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


def show_summary(summary: dict[str, Any], notes: list[str]) -> None:
    """The answer, the clusters in their sentences, what was decided, and warnings."""
    out = console()
    _show_decisions(out, summary["decisions"])
    out.print(summary["answer"])
    if summary["number"]:
        out.print(summary["number"]["sentence"])
    clusters = table(
        "cluster", "name", summary["unit"], "share", "comes back", "what sets it apart"
    )
    for cluster in summary["clusters"][:_MOST_CLUSTERS]:
        stability = cluster.get("stability")
        add_row(
            clusters,
            cluster["name"],
            cluster["title"],
            f"{cluster['size']:,}",
            f"{cluster['share']:.0%}",
            f"{stability['value']:.0%}" if stability else "",
            cluster["traits"],
        )
    out.print(clusters)
    if len(summary["clusters"]) > _MOST_CLUSTERS:
        out.print(f"... and {len(summary['clusters']) - _MOST_CLUSTERS} more clusters")
    if summary["feature_groups"]:
        groups = table("group of columns", "columns", "relevance", "share in the weights")
        for one in summary["feature_groups"]:
            shown = f"{one['relevance']:.2f}", f"{one['weight']:.0%}"
            add_row(groups, one["name"], one["features"], *shown)
        out.print(groups)
    if summary["labels"] is not None:
        show_labels(out, summary["labels"])
    for entry in summary["quality"]:
        if entry["first"]:
            out.print(f"{entry['label']} {entry['value']}: {entry['text']}")
    told_notes = [f["text"] for f in summary["diagnosis"] if f["level"] == "warn"] + notes
    for note in told_notes:
        out.print(f"Note: {note}")


def show_labels(out: Any, labels: dict[str, Any]) -> None:
    """Labels that look wrong, and rows worth a label."""
    out.print(labels["sentence"])
    if labels["suspicious"]:
        built = table("suspicious label", "given", "suggested", "wrong with probability")
        for one in labels["suspicious"][:_MOST_LABELS]:
            shown = f"{one['probability']:.2f}"
            add_row(built, one["row"], one["given"], one["suggested"], shown)
        out.print(built)
    show_next(out, labels["next"])


def show_next(out: Any, rows: list[dict[str, Any]]) -> None:
    """Rows worth a label, and what is thought of them now."""
    if rows:
        built = table("worth labelling next", "class", "confidence", "or else")
        for one in rows:
            add_row(built, one["row"], one["class"], f"{one['confidence']:.2f}", one["second"])
        out.print(built)


def _show_decisions(out: Any, decisions: list[dict[str, str]]) -> None:
    if not decisions:
        return
    built = table("decided for you", "why", "to decide otherwise")
    for one in decisions:
        add_row(built, one["what"], one["why"], one["otherwise"])
    out.print(built)
    out.print("(--strict stops instead of deciding.)\n")
