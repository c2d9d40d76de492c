"""Names and numbers for people; names from the data are made safe to show anywhere."""

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

_LONGEST = 160
# Formatting characters can turn the reading direction round; the rest cannot be seen at all.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(name: Any, *, longest: int = _LONGEST) -> str:
    """The name on one line without control, formatting or broken characters."""
    text = str(name)[: longest + 1]
    if not (text.isascii() and text.isprintable()):
        text = "".join(
            " "
            if char in "\t\n\r"
            else "\ufffd"
            if unicodedata.category(char) in _INVISIBLE
            else char
            for char in text
        )
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(value: float) -> str:
    """A number for people: four digits, powers of ten only when they help."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e6 or size < 1e-4:
        return f"{value:.2e}".replace("-", "−")
    if size >= 1000:
        return f"{value:,.0f}".replace("-", "−")
    text = f"{value:.{max(0, 3 - math.floor(math.log10(size)))}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def side_by_side(*values: float) -> list[str]:
    """Numbers to be read beside each other: two digits, more if that is what tells them apart."""
    told: list[str] = []
    for digits in (2, 3, 4):
        told = [_short(value, digits) for value in values]
        if len(set(told)) == len({float(value) for value in values}):
            break
    return told


def _short(value: float, digits: int) -> str:
    size = abs(value)
    if not math.isfinite(value) or size == 0 or not 1e-4 <= size < 1e6:
        return number(value)
    places = max(0, digits - 1 - math.floor(math.log10(size)))
    text = f"{value:,.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def counted(count: int, plural: str) -> str:
    """``91 customers``, ``1 customer``."""
    word = plural[:-1] if count == 1 and plural.endswith("s") else plural
    return f"{count:,} {word}"


def distinct_titles(words: Sequence[Sequence[str]], otherwise: Sequence[str]) -> list[str]:
    """A title for each list of words: its first one, and what tells it from the same title.

    Where there is no word, ``otherwise`` has the title.
    """
    first = [own[0] if own else one for own, one in zip(words, otherwise, strict=True)]
    titles = []
    for c, own in enumerate(words):
        rivals = [words[d] for d in range(len(words)) if d != c and first[d] == first[c]]
        # The first word that none of the others has, else the second one.
        apart = [word for word in own[1:] if all(word not in rival for rival in rivals)]
        more = (apart or list(own[1:]))[:1] if rivals else []
        titles.append(", ".join([first[c], *more]))
    seen: dict[str, int] = {}
    for c, title in enumerate(list(titles)):
        seen[title] = seen.get(title, 0) + 1
        if titles.count(title) > 1 or seen[title] > 1:
            titles[c] = f"{title} ({seen[title]})"
    return titles
