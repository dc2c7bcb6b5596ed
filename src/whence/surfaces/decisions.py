"""Family `decisions`: decision_memory, to the letter of document 004."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from whence.core.details import Alternative, DecisionDetails, DecisionType
from whence.core.errors import (
    AlreadySuperseded,
    EmbeddingUnavailable,
    InvalidParameter,
    NotFound,
    SupersessionCycle,
)
from whence.core.memories import CONTENT_LIMIT, FIELD_LIMIT, TAG_LIMIT, Draft, check_text, says_something
from whence.core.ports import Question, Scope, Wanted
from whence.core.reading import embedder_for
from whence.core.times import SECOND
from whence.features.alignment import align, stands_beside
from whence.surfaces.replies import status_of
from whence.surfaces.tool import Arguments, Call, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whence.core.errors import WhenceError
    from whence.core.memories import Memory
    from whence.core.times import Instant
    from whence.features.alignment import Alignment

ACTIONS = ("record", "list", "check_alignment", "update", "supersede")
LISTED, MOST_LISTED = 20, 1000
_ALL = 100_000
_CLOSE = 5  # decisions close in meaning that are told as advice
_SURE = 0.3  # how far from no answer to the same said again: a bare name lies near to much that is not
_LIMITS = {
    "subject": FIELD_LIMIT,
    "decision": CONTENT_LIMIT,
    "rationale": CONTENT_LIMIT,
    "alternatives_rejected": FIELD_LIMIT,
    "context_tags": TAG_LIMIT,
    "new_decision": CONTENT_LIMIT,
    "new_rationale": CONTENT_LIMIT,
}
_UPDATES = ("new_decision", "new_rationale", "new_status", "new_confidence")

Number = Annotated[float | str | None, WithJsonSchema({"type": ["number", "string"]})]


class DecisionArguments(Arguments):
    """One of five actions, and what it takes."""

    model_config = ConfigDict(json_schema_extra={"required": ["action"]})

    action: Annotated[
        Any, WithJsonSchema({"type": "string", "enum": list(ACTIONS), "description": "Action to perform"})
    ] = None
    decision_type: Annotated[
        DecisionType | None, Field(description="Type of decision (for record); default tech_choice")
    ] = None
    subject: Annotated[
        str | None, Field(description="Subject of the decision (for record, check_alignment)")
    ] = None
    decision: Annotated[str | None, Field(description="The decision text (for record)")] = None
    rationale: Annotated[str | None, Field(description="Why it was decided (for record)")] = None
    alternatives_rejected: Annotated[
        list[str] | None, Field(description="Alternatives considered and rejected (for record)")
    ] = None
    context_tags: Annotated[list[str] | None, Field(description="Tags (for record)")] = None
    confidence: Annotated[
        float | None, Field(ge=0, le=1, allow_inf_nan=False, description="From 0 to 1 (for record)")
    ] = None
    filter_type: Annotated[str | None, Field(description="Only this decision type (for list)")] = None
    filter_status: Annotated[
        str | None,
        Field(description="Only this status: active, superseded, reconsidering, archived (for list)"),
    ] = None
    limit: Annotated[
        float | None, Field(allow_inf_nan=False, description="Most results, default 20 (for list)")
    ] = None
    technology: Annotated[
        str | None, Field(description="Technology to check alignment for (for check_alignment)")
    ] = None
    pattern: Annotated[
        str | None, Field(description="Pattern to check alignment for (for check_alignment)")
    ] = None
    id: Annotated[Number, Field(description="Decision id (for update)")] = None
    new_decision: Annotated[str | None, Field(description="New decision text (for update)")] = None
    new_rationale: Annotated[str | None, Field(description="New rationale (for update)")] = None
    new_status: Annotated[
        Literal["active", "superseded", "reconsidering"] | None, Field(description="New status (for update)")
    ] = None
    new_confidence: Annotated[
        float | None, Field(ge=0, le=1, allow_inf_nan=False, description="New confidence (for update)")
    ] = None
    old_id: Annotated[Number, Field(description="Id of the decision to supersede (for supersede)")] = None
    new_id: Annotated[Number, Field(description="Id of the decision that replaces it (for supersede)")] = None

    @model_validator(mode="before")
    @classmethod
    def _as_its_program_checked(cls, told: Any) -> Any:  # noqa: ANN401  what the caller gave
        """Check in the document's order: the action first, then what it cannot do without."""
        action = told.get("action")
        if action not in ACTIONS:
            raise InvalidParameter(
                f"Unknown action: {_as_written(action)}", hint=f"The actions are {', '.join(ACTIONS)}."
            )
        for needed, sentence, hint in _NEEDED[action]:
            if not needed(told):
                raise InvalidParameter(sentence, hint=hint)
        # An empty text is a missing one, as in the document's program.
        return {name: None if value == "" else value for name, value in told.items()}


