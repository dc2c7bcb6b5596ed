"""Figures of merit: what share of the right answers came, and how far up."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DRAWS = 1000
_SEED = 20261119


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question: what was right, what came, best first."""

    gold: frozenset[str]
    ranked: tuple[str, ...]
    kind: str = ""

    def recall(self, cut: int) -> float:
        """Return the share of the right ones among the first `cut`."""
        return len(self.gold & set(self.ranked[:cut])) / len(self.gold)

    def is_met(self, cut: int) -> bool:
        """True when any right one is among the first `cut`."""
        return not self.gold.isdisjoint(self.ranked[:cut])

    @property
    def reciprocal_rank(self) -> float:
        return next((1 / rank for rank, each in enumerate(self.ranked, 1) if each in self.gold), 0.0)


def mean(values: Iterable[float]) -> float:
    """Return the mean to four digits; of nothing, 0."""
    listed = list(values)
    return round(sum(listed) / len(listed), 4) if listed else 0.0


def recalls(outcomes: Sequence[Outcome], cuts: Sequence[int]) -> dict[str, object]:
    """Return recall at each cut and the mean reciprocal rank."""
    at = {f"recall@{cut}": mean(each.recall(cut) for each in outcomes) for cut in cuts}
    return {"n": len(outcomes), **at, "mrr": mean(each.reciprocal_rank for each in outcomes)}


def by_kind(outcomes: Sequence[Outcome], cuts: Sequence[int]) -> dict[str, object]:
    """Return the same figures per kind of question."""
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        kinds[each.kind].append(each)
    return {kind: recalls(kinds[kind], cuts) for kind in sorted(kinds)}


def intervals(outcomes: Sequence[Outcome], cuts: Sequence[int]) -> dict[str, object]:
    """Return, per cut, between what bounds 95 of 100 redrawn sets of these questions lie."""
    if not outcomes:
        return {}
    draws = np.random.default_rng(_SEED).integers(0, len(outcomes), (_DRAWS, len(outcomes)))
    found: dict[str, object] = {}
    for cut in cuts:
        values = np.array([each.recall(cut) for each in outcomes])
        low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
        found[f"recall@{cut}"] = [round(float(low), 4), round(float(high), 4)]
    return found
