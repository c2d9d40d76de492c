"""A fit that starts where another one ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.data import Data


def with_start(settings: Settings, estimator: Any, data: Data) -> Settings:
    """Settings whose start are the factors of a fitted model, if there is one."""
    warm = settings.warm_start and hasattr(estimator, "components_")
    model: Any = estimator if warm else settings.init
    if isinstance(model, str | tuple | list):
        return settings
    # What is frozen for a pipeline stays fitted when that is cloned.
    model = getattr(model, "estimator", model)
    own = model._read_settings().scheme if hasattr(model, "_record") else None
    if not hasattr(model, "components_") or own != settings.scheme:
        raise ValueError(
            "init must be a name, a pair of arrays or a fitted FNMF of the same weighting, "
            f"{settings.scheme!r}."
        )
    own, wanted = model.components_.shape, (settings.n_components, data.shape[1])
    if own != wanted:
        what = "warm_start=True starts from" if warm else "init is"
        remedy = "set warm_start=False" if warm else "pass the name of a start"
        raise ValueError(
            f"{what} a model of {own[0]} components and {own[1]} features, but {wanted[0]} and "
            f"{wanted[1]} are needed; fit it with as many, or {remedy}."
        )
    return replace(settings, init=_factors(model, data))


def _factors(model: Any, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Codes of rows and components as a start has them: for relevance in the units of the rows."""
    from fnmf.affinity import completed_new
    from fnmf.execution import threads

    settings, fitted = model._settings(), Fitted.of(vars(model))
    scheme = model._scheme(settings)
    with threads(settings.n_jobs) as runner:
        view = completed_new(data, fitted, runner)
        codes = scheme.encode(fitted, settings, view, runner)
        if settings.scheme != "relevance":
            return codes, fitted.components
        codes = codes / scheme.lengths(fitted, view, runner)
    return codes, scheme.decode(fitted, np.eye(codes.shape[1]))
