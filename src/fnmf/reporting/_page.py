"""The page from a fitted model."""

from typing import Any


def report(model: Any, X: Any, path: Any) -> None:
    """Write the page."""
    raise NotImplementedError
