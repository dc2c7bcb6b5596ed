"""What a server does beside answering: reads and links what waits, prunes links, gives idle memory back."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from whence.core.errors import WhenceError
from whence.core.ports import Scope
from whence.core.reading import read_backlog, read_pending
from whence.core.times import SECOND
from whence.features.linking import link_waiting, prune

if TYPE_CHECKING:
    from collections.abc import Callable

    from whence.core.life import Whence

logger = logging.getLogger(__name__)
_LOOK_EVERY = 5.0  # seconds between two looks at the clock
_SLICE = 2 * SECOND  # how long one pass of reading or linking may hold a core
_PRUNE_ASKED_EVERY = 3600.0  # seconds between two questions whether the weekly prune is due
EVERYTHING = Scope()


class Background:
    """One daemon thread."""

    def __init__(self, whence: Whence, *, keeps_models: bool) -> None:
        self._whence = whence
        self._keeps_models = keeps_models
        self._awake = threading.Event()
        self._stopped = threading.Event()
        self._told: dict[str, str] = {}
        self._ask_for_prune_at = 0.0
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
            if asked:
                self._awake.clear()
                self._do("read what waits", self._read_backlog)
            else:
                # Nobody asked, but the model that some memories wait for may have come.
                self._do("read what waits", self._read_pending)
            self._do("link what waits", self._link)
            if asked:
                continue
            self._do("prune links", self._prune)
            if not self._keeps_models:
                self._do("give memory back", self._shrink)

    def _do(self, deed: str, work: Callable[[], None]) -> None:
        """Do one piece of work; what goes wrong is told once, and the thread lives on."""
        try:
            work()
        except WhenceError as error:
            trouble = error.message
        except Exception as error:  # noqa: BLE001  a client must not lose its background over one memory
            trouble = f"{type(error).__name__}: {error}"
        else:
            self._told.pop(deed, None)
            return
        if self._told.get(deed) != trouble:
            self._told[deed] = trouble
            logger.warning("Could not %s; it will be tried again: %s", deed, trouble)

    def _read_backlog(self) -> None:
        whence = self._whence
        if read_backlog(whence.store, whence.models, whence.clock, _SLICE):
            self._awake.set()

    def _read_pending(self) -> None:
        whence = self._whence
        read_pending(whence.store, whence.models, EVERYTHING, whence.clock, _SLICE)

    def _link(self) -> None:
        if link_waiting(self._whence, _SLICE):
            self._awake.set()

    def _prune(self) -> None:
        if time.monotonic() >= self._ask_for_prune_at:
            self._ask_for_prune_at = time.monotonic() + _PRUNE_ASKED_EVERY
            prune(self._whence)

    def _shrink(self) -> None:
        if self._whence.models.release_if_idle():
            self._whence.store.release()
