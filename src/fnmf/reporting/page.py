"""From the plain summary to one self-contained page."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from fnmf._atomic import atomic_file
from fnmf.display import number

_TEMPLATES = Path(__file__).parent / "templates"
# Eight colours that all kinds of colour vision tell apart, three to one against the paper;
# cluster 9 has the colour of cluster 1 and another shape. Light and dark pages need their own.
LIGHT = (
    "#286893",
    "#fc6128",
    "#00a4a7",
    "#b34cff",
    "#a23e24",
    "#12346b",
    "#571b0a",
    "#1b0015",
)
DARK = (
    "#475fd6",
    "#e6a80b",
    "#5dd2cd",
    "#ac347c",
    "#ea5b70",
    "#9190e5",
    "#ffe278",
    "#b7ffff",
)
_SCRIPTS = ("data", "state", "map", "tables", "features", "heat", "card", "contrast", "main")


def write_page(summary: dict[str, Any], path: Path) -> None:
    """Render the summary into the file ``path``."""
    page = render(summary).encode()
    with atomic_file(path) as file:
        file.write(page)


def render(summary: dict[str, Any]) -> str:
    """The page of a fitted model as text."""
    data = {
        "clusters": [
            {"name": c["name"], "title": c["title"], "size": c["size"]} for c in summary["clusters"]
        ],
        "classes": None if summary["classes"] is None else summary["classes"]["names"],
        "map": summary["map"],
        "image": summary["image_shape"],
        "unit": summary["unit"],
        "importance": _importance(summary["features"]),
        "features": summary["n_features"],
        "parts": summary["payload"],
    }
    return _fill("report.html", summary, data, _SCRIPTS)


def _importance(features: dict[str, Any]) -> str:
    return "ranked" if features["importance"] else "equal" if features["equal"] else ""


def render_comparison(summary: dict[str, Any]) -> str:
    """The page that compares two models."""
    return _fill("comparison.html", summary, {}, ("tables", "comparison"))


def _fill(
    template: str, summary: dict[str, Any], data: dict[str, Any], scripts: tuple[str, ...]
) -> str:
    try:
        import jinja2
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'The report needs jinja2; install it with: pip install "fnmf[report]"', name="jinja2"
        ) from None
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["num"] = number
    environment.filters["count_text"] = _count
    style = (_TEMPLATES / "report.css").read_text(encoding="utf-8") + _colours()
    script = _script(scripts)
    return environment.get_template(template).render(
        **summary,
        # Only files of this package are marked as safe; everything from the data is escaped.
        style=Markup(style),
        script=Markup(script),
        data=Markup(json_for_html(data)),
        policy=_policy(style, script),
    )


def json_for_html(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _script(names: tuple[str, ...]) -> str:
    parts = [(_TEMPLATES / f"{name}.js").read_text(encoding="utf-8") for name in names]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def _colours() -> str:
    def rules(palette: tuple[str, ...]) -> str:
        return "".join(f"--k{c}:{colour};" for c, colour in enumerate(palette))

    classes = "".join(f".k{c}{{fill:var(--k{c});stroke:var(--k{c})}}" for c in range(len(LIGHT)))
    dark = f"{{{rules(DARK)}}}"
    return (
        f":root{{{rules(LIGHT)}}}{classes}"
        f'@media screen{{:root[data-theme="dark"]{dark}}}'
        f'@media screen and (prefers-color-scheme:dark){{:root:not([data-theme="light"]){dark}}}'
    )


def _count(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def _policy(style: str, script: str) -> str:
    def allowed(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; img-src data:; style-src {allowed(style)}; "
        f"script-src {allowed(script)}; base-uri 'none'; form-action 'none'"
    )
