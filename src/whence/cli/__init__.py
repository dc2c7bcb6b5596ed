"""The command line: parse, run one command, answer with an exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from whence.cli.arguments import parser
from whence.config import load_settings
from whence.core.errors import InvalidParameter, WhenceError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

DONE, FAILED, INTERRUPTED = 0, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 an error in one sentence, 2 wrong usage."""
    _speak_utf8()
    arguments = parser().parse_args(argv)
    try:
        _refuse_bytes(arguments)
        settings = load_settings(os.environ, store=arguments.store, workspace=arguments.workspace)
        # Loaded here: `whence mcp` must answer before a client's patience ends.
        from whence.cli import serving

        if arguments.command in serving.COMMANDS:
            return serving.COMMANDS[arguments.command](arguments, settings)
        from whence.cli import commands

        return commands.COMMANDS[arguments.command](arguments, settings)
    except WhenceError as error:
        hint = f". {error.hint}" if error.hint else ""
        near = f" Did you mean {', '.join(error.did_you_mean)}?" if error.did_you_mean else ""
        print(f"whence: {error.message.rstrip('.')}{hint}{near}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader of a pipe has seen enough; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last resort: a user gets a sentence, never a traceback
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        print(f"whence: {arguments.command} failed unexpectedly ({told}). Please report it.", file=sys.stderr)
        return FAILED


def _speak_utf8() -> None:
    """Let no answer fail on a terminal or pipe that lacks a character: JSON is UTF-8 anyway."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def _refuse_bytes(arguments: argparse.Namespace) -> None:
    for name, value in vars(arguments).items():
        # Half a surrogate is how Python shows a byte that is no UTF-8.
        if isinstance(value, str) and any("\ud800" <= each <= "\udfff" for each in value):
            raise InvalidParameter(f"{name.upper()} is no UTF-8 text", hint="Check the terminal's encoding.")
