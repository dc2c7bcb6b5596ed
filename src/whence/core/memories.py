"""What a memory is, and what happened to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from unicodedata import category, normalize

from whence.core.errors import InvalidParameter

if TYPE_CHECKING:
    from whence.core.times import Instant

MemoryType = Literal[
    "decision", "checkpoint", "insight", "context", "fact", "reason", "consequence", "constraint"
]
Source = Literal["explicit", "extracted"]
Status = Literal["active", "reconsidering", "archived"]
LinkType = Literal["evolution", "implementation", "association", "temporal"]
Json: TypeAlias = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

# What hangs on a decision and answers with it: by which word, how sure, and whether the decision acts.
PART_OF_DECISION: Mapping[MemoryType, tuple[str, float, bool]] = {
    "reason": ("justifies", 1.0, False),
    "constraint": ("blocks", 0.5, False),
    "consequence": ("leads_to", 1.0, True),
}
TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
SCHEMA_VERSION = 1
CONTENT_LIMIT = 50_000
FIELD_LIMIT = 200
TAG_COUNT_LIMIT = 50
TAG_LIMIT = 64
SUPERSEDING = frozenset({"supersedes", "replaces"})  # RULINGS B1: these words and no other
STATED_CONFIDENCE = 0.8  # of a link that a caller states and gives no confidence
GLOBAL = "global"  # the workspace of what is true everywhere; every search includes it
DEFAULT = "default"  # the workspace of a call that names none and comes from no project


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing that is remembered."""

    id: str
    type: MemoryType
    content: str
    workspace: str
    created_at: Instant
    updated_at: Instant
    accessed_at: Instant
    valid_from: Instant
    valid_until: Instant | None = None
    known_until: Instant | None = None
    topic: str | None = None
    name: str | None = None
    number: int | None = None
    context: str | None = None
    confidence: float = 1.0
    source: Source = "explicit"
    status: Status = "active"
    level: int | None = None
    domain: str | None = None
    module: str | None = None
    code_ref: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=lambda: {"schema_version": SCHEMA_VERSION})
    is_pending: bool = False  # no model has read it yet: words alone find it
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()  # newest first

    @property
    def is_superseded(self) -> bool:
        return self.superseded_by is not None

    @property
    def is_live(self) -> bool:
        """True for what may answer: not replaced, not put away, not deleted."""
        return not self.is_superseded and self.status != "archived" and self.known_until is None

    @property
    def reasoning(self) -> str | None:
        """Why it was decided: words that lead to a decision as its own text does."""
        told = self.metadata.get("reasoning")
        return told if isinstance(told, str) and told else None

    @property
    def grounds(self) -> str | None:
        """The reasoning and what was rejected: a question in these words means this decision."""
        told = self.metadata.get("alternatives")
        rejected = [
            f"Not {each['option']}" + (f": {each['why_rejected']}" if each.get("why_rejected") else "")
            for each in (told if isinstance(told, list | tuple) else ())
            if isinstance(each, Mapping) and isinstance(each.get("option"), str)
        ]
        return "\n".join([*([self.reasoning] if self.reasoning else []), *rejected]) or None

    @property
    def labels(self) -> tuple[str, ...]:
        words = []
        if self.is_superseded:
            words.append("superseded")
        if self.status in {"archived", "reconsidering"}:
            words.append(self.status)
        if self.is_pending:
            words.append("pending")
        return tuple(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """A link that a new memory is to have: to what, by which word."""

    to_id: str
    relationship: str
    confidence: float = STATED_CONFIDENCE
    reason: str | None = None
    link_type: LinkType | None = None  # None: by the word

    @property
    def supersedes(self) -> bool:
        return normal_word(self.relationship) in SUPERSEDING

    def check(self) -> None:
        """Raise for what no door may let in."""
        check_text(self.to_id, "to_id", FIELD_LIMIT)
        check_text(self.relationship, "relationship", FIELD_LIMIT)
        if not 0 <= self.confidence <= 1:
            raise InvalidParameter("The confidence of a link must be a number from 0 to 1")
        if self.reason is not None:
            check_text(self.reason, "reason", CONTENT_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a caller wants remembered, before it has an id and its times."""

    content: str
    type: MemoryType = "fact"
    topic: str | None = None
    name: str | None = None
    context: str | None = None
    confidence: float = 1.0
    source: Source = "explicit"
    level: int | None = None
    domain: str | None = None
    module: str | None = None
    code_ref: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    valid_from: Instant | None = None
    ties: tuple[Tie, ...] = ()  # links to what exists
    supersedes: tuple[str, ...] = ()
    why_replaced: str | None = None
    parts: tuple[Draft, ...] = ()  # reasons, consequences and constraints of a decision

    def check(self) -> None:
        """Raise for what no door may let in."""
        check_text(self.content, "content", CONTENT_LIMIT)
        for name in ("topic", "name", "domain", "module"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name, FIELD_LIMIT)
        if self.context:
            check_text(self.context, "context", CONTENT_LIMIT)
        if not 0 <= self.confidence <= 1:
            raise InvalidParameter("confidence must be a number from 0 to 1")
        check_tags(self.tags)


def normal_word(relationship: str) -> str:
    """Return a relationship word as it is compared: "Depends on" and depends-on are depends_on."""
    return _SPACES.sub("_", relationship.strip().casefold()).strip("_") or relationship.strip()


_SPACES = re.compile(r"[\s_-]+")


def topic_key(topic: str) -> str:
    """Return a topic as topics are compared: case, spaces, underscores and hyphens do not count."""
    return _SPACES.sub("", normalize("NFKC", topic).casefold()) or topic


_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters by their class, blank to the eye


def says_something(text: str) -> bool:
    """False for white space and for what only looks like it, such as zero-width spaces."""
    if any(character.isascii() and not character.isspace() and character.isprintable() for character in text):
        return True
    return any(category(character) not in _UNSEEN and character not in _BLANK_LETTERS for character in text)


def check_text(text: str, name: str, limit: int) -> None:
    """Raise unless `text` says something, can be stored and is short enough."""
    if not says_something(text):
        raise InvalidParameter(f"{name} must not be empty", hint=f"Give {name} as text.")
    if len(text) > limit:
        raise InvalidParameter(
            f"{name} must be at most {limit:,} characters; this one has {len(text):,}",
            hint="Store the gist here, or several memories of one fact each.",
        )
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidParameter(
            f"{name} holds characters that are no text (NUL or half a surrogate pair)",
            hint=f"Remove them from {name}.",
        )


def check_tags(tags: Sequence[str]) -> None:
    if len(tags) > TAG_COUNT_LIMIT:
        raise InvalidParameter(f"tags must be at most {TAG_COUNT_LIMIT}; there are {len(tags)}")
    for tag in tags:
        check_text(tag, "tags", TAG_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who makes a change: the client program, its session, and the tool it called."""

    client: str | None = None
    session: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change of one memory: when, by whom, and the values that it replaced."""

    memory_id: str
    number: int  # 1 is the creation
    at: Instant
    action: str
    author: Author
    replaced: Mapping[str, Any]  # field name -> the value before, of any field's type


_TUPLES = {"tags", "supersedes"}


def rewind(memory: Memory, event: Event) -> Memory:
    """Return the memory as it stood before `event`."""
    known = {each.name for each in fields(Memory)}
    before: dict[str, Any] = {
        name: tuple(value) if name in _TUPLES else value
        for name, value in event.replaced.items()
        if name in known
    }
    return replace(memory, **before)


def changed_fields(before: Memory, after: Memory) -> dict[str, Any]:
    """Return the old value of every field that differs."""
    return {
        each.name: getattr(before, each.name)
        for each in fields(Memory)
        if getattr(before, each.name) != getattr(after, each.name)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A room of memories: one project, or `global`, or `default`."""

    id: str
    name: str
    identity: str | None  # what makes a folder this workspace, such as its git remote
    created_at: Instant
    archived_at: Instant | None = None
