"""Made-up memories that lie in an index as real ones do, and a model that has read them already."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from whence.core import ids
from whence.core.memories import Author, Event, Memory, Workspace
from whence.core.ports import Embedding, Passage
from whence.core.words import stop_words
from whence.models.manifests import ENGLISH, MULTILINGUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.ports import Embedder, Manifest, Store, Vector

SEED = 20261119
BATCH = 1000  # memories a transaction
_VOCABULARY = 40_000
_CLUSTERS = 300
_SYLLABLES = [
    "ba",
    "con",
    "der",
    "fi",
    "gra",
    "lo",
    "men",
    "nu",
    "per",
    "qua",
    "ri",
    "sto",
    "ta",
    "ver",
    "win",
    "xo",
]
_STOP_SHARE = 0.45  # of running English
_REPEATED = 0.05  # memories that somebody saved twice


class Language:
    """Words by Zipf's law among the words that every text has."""

    def __init__(self, seed: int = SEED) -> None:
        self.chance = random.Random(seed)
        made: dict[str, None] = {}
        while len(made) < _VOCABULARY:
            made["".join(self.chance.choices(_SYLLABLES, k=self.chance.randint(2, 4)))] = None
        self._words = list(made)
        self._weights = np.cumsum(1 / (np.arange(_VOCABULARY) + 2.7)).tolist()
        self._stops = sorted(stop_words())

    def text(self, count: int) -> str:
        """Return a text of so many words."""
        content = self.chance.choices(self._words, cum_weights=self._weights, k=count)
        return " ".join(
            self.chance.choice(self._stops) if self.chance.random() < _STOP_SHARE else word
            for word in content
        )

    def question(self, text: str) -> str:
        """Return a question about a text: four of its words, two of any text, and the usual frame."""
        words = [word for word in text.split() if word not in stop_words()]
        start = self.chance.randrange(max(1, len(words) - 3))
        return f"what did we decide about the {' '.join(words[start : start + 4])} {self.text(2)}"


class Vectors:
    """Unit vectors in clusters, as texts of one project have."""

    def __init__(self, seed: int = SEED) -> None:
        self._chance = np.random.default_rng(seed)
        self._centres = self._chance.standard_normal((_CLUSTERS, ENGLISH.dimensions), dtype=np.float32)

    def some(self, count: int) -> Vector:
        """Return so many rows."""
        rows = self._centres[self._chance.integers(0, _CLUSTERS, count)]
        rows = rows + 0.8 * self._chance.standard_normal((count, ENGLISH.dimensions), dtype=np.float32)
        unit: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit


@dataclass(slots=True)
class PreparedEmbedder:
    """A model that looks a text up instead of reading it: the bench is about what comes after."""

    vectors: dict[str, Vector] = field(default_factory=dict)
    manifest: Manifest = ENGLISH

    def embed_query(self, text: str) -> Vector:
        return self.vectors[text]

    def embed_passage(self, text: str) -> Vector:
        return self.vectors[text]

    def passages(self, text: str) -> list[str]:
        return [text]

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


@dataclass(frozen=True, slots=True)
class PreparedModels:
    """The prepared model in both places."""

    latin: Embedder
    multilingual: Embedder
    multilingual_id: str = MULTILINGUAL.id

    def release_if_idle(self) -> bool:
        """There is nothing to give back."""
        return False


def found_workspace(store: Store, name: str, now: int) -> str:
    """Make a workspace and return its id."""
    workspace = Workspace(id=ids.workspace_id(), name=name, identity=None, created_at=now)
    with store.writing() as writing:
        writing.found_workspace(workspace)
    return workspace.id


def texts(language: Language, count: int) -> list[str]:
    """Return so many texts of 12 to 30 words, a few of them twice."""
    made: list[str] = []
    for _ in range(count):
        again = made and language.chance.random() < _REPEATED
        made.append(language.chance.choice(made) if again else language.text(language.chance.randint(12, 30)))
    return made


def fill(store: Store, workspace: str, contents: Sequence[str], vectors: Vector, now: int) -> None:
    """Store memories with vectors, events and words; every second one has a context, blended in."""
    author = Author(client="bench", session="bench", tool="store_memory")
    for start in range(0, len(contents), BATCH):
        with store.writing() as writing:
            for number in range(start, min(start + BATCH, len(contents))):
                context = contents[number - 1] if number % 2 else None
                memory = _memory(contents[number], context, workspace, now + number)
                passage = Passage(own=vectors[number], blend=vectors[number] if context else None)
                writing.insert(memory, [Embedding(ENGLISH.id, (passage,))])
                writing.append(
                    Event(memory_id=memory.id, number=1, at=now, action="created", author=author, replaced={})
                )


def _memory(content: str, context: str | None, workspace: str, now: int) -> Memory:
    return Memory(
        id=ids.memory_id("fact", now),
        type="fact",
        content=content,
        context=context,
        workspace=workspace,
        created_at=now,
        updated_at=now,
        accessed_at=now,
        valid_from=now,
    )
