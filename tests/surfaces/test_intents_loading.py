"""Do load/checkpoint and load/context give back what INTENTS.md and document 000 say?"""

from __future__ import annotations

import datetime

import pytest
from jsonschema import validate

from whence.core.memories import Draft
from whence.features.workspaces import Place, found_workspace
from whence.surfaces.families import find_tool

UNKNOWN = "decision_00000000000000000000000000"


def checkpoint(words, summary="Login works", **arguments):
    return words.ask("save/checkpoint", summary=summary, **arguments)["created"]


def chain_of_links(words, length, word="refines"):
    """Return memories of which each is linked to the one before it."""
    ids = [words.learn("memory 0")]
    for number in range(1, length + 1):
        ids.append(words.learn(f"memory {number}", links=[{"to_id": ids[-1], "relationship": word}]))
    return ids


def around(words, **arguments):
    """Return id and distance of every neighbour that load/context tells."""
    reply = words.ask("load/context", **arguments)
    return {each["memory"]["id"]: each["distance"] for each in reply["neighbours"]}


# -- load/checkpoint


@pytest.mark.promise("000-027")
def test_without_arguments_the_newest_checkpoint_comes_back(words, clock):
    checkpoint(words, "Started")
    clock.advance(60_000_000)
    created = checkpoint(words, "Login works", open_files=["src/auth.py"], next_steps=["mend test_refresh"])
    reply = words.ask("load/checkpoint")
    assert reply == {
        "summary": "Login works",
        "open_files": ["src/auth.py"],
        "next_steps": ["mend test_refresh"],
        "timestamp": created["created_at"],
        "id": created["id"],
        "since": [],
        "success": True,
    }
    assert datetime.datetime.fromisoformat(reply["timestamp"]).tzinfo is not None


def test_a_checkpoint_without_details_has_empty_lists(words):
    checkpoint(words)
    reply = words.ask("load/checkpoint")
    assert (reply["open_files"], reply["next_steps"]) == ([], [])


def test_where_nothing_was_saved_the_summary_is_null_with_a_hint_and_no_error(words):
    for _ in range(2):
        reply = words.ask("load/checkpoint")
        assert reply["summary"] is None
        assert reply["hint"] == "Nothing was saved here yet. Save one with save_checkpoint."
        words.decide()  # the workspace is there, and still no checkpoint
    told = words.of(listed={"save/checkpoint": "save/checkpoint"}).ask("load/checkpoint")["hint"]
    assert told.endswith("Save one with save/checkpoint.")


@pytest.mark.promise("000-027")
def test_an_archived_or_replaced_checkpoint_does_not_count(words):
    first = checkpoint(words, "first")
    second = checkpoint(words, "second")
    words.whence.archive(second["id"])
    assert words.ask("load/checkpoint")["summary"] == "first"
    third = checkpoint(words, "third")
    words.ask("evolve/supersede", old_id=third["id"], new_id=first["id"])
    assert words.ask("load/checkpoint")["summary"] == "first"
    words.whence.archive(first["id"])
    assert words.ask("load/checkpoint")["summary"] is None


@pytest.mark.promise("000-027")
def test_the_checkpoint_of_another_project_or_of_global_is_not_this_projects(words):
    theirs = words.of(place=Place(name="theirs"))
    checkpoint(theirs, "their work")
    checkpoint(words, "everywhere", workspace="global")
    assert words.ask("load/checkpoint")["summary"] is None
    checkpoint(words, "our work")
    checkpoint(theirs, "their newer work")
    assert words.ask("load/checkpoint")["summary"] == "our work"
    assert words.ask("load/checkpoint", workspace="theirs")["summary"] == "their newer work"


def test_what_was_decided_since_comes_with_it_newest_first(words):
    words.decide("Use JWT")
    checkpoint(words)
    words.learn("No decision")
    ids = [words.decide("Use cookies", "sessions"), words.decide("Use nginx", "proxy")]
    since = words.ask("load/checkpoint")["since"]
    assert [each["id"] for each in since] == ids[::-1]
    assert {each["type"] for each in since} == {"decision"}


