"""save/decision, save/checkpoint, save/insight: what was decided, where the work stands, what was learned."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from whence.core.details import (
    LIST_LIMIT,
    Alternative,
    CheckpointDetails,
    DecisionDetails,
    DecisionType,
    InsightDetails,
    Outcome,
)
from whence.core.errors import EmbeddingUnavailable, InvalidParameter
from whence.core.links import LINK_LIMIT, known_type
from whence.core.memories import (
    CONTENT_LIMIT,
    FIELD_LIMIT,
    STATED_CONFIDENCE,
    Draft,
    Tie,
    check_text,
    topic_key,
)
from whence.core.ports import Scope, Wanted
from whence.core.reading import embedder_for
from whence.core.times import parse_instant
from whence.features.alignment import rejected_by
from whence.features.conflicts import similar
from whence.features.relating import link_type_of
from whence.surfaces.intents.topics import known_id
from whence.surfaces.replies import (
    MemoryReply,
    WithNotices,
    error_shape,
    line_of,
    merged_error_shape,
    offer,
    told_memory,
)
from whence.surfaces.tool import UNLISTED, Arguments, Call, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.life import Saved
    from whence.core.memories import LinkType, Memory, MemoryType

logger = logging.getLogger(__name__)
NEAR = 5  # memories that a save shows beside the new one
_LOOKED_AT = 10_000  # live decisions that a new choice is held against
_OLD_OUTCOMES: Mapping[str, Outcome] = {"success": "SUCCESS", "failure": "FAILED", "partial": "PARTIAL"}


class LinkArgument(BaseModel):
    """A link to an existing memory."""

    model_config = ConfigDict(extra="forbid", strict=True)

    to_id: str
    relationship: str
    reason: str | None = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = STATED_CONFIDENCE


class AlternativeArgument(BaseModel):
    """What was not chosen."""

    model_config = ConfigDict(extra="forbid", strict=True)

    option: str
    why_rejected: str | None = None


def _brief(words: str) -> WithJsonSchema:
    """Advertise a list of objects in few words: what each schema costs is read by a model every time."""
    return WithJsonSchema({"type": "array", "items": {"type": "object"}, "description": words})


class SavingArguments(Arguments):
    """What every save takes beside its own."""

    links: Annotated[list[LinkArgument], _brief("{to_id, relationship, reason?, confidence?}")] = []
    tags: list[str] = []
    level: Annotated[int | None, Field(ge=0, le=3, description="0 project..3 code")] = None
    domain: str | None = None
    module: str | None = None
    code_ref: str | None = None
    valid_from: Annotated[str | None, Field(description="ISO 8601")] = None


SavingT = TypeVar("SavingT", bound=SavingArguments)


def ties_of(call: Call[SavingT], implements: Sequence[str] = ()) -> tuple[Tie, ...]:
    """Return the links that a save states."""
    asked = call.arguments
    stated = [
        Tie(
            to_id=known_id(call, each.to_id),
            relationship=each.relationship,
            confidence=each.confidence,
            reason=each.reason,
            link_type=_type_of(call, each.relationship),
        )
        for each in asked.links
    ]
    for each in implements:
        check_text(each, "implements", FIELD_LIMIT)
    return (
        *stated,
        *(Tie(to_id=known_id(call, each), relationship="implements", confidence=1.0) for each in implements),
    )


def _type_of(call: Call[SavingT], word: str) -> LinkType:
    """Return the core type of a word: by the table, else by a model that can tell such words apart."""
    known = known_type(word)
    if known is not None:
        return known
    try:
        return link_type_of(word, embedder_for(call.whence.models, word))
    except EmbeddingUnavailable:
        return link_type_of(word)


def listed(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one text or several as several."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def keep(call: Call[SavingT], draft: Draft) -> Saved:
    """Store a draft with what every save takes."""
    asked = call.arguments
    for name in ("domain", "module", "code_ref"):
        if (text := getattr(asked, name)) is not None:
            check_text(text, name, FIELD_LIMIT if name != "code_ref" else CONTENT_LIMIT)
    since = None if asked.valid_from is None else parse_instant(asked.valid_from, name="valid_from")
    draft = _with_common(draft, asked, since)
    _check(call, draft)
    saved = call.whence.remember(
        draft,
        workspace=call.workspace().id,
        author=call.author,
        request=call.request,
        creator=call.caller.creator,
    )
    call.notices.extend(saved.notices)
    call.caller.on_saved()
    return saved


def _check(call: Call[Any], draft: Draft) -> None:
    """Raise for what is refused, before a project's first save founds its workspace."""
    draft.check()
    if len(draft.ties) > LINK_LIMIT:
        raise InvalidParameter(f"links must be at most {LINK_LIMIT}; there are {len(draft.ties)}")
    for tie in draft.ties:
        tie.check()
    for named in (*(tie.to_id for tie in draft.ties), *draft.supersedes):
        call.whence.get(named)


