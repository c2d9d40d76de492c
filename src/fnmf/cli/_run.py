"""One run of ``fnmf cluster``: fit, write everything, show the essentials."""

import datetime
import platform
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fnmf import __version__
from fnmf.choosing import restart_agreement
from fnmf.cli._data import joined_columns
from fnmf.cli._errors import UsageError
from fnmf.cli._folder import RUN_FILES, check_folder, content_hash, results_folder
from fnmf.cli._hints import decisions, findings_in_options, in_options, note_text
from fnmf.cli._models import fit_model
from fnmf.cli._naming import NAMES, ROWS_ARE, cluster_names, rows_are
from fnmf.cli._options import RunOutput
from fnmf.cli._outputs import (
    Labels,
    number_record,
    row_names,
    to_json,
    write_advice,
    write_embedding,
    write_features,
    write_json,
    write_labels,
)
from fnmf.cli._progress import working
from fnmf.cli._show import console, show_summary
from fnmf.io import ReadOptions, Recipe, Table
from fnmf.kmeans import count_distinct
from fnmf.persistence import save
from fnmf.reporting.page import write_page
from fnmf.reporting.summary import About, summarise
from fnmf.statistics import cluster_statistics


def parse_shape(text: str | None, n_features: int) -> tuple[int, int] | None:
    """``HEIGHTxWIDTH`` as two numbers, whose product must be the number of features."""
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UsageError(f"--image-shape {text!r} is not of the form HEIGHTxWIDTH, like 32x32.")
    height, width = int(parts[0]), int(parts[1])
    if height * width != n_features:
        raise UsageError(
            f"--image-shape {text} has {height * width} pixels, and there are {n_features} columns."
        )
    return height, width


def few_different_rows(X: Any, n_clusters: Any) -> list[str]:
    """A remark if there are fewer different rows than clusters."""
    if not isinstance(n_clusters, int):
        return []
    count = count_distinct(X, n_clusters)
    if count >= n_clusters:
        return []
    shown = "all rows are equal" if count == 1 else f"there are only {count} different rows"
    return [f"{shown}; {n_clusters} clusters of them mean nothing"]


def _answered(note: str, model: Any) -> bool:
    """Whether a remark made while reading no longer holds: the fit found units of its own."""
    chosen = getattr(model, "chosen_", None) or [{}]
    common = chosen[0].get("columns") in ("typical", "spread", "range")
    return common and getattr(note, "remedy", "") == "scale"


def page_about(file: Path, table: Table, recipe: Recipe, record: dict[str, Any]) -> About:
    """What the page says of the table and of the record of a run."""
    return About(
        title=f"Clusters in {file.name}",
        feature_names=table.names,
        sample_names=row_names(table.ids, table.lines, table.X.shape[0]),
        labels_true=None if record.get("known") else table.labels,
        sources=recipe.sources,
        source={
            "file": file.name,
            "SHA-256": record["input"]["sha256"],
            "seed": record.get("seed"),
            "made on": record.get("started"),
        },
        notes=[str(note) for note in record.get("notes", [])],
        decisions=[dict(one) for one in record.get("decisions", [])],
    )


