"""What holds for every life of every memory: intervals, times, histories, orders, ids."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import StillClock

from whence.core.errors import InvalidParameter
from whence.core.ids import ulid
from whence.core.life import Whence
from whence.core.memories import Draft, rewind
from whence.core.ports import Candidate, Found, Manifest, Scope
from whence.core.ranking import fuse
from whence.core.recall import Query
from whence.features.portable import export_lines, import_lines
from whence.features.workspaces import Place, found_workspace
from whence.models import NoModels
from whence.storage import open_store

moderate = settings(max_examples=40, deadline=None)
times = st.integers(0, 30)


class Open:
    """A fresh memory in RAM with two rooms, closed at the end."""

    def __enter__(self):
        self.clock = StillClock()
        store = open_store("sqlite:///:memory:", tenant="local", clock=self.clock)
        self.whence = Whence(store, NoModels(), self.clock)
        self.rooms = [found_workspace(self.whence, Place(name=name)).id for name in ("one", "two")]
        return self

    def __exit__(self, *_):
        self.whence.close()

    def keep(self, content="kiwi", **fields):
        return self.whence.remember(Draft(content=content, **fields), workspace=self.rooms[0]).memory

    def answers(self, **scope):
        hits = self.whence.recall(Query(text="kiwi", scope=Scope(**scope), limit=50)).hits
        recent = self.whence.recent(Scope(**scope), 50)
        assert {hit.memory.id for hit in hits} == {memory.id for memory in recent}
        return [hit.memory.id for hit in hits]


def chained(opened, begins):
    chain = [opened.keep(f"kiwi {n}", valid_from=begin) for n, begin in enumerate(begins)]
    for older, newer in pairwise(chain):
        opened.whence.supersede(older.id, by=newer.id)
    return [opened.whence.get(each.id) for each in chain]


@moderate
@given(st.lists(times, min_size=1, max_size=6), times)
def test_the_intervals_of_a_chain_never_overlap_and_as_of_gives_the_one_that_held(begins, moment):
    with Open() as opened:
        chain = chained(opened, begins)
        held = [
            each
            for each in chain
            if each.valid_from <= moment and (each.valid_until is None or moment < each.valid_until)
        ]
        assert len(held) <= 1
        assert opened.answers(as_of=moment) == [each.id for each in held]
        assert all(each.valid_until is None or each.valid_until >= each.valid_from for each in chain)
        assert chain[-1].valid_until is None
        # From the first beginning on there is always a version that held.
        assert bool(held) == (min(begins) <= moment)


@moderate
@given(st.lists(times, min_size=2, max_size=5), st.permutations(range(4)))
def test_the_intervals_do_not_depend_on_the_order_in_which_the_chain_was_joined(begins, order):
    with Open() as first, Open() as second:
        straight = [(each.valid_from, each.valid_until) for each in chained(first, begins)]
        chain = [second.keep(f"kiwi {n}", valid_from=begin) for n, begin in enumerate(begins)]
        for place in order:
            if place + 1 < len(chain):
                second.whence.supersede(chain[place].id, by=chain[place + 1].id)
        mixed = [second.whence.get(each.id) for each in chain]
        assert [(each.valid_from, each.valid_until) for each in mixed] == straight


@moderate
@given(st.lists(times, min_size=1, max_size=4), times, st.lists(st.integers(1, 10), max_size=3))
def test_as_of_stays_the_same_when_later_versions_come(begins, moment, gaps):
    with Open() as opened:
        chain = chained(opened, begins)
        before = opened.answers(as_of=moment)
        last = chain[-1]
        begin = max(moment, *begins)
        for gap in gaps:
            begin += gap
            newer = opened.keep("kiwi later", valid_from=begin)
            opened.whence.supersede(last.id, by=newer.id)
            last = newer
        assert opened.answers(as_of=moment) == before


@moderate
@given(st.lists(times, min_size=2, max_size=5), st.integers(0, 3))
def test_known_at_before_a_supersede_sees_the_old_one_open(begins, upto):
    with Open() as opened:
        chain = [opened.keep(f"kiwi {n}", valid_from=begin) for n, begin in enumerate(begins)]
        upto = min(upto, len(chain) - 1)
        for older, newer in list(pairwise(chain))[:upto]:
            opened.whence.supersede(older.id, by=newer.id)
        then = opened.clock.now()
        known = {each.id: opened.whence.get(each.id) for each in chain}
        live = set(opened.answers())
        for older, newer in list(pairwise(chain))[upto:]:
            opened.whence.supersede(older.id, by=newer.id)
        assert set(opened.answers(known_at=then)) == live
        for hit in opened.whence.recall(Query(text="kiwi", scope=Scope(known_at=then), limit=50)).hits:
            assert hit.memory == known[hit.memory.id]
        assert opened.answers() == [chain[-1].id]


@moderate
@given(st.lists(times, min_size=2, max_size=5), times)
def test_both_times_together_give_the_version_that_was_then_known_to_hold(begins, moment):
    with Open() as opened:
        chain = [opened.keep(f"kiwi {n}", valid_from=begin) for n, begin in enumerate(begins)]
        seen = []
        for older, newer in pairwise(chain):
            opened.whence.supersede(older.id, by=newer.id)
            now = [opened.whence.get(each.id) for each in chain]
            holding = {
                each.id
                for each in now
                if each.valid_from <= moment and (each.valid_until is None or moment < each.valid_until)
            }
            seen.append((opened.clock.now(), holding))
        for then, holding in seen:
            hits = opened.whence.recall(
                Query(text="kiwi", scope=Scope(known_at=then, as_of=moment), limit=50)
            ).hits
            assert {hit.memory.id for hit in hits} == holding


deeds = st.lists(
    st.tuples(
        st.sampled_from(["edit", "confidence", "tags", "archive", "restore", "supersede", "move"]),
        st.integers(0, 3),
        st.integers(0, 3),
        st.text("ab한", min_size=1, max_size=3),
    ),
    max_size=14,
)


def do(opened, memories, deed):
    action, one, other, text = deed
    whence, memory, second = opened.whence, memories[one], memories[other]
    match action:
        case "edit":
            whence.edit(memory.id, {"content": f"kiwi {text}", "topic": text})
        case "confidence":
            whence.edit(memory.id, {"confidence": other / 3})
        case "tags":
            whence.edit(memory.id, {"tags": tuple(text)})
        case "archive":
            whence.archive(memory.id)
        case "restore":
            whence.restore(memory.id)
        case "move":
            whence.move(memory.id, opened.rooms[other % 2])
        case "supersede":
            try:
                whence.supersede(memory.id, by=second.id)
            except InvalidParameter:
                return


@moderate
@given(deeds)
def test_walking_the_events_back_gives_every_earlier_state(steps):
    with Open() as opened:
        memories = [opened.keep(f"kiwi {n}", valid_from=10 - n) for n in range(4)]
        states = {each.id: [each] for each in memories}
        for step in steps:
            do(opened, memories, step)
            for each in memories:
                now = opened.whence.get(each.id)
                if now != states[each.id][-1]:
                    states[each.id].append(now)
        for each in memories:
            now, seen = opened.whence.get(each.id), states[each.id]
            events = opened.whence.history(each.id)
            assert [event.number for event in events] == list(range(1, len(events) + 1))
            walked = [now]
            for event in reversed(events[1:]):
                walked.append(rewind(walked[-1], event))
            # One deed may leave two events with one memory, never a state without one.
            assert walked[-1] == each
            assert [state for state in walked[::-1] if state in seen] == seen
            assert now.updated_at == max(state.updated_at for state in seen)


@moderate
@given(deeds)
def test_export_and_import_bring_the_same_memory_to_an_empty_store_and_again_change_nothing(steps):
    with Open() as opened, Open() as target:
        memories = [opened.keep(f"kiwi {n}", type="decision" if n % 2 else "fact") for n in range(4)]
        for step in steps:
            do(opened, memories, step)
        lines = list(export_lines(opened.whence))
        brought = import_lines(target.whence, lines)
        assert (brought.memories, brought.known) == (4, 0)
        names = {each.id: each.name for each in opened.whence.store.workspaces()}
        their_names = {each.id: each.name for each in target.whence.store.workspaces()}
        for memory in opened.whence.store.every():
            there = target.whence.get(memory.id)
            assert their_names[there.workspace] == names[memory.workspace]
            assert replace(there, workspace=memory.workspace) == memory
            assert target.whence.store.events(memory.id) == opened.whence.store.events(memory.id)
            there, here = target.whence.store.graph(), opened.whence.store.graph()
            assert there.links(memory.id) == here.links(memory.id)
        assert set(target.answers()) == set(opened.answers())
        before = list(export_lines(target.whence))
        again = import_lines(target.whence, lines)
        assert (again.memories, again.known, again.links) == (0, 4, 0)
        assert list(export_lines(target.whence)) == before


@moderate
@given(deeds)
def test_a_search_agrees_with_what_lives_after_any_sequence_of_deeds(steps):
    with Open() as opened:
        memories = [opened.keep(f"kiwi {n}") for n in range(4)]
        for step in steps:
            do(opened, memories, step)
            live = {each.id for each in opened.whence.store.every() if each.is_live}
            assert set(opened.answers()) == live
            for room in opened.rooms:
                here = {
                    each.id for each in opened.whence.store.every() if each.is_live and each.workspace == room
                }
                assert set(opened.answers(workspaces=(room,))) == here


def manifest(name):
    return Manifest(
        id=name,
        dimensions=4,
        max_tokens=9,
        query_prefix="",
        weight=3.0,
        unrelated=0.3,
        paraphrase=0.9,
        related=0.6,
        duplicate=0.8,
        question_floor=0.4,
    )


similarities = st.floats(-1, 1, allow_nan=False)
candidates = st.lists(
    st.builds(
        Candidate,
        id=st.text("abcdef", min_size=1, max_size=4),
        source=st.sampled_from(["explicit", "extracted"]),
        valid_from=times,
        words=st.one_of(st.just(0.0), st.floats(0, 40)),
        meaning=st.one_of(st.none(), similarities),
        model=st.sampled_from(["first", "second"]),
        via=st.none(),
    ),
    max_size=12,
    unique_by=lambda each: each.id,
)


@given(candidates, st.booleans())
def test_fusion_keeps_every_answer_once_and_relevance_falls_from_one_to_nought(found, with_second):
    known = ["first", "second"] if with_second else ["first"]
    found = [each if each.model in known else replace(each, model=None, meaning=None) for each in found]
    seen = {
        model: [each.meaning for each in found if each.model == model and each.meaning is not None]
        for model in known
    }
    spans = {model: (min(each), max(each)) for model, each in seen.items() if each}
    everything = Found(candidates=tuple(found), spans=spans)
    ranked = fuse(everything, [manifest(each) for each in known], limit=20)
    assert fuse(everything, [manifest(each) for each in known], limit=3) == ranked[:3]
    ids = [each.candidate.id for each in ranked]
    assert len(ids) == len(set(ids))
    assert set(ids) <= {each.id for each in found}
    assert {each.id for each in found if each.words > 0} <= set(ids)
    relevance = [each.relevance for each in ranked]
    assert relevance == sorted(relevance, reverse=True)
    assert all(-1e-9 <= each <= 1 + 1e-9 for each in relevance)
    for each in ranked:
        assert all(reason.points > 0 for reason in each.reasons)


@given(candidates)
def test_without_a_model_only_what_shares_a_word_is_an_answer(found):
    plain = tuple(replace(each, meaning=None, model=None) for each in found)
    ranked = fuse(Found(candidates=plain), [], limit=20)
    assert {each.candidate.id for each in ranked} == {each.id for each in plain if each.words > 0}


@given(st.lists(st.integers(0, 2**47 * 1000), min_size=1, max_size=20))
def test_an_id_is_twenty_six_characters_of_its_alphabet_and_never_drawn_twice(moments):
    drawn = [ulid(moment) for moment in moments]
    assert len(set(drawn)) == len(drawn)
    assert all(len(each) == 26 and set(each) <= set("0123456789ABCDEFGHJKMNPQRSTVWXYZ") for each in drawn)


@given(st.integers(0, 2**40 * 1000), st.lists(st.integers(0, 900), min_size=2, max_size=20))
def test_ids_of_one_moment_rise_in_the_order_they_were_drawn(moment, steps):
    moment += 2**41 * 1000  # past whatever other tests drew
    drawn = [ulid(moment + step) for step in sorted(steps)]
    same_millisecond = (
        [ulid(moment) for _ in range(20)] if len({(moment + s) // 1000 for s in steps}) == 1 else []
    )
    assert same_millisecond == sorted(same_millisecond)
    assert len(set(drawn)) == len(drawn)
