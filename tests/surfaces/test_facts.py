"""Does the facts family keep every clause of document 001, on every store?"""

from __future__ import annotations

import datetime
import re
from dataclasses import replace

import pytest

from whence.features.workspaces import Place

STORED = {"id", "content", "confidence", "source", "created_at", "updated_at", "accessed_at"}
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ULID = r"[0-9A-HJKMNP-TV-Z]{26}"


def promised(action, old, new):
    return action == (
        f'Call supersede_memory("{old}", "{new}") to mark the old memory as outdated. '
        "If both still hold, keep both."
    )


# -- store_memory


@pytest.mark.promise("001-005", "001-006", "001-007", "001-010")
def test_content_alone_is_enough_and_the_rest_has_its_defaults(words):
    created = words.ask("store_memory", content="  User's cat is called  Miso ")["created"]
    assert created["content"] == "  User's cat is called  Miso "
    assert created["confidence"] == 1.0
    assert created["source"] == "extracted"
    assert set(created) >= STORED


@pytest.mark.promise("001-006", "001-007", "001-010")
@pytest.mark.parametrize("source", ["explicit", "extracted"])
@pytest.mark.parametrize("confidence", [0, 0.0, 0.25, 1, 1.0])
def test_what_is_given_is_kept_and_the_bounds_are_allowed(words, source, confidence):
    created = words.ask("store_memory", content="x", source=source, confidence=confidence)["created"]
    assert (created["source"], created["confidence"]) == (source, confidence)
    (kept,) = words.ask("list_recent_memories")["memories"]
    assert kept == created


@pytest.mark.promise("001-006")
@pytest.mark.parametrize("source", ["explicit", "extracted"])
def test_the_confidence_is_one_whatever_the_source(words, source):
    assert words.ask("store_memory", content="x", source=source)["created"]["confidence"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param({}, "content is required", marks=pytest.mark.promise("001-005", "001-047")),
        pytest.param(
            {"content": 5},
            "content must be text of at most 50,000 characters",
            marks=pytest.mark.promise("001-005", "001-047"),
        ),
        pytest.param(
            {"content": None},
            "content must be text of at most 50,000 characters",
            marks=pytest.mark.promise("001-005"),
        ),
        pytest.param(
            {"content": ["x"]},
            "content must be text of at most 50,000 characters",
            marks=pytest.mark.promise("001-005"),
        ),
        ({"content": ""}, "content must not be empty"),
        ({"content": " \n\t\u3000"}, "content must not be empty"),
        ({"content": "x" * 50_001}, "content must be text of at most 50,000 characters"),
        ({"content": "a\0b"}, "content holds characters that are no text (NUL or half a surrogate pair)"),
        ({"content": "a\ud800b"}, "content holds characters that are no text (NUL or half a surrogate pair)"),
        pytest.param(
            {"content": "x", "confidence": 1.01},
            "confidence must be a number from 0 to 1",
            marks=pytest.mark.promise("001-006", "001-047"),
        ),
        pytest.param(
            {"content": "x", "confidence": -0.01},
            "confidence must be a number from 0 to 1",
            marks=pytest.mark.promise("001-006"),
        ),
        ({"content": "x", "confidence": float("nan")}, "confidence must be a number from 0 to 1"),
        ({"content": "x", "confidence": float("inf")}, "confidence must be a number from 0 to 1"),
        ({"content": "x", "confidence": 10**400}, "confidence must be a number from 0 to 1"),
        ({"content": "x", "confidence": "0.5"}, "confidence must be a number from 0 to 1"),
        ({"content": "x", "confidence": True}, "confidence must be a number from 0 to 1"),
        ({"content": "x", "confidence": None}, "confidence must be a number from 0 to 1"),
        pytest.param(
            {"content": "x", "source": "guessed"},
            'source must be "explicit" or "extracted"',
            marks=pytest.mark.promise("001-007", "001-047"),
        ),
        pytest.param(
            {"content": "x", "source": "EXPLICIT"},
            'source must be "explicit" or "extracted"',
            marks=pytest.mark.promise("001-007"),
        ),
        ({"content": "x", "source": 1}, 'source must be "explicit" or "extracted"'),
        ({"content": "x", "colour": "red"}, 'Unknown parameter "colour"'),
        ({"content": "x", "workspace": 7}, "workspace must be text"),
        ({"content": "x", "workspace": "nowhere"}, 'Workspace "nowhere" not found'),
        ({"content": "x", "workspace": "\ud800"}, "workspace holds characters that are no text"),
        ({"content": "x", "session": "\ud800"}, "session holds characters that are no text"),
        ({"content": "x", "session": "a\0b"}, "session holds characters that are no text"),
        ({"content": "x", "\ud800": 1}, "The name of a parameter holds characters that are no text"),
        ({"content": "x", "valid_from": "yesterday"}, "valid_from must be an ISO 8601 time"),
        ({"content": "x", "valid_from": 1718445600}, "valid_from must be text"),
        ({"content": "x", "context": "c" * 50_001}, "context must be text of at most 50,000 characters"),
        ({"content": "x", "context": "c\0"}, "context holds characters that are no text"),
    ],
)
def test_a_bad_store_is_refused_in_one_sentence_and_keeps_nothing_not_even_a_workspace(
    words, arguments, message
):
    error = words.refused("store_memory", **arguments)
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith(message)
    assert words.whence.store.workspaces() == []


