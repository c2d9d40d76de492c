"""Shared by all tests."""

import os

import pytest


@pytest.fixture(scope="session")
def data_home() -> str:
    """Folder of the benchmark data sets; tests that need it skip where there is none."""
    folder = os.environ.get("FNMF_DATA_HOME")
    if not folder or not os.path.isdir(folder):
        pytest.skip("FNMF_DATA_HOME does not name a folder with the benchmark data sets")
    return folder
