"""Family `decisions`: decision_memory, to the letter of document 004."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from whence.core.details import Alternative, DecisionDetails
from whence.core.errors import AlreadySuperseded, InvalidParameter, NotFound, SupersessionCycle
from whence.core.memories import CONTENT_LIMIT, FIELD_LIMIT, TAG_LIMIT, Draft, check_text, says_something
from whence.core.ports import Wanted
from whence.surfaces.decisions.alignment import check_alignment
from whence.surfaces.decisions.arguments import DecisionArguments
from whence.surfaces.decisions.register import scope_of, told_all, told_decision
from whence.surfaces.tool import Call, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whence.core.errors import WhenceError
    from whence.core.memories import Memory

LISTED, MOST_LISTED = 20, 1000
_LIMITS = {
    **dict.fromkeys(("decision", "rationale", "new_decision", "new_rationale"), CONTENT_LIMIT),
    **dict.fromkeys(("subject", "alternatives_rejected"), FIELD_LIMIT),
    "context_tags": TAG_LIMIT,
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


def _named(call: Call[DecisionArguments], told: float | str | None) -> Memory:
    """Return the decision of a number, or of an id as another family tells it."""
    text = str(told).strip()
    number = int(told) if isinstance(told, int | float) and float(told).is_integer() else None
    if number is None and text.isascii() and text.isdigit() and len(text) < 16:
        number = int(text)
    found: list[Memory] = []
    if number is not None and 0 < number < 2**53:
        found = call.whence.store.listed(Wanted(numbers=(number,)), scope_of(call), 1)
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
    found = call.whence.store.listed(wanted, scope_of(call), int(limit))
    decisions = told_all(call, found)
    return {"decisions": decisions, "count": len(decisions)}


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
    if asked.new_status is not None and memory.status == "archived":
        raise InvalidParameter(
            f"Decision {memory.number} is archived. Restore it first: whence archive --restore "
            f"{memory.number}."
        )
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
    "check_alignment": check_alignment,
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


__all__ = ["INSTRUCTIONS", "TOOLS", "told_decision"]

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
