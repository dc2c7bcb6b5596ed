"""Workspaces: which room of the memory a call means."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from whence.core.errors import InvalidParameter, WorkspaceNotFound
from whence.core.ids import workspace_id
from whence.core.memories import DEFAULT, FIELD_LIMIT, GLOBAL, Workspace, check_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.life import Whence

EVERYWHERE = "*"
_BUILT_IN = (GLOBAL, DEFAULT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a connection stands when a call names no workspace: a chosen name, or a project."""

    name: str
    identity: str | None = None  # what makes a folder this project, such as its git remote
    second_name: str | None = None  # taken when another project holds the first


NOWHERE = Place(name=DEFAULT)


def _named(known: Sequence[Workspace], name: str) -> Workspace | None:
    """Return the workspace with this id, else with this name in any letter case."""
    by_id = next((each for each in known if each.id == name), None)
    return by_id or next((each for each in known if each.name.casefold() == name.casefold()), None)


def _standing(known: Sequence[Workspace], place: Place) -> Workspace | None:
    if place.identity is None:
        return _named(known, place.name)
    return next((each for each in known if each.identity == place.identity), None)


def _unknown(known: Sequence[Workspace], name: str) -> WorkspaceNotFound:
    names = {each.casefold(): each for each in (*_BUILT_IN, *(workspace.name for workspace in known))}
    near = get_close_matches(name.casefold(), list(names), n=3, cutoff=0.5)
    return WorkspaceNotFound(name, [names[each] for each in near])


def to_write(whence: Whence, named: str | None, place: Place) -> Workspace:
    """Return the workspace that a save goes to, founded now if it is the place where the caller stands."""
    known = whence.store.workspaces()
    if named == EVERYWHERE or (named is None and place == Place(name=EVERYWHERE)):
        raise InvalidParameter("A memory is stored in one workspace", hint='Use "*" only in searches.')
    if named is not None:
        found = _named(known, named)
        if found is None and named.casefold() not in _BUILT_IN:
            raise _unknown(known, named)
        found = found or found_workspace(whence, Place(name=named.casefold()))
    else:
        found = _standing(known, place) or found_workspace(whence, place)
    if found.archived_at is not None:
        raise InvalidParameter(
            f'Workspace "{found.name}" is archived', hint="Restore it before you store something in it."
        )
    return found


def to_search(whence: Whence, named: str | None, place: Place) -> tuple[str, ...] | None:
    """Return the ids of the workspaces that a search covers, `global` included; None is all of them."""
    if named == EVERYWHERE or (named is None and place == Place(name=EVERYWHERE)):
        return None
    known = whence.store.workspaces()
    here, everywhere = _here(known, named, place), _named(known, GLOBAL)
    return tuple(dict.fromkeys(each.id for each in (here, everywhere) if each is not None))


def one_to_search(whence: Whence, named: str | None, place: Place) -> tuple[str, ...]:
    """Return the id of the one workspace that is meant; none if it was not founded yet."""
    known = whence.store.workspaces()
    if EVERYWHERE in (named, place.name):
        raise InvalidParameter("Work stands in one workspace", hint='Use "*" only in searches.')
    here = _here(known, named, place)
    return () if here is None else (here.id,)


def _here(known: Sequence[Workspace], named: str | None, place: Place) -> Workspace | None:
    if named is None:
        return _standing(known, place)
    here = _named(known, named)
    if here is None and named.casefold() not in _BUILT_IN:
        raise _unknown(known, named)
    return here


def found_workspace(whence: Whence, place: Place) -> Workspace:
    """Found the workspace of a place, or return the one that another process founded meanwhile."""
    check_text(place.name, "workspace", FIELD_LIMIT)
    with whence.store.writing() as writing:
        known = whence.store.workspaces()
        existing = _standing(known, place)
        if existing is not None:
            return existing
        taken = {each.name.casefold() for each in known} | ({*_BUILT_IN} if place.identity else set())
        founded = Workspace(
            id=workspace_id(),
            name=_free_name(place, taken),
            identity=place.identity,
            created_at=whence.clock.now(),
        )
        writing.found_workspace(founded)
        return founded


def _free_name(place: Place, taken: set[str]) -> str:
    for name in (place.name, place.second_name):
        if name and name.casefold() not in taken:
            return name
    base = place.second_name or place.name
    number = 2
    while f"{base}-{number}".casefold() in taken:
        number += 1
    return f"{base}-{number}"
