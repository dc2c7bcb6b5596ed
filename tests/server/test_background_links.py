"""Does a server make the links that wait, and prune them, beside answering?"""

from __future__ import annotations

import threading
import time

import pytest

from whence.core.memories import Draft
from whence.features.linking import prune
from whence.features.workspaces import Place, found_workspace
from whence.server import background
from whence.server.background import Background


@pytest.fixture
def running(wordless, monkeypatch):
    """A background that looks often."""
    monkeypatch.setattr(background, "_LOOK_EVERY", 0.01)
    started = Background(wordless, keeps_models=True)
    yield started
    started.stop()


def until(is_so):
    deadline, pause = time.monotonic() + 20, threading.Event()
    while not is_so():
        assert time.monotonic() < deadline, "it never came"
        pause.wait(0.01)


def test_what_was_saved_is_linked_without_anybody_asking(wordless, running):
    place = found_workspace(wordless, Place(name="project")).id
    for text in ("one thing", "and another"):
        wordless.remember(Draft(content=text), workspace=place)
    until(lambda: len(wordless.store.graph().made_by_system()) == 1)
    assert wordless.store.graph().unlinked(10) == []


def test_the_weekly_prune_is_done_when_nobody_asks(wordless, running):
    until(lambda: running._ask_for_prune_at > 0)
    running.stop()
    assert prune(wordless) is None  # it was done
