"""Export and import: a whole memory as lines of JSON, and back without loss."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from whence.core.errors import InvalidParameter
from whence.core.links import Creator, Link
from whence.core.masking import mask_within
from whence.core.memories import (
    CONTENT_LIMIT,
    FIELD_LIMIT,
    TYPES,
    Author,
    Draft,
    Event,
    LinkType,
    Memory,
    Source,
    Status,
    Workspace,
    changed_fields,
    check_text,
    normal_word,
)
from whence.core.times import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from whence.core.life import Whence
    from whence.core.ports import Writing
    from whence.core.times import Instant

FORMAT = 1
_DERIVED = {"superseded_by", "supersedes", "is_pending"}  # told by the links, and by what a model has read
_AGAIN = "Export again and import the new file."
_LEAVE_OUT = "To keep what is here, take this line out of the file; then supersede by hand what has to be."


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought, and what was there already."""

    memories: int
    known: int
    links: int


class _Record(NamedTuple):
    """One line of an export."""

    number: int
    kind: str
    told: dict[str, Any]

    def refused(self, why: object, hint: str = _AGAIN) -> InvalidParameter:
        return InvalidParameter(f"Line {self.number} ({self.kind}) cannot be taken: {why}", hint=hint)


def export_lines(whence: Whence, *, only: str | None = None) -> Iterator[str]:
    """Return the memory as JSON lines, all of one moment: workspaces, memories with events, then links.

    `only` is the id of a workspace: nothing of another one is told, links into it included.
    """
    with whence.store.every() as picture:
        told_of = {each.id for each in picture if only in (None, each.workspace)}
        yield _line("whence", {"format": FORMAT})
        for workspace in picture.workspaces():
            if only in (None, workspace.id):
                yield _line("workspace", asdict(workspace))
        for memory in picture:
            if memory.id not in told_of:
                continue
            told = {name: value for name, value in asdict(memory).items() if name not in _DERIVED}
            yield _line("memory", {name: value for name, value in told.items() if value is not None})
            for event in picture.events(memory.id):
                yield _line("event", asdict(event))
        for memory in picture:
            for link in picture.links(memory.id):
                if link.from_id == memory.id and {link.from_id, link.to_id} <= told_of:
                    yield _line("link", asdict(link))


def import_lines(whence: Whence, lines: Iterable[str]) -> Imported:
    """Bring exported lines in, all or nothing; what is known by its id already stays as it is."""
    records: dict[str, list[_Record]] = {kind: [] for kind in _MADE_OF}
    for record in _records(lines):
        records[record.kind].append(record)
    with whence.store.writing() as writing:
        rooms = _bring_workspaces(whence, writing, [record.told for record in records["workspace"]])
        fresh = _bring_memories(writing, records["memory"], rooms)
        events = [_event(record.told) for record in records["event"]]
        for event in events:
            if event.memory_id in fresh:
                writing.append(event)
        # Last: a link may add events of its own to what is known here.
        authors = {(event.memory_id, event.at): event.author for event in events}
        joined = _Joined(writing, fresh, authors)
        links = sum(joined.bring(record) for record in records["link"])
        joined.close()
    return Imported(len(fresh), len(records["memory"]) - len(fresh), links)


def _line(kind: str, told: Mapping[str, Any]) -> str:
    return json.dumps({"kind": kind, **told}, ensure_ascii=False, separators=(",", ":"))


def _records(lines: Iterable[str]) -> Iterator[_Record]:
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
        try:
            if kind != "workspace":  # whose identity may hold an address, and no text
                told, _ = mask_within(told)
            _check(kind, told)
        except (KeyError, TypeError, ValueError, RecursionError, InvalidParameter) as error:
            raise _Record(number, str(kind), told).refused(error) from None
        yield _Record(number, kind, told)
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
_CHOICES: dict[str, tuple[object, ...]] = {
    "type": TYPES,
    "source": get_args(Source),
    "status": get_args(Status),
    "level": (0, 1, 2, 3),
    "link_type": get_args(LinkType),
    "created_by": get_args(Creator),
}
_TIMES = range(-62_135_596_800 * SECOND, 253_402_300_800 * SECOND)  # what the calendar can tell


def _check(kind: str, told: Mapping[str, Any]) -> None:
    """Raise unless a line has the fields of its kind, each of its own kind."""
    made_of = _MADE_OF.get(kind)
    if made_of is None:
        raise ValueError("this version knows no such line")
    _check_values(made_of, told)
    for each in fields(made_of):
        if each.name not in told and each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f'"{each.name}" is missing')
    # Half a surrogate pair is no text, and infinity no JSON.
    json.dumps(told, ensure_ascii=False, allow_nan=False).encode()
    _CHECKS[kind](told)


