"""Calls as a door makes them, on every store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from whence.core.life import Whence
from whence.features.portable import export_lines
from whence.features.workspaces import Place
from whence.surfaces.families import find_tool
from whence.surfaces.tool import Caller, Outcome, call


@dataclass(frozen=True)
class Facts:
    """The tools of a family on one open memory, called from one place."""

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
        assert set(outcome.structured) == {"error"}
        error = outcome.structured["error"]
        assert isinstance(error["code"], str)
        assert isinstance(error["message"], str)
        assert error["message"] in outcome.text
        assert self.dump() == before
        return error

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
    """The facts family with its models."""
    return Facts(whence)


@pytest.fixture
def words(wordless: Whence) -> Facts:
    """The facts family by words alone: quicker, where meaning does not matter."""
    return Facts(wordless)
