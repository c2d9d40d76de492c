"""What sets a cluster apart, as words for its name: from the name of a column and a direction."""

import re

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
