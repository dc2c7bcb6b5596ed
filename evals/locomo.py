"""LoCoMo: does a question find the turns of a long conversation that answer it?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evals.figures import Outcome, by_kind, intervals, recalls
from evals.files import json_of
from evals.store import fresh_room
from whence.core.memories import Draft
from whence.core.times import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evals.store import Room
    from whence.core.times import Instant

CUTS = (1, 5, 10)
ADVERSARIAL = "5"  # asks what was never said
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said, and when."""

    id: str
    text: str
    before: str | None
    at: Instant


def run(data: Path, split: str, *, limit: int | None = None) -> dict[str, object]:
    """Return recall of the evidence turns; `limit` takes the first conversations only."""
    outcomes: list[Outcome] = []
    for sample in json_of(data / "locomo10" / f"locomo_{split}.json")[:limit]:
        with fresh_room() as room:
            turns = _store(room, sample["conversation"])
            outcomes += _outcomes(room, sample["qa"], turns)
    answerable = [each for each in outcomes if each.kind != ADVERSARIAL]
    return {
        **recalls(answerable, CUTS),
        "interval": intervals(answerable, CUTS),
        "by_category": by_kind(outcomes, CUTS),
    }


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(found.group(1)) for key in conversation if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        said_at = conversation[f"session_{number}_date_time"]
        moment = datetime.strptime(said_at, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        before = None
        for turn in conversation[f"session_{number}"]:
            text = f"{turn['speaker']}: {turn['text']}"
            yield Turn(turn["dia_id"], text, before, int(moment.timestamp()) * SECOND)
            before = text


def _store(room: Room, conversation: dict[str, Any]) -> dict[str, str]:
    """Remember every turn; return the turn of each memory."""
    return {
        room.save(Draft(content=turn.text, context=turn.before, valid_from=turn.at)): turn.id
        for turn in _turns(conversation)
    }


def _outcomes(room: Room, questions: list[dict[str, Any]], turns: dict[str, str]) -> Iterator[Outcome]:
    known = set(turns.values())
    for question in questions:
        # Some entries name several turns at once, some a turn that is not there.
        named = {one for entry in question["evidence"] for one in re.split(r"[;,\s]+", entry)}
        gold = frozenset(named & known)
        if gold:
            ranked = tuple(turns[each] for each in room.ask(question["question"], max(CUTS)))
            yield Outcome(gold, ranked, str(question["category"]))
