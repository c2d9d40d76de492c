"""Everything that is written from a store: tables in four forms, figures, the export, one page."""

import base64
import csv
import html
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fnmf._atomic import atomic_file
from fnmf.experiments import _tables
from fnmf.experiments._plan import FIGURES, TABLES
from fnmf.experiments._registry import Method, methods, problems, published
from fnmf.experiments._store import Store
from fnmf.experiments._summary import median_row, summarise

_TABLE_KINDS = {
    "table-acc": ("ACC on the clean data sets", "acc", "clean"),
    "table-nmi": ("NMI on the clean data sets", "nmi", "clean"),
    "table-noise": ("ACC on the noised Yale data sets", "acc", "noised"),
}
_CAPTIONS = {
    "fig-toy": "The toy data and the clusters that each method finds in them.",
    "fig-features": "25 % of the features, selected by each weighting, on the mean face.",
    "fig-occlusion": "Samples of the Yale faces behind blocks of three sizes.",
    "fig-convergence": "Objective of the article's FNMF over the iterations, at the best setting.",
    "fig-parameters": "ACC of the article's FNMF over λ and β; the star marks the best setting.",
    "fig-components": "ACC of the article's FNMF with one to six weightings, and its spread.",
}
_NOTE = (
    "Each cell: ours with its standard deviation over the repeats, the paper's value, the "
    "difference. Bold: the best of our column. Settings are chosen from the grid by the best "
    "mean ACC, that is with the help of the labels, as in the paper; rows called “defaults” use "
    "none, and rows called “median” have the setting in the middle of the grid, ordered by ACC. "
    "NMI is taken at the same setting and divides by the larger entropy. A missing value ranks "
    "last."
)
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#1b1f24;background:#fff;max-width:min(1800px,100%);
margin:2rem auto;padding:0 1rem;box-sizing:border-box}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2.2rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px;
font-variant-numeric:tabular-nums}
th,td{padding:.3rem .25rem;border-bottom:1px solid #d8dde3;text-align:right;white-space:nowrap;
vertical-align:top}
th:first-child{text-align:left;position:sticky;left:0;background:#fff}
thead th{border-bottom:2px solid #1b1f24}
small{display:block;color:#57606a;font-size:11px}i{font-style:normal}
.up{color:#1a6b35}.down{color:#a3341b}b{font-weight:700}
figure{margin:1.5rem 0}figure img{max-width:100%;height:auto}figcaption{color:#57606a}
ol{font-size:13px}code{background:#f2f4f6;padding:.1rem .3rem;overflow-wrap:anywhere}
"""


def build_table(name: str, store: Store) -> _tables.Table:
    """One of the paper's tables from the store."""
    title, metric, kind = _TABLE_KINDS[name]
    doubled = [entry.name for entry in methods().values() if entry.median]
    cells = summarise(store.results(), doubled)
    # A data set that was run by name belongs beside the clean ones.
    named = {dataset for dataset, _ in cells if kind == "clean"} - {"toy"}
    columns = {
        p.name: p.title
        for p in problems().values()
        if p.table == kind or (p.table is None and p.name in named)
    }
    known = [row for entry in methods().values() for row in rows_of(entry)]
    names = [*known, *sorted({method for _, method in cells} - set(known))]
    return _tables.build(name, title, metric, columns, names, cells, published()[metric])


def rows_of(entry: Method) -> list[str]:
    """Names of the rows that a method has in the tables."""
    return [entry.name, median_row(entry.name)] if entry.median else [entry.name]


def _write(path: Path, text: str) -> Path:
    with atomic_file(path) as stream:
        stream.write(text.encode("utf-8"))
    return path


def write_all(
    targets: Iterable[str], store: Store, folder: Path, about: Mapping[str, Any]
) -> list[Path]:
    """Write tables and figures of the targets, the export and the page; the paths written."""
    from fnmf.experiments._figures import draw

    folder.mkdir(parents=True, exist_ok=True)
    wanted = set(targets)
    tables = [build_table(name, store) for name in TABLES if name in wanted]
    tables = [table for table in tables if any(e.ours is not None for e in table.entries.values())]
    written = []
    for table in tables:
        for suffix, form in (
            ("md", _tables.to_markdown),
            ("csv", _tables.to_csv),
            ("tex", _tables.to_latex),
        ):
            written.append(_write(folder / f"{table.name}.{suffix}", form(table)))
    drawn = [(name, draw(name, store, folder)) for name in FIGURES if name in wanted]
    pictures = [(name, path) for name, path in drawn if path is not None]
    written += [path for _, png in pictures for path in (png, png.with_suffix(".svg"))]
    about = {**about, **provenance(store)}
    written.append(_write(folder / "runs.csv", export(store)))
    written.append(_write(folder / "about.json", json.dumps(about, indent=1) + "\n"))
    written.append(_write(folder / "index.html", page(tables, pictures, about)))
    return written


_EXPORTED = (
    "dataset", "method", "purpose", "params", "seed", "state", "acc", "nmi", "objective",
    "n_iter", "n_found", "seconds", "cpu_seconds", "notes", "reason", "finished", "versions",
)  # fmt: skip


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else _tables.safe_csv(value)


def export(store: Store) -> str:
    """All runs as CSV; versions are numbers of the list that ``provenance`` gives."""
    rows = store.results()
    numbers = {text: number for number, text in enumerate(_versions(rows))}
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_EXPORTED)
    for row in rows:
        params = json.dumps(row["params"], sort_keys=True)
        row = {**row, "params": params, "versions": numbers.get(row["versions"])}
        writer.writerow([_short(row[name]) for name in _EXPORTED])
    return buffer.getvalue()


def _versions(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted({row["versions"] for row in rows if row["versions"]})


def provenance(store: Store) -> dict[str, Any]:
    """What all runs have in common: versions used, data by their SHA-256, seeds, time spent."""
    rows = store.results()
    return {
        "runs": len(rows),
        "without result": sum(row["state"] == "failed" for row in rows),
        "CPU hours": round(sum(row["cpu_seconds"] or 0 for row in rows) / 3600, 3),
        "seeds": sorted({row["seed"] for row in rows}),
        "versions": [json.loads(text) for text in _versions(rows)],
        "fixed settings": {m.name: dict(m.fixed) for m in methods().values() if m.fixed},
        "data": {row["dataset"]: row["data_sha256"] for row in rows},
    }


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def page(
    tables: list[_tables.Table], pictures: list[tuple[str, Path]], about: Mapping[str, Any]
) -> str:
    """One page that needs no other file and loads nothing from elsewhere."""
    facts = "".join(
        f"<li>{html.escape(name)}: <code>{html.escape(_plain(value))}</code></li>"
        for name, value in about.items()
    )
    figures = "".join(
        f'<figure id="{name}"><img alt="{html.escape(_CAPTIONS[name], quote=True)}" '
        f'src="data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}">'
        f"<figcaption>{html.escape(_CAPTIONS[name])}</figcaption></figure>"
        for name, path in pictures
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<title>FNMF: the paper's experiments</title>"
        f"<style>{_STYLE}</style></head><body><h1>FNMF: the paper's experiments</h1>"
        f"<p>{html.escape(_NOTE)}</p>"
        + "\n".join(_tables.to_html(table) for table in tables)
        + (f"<h2>Figures</h2>{figures}" if figures else "")
        + f"<h2>How these results were made</h2><ul>{facts}</ul></body></html>\n"
    )
