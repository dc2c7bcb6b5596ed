"""Commands that do one thing and end."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.cli import links
from whence.cli.progress import Progress
from whence.cli.why import WHY, asked_why, print_why
from whence.core.errors import InvalidParameter, WhenceError
from whence.core.memories import Author
from whence.core.times import SECOND, iso
from whence.features.naming import id_of
from whence.features.portable import export_lines, import_lines
from whence.features.workspaces import NOWHERE, to_search, to_write
from whence.server.project import standing_place
from whence.surfaces.facts import plain_memory
from whence.surfaces.families import all_tools, find_tool
from whence.surfaces.tool import Caller, failed, flat
from whence.surfaces.tool import call as call_tool
from whence.version import __version__

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping

    from whence.config import Settings
    from whence.core.life import Whence
    from whence.core.memories import Memory
    from whence.surfaces.tool import Outcome

AUTHOR = Author(client="command line", session=None, tool=None)
_SLICE = 2 * SECOND


@contextmanager
def opened(settings: Settings) -> Iterator[Whence]:
    """Lend the open memory and close it in the end."""
    from whence.bootstrap import open_memory  # here: `whence version` needs no database

    whence = open_memory(settings)
    try:
        yield whence
    finally:
        whence.close()


def _caller(settings: Settings) -> Caller:
    session = os.environ.get("CLAUDE_CODE_SESSION_ID")
    return Caller(
        client=AUTHOR.client,
        session=session,
        creator="user",
        may_repeat=session is not None,
        place=standing_place(settings.workspace, os.environ, Path.cwd()),
    )


def _here(whence: Whence, settings: Settings) -> tuple[str, ...] | None:
    return to_search(whence, None, _caller(settings).place)


def _print_json(answer: object) -> None:
    print(json.dumps(answer, ensure_ascii=False, indent=2))


def _run(settings: Settings, name: str, raw: Mapping[str, Any]) -> Outcome:
    tool = find_tool(name)
    if tool is None:
        names = [flat(each.name) for each in all_tools()]
        raise InvalidParameter(f'Unknown tool "{name}"', hint=f"There are {', '.join(names)}.")
    try:
        with opened(settings) as whence:
            return call_tool(tool, whence, _caller(settings), raw)
    except WhenceError as error:
        return failed(tool, error)


def _parsed(tool_name: str, text: str) -> Mapping[str, Any]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:  # the latter for a thousand brackets
        raise InvalidParameter(
            f"The arguments are no JSON: {error}",
            hint=f"""Write whence call {tool_name} '{{"name": "value"}}'.""",
        ) from None
    if not isinstance(raw, dict):
        raise InvalidParameter("The arguments must be a JSON object", hint="Put them in braces.")
    return raw


def _given(text: str) -> str:
    if text != "-":
        return text
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidParameter(f"Standard input is no UTF-8 text: {error}") from None


def _sentence(outcome: Outcome) -> str:
    return ". ".join(line.rstrip(".") for line in outcome.text.splitlines())


def call(arguments: argparse.Namespace, settings: Settings) -> int:
    tool = find_tool(arguments.tool)
    try:
        raw = _parsed(arguments.tool, _given(arguments.arguments))
    except InvalidParameter as error:
        if tool is None:
            raise
        outcome = failed(tool, error)
    else:
        outcome = _run(settings, arguments.tool, raw)
    _print_json(outcome.structured)
    for notice in outcome.notices:
        print(f"whence: {notice}", file=sys.stderr)
    if outcome.is_error:
        print(f"whence: {_sentence(outcome)}", file=sys.stderr)
    return int(outcome.is_error)


def search(arguments: argparse.Namespace, settings: Settings) -> int:
    raw = {
        "query": arguments.query,
        "limit": arguments.limit,
        "as_of": arguments.as_of,
        "known_at": arguments.known_at,
        "max_tokens": arguments.max_tokens,
        "include_history": arguments.history,
        "explain": arguments.explain,
        "workspace": "*" if arguments.everywhere else None,
    }
    outcome = _run(
        settings, "search_memories", {name: value for name, value in raw.items() if value is not None}
    )
    if outcome.is_error:
        print(f"whence: {_sentence(outcome)}", file=sys.stderr)
        return 1
    if arguments.json:
        _print_json(outcome.structured)
        return 0
    for memory in outcome.structured["memories"]:
        labels = f" [{', '.join(memory['labels'])}]" if memory.get("labels") else ""
        print(f"{memory['relevance_score']:.2f}  {memory['content']}{labels}")
        print(f"      {memory['id']}  {memory['created_at'][:10]}")
        if "why" in memory:
            print(f"      {', '.join(f'{name} {points}' for name, points in memory['why'].items())}")
    if not outcome.structured["memories"]:
        print(outcome.text)
    for notice in outcome.notices:
        print(f"whence: {notice}", file=sys.stderr)
    return 0


def why(arguments: argparse.Namespace, settings: Settings) -> int:
    outcome = _run(settings, WHY, asked_why(arguments))
    if outcome.is_error:
        print(f"whence: {_sentence(outcome)}", file=sys.stderr)
        return 1
    print_why(arguments, outcome)
    return 0


def show(arguments: argparse.Namespace, settings: Settings) -> int:
    with opened(settings) as whence:
        memory = whence.get(id_of(whence, arguments.id, _here(whence, settings)))
        events = whence.history(memory.id)
        rooms = {each.id: each.name for each in whence.store.workspaces()}
    told = {
        **plain_memory(memory),
        "type": memory.type,
        "workspace": rooms[memory.workspace],
        "topic": memory.topic,
        "tags": list(memory.tags),
        "context": memory.context,
        "valid_from": iso(memory.valid_from),
        "valid_until": None if memory.valid_until is None else iso(memory.valid_until),
        "metadata": dict(memory.metadata),
    }
    told = {name: value for name, value in told.items() if value not in (None, [])}
    told["history"] = [
        {
            "at": iso(event.at),
            "action": event.action,
            **{name: value for name, value in asdict(event.author).items() if value},
            **({"replaced": dict(event.replaced)} if event.replaced else {}),
        }
        for event in events
    ]
    if arguments.json:
        _print_json(told)
        return 0
    print(memory.content)
    for name, value in told.items():
        if name not in {"content", "history"}:
            print(f"  {name:<12} {value if isinstance(value, str | float | int) else json.dumps(value)}")
    for event in told["history"]:
        print(f"  {event['at']}  {event['action']}")
    return 0


def edit(arguments: argparse.Namespace, settings: Settings) -> int:
    changes: dict[str, object] = {
        name: getattr(arguments, name)
        for name in ("content", "topic", "confidence")
        if getattr(arguments, name) is not None
    }
    if arguments.tags is not None:
        changes["tags"] = tuple(tag.strip() for tag in arguments.tags.split(",") if tag.strip())
    if not changes:
        raise InvalidParameter("Nothing to change", hint="Give --content, --topic, --confidence or --tags.")
    with opened(settings) as whence:
        saved = whence.edit(id_of(whence, arguments.id, _here(whence, settings)), changes, author=AUTHOR)
    for notice in saved.notices:
        print(f"whence: {notice}", file=sys.stderr)
    return _changed(arguments, saved.memory, "Edited")


def supersede(arguments: argparse.Namespace, settings: Settings) -> int:
    with opened(settings) as whence:
        old, new = (id_of(whence, each, _here(whence, settings)) for each in (arguments.old, arguments.new))
        memory = whence.supersede(old, by=new, author=AUTHOR, creator="user")
    return _changed(arguments, memory, f"{arguments.old} is now superseded by")


def archive(arguments: argparse.Namespace, settings: Settings) -> int:
    with opened(settings) as whence:
        verb = whence.restore if arguments.restore else whence.archive
        memory = verb(id_of(whence, arguments.id, _here(whence, settings)), author=AUTHOR)
    return _changed(arguments, memory, "Restored" if arguments.restore else "Archived")


def move(arguments: argparse.Namespace, settings: Settings) -> int:
    with opened(settings) as whence:
        known = whence.get(
            id_of(whence, arguments.id, _here(whence, settings))
        )  # an unknown one must not found a workspace
        room = to_write(whence, arguments.to, _caller(settings).place)
        memory = whence.move(known.id, room.id, author=AUTHOR)
    return _changed(arguments, memory, f"Moved to {room.name}:")


def _changed(arguments: argparse.Namespace, memory: Memory, done: str) -> int:
    if arguments.json:
        _print_json(plain_memory(memory))
    else:
        print(f"{done} {memory.id}: {memory.content}")
    return 0


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    with opened(settings) as whence:
        only = None if arguments.all or not arguments.workspace else _named_room(whence, arguments.workspace)
        if arguments.file == "-":
            for line in export_lines(whence, only=only):
                print(line)
            return 0
        # Whole or not at all: a half export must not stand in the place of an earlier one.
        target = Path(arguments.file)
        half = target.parent / f".{target.name}.{os.getpid()}.half"
        try:
            half.touch(0o600)  # born private, as the store is
            with half.open("w", encoding="utf-8") as out:
                count = _write_lines(out, export_lines(whence, only=only))
            half.replace(target)
        except OSError as error:
            raise InvalidParameter(
                f"{target} cannot be written: {error.strerror}", hint="Choose another file."
            ) from None
        finally:
            with suppress(OSError):
                half.unlink()
    if arguments.json:
        _print_json({"lines": count, "file": str(target)})
    else:
        print(f"Exported {count:,} lines to {target}.")
    return 0


def _named_room(whence: Whence, name: str) -> str:
    """Return the id of the workspace that a flag names, which must exist."""
    places = to_search(whence, name, NOWHERE)
    known = {each.id: each for each in whence.store.workspaces()}
    here = next(
        (each for each in places or () if name.casefold() in {each, known[each].name.casefold()}), None
    )
    if here is None:
        raise InvalidParameter(
            f'Workspace "{name}" has no memories yet', hint="Leave --workspace out for all."
        )
    return here


def _write_lines(out: Any, lines: Iterable[str]) -> int:  # noqa: ANN401  a text file
    count = 0
    with Progress("Exporting") as progress:
        for count, line in enumerate(lines, start=1):
            out.write(f"{line}\n")
            progress.step(count)
    return count


def import_(arguments: argparse.Namespace, settings: Settings) -> int:
    try:
        text = sys.stdin.read() if arguments.file == "-" else Path(arguments.file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter(f"{arguments.file} cannot be read: {error}", hint="Name an export.") from None
    with opened(settings) as whence:
        # Not splitlines(): a memory may hold one of the other characters that end a line for Python.
        brought = import_lines(whence, text.split("\n"))
        trouble = _read_backlog(whence)
    if arguments.json:
        _print_json({**asdict(brought), "unread": trouble})
    else:
        print(f"Imported {brought.memories:,} memories and {brought.links:,} links; {brought.known:,} known.")
        if trouble:
            print(f"whence: {trouble}", file=sys.stderr)
    return 0


def _read_backlog(whence: Whence) -> str | None:
    """Let the models read what was imported; return why some of it must wait."""
    from whence.core.reading import read_backlog  # here, with the model that it needs

    with Progress("Reading") as progress:
        try:
            while left := read_backlog(whence.store, whence.models, whence.clock, _SLICE):
                progress.step(-left)
        except WhenceError as error:
            return f"Found by words until the model reads them: {error.message}"
    return None


def doctor(arguments: argparse.Namespace, settings: Settings) -> int:
    from whence.bootstrap import model_state  # heavy

    with opened(settings) as whence:
        report = {
            "version": __version__,
            "home": str(settings.home),
            **whence.store.health(),
            "waiting for a model": str(len(whence.store.lacking(None, _everything(), 1000))),
            **links.state(whence),
        }
    report["english model"] = model_state(settings)
    if arguments.json:
        _print_json(report)
    else:
        for name, value in report.items():
            print(f"{name:<20} {value}")
    return 0 if report["integrity"] == "ok" else 1


def _everything() -> Any:  # noqa: ANN401  a Scope, imported with the core
    from whence.core.ports import Scope

    return Scope()


def link(arguments: argparse.Namespace, settings: Settings) -> int:
    with opened(settings) as whence:
        if arguments.action != "rm":  # which takes the id of a link
            for name in {"id", "from", "to"} & vars(arguments).keys():
                setattr(arguments, name, id_of(whence, getattr(arguments, name), _here(whence, settings)))
        told = links.ACTIONS[arguments.action](whence, arguments, AUTHOR)
    return _told(arguments, told)


def sweep(arguments: argparse.Namespace, settings: Settings) -> int:
    with opened(settings) as whence, Progress("Sweeping") as progress:
        told = links.sweep(whence, now=arguments.now, step=progress.step)
    return _told(arguments, told)


def _told(arguments: argparse.Namespace, told: links.Told) -> int:
    if arguments.json:
        _print_json(told.structured)
        return 0
    print("\n".join(told.lines))
    for notice in told.notices:
        print(f"whence: {notice}", file=sys.stderr)
    return 0


def model(arguments: argparse.Namespace, settings: Settings) -> int:
    from whence.bootstrap import install_model, model_state  # heavy

    if arguments.action == "install":
        with Progress("Installing the English model") as progress:
            install_model(settings, Path(arguments.folder) if arguments.folder else None, progress.share)
    state = model_state(settings)
    if arguments.json:
        _print_json({"english": state, "multilingual": "part of the installation"})
    else:
        print(f"English model: {state}.\nMultilingual model: part of the installation.")
    return 0


def version(arguments: argparse.Namespace, settings: Settings) -> int:
    del settings
    if arguments.json:
        _print_json({"version": __version__})
    else:
        print(f"whence {__version__}")
    return 0


def check(arguments: argparse.Namespace, settings: Settings) -> int:
    from whence.cli.check import run  # the readers of manifests are of use to no other command

    return run(arguments, settings, opened)


COMMANDS = {
    "check": check,
    "call": call,
    "search": search,
    "why": why,
    "show": show,
    "edit": edit,
    "supersede": supersede,
    "archive": archive,
    "move": move,
    "export": export,
    "import": import_,
    "link": link,
    "sweep": sweep,
    "doctor": doctor,
    "model": model,
    "version": version,
}
