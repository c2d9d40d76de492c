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
