"""The verbs of a memory's life, on every store."""

from dataclasses import replace
from itertools import pairwise

import apsw
import pytest

from whence.core.errors import (
    AlreadySuperseded,
    EmbeddingUnavailable,
    InvalidParameter,
    MemoryNotFound,
    StorageFailed,
    SupersessionCycle,
)
from whence.core.life import Whence
from whence.core.memories import Author, Draft, rewind
from whence.core.ports import Scope
from whence.core.reading import read_backlog, read_pending
from whence.core.recall import Query
from whence.core.times import DAY, MINUTE, SECOND, iso, parse_instant
from whence.features.workspaces import Place, found_workspace
from whence.models import NoModels
from whence.storage import open_store


@pytest.fixture
def room(wordless):
    return found_workspace(wordless, Place(name="room")).id


@pytest.fixture
def keep(wordless, room):
    """Remember a text and return the memory."""

    def remember_it(content="a plain fact", **fields):
        return wordless.remember(Draft(content=content, **fields), workspace=room).memory

    return remember_it


def snapshot(whence):
    """Return all that can change: memories, events, links."""
    memories = list(whence.store.every())
    return (
        memories,
        [whence.store.events(each.id) for each in memories],
        [whence.store.graph().links(each.id) for each in memories],
    )


def actions(whence, memory_id):
    return [event.action for event in whence.history(memory_id)]


# -- remembering


@pytest.mark.promise("000-016", "000-025", "001-010", "001-044", "003-011")
def test_a_memory_gets_its_id_its_times_and_its_event_without_being_told(wordless, room, clock):
    before = clock.moment
    saved = wordless.remember(
        Draft(content="We use SQLite"), workspace=room, author=Author(client="c", session="s", tool="t")
    )
    memory = saved.memory
    assert memory.id.startswith("fact_")
    assert len(memory.id) == len("fact_") + 26
    assert before < memory.created_at == memory.updated_at == memory.accessed_at == memory.valid_from
    assert (memory.valid_until, memory.known_until, memory.superseded_by) == (None, None, None)
    assert wordless.get(memory.id) == memory
    (event,) = wordless.history(memory.id)
    assert (event.number, event.action, event.at) == (1, "created", memory.created_at)
    assert event.author == Author(client="c", session="s", tool="t")
    assert event.replaced == {}  # a creation holds no text twice


@pytest.mark.promise("000-110")
@pytest.mark.parametrize("kind", ["decision", "checkpoint", "insight", "context", "fact"])
def test_every_memory_says_which_schema_its_metadata_follows(keep, kind):
    assert keep(type=kind).metadata["schema_version"] == 1
    assert keep(type=kind, metadata={"why": "x"}).metadata == {"schema_version": 1, "why": "x"}
    assert keep(type=kind).id.startswith(f"{kind}_")


@pytest.mark.promise("001-008", "001-009")
def test_the_same_text_again_is_another_memory_and_changes_none(wordless, keep):
    first = keep("Ana lives in Seattle")
    before = snapshot(wordless)
    second = keep("Ana lives in Seattle")
    assert second.id != first.id
    memories, events, links = snapshot(wordless)
    assert (memories[:1], events[:1], links[:1]) == before


def test_ids_sort_by_the_time_they_were_made(keep):
    made = [keep().id for _ in range(50)]
    assert made == sorted(made)
    assert len(set(made)) == 50


def test_decisions_alone_draw_numbers_that_rise_and_are_never_used_twice(wordless, keep):
    first, fact, second = keep(type="decision"), keep(), keep(type="decision")
    wordless.archive(second.id)
    third = keep(type="decision")
    assert [each.number for each in (first, fact, second, third)] == [1, None, 2, 3]


@pytest.mark.promise("003-011")
def test_valid_from_may_lie_in_the_past_or_the_future_and_created_at_is_now(keep, clock):
    past, future = keep(valid_from=-(10**15)), keep(valid_from=clock.moment + DAY)
    assert (past.valid_from, future.valid_from) == (-(10**15), clock.moment - 1 + DAY)
    assert past.created_at < future.created_at <= clock.moment


