"""Names of features and samples: the caller's, the model's, or numbers."""

from collections.abc import Sequence
from typing import Any

from fnmf.display._text import visible


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
