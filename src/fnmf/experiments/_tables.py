"""Tables as data, and as Markdown, CSV, LaTeX and HTML; every text is escaped for where it goes."""

import csv
import html
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fnmf.experiments._summary import Cell, Pair, mean_ranks

_MISSING = "–"


@dataclass(frozen=True)
class Entry:
    """One cell: the paper's value, ours, the spread, the difference."""

    paper: float | None
    ours: float | None
    std: float | None
    best: bool
    cell: Cell | None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper


@dataclass(frozen=True)
class Table:
    """One table of the paper with our numbers beside."""

    name: str
    title: str
    metric: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    entries: Mapping[Pair, Entry]  # by column and row, that is data set and method
    titles: Mapping[str, str]
    ranks: Mapping[str, float]
    paper_ranks: Mapping[str, float]


def build(
    name: str,
    title: str,
    metric: str,
    columns: Mapping[str, str],
    methods: Sequence[str],
    cells: Mapping[Pair, Cell],
    published: Mapping[str, Mapping[str, float]],
) -> Table:
    """Put the summary beside the published numbers; columns are data sets with their titles."""
    # What was not run is not shown, whatever the paper has.
    columns = {c: told for c, told in columns.items() if any(c == done for done, _ in cells)}
    shown = tuple(method for method in methods if any((c, method) in cells for c in columns))
    ours = np.full((len(shown), len(columns)), np.nan)
    paper = np.full((len(shown), len(columns)), np.nan)
    for i, method in enumerate(shown):
        for j, column in enumerate(columns):
            ours[i, j] = cells.get((column, method), Cell()).value(metric)[0]
            paper[i, j] = published.get(column, {}).get(method, np.nan)
    entries = {}
    for j, column in enumerate(columns):
        top = np.nan if np.isnan(ours[:, j]).all() else np.nanmax(ours[:, j])
        for i, method in enumerate(shown):
            cell = cells.get((column, method))
            std = None if cell is None or cell.reason else cell.value(metric)[1]
            # Equal to four digits is equal in print.
            best = (
                bool(round(ours[i, j], 4) == round(top, 4)) if ours[i, j] == ours[i, j] else False
            )
            entries[column, method] = Entry(
                _number(paper[i, j]), _number(ours[i, j]), std, best, cell
            )
    return Table(
        name=name,
        title=title,
        metric=metric,
        columns=tuple(columns),
        rows=shown,
        entries=entries,
        titles=dict(columns),
        ranks=dict(zip(shown, mean_ranks(ours), strict=True)),
        paper_ranks=dict(zip(shown, mean_ranks(paper), strict=True)),
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _fixed(value: float | None, digits: int = 3, sign: bool = False) -> str:
    if value is None or math.isnan(value):
        return _MISSING
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return text.replace("-", "−")


def _nan_last(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _paper_and_gap(entry: Entry) -> str:
    if entry.paper is None:
        return ""
    gap = "" if entry.difference is None else f" ({_fixed(entry.difference, sign=True)})"
    return _fixed(entry.paper) + gap


def setting_text(params: Mapping[str, Any]) -> str:
    """A setting in words: ``smoothness=10, diversity=0.1``."""
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, (int, float)) else f"{name}={value}"
        for name, value in params.items()
    )


def reasons(table: Table) -> list[str]:
    """Why cells have no number, one line a reason, in the order of the table."""
    lines: dict[str, list[str]] = {}
    for method in table.rows:
        for column in table.columns:
            cell = table.entries[column, method].cell
            if cell is not None and cell.reason:
                lines.setdefault(f"{method}: {cell.reason}", []).append(table.titles[column])
    return [f"{text} ({', '.join(where)})" for text, where in lines.items()]


def _footnotes(table: Table) -> dict[Pair, int]:
    numbers: dict[str, int] = {}
    marks = {}
    for method in table.rows:
        for column in table.columns:
            cell = table.entries[column, method].cell
            if cell is not None and cell.reason:
                text = f"{method}: {cell.reason}"
                marks[column, method] = numbers.setdefault(text, len(numbers) + 1)
    return marks


def _escape_markdown(text: str) -> str:
    for sign in "\\`*_{}[]<>|#":
        text = text.replace(sign, "\\" + sign)
    return text


def to_markdown(table: Table) -> str:
    """A table in GitHub's Markdown; each cell has ours ± spread, then paper and difference."""
    marks = _footnotes(table)
    head = ["Method", *(table.titles[c] for c in table.columns), "mean rank (paper)"]
    lines = [
        "| " + " | ".join(_escape_markdown(h) for h in head) + " |",
        "|---" * len(head) + "|",
    ]
    for method in table.rows:
        parts = [_escape_markdown(method)]
        for column in table.columns:
            entry = table.entries[column, method]
            if entry.ours is None:
                mark = marks.get((column, method))
                text = _MISSING if mark is None else f"{_MISSING} \\[{mark}\\]"
            else:
                text = f"**{_fixed(entry.ours)}**" if entry.best else _fixed(entry.ours)
                text += f" ± {_fixed(entry.std)}"
            if entry.paper is not None:
                text += f"<br>{_paper_and_gap(entry)}"
            parts.append(text)
        parts.append(f"{_fixed(table.ranks[method], 1)} ({_fixed(table.paper_ranks[method], 1)})")
        lines.append("| " + " | ".join(parts) + " |")
    notes = [f"{n}. {_escape_markdown(line)}" for n, line in enumerate(reasons(table), 1)]
    return "\n".join([f"### {_escape_markdown(table.title)}", "", *lines, "", *notes, ""])


