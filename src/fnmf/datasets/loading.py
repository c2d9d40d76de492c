"""Data sets by name: from a folder of the user, the cache, or the public original."""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from fnmf.datasets import _download
from fnmf.datasets._files import (
    DataFileError,
    arrays_sha256,
    file_sha256,
    read_npz,
    read_original,
    write_npz,
)
from fnmf.datasets._parsers import Arrays
from fnmf.datasets._synthetic import make_noisy_gaussians
from fnmf.datasets.registry import SOURCES, Original, Source

ENVIRONMENT = "FNMF_DATA_HOME"
_TOY_SEED = 0


def available() -> list[str]:
    """Names that :func:`load` knows.

    Examples
    --------
    >>> from fnmf.datasets import available
    >>> "toy" in available()
    True
    """
    return [*SOURCES, "toy", "digits"]


def cache_home() -> Path:
    """The user's cache folder for data sets (it need not exist)."""
    variable, usual = {
        "win32": ("LOCALAPPDATA", "AppData/Local"),
        "darwin": ("", "Library/Caches"),
    }.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    if given := os.environ.get(variable):
        return Path(given) / "fnmf" / "data"
    try:
        home = Path.home()
    except RuntimeError:
        # An account without a home, as in many containers.
        return Path(tempfile.gettempdir()) / "fnmf" / "data"
    return home / usual / "fnmf" / "data"


def canonical_name(name: str) -> str:
    """The library's own name of a data set, given that name or the paper's, in any case."""
    wanted = str(name).casefold().replace("_", "-")
    for source in SOURCES.values():
        stored = (source.stem or source.name).replace("_", "-")
        if wanted in (source.name, source.paper_name.casefold(), stored):
            return source.name
    if wanted in ("toy", "digits"):
        return wanted
    raise ValueError(f"name={name!r} is not a known data set; use one of {', '.join(available())}.")


def folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """Where to look, in order."""
    given = data_home if data_home is not None else os.environ.get(ENVIRONMENT)
    return [*([Path(given).expanduser()] if given else []), cache_home()]


def _places(folder: Path, original: Original) -> list[Path]:
    """Where an original may lie in a folder: by its own name, or in the archive it is served in."""
    served = [address.rsplit("/", 1)[-1] for address in original.addresses]
    return [folder / name for name in dict.fromkeys([original.member, *served])]


def _read_checked(path: Path, original: Original) -> bytes:
    content = read_original(path, original.member)
    if original.sha256 is not None:
        found = hashlib.sha256(content).hexdigest()
        if found != original.sha256:
            raise DataFileError(
                f"{path}: {original.member} has SHA-256 {found}, expected {original.sha256}; "
                "delete the file and fetch it again."
            )
    return content


def _parsed(source: Source, contents: dict[str, bytes]) -> Arrays:
    try:
        return source.parse(contents)
    except (IndexError, KeyError) as error:
        raise DataFileError(f"the original of {source.name} has another format: {error}") from error


def _proved(source: Source, arrays: Arrays, where: str) -> Arrays:
    """The arrays, if they are those of the published data set."""
    found = arrays_sha256(arrays["X"], arrays["y"])
    if found == source.arrays_sha256:
        return arrays
    if source.finish is not None and found == source.raw_sha256:
        return source.finish(arrays)
    raise DataFileError(
        f"{where} does not hold {source.name} as published (its values have another checksum); "
        f"delete or replace it. The original is described at {source.page}"
    )


def read_stored(source: Source, path: Path) -> Arrays:
    """Arrays of a stored ``.npz`` file, proved against the registry."""
    arrays = read_npz(path)
    if not {"X", "y"} <= arrays.keys():
        raise DataFileError(f"{path} has no arrays X and y; it is not a data set of this library.")
    return _proved(source, arrays, str(path))


def find(source: Source, data_home: str | os.PathLike[str] | None) -> Path | None:
    """The file a data set would be read from, without downloading."""
    for folder in folders(data_home):
        stored = folder / f"{source.stem}.npz"
        if stored.is_file():
            return stored
        for place in (p for original in source.originals for p in _places(folder, original)):
            if place.is_file() and _originals_in(source, folder) is not None:
                return place
    return None


def _originals_in(source: Source, folder: Path) -> dict[Original, Path] | None:
    found = {}
    for original in source.originals:
        place = next((p for p in _places(folder, original) if p.is_file()), None)
        if place is None:
            return None
        found[original] = place
    return found


def _local(source: Source, data_home: str | os.PathLike[str] | None) -> Arrays | None:
    for folder in folders(data_home):
        stored = folder / f"{source.stem}.npz"
        if stored.is_file():
            return read_stored(source, stored)
        originals = _originals_in(source, folder)
        if originals is not None:
            contents = {o.member: _read_checked(p, o) for o, p in originals.items()}
            return _proved(source, _parsed(source, contents), str(folder))
    return None


def _help_yourself(source: Source, reasons: str) -> str:
    names = " and ".join(original.member for original in source.originals)
    return (
        f"{source.name} is not on this machine and could not be downloaded:\n{reasons}\n"
        f"Get it from {source.page} and put {names} (or {source.stem}.npz) into {cache_home()}, "
        f"or into a folder named by data_home= or the environment variable {ENVIRONMENT}."
    )


def _fetched(original: Original, address: str, downloads: Path) -> bytes:
    # A download keeps the name it is served under, in a folder of its own.
    target = downloads / address.rsplit("/", 1)[-1]
    plain = target.name == original.member
    try:
        _download.fetch(address, target, original.sha256 if plain else None)
        return _read_checked(target, original)
    finally:
        target.unlink(missing_ok=True)