BAD_DRAFTS = [
    ({"content": ""}, "content"),
    ({"content": " \n\t\u3000 "}, "content"),
    ({"content": "x" * 50_001}, "50,000"),
    ({"content": "a\0b"}, "NUL"),
    ({"content": "half \ud83d pair"}, "surrogate"),
    ({"topic": " "}, "topic"),
    ({"topic": "x" * 201}, "200"),
    ({"domain": "x" * 201}, "200"),
    ({"module": ""}, "module"),
    ({"name": "\0"}, "name"),
    ({"context": "x" * 50_001}, "context"),
    ({"context": "\udc00"}, "context"),
    ({"confidence": 1.0000001}, "confidence"),
    ({"confidence": -0.1}, "confidence"),
    ({"confidence": float("nan")}, "confidence"),
    ({"confidence": float("-inf")}, "confidence"),
    ({"tags": ("x",) * 51}, "50"),
    ({"tags": ("x" * 65,)}, "64"),
    ({"tags": ("ok", "")}, "tags"),
    ({"tags": ("\ud800",)}, "tags"),
]


@pytest.mark.promise("001-006", "001-047")
@pytest.mark.parametrize(("wrong", "named"), BAD_DRAFTS, ids=lambda value: str(value)[:40])
def test_a_bad_draft_is_refused_by_name_and_nothing_is_stored(wordless, room, wrong, named):
    with pytest.raises(InvalidParameter, match=named):
        wordless.remember(Draft(**{"content": "good", **wrong}), workspace=room)
    assert snapshot(wordless) == ([], [], [])


def test_the_longest_legal_draft_is_kept_whole(keep, wordless):
    memory = keep("가" * 50_000, topic="t" * 200, tags=tuple(f"{n:064}" for n in range(50)), confidence=0)
    assert wordless.get(memory.id) == memory


@pytest.mark.parametrize(
    "content",
    [
        "😀",
        "\u0301",
        "—",
        "\u202e abc",
        "'; DROP TABLE memories; --",
        "\\",
        "%",
        "\r\n.",
        "'\"",
    ],
)
def test_odd_texts_are_kept_to_the_letter_and_a_search_for_them_does_not_fail(wordless, keep, room, content):
    memory = keep(content)
    assert wordless.get(memory.id).content == content
    wordless.recall(Query(text=content, scope=Scope(workspaces=(room,))))
    assert [each.id for each in wordless.recent(Scope(), 5)] == [memory.id]


@pytest.mark.promise("001-048")
def test_what_the_store_refuses_leaves_nothing_of_the_call(wordless, room):
    for draft, workspace in [
        (Draft(content="x"), "nowhere"),
        (Draft(content="x", level=9), room),
        (Draft(content="x", type="rumour"), room),
        (Draft(content="x", metadata={"ratio": float("nan")}), room),
    ]:
        with pytest.raises(StorageFailed):
            wordless.remember(draft, workspace=workspace, request="call")
    assert snapshot(wordless) == ([], [], [])
    saved = wordless.remember(Draft(content="x"), workspace=room, request="call")
    assert not saved.is_repeat


@pytest.mark.promise("001-046")
def test_an_unknown_id_is_told_in_every_verb_and_nothing_changes(wordless, keep, room):
    memory = keep()
    before = snapshot(wordless)
    for verb in (
        lambda: wordless.get("fact_none"),
        lambda: wordless.history("fact_none"),
        lambda: wordless.archive("fact_none"),
        lambda: wordless.restore("fact_none"),
        lambda: wordless.move("fact_none", room),
        lambda: wordless.edit("fact_none", {"content": "x"}),
        lambda: wordless.supersede("fact_none", by=memory.id),
        lambda: wordless.supersede(memory.id, by="fact_none"),
        lambda: wordless.supersede(memory.id, by="' OR 1=1"),
    ):
        with pytest.raises(MemoryNotFound, match=r"^Memory with ID .* not found$"):
            verb()
    assert snapshot(wordless) == before


# -- retries


def test_the_same_request_within_ten_minutes_answers_with_the_first(wordless, room, clock):
    first = wordless.remember(Draft(content="once"), workspace=room, request="call")
    clock.advance(10 * MINUTE - SECOND)
    again = wordless.remember(Draft(content="once"), workspace=room, request="call")
    assert (again.memory.id, again.is_repeat, first.is_repeat) == (first.memory.id, True, False)
    assert len(list(wordless.store.every())) == 1
    assert actions(wordless, first.memory.id) == ["created"]


