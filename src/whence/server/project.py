"""The project that a folder belongs to: its git repository, known by its remote."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import TYPE_CHECKING

from whence.features.workspaces import NOWHERE, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOCAL = re.compile(r"^(?:file://)?(/.+)$")
_SCP = re.compile(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)$")
_URL = re.compile(r"^[\w+]+://(?:[^@/]*@)?([^/:]+)(?::\d+)?/(.+)$")


def standing_place(chosen: str | None, environment: Mapping[str, str], folder: Path) -> Place:
    """Return where a stdio connection stands: the chosen workspace, else the client's project."""
    if chosen:
        return Place(name=chosen)
    project = environment.get("CLAUDE_PROJECT_DIR")
    return project_of(Path(project) if project else folder)


def project_of(folder: Path) -> Place:
    """Return the place of the git repository around `folder`, else nowhere."""
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        if git.exists():
            return _repository(git)
    return NOWHERE


def _repository(git: Path) -> Place:
    common = _common_folder(git)
    remote = _remote(common / "config")
    if remote is None:
        root = common.parent if common.name == ".git" else common
        return Place(name=root.name.removesuffix(".git") or "project", identity=f"folder:{root}")
    host, path = remote
    parts = path.split("/")
    owner = parts[-2] if len(parts) > 1 else host
    return Place(name=parts[-1], identity=f"git:{host}/{path}".lower(), second_name=f"{owner}-{parts[-1]}")


def _common_folder(git: Path) -> Path:
    """Return the git folder that all worktrees of a repository share."""
    if git.is_dir():
        return git.resolve()
    pointer = _first_line(git).removeprefix("gitdir:").strip()
    folder = (git.parent / pointer).resolve()
    common = _first_line(folder / "commondir")
    return (folder / common).resolve() if common else folder


def _first_line(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[0].strip() if lines else ""


def _remote(config: Path) -> tuple[str, str] | None:
    """Return host and path of `origin`, else of the first remote."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, interpolation=None)
    try:
        parser.read_string(re.sub(r"^[ \t]+", "", config.read_text("utf-8", "replace"), flags=re.MULTILINE))
    except (OSError, configparser.Error):
        return None
    remotes = [each for each in parser.sections() if each.startswith('remote "')]
    remotes.sort(key=lambda each: each != 'remote "origin"')
    for section in remotes:
        url = parser.get(section, "url", fallback=None)
        if not url:
            continue
        if local := _LOCAL.match(url):
            return "this machine", local.group(1).strip("/").removesuffix(".git")
        if match := _URL.match(url) or _SCP.match(url):
            return match.group(1).lower(), match.group(2).strip("/").removesuffix(".git")
    return None
