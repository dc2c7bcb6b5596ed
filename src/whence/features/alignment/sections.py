"""Sections: the values of a JSON, TOML or INI file with the place where each stands, whole or in part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.features.alignment.patches import Stretch


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it stands; a section of None is one whose heading nobody saw."""

    line: int
    section: str | None
    key: str | None
    text: str


# -- JSON

_JSON = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}\[\],:])|[^\s{}\[\],:"]+')


def json_values(stretch: Stretch) -> Iterator[Value]:
    """Yield every string under a key; the section is the path to it, such as "/dependencies"."""
    path: list[str | None] = [] if stretch.begins_file else [None]
    key: str | None = None
    last: str | None = None
    for line in stretch.lines if stretch.begins_file else [each for each in stretch.lines if each.number]:
        for token in _JSON.finditer(line.text):
            text, mark = token[1], token[2]
            if text is not None and key is not None:
                yield Value(line.number, _joined(path), key, text)
                key = None
            elif mark == ":":
                key, last = last, None
            elif mark in {"{", "["}:
                path.append(key or "")
                key = None
            elif mark in {"}", "]"}:
                # What closes here may have been opened above the first line that is seen.
                path = path[:-1] or ([] if stretch.begins_file else [None])
                key = None
            else:
                key, last = None, text


def _joined(path: list[str | None]) -> str | None:
    """Return the path as text, None for a place in an object whose key nobody saw."""
    known = [each for each in path if each is not None]
    return "/".join(known) if len(known) == len(path) else ("/" + "/".join(known) if known else None)


# -- TOML

_TOML_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]]+)\]\]?\s*(?:#.*)?")
_TOML_KEY = re.compile(
    r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=\s*(.*)"""
)
_TOML_TOKEN = re.compile(r"""\"((?:[^"\\]|\\.)*)\"|'([^']*)'|(\#.*)|([\[\]])""")
_TOML_FENCE = re.compile(r"\"\"\"|'''")
_INLINE_TABLE = re.compile(r"\{[^{}]*\}")


def toml_values(stretch: Stretch) -> Iterator[Value]:
    """Yield every value: strings of an array one by one, the rest as written; a heading with no key."""
    section: str | None = "" if stretch.begins_file else None
    key: str | None = None
    depth, in_text = 0, False
    for line in stretch.lines:
        if stretch.begins_file and len(_TOML_FENCE.findall(line.text)) % 2:
            in_text = not in_text
            continue
        if in_text:
            continue
        if depth <= 0 and (header := _TOML_HEADER.fullmatch(line.text)):
            section, key, depth = _plain_key(header[1]), None, 0
            yield Value(line.number, section, None, "")
        elif depth <= 0 and (told := _TOML_KEY.fullmatch(line.text)):
            key = _plain_key(told[1])
            strings, depth = _toml_strings(told[2])
            if told[2].startswith("["):
                yield from (Value(line.number, section, key, each) for each in strings)
            else:
                yield Value(line.number, section, key, told[2])
                depth = 0
            key = key if depth > 0 else None
        else:
            strings, change = _toml_strings(line.text)
            yield from (Value(line.number, section, key, each) for each in strings)
            depth += change
            key = key if depth > 0 else None


def _toml_strings(text: str) -> tuple[list[str], int]:
    """Return the strings of an array's line, and by how much brackets open more than close."""
    tokens = list(_TOML_TOKEN.finditer(_INLINE_TABLE.sub("", text)))
    strings = [token[1] if token[1] is not None else token[2] for token in tokens]
    marks = [token[4] for token in tokens]
    return [each for each in strings if each is not None], marks.count("[") - marks.count("]")


def _plain_key(key: str) -> str:
    return re.sub(r"\s*\.\s*", ".", re.sub(r"[\"']", "", key)).strip()


# -- INI

_INI_HEADER = re.compile(r"\[([^\]]+)\]\s*")
_INI_KEY = re.compile(r"([A-Za-z][\w.-]*)\s*[=:]\s*(.*)")


def ini_values(stretch: Stretch) -> Iterator[Value]:
    """Yield every line of every value."""
    section: str | None = "" if stretch.begins_file else None
    key: str | None = None
    for line in stretch.lines:
        text = line.text
        if header := _INI_HEADER.fullmatch(text):
            section, key = header[1].strip(), None
        elif told := _INI_KEY.fullmatch(text):
            key = told[1]
            yield Value(line.number, section, key, told[2].strip())
        elif text[:1].isspace() and text.strip():
            yield Value(line.number, section, key, text.strip())
