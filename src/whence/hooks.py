"""The decision hook: a command of the user's that gets each new decision and keeps nothing waiting."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whence.core.memories import Memory

logger = logging.getLogger(__name__)
PATIENCE = 30.0  # seconds
SUBJECT_LIMIT, DECISION_LIMIT = 500, 2000
_DOMAINS = {"workflow": "workflow"}
_DOMAIN = "software-engineering"


def decision_hook(
    command: Sequence[str], tell: Callable[[Memory], Mapping[str, Any]]
) -> Callable[[Memory], None]:
    """Return what is called after each new decision; `tell` gives the decision as its family lists it."""

    def hook(memory: Memory) -> None:
        try:
            start(command, message(tell(memory)))
        except Exception:  # the record stands, whatever becomes of the hook
            logger.exception("The decision hook could not be started")

    return hook


def message(decision: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the command reads on its standard input."""
    subject = str(decision["subject"])[:SUBJECT_LIMIT].replace("\0", "")
    text = str(decision["decision"])[:DECISION_LIMIT].replace("\0", "")
    domain = _DOMAINS.get(str(decision["decision_type"]), _DOMAIN)
    return {**decision, "text": f"{subject}: {text}", "domain": domain}


def start(command: Sequence[str], told: Mapping[str, Any], *, patience: float = PATIENCE) -> None:
    """Start the command in a session of its own, under a watch that ends it after its time."""
    # A file, not a pipe: nobody has to stay and write while the command reads.
    with tempfile.TemporaryFile() as text:
        text.write(json.dumps(told, ensure_ascii=False).encode())
        text.seek(0)
        watcher = subprocess.Popen(  # noqa: S603  the user's own command, as a list and without a shell
            [sys.executable, "-I", __file__, str(patience), *command],  # found wherever this program lies
            stdin=text,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            close_fds=True,
        )
    # Nobody asks for its end, yet a server must not collect the dead.
    threading.Thread(target=watcher.wait, name="whence-hook", daemon=True).start()


def watch(patience: float, command: Sequence[str]) -> int:
    """Run the command on this process's own standard input, and end it with all it started in time."""
    with subprocess.Popen(  # noqa: S603  as above
        list(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as running:
        try:
            return running.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            if os.name == "posix":
                os.killpg(running.pid, signal.SIGKILL)
            running.kill()
            return 124


if __name__ == "__main__":
    sys.exit(watch(float(sys.argv[1]), sys.argv[2:]))
