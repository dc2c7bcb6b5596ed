"""A progress line on a terminal, and silence anywhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

_EVERY = 200  # steps between two drawings
_WIDTH = 30


class Progress:
    """One line on standard error that is drawn over and wiped in the end."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        self._draw("…")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def step(self, count: int) -> None:
        """Draw a count from time to time; a negative one is what is left."""
        if count < 0:
            self._draw(f"{-count:,} left")
        elif count % _EVERY == 0:
            self._draw(f"{count:,}")

    def share(self, what: str, done: float) -> None:
        """Draw a bar."""
        filled = round(_WIDTH * done)
        self._draw(f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {what}")

    def _draw(self, text: str) -> None:
        if self._shown:
            print(f"\r\033[K{self._title} {text}", end="", file=sys.stderr, flush=True)