def test_another_request_or_none_or_ten_minutes_later_makes_a_new_memory(wordless, room, clock):
    first = wordless.remember(Draft(content="once"), workspace=room, request="call").memory
    made = [
        wordless.remember(Draft(content="once"), workspace=room, request="another call").memory,
        wordless.remember(Draft(content="once"), workspace=room).memory,
    ]
    clock.advance(10 * MINUTE + SECOND)
    made.append(wordless.remember(Draft(content="once"), workspace=room, request="call").memory)
    assert len({first.id, *(each.id for each in made)}) == 4
    repeat = wordless.remember(Draft(content="once"), workspace=room, request="call")
    assert repeat.memory.id == made[-1].id


def test_what_was_edited_since_is_no_retry_so_that_no_text_is_lost(wordless, room):
    first = wordless.remember(Draft(content="once"), workspace=room, request="call").memory
    wordless.edit(first.id, {"content": "once, and edited"})
    again = wordless.remember(Draft(content="once"), workspace=room, request="call")
    assert not again.is_repeat
    assert [each.content for each in wordless.store.every()] == ["once, and edited", "once"]


def test_what_was_moved_since_is_no_retry(wordless, room):
    first = wordless.remember(Draft(content="once"), workspace=room, request="call").memory
    elsewhere = found_workspace(wordless, Place(name="elsewhere")).id
    wordless.move(first.id, elsewhere)
    again = wordless.remember(Draft(content="once"), workspace=room, request="call")
    assert (again.is_repeat, again.memory.workspace) == (False, room)


def test_an_archived_memory_replaces_nothing(wordless, room, keep):
    old, new = keep("old"), keep("new")
    wordless.archive(new.id)
    with pytest.raises(InvalidParameter, match="is archived"):
        wordless.supersede(old.id, by=new.id)
    assert wordless.get(old.id).is_live


def test_closing_a_store_that_another_program_holds_loses_no_answer(tmp_path, clock):
    path = tmp_path / "held.db"
    opened = Whence(open_store(f"sqlite:///{path}", tenant="local", clock=clock), NoModels(), clock)
    room = found_workspace(opened, Place(name="room")).id
    opened.remember(Draft(content="hello"), workspace=room)
    assert opened.recall(Query(text="hello", scope=Scope(workspaces=(room,)))).hits
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN IMMEDIATE")
    opened.close()
    holder.execute("ROLLBACK")
    holder.close()


@pytest.mark.parametrize("fate", ["superseded", "archived"])
def test_a_retry_of_what_is_no_longer_live_makes_a_new_memory(wordless, room, keep, fate):
    first = wordless.remember(Draft(content="once"), workspace=room, request="call").memory
    if fate == "superseded":
        wordless.supersede(first.id, by=keep("later").id)
    else:
        wordless.archive(first.id)
    again = wordless.remember(Draft(content="once"), workspace=room, request="call")
    assert not again.is_repeat
    assert again.memory.id != first.id
    assert wordless.get(again.memory.id).is_live


# -- superseding


@pytest.mark.promise("001-016", "001-043")
def test_superseding_joins_the_two_and_leaves_both_texts(wordless, keep):
    old, new = keep("Seattle"), keep("Austin")
    answer = wordless.supersede(old.id, by=new.id, author=Author(tool="supersede_memory"), creator="user")
    old_now, new_now = wordless.get(old.id), wordless.get(new.id)
    assert answer == new_now
    assert (old_now.superseded_by, new_now.supersedes) == (new.id, (old.id,))
    assert (old_now.content, new_now.content) == ("Seattle", "Austin")
    assert (old_now.is_live, new_now.is_live) == (False, True)
    assert "superseded" in old_now.labels
    assert old_now.valid_until == new.valid_from
    assert old_now.known_until is None  # superseding closes valid time only
    (link,) = wordless.store.graph().links(old.id)
    assert (link.from_id, link.to_id) == (new.id, old.id)
    assert (link.link_type, link.relationship, link.confidence) == ("evolution", "supersedes", 1.0)
    assert link.created_by == "user"
    assert actions(wordless, old.id) == ["created", "superseded"]
    assert actions(wordless, new.id) == ["created", "replaced another"]
    assert wordless.history(old.id)[-1].author.tool == "supersede_memory"


def test_the_same_pair_again_is_success_and_changes_nothing(wordless, keep):
    old, new = keep(), keep()
    wordless.supersede(old.id, by=new.id)
    before = snapshot(wordless)
    assert wordless.supersede(old.id, by=new.id).id == new.id
    assert snapshot(wordless) == before
    newest = keep()
    wordless.supersede(new.id, by=newest.id)
    before = snapshot(wordless)
    wordless.supersede(old.id, by=new.id)
    assert snapshot(wordless) == before


