"""Names of the files that commands write."""

RUN_FILES = (
    "labels.csv",
    "features.csv",
    "embedding.csv",
    "model.fnmf",
    "report.html",
    "number.svg",
    "suspicious.csv",
    "label-next.csv",
    "run.json",
)
APPLY_FILES = ("labels.csv", "embedding.csv", "run.json")