def _as_written(action: object) -> str:
    return "undefined" if action is None else str(action)


def _has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda told: all(
        says_something(value) if isinstance(value := told.get(name), str) else value for name in names
    )


_ID_HINT = "The list action shows the ids."
_NEEDED: Mapping[str, tuple[tuple[Callable[[Mapping[str, Any]], bool], str, str], ...]] = {
    "record": (
        (
            _has("subject", "decision"),
            "subject and decision are required for record action",
            "Give what it is about and what was decided.",
        ),
    ),
    "list": (),
    "check_alignment": (
        (
            lambda told: _has("technology")(told) or _has("pattern")(told),
            "technology is required for check_alignment action",
            "Give a technology, or a pattern.",
        ),
    ),
    "update": (
        (_has("id"), "id is required for update action", _ID_HINT),
        (
            lambda told: (
                any(_has(name)(told) for name in _UPDATES[:3]) or told.get("new_confidence") is not None
            ),
            "No fields to update",
            f"Give one of {', '.join(_UPDATES)}.",
        ),
    ),
    "supersede": (
        (
            _has("old_id", "new_id"),
            "old_id and new_id are required for supersede action",
            "Give the ids of the old and of the new decision.",
        ),
    ),
}


class DecisionReply(BaseModel):
    """What the action gives; each has its own of these."""

    model_config = ConfigDict(extra="allow")

    success: bool | None = None
    id: int | None = None
    message: str | None = None
    decisions: list[dict[str, Any]] | None = None
    count: int | None = None
    aligned: bool | None = None
    relevant_decisions: list[dict[str, Any]] | None = None
    conflicts: list[dict[str, Any]] | None = None
    confidence: float | None = None


class UnknownDecision(NotFound):
    def __init__(self, told: object) -> None:
        super().__init__(f"Decision {told} not found. Use the list action to see decisions.")


def decision_memory(call: Call[DecisionArguments]) -> dict[str, Any]:
    return _RUN[call.arguments.action](call)


def told_decision(memory: Memory, successor: int | None) -> dict[str, Any]:
    """Return a decision as the document lists it."""
    details = DecisionDetails.of(memory)
    return {
        "id": memory.number,
        "decision_type": details.decision_type,
        "subject": memory.topic or "",
        "decision": memory.content,
        "rationale": details.reasoning,
        "alternatives_rejected": [each.option for each in details.alternatives],
        "context_tags": list(memory.tags),
        "confidence": memory.confidence,
        "status": status_of(memory),
        "superseded_by": successor,
        "created_at": _second(memory.created_at),
        "updated_at": _second(memory.updated_at),
    }


