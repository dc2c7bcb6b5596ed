"""Export and import: a whole memory as lines of JSON, and back without loss."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from whence.core.errors import InvalidParameter
from whence.core.links import Link
from whence.core.masking import mask_within
from whence.core.memories import (
    FIELD_LIMIT,
    TYPES,
    Author,
    Draft,
    Event,
    Memory,
    Workspace,
    check_text,
)
from whence.core.times import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from whence.core.life import Whence
    from whence.core.ports import Writing

FORMAT = 1
_DERIVED = {"superseded_by", "supersedes", "is_pending"}  # told by the links, and by what a model has read


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought, and what was there already."""

    memories: int
    known: int
    links: int


def export_lines(whence: Whence) -> Iterator[str]:
    """Return the memory as JSON lines: workspaces, memories with their events, then links."""
    yield _line("whence", {"format": FORMAT})
    for workspace in whence.store.workspaces():
        yield _line("workspace", asdict(workspace))
    for memory in whence.store.every():
        told = {name: value for name, value in asdict(memory).items() if name not in _DERIVED}
        yield _line("memory", {name: value for name, value in told.items() if value is not None})
        for event in whence.store.events(memory.id):
            yield _line("event", asdict(event))
    for memory in whence.store.every():
        for link in whence.store.links(memory.id):
            if link.from_id == memory.id:
                yield _line("link", asdict(link))


def import_lines(whence: Whence, lines: Iterable[str]) -> Imported:
    """Bring exported lines in, all or nothing; what is known by its id already stays as it is."""
    records = list(_records(lines))
    with whence.store.writing() as writing:
        rooms = _bring_workspaces(whence, writing, [told for kind, told in records if kind == "workspace"])
        fresh: set[str] = set()
        known = 0
        for kind, told in records:
            if kind == "memory":
                memory = _memory(told, rooms)
                if writing.memory(memory.id) is not None:
                    known += 1
                    continue
                _bring_memory(writing, memory)
                fresh.add(memory.id)
        links = [_link(told) for kind, told in records if kind == "link"]
        links = [link for link in links if link.from_id in fresh or link.to_id in fresh]
        for link in links:
            writing.link(link)
        for kind, told in records:
            if kind == "event" and told.get("memory_id") in fresh:
                writing.append(_event(told))
    return Imported(len(fresh), known, len(links))


def _line(kind: str, told: Mapping[str, Any]) -> str:
    return json.dumps({"kind": kind, **told}, ensure_ascii=False, separators=(",", ":"))


