"""Names of clusters, suggested by what sets them apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fnmf.describe import ClusterDescription, Contrast


def titled(found: Iterable[ClusterDescription]) -> list[ClusterDescription]:
    """Descriptions with a title each: what is clearest, and what tells it from the same title."""
    described = list(found)
    words = [[_words(contrast) for contrast in one.contrasts] for one in described]
    first = [(own or [_without(one)])[0] for own, one in zip(words, described, strict=True)]
    titles = []
    for c, own in enumerate(words):
        rivals = [words[d] for d in range(len(words)) if d != c and first[d] == first[c]]
        titles.append(first[c])
        if rivals and own:
            # The first difference that none of the others has, else the second one.
            apart = [word for word in own[1:] if all(word not in rival for rival in rivals)]
            titles[-1] = ", ".join([first[c], *(apart or own[1:])[:1]])
    seen: dict[str, int] = {}
    result = []
    for one, title in zip(described, titles, strict=True):
        seen[title] = seen.get(title, 0) + 1
        told = title if titles.count(title) == 1 else f"{title} ({seen[title]})"
        result.append(replace(one, title=told))
    return result


def _without(one: ClusterDescription) -> str:
    return "all" if one.share == 1 else "in between"


def _words(contrast: Contrast) -> str:
    column, equals, value = contrast.feature.partition("=")
    if equals:
        return f"{column} {value}" if contrast.effect > 0 else f"{column} not {value}"
    return f"{'high' if contrast.effect > 0 else 'low'} {contrast.feature.replace('_', ' ')}"
