"""The families, and which of their tools a connection lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whence.core.errors import InvalidParameter
from whence.surfaces import bridge, decisions, facts, intents, legacy
from whence.surfaces.tool import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.surfaces.tool import Tool


@dataclass(frozen=True, slots=True)
class Family:
    """One dialect: its tools in their fixed order, and how to use them."""

    name: str
    tools: tuple[Tool[Any], ...]
    instructions: str


FAMILIES = (
    Family("intents", intents.TOOLS, intents.INSTRUCTIONS),
    Family("legacy", legacy.TOOLS, legacy.INSTRUCTIONS),
    Family("facts", facts.TOOLS, facts.INSTRUCTIONS),
    Family("bridge", bridge.TOOLS, bridge.INSTRUCTIONS),
    Family("decisions", decisions.TOOLS, decisions.INSTRUCTIONS),
)
ALL = "all"


def chosen(families: str) -> tuple[Family, ...]:
    """Return the families of a list such as "facts,intents" or "all"."""
    names = [name.strip() for name in families.split(",") if name.strip()]
    known = {family.name: family for family in FAMILIES}
    unknown = [name for name in names if name not in known and name != ALL]
    if unknown or not names:
        raise InvalidParameter(
            f'"{", ".join(unknown) or families}" is no tool family',
            hint=f"Choose from {', '.join([*known, ALL])}.",
        )
    return FAMILIES if ALL in names else tuple(known[name] for name in dict.fromkeys(names))


def find_tool(name: str) -> Tool[Any] | None:
    """Return a tool, listed or not, by its slash, dot or underscore name."""
    tools = [tool for family in FAMILIES for tool in family.tools]
    return next((tool for tool in tools if flat(tool.name) == flat(name)), None)


def all_tools() -> tuple[Tool[Any], ...]:
    return tools_of(FAMILIES)


def tools_of(families: Sequence[Family]) -> tuple[Tool[Any], ...]:
    """Return the tools of these families, each once."""
    return tuple({tool.name: tool for family in families for tool in family.tools}.values())
