"""What the core asks of the world: a clock, models that embed, a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from whence.core.links import Link
    from whence.core.memories import Event, LinkType, Memory, MemoryType, Source, Workspace
    from whence.core.times import Instant

    Vector: TypeAlias = NDArray[np.float32]


Direction = Literal["out", "in", "both"]


class Clock(Protocol):
    def now(self) -> Instant: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What one model is and what its similarities mean."""

    id: str
    dimensions: int
    max_tokens: int
    query_prefix: str
    weight: float  # how much meaning counts beside words, which count 1
    unrelated: float  # similarity of two texts that have nothing in common
    paraphrase: float  # similarity of two texts that say the same
    related: float  # from here two memories may be about the same thing
    duplicate: float  # from here two memories may say the same thing
    question_floor: float  # below, a hit that shares no word with the question is no answer
    linked: float = 1.0  # from here a link by likeness alone is right nine times in ten
    relates: float | None = None  # from here two relationship words mean the same; None: it cannot tell


class Embedder(Protocol):
    """One model that turns text into unit vectors."""

    @property
    def manifest(self) -> Manifest: ...
    def embed_query(self, text: str) -> Vector: ...
    def embed_passage(self, text: str) -> Vector: ...
    def passages(self, text: str) -> list[str]:
        """Cut `text` into pieces of at most `max_tokens`, a short text into one."""
        ...

    def count_tokens(self, text: str) -> int: ...


class Models(Protocol):
    """The two models, chosen by script; each loads at first need and may raise EmbeddingUnavailable."""

    @property
    def latin(self) -> Embedder: ...
    @property
    def multilingual(self) -> Embedder: ...
    @property
    def multilingual_id(self) -> str:
        """The model's id, told without loading it."""
        ...

    def release_if_idle(self) -> bool:
        """Give back the memory of models that nobody used lately, and say whether any was."""
        ...


@dataclass(frozen=True, slots=True)
class Passage:
    """The vectors of one piece of a memory: its own, and the blend with its context that search scans."""

    own: Vector
    blend: Vector | None = None


@dataclass(frozen=True, slots=True)
class Embedding:
    """All that one model made of a memory."""

    model: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which memories may answer; every field is a filter inside the store's query."""

    workspaces: tuple[str, ...] | None = None  # None: all of the tenant
    types: tuple[MemoryType, ...] = ()  # (): all
    as_of: Instant | None = None  # what was true then
    known_at: Instant | None = None  # as the memory knew it then
    history: bool = False  # superseded and archived ones answer too
    least_confidence: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a store needs to find candidates."""

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    topic: str | None = None  # the key of a topic: whoever asks by its name means what lies on it
    # A memory is scored by the first of these models that has a vector of it.
    vectors: tuple[tuple[str, Vector], ...] = ()
    exclude: str | None = None  # a memory is not its own neighbour
    own: bool = False  # judge by a memory's own vector, not by the blend with its context


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that may answer, and how the question met it or an older version of it."""

    id: str
    source: Source
    valid_from: Instant
    words: float = 0.0
    meaning: float | None = None
    model: str | None = None
    topics: tuple[str, ...] = ()  # of the versions that were met
    via: str | None = None  # the older version that matched, if not the memory itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The candidates, and the span of similarity seen, per model: (least, greatest)."""

    candidates: tuple[Candidate, ...]
    spans: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """How many memories lie in a scope, and why others do not answer."""

    live: int
    superseded: int
    archived: int
    other_types: int
    not_then: int  # outside as_of or known_at
    elsewhere: int  # in other workspaces
    unsure: int  # below the least confidence


