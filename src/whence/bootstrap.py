"""The only builder: from settings to an open memory."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from whence.core.life import Whence
from whence.models import LocalModels, files
from whence.storage import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from whence.config import Settings
    from whence.core.ports import Models
    from whence.core.times import Instant

# One thread a scan: it is bound by memory, and threads that wait by spinning starve each other on a busy
# machine. Set before numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

TENANT = "local"  # a file on the user's machine holds one person's memory


class SystemClock:
    """The machine's time."""

    def now(self) -> Instant:
        return time.time_ns() // 1000


def open_memory(settings: Settings, *, models: Models | None = None) -> Whence:
    """Return the memory behind these settings."""
    clock = SystemClock()
    return Whence(
        open_store(settings.store, tenant=TENANT, clock=clock),
        models
        if models is not None
        else LocalModels(settings.home, offline=settings.offline, idle_seconds=settings.idle_seconds),
        clock,
    )


def model_state(settings: Settings) -> str:
    """Say whether the English model is there and whole."""
    if not files.installed(settings.home):
        return "not installed"
    return "installed and verified" if files.verify(settings.home) else "damaged"


def install_model(settings: Settings, folder: Path | None, progress: Callable[[str, float], None]) -> Path:
    """Fetch the English model once and verify it."""
    return files.install(settings.home, folder=folder, offline=settings.offline, progress=progress)
