"""The HTTP door: MCP at /mcp and the health check, on loopback unless told otherwise."""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import uvicorn
from starlette.responses import JSONResponse
from starlette.routing import Route

from whence.core.errors import InvalidParameter, WhenceError
from whence.features.workspaces import Place
from whence.server.mcp import Door
from whence.server.opening import Opening
from whence.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.applications import Starlette
    from starlette.requests import Request

    from whence.config import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def http_app(settings: Settings, *, host: str = "127.0.0.1") -> Starlette:
    """Return the application behind `whence serve`."""
    if host not in LOOPBACK:
        raise InvalidParameter(
            f"{host} is not this machine alone, and this version has no sign-in yet",
            hint="Serve on 127.0.0.1 and reach it through an SSH tunnel.",
        )
    opening = Opening(settings, keeps_models=True)
    door = Door(settings, opening, Place(name=settings.workspace or "default"))

    async def healthz(request: Request) -> JSONResponse:
        del request
        try:
            await anyio.to_thread.run_sync(_memory_answers, opening)
        except WhenceError as error:
            return JSONResponse({"status": "error", "message": error.message}, status_code=503)
        return JSONResponse({"status": "ok", "version": __version__})

    app = door.server.streamable_http_app(
        host=host, custom_starlette_routes=[Route("/healthz", healthz, methods=["GET"])]
    )
    sessions = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[Any]:
        async with sessions(app) as state:
            try:
                yield state
            finally:
                await anyio.to_thread.run_sync(opening.close)

    app.router.lifespan_context = lifespan
    return app


def serve_http(settings: Settings, *, host: str, port: int) -> None:
    """Answer clients over HTTP until stopped."""
    app = http_app(settings, host=host)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="whence: %(message)s")
    # Bound here: uvicorn would tell a taken port in words of its own and exit 3, which means something else.
    with _bound(host, port) as listening:
        sys.stderr.write(_how_to_connect(host, listening.getsockname()[1]))
        sys.stderr.flush()
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3)
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a port is a number from 0 to 65535"
        raise InvalidParameter(
            f"Port {port} of {host} cannot be opened: {reason}", hint="Choose another with --port."
        ) from None


def _how_to_connect(host: str, port: int) -> str:
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp"
    return (
        f"Whence {__version__} answers at {url} (stop it with Ctrl-C).\n"
        f"  Claude Code   claude mcp add --transport http whence {url}\n"
        f"  Codex         codex mcp add whence --url {url}\n"
        f"  Gemini CLI    gemini mcp add --transport http whence {url}\n"
        "Or let the client start it: command `whence`, arguments `mcp`.\n"
    )


def _memory_answers(opening: Opening) -> None:
    """Raise unless the memory can be opened and read."""
    opening.memory().store.workspaces()
