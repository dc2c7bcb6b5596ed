"""One suite for all stores: what every store does with what the core hands it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import pytest

from whence.core.errors import InvalidParameter, StorageFailed
from whence.core.memories import TYPES, Author
from whence.core.ports import Embedding, Passage, Question, Scope

HERE = "model-a"


def words(*asked, **fields):
    return Question(words=asked, **fields)


def ids(found):
    return [each.id for each in found.candidates]


def found_ids(store, question, scope, limit=100):
    return set(ids(store.find(question, scope, limit)))


# -- one memory


@pytest.mark.promise("000-011", "000-110")
def test_a_memory_comes_back_with_every_field_as_it_went_in(store, room, make):
    memory = make.memory(
        room,
        "Postgres holds the ledger",
        id="decision_01",
        type="decision",
        topic="database",
        name="Ledger",
        number=7,
        context="we spoke of storage",
        confidence=0.25,
        source="extracted",
        status="reconsidering",
        level=2,
        domain="billing",
        module="ledger",
        code_ref="src/ledger.py#L10",
        tags=("sql", "돈", 'a"b'),
        metadata={"schema_version": 1, "options": [{"name": "MySQL"}], "ratio": 0.5, "none": None},
        valid_from=5,
        valid_until=9,
        is_pending=True,
    )
    with store.writing() as writing:
        writing.insert(memory, [])
        assert writing.memory(memory.id) == memory
    assert store.memories([memory.id]) == [memory]


@pytest.mark.promise("000-002", "000-012")
@pytest.mark.parametrize("kind", TYPES)
def test_every_type_of_memory_lives_in_the_same_table_and_is_found_there(store, room, save, kind):
    memory = save(room, "kept under one roof", type=kind)
    assert store.memories([memory.id])[0].type == kind
    assert ids(store.find(words("roof"), Scope(types=(kind,)), 5)) == [memory.id]


def test_memories_come_in_the_order_asked_and_unknown_ids_are_passed_over(store, room, save):
    first, second = save(room), save(room)
    assert [m.id for m in store.memories([second.id, "fact_none", first.id])] == [second.id, first.id]
    assert store.memories([]) == []


def test_an_id_is_taken_once(store, room, make):
    memory = make.memory(room)
    with store.writing() as writing:
        writing.insert(memory, [])
    with pytest.raises(StorageFailed), store.writing() as writing:
        writing.insert(replace(memory, content="an impostor"), [])
    assert store.memories([memory.id]) == [memory]
    assert found_ids(store, words("impostor"), Scope()) == set()


def test_a_memory_needs_a_workspace_that_exists(store, make):
    memory = make.memory("nowhere")
    with pytest.raises(StorageFailed), store.writing() as writing:
        writing.insert(memory, [])
    assert store.memories([memory.id]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "rumour"},
        {"content": ""},
        {"content": "  \n\t "},
        {"confidence": 1.01},
        {"confidence": -0.01},
        {"confidence": float("nan")},
        {"confidence": float("inf")},
        {"source": "hearsay"},
        {"status": "superseded"},
        {"level": 4},
        {"metadata": {}},
        {"metadata": {"schema_version": "one"}},
        {"metadata": {"schema_version": 1, "ratio": float("nan")}},
        {"number": 1},  # decisions alone draw one
        {"valid_from": 10, "valid_until": 9},
        {"known_until": 0},
    ],
    ids=str,
)
@pytest.mark.promise("000-012", "000-110")
def test_the_store_refuses_a_bad_memory_and_keeps_nothing_of_it(store, room, make, wrong):
    memory = make.memory(room, **{"content": "a bad row", **wrong, "id": "fact_bad"})
    with pytest.raises(StorageFailed) as refused, store.writing() as writing:
        writing.insert(memory, make.read(1))
    assert refused.value.message
    assert refused.value.hint
    assert store.memories(["fact_bad"]) == []
    assert store.events("fact_bad") == []
    assert found_ids(store, words("bad", vectors=((HERE, make.direction(1)),)), Scope()) == set()


@pytest.mark.promise("000-020")
@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_both_ends_of_confidence_are_legal(store, room, save, make, confidence):
    newer, older = save(room, confidence=confidence), save(room)
    link = make.link(newer, older, confidence=confidence)
    with store.writing() as writing:
        writing.link(link)
    assert store.graph().links(older.id)[0].confidence == confidence
    assert store.memories([newer.id])[0].confidence == confidence


# -- all or nothing


@pytest.mark.promise("001-056", "001-048")
def test_what_fails_halfway_leaves_nothing_behind(store, room, save, make):
    kept = save(room, "the old ledger", make.read(0, 1))
    before = (store.memories([kept.id]), store.events(kept.id), store.workspaces(), dict(store.health()))
    fresh, other = make.memory(room, "a half written thought"), make.workspace("annex")
    with pytest.raises(ZeroDivisionError), store.writing() as writing:  # noqa: PT012  one transaction in one piece
        writing.found_workspace(other)
        writing.insert(fresh, make.read(1))
        writing.append(make.event(fresh))
        writing.link(make.link(fresh, kept))
        writing.update(kept, replace(kept, content="scribbled over", status="archived"), make.read(1))
        writing.append(make.event(kept, number=2))
        writing.remember_request("call", fresh.id, fresh.created_at)
        assert writing.memory(fresh.id) is not None
        raise ZeroDivisionError
    assert (
        store.memories([kept.id]),
        store.events(kept.id),
        store.workspaces(),
        dict(store.health()),
    ) == before
    assert store.memories([fresh.id]) == []
    assert store.graph().links(kept.id) == []
    near = store.find(Question(vectors=((HERE, make.direction(1)),)), Scope(), 5)
    assert [(each.id, round(each.meaning, 2)) for each in near.candidates] == [(kept.id, 0.0)]
    assert found_ids(store, words("thought", "scribbled"), Scope()) == set()
    assert ids(store.find(words("ledger"), Scope(), 5)) == [kept.id]
    with store.writing() as writing:
        assert writing.repeated("call", 0) is None
        writing.insert(fresh, make.read(1))  # the same id is still free
    assert ids(store.find(words("thought"), Scope(), 5)) == [fresh.id]


def test_an_interrupt_inside_a_transaction_undoes_it_and_the_store_goes_on(store, room, make):
    memory = make.memory(room)
    with pytest.raises(KeyboardInterrupt), store.writing() as writing:  # noqa: PT012  the same
        writing.insert(memory, [])
        raise KeyboardInterrupt
    with store.writing() as writing:
        assert writing.memory(memory.id) is None
        writing.insert(memory, [])
    assert store.memories([memory.id]) == [memory]


# -- links, chains


@pytest.mark.promise("000-019", "000-013")
def test_a_link_comes_back_from_both_ends_with_its_own_word(store, room, save, make):
    newer, older = save(room), save(room)
    link = make.link(newer, older, "grew out of", link_type="association", confidence=0.3, created_by="user")
    link = replace(link, metadata={"reason": "because", "tags": ["x"], "similarity": 0.8})
    with store.writing() as writing:
        writing.link(link)
    told = replace(link, metadata={**link.metadata, "original_relationship": "grew out of"})
    assert store.graph().links(newer.id) == store.graph().links(older.id) == [told]
    assert store.memories([older.id])[0].superseded_by is None


@pytest.mark.promise("000-020")
@pytest.mark.parametrize(
    "wrong",
    [
        {"link_type": "kinship"},
        {"confidence": 1.01},
        {"confidence": -0.01},
        {"confidence": float("nan")},
        {"created_by": "nobody"},
        {"relationship": ""},
        {"from_id": "fact_none"},
        {"to_id": "fact_none"},
        {"known_until": 0},
    ],
    ids=str,
)
def test_the_store_refuses_a_bad_link(store, room, save, make, wrong):
    newer, older = save(room), save(room)
    with pytest.raises(StorageFailed), store.writing() as writing:
        writing.link(replace(make.link(newer, older), **wrong))
    assert store.graph().links(newer.id) == store.graph().links(older.id) == []


@pytest.mark.promise("000-020")
def test_the_store_refuses_a_link_to_itself_and_a_second_successor(store, room, save, make):
    old, first, second = save(room), save(room), save(room)
    with pytest.raises(StorageFailed), store.writing() as writing:
        writing.link(make.link(old, old, "resembles"))
    with store.writing() as writing:
        writing.link(make.link(first, old))
    for word in ("supersedes", "replaces"):
        with pytest.raises(StorageFailed), store.writing() as writing:
            writing.link(make.link(second, old, word))
    with store.writing() as writing:
        writing.link(make.link(second, old, "refines"))
    assert store.memories([old.id])[0].superseded_by == first.id


def test_head_and_chain_follow_every_version_from_anywhere_in_it(store, room, save, make):
    oldest, side, middle, newest = (save(room, valid_from=at) for at in (1, 2, 3, 4))
    with store.writing() as writing:
        writing.link(make.link(middle, oldest))
        writing.link(make.link(middle, side, "replaces"))
        writing.link(make.link(newest, middle))
        for each in (oldest, side, middle, newest):
            assert writing.head(each.id) == newest.id
    whole = [oldest.id, side.id, middle.id, newest.id]
    for each in (oldest, side, middle, newest):
        assert [version.id for version in store.chain(each.id)] == whole
    assert store.memories([middle.id])[0].supersedes == (side.id, oldest.id)  # newest link first
    assert store.memories([oldest.id])[0].superseded_by == middle.id


def test_a_link_that_was_taken_back_supersedes_nothing(store, room, save, make):
    old, new = save(room), save(room)
    link = make.link(new, old)
    with store.writing() as writing:
        writing.link(replace(link, known_until=link.created_at + 1))
    assert store.memories([old.id])[0].superseded_by is None
    assert store.memories([new.id])[0].supersedes == ()
    assert {m.id for m in store.recent(Scope(), 5)} == {old.id, new.id}


# -- events, numbers, requests


def test_events_come_back_in_order_with_author_and_what_was_replaced(store, room, make):
    memory = make.memory(room)
    author = Author(client="claude", session="s1", tool="store_memory")
    with store.writing() as writing:
        writing.insert(memory, [])
        assert writing.next_event(memory.id) == 1
        first, second = (
            make.event(memory, author=author),
            make.event(
                memory, 2, action="edited", replaced={"content": "옛말", "tags": ["a"], "topic": None}
            ),
        )
        writing.append(first)
        writing.append(second)
        assert writing.next_event(memory.id) == 3
    assert store.events(memory.id) == [first, second]
    assert store.events("fact_none") == []


def test_an_event_needs_a_memory_and_a_number_of_its_own(store, room, save, make):
    memory = save(room)
    with pytest.raises(StorageFailed), store.writing() as writing:
        writing.append(make.event(memory, 1))
    with pytest.raises(StorageFailed), store.writing() as writing:
        writing.append(replace(make.event(memory), memory_id="fact_none"))
    assert len(store.events(memory.id)) == 1


def test_numbers_rise_by_one_and_are_never_drawn_twice(store, room, save, make):
    with store.writing() as writing:
        assert writing.next_number() == 1
    save(room, type="decision", number=4)
    with store.writing() as writing:
        assert writing.next_number() == 5
    with pytest.raises(StorageFailed):
        save(room, type="decision", number=4)


def test_a_request_is_known_again_only_since_the_time_asked(store, room, save):
    memory, later = save(room), save(room)
    with store.writing() as writing:
        writing.remember_request("call", memory.id, 1000)
        assert writing.repeated("call", 1000) == memory.id
        assert writing.repeated("call", 1001) is None
        assert writing.repeated("another call", 0) is None
        writing.remember_request("call", later.id, 2000)
        assert writing.repeated("call", 0) == later.id


def test_requests_too_old_to_be_repeated_are_dropped(store, room, save):
    memory = save(room)
    with store.writing() as writing:
        writing.remember_request("old", memory.id, 1000)
        writing.remember_request("new", memory.id, 1000 + 24 * 3600 * 1_000_000)
        assert writing.repeated("old", 0) is None


# -- finding


@pytest.mark.promise("000-018", "000-015", "000-098")
def test_one_search_goes_by_words_and_by_meaning_over_every_type(store, room, save, make):
    by_word = save(room, "the zebra crossing", make.read(0, 1), type="insight")
    by_meaning = save(room, "striped horses", make.read(1, 0.1), type="checkpoint")
    far = save(room, "tax law", make.read(0, 0, 1), type="decision")
    found = store.find(words("zebra", vectors=((HERE, make.direction(1)),)), Scope(), 5)
    told = {each.id: each for each in found.candidates}
    assert set(told) == {by_word.id, by_meaning.id, far.id}
    assert told[by_word.id].words > 0
    assert told[by_meaning.id].words == 0
    assert told[by_meaning.id].meaning == pytest.approx(0.995, abs=0.01)
    assert told[far.id].meaning == pytest.approx(0, abs=0.01)
    assert told[far.id].model == HERE
    assert found.spans[HERE] == pytest.approx((0, 0.995), abs=0.01)


def test_a_limit_is_filled_although_nearer_ones_are_filtered_out(store, room, save, make):
    wanted = [save(room, "kiwi", make.read(0.2, 1), type="insight") for _ in range(3)]
    for _ in range(200):
        save(room, "kiwi kiwi kiwi", make.read(1, 0.01), type="fact")
    question = words("kiwi", vectors=((HERE, make.direction(1)),))
    assert found_ids(store, question, Scope(types=("insight",)), limit=3) == {each.id for each in wanted}
    only_meaning = Question(vectors=question.vectors)
    assert found_ids(store, only_meaning, Scope(types=("insight",)), limit=3) == {each.id for each in wanted}


def test_a_limit_is_filled_although_versions_of_one_chain_are_nearer(store, room, save, make):
    chain = [save(room, f"kiwi kiwi version {n}", make.read(1, n / 1000)) for n in range(150)]
    with store.writing() as writing:
        for older, newer in pairwise(chain):
            writing.link(make.link(newer, older))
    others = [save(room, "one kiwi among many other fruits here", make.read(0.3, 1)) for _ in range(4)]
    question = words("kiwi", vectors=((HERE, make.direction(1)),))
    for asked in (question, words("kiwi"), Question(vectors=question.vectors)):
        found = ids(store.find(asked, Scope(), 5))
        assert sorted(found) == sorted([chain[-1].id, *(each.id for each in others)])


def test_a_superseded_hit_is_answered_by_its_head_and_says_by_which_way(store, room, save, make):
    old, new = save(room, "lives in Seattle", make.read(1)), save(room, "moved to Austin", make.read(0, 1))
    with store.writing() as writing:
        writing.link(make.link(new, old))
    (by_words,) = store.find(words("seattle"), Scope(), 5).candidates
    assert (by_words.id, by_words.via) == (new.id, old.id)
    (both,) = store.find(words("seattle", vectors=((HERE, make.direction(1)),)), Scope(), 5).candidates
    assert both.id == new.id
    assert both.words > 0
    assert both.meaning == pytest.approx(1, abs=0.01)
    (direct,) = store.find(words("austin"), Scope(), 5).candidates
    assert (direct.id, direct.via) == (new.id, None)
    both = store.find(words("seattle"), Scope(history=True), 5).candidates
    assert [(each.id, each.via) for each in both] == [(old.id, None)]


def test_the_best_passage_of_a_long_text_scores(store, room, save, make):
    pieces = (Passage(make.direction(0, 1)), Passage(make.direction(1)), Passage(make.direction(0, 0, 1)))
    long = save(room, "a long text", [Embedding(HERE, pieces)])
    short = save(room, "a short text", make.read(1, 0.5))
    found = store.find(Question(vectors=((HERE, make.direction(1)),)), Scope(), 5)
    told = {each.id: each.meaning for each in found.candidates}
    assert told[long.id] == pytest.approx(1, abs=0.01)
    assert told[short.id] == pytest.approx(0.894, abs=0.01)


def test_search_scans_the_blend_and_judgement_the_own_vector(store, room, save, make):
    made = [Embedding(HERE, (Passage(make.direction(0, 1), blend=make.direction(1)),))]
    memory = save(room, "in its context", made)
    question = Question(vectors=((HERE, make.direction(1)),))
    assert store.find(question, Scope(), 5).candidates[0].meaning == pytest.approx(1, abs=0.01)
    judged = store.find(replace(question, own=True), Scope(), 5).candidates[0]
    assert judged.id == memory.id
    assert judged.meaning == pytest.approx(0, abs=0.01)


def test_a_memory_is_scored_by_the_first_model_that_read_it(store, room, save, make):
    both = save(room, "read by both", [*make.read(1), *make.read(0, 1, model="model-b")])
    second = save(room, "read by the second", make.read(1, model="model-b"))
    question = Question(vectors=((HERE, make.direction(1)), ("model-b", make.direction(1))))
    told = {each.id: each.model for each in store.find(question, Scope(), 5).candidates}
    assert told == {both.id: HERE, second.id: "model-b"}
    assert store.models_in(Scope()) == {HERE, "model-b"}
    assert store.models_in(Scope(workspaces=())) == set()


def test_a_memory_is_not_its_own_neighbour_when_asked_so(store, room, save, make):
    own, other = save(room, "twin", make.read(1)), save(room, "twin", make.read(1))
    question = words("twin", vectors=((HERE, make.direction(1)),), exclude=own.id)
    assert ids(store.find(question, Scope(), 5)) == [other.id]


@pytest.mark.parametrize("word", ['"', "a OR b", "NEAR(", "*", "text:", "-", "^a", "{", "(", "'; DROP"])
def test_words_are_words_and_never_a_query_language(store, room, save, word):
    save(room, "an innocent text about or and near")
    assert len(store.find(words(*word.replace('"', "").split() or ["x"]), Scope(), 5).candidates) <= 1


def test_a_question_of_thousands_of_words_is_answered(store, room, save):
    memory = save(room, "needle in a haystack")
    many = [f"straw{n}" for n in range(8000)]
    pairs = tuple(f"{a} {b}" for a, b in pairwise(many))
    assert ids(store.find(Question(words=("needle", *many), phrases=pairs), Scope(), 5)) == [memory.id]


def test_a_search_without_words_and_vectors_finds_nothing(store, room, save):
    save(room)
    assert store.find(Question(), Scope(), 5).candidates == ()


def test_a_store_without_memories_answers_every_question_with_nothing(store, make):
    scope = Scope(workspaces=("nowhere",))
    for each in (scope, Scope(), Scope(workspaces=())):
        question = words("anything", vectors=((HERE, make.direction(1)),))
        assert store.find(question, each, 5).candidates == ()
        assert store.recent(each, 5) == []
        assert store.lacking(HERE, each, 5) == []
        assert store.models_in(each) == frozenset()
        assert store.census(each).live == 0
    assert list(store.every()) == []
    assert store.workspaces() == []
    assert store.chain("fact_none") == []
    assert store.graph().links("fact_none") == []


# -- scopes


def test_each_workspace_answers_for_itself(store, room, save, make):
    annex = make.workspace("annex")
    with store.writing() as writing:
        writing.found_workspace(annex)
    here, there = save(room, "kiwi", make.read(1)), save(annex.id, "kiwi", make.read(1))
    question = words("kiwi", vectors=((HERE, make.direction(1)),))
    for workspaces, expected in [
        ((room,), {here.id}),
        ((annex.id,), {there.id}),
        ((room, annex.id), {here.id, there.id}),
        (None, {here.id, there.id}),
        ((), set()),
    ]:
        scope = Scope(workspaces=workspaces)
        assert found_ids(store, question, scope) == expected
        assert {each.id for each in store.recent(scope, 5)} == expected


def test_archived_memories_answer_only_to_history(store, room, save, make):
    memory = save(room, "kiwi", make.read(1))
    question = words("kiwi", vectors=((HERE, make.direction(1)),))
    assert found_ids(store, question, Scope()) == {memory.id}
    with store.writing() as writing:
        writing.update(memory, replace(memory, status="archived"))
    for asked in (question, words("kiwi"), Question(vectors=question.vectors)):
        assert found_ids(store, asked, Scope()) == set()
        assert found_ids(store, asked, Scope(types=("fact",))) == set()
        assert found_ids(store, asked, Scope(history=True)) == {memory.id}
    assert store.recent(Scope(), 5) == []
    with store.writing() as writing:
        writing.update(replace(memory, status="archived"), memory)
    assert found_ids(store, question, Scope()) == {memory.id}


@pytest.mark.promise("003-001")
def test_as_of_and_known_at_choose_the_version_of_their_time(store, room, save, make):
    old = save(room, "lives in Seattle", make.read(1), valid_from=100, valid_until=200, created_at=1000)
    new = save(room, "lives in Austin", make.read(1), valid_from=200, created_at=2000)
    with store.writing() as writing:
        writing.link(replace(make.link(new, old), created_at=3000))
    question = words("lives", vectors=((HERE, make.direction(1)),))
    for scope, expected in [
        (Scope(as_of=99), set()),
        (Scope(as_of=100), {old.id}),
        (Scope(as_of=199), {old.id}),
        (Scope(as_of=200), {new.id}),
        (Scope(known_at=999), set()),
        (Scope(known_at=1000), {old.id}),
        (Scope(known_at=2999), {old.id, new.id}),
        (Scope(known_at=3000), {new.id}),
        (Scope(known_at=2000, as_of=150), {old.id}),
        (Scope(known_at=2999, as_of=250), {old.id, new.id}),
    ]:
        assert found_ids(store, question, scope) == expected, scope
        assert {each.id for each in store.recent(scope, 5)} == expected, scope


def test_recent_gives_the_newest_of_all_rooms_newest_first_within_its_filters(store, room, save, make):
    annex = make.workspace("annex")
    with store.writing() as writing:
        writing.found_workspace(annex)
    kinds = ("fact", "insight")
    made = [save(room if n % 2 else annex.id, f"number {n}", type=kinds[n % 3 == 0]) for n in range(9)]
    assert [m.id for m in store.recent(Scope(), 4)] == [m.id for m in made[:4:-1]]
    insights = [m.id for m in reversed(made) if m.type == "insight"]
    assert [m.id for m in store.recent(Scope(types=("insight",)), 9)] == insights
    with store.writing() as writing:
        writing.link(make.link(made[8], made[7]))
    assert [m.id for m in store.recent(Scope(), 2)] == [made[8].id, made[6].id]
    assert [m.id for m in store.recent(Scope(history=True), 2)] == [made[8].id, made[7].id]
    assert store.recent(Scope(), 0) == []


def test_the_census_counts_what_each_filter_keeps_out(store, room, save, make):
    annex = make.workspace("annex")
    with store.writing() as writing:
        writing.found_workspace(annex)
    live, old, away = save(room, valid_from=5), save(room, valid_from=5), save(room, valid_from=5)
    save(room, type="insight", valid_from=5)
    save(room, valid_from=50, is_pending=True)
    save(annex.id)
    with store.writing() as writing:
        writing.link(make.link(live, old))
        writing.update(away, replace(away, status="archived"))
    census = store.census(Scope(workspaces=(room,), types=("fact",), as_of=10))
    assert (census.live, census.superseded, census.archived) == (1, 1, 1)
    assert (census.other_types, census.not_then, census.elsewhere) == (1, 1, 1)


# -- changes, and how searches see them


def test_an_edit_is_found_by_its_new_words_and_meaning_and_not_by_the_old(store, room, save, make):
    memory = save(room, "apples", [*make.read(1), *make.read(1, model="model-b")])
    question = words("apples", vectors=((HERE, make.direction(1)),))
    assert found_ids(store, question, Scope()) == {memory.id}
    edited = replace(memory, content="oranges", topic="citrus")
    with store.writing() as writing:
        writing.update(memory, edited, make.read(0, 1))
    assert store.memories([memory.id]) == [edited]
    assert found_ids(store, words("apples"), Scope()) == set()
    assert found_ids(store, words("oranges"), Scope()) == {memory.id}
    (candidate,) = store.find(Question(vectors=question.vectors), Scope(), 5).candidates
    assert candidate.meaning == pytest.approx(0, abs=0.01)
    assert store.models_in(Scope()) == {HERE}  # what another model made of the old text is gone


def test_a_new_topic_is_a_way_in_and_the_old_one_is_not(store, room, save):
    memory = save(room, "we chose it", topic="kubernetes")
    with store.writing() as writing:
        writing.update(memory, replace(memory, topic="nomad"), [])
    assert found_ids(store, words("nomad"), Scope()) == {memory.id}
    assert found_ids(store, words("kubernetes"), Scope()) == set()


def test_a_moved_memory_answers_in_its_new_workspace_alone(store, room, save, make):
    annex = make.workspace("annex")
    with store.writing() as writing:
        writing.found_workspace(annex)
    memory, stays = save(room, "kiwi", make.read(1)), save(room, "kiwi", make.read(1))
    question = words("kiwi", vectors=((HERE, make.direction(1)),))
    home, away = Scope(workspaces=(room,)), Scope(workspaces=(annex.id,))
    assert (len(found_ids(store, question, home)), len(found_ids(store, question, away))) == (2, 0)
    moved = replace(memory, workspace=annex.id)
    with store.writing() as writing:
        writing.update(memory, moved)
    for asked in (question, words("kiwi"), Question(vectors=question.vectors)):
        assert found_ids(store, asked, home) == {stays.id}
        assert found_ids(store, asked, away) == {memory.id}
    with store.writing() as writing:
        writing.update(moved, memory)
    for asked in (words("kiwi"), Question(vectors=question.vectors)):
        assert found_ids(store, asked, home) == {memory.id, stays.id}
        assert found_ids(store, asked, away) == set()


def test_a_move_and_an_edit_at_once_carry_the_new_vectors_along(store, room, save, make):
    annex = make.workspace("annex")
    with store.writing() as writing:
        writing.found_workspace(annex)
    memory = save(room, "apples", make.read(1))
    with store.writing() as writing:
        writing.update(memory, replace(memory, content="oranges", workspace=annex.id), make.read(0, 1))
    question = Question(vectors=((HERE, make.direction(0, 1)),))
    assert found_ids(store, question, Scope(workspaces=(room,))) == set()
    (candidate,) = store.find(question, Scope(workspaces=(annex.id,)), 5).candidates
    assert candidate.meaning == pytest.approx(1, abs=0.01)


@pytest.mark.promise("003-015", "000-015")
def test_a_memory_without_vectors_is_lacking_until_a_model_reads_it(store, room, save, make):
    memory = save(room, "unread", is_pending=True)
    read = save(room, "read", make.read(1))
    assert [m.id for m in store.lacking(None, Scope(), 5)] == [memory.id]
    assert [m.id for m in store.lacking(HERE, Scope(), 5)] == [memory.id]
    assert [m.id for m in store.lacking("model-b", Scope(), 5)] == [read.id, memory.id]
    assert [m.id for m in store.lacking("model-b", Scope(), 1)] == [read.id]
    question = Question(vectors=((HERE, make.direction(1)),))
    assert found_ids(store, question, Scope()) == {read.id}
    with store.writing() as writing:
        writing.embed(memory, make.read(1)[0], settles=True)
    assert found_ids(store, question, Scope()) == {memory.id, read.id}
    assert store.lacking(None, Scope(), 5) == store.lacking(HERE, Scope(), 5) == []
    assert not store.memories([memory.id])[0].is_pending


def test_what_is_lacking_is_told_for_the_scope_alone(store, room, save, make):
    annex = make.workspace("annex")
    with store.writing() as writing:
        writing.found_workspace(annex)
    here, there = save(room, is_pending=True), save(annex.id, is_pending=True)
    for model in (None, HERE):
        assert [m.id for m in store.lacking(model, Scope(workspaces=(room,)), 5)] == [here.id]
        assert [m.id for m in store.lacking(model, Scope(workspaces=(annex.id,)), 5)] == [there.id]
        assert len(store.lacking(model, Scope(), 5)) == 2


def test_vectors_of_a_text_that_changed_meanwhile_are_not_taken(store, room, save, make):
    memory = save(room, "before", is_pending=True)
    edited = replace(memory, content="after")
    with store.writing() as writing:
        writing.update(memory, edited, [])
    with store.writing() as writing:
        writing.embed(memory, make.read(1)[0], settles=True)
    assert store.find(Question(vectors=((HERE, make.direction(1)),)), Scope(), 5).candidates == ()
    assert [m.id for m in store.lacking(None, Scope(), 5)] == [memory.id]


def test_searches_stay_right_over_thousands_of_changes_between_two_of_them(store, room, save, make):
    question = Question(vectors=((HERE, make.direction(1)),))
    first = save(room, "first", make.read(1))
    assert found_ids(store, question, Scope()) == {first.id}
    many = []
    with store.writing() as writing:
        for _ in range(2100):  # more than the matrix catches up with row by row
            many.append(make.memory(room))
            writing.insert(many[-1], make.read(0, 1))
    best = make.memory(room)
    with store.writing() as writing:
        writing.insert(best, make.read(1))
        writing.update(first, replace(first, status="archived"))
    found = store.find(question, Scope(), 3).candidates
    assert max(found, key=lambda each: each.meaning).id == best.id
    assert first.id not in {each.id for each in found}
    store.release()
    assert [c.id for c in store.find(question, Scope(), 3).candidates] == [c.id for c in found]


def test_every_memory_is_handed_out_once_in_the_order_it_came(store, room, make):
    with store.writing() as writing:
        made = [make.memory(room) for _ in range(1203)]
        for memory in made:
            writing.insert(memory, [])
    assert [each.id for each in store.every()] == [each.id for each in made]


@pytest.mark.promise("001-042")
def test_touch_moves_only_the_access_time_and_never_back(store, room, save):
    memory, other = save(room), save(room)
    store.touch({memory.id: memory.accessed_at + 50, "fact_none": 1}, {})
    store.touch({memory.id: memory.accessed_at + 10}, {})
    assert store.memories([memory.id]) == [replace(memory, accessed_at=memory.accessed_at + 50)]
    assert store.memories([other.id]) == [other]
    assert len(store.events(memory.id)) == 1


def test_threads_that_save_change_and_search_at_once_get_no_error_and_lose_nothing(store, room, save, make):
    question = words("kiwi", vectors=((HERE, make.direction(1)),))

    def work(number: int) -> list[str]:
        mine = []
        for turn in range(10):
            memory = save(room, f"kiwi {number} {turn}", make.read(1, number / 10))
            assert memory.id in found_ids(store, question, Scope(), limit=1000)
            if turn % 3 == 0:
                with store.writing() as writing:
                    writing.update(memory, replace(memory, status="archived"))
                assert memory.id not in found_ids(store, question, Scope(), limit=1000)
            else:
                mine.append(memory.id)
            if turn == number:
                store.release()
        return mine

    with ThreadPoolExecutor(6) as pool:
        kept = {one for mine in pool.map(work, range(6)) for one in mine}
    assert found_ids(store, question, Scope(), limit=1000) == kept
    assert store.health()["integrity"] == "ok"


# -- workspaces, health


def test_workspaces_come_back_oldest_first_and_a_name_is_taken_once_in_any_case(store, make):
    first = make.workspace("Straße", identity="git@host:a/b")
    second = make.workspace("other", archived_at=5)
    with store.writing() as writing:
        writing.found_workspace(first)
        writing.found_workspace(second)
    assert store.workspaces() == [first, second]
    for taken in ("STRASSE", "straße"):
        with pytest.raises(InvalidParameter, match="exists already"), store.writing() as writing:
            writing.found_workspace(make.workspace(taken))
    with pytest.raises(InvalidParameter), store.writing() as writing:
        writing.found_workspace(make.workspace("third", identity="git@host:a/b"))
    assert store.workspaces() == [first, second]


def test_a_checkpoint_name_is_taken_once_in_its_workspace_and_free_in_another(store, room, save, make):
    annex = make.workspace("annex")
    with store.writing() as writing:
        writing.found_workspace(annex)
    save(room, type="checkpoint", name="Release")
    with pytest.raises(StorageFailed):
        save(room, type="checkpoint", name="RELEASE")
    save(annex.id, type="checkpoint", name="release")
    assert len(list(store.every())) == 2


def test_health_tells_what_is_there_and_that_it_is_whole(store, room, save, make):
    newer, older = save(room, "new", make.read(1)), save(room, "old")
    with store.writing() as writing:
        writing.link(make.link(newer, older))
    health = store.health()
    assert health["integrity"] == "ok"
    assert (health["memories"], health["links"], health["events"], health["workspaces"]) == (
        "2",
        "1",
        "2",
        "1",
    )


def test_a_store_url_of_another_kind_is_refused_with_the_way_to_write_one(clock):
    from whence.storage import open_store

    with pytest.raises(StorageFailed, match="mysql") as refused:
        open_store("mysql://localhost/whence", tenant="local", clock=clock)
    assert "sqlite:///PATH" in refused.value.hint
