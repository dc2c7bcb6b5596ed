"""The memory behind a server: opened at the first call, kept current in the background, shrunk when idle."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.config import Settings
    from whence.core.life import Whence
    from whence.server.background import Background


class Opening:
    """Opens the memory once, whichever thread asks first."""

    def __init__(self, settings: Settings, *, keeps_models: bool) -> None:
        self._settings = settings
        self._keeps_models = keeps_models
        self._lock = threading.Lock()
        self._whence: Whence | None = None
        self._background: Background | None = None

    def memory(self) -> Whence:
        """Return the open memory."""
        with self._lock:
            if self._whence is None:
                # Loaded here: a client that only lists tools pays for no database and no model.
                from whence.bootstrap import open_memory
                from whence.server import background

                self._whence = open_memory(self._settings)
                self._background = background.Background(self._whence, keeps_models=self._keeps_models)
            return self._whence

    def wake(self) -> None:
        """Let the background read what waits for a model."""
        if self._background is not None:
            self._background.wake()

    def close(self) -> None:
        """Stop the background and close the memory."""
        with self._lock:
            if self._background is not None:
                self._background.stop()
            if self._whence is not None:
                self._whence.close()
                self._whence = None
