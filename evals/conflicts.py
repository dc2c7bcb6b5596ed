"""Conflicts: does a new memory find the one that it makes outdated, and leave the others alone?"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evals.store import fresh_room
from whence.core.memories import Draft
from whence.core.ports import Scope
from whence.features.conflicts import similar

if TYPE_CHECKING:
    from collections.abc import Iterable

PAIRS = Path(__file__).parent / "data"
Kind = Literal["outdated", "contradictory", "complementary", "unrelated"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences, the second later, and how they stand to each other."""

    id: str
    lang: Literal["en", "ko"]
    kind: Kind
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a second sentence was answered with, and how long that took."""

    pair: Pair
    shown: tuple[str, ...]
    outdated: str | None
    seconds: float

    @property
    def is_right(self) -> bool:
        if self.pair.kind == "unrelated":
            return not self.shown
        if self.pair.kind == "complementary":
            return self.outdated is None
        return self.outdated == self.pair.first


def run(data: Path, split: str) -> dict[str, object]:  # noqa: ARG001  every measure takes the folder
    """Return how often each kind of pair is answered rightly."""
    pairs = [Pair(**json.loads(line)) for line in (PAIRS / f"pairs_{split}.jsonl").open(encoding="utf-8")]
    outcomes = measure(pairs)
    named = [each for each in outcomes if each.pair.kind in {"outdated", "contradictory"}]
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        groups[each.pair.kind].append(each)
    spoken: dict[str, dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for each in outcomes:
        spoken[each.pair.lang][each.pair.kind].append(each)
    return {
        "name": "conflicts",
        "split": split,
        "n": len(outcomes),
        "outdated_named": share(named),
        "unrelated_quiet": share(groups["unrelated"]),
        "complementary_not_named": share(groups["complementary"]),
        "by_lang": {
            lang: {kind: share(each) for kind, each in kinds.items()} for lang, kinds in spoken.items()
        },
        "by_kind": {kind: share(each) for kind, each in groups.items()},
        "median_ms": round(1000 * sorted(each.seconds for each in outcomes)[len(outcomes) // 2], 3),
    }


def share(outcomes: Iterable[Outcome]) -> float:
    """Return the share that is right."""
    right = [each.is_right for each in outcomes]
    return round(sum(right) / len(right), 4) if right else 0.0


def measure(pairs: list[Pair]) -> list[Outcome]:
    """Store all first sentences, then each second one alone."""
    outcomes = []
    with fresh_room() as room:
        for pair in pairs:
            room.save(Draft(content=pair.first))
        scope = Scope(workspaces=(room.workspace,))
        for pair in pairs:
            saved = room.whence.remember(Draft(content=pair.second), workspace=room.workspace)
            began = time.perf_counter()
            seen = similar(room.whence, saved, scope)
            seconds = time.perf_counter() - began
            room.whence.archive(saved.memory.id)
            shown = tuple(each.content for each in seen.memories)
            outcomes.append(Outcome(pair, shown, seen.outdated.content if seen.outdated else None, seconds))
    return outcomes
