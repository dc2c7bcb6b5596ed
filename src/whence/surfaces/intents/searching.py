"""search/by_topic, search/by_context, search/recent: one search over every type of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from whence.core.memories import FIELD_LIMIT, check_text
from whence.core.ports import Scope, Walk
from whence.core.recall import Query
from whence.core.times import parse_instant
from whence.surfaces.intents.loading import NeighbourReply, told_neighbours, visible, why_replaced
from whence.surfaces.intents.topics import live_among, near_topics, on_topic
from whence.surfaces.replies import (
    MemoryReply,
    VersionReply,
    WithNotices,
    error_shape,
    line_of,
    line_of_version,
    told_chain,
    told_hit,
    told_memory,
)
from whence.surfaces.tool import Arguments, Call, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

QUERY_LIMIT = 10_000
# Reasons, consequences and constraints answer with their decision, never alone (RULINGS A10).
Searched = Literal["decision", "checkpoint", "insight", "context", "fact"]
_TYPES = WithJsonSchema(
    {"type": "array", "items": {"type": "string"}, "description": "Such as decision, insight, fact"}
)
TOPIC_DEPTH = 3
CONTEXT_DEPTH = 5
_SEARCHED = 'Default: this project\'s; "*" is all'


class SearchingArguments(Arguments):
    """Where to look."""

    workspace: Annotated[str | None, Field(description=_SEARCHED)] = None


# -- search/by_topic


class TopicArguments(SearchingArguments):
    """A topic."""

    topic: str
    include_history: Annotated[bool, Field(description="Texts of every version too")] = False


class TopicReply(WithNotices):
    """What holds on a topic, and how it came to be."""

    current: MemoryReply | None
    also_live: list[MemoryReply]
    evolution_chain: Annotated[list[VersionReply], Field(description="Every version, oldest first")]
    related: list[NeighbourReply]
    near_topics: list[str]


def search_by_topic(call: Call[TopicArguments]) -> dict[str, Any]:
    asked = call.arguments
    check_text(asked.topic, "topic", FIELD_LIMIT)
    found = on_topic(call, asked.topic)
    live = live_among(call, found)
    if not live:
        chain = call.whence.store.chain(found[0].id) if found else []
        return {
            "current": None,
            "also_live": [],
            "evolution_chain": told_chain(chain, whole=asked.include_history),
            "related": [],
            "near_topics": near_topics(call, asked.topic),
        }
    current, *others = live
    store = call.whence.store
    steps = call.whence.walks.of(Walk(start=current.id, depth=TOPIC_DEPTH))
    seen = visible(call, [step.id for step in steps])
    known = {memory_id: each for memory_id, each in seen.items() if each.is_live}
    call.whence.note_access([current.id])
    return {
        "current": told_memory(current),
        "also_live": [told_memory(each) for each in others],
        "evolution_chain": told_chain(
            store.chain(current.id), why_replaced(call, current.id), whole=asked.include_history
        ),
        "related": told_neighbours(steps, known),
        "near_topics": near_topics(call, asked.topic) if current.topic != asked.topic else [],
    }


def tell_topic(reply: Mapping[str, Any]) -> str:
    if reply["current"] is None:
        near = reply["near_topics"]
        lines = ["No live memory has this topic."]
        if near:
            lines.append(f"Near topics: {', '.join(near)}")
        return "\n".join([*lines, *(line_of_version(each) for each in reply["evolution_chain"])])
    lines = [f"Now: {line_of(reply['current'])[2:]}"]
    lines += [f"Also: {line_of(each)[2:]}" for each in reply["also_live"]]
    if len(reply["evolution_chain"]) > 1:
        lines += ["Chain, oldest first:", *(line_of_version(each) for each in reply["evolution_chain"])]
    lines += [f"{each['relationship']}: {line_of(each['memory'])[2:]}" for each in reply["related"]]
    return "\n".join(lines)


# -- search/by_context


class ContextSearchArguments(SearchingArguments):
    """A question."""

    query: Annotated[str, Field(description="What you want to know")]
    limit: Annotated[int, Field(ge=1, le=20)] = 5
    types: Annotated[list[Searched], _TYPES] = []
    as_of: Annotated[str | None, Field(description="What held then (ISO 8601)")] = None
    include_evolution: Annotated[bool, Field(description="Chains of the hits")] = True
    min_confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0
    max_tokens: Annotated[int | None, Field(ge=1, le=100_000)] = None


class ContextSearchReply(WithNotices):
    """The answers, best first."""

    memories: list[MemoryReply]
    evolution: Annotated[dict[str, list[VersionReply]], Field(description="Chains by id, where there is one")]
    explain: Annotated[str | None, Field(description="Why nothing was found")] = None


def search_by_context(call: Call[ContextSearchArguments]) -> dict[str, Any]:
    asked = call.arguments
    check_text(asked.query, "query", QUERY_LIMIT)
    scope = Scope(
        workspaces=call.workspaces(),
        types=tuple(asked.types),
        as_of=None if asked.as_of is None else parse_instant(asked.as_of, name="as_of"),
        least_confidence=asked.min_confidence,
    )
    answer = call.whence.recall(
        Query(
            text=asked.query,
            scope=scope,
            limit=asked.limit,
            max_tokens=asked.max_tokens,
            link_depth=CONTEXT_DEPTH,
        )
    )
    call.notices.extend(answer.notices)
    if answer.unread:
        call.caller.on_unread()
    evolution = {}
    for hit in answer.hits if asked.include_evolution else ():
        if hit.memory.supersedes or hit.memory.superseded_by:
            chain = call.whence.store.chain(hit.memory.id)
            evolution[hit.memory.id] = told_chain(chain, why_replaced(call, hit.memory.id))
    reply: dict[str, Any] = {
        "memories": [told_hit(each, explain=True) for each in answer.hits],
        "evolution": evolution,
    }
    if answer.nothing_because is not None:
        reply["explain"] = answer.nothing_because
    return reply


def tell_answers(reply: Mapping[str, Any]) -> str:
    if not reply["memories"]:
        return f"No memory answers this. {reply.get('explain', '')}".strip()
    lines = []
    for each in reply["memories"]:
        lines.append(line_of(each))
        reasoning = each.get("metadata", {}).get("reasoning")
        if reasoning:
            lines.append(f"  because: {reasoning}")
        earlier = [line for line in reply["evolution"].get(each["id"], []) if line["id"] != each["id"]]
        lines += [f"  before: {line_of_version(line)[2:]}" for line in earlier]
    return "\n".join(lines)


# -- search/recent


class RecentArguments(SearchingArguments):
    """How many, of which, since when."""

    limit: Annotated[int, Field(ge=1, le=50)] = 10
    types: Annotated[list[Searched], _TYPES] = []
    since: Annotated[str | None, Field(description="ISO 8601")] = None


class RecentReply(WithNotices):
    """The newest memories, newest first."""

    memories: list[MemoryReply]


def search_recent(call: Call[RecentArguments]) -> dict[str, Any]:
    asked = call.arguments
    since = None if asked.since is None else parse_instant(asked.since, name="since")
    found = call.whence.recent(Scope(workspaces=call.workspaces(), types=tuple(asked.types)), asked.limit)
    return {"memories": [told_memory(each) for each in found if since is None or each.created_at >= since]}


def tell_recent(reply: Mapping[str, Any]) -> str:
    return "\n".join(line_of(each) for each in reply["memories"]) or "Nothing that fits is stored here yet."


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="search/by_topic",
        family="intents",
        title="Search by topic",
        description="Find what holds on a known topic, and every version before it. Use when you know the "
        "topic's name; near names are offered. Don't use for questions in words ({search/by_context}). "
        'Example: topic="auth_strategy"',
        search_hint="current decision on a topic and how it evolved",
        arguments=TopicArguments,
        reply=TopicReply,
        run=search_by_topic,
        tell=tell_topic,
        error=error_shape,
        reads_only=True,
        is_idempotent=True,
    ),
    Tool(
        name="search/by_context",
        family="intents",
        title="Search by context",
        description="Search all memories by meaning, in any words or language: decisions, checkpoints, "
        "insights, facts. Use before you choose something, and when the user asks why, whether it was tried, "
        "or refers to earlier talk. Outdated memories are replaced by what holds now. Don't use for the last "
        'session ({load/checkpoint}). Example: query="why did we leave Redux?"',
        search_hint="search long-term memory: why, was it tried, what did we decide or learn",
        arguments=ContextSearchArguments,
        reply=ContextSearchReply,
        run=search_by_context,
        tell=tell_answers,
        error=error_shape,
        reads_only=True,
        is_idempotent=True,
    ),
    Tool(
        name="search/recent",
        family="intents",
        title="Search recent memories",
        description="List the newest memories of any type, newest first. Use to see what happened lately. "
        'Don\'t use to look for a subject ({search/by_context}). Example: types=["decision"], limit=5',
        search_hint="list the newest memories",
        arguments=RecentArguments,
        reply=RecentReply,
        run=search_recent,
        tell=tell_recent,
        error=error_shape,
        reads_only=True,
        is_idempotent=True,
    ),
)
