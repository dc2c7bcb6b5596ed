"""Another process on the same file: reads a call a line, answers a line."""

import json
import os
import sys
from pathlib import Path

from whence.bootstrap import SystemClock
from whence.core.life import Whence
from whence.core.memories import Draft
from whence.core.ports import Scope
from whence.core.recall import Query
from whence.features.workspaces import Place, found_workspace
from whence.models import LocalModels, NoModels
from whence.storage import open_store


def say(told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def answer(whence: Whence, call: dict[str, str]) -> object:
    """Do what one line asks."""
    match call["do"]:
        case "save":
            return whence.remember(Draft(content=call["content"]), workspace=call["workspace"]).memory.id
        case "search":
            query = Query(text=call["text"], scope=Scope(workspaces=(call["workspace"],)), limit=5)
            return [hit.memory.content for hit in whence.recall(query).hits]
        case "supersede":
            return whence.supersede(call["old"], by=call["new"]).id
        case "archive":
            return whence.archive(call["id"]).id
        case "restore":
            return whence.restore(call["id"]).id
        case "edit":
            return whence.edit(call["id"], {"content": call["content"]}).memory.id
        case "move":
            return whence.move(call["id"], call["workspace"]).id
        case "found":
            return found_workspace(whence, Place(name=call["name"], identity=call.get("identity"))).id
    raise ValueError(call["do"])


def save_many(whence: Whence, workspace: str, name: str, count: int) -> None:
    """Save, and tell each id once it is acknowledged."""
    for number in range(count):
        say(whence.remember(Draft(content=f"{name} saves thought {number}"), workspace=workspace).memory.id)


def main() -> None:
    url, kind, *rest = sys.argv[1:]
    clock = SystemClock()
    models = NoModels() if kind == "wordless" else LocalModels(Path(os.environ["WHENCE_HOME"]), fetch=False)
    whence = Whence(open_store(url, tenant="local", clock=clock), models, clock)
    say("ready")
    if rest:
        sys.stdin.readline()
        workspace, name, count = rest
        save_many(whence, workspace, name, int(count))
    else:
        for line in sys.stdin:
            say(answer(whence, json.loads(line)))
    whence.close()


if __name__ == "__main__":
    main()