def _second(instant: Instant) -> str:
    return datetime.fromtimestamp(instant // SECOND, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")


def _scope(call: Call[Any]) -> Scope:
    return Scope(workspaces=call.workspaces(), types=("decision",))


def _named(call: Call[DecisionArguments], told: float | str | None) -> Memory:
    """Return the decision of a number, or of an id as another family tells it."""
    text = str(told).strip()
    number = int(told) if isinstance(told, int | float) and float(told).is_integer() else None
    if number is None and text.isascii() and text.isdigit() and len(text) < 16:
        number = int(text)
    found: list[Memory] = []
    if number is not None and 0 < number < 2**53:
        found = call.whence.store.listed(Wanted(numbers=(number,)), _scope(call), 1)
    elif isinstance(told, str):
        here = call.workspaces()
        found = [
            each
            for each in call.whence.store.memories([text])
            if each.type == "decision"
            and each.known_until is None
            and (here is None or each.workspace in here)
        ]
    if not found:
        raise UnknownDecision(number if number is not None else text)
    return found[0]


def _name(memory: Memory) -> int | str:
    """Return what a caller may call a memory; what is no decision has no number."""
    return memory.id if memory.number is None else memory.number


def _check_texts(asked: DecisionArguments) -> None:
    """Raise for a text that is too long, by the name under which this family takes it."""
    for name, limit in _LIMITS.items():
        told = getattr(asked, name)
        if isinstance(told, str):
            told = [told] if says_something(told) else []
        for each in told or ():
            check_text(each, name, limit)


# -- the five actions


def _record(call: Call[DecisionArguments]) -> dict[str, Any]:
    asked = call.arguments
    subject, decision = str(asked.subject), str(asked.decision)
    _check_texts(asked)
    details = DecisionDetails(
        reasoning=asked.rationale if asked.rationale and says_something(asked.rationale) else None,
        decision_type=asked.decision_type or "tech_choice",
        alternatives=tuple(Alternative(option=each) for each in asked.alternatives_rejected or ()),
    )
    details.check()
    draft = Draft(
        content=decision,
        type="decision",
        topic=subject,
        confidence=0.8 if asked.confidence is None else asked.confidence,
        tags=tuple(asked.context_tags or ()),
        metadata=details.metadata(),
    )
    draft.check()  # what is refused must not found a workspace
    saved = call.whence.remember(
        draft,
        workspace=call.workspace().id,
        author=call.author,
        request=call.request,
        creator=call.caller.creator,
    )
    call.notices.extend(saved.notices)
    call.caller.on_saved()
    memory = saved.memory
    return {"success": True, "id": memory.number, "message": f"Decision recorded: {memory.topic}"}


def _list(call: Call[DecisionArguments]) -> dict[str, Any]:
    asked = call.arguments
    limit = asked.limit or LISTED
    if limit < 1 or limit > MOST_LISTED or not float(limit).is_integer():
        raise InvalidParameter(f"limit must be a whole number from 1 to {MOST_LISTED:,}")
    wanted = Wanted(decision_type=asked.filter_type, status=asked.filter_status)
    found = call.whence.store.listed(wanted, _scope(call), int(limit))
    decisions = _told(call, found)
    return {"decisions": decisions, "count": len(decisions)}


def _told(call: Call[Any], found: Sequence[Memory]) -> list[dict[str, Any]]:
    successors = [each.superseded_by for each in found if each.superseded_by is not None]
    numbers = {each.id: each.number for each in call.whence.store.memories(successors)}
    return [told_decision(each, numbers.get(each.superseded_by or "")) for each in found]


def _check_alignment(call: Call[DecisionArguments]) -> dict[str, Any]:
    asked = call.arguments
    known = call.whence.store.listed(Wanted(), _scope(call), _ALL)
    # As its program read them: in the order of their numbers.
    known = sorted(known, key=lambda each: each.number or 0)
    answer = align(known, technology=asked.technology, pattern=asked.pattern, subject=asked.subject)
    relevant = [
        {name: value for name, value in each.items() if name not in {"superseded_by", "updated_at"}}
        for each in _told(call, answer.relevant)
    ]
    reply: dict[str, Any] = {
        "aligned": answer.aligned,
        "relevant_decisions": relevant,
        "conflicts": [
            {"decision_id": each.memory.number, "subject": each.memory.topic, "reason": each.reason}
            for each in answer.conflicts
        ],
        "confidence": answer.confidence,
    }
    possible = _possible(call, answer, known)
    return {**reply, "possible_conflicts": possible} if possible else reply


def _possible(
    call: Call[DecisionArguments], answer: Alignment, decisions: Sequence[Memory]
) -> list[dict[str, Any]]:
    """Return what is no conflict and worth a look: what is reconsidered, rivals, what is close in meaning."""
    told = [
        {
            "decision_id": each.memory.number,
            "subject": each.memory.topic,
            "reason": f"{each.reason}; this decision is being reconsidered",
        }
        for each in answer.reconsidering
    ]
    known = {each.id for each in answer.relevant} | {each.memory.id for each in answer.reconsidering}
    asked = " ".join(each for each in (call.arguments.technology, call.arguments.pattern) if each)
    rivals = [each for each in stands_beside(decisions, asked) if each[0].id not in known]
    known |= {memory.id for memory, _ in rivals}
    told += [
        {
            "decision_id": memory.number,
            "subject": memory.topic,
            "reason": f"'{memory.content}' stands: {why} (advice only)",
        }
        for memory, why in rivals
    ]
    return told + [
        {
            "decision_id": memory.number,
            "subject": memory.topic,
            "reason": f"'{memory.content}'{_replaced_too(memory)} is close in meaning (advice only)",
            "similarity": round(similarity, 2),
        }
        for memory, similarity in _close(call)
        if memory.id not in known
    ]


def _replaced_too(memory: Memory) -> str:
    # A search meets older versions too, and answers with what holds now.
    return ", or what it replaced," if memory.supersedes else ""


def _close(call: Call[DecisionArguments]) -> list[tuple[Memory, float]]:
    """Return the live decisions nearest in meaning; without a model there are none."""
    asked = call.arguments
    needle = " ".join(each for each in (asked.technology, asked.pattern, asked.subject) if each)
    try:
        embedder = embedder_for(call.whence.models, needle)
        vector = embedder.embed_query(needle)
    except EmbeddingUnavailable:
        return []
    manifest = embedder.manifest
    least = manifest.question_floor + _SURE * (manifest.paraphrase - manifest.question_floor)
    question = Question(vectors=((manifest.id, vector),))
    found = call.whence.store.find(question, _scope(call), 10 * _CLOSE).candidates
    near = {each.id: each.meaning for each in found if (each.meaning or 0.0) >= least}
    close = [
        (memory, near[memory.id] or 0.0)
        for memory in call.whence.store.memories(list(near))
        if memory.is_live and memory.status == "active"
    ]
    return sorted(close, key=lambda pair: -pair[1])[:_CLOSE]


def _update(call: Call[DecisionArguments]) -> dict[str, Any]:
    asked = call.arguments
    memory = _named(call, asked.id)
    if asked.new_status == "superseded":
        raise InvalidParameter(
            "Only superseding sets superseded. Use the supersede action with old_id and new_id."
        )
    if asked.new_status is not None and memory.superseded_by is not None:
        (successor,) = call.whence.store.memories([memory.superseded_by])
        instead = "" if successor.number is None else f" Update decision {successor.number} instead."
        raise InvalidParameter(
            f"Decision {memory.number} is superseded by {_name(successor)}, so it cannot be "
            f"{asked.new_status}.{instead}"
        )
    _check_texts(asked)
    changes: dict[str, object] = {}
    if asked.new_decision is not None and says_something(asked.new_decision):
        changes["content"] = asked.new_decision
    if asked.new_rationale is not None and says_something(asked.new_rationale):
        changes["metadata"] = {"reasoning": asked.new_rationale}
    if asked.new_status is not None:
        changes["status"] = asked.new_status
    if asked.new_confidence is not None:
        changes["confidence"] = asked.new_confidence
    saved = call.whence.edit(memory.id, changes, author=call.author)
    call.notices.extend(saved.notices)
    return {"success": True, "message": f"Decision {memory.number} updated"}


def _supersede(call: Call[DecisionArguments]) -> dict[str, Any]:
    asked = call.arguments
    old, new = _named(call, asked.old_id), _named(call, asked.new_id)
    if old.id == new.id:
        raise InvalidParameter(
            f"Decision {old.number} cannot supersede itself. Give the ids of two different decisions."
        )
    try:
        call.whence.supersede(old.id, by=new.id, author=call.author, creator=call.caller.creator)
    except AlreadySuperseded as error:
        (head,) = call.whence.store.memories([error.head_id])
        raise InvalidParameter(
            f"Decision {old.number} is already superseded. Its current version is {_name(head)}; supersede "
            "that one instead."
        ) from None
    except SupersessionCycle:
        raise InvalidParameter(
            f"Decision {new.number} was itself replaced by {old.number}, so it cannot replace it. Record a "
            "new decision and let that one supersede the old one."
        ) from None
    return {"success": True, "message": f"Decision {old.number} superseded by {new.number}"}


_RUN: Mapping[str, Callable[[Call[DecisionArguments]], dict[str, Any]]] = {
    "record": _record,
    "list": _list,
    "check_alignment": _check_alignment,
    "update": _update,
    "supersede": _supersede,
}


def error_shape(error: WhenceError) -> dict[str, Any]:
    """Return {"error": "<sentence>"}; the next step goes beside it (RULINGS A1)."""
    return {"error": error.message}


def tell(reply: Mapping[str, Any]) -> str:
    if "decisions" in reply:
        return "\n".join(_line(each) for each in reply["decisions"]) or "No such decision is recorded here."
    if "aligned" not in reply:
        return f"{reply['message']} (id {reply['id']})" if "id" in reply else str(reply["message"])
    lines = ["Aligned." if reply["aligned"] else "Not aligned:"]
    lines += [f"- decision {each['decision_id']}: {each['reason']}" for each in reply["conflicts"]]
    lines += [f"Relevant {_line(each)[2:]}" for each in reply["relevant_decisions"]]
    lines += [
        f"Worth a look: decision {each['decision_id']}, {each['subject']}: {each['reason']}"
        for each in reply.get("possible_conflicts", [])
    ]
    return "\n".join(lines)


def _line(decision: Mapping[str, Any]) -> str:
    status = "" if decision["status"] == "active" else f" [{decision['status']}]"
    because = f" because {decision['rationale']}" if decision["rationale"] else ""
    return f"- {decision['id']}. {decision['subject']}: {decision['decision']}{because}{status}"


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="decision_memory",
        family="decisions",
        title="Decision memory",
        description="Record, query, and manage architectural decisions across sessions. Actions: record "
        "(create a decision), list (query decisions), check_alignment (does a technology or pattern conflict "
        "with decisions?), update (modify one), supersede (replace an old decision with a new one). Use it "
        "before adding a technology (check_alignment) and after choosing one (record). Don't use it for "
        'notes or progress. Example: action="check_alignment", technology="Redis"',
        search_hint="record decisions, check whether a technology or pattern conflicts with them",
        arguments=DecisionArguments,
        reply=DecisionReply,
        run=decision_memory,
        tell=tell,
        error=error_shape,
        has_fixed_reply=True,
    ),
)

INSTRUCTIONS = """\
Before you add a technology or a pattern, ask {decision_memory} with action check_alignment; when one is
chosen, record it with its rationale and the rejected alternatives. When a decision is replaced, record the
new one and call supersede with both ids.
"""
