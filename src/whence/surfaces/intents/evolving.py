"""evolve/outcome, evolve/supersede: what came of a decision, and what replaced it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field

from whence.core.details import OUTCOMES, DecisionDetails, InsightDetails
from whence.core.errors import InvalidParameter
from whence.core.masking import mask
from whence.core.memories import CONTENT_LIMIT, FIELD_LIMIT, Draft, Tie, check_text
from whence.surfaces.intents.loading import why_replaced
from whence.surfaces.intents.topics import known_id
from whence.surfaces.replies import (
    MemoryReply,
    VersionReply,
    WithNotices,
    error_shape,
    line_of,
    line_of_version,
    told_chain,
    told_link,
    told_memory,
)
from whence.surfaces.tool import UNLISTED, Arguments, Call, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whence.core.details import Outcome
    from whence.core.links import Link
    from whence.core.memories import Memory

REASON_LIMIT = 2000
_CONTEXT = 1000  # characters of a decision that lead to its lesson
_LESSON = "outcome "  # how the category of a lesson begins
_SAME_WORD = {"FAILURE": "FAILED", "SUCCEEDED": "SUCCESS"}


# -- evolve/outcome


class OutcomeArguments(Arguments):
    """What came of which decision."""

    decision_id: Annotated[str | None, Field(description="Id or number")] = None
    outcome: Annotated[str, Field(description="SUCCESS, FAILED or PARTIAL")]
    reason: Annotated[str | None, Field(description="Why; needed for FAILED, kept as a lesson")] = None
    limitation: str | None = None
    evidence_id: Annotated[str | None, Field(description="A memory that shows it")] = None
    id: Annotated[str | None, UNLISTED] = None
    decisionId: Annotated[str | None, UNLISTED] = None  # noqa: N815  an older client's word


class OutcomeReply(WithNotices):
    """The decision with its outcome, and the lesson."""

    model_config = ConfigDict(extra="allow")

    updated: MemoryReply
    lesson: MemoryReply | None
    link: dict[str, Any] | None


def evolve_outcome(call: Call[OutcomeArguments]) -> dict[str, Any]:
    asked = call.arguments
    told = [each for each in (asked.decision_id, asked.id, asked.decisionId) if each is not None]
    if not told or not told[0].strip():
        raise InvalidParameter("decision_id is required", hint="Give the id of the decision.")
    if len(set(told)) > 1:
        raise InvalidParameter("decision_id, id and decisionId name different decisions", hint="Give one.")
    outcome = outcome_named(asked.outcome)
    updated, lesson, link = note_outcome(
        call,
        told[0],
        outcome,
        reason=asked.reason,
        limitation=asked.limitation,
        evidence_id=asked.evidence_id,
    )
    return {
        "updated": told_memory(updated),
        "lesson": None if lesson is None else told_memory(lesson),
        "link": None if link is None else told_link(link, call.whence.clock.now()),
    }


def outcome_named(word: str) -> Outcome:
    """Return the outcome that a word in any letter case names."""
    upper = word.strip().upper()
    known = _SAME_WORD.get(upper, upper)
    for each in OUTCOMES:
        if each == known:
            return each
    raise InvalidParameter(
        'outcome must be "SUCCESS" or "FAILED" or "PARTIAL"', hint="Give one of the three, in any case."
    )


def note_outcome(
    call: Call[Any],
    told_id: str,
    outcome: Outcome,
    *,
    reason: str | None = None,
    limitation: str | None = None,
    evidence_id: str | None = None,
    needs_reason: bool = True,
) -> tuple[Memory, Memory | None, Link | None]:
    """Keep what came of a decision; its reason becomes a linked lesson, which the next search meets."""
    for name, text in (("reason", reason), ("limitation", limitation)):
        if text is not None:
            check_text(text, name, REASON_LIMIT)
    if outcome == "FAILED" and reason is None and needs_reason:
        raise InvalidParameter(
            "reason is required for FAILED", hint="Say why it failed: the next session will be told."
        )
    whence = call.whence
    decision = whence.get(known_id(call, told_id))
    if decision.type != "decision":
        raise InvalidParameter(
            f"Memory {decision.id} is of type {decision.type}, and only a decision has an outcome",
            hint="Give the id of a decision.",
        )
    evidence = None if evidence_id is None else whence.get(known_id(call, evidence_id))
    if evidence is not None and evidence.id == decision.id:
        raise InvalidParameter("evidence_id is the decision itself", hint="Give the id of what shows it.")
    # The lesson first: should the rest be cut off, the same call again finds it and goes on.
    lesson, link = None, None
    if reason is not None:
        lesson, link = _lesson(call, decision, outcome, reason)
    _retire_lessons(call, decision, lesson)
    if evidence is not None:
        shown = whence.link(
            evidence.id,
            Tie(to_id=decision.id, relationship="outcome_of", confidence=1.0),
            author=call.author,
            creator=call.caller.creator,
        )
        link = link or shown
    details = {"outcome": outcome, "outcome_reason": reason, "limitation": limitation}
    saved = whence.edit(decision.id, {"metadata": details}, author=call.author, action="outcome")
    call.notices.extend(each for each in saved.notices if each not in call.notices)
    return saved.memory, lesson, link


def _lessons(call: Call[Any], decision: Memory) -> list[tuple[Memory, Link]]:
    """Return the live lessons that outcomes of a decision left, each with its link."""
    found = []
    for link in call.whence.store.graph().links(decision.id):
        if link.relationship == "outcome_of" and link.to_id == decision.id and link.known_until is None:
            lesson = call.whence.get(link.from_id)
            category = InsightDetails.of(lesson).category or ""
            if lesson.type == "insight" and lesson.is_live and category.startswith(_LESSON):
                found.append((lesson, link))
    return found


def _retire_lessons(call: Call[Any], decision: Memory, latest: Memory | None) -> None:
    """Let the latest lesson replace earlier ones, which an outcome that changed has made outdated."""
    for lesson, _ in _lessons(call, decision):
        if latest is None:
            call.whence.archive(lesson.id, author=call.author)
        elif lesson.id != latest.id:
            call.whence.supersede(lesson.id, by=latest.id, author=call.author, creator=call.caller.creator)


def _lesson(call: Call[Any], decision: Memory, outcome: Outcome, reason: str) -> tuple[Memory, Link | None]:
    """Keep the reason as an insight that is found under the decision's topic; the same one is kept once."""
    whence = call.whence
    category = f"{_LESSON}{outcome.lower()}"
    for lesson, known in _lessons(call, decision):
        if lesson.content == mask(reason).text and InsightDetails.of(lesson).category == category:
            return lesson, known
    draft = Draft(
        content=reason,
        type="insight",
        topic=decision.topic,
        context=f"{decision.topic or 'decision'}: {decision.content[:_CONTEXT]}. Outcome: {outcome}.",
        metadata=InsightDetails(category=category).metadata(),
        ties=(Tie(to_id=decision.id, relationship="outcome_of", confidence=1.0),),
    )
    saved = whence.remember(
        draft, workspace=decision.workspace, author=call.author, creator=call.caller.creator
    )
    call.caller.on_saved()
    return saved.memory, next(iter(saved.links), None)