@pytest.mark.parametrize(
    "tool", ["store_memory", "supersede_memory", "search_memories", "list_recent_memories"]
)
def test_an_unknown_parameter_is_answered_with_the_accepted_names(words, tool):
    needed = {
        "store_memory": {"content": "x"},
        "supersede_memory": {"old_memory_id": "a", "new_memory_id": "b"},
        "search_memories": {"query": "x"},
    }.get(tool, {})
    error = words.refused(tool, **needed, currentGoal="x")
    assert error["message"] == 'Unknown parameter "currentGoal"'
    for name in (*needed, "workspace", "session"):
        assert name in error["hint"]


def test_the_longest_text_is_kept_whole(words):
    content = "word " * 9_999 + "last!"
    assert len(content) == 50_000
    kept = words.store(content)
    assert words.whence.get(kept).content == content


def test_a_blank_context_is_no_context(words):
    assert words.whence.get(words.store("x", context=" \n")).context is None
    assert words.whence.get(words.store("x", context="said at lunch")).context == "said at lunch"


@pytest.mark.promise("001-008", "001-009")
def test_similar_contradicting_and_identical_memories_never_stop_a_store_or_change(facts):
    texts = ["User lives in Seattle", "User lives in Seattle", "User does not live in Seattle", "User moved"]
    ids = []
    for text in texts:
        before = facts.dump()
        created = facts.ask("store_memory", content=text)["created"]
        ids.append(created["id"])
        assert created["content"] == text
        assert [line for line in facts.dump() if line in before] == before, "an earlier memory was touched"
    assert len(set(ids)) == 4
    assert facts.recent() == ids[::-1]
    assert not any("superseded_by" in each for each in facts.ask("list_recent_memories")["memories"])


@pytest.mark.promise("001-014", "001-013", "001-012", "001-011", "001-009")
def test_a_new_home_town_asks_to_supersede_the_old_one_and_supersedes_nothing_itself(facts):
    seattle = facts.ask("store_memory", content="User lives in Seattle", confidence=0.9)["created"]
    reply = facts.ask("store_memory", content="User moved to Austin", confidence=1.0, source="explicit")
    austin = reply["created"]
    assert reply["similar"] == [seattle]
    assert promised(reply["action_required"], seattle["id"], austin["id"])
    assert set(facts.recent()) == {seattle["id"], austin["id"]}


@pytest.mark.promise("001-011", "001-012")
def test_where_nothing_conflicts_the_action_is_null_and_present(facts):
    first = facts.ask("store_memory", content="The deploy script lives in scripts/deploy.sh")
    assert first["similar"] == []
    assert first["action_required"] is None
    second = facts.ask("store_memory", content="User's favourite colour is green")
    assert "action_required" in second
    assert second["action_required"] is None
    assert second["created"]["id"] not in [each["id"] for each in second["similar"]]


@pytest.mark.promise("001-011")
def test_similar_memories_are_whole_live_and_never_the_new_one(facts):
    ids = [facts.store(f"User lives in {town}") for town in ("Seattle", "Portland")]
    facts.ask("supersede_memory", old_memory_id=ids[0], new_memory_id=ids[1])
    reply = facts.ask("store_memory", content="User moved to Austin")
    assert [each["id"] for each in reply["similar"]] == [ids[1]]
    for each in reply["similar"]:
        assert set(each) >= STORED
        assert "relevance_score" not in each