def test_a_named_save_point_is_found_by_its_name_whatever_its_case_and_age(words):
    here = found_workspace(words.whence, words.caller.place).id
    old = words.whence.remember(
        Draft(content="Before the move", type="checkpoint", name="Release 1"), workspace=here
    ).memory.id
    checkpoint(words, "newest")
    assert words.ask("load/checkpoint", name="release 1")["id"] == old
    assert words.ask("load/checkpoint")["summary"] == "newest"
    reply = words.ask("load/checkpoint", name="Release 2")
    assert reply["summary"] is None
    assert reply["hint"] == 'No save point is called "Release 2". Leave name out for the newest one.'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "name must not be empty"),
        ({"name": 5}, "name must be text"),
        ({"name": "x" * 201}, "name must be at most 200 characters"),
        ({"workspace": "nowhere"}, 'Workspace "nowhere" not found'),
        ({"workspace": "*"}, "Work stands in one workspace"),
        ({"limit": 1}, 'Unknown parameter "limit"'),
        ({"key": "x"}, 'Unknown parameter "key"'),
    ],
)
def test_a_bad_load_of_a_checkpoint_is_refused_in_one_sentence(words, arguments, message):
    checkpoint(words)
    error = words.refused("load/checkpoint", **arguments)
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith(message)


def test_the_text_of_a_checkpoint_says_where_the_work_stood(words):
    created = checkpoint(words, open_files=["a.py", "b.py"], next_steps=["mend tests", "merge"])
    decided = words.decide()
    lines = words.call("load/checkpoint").text.splitlines()
    assert lines[0] == f"{created['created_at'][:16]} Login works"
    assert lines[1:3] == ["Open files: a.py, b.py", "Next: mend tests; merge"]
    assert lines[3].startswith("Decided since: auth: Use JWT")
    assert decided in lines[3]


def test_loading_changes_nothing(words, clock):
    kept = checkpoint(words)
    words.whence.flush()
    clock.advance(60_000_000)
    words.ask("load/checkpoint")
    words.ask("load/context", id=kept["id"])
    assert len(words.whence.history(kept["id"])) == 1
    assert words.whence.get(kept["id"]).updated_at == words.whence.get(kept["id"]).created_at


# -- load/context


@pytest.mark.promise("000-056")
def test_a_decision_comes_with_its_graph_to_depth_two(words):
    ids = chain_of_links(words, 3)
    kept = words.decide(links=[{"to_id": ids[3], "relationship": "Based on"}])
    acting = words.ask("save/checkpoint", summary="Login works", implements=[kept])["created"]["id"]
    later = words.learn("It was quick", links=[{"to_id": acting, "relationship": "outcome_of"}])
    words.learn("So it was", links=[{"to_id": later, "relationship": "supports"}])
    reply = words.ask("load/context", id=kept)
    assert set(reply) == {"memory", "chain", "neighbours", "causes"}
    assert reply["memory"]["id"] == kept
    told = {
        each["memory"]["id"]: (each["relationship"], each["direction"], each["distance"])
        for each in reply["neighbours"]
    }
    assert told == {
        ids[3]: ("Based on", "out", 1),
        acting: ("implements", "in", 1),
        ids[2]: ("refines", "out", 2),
        later: ("outcome_of", "in", 2),
    }
    distances = [each["distance"] for each in reply["neighbours"]]
    assert distances == sorted(distances)


@pytest.mark.promise("000-056")
@pytest.mark.parametrize(("depth", "reached"), [(1, 1), (2, 2), (3, 3), (5, 5), (6, 5), (9, 5), (10**6, 5)])
def test_depth_bounds_the_neighbours_and_is_cut_to_five_with_a_notice(words, depth, reached):
    ids = chain_of_links(words, 7)
    outcome = words.call("load/context", id=ids[0], depth=depth)
    found = {each["memory"]["id"]: each["distance"] for each in outcome.structured["neighbours"]}
    assert found == {memory_id: number for number, memory_id in enumerate(ids) if 0 < number <= reached}
    notice = f"depth {depth} was cut to 5, the deepest there is."
    assert outcome.structured.get("notices", []) == ([notice] if depth > 5 else [])
    assert (notice in outcome.text) is (depth > 5)


@pytest.mark.parametrize("depth", [0, -1, 1.5, "2", True, None])
def test_a_depth_below_one_or_no_number_is_refused(words, depth):
    kept = words.decide()
    error = words.refused("load/context", id=kept, depth=depth)
    assert (error["code"], error["message"]) == (
        "INVALID_PARAMETER",
        "depth must be a whole number of at least 1",
    )