def safe_csv(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value


def to_csv(table: Table) -> str:
    """One line a cell, with the setting chosen and why a number is missing."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        ["table", "data set", "method", "metric", "paper", "ours", "std", "difference", "best",
         "mean rank", "mean rank in paper", "setting", "repeats", "seconds", "reason"]
    )  # fmt: skip
    for method in table.rows:
        for column in table.columns:
            entry = table.entries[column, method]
            cell = entry.cell or Cell()
            setting = setting_text(cell.params)
            numbers = [entry.paper, entry.ours, entry.std, entry.difference]
            ranks = [table.ranks[method], table.paper_ranks[method]]
            texts = [table.name, column, method, table.metric]
            writer.writerow(
                [safe_csv(text) for text in texts]
                + ["" if v is None else f"{v:.6f}" for v in numbers]
                + [int(entry.best)]
                + ["" if math.isnan(rank) else f"{rank:.3f}" for rank in ranks]
                + [safe_csv(setting), cell.repeats]
                + ["" if math.isnan(cell.seconds) else f"{cell.seconds:.4f}"]
                + [safe_csv(cell.reason or "")]
            )
    return buffer.getvalue()


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "×": r"$\times$", "−": "$-$", "–": "--",
    "λ": r"$\lambda$", "β": r"$\beta$", "…": r"\dots{}", "±": r"$\pm$",
}  # fmt: skip


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def to_latex(table: Table) -> str:
    """A ``tabular`` for a ``table*``; two lines a method, ours and the paper's."""
    head = ["Method", *(table.titles[c] for c in table.columns), "Rank"]
    lines = [
        r"\begin{table*}",
        rf"\caption{{{_escape_latex(table.title)}}}",
        r"\centering\small",
        rf"\begin{{tabular}}{{l{'c' * (len(head) - 1)}}}",
        r"\hline",
        " & ".join(_escape_latex(h) for h in head) + r" \\ \hline",
    ]
    for method in table.rows:
        first, second = [_escape_latex(method)], [r"\quad\footnotesize paper"]
        for column in table.columns:
            entry = table.entries[column, method]
            value = _escape_latex(_fixed(entry.ours))
            value = rf"\textbf{{{value}}}" if entry.best else value
            spread = "" if entry.std is None else rf"{{\scriptsize $\pm${_fixed(entry.std)}}}"
            first.append(value + spread)
            paper = _escape_latex(_paper_and_gap(entry))
            second.append(rf"{{\footnotesize {paper}}}" if paper else "")
        first.append(_escape_latex(_fixed(table.ranks[method], 1)))
        in_paper = not math.isnan(table.paper_ranks[method])
        second.append(_fixed(table.paper_ranks[method], 1) if in_paper else "")
        lines.append(" & ".join(first) + r" \\")
        if in_paper:
            lines.append(" & ".join(second) + r" \\")
    lines += [r"\hline", r"\end{tabular}"]
    lines += [rf"\par\footnotesize {_escape_latex(line)}" for line in reasons(table)]
    return "\n".join([*lines, r"\end{table*}", ""])


def to_html(table: Table) -> str:
    """A ``<table>`` for the page; escaped, the reason of a missing number beside it."""
    # The rank stands first: on a narrow screen what comes last is out of sight.
    head = ["Method", "Mean rank", *(table.titles[c] for c in table.columns)]
    out = [
        f'<section id="{html.escape(table.name, quote=True)}">',
        f"<h2>{html.escape(table.title)}</h2>",
        '<div class="wide"><table><thead><tr>',
        *(f'<th scope="col">{html.escape(h)}</th>' for h in head),
        "</tr></thead><tbody>",
    ]
    marks = _footnotes(table)
    for method in table.rows:
        out.append(f'<tr><th scope="row">{html.escape(method)}</th>')
        rank = _fixed(table.ranks[method], 1)
        if table.ranks[method] == min(table.ranks.values(), key=_nan_last):
            rank = f"<b>{rank}</b>"
        if not math.isnan(table.paper_ranks[method]):
            rank += f"<small>paper {_fixed(table.paper_ranks[method], 1)}</small>"
        out.append(f"<td>{rank}</td>")
        out += [_html_cell(table.entries[c, method], marks.get((c, method))) for c in table.columns]
        out.append("</tr>")
    out.append("</tbody></table></div>")
    notes = reasons(table)
    if notes:
        out.append("<ol>" + "".join(f"<li>{html.escape(note)}</li>" for note in notes) + "</ol>")
    return "\n".join([*out, "</section>"])


def _html_cell(entry: Entry, mark: int | None) -> str:
    if entry.ours is None:
        text = f"{_MISSING}<sup>{mark}</sup>" if mark else _MISSING
        label = ""
    else:
        value = _fixed(entry.ours)
        text = f"<b>{value}</b>" if entry.best else value
        text += f"<small>± {_fixed(entry.std)}</small>"
        setting = setting_text(entry.cell.params) if entry.cell else ""
        label = f' title="{html.escape(setting, quote=True)}"' if setting else ""
    if entry.paper is not None:
        gap = ""
        if entry.difference is not None:
            tone = "up" if entry.difference >= 0 else "down"
            gap = f' <i class="{tone}">{_fixed(entry.difference, sign=True)}</i>'
        text += f"<small>paper {_fixed(entry.paper)}{gap}</small>"
    return f"<td{label}>{text}</td>"
