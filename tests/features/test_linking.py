"""Do new memories get few and right links by themselves, and do those that have faded go again?"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from tests.conftest import StillClock

from whence.core.errors import EmbeddingUnavailable
from whence.core.ids import link_id
from whence.core.life import Whence
from whence.core.links import CLOSE_IN_TIME, SIMILAR, Link, effective_confidence
from whence.core.memories import Author, Draft, Memory, Tie
from whence.core.ports import Embedder, Scope
from whence.core.reading import read_pending
from whence.core.times import DAY, MINUTE, SECOND
from whence.features.linking import CANDIDATES, LEAST, MOST, MOST_SIMILAR, Pruned, link_waiting, prune
from whence.features.workspaces import Place, found_workspace
from whence.models import LocalModels, NoModels
from whence.models.manifests import ENGLISH, MULTILINGUAL
from whence.storage import open_store

PATIENCE = 60 * SECOND
HOUR = 60 * MINUTE
ALIKE = [
    "The billing service stores invoices in PostgreSQL.",
    "Invoices of the billing service are stored in PostgreSQL.",
    "PostgreSQL holds the invoices of the billing service.",
    "The billing service keeps its invoices in PostgreSQL tables.",
    "Billing invoices are stored in PostgreSQL.",
    "All invoices of the billing service live in PostgreSQL.",
    "The billing service writes every invoice to PostgreSQL.",
    "The billing service saves invoices in a PostgreSQL database.",
]
UNLIKE = [
    "Ana likes to swim in the lake on Sundays.",
    "Logs are rotated every night at two.",
    "Octopuses have three hearts.",
    "The train to Lyon leaves at noon.",
    "Copper conducts heat better than steel.",
    "Her grandmother baked bread with rye.",
]

Store_ = Callable[..., Memory]


@pytest.fixture
def save(whence: Whence, workspace: str) -> Store_:
    """Store a memory of one session, or of another that is named."""

    def store_one(
        content: str, *, session: str | None = "session", place: str = workspace, **fields
    ) -> Memory:
        draft = Draft(content=content, **fields)
        return whence.remember(draft, workspace=place, author=Author(session=session)).memory

    return store_one


@pytest.fixture
def linked(whence: Whence, save: Store_) -> Store_:
    """Store a memory and let its links be made."""

    def store_one(content: str, **fields) -> Memory:
        memory = save(content, **fields)
        assert link_waiting(whence, PATIENCE) == 0
        return memory

    return store_one


def links_of(whence: Whence, word: str | None = None) -> list[Link]:
    return [each for each in whence.store.graph().made_by_system() if word in (None, each.relationship)]


def ends(links: list[Link]) -> set[tuple[str, str]]:
    return {(each.from_id, each.to_id) for each in links}


def ends_at(links: list[Link]) -> Counter[str]:
    return Counter(end for each in links for end in (each.from_id, each.to_id))


# -- by meaning


@pytest.mark.promise("000-067", "000-068", "000-069", "000-071")
def test_a_new_memory_is_linked_to_the_five_that_are_most_like_it(whence, linked, clock):
    older = []
    for text in [*ALIKE[:-1], *UNLIKE[:3]]:
        older.append(linked(text))
        clock.advance(2 * HOUR)
    before = {each.id for each in links_of(whence)}
    new = linked(ALIKE[-1])
    made = [each for each in links_of(whence) if each.id not in before]
    embed = whence.models.latin.embed_passage
    likeness = {each.id: float(embed(each.content) @ embed(ALIKE[-1])) for each in older}
    best = sorted(likeness, key=lambda each: -likeness[each])[:MOST_SIMILAR]
    assert ends(made) == {(new.id, each) for each in best}
    for link in made:
        assert (link.link_type, link.relationship, link.created_by) == ("association", SIMILAR, "system")
        assert link.metadata["original_relationship"] == "semantic_similarity"
        assert link.confidence == pytest.approx(likeness[link.to_id], abs=0.01)  # eight bits a number
        assert link.confidence >= ENGLISH.linked
    assert MOST_SIMILAR == 5
    assert CANDIDATES == 10


@pytest.mark.promise("000-067")
def test_what_is_less_like_it_than_the_models_threshold_is_not_linked(whence, linked, clock):
    for text in (*UNLIKE[:3], ALIKE[0]):
        linked(text)
        clock.advance(2 * HOUR)
    assert links_of(whence) == []


def test_a_korean_memory_is_judged_by_its_own_model_and_threshold(whence, linked, clock):
    older = linked("청구 서비스는 송장을 PostgreSQL에 저장한다.")
    linked("아나는 일요일마다 호수에서 수영한다.")
    clock.advance(2 * HOUR)
    newer = linked("청구 서비스의 송장은 PostgreSQL에 저장된다.")
    (link,) = links_of(whence, SIMILAR)
    assert (link.from_id, link.to_id) == (newer.id, older.id)
    assert link.confidence >= MULTILINGUAL.linked


def test_of_one_topic_or_domain_comes_first_even_where_others_are_more_alike(whence, linked, clock):
    akin = linked(ALIKE[5], topic="Billing store")  # of all these the least like the last
    same_domain = linked(ALIKE[6], domain="billing")
    for text in (ALIKE[0], ALIKE[1], ALIKE[2], ALIKE[3], ALIKE[4]):
        linked(text)
        clock.advance(2 * HOUR)
    new = linked(ALIKE[7], topic="billing_store", domain="billing")
    mine = {to for start, to in ends(links_of(whence, SIMILAR)) if start == new.id}
    assert {akin.id, same_domain.id} <= mine
    assert len(mine) == 5


def test_likeness_alone_joins_no_two_sessions(whence, linked, clock):
    linked(ALIKE[0], session="monday")
    clock.advance(2 * HOUR)
    linked(ALIKE[1], session="tuesday")
    assert links_of(whence) == []
    decided = linked("We use PostgreSQL.", session="wednesday", topic="database")
    again = linked("We use PostgreSQL 16.", session="thursday", topic="Database")
    assert ends(links_of(whence)) == {(again.id, decided.id)}


def test_where_no_session_is_known_what_was_written_in_one_hour_was_written_together(whence, linked, clock):
    first = linked(ALIKE[0], session=None)
    clock.advance(HOUR // 2)
    second = linked(ALIKE[1], session=None)
    clock.advance(2 * HOUR)
    linked(ALIKE[2], session=None)
    assert ends(links_of(whence, SIMILAR)) == {(second.id, first.id)}


def test_a_memory_of_another_workspace_is_never_linked(whence, linked):
    elsewhere = found_workspace(whence, Place(name="elsewhere")).id
    linked(ALIKE[0])
    linked(ALIKE[1], place=elsewhere)
    assert links_of(whence) == []


def test_what_no_longer_answers_is_linked_to_nothing(whence, save):
    old, new, archived = (save(text) for text in ALIKE[:3])
    whence.supersede(old.id, by=new.id)
    whence.archive(archived.id)
    last = save(ALIKE[3])
    link_waiting(whence, PATIENCE)
    assert ends(links_of(whence)) == {(last.id, new.id)}


def test_superseded_words_lead_to_no_link_with_what_replaced_them(whence, save):
    old, new = save(ALIKE[0]), save(UNLIKE[0])
    whence.supersede(old.id, by=new.id)
    last = save(ALIKE[1])
    link_waiting(whence, PATIENCE)
    assert links_of(whence, SIMILAR) == []
    assert ends(links_of(whence, CLOSE_IN_TIME)) == {(last.id, new.id)}


@pytest.mark.promise("000-054")
def test_a_checkpoint_gets_links_in_time_alone(whence, linked):
    fact = linked(ALIKE[0])
    checkpoint = linked(ALIKE[1], type="checkpoint")
    later = linked(ALIKE[2])
    assert {(each.from_id, each.to_id, each.relationship) for each in links_of(whence)} == {
        (checkpoint.id, fact.id, CLOSE_IN_TIME),
        (later.id, checkpoint.id, CLOSE_IN_TIME),
        (later.id, fact.id, SIMILAR),
    }


def test_reasons_and_their_like_get_no_link_of_their_own(whence, save):
    parts = tuple(Draft(content=ALIKE[n], type=kind) for n, kind in ((1, "reason"), (2, "constraint")))
    decision = save(ALIKE[0], type="decision", topic="invoices", parts=parts)
    later = save(ALIKE[3])
    link_waiting(whence, PATIENCE)
    assert ends(links_of(whence)) <= {(later.id, decision.id)}


# -- by time


@pytest.mark.promise("000-070")
def test_a_new_memory_is_linked_to_the_three_newest_of_the_hour_before(whence, linked, clock):
    saved = []
    for minutes in (20, 1, 19, 20, 20, 0):
        saved.append(linked(UNLIKE[len(saved)]))
        clock.advance(minutes * MINUTE)
    made = {each.to_id: each for each in links_of(whence) if each.from_id == saved[-1].id}
    assert list(made) == [saved[4].id, saved[3].id, saved[2].id]
    assert [each.confidence for each in made.values()] == pytest.approx(
        [0.5 - 0.2 / 3, 0.5 - 0.4 / 3, 0.5 - 0.2 * 59 / 60], abs=1e-4
    )
    for link in made.values():
        assert (link.link_type, link.relationship, link.created_by) == ("temporal", CLOSE_IN_TIME, "system")


@pytest.mark.promise("000-070", "000-106")
@pytest.mark.parametrize(
    ("minutes", "confidence"), [(0, 0.5), (15, 0.45), (30, 0.4), (59, 0.30333), (61, None)]
)
def test_a_link_in_time_is_fainter_the_longer_between_and_none_after_an_hour(
    whence, linked, clock, minutes, confidence
):
    older = linked(UNLIKE[0])
    clock.advance(minutes * MINUTE)
    newer = linked(UNLIKE[1])
    found = {(each.from_id, each.to_id): each.confidence for each in links_of(whence)}
    assert found == (
        {} if confidence is None else {(newer.id, older.id): pytest.approx(confidence, abs=1e-4)}
    )


def test_two_sessions_at_the_same_time_are_not_joined_by_it(whence, linked):
    linked(UNLIKE[0], session="one")
    linked(UNLIKE[1], session="other")
    third = linked(UNLIKE[2], session=None)  # of a door that knows no session
    assert {each.from_id for each in links_of(whence)} == {third.id}


def test_links_made_late_are_those_that_would_have_been_made_at_once(whence, save, clock):
    saved = []
    for number in range(6):
        saved.append(save(UNLIKE[number]))
        clock.advance(10 * MINUTE)
    clock.advance(3 * DAY)
    link_waiting(whence, PATIENCE)
    made = ends(links_of(whence, CLOSE_IN_TIME))
    assert made == {(saved[n].id, saved[m].id) for n in range(6) for m in range(max(0, n - 3), n)}
    assert all(each.created_at > saved[-1].created_at for each in links_of(whence))


def test_what_waited_longer_than_such_a_link_lives_gets_none(whence, save, clock):
    save(UNLIKE[0])
    save(UNLIKE[1])
    clock.advance(31 * DAY)
    assert link_waiting(whence, PATIENCE) == 0
    assert links_of(whence) == []


# -- how many


@pytest.mark.promise("000-071", "000-080", "000-106", "000-107")
def test_links_grow_with_the_memories_and_never_with_their_square(whence, linked, clock):
    counts = []
    for number in range(40):
        linked(f"{ALIKE[number % 8]} Note {number}.")
        clock.advance(MINUTE)
        links = links_of(whence)
        made = [each for each in links if each.from_id == links[-1].from_id]
        assert len([each for each in made if each.relationship == SIMILAR]) <= 5
        assert len([each for each in made if each.relationship == CLOSE_IN_TIME]) <= 3
        assert max(ends_at(links).values(), default=0) <= MOST == 10
        counts.append(len(links))
    assert all(each.confidence >= LEAST == 0.3 for each in links_of(whence))
    assert counts[-1] <= 5 * 40  # ten ends a memory
    assert counts[39] - counts[19] <= 5 * 20 + 10


@pytest.fixture
def full(whence: Whence, save: Store_, clock: StillClock) -> Callable[..., tuple[Memory, list[Link]]]:
    """Store a memory at which ten automatic links end, the first the weakest; it waits for its own."""

    def fill(content: str, least: float) -> tuple[Memory, list[Link]]:
        # Each of a session of its own, so that nothing else joins them.
        others = [save(f"Note {number}.", session=f"session {number}") for number in range(10)]
        link_waiting(whence, PATIENCE)
        memory = save(content)
        made = [by_system(other, memory, least + number / 100, clock) for number, other in enumerate(others)]
        with whence.store.writing() as writing:
            for link in made:
                writing.link(link)
        return memory, made

    return fill


@pytest.mark.promise("000-107")
def test_at_a_memory_with_ten_links_the_weakest_gives_way_to_a_stronger(whence, save, full):
    memory, ten = full(ALIKE[0], 0.5)
    link_waiting(whence, PATIENCE)
    new = save(ALIKE[1])
    link_waiting(whence, PATIENCE)
    standing = links_of(whence)
    assert (new.id, memory.id) in ends(standing)
    assert {each.id for each in ten} - {each.id for each in standing} == {ten[0].id}
    assert ends_at(standing)[memory.id] == 10


@pytest.mark.promise("000-107")
def test_at_a_memory_with_ten_links_a_weaker_one_is_not_made(whence, save, full):
    _, ten = full(UNLIKE[0], 0.6)
    new = save(UNLIKE[1])  # close in time: .5 at most
    link_waiting(whence, PATIENCE)
    assert {each.id for each in links_of(whence)} == {each.id for each in ten}
    assert ends_at(links_of(whence))[new.id] == 0


@pytest.mark.promise("000-107")
def test_what_is_linked_late_has_no_more_than_ten_either(whence, save, full):
    alike = [save(text) for text in ALIKE[:4]]
    link_waiting(whence, PATIENCE)
    memory, ten = full(ALIKE[4], 0.5)
    link_waiting(whence, PATIENCE)
    standing = links_of(whence)
    assert {(memory.id, each.id) for each in alike} <= ends(standing)
    assert {each.id for each in ten} & {each.id for each in standing} == {each.id for each in ten[4:]}
    assert ends_at(standing)[memory.id] == 10


def by_system(newer: Memory, older: Memory, confidence: float, clock: StillClock, **fields: object) -> Link:
    now = clock.now()
    return replace(
        Link(
            id=link_id(now),
            from_id=newer.id,
            to_id=older.id,
            link_type="association",
            relationship=SIMILAR,
            confidence=confidence,
            created_by="system",
            created_at=now,
        ),
        **fields,
    )


def test_links_that_somebody_stated_do_not_count_among_the_ten_and_never_give_way(whence, save):
    hub = save(ALIKE[0])
    stated = [
        whence.link(save(f"{UNLIKE[0]} {number}").id, Tie(to_id=hub.id, relationship="mentions"))
        for number in range(12)
    ]
    link_waiting(whence, PATIENCE)
    last = save(ALIKE[1])
    link_waiting(whence, PATIENCE)
    assert (last.id, hub.id) in ends(links_of(whence, SIMILAR))
    kept = {each.id for each in whence.store.graph().links(hub.id) if each.created_by != "system"}
    assert kept == {each.id for each in stated}


def test_two_memories_that_a_link_joins_get_no_second_one(whence, save):
    old, new = save(ALIKE[0]), save(ALIKE[1])
    whence.link(old.id, Tie(to_id=new.id, relationship="mentions"))
    link_waiting(whence, PATIENCE)
    assert links_of(whence) == []
    alike_and_near = save(ALIKE[2])
    link_waiting(whence, PATIENCE)
    assert Counter(each.to_id for each in links_of(whence)) == {old.id: 1, new.id: 1}
    assert {each.from_id for each in links_of(whence, SIMILAR)} == {alike_and_near.id}


# -- when


@pytest.mark.promise("000-071", "000-093")
def test_a_save_makes_no_link_itself_and_leaves_a_mark_that_any_process_may_take_up(tmp_path, models, clock):
    url = f"sqlite:///{tmp_path / 'w.db'}"
    first = Whence(open_store(url, tenant="local", clock=clock), models, clock)
    place = found_workspace(first, Place(name="project")).id
    for text in UNLIKE[:2]:
        first.remember(Draft(content=text), workspace=place)
    assert links_of(first) == []
    assert len(first.store.graph().unlinked(10)) == first.store.graph().counters()["unlinked"] == 2
    first.close()
    second = Whence(open_store(url, tenant="local", clock=clock), models, clock)
    assert link_waiting(second, PATIENCE) == 0
    assert len(links_of(second)) == 1
    assert second.store.graph().unlinked(10) == []
    second.close()


@pytest.mark.promise("000-093")
def test_a_save_that_will_be_linked_takes_no_longer_than_one_that_will_not(whence, save):
    taken: dict[bool, list[float]] = {True: [], False: []}
    for number in range(20):
        for whence.links_itself in (True, False):
            began = time.perf_counter()
            save(f"{ALIKE[number % 8]} It is note {number}.")
            taken[whence.links_itself].append(time.perf_counter() - began)
    median = {linked: sorted(times)[10] for linked, times in taken.items()}
    assert median[True] - median[False] < 0.05


def test_the_switch_turns_automatic_links_off(store, models, clock):
    whence = Whence(store, models, clock, links_itself=False)
    place = found_workspace(whence, Place(name="project")).id
    for text in ALIKE[:2]:
        whence.remember(Draft(content=text), workspace=place)
    assert link_waiting(whence, PATIENCE) == 0
    assert links_of(whence) == []
    assert store.graph().unlinked(10) == []


def test_switched_off_nothing_is_made_of_earlier_marks_either(whence, save):
    for text in ALIKE[:2]:
        save(text)
    whence.links_itself = False
    assert link_waiting(whence, PATIENCE) == 0
    assert links_of(whence) == []
    whence.links_itself = True
    assert link_waiting(whence, PATIENCE) == 0
    assert len(links_of(whence)) == 1


def test_out_of_patience_the_rest_waits_for_the_next_look(whence, save):
    for number in range(3):
        save(UNLIKE[number])
    assert link_waiting(whence, -1) == 3
    assert links_of(whence) == []
    assert link_waiting(whence, PATIENCE) == 0


def test_what_no_model_has_read_is_linked_in_time_now_and_by_meaning_once_it_is_read(store, models, clock):
    without = Whence(store, NoModels(), clock)
    place = found_workspace(without, Place(name="project")).id
    old, between, new = (
        without.remember(Draft(content=text), workspace=place, author=Author(session="s")).memory
        for text in (ALIKE[0], UNLIKE[0], ALIKE[1])
    )
    assert link_waiting(without, PATIENCE) == 0
    in_time = {(between.id, old.id), (new.id, between.id), (new.id, old.id)}
    assert ends(links_of(without)) == in_time
    assert link_waiting(without, PATIENCE) == 0  # and is not gone through again at every look
    assert store.graph().unlinked(10) == []
    third = without.remember(Draft(content=ALIKE[2]), workspace=place, author=Author(session="t")).memory
    link_waiting(without, PATIENCE)
    read_pending(store, models, Scope(), clock, PATIENCE)
    with_models = Whence(store, models, clock)
    assert len(store.graph().unlinked(10)) == 4
    assert link_waiting(with_models, PATIENCE) == 0
    assert ends(links_of(with_models)) == in_time  # one link a pair; `third` is of another session
    assert third.id not in ends_at(links_of(with_models))


def test_once_read_it_is_linked_to_what_is_like_it(store, models, clock):
    without = Whence(store, NoModels(), clock)
    place = found_workspace(without, Place(name="project")).id
    old = without.remember(Draft(content=ALIKE[0]), workspace=place, author=Author(session="s")).memory
    clock.advance(2 * HOUR)
    new = without.remember(Draft(content=ALIKE[1]), workspace=place, author=Author(session="s")).memory
    assert link_waiting(without, PATIENCE) == 0
    assert links_of(without) == []
    read_pending(store, models, Scope(), clock, PATIENCE)
    assert link_waiting(Whence(store, models, clock), PATIENCE) == 0
    assert ends(links_of(without)) == {(new.id, old.id)}


class InterruptingClock(StillClock):
    """A clock at which something else happens, as another program may do it, at one of its looks."""

    def interrupt(self, look: int, deed: Callable[[], object]) -> None:
        self.left, self.deed = look, deed

    def now(self) -> int:
        self.left = getattr(self, "left", 0) - 1
        if self.left == 0:
            self.deed()
        return super().now()


def test_what_a_model_reads_while_its_links_are_made_gets_all_of_them(store, models):
    clock = InterruptingClock()
    without, whence = Whence(store, NoModels(), clock), Whence(store, models, clock)
    place = found_workspace(without, Place(name="project")).id
    old = without.remember(Draft(content=ALIKE[0]), workspace=place, author=Author(session="s")).memory
    clock.advance(2 * HOUR)
    new = without.remember(Draft(content=ALIKE[1]), workspace=place, author=Author(session="s")).memory
    # After the waiting ones were looked up, and before any of them is linked.
    clock.interrupt(2, lambda: read_pending(store, models, Scope(), StillClock(clock.moment), PATIENCE))
    assert link_waiting(whence, PATIENCE) == 0
    assert ends(links_of(whence)) == {(new.id, old.id)}


def test_what_is_moved_or_put_away_while_links_are_made_gets_none(store, models):
    clock = InterruptingClock()
    whence = Whence(store, models, clock)
    place, elsewhere = (found_workspace(whence, Place(name=name)).id for name in ("here", "elsewhere"))
    moved, archived, kept = (
        whence.remember(Draft(content=text), workspace=place, author=Author(session="s")).memory
        for text in ALIKE[:3]
    )
    link_waiting(whence, PATIENCE)
    with store.writing() as writing:
        writing.unlink([each.id for each in links_of(whence)], clock.now())
    new = whence.remember(Draft(content=ALIKE[3]), workspace=place, author=Author(session="s")).memory

    def change() -> None:
        whence.move(moved.id, elsewhere)
        whence.archive(archived.id)

    clock.interrupt(3, change)  # what is alike has been found, what is close in time not yet
    assert link_waiting(whence, PATIENCE) == 0
    assert ends(links_of(whence)) == {(new.id, kept.id)}


@dataclass(frozen=True)
class EnglishGone:
    """The English model was taken away after it had read; the other one is there."""

    kept: LocalModels

    @property
    def latin(self) -> Embedder:
        raise EmbeddingUnavailable("The English model is gone")

    @property
    def multilingual(self) -> Embedder:
        return self.kept.multilingual

    @property
    def multilingual_id(self) -> str:
        return MULTILINGUAL.id

    def release_if_idle(self) -> bool:
        return False


def test_what_waits_for_a_model_that_is_gone_keeps_its_mark_and_holds_no_other_up(whence, save, models):
    save(ALIKE[0])
    save(ALIKE[1])
    korean = [save(text) for text in ("청구 서비스는 송장을 저장한다.", "청구 서비스의 송장은 저장된다.")]
    whence.models = EnglishGone(models)
    assert link_waiting(whence, PATIENCE) == 2
    assert (korean[1].id, korean[0].id) in ends(links_of(whence, SIMILAR))
    with pytest.raises(EmbeddingUnavailable):  # nothing but those: told, and not tried without end
        link_waiting(whence, PATIENCE)
    whence.models = models
    assert link_waiting(whence, PATIENCE) == 0


# -- fading and pruning


@pytest.mark.promise("000-072")
def test_a_link_in_time_fades_to_nothing_over_thirty_days(whence, linked):
    linked(UNLIKE[0])
    linked(UNLIKE[1])
    (link,) = links_of(whence)
    at = [effective_confidence(link, link.created_at + days * DAY) for days in (0, 15, 30, 60)]
    assert at == [link.confidence, pytest.approx(link.confidence / 2), 0.0, 0.0]


@pytest.fixture
def pile(wordless: Whence, clock: StillClock) -> Iterator[Callable[..., list[Link]]]:
    """Put so many links by the system into the store, all between memories of their own."""
    wordless.links_itself = False
    place = found_workspace(wordless, Place(name="pile")).id

    def put(count: int, confidence: float = 0.9, **fields: object) -> list[Link]:
        memories = [
            wordless.remember(Draft(content="a plain fact"), workspace=place).memory for _ in range(2 * count)
        ]
        made = [
            by_system(newer, older, confidence, clock, **fields)
            for older, newer in zip(memories[::2], memories[1::2], strict=True)
        ]
        with wordless.store.writing() as writing:
            for link in made:
                writing.link(link)
        return made

    yield put
    wordless.links_itself = True


IN_TIME = {"link_type": "temporal", "relationship": CLOSE_IN_TIME}


@pytest.mark.promise("000-073", "000-074")
def test_the_prune_takes_what_is_faint_and_what_is_older_than_thirty_days(wordless, pile, clock):
    pile(30)
    old = pile(1, 0.5, **IN_TIME)
    clock.advance(2 * DAY)
    young = pile(1, 0.3, **IN_TIME)
    clock.advance(29 * DAY)
    faint = pile(1, 0.19, relationship="guessed")
    held = pile(1, 0.2, relationship="guessed")
    assert prune(wordless) == Pruned(removed=2, kept=32)
    left = {each.id for each in links_of(wordless)}
    assert not left & {old[0].id, faint[0].id}
    assert {young[0].id, held[0].id} <= left


def test_the_prune_takes_likeness_that_is_among_the_best_five_of_neither_end(wordless, pile, clock):
    pile(40)
    place = wordless.store.workspaces()[0].id
    wordless.links_itself = False
    hub, rim, *others = (
        wordless.remember(Draft(content="a plain fact"), workspace=place).memory for _ in range(14)
    )
    with wordless.store.writing() as writing:
        outdone = by_system(rim, hub, 0.86, clock)
        writing.link(outdone)
        for other in others[:6]:
            writing.link(by_system(other, hub, 0.95, clock))
        for other in others[6:]:
            writing.link(by_system(other, rim, 0.95, clock))
    removed = {each.id for each in links_of(wordless)}
    prune(wordless)
    removed -= {each.id for each in links_of(wordless)}
    # The sixth at hub and at rim is still the best that its other end has.
    assert removed == {outdone.id}


@pytest.mark.promise("000-083")
def test_no_prune_takes_more_than_a_tenth_and_the_weakest_and_oldest_go_first(wordless, pile, clock):
    first = pile(8, 0.5, **IN_TIME)
    clock.advance(DAY)
    second = pile(8, 0.5, **IN_TIME)
    stronger = pile(5, 0.15, relationship="guessed")
    clock.advance(40 * DAY)
    gone: set[str] = set()
    for count in (3, 2, 2):  # a tenth of 21, 18 and 16, rounded up
        before = {each.id for each in links_of(wordless)}
        assert prune(wordless, force=True) == Pruned(removed=count, kept=len(before) - count)
        gone |= before - {each.id for each in links_of(wordless)}
    assert gone == {each.id for each in first[:7]}
    assert {each.id for each in (*second, *stronger)} <= {each.id for each in links_of(wordless)}


def test_a_prune_never_takes_what_somebody_stated(wordless, pile, clock):
    stated = [
        *pile(3, 0.1, created_by="user", relationship="mentions"),
        *pile(3, 0.05, created_by="llm", **IN_TIME),
    ]
    pile(1, 0.1)
    clock.advance(100 * DAY)
    assert prune(wordless) == Pruned(removed=1, kept=0)
    assert prune(wordless, force=True) == Pruned(removed=0, kept=0)
    for link in stated:
        assert [each.known_until for each in wordless.store.graph().links(link.from_id)] == [None]


def test_the_prune_is_done_once_a_week_by_whichever_process_asks_first(tmp_path, clock):
    url = f"sqlite:///{tmp_path / 'w.db'}"
    one, other = (Whence(open_store(url, tenant="local", clock=clock), NoModels(), clock) for _ in range(2))
    assert prune(one) == Pruned(0, 0)
    assert prune(other) is None
    clock.advance(7 * DAY - MINUTE)
    assert prune(one) is None
    assert prune(other, force=True) == Pruned(0, 0)
    clock.advance(MINUTE)
    assert prune(one) is None  # the forced one counts
    clock.advance(7 * DAY)
    assert prune(other) == Pruned(0, 0)
    one.close()
    other.close()


@pytest.mark.promise("000-074", "000-083", "000-107")
def test_through_a_year_of_weeks_the_links_stay_few_and_fresh(wordless, clock):
    place = found_workspace(wordless, Place(name="project")).id
    author = Author(session="the only one")
    stated = 0
    standing_after = []
    for week in range(52):
        for number in range(6):
            made = wordless.remember(
                Draft(content=f"what week {week} brought, {number}"), workspace=place, author=author
            ).memory
            clock.advance(10 * MINUTE)
        link_waiting(wordless, PATIENCE)
        wordless.link(
            made.id, Tie(to_id=wordless.recent(Scope(workspaces=(place,)), 2)[1].id, relationship="follows")
        )
        stated += 1
        before = links_of(wordless)
        pruned = prune(wordless)
        after = links_of(wordless)
        assert pruned is not None
        assert pruned.removed == len(before) - len(after) <= math.ceil(len(before) / 10)
        assert pruned.kept == len(after)
        assert prune(wordless) is None
        clock.advance(7 * DAY)
        standing_after.append(len(after))
        assert max(ends_at(after).values(), default=0) <= MOST
    # Twelve a week come and live for a month; at a tenth a week what is over goes a little later.
    assert max(standing_after) < 52 * 12 / 3
    assert standing_after[-1] - standing_after[25] < 20
    now = clock.now()
    assert max((now - each.created_at) / DAY for each in links_of(wordless)) < 100
    counted = wordless.store.graph().counters()
    assert counted["links_by_llm"] == stated