@pytest.mark.promise("001-008")
def test_a_retry_in_one_session_answers_with_the_first_and_any_difference_makes_a_memory(facts):
    here = facts.of(may_repeat=True)
    first = here.ask("store_memory", content="User lives in Seattle")["created"]["id"]
    assert here.ask("store_memory", content="User lives in Seattle")["created"]["id"] == first
    others = [
        here.ask("store_memory", content="User lives in Seattle", confidence=0.5),
        here.of(session="other").ask("store_memory", content="User lives in Seattle"),
        here.of(place=Place(name="elsewhere")).ask("store_memory", content="User lives in Seattle"),
        facts.ask("store_memory", content="User lives in Seattle"),  # this caller's session has no retries
    ]
    assert len({first, *(each["created"]["id"] for each in others)}) == 5


def test_a_retry_comes_too_late_after_ten_minutes_and_after_the_first_was_superseded(facts, clock):
    here = facts.of(may_repeat=True)
    first = here.store("User lives in Seattle")
    clock.advance(9 * 60_000_000)
    assert here.store("User lives in Seattle") == first
    clock.advance(2 * 60_000_000)
    late = here.store("User lives in Seattle")
    assert late != first
    other = here.store("User lives in Austin")
    here.ask("supersede_memory", old_memory_id=late, new_memory_id=other)
    assert here.store("User lives in Seattle") not in {first, late}


@pytest.mark.promise("001-008")
def test_a_retry_is_told_again_what_to_supersede(facts):
    here = facts.of(may_repeat=True)
    here.store("User lives in Seattle")
    first = here.ask("store_memory", content="User moved to Austin")
    assert first["action_required"]
    assert here.ask("store_memory", content="User moved to Austin") == first


# -- supersede_memory


@pytest.mark.promise("001-016", "001-017", "001-043", "001-028", "001-055", "001-023")
def test_superseding_joins_the_two_and_takes_the_old_one_out_of_every_answer(facts):
    old, new, other = (facts.store(f"User lives in {town}") for town in ("Seattle", "Austin", "a house"))
    assert facts.ask("supersede_memory", old_memory_id=old, new_memory_id=new) == {
        "success": True,
        "message": f"Memory {old} marked as superseded by {new}",
    }
    assert facts.whence.get(old).superseded_by == new
    assert facts.whence.get(new).supersedes == (old,)
    assert old not in facts.found("User lives in Seattle", limit=20)
    assert facts.recent() == [other, new]
    shown = {each["id"]: each for each in facts.ask("search_memories", query="User lives")["memories"]}
    assert shown[new]["supersedes"] == old
    assert "superseded_by" not in shown[new]
    assert "supersedes" not in shown[other]
    with_history = facts.ask("search_memories", query="User lives in Seattle", include_history=True)
    (past,) = [each for each in with_history["memories"] if each["id"] == old]
    assert past["superseded_by"] == new
    assert past["labels"] == ["superseded"]


@pytest.mark.promise("001-043")
def test_a_memory_that_replaced_several_shows_the_newest_and_lists_all(words):
    first, second, new = (words.store(text) for text in ("one", "two", "three"))
    for old in (first, second):
        words.ask("supersede_memory", old_memory_id=old, new_memory_id=new)
    (shown,) = words.ask("list_recent_memories")["memories"]
    assert shown["supersedes"] == second
    assert shown["supersedes_all"] == [second, first]


@pytest.mark.promise("001-015", "001-018", "001-047")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "old_memory_id is required"),
        ({"new_memory_id": "a"}, "old_memory_id is required"),
        ({"old_memory_id": "a"}, "new_memory_id is required"),
        ({"old_memory_id": 12, "new_memory_id": "a"}, "old_memory_id must be text"),
        ({"old_memory_id": "a", "new_memory_id": None}, "new_memory_id must be text"),
        (
            {"old_memory_id": "a\ud800", "new_memory_id": "b"},
            "old_memory_id holds characters that are no text",
        ),
        (
            {"old_memory_id": "a", "new_memory_id": "b", "workspace": "nowhere"},
            'Workspace "nowhere" not found',
        ),
    ],
)
def test_superseding_needs_two_ids_as_text(words, arguments, message):
    words.store("x")
    error = words.refused("supersede_memory", **arguments)
    assert (error["code"], error["message"][: len(message)]) == ("INVALID_PARAMETER", message)


