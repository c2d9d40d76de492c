"""Parameters that estimators share are declared once, by the estimator that explains them."""

import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any

Constructor = Callable[..., None]


def with_parameters_of(
    model: type, *names: str, without: Collection[str] = ()
) -> Callable[[Constructor], Constructor]:
    """A constructor with the parameters ``names`` of another estimator after its own.

    Without names these are all that it does not have itself but those in ``without``. They are
    keywords with the defaults of ``model``, and reach the constructor as such. Its signature has
    them all, which is where scikit-learn's ``get_params`` reads them.
    """

    def complete(constructor: Constructor) -> Constructor:
        own = inspect.signature(constructor).parameters
        theirs = inspect.signature(model).parameters
        taken = names or [name for name in theirs if name not in own and name not in without]
        shared = [theirs[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in taken]
        mine = [one for one in own.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        signature = inspect.Signature([*mine, *shared], return_annotation=None)

        @functools.wraps(constructor)
        def whole(*arguments: Any, **keywords: Any) -> None:
            given = signature.bind(*arguments, **keywords)
            given.apply_defaults()
            constructor(*given.args, **given.kwargs)

        whole.__signature__ = signature  # type: ignore[attr-defined]
        return whole

    return complete
