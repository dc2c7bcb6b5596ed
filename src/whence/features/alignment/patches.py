"""Patches: which lines of which files a unified diff adds and takes away."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HUNK = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@ ?(.*)")
_PREFIX = re.compile(r"[abciwo]/")  # as git writes them, with diff.mnemonicPrefix too
_SIDES = {" ": "-+", "-": "-", "+": "+", "\\": ""}  # which side counts a line; the last says "No newline"
_NOWHERE = "/dev/null"
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPED = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
    b'"': b'"',
    b"\\": b"\\",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file; number 0 is the heading that git repeats above a hunk."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of a file that follow each other."""

    lines: tuple[Line, ...]

    @property
    def begins_file(self) -> bool:
        """False when nobody sees what stands above: the section is unknown."""
        return bool(self.lines) and self.lines[0].number == 1


@dataclass(frozen=True, slots=True)
class Hunk:
    """One change in a file, with the lines around it."""

    old_start: int
    new_start: int
    heading: str
    lines: tuple[tuple[str, str], ...]  # sign and text

    @property
    def old(self) -> list[str]:
        return [text for sign, text in self.lines if sign != "+"]

    @property
    def new(self) -> list[str]:
        return [text for sign, text in self.lines if sign != "-"]

    def added_numbers(self) -> Iterator[int]:
        signs = [sign for sign, _ in self.lines if sign != "-"]
        return (self.new_start + at for at, sign in enumerate(signs) if sign == "+")


@dataclass(frozen=True, slots=True)
class Change:
    """What a diff does to one file."""

    path: str  # as it is called afterwards
    hunks: tuple[Hunk, ...]

    @property
    def added_lines(self) -> frozenset[int]:
        return frozenset(number for hunk in self.hunks for number in hunk.added_numbers())

    def after(self, whole: str | None = None) -> list[Stretch]:
        """Return what is seen of the new file, all of it where its whole text is at hand."""
        if (lines := self._lines_of(whole)) is not None:
            return [_stretch(1, lines)]
        return [_stretch(hunk.new_start, hunk.new, hunk.heading) for hunk in self.hunks]

    def before(self, whole: str | None = None) -> list[Stretch]:
        """Return what is seen of the old file; the new one's whole text tells it too."""
        if (lines := self._lines_of(whole)) is None:
            return [_stretch(hunk.old_start, hunk.old, hunk.heading) for hunk in self.hunks]
        old: list[str] = []
        at = 0
        for hunk in self.hunks:
            start = _first_index(hunk)
            old += [*lines[at:start], *hunk.old]
            at = start + len(hunk.new)
        return [_stretch(1, [*old, *lines[at:]])]

    def _lines_of(self, whole: str | None) -> list[str] | None:
        """Return the lines of the whole text, unless it is not the one that the diff leads to."""
        if whole is None:
            return None
        lines = [each.removesuffix("\r") for each in whole.split("\n")]
        at = 0
        for hunk in self.hunks:
            start, told = _first_index(hunk), hunk.new
            if start < at or lines[start : start + len(told)] != told:
                return None
            at = start + len(told)
        return lines


def _first_index(hunk: Hunk) -> int:
    # A side without lines is numbered by the line before it.
    return hunk.new_start - 1 if hunk.new else hunk.new_start


def _stretch(start: int, texts: list[str], heading: str = "") -> Stretch:
    lines = [Line(start + at, text) for at, text in enumerate(texts)]
    return Stretch((Line(0, heading), *lines) if heading and start > 1 else tuple(lines))


def read_patch(diff: str) -> list[Change]:
    """Return the changes of a unified diff, as git writes it; what is none is passed over."""
    lines = [each.removesuffix("\r") for each in diff.split("\n")]
    changes: list[tuple[str, list[Hunk]]] = []
    old_path, in_file = "", False
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("diff "):
            in_file = False
        elif line.startswith("--- "):
            old_path, in_file = _path(line[4:]), False
        elif line.startswith("+++ "):
            path = _path(line[4:])
            in_file = path != _NOWHERE
            changes += [(_without_prefix(path, old_path), [])] if in_file else []
        elif in_file and (told := _HUNK.match(line)):
            hunk, at = _read_hunk(told, lines, at)
            changes[-1][1].append(hunk)
    return [Change(path, tuple(hunks)) for path, hunks in changes]


def _read_hunk(told: re.Match[str], lines: Sequence[str], at: int) -> tuple[Hunk, int]:
    """Return the hunk and where it ends; by its own count, as content may look like a header."""
    old_start, old_count, new_start, new_count, heading = told.groups()
    left = {"-": int(old_count or 1), "+": int(new_count or 1)}
    found: list[tuple[str, str]] = []
    while at < len(lines) and any(count > 0 for count in left.values()):
        sign, text = lines[at][:1] or " ", lines[at][1:]  # mailers take the space from an empty line
        if sign not in _SIDES:
            break
        for side in _SIDES[sign]:
            left[side] -= 1
        if sign != "\\":
            found.append((sign, text))
        at += 1
    return Hunk(int(old_start), int(new_start), heading, tuple(found)), at


def _path(told: str) -> str:
    """Return the path as the file system has it: git quotes what is not plain ASCII."""
    if told.startswith('"') and (end := told.rfind('"')) > 0:
        quoted = told[1:end].encode("utf-8", "replace")
        return _ESCAPE.sub(_unescaped, quoted).decode("utf-8", "replace")
    return told.partition("\t")[0]


def _unescaped(escape: re.Match[bytes]) -> bytes:
    return _ESCAPED[escape[1]] if escape[1] in _ESCAPED else bytes([int(escape[1], 8) & 0xFF])


def _without_prefix(path: str, old_path: str) -> str:
    """Return the path without git's a/ and b/; with diff.noprefix a folder may be called b."""
    paired = old_path == _NOWHERE or (_PREFIX.match(old_path) and old_path[0] != path[:1])
    return path[2:] if paired and _PREFIX.match(path) else path