@pytest.mark.parametrize("depth", [1, 2])
def test_the_chain_is_whole_from_every_version_whatever_the_depth(words, depth):
    ids = [words.decide("version 0")]
    for number in range(1, 8):
        reply = words.ask(
            "evolve/supersede",
            old_id=ids[-1],
            decision=f"version {number}",
            reasoning="Better",
            reason=f"{number - 1} was slow",
        )
        ids.append(reply["created"]["id"])
    for each in ids:
        chain = words.ask("load/context", id=each, depth=depth)["chain"]
        assert [version["id"] for version in chain] == ids
        assert [version["first_line"] for version in chain] == [f"version {number}" for number in range(8)]
        assert [version["status"] for version in chain] == ["superseded"] * 7 + ["active"]
        assert [version.get("superseded_by") for version in chain] == [*ids[1:], None]
        assert [version.get("valid_until") for version in chain[:-1]] == [
            version["valid_from"] for version in chain[1:]
        ]
        assert [version.get("why_replaced") for version in chain] == [
            *(f"{number} was slow" for number in range(7)),
            None,
        ]
        assert not any("content" in version for version in chain)


def test_other_versions_stand_in_the_chain_and_not_among_the_neighbours(words):
    old = words.decide("Use sessions")
    new = words.decide("Use JWT", supersedes=old)
    assert around(words, id=new) == around(words, id=old) == {}


def test_reasons_come_first_by_the_decisions_own_reasoning(words):
    kept = words.decide(
        reasoning="Stateless",
        reasons=["Sessions vanish"],
        alternatives=[{"option": "Sessions", "why_rejected": "Sticky"}, {"option": "Basic auth"}],
    )
    reply = words.ask("load/context", id=kept)
    assert reply["causes"] == {
        "reasons": ["Stateless", "Sessions vanish"],
        "alternatives": [{"option": "Sessions", "why_rejected": "Sticky"}, {"option": "Basic auth"}],
    }
    assert reply["neighbours"] == []


def test_the_outcome_comes_with_its_lessons_and_without_one_there_is_no_such_key(words):
    kept = words.decide()
    assert "outcome" not in words.ask("load/context", id=kept)
    told = words.ask("evolve/outcome", decision_id=kept, outcome="FAILED", reason="Logout", limitation="Web")
    assert words.ask("load/context", id=kept)["outcome"] == {
        "outcome": "FAILED",
        "reason": "Logout",
        "limitation": "Web",
        "lessons": [{"id": told["lesson"]["id"], "type": "insight", "content": "Logout"}],
    }


def test_a_memory_of_any_type_has_a_context(words):
    for kept in (
        words.learn("Tokens expire"),
        words.store("The office cat is Miso"),
        checkpoint(words)["id"],
    ):
        reply = words.ask("load/context", id=kept)
        assert reply["memory"]["id"] == kept
        assert [each["id"] for each in reply["chain"]] == [kept]
        assert (reply["neighbours"], reply["causes"]) == ([], {})


def test_a_decision_is_found_by_its_number_too(words):
    words.decide()
    second = words.decide("Use nginx", "proxy")
    for told in ("2", " 2 "):
        assert words.ask("load/context", id=told)["memory"]["id"] == second
    assert words.refused("load/context", id="3")["message"] == "Memory with ID 3 not found"


def test_a_topic_stands_for_the_decision_that_holds_on_it(words):
    old = words.decide("Use sessions", "auth_strategy")
    new = words.decide("Use JWT", "auth_strategy", supersedes=old)
    words.ask("evolve/outcome", decision_id=new, outcome="PARTIAL", reason="Logout is hard")
    for topic in ("auth_strategy", "Auth Strategy", "AUTH-STRATEGY"):
        assert words.ask("load/context", topic=topic)["memory"]["id"] == new


def test_a_topic_that_went_on_under_another_name_leads_there_past_its_lessons(words):
    old = words.decide("Use sessions", "auth")
    words.ask("evolve/outcome", decision_id=old, outcome="FAILED", reason="Restarts lose them")
    new = words.ask("evolve/supersede", old_id=old, decision="Use JWT", reasoning="Stateless", topic="tokens")
    assert words.ask("load/context", topic="auth")["memory"]["id"] == new["created"]["id"]


