"""Naming: which memory a text means that names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.core.errors import MemoryNotFound
from whence.core.ports import Scope, Wanted

if TYPE_CHECKING:
    from whence.core.life import Whence

_DIGITS = 15  # of the longest number that a column holds for sure


def id_of(whence: Whence, told: str, workspaces: tuple[str, ...] | None) -> str:
    """Return the id of a memory that is called by its id or, being a decision, by its number.

    A number is short and easily mistaken: it never reaches into another workspace.
    """
    told = told.strip()
    if not (told.isascii() and told.isdigit()) or len(told) > _DIGITS:
        return told
    found = whence.store.listed(Wanted(numbers=(int(told),)), Scope(workspaces=workspaces), 1)
    if not found:
        raise MemoryNotFound(told)
    return found[0].id
