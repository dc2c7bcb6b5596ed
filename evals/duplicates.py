"""Do two texts that say the same stand apart from two that do not, and what would merging them destroy?"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.figures import mean
from evals.files import text_of
from evals.store import models
from whence.core.reading import embedder_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from whence.core.ports import Embedder, Vector

SAME_SCORE = 4.0  # of KorSTS's 0-5: the same but for details


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, and whether they say the same or the opposite."""

    one: str
    other: str
    is_same: bool
    is_contradiction: bool = False


@dataclass(frozen=True, slots=True)
class Set:
    """One published set: the pairs to choose a threshold on, and those to report."""

    name: str
    train: Callable[[Path], list[Pair]]
    report: Callable[[Path], list[Pair]]


def run(data: Path, split: str, *, limit: int | None = None) -> dict[str, object]:
    """Return how well similarity tells duplicates; `limit` takes the first pairs of each file only."""
    if split != "dev":
        raise FileNotFoundError(2, "no such split", f"{data} ({split}: the pair sets have dev alone)")
    read = _Reader()
    by_set: dict[str, dict[str, float]] = {}
    merged: list[bool] = []
    chosen: dict[str, float] = {}
    for each in SETS:
        train, report = each.train(data)[:limit], each.report(data)[:limit]
        threshold = best_threshold(read.similarities(train), _same(train))
        similarities, same = read.similarities(report), _same(report)
        chosen[each.name] = threshold
        by_set[each.name] = {
            "n": len(report),
            "threshold": round(threshold, 4),
            "auc": round(auc(similarities, same), 4),
            "f1": round(f1(similarities >= threshold, same), 4),
        }
        merged += _merged(by_set, each.name, report, similarities >= threshold)
    inference = _korean_inference(data)[:limit]
    similarities = read.similarities(inference)
    by_set["xnli_ko"] = {"n": len(inference), "threshold": by_set["korsts"]["threshold"]}
    merged += _merged(by_set, "xnli_ko", inference, similarities >= chosen["korsts"])
    told = [by_set[each.name] for each in SETS]
    return {
        "n": sum(int(each["n"]) for each in by_set.values()),
        "auc": mean(each["auc"] for each in told),
        "f1": mean(each["f1"] for each in told),
        "merged_contradictions": mean(merged),
        "contradictions": len(merged),
        "by_set": by_set,
    }


def _merged(
    by_set: dict[str, dict[str, float]], name: str, pairs: Sequence[Pair], is_merged: NDArray[np.bool_]
) -> list[bool]:
    """Return, for every contradiction, whether it would be merged."""
    found = [bool(merged) for pair, merged in zip(pairs, is_merged, strict=True) if pair.is_contradiction]
    if found:
        by_set[name]["merged_contradictions"] = mean(found)
        by_set[name]["contradictions"] = len(found)
    return found


class _Reader:
    """The own vectors of texts, each made once."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, str], Vector] = {}

    def similarities(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        return np.array([self._similarity(pair) for pair in pairs])

    def _similarity(self, pair: Pair) -> float:
        embedder = embedder_for(models(), f"{pair.one} {pair.other}")
        return float(self._vector(embedder, pair.one) @ self._vector(embedder, pair.other))

    def _vector(self, embedder: Embedder, text: str) -> Vector:
        key = (embedder.manifest.id, text)
        if key not in self._vectors:
            self._vectors[key] = embedder.embed_passage(text)
        return self._vectors[key]


def _same(pairs: Sequence[Pair]) -> NDArray[np.bool_]:
    return np.array([pair.is_same for pair in pairs], dtype=bool)


def f1(said: NDArray[np.bool_], same: NDArray[np.bool_]) -> float:
    """Return the harmonic mean of precision and recall."""
    right = int((said & same).sum())
    return 2 * right / (int(said.sum()) + int(same.sum())) if right else 0.0


def best_threshold(similarities: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """Return the similarity from which on F1 is best."""
    order = np.argsort(-similarities, kind="stable")
    right = np.cumsum(same[order])
    scores = 2 * right / (np.arange(1, len(order) + 1) + same.sum())
    return float(similarities[order[int(scores.argmax())]])


def auc(similarities: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """Return the chance that a pair that says the same is more similar than one that does not."""
    _, place, counts = np.unique(similarities, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    positive, negative = int(same.sum()), int((~same).sum())
    if not positive or not negative:
        return 0.0
    return float((ranks[same].sum() - positive * (positive + 1) / 2) / (positive * negative))


def _rows(path: Path, delimiter: str = "\t") -> Iterator[dict[str, str]]:
    text = io.StringIO(text_of(path))
    if delimiter == "\t":
        return csv.DictReader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return csv.DictReader(text, delimiter=delimiter)


def _msr(name: str) -> Callable[[Path], list[Pair]]:
    return lambda data: [
        Pair(row["#1 String"], row["#2 String"], row["Quality"] == "1")
        for row in _rows(data / "near_dup_en" / name)
    ]


def _sick(name: str) -> Callable[[Path], list[Pair]]:
    return lambda data: [
        Pair(
            row["sentence_A"],
            row["sentence_B"],
            row["entailment_judgment"] == "ENTAILMENT",
            row["entailment_judgment"] == "CONTRADICTION",
        )
        for row in _rows(data / "near_dup_en" / name)
    ]


def _korsts(name: str) -> Callable[[Path], list[Pair]]:
    return lambda data: [
        Pair(row["sentence1"], row["sentence2"], float(row["score"]) >= SAME_SCORE)
        for row in _rows(data / "korsts" / name)
    ]


def _kor_pair(half: int) -> Callable[[Path], list[Pair]]:
    """Return every other pair: only the training file is published, so one half reports on the other."""
    return lambda data: [
        Pair(row["question1"], row["question2"], row["is_duplicate"] == "0")  # inverted in this file
        for number, row in enumerate(_rows(data / "near_dup_ko" / "kor_pair_train.csv", ","))
        if number % 2 == half
    ]


def _korean_inference(data: Path) -> list[Pair]:
    return [
        Pair(row["sentence1"], row["sentence2"], False, row["gold_label"] == "contradiction")
        for row in _rows(data / "korsts" / "xnli.dev.ko.tsv")
    ]


SETS = (
    Set("msr", _msr("msr-para-train.tsv"), _msr("msr-para-val.tsv")),
    Set("sick", _sick("SICK_train.txt"), _sick("SICK_trial.txt")),
    Set("korsts", _korsts("sts-train.tsv"), _korsts("sts-dev.tsv")),
    Set("kor_pair", _kor_pair(0), _kor_pair(1)),
)
