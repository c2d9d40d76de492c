"""The first sentence: how many groups of what, and which columns tell them apart."""

from typing import Any

from fnmf.display import counted, listed

_NAMED = 5


def answer(
    model: Any, n_rows: int, clusters: list[dict[str, Any]], features: dict[str, Any], unit: str
) -> str:
    """What was found, as somebody would say it aloud."""
    return " ".join(
        part
        for part in (groups_sentence(model, n_rows, clusters, unit), columns_sentence(features))
        if part
    )


def groups_sentence(model: Any, n_rows: int, clusters: list[dict[str, Any]], unit: str) -> str:
    """The number of groups, or that there are none."""
    rows = counted(n_rows, unit)
    if len(clusters) == 1:
        return f"The {rows} are one group: no division of them is clearer than chance makes it."
    if getattr(model, "structure_found_", None) is False:
        return (
            f"The {rows} were divided into {len(clusters)}, but no groups were found: a division "
            "of shuffled data is as clear."
        )
    return f"The {rows} fall into {len(clusters)} groups."


def columns_sentence(features: dict[str, Any]) -> str:
    """The columns that tell the groups apart."""
    matter, total = features["matter"], features["count"]
    if matter == 0:
        return ""
    leading = features["leading"][:_NAMED]
    more = matter - len(leading)
    named = f"{', '.join(leading)} and {more:,} more" if more > 0 else listed(leading)
    if total == 1:
        return f"They differ in {named}."
    if matter == total:
        return f"All {total:,} columns tell them apart, above all {named}."
    verb = "tells" if matter == 1 else "tell"
    left = total - matter
    rest = f" The other {left:,} do not." if left > 1 else " The other one does not."
    return f"{matter:,} of {total:,} columns {verb} them apart: {named}.{rest}"