class Writing(Protocol):
    """One transaction: all of it happens or nothing."""

    def memory(self, memory_id: str) -> Memory | None: ...
    def head(self, memory_id: str) -> str:
        """Return the last of the chain that replaced this memory; itself if nothing did."""
        ...

    def insert(self, memory: Memory, embeddings: Sequence[Embedding], *, to_link: bool = False) -> None:
        """Add a memory; `to_link` marks it for automatic links, whichever process makes them."""
        ...

    def update(self, before: Memory, after: Memory, embeddings: Sequence[Embedding] | None = None) -> None:
        """Change a memory; `embeddings` replace the old ones where the text changed."""
        ...

    def embed(self, memory: Memory, embedding: Embedding, *, settles: bool) -> None:
        """Add vectors that were missing; those of the text's own model settle that it waits no longer."""
        ...

    def link(self, link: Link) -> None: ...
    def links(self, memory_id: str) -> list[Link]:
        """Return the links that touch a memory and were not taken away."""
        ...

    def link_of(self, link_id: str) -> Link | None: ...
    def unlink(self, link_ids: Sequence[str], at: Instant) -> None:
        """Take links away: what the system made is gone, what somebody stated stays in history."""
        ...

    def linked(self, memory_id: str) -> None:
        """Take the mark off a memory whose automatic links are made.

        One that no model has read yet waits again once a model has.
        """
        ...

    def claim(self, chore: str, now: Instant, every: Instant) -> bool:
        """Say whether a chore is due, and if so note that it is being done now."""
        ...

    def append(self, event: Event) -> None: ...
    def next_event(self, memory_id: str) -> int: ...
    def next_number(self) -> int: ...
    def repeated(self, request: str, since: Instant) -> str | None:
        """Return the memory that the same request made after `since`."""
        ...

    def remember_request(self, request: str, memory_id: str, at: Instant) -> None: ...
    def found_workspace(self, workspace: Workspace) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """A way through the graph: from where, along which links, how far."""

    start: str
    direction: Direction = "both"  # out: to what it acts on; in: from what acts on it
    link_types: tuple[LinkType, ...] = ()  # (): all
    relationships: tuple[str, ...] = ()  # (): all
    depth: int = 5
    least: float = 0.0  # effective confidence
    since: Instant | None = None  # only links made from then on
    until: Instant | None = None  # and before then


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A memory that a walk reached, how far from the start, and by which link."""

    id: str
    distance: int
    link: Link


class Graph(Protocol):
    """The links between memories, read only."""

    def links(self, memory_id: str) -> list[Link]:
        """Return the links that touch a memory, those taken away too."""
        ...

    def walk(self, walk: Walk, now: Instant) -> list[Step]:
        """Return what a walk reaches, nearest first, each memory once."""
        ...

    def mark(self) -> int:
        """Return a number that rises with every change of a link."""
        ...

    def changed(self, since: int) -> frozenset[str]:
        """Return the memories whose links changed since this mark."""
        ...

    def unlinked(self, limit: int) -> list[Memory]:
        """Return memories whose automatic links can be made now, oldest first."""
        ...

    def made_by_system(self) -> list[Link]:
        """Return the automatic links that stand, oldest first."""
        ...

    def counters(self) -> Mapping[str, int]:
        """Return what is counted: walks, links that stand by their creator, memories that wait for links."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a register lists, beside the scope: by topic, by number, or decisions by what they are."""

    topic: str | None = None  # its key
    numbers: tuple[int, ...] = ()
    decision_type: str | None = None
    status: str | None = None  # active, superseded, reconsidering, archived


class Picture(Protocol):
    """All memories in the order they came; inside `with`, they and all about them are of one moment."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def __iter__(self) -> Iterator[Memory]: ...
    def events(self, memory_id: str) -> list[Event]: ...
    def links(self, memory_id: str) -> list[Link]: ...
    def workspaces(self) -> list[Workspace]: ...


class Store(Protocol):
    """Keeps one tenant's memories. The same contract on every engine."""

    def writing(self) -> AbstractContextManager[Writing]: ...
    def memories(self, ids: Sequence[str]) -> list[Memory]:
        """Return those that exist, in the order asked."""
        ...

    def find(self, question: Question, scope: Scope, limit: int) -> Found:
        """Return at least `limit` candidates if there are, superseded hits replaced by their heads."""
        ...

    def recent(self, scope: Scope, limit: int) -> list[Memory]: ...
    def chain(self, memory_id: str) -> list[Memory]:
        """Return every version that leads to the same head, oldest first."""
        ...

    def events(self, memory_id: str) -> list[Event]: ...
    def graph(self) -> Graph: ...
    def listed(self, wanted: Wanted, scope: Scope, limit: int) -> list[Memory]:
        """Return what a register holds, whatever became of it: the last changed first."""
        ...

    def topics(self, scope: Scope) -> list[str]: ...
    def workspaces(self) -> list[Workspace]: ...
    def census(self, scope: Scope) -> Census: ...
    def models_in(self, scope: Scope) -> frozenset[str]:
        """Return the models that have vectors in this scope."""
        ...

    def lacking(self, model: str | None, scope: Scope, limit: int) -> list[Memory]:
        """Return memories that this model has not read yet, newest first; None: those that no model has."""
        ...

    def every(self) -> Picture: ...
    def touch(self, accessed: Mapping[str, Instant], counted: Mapping[str, int]) -> None:
        """Note when memories were last returned, and add to what is counted."""
        ...

    def release(self) -> None:
        """Give cached memory back; the next search reads it again."""
        ...

    def health(self) -> Mapping[str, str]: ...
    def close(self) -> None: ...