@pytest.mark.promise("001-046", "001-018", "001-045")
@pytest.mark.parametrize("unknown", ["old_memory_id", "new_memory_id"])
def test_an_unknown_id_is_told_in_the_documents_words(words, unknown):
    known = words.store("x")
    asked = {"old_memory_id": known, "new_memory_id": known, unknown: "mem_xyz789"}
    error = words.refused("supersede_memory", **asked)
    assert error["code"] == "MEMORY_NOT_FOUND"
    assert error["message"] == "Memory with ID mem_xyz789 not found"


@pytest.mark.promise("001-018")
def test_a_memory_cannot_replace_itself_nor_what_replaced_it_nor_have_two_successors(words):
    one, two, three = (words.store(text) for text in ("one", "two", "three"))
    itself = words.refused("supersede_memory", old_memory_id=one, new_memory_id=one)
    words.ask("supersede_memory", old_memory_id=one, new_memory_id=two)
    cycle = words.refused("supersede_memory", old_memory_id=two, new_memory_id=one)
    second = words.refused("supersede_memory", old_memory_id=one, new_memory_id=three)
    assert {each["code"] for each in (itself, cycle, second)} == {"INVALID_PARAMETER"}
    assert two in second["hint"], "the current version is named"
    before = words.dump()
    assert words.ask("supersede_memory", old_memory_id=one, new_memory_id=two)["success"] is True
    assert words.dump() == before, "the same pair again changes nothing"


# -- search_memories


@pytest.mark.promise("001-021", "001-025", "001-022", "001-024")
def test_a_question_finds_by_meaning_the_best_first_and_leaves_the_superseded_out(facts):
    seattle = facts.store("User lives in Seattle", confidence=0.9)
    remote = facts.store("User works remotely from home in Austin", confidence=0.9)
    austin = facts.store("User moved to Austin", source="explicit")
    facts.store("The build takes four minutes")
    facts.ask("supersede_memory", old_memory_id=seattle, new_memory_id=austin)
    answer = facts.ask("search_memories", query="Where does the user live?", limit=3)["memories"]
    assert [each["id"] for each in answer][:2] == [austin, remote]
    assert seattle not in [each["id"] for each in answer]
    scores = [each["relevance_score"] for each in answer]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[1]
    assert all(0 <= each <= 1 for each in scores)


@pytest.mark.promise("001-021")
def test_a_question_that_shares_no_word_with_the_memory_finds_it(facts):
    piano = facts.store("The user plays the piano every evening")
    facts.store("The database runs on port 5432")
    assert facts.found("which musical instrument?", limit=1) == [piano]


@pytest.mark.promise("001-023")
def test_the_superseded_text_word_for_word_leads_to_what_replaced_it(facts):
    old, new = facts.store("The office is at 12 Elm Street"), facts.store("The office is at 7 Oak Avenue")
    facts.ask("supersede_memory", old_memory_id=old, new_memory_id=new)
    assert facts.found("The office is at 12 Elm Street") == [new]


@pytest.mark.promise("001-022")
def test_no_match_is_an_empty_list_that_says_why_and_no_error(facts):
    assert facts.ask("search_memories", query="anything")["memories"] == []
    facts.store("The user plays the piano")
    reply = facts.ask("search_memories", query="zxqv kubernetes ingress annotations")
    assert reply["memories"] == []
    assert "Searched 1 memories" in reply["explain"]


@pytest.mark.promise("001-024")
def test_only_search_tells_a_relevance(facts):
    stored = facts.ask("store_memory", content="User lives in Seattle")
    again = facts.ask("store_memory", content="User moved to Austin")
    replaced = facts.ask(
        "supersede_memory", old_memory_id=stored["created"]["id"], new_memory_id=again["created"]["id"]
    )
    recent = facts.ask("list_recent_memories")
    assert "relevance_score" not in repr([stored, again, replaced, recent])
    (hit,) = facts.ask("search_memories", query="where does the user live?")["memories"]
    assert isinstance(hit["relevance_score"], float)


