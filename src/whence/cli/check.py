"""`whence check`: what a git diff adds, held against the decisions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from whence.core.errors import InvalidParameter
from whence.core.ports import Scope, Wanted
from whence.features.alignment.checks import as_json, check, sarif, told
from whence.features.alignment.diffs import added
from whence.features.workspaces import to_search
from whence.server.project import standing_place
from whence.version import __version__

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from whence.config import Settings
    from whence.core.life import Whence
    from whence.core.memories import Memory
    from whence.features.alignment.checks import Finding
    from whence.features.alignment.diffs import Addition

ALIGNED, CONFLICT = 0, 3
_ALL = 100_000
_PATIENCE = 60  # seconds that git may take
_LARGEST = 2_000_000  # characters of a file that is read whole
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/")


def run(arguments: argparse.Namespace, settings: Settings, opened: Callable[..., object]) -> int:
    """Print the decisions that a diff runs against; 3 says that one of them is a hard conflict."""
    additions = _from_input() if arguments.diff == "-" else _from_git(arguments)
    with opened(settings) as whence:  # type: ignore[attr-defined]  # a context manager of commands.py
        findings = check(_decisions(whence, settings), additions)
    _print(findings, "json" if arguments.json else arguments.format)
    return CONFLICT if any(each.hard for each in findings) else ALIGNED


def _decisions(whence: Whence, settings: Settings) -> list[Memory]:
    place = standing_place(settings.workspace, os.environ, Path.cwd())
    scope = Scope(workspaces=to_search(whence, None, place), types=("decision",))
    return whence.store.listed(Wanted(), scope, _ALL)


def _print(findings: Sequence[Finding], form: str) -> None:
    if form == "text":
        print(told(findings) or "Nothing in this diff runs against a decision.")
    else:
        answer = as_json(findings) if form == "json" else sarif(findings, __version__)
        print(json.dumps(answer, ensure_ascii=False, indent=2))


def _from_input() -> list[Addition]:
    return added(sys.stdin.buffer.read().decode("utf-8", "replace"))


def _from_git(arguments: argparse.Namespace) -> list[Addition]:
    """Return what the working tree or the index adds; files that git does not know count as new."""
    root = Path(_git("rev-parse", "--show-toplevel").strip())
    if arguments.staged:
        return added(_git(*_DIFF, "--cached", root=root), lambda path: _shown(root, f":{path}"))
    base = _base(root) if arguments.diff is None else arguments.diff
    start, dots, end = _range_of(base)
    ends = [each for each in (start, end) if each] if dots else [start]
    ends = [] if arguments.diff is None else ends
    if not all(_is_revision(each, root) for each in ends):
        raise InvalidParameter(
            f"{base} is no revision here", hint="Give a commit, a branch or a tag, or a range of two."
        )
    text = _git(*_DIFF, base, "--", root=root)
    if dots:
        return added(text, lambda path: _shown(root, f"{end or 'HEAD'}:{path}"))
    additions = added(text, lambda path: _read(root, path))
    if arguments.diff is None:
        additions += _untracked(root)
    return additions


def _range_of(told: str) -> tuple[str, str, str]:
    """Return both ends of "main...HEAD" or "a..b" and what stands between; of one revision, it alone."""
    for dots in ("...", ".."):
        start, found, end = told.partition(dots)
        if found:
            return start, dots, end
    return told, "", ""


def _is_revision(name: str, root: Path) -> bool:
    """True for one commit; what git would read as an option, an exclusion or a file within one is none."""
    if not name or name.startswith(("-", "^")):
        return False
    try:
        told = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{}}", root=root).split()
        # The last word: some versions of git repeat the option before the answer.
        return _git("cat-file", "-t", told[-1], root=root).strip() in {"commit", "tree"}
    except InvalidParameter:
        return False


def _base(root: Path) -> str:
    """Return HEAD, or in a repository without a commit the empty tree."""
    try:
        return _git("rev-parse", "--verify", "--quiet", "HEAD", root=root).strip()
    except InvalidParameter:
        return _git("hash-object", "-t", "tree", os.devnull, root=root).strip()


def _untracked(root: Path) -> list[Addition]:
    names = _git("ls-files", "--others", "--exclude-standard", "-z", root=root).split("\0")
    found: list[Addition] = []
    for name in filter(None, names):
        if not name.isprintable():
            continue  # such a name could pass for another line of the diff
        text = _read(root, name)
        if text:
            lines = text.splitlines()
            head = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
            body = "\n".join(f"+{line}" for line in lines)
            found += added(f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}\n", lambda _, whole=text: whole)  # type: ignore[misc]  # mypy cannot type its default
    return found


def _read(root: Path, name: str) -> str | None:
    """Return a file of the working tree, or nothing for one that is no text of a sensible size."""
    path = root / name
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _shown(root: Path, name: str) -> str | None:
    try:
        return _git("show", "--end-of-options", name, root=root)
    except InvalidParameter:
        return None


def _git(*arguments: str, root: Path | None = None) -> str:
    try:
        done = subprocess.run(  # noqa: S603  git with arguments of ours, without a shell
            ["git", *arguments],  # noqa: S607  the user's own git
            cwd=root,
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise InvalidParameter("git is not installed", hint="Pipe a diff in: whence check --diff -") from None
    except subprocess.TimeoutExpired:
        raise InvalidParameter(
            f"git {arguments[0]} took longer than {_PATIENCE} seconds", hint="Check a smaller diff."
        ) from None
    if done.returncode:
        why = " ".join(done.stderr.decode("utf-8", "replace").split()) or f"git {arguments[0]} failed"
        raise InvalidParameter(why.removeprefix("fatal: "), hint="Run it inside a git repository.")
    return done.stdout.decode("utf-8", "replace")
