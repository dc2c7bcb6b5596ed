"""Replies: how a memory, its chain and its neighbours look in an answer of any family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from whence.core.links import effective_confidence
from whence.core.memories import MemoryType  # noqa: TC001  pydantic reads it when the class is made
from whence.core.times import iso

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.errors import WhenceError
    from whence.core.links import Link
    from whence.core.memories import Memory
    from whence.core.recall import Hit
    from whence.core.times import Instant
    from whence.surfaces.tool import Call

FIRST_LINE = 120  # characters of a text that is only named


class WithNotices(BaseModel):
    """A reply that may say more."""

    notices: Annotated[list[str] | None, Field(description="What else the caller should know")] = None


class MemoryReply(BaseModel):
    """One memory; empty fields are left out."""

    model_config = ConfigDict(extra="allow")

    id: str
    type: MemoryType
    content: str
    confidence: Annotated[float, Field(ge=0, le=1)]
    created_at: str
    updated_at: str
    valid_from: str
    status: Literal["active", "reconsidering", "superseded", "archived"]


class VersionReply(BaseModel):
    """One version of a chain, by its first line."""

    model_config = ConfigDict(extra="allow")

    id: str
    first_line: str
    valid_from: str
    status: str


def error_shape(error: WhenceError) -> dict[str, Any]:
    """Return {"error": {"code", "message"}}, with the next step and near names where there are."""
    told: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.hint:
        told["hint"] = error.hint
    if error.did_you_mean:
        told["did_you_mean"] = list(error.did_you_mean)
    return {"error": told}


def merged_error_shape(error: WhenceError) -> dict[str, Any]:
    """Return the error as it is now, and as version 1.0 told it under the same name (RULINGS B7)."""
    return {**error_shape(error), "success": False, "message": error.message}


def status_of(memory: Memory) -> str:
    return "superseded" if memory.is_superseded and memory.status != "archived" else memory.status


def told_memory(memory: Memory) -> dict[str, Any]:
    """Return a memory as the families of document 000 tell it."""
    details = {name: value for name, value in memory.metadata.items() if name != "schema_version"}
    if memory.type == "checkpoint":
        details["status"] = "archived" if memory.status == "archived" else "active"
    if memory.tags and memory.type == "insight":
        details["tags"] = list(memory.tags)
    reply: dict[str, Any] = {
        "id": memory.id,
        "type": memory.type,
        "content": memory.content,
        "topic": memory.topic,
        "name": memory.name,
        "number": memory.number,
        "confidence": memory.confidence,
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "valid_from": iso(memory.valid_from),
        "valid_until": None if memory.valid_until is None else iso(memory.valid_until),
        "status": status_of(memory),
        "labels": list(memory.labels),
        "level": memory.level,
        "domain": memory.domain,
        "module": memory.module,
        "code_ref": memory.code_ref,
        "tags": list(memory.tags),
        "metadata": details,
        "superseded_by": memory.superseded_by,
    }
    if memory.supersedes:
        reply["supersedes"] = memory.supersedes[0]
    if len(memory.supersedes) > 1:
        reply["supersedes_all"] = list(memory.supersedes)
    return {name: value for name, value in reply.items() if value not in (None, [], {})}


def told_hit(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    reply = {**told_memory(hit.memory), "relevance_score": round(hit.relevance, 4)}
    if explain:
        reply["why"] = {reason.name: round(reason.points, 3) for reason in hit.reasons}
        if hit.via is not None:
            reply["why"]["found_through"] = hit.via
    return reply


def first_line(text: str) -> str:
    line = next((each for each in text.splitlines() if each.strip()), "").strip()
    return line if len(line) <= FIRST_LINE else f"{line[: FIRST_LINE - 1]}…"


def told_chain(
    versions: Sequence[Memory], reasons: Mapping[str, str] | None = None, *, whole: bool = False
) -> list[dict[str, Any]]:
    """Return a chain, oldest first, by dates, ids and first lines; `whole` adds the texts."""
    chain = []
    for memory in versions:
        told: dict[str, Any] = {
            "id": memory.id,
            "number": memory.number,
            "topic": memory.topic,
            "first_line": first_line(memory.content),
            "valid_from": iso(memory.valid_from),
            "valid_until": None if memory.valid_until is None else iso(memory.valid_until),
            "status": status_of(memory),
            "superseded_by": memory.superseded_by,
            "why_replaced": (reasons or {}).get(memory.id),
        }
        if whole:
            told |= {"content": memory.content, "reasoning": memory.reasoning}
            told["outcome"] = memory.metadata.get("outcome")
        chain.append({name: value for name, value in told.items() if value is not None})
    return chain


def told_link(link: Link, now: Instant) -> dict[str, Any]:
    """Return a link with who made it and how much it counts now."""
    told = {
        "id": link.id,
        "from_id": link.from_id,
        "to_id": link.to_id,
        "relationship": link.metadata.get("original_relationship", link.relationship),
        "link_type": link.link_type,
        "confidence": round(link.confidence, 3),
        "effective_confidence": round(effective_confidence(link, now), 3),
        "created_by": link.created_by,
        "created_at": iso(link.created_at),
        "reason": link.metadata.get("reason"),
    }
    return {name: value for name, value in told.items() if value is not None}


def offer(call: Call[Any], old_id: str, new_id: str, *, own: str) -> str:
    """Return the sentence that offers to replace a memory, by a tool that the caller sees (RULINGS A11)."""
    both = ("supersede_memory", "evolve/supersede")
    canonical = next((each for each in (own, *both) if call.lists(each)), own)
    name = call.listed_name(canonical)
    asked = (
        f'{name}("{old_id}", "{new_id}")'
        if canonical == "supersede_memory"
        else f'{name}(old_id="{old_id}", new_id="{new_id}")'
    )
    return f"Call {asked} to mark the old memory as outdated. If both still hold, keep both."


def line_of(memory: Mapping[str, Any]) -> str:
    """Return a told memory in one line."""
    labels = f" [{', '.join(memory['labels'])}]" if memory.get("labels") else ""
    topic = f"{memory['topic']}: " if memory.get("topic") else ""
    outcome = memory.get("metadata", {}).get("outcome")
    came = f" [outcome {outcome}]" if outcome else ""
    return f"- {topic}{memory['content']}{labels}{came} ({memory['id']}, {memory['created_at'][:10]})"


def line_of_version(version: Mapping[str, Any]) -> str:
    status = "" if version["status"] == "active" else f" [{version['status']}]"
    return f"- {version['valid_from'][:10]} {version['first_line']}{status} ({version['id']})"