def _with_common(draft: Draft, asked: SavingArguments, since: int | None) -> Draft:
    return replace(
        draft,
        level=asked.level,
        domain=asked.domain,
        module=asked.module,
        code_ref=asked.code_ref,
        tags=tuple(asked.tags),
        valid_from=since,
    )


def near_memories(call: Call[Any], saved: Saved) -> tuple[list[Memory], Memory | None]:
    """Return what stands near a new memory, and the one that it may make outdated; it is stored by now."""
    try:
        scope = Scope(workspaces=call.workspaces())
        same = _same_topic(call, saved.memory, scope)
        found = similar(call.whence, saved, scope)
    except Exception:  # an error would say that nothing was stored
        logger.exception("%s could not look for similar memories", call.tool)
        call.notices.append("Stored, but what it may make outdated could not be looked up.")
        return [], None
    outdated = same[0] if same else found.outdated
    near = {each.id: each for each in (*same, *found.memories)}
    return list(near.values())[:NEAR], outdated


def _same_topic(call: Call[Any], memory: Memory, scope: Scope) -> list[Memory]:
    """Return the other live decisions on a decision's topic, newest first."""
    if memory.type != "decision" or memory.topic is None:
        return []
    known = call.whence.store.listed(Wanted(topic=topic_key(memory.topic)), scope, _LOOKED_AT)
    live = [each for each in known if each.is_live and each.type == "decision" and each.id != memory.id]
    return sorted(live, key=lambda each: (each.created_at, each.id), reverse=True)


# -- save/decision


class DecisionArguments(SavingArguments):
    """A choice and why it was made."""

    topic: Annotated[str, Field(description='Decision topic (e.g., "auth_strategy")')]
    decision: Annotated[str, Field(description="What was decided")]
    reasoning: Annotated[str, Field(description="Why this decision")]
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.7
    alternatives: Annotated[list[AlternativeArgument], _brief("{option, why_rejected?}")] = []
    reasons: list[str] = []
    consequences: list[str] = []
    constraints: list[str] = []
    supersedes: Annotated[
        str | list[str] | None, WithJsonSchema({"description": "Id or ids of decisions it replaces"})
    ] = None
    implements: Annotated[list[str], Field(description="Ids of what it carries out")] = []
    decision_type: DecisionType = "tech_choice"
    # Of the older tool of this name.
    type: Annotated[Literal["user_decision", "assistant_insight"] | None, UNLISTED] = None
    outcome: Annotated[Literal["pending", "success", "failure", "partial", "superseded"] | None, UNLISTED] = (
        None
    )


class ConflictReply(BaseModel):
    """A live decision that rejected this choice."""

    id: str
    reason: str


class DecisionReply(WithNotices):
    """What was saved, what it may make outdated, and who rejected it before."""

    model_config = ConfigDict(extra="allow")

    created: MemoryReply
    similar: list[MemoryReply]
    conflicts: Annotated[list[ConflictReply], Field(description="Live decisions that rejected this choice")]
    action_required: str | None
    links_created: int


