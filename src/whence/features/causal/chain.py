"""A chain: a decision with its versions, and with all that is tied to it as cause or effect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from whence.core.details import DecisionDetails
from whence.core.memories import PART_OF_DECISION
from whence.core.ports import Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whence.core.life import Whence
    from whence.core.links import Link
    from whence.core.memories import Memory
    from whence.core.ports import Direction, Scope, Step
    from whence.core.times import Instant

NodeType = Literal["DECISION", "REASON", "CONSEQUENCE", "CONSTRAINT"]
EdgeType = Literal["CAUSES", "JUSTIFIES", "LEADS_TO", "BLOCKS"]
Side = Literal["cause", "effect", "beside"]  # beside: part of another decision of the chain
EDGE_TYPES: tuple[EdgeType, ...] = get_args(EdgeType)
_NODE_TYPES: tuple[NodeType, ...] = get_args(NodeType)
_WORDS = {each.casefold(): each for each in EDGE_TYPES}

NODES = 60  # the nearest; a diagram of more is refused by those who draw it, and read by nobody
UNKNOWN_SESSION = "unknown"  # of what was saved by a client that has no sessions, such as the command line


@dataclass(frozen=True, slots=True, kw_only=True)
class CausalNode:
    """One memory of a chain, and how it stands to the root."""

    id: str
    node_type: NodeType
    content: str
    created_at: Instant
    session_id: str  # in which it was saved
    distance: int = 0  # edges from the root
    side: Side | None = None  # None: the root itself
    joined_to: str | None = None  # its neighbour on the way to the root
    is_superseded: bool = False


@dataclass(frozen=True, slots=True)
class CausalEdge:
    """What acts on what."""

    from_id: str
    to_id: str
    edge_type: EdgeType
    strength: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What the root replaced."""

    memory: Memory
    why_replaced: str | None = None
    is_met: bool = False  # the question met this one, not the root
    reasons: tuple[str, ...] = ()  # its own, its reasoning first


@dataclass(frozen=True, slots=True, kw_only=True)
class CausalChain:
    """A decision, why it was made, what it led to, and what it replaced."""

    root: Memory
    versions: tuple[Memory, ...]  # every one, oldest first, the root among them
    superseded: tuple[Version, ...]  # oldest first
    nodes: tuple[CausalNode, ...]  # the root first, the nearest first
    edges: tuple[CausalEdge, ...]
    left_out: int = 0  # nodes beyond the nearest

    @property
    def details(self) -> DecisionDetails:
        """Return the root's reasoning, alternatives and outcome."""
        return DecisionDetails.of(self.root)

    @property
    def reasons(self) -> tuple[CausalNode, ...]:
        """Return what led to the root, whatever it is, but for what stood in the way."""
        return tuple(each for each in self.nodes if each.side == "cause" and not self._blocks(each))

    @property
    def constraints(self) -> tuple[CausalNode, ...]:
        return tuple(each for each in self.nodes if each.side == "cause" and self._blocks(each))

    @property
    def consequences(self) -> tuple[CausalNode, ...]:
        return tuple(each for each in self.nodes if each.side == "effect")

    @property
    def related(self) -> tuple[CausalNode, ...]:
        """Return parts of the other decisions in the chain, on neither way to the root."""
        return tuple(each for each in self.nodes if each.side == "beside")

    def _blocks(self, node: CausalNode) -> bool:
        said = {
            each.edge_type for each in self.edges if (each.from_id, each.to_id) == (node.id, node.joined_to)
        }
        return node.node_type == "CONSTRAINT" or said == {"BLOCKS"}


def chain_of(whence: Whence, root: Memory, scope: Scope, depth: int) -> CausalChain:
    """Return the chain of a memory, no deeper than `depth` and no further than the scope lets it answer."""
    versions = tuple(whence.store.chain(root.id))
    placed = _placed(whence, root, scope, depth)
    kept = {root.id: _node(whence, root)}
    for each in _nearest(placed):
        # What hangs on a memory that may not answer hangs on nothing here.
        if each.joined_to in kept and len(kept) <= NODES:
            kept[each.memory.id] = _node(whence, each.memory, each)
    return CausalChain(
        root=root,
        versions=versions,
        superseded=_superseded(whence, root, versions),
        nodes=tuple(kept.values()),
        edges=tuple(_edges(whence, kept)),
        left_out=max(0, len(placed) - NODES),
    )


