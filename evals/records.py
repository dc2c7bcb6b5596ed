"""Decision records that replaced one another, as the evals store them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evals.files import lines_of
from evals.store import fitting
from whence.core.memories import FIELD_LIMIT, Draft
from whence.core.times import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whence.core.times import Instant

_TELLING = re.compile(r"supersed|superced|replac|obsolet|deprecat", re.IGNORECASE)
_HEADING = re.compile(r"^(#+)\s+\S")
_STATUS = re.compile(r"^(#+)\s+status\b", re.IGNORECASE)
_UNDERLINED_STATUS = re.compile(r"^status\s*$", re.IGNORECASE)
_UNDERLINE = re.compile(r"^\s*([=\-~^])\1{2,}\s*$")


@dataclass(frozen=True, slots=True)
class Record:
    """One decision record."""

    id: str
    repository: str
    title: str
    text: str
    at: Instant | None

    def draft(self) -> Draft:
        """Return the record as a memory to be."""
        return Draft(
            content=fitting(self.text),
            topic=self.title[:FIELD_LIMIT] or None,
            type="decision",
            valid_from=self.at,
        )


@dataclass(frozen=True, slots=True)
class Replacement:
    """One record that replaced another."""

    repository: str
    old: str
    new: str
    current: frozenset[str]
    is_formal: bool
    old_title: str
    new_title: str
    new_at: Instant
    is_ordered: bool

    @property
    def kind(self) -> str:
        return "formal" if self.is_formal else "adr"


def records(data: Path) -> dict[str, list[Record]]:
    """Return all records by repository."""
    found: dict[str, list[Record]] = defaultdict(list)
    for each in lines_of(data / "adr_supersede" / "docs.jsonl"):
        at = day(each["date_iso"]) if each["date_iso"] else None
        title = (each["title"] or "").strip()
        found[each["repo"]].append(Record(each["doc"], each["repo"], title, each["text"], at))
    return found


def replacements(data: Path, split: str) -> list[Replacement]:
    """Return the pairs of a split."""
    return [
        Replacement(
            repository=each["repo"],
            old=f"{each['repo']}:{each['old']}",
            new=f"{each['repo']}:{each['new']}",
            current=frozenset(each["current"]),
            is_formal=each["formal"],
            old_title=each["query_old_title"],
            new_title=each["query_new_title"],
            new_at=day(each["new_date"]),
            is_ordered=each["dates_ordered"],
        )
        for each in lines_of(data / "adr_supersede" / f"pairs_{split}.jsonl")
    ]


def day(text: str) -> Instant:
    """Return the first moment of an ISO date."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


def without_status(text: str) -> str:
    """Return a record's text without what tells that it was replaced, or by which."""
    return "\n".join(line for line in _outside_status(text.splitlines()) if not _TELLING.search(line))


def _outside_status(lines: list[str]) -> Iterator[str]:
    """Yield the lines that lie in no section named Status."""
    depth = 0  # of the Status heading; 0 outside, and 9 under an underlined one
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        heading = _HEADING.match(line)
        underlined = bool(line.strip()) and _UNDERLINE.match(following) is not None
        if depth and ((heading and len(heading.group(1)) <= depth) or (underlined and depth == 9)):
            depth = 0
        status = _STATUS.match(line)
        if status:
            depth = len(status.group(1))
        elif underlined and _UNDERLINED_STATUS.match(line):
            depth = 9
        if not depth:
            yield line