def save_decision(call: Call[DecisionArguments]) -> dict[str, Any]:
    asked = call.arguments
    for name, limit in (("topic", FIELD_LIMIT), ("decision", CONTENT_LIMIT), ("reasoning", CONTENT_LIMIT)):
        check_text(getattr(asked, name), name, limit)
    for replaced in listed(asked.supersedes):
        check_text(replaced, "supersedes", FIELD_LIMIT)
    details = DecisionDetails(
        reasoning=asked.reasoning,
        decision_type=asked.decision_type,
        alternatives=tuple(
            Alternative(option=each.option, why_rejected=each.why_rejected) for each in asked.alternatives
        ),
        outcome=_OLD_OUTCOMES.get(asked.outcome or ""),
    )
    details.check()
    saved = keep(
        call,
        Draft(
            content=asked.decision,
            type="decision",
            topic=asked.topic,
            confidence=asked.confidence,
            metadata={**details.metadata(), **({"decided_by": asked.type} if asked.type else {})},
            ties=ties_of(call, asked.implements),
            supersedes=tuple(known_id(call, each) for each in listed(asked.supersedes)),
            parts=parts_of(asked.reasons, asked.consequences, asked.constraints),
        ),
    )
    near, outdated = near_memories(call, saved)
    memory = saved.memory
    return {
        "created": told_memory(memory),
        "similar": [told_memory(each) for each in near],
        "conflicts": _conflicts(call, memory, asked),
        "action_required": None
        if outdated is None
        else offer(call, outdated.id, memory.id, own="evolve/supersede"),
        "links_created": len(saved.links),
        # What the tool of this name answered before; older clients read it.
        "success": True,
        "decision_id": memory.id,
        "topic": memory.topic,
        "message": f"Decision saved: {memory.topic}",
        "recall_command": f"{_recall_name(call)}(topic={memory.topic!r})",
    }


def _recall_name(call: Call[Any]) -> str:
    """Return the tool that shows a topic, as this caller sees it."""
    older = call.lists("recall_decision") and not call.lists("search/by_topic")
    return call.listed_name("recall_decision" if older else "search/by_topic")


def parts_of(
    reasons: Sequence[str], consequences: Sequence[str], constraints: Sequence[str]
) -> tuple[Draft, ...]:
    """Return the parts of a decision, each a memory of its own."""
    told: tuple[tuple[MemoryType, Sequence[str]], ...] = (
        ("reason", reasons),
        ("consequence", consequences),
        ("constraint", constraints),
    )
    for kind, texts in told:
        if len(texts) > LIST_LIMIT:
            raise InvalidParameter(f"{kind}s must be at most {LIST_LIMIT}; there are {len(texts)}")
        for each in texts:
            check_text(each, f"{kind}s", CONTENT_LIMIT)
    return tuple(Draft(content=each, type=kind) for kind, texts in told for each in texts)


def _conflicts(call: Call[Any], memory: Memory, asked: DecisionArguments) -> list[dict[str, Any]]:
    """Return the live decisions that rejected this choice, what it replaces left out."""
    try:
        decisions = call.whence.store.listed(
            Wanted(status="active"), Scope(workspaces=call.workspaces(), types=("decision",)), _LOOKED_AT
        )
        others = [each for each in decisions if each.id != memory.id]
        found = rejected_by(others, asked.topic, asked.decision)
    except Exception:  # as above: it is stored
        logger.exception("%s could not look for decisions that rejected this", call.tool)
        call.notices.append("Stored, but the decisions that may have rejected it could not be looked up.")
        return []
    return [{"id": each.memory.id, "reason": each.reason} for each in found]


def tell_decision(reply: Mapping[str, Any]) -> str:
    lines = [f"Saved {reply['created']['id']}: {reply['created']['content']}"]
    lines += [f"Similar {line_of(each)[2:]}" for each in reply["similar"]]
    lines += [f"Conflict with {each['id']}: {each['reason']}" for each in reply["conflicts"]]
    return "\n".join([*lines, *([reply["action_required"]] if reply["action_required"] else [])])


# -- save/checkpoint


class CheckpointArguments(SavingArguments):
    """Where the work stands."""

    summary: Annotated[str, Field(description="What was done, where the work stands")]
    open_files: list[str] = []
    next_steps: Annotated[str | list[str], WithJsonSchema({"description": "Text or list"})] = []
    implements: Annotated[list[str], Field(description="Ids of decisions it carried out")] = []


class CheckpointReply(WithNotices):
    """The save point."""

    model_config = ConfigDict(extra="allow")

    created: MemoryReply
    implements: list[str]


