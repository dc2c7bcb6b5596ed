"""Whatever the families replace in whatever order: is there never a circle, and always one live head?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import StillClock
from tests.surfaces.conftest import Facts

from whence.core.errors import WhenceError
from whence.core.life import Whence
from whence.core.memories import Memory, Tie, rewind
from whence.models import NoModels
from whence.storage import open_store

START = 5  # memories before the first step; a step may add one
REPLACING = ["supersedes", "replaces", "Replaces", " SUPERSEDES "]
OTHER = ["refines", "improves", "upgrades", "follows_on", "implements", "contradicts", "precedes"]
SAVING = ["evolve/supersede anew", "save/decision supersedes", "save/decision links", "save/insight links"]
JOINING = ["evolve/supersede", "supersede_memory", "decision_memory", "link", "supersede"]
steps = st.lists(
    st.tuples(
        st.sampled_from([*SAVING, *JOINING]),
        st.lists(st.integers(0, 9), min_size=2, max_size=3),
        st.sampled_from([*REPLACING, *OTHER[:2]]),
    ),
    max_size=18,
)
moderate = settings(max_examples=60, deadline=None)


@dataclass
class World:
    """A memory of decisions, facts and insights, and what must have replaced what by now."""

    tools: Facts
    ids: list[str] = field(default_factory=list)
    successor: dict[str, str] = field(default_factory=dict)
    states: dict[str, list[Memory]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        tools = self.tools
        self.ids = [
            tools.decide("kiwi one", topic="fruit"),
            tools.store("kiwi two"),
            tools.decide("kiwi three", topic="trees"),
            tools.learn("kiwi four"),
            tools.decide("kiwi five", topic="fruit"),
        ]
        assert len(self.ids) == START
        self.remember_states()
        return self

    def __exit__(self, *_: object) -> None:
        self.tools.whence.close()

    def head(self, memory_id: str) -> str:
        seen = {memory_id}
        while memory_id in self.successor:
            memory_id = self.successor[memory_id]
            assert memory_id not in seen, "a circle"
            seen.add(memory_id)
        return memory_id

    def may_replace(self, old: str, new: str) -> bool:
        """What the rulings say: itself, a second successor and a circle are refused; again is no change."""
        if old == new:
            return False
        if old in self.successor:
            return self.successor[old] == new
        return self.head(new) != old

    def remember_states(self) -> None:
        for each in self.ids:
            now, before = self.tools.whence.get(each), self.states.setdefault(each, [])
            if not before or before[-1] != now:
                before.append(now)

    # -- the ways in which a family replaces

    def take(self, way: str, places: list[int], word: str) -> None:
        """Take one step, which must succeed exactly if it may, and change nothing if it may not."""
        chosen = [self.ids[each % len(self.ids)] for each in places]
        olds = list(dict.fromkeys(chosen)) if way == "save/decision supersedes" else chosen[:1]
        new = None if way in SAVING else chosen[1]
        replaces = word in REPLACING or "link" not in way
        if not replaces:
            allowed = way != "link" or chosen[0] != chosen[1]
        elif new is None:
            allowed = not any(each in self.successor for each in olds)
        else:
            allowed = self.may_replace(chosen[0], new)
            if way == "decision_memory":
                allowed = allowed and None not in [self.number(each) for each in chosen[:2]]
        before = self.tools.dump()
        made = self._do(way, olds, new, word)
        assert (made is not None) is allowed, (way, chosen, word)
        if made is None:
            assert self.tools.dump() == before
            return
        if made not in self.ids:
            self.ids.append(made)
        if replaces:
            self.successor.update(dict.fromkeys(olds, made))

    def _do(self, way: str, olds: list[str], new: str | None, word: str) -> str | None:
        """Return the memory that replaces, or None if it was refused."""
        old, whence = olds[0], self.tools.whence
        told = {"topic": "fruit", "decision": "kiwi again", "reasoning": "It is riper"}
        ties = [{"to_id": old, "relationship": word}]
        match way:
            case "link" | "supersede":
                try:
                    if way == "link":
                        whence.link(str(new), Tie(to_id=old, relationship=word))
                    else:
                        whence.supersede(old, by=str(new))
                except WhenceError:
                    return None
                return new
            case "evolve/supersede":
                outcome = self.tools.call(way, old_id=old, new_id=new)
            case "evolve/supersede anew":
                outcome = self.tools.call("evolve/supersede", old_id=old, decision="kiwi", reasoning="Riper")
            case "save/decision supersedes":
                outcome = self.tools.call("save/decision", **told, supersedes=olds)
            case "save/decision links":
                outcome = self.tools.call("save/decision", **told, links=ties)
            case "save/insight links":
                outcome = self.tools.call("save/insight", content="kiwi, newly learned", links=ties)
            case "supersede_memory":
                outcome = self.tools.call(way, old_memory_id=old, new_memory_id=new)
            case "decision_memory":
                numbers = [self.number(each) or each for each in (old, new)]
                outcome = self.tools.call(way, action="supersede", old_id=numbers[0], new_id=numbers[1])
        if outcome.is_error:
            return None
        return new or outcome.structured["created"]["id"]

    def number(self, memory_id: str | None) -> int | None:
        return self.tools.whence.get(str(memory_id)).number

    # -- what must hold

    def check(self) -> None:
        whence = self.tools.whence
        heads = {each: self.head(each) for each in self.ids}
        for each in self.ids:
            memory = whence.get(each)
            assert memory.superseded_by == self.successor.get(each)
            assert set(memory.supersedes) == {old for old, new in self.successor.items() if new == each}
            chain = whence.store.chain(each)
            assert {version.id for version in chain} == {old for old in heads if heads[old] == heads[each]}
            assert [version.id for version in chain if version.is_live] == [heads[each]]
        live = set(heads.values())
        for tool in ("list_recent_memories", "search/recent"):
            told = self.tools.ask(tool, limit=50)["memories"]
            assert {each["id"] for each in told} == live
        found = self.tools.ask("search/by_context", query="kiwi", limit=20)["memories"]
        assert {each["id"] for each in found} <= live
        self._check_register()

    def _check_register(self) -> None:
        listed = self.tools.ask("decision_memory", action="list", limit=1000)["decisions"]
        by_number = {each["id"]: each for each in listed}
        for each in self.ids:
            number, new = self.number(each), self.successor.get(each)
            if number is not None:
                told = by_number.pop(number)
                assert told["status"] == ("active" if new is None else "superseded")
                assert told["superseded_by"] == (None if new is None else self.number(new))
        assert not by_number

    def check_histories(self) -> None:
        """Walk the events of every memory back: each state it was ever in comes by."""
        for each in self.ids:
            events = self.tools.whence.history(each)
            walked = [self.tools.whence.get(each)]
            for event in reversed(events[1:]):
                walked.append(rewind(walked[-1], event))
            assert [event.number for event in events] == list(range(1, len(events) + 1))
            # One step may leave several events with a memory: it joins, and its chain grows.
            assert [state for state in walked[::-1] if state in self.states[each]] == self.states[each]
            assert walked[-1] == self.states[each][0] or walked[-1].supersedes == ()


def opened() -> World:
    clock = StillClock()
    store = open_store("sqlite:///:memory:", tenant="local", clock=clock)
    return World(Facts(Whence(store, NoModels(), clock)))


@pytest.mark.promise("004-044", "004-047", "004-048")
@moderate
@given(steps)
def test_no_order_of_replacements_by_any_family_makes_a_circle_or_a_second_head(taken):
    with opened() as world:
        for way, places, word in taken:
            world.take(way, places, word)
            world.remember_states()
        world.check()
        world.check_histories()


@pytest.mark.parametrize("closing", [*JOINING])
@pytest.mark.parametrize("opening", [*JOINING])
def test_a_circle_of_three_is_refused_whoever_begins_and_whoever_closes_it(opening, closing):
    with opened() as world:
        world.take(opening, [0, 2], "replaces")
        world.take(opening, [2, 4], "replaces")
        for old, new in ((4, 0), (4, 2), (2, 0)):
            assert not world.may_replace(world.ids[old], world.ids[new])
            world.take(closing, [old, new], "replaces")
        world.check()


@pytest.mark.parametrize("word", OTHER)
@pytest.mark.parametrize("way", ["link", "save/decision links", "save/insight links"])
def test_only_two_words_replace_and_every_other_one_joins(way, word):
    with opened() as world:
        world.take(way, [0, 2], word)
        assert world.successor == {}
        world.check()


@pytest.mark.parametrize(("first", "second"), [("supersedes", "replaces"), ("replaces", "supersedes")])
def test_the_pair_that_stands_is_success_by_the_other_word_too(first, second):
    with opened() as world:
        old, new = world.ids[:2]
        world.tools.whence.link(new, Tie(to_id=old, relationship=first))
        before = world.tools.dump()
        world.tools.whence.link(new, Tie(to_id=old, relationship=second))
        assert world.tools.dump() == before
