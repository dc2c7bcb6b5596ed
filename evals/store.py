"""A fresh memory for an eval, opened as users open theirs."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from whence.bootstrap import open_memory
from whence.config import load_settings
from whence.core.ids import link_id, workspace_id
from whence.core.links import Link
from whence.core.memories import CONTENT_LIMIT, Workspace
from whence.core.ports import Scope
from whence.core.recall import Query
from whence.models import LocalModels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.core.life import Whence
    from whence.core.memories import Draft

IN_MEMORY = "sqlite:///:memory:"


@cache
def models() -> LocalModels:
    """Return the models of this machine, loaded once."""
    return LocalModels(load_settings(os.environ).home, fetch=False)


@dataclass(frozen=True, slots=True)
class Room:
    """One memory with one workspace in it, and room for more."""

    whence: Whence
    workspace: str

    def save(self, draft: Draft, *, workspace: str | None = None) -> str:
        """Remember a draft and return the id it got."""
        return self.whence.remember(draft, workspace=workspace or self.workspace).memory.id

    def ask(self, text: str, limit: int, scope: Scope | None = None) -> list[str]:
        """Return the ids that answer, best first."""
        scope = scope or Scope(workspaces=(self.workspace,))
        return [hit.memory.id for hit in self.whence.recall(Query(text=text, scope=scope, limit=limit)).hits]

    def join(self, from_id: str, relationship: str, to_id: str) -> None:
        """Link two memories by an evolution word that supersedes nothing."""
        now = self.whence.clock.now()
        with self.whence.store.writing() as writing:
            writing.link(
                Link(
                    id=link_id(now),
                    from_id=from_id,
                    to_id=to_id,
                    link_type="evolution",
                    relationship=relationship,
                    confidence=1.0,
                    created_by="user",
                    created_at=now,
                )
            )

    def found_workspace(self, name: str) -> str:
        """Make a further workspace and return its id."""
        return _found(self.whence, name)


def _found(whence: Whence, name: str) -> str:
    workspace = Workspace(id=workspace_id(), name=name, identity=None, created_at=whence.clock.now())
    with whence.store.writing() as writing:
        writing.found_workspace(workspace)
    return workspace.id


@contextmanager
def fresh_room() -> Iterator[Room]:
    """Lend a memory that holds nothing yet."""
    whence = open_memory(load_settings(os.environ, store=IN_MEMORY), models=models())
    try:
        yield Room(whence, _found(whence, "eval"))
    finally:
        whence.close()


def fitting(text: str) -> str:
    """Return the part of a text that a memory takes."""
    return text.replace("\0", " ")[:CONTENT_LIMIT]
