"""Export and import: the whole memory as lines, back without loss, and no harm from a damaged file."""

import json
import random
from contextlib import suppress
from dataclasses import replace

import pytest

from whence.core.errors import InvalidParameter, WhenceError
from whence.core.life import Whence
from whence.core.links import Link
from whence.core.memories import Author, Draft, rewind
from whence.core.ports import Scope
from whence.core.reading import read_backlog
from whence.core.recall import Query
from whence.core.times import DAY
from whence.features.portable import Imported, export_lines, import_lines
from whence.features.workspaces import Place, found_workspace
from whence.models import NoModels
from whence.storage import open_store


@pytest.fixture
def target(tmp_path, clock):
    """Another memory, empty."""
    whence = Whence(open_store("sqlite:///:memory:", tenant="local", clock=clock), NoModels(), clock)
    yield whence
    whence.close()


@pytest.fixture
def full(wordless):
    """A memory with something of everything."""
    shop = found_workspace(wordless, Place(name="shop", identity="github.com/acme/shop")).id
    notes = found_workspace(wordless, Place(name="notes")).id
    author = Author(client="c", session="s", tool="t")

    def keep(content, room=shop, **fields):
        draft = Draft(content=content, **fields)
        return wordless.remember(draft, workspace=room, author=author).memory

    old = keep("We use MySQL", type="decision", topic="db", tags=("sql", "디비"), valid_from=100)
    new = keep(
        "We use Postgres\nsince May", type="decision", context="the meeting", metadata={"why": ["a", 1]}
    )
    fact = keep("Ana likes green\u2028tea \u0085 and \x1e lines", notes, source="extracted", confidence=0.5)
    keep(
        "release",
        notes,
        type="checkpoint",
        name="Release 1",
        level=2,
        domain="d",
        module="m",
        code_ref="a.py",
    )
    wordless.supersede(old.id, by=new.id, author=author)
    wordless.archive(fact.id)
    wordless.edit(new.id, {"content": "We use Postgres 16"})
    with wordless.store.writing() as writing:
        writing.link(
            Link(
                id="link_x",
                from_id=fact.id,
                to_id=new.id,
                link_type="association",
                relationship="mentions",
                confidence=0.4,
                created_by="user",
                created_at=7,
                metadata={"reason": "x"},
            )
        )
    return wordless


def test_an_export_holds_everything_once_and_no_line_breaks_inside_a_line(full):
    lines = list(export_lines(full))
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds[0] == "whence"
    assert (kinds.count("workspace"), kinds.count("memory"), kinds.count("link")) == (2, 4, 2)
    assert kinds.count("event") == 4 + 4
    assert not [line for line in lines if "\n" in line or "\r" in line]


def test_an_import_into_an_empty_memory_brings_all_of_it_to_the_letter(full, target):
    brought = import_lines(target, export_lines(full))
    assert brought == Imported(memories=4, known=0, links=2)
    for memory in full.store.every():
        assert target.get(memory.id) == memory
        assert target.history(memory.id) == full.history(memory.id)
        assert target.store.graph().links(memory.id) == full.store.graph().links(memory.id)
    assert target.store.workspaces() == full.store.workspaces()
    assert [hit.memory.content for hit in target.recall(Query(text="MySQL", scope=Scope())).hits] == [
        "We use Postgres 16"
    ]


def test_an_import_again_changes_nothing(full, target):
    lines = list(export_lines(full))
    import_lines(target, lines)
    before = list(export_lines(target))
    assert import_lines(target, lines) == Imported(memories=0, known=4, links=0)
    assert import_lines(full, lines).memories == 0
    assert list(export_lines(target)) == before == lines


def test_what_is_known_here_keeps_its_own_text(full, target):
    lines = list(export_lines(full))
    import_lines(target, lines)
    memory = next(iter(target.store.every()))
    target.edit(memory.id, {"content": "changed here"})
    import_lines(target, lines)
    assert target.get(memory.id).content == "changed here"


