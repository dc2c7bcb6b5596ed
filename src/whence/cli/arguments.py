"""What every command takes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from whence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  argparse names it no other way


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    whole = argparse.ArgumentParser(
        prog="whence", description="Long-term memory for AI agents that write software."
    )
    whole.add_argument("--version", action="version", version=f"whence {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_serving, _asking, _changing, _linking, _carrying, _looking_after):
        add(_adder(commands))
    return whole


Add = "Callable[..., argparse.ArgumentParser]"


def _adder(commands: Commands) -> Callable[[str, str], argparse.ArgumentParser]:
    def add(name: str, words: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=words, description=words)
        command.add_argument("--store", metavar="URL", help="the store, such as sqlite:///PATH")
        command.add_argument("--workspace", metavar="NAME", help="the workspace; default: this project's")
        return command

    return add


def _as_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")


def _serving(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    for name, words in (
        ("mcp", "Answer one MCP client on standard input and output."),
        ("serve", "Answer MCP clients over HTTP."),
    ):
        command = add(name, words)
        command.add_argument("--tools", metavar="LIST", help="tool families to list, such as facts, or all")
        command.add_argument("--tool-names", choices=("flat", "slash"), help="how tool names are listed")
        if name == "serve":
            command.add_argument("--host", default="127.0.0.1", help="address (default %(default)s)")
            command.add_argument("--port", type=int, default=7433, help="port (default %(default)s)")


def _asking(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    call = add("call", "Call any tool and print its structured result as JSON.")
    call.add_argument("tool", metavar="TOOL")
    call.add_argument("arguments", metavar="JSON", nargs="?", default="{}", help="- reads standard input")
    _as_json(call)
    search = add("search", "Search the memory.")
    search.add_argument("query", metavar="QUERY")
    search.add_argument("--limit", type=int, default=5)
    search.add_argument("--as-of", metavar="TIME", help="what was true then (ISO 8601)")
    search.add_argument("--known-at", metavar="TIME", help="what was known then (ISO 8601)")
    search.add_argument("--history", action="store_true", help="superseded memories too")
    search.add_argument("--everywhere", action="store_true", help="all workspaces")
    search.add_argument("--max-tokens", type=int, metavar="N", help="no more text than this")
    search.add_argument("--explain", action="store_true", help="say why each memory stands where it does")
    _as_json(search)
    why = add("why", "Tell why something was decided, and what it led to.")
    why.add_argument("question", metavar="QUESTION", help='such as "why did we use FastAPI?"')
    why.add_argument(
        "--depth", type=int, default=5, metavar="N", help="steps along causes and effects, 1 to 5"
    )
    why.add_argument("--mermaid", action="store_true", help="print the diagram alone")
    _as_json(why)
    show = add("show", "Show a memory and what happened to it.")
    show.add_argument("id", metavar="ID")
    _as_json(show)


def _changing(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    edit = add("edit", "Correct a memory; its earlier words stay in its history.")
    edit.add_argument("id", metavar="ID")
    edit.add_argument("--content", metavar="TEXT")
    edit.add_argument("--topic", metavar="TEXT")
    edit.add_argument("--confidence", type=float, metavar="0..1")
    edit.add_argument("--tags", metavar="A,B", help="the new tags, separated by commas")
    supersede = add("supersede", "Let one memory replace another.")
    supersede.add_argument("old", metavar="OLD_ID")
    supersede.add_argument("new", metavar="NEW_ID")
    archive = add("archive", "Put a memory away, or bring it back.")
    archive.add_argument("id", metavar="ID")
    archive.add_argument("--restore", action="store_true", help="bring it back")
    move = add("move", "Carry a memory to another workspace.")
    move.add_argument("id", metavar="ID")
    move.add_argument("to", metavar="WORKSPACE")
    for command in (edit, supersede, archive, move):
        _as_json(command)


def _linking(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    link = add("link", "Make, take away or list the links of memories.")
    actions = link.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, words: str) -> argparse.ArgumentParser:
        command = actions.add_parser(name, help=words, description=words)
        # Taken on either side of the action; what is left out here must not undo what stands before it.
        command.add_argument("--store", metavar="URL", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        command.add_argument("--workspace", metavar="NAME", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        _as_json(command)
        return command

    make = action("add", "Link one memory to another by a word; supersedes and replaces retire the other.")
    make.add_argument("from", metavar="FROM", help="the newer memory, or the one that acts")
    make.add_argument("to", metavar="TO")
    make.add_argument("word", metavar="WORD", help="such as implements, refines or depends_on")
    make.add_argument("--reason", metavar="TEXT")
    make.add_argument("--confidence", type=float, metavar="0..1")
    action("rm", "Take a link away.").add_argument("id", metavar="LINK_ID")
    action("ls", "List the links of a memory, the surest first.").add_argument("id", metavar="ID")
    usages = [" ".join(each.format_usage().split()[3:]) for each in actions.choices.values()]
    link.epilog = f"Actions: {'; '.join(usages)}."


def _carrying(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    export = add(
        "export", "Write the whole memory, or with --workspace one of its workspaces, as JSON lines."
    )
    export.add_argument("--all", action="store_true", help="every workspace, whatever --workspace says")
    export.add_argument("file", metavar="FILE", nargs="?", default="-", help="default: standard output")
    bring = add("import", "Read what `whence export` wrote.")
    bring.add_argument("file", metavar="FILE", help="- reads standard input")
    _as_json(export)
    _as_json(bring)


def _looking_after(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    check = add("check", "Hold what a git diff adds against the decisions; exit 3 on a conflict.")
    what = check.add_mutually_exclusive_group()
    what.add_argument("--diff", metavar="REV", help="against this revision; - reads a diff")
    what.add_argument("--staged", action="store_true", help="only what is staged")
    check.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")
    _as_json(check)
    doctor = add("doctor", "Check the store, the model and the settings.")
    sweep = add("sweep", "Read and link what waits, and prune automatic links once a week.")
    sweep.add_argument("--now", action="store_true", help="prune even if the week is not over")
    model = add("model", "Install the English model, or say whether it is there.")
    model.add_argument("action", choices=("install", "status"))
    model.add_argument("--from", dest="folder", metavar="FOLDER", help="a folder that holds its two files")
    version = add("version", "Print the version.")
    for command in (doctor, sweep, model, version):
        _as_json(command)
