"""What the tables of the SQLite file refuse by themselves, and how they are cut and indexed."""

import json
import re

import apsw
import pytest

from whence.core.memories import TYPES
from whence.core.ports import Question, Scope
from whence.storage.queries import named_queries

GOOD = {
    "tenant": "local",
    "id": "fact_1",
    "seq": 1,
    "stamp": 1,
    "workspace": "room",
    "type": "fact",
    "content": "plain",
    "confidence": 1.0,
    "source": "explicit",
    "status": "active",
    "metadata": '{"schema_version": 1}',
    "created_at": 1,
    "updated_at": 1,
    "accessed_at": 1,
    "valid_from": 1,
}
GOOD_LINK = {
    "tenant": "local",
    "id": "link_1",
    "from_id": "fact_1",
    "to_id": "fact_2",
    "link_type": "evolution",
    "relationship": "supersedes",
    "confidence": 1.0,
    "created_by": "llm",
    "metadata": "{}",
    "created_at": 1,
}


def put(raw, table, row):
    names = ", ".join(row)
    marks = ", ".join(f":{name}" for name in row)
    raw.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)


@pytest.fixture
def rooms(raw):
    for name in ("room", "annex"):
        put(
            raw,
            "workspaces",
            {"tenant": "local", "id": name, "name": name, "name_key": name, "created_at": 1},
        )
    return raw


@pytest.fixture
def pair(rooms):
    for number in (1, 2, 3):
        put(rooms, "memories", {**GOOD, "id": f"fact_{number}", "seq": number})
    return rooms


def count(raw, table):
    return next(raw.execute(f"SELECT count(*) FROM {table}"))[0]


@pytest.mark.promise("000-011", "003-011")
def test_the_table_of_memories_has_the_documents_columns_and_both_times(raw):
    columns = {row[1]: row for row in raw.execute("PRAGMA table_info(memories)")}
    assert {"id", "type", "content", "topic", "metadata", "created_at", "updated_at"} <= set(columns)
    is_needed = {name: bool(row[3]) for name, row in columns.items()}
    assert is_needed["type"]
    assert is_needed["content"]
    assert is_needed["metadata"]
    assert is_needed["created_at"]
    assert is_needed["updated_at"]
    assert is_needed["valid_from"]
    assert not is_needed["valid_until"]
    assert not is_needed["topic"]
    assert (columns["id"][2], columns["metadata"][2]) == ("TEXT", "TEXT")


@pytest.mark.promise("000-002", "000-013")
def test_no_type_has_a_table_of_its_own_and_no_memory_names_another_in_its_row(raw):
    tables = {
        row[0]
        for row in raw.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%fts5%'"
        )
        if not row[0].startswith("words_")
    }
    assert tables == {
        "migrations",
        "workspaces",
        "memories",
        "memory_links",
        "vectors",
        "events",
        "requests",
        "chores",
        "counters",
    }
    columns = {row[1] for row in raw.execute("PRAGMA table_info(memories)")}
    assert not {name for name in columns if "related" in name or "supersede" in name}


@pytest.mark.promise("000-019")
def test_the_table_of_links_has_the_documents_columns_all_needed(raw):
    columns = {row[1]: bool(row[3]) for row in raw.execute("PRAGMA table_info(memory_links)")}
    wanted = {"id", "from_id", "to_id", "link_type", "confidence", "created_by", "metadata", "created_at"}
    assert wanted <= set(columns)
    assert all(columns[name] for name in wanted)


def test_a_good_row_is_taken(rooms):
    put(rooms, "memories", GOOD)
    assert count(rooms, "memories") == 1


@pytest.mark.promise("000-012")
@pytest.mark.parametrize("kind", TYPES)
def test_the_table_takes_every_known_type(rooms, kind):
    put(rooms, "memories", {**GOOD, "type": kind})
    assert count(rooms, "memories") == 1


