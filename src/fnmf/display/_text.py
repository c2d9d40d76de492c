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


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def counted(count: int, plural: str) -> str:
    """``91 customers``, ``1 customer``."""
    word = plural[:-1] if count == 1 and plural.endswith("s") else plural
    return f"{count:,} {word}"