def tell_outcome(reply: Mapping[str, Any]) -> str:
    lines = [f"Outcome noted: {line_of(reply['updated'])[2:]}"]
    if reply["lesson"]:
        lines.append(f"Lesson: {reply['lesson']['content']} ({reply['lesson']['id']})")
    return "\n".join(lines)


# -- evolve/supersede


class SupersedeArguments(Arguments):
    """What is replaced by what."""

    old_id: Annotated[str, Field(description="Id or number of what is outdated")]
    decision: Annotated[str | None, Field(description="The new decision")] = None
    reasoning: str | None = None
    new_id: Annotated[str | None, Field(description="Instead: the stored memory that replaces it")] = None
    topic: Annotated[str | None, Field(description="Default: the old one's")] = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.7
    reason: Annotated[str | None, Field(description="Why the old one no longer holds")] = None


class SupersedeReply(WithNotices):
    """The new memory, the old one, and the whole chain."""

    created: MemoryReply
    superseded: MemoryReply
    chain: list[VersionReply]


_OF_A_NEW_ONE = {"decision", "reasoning", "topic", "confidence"}


def evolve_supersede(call: Call[SupersedeArguments]) -> dict[str, Any]:
    asked = call.arguments
    check_text(asked.old_id, "old_id", FIELD_LIMIT)
    if asked.reason is not None:
        check_text(asked.reason, "reason", REASON_LIMIT)
    old = call.whence.get(known_id(call, asked.old_id))
    if asked.new_id is None:
        new = _decided(call, old)
    elif {name for name in _OF_A_NEW_ONE & asked.model_fields_set if getattr(asked, name) is not None}:
        raise InvalidParameter(
            "new_id names a stored memory, so decision, reasoning, topic and confidence must be left out",
            hint="Give new_id alone, or decision and reasoning.",
        )
    else:
        check_text(asked.new_id, "new_id", FIELD_LIMIT)
        new = call.whence.supersede(
            old.id,
            by=known_id(call, asked.new_id),
            author=call.author,
            creator=call.caller.creator,
            reason=asked.reason,
        )
    return {
        "created": told_memory(call.whence.get(new.id)),
        "superseded": told_memory(call.whence.get(old.id)),
        "chain": told_chain(call.whence.store.chain(new.id), why_replaced(call, new.id)),
    }