def _records(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Parse the lines; the first must be the header of a format that this version knows."""
    header_seen = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            kind = told.pop("kind")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            raise InvalidParameter(
                f"Line {number} is no line of a Whence export",
                hint="Import a file that `whence export` wrote.",
            ) from None
        if not header_seen:
            if kind != "whence" or told.get("format") != FORMAT:
                raise InvalidParameter(
                    "This is no Whence export of a format that this version knows",
                    hint="Import a file that `whence export` wrote, with a version at least as new.",
                )
            header_seen = True
            continue
        if kind != "workspace":  # whose identity may hold an address, and no text
            told, _ = mask_within(told)
        try:
            _check(kind, told)
        except (KeyError, TypeError, ValueError, InvalidParameter) as error:
            raise InvalidParameter(
                f"Line {number} ({kind}) is damaged: {error}", hint="Export again and import the new file."
            ) from None
        yield kind, told
    if not header_seen:
        raise InvalidParameter("The file is empty", hint="Import a file that `whence export` wrote.")


_MADE_OF: dict[str, type] = {"workspace": Workspace, "memory": Memory, "event": Event, "link": Link}
_TEXTS = (
    "id name identity type content workspace topic context source status domain module code_ref "
    "superseded_by from_id to_id link_type relationship created_by memory_id action"
)
_WHOLE = "created_at archived_at updated_at accessed_at valid_from valid_until known_until number level at"
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(_TEXTS.split(), str),
    **dict.fromkeys(_WHOLE.split(), int),
    **dict.fromkeys(("metadata", "author", "replaced"), dict),
    **dict.fromkeys(("tags", "supersedes"), list),
    "confidence": (int, float),
    "is_pending": bool,
}
_TIMES = range(-62_135_596_800 * SECOND, 253_402_300_800 * SECOND)  # what the calendar can tell


def _check(kind: str, told: Mapping[str, Any]) -> None:
    """Raise unless a line has the fields of its kind, each of its own kind."""
    accepted = {each.name: each for each in fields(_MADE_OF[kind])}
    for name, value in told.items():
        if name not in accepted:
            raise ValueError(f'unknown field "{name}"')
        may_lack = accepted[name].default is None or name == "identity"
        if not (isinstance(value, _KINDS[name]) or (value is None and may_lack)):
            raise ValueError(f'"{name}" is of the wrong kind')
        if isinstance(value, int) and value not in _TIMES:
            raise ValueError(f'"{name}" is beyond all dates')
    for name, each in accepted.items():
        if name not in told and each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f'"{name}" is missing')
    json.dumps(told, ensure_ascii=False).encode()  # half a surrogate pair is no text
    _CHECKS[kind](told)


def _check_workspace(told: Mapping[str, Any]) -> None:
    check_text(told["name"], "name", FIELD_LIMIT)
    if not (told["id"].isascii() and told["id"].isalnum()):
        raise ValueError("the id is no word")  # it is one in the word index


def _check_memory(told: Mapping[str, Any]) -> None:
    if told["type"] not in TYPES:
        raise ValueError(f'unknown type "{told["type"]}"')
    # Only what a door checks: the rest is told by the kinds above and refused by the tables.
    shared = ("content", "topic", "name", "context", "confidence", "domain", "module")
    tags = tuple(map(_as_text, told.get("tags", ())))
    Draft(**{name: told[name] for name in shared if name in told}, tags=tags).check()


def _check_event(told: Mapping[str, Any]) -> None:
    Author(**told["author"])  # refuses an unknown field
    if not all(each is None or isinstance(each, str) for each in told["author"].values()):
        raise ValueError("its author is of the wrong kind")


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("a tag is no text")


_CHECKS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "workspace": _check_workspace,
    "memory": _check_memory,
    "event": _check_event,
    "link": lambda _: None,
}


def _bring_workspaces(whence: Whence, writing: Writing, told: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return, for each exported workspace, the id it has here: the same project or name is the same room."""
    known = whence.store.workspaces()
    rooms: dict[str, str] = {}
    for each in told:
        workspace = Workspace(**each)
        here = next(
            (
                other
                for other in known
                if other.id == workspace.id
                or (other.identity is not None and other.identity == workspace.identity)
                or other.name.casefold() == workspace.name.casefold()
            ),
            None,
        )
        if here is None:
            writing.found_workspace(workspace)
            here = workspace
        rooms[workspace.id] = here.id
    return rooms


def _memory(told: Mapping[str, Any], rooms: Mapping[str, str]) -> Memory:
    try:
        memory = Memory(**{**told, "tags": tuple(told.get("tags", ()))})
        room = rooms[memory.workspace]
    except (KeyError, TypeError) as error:
        raise InvalidParameter(
            f"A memory of the export is damaged: {error}", hint="Export again and import the new file."
        ) from None
    return replace(memory, workspace=room, is_pending=True)


def _bring_memory(writing: Writing, memory: Memory) -> None:
    if memory.number is not None:
        memory = replace(memory, number=max(memory.number, writing.next_number()))
    writing.insert(memory, [])


def _link(told: Mapping[str, Any]) -> Link:
    return Link(**told)


def _event(told: Mapping[str, Any]) -> Event:
    return Event(**{**told, "author": Author(**told["author"])})
