"""What a short sentence says: who it is about, which of their slots it fills, and how it speaks of change."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from whence.core.words import is_cjk
from whence.features.conflicts.english import read_english
from whence.features.conflicts.korean import read_korean

if TYPE_CHECKING:
    from whence.features.conflicts.sentence import Reading

READ_AT_MOST = 600  # characters; a fact is a sentence or two, and a save must not wait for an essay


@lru_cache(maxsize=4096)
def read_sentence(text: str) -> Reading:
    """Return what the first sentences of a text say."""
    text = unicodedata.normalize("NFC", text[:READ_AT_MOST])
    return read_korean(text) if is_cjk(text) else read_english(text)
