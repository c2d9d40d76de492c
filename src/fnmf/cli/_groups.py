"""Options as typed groups: declared once as dataclasses, shared by the verbs that need them."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A verb whose parameters that are dataclasses become an option for each of their fields.

    Typer reads the signature of what this returns; the verb itself gets the groups.
    """
    groups: dict[str, Any] = {}
    flat: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        if not dataclasses.is_dataclass(hints[name]):
            one = parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name])
            flat.append(one)
            continue
        groups[name] = hints[name]
        own = get_type_hints(hints[name], include_extras=True)
        for field in dataclasses.fields(hints[name]):
            kind, default = inspect.Parameter.KEYWORD_ONLY, field.default
            one = inspect.Parameter(field.name, kind, default=default, annotation=own[field.name])
            flat.append(one)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: group(
                **{field.name: given.pop(field.name) for field in dataclasses.fields(group)}
            )
            for name, group in groups.items()
        }
        command(**given, **made)

    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run
