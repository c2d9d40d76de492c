"""Docstrings that describe once what classes share.

A class describes what is its own. What its bases say of its other parameters, and of attributes, is
added when the class is made.
"""

import inspect
import re

_TITLES = ("Parameters", "Attributes")
_SECTION = re.compile(r"^(\w+)\n-{3,}\n(.*?)(?=^\w+\n-{3,}\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^([\w, ]+) :.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def complete_docstring(cls: type, bases: list[type]) -> None:
    """Add to the docstring of ``cls`` what ``bases``, the nearest last, describe."""
    found: dict[str, dict[str, str]] = {title: {} for title in _TITLES}
    own = inspect.cleandoc(cls.__doc__ or "")
    for text in [*(inspect.cleandoc(base.__doc__ or "") for base in bases), own]:
        for title, body in _SECTION.findall(text):
            if title in found:
                found[title] |= {entry[1]: entry[0].rstrip() for entry in _ENTRY.finditer(body)}
    names = [name for name in inspect.signature(cls).parameters if name in found["Parameters"]]
    found["Parameters"] = {name: found["Parameters"][name] for name in names}
    sections = [_section(title, "\n".join(found[title].values())) for title in _TITLES]
    rest = [_section(*part) for part in _SECTION.findall(own) if part[0] not in _TITLES]
    cls.__doc__ = "\n\n".join([_SECTION.sub("", own).rstrip(), *sections, *rest]) + "\n"


def _section(title: str, body: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{body.rstrip()}"
