"""Details: what a memory of one type carries beside its text, as one typed model per type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from whence.core.errors import InvalidParameter
from whence.core.memories import CONTENT_LIMIT, FIELD_LIMIT, SCHEMA_VERSION, check_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.memories import Json, Memory

DecisionType = Literal["tech_choice", "architecture", "workflow", "pattern", "dependency"]
Outcome = Literal["SUCCESS", "FAILED", "PARTIAL"]
DECISION_TYPES: Final[tuple[DecisionType, ...]] = get_args(DecisionType)
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
LIST_LIMIT = 100  # entries of any list of details


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """What was not chosen, and why."""

    option: str
    why_rejected: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionDetails:
    """Why it was decided, what was rejected, and what came of it."""

    reasoning: str | None = None
    decision_type: DecisionType = "tech_choice"
    alternatives: tuple[Alternative, ...] = ()
    outcome: Outcome | None = None
    outcome_reason: str | None = None
    limitation: str | None = None

    def check(self) -> None:
        """Raise for what no door may let in."""
        for name in ("reasoning", "outcome_reason", "limitation"):
            if (text := getattr(self, name)) is not None:
                check_text(text, name, CONTENT_LIMIT)
        _check_count(self.alternatives, "alternatives")
        for each in self.alternatives:
            check_text(each.option, "option", FIELD_LIMIT)
            if each.why_rejected is not None:
                check_text(each.why_rejected, "why_rejected", CONTENT_LIMIT)

    def metadata(self) -> dict[str, Json]:
        alternatives: list[Json] = [
            _without_empty({"option": each.option, "why_rejected": each.why_rejected})
            for each in self.alternatives
        ]
        return _without_empty(
            {
                "schema_version": SCHEMA_VERSION,
                "reasoning": self.reasoning,
                "decision_type": self.decision_type,
                "alternatives": alternatives,
                "outcome": self.outcome,
                "outcome_reason": self.outcome_reason,
                "limitation": self.limitation,
            }
        )

    @classmethod
    def of(cls, memory: Memory) -> DecisionDetails:
        known = memory.metadata
        kind, outcome = known.get("decision_type"), known.get("outcome")
        return cls(
            reasoning=_text(known, "reasoning"),
            decision_type=next((each for each in DECISION_TYPES if each == kind), "tech_choice"),
            alternatives=tuple(_alternatives(known)),
            outcome=next((each for each in OUTCOMES if each == outcome), None),
            outcome_reason=_text(known, "outcome_reason"),
            limitation=_text(known, "limitation"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDetails:
    """Where the work stood."""

    open_files: tuple[str, ...] = ()
    next_steps: str | tuple[str, ...] = ()

    def check(self) -> None:
        """Raise for what no door may let in."""
        _check_count(self.open_files, "open_files")
        steps = (self.next_steps,) if isinstance(self.next_steps, str) else self.next_steps
        _check_count(steps, "next_steps")
        for name, texts in (("open_files", self.open_files), ("next_steps", steps)):
            for each in texts:
                check_text(each, name, CONTENT_LIMIT)

    def metadata(self) -> dict[str, Json]:
        return {
            "schema_version": SCHEMA_VERSION,
            "open_files": list(self.open_files),
            "next_steps": self.next_steps if isinstance(self.next_steps, str) else list(self.next_steps),
        }

    @classmethod
    def of(cls, memory: Memory) -> CheckpointDetails:
        steps = memory.metadata.get("next_steps")
        return cls(
            open_files=tuple(_texts(memory.metadata.get("open_files"))),
            next_steps=steps if isinstance(steps, str) else tuple(_texts(steps)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightDetails:
    """What kind of lesson it is, and where it was learned."""

    category: str | None = None
    source: str | None = None

    def check(self) -> None:
        """Raise for what no door may let in."""
        for name in ("category", "source"):
            if (text := getattr(self, name)) is not None:
                check_text(text, name, FIELD_LIMIT)

    def metadata(self) -> dict[str, Json]:
        return _without_empty(
            {"schema_version": SCHEMA_VERSION, "category": self.category, "source": self.source}
        )

    @classmethod
    def of(cls, memory: Memory) -> InsightDetails:
        return cls(category=_text(memory.metadata, "category"), source=_text(memory.metadata, "source"))


def _check_count(entries: Sequence[object], name: str) -> None:
    if len(entries) > LIST_LIMIT:
        raise InvalidParameter(f"{name} must be at most {LIST_LIMIT}; there are {len(entries)}")


def _without_empty(fields: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], ())}


def _text(fields: Mapping[str, Json], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def _texts(value: Json) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []


def _alternatives(fields: Mapping[str, Json]) -> list[Alternative]:
    told = fields.get("alternatives")
    return [
        Alternative(option=option, why_rejected=_text(each, "why_rejected"))
        for each in (told if isinstance(told, list | tuple) else ())
        if isinstance(each, dict) and (option := _text(each, "option"))
    ]
