"""Family `legacy`: the seven tools of version 1.0; three live on in `intents`, four are deprecated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from whence.core.errors import InvalidParameter
from whence.core.memories import FIELD_LIMIT, check_text
from whence.core.ports import Scope
from whence.core.recall import Query
from whence.core.times import DAY, iso
from whence.surfaces import intents
from whence.surfaces.intents.evolving import REASON_LIMIT, note_outcome, outcome_named
from whence.surfaces.intents.topics import live_on, near_topics, on_topic
from whence.surfaces.replies import WithNotices, status_of
from whence.surfaces.tool import Arguments, Call, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.errors import WhenceError
    from whence.core.memories import Memory

END = "2.0, not before three months after 1.0"
QUERY_LIMIT = 10_000
SUGGESTED = 5
_FADES_IN = 30 * DAY


def error_shape(error: WhenceError) -> dict[str, Any]:
    """Return version 1.0's {"success": false, "message"}, with the next step and near names."""
    told: dict[str, Any] = {"success": False, "message": error.message}
    if error.hint:
        told["hint"] = error.hint
    if error.did_you_mean:
        told["did_you_mean"] = list(error.did_you_mean)
    return told


def _warn(call: Call[Any], instead: str) -> None:
    call.notices.append(
        f"{call.tool} is deprecated and ends with {END}: use {call.listed_name(instead)} instead."
    )


# -- recall_decision


class RecallArguments(Arguments):
    """A topic."""

    topic: Annotated[str, Field(description="Decision topic")]


class HistoryReply(WithNotices):
    """A topic's decisions as a page."""

    success: bool
    history: Annotated[str | None, Field(description="Markdown, newest first")] = None
    message: str


def recall_decision(call: Call[RecallArguments]) -> dict[str, Any]:
    topic = call.arguments.topic
    check_text(topic, "topic", FIELD_LIMIT)
    _warn(call, "search/by_topic")
    found = on_topic(call, topic) or _of_prefix(call, topic)
    chains = {each.id: each for memory in found for each in call.whence.store.chain(memory.id)}
    versions = [each for each in chains.values() if each.type == "decision" and each.status != "archived"]
    if not versions:
        near = near_topics(call, topic)
        hint = f" Near topics: {', '.join(near)}." if near else ""
        return {"success": True, "message": f"No decisions found for topic: {topic}.{hint}"}
    versions.sort(key=lambda each: (each.created_at, each.id), reverse=True)
    return {
        "success": True,
        "history": f"# {topic}\n\n" + "\n\n".join(_page(each) for each in versions),
        "message": f"Found {len(versions)} decision(s) for topic: {topic}",
    }


def _of_prefix(call: Call[Any], topic: str) -> list[Memory]:
    """Return what lies on topics that begin like this one, as version 1.0 did when none matched."""
    prefix = topic.split("_", maxsplit=1)[0].casefold()
    known = call.whence.store.topics(Scope(workspaces=call.workspaces()))
    near = [each for each in known if prefix and each.casefold().startswith(prefix)]
    return [memory for each in near for memory in on_topic(call, each)]


def _page(memory: Memory) -> str:
    """Return one version as a paragraph of Markdown."""
    status = status_of(memory)
    lines = [
        f"## {memory.content}",
        f"- Id: {memory.id} ({status}), {iso(memory.created_at)[:10]}",
        f"- Topic: {memory.topic}, confidence {memory.confidence:g}",
    ]
    if memory.reasoning:
        lines.append(f"- Reasoning: {memory.reasoning}")
    outcome, reason = memory.metadata.get("outcome"), memory.metadata.get("outcome_reason")
    if outcome:
        lines.append(f"- Outcome: {outcome}{f' ({reason})' if reason else ''}")
    if memory.superseded_by:
        lines.append(f"- Superseded by: {memory.superseded_by}")
    return "\n".join(lines)


# -- suggest_decision


class SuggestArguments(Arguments):
    """A question."""

    userQuestion: Annotated[str, Field(description="The question at hand")]  # noqa: N815  version 1.0's word
    recencyWeight: Annotated[  # noqa: N815  as above
        float | None, Field(ge=0, le=1, allow_inf_nan=False, description="How much newer ones count")
    ] = None


class SuggestReply(WithNotices):
    """What past decisions say to a question."""

    success: bool
    suggestions: Annotated[str | None, Field(description="Markdown, best first")] = None
    message: str | None = None


def suggest_decision(call: Call[SuggestArguments]) -> dict[str, Any]:
    asked = call.arguments
    check_text(asked.userQuestion, "userQuestion", QUERY_LIMIT)
    _warn(call, "search/by_context")
    scope = Scope(workspaces=call.workspaces(), types=("decision",))
    answer = call.whence.recall(Query(text=asked.userQuestion, scope=scope, limit=4 * SUGGESTED))
    call.notices.extend(answer.notices)
    if answer.unread:
        call.caller.on_unread()
    if not answer.hits:
        return {"success": True, "message": f"No past decision answers this. {answer.nothing_because or ''}"}
    weight, now = asked.recencyWeight or 0.0, call.whence.clock.now()
    ranked = sorted(
        answer.hits,
        key=lambda hit: (
            -(
                (1 - weight) * hit.relevance
                + weight * 0.5 ** (max(0, now - hit.memory.created_at) / _FADES_IN)
            )
        ),
    )
    return {
        "success": True,
        "suggestions": "\n\n".join(_page(hit.memory) for hit in ranked[:SUGGESTED]),
    }


