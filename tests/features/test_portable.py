"""Export and import: the whole memory as lines, back without loss, and no harm from a damaged file."""

import json
from dataclasses import replace

import pytest

from whence.core.errors import WhenceError
from whence.core.life import Whence
from whence.core.links import Link
from whence.core.memories import Author, Draft
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
        assert target.store.links(memory.id) == full.store.links(memory.id)
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
