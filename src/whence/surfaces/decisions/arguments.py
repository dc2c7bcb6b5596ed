"""What decision_memory takes, checked in the order of its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator

from whence.core.details import DecisionType  # noqa: TC001  pydantic reads it when the class is made
from whence.core.errors import InvalidParameter
from whence.core.memories import says_something
from whence.surfaces.tool import Arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SHOWN = 60  # characters of what is no action
ACTIONS = ("record", "list", "check_alignment", "update", "supersede")
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
    return "undefined" if action is None else str(action)[:_SHOWN]


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