def _decided(call: Call[SupersedeArguments], old: Memory) -> Memory:
    """Store the new decision, which replaces the old one with its save."""
    asked = call.arguments
    for name in ("decision", "reasoning"):
        text = getattr(asked, name)
        if text is None:
            raise InvalidParameter(
                f"{name} is required", hint="Give decision and reasoning, or new_id of a stored memory."
            )
        check_text(text, name, CONTENT_LIMIT)
    topic = asked.topic if asked.topic is not None else old.topic
    if topic is not None:
        check_text(topic, "topic", FIELD_LIMIT)
    details = DecisionDetails(reasoning=asked.reasoning, decision_type=DecisionDetails.of(old).decision_type)
    saved = call.whence.remember(
        Draft(
            content=str(asked.decision),
            type="decision",
            topic=topic,
            confidence=asked.confidence,
            level=old.level,
            domain=old.domain,
            module=old.module,
            metadata=details.metadata(),
            supersedes=(old.id,),
            why_replaced=asked.reason,
        ),
        workspace=call.workspace().id if call.arguments.workspace else old.workspace,
        author=call.author,
        request=call.request,
        creator=call.caller.creator,
    )
    call.notices.extend(saved.notices)
    call.caller.on_saved()
    return saved.memory


def tell_superseded(reply: Mapping[str, Any]) -> str:
    lines = [f"{line_of(reply['created'])[2:]} replaces {reply['superseded']['id']}."]
    return "\n".join([*lines, *(line_of_version(each) for each in reply["chain"])])


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="evolve/outcome",
        family="intents",
        title="Note an outcome",
        description="Mark a decision as SUCCESS, FAILED or PARTIAL once you know how it went, so that "
        "later sessions meet the failure and its reason. Use after tests, a deployment or the user's verdict."
        " Don't use "
        'when it was replaced ({evolve/supersede}). Example: decision_id="decision_...", '
        'outcome="FAILED", reason="Sessions lost on restart"',
        search_hint="mark a decision as successful, failed or partial",
        arguments=OutcomeArguments,
        reply=OutcomeReply,
        run=evolve_outcome,
        tell=tell_outcome,
        error=error_shape,
        is_idempotent=True,
    ),
    Tool(
        name="evolve/supersede",
        family="intents",
        title="Supersede a decision",
        description="Replace an outdated memory: by a new decision (decision and reasoning), or by one that "
        "is stored already (new_id). Use when a choice changes or a save's action_required asks for it."
        " Don't "
        'use for a failure without a successor ({evolve/outcome}). Example: old_id="decision_...", '
        'decision="Use PostgreSQL", reasoning="Concurrent writers"',
        search_hint="replace an outdated decision or memory by a new one",
        arguments=SupersedeArguments,
        reply=SupersedeReply,
        run=evolve_supersede,
        tell=tell_superseded,
        error=error_shape,
    ),
)
