"""The register: decisions as the document lists them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from whence.core.details import DecisionDetails
from whence.core.ports import Scope
from whence.core.times import SECOND
from whence.surfaces.replies import status_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.memories import Memory
    from whence.core.times import Instant
    from whence.surfaces.tool import Call


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


def scope_of(call: Call[Any]) -> Scope:
    return Scope(workspaces=call.workspaces(), types=("decision",))


def told_all(call: Call[Any], found: Sequence[Memory]) -> list[dict[str, Any]]:
    successors = [each.superseded_by for each in found if each.superseded_by is not None]
    numbers = {each.id: each.number for each in call.whence.store.memories(successors)}
    return [told_decision(each, numbers.get(each.superseded_by or "")) for each in found]