@pytest.mark.promise("000-011", "000-012", "000-110")
@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "rumour"},
        {"type": "FACT"},
        {"type": ""},
        {"type": None},
        {"content": None},
        {"content": ""},
        {"content": "   "},
        {"content": "\n\t \r\n"},
        {"content": b"bytes"},
        {"id": None},
        {"tenant": None},
        {"confidence": None},
        {"confidence": 1.01},
        {"confidence": -0.0001},
        {"confidence": float("nan")},
        {"confidence": float("inf")},
        {"confidence": "high"},
        {"source": "hearsay"},
        {"source": None},
        {"status": "superseded"},
        {"status": None},
        {"level": 4},
        {"level": -1},
        {"number": 1},
        {"tags": "{}"},
        {"tags": "no json"},
        {"metadata": None},
        {"metadata": "{}"},
        {"metadata": "[]"},
        {"metadata": "no json"},
        {"metadata": '{"schema_version": null}'},
        {"metadata": '{"schema_version": "1"}'},
        {"created_at": None},
        {"updated_at": None},
        {"accessed_at": None},
        {"valid_from": None},
        {"valid_from": "yesterday"},
        {"valid_until": 0},
        {"known_until": 0},
        {"pending": 2},
        {"workspace": "nowhere"},
        {"workspace": None},
        {"tenant": "other"},  # the workspace is not that tenant's
    ],
    ids=str,
)
def test_the_table_of_memories_refuses_a_bad_row(rooms, wrong):
    with pytest.raises(apsw.ConstraintError):
        put(rooms, "memories", {**GOOD, **wrong})
    assert count(rooms, "memories") == 0


def test_a_name_a_number_an_id_and_a_row_are_taken_once(pair):
    decision = {**GOOD, "type": "decision", "number": 1, "id": "d1", "seq": 11}
    named = {**GOOD, "type": "checkpoint", "name": "Release", "name_key": "release", "id": "c1", "seq": 12}
    put(pair, "memories", decision)
    put(pair, "memories", named)
    for again in (
        {**GOOD, "seq": 20},
        {**GOOD, "id": "fact_20"},
        {**decision, "id": "d2", "seq": 21},
        {**named, "id": "c2", "seq": 22},
    ):
        with pytest.raises(apsw.ConstraintError):
            put(pair, "memories", again)
    put(pair, "memories", {**named, "id": "c3", "seq": 23, "workspace": "annex"})


@pytest.mark.promise("000-020")
def test_a_good_link_is_taken_at_both_ends_of_confidence(pair):
    for word, confidence in (("refines", 0.0), ("improves", 1.0)):
        link = {**GOOD_LINK, "id": f"link_{word}", "relationship": word, "confidence": confidence}
        put(pair, "memory_links", link)
    assert count(pair, "memory_links") == 2


@pytest.mark.promise("000-019", "000-020")
@pytest.mark.parametrize(
    "wrong",
    [
        {"id": None},
        {"from_id": None},
        {"to_id": None},
        {"link_type": "kinship"},
        {"link_type": None},
        {"relationship": ""},
        {"relationship": None},
        {"confidence": None},
        {"confidence": 1.01},
        {"confidence": -0.01},
        {"confidence": float("nan")},
        {"created_by": "nobody"},
        {"created_by": None},
        {"metadata": None},
        {"metadata": "[]"},
        {"metadata": "no json"},
        {"created_at": None},
        {"known_until": 0},
        {"to_id": "fact_1"},
        {"from_id": "fact_unknown"},
        {"to_id": "fact_unknown"},
        {"tenant": "other"},
    ],
    ids=str,
)
def test_the_table_of_links_refuses_a_bad_row(pair, wrong):
    with pytest.raises(apsw.ConstraintError):
        put(pair, "memory_links", {**GOOD_LINK, **wrong})
    assert count(pair, "memory_links") == 0


@pytest.mark.promise("000-020")
def test_the_table_of_links_refuses_a_second_successor_but_not_a_second_reading(pair):
    put(pair, "memory_links", GOOD_LINK)
    for word in ("supersedes", "replaces"):
        with pytest.raises(apsw.ConstraintError):
            put(
                pair, "memory_links", {**GOOD_LINK, "id": "link_2", "from_id": "fact_3", "relationship": word}
            )
    put(pair, "memory_links", {**GOOD_LINK, "id": "link_3", "from_id": "fact_3", "relationship": "refines"})
    put(pair, "memory_links", {**GOOD_LINK, "id": "link_4", "from_id": "fact_3", "known_until": 5})
    assert count(pair, "memory_links") == 3


