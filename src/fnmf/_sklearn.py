"""What scikit-learn has only since 1.9, or not at all, or does not promise.

Nothing else here knows of it.

Callbacks (``sklearn.callback``) are experimental. Without them estimators have no
``set_callbacks``, and fits are the same.
"""

import functools
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import MethodType
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from sklearn.utils import check_random_state

Fit = TypeVar("Fit", bound=Callable[..., Any])

# Kept by scikit-learn on instances for its own use; they hold no result of a fit.
OWN_ATTRIBUTES = (
    "_skl_callbacks",
    "_skl_callbacks_to_teardown",
    "_callback_fit_ctx",
    "_parent_callback_ctx",
)


class _WithoutCallbacks:
    """What an estimator inherits where scikit-learn has no callbacks."""

    @property
    def set_callbacks(self) -> NoReturn:
        """Exists in later versions; asking for it says so."""
        import sklearn

        raise AttributeError(
            f"set_callbacks needs scikit-learn 1.9 or later; this is {sklearn.__version__}."
        )


def _without_callbacks(fit: Fit) -> Fit:
    """The same method one call deeper, as with callbacks: warnings count the calls."""

    @functools.wraps(fit)
    def called(*arguments: Any, **options: Any) -> Any:
        return fit(*arguments, **options)

    return cast(Fit, called)


CallbackSupportMixin: Any = _WithoutCallbacks
with_callbacks: Callable[[Fit], Fit] = _without_callbacks
with suppress(ModuleNotFoundError):
    _callback = import_module("sklearn.callback")
    CallbackSupportMixin, with_callbacks = _callback.CallbackSupportMixin, _callback.with_callbacks


class available_if:  # noqa: N801
    """A method that is there unless ``check`` raises; scikit-learn's hides the words of the error.

    Its own says no more than that there is no such attribute.
    """

    def __init__(self, check: Callable[[Any], None]) -> None:
        self.check = check

    def __call__(self, method: Callable[..., Any]) -> Any:
        functools.update_wrapper(self, method)
        self.method = method
        return self

    def __get__(self, estimator: Any, owner: type) -> Callable[..., Any]:
        if estimator is None:
            return self.method
        self.check(estimator)
        return MethodType(self.method, estimator)


def has_callbacks(estimator: Any) -> bool:
    """Whether anybody wants to be told of a fit."""
    return hasattr(estimator, "_skl_callbacks")


def fit_context(estimator: Any, max_subtasks: int) -> Any:
    """The context in which callbacks of ``estimator`` are told of a fit."""
    return estimator._init_callback_context(max_subtasks=max_subtasks)


def as_random_state(random_state: Any) -> np.random.RandomState:
    """A ``RandomState`` from a seed, ``None``, a ``RandomState`` or a ``numpy.random.Generator``.

    A generator is drawn from once, so that it goes on as one expects of it: generators in equal
    states lead to equal results, and the same one used twice to different ones.
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**32, size=4, dtype=np.uint32))
    return check_random_state(random_state)


def kmeans_threads() -> int:
    """What a fit of k-means keeps as its number of threads; ``predict`` does not work without."""
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    return int(_openmp_effective_n_threads())


def checked_weights(sample_weight: Any, X: Any, **options: Any) -> Any:
    """Sample weights as scikit-learn checks them: a number for each sample."""
    from sklearn.utils.validation import _check_sample_weight

    return _check_sample_weight(sample_weight, X, **options)
