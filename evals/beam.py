"""BEAM: does a question find the messages of a long chat that answer it?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evals.figures import Outcome, by_kind, intervals, mean, recalls
from evals.files import lines_of
from evals.store import fitting, fresh_room
from whence.core.memories import Draft
from whence.core.times import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evals.store import Room
    from whence.core.times import Instant

CUTS = (5, 10, 20)


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and the messages that answer it."""

    chat: str
    kind: str
    text: str
    gold: frozenset[str]
    original: frozenset[str]  # of an update: what was said first
    updated: frozenset[str]  # and what was said later


def run(data: Path, split: str, *, limit: int | None = None) -> dict[str, object]:
    """Return recall of the evidence messages; `limit` takes the first chats only."""
    asked = [each for each in questions(data, split) if each.gold]
    outcomes: list[Outcome] = []
    for chat in chats(data, split)[:limit]:
        with fresh_room() as room:
            messages = store_chat(room, chat["messages"])
            for question in asked:
                if question.chat == chat["chat"]:
                    ranked = tuple(messages[each] for each in room.ask(question.text, max(CUTS)))
                    outcomes.append(Outcome(question.gold, ranked, question.kind))
    return {
        **recalls(outcomes, CUTS),
        **{f"any@{cut}": mean(each.is_met(cut) for each in outcomes) for cut in CUTS},
        "interval": intervals(outcomes, CUTS),
        "by_type": by_kind(outcomes, CUTS),
    }


def chats(data: Path, split: str) -> list[dict[str, Any]]:
    """Return the chats of a split."""
    return lines_of(data / "beam100k" / f"chats_{split}.jsonl")


def questions(data: Path, split: str) -> list[Question]:
    """Return the questions of a split."""
    return [
        Question(
            chat=each["chat"],
            kind=each["type"],
            text=each["question"],
            gold=_ids(each["evidence"]),
            original=_ids((each.get("evidence_roles") or {}).get("original_info")),
            updated=_ids((each.get("evidence_roles") or {}).get("updated_info")),
        )
        for each in lines_of(data / "beam100k" / f"questions_{split}.jsonl")
    ]


def _ids(listed: list[int] | None) -> frozenset[str]:
    return frozenset(str(each) for each in listed or [])


def store_chat(room: Room, messages: list[dict[str, Any]]) -> dict[str, str]:
    """Remember every message; return the message of each memory."""
    return {room.save(draft): message for draft, message in _drafts(messages)}


def _drafts(messages: list[dict[str, Any]]) -> Iterator[tuple[Draft, str]]:
    before: str | None = None
    named: Instant | None = None
    for message in messages:
        if message["time_anchor"]:
            day = datetime.strptime(message["time_anchor"], "%B-%d-%Y").replace(tzinfo=UTC)
            named = int(day.timestamp()) * SECOND
        content = fitting(message["content"])
        draft = Draft(
            content=content,
            context=before,
            valid_from=named,
            source="explicit" if message["role"] == "user" else "extracted",
        )
        yield draft, str(message["id"])
        before = content