def test_a_memory_cannot_supersede_itself(wordless, keep):
    memory = keep()
    before = snapshot(wordless)
    with pytest.raises(InvalidParameter, match="cannot supersede itself") as refused:
        wordless.supersede(memory.id, by=memory.id)
    assert refused.value.hint
    assert snapshot(wordless) == before


def test_a_superseded_memory_is_refused_with_the_head_of_its_chain(wordless, keep):
    a, b, c, other = (keep(name) for name in "abcd")
    wordless.supersede(a.id, by=b.id)
    wordless.supersede(b.id, by=c.id)
    before = snapshot(wordless)
    for taken in (a, b):
        with pytest.raises(AlreadySuperseded) as refused:
            wordless.supersede(taken.id, by=other.id)
        assert refused.value.head_id == c.id
        assert c.id in refused.value.hint
    with pytest.raises(AlreadySuperseded):
        wordless.supersede(a.id, by=c.id)
    assert snapshot(wordless) == before


def test_a_cycle_of_any_length_is_refused(wordless, keep):
    chain = [keep(str(n)) for n in range(6)]
    for older, newer in pairwise(chain):
        wordless.supersede(older.id, by=newer.id)
    before = snapshot(wordless)
    for earlier in chain[:-1]:
        with pytest.raises(SupersessionCycle):
            wordless.supersede(chain[-1].id, by=earlier.id)
    assert snapshot(wordless) == before


def test_one_memory_may_replace_many_and_shows_the_newest_first(wordless, keep):
    olds = [keep(str(n)) for n in range(4)]
    new = keep("all in one")
    for old in olds:
        wordless.supersede(old.id, by=new.id)
    assert wordless.get(new.id).supersedes == tuple(old.id for old in reversed(olds))
    assert [m.id for m in wordless.store.chain(olds[0].id)] == [*(old.id for old in olds), new.id]
    assert [m.id for m in wordless.recent(Scope(), 9)] == [new.id]


def test_an_old_memory_may_be_replaced_by_one_that_was_itself_replaced(wordless, keep):
    """The head of the whole chain then answers for both."""
    a, b, straggler = keep("a"), keep("b"), keep("kiwi straggler")
    wordless.supersede(a.id, by=b.id)
    wordless.supersede(straggler.id, by=a.id)
    assert wordless.get(straggler.id).superseded_by == a.id
    (hit,) = wordless.recall(Query(text="kiwi", scope=Scope())).hits
    assert hit.memory.id == b.id


def intervals(whence, memories):
    return [(m.valid_from, m.valid_until) for m in (whence.get(each.id) for each in memories)]


def test_an_interval_ends_where_the_earliest_follower_begins(wordless, keep):
    a, b, c = keep("a", valid_from=100), keep("b", valid_from=300), keep("c", valid_from=200)
    wordless.supersede(a.id, by=b.id)
    assert intervals(wordless, [a, b]) == [(100, 300), (300, None)]
    wordless.supersede(b.id, by=c.id)  # a late correction: it held before b began
    assert intervals(wordless, [a, b, c]) == [(100, 200), (300, 300), (200, None)]
    assert actions(wordless, a.id) == ["created", "superseded", "chain grew"]


def test_an_interval_may_be_empty_but_never_ends_before_it_begins(wordless, keep):
    a, b = keep("a", valid_from=500), keep("b", valid_from=100)
    wordless.supersede(a.id, by=b.id)
    assert intervals(wordless, [a, b]) == [(500, 500), (100, None)]


@pytest.mark.promise("003-001")
def test_an_earlier_known_at_sees_the_superseded_memory_open_and_as_it_was(wordless, keep, clock):
    old = keep("Seattle kiwi", topic="home")
    between = clock.now()
    new = keep("Austin kiwi")
    wordless.edit(old.id, {"content": "Seattle, Washington kiwi", "tags": ("edited",)})
    wordless.supersede(old.id, by=new.id)
    answer = wordless.recall(Query(text="kiwi", scope=Scope(known_at=between)))
    assert [hit.memory for hit in answer.hits] == [old]
    assert wordless.recent(Scope(known_at=between), 5) == [old]
    assert [hit.memory.id for hit in wordless.recall(Query(text="kiwi", scope=Scope())).hits] == [new.id]


