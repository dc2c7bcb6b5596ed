"""The command line: parse, run one command, answer with an exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from whence.cli.arguments import parser
from whence.config import load_settings
from whence.core.errors import WhenceError

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, INTERRUPTED = 0, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 an error in one sentence, 2 wrong usage."""
    arguments = parser().parse_args(argv)
    try:
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