def save_checkpoint(call: Call[CheckpointArguments]) -> dict[str, Any]:
    asked = call.arguments
    check_text(asked.summary, "summary", CONTENT_LIMIT)
    steps = asked.next_steps
    details = CheckpointDetails(
        open_files=tuple(asked.open_files),
        next_steps=(steps if steps.strip() else ()) if isinstance(steps, str) else tuple(steps),
    )
    details.check()
    draft = Draft(
        content=asked.summary,
        type="checkpoint",
        metadata=details.metadata(),
        ties=ties_of(call, asked.implements),
    )
    memory = keep(call, draft).memory
    return {
        "created": told_memory(memory),
        "implements": list(asked.implements),
        "success": True,
        "checkpoint_id": memory.id,
        "message": "Checkpoint saved",
    }


def tell_checkpoint(reply: Mapping[str, Any]) -> str:
    return f"Checkpoint {reply['created']['id']} saved: {reply['created']['content']}"


# -- save/insight


class InsightArguments(SavingArguments):
    """A lesson."""

    content: Annotated[str, Field(description="One lesson or fact, in words that stand alone")]
    category: str | None = None
    source: Annotated[str | None, Field(description="Where it was learned")] = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0


class InsightReply(WithNotices):
    """What was saved, and what it may make outdated."""

    created: MemoryReply
    similar: list[MemoryReply]
    action_required: str | None


def save_insight(call: Call[InsightArguments]) -> dict[str, Any]:
    asked = call.arguments
    check_text(asked.content, "content", CONTENT_LIMIT)
    details = InsightDetails(category=asked.category, source=asked.source)
    details.check()
    draft = Draft(
        content=asked.content,
        type="insight",
        confidence=asked.confidence,
        metadata=details.metadata(),
        ties=ties_of(call),
    )
    saved = keep(call, draft)
    near, outdated = near_memories(call, saved)
    return {
        "created": told_memory(saved.memory),
        "similar": [told_memory(each) for each in near],
        "action_required": None
        if outdated is None
        else offer(call, outdated.id, saved.memory.id, own="evolve/supersede"),
    }


def tell_insight(reply: Mapping[str, Any]) -> str:
    lines = [f"Saved {reply['created']['id']}: {reply['created']['content']}"]
    lines += [f"Similar {line_of(each)[2:]}" for each in reply["similar"]]
    return "\n".join([*lines, *([reply["action_required"]] if reply["action_required"] else [])])


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="save/decision",
        family="intents",
        title="Save a decision",
        description="Save an architectural decision with its reasoning. Use for technology choices (JWT vs "
        "Session, React vs Vue), architectural patterns (microservices, event sourcing) and design decisions "
        "with trade-offs. Don't use for the end of a session ({save/checkpoint}) or quick notes "
        "({save/insight}). Check conflicts and action_required in the reply. Example: "
        'topic="auth_strategy", decision="Use JWT", reasoning="Stateless; scales out"',
        search_hint="record a technology, architecture or design choice and why it was made",
        arguments=DecisionArguments,
        reply=DecisionReply,
        run=save_decision,
        tell=tell_decision,
        error=merged_error_shape,
    ),
    Tool(
        name="save/checkpoint",
        family="intents",
        title="Save a checkpoint",
        description="Save where the work stands, so that the next session can go on. Use at the end of a "
        "session, before a break or a context reset. Don't use for choices ({save/decision}) or lessons "
        '({save/insight}). Example: summary="Login works, tests red", open_files=["src/auth.py"], '
        'next_steps=["mend test_refresh"]',
        search_hint="save session state, open files and next steps before stopping",
        arguments=CheckpointArguments,
        reply=CheckpointReply,
        run=save_checkpoint,
        tell=tell_checkpoint,
        error=merged_error_shape,
    ),
    Tool(
        name="save/insight",
        family="intents",
        title="Save an insight",
        description="Save a lesson learned, a preference or a fact worth remembering. Use for quick notes "
        'and when the user says "remember that". Don\'t use for choices with reasons ({save/decision}) or '
        'where the work stands ({save/checkpoint}). Example: content="pg_dump needs the same major version", '
        'category="ops"',
        search_hint="remember a lesson, preference, note or fact",
        arguments=InsightArguments,
        reply=InsightReply,
        run=save_insight,
        tell=tell_insight,
        error=error_shape,
    ),
)