def test_what_was_superseded_elsewhere_after_the_first_import_is_no_answer_after_the_second(full, target):
    import_lines(target, export_lines(full))
    head = next(each for each in full.store.every() if each.supersedes)
    newest = full.remember(Draft(content="We use SQLite"), workspace=head.workspace).memory
    full.supersede(head.id, by=newest.id)
    import_lines(target, export_lines(full))
    assert target.get(head.id).superseded_by == newest.id
    hits = target.recall(Query(text="Postgres", scope=Scope())).hits
    assert [hit.memory.id for hit in hits] == [newest.id]


def test_the_same_project_or_name_is_the_same_room_here(full, target):
    mine = found_workspace(target, Place(name="my-shop", identity="github.com/acme/shop"))
    notes = found_workspace(target, Place(name="NOTES"))
    import_lines(target, export_lines(full))
    assert [each.id for each in target.store.workspaces()] == [mine.id, notes.id]
    assert {each.workspace for each in target.store.every()} == {mine.id, notes.id}


def test_a_decision_from_elsewhere_takes_no_number_that_is_taken_here(full, target):
    room = found_workspace(target, Place(name="here")).id
    own = target.remember(Draft(content="own", type="decision"), workspace=room).memory
    import_lines(target, export_lines(full))
    numbers = [each.number for each in target.store.every() if each.number is not None]
    assert len(numbers) == len(set(numbers)) == 3
    assert target.get(own.id).number == 1


def test_imported_memories_are_read_by_the_models_afterwards(full, clock, models):
    whence = Whence(open_store("sqlite:///:memory:", tenant="local", clock=clock), models, clock)
    import_lines(whence, export_lines(full))
    assert all(each.is_pending for each in whence.store.every())
    assert read_backlog(whence.store, models, clock, DAY) == 0
    hits = whence.recall(Query(text="Which database management system?", scope=Scope())).hits
    assert hits[0].memory.content == "We use Postgres 16"
    assert not hits[0].memory.is_pending
    whence.close()


HEAD = json.dumps({"kind": "whence", "format": 1})
ROOM = json.dumps(
    {"kind": "workspace", "id": "w1", "name": "w", "identity": None, "created_at": 1, "archived_at": None}
)


def memory_line(**fields):
    told = {
        "kind": "memory",
        "id": "fact_1",
        "type": "fact",
        "content": "plain",
        "workspace": "w1",
        "created_at": 1,
        "updated_at": 1,
        "accessed_at": 1,
        "valid_from": 1,
        "metadata": {"schema_version": 1},
        **fields,
    }
    return json.dumps({name: value for name, value in told.items() if value != "ABSENT"})


def link_line(**fields):
    told = {
        "kind": "link",
        "id": "link_1",
        "from_id": "fact_1",
        "to_id": "fact_2",
        "link_type": "evolution",
        "relationship": "supersedes",
        "confidence": 1.0,
        "created_by": "llm",
        "created_at": 1,
        **fields,
    }
    return json.dumps({name: value for name, value in told.items() if value != "ABSENT"})


def event_line(**fields):
    told = {
        "kind": "event",
        "memory_id": "fact_1",
        "number": 1,
        "at": 1,
        "action": "created",
        "author": {"client": None, "session": None, "tool": None},
        "replaced": {},
        **fields,
    }
    return json.dumps({name: value for name, value in told.items() if value != "ABSENT"})


GOOD = [HEAD, ROOM, memory_line(), memory_line(id="fact_2"), link_line(), event_line()]


def test_a_small_file_written_by_hand_is_taken(target):
    assert import_lines(target, [*GOOD, "", "   "]) == Imported(memories=2, known=0, links=1)


