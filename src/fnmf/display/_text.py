"""Names and numbers for people; names from the data are made safe to show anywhere."""

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_LONGEST = 160
# Formatting characters can turn the reading direction round; the rest cannot be seen at all.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Units at the end of a column's name say nothing in a name without a figure.
_UNITS = frozenset(
    (
        *("eur", "usd", "gbp", "chf", "jpy", "km", "cm", "mm", "nm", "um", "kg", "mg", "ml", "kw"),
        *("kwh", "hpa", "kpa", "mpa", "bar", "db", "lux", "hz", "khz", "mhz", "ms", "kmh", "pct"),
        *("percent", "celsius", "kelvin", "degrees"),
    )
)
# One letter may also be part of the name, as in vitamin_c: it is a unit after these.
_LETTERS = frozenset("acghkmsvw")
_QUANTITIES = frozenset(
    (
        *("current", "voltage", "power", "temperature", "temp", "weight", "mass", "height"),
        *("width", "length", "depth", "distance", "time", "duration", "speed", "vibration"),
    )
)
_NUMBER_OF = re.compile(r"(?:n|num|nr|no|number of|count of) (.+)", re.IGNORECASE)
_RATE = re.compile(r"\S+s per \S+", re.IGNORECASE)
_SINCE = re.compile(r"(?:seconds|minutes|hours|days|weeks|months|years) since (.+)", re.IGNORECASE)
_OTHER = {"yes": "no", "no": "yes", "true": "false", "false": "true", "ja": "nein", "oui": "non"}


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
    shown: list[str] = []
    for digits in (2, 3, 4):
        shown = [_short(value, digits) for value in values]
        if len(set(shown)) == len({float(value) for value in values}):
            break
    return shown


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


def feature_names(model: Any, n_features: int, names: Sequence[Any] | None) -> list[str]:
    """Names given by the caller, else those seen in fit, else positions."""
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"feature {k}" for k in range(n_features)]
    if len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but X has {n_features} features; "
            "pass one name for each feature."
        )
    return [visible(name) for name in names]


def sample_names(n_samples: int, names: Sequence[Any] | None) -> list[str]:
    """Names given by the caller, else row numbers."""
    if names is None:
        return [f"row {i + 1}" for i in range(n_samples)]
    if len(names) != n_samples:
        raise ValueError(
            f"sample_names has {len(names)} names, but X has {n_samples} samples; "
            "pass one name for each sample."
        )
    return [visible(name) for name in names]


def trait(feature: str, *, higher: bool) -> str:
    """A feature and a direction in words: ``many visits per month``, ``region north``."""
    column, equals, value = feature.partition("=")
    if equals:
        other = _OTHER.get(value.lower(), f"not {value}")
        return f"{column.replace('_', ' ')} {value if higher else other}"
    name = _without_unit(feature)
    if since := _SINCE.fullmatch(name):
        return f"{since[1]} long ago" if higher else f"recent {since[1]}"
    if counted := _NUMBER_OF.fullmatch(name):
        return f"{'many' if higher else 'few'} {counted[1]}"
    if _RATE.fullmatch(name):
        return f"{'many' if higher else 'few'} {name}"
    return f"{'high' if higher else 'low'} {name}"


def _without_unit(feature: str) -> str:
    """The words of a column's name, without the unit at its end."""
    words = [word for word in feature.split("_") if word]
    while len(words) > 1 and _is_unit(words[-1].lower(), [word.lower() for word in words[:-1]]):
        words.pop()
    return " ".join(words) or feature


def _is_unit(word: str, before: list[str]) -> bool:
    named = any(one in _QUANTITIES for one in before)
    return word in _UNITS or (named and word in _LETTERS)