# -- editing, archiving, moving


@pytest.mark.promise("000-016")
def test_updated_at_moves_only_when_text_status_confidence_tags_or_successor_change(
    wordless, keep, room, clock
):
    annex = found_workspace(wordless, Place(name="annex")).id
    memory, other = keep(), keep()

    def moves(change):
        clock.advance(SECOND)
        before = wordless.get(memory.id).updated_at
        change()
        return wordless.get(memory.id).updated_at > before

    assert moves(lambda: wordless.edit(memory.id, {"content": "new words"}))
    assert moves(lambda: wordless.edit(memory.id, {"topic": "new topic"}))
    assert moves(lambda: wordless.edit(memory.id, {"confidence": 0.5}))
    assert moves(lambda: wordless.edit(memory.id, {"tags": ("a",)}))
    assert moves(lambda: wordless.archive(memory.id))
    assert moves(lambda: wordless.restore(memory.id))
    assert not moves(lambda: wordless.move(memory.id, annex))
    assert not moves(lambda: wordless.supersede(other.id, by=memory.id))
    assert not moves(lambda: wordless.store.touch({memory.id: clock.now()}, {}))
    assert moves(lambda: wordless.supersede(memory.id, by=keep("the next").id))
    assert wordless.get(memory.id).created_at == memory.created_at


def test_a_change_that_changes_nothing_leaves_no_trace(wordless, keep, room):
    memory = keep(topic="t", tags=("a",))
    before = snapshot(wordless)
    wordless.edit(memory.id, {"content": memory.content, "topic": "t", "tags": ("a",), "confidence": 1.0})
    wordless.restore(memory.id)
    wordless.move(memory.id, room)
    assert snapshot(wordless) == before
    wordless.archive(memory.id)
    before = snapshot(wordless)
    wordless.archive(memory.id)
    assert snapshot(wordless) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""},
        {"content": "\n"},
        {"content": "x" * 50_001},
        {"confidence": 2},
        {"confidence": float("nan")},
        {"topic": "x" * 201},
        {"tags": ("",)},
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_bad_edit_is_refused_and_changes_nothing(wordless, keep, wrong):
    memory = keep()
    before = snapshot(wordless)
    with pytest.raises(InvalidParameter):
        wordless.edit(memory.id, wrong)
    assert snapshot(wordless) == before


def test_an_edit_keeps_the_earlier_words_in_its_history(wordless, keep):
    memory = keep("first words", topic="one")
    wordless.edit(memory.id, {"content": "second words"}, author=Author(client="hand"))
    wordless.edit(memory.id, {"topic": "two"})
    _, first, second = wordless.history(memory.id)
    assert first.replaced["content"] == "first words"
    assert first.author.client == "hand"
    assert second.replaced["topic"] == "one"
    now = wordless.get(memory.id)
    assert rewind(rewind(now, second), first) == memory


def test_an_edit_of_one_field_keeps_what_another_program_wrote_into_the_others(wordless, keep):
    """Two edits at once: the second takes its own field and leaves the first one's alone."""
    memory = keep("words", topic="old topic")

    class Late(type(wordless.models)):
        """Reading takes so long that another program edits the topic meanwhile."""

        @property
        def latin(self):
            if wordless.get(memory.id).topic == "old topic":
                type(wordless)(wordless.store, type(wordless.models)(), wordless.clock).edit(
                    memory.id, {"topic": "new topic"}
                )
            return super().latin

    slow = type(wordless)(wordless.store, Late(), wordless.clock)
    slow.edit(memory.id, {"content": "other words"})
    now = wordless.get(memory.id)
    assert (now.content, now.topic) == ("other words", "new topic")


def test_an_archived_memory_answers_nothing_until_it_is_restored(wordless, keep, room):
    memory = keep("kiwi")
    query = Query(text="kiwi", scope=Scope(workspaces=(room,)))
    assert wordless.archive(memory.id).labels == ("archived", "pending")
    assert wordless.recall(query).hits == ()
    assert wordless.recent(query.scope, 5) == []
    assert wordless.get(memory.id).content == "kiwi"
    wordless.restore(memory.id)
    assert [hit.memory.id for hit in wordless.recall(query).hits] == [memory.id]
    assert actions(wordless, memory.id) == ["created", "archived", "restored"]


