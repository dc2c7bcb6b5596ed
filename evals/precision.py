"""precisionmembench: does a question bring exactly what it is about, and nothing else?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evals.figures import mean
from evals.files import json_of
from evals.store import fresh_room
from whence.core.memories import Draft
from whence.core.ports import Scope
from whence.core.times import parse_instant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evals.store import Room

LIMIT = 20
USER = "test-user"
UNIVERSAL = "user:universal"


@dataclass(frozen=True, slots=True)
class Case:
    """One question and what came of it."""

    wanted: frozenset[str]
    came: frozenset[str]
    unwanted: frozenset[str]  # named as never to come

    @property
    def is_active(self) -> bool:
        return bool(self.wanted)

    @property
    def is_passed(self) -> bool:
        return self.came == self.wanted

    @property
    def is_structural(self) -> bool:
        """True when nothing came that its scope, owner or state keeps out."""
        return self.came.isdisjoint(self.unwanted)


def run(data: Path, split: str) -> dict[str, object]:
    """Return the passes by the benchmark's own rule: exactly the beliefs wanted, no other.

    A place is a user and a scope. Pins and open questions are lists of their own in the benchmark, no answers
    of a search, so they are not stored; superseding is stored, what was resolved is archived.
    """
    folder = data / "precisionmembench"
    beliefs = json_of(folder / "beliefs.seed.json")
    with fresh_room() as room:
        places = _places(room, beliefs)
        belief_of = _store(room, beliefs, places)
        asked = json_of(folder / f"retrieval_{split}.json")
        cases = [_case(room, each, beliefs, places, belief_of) for each in asked]
    active = [each for each in cases if each.is_active]
    return {
        "n": len(cases),
        "active_pass_rate": mean(each.is_passed for each in active),
        "structural_pass_rate": mean(each.is_structural for each in cases),
        "empty_pass_rate": mean(each.is_passed for each in cases if not each.is_active),
        "precision": mean(_share(each.came & each.wanted, each.came) for each in active),
        "recall": mean(_share(each.came & each.wanted, each.wanted) for each in active),
        "passes": {"active": sum(each.is_passed for each in active), "active_n": len(active)},
        "returned": mean(len(each.came) for each in cases),
    }


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 0.0


def _places(room: Room, beliefs: Sequence[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Return a workspace for every user and scope."""
    named = dict.fromkeys((each["user_id"], scope) for each in beliefs for scope in each["scope"])
    return {(user, scope): room.found_workspace(f"{user} {scope}") for user, scope in named}


def _is_searched(belief: dict[str, Any]) -> bool:
    return not belief["pinned"] and belief["type"] != "open_question"


def _text(belief: dict[str, Any]) -> str:
    return ", ".join([belief["canonical_name"].replace("_", " "), *belief["aliases"]])


def _store(
    room: Room, beliefs: Sequence[dict[str, Any]], places: dict[tuple[str, str], str]
) -> dict[str, str]:
    """Remember the beliefs that a search may answer with; return the belief of each memory."""
    belief_of: dict[str, str] = {}
    for belief in beliefs:
        if _is_searched(belief):
            _store_one(room, belief, places, belief_of)
    ids = {belief: memory for memory, belief in belief_of.items()}
    for belief in beliefs:
        old, new = ids.get(belief["_id"]), ids.get(belief["superseded_by"])
        if old is not None and new is not None:
            room.whence.supersede(old, by=new)
        elif old is not None and (belief["superseded_by"] or belief["resolved_at"]):
            room.whence.archive(old)  # its successor is a pin and not stored, or it was resolved
    return belief_of


def _store_one(
    room: Room, belief: dict[str, Any], places: dict[tuple[str, str], str], belief_of: dict[str, str]
) -> None:
    for scope in belief["scope"]:
        draft = Draft(
            content=_text(belief),
            confidence=belief["confidence"],
            valid_from=parse_instant(belief["created_at"], name="created_at"),
        )
        belief_of[room.save(draft, workspace=places[belief["user_id"], scope])] = belief["_id"]


def _case(
    room: Room,
    case: dict[str, Any],
    beliefs: Sequence[dict[str, Any]],
    places: dict[tuple[str, str], str],
    belief_of: dict[str, str],
) -> Case:
    user = case.get("userId", USER)
    scopes = {*case["scope"], UNIVERSAL}
    here = tuple(place for (owner, scope), place in places.items() if owner == user and scope in scopes)
    came = room.ask(case["query"], LIMIT, Scope(workspaces=here)) if case["query"].strip() else []
    expected = case["expect"]["relevantBeliefs"]
    outside = {
        each["_id"]
        for each in beliefs
        if each["user_id"] != user
        or scopes.isdisjoint(each["scope"])
        or each["superseded_by"]
        or each["resolved_at"]
        or not _is_searched(each)
    }
    return Case(
        wanted=frozenset(expected["shouldOnlyInclude"]),
        came=frozenset(belief_of[each] for each in came),
        unwanted=frozenset(outside | set(expected.get("mustExclude", []))),
    )
