"""whence why: how the reasons behind a decision look on a terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from whence.surfaces.bridge import tell_chain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from whence.surfaces.tool import Outcome

WHY = "rlm_get_causal_chain"


def asked_why(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """Return the tool's arguments."""
    return {"query": arguments.question, "max_depth": arguments.depth}


def print_why(arguments: argparse.Namespace, outcome: Outcome) -> None:
    """Print the answer in short lines, as JSON, or as its diagram alone; the rest on standard error."""
    reply = outcome.structured
    if arguments.json:
        print(json.dumps(reply, ensure_ascii=False, indent=2))
    elif not arguments.mermaid:
        print(tell_chain(reply))
    elif reply["mermaid"]:
        print(reply["mermaid"])
    else:  # what reads the diagram must not take the hint for one
        print(f"whence: {reply['hint']}", file=sys.stderr)
    for notice in outcome.notices:
        print(f"whence: {notice}", file=sys.stderr)