DAMAGED = {
    "empty": [],
    "blank": ["", "  "],
    "no header": GOOD[1:],
    "another format": [json.dumps({"kind": "whence", "format": 2}), *GOOD[1:]],
    "no json": [*GOOD, "this is no JSON"],
    "cut off": [*GOOD, memory_line(id="fact_3")[:40]],
    "a list": [*GOOD, "[1, 2]"],
    "a number": [*GOOD, "7"],
    "a text": [*GOOD, '"text"'],
    "null": [*GOOD, "null"],
    "a list as header": ["[]"],
    "no kind": [*GOOD, "{}"],
    "an unknown kind": [*GOOD, '{"kind": "spell"}'],
    "a kind that is a list": [*GOOD, '{"kind": []}'],
    "an unknown field": [*GOOD, memory_line(id="fact_3", colour="red")],
    "an unknown type": [*GOOD, memory_line(id="fact_3", type="rumour")],
    "blank content": [*GOOD, memory_line(id="fact_3", content=" ")],
    "content that is no text": [*GOOD, memory_line(id="fact_3", content=5)],
    "no content": [*GOOD, memory_line(id="fact_3", content="ABSENT")],
    "no id": [*GOOD, memory_line(id="ABSENT")],
    "an id that is a list": [*GOOD, memory_line(id=["x"])],
    "an unknown room": [*GOOD, memory_line(id="fact_3", workspace="w9")],
    "a room that is a list": [*GOOD, memory_line(id="fact_3", workspace=[])],
    "a time that is text": [*GOOD, memory_line(id="fact_3", created_at="yesterday")],
    "a time beyond all": [*GOOD, memory_line(id="fact_3", valid_from=10**30)],
    "confidence as text": [*GOOD, memory_line(id="fact_3", confidence="high")],
    "confidence above one": [*GOOD, memory_line(id="fact_3", confidence=1.5)],
    "confidence as null": [*GOOD, memory_line(id="fact_3", confidence=None)],
    "tags as a number": [*GOOD, memory_line(id="fact_3", tags=5)],
    "metadata as text": [*GOOD, memory_line(id="fact_3", metadata="x")],
    "metadata without its version": [*GOOD, memory_line(id="fact_3", metadata={})],
    "metadata as a list": [*GOOD, memory_line(id="fact_3", metadata=[1])],
    "a name that is a number": [*GOOD, memory_line(id="fact_3", name=5)],
    "a name taken twice": [*GOOD, memory_line(id="fact_3", name="n"), memory_line(id="fact_4", name="N")],
    "a link without an end": [*GOOD, link_line(id="link_2", to_id="ABSENT")],
    "a link to nowhere": [*GOOD, link_line(id="link_2", relationship="x", to_id="fact_9")],
    "a link of no type": [*GOOD, link_line(id="link_2", link_type="kinship", relationship="x")],
    "a link to itself": [*GOOD, link_line(id="link_2", to_id="fact_1", relationship="x")],
    "a second successor": [*GOOD, memory_line(id="fact_3"), link_line(id="link_2", from_id="fact_3")],
    "a link whose metadata is text": [*GOOD, link_line(id="link_2", relationship="x", metadata="x")],
    "a link whose confidence is text": [*GOOD, link_line(id="link_2", relationship="x", confidence="x")],
    "an event without its author": [*GOOD, event_line(number=2, author="ABSENT")],
    "an event whose author is text": [*GOOD, event_line(number=2, author="Ana")],
    "an event with a strange author": [*GOOD, event_line(number=2, author={"name": "Ana"})],
    "an event twice": [*GOOD, event_line()],
    "an event without its number": [*GOOD, event_line(number="ABSENT")],
    "an event whose memory is a list": [*GOOD, event_line(memory_id=[], number=2)],
    "an event that replaced a text": [*GOOD, event_line(number=2, replaced="x")],
    "a room without a name": [*GOOD, json.dumps({"kind": "workspace", "id": "w2"})],
    "a room whose name is a number": [
        *GOOD,
        json.dumps({"kind": "workspace", "id": "w2", "name": 5, "identity": None, "created_at": 1}),
    ],
    "a room that breaks out of the word index": [
        HEAD,
        json.dumps({"kind": "workspace", "id": 'w" OR "x', "name": "n", "identity": None, "created_at": 1}),
    ],
}