@pytest.mark.promise("001-020")
def test_never_more_than_the_limit_and_five_when_not_told(facts):
    for number in range(22):
        facts.store(f"User owns boat number {number}")
    assert len(facts.found("which boats does the user own?")) == 5
    for limit in (1, 7, 20):
        assert len(facts.found("which boats does the user own?", limit=limit)) == limit
    assert len(facts.found("which boats does the user own?", limit=5.0)) == 5  # JSON's 5.0 is the number 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param({}, "query is required", marks=pytest.mark.promise("001-019", "001-047")),
        pytest.param({"limit": 5}, "query is required", marks=pytest.mark.promise("001-019")),
        pytest.param({"query": None}, "query must be text", marks=pytest.mark.promise("001-019")),
        ({"query": ""}, "query must not be empty"),
        ({"query": "x" * 10_001}, "query must be text of at most 10,000 characters"),
        ({"query": "\ud800"}, "query holds characters that are no text"),
        *(
            pytest.param(
                {"query": "x", "limit": limit},
                "limit must be a whole number from 1 to 20",
                marks=pytest.mark.promise("001-020", "001-047"),
            )
            for limit in (0, 21, 2.5, -1, "5", True, None, float("nan"), 10**30)
        ),
        ({"query": "x", "as_of": "the day before"}, "as_of must be an ISO 8601 time"),
        ({"query": "x", "known_at": "2026-13-01"}, "known_at must be an ISO 8601 time"),
        ({"query": "x", "max_tokens": 0}, "max_tokens must be a whole number from 1 to 100"),
        ({"query": "x", "explain": "yes"}, "explain must be true or false"),
        ({"query": "x", "workspace": "nowhere"}, 'Workspace "nowhere" not found'),
    ],
)
def test_a_bad_search_is_refused_in_one_sentence(words, arguments, message):
    words.store("x")
    error = words.refused("search_memories", **arguments)
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith(message)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_at_the_edge_of_the_calendar_is_refused_in_one_sentence(words, time):
    error = words.refused("search_memories", query="x", as_of=time)
    assert error["code"] == "INVALID_PARAMETER"


def test_a_search_answers_as_it_would_have_then(facts, clock):
    old = facts.store("User lives in Seattle", valid_from="2020-01-01")
    new = facts.store("User lives in Austin", valid_from="2024-06-15T10:00:00Z")
    facts.ask("supersede_memory", old_memory_id=old, new_memory_id=new)
    assert facts.found("where does the user live?", as_of="2022-01-01") == [old]
    assert facts.found("where does the user live?", as_of="2025-01-01") == [new]
    assert facts.found("where does the user live?", as_of="2019-01-01") == []


def test_a_search_keeps_to_its_token_budget_and_says_what_did_not_fit(facts):
    for number in range(4):
        facts.store(f"User owns boat number {number}, a very long wooden boat with two masts")
    reply = facts.ask("search_memories", query="which boats?", max_tokens=40)
    assert 1 <= len(reply["memories"]) < 4
    assert "did not fit" in reply["notices"][0]


def test_an_explained_search_gives_the_reasons_for_each_place(facts):
    facts.store("User owns a boat")
    (hit,) = facts.ask("search_memories", query="boat", explain=True)["memories"]
    assert hit["why"]
    assert all(isinstance(points, float | str) for points in hit["why"].values())