def test_an_unknown_topic_is_refused_with_the_near_ones(words):
    words.decide(topic="auth_strategy")
    error = words.refused("load/context", topic="auth stratgy")
    assert (error["code"], error["message"]) == (
        "MEMORY_NOT_FOUND",
        'No live memory has the topic "auth stratgy"',
    )
    assert error["did_you_mean"] == ["auth_strategy"]
    assert "did_you_mean" not in words.refused("load/context", topic="kubernetes")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({}, "INVALID_PARAMETER", "id or topic is required"),
        ({"id": None, "topic": None}, "INVALID_PARAMETER", "id or topic is required"),
        ({"id": "x", "topic": "y"}, "INVALID_PARAMETER", "id and topic may name different memories"),
        ({"id": ""}, "INVALID_PARAMETER", "id must not be empty"),
        ({"id": 5}, "INVALID_PARAMETER", "id must be text"),
        ({"topic": " "}, "INVALID_PARAMETER", "topic must not be empty"),
        ({"topic": "x" * 201}, "INVALID_PARAMETER", "topic must be text of at most 200 characters"),
        ({"id": UNKNOWN}, "MEMORY_NOT_FOUND", f"Memory with ID {UNKNOWN} not found"),
        ({"id": UNKNOWN, "workspace": "nowhere"}, "INVALID_PARAMETER", 'Workspace "nowhere" not found'),
        ({"id": UNKNOWN, "limit": 3}, "INVALID_PARAMETER", 'Unknown parameter "limit"'),
    ],
)
def test_a_bad_load_of_a_context_is_refused_in_one_sentence(words, arguments, code, message):
    words.decide()
    error = words.refused("load/context", **arguments)
    assert error["code"] == code
    assert error["message"].startswith(message)


def test_what_was_put_away_or_lies_in_another_project_is_no_neighbour(words):
    theirs = words.of(place=Place(name="theirs"))
    put_away, elsewhere, here = words.learn("a"), theirs.learn("b"), words.learn("c", workspace="global")
    kept = words.decide(implements=[put_away, elsewhere, here])
    words.whence.archive(put_away)
    assert around(words, id=kept) == {here: 1}
    assert around(words, id=kept, workspace="*") == {here: 1, elsewhere: 1}


def test_a_number_never_reaches_into_another_project_and_an_id_does(words):
    kept = words.decide()
    theirs = words.of(place=Place(name="theirs"))
    assert theirs.refused("load/context", id="1")["code"] == "MEMORY_NOT_FOUND"
    for arguments in ({"id": "1", "workspace": "*"}, {"id": kept}):
        assert theirs.ask("load/context", **arguments)["memory"]["id"] == kept


def test_a_korean_topic_is_found_however_it_is_spaced(words):
    kept = words.decide("JWT를 쓴다", "인증_방식")
    for topic in ("인증_방식", "인증 방식", "인증-방식", "인증방식"):
        assert words.ask("load/context", topic=topic)["memory"]["id"] == kept


def test_the_text_of_a_context_tells_all_of_it(words):
    other = words.learn("Tokens expire")
    old = words.decide("Use sessions")
    kept = words.decide(
        supersedes=old,
        implements=[other],
        reasoning="Stateless",
        reasons=["Sessions vanish"],
        constraints=["No Redis"],
        consequences=["Logout is hard"],
        alternatives=[{"option": "Basic auth"}],
    )
    words.ask("evolve/outcome", decision_id=kept, outcome="PARTIAL", limitation="Web")
    lines = words.call("load/context", id=kept).text.splitlines()
    assert lines[0].startswith("auth: Use JWT")
    assert kept in lines[0]
    assert lines[1:7] == [
        "Reasons: Stateless; Sessions vanish",
        "Constraints: No Redis",
        "Consequences: Logout is hard",
        "Alternatives: Basic auth",
        "Outcome: PARTIAL",
        "Chain, oldest first:",
    ]
    assert [old in lines[7], kept in lines[8]] == [True, True]
    assert lines[9].startswith("implements (out, 1): Tokens expire")


def test_the_replies_are_what_the_list_of_tools_says_they_are(words):
    schemas = {name: find_tool(name).output_schema() for name in ("load/checkpoint", "load/context")}
    validate(words.ask("load/checkpoint"), schemas["load/checkpoint"])
    checkpoint(words)
    kept = words.decide(reasons=["x"], implements=[words.learn("y")])
    validate(words.ask("load/checkpoint"), schemas["load/checkpoint"])
    validate(words.ask("load/context", id=kept), schemas["load/context"])
    words.ask("evolve/outcome", decision_id=kept, outcome="FAILED", reason="Logout")
    validate(words.ask("load/context", id=kept, depth=9), schemas["load/context"])
