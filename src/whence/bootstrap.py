"""The only builder: from settings to an open memory."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from whence.core.life import Whence
from whence.models import LocalModels, files
from whence.storage import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from whence.config import Settings
    from whence.core.memories import Memory
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
    whence = Whence(
        open_store(settings.store, tenant=TENANT, clock=clock),
        models
        if models is not None
        else LocalModels(settings.home, offline=settings.offline, idle_seconds=settings.idle_seconds),
        clock,
        links_itself=settings.auto_links,
    )
    if settings.decision_hook:
        whence.after_decision = _hook(whence, settings.decision_hook)
    return whence


def _hook(whence: Whence, command: Sequence[str]) -> Callable[[Memory], None]:
    """Return the user's command as what follows each new decision."""
    # Loaded here: most users have no hook, and the families bring a schema library.
    from whence.hooks import decision_hook
    from whence.surfaces.decisions import told_decision

    def tell(memory: Memory) -> dict[str, object]:
        names = {each.id: each.name for each in whence.store.workspaces()}
        return {**told_decision(memory, None), "workspace": names.get(memory.workspace, memory.workspace)}

    return decision_hook(command, tell)


def model_state(settings: Settings) -> str:
    """Say whether the English model is there and whole."""
    if not files.installed(settings.home):
        return "not installed"
    return "installed and verified" if files.verify(settings.home) else "damaged"


def install_model(settings: Settings, folder: Path | None, progress: Callable[[str, float], None]) -> Path:
    """Fetch the English model once and verify it."""
    return files.install(settings.home, folder=folder, offline=settings.offline, progress=progress)
