"""Memories, vectors and files made by hand, below the verbs of a life."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from tests.conftest import StillClock

from whence.core.ids import link_id, memory_id, workspace_id
from whence.core.links import Link
from whence.core.memories import Author, Event, Memory, Workspace
from whence.core.ports import Embedding, Passage, Store
from whence.storage import open_store

if TYPE_CHECKING:
    from whence.core.ports import Vector

MODEL = "model-a"
OTHER_MODEL = "model-b"
DIMENSIONS = 16


@dataclass(frozen=True)
class Maker:
    """Makes what a store keeps, each with an id of its own."""

    clock: StillClock
    counter: Iterator[int]

    def workspace(self, name: str = "room", **fields: object) -> Workspace:
        made = {"id": workspace_id(), "name": name, "identity": None, "created_at": self.clock.now()}
        return Workspace(**{**made, **fields})

    def memory(self, workspace: str, content: str = "a plain fact", **fields: object) -> Memory:
        now = self.clock.now()
        made = {
            "id": memory_id(str(fields.get("type", "fact")), now),
            "type": "fact",
            "content": content,
            "workspace": workspace,
            "created_at": now,
            "updated_at": now,
            "accessed_at": now,
            "valid_from": now,
        }
        return Memory(**{**made, **fields})

    def link(self, newer: Memory, older: Memory, relationship: str = "supersedes", **fields: object) -> Link:
        now = self.clock.now()
        made = {
            "id": link_id(now),
            "from_id": newer.id,
            "to_id": older.id,
            "link_type": "evolution",
            "relationship": relationship,
            "confidence": 1.0,
            "created_by": "llm",
            "created_at": now,
        }
        return Link(**{**made, **fields})

    def event(self, memory: Memory, number: int = 1, **fields: object) -> Event:
        made = {
            "memory_id": memory.id,
            "number": number,
            "at": self.clock.now(),
            "action": "created",
            "author": Author(),
            "replaced": {},
        }
        return Event(**{**made, **fields})

    @staticmethod
    def direction(*weights: float) -> Vector:
        """Return a unit vector: these weights first, zeros after."""
        vector = np.zeros(DIMENSIONS, np.float32)
        vector[: len(weights)] = weights
        return vector / np.linalg.norm(vector)

    def read(self, *weights: float, model: str = MODEL) -> list[Embedding]:
        return [Embedding(model, (Passage(self.direction(*weights)),))]


@pytest.fixture
def make(clock: StillClock) -> Maker:
    return Maker(clock, count())


@pytest.fixture
def room(store: Store, make: Maker) -> str:
    """The id of a workspace on every store."""
    workspace = make.workspace()
    with store.writing() as writing:
        writing.found_workspace(workspace)
    return workspace.id


@pytest.fixture
def save(store: Store, make: Maker) -> Callable[..., Memory]:
    """Insert a memory with its event, in one transaction."""

    def insert(
        workspace: str,
        content: str = "a plain fact",
        vectors: list[Embedding] | None = None,
        **fields: object,
    ) -> Memory:
        memory = make.memory(workspace, content, **fields)
        with store.writing() as writing:
            writing.insert(memory, vectors or [])
            writing.append(make.event(memory))
        return memory

    return insert


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "whence.db"


@pytest.fixture
def open_file(path: Path, clock: StillClock) -> Iterator[Callable[..., Store]]:
    """Open the same file again and again; all are closed at the end."""
    opened: list[Store] = []

    def opener(tenant: str = "local", where: Path | None = None) -> Store:
        store = open_store(f"sqlite:///{where or path}", tenant=tenant, clock=clock)
        opened.append(store)
        return store

    yield opener
    for store in opened:
        store.close()


@pytest.fixture
def raw(path: Path, open_file: Callable[..., Store]) -> Iterator[apsw.Connection]:
    """The file of a fresh store, opened past all of our code."""
    open_file()
    connection = apsw.Connection(str(path))
    list(connection.execute("PRAGMA foreign_keys = ON"))
    yield connection
    connection.close()
