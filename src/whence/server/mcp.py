"""The MCP door: the families' tools over the official SDK, in both eras of the protocol."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server

from whence.core.errors import WhenceError
from whence.core.ids import session_id
from whence.features.workspaces import Place
from whence.server.project import standing_place
from whence.surfaces.families import chosen, find_tool, tools_of
from whence.surfaces.tool import Caller, Outcome, Tool, call, failed, flat, named
from whence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

    from whence.config import Settings
    from whence.server.opening import Opening

_LIST_IS_FRESH_MS = 3_600_000  # the list changes with the program alone
_META = "whence"
WORKSPACE_HEADER = "x-whence-workspace"
SESSION_HEADER = "mcp-session-id"


def listed_tool(tool: Tool[Any], *, slash: bool) -> types.Tool:
    """Return a tool as a client sees it."""
    return types.Tool(
        name=tool.name if slash else flat(tool.name),
        title=tool.title,
        description=tool.described(slash=slash),
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
        _meta={f"{_META}/canonical": tool.name, "anthropic/searchHint": tool.search_hint},
    )


class Door:
    """Answers a connection's requests from one opening."""

    def __init__(self, settings: Settings, opening: Opening, place: Place | None) -> None:
        families = chosen(settings.tools)
        self._opening = opening
        self._place = place
        self._process_session = session_id(_now())
        slash = settings.tool_names == "slash"
        tools = tools_of(families)
        self._listed = [listed_tool(tool, slash=slash) for tool in tools]
        self._names = {tool.name: tool.name if slash else flat(tool.name) for tool in tools}
        self.server: Server[Any] = Server(
            "whence",
            version=__version__,
            title="Whence",
            instructions=named("\n".join(each.instructions for each in families), slash=slash),
            cache_hints={
                "tools/list": CacheHint(ttl_ms=_LIST_IS_FRESH_MS, scope="public"),
                "server/discover": CacheHint(ttl_ms=_LIST_IS_FRESH_MS, scope="public"),
            },
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def _list_tools(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del context, params
        return types.ListToolsResult(tools=self._listed)

    async def _call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = find_tool(params.name)
        if tool is None:
            names = ", ".join(each.name for each in self._listed)
            told = f'Unknown tool "{params.name}". This server has {names}.'
            return types.CallToolResult(content=[types.TextContent(text=told)], is_error=True)
        caller = self._caller(context)
        # The core is synchronous: one thread a call keeps the loop free for the others.
        return await anyio.to_thread.run_sync(self._answer, tool, caller, params.arguments or {})

    def _answer(self, tool: Tool[Any], caller: Caller, arguments: Mapping[str, Any]) -> types.CallToolResult:
        try:
            outcome = call(tool, self._opening.memory(), caller, arguments)
        except WhenceError as error:  # the store could not be opened
            outcome = failed(tool, error)
        return types.CallToolResult(
            content=[types.TextContent(text=outcome.text)],
            structured_content=outcome.structured,
            is_error=outcome.is_error,
            _meta=_beside(outcome),
        )

    def _caller(self, context: ServerRequestContext[Any]) -> Caller:
        """Return who calls: arguments are read later and win over what stands here."""
        meta: Mapping[str, Any] = context.meta or {}
        headers: Mapping[str, str] = context.request.headers if context.request is not None else {}
        over_http = context.request is not None
        session = _text(meta.get(f"{_META}/session")) or (
            headers.get(SESSION_HEADER) if over_http else os.environ.get("CLAUDE_CODE_SESSION_ID")
        )
        client = context.session.client_params.client_info if context.session.client_params else None
        return Caller(
            client=f"{client.name} {client.version}" if client else None,
            session=session or (None if over_http else self._process_session),
            place=self._place_of(context, meta, headers),
            may_repeat=bool(session) or not over_http,
            listed=self._names,
            on_saved=self._opening.wake,
            on_unread=self._opening.wake,
        )

    def _place_of(
        self, context: ServerRequestContext[Any], meta: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Place:
        named = _text(meta.get(f"{_META}/workspace"))
        if context.request is not None:
            named = named or context.request.query_params.get("workspace") or headers.get(WORKSPACE_HEADER)
        if named:
            return Place(name=named)
        if self._place is None:
            return Place(name="default")
        return self._place


def _beside(outcome: Outcome) -> dict[str, Any] | None:
    """Return what is said beside the reply."""
    told = {
        f"{_META}/notices": list(outcome.notices),
        f"{_META}/hint": outcome.hint,
        f"{_META}/did_you_mean": list(outcome.did_you_mean),
    }
    return {name: value for name, value in told.items() if value} or None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _now() -> int:
    import time  # the one place of a door that needs the time: a process's own name

    return time.time_ns() // 1000


async def serve_stdio(settings: Settings) -> None:
    """Answer one client on standard input and output until it closes."""
    from mcp.server.stdio import stdio_server

    from whence.server.opening import Opening

    opening = Opening(settings, keeps_models=False)
    place = standing_place(settings.workspace, os.environ, Path.cwd())
    door = Door(settings, opening, place)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="whence: %(message)s")
    try:
        async with stdio_server() as (incoming, outgoing):
            await door.server.run(incoming, outgoing, door.server.create_initialization_options())
    finally:
        opening.close()
