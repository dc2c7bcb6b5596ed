"""Does a new decision find, with no link to go by, the one that it replaces?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from evals.figures import mean
from evals.records import records, replacements, without_status
from evals.store import fresh_room

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evals.records import Record, Replacement

CUTS = (1, 5, 10)
OPENING = 1000  # characters of the new text that are asked with


def run(data: Path, split: str, *, limit: int | None = None) -> dict[str, object]:
    """Return how often the old record is found; `limit` takes the first repositories only."""
    by_repository: dict[str, list[Replacement]] = defaultdict(list)
    for pair in replacements(data, split):
        by_repository[pair.repository].append(pair)
    stored = records(data)
    ranks: list[tuple[str, int | None]] = []
    for repository in sorted(by_repository)[:limit]:
        ranks += _ranks(stored[repository], by_repository[repository])
    return {
        **_figures([rank for _, rank in ranks]),
        "adr": _figures([rank for kind, rank in ranks if kind == "adr"]),
        "formal": _figures([rank for kind, rank in ranks if kind == "formal"]),
    }


def _figures(ranks: Sequence[int | None]) -> dict[str, object]:
    at = {f"old@{cut}": mean(rank is not None and rank <= cut for rank in ranks) for cut in CUTS}
    return {"n": len(ranks), **at}


def _ranks(stored: Sequence[Record], pairs: Sequence[Replacement]) -> list[tuple[str, int | None]]:
    """Return, per pair, its kind and where the old record came among the others."""
    silent = {each.id: replace(each, text=without_status(each.text)) for each in stored}
    found: list[tuple[str, int | None]] = []
    with fresh_room() as room:
        record_of = {room.save(each.draft()): each.id for each in silent.values() if each.text.strip()}
        for pair in pairs:
            question = f"{pair.new_title}\n{silent[pair.new].text[:OPENING]}"
            ranked = [record_of[each] for each in room.ask(question, max(CUTS) + 1)]
            others = [each for each in ranked if each != pair.new]
            found.append((pair.kind, others.index(pair.old) + 1 if pair.old in others else None))
    return found
