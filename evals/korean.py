"""KorQuAD: does a Korean question find its paragraph?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evals.figures import Outcome, intervals, recalls
from evals.files import json_of
from evals.store import fitting, fresh_room
from whence.core.memories import Draft

if TYPE_CHECKING:
    from pathlib import Path

CUTS = (1, 5, 10)


def run(data: Path, split: str, *, limit: int | None = None) -> dict[str, object]:
    """Return recall of the gold paragraph among all; `limit` asks the first questions only."""
    folder = data / "korquad_dev"
    articles = json_of(folder / "KorQuAD_v1.0_dev.json")["data"]
    asked_of = set(json_of(folder / "split.json")[split])
    with fresh_room() as room:
        texts = dict.fromkeys(each["context"] for article in articles for each in article["paragraphs"])
        paragraphs = {room.save(Draft(content=fitting(text))): text for text in texts}
        asked = [
            (question["question"], paragraph["context"])
            for article in articles
            if article["title"] in asked_of
            for paragraph in article["paragraphs"]
            for question in paragraph["qas"]
        ]
        outcomes = [
            Outcome(frozenset({gold}), tuple(paragraphs[each] for each in room.ask(question, max(CUTS))))
            for question, gold in asked[:limit]
        ]
    return {
        **recalls(outcomes, CUTS),
        "paragraphs": len(paragraphs),
        "interval": intervals(outcomes, CUTS),
    }
