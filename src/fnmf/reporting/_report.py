"""What users call: a report of one model, a comparison of two."""

import html
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from fnmf._atomic import atomic_file
from fnmf.choosing import NumberOfClusters, restart_agreement
from fnmf.reporting._compare import compare_models
from fnmf.reporting.page import render, render_comparison
from fnmf.reporting.summary import About, summarise

_HEIGHT = 900


class Report:
    """A finished page: shows itself in a notebook, can be saved.

    Parameters
    ----------
    page : str
        The whole page.

    Examples
    --------
    >>> import fnmf
    >>> X, _ = fnmf.datasets.make_noisy_gaussians(random_state=0)
    >>> page = fnmf.report(fnmf.FNMF(3, tol=1e-2, random_state=0).fit(X), X)
    >>> page.html.startswith("<!doctype html>")
    True
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page; an older file is replaced."""
        with atomic_file(Path(path)) as file:
            file.write(self.html.encode())

    def _repr_html_(self) -> str:
        # A frame of its own: neither style nor script of page and notebook can meet.
        return (
            f'<iframe srcdoc="{html.escape(self.html, quote=True)}" width="100%" '
            f'height="{_HEIGHT}" title="fnmf report" frameborder="0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Report of {len(self.html):,} characters; .save(path) writes it"


class PageOptions(TypedDict, total=False):
    """What :func:`report` shows beside the model."""

    title: str | None
    feature_names: Sequence[Any] | None
    sample_names: Sequence[Any] | None
    labels_true: Sequence[Any] | None
    image_shape: tuple[int, int] | None
    notes: Sequence[str]
    unit: str
    choice: NumberOfClusters | None


def report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    n_restarts: int = 0,
    **options: Unpack[PageOptions],
) -> Report | None:
    """Describe a fitted model on one self-contained HTML page.

    The page works offline and loads nothing. It says in a sentence what each cluster is, which
    features matter and how sure that is; below, one selection of clusters, samples and a
    feature goes through map, tables, heat map and distributions.

    Parameters
    ----------
    model : estimator
        A fitted :class:`fnmf.FNMF` or one of :mod:`fnmf.baselines`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data the model was fitted on, in the units to be shown.
    path : str or path-like, default=None
        Where to write the page; an older file is replaced. Without it the page is returned,
        and shows itself in a notebook.
    title : str, default=None
        Heading of the page.
    feature_names, sample_names : sequence of str, default=None
        Names to show. Default are the names seen in ``fit`` and row numbers.
    labels_true : sequence, default=None
        Known classes, to compare the clusters with.
    image_shape : tuple of int, default=None
        Height and width, if samples are images: weights and means are then shown as images.
    n_restarts : int, default=0
        Fit again this many times from other random starts, with
        :func:`fnmf.choosing.restart_agreement`, and tell which clusters come back.
    notes : sequence of str, default=()
        Remarks to print below the warnings.
    unit : str, default="samples"
        What a sample is, in the plural: "customers", "cells".
    choice : NumberOfClusters, default=None
        What :func:`fnmf.choose_n_components` has found, to show which clusters split from one
        number to the next. Default is what the model keeps: the scores, if it chose.

    Returns
    -------
    Report or None
        The page, if there is no path.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import fnmf
    >>> X, _ = fnmf.datasets.make_noisy_gaussians(random_state=0)
    >>> model = fnmf.FNMF(3, tol=1e-2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "report.html"
    ...     fnmf.report(model, X, page, title="Three groups")
    ...     "Three groups" in page.read_text()
    True
    """
    X = _plain(X)
    summary = summarise(model, X, About(**options), restart_agreement(model, X, n_restarts))
    return _finish(render(summary), path)


def compare(
    first: Any,
    second: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    names: tuple[str, str] = ("first", "second"),
    feature_names: Sequence[Any] | None = None,
    sample_names: Sequence[Any] | None = None,
    title: str | None = None,
) -> Report | None:
    """Compare two fits of the same samples: who moved, and which features changed.

    Parameters
    ----------
    first, second : estimators
        Fitted on the same samples in the same order.
    path : str or path-like, default=None
        Where to write the page; without it the page is returned.
    names : tuple of str, default=("first", "second")
        What to call the two.
    feature_names, sample_names : sequence of str, default=None
        Names to show.
    title : str, default=None
        Heading of the page.

    Returns
    -------
    Report or None
        The page, if there is no path.

    Examples
    --------
    >>> import fnmf
    >>> from fnmf.reporting import compare
    >>> X, _ = fnmf.datasets.make_noisy_gaussians(random_state=0)
    >>> few, many = (fnmf.FNMF(k, tol=1e-2, random_state=0).fit(X) for k in (3, 4))
    >>> "moved" in compare(few, many).html
    True
    """
    summary = compare_models(
        first,
        second,
        names=names,
        feature_names=feature_names,
        sample_names=sample_names,
        title=title,
    )
    return _finish(render_comparison(summary), path)


def _finish(page: str, path: str | os.PathLike[str] | None) -> Report | None:
    made = Report(page)
    if path is None:
        return made
    made.save(path)
    return None


def _plain(X: Any) -> Any:
    if not hasattr(X, "shape"):
        return np.asarray(X)
    return X.to_numpy() if hasattr(X, "iloc") else X
