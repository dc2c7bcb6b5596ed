"""Do the seven tools of version 1.0 still do their old job, and say which of them end?"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client import Client

from whence.config import Settings
from whence.core.times import DAY, SECOND
from whence.features.workspaces import NOWHERE
from whence.server.mcp import Door
from whence.server.opening import Opening
from whence.surfaces.families import chosen, find_tool, tools_of
from whence.surfaces.tool import flat
from whence.version import __version__

SEVEN = [
    "save_decision",
    "recall_decision",
    "suggest_decision",
    "list_decisions",
    "update_outcome",
    "save_checkpoint",
    "load_checkpoint",
]
INSTEAD = {
    "recall_decision": "search/by_topic",
    "suggest_decision": "search/by_context",
    "list_decisions": "search/recent",
    "update_outcome": "evolve/outcome",
}
MERGED = {"save_decision", "save_checkpoint", "load_checkpoint"}
END = "2.0, not before three months after 1.0"


def save(words, topic="auth_strategy", decision="Use JWT", reasoning="Stateless", **more):
    """Save a decision as an old client does, and return its id."""
    reply = words.ask("save_decision", topic=topic, decision=decision, reasoning=reasoning, **more)
    return reply["decision_id"]


def paragraphs(history):
    """Return the first line of each decision on a page, in their order."""
    return re.findall(r"^## (.*)$", history, re.MULTILINE)


# -- the list


def told_over_mcp(tmp_path, tools, *calls):
    """Return the tools that a server lists, and what it answers to these calls."""
    settings = Settings(home=tmp_path, store="sqlite:///:memory:", tools=tools, offline=True)
    opening = Opening(settings, keeps_models=False)
    client = Client(Door(settings, opening, NOWHERE).server)
    with start_blocking_portal() as portal:
        entering = portal.wrap_async_context_manager(client)
        entering.__enter__()
        try:
            listed = portal.call(client.list_tools).tools
            return listed, [portal.call(client.call_tool, *each) for each in calls]
        finally:
            entering.__exit__(None, None, None)
            opening.close()


@pytest.mark.promise("000-004", "000-066")
def test_the_family_lists_the_seven_and_marks_four_with_the_release_and_the_date_of_their_end(tmp_path):
    listed, _ = told_over_mcp(tmp_path, "legacy")
    assert [each.name for each in listed] == SEVEN
    for tool in listed:
        is_marked = tool.description.startswith(f"Deprecated, ends with {END}: use ")
        assert is_marked is (tool.name in INSTEAD)
        if is_marked:
            assert flat(INSTEAD[tool.name]) in tool.description
        else:
            assert "eprecated" not in tool.description


@pytest.mark.promise("000-004")
def test_three_of_the_seven_are_the_new_tools_themselves():
    for name in MERGED:
        assert find_tool(name).family == "intents"
        assert find_tool(name) in chosen("intents")[0].tools
        assert find_tool(name) in chosen("legacy")[0].tools
    together = [flat(each.name) for each in tools_of(chosen("intents,legacy"))]
    assert sorted(together) == sorted(set(together))
    assert set(SEVEN) < set(together)


@pytest.mark.promise("000-004", "000-066")
def test_what_is_not_listed_by_default_is_callable_and_warns(tmp_path):
    listed, (recalled, saved) = told_over_mcp(
        tmp_path,
        "intents",
        ("recall_decision", {"topic": "auth"}),
        ("save_decision", {"topic": "auth", "decision": "Use JWT", "reasoning": "Stateless"}),
    )
    assert not set(INSTEAD) & {each.name for each in listed}
    assert not recalled.is_error
    (warning,) = recalled.structured_content["notices"]
    assert warning == f"recall_decision is deprecated and ends with {END}: use search_by_topic instead."
    assert recalled.meta["whence/notices"] == [warning]
    assert warning in recalled.content[0].text
    assert "deprecated" not in saved.content[0].text


@pytest.mark.promise("000-066")
def test_until_the_second_major_release_all_seven_are_there():
    major = int(__version__.partition(".")[0])
    assert major >= 2 or all(find_tool(name) is not None for name in SEVEN)


@pytest.mark.promise("000-066")
@pytest.mark.parametrize("name", list(INSTEAD))
def test_each_of_the_four_warns_on_use_by_the_listed_name_of_what_takes_its_place(facts, name):
    kept = save(facts)
    arguments = {
        "recall_decision": {"topic": "auth_strategy"},
        "suggest_decision": {"userQuestion": "Do we use JWT?"},
        "list_decisions": {},
        "update_outcome": {"decisionId": kept, "outcome": "SUCCESS"},
    }[name]
    instead = INSTEAD[name]
    for listed, told in ((None, flat(instead)), ({instead: instead}, instead)):
        outcome = facts.of(listed=listed).call(name, **arguments)
        warning = f"{name} is deprecated and ends with {END}: use {told} instead."
        assert outcome.structured["success"] is True
        assert outcome.structured["notices"] == list(outcome.notices) == [warning]
        assert warning in outcome.text


def test_the_merged_three_do_not_warn(facts):
    told = {"topic": "auth", "decision": "Use JWT", "reasoning": "Stateless"}
    for name, arguments in (
        ("save_decision", told),
        ("save_checkpoint", {"summary": "Login works"}),
        ("load_checkpoint", {}),
    ):
        assert "notices" not in facts.ask(name, **arguments)


@pytest.mark.promise("000-004")
def test_an_old_client_goes_through_its_day(words, clock):
    first = words.ask(
        "save_decision",
        topic="auth_strategy",
        decision="Use JWT",
        reasoning="Stateless",
        confidence=0.5,
        type="user_decision",
        outcome="pending",
    )
    assert first["success"] is True
    assert re.fullmatch(r"decision_[0-9A-Z]{26}", first["decision_id"]), "a plain text"
    assert (first["topic"], first["message"]) == ("auth_strategy", "Decision saved: auth_strategy")
    assert "auth_strategy" in first["recall_command"]
    clock.advance(SECOND)
    second = save(words, decision="Use sessions", reasoning="They can be revoked")
    recalled = words.ask("recall_decision", topic="auth_strategy")
    assert recalled["success"] is True
    assert paragraphs(recalled["history"]) == ["Use sessions", "Use JWT"]
    suggested = words.ask("suggest_decision", userQuestion="Can sessions be revoked?")
    assert suggested["success"] is True
    assert paragraphs(suggested["suggestions"]) == ["Use sessions"]
    listed = words.ask("list_decisions", limit=10)
    assert listed["success"] is True
    assert listed["list"].index(second) < listed["list"].index(first["decision_id"])
    updated = words.ask("update_outcome", decisionId=second, outcome="SUCCESS")
    assert (updated["success"], updated["decision_id"]) == (True, second)
    saved = words.ask("save_checkpoint", summary="Login works", open_files=["auth.py"], next_steps="Test it")
    assert saved["success"] is True
    assert saved["checkpoint_id"] == saved["created"]["id"]
    loaded = words.ask("load_checkpoint")
    assert loaded["success"] is True
    assert (loaded["summary"], loaded["open_files"], loaded["next_steps"]) == (
        "Login works",
        ["auth.py"],
        "Test it",
    )


# -- save_decision


@pytest.mark.promise("000-004")
@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("success", "SUCCESS"),
        ("failure", "FAILED"),
        ("partial", "PARTIAL"),
        ("pending", None),
        ("superseded", None),
    ],
)
@pytest.mark.parametrize("decided_by", ["user_decision", "assistant_insight"])
def test_the_old_arguments_of_save_decision_are_taken_and_kept(words, word, kept, decided_by):
    told = {"topic": "auth", "decision": "Use JWT", "reasoning": "Stateless"}
    created = words.ask("save_decision", **told, outcome=word, type=decided_by)["created"]
    assert created["metadata"].get("outcome") == kept
    assert created["metadata"]["decided_by"] == decided_by
    advertised = find_tool("save_decision").input_schema()["properties"]
    assert not {"outcome", "type"} & set(advertised)


@pytest.mark.parametrize("confidence", [0, 0.5, 1])
def test_a_confidence_of_nought_and_of_one_survive(words, confidence):
    assert words.whence.get(save(words, confidence=confidence)).confidence == confidence


def test_a_second_decision_on_a_topic_replaces_nothing_by_itself(words):
    first, second = save(words), save(words, decision="Use sessions")
    assert {words.whence.get(each).is_live for each in (first, second)} == {True}
    told = words.ask("save_decision", topic="Auth Strategy", decision="Use keys", reasoning="Short")
    assert f'old_id="{second}"' in told["action_required"], "it offers the newest"


@pytest.mark.promise("000-004")
@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("save_decision", {"topic": "a", "decision": "b"}, "reasoning is required"),
        ("save_decision", {"topic": "a", "decision": "b", "reasoning": " "}, "reasoning must not be empty"),
        (
            "save_decision",
            {"topic": "a" * 201, "decision": "b", "reasoning": "c"},
            "topic must be at most 200 characters; this one has 201",
        ),
        (
            "save_decision",
            {"topic": "a", "decision": "b", "reasoning": "c", "confidence": 1.1},
            "confidence must be a number from 0 to 1",
        ),
        (
            "save_decision",
            {"topic": "a", "decision": "b", "reasoning": "c", "type": "guess"},
            'type must be "user_decision" or "assistant_insight"',
        ),
        ("save_checkpoint", {}, "summary is required"),
        ("save_checkpoint", {"summary": ""}, "summary must not be empty"),
        ("save_checkpoint", {"summary": "x", "open_files": "a.py"}, "open_files must be a list"),
        ("load_checkpoint", {"workspace": "nowhere"}, 'Workspace "nowhere" not found'),
        ("load_checkpoint", {"name": ""}, "name must not be empty"),
    ],
)
def test_an_error_under_a_merged_name_has_the_new_shape_and_the_old_beside_it(
    words, name, arguments, sentence
):
    before = words.dump()
    outcome = words.call(name, **arguments)
    assert outcome.is_error
    assert set(outcome.structured) == {"error", "success", "message"}
    assert (outcome.structured["success"], outcome.structured["message"]) == (False, sentence)
    assert (outcome.structured["error"]["code"], outcome.structured["error"]["message"]) == (
        "INVALID_PARAMETER",
        sentence,
    )
    assert words.dump() == before


# -- recall_decision


@pytest.mark.promise("000-004")
def test_recall_gives_the_whole_chain_newest_first_whatever_topics_it_went_through(words, clock):
    old = save(words, "auth_strategy", "Version 1")
    for number, topic in enumerate(["auth_strategy", "login", "auth_strategy"], start=2):
        clock.advance(DAY)
        told = {"topic": topic, "decision": f"Version {number}", "reasoning": f"Because {number - 1}"}
        old = words.ask("evolve/supersede", old_id=old, **told)["created"]["id"]
    save(words, "css", "Tailwind")
    recalled = words.ask("recall_decision", topic="auth_strategy")
    assert paragraphs(recalled["history"]) == ["Version 4", "Version 3", "Version 2", "Version 1"]
    assert recalled["message"] == "Found 4 decision(s) for topic: auth_strategy"
    page = recalled["history"]
    assert page.startswith("# auth_strategy\n")
    assert page.count("(superseded)") == 3
    assert f"{old} (active), 2025-06-18" in page
    for number in (1, 2, 3):
        assert f"- Reasoning: Because {number}" in page


def test_recall_tells_several_live_decisions_and_their_outcomes(words, clock):
    first = save(words)
    clock.advance(SECOND)
    save(words, decision="Use sessions")
    words.ask("update_outcome", decisionId=first, outcome="failed", failure_reason="Could not be revoked")
    page = words.ask("recall_decision", topic="auth_strategy")["history"]
    assert paragraphs(page) == ["Use sessions", "Use JWT"], "an outcome changes no order"
    assert "- Outcome: FAILED (Could not be revoked)" in page.partition("## Use JWT")[2]


@pytest.mark.parametrize("topic", ["auth_strategy", "Auth Strategy", "auth-strategy", "AUTH_STRATEGY"])
def test_recall_takes_a_topic_in_any_spelling(words, topic):
    save(words)
    assert paragraphs(words.ask("recall_decision", topic=topic)["history"]) == ["Use JWT"]


@pytest.mark.promise("000-004")
@pytest.mark.parametrize("topic", ["auth_flow", "auth", "AUTH_x_y"])
def test_where_no_topic_matches_those_that_begin_alike_are_recalled(words, clock, topic):
    save(words)
    clock.advance(SECOND)
    save(words, "authentication", "Use passkeys")
    save(words, "css", "Tailwind")
    recalled = words.ask("recall_decision", topic=topic)
    assert paragraphs(recalled["history"]) == ["Use passkeys", "Use JWT"]


@pytest.mark.parametrize("topic", ["nothing", "_strategy", "n_auth"])
def test_recalling_what_was_never_decided_is_no_error(words, topic):
    save(words, "css", "Tailwind")
    recalled = words.ask("recall_decision", topic=topic)
    assert recalled["success"] is True
    assert "history" not in recalled
    assert recalled["message"].startswith(f"No decisions found for topic: {topic}.")


def test_recall_leaves_out_what_was_put_away_and_what_is_no_decision(words):
    kept, gone = save(words), save(words, decision="Use magic links")
    words.whence.archive(gone)
    words.ask("update_outcome", decisionId=kept, outcome="PARTIAL", limitation="x", failure_reason="Slow")
    assert paragraphs(words.ask("recall_decision", topic="auth_strategy")["history"]) == ["Use JWT"]
    words.whence.archive(kept)
    assert "history" not in words.ask("recall_decision", topic="auth_strategy")


# -- suggest_decision


@pytest.mark.promise("000-004")
def test_suggestions_answer_the_question_best_first_with_live_decisions_alone(facts, clock):
    old = save(facts, "session_store", "Keep sessions in Memcached")
    clock.advance(SECOND)
    new = facts.ask("evolve/supersede", old_id=old, decision="Keep sessions in Redis", reasoning="Lists")
    save(facts, "css", "Style pages with Tailwind")
    facts.store("Sessions are kept for a week")
    reply = facts.ask("suggest_decision", userQuestion="Where do we keep sessions?")
    assert reply["success"] is True
    told = paragraphs(reply["suggestions"])
    assert told[0] == "Keep sessions in Redis"
    assert "Keep sessions in Memcached" not in told
    assert "Sessions are kept for a week" not in told
    assert new["created"]["id"] in reply["suggestions"]


def test_the_weight_of_recency_decides_between_the_better_and_the_newer(words, clock):
    save(words, "sessions", "Keep sessions of users in Redis")
    clock.advance(90 * DAY)
    save(words, "users", "Keep users in the table")
    asked = {"userQuestion": "sessions of users"}
    better, newer = "Keep sessions of users in Redis", "Keep users in the table"
    for weight, first in ((None, better), (0, better), (1, newer), (1.0, newer)):
        told = paragraphs(words.ask("suggest_decision", **asked, recencyWeight=weight)["suggestions"])
        assert (told[0], set(told)) == (first, {better, newer})


def test_no_suggestion_says_why_and_is_no_error(words):
    save(words)
    reply = words.ask("suggest_decision", userQuestion="zebra")
    assert (reply["success"], "suggestions" in reply) == (True, False)
    assert "Searched 1 memories" in reply["message"]


# -- list_decisions


@pytest.mark.promise("000-004")
def test_a_list_is_of_live_decisions_newest_first_and_twenty_long_unless_told(words, clock):
    ids = []
    for number in range(23):
        clock.advance(SECOND)
        ids.append(save(words, f"topic {number}", f"Decision {number}"))
    words.store("A fact")
    words.ask("evolve/supersede", old_id=ids[0], new_id=ids[22])
    words.whence.archive(ids[1])
    for limit, count in ((None, 20), (1, 1), (21, 21), (100, 21)):
        reply = words.ask("list_decisions", **({} if limit is None else {"limit": limit}))
        told = re.findall(r"\((decision_\w+)\)", reply["list"])
        assert told == ids[:1:-1][:count]
        assert reply["message"] == f"{count} decision(s), newest first"
    first = words.ask("list_decisions", limit=1)["list"]
    assert first == f"1. **topic 22**: Decision 22 ({ids[22]})"
    assert find_tool("list_decisions").input_schema()["properties"]["limit"]["default"] == 20


def test_an_empty_list_is_no_error(words):
    reply = words.ask("list_decisions")
    assert (reply["success"], reply["list"], reply["message"]) == (True, "", "0 decision(s), newest first")


# -- update_outcome


@pytest.mark.promise("000-004")
@pytest.mark.parametrize(
    ("word", "kept"),
    [("SUCCESS", "SUCCESS"), ("success", "SUCCESS"), ("Partial", "PARTIAL"), ("PARTIAL", "PARTIAL")],
)
@pytest.mark.parametrize("shape", ["decisionId", "topic"])
def test_an_outcome_is_noted_by_id_and_by_topic_in_any_case(words, shape, word, kept):
    decided = save(words)
    which = {"decisionId": decided} if shape == "decisionId" else {"topic": "Auth Strategy"}
    reply = words.ask("update_outcome", **which, outcome=word, limitation="Only for the web")
    assert reply["decision_id"] == decided
    details = words.whence.get(decided).metadata
    assert (details["outcome"], details["limitation"]) == (kept, "Only for the web")


@pytest.mark.promise("000-004")
@pytest.mark.parametrize("word", ["FAILED", "failed", "failure"])
def test_a_failure_needs_a_reason_where_the_old_shape_had_one(words, word):
    decided = save(words)
    refused = words.refused("update_outcome", decisionId=decided, outcome=word)
    assert refused["message"] == "failure_reason is required for FAILED"
    told = {"outcome": word, "failure_reason": "Sessions were lost"}
    assert words.ask("update_outcome", decisionId=decided, **told)["success"] is True
    by_topic = save(words, "css", "Tailwind")
    words.ask("update_outcome", topic="css", outcome=word)  # that shape knew none
    assert words.whence.get(by_topic).metadata["outcome"] == "FAILED"


def test_by_topic_the_newest_live_decision_is_meant(words, clock):
    first = save(words)
    clock.advance(SECOND)
    second = save(words, decision="Use sessions")
    clock.advance(SECOND)
    third = words.ask("evolve/supersede", old_id=second, decision="Use keys", reasoning="Short")["created"][
        "id"
    ]
    assert words.ask("update_outcome", topic="auth_strategy", outcome="success")["decision_id"] == third
    assert "outcome" not in words.whence.get(first).metadata


@pytest.mark.promise("000-004")
def test_a_failure_written_here_is_met_by_the_next_search_of_another_family(words):
    decided = save(words, "cache", "Use Memcached")
    words.ask(
        "update_outcome", decisionId=decided, outcome="FAILED", failure_reason="Evictions lost the carts"
    )
    lesson, *_ = words.ask("search/by_context", query="evictions")["memories"]
    assert (lesson["type"], lesson["content"], lesson["topic"]) == (
        "insight",
        "Evictions lost the carts",
        "cache",
    )
    outcome = words.ask("load/context", id=decided)["outcome"]
    assert (outcome["outcome"], outcome["reason"]) == ("FAILED", "Evictions lost the carts")


# -- checkpoints


@pytest.mark.promise("000-004")
def test_the_newest_checkpoint_is_loaded_and_none_is_no_error(words, clock):
    empty = words.ask("load_checkpoint")
    assert (empty["success"], empty["summary"]) == (True, None)
    assert empty["hint"]
    words.ask("save_checkpoint", summary="First", next_steps="One thing")
    clock.advance(SECOND)
    words.ask("save_checkpoint", summary="Second", open_files=["a.py", "b.py"], next_steps=["One", "Two"])
    loaded = words.ask("load_checkpoint")
    assert (loaded["summary"], loaded["open_files"]) == ("Second", ["a.py", "b.py"])
    assert loaded["next_steps"] == ["One", "Two"]
    assert words.ask("save_checkpoint", summary="Third")["message"] == "Checkpoint saved"
    assert words.ask("load_checkpoint")["open_files"] == []


# -- errors


@pytest.mark.promise("000-004")
@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("recall_decision", {}, "topic is required"),
        ("recall_decision", {"topic": ""}, "topic must not be empty"),
        ("recall_decision", {"topic": 5}, "topic must be text"),
        ("recall_decision", {"topic": "x" * 201}, "topic must be at most 200 characters; this one has 201"),
        ("recall_decision", {"topic": "x", "depth": 2}, 'Unknown parameter "depth"'),
        ("suggest_decision", {}, "userQuestion is required"),
        ("suggest_decision", {"userQuestion": " "}, "userQuestion must not be empty"),
        (
            "suggest_decision",
            {"userQuestion": "x", "recencyWeight": 1.1},
            "recencyWeight must be a number from 0 to 1",
        ),
        ("list_decisions", {"limit": 0}, "limit must be a whole number from 1 to 100"),
        ("list_decisions", {"limit": 101}, "limit must be a whole number from 1 to 100"),
        ("list_decisions", {"limit": "5"}, "limit must be a whole number from 1 to 100"),
        ("list_decisions", {"workspace": "nowhere"}, 'Workspace "nowhere" not found'),
        ("update_outcome", {"outcome": "SUCCESS"}, "decisionId or topic is required"),
        ("update_outcome", {"decisionId": "a", "topic": "b", "outcome": "SUCCESS"}, "decisionId or topic is"),
        ("update_outcome", {"decisionId": "a"}, "outcome is required"),
        ("update_outcome", {"decisionId": "a", "outcome": "pending"}, "outcome must be"),
        ("update_outcome", {"decisionId": "a", "outcome": 1}, "outcome must be text"),
        (
            "update_outcome",
            {"decisionId": "decision_nobody", "outcome": "SUCCESS"},
            "Memory with ID decision_nobody not found",
        ),
        (
            "update_outcome",
            {"topic": "nothing", "outcome": "SUCCESS"},
            'No live memory has the topic "nothing"',
        ),
        (
            "update_outcome",
            {"topic": "css", "outcome": "FAILED", "failure_reason": "x" * 2001},
            "failure_reason must be at most 2,000 characters; this one has 2,001",
        ),
        (
            "update_outcome",
            {"topic": "css", "outcome": "PARTIAL", "limitation": "x" * 2001},
            "limitation must be at most 2,000 characters; this one has 2,001",
        ),
    ],
)
def test_an_error_is_version_ones_and_changes_nothing(words, name, arguments, sentence):
    save(words, "css", "Tailwind")
    before = words.dump()
    outcome = words.call(name, **arguments)
    assert outcome.is_error
    assert outcome.structured["success"] is False
    assert outcome.structured["message"].startswith(sentence)
    assert set(outcome.structured) <= {"success", "message", "hint", "did_you_mean"}
    assert outcome.notices == ()
    assert words.dump() == before


def test_an_outcome_of_what_is_no_decision_or_of_a_near_topic_is_refused_with_help(words):
    save(words)
    fact = words.store("A fact")
    refused = words.refused("update_outcome", decisionId=fact, outcome="SUCCESS")
    assert "only a decision has an outcome" in refused["message"]
    near = words.refused("update_outcome", topic="auth_strategie", outcome="SUCCESS")
    assert near["did_you_mean"] == ["auth_strategy"]


# -- written here, read there, and in Korean


@pytest.mark.promise("000-004")
def test_what_an_old_client_saves_every_family_reads(words):
    decided = save(words, "container engine", "Run it in Podman", "Rootless")
    assert words.ask("search/by_topic", topic="container engine")["current"]["id"] == decided
    assert words.found("podman") == [decided]
    (listed,) = words.ask("decision_memory", action="list")["decisions"]
    assert (listed["subject"], listed["decision"], listed["rationale"]) == (
        "container engine",
        "Run it in Podman",
        "Rootless",
    )
    words.ask("save_checkpoint", summary="Podman runs", open_files=["Containerfile"])
    (point,) = words.ask("search/recent", types=["checkpoint"])["memories"]
    assert point["metadata"]["open_files"] == ["Containerfile"]


def test_what_the_new_families_write_an_old_client_reads(words, clock):
    told = {"subject": "queue", "decision": "A table", "rationale": "No broker", "confidence": 0.4}
    words.ask("decision_memory", action="record", **told)
    clock.advance(SECOND)
    words.ask("save/decision", topic="queue", decision="Two tables", reasoning="Priorities")
    words.learn("Queues fill at noon")
    page = words.ask("recall_decision", topic="queue")["history"]
    assert paragraphs(page) == ["Two tables", "A table"]
    assert "- Topic: queue, confidence 0.4\n- Reasoning: No broker" in page
    assert words.ask("list_decisions")["message"] == "2 decision(s), newest first"
    words.ask("decision_memory", action="supersede", old_id=1, new_id=2)
    assert words.ask("list_decisions")["message"] == "1 decision(s), newest first"


def test_korean_topics_are_saved_recalled_suggested_listed_and_updated(facts, clock):
    first = save(facts, "데이터베이스_선택", "SQLite를 쓴다", "서버가 필요 없다")
    clock.advance(SECOND)
    second = save(facts, "데이터베이스_선택", "PostgreSQL을 쓴다", "여러 명이 쓴다")
    save(facts, "배포", "2주마다 배포한다", "작은 변경")
    for topic in ("데이터베이스_선택", "데이터베이스 선택", "데이터베이스_이전"):
        page = facts.ask("recall_decision", topic=topic)["history"]
        assert paragraphs(page) == ["PostgreSQL을 쓴다", "SQLite를 쓴다"]
    suggested = facts.ask("suggest_decision", userQuestion="어떤 데이터베이스를 쓰나요?")["suggestions"]
    assert set(paragraphs(suggested)[:2]) == {"PostgreSQL을 쓴다", "SQLite를 쓴다"}
    listed = facts.ask("list_decisions")["list"]
    assert all(before < after for before, after in pairwise(listed.index(each) for each in (second, first)))
    updated = facts.ask("update_outcome", topic="데이터베이스 선택", outcome="success")
    assert updated["decision_id"] == second
