"""Save, load and look into model files."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fnmf import __version__
from fnmf.persistence._container import ModelFileError, read_container, write_container
from fnmf.persistence._estimators import KMEANS, estimator_from_json, estimator_to_json
from fnmf.persistence._values import Decoder, Encoder

if TYPE_CHECKING:
    from fnmf.io import Recipe


@dataclass(frozen=True)
class ModelInfo:
    """What a model file holds: the model, what was stored with it, and who wrote it.

    ``recipe`` is the way of a table to the model, if that is among the metadata.
    """

    model: Any
    metadata: dict[str, Any]
    written_by: str
    recipe: "Recipe | None" = None


def save(
    model: Any, path: str | os.PathLike[str], *, metadata: dict[str, Any] | None = None
) -> None:
    """Write a model to one file that holds arrays and JSON, and no code.

    The file appears whole or not at all; an older file of that name is replaced. It holds the
    training data too, if the model looks up neighbours of new rows among them.

    Parameters
    ----------
    model : estimator
        :class:`fnmf.FNMF`, :class:`fnmf.MiniBatchFNMF` or one of :mod:`fnmf.baselines`, fitted
        or not, or :class:`fnmf.io.Prepared`, which is stored with its recipe. A stream goes on
        with ``partial_fit`` after loading as if it had never been stored.
    path : str or path-like
        Where to write, by custom with the ending ``.fnmf``.
    metadata : dict, default=None
        Anything else to keep with the model, of the types a model file can hold.

    Raises
    ------
    ModelFileError
        If the model holds something a model file cannot, for example a function.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import fnmf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.fnmf"
    ...     fnmf.save(fnmf.FNMF(3, smoothness=2.5), path)
    ...     fnmf.load(path).smoothness
    2.5
    """
    from fnmf.io import Prepared

    if isinstance(model, Prepared):
        model, metadata = model.model, model.recipe.to_metadata() | (metadata or {})
    encode = Encoder(estimator_to_json)
    described = estimator_to_json(model, encode)
    if described is None or described["class"] == KMEANS:
        raise ModelFileError(
            f"{type(model).__name__} is not an estimator of fnmf; "
            "save stores fnmf.FNMF, fnmf.MiniBatchFNMF and the estimators of fnmf.baselines."
        )
    header = {
        "written_by": f"fnmf {__version__}",
        "model": described,
        "metadata": encode(metadata or {}, "metadata"),
    }
    write_container(Path(path), header, encode.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote.

    The file is not trusted: its checksum, sizes, types and shapes are checked, only
    estimators of this package are built, and nothing in it is executed.

    Parameters
    ----------
    path : str or path-like
        The model file.

    Returns
    -------
    estimator
        The same model, bit for bit. If it was stored with the recipe of its table, as the
        command does, it comes as :class:`fnmf.io.Prepared` and takes raw rows: columns are
        matched by name and treated as in training.

    Raises
    ------
    ModelFileError
        If the file is no model file, is damaged, or comes from a newer version.

    Examples
    --------
    >>> import fnmf, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.fnmf"
    ...     path.write_bytes(b"something else") and None
    ...     fnmf.load(path)
    Traceback (most recent call last):
    ...
    fnmf.persistence._container.ModelFileError: ...model.fnmf is not a model file of fnmf.
    """
    info = inspect(path)
    if info.recipe is None:
        return info.model
    from fnmf.io import Prepared

    return Prepared(info.model, info.recipe)


def inspect(path: str | os.PathLike[str]) -> ModelInfo:
    """The model with the metadata stored beside it, after the same checks as :func:`load`."""
    from fnmf.io import Recipe

    path = Path(path)
    header, arrays = read_container(path)
    decode = Decoder(arrays, estimator_from_json)
    description = header.get("model")
    try:
        if not isinstance(description, dict) or description.get("class") == KMEANS:
            raise ModelFileError("it describes no model")
        model = estimator_from_json(description, decode)
        metadata = decode(header.get("metadata", {"$": "dict", "items": []}))
        if not isinstance(metadata, dict):
            raise ModelFileError("its metadata is not a dictionary")
        recipe = Recipe.from_metadata(metadata)
        n_features = getattr(model, "n_features_in_", None)
        if recipe is not None and n_features not in (None, len(recipe.columns)):
            raise ModelFileError("the columns of its table do not fit the model")
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{path} cannot be loaded: {error}.") from error
    return ModelInfo(model, metadata, str(header.get("written_by", "unknown")), recipe)