def test_restoring_leaves_what_is_reconsidered_as_it_is(wordless, room, keep):
    memory = keep(type="decision")
    reconsidering = replace(memory, status="reconsidering")
    with wordless.store.writing() as writing:
        writing.update(memory, reconsidering)
    assert wordless.restore(memory.id).status == "reconsidering"
    assert actions(wordless, memory.id) == ["created"]


def test_restoring_a_superseded_memory_does_not_make_it_an_answer(wordless, keep):
    old, new = keep("kiwi old"), keep("kiwi new")
    wordless.archive(old.id)
    wordless.supersede(old.id, by=new.id)
    restored = wordless.restore(old.id)
    assert not restored.is_live
    assert [hit.memory.id for hit in wordless.recall(Query(text="kiwi", scope=Scope())).hits] == [new.id]


def test_moving_to_a_workspace_that_is_none_is_refused_and_changes_nothing(wordless, keep):
    memory = keep()
    before = snapshot(wordless)
    with pytest.raises(StorageFailed):
        wordless.move(memory.id, "nowhere")
    assert snapshot(wordless) == before


# -- access times


@pytest.mark.promise("001-042")
def test_a_search_that_returns_a_memory_moves_its_access_time_and_no_other_time(wordless, keep):
    memory, other = keep("kiwi"), keep("mango")
    wordless.recall(Query(text="kiwi", scope=Scope()))
    wordless.flush()
    now = wordless.get(memory.id)
    assert now.accessed_at > memory.accessed_at
    assert replace(now, accessed_at=memory.accessed_at) == memory
    assert wordless.get(other.id) == other
    assert actions(wordless, memory.id) == ["created"]


def test_closing_writes_the_access_times_that_wait(store_url, tmp_path, clock):
    from whence.core.life import Whence
    from whence.models import NoModels
    from whence.storage import open_store

    url = f"sqlite:///{tmp_path / 'whence.db'}"
    whence = Whence(open_store(url, tenant="local", clock=clock), NoModels(), clock)
    room = found_workspace(whence, Place(name="room")).id
    memory = whence.remember(Draft(content="kiwi"), workspace=room).memory
    whence.recall(Query(text="kiwi", scope=Scope()))
    whence.close()
    reopened = open_store(url, tenant="local", clock=clock)
    assert reopened.memories([memory.id])[0].accessed_at > memory.accessed_at
    reopened.close()


# -- without models


@pytest.mark.promise("001-049", "003-015")
def test_what_was_saved_without_a_model_is_found_by_meaning_once_one_read_it(
    store, clock, models, wordless, keep
):
    from whence.core.life import Whence

    saved = wordless.remember(Draft(content="Ana moved to Austin last month"), workspace=keep().workspace)
    assert saved.memory.labels == ("pending",)
    assert any("EMBEDDING_ERROR" in notice for notice in saved.notices)
    korean = wordless.remember(Draft(content="서버는 서울에 있다"), workspace=saved.memory.workspace).memory
    whence = Whence(store, models, clock)
    query = Query(text="in which city does she live?", scope=Scope())
    assert whence.recall(query).hits == ()
    assert read_pending(store, models, Scope(), clock, DAY) == 0
    assert whence.recall(query).hits[0].memory.id == saved.memory.id
    assert whence.get(saved.memory.id).labels == ()
    assert whence.recall(Query(text="호스트 컴퓨터의 위치", scope=Scope())).hits[0].memory.id == korean.id
    assert read_backlog(store, models, clock, DAY) == 0


def test_reading_what_waits_stops_when_its_time_is_up_and_tells_how_many_remain(store, clock, models, keep):
    for number in range(3):
        keep(f"thought {number}")
    assert read_pending(store, models, Scope(), clock, 0) == 3
    assert read_pending(store, models, Scope(), clock, DAY) == 0


def test_an_edit_of_the_confidence_needs_no_model(store, clock, whence, wordless, remember):
    memory = remember("Ana lives in Austin")
    edited = wordless.edit(memory.id, {"confidence": 0.4}).memory
    assert edited.labels == ()  # its vectors are still those of its text
    assert wordless.store.lacking(None, Scope(), 5) == []


def test_an_edit_of_the_confidence_alone_does_not_pass_for_a_reading(whence, wordless, keep):
    memory = keep("Ana lives in Austin")
    assert whence.edit(memory.id, {"confidence": 0.4}).memory.labels == ("pending",)
    assert [each.id for each in whence.store.lacking(None, Scope(), 5)] == [memory.id]


