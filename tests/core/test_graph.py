"""Does a walk reach what it should, nearest first, and is it remembered for as long as it is true?"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.conftest import StillClock

from whence.core.errors import MemoryNotFound
from whence.core.graph import DEEPEST, LIFETIME, REMEMBERED, Walks, context, evolution, impact, neighbours
from whence.core.ids import link_id
from whence.core.life import Whence
from whence.core.links import Link, effective_confidence
from whence.core.memories import Draft, Memory, Tie
from whence.core.ports import Store, Walk
from whence.core.times import DAY, SECOND
from whence.features.workspaces import Place, found_workspace
from whence.models import NoModels
from whence.storage import open_store

Make = Callable[[], Memory]
Join = Callable[..., Link]
TYPES = ("evolution", "implementation", "association", "temporal")


@pytest.fixture
def place(wordless: Whence) -> str:
    return found_workspace(wordless, Place(name="project")).id


@pytest.fixture
def make(wordless: Whence, place: str) -> Make:
    """Store one more memory."""
    return lambda: wordless.remember(Draft(content="a step on the way"), workspace=place).memory


@pytest.fixture
def chain(make: Make, join: Join) -> Callable[[int], list[Memory]]:
    """Store so many memories, each linked to the one before it; the newest first."""

    def build(count: int) -> list[Memory]:
        made = [make() for _ in range(count)]
        for older, newer in pairwise(made):
            join(newer, older)
        return made[::-1]

    return build


@pytest.fixture
def join(store: Store, clock: StillClock) -> Join:
    """Link two memories, the newer first."""

    def link(newer: Memory, older: Memory, **fields: object) -> Link:
        now = clock.now()
        joined = replace(plain_link(link_id(now), newer, older, now), **fields)
        with store.writing() as writing:
            writing.link(joined)
        return joined

    return link


@pytest.fixture
def walks(store: Store, clock: StillClock) -> Walks:
    return Walks(store, clock)


def plain_link(link: str, newer: Memory, older: Memory, now: int = 1) -> Link:
    return Link(
        id=link,
        from_id=newer.id,
        to_id=older.id,
        link_type="association",
        relationship="mentions",
        confidence=0.8,
        created_by="llm",
        created_at=now,
    )


def reached(steps: Sequence) -> list[tuple[str, int]]:
    return [(step.id, step.distance) for step in steps]


def remembered(walks: Walks) -> int:
    return walks.take_counted()["walks_remembered"]


# -- where a walk leads


@pytest.mark.promise("000-075")
def test_a_walk_goes_breadth_first_and_reaches_each_memory_once_at_its_nearest(walks, make, join):
    a, b, c, d = (make() for _ in range(4))
    for newer, older in ((d, c), (c, b), (b, a), (d, b)):
        join(newer, older)
    outward = reached(walks.of(Walk(start=d.id, direction="out")))
    assert [distance for _, distance in outward] == [1, 1, 2]
    assert dict(outward) == {b.id: 1, c.id: 1, a.id: 2}
    inward = reached(walks.of(Walk(start=a.id, direction="in")))
    assert inward[0] == (b.id, 1)
    assert dict(inward[1:]) == {c.id: 2, d.id: 2}
    assert reached(walks.of(Walk(start=a.id, direction="out"))) == []


def test_at_one_distance_the_surest_link_comes_first_and_is_the_one_told(walks, make, join):
    start, sure, unsure = make(), make(), make()
    join(start, unsure, confidence=0.4)
    join(start, sure, relationship="relates_to", confidence=0.3)
    surest = join(start, sure, confidence=0.9)
    steps = walks.of(Walk(start=start.id))
    assert reached(steps) == [(sure.id, 1), (unsure.id, 1)]
    assert steps[0].link == replace(surest, metadata={"original_relationship": "mentions"})


@pytest.mark.promise("000-075")
def test_a_walk_goes_only_along_the_links_it_is_told(walks, make, join):
    start = make()
    ends = {kind: make() for kind in TYPES}
    for kind, end in ends.items():
        join(start, end, link_type=kind, relationship=f"{kind}_word")

    def found(**limits: object) -> set[str]:
        return {step.id for step in walks.of(Walk(start=start.id, **limits))}

    assert found() == {end.id for end in ends.values()}
    for kind, end in ends.items():
        assert found(link_types=(kind,)) == {end.id}
        assert found(relationships=(f"{kind}_word",)) == {end.id}
    assert found(link_types=("temporal", "evolution")) == {ends["temporal"].id, ends["evolution"].id}
    assert found(link_types=("temporal",), relationships=("evolution_word",)) == set()


def test_a_type_that_ends_on_the_way_ends_the_walk(walks, make, join):
    a, b, c = make(), make(), make()
    join(c, b, link_type="temporal")
    join(b, a, link_type="evolution")
    assert reached(walks.of(Walk(start=c.id, link_types=("temporal",)))) == [(b.id, 1)]
    assert reached(walks.of(Walk(start=c.id))) == [(b.id, 1), (a.id, 2)]


def test_what_the_system_linked_fades_from_a_walk_and_what_somebody_stated_stays(store, make, join, clock):
    start, near, akin, told = (make() for _ in range(4))
    faint = join(start, near, link_type="temporal", confidence=0.5, created_by="system")
    likely = join(start, akin, confidence=0.9, created_by="system")
    join(start, told, link_type="temporal", confidence=0.5, created_by="user")

    def sure(days: int) -> set[str]:
        moment = likely.created_at + days * DAY
        return {each.id for each in store.graph().walk(Walk(start=start.id, least=0.3), moment)}

    assert sure(0) == {near.id, akin.id, told.id}
    assert sure(11) == {near.id, akin.id, told.id}  # .5 * 19/30 and .9 * exp(-.55)
    assert sure(13) == {akin.id, told.id}
    assert sure(23) == {told.id}
    # A walk and the library's own rule fade a link alike.
    for days in (0, 3, 12, 29, 31, 400):
        moment = likely.created_at + days * DAY
        for link in (faint, likely):
            least = effective_confidence(link, moment)
            over = store.graph().walk(Walk(start=start.id, least=least + 1e-6), moment)
            assert link.to_id not in {each.id for each in over}
            if least > 1e-6:
                upto = store.graph().walk(Walk(start=start.id, least=least - 1e-6), moment)
                assert link.to_id in {each.id for each in upto}


@pytest.mark.promise("000-104")
def test_no_walk_goes_deeper_than_five_whatever_is_asked(walks, chain):
    newest, *older = chain(8)
    for depth in (5, 6, 50):
        steps = walks.of(Walk(start=newest.id, depth=depth))
        assert reached(steps) == [(each.id, distance) for distance, each in enumerate(older[:5], 1)]
    assert Walk(start=newest.id).depth == DEEPEST == 5
    assert walks.take_counted() == {"walks": 3, "walks_remembered": 2}  # a greater depth is the same walk
    assert reached(walks.of(Walk(start=newest.id, depth=2))) == [(older[0].id, 1), (older[1].id, 2)]


def test_a_circle_ends_where_it_began(walks, make, join):
    a, b, c = make(), make(), make()
    join(b, a)
    join(c, b)
    join(a, c)
    assert reached(walks.of(Walk(start=a.id, direction="out"))) == [(c.id, 1), (b.id, 2)]
    assert {step.id for step in walks.of(Walk(start=a.id))} == {b.id, c.id}


def test_a_link_that_was_taken_away_leads_nowhere(walks, wordless, make):
    newer, older = make(), make()
    link = wordless.link(newer.id, Tie(to_id=older.id, relationship="mentions"))
    assert reached(walks.of(Walk(start=newer.id))) == [(older.id, 1)]
    wordless.unlink(link.id)
    assert walks.of(Walk(start=newer.id)) == ()


def test_in_a_dense_neighbourhood_the_nearest_are_reached_and_the_far_left_out(walks, store, make, join):
    hub, *others = (make() for _ in range(360))
    spoke = others[-1]
    with store.writing() as writing:
        for number, other in enumerate(others):
            writing.link(plain_link(f"link_{number:04}", hub, other))
            if other is not spoke:
                writing.link(plain_link(f"link_far_{number:04}", other, spoke))
    steps = walks.of(Walk(start=hub.id))
    assert {step.id for step in steps} == {each.id for each in others}
    assert {step.distance for step in steps} == {1}


def by_hand(links: Sequence[Link], walk: Walk) -> dict[str, int]:
    """Walk in Python: the least distance to whatever each way reaches."""
    nearest: dict[str, int] = {}
    for way in ("out", "in") if walk.direction == "both" else (walk.direction,):
        distances, edge = {walk.start: 0}, [walk.start]
        for distance in range(1, walk.depth + 1):
            following = []
            for link in links:
                near, far = (link.from_id, link.to_id) if way == "out" else (link.to_id, link.from_id)
                fits = not walk.link_types or link.link_type in walk.link_types
                if near in edge and fits and far not in distances and link.confidence >= walk.least:
                    distances[far] = distance
                    following.append(far)
            edge = following
        for reached_id, distance in distances.items():
            if distance:
                nearest[reached_id] = min(distance, nearest.get(reached_id, distance))
    return nearest


@pytest.mark.promise("000-075")
@pytest.mark.parametrize("seed", range(6))
def test_a_walk_through_any_graph_is_the_one_walked_by_hand(store, clock, make, join, seed):
    chance = random.Random(seed)
    memories = [make() for _ in range(25)]
    links = [
        join(
            *chance.sample(memories, 2),
            link_type=chance.choice(TYPES),
            relationship=f"word_{number}",
            confidence=chance.choice((0.2, 0.5, 1.0)),
        )
        for number in range(chance.choice((15, 40, 90)))
    ]
    for start in chance.sample(memories, 5):
        for direction in ("out", "in", "both"):
            walk = Walk(
                start=start.id,
                direction=direction,
                depth=chance.randint(1, 5),
                link_types=tuple(chance.sample(TYPES, chance.choice((0, 1, 3)))),
                least=chance.choice((0.0, 0.4)),
            )
            steps = store.graph().walk(walk, clock.now())
            assert {step.id: step.distance for step in steps} == by_hand(links, walk)
            assert len(steps) == len({step.id for step in steps})
            assert [step.distance for step in steps] == sorted(step.distance for step in steps)


# -- the walks that have a name


@pytest.mark.promise("000-076")
def test_the_neighbours_of_a_memory_stand_on_both_sides_or_on_the_one_asked_for(walks, chain):
    newest, middle, oldest, *_ = chain(4)[:3]
    assert {step.id for step in neighbours(walks, middle.id)} == {newest.id, oldest.id}
    assert [step.id for step in neighbours(walks, middle.id, "out")] == [oldest.id]
    assert [step.id for step in neighbours(walks, middle.id, "in")] == [newest.id]
    assert neighbours(walks, newest.id, "in") == ()


@pytest.mark.promise("000-079")
def test_the_evolution_of_a_memory_is_told_whole_from_any_of_its_versions(store, wordless, make):
    versions = [make() for _ in range(9)]
    for old, new in pairwise(versions):
        wordless.supersede(old.id, by=new.id)
    make()
    for asked in versions:
        assert [each.id for each in evolution(store, asked.id)] == [each.id for each in versions]
    with pytest.raises(MemoryNotFound):
        evolution(store, "decision_unknown")


def test_the_impact_of_a_memory_is_what_was_built_on_it_or_followed_it_within_a_week(
    walks, make, join, clock
):
    decision, built, followed, mentions = (make() for _ in range(4))
    join(built, decision, link_type="implementation", relationship="implements")
    join(followed, built, link_type="temporal", relationship="follows")
    join(mentions, decision)
    clock.advance(8 * DAY)
    late = make()
    join(late, decision, link_type="implementation", relationship="implements")
    assert reached(impact(walks, decision.id)) == [(built.id, 1), (followed.id, 2)]
    assert {step.id for step in impact(walks, decision.id, within=9 * DAY)} >= {built.id, late.id}
    assert impact(walks, followed.id) == ()
    with pytest.raises(MemoryNotFound):
        impact(walks, "decision_unknown")


def test_the_context_of_a_memory_lies_two_sure_steps_around_it(walks, chain, make, join):
    newest, after, start, before, oldest, *_ = chain(7)[1:6]
    doubted = make()
    join(start, doubted, confidence=0.4)
    assert {step.id for step in context(walks, start.id)} == {newest.id, after.id, before.id, oldest.id}


# -- what is remembered


@pytest.mark.promise("000-077")
def test_a_walk_is_remembered_for_five_minutes(walks, chain, clock):
    newest, older = chain(2)
    walk = Walk(start=newest.id)
    assert reached(walks.of(walk)) == [(older.id, 1)]
    assert remembered(walks) == 0
    clock.advance(LIFETIME - SECOND)
    assert reached(walks.of(walk)) == [(older.id, 1)]
    assert remembered(walks) == 1
    clock.advance(SECOND)
    assert reached(walks.of(walk)) == [(older.id, 1)]
    assert remembered(walks) == 0


@pytest.mark.promise("000-077")
def test_a_hundred_walks_are_remembered_and_the_one_unasked_for_longest_goes(walks, make):
    starts = [make().id for _ in range(REMEMBERED + 1)]
    assert REMEMBERED == 100
    for start in starts[:100]:
        walks.of(Walk(start=start))
    walks.of(Walk(start=starts[0]))  # asked again: now starts[1] is the one unasked for longest
    assert walks.take_counted() == {"walks": 101, "walks_remembered": 1}
    walks.of(Walk(start=starts[100]))
    walks.take_counted()
    for start, known in ((starts[0], 1), (starts[2], 1), (starts[1], 0)):
        walks.of(Walk(start=start))
        assert remembered(walks) == known


@pytest.mark.promise("000-105")
def test_walks_from_elsewhere_of_other_types_or_of_another_depth_are_other_walks(walks, chain):
    newest, older, *_ = chain(3)
    asked = Walk(start=newest.id, link_types=("association", "temporal"))
    walks.of(asked)
    for other in (
        replace(asked, start=older.id),
        replace(asked, link_types=("association",)),
        replace(asked, depth=1),
        replace(asked, direction="out"),
        replace(asked, least=0.2),
    ):
        walks.of(other)
        assert remembered(walks) == 0, other
    walks.of(replace(asked, link_types=("temporal", "association")))  # the same in another order
    assert remembered(walks) == 1


@pytest.mark.promise("000-105")
def test_a_new_link_drops_the_walks_on_which_its_ends_lie_and_no_other(walks, chain, make, join):
    first, second = chain(4), chain(4)
    on_first, on_second = Walk(start=first[0].id), Walk(start=second[0].id)
    walks.of(on_first)
    walks.of(on_second)
    walks.take_counted()
    further = make()
    join(first[-1], further)  # at the far end of the first
    assert further.id in {step.id for step in walks.of(on_first)}
    assert remembered(walks) == 0
    walks.of(on_second)
    assert remembered(walks) == 1


@pytest.mark.promise("000-105")
def test_a_link_that_another_program_makes_or_takes_away_drops_the_walk_too(tmp_path, clock):
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    here, there = (
        Whence(open_store(url, tenant="local", clock=clock), NoModels(), clock, links_itself=False)
        for _ in range(2)
    )
    place = found_workspace(here, Place(name="project")).id
    start, middle, end, apart, beside = (
        here.remember(Draft(content=name), workspace=place).memory for name in "abcde"
    )
    here.link(start.id, Tie(to_id=middle.id, relationship="mentions"))
    walk = Walk(start=start.id)
    here.walks.of(walk)
    there.link(apart.id, Tie(to_id=beside.id, relationship="mentions"))  # touches nothing on the walk
    here.walks.take_counted()
    here.walks.of(walk)
    assert remembered(here.walks) == 1
    made = there.link(middle.id, Tie(to_id=end.id, relationship="mentions"))
    assert reached(here.walks.of(walk)) == [(middle.id, 1), (end.id, 2)]
    there.unlink(made.id)
    assert reached(here.walks.of(walk)) == [(middle.id, 1)]
    assert remembered(here.walks) == 0
    here.close()
    there.close()


@pytest.mark.promise("000-082")
def test_more_than_six_of_ten_context_loads_are_remembered(walks, make, join):
    memories = [make() for _ in range(150)]
    chance = random.Random(7)
    for number, newer in enumerate(memories[1:], 1):
        join(newer, memories[number - 1 - number // 3])
    weights = (1 / np.arange(1, 151)).tolist()
    for number, start in enumerate(chance.choices(memories, weights, k=1000)):
        if number % 50 == 49:
            join(*chance.sample(memories, 2), relationship=f"mentions_{number}")
        context(walks, start.id)
    counted = walks.take_counted()
    assert counted["walks_remembered"] / counted["walks"] > 0.6


@pytest.mark.slow
@pytest.mark.promise("000-081")
def test_among_ten_thousand_memories_and_fifty_thousand_links_a_walk_takes_less_than_100_ms(tmp_path, clock):
    from bench.corpus import Language, Vectors, fill
    from bench.corpus import found_workspace as found
    from bench.graph import _link

    store = open_store(f"sqlite:///{tmp_path / 'large.db'}", tenant="local", clock=clock)
    language = Language()
    fill(store, found(store, "large", 1), [f"fact {n}" for n in range(10_000)], Vectors().some(10_000), 1)
    ids = [each.id for each in store.every()]
    assert _link(store, ids, language.chance, 1) > 45_000
    taken = []
    for start in language.chance.choices(ids, k=50):
        began = time.perf_counter()
        assert store.graph().walk(Walk(start=start), 1)
        taken.append(time.perf_counter() - began)
    store.close()
    assert sorted(taken)[len(taken) * 9 // 10] < 0.1