HOSTILE = [
    "AND OR NOT NEAR( * ^ : -",
    '"unclosed quote',
    "x' OR '1'='1'; DROP TABLE memories; --",
    'a" OR text:*',
    "{text context} : foo",
    "col:val -neg +pos ^start",
    "$(rm -rf ~) `id` ${HOME} | cat > /etc/passwd",
    "a" * 9_000,
    "🦜🦜🦜 parrot",
    "שלום עולם hello",
    "%s %d {} {0} \\n \\x00",
    "line\u2028separator\u0085next",
    "../../etc/passwd",
    "NULL",
    "\u202egnirts desrever",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_stored_to_the_letter_and_found_by_itself(facts, text):
    other = facts.store("The user plays the piano")
    kept = facts.ask("store_memory", content=text)["created"]
    assert kept["content"] == text
    assert facts.recent() == [kept["id"], other]
    assert facts.found(text)[0] == kept["id"]


@pytest.mark.parametrize("query", ["?!…", "*", '"', "()", "-", "🦜", "^:*", "'", "\u200b.", "NEAR(", "AND"])
def test_a_query_of_punctuation_alone_is_answered_and_is_no_error(facts, query):
    facts.store("The user plays the piano")
    assert isinstance(facts.ask("search_memories", query=query)["memories"], list)


# -- list_recent_memories


@pytest.mark.promise("001-026", "001-027")
def test_the_newest_come_first_ten_of_them_when_not_told(words):
    ids = [words.store(f"fact {number}") for number in range(51)]
    assert words.recent() == ids[::-1][:10]
    for limit in (1, 50, 50.0):
        assert words.recent(limit=limit) == ids[::-1][: int(limit)]


@pytest.mark.promise("001-026", "001-047")
@pytest.mark.parametrize("limit", [0, 51, 2.5, -1, "10", False, None])
def test_a_bad_number_of_recent_memories_is_refused(words, limit):
    error = words.refused("list_recent_memories", limit=limit)
    assert (error["code"], error["message"]) == (
        "INVALID_PARAMETER",
        "limit must be a whole number from 1 to 50",
    )


@pytest.mark.promise("001-027", "001-054")
def test_a_stored_memory_heads_the_list_and_is_found_in_the_very_next_call(facts):
    for number in range(5):
        kept = facts.store(f"User's pet number {number} is called Miso{number}")
        assert facts.recent()[0] == kept
        assert facts.found(f"which pet is called Miso{number}?")[0] == kept


# -- the memory object


@pytest.mark.promise("001-040", "001-041", "001-043")
def test_every_memory_of_every_reply_is_whole(facts):
    one = facts.ask("store_memory", content="User lives in Seattle", confidence=0)
    two = facts.ask("store_memory", content="User moved to Austin", source="explicit")
    shown = [
        one["created"],
        two["created"],
        *two["similar"],
        *facts.ask("search_memories", query="where does the user live?")["memories"],
        *facts.ask("list_recent_memories")["memories"],
    ]
    assert len(shown) == 7
    for memory in shown:
        assert set(memory) >= STORED
        assert isinstance(memory["id"], str)
        assert isinstance(memory["content"], str)
        assert isinstance(memory["confidence"], int | float)
        assert 0 <= memory["confidence"] <= 1
        assert memory["source"] in {"explicit", "extracted"}
        for name in ("created_at", "updated_at", "accessed_at"):
            assert ISO.fullmatch(memory[name])
            assert datetime.datetime.fromisoformat(memory[name]).tzinfo is not None
        assert "supersedes" not in memory
        assert "superseded_by" not in memory


@pytest.mark.promise("001-044", "000-025")
def test_an_id_shows_its_type_is_unique_and_serves_every_later_call(words):
    ids = [words.store("the same words") for _ in range(50)]
    assert len(set(ids)) == 50
    assert all(re.fullmatch(rf"fact_{ULID}", each) for each in ids)
    assert ids == sorted(ids), "ids sort as they were made"
    words.ask("supersede_memory", old_memory_id=ids[0], new_memory_id=ids[1])
    assert ids[1] in words.recent(limit=50)


@pytest.mark.promise("001-042")
def test_a_search_moves_the_access_time_and_a_list_does_not(facts, clock):
    kept = facts.ask("store_memory", content="User lives in Seattle")["created"]
    assert kept["accessed_at"] == kept["created_at"]
    clock.advance(60_000_000)
    facts.recent()
    facts.whence.flush()
    (listed,) = facts.ask("list_recent_memories")["memories"]
    assert listed["accessed_at"] == kept["accessed_at"]
    facts.found("where does the user live?")
    facts.whence.flush()
    (listed,) = facts.ask("list_recent_memories")["memories"]
    assert listed["accessed_at"] > kept["accessed_at"]
    assert listed["updated_at"] == kept["updated_at"]


# -- errors


@pytest.fixture
def break_events(store):
    """Let the database refuse the last statement of every change."""
    with store._file.writing() as connection:
        connection.execute(
            "CREATE TRIGGER fail BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'planted'); END"
        )


@pytest.mark.promise("001-048", "001-056", "001-045")
def test_a_failing_database_is_told_as_such_and_nothing_is_half_written(facts, store, request):
    old, new = facts.store("User lives in Seattle"), facts.store("User moved to Austin")
    request.getfixturevalue("break_events")
    stored = facts.refused("store_memory", content="User bought a boat")
    replaced = facts.refused("supersede_memory", old_memory_id=old, new_memory_id=new)
    for error in (stored, replaced):
        assert error["code"] == "STORAGE_ERROR"
        assert error["message"].startswith("The database ")
        assert error["hint"]
    assert facts.whence.get(old).superseded_by is None
    assert facts.found("boat") == [], "neither words nor vectors were left behind"
    assert facts.ask("search_memories", query="who bought a boat?", include_history=True)["memories"] == []
    assert set(facts.recent()) == {old, new}


@pytest.mark.promise("001-008", "001-056")
def test_a_store_that_cannot_look_for_similar_memories_still_says_that_it_stored(facts, store):
    facts.store("User lives in Seattle")
    with store._file.writing() as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE memories SET metadata = 'broken'")
    outcome = facts.call("store_memory", content="User moved to Austin")
    assert not outcome.is_error, "the memory is stored: an error would be a lie"
    assert outcome.structured["similar"] == []
    assert "could not be looked up" in outcome.structured["notices"][0]
    assert facts.whence.get(outcome.structured["created"]["id"]).content == "User moved to Austin"


@pytest.mark.promise("001-048")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("store_memory", {"content": "x"}),
        ("supersede_memory", {"old_memory_id": "a", "new_memory_id": "b"}),
        ("search_memories", {"query": "x"}),
        ("list_recent_memories", {}),
    ],
)
def test_a_closed_or_lost_database_is_a_storage_error_for_every_tool(words, store, tool, arguments):
    words.store("x")
    with store._file.writing() as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("ALTER TABLE workspaces RENAME TO lost")
    outcome = words.call(tool, **arguments)
    if tool == "supersede_memory" and not outcome.is_error:
        pytest.fail("it changed something")
    assert outcome.structured["error"]["code"] in {"STORAGE_ERROR", "MEMORY_NOT_FOUND"}
    assert outcome.structured["error"]["code"] == "STORAGE_ERROR" or tool == "supersede_memory"


