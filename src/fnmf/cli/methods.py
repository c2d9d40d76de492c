"""``fnmf methods``: what --method accepts, and what to know before choosing."""

import re
from typing import Annotated, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._errors import UsageError, handled
from fnmf.cli._fit_options import Plugins

_WITH_FORMULAS = ("formula", "cost")
_HEADING = """# Methods

What `fnmf cluster --method` and `fnmf.baselines` know. Written by `fnmf methods --markdown`.

n samples, d features, c clusters, k neighbours, s non-zero entries of X. *Cost* is in
multiply-adds, memory only where it is more than the data. *New rows*: whether a fitted model
assigns them.
"""


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only this method, with its parameters.")
    ] = None,
    as_json: options.Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the cards as Markdown.")
    ] = False,
    plugins: Plugins = None,
) -> None:
    """List the methods that 'fnmf cluster --method' knows: formula, cost, when to use.

    \b
    Examples:
      fnmf methods
      fnmf methods GNMF
    """
    with handled():
        from fnmf.baselines import all_methods
        from fnmf.cli._models import load_plugins
        from fnmf.cli._outputs import to_json

        load_plugins(plugins)
        entries = sorted(all_methods().values(), key=lambda entry: entry.name != "FNMF")
        cards = [_card(entry) for entry in entries]
        if name is not None:
            known = ", ".join(card["name"] for card in cards)
            cards = [card for card in cards if card["name"].casefold() == name.casefold()]
            if not cards:
                raise UsageError(f"{name} is not known; use one of {known}.")
        if as_json:
            print(to_json({"methods": cards}))
        elif markdown:
            print(_HEADING + "".join(_section(card) for card in cards))
        elif name is not None:
            _show_one(cards[0])
        else:
            _show_all(cards)


def _card(entry: Any) -> dict[str, Any]:
    return {
        "name": entry.name,
        "formula": entry.card.formula,
        "cost": entry.card.cost,
        "use": entry.card.use,
        "labels": entry.label_rule,
        "random": entry.random,
        "new_rows": hasattr(entry.load_class(), "predict"),
        "searched": {name: list(values) for name, values in entry.grid.items()},
        "in_tables": dict(entry.fixed),
        "citation": entry.article(),
    }


def _word(value: bool) -> str:
    return "yes" if value else "no"


def _show_all(cards: list[dict[str, Any]]) -> None:
    from fnmf.cli._show import add_row, console, table

    shown = table("method", "formula", "cost", "when to use", "random", "new rows")
    for card in cards:
        flags = (_word(card["random"]), _word(card["new_rows"]))
        add_row(shown, card["name"], card["formula"], card["cost"], card["use"], *flags)
    console().print(shown)
    console().print("One method with its parameters and article: fnmf methods NAME")


def _show_one(card: dict[str, Any]) -> None:
    from fnmf.baselines import all_methods
    from fnmf.cli._show import add_row, console, table

    shown = table("", card["name"])
    for title, text in _lines(card):
        add_row(shown, title, text)
    model = all_methods()[card["name"]].factory(n_clusters=2, random_state=0)
    for name, value in sorted(model.get_params(deep=False).items()):
        if name not in ("n_clusters", "random_state", "n_jobs"):
            add_row(shown, f"--param {name}", f"default {value}")
    console().print(shown)


def _lines(card: dict[str, Any]) -> list[tuple[str, str]]:
    searched = ", ".join(
        f"{name} in " + ", ".join(f"{value:g}" for value in values)
        for name, values in card["searched"].items()
    )
    fixed = ", ".join(f"{name}={value}" for name, value in card["in_tables"].items())
    lines = [
        ("formula", card["formula"]),
        ("cost", card["cost"]),
        ("when to use", card["use"]),
        ("labels from", card["labels"]),
        ("random", _word(card["random"])),
        ("new rows", _word(card["new_rows"])),
        ("searched in the tables", searched),
        ("fixed in the tables", fixed),
        ("article", card["citation"]),
    ]
    return [(title, text) for title, text in lines if text]


def _section(card: dict[str, Any]) -> str:
    body = "".join(
        f"* **{title}**: {_formula(text) if title in _WITH_FORMULAS else _escaped(text)}\n"
        for title, text in _lines(card)
    )
    return f"\n## {card['name']}\n\n{body}"


def _formula(text: str) -> str:
    """Indices, written ``x_i`` or ``Σ_{j≠l}``, as such."""
    parts = re.split(r"_(\{[^}]*\}|[a-z]+)", text)
    return "".join(
        f"<sub>{_escaped(part.strip('{}'))}</sub>" if k % 2 else _escaped(part)
        for k, part in enumerate(parts)
    )


def _escaped(text: str) -> str:
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, "\\" + sign)
    return text
