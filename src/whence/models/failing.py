"""What a model's own failure means for a save or a search: words alone, and a word about it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from whence.core.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def failures_told(name: str) -> Iterator[None]:
    """Turn whatever a model raises over a text into EmbeddingUnavailable."""
    try:
        yield
    except Exception as failure:  # the runtimes raise bare Exceptions of their own kinds
        raise EmbeddingUnavailable(
            f"The {name} model could not read a text ({type(failure).__name__})",
            hint='It is tried again later; "whence model install" checks the model\'s files.',
        ) from failure