def test_events_and_workspaces_refuse_bad_rows(pair):
    event = {"tenant": "local", "memory_id": "fact_1", "number": 1, "at": 1, "action": "created"}
    for wrong in ({"number": 0}, {"memory_id": "fact_unknown"}, {"replaced": "no json"}, {"action": None}):
        with pytest.raises(apsw.ConstraintError):
            put(pair, "events", {**event, **wrong})
    room = {"tenant": "local", "id": "w", "name": "w", "name_key": "w", "identity": "git", "created_at": 1}
    put(pair, "workspaces", room)
    for wrong in (
        {"id": "w2", "identity": "git", "name_key": "w2"},
        {"id": "w2", "identity": None, "name_key": "room"},
        {"id": "w2", "identity": None, "name": "", "name_key": ""},
        {"id": "w", "identity": None, "name_key": "w2"},
    ):
        with pytest.raises(apsw.ConstraintError):
            put(pair, "workspaces", {**room, **wrong})


# -- how the tables are cut


def test_every_key_of_every_table_starts_with_the_tenant(raw):
    tables = [
        row[0]
        for row in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if row[0] != "migrations" and not row[0].startswith("words")
    ]
    assert len(tables) >= 6
    for table in tables:
        keyed = sorted((row[5], row[1]) for row in raw.execute(f"PRAGMA table_info({table})") if row[5])
        assert keyed[0][1] == "tenant", table
        for _, index, *_ in raw.execute(f"PRAGMA index_list({table})"):
            first = min(raw.execute(f"PRAGMA index_info({index})"))
            assert first[2] == "tenant", index
        foreign: dict[int, list[tuple[str, str]]] = {}
        for number, _, _, from_column, to_column, *_ in raw.execute(f"PRAGMA foreign_key_list({table})"):
            foreign.setdefault(number, []).append((from_column, to_column))
        assert all(("tenant", "tenant") in columns for columns in foreign.values()), table


def test_every_query_on_our_tables_asks_for_the_tenant():
    free = {"by_words", "by_words_within", "index_words", "unindex_words"}  # rows of the word index
    for name, sql in named_queries("sqlite").items():
        if name not in free | {"last_seq"}:
            assert re.search(r":tenant\b", sql), name


