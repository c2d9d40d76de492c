"""Fitted models in one file: arrays and JSON, never pickle.

The file holds no code. Loading checks sizes, checksum, types and shapes before anything is
built, and builds only the estimators of this package.
"""

from fnmf.persistence._container import FORMAT_VERSION, ModelFileError
from fnmf.persistence._files import ModelInfo, inspect, load, save

__all__ = ["FORMAT_VERSION", "ModelFileError", "ModelInfo", "inspect", "load", "save"]