@pytest.mark.promise("001-049")
def test_without_a_model_nothing_fails_and_every_reply_says_so(words):
    stored = words.call("store_memory", content="User plays the bassoon")
    assert not stored.is_error
    assert "EMBEDDING_ERROR" in stored.notices[0]
    assert stored.structured["notices"] == list(stored.notices)
    assert stored.structured["created"]["labels"] == ["pending"]
    found = words.call("search_memories", query="bassoon")
    assert [each["content"] for each in found.structured["memories"]] == ["User plays the bassoon"]
    assert "EMBEDDING_ERROR" in found.structured["notices"][0]


def test_a_secret_is_masked_before_it_is_stored_and_the_caller_told(words):
    reply = words.ask(
        "store_memory", content="Deploy with AKIAIOSFODNN7EXAMPLE", context="password=hunter22!"
    )
    assert reply["created"]["content"] == "Deploy with [masked AWS key]"
    assert "AWS key" in reply["notices"][0]
    assert "AKIA" not in "".join(words.dump())
    assert "hunter22" not in "".join(words.dump())


# -- workspaces


@pytest.mark.promise("001-002")
def test_what_is_true_everywhere_is_found_from_every_project_and_the_rest_from_its_own(words):
    ours, theirs = words, words.of(place=Place(name="theirs"))
    fact = ours.store("The database is Postgres")
    taste = theirs.store("The user likes databases", workspace="global")
    assert set(ours.found("databases")) == {fact, taste}
    assert theirs.found("databases") == [taste]
    assert set(theirs.found("databases", workspace="PROJECT")) == {fact, taste}
    assert set(theirs.found("databases", workspace="*")) == {fact, taste}
    assert theirs.recent() == [taste]
    assert set(theirs.recent(workspace="*")) == {fact, taste}


def test_near_names_are_offered_for_a_mistyped_workspace(words):
    words.store("x")
    error = words.refused("store_memory", content="x", workspace="porject")
    assert error["did_you_mean"] == ["project"]


def test_a_successor_in_another_workspace_is_told(words):
    here = words.store("Deploys run at noon")
    elsewhere = replace(words, caller=replace(words.caller, place=Place(name="other")))
    there = elsewhere.store("Deploys run at ten")
    outcome = words.call("supersede_memory", old_memory_id=here, new_memory_id=there)
    assert outcome.structured["success"]
    assert "another workspace" in outcome.notices[0]


def test_a_successor_in_global_is_found_from_here_and_needs_no_word(words):
    here = words.store("The user likes tea")
    everywhere = words.store("The user likes coffee", workspace="global")
    outcome = words.call("supersede_memory", old_memory_id=here, new_memory_id=everywhere)
    assert outcome.notices == ()
    assert words.found("user likes tea") == [everywhere]