# -- list_decisions


class ListArguments(Arguments):
    """How many."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20


class ListReply(WithNotices):
    """The newest live decisions."""

    success: bool
    list: Annotated[str, Field(description="Markdown, newest first")]
    message: str


def list_decisions(call: Call[ListArguments]) -> dict[str, Any]:
    _warn(call, "search/recent")
    scope = Scope(workspaces=call.workspaces(), types=("decision",))
    found: Sequence[Memory] = call.whence.recent(scope, call.arguments.limit)
    lines = [
        f"{number}. **{each.topic}**: {each.content} ({each.id})" for number, each in enumerate(found, 1)
    ]
    return {"success": True, "list": "\n".join(lines), "message": f"{len(found)} decision(s), newest first"}


# -- update_outcome


class UpdateArguments(Arguments):
    """What came of which decision; both shapes of version 1.0."""

    decisionId: Annotated[str | None, Field(description="Id of the decision")] = None  # noqa: N815  version 1.0's word
    topic: Annotated[str | None, Field(description="Or: the topic of its live decision")] = None
    outcome: Annotated[str, Field(description="SUCCESS, FAILED or PARTIAL, in any case")]
    failure_reason: Annotated[str | None, Field(description="Needed for FAILED")] = None
    limitation: str | None = None


class UpdateReply(WithNotices):
    """Whether it was noted."""

    success: bool
    message: str
    decision_id: str


def update_outcome(call: Call[UpdateArguments]) -> dict[str, Any]:
    asked = call.arguments
    if (asked.decisionId is None) == (asked.topic is None):
        raise InvalidParameter("decisionId or topic is required", hint="Give one of the two.")
    outcome = outcome_named(asked.outcome)
    if asked.topic is not None:
        check_text(asked.topic, "topic", FIELD_LIMIT)
        decision_id = live_on(call, asked.topic).id
    else:
        decision_id = str(asked.decisionId)
    reason = asked.failure_reason
    if reason is not None:
        check_text(reason, "failure_reason", REASON_LIMIT)
    elif outcome == "FAILED" and asked.topic is None:
        raise InvalidParameter(
            "failure_reason is required for FAILED", hint="Say why it failed: the next session will be told."
        )
    # The shape with a topic knew no reason; a failure without one is still a failure.
    updated, _, _ = note_outcome(
        call, decision_id, outcome, reason=reason, limitation=asked.limitation, needs_reason=False
    )
    _warn(call, "evolve/outcome")
    return {
        "success": True,
        "message": f"Outcome of {updated.topic or updated.id}: {outcome}",
        "decision_id": updated.id,
    }


def _tell(*names: str) -> Any:  # noqa: ANN401  a Tool's tell
    def tell(reply: Mapping[str, Any]) -> str:
        return "\n".join(str(reply[name]) for name in names if reply.get(name))

    return tell


def _deprecated(instead: str, words: str) -> str:
    return f"Deprecated, ends with {END}: use {{{instead}}}. {words}"


OWN: tuple[Tool[Any], ...] = (
    Tool(
        name="recall_decision",
        family="legacy",
        title="Recall decisions",
        description=_deprecated(
            "search/by_topic", 'Shows the decisions of a topic, newest first. Example: topic="auth_strategy"'
        ),
        search_hint="older form of search/by_topic",
        arguments=RecallArguments,
        reply=HistoryReply,
        run=recall_decision,
        tell=_tell("message", "history"),
        error=error_shape,
        reads_only=True,
        is_idempotent=True,
    ),
    Tool(
        name="suggest_decision",
        family="legacy",
        title="Suggest decisions",
        description=_deprecated(
            "search/by_context",
            'Finds past decisions that answer a question. Example: userQuestion="Which database?"',
        ),
        search_hint="older form of search/by_context",
        arguments=SuggestArguments,
        reply=SuggestReply,
        run=suggest_decision,
        tell=_tell("message", "suggestions"),
        error=error_shape,
        reads_only=True,
        is_idempotent=True,
    ),
    Tool(
        name="list_decisions",
        family="legacy",
        title="List decisions",
        description=_deprecated("search/recent", "Lists the newest live decisions. Example: limit=10"),
        search_hint="older form of search/recent",
        arguments=ListArguments,
        reply=ListReply,
        run=list_decisions,
        tell=_tell("message", "list"),
        error=error_shape,
        reads_only=True,
        is_idempotent=True,
    ),
    Tool(
        name="update_outcome",
        family="legacy",
        title="Update an outcome",
        description=_deprecated(
            "evolve/outcome",
            'Marks how a decision went. Example: decisionId="decision_...", outcome="SUCCESS"',
        ),
        search_hint="older form of evolve/outcome",
        arguments=UpdateArguments,
        reply=UpdateReply,
        run=update_outcome,
        tell=_tell("message"),
        error=error_shape,
        is_idempotent=True,
    ),
)
_MERGED = {tool.name: tool for tool in intents.TOOLS}
# As version 1.0 listed them: three are the new tools, which take the old arguments and add the old reply.
TOOLS: tuple[Tool[Any], ...] = (
    _MERGED["save/decision"],
    *OWN,
    _MERGED["save/checkpoint"],
    _MERGED["load/checkpoint"],
)

INSTRUCTIONS = """\
Four of these tools are deprecated; their descriptions name what to use instead.
"""
