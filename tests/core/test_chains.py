"""What holds for every chain of versions, in whatever order and by whatever verb it was made."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.test_properties import Open, times
from tests.surfaces.conftest import Facts

from whence.core.errors import InvalidParameter
from whence.core.memories import Draft, Tie, rewind
from whence.core.ports import Scope
from whence.core.recall import Query
from whence.features.portable import export_lines

moderate = settings(max_examples=60, deadline=None)
FEW = 5  # memories that stand at first

# By which verb, which memory is to be replaced, and by which: an index counts from the first memory.
replacements = st.lists(
    st.tuples(
        st.sampled_from(
            ["supersede", "link supersedes", "link Replaces", "link refines", "save", "save link"]
        ),
        st.lists(st.integers(0, FEW + 3), min_size=1, max_size=3),
        st.integers(0, FEW + 3),
    ),
    max_size=14,
)


def attempt(opened, ids, way, olds, new):
    """Let one memory replace others, and return that one."""
    whence = opened.whence
    match way.split():
        case ["supersede"]:
            whence.supersede(olds[0], by=new)
            return new
        case ["link", word]:
            whence.link(new, Tie(to_id=olds[0], relationship=word))
            return new
        case ["save"]:
            draft = Draft(content="kiwi saved", supersedes=tuple(olds))
        case _:
            ties = tuple(Tie(to_id=old, relationship="replaces") for old in olds)
            draft = Draft(content="kiwi linked", ties=ties)
    ids.append(whence.remember(draft, workspace=opened.rooms[0]).memory.id)
    return ids[-1]


def head_of(replaced_by, memory_id):
    """Follow what replaced what to its end: in a circle this never ends."""
    steps = 0
    while memory_id in replaced_by:
        memory_id = replaced_by[memory_id]
        steps += 1
        assert steps <= len(replaced_by), "a circle"
    return memory_id


def replaced(replaced_by, way, olds, new):
    """Return which memories the rules let be replaced, or None for a refusal."""
    if way.startswith("save"):  # a new memory, which replaced nothing and which nothing replaced
        return None if set(olds) & set(replaced_by) else olds
    old = olds[0]
    if old == new:
        return None
    if way == "link refines" or replaced_by.get(old) == new:
        return []
    return None if old in replaced_by or head_of(replaced_by, new) == old else [old]


@moderate
@given(replacements)
def test_no_order_of_supersessions_makes_a_circle_or_a_second_successor(steps):
    with Open() as opened:
        ids = [opened.keep(f"kiwi {number}").id for number in range(FEW)]
        replaced_by = {}
        for way, old_places, new_place in steps:
            olds = [ids[place % len(ids)] for place in old_places]
            new = ids[new_place % len(ids)]
            expected = replaced(replaced_by, way, olds, new)
            before = list(export_lines(opened.whence))
            try:
                by = attempt(opened, ids, way, olds, new)
            except InvalidParameter:
                assert expected is None
                assert list(export_lines(opened.whence)) == before, "a refusal changes nothing"
                continue
            assert expected is not None
            replaced_by |= dict.fromkeys(expected, by)
            check_chains(opened, ids, replaced_by)


def check_chains(opened, ids, replaced_by):
    """Every version leads to one head, by the row, by the links, by the chain and by what answers."""
    store = opened.whence.store
    memories = {each: opened.whence.get(each) for each in ids}
    heads = {each: head_of(replaced_by, each) for each in ids}
    for memory in memories.values():
        assert memory.superseded_by == replaced_by.get(memory.id)
        assert set(memory.supersedes) == {old for old, new in replaced_by.items() if new == memory.id}
        chain = [each.id for each in store.chain(memory.id)]
        assert sorted(chain) == sorted(each for each in ids if heads[each] == heads[memory.id])
        assert [each for each in chain if each not in replaced_by] == [heads[memory.id]]
        assert chain[-1] == heads[memory.id], "what holds now comes last, however old it is"
        told = {(each.from_id, each.to_id) for each in store.graph().links(memory.id) if each.supersedes}
        assert told == {pair[::-1] for pair in replaced_by.items() if memory.id in pair}
    assert set(opened.answers()) == set(heads.values())


@moderate
@given(st.lists(st.sampled_from(["supersede", "link", "save"]), min_size=1, max_size=30), st.data())
def test_a_chain_of_any_length_leads_from_every_version_to_its_one_current_decision(ways, data):
    with Open() as opened:
        ids = [opened.keep("kiwi version 0", type="decision", topic="fruit").id]
        for number, way in enumerate(ways, 1):
            draft = {"content": f"kiwi version {number}", "type": "decision", "topic": "fruit"}
            if way == "save":
                ids.append(opened.keep(**draft, supersedes=(ids[-1],)).id)
                continue
            ids.append(opened.keep(**draft).id)
            if way == "link":
                opened.whence.link(ids[-1], Tie(to_id=ids[-2], relationship="supersedes"))
            else:
                opened.whence.supersede(ids[-2], by=ids[-1])
        facts = Facts(opened.whence)
        for each in ids:
            assert [version.id for version in opened.whence.store.chain(each)] == ids
        number = data.draw(st.integers(0, len(ids) - 1))
        told = facts.ask("load/context", id=ids[number], workspace="one")
        assert [version["id"] for version in told["chain"]] == ids
        assert facts.ask("search/by_topic", topic="fruit", workspace="one")["current"]["id"] == ids[-1]
        assert facts.hits(f"version {number}", workspace="one") == [ids[-1]]


outcomes = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["SUCCESS", "failed", "Partial"]),
        st.sampled_from(["kiwi stains", "kiwi is sour", "키위는 시다"]),
    ),
    min_size=1,
    max_size=5,
)


@moderate
@given(st.lists(times, min_size=1, max_size=6), times, outcomes)
def test_an_outcome_changes_no_history(begins, moment, told):
    with Open() as opened:
        facts = Facts(opened.whence)
        chain = [
            opened.keep(f"kiwi {number}", type="decision", topic="fruit", valid_from=begin)
            for number, begin in enumerate(begins)
        ]
        for older, newer in pairwise(chain):
            opened.whence.supersede(older.id, by=newer.id)
        states = {each.id: opened.whence.get(each.id) for each in chain}
        events = {each.id: opened.whence.history(each.id) for each in chain}
        then = opened.clock.now()
        held, known = opened.answers(as_of=moment), opened.answers(known_at=then)
        for place, outcome, reason in told:
            decision = chain[place % len(chain)].id
            asked = {"decision_id": decision, "outcome": outcome, "reason": reason}
            facts.ask("evolve/outcome", **asked, workspace="one")
        assert opened.answers(as_of=moment) == held
        assert opened.answers(known_at=then) == known
        for hit in opened.whence.recall(Query(text="kiwi", scope=Scope(known_at=then), limit=50)).hits:
            state = states[hit.memory.id]
            # When it was last read is written in its own time, and is no history.
            then_known = replace(hit.memory, accessed_at=state.accessed_at)
            assert then_known == state, "it is known as it was then, without an outcome"
        for memory_id, state in states.items():
            now, added = opened.whence.get(memory_id), opened.whence.history(memory_id)
            assert added[: len(events[memory_id])] == events[memory_id]
            assert {each.action for each in added[len(events[memory_id]) :]} <= {"outcome"}
            for event in reversed(added[len(events[memory_id]) :]):
                now = rewind(now, event)
            assert replace(now, accessed_at=state.accessed_at) == state
