"""Does what holds now come first, and what held then when one asks about then?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals import beam
from evals.figures import mean
from evals.records import records, replacements
from evals.store import fresh_room
from whence.core.ports import Scope
from whence.core.times import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evals.records import Replacement
    from evals.store import Room

DEPTH = 100  # how far down an order is looked at
FIRST = 5


@dataclass(frozen=True, slots=True)
class Standing:
    """How the two records of one pair stood in the answers."""

    kind: str
    is_stored: bool  # as superseding, not as refining
    current_at: int | None  # rank of the first right one
    stale_at: int | None
    history_at: int | None  # rank of the old one when history is asked for
    chain_is_exact: bool
    as_of: tuple[bool, ...]  # the day before, the day itself


def run(data: Path, split: str, *, limit: int | None = None) -> dict[str, object]:
    """Return the four parts; `limit` takes the first chats and repositories only."""
    updates = _updates(data, split, limit)
    standings = _standings(data, split, limit)
    moments = [right for each in standings for right in each.as_of]
    return {
        "n": len(standings),
        **_figures(standings),
        "as_of": mean(moments),
        "update_first": updates["update_first"],
        "adr": _figures([each for each in standings if each.kind == "adr"]),
        "formal": _figures([each for each in standings if each.kind == "formal"]),
        "updates": updates,
        "as_of_parts": {
            "n": len(moments),
            "day_before": mean(each.as_of[0] for each in standings if each.as_of),
            "same_day": mean(each.as_of[1] for each in standings if each.as_of),
        },
    }


def _figures(standings: Sequence[Standing]) -> dict[str, object]:
    stored = [each for each in standings if each.is_stored]
    return {
        "n": len(standings),
        "current@1": mean(_within(each.current_at, 1) for each in standings),
        "current@5": mean(_within(each.current_at, FIRST) for each in standings),
        "stale_above_current": mean(_above(each.stale_at, each.current_at) for each in standings),
        "stale_in_top_5": mean(_within(each.stale_at, FIRST) for each in standings),
        "history@5": mean(_within(each.history_at, FIRST) for each in standings),
        "chain_exact": mean(each.chain_is_exact for each in stored),
        "chains": len(stored),
    }


def _within(rank: int | None, cut: int) -> bool:
    return rank is not None and rank <= cut


def _above(one: int | None, other: int | None) -> bool:
    return one is not None and (other is None or one < other)


def _rank(ranked: Sequence[str], wanted: frozenset[str]) -> int | None:
    return next((rank for rank, each in enumerate(ranked, 1) if each in wanted), None)


def _updates(data: Path, split: str, limit: int | None) -> dict[str, object]:
    """Return how often an update stands above what it updates, when only the times tell which is newer."""
    asked = [each for each in beam.questions(data, split) if each.original and each.updated]
    first: list[bool] = []
    stale: list[bool] = []
    for chat in beam.chats(data, split)[:limit]:
        with fresh_room() as room:
            messages = beam.store_chat(room, chat["messages"])
            for question in asked:
                if question.chat == chat["chat"]:
                    ranked = [messages[each] for each in room.ask(question.text, DEPTH)]
                    updated, original = _rank(ranked, question.updated), _rank(ranked, question.original)
                    first.append(_above(updated, original))
                    stale.append(_above(original, updated))
    return {"n": len(first), "update_first": mean(first), "stale_first": mean(stale)}


def _standings(data: Path, split: str, limit: int | None) -> list[Standing]:
    by_repository: dict[str, list[Replacement]] = defaultdict(list)
    for pair in replacements(data, split):
        by_repository[pair.repository].append(pair)
    stored = records(data)
    found: list[Standing] = []
    for repository in sorted(by_repository)[:limit]:
        with fresh_room() as room:
            ids = {record.id: room.save(record.draft()) for record in stored[repository]}
            superseding = _link(room, by_repository[repository], ids)
            found += [_standing(room, pair, ids, superseding) for pair in by_repository[repository]]
    return found


def _link(room: Room, pairs: Sequence[Replacement], ids: Mapping[str, str]) -> set[Replacement]:
    """Store the links: the earliest successor supersedes, further ones refine."""
    superseding: dict[str, Replacement] = {}
    for pair in sorted(pairs, key=lambda each: each.new_at):
        if pair.old in superseding:
            room.join(ids[pair.new], "refines", ids[pair.old])
        else:
            superseding[pair.old] = pair
            room.whence.supersede(ids[pair.old], by=ids[pair.new])
    return set(superseding.values())


def _standing(
    room: Room, pair: Replacement, ids: Mapping[str, str], superseding: set[Replacement]
) -> Standing:
    here = (room.workspace,)
    old = frozenset({ids[pair.old]})
    current = frozenset(ids[each] for each in pair.current)
    ranked = room.ask(pair.old_title, DEPTH)
    history = room.ask(pair.old_title, DEPTH, Scope(workspaces=here, history=True))
    heads = {each.id for each in room.whence.store.chain(ids[pair.old]) if not each.is_superseded}
    is_stored = pair in superseding
    return Standing(
        kind=pair.kind,
        is_stored=is_stored,
        current_at=_rank(ranked, current),
        stale_at=_rank(ranked, old),
        history_at=_rank(history, old),
        chain_is_exact=len(heads) == 1 and heads <= current,
        as_of=_as_of(room, pair, ids) if is_stored and pair.is_ordered else (),
    )


def _as_of(room: Room, pair: Replacement, ids: Mapping[str, str]) -> tuple[bool, bool]:
    """Return whether the old one stands above the new one the day before, and below it on the day."""
    old, new = frozenset({ids[pair.old]}), frozenset({ids[pair.new]})
    before = room.ask(pair.old_title, DEPTH, Scope(workspaces=(room.workspace,), as_of=pair.new_at - DAY))
    then = room.ask(pair.old_title, DEPTH, Scope(workspaces=(room.workspace,), as_of=pair.new_at))
    return _above(_rank(before, old), _rank(before, new)), _above(_rank(then, new), _rank(then, old))