@pytest.mark.parametrize("content", ["😀", "\u0301", "—", "…", "ㅋ", "、", "𒀀", "़"])
def test_a_text_without_words_is_read_by_the_models_all_the_same(whence, remember, content):
    memory = remember(content)
    assert not memory.is_pending
    assert whence.store.lacking(None, Scope(), 5) == []
    whence.recall(Query(text=content, scope=Scope()))
    whence.recall(Query(text="무엇", scope=Scope()))
    assert read_backlog(whence.store, whence.models, whence.clock, MINUTE) == 0


# -- times


@pytest.mark.promise("001-041")
def test_an_instant_is_told_as_iso_8601_in_utc_and_read_back_the_same():
    for told in (
        "2024-06-15T10:00:00Z",
        "1969-12-31T23:59:59.000001Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ):
        assert iso(parse_instant(told, name="as_of")) == told
    assert iso(parse_instant("2024-06-15", name="as_of")) == "2024-06-15T00:00:00Z"
    assert iso(parse_instant(" 2024-06-15T12:00:00+02:00 ", name="as_of")) == "2024-06-15T10:00:00Z"


@pytest.mark.parametrize(
    "told",
    [
        "",
        "yesterday",
        "2024-13-01",
        "2024-06-15T25:00:00Z",
        "9999-12-31T23:59:59-05:00",
        "0001-01-01T00:00:00+05:00",
    ],
)
def test_a_time_that_is_none_is_refused_with_an_example(told):
    with pytest.raises(InvalidParameter, match="as_of must be an ISO 8601 time") as refused:
        parse_instant(told, name="as_of")
    assert "2026-11-19" in refused.value.hint


@pytest.mark.parametrize("content", ["\u200b", "\ufeff", "\u202e", "\u3164", "\u2060 \u200d"])
def test_what_only_looks_blank_is_missing_text_too(wordless, room, content):
    with pytest.raises(InvalidParameter, match="must not be empty"):
        wordless.remember(Draft(content=content), workspace=room)


class FailingEmbedder:
    """A real embedder whose runtime gives up."""

    def __init__(self, embedder):
        self.manifest = embedder.manifest

    def passages(self, text):
        return [text]

    def count_tokens(self, text):
        return len(text.split())

    def embed_query(self, text):
        raise EmbeddingUnavailable(f"The English model could not read {len(text)} characters")

    embed_passage = embed_query


class FailingModels(NoModels):
    def __init__(self, models):
        self._failing = FailingEmbedder(models.latin)

    @property
    def latin(self):
        return self._failing


def test_a_model_that_fails_over_a_text_costs_neither_the_save_nor_the_answer(store, clock, models):
    whence = Whence(store, FailingModels(models), clock)
    here = found_workspace(whence, Place(name="room")).id
    saved = whence.remember(Draft(content="The cache is Redis"), workspace=here)
    assert "EMBEDDING_ERROR" in saved.notices[0]
    answer = whence.recall(Query(text="Redis", scope=Scope(workspaces=(here,))))
    assert [hit.memory.id for hit in answer.hits] == [saved.memory.id]
    assert "EMBEDDING_ERROR" in answer.notices[0]


class MultilingualAlone(NoModels):
    def __init__(self, models):
        self._models = models

    @property
    def multilingual(self):
        return self._models.multilingual


def test_a_korean_question_before_the_english_model_came_does_not_keep_it_from_reading(store, clock, models):
    early = Whence(store, MultilingualAlone(models), clock)
    here = found_workspace(early, Place(name="room")).id
    english = early.remember(Draft(content="The user lives in Seattle near the lake"), workspace=here).memory
    korean = early.remember(Draft(content="사용자는 창가 자리를 좋아한다"), workspace=here).memory
    scope = Scope(workspaces=(here,))
    early.recall(Query(text="사용자는 어디에 사나요?", scope=scope))
    assert early.get(english.id).is_pending
    assert not early.get(korean.id).is_pending
    assert [each.id for each in store.lacking(models.latin.manifest.id, scope, 9)] == [korean.id, english.id]
    assert read_backlog(store, models, clock, 10 * SECOND) == 0
    assert not early.get(english.id).is_pending
    late = Whence(store, models, clock)
    assert late.recall(Query(text="Which city is home?", scope=scope)).hits[0].memory.id == english.id
