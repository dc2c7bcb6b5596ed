"""load/checkpoint, load/context: where the work stood, and all there is around one memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from whence.core.details import CheckpointDetails, DecisionDetails
from whence.core.errors import InvalidParameter
from whence.core.graph import DEEPEST
from whence.core.memories import FIELD_LIMIT, PART_OF_DECISION, check_text
from whence.core.ports import Scope, Walk
from whence.core.times import iso
from whence.surfaces.intents.topics import known_id, live_on
from whence.surfaces.replies import (
    MemoryReply,
    VersionReply,
    WithNotices,
    error_shape,
    line_of,
    line_of_version,
    merged_error_shape,
    told_chain,
    told_memory,
)
from whence.surfaces.tool import Arguments, Call, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.memories import Memory
    from whence.core.ports import Step

SINCE = 20  # decisions that a checkpoint tells of
NEIGHBOURS = 50


# -- load/checkpoint


class LoadCheckpointArguments(Arguments):
    """Which save point."""

    name: Annotated[str | None, Field(description="A named one; default the newest")] = None


class LoadedCheckpoint(WithNotices):
    """The newest save point, and what was decided since."""

    model_config = ConfigDict(extra="allow")

    summary: str | None
    open_files: list[str] | None = None
    next_steps: str | list[str] | None = None
    timestamp: str | None = None
    id: str | None = None
    since: list[MemoryReply] | None = None
    hint: str | None = None


def load_checkpoint(call: Call[LoadCheckpointArguments]) -> dict[str, Any]:
    asked = call.arguments
    here = call.workspace_here()
    scope = Scope(workspaces=here, types=("checkpoint",))
    if asked.name is not None:
        check_text(asked.name, "name", FIELD_LIMIT)
    # A name is looked for among all of them: the wanted one may be old.
    found = call.whence.recent(scope, 1 if asked.name is None else 100_000) if here else []
    if asked.name is not None:
        found = [each for each in found if (each.name or "").casefold() == asked.name.casefold()]
    if not found:
        hint = f"Nothing was saved here yet. Save one with {call.listed_name('save/checkpoint')}."
        if asked.name is not None:
            hint = f'No save point is called "{asked.name}". Leave name out for the newest one.'
        return {"summary": None, "hint": hint, "success": True}
    newest = found[0]
    call.whence.note_access([newest.id])
    details = CheckpointDetails.of(newest)
    decided = call.whence.recent(Scope(workspaces=here, types=("decision",)), SINCE)
    steps = details.next_steps
    return {
        "summary": newest.content,
        "open_files": list(details.open_files),
        "next_steps": steps if isinstance(steps, str) else list(steps),
        "timestamp": iso(newest.created_at),
        "id": newest.id,
        "since": [told_memory(each) for each in decided if each.created_at > newest.created_at],
        "success": True,
    }


def tell_loaded(reply: Mapping[str, Any]) -> str:
    if reply["summary"] is None:
        return str(reply["hint"])
    steps = reply["next_steps"]
    lines = [f"{reply['timestamp'][:16]} {reply['summary']}"]
    if reply["open_files"]:
        lines.append(f"Open files: {', '.join(reply['open_files'])}")
    if steps:
        lines.append(f"Next: {steps if isinstance(steps, str) else '; '.join(steps)}")
    return "\n".join([*lines, *(f"Decided since: {line_of(each)[2:]}" for each in reply["since"])])


# -- load/context


class ContextArguments(Arguments):
    """Around which memory."""

    id: Annotated[str | None, Field(description="Id or number")] = None
    topic: Annotated[
        str | None,
        Field(max_length=FIELD_LIMIT, description="Instead of id: what holds on it"),
    ] = None
    depth: Annotated[int, Field(ge=1, description="Steps along links, at most 5")] = 2


class NeighbourReply(BaseModel):
    """What a link leads to."""

    memory: MemoryReply
    relationship: str
    direction: str
    distance: int


class CausesReply(BaseModel):
    """Why, and what it led to."""

    model_config = ConfigDict(extra="allow")


class ContextReply(WithNotices):
    """One memory and its graph."""

    memory: MemoryReply
    chain: Annotated[list[VersionReply], Field(description="Every version, oldest first")]
    neighbours: list[NeighbourReply]
    causes: CausesReply
    outcome: dict[str, Any] | None = None


def load_context(call: Call[ContextArguments]) -> dict[str, Any]:
    asked = call.arguments
    memory = _wanted(call)
    depth = cut_depth(call, asked.depth)
    store = call.whence.store
    steps = call.whence.walks.of(Walk(start=memory.id, depth=depth))
    known = visible(call, [step.id for step in steps])
    call.whence.note_access([memory.id])
    reply: dict[str, Any] = {
        "memory": told_memory(memory),
        "chain": told_chain(store.chain(memory.id), why_replaced(call, memory.id)),
        "neighbours": told_neighbours(steps, known),
        "causes": causes_of(memory, steps, known),
    }
    outcome = outcome_of(memory, steps, known)
    return {**reply, "outcome": outcome} if outcome else reply


def _wanted(call: Call[ContextArguments]) -> Memory:
    asked = call.arguments
    if asked.id is None and asked.topic is None:
        raise InvalidParameter("id or topic is required", hint="Give one of the two.")
    if asked.id is not None and asked.topic is not None:
        raise InvalidParameter("id and topic may name different memories", hint="Give one of the two.")
    if asked.id is not None:
        check_text(asked.id, "id", FIELD_LIMIT)
        return call.whence.get(known_id(call, asked.id))
    check_text(str(asked.topic), "topic", FIELD_LIMIT)
    return live_on(call, str(asked.topic))


def cut_depth(call: Call[Any], depth: int) -> int:
    if depth > DEEPEST:
        call.notices.append(f"depth {depth} was cut to {DEEPEST}, the deepest there is.")
    return min(depth, DEEPEST)


def why_replaced(call: Call[Any], memory_id: str) -> dict[str, str]:
    """Return, for each version of a chain that was replaced with a reason, that reason."""
    graph = call.whence.store.graph()
    told = {}
    for version in call.whence.store.chain(memory_id):
        for link in graph.links(version.id):
            reason = link.metadata.get("reason")
            if link.supersedes and link.to_id == version.id and isinstance(reason, str):
                told[version.id] = reason
    return told


def visible(call: Call[Any], ids: Sequence[str]) -> dict[str, Memory]:
    """Return those of these memories that the caller's workspaces hold: a link may lead out of them."""
    here = call.workspaces()
    found = call.whence.store.memories(ids)
    return {each.id: each for each in found if here is None or each.workspace in here}