@pytest.mark.promise("001-048")
@pytest.mark.parametrize("lines", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_told_in_a_sentence_and_nothing_of_it_is_brought(target, lines):
    with pytest.raises(WhenceError) as refused:
        import_lines(target, lines)
    assert refused.value.message
    assert list(target.store.every()) == []
    assert target.store.workspaces() == []
    assert import_lines(target, GOOD).memories == 2


def test_a_thousand_brackets_are_no_export_and_no_crash(target):
    with pytest.raises(WhenceError):
        import_lines(target, [HEAD, "[" * 100_000])


def test_a_memory_restored_from_an_export_lives_on(full, target):
    import_lines(target, export_lines(full))
    head = next(each for each in target.store.every() if each.supersedes)
    newest = target.remember(Draft(content="We use SQLite"), workspace=head.workspace).memory
    target.supersede(head.id, by=newest.id)
    assert target.get(head.id).superseded_by == newest.id
    assert [event.number for event in target.history(head.id)] == list(
        range(1, len(target.history(head.id)) + 1)
    )
    away = next(each for each in target.store.every() if each.status == "archived")
    assert replace(target.restore(away.id), updated_at=0) == replace(away, status="active", updated_at=0)


# -- one picture, while others write


def test_an_export_while_another_program_writes_is_the_memory_of_one_moment(tmp_path, target, clock):
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    ours, theirs = (Whence(open_store(url, tenant="local", clock=clock), NoModels(), clock) for _ in "ab")
    room = found_workspace(ours, Place(name="shop")).id
    kept = [ours.remember(Draft(content=f"kiwi {n}"), workspace=room).memory for n in range(3)]
    before = list(export_lines(ours))
    told = []
    for number, line in enumerate(export_lines(ours)):
        told.append(line)
        if number > 20:
            continue  # an export that ran after what comes in would never end
        later = found_workspace(theirs, Place(name=f"later {number}")).id
        newer = theirs.remember(Draft(content=f"newer {number}"), workspace=later).memory
        theirs.supersede(newer.id, by=theirs.remember(Draft(content="newest"), workspace=room).memory.id)
        if number < len(kept):
            theirs.supersede(kept[number].id, by=newer.id)
            ours.archive(newer.id)  # this program itself may write meanwhile, too
    assert told == before
    assert import_lines(target, told) == Imported(memories=3, known=0, links=0)
    after = list(export_lines(ours))
    assert len(after) > len(before), "and the moment passes with the export"
    assert import_lines(target, after).known == 3
    assert [target.get(each.id) for each in kept] == [
        replace(ours.get(each.id), is_pending=True) for each in kept
    ]
    ours.close()
    theirs.close()


def test_an_export_that_is_given_up_halfway_leaves_the_store_as_it_was(tmp_path, clock):
    url = f"sqlite:///{tmp_path / 'left.db'}"
    whence = Whence(open_store(url, tenant="local", clock=clock), NoModels(), clock)
    room = found_workspace(whence, Place(name="shop")).id
    lines = export_lines(whence)
    next(lines)
    lines.close()
    whence.remember(Draft(content="kiwi"), workspace=room)
    assert [json.loads(line)["kind"] for line in export_lines(whence)].count("memory") == 1
    whence.close()


# -- superseding links of another memory


def superseded_line(new, old, **fields):
    return link_line(
        **{"id": f"link_{new}_{old}", "from_id": f"fact_{new}", "to_id": f"fact_{old}", **fields}
    )


def facts(*names, **fields):
    return [memory_line(id=f"fact_{name}", **fields) for name in names]


def refused(target, lines):
    """Return the sentence, after a look that nothing changed."""
    before = list(export_lines(target))
    with pytest.raises(WhenceError) as error:
        import_lines(target, lines)
    assert list(export_lines(target)) == before
    return error.value.message


@pytest.mark.parametrize(
    "pairs", [["12", "21"], ["12", "23", "31"], ["23", "31", "12"]], ids=["two", "three", "in another order"]
)
def test_a_cycle_is_refused_with_its_line(target, pairs):
    lines = [HEAD, ROOM, *facts(1, 2, 3), *(superseded_line(*pair) for pair in pairs)]
    assert refused(target, lines).startswith(f"Line {len(lines)} (link) ")


def test_a_cycle_with_what_is_known_here_is_refused_with_its_line(target):
    import_lines(target, [HEAD, ROOM, *facts(1, 2), superseded_line(1, 2)])
    sentence = refused(target, [HEAD, ROOM, *facts(1, 2), superseded_line(2, 1, relationship="replaces")])
    assert sentence.startswith("Line 5 (link) ")


def test_a_second_successor_is_refused_with_both_ids_and_the_line(target):
    import_lines(target, [HEAD, ROOM, *facts(1, 2), superseded_line(1, 2)])
    sentence = refused(target, [HEAD, ROOM, *facts(2, 3), superseded_line(3, 2)])
    assert sentence.startswith("Line 5 (link) ")
    assert {"fact_1", "fact_2", "fact_3"} <= set(sentence.replace(",", "").split())


def test_the_same_pair_under_another_link_changes_nothing(target):
    import_lines(target, [HEAD, ROOM, *facts(1, 2), superseded_line(1, 2)])
    before = list(export_lines(target))
    again = import_lines(target, [HEAD, ROOM, *facts(1, 2), superseded_line(1, 2, id="link_other")])
    assert (again.links, list(export_lines(target))) == (0, before)


def test_a_successor_from_an_export_closes_what_is_known_here_and_leaves_an_event(target):
    import_lines(target, [HEAD, ROOM, *facts(1, 2, valid_from=10), superseded_line(2, 1)])
    known = target.get("fact_2")
    assert (known.valid_until, target.history("fact_2")) == (None, [])
    newer = facts(3, valid_from=20, created_at=50)[0]
    by = {"client": "c", "session": None, "tool": None}
    there = event_line(memory_id="fact_2", at=50, action="superseded", author=by)
    link = superseded_line(3, 2, created_at=50, created_by="user")
    import_lines(target, [HEAD, ROOM, *facts(1, 2), newer, there, link])
    closed = target.get("fact_2")
    assert (closed.superseded_by, closed.valid_until, closed.updated_at) == ("fact_3", 20, 50)
    (event,) = target.history("fact_2")
    assert (event.action, event.at, event.author) == ("superseded", 50, Author(client="c"))
    assert rewind(closed, event) == known
    (brought,) = [each for each in target.store.graph().links("fact_3") if each.to_id == "fact_2"]
    assert (brought.id, brought.created_at, brought.created_by) == ("link_3_2", 50, "user")
    assert target.recall(Query(text="plain", scope=Scope(known_at=49))).hits[0].memory == known


def test_a_chain_that_grows_by_an_import_closes_all_of_it_earlier(target):
    import_lines(
        target, [HEAD, ROOM, *facts(1, valid_from=0), *facts(2, valid_from=30), superseded_line(2, 1)]
    )
    assert target.get("fact_1").valid_until == 30
    before = target.history("fact_1")
    import_lines(
        target, [HEAD, ROOM, *facts(3, valid_from=20), *facts(2), superseded_line(3, 2, created_at=9)]
    )
    assert [target.get(f"fact_{n}").valid_until for n in (1, 2, 3)] == [20, 30, None]
    assert [event.action for event in target.history("fact_1")[len(before) :]] == ["chain grew"]


def test_a_link_between_two_that_are_known_here_is_brought_too(full, target):
    old, new = (
        full.remember(Draft(content=f"kiwi {n}"), workspace=full.store.workspaces()[0].id).memory
        for n in "ab"
    )
    import_lines(target, export_lines(full))
    full.supersede(old.id, by=new.id)
    assert import_lines(target, export_lines(full)) == Imported(memories=0, known=6, links=1)
    for each in (old, new):
        assert target.get(each.id) == full.get(each.id)
        assert [event.replaced for event in target.history(each.id)] == [
            event.replaced for event in full.history(each.id)
        ]


@pytest.mark.parametrize("seed", range(12))
def test_imports_on_the_way_give_the_chains_and_intervals_of_the_whole(wordless, target, seed):
    chance = random.Random(seed)
    room = found_workspace(wordless, Place(name="shop")).id
    kept = []
    for step in range(24):
        if len(kept) < 3 or chance.random() < 0.4:
            draft = Draft(content=f"kiwi {step}", valid_from=chance.randrange(30))
            kept.append(wordless.remember(draft, workspace=room).memory.id)
        else:
            with suppress(InvalidParameter):
                wordless.supersede(chance.choice(kept), by=chance.choice(kept))
        if chance.random() < 0.2:
            import_lines(target, export_lines(wordless))
    import_lines(target, export_lines(wordless))
    for each in kept:
        there, here = target.get(each), wordless.get(each)
        assert replace(there, updated_at=0) == replace(here, updated_at=0)
        assert [event.number for event in target.history(each)] == list(
            range(1, len(target.history(each)) + 1)
        )
        walked = there
        for event in reversed(target.history(each)[1:]):
            walked = rewind(walked, event)
        assert (walked.superseded_by, walked.valid_until, walked.supersedes) == (None, None, ())


# -- each bad line is named


BAD = {
    "metadata without its version": memory_line(id="fact_3", metadata={}),
    "metadata whose version is a text": memory_line(id="fact_3", metadata={"schema_version": "1"}),
    "metadata whose version is a truth": memory_line(id="fact_3", metadata={"schema_version": True}),
    "metadata that is no JSON": memory_line(id="fact_3", metadata={"schema_version": 1, "x": float("nan")}),
    "metadata beyond all numbers": memory_line(id="fact_3").replace(
        '_version": 1', '_version": 1, "x": 1e999'
    ),
    "metadata too deep": memory_line(id="fact_3").replace(
        '_version": 1', f'_version": 1, "x": {"[" * 700}{"]" * 700}'
    ),
    "a status": memory_line(id="fact_3", status="sleeping"),
    "a source": memory_line(id="fact_3", source="gossip"),
    "a level": memory_line(id="fact_3", level=7),
    "a level that is a truth": memory_line(id="fact_3", level=True),
    "an interval that ends first": memory_line(id="fact_3", valid_from=9, valid_until=8),
    "known before it was made": memory_line(id="fact_3", created_at=9, known_until=8),
    "a number of a fact": memory_line(id="fact_3", number=1),
    "a number below one": memory_line(id="fact_3", type="decision", number=0),
    "an id of two words": memory_line(id="fact 3"),
    "an id with a line in it": memory_line(id="fact_3\n"),
    "an empty id": memory_line(id=""),
    "a tag that is no text": memory_line(id="fact_3", tags=[1]),
    "an unknown room": memory_line(id="fact_3", workspace="w9"),
    "replaced tags as text": event_line(number=2, replaced={"tags": "sql"}),
    "replaced tags of numbers": event_line(number=2, replaced={"tags": [1]}),
    "a replaced time as text": event_line(number=2, replaced={"valid_until": "then"}),
    "a replaced time as a fraction": event_line(number=2, replaced={"updated_at": 1.5}),
    "a replaced time that is a truth": event_line(number=2, replaced={"updated_at": True}),
    "a replaced time of nothing": event_line(number=2, replaced={"updated_at": None}),
    "replaced predecessors as text": event_line(number=2, replaced={"supersedes": "fact_2"}),
    "replaced predecessors as numbers": event_line(number=2, replaced={"supersedes": [2]}),
    "a replaced status": event_line(number=2, replaced={"status": "sleeping"}),
    "a replaced field of no memory": event_line(number=2, replaced={"colour": "red"}),
    "an event before the first": event_line(number=0),
    "a link of no type": link_line(id="link_2", link_type="kinship", relationship="x"),
    "a link made by nobody": link_line(id="link_2", created_by="nobody", relationship="x"),
    "a link without a word": link_line(id="link_2", relationship=""),
    "a link to itself": link_line(id="link_2", to_id="fact_1"),
    "a link to nowhere": link_line(id="link_2", to_id="fact_9"),
    "a link from nowhere to nowhere": link_line(id="link_2", from_id="fact_8", to_id="fact_9"),
    "a link twice": link_line(relationship="x"),
    "a room of all rooms": ROOM.replace('"w1"', '"w2"').replace('"name": "w"', '"name": "*"'),
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_bad_value_is_told_with_its_line(target, line):
    kind = json.loads(line)["kind"]
    sentence = refused(target, [*GOOD, line])
    assert sentence.startswith(f"Line 7 ({kind}) ")
    assert "database" not in sentence