def fetch_original(source: Source) -> Arrays:
    """Download, prove, parse, and keep in the cache; the next address is tried when one fails."""
    cache = cache_home()
    reasons = []
    for attempt in range(max(len(original.addresses) for original in source.originals)):
        try:
            contents = {
                original.member: _fetched(
                    original,
                    original.addresses[min(attempt, len(original.addresses) - 1)],
                    cache / "downloads",
                )
                for original in source.originals
            }
            arrays = _parsed(source, contents)
            proved = _proved(source, arrays, "the download")
        except (_download.DownloadError, DataFileError) as error:
            reasons.append(f"  {error}")
            continue
        write_npz(cache / f"{source.stem}.npz", arrays)
        return proved
    raise _download.DownloadError(_help_yourself(source, "\n".join(reasons)))


def _digits() -> Bunch:
    from sklearn.datasets import load_digits

    digits = load_digits()
    return Bunch(
        name="digits",
        paper_name=None,
        data=digits.data,
        target=digits.target.astype(np.int64),
        feature_names=list(digits.feature_names),
        target_names=[str(label) for label in digits.target_names],
        image_shape=(8, 8),
        DESCR="Handwritten digits that come with scikit-learn, 8 x 8 pixels from 0 to 16.",
        citation=(
            "Alpaydin, Kaynak: Optical Recognition of Handwritten Digits. UCI Machine Learning "
            "Repository, doi 10.24432/C50P49."
        ),
        licence=_DIGITS_LICENCE,
    )


_DIGITS_LICENCE = "CC BY 4.0 (UCI Machine Learning Repository); distributed with scikit-learn."


def _toy() -> Bunch:
    X, y = make_noisy_gaussians(random_state=_TOY_SEED)
    return Bunch(
        name="toy",
        paper_name=None,
        data=X,
        target=y,
        feature_names=["first", "second", *(f"noise {k}" for k in range(X.shape[1] - 2))],
        target_names=["0", "1", "2"],
        image_shape=None,
        DESCR="Three Gaussians in two dimensions and five dimensions of uniform noise.",
        citation="Chen, Gong, Li: Feature Weighted Non-negative Matrix Factorization, section IV.",
        licence="Made by this library.",
    )


def load(
    name: str, *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> Bunch:
    """Load a data set by name.

    Looked for in this order: the folder ``data_home`` or the one named by the environment
    variable ``FNMF_DATA_HOME``; the user's cache; the original public file, downloaded once.
    Every file is proved by SHA-256 before it is used. Values are those of the source,
    except that USPS is mapped from [-1, 1] to [0, 1]; nothing else is scaled
    (see :func:`unit_rows`).

    Parameters
    ----------
    name : str
        ``"yale"``, ``"orl"``, ``"binary-alphadigits"``, ``"usps"``, ``"semeion"``,
        ``"cnae-9"``, ``"glass"``, ``"mfeat"``, ``"toy"`` or ``"digits"``; the names in the
        paper's tables work too. Upper and lower case are the same.
    data_home : path-like, default=None
        A folder that holds the data as ``.npz`` files or as the original public files.
    download : bool, default=True
        Whether a data set that is not on this machine is fetched.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (n_samples, n_features; float64, non-negative), ``target`` (classes from 0),
        ``feature_names``, ``target_names``, ``image_shape`` (or None), ``DESCR``,
        ``citation``, ``licence``, ``name`` and ``paper_name``.

    Examples
    --------
    >>> from fnmf.datasets import load
    >>> digits = load("digits")
    >>> digits.data.shape, digits.image_shape
    ((1797, 64), (8, 8))
    """
    key = canonical_name(name)
    if key == "digits":
        return _digits()
    if key == "toy":
        return _toy()
    source = SOURCES[key]
    arrays = _local(source, data_home)
    if arrays is None:
        if not download:
            raise FileNotFoundError(_help_yourself(source, "  download=False was asked for"))
        arrays = fetch_original(source)
    return _bunch(source, arrays)


def _bunch(source: Source, arrays: Arrays) -> Bunch:
    shift, divisor = source.scale
    X = (arrays["X"].astype(np.float64) + shift) / divisor
    shape = arrays.get("image_shape")
    image_shape = None if shape is None else (int(shape[0]), int(shape[1]))
    if "feature_names" in arrays:
        feature_names = [str(name) for name in arrays["feature_names"]]
    elif image_shape is not None:
        height, width = image_shape
        feature_names = [f"pixel {r},{c}" for r in range(height) for c in range(width)]
    else:
        feature_names = [f"feature {k}" for k in range(X.shape[1])]
    class_names = arrays.get("class_names", arrays.get("original_type", np.unique(arrays["y"])))
    return Bunch(
        name=source.name,
        paper_name=source.paper_name,
        data=X,
        target=arrays["y"].astype(np.int64),
        feature_names=feature_names,
        target_names=[str(label) for label in class_names],
        image_shape=image_shape,
        DESCR=source.description,
        citation=source.citation,
        licence=source.licence,
    )


def checked_file(source: Source, data_home: str | os.PathLike[str] | None) -> tuple[Path, str]:
    """Prove the file a data set is read from; its path and SHA-256.

    Raises
    ------
    FileNotFoundError
        When the data set is not on this machine.
    DataFileError
        When the file is not what it should be.
    """
    path = find(source, data_home)
    if path is None:
        raise FileNotFoundError(f"{source.name} is not on this machine.")
    _local(source, data_home)
    return path, file_sha256(path)