def meeting(whence: Whence, chain: CausalChain, met: str | None) -> CausalChain:
    """Return the chain with the version that the question met, by its id or by that of a part of it."""
    ids = {each.memory.id for each in chain.superseded}
    if met is not None and met not in ids:
        links = whence.store.graph().links(met)
        met = next((end for each in links for end in (each.from_id, each.to_id) if end in ids), None)
    superseded = tuple(replace(each, is_met=each.memory.id == met) for each in chain.superseded)
    return replace(chain, superseded=superseded)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A memory that was reached, from which side, how far off and by which link."""

    memory: Memory
    side: Side
    distance: int
    link: Link

    @property
    def joined_to(self) -> str:
        """Return its neighbour on the way to the root."""
        return self.link.to_id if self.link.from_id == self.memory.id else self.link.from_id


def _nearest(placed: Mapping[str, _Placed]) -> list[_Placed]:
    return sorted(placed.values(), key=lambda each: each.distance)


def _placed(whence: Whence, root: Memory, scope: Scope, depth: int) -> dict[str, _Placed]:
    """Return what leads to the root and from it, and the parts of the other decisions among that."""
    placed: dict[str, _Placed] = {}
    ways: tuple[tuple[Side, Direction], ...] = (("cause", "in"), ("effect", "out"))
    for side, way in ways:
        for memory, step in _reached(whence, root.id, way, depth, scope):
            known = placed.get(memory.id)
            if known is None or step.distance < known.distance:
                placed[memory.id] = _Placed(memory, side, step.distance, step.link)
    for decision in _nearest(placed)[:NODES]:
        if decision.memory.type == "decision" and decision.distance < depth:
            for memory, step in _reached(whence, decision.memory.id, "both", 1, scope):
                if memory.type in PART_OF_DECISION and memory.id != root.id:
                    at = _Placed(memory, "beside", decision.distance + 1, step.link)
                    placed.setdefault(memory.id, at)
    return placed


def _reached(
    whence: Whence, start: str, way: Direction, depth: int, scope: Scope
) -> list[tuple[Memory, Step]]:
    """Return what causal links lead to, as far as it may answer."""
    steps = whence.walks.of(Walk(start=start, direction=way, relationships=tuple(_WORDS), depth=depth))
    known = {each.id: each for each in whence.store.memories([step.id for step in steps])}
    return [
        (known[step.id], step) for step in steps if step.id in known and _may_answer(known[step.id], scope)
    ]


def is_within(memory: Memory, scope: Scope) -> bool:
    """True for a memory that lies where the question looks."""
    return scope.workspaces is None or memory.workspace in scope.workspaces


def _may_answer(memory: Memory, scope: Scope) -> bool:
    return is_within(memory, scope) and memory.known_until is None and memory.status != "archived"


def _edges(whence: Whence, kept: Mapping[str, CausalNode]) -> list[CausalEdge]:
    """Return every causal edge between these memories, oldest first."""
    graph = whence.store.graph()
    links = {
        link.id: link
        for each in kept
        for link in graph.links(each)
        if link.known_until is None and link.from_id in kept and link.to_id in kept
    }
    return [
        CausalEdge(link.from_id, link.to_id, _WORDS[link.relationship], link.confidence)
        for link in sorted(links.values(), key=lambda link: link.id)
        if link.relationship in _WORDS
    ]


def _node(whence: Whence, memory: Memory, placed: _Placed | None = None) -> CausalNode:
    events = whence.store.events(memory.id)
    session = events[0].author.session if events else None
    return CausalNode(
        id=memory.id,
        node_type=_node_type(memory, placed.link if placed else None),
        content=memory.content,
        created_at=memory.created_at,
        session_id=session or UNKNOWN_SESSION,
        distance=placed.distance if placed else 0,
        side=placed.side if placed else None,
        joined_to=placed.joined_to if placed else None,
        is_superseded=memory.is_superseded,
    )


def _node_type(memory: Memory, link: Link | None) -> NodeType:
    """Return what a memory is in a chain: by its own type, else by what its link makes of it."""
    for each in _NODE_TYPES:
        if each == memory.type.upper():
            return each
    if link is None:
        return "DECISION"  # what took a decision's place
    if link.to_id == memory.id:
        return "CONSEQUENCE"
    return "CONSTRAINT" if link.relationship == "blocks" else "REASON"


def _superseded(whence: Whence, root: Memory, versions: Sequence[Memory]) -> tuple[Version, ...]:
    others, graph = [each for each in versions if each.id != root.id], whence.store.graph()
    why = _why_replaced(link for each in others for link in graph.links(each.id))
    return tuple(
        Version(memory=each, why_replaced=why.get(each.id), reasons=_own_reasons(whence, each))
        for each in others
    )


def _why_replaced(links: Iterable[Link]) -> Mapping[str, str]:
    reasons = {link.to_id: link.metadata.get("reason") for link in links if link.supersedes}
    return {old: reason for old, reason in reasons.items() if isinstance(reason, str)}


def _own_reasons(whence: Whence, memory: Memory) -> tuple[str, ...]:
    """Return why an older version was decided, its reasoning first."""
    walk = Walk(start=memory.id, direction="in", relationships=("justifies",), depth=1)
    parts = whence.store.memories([step.id for step in whence.walks.of(walk)])
    texts = [each.content for each in parts if each.known_until is None and each.status != "archived"]
    return (*([memory.reasoning] if memory.reasoning else []), *texts)