def plan(raw, sql, values):
    return [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


@pytest.mark.promise("000-017")
@pytest.mark.parametrize(
    ("where", "index"),
    [
        ("type = 'decision'", "memories_by_type (tenant=? AND type=?"),
        ("type = 'decision' AND created_at > 5", "memories_by_type (tenant=? AND type=? AND created_at>?"),
        (
            "workspace = 'room' AND topic_key = 'auth'",
            "memories_by_topic (tenant=? AND workspace=? AND topic_key=?",
        ),
        (
            "workspace = 'room' AND created_at > 5",
            "memories_by_created (tenant=? AND workspace=? AND created_at>?",
        ),
    ],
)
def test_a_filter_by_type_topic_or_time_is_answered_by_an_index(raw, where, index):
    steps = plan(raw, f"SELECT id FROM memories WHERE tenant = 'local' AND {where}", {})
    assert any(index in step for step in steps), steps


@pytest.mark.promise("000-017")
def test_our_own_queries_search_by_index_and_never_scan_a_table(raw):
    scope = {"workspaces": None, "types": None, "as_of": None, "known_at": None, "history": False}
    values = {"tenant": "local", "workspace": "room", "id": "x", "limit": 5, "seqs": "[1]", "ids": "[]"}
    values |= {"model": "m", "stamp": 1, "seq": 1, "request": "r", "since": 1, **scope}
    for name, sql in named_queries("sqlite").items():
        if not sql.startswith(("SELECT", "WITH")) or "MATCH" in sql:
            continue
        steps = plan(raw, sql, values)
        scans = [
            step for step in steps if re.match(r"SCAN (m|l|v|w|memor\w+|events|vectors|requests)\b", step)
        ]
        assert not [step for step in scans if "USING COVERING INDEX" not in step], (name, steps)


@pytest.mark.promise("000-022")
def test_links_are_walked_by_an_index_in_both_directions_and_found_by_type_and_confidence(raw):
    walk = dict.fromkeys(
        ("start", "now", "temporal_life", "day", "link_types", "relationships", "since", "until"), 1
    )
    walk |= {"tenant": "local", "depth": 5, "least": 0.5, "most": 10}
    for way, end in (("out", "from_id"), ("in", "to_id")):
        steps = plan(raw, named_queries("sqlite")[f"walk_{way}"], walk)
        links = [step for step in steps if re.match(r"(SEARCH|SCAN) l\b", step)]
        assert links
        assert all(
            re.search(rf"USING (COVERING )?INDEX \w+ \(tenant=\? AND {end}=\?", step) for step in links
        )
    where = "tenant = 'local' AND link_type = 'association' AND confidence >= 0.5"
    steps = plan(raw, f"SELECT id FROM memory_links WHERE {where}", {})
    assert any("links_by_confidence (tenant=? AND link_type=? AND confidence>?)" in step for step in steps)


@pytest.mark.promise("000-098")
def test_finding_over_all_types_reads_one_table_in_one_query():
    for name in ("heads", "by_words"):
        sql = named_queries("sqlite")[name]
        assert not re.search(r"\b(decisions|checkpoints|sessions)\b", sql)
    assert named_queries("sqlite")["by_words"].count("SELECT") == 1


# -- tenants


def test_two_tenants_of_one_file_see_nothing_of_each_other(open_file, make):
    ours, theirs = open_file("ours"), open_file("theirs")
    made = {}
    for store, word in ((ours, "apple"), (theirs, "pear")):
        room = make.workspace("room", id=f"w{word}", identity="git@host:same/repo")
        memory = make.memory(room.id, f"{word} kiwi", type="decision", number=1)
        other = make.memory(room.id, f"{word} kiwi again")
        with store.writing() as writing:
            writing.found_workspace(room)
            writing.insert(memory, make.read(1))
            writing.insert(other, make.read(1))
            writing.link(make.link(other, memory))
            writing.append(make.event(memory))
            writing.remember_request("call", memory.id, 1)
        made[word] = (memory, other, room)
    question = Question(words=("kiwi",), vectors=(("model-a", make.direction(1)),))
    for store, own, foreign in ((ours, "apple", "pear"), (theirs, "pear", "apple")):
        memory, head, room = made[own]
        alien, alien_head, alien_room = made[foreign]
        for scope in (Scope(), Scope(history=True), Scope(workspaces=(room.id, alien_room.id))):
            found = {each.id for each in store.find(question, scope, 9).candidates}
            assert found <= {memory.id, head.id}
            assert head.id in found
        assert store.find(question, Scope(workspaces=(alien_room.id,)), 9).candidates == ()
        assert store.memories([alien.id, alien_head.id]) == []
        assert store.events(alien.id) == store.graph().links(alien.id) == store.chain(alien.id) == []
        assert [each.id for each in store.workspaces()] == [room.id]
        assert {each.id for each in store.every()} == {memory.id, head.id}
        assert {each.id for each in store.recent(Scope(history=True), 9)} == {memory.id, head.id}
        assert store.recent(Scope(workspaces=(alien_room.id,)), 9) == []
        assert store.lacking("model-z", Scope(workspaces=(alien_room.id,)), 9) == []
        assert store.models_in(Scope(workspaces=(alien_room.id,))) == frozenset()
        assert store.census(Scope()).live == 1
        assert store.health()["memories"] == "2"
        store.touch({alien.id: 10**18}, {})
        with store.writing() as writing:
            assert writing.memory(alien.id) is None
            assert writing.repeated("call", 0) == memory.id
            assert writing.next_number() == 2
    assert theirs.memories([made["pear"][0].id])[0].accessed_at < 10**18


def test_two_tenants_may_hold_the_same_ids(open_file, make):
    ours, theirs = open_file("ours"), open_file("theirs")
    room = make.workspace("room")
    for store, content in ((ours, "our kiwi"), (theirs, "their kiwi")):
        with store.writing() as writing:
            writing.found_workspace(room)
            for number in range(30):
                writing.insert(make.memory(room.id, content, id=f"fact_{number}"), make.read(1))
    for store, content in ((ours, "our kiwi"), (theirs, "their kiwi")):
        found = store.find(Question(words=("kiwi",)), Scope(workspaces=(room.id,)), 10).candidates
        contents = {each.content for each in store.memories([each.id for each in found])}
        assert contents == {content}
        assert len(found) >= 10


def test_what_a_row_keeps_as_json_is_json(rooms):
    put(
        rooms,
        "memories",
        {**GOOD, "metadata": json.dumps({"schema_version": 1, "말": "글"}), "tags": '["a"]'},
    )
    assert next(rooms.execute("SELECT metadata ->> '$.말' FROM memories"))[0] == "글"
