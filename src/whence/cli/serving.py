"""Commands that go on until they are stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from whence.config import Settings


def _with_tools(arguments: argparse.Namespace, settings: Settings) -> Settings:
    return replace(
        settings,
        tools=arguments.tools or settings.tools,
        tool_names=arguments.tool_names or settings.tool_names,
    )


def mcp(arguments: argparse.Namespace, settings: Settings) -> int:
    import anyio  # heavy, and needed by the servers alone

    from whence.server.mcp import serve_stdio

    anyio.run(serve_stdio, _with_tools(arguments, settings))
    return 0


def serve(arguments: argparse.Namespace, settings: Settings) -> int:
    from whence.server.app import serve_http  # heavy, and needed by this command alone

    serve_http(_with_tools(arguments, settings), host=arguments.host, port=arguments.port)
    return 0


COMMANDS = {"mcp": mcp, "serve": serve}
