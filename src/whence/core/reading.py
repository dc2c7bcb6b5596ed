"""Reading: how a model turns a memory into vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whence.core.errors import EmbeddingUnavailable
from whence.core.ports import Embedding, Passage, Scope
from whence.core.times import day_in_words
from whence.core.words import needs_multilingual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.memories import Memory
    from whence.core.ports import Clock, Embedder, Models, Store, Vector
    from whence.core.times import Instant

SHORT_TEXT = 160  # tokens; a context drowns a longer text
CONTEXT_WORDS = 100
_BATCH = 32
_COUNTED = 1000  # more than this many waiting are told as this many


def embedder_for(models: Models, text: str) -> Embedder:
    """Return the model that can read this text."""
    return models.multilingual if needs_multilingual(text) else models.latin


def _blended(vectors: Sequence[Vector]) -> Vector:
    total = vectors[0].copy()
    for vector in vectors[1:]:
        total += vector
    total /= float(total @ total) ** 0.5
    return total


def read(embedder: Embedder, content: str, *, context: str | None, valid_from: Instant) -> Embedding:
    """Return the vectors of a text: one a passage, and for a short one with a context the blend."""
    pieces = embedder.passages(content)
    own = [embedder.embed_passage(piece) for piece in pieces]
    if context and len(pieces) == 1 and embedder.count_tokens(content) <= SHORT_TEXT:
        before = " ".join(context.split()[-CONTEXT_WORDS:])
        within = embedder.embed_passage(f"{before}\n{content}")
        dated = embedder.embed_passage(f"{day_in_words(valid_from)}: {content}")
        return Embedding(embedder.manifest.id, (Passage(own[0], _blended([own[0], within, dated])),))
    return Embedding(embedder.manifest.id, tuple(Passage(each) for each in own))


def read_memory(embedder: Embedder, memory: Memory) -> Embedding:
    """Return a memory's vectors; a topic is the context of what has no other, grounds are more passages."""
    made = read(
        embedder, memory.content, context=memory.context or memory.topic, valid_from=memory.valid_from
    )
    if memory.grounds is None:
        return made
    about = f"{memory.topic}: " if memory.topic else ""
    further = [Passage(embedder.embed_passage(about + piece)) for piece in embedder.passages(memory.grounds)]
    return replace(made, passages=(*made.passages, *further))


def read_lacking(store: Store, embedder: Embedder, scope: Scope, clock: Clock, patience: Instant) -> int:
    """Let a model read the memories it lacks for a while; return how many still wait."""
    until = clock.now() + patience
    while waiting := store.lacking(embedder.manifest.id, scope, _BATCH):
        for memory in waiting:
            if clock.now() > until:
                return len(store.lacking(embedder.manifest.id, scope, _COUNTED))
            _write(store, memory, read_memory(embedder, memory), settles=needs_multilingual(memory.content))
    return 0


def read_pending(store: Store, models: Models, scope: Scope, clock: Clock, patience: Instant) -> int:
    """Let each text's own model read what was saved without it; return how many still wait.

    Raises EmbeddingUnavailable when a model is missing and nothing else could be read.
    """
    until = clock.now() + patience
    read_some = False
    trouble: EmbeddingUnavailable | None = None
    for memory in store.lacking(None, scope, _COUNTED):
        if clock.now() > until:
            break
        try:
            made = read_memory(embedder_for(models, memory.content), memory)
        except EmbeddingUnavailable as error:
            trouble = error  # what another model reads need not wait for this one
            continue
        _write(store, memory, made, settles=True)
        read_some = True
    left = len(store.lacking(None, scope, _COUNTED))
    if left and trouble is not None and not read_some:
        raise trouble
    return left


def _write(store: Store, memory: Memory, made: Embedding, *, settles: bool) -> None:
    with store.writing() as writing:
        writing.embed(memory, made, settles=settles)


def read_backlog(store: Store, models: Models, clock: Clock, patience: Instant) -> int:
    """Let the models read for a while what earlier saves and questions left; return how many still wait."""
    left = read_pending(store, models, Scope(), clock, patience)
    for workspace in store.workspaces():
        scope = Scope(workspaces=(workspace.id,))
        # Where one memory or question was in another script, every memory is read by its model.
        known, id_ = store.models_in(scope), models.multilingual_id
        if id_ in known and store.lacking(id_, scope, 1):
            left += read_lacking(store, models.multilingual, scope, clock, patience)
    return left
