"""How verbs are declared: options as typed groups, and help that wraps without Python types."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup


class _Shown:
    """What verbs and groups of verbs have in common."""

    help: str | None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.help = _wrapped(self.help)

    def get_params(self, ctx: Any) -> list[Any]:
        """The options and arguments, as the help is to show them."""
        return _plain(super().get_params(ctx))  # type: ignore[misc]


class Command(_Shown, TyperCommand):
    """A verb."""


class Group(_Shown, TyperGroup):
    """A verb with verbs of its own."""


def _wrapped(text: str | None) -> str | None:
    """Paragraphs in one line each; one that begins with \\b keeps its lines."""
    parts = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(p if p.startswith("\b") else " ".join(p.split()) for p in parts) or None


def _plain(parameters: list[Any]) -> list[Any]:
    """The same; a flag is not said to be of type bool, nor an argument to be a path."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
        elif parameter.is_flag and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


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


def typed(context: typer.Context) -> list[str]:
    """The command as the user typed it, in the order of its parameters."""
    words = ["fnmf", str(context.info_name)]
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[str(parameter.name)]
        if parameter.param_type_name == "argument":
            words += [str(one) for one in (value if isinstance(value, list | tuple) else [value])]
        elif isinstance(value, bool):
            no = list(parameter.secondary_opts)
            words.append(parameter.opts[0] if value or not no else no[0])
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [parameter.opts[0], str(getattr(one, "value", one))]
    return words