def told_neighbours(steps: Sequence[Step], known: Mapping[str, Memory]) -> list[dict[str, Any]]:
    """Return what links lead to, nearest first; versions of the memory itself stand in its chain."""
    told = []
    for step in steps:
        other = known.get(step.id)
        if other is None or other.known_until is not None or step.link.supersedes:
            continue
        if other.type in PART_OF_DECISION or other.status == "archived":
            continue  # told among the causes, or put away
        word = step.link.metadata.get("original_relationship", step.link.relationship)
        told.append(
            {
                "memory": told_memory(other),
                "relationship": word,
                "direction": "in" if step.link.from_id == other.id else "out",
                "distance": step.distance,
            }
        )
    return told[:NEIGHBOURS]


def causes_of(memory: Memory, steps: Sequence[Step], known: Mapping[str, Memory]) -> dict[str, Any]:
    """Return why it was decided and what it led to; its own reasoning stands first (RULINGS F13)."""
    details = DecisionDetails.of(memory)
    parts: dict[str, list[str]] = {kind: [] for kind in PART_OF_DECISION}
    for step in steps:
        other = known.get(step.id)
        if other is not None and step.distance == 1 and other.type in parts:
            parts[other.type].append(other.content)
    told: dict[str, Any] = {
        "reasons": [*([memory.reasoning] if memory.reasoning else []), *parts["reason"]],
        "constraints": parts["constraint"],
        "consequences": parts["consequence"],
        "alternatives": [
            {"option": each.option, **({"why_rejected": each.why_rejected} if each.why_rejected else {})}
            for each in details.alternatives
        ],
    }
    return {name: value for name, value in told.items() if value}


def outcome_of(memory: Memory, steps: Sequence[Step], known: Mapping[str, Memory]) -> dict[str, Any] | None:
    """Return what came of a decision, with the lessons that are linked to it."""
    details = DecisionDetails.of(memory)
    if details.outcome is None:
        return None
    lessons = [
        {"id": other.id, "type": other.type, "content": other.content}
        for step in steps
        if step.link.relationship == "outcome_of"
        and step.link.to_id == memory.id
        and (other := known.get(step.id)) is not None
    ]
    told: dict[str, Any] = {
        "outcome": details.outcome,
        "reason": details.outcome_reason,
        "limitation": details.limitation,
        "lessons": lessons,
    }
    return {name: value for name, value in told.items() if value}


def tell_context(reply: Mapping[str, Any]) -> str:
    lines = [line_of(reply["memory"])[2:]]
    for name, values in reply["causes"].items():
        texts = [each["option"] if isinstance(each, dict) else each for each in values]
        lines.append(f"{name.capitalize()}: {'; '.join(texts)}")
    if reply.get("outcome"):
        reason = reply["outcome"].get("reason")
        lines.append(f"Outcome: {reply['outcome']['outcome']}{f', {reason}' if reason else ''}")
    if len(reply["chain"]) > 1:
        lines += ["Chain, oldest first:", *(line_of_version(each) for each in reply["chain"])]
    lines += [
        f"{each['relationship']} ({each['direction']}, {each['distance']}): {line_of(each['memory'])[2:]}"
        for each in reply["neighbours"]
    ]
    return "\n".join(lines)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="load/checkpoint",
        family="intents",
        title="Load the last checkpoint",
        description="Resume the last work session. Use when starting a coding session, when the user says "
        '"continue from yesterday" and when returning after a break. Returns session summary, open files, '
        "next steps, and what was decided since. Don't use to look something up ({search/by_context}). "
        "Example: no arguments",
        search_hint="resume previous session, continue from yesterday, where did we stop",
        arguments=LoadCheckpointArguments,
        reply=LoadedCheckpoint,
        run=load_checkpoint,
        tell=tell_loaded,
        error=merged_error_shape,
        reads_only=True,
        is_idempotent=True,
    ),
    Tool(
        name="load/context",
        family="intents",
        title="Load the context of a memory",
        description="Load one decision or memory with its whole history, reasons, outcome and linked "
        "memories. Use when you know which one and need why and what surrounds it. Don't use to find it "
        '({search/by_context}). Example: topic="auth_strategy"',
        search_hint="why a decision was made, its history, outcome and related memories",
        arguments=ContextArguments,
        reply=ContextReply,
        run=load_context,
        tell=tell_context,
        error=error_shape,
        reads_only=True,
        is_idempotent=True,
    ),
)