def _check_values(made_of: type, told: Mapping[str, Any]) -> None:
    """Raise unless each of these values is one that its field may have."""
    accepted = {each.name: each for each in fields(made_of)}
    for name, value in told.items():
        if name not in accepted:
            raise ValueError(f'unknown field "{name}"')
        if value is None and (accepted[name].default is None or name == "identity"):
            continue
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and _KINDS[name] is not bool):
            raise ValueError(f'"{name}" is of the wrong kind')
        _check_value(name, value)


def _check_value(name: str, value: object) -> None:
    if isinstance(value, int) and value not in _TIMES:
        raise ValueError(f'"{name}" is beyond all dates')
    if name in _CHOICES and value not in _CHOICES[name]:
        raise ValueError(f'unknown {name} "{value}"')
    if isinstance(value, list) and not all(isinstance(each, str) for each in value):
        raise ValueError(f'"{name}" holds what is no text')
    if name == "confidence" and isinstance(value, int | float) and not 0 <= value <= 1:
        raise ValueError("confidence must be a number from 0 to 1")


def _check_workspace(told: Mapping[str, Any]) -> None:
    check_text(told["name"], "name", FIELD_LIMIT)
    if told["name"].strip() == "*":
        raise ValueError('"*" means all workspaces and names none')
    if not (told["id"].isascii() and told["id"].isalnum()):
        raise ValueError("the id is no word")  # it is one in the word index


def _check_memory(told: Mapping[str, Any]) -> None:
    _check_id(told["id"])
    # Only what a door checks: the rest is told by the kinds above.
    shared = ("content", "topic", "name", "context", "confidence", "domain", "module")
    given = {name: told[name] for name in shared if name in told}
    Draft(**given, tags=tuple(told.get("tags", ()))).check()
    if "metadata" in told and type(told["metadata"].get("schema_version")) is not int:
        raise ValueError("its metadata has no schema_version")
    if told.get("number") is not None and (told["type"] != "decision" or told["number"] < 1):
        raise ValueError("only a decision has a number, from 1 on")
    _check_interval(told, "valid_from", "valid_until")
    _check_interval(told, "created_at", "known_until")


def _check_id(each: str) -> None:
    check_text(each, "id", FIELD_LIMIT)
    if any(character.isspace() for character in each):
        raise ValueError("an id holds no white space")


def _check_interval(told: Mapping[str, Any], begin: str, end: str) -> None:
    if told.get(end) is not None and told[end] < told[begin]:
        raise ValueError(f'"{end}" lies before "{begin}"')


def _check_event(told: Mapping[str, Any]) -> None:
    Author(**told["author"])  # refuses an unknown field
    if not all(each is None or isinstance(each, str) for each in told["author"].values()):
        raise ValueError("its author is of the wrong kind")
    if told["number"] < 1:
        raise ValueError("events are numbered from 1 on")
    try:
        _check_values(Memory, told["replaced"])
    except ValueError as error:
        raise ValueError(f"what it replaced: {error}") from None


def _check_link(told: Mapping[str, Any]) -> None:
    _check_id(told["id"])
    check_text(told["relationship"], "relationship", CONTENT_LIMIT)
    if told["from_id"] == told["to_id"]:
        raise ValueError(f"memory {told['to_id']} is linked to itself")
    _check_interval(told, "created_at", "known_until")


_CHECKS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "workspace": _check_workspace,
    "memory": _check_memory,
    "event": _check_event,
    "link": _check_link,
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


def _bring_memories(writing: Writing, records: Iterable[_Record], rooms: Mapping[str, str]) -> set[str]:
    """Store the memories that are not known here, and return their ids."""
    fresh: set[str] = set()
    for record in records:
        memory = Memory(**{**record.told, "tags": tuple(record.told.get("tags", ()))})
        if memory.workspace not in rooms:
            raise record.refused(f'the export tells of no workspace "{memory.workspace}"')
        if writing.memory(memory.id) is not None:
            continue
        if memory.number is not None:
            memory = replace(memory, number=max(memory.number, writing.next_number()))
        writing.insert(replace(memory, workspace=rooms[memory.workspace], is_pending=True), [])
        fresh.add(memory.id)
    return fresh


def _event(told: Mapping[str, Any]) -> Event:
    return Event(**{**told, "author": Author(**told["author"])})


