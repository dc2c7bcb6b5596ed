"""Calls as a door makes them, on every store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from whence.core.life import Whence
from whence.core.links import Link
from whence.features.portable import export_lines
from whence.features.workspaces import Place
from whence.surfaces.families import find_tool
from whence.surfaces.tool import Caller, Outcome, call, flat

# The new tools that answer to the older callers of their names too (RULINGS B7).
MERGED = {"save_decision", "save_checkpoint", "load_checkpoint"}


def told_error(name: str, outcome: Outcome) -> dict[str, Any]:
    """Return the sentence of an error and what stands beside it, whose shape must be its family's."""
    tool, told = find_tool(name), outcome.structured
    assert tool is not None
    if tool.family == "decisions":
        assert set(told) == {"error"}
        error = {"message": told["error"], "hint": outcome.hint, "did_you_mean": outcome.did_you_mean}
    elif tool.family == "legacy":
        assert told["success"] is False
        assert {"success", "message"} <= set(told) <= {"success", "message", "hint", "did_you_mean"}
        error = told
    elif tool.family == "bridge":
        assert told["status"] == "error"
        assert {"status", "message"} <= set(told) <= {"status", "message", "hint", "did_you_mean"}
        error = told
    else:
        error = told["error"]
        assert isinstance(error["code"], str)
        if flat(tool.name) in MERGED:
            assert told == {"error": error, "success": False, "message": error["message"]}
        else:
            assert set(told) == {"error"}
    assert isinstance(error["message"], str)
    return error


@dataclass(frozen=True)
class Facts:
    """The tools of all families on one open memory, called from one place."""

    whence: Whence
    caller: Caller = Caller(session="test", place=Place(name="project"))

    def call(self, tool: str, /, **arguments: Any) -> Outcome:
        found = find_tool(tool)
        assert found is not None
        return call(found, self.whence, self.caller, arguments)

    def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed and return its answer."""
        outcome = self.call(tool, **arguments)
        assert not outcome.is_error, outcome.text
        return outcome.structured

    def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must fail, show that it changed nothing, and return its error."""
        before = self.dump()
        outcome = self.call(tool, **arguments)
        assert outcome.is_error, outcome.structured
        error = told_error(tool, outcome)
        assert error["message"] in outcome.text
        assert self.dump() == before
        return error

    def decide(self, decision: str = "Use JWT", topic: str = "auth", **arguments: Any) -> str:
        """Save a decision and return its id."""
        asked = {"reasoning": "It fits", **arguments}
        return self.ask("save/decision", topic=topic, decision=decision, **asked)["created"]["id"]

    def learn(self, content: str, **arguments: Any) -> str:
        """Save an insight and return its id."""
        return self.ask("save/insight", content=content, **arguments)["created"]["id"]

    def hits(self, query: str, **arguments: Any) -> list[str]:
        """Return the ids that search/by_context answers with."""
        return [each["id"] for each in self.ask("search/by_context", query=query, **arguments)["memories"]]

    def links(self, memory_id: str) -> list[Link]:
        """Return the links that touch a memory and that nobody made by itself."""
        links = self.whence.store.graph().links(memory_id)
        return [each for each in links if each.known_until is None and each.created_by != "system"]

    def store(self, content: str, **arguments: Any) -> str:
        return self.ask("store_memory", content=content, **arguments)["created"]["id"]

    def found(self, query: str, **arguments: Any) -> list[str]:
        return [each["id"] for each in self.ask("search_memories", query=query, **arguments)["memories"]]

    def recent(self, **arguments: Any) -> list[str]:
        return [each["id"] for each in self.ask("list_recent_memories", **arguments)["memories"]]

    def dump(self) -> list[str]:
        """Return everything that is stored: workspaces, memories, events and links."""
        self.whence.flush()
        return list(export_lines(self.whence))

    def of(self, **changes: Any) -> Facts:
        return replace(self, caller=replace(self.caller, **changes))


@pytest.fixture
def facts(whence: Whence) -> Facts:
    """The tools with their models."""
    return Facts(whence)


@pytest.fixture
def words(wordless: Whence) -> Facts:
    """The tools by words alone: quicker, where meaning does not matter."""
    return Facts(wordless)
