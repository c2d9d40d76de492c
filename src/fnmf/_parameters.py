"""Parameters that estimators share are declared once, by the estimator that explains them."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

Constructor = Callable[..., None]


def with_parameters_of(model: type, *names: str) -> Callable[[Constructor], Constructor]:
    """A constructor with the parameters ``names`` of another estimator after its own.

    They are keywords with the defaults of ``model``, and reach the constructor as such. Its
    signature has them all, which is where scikit-learn's ``get_params`` reads them.
    """

    def complete(constructor: Constructor) -> Constructor:
        own = inspect.signature(constructor).parameters.values()
        theirs = inspect.signature(model).parameters
        shared = [theirs[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in names]
        mine = [one for one in own if one.kind is not inspect.Parameter.VAR_KEYWORD]
        signature = inspect.Signature([*mine, *shared], return_annotation=None)

        @functools.wraps(constructor)
        def whole(*arguments: Any, **keywords: Any) -> None:
            given = signature.bind(*arguments, **keywords)
            given.apply_defaults()
            constructor(*given.args, **given.kwargs)

        whole.__signature__ = signature  # type: ignore[attr-defined]
        return whole

    return complete