@dataclass(slots=True)
class _Joined:
    """The links of an import: those that supersede pass the checks of a supersede and close what they end."""

    writing: Writing
    fresh: set[str]
    authors: Mapping[tuple[str, Instant], Author]  # who did what the export tells, by memory and time
    seen: set[str] = field(default_factory=set)
    superseding: dict[str, Link] = field(default_factory=dict)  # by what they supersede
    since: dict[str, Instant] = field(default_factory=dict)

    def bring(self, record: _Record) -> bool:
        """Store a link unless it is known here, and say whether it was new."""
        told = Link(**record.told)
        link = replace(
            told,
            relationship=normal_word(told.relationship),
            metadata={"original_relationship": told.relationship, **told.metadata},
        )
        if link.id in self.seen:
            raise record.refused(f"a line before it has the id {link.id} too")
        self.seen.add(link.id)
        new, old = (self._end(each, record) for each in (link.from_id, link.to_id))
        is_known = self.writing.link_of(link.id) is not None or (
            link.known_until is None
            and any(
                (each.from_id, each.to_id, each.relationship) == (new.id, old.id, link.relationship)
                for each in self.writing.links(new.id)
            )
        )
        supersedes = link.supersedes and link.known_until is None
        if is_known or (supersedes and old.superseded_by == new.id):
            return False
        if supersedes:
            self._check(old, new, record)
        self.writing.link(link)
        if supersedes:
            self.superseding[old.id] = link
            if new.id not in self.fresh:
                self._record(new, self._end(new.id, record), "replaced another", link.created_at)
        return True

    def close(self) -> None:
        """End the valid times of all that the new links replaced, directly or not (RULINGS B8)."""
        closed: set[str] = set()
        waiting = [(old_id, link.created_at) for old_id, link in self.superseding.items()]
        while waiting:
            old_id, at = waiting.pop()
            memory = self.writing.memory(old_id)
            if memory is None or memory.superseded_by is None or old_id in closed:
                continue
            closed.add(old_id)
            own = self.superseding.get(old_id)
            at = at if own is None else own.created_at
            waiting.extend((earlier_id, at) for earlier_id in memory.supersedes)
            self._close(memory, memory.superseded_by, at)

    def _end(self, memory_id: str, record: _Record) -> Memory:
        memory = self.writing.memory(memory_id)
        if memory is None:
            raise record.refused(f"memory {memory_id} is neither here nor in the export")
        return memory

    def _check(self, old: Memory, new: Memory, record: _Record) -> None:
        """Raise for a second successor and for a cycle (RULINGS B2)."""
        if old.superseded_by is not None:
            raise record.refused(
                f"memory {old.id} is already superseded by {old.superseded_by}, "
                f"so {new.id} cannot supersede it too",
                _LEAVE_OUT,
            )
        if self.writing.head(new.id) == old.id:
            raise record.refused(
                f"memory {new.id} was itself replaced by {old.id}, so it cannot replace it", _LEAVE_OUT
            )

    def _close(self, memory: Memory, successor: str, at: Instant) -> None:
        after = replace(memory, valid_until=max(memory.valid_from, self._since(successor)))
        if memory.id in self.superseding and memory.id not in self.fresh:
            self._record(replace(memory, superseded_by=None), after, "superseded", at)
        elif after != memory:  # of what the export brought, its own history tells
            self._record(memory, after, "chain grew", at)

    def _since(self, memory_id: str) -> Instant:
        """Return the earliest time at which this memory or one that replaced it began to hold."""
        path: list[Memory] = []
        step: str | None = memory_id
        while step is not None and step not in self.since:
            memory = self.writing.memory(step)
            if memory is None:
                break
            path.append(memory)
            step = memory.superseded_by
        earliest = self.since[step] if step in self.since else path[-1].valid_from
        for memory in reversed(path):
            earliest = min(earliest, memory.valid_from)
            self.since[memory.id] = earliest
        return earliest

    def _record(self, before: Memory, after: Memory, action: str, at: Instant) -> None:
        """Write a change with its event, as known from the link's own time on."""
        if before.superseded_by != after.superseded_by:
            after = replace(after, updated_at=max(at, before.updated_at))
        self.writing.update(before, after)
        self.writing.append(
            Event(
                memory_id=after.id,
                number=self.writing.next_event(after.id),
                at=at,
                action=action,
                author=self.authors.get((after.id, at), Author()),
                replaced=changed_fields(before, after),
            )
        )
