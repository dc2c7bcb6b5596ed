"""What a server does beside answering: reads what waits for a model, and gives idle memory back."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from whence.core.errors import WhenceError
from whence.core.ports import Scope
from whence.core.reading import read_backlog
from whence.core.times import SECOND

if TYPE_CHECKING:
    from whence.core.life import Whence

logger = logging.getLogger(__name__)
_LOOK_EVERY = 5.0  # seconds between two looks at the clock
_SLICE = 2 * SECOND  # how long one pass of reading may hold a core
EVERYTHING = Scope()


class Background:
    """One daemon thread."""

    def __init__(self, whence: Whence, *, keeps_models: bool) -> None:
        self._whence = whence
        self._keeps_models = keeps_models
        self._awake = threading.Event()
        self._stopped = threading.Event()
        self._awake.set()  # an earlier process may have left work
        self._thread = threading.Thread(target=self._run, name="whence-background", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self._awake.set()

    def stop(self) -> None:
        self._stopped.set()
        self._awake.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stopped.is_set():
            asked = self._awake.wait(_LOOK_EVERY)
            if self._stopped.is_set():
                return
            try:
                if asked:
                    self._awake.clear()
                    self._read_what_waits()
                elif self._whence.store.lacking(None, EVERYTHING, 1):
                    self._awake.set()  # the model may have come meanwhile
                elif not self._keeps_models:
                    self._shrink()
            except WhenceError as error:
                # The next wake tries again; a client must not lose its server over it.
                logger.warning("Background work was put off: %s", error.message)

    def _read_what_waits(self) -> None:
        whence = self._whence
        if read_backlog(whence.store, whence.models, whence.clock, _SLICE):
            self._awake.set()

    def _shrink(self) -> None:
        if self._whence.models.release_if_idle():
            self._whence.store.release()