@dataclass
class Run:
    """Everything a run knows."""

    file: Path
    table: Table
    recipe: Recipe
    model: Any
    reading: ReadOptions
    seed: int
    image_shape: tuple[int, int] | None
    restarts: int
    output: RunOutput = field(default_factory=RunOutput)
    checkpoint: Path | None = None
    choice: Any = None
    # Class of each row, "" where it is not known; None if no column was said to hold classes.
    known: Any = None
    # Batch of each row, if a column says so.
    batch: Any = None
    # All tables, if there are several.
    files: tuple[Path, ...] = ()
    names: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    decisions: list[dict[str, str]] = field(default_factory=list)

    def fit(self) -> None:
        """Fit the model and collect what there is to tell."""
        X = self.recipe.prepare(self.table.X)
        alike = few_different_rows(X, self.model.get_params(deep=False).get("n_clusters"))
        started = time.perf_counter()
        options: dict[str, Any] = {}
        if self.checkpoint is not None:
            options["checkpoint"] = self.checkpoint
        if self.batch is not None:
            options["batch"] = self.batch
        known = () if self.known is None else (self.known,)
        shown = fit_model(self.model, X, *known, **options)
        read = [note for note in self.table.notes if not _answered(note, self.model)]
        self.decisions = decisions(read)
        plain = (note for note in read if not getattr(note, "why", ""))
        notes = [*map(note_text, plain), *alike, *map(in_options, shown)]
        if self.choice is not None:
            for name, value in self.choice.kept().items():
                setattr(self.model, f"{name}_", value)
        self._describe(X, notes, time.perf_counter() - started, *known)

    def _describe(self, X: Any, notes: list[str], seconds: float, *known: Any) -> None:
        """Gather what there is to tell of the fit of X."""
        self.record = self._record(notes, seconds)
        agreement = None
        if self.restarts:
            with working("Fitting again from other starts") as step:
                agreement = restart_agreement(self.model, X, self.restarts, *known, progress=step)
        with working("Describing the clusters"):
            about = page_about(self.file, self.table, self.recipe, self.record)
            about = replace(
                about,
                title=self.output.title or about.title,
                unit=rows_are(self.table, self.output.rows_are),
                image_shape=self.image_shape,
                choice=self.choice,
            )
            own = self.recipe.in_own_units(self.table.X)
            described = summarise(self.model, own, about, agreement, fitted=X)
            self.names = cluster_names(
                self.output.names, [cluster["title"] for cluster in described["clusters"]]
            )
            for cluster, name in zip(described["clusters"], self.names, strict=True):
                cluster["title"] = name
            if described["labels"] is not None:
                # A class may be empty, and has its name all the same.
                self.names = [one["name"] for one in described["labels"]["classes"]]
            self.summary = described
        findings_in_options(self.summary)
        if (labels := self.summary["labels"]) is not None:
            self.record["labels"] = {k: v for k, v in labels.items() if k != "most"}
        self.record["quality"] = {q["name"]: q["value"] for q in self.summary["quality"]}
        self.record["feature_groups"] = self.summary["feature_groups"]
        self.record["missing_cells"] = self.summary["missing"]
        self.record["clusters"] = [
            {
                "cluster": int(c["name"]),
                "name": c["title"],
                "size": c["size"],
                "sentence": c["sentence"],
                "top_features": [f["name"] for f in c["features"]],
            }
            for c in self.summary["clusters"]
        ]

    def _metadata(self) -> dict[str, Any]:
        """What the model file keeps beside the model."""
        return self.recipe.to_metadata() | {
            NAMES: np.array(self.names, dtype=object),
            ROWS_ARE: self.summary["unit"],
        }

    def _record(self, notes: list[str], seconds: float) -> dict[str, Any]:
        import numpy
        import scipy
        import sklearn

        now = datetime.datetime.now(datetime.UTC)
        return {
            "fnmf": __version__,
            "command": "cluster",
            "method": type(self.model).__name__,
            "parameters": {
                name: value if isinstance(value, int | float | str | bool | None) else str(value)
                for name, value in self.model.get_params(deep=False).items()
            },
            "seed": self.seed,
            "known": None if self.known is None else self.reading.label_column,
            "input": self._input()
            | {
                "features": self.table.X.shape[1],
                "reading": self.reading.record(),
                "normalize": self.recipe.normalize,
                "scale": "none" if self.recipe.scale is None else "max",
                "missing": self.recipe.cleaning.missing,
                "negative": self.recipe.cleaning.negative,
            },
            "image_shape": self.image_shape,
            "started": now.isoformat(timespec="seconds"),
            "fit_seconds": round(seconds, 3),
            "number": None if self.choice is None else number_record(self.choice),
            "decisions": self.decisions,
            "notes": notes,
            "versions": {
                "python": platform.python_version(),
                "numpy": numpy.__version__,
                "scipy": scipy.__version__,
                "scikit-learn": sklearn.__version__,
            },
        }

    def _input(self) -> dict[str, Any]:
        """What was read."""
        return {
            "file": str(self.file.resolve()),
            "sha256": content_hash(self.file),
            "bytes": self.file.stat().st_size,
            "samples": self.table.X.shape[0],
            "joined": [
                {"file": str(one.resolve()), "sha256": content_hash(one)} for one in self.files[1:]
            ],
        }

    def write(self, folder: Path) -> None:
        """Every file of the run; the folder appears whole or not at all."""
        ids = row_names(self.table.ids, self.table.lines, self.table.X.shape[0])
        own = self.recipe.in_own_units(self.table.X)
        stats = cluster_statistics(own, self.model.labels_)
        sure = getattr(self.model, "sample_confidence_", None)
        second = getattr(self.model, "second_labels_", None)
        labels = Labels(ids, self.model.labels_, self.names, self.table.labels, sure, second)
        joined = joined_columns(self.table, self.reading) if self.output.with_columns else None

        def check() -> None:
            check_folder(folder, RUN_FILES, self.output.force, [self.file, *self.files[1:]])

        with working("Writing"), results_folder(folder, check) as partial:
            write_labels(partial / "labels.csv", labels, joined)
            write_features(partial / "features.csv", self.table.names, self.model, stats)
            if getattr(self.model, "embedding_", None) is not None:
                write_embedding(partial / "embedding.csv", ids, self.model.embedding_)
            save(self.model, partial / "model.fnmf", metadata=self._metadata())
            write_page(self.summary, partial / "report.html")
            if self.summary["labels"] is not None:
                write_advice(partial, self.summary["labels"])
            if self.choice is not None:
                (partial / "number.svg").write_text(self.choice.to_svg(), encoding="utf-8")
            write_json(partial / "run.json", self.record)

    def show(self, folder: Path) -> None:
        """The essentials on standard output."""
        if self.output.as_json:
            print(to_json({**self.record, "folder": str(folder)}))
            return
        show_summary(self.summary, self.record["notes"])
        console().print(f"Results are in {folder}; open {folder / 'report.html'} in a browser.")
