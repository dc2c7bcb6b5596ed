"""Relating: which core type of link a relationship word means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whence.core.links import examples, known_type
from whence.core.memories import normal_word

if TYPE_CHECKING:
    from whence.core.memories import LinkType
    from whence.core.ports import Embedder, Vector

_EXAMPLES: dict[str, tuple[tuple[LinkType, Vector], ...]] = {}  # what a model made of them, by its id


def link_type_of(word: str, embedder: Embedder | None = None) -> LinkType:
    """Return the core type of a relationship word: by the table, by its nearest example, or association.

    Only a model whose manifest says from where two such words mean the same is asked. The word itself is kept
    as the caller wrote it; words are never merged.
    """
    known = known_type(word)
    if known is not None:
        return known
    if embedder is None or embedder.manifest.relates is None:
        return "association"
    asked = embedder.embed_passage(_as_text(word))
    likeness, nearest = max((float(vector @ asked), kind) for kind, vector in _read_examples(embedder))
    return nearest if likeness >= embedder.manifest.relates else "association"


def _read_examples(embedder: Embedder) -> tuple[tuple[LinkType, Vector], ...]:
    """Return every example word's type and vector; a model reads them once."""
    model = embedder.manifest.id
    if model not in _EXAMPLES:
        _EXAMPLES[model] = tuple(
            (kind, embedder.embed_passage(_as_text(word))) for word, kind in examples().items()
        )
    return _EXAMPLES[model]


def _as_text(word: str) -> str:
    return normal_word(word).replace("_", " ")
