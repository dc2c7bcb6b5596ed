"""Links: do the automatic ones join what belongs together, and how many end at a memory?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evals import beam, locomo
from evals.figures import mean
from evals.files import json_of, lines_of
from evals.records import records
from evals.store import IN_MEMORY, models
from whence.bootstrap import TENANT
from whence.core.ids import workspace_id
from whence.core.life import Whence
from whence.core.memories import Author, Draft, Workspace
from whence.core.times import MINUTE, SECOND
from whence.features.linking import link_waiting
from whence.storage import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from whence.core.links import Link
    from whence.core.times import Instant

HOUR = 60 * MINUTE


class SetClock:
    """A clock that shows the time of the set."""

    def __init__(self) -> None:
        self.moment: Instant = 0

    def now(self) -> Instant:
        self.moment += 1
        return self.moment


@dataclass(frozen=True, slots=True)
class Said:
    """One memory to be: when and in which session it was written, and what it belongs to."""

    draft: Draft
    at: Instant
    session: str
    belongs_to: frozenset[str]  # the questions whose evidence it is, its chains of decisions


@dataclass(slots=True)
class Linked:
    """What came of one store."""

    said: dict[str, Said] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)

    def is_signal(self, link: Link) -> bool:
        """True when both ends were written in one session within the hour, or belong to the same."""
        one, other = self.said[link.from_id], self.said[link.to_id]
        together = one.session == other.session and abs(one.at - other.at) <= HOUR
        return together or not one.belongs_to.isdisjoint(other.belongs_to)

    def ends(self) -> list[int]:
        """Return how many links end at each memory."""
        counted = Counter(end for link in self.links for end in (link.from_id, link.to_id))
        return [counted[memory_id] for memory_id in self.said]


def run(data: Path, split: str, *, limit: int | None = None) -> dict[str, object]:
    """Return the share of signal and the number of links; `limit` takes the first stores of each set only."""
    sets = {
        "locomo": [_linked(each) for each in _conversations(data, split)[:limit]],
        "beam": [_linked(each) for each in _chats(data, split)[:limit]],
        "adr": [_linked(each) for each in _repositories(data, split)[:limit]],
    }
    everything = [each for stores in sets.values() for each in stores]
    return {
        **_figures(everything),
        "by_set": {name: _figures(stores) for name, stores in sets.items()},
        "by_word": _by_word(everything),
    }


def _figures(stores: list[Linked]) -> dict[str, object]:
    """Return the figures of some stores; without any link no share of signal."""
    signal = [store.is_signal(link) for store in stores for link in store.links]
    ends = [count for store in stores for count in store.ends()]
    return {
        "n": len(ends),
        "links": len(signal),
        "signal_ratio": mean(signal) if signal else None,
        "average": mean(ends),
        "largest": max(ends, default=0),
    }


def _by_word(stores: list[Linked]) -> dict[str, object]:
    told: dict[str, list[bool]] = defaultdict(list)
    for store in stores:
        for link in store.links:
            told[link.relationship].append(store.is_signal(link))
    return {word: {"links": len(each), "signal_ratio": mean(each)} for word, each in sorted(told.items())}


@contextmanager
def _fresh() -> Iterator[tuple[Whence, SetClock, str]]:
    """Lend a memory whose time is the set's."""
    clock = SetClock()
    whence = Whence(open_store(IN_MEMORY, tenant=TENANT, clock=clock), models(), clock)
    workspace = Workspace(id=workspace_id(), name="eval", identity=None, created_at=0)
    with whence.store.writing() as writing:
        writing.found_workspace(workspace)
    try:
        yield whence, clock, workspace.id
    finally:
        whence.close()


def _linked(told: list[Said]) -> Linked:
    """Remember what was said at its time, link each as a server would, and return what stands in the end."""
    done = Linked()
    with _fresh() as (whence, clock, workspace):
        for said in told:
            clock.moment = max(clock.moment, said.at)
            author = Author(session=said.session)
            memory = whence.remember(said.draft, workspace=workspace, author=author).memory
            done.said[memory.id] = said
            link_waiting(whence, HOUR)
        done.links = whence.store.graph().made_by_system()
    return done


def _conversations(data: Path, split: str) -> list[list[Said]]:
    """Return the turns of every conversation: a second apart, as the set times sessions alone."""
    found = []
    for sample in json_of(data / "locomo10" / f"locomo_{split}.json"):
        evidence: dict[str, set[str]] = defaultdict(set)
        for number, question in enumerate(sample["qa"]):
            for entry in question["evidence"]:
                for turn in re.split(r"[;,\s]+", entry):
                    evidence[turn].add(f"question {number}")
        turns = locomo._turns(sample["conversation"])  # noqa: SLF001  one reader of the set
        found.append(
            [
                Said(
                    Draft(content=turn.text, context=turn.before, valid_from=turn.at),
                    turn.at + number * SECOND,
                    turn.id.split(":")[0],
                    frozenset(evidence[turn.id]),
                )
                for number, turn in enumerate(turns)
            ]
        )
    return found


def _chats(data: Path, split: str) -> list[list[Said]]:
    """Return the messages of every chat: a session begins with each day that is named."""
    questions = beam.questions(data, split)
    return [_messages(each, questions) for each in beam.chats(data, split)]


def _messages(chat: dict[str, Any], questions: list[beam.Question]) -> list[Said]:
    evidence: dict[str, set[str]] = defaultdict(set)
    for number, question in enumerate(questions):
        if question.chat == chat["chat"]:
            for message in question.gold:
                evidence[message].add(f"question {number}")
    drafts = beam._drafts(chat["messages"])  # noqa: SLF001  one reader of the set
    return [
        Said(
            draft,
            (draft.valid_from or 0) + number * SECOND,
            str(draft.valid_from),
            frozenset(evidence[message_id]),
        )
        for number, (draft, message_id) in enumerate(drafts)
    ]


def _repositories(data: Path, split: str) -> list[list[Said]]:
    """Return the records of every repository by their day; each was written on its own, in no session."""
    chains: dict[str, set[str]] = defaultdict(set)
    for pair in lines_of(data / "adr_supersede" / f"pairs_{split}.jsonl"):
        for end in ("old", "new"):
            chains[f"{pair['repo']}:{pair[end]}"].add(pair["chain"])
    return [
        [
            Said(record.draft(), record.at or 0, record.id, frozenset(chains[record.id]))
            for record in sorted(listed, key=lambda each: each.at or 0)
        ]
        for _, listed in sorted(records(data).items())
    ]
