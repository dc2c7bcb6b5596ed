"""Do save/decision, save/checkpoint and save/insight keep what INTENTS.md and document 000 say of them?"""

from __future__ import annotations

import json
import re

import pytest
from jsonschema import validate

from whence.core.links import LINK_TYPES
from whence.features.workspaces import Place, found_workspace
from whence.surfaces.families import find_tool
from whence.surfaces.tool import flat

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
WHOLE = {"id", "type", "content", "confidence", "created_at", "updated_at", "valid_from", "status"}
DECISION = {"topic": "auth_strategy", "decision": "Use JWT", "reasoning": "Stateless; scales out"}
OWN = {
    "save/decision": DECISION,
    "save/checkpoint": {"summary": "Login works"},
    "save/insight": {"content": "x"},
}
SAVES = pytest.mark.parametrize("tool", list(OWN))
UNKNOWN = "decision_00000000000000000000000000"
SECRET, MASKED = "AKIAIOSFODNN7EXAMPLE", "[masked AWS key]"


def offered(action, old, new):
    return action == (
        f'Call evolve_supersede(old_id="{old}", new_id="{new}") to mark the old memory as outdated. '
        "If both still hold, keep both."
    )


def kinds(words):
    """Return the type of every memory that is stored."""
    lines = [json.loads(line) for line in words.dump()]
    return sorted(each["type"] for each in lines if each["kind"] == "memory")


# -- save/decision


@pytest.mark.promise("000-023", "000-024", "000-003", "000-014")
def test_topic_decision_and_reasoning_alone_store_one_decision(words):
    reply = words.ask("save/decision", **DECISION)
    created = reply["created"]
    assert set(created) == {*WHOLE, "topic", "number", "metadata", "labels"}
    assert (created["type"], created["topic"], created["content"]) == ("decision", "auth_strategy", "Use JWT")
    assert created["confidence"] == 0.7
    assert created["metadata"] == {"reasoning": "Stateless; scales out", "decision_type": "tech_choice"}
    assert (reply["similar"], reply["conflicts"], reply["action_required"]) == ([], [], None)
    assert reply["links_created"] == 0
    kept = words.whence.get(created["id"])
    assert (kept.type, kept.content, kept.topic) == ("decision", "Use JWT", "auth_strategy")
    assert kept.metadata["reasoning"] == "Stateless; scales out"
    assert kept.metadata.get("outcome") is None
    assert kinds(words) == ["decision"]


@pytest.mark.promise("000-014")
def test_everything_a_decision_may_carry_is_kept_and_told(words):
    asked = {
        "confidence": 0.25,
        "alternatives": [{"option": "Sessions", "why_rejected": "Sticky servers"}, {"option": "Basic auth"}],
        "decision_type": "architecture",
        "tags": ["security", "인증"],
        "level": 1,
        "domain": "backend",
        "module": "auth",
        "code_ref": "file:///src/auth.py#L10-50",
        "valid_from": "2024-06-15T10:00:00Z",
    }
    created = words.ask("save/decision", **DECISION, **asked)["created"]
    details = created.pop("metadata")
    assert details == {
        "reasoning": "Stateless; scales out",
        "decision_type": "architecture",
        "alternatives": asked.pop("alternatives"),
    }
    assert asked.pop("decision_type") == "architecture"
    assert {name: created[name] for name in asked} == asked
    assert created["created_at"] > created["valid_from"]


def test_what_is_left_out_is_no_key_of_the_memory(words):
    created = words.ask("save/decision", **DECISION)["created"]
    assert not {"tags", "level", "domain", "module", "code_ref", "valid_until", "superseded_by"} & set(
        created
    )
    assert "alternatives" not in created["metadata"]
    assert None not in created.values()


@SAVES
def test_every_memory_of_a_save_is_whole_and_its_times_are_iso(words, tool):
    for number in range(2):
        reply = words.ask(tool, **OWN[tool], tags=[str(number)])
        for memory in (reply["created"], *reply.get("similar", [])):
            assert set(memory) >= WHOLE
            for name in ("created_at", "updated_at", "valid_from"):
                assert ISO.fullmatch(memory[name])


@SAVES
def test_the_reply_is_what_the_list_of_tools_says_it_is(facts, tool):
    for _ in range(2):
        validate(facts.ask(tool, **OWN[tool]), find_tool(tool).output_schema())


@SAVES
@pytest.mark.parametrize("confidence", [0, 0.0, 0.5, 1, 1.0])
def test_the_bounds_of_confidence_are_allowed(words, tool, confidence):
    if tool == "save/checkpoint":
        assert "confidence" in words.refused(tool, **OWN[tool], confidence=confidence)["message"]
    else:
        assert words.ask(tool, **OWN[tool], confidence=confidence)["created"]["confidence"] == confidence


def refusals():
    too_long = "x" * 201
    of_every_save = [
        ({"tags": "x"}, "tags must be a list"),
        ({"tags": [5]}, "tags[0] must be text"),
        ({"tags": [""]}, "tags must not be empty"),
        ({"tags": ["x"] * 51}, "tags must be at most 50; there are 51"),
        ({"tags": ["x" * 65]}, "tags must be at most 64 characters"),
        ({"tags": ["a\0"]}, "tags holds characters that are no text"),
        ({"level": 4}, "level must be a whole number from 0 to 3"),
        ({"level": -1}, "level must be a whole number from 0 to 3"),
        ({"level": 1.5}, "level must be a whole number from 0 to 3"),
        ({"level": True}, "level must be a whole number from 0 to 3"),
        ({"domain": " "}, "domain must not be empty"),
        ({"domain": too_long}, "domain must be at most 200 characters"),
        ({"module": ""}, "module must not be empty"),
        ({"module": too_long}, "module must be at most 200 characters"),
        ({"code_ref": ""}, "code_ref must not be empty"),
        ({"valid_from": "yesterday"}, "valid_from must be an ISO 8601 time"),
        ({"valid_from": 5}, "valid_from must be text"),
        ({"links": {}}, "links must be a list"),
        ({"links": ["x"]}, "links[0] must be an object"),
        ({"links": [{"to_id": "x"}]}, "links[0].relationship is required"),
        ({"links": [{"relationship": "x"}]}, "links[0].to_id is required"),
        ({"links": [{"to_id": 5, "relationship": "x"}]}, "links[0].to_id must be text"),
        (
            {"links": [{"to_id": "x", "relationship": "x", "why": "x"}]},
            'Unknown parameter "why" in links[0]',
        ),
        (
            {"links": [{"to_id": "x", "relationship": "x", "confidence": 1.1}]},
            "links[0].confidence must be a number from 0 to 1",
        ),
        ({"links": [{"to_id": "x", "relationship": " "}]}, "relationship must not be empty"),
        ({"links": [{"to_id": "", "relationship": "x"}]}, "to_id must not be empty"),
        ({"links": [{"to_id": "x", "relationship": "x"}] * 101}, "links must be at most 100; there are 101"),
        ({"session": 5}, "session must be text"),
        ({"session": "\ud800"}, "session holds characters that are no text"),
        ({"workspace": "nowhere"}, 'Workspace "nowhere" not found'),
        ({"workspace": "*"}, "A memory is stored in one workspace"),
        ({"colour": "red"}, 'Unknown parameter "colour"'),
    ]
    for tool, own in OWN.items():
        yield from ((tool, {**own, **wrong}, message) for wrong, message in of_every_save)
    of_decisions = [
        ({"topic": 5}, "topic must be text"),
        ({"topic": " "}, "topic must not be empty"),
        ({"topic": too_long}, "topic must be at most 200 characters"),
        ({"decision": "\u200b"}, "decision must not be empty"),
        ({"decision": "x" * 50_001}, "decision must be at most 50,000 characters"),
        ({"reasoning": ""}, "reasoning must not be empty"),
        ({"reasoning": None}, "reasoning must be text"),
        ({"reasoning": "x" * 50_001}, "reasoning must be at most 50,000 characters"),
        ({"confidence": 1.01}, "confidence must be a number from 0 to 1"),
        ({"confidence": -0.01}, "confidence must be a number from 0 to 1"),
        ({"confidence": float("nan")}, "confidence must be a number from 0 to 1"),
        ({"confidence": "0.7"}, "confidence must be a number from 0 to 1"),
        ({"confidence": None}, "confidence must be a number from 0 to 1"),
        ({"alternatives": "Sessions"}, "alternatives must be a list"),
        ({"alternatives": ["Sessions"]}, "alternatives[0] must be an object"),
        ({"alternatives": [{"why_rejected": "x"}]}, "alternatives[0].option is required"),
        ({"alternatives": [{"option": "x", "why": "y"}]}, 'Unknown parameter "why" in alternatives[0]'),
        ({"alternatives": [{"option": " "}]}, "option must not be empty"),
        ({"alternatives": [{"option": "x", "why_rejected": ""}]}, "why_rejected must not be empty"),
        ({"alternatives": [{"option": "x"}] * 101}, "alternatives must be at most 100; there are 101"),
        ({"reasons": "slow"}, "reasons must be a list"),
        ({"reasons": [5]}, "reasons[0] must be text"),
        ({"reasons": [" "]}, "reasons must not be empty"),
        ({"reasons": ["x"] * 101}, "reasons must be at most 100; there are 101"),
        ({"consequences": [""]}, "consequences must not be empty"),
        ({"constraints": ["x" * 50_001]}, "constraints must be at most 50,000 characters"),
        ({"supersedes": 5}, "supersedes must be text or a list"),
        ({"supersedes": [5]}, "supersedes must be text or a list"),
        ({"supersedes": ""}, "supersedes must not be empty"),
        ({"implements": "x"}, "implements must be a list"),
        ({"implements": [""]}, "implements must not be empty"),
        ({"decision_type": "hunch"}, 'decision_type must be "tech_choice" or "architecture"'),
    ]
    yield from (("save/decision", {**DECISION, **wrong}, message) for wrong, message in of_decisions)
    of_checkpoints = [
        ({"summary": " "}, "summary must not be empty"),
        ({"summary": "x" * 50_001}, "summary must be at most 50,000 characters"),
        ({"summary": ["x"]}, "summary must be text"),
        ({"open_files": "a.py"}, "open_files must be a list"),
        ({"open_files": [""]}, "open_files must not be empty"),
        ({"open_files": ["a.py"] * 101}, "open_files must be at most 100; there are 101"),
        ({"next_steps": 5}, "next_steps must be text or a list"),
        ({"next_steps": [" "]}, "next_steps must not be empty"),
        ({"implements": [5]}, "implements[0] must be text"),
    ]
    yield from (
        ("save/checkpoint", {**OWN["save/checkpoint"], **wrong}, message) for wrong, message in of_checkpoints
    )
    of_insights = [
        ({"content": "\n"}, "content must not be empty"),
        ({"content": 5}, "content must be text"),
        ({"content": "x" * 50_001}, "content must be at most 50,000 characters"),
        ({"category": ""}, "category must not be empty"),
        ({"category": too_long}, "category must be at most 200 characters"),
        ({"source": " "}, "source must not be empty"),
        ({"source": too_long}, "source must be at most 200 characters"),
        ({"confidence": 2}, "confidence must be a number from 0 to 1"),
        ({"topic": "x"}, 'Unknown parameter "topic"'),
    ]
    yield from (("save/insight", {**OWN["save/insight"], **wrong}, message) for wrong, message in of_insights)


@pytest.mark.promise("000-023")
@pytest.mark.parametrize(("tool", "arguments", "message"), list(refusals()))
def test_a_bad_save_is_refused_in_one_sentence_and_keeps_nothing_not_even_a_workspace(
    words, tool, arguments, message
):
    error = words.refused(tool, **arguments)
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith(message)
    assert words.whence.store.workspaces() == []


@pytest.mark.promise("000-023")
@pytest.mark.parametrize("missing", ["topic", "decision", "reasoning"])
def test_each_of_the_three_is_required(words, missing):
    asked = {name: value for name, value in DECISION.items() if name != missing}
    error = words.refused("save/decision", **asked)
    assert (error["code"], error["message"]) == ("INVALID_PARAMETER", f"{missing} is required")


@pytest.mark.parametrize(("tool", "missing"), [("save/checkpoint", "summary"), ("save/insight", "content")])
def test_a_checkpoint_needs_its_summary_and_an_insight_its_content(words, tool, missing):
    assert words.refused(tool)["message"] == f"{missing} is required"


@SAVES
def test_an_unknown_parameter_is_answered_with_the_accepted_names(words, tool):
    error = words.refused(tool, **OWN[tool], stateId="x")
    for name in (
        *OWN[tool],
        "links",
        "tags",
        "level",
        "domain",
        "module",
        "code_ref",
        "workspace",
        "session",
    ):
        assert name in error["hint"]


def test_an_unknown_field_of_a_link_is_answered_with_those_it_takes(words):
    wrong = [{"to_id": "x", "relationship": "x", "why": "y"}]
    assert words.refused("save/insight", content="x", links=wrong)["hint"] == (
        "It takes to_id, relationship, reason, confidence."
    )


def test_a_whole_number_may_be_written_with_a_point(words):
    assert words.ask("save/insight", content="x", level=2.0)["created"]["level"] == 2


# -- what it may make outdated


def test_a_live_decision_on_the_same_topic_is_offered_and_not_replaced(words):
    old = words.ask("save/decision", **DECISION)["created"]
    asked = {**DECISION, "topic": "Auth Strategy", "decision": "Use sessions"}
    reply = words.ask("save/decision", **asked)
    assert reply["similar"] == [old]
    assert offered(reply["action_required"], old["id"], reply["created"]["id"])
    assert words.whence.get(old["id"]).is_live


def test_of_several_on_the_topic_the_newest_is_offered_and_superseded_ones_never(words):
    first, second = words.decide("Use JWT"), words.decide("Use cookies")
    reply = words.ask("save/decision", topic="auth", decision="Use PASETO", reasoning="Newer")
    assert [each["id"] for each in reply["similar"]] == [second, first]
    assert offered(reply["action_required"], second, reply["created"]["id"])
    third = reply["created"]["id"]
    words.ask("evolve/supersede", old_id=second, new_id=third)
    words.ask("evolve/supersede", old_id=first, new_id=third)
    last = words.ask("save/decision", topic="auth", decision="Use OIDC", reasoning="Standard")
    assert [each["id"] for each in last["similar"]] == [third]


def test_a_decision_that_supersedes_the_one_on_its_topic_offers_nothing(words):
    old = words.decide("Use JWT")
    reply = words.ask("save/decision", **{**DECISION, "topic": "auth"}, supersedes=old)
    assert (reply["similar"], reply["action_required"]) == ([], None)


def test_a_decision_on_the_same_topic_in_another_project_is_not_offered(words):
    words.decide("Use JWT")
    reply = words.of(place=Place(name="theirs")).ask("save/decision", **{**DECISION, "topic": "auth"})
    assert (reply["similar"], reply["action_required"]) == ([], None)


def test_an_insight_that_contradicts_an_earlier_one_offers_to_replace_it(facts):
    old = facts.learn("The user lives in Seattle")
    reply = facts.ask("save/insight", content="The user moved to Austin")
    assert [each["id"] for each in reply["similar"]] == [old]
    assert offered(reply["action_required"], old, reply["created"]["id"])
    assert facts.whence.get(old).is_live


@pytest.mark.parametrize(
    ("listed", "call"),
    [
        (None, 'Call evolve_supersede(old_id="{old}", new_id="{new}")'),
        ({"evolve/supersede": "evolve/supersede"}, 'Call evolve/supersede(old_id="{old}", new_id="{new}")'),
        ({"supersede_memory": "supersede_memory"}, 'Call supersede_memory("{old}", "{new}")'),
    ],
)
def test_the_offer_names_a_tool_that_the_caller_sees(words, listed, call):
    old = words.decide()
    reply = words.of(listed=listed).ask("save/decision", **{**DECISION, "topic": "auth"})
    assert reply["action_required"].startswith(call.format(old=old, new=reply["created"]["id"]))


def test_a_live_decision_that_rejected_the_choice_is_a_conflict_with_its_reason(words):
    old = words.decide(
        "Use PostgreSQL", "database", reasoning="Concurrent writers", alternatives=[{"option": "MongoDB"}]
    )
    reply = words.ask("save/decision", topic="event_store", decision="Use MongoDB", reasoning="Documents")
    assert reply["conflicts"] == [
        {
            "id": old,
            "reason": "'MongoDB' was rejected in favor of 'Use PostgreSQL' (rationale: Concurrent writers)",
        }
    ]


def test_no_conflict_is_with_what_the_new_decision_replaces_nor_with_what_was_replaced_before(words):
    old = words.decide("Use PostgreSQL", "database", alternatives=[{"option": "MongoDB"}])
    asked = {"topic": "database", "decision": "Use MongoDB", "reasoning": "Documents"}
    assert words.ask("save/decision", **asked, supersedes=old)["conflicts"] == []
    assert words.ask("save/decision", **asked)["conflicts"] == []


@pytest.mark.parametrize(
    ("tool", "arguments"), [("save/decision", DECISION), ("save/insight", {"content": "We use JWT"})]
)
def test_a_save_that_cannot_look_around_still_says_that_it_is_stored(words, store, tool, arguments):
    words.decide()
    with store._file.writing() as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE memories SET tags = 'broken'")
    outcome = words.call(tool, **arguments)
    assert not outcome.is_error, "the memory is stored: an error would be a lie"
    assert any("could not be looked up" in each for each in outcome.notices)
    assert words.whence.get(outcome.structured["created"]["id"]).is_live


@SAVES
def test_a_failing_database_leaves_nothing_of_a_save_behind(words, store, tool):
    other = words.learn("Something is here")
    with store._file.writing() as connection:
        connection.execute(
            "CREATE TRIGGER fail BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'planted'); END"
        )
    links = [{"to_id": other, "relationship": "refines"}]
    assert words.refused(tool, **OWN[tool], links=links)["code"] == "STORAGE_ERROR"
    assert words.links(other) == []


# -- reasons, consequences, constraints


PARTS = {
    "reasons": ["Sessions vanish on restart"],
    "consequences": ["Logout needs a denylist", "Tokens grow"],
    "constraints": ["No shared Redis"],
}


def test_each_part_of_a_decision_is_a_memory_of_its_own_linked_to_it(words):
    kept = words.decide(**PARTS)
    assert kinds(words) == ["consequence", "consequence", "constraint", "decision", "reason"]
    known = {each.id: each for each in words.whence.store.every()}
    told = {
        (known[each.from_id].type, each.relationship, known[each.to_id].type, each.link_type)
        for each in words.links(kept)
    }
    assert told == {
        ("reason", "justifies", "decision", "implementation"),
        ("decision", "leads_to", "consequence", "implementation"),
        ("constraint", "blocks", "decision", "association"),
    }
    assert words.ask("load/context", id=kept)["causes"] == {
        "reasons": ["It fits", *PARTS["reasons"]],
        "constraints": PARTS["constraints"],
        "consequences": PARTS["consequences"],
    }


@pytest.mark.parametrize("text", [each for texts in PARTS.values() for each in texts])
def test_the_words_of_a_part_lead_to_its_decision_which_alone_answers(words, text):
    kept = words.decide(**PARTS)
    (hit,) = words.ask("search/by_context", query=text)["memories"]
    assert hit["id"] == kept
    assert words.whence.get(hit["why"]["found_through"]).content == text
    assert words.hits(text, types=["decision"]) == [kept]
    assert words.hits(text, types=["insight"]) == []
    assert words.found(text) == [kept]


def test_no_list_and_no_search_shows_a_part(words):
    kept = words.decide(**PARTS)
    assert [each["id"] for each in words.ask("search/recent", limit=50)["memories"]] == [kept]
    assert words.recent(limit=50) == [kept]
    for tool, needed in (("search/by_context", {"query": "sessions"}), ("search/recent", {})):
        for kind in ("reason", "consequence", "constraint"):
            assert words.refused(tool, **needed, types=[kind])["message"].startswith("types[0] must be")


def test_the_words_of_a_part_of_a_replaced_decision_lead_to_what_replaced_it(words):
    old = words.decide(**PARTS)
    new = words.decide("Use cookies", supersedes=old)
    assert words.hits("Sessions vanish on restart") == [new]


def test_moving_a_decision_moves_its_parts(words):
    kept = words.decide(**PARTS)
    other = found_workspace(words.whence, Place(name="other")).id
    words.whence.move(kept, other)
    assert {each.workspace for each in words.whence.store.every()} == {other}
    assert words.hits("Sessions vanish") == []
    assert words.hits("Sessions vanish", workspace="other") == [kept]


def test_a_part_draws_no_decision_number(words):
    words.decide(**PARTS)
    second = words.decide("Use cookies", "sessions", **PARTS)
    assert words.whence.get(second).number == 2


# -- supersedes


@pytest.mark.promise("000-051")
def test_a_decision_replaces_the_one_that_supersedes_names(words):
    old = words.decide("Use sessions")
    reply = words.ask("save/decision", **DECISION, supersedes=old)
    new = reply["created"]
    assert (new["supersedes"], reply["links_created"]) == (old, 1)
    (link,) = words.links(new["id"])
    assert (link.from_id, link.to_id, link.link_type) == (new["id"], old, "evolution")
    assert (link.relationship, link.confidence, link.created_by) == ("supersedes", 1.0, "llm")
    before = words.whence.get(old)
    assert before.superseded_by == new["id"]
    assert words.hits("Use sessions") == [new["id"]]


@pytest.mark.promise("000-051")
def test_one_decision_may_replace_several_and_a_memory_of_any_type(words):
    olds = [words.decide("Use sessions"), words.learn("We use basic auth"), words.store("Auth is basic")]
    reply = words.ask("save/decision", **DECISION, supersedes=[*olds, olds[0]])
    assert reply["created"]["supersedes"] == olds[-1]
    assert reply["created"]["supersedes_all"] == olds[::-1]
    assert reply["links_created"] == 3
    assert {words.whence.get(each).superseded_by for each in olds} == {reply["created"]["id"]}


def test_an_already_replaced_decision_is_refused_with_the_head_of_its_chain(words):
    old = words.decide("Use sessions")
    middle = words.decide("Use JWT", supersedes=old)
    head = words.decide("Use PASETO", supersedes=middle)
    error = words.refused("save/decision", **DECISION, supersedes=old)
    assert (error["code"], error["message"]) == (
        "INVALID_PARAMETER",
        f"Memory {old} is already superseded",
    )
    assert head in error["hint"]


@pytest.mark.promise("000-053")
@pytest.mark.parametrize(
    "wrong",
    [
        {"supersedes": UNKNOWN},
        {"supersedes": ["KNOWN", UNKNOWN]},
        {"implements": ["KNOWN", UNKNOWN]},
        {"links": [{"to_id": "KNOWN", "relationship": "x"}, {"to_id": UNKNOWN, "relationship": "x"}]},
        {"links": [{"to_id": UNKNOWN, "relationship": "Replaces"}]},
        {"reasons": ["kept with it"], "implements": [UNKNOWN]},
    ],
)
def test_an_unknown_id_refuses_the_whole_save(words, wrong):
    known = words.decide("Use sessions")
    asked = json.loads(json.dumps(wrong).replace("KNOWN", known).replace(f"UN{known}", UNKNOWN))
    error = words.refused("save/decision", **DECISION, **asked)
    assert (error["code"], error["message"]) == ("MEMORY_NOT_FOUND", f"Memory with ID {UNKNOWN} not found")


def test_decisions_are_named_by_their_numbers_too(words):
    one, two = words.decide("Use sessions"), words.decide("Use nginx", "proxy")
    reply = words.ask("save/decision", **DECISION, supersedes=["1"], implements=["2"])
    assert {(each.relationship, each.to_id) for each in words.links(reply["created"]["id"])} == {
        ("supersedes", one),
        ("implements", two),
    }
    assert (
        words.refused("save/decision", **DECISION, supersedes="9")["message"] == "Memory with ID 9 not found"
    )


# -- implements and links


@pytest.mark.promise("000-052")
@pytest.mark.parametrize("tool", ["save/decision", "save/checkpoint"])
def test_implements_links_to_each_named_memory(words, tool):
    named = [words.decide("Use JWT"), words.learn("Tokens expire")]
    created = words.ask(tool, **OWN[tool], implements=named)["created"]["id"]
    links = {each.to_id: each for each in words.links(created)}
    assert set(links) == set(named)
    for link in links.values():
        assert (link.from_id, link.link_type, link.relationship) == (created, "implementation", "implements")
        assert (link.confidence, link.created_by) == (1.0, "llm")


@SAVES
@pytest.mark.promise("000-053", "000-064")
def test_each_entry_of_links_makes_one_link_as_it_was_told(words, tool):
    one, two = words.decide("Use sessions", "sessions"), words.learn("Tokens expire")
    links = [
        {"to_id": one, "relationship": "Inspired By", "reason": "the same users", "confidence": 0.4},
        {"to_id": two, "relationship": "depends-on"},
    ]
    reply = words.ask(tool, **OWN[tool], links=links)
    assert reply.get("links_created", 2) == 2
    created = reply["created"]["id"]
    first, second = sorted(words.links(created), key=lambda each: each.to_id != one)
    assert (first.from_id, first.to_id, first.relationship) == (created, one, "inspired_by")
    assert (first.confidence, first.created_by, first.link_type) == (0.4, "llm", "association")
    assert first.metadata == {"original_relationship": "Inspired By", "reason": "the same users"}
    assert (second.to_id, second.confidence) == (two, 0.8)
    assert second.metadata == {"original_relationship": "depends-on"}


@pytest.mark.promise("000-062", "000-063", "000-064")
@pytest.mark.parametrize(
    ("word", "link_type"),
    [
        ("motivated_by", "association"),
        ("Motivated by", "association"),
        ("refines", "evolution"),
        ("builds-on", "evolution"),
        ("IMPLEMENTS", "implementation"),
        ("realizes", "implementation"),
        ("precedes", "temporal"),
        ("frobnicates", "association"),
        ("이어받음", "association"),
    ],
)
def test_a_relationship_word_gets_its_core_type_and_is_kept(words, word, link_type):
    other = words.learn("Tokens expire")
    assert link_type in LINK_TYPES
    kept = words.learn("x", links=[{"to_id": other, "relationship": word}])
    (link,) = words.links(kept)
    assert link.link_type == link_type
    assert link.metadata["original_relationship"] == word
    told = words.ask("load/context", id=kept)["neighbours"]
    assert [each["relationship"] for each in told] == [word]


def test_the_same_link_told_twice_in_one_save_is_one(words):
    other = words.learn("Tokens expire")
    link = {"to_id": other, "relationship": "refines"}
    kept = words.learn("x", links=[link, {**link, "relationship": "Refines"}])
    assert len(words.links(kept)) == 1


@pytest.mark.parametrize("word", ["supersedes", "Supersedes", "replaces"])
def test_a_link_whose_word_supersedes_replaces_the_memory(words, word):
    old = words.decide("Use sessions")
    reply = words.ask("save/decision", **DECISION, links=[{"to_id": old, "relationship": word}])
    assert words.whence.get(old).superseded_by == reply["created"]["id"]
    assert reply["links_created"] == 1


def test_a_link_whose_word_supersedes_keeps_its_word_and_its_reason(words):
    old = words.decide("Use sessions")
    links = [{"to_id": old, "relationship": "Replaces", "reason": "Restarts lose them"}]
    (link,) = words.links(words.decide(links=links))
    assert link.metadata == {"original_relationship": "Replaces", "reason": "Restarts lose them"}


@pytest.mark.parametrize("word", ["refines", "improves", "upgrades", "evolves_from"])
def test_no_other_word_of_evolution_replaces_anything(words, word):
    old = words.decide("Use sessions")
    words.decide("Use JWT", links=[{"to_id": old, "relationship": word}])
    assert words.whence.get(old).is_live


@pytest.mark.parametrize("creator", ["llm", "user"])
def test_a_link_shows_who_stated_it(words, creator):
    caller = words.of(creator=creator)
    old, other = caller.decide("Use sessions"), caller.learn("Tokens expire")
    kept = caller.decide(
        supersedes=old, implements=[other], links=[{"to_id": other, "relationship": "x"}], **PARTS
    )
    assert {each.created_by for each in words.links(kept)} == {creator}


# -- retries


@SAVES
def test_the_same_save_in_the_same_session_within_ten_minutes_answers_with_the_first(facts, clock, tool):
    here = facts.of(may_repeat=True)
    other = here.learn("Tokens expire")
    asked = {**OWN[tool], "links": [{"to_id": other, "relationship": "refines"}], "tags": ["x"]}
    first = here.ask(tool, **asked)
    before = here.dump()
    clock.advance(9 * 60_000_000)
    assert here.ask(tool, **asked) == first
    assert [line for line in here.dump() if '"kind":"link"' in line] == [
        line for line in before if '"kind":"link"' in line
    ]
    clock.advance(2 * 60_000_000)
    assert here.ask(tool, **asked)["created"]["id"] != first["created"]["id"]


def test_a_retry_that_replaced_something_answers_with_the_first(facts):
    here = facts.of(may_repeat=True)
    old = here.decide("Use sessions")
    first = here.ask("save/decision", **DECISION, supersedes=old, reasons=["Restarts"])
    before = here.dump()
    assert here.ask("save/decision", **DECISION, supersedes=old, reasons=["Restarts"]) == first
    assert here.dump() == before


def test_a_retry_counts_the_links_as_the_first_did(facts):
    first = facts.ask("save/decision", **DECISION, session="s", consequences=["Logout is hard"])
    assert facts.ask("save/decision", **DECISION, session="s", consequences=["Logout is hard"]) == first


@SAVES
def test_any_difference_or_another_session_or_project_or_none_makes_a_memory(words, tool):
    here = words.of(may_repeat=True)
    ids = [
        caller.ask(tool, **OWN[tool], **more)["created"]["id"]
        for caller, more in [
            (here, {}),
            (here, {"tags": ["x"]}),
            (here, {"session": "other"}),
            (here.of(session="another"), {}),
            (here.of(place=Place(name="elsewhere")), {}),
            (words, {}),  # this caller's session has no retries
        ]
    ]
    assert len(set(ids)) == 6


def test_a_retry_after_the_first_was_replaced_makes_a_memory(words):
    here = words.of(may_repeat=True)
    first = here.decide()
    here.decide("Use cookies", supersedes=first)
    assert here.decide() != first


# -- secrets


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        *(
            ("save/decision", {name: f"with {SECRET}"})
            for name in ("topic", "decision", "reasoning", "domain", "module", "code_ref")
        ),
        *(
            ("save/decision", {name: [f"with {SECRET}"]})
            for name in ("reasons", "consequences", "constraints", "tags")
        ),
        ("save/decision", {"alternatives": [{"option": f"with {SECRET}"}]}),
        ("save/decision", {"alternatives": [{"option": "x", "why_rejected": f"with {SECRET}"}]}),
        *(
            (tool, {"links": [{"to_id": "OTHER", "relationship": "refines", "reason": f"with {SECRET}"}]})
            for tool in OWN
        ),
        ("save/insight", {"links": [{"to_id": "OTHER", "relationship": f"with {SECRET}"}]}),
        ("save/checkpoint", {"summary": f"with {SECRET}"}),
        ("save/checkpoint", {"open_files": [f"with {SECRET}"]}),
        ("save/checkpoint", {"next_steps": f"with {SECRET}"}),
        ("save/checkpoint", {"next_steps": ["x", f"with {SECRET}"]}),
        ("save/insight", {"content": f"with {SECRET}"}),
        ("save/insight", {"category": f"with {SECRET}"}),
        ("save/insight", {"source": f"with {SECRET}"}),
    ],
)
def test_a_secret_is_masked_wherever_it_stands_and_the_caller_told_once(words, tool, told):
    other = words.learn("Tokens expire")
    asked = json.loads(json.dumps({**OWN[tool], **told}).replace("OTHER", other))
    outcome = words.call(tool, **asked)
    assert not outcome.is_error
    assert SECRET not in outcome.text + repr(outcome.structured) + "".join(words.dump())
    assert MASKED in "".join(words.dump())
    (notice,) = [each for each in outcome.structured["notices"] if "AWS key" in each]
    assert notice in outcome.text


# -- checkpoints


@pytest.mark.promise("000-003", "000-014")
def test_a_checkpoint_keeps_summary_open_files_and_next_steps(words):
    asked = {"summary": "Login works", "open_files": ["src/auth.py"], "next_steps": ["mend test_refresh"]}
    reply = words.ask("save/checkpoint", **asked)
    created = reply["created"]
    assert (created["type"], created["content"]) == ("checkpoint", "Login works")
    assert created["metadata"] == {
        "open_files": ["src/auth.py"],
        "next_steps": ["mend test_refresh"],
        "status": "active",
    }
    assert reply["implements"] == []
    assert kinds(words) == ["checkpoint"]


def test_next_steps_are_taken_as_text_or_list_and_given_back_as_they_came(words):
    for steps in ("mend the tests, then merge", ["mend the tests", "merge"]):
        words.ask("save/checkpoint", summary="x", next_steps=steps)
        assert words.ask("load/checkpoint")["next_steps"] == steps
    words.ask("save/checkpoint", summary="x", next_steps="  ")
    assert words.ask("load/checkpoint")["next_steps"] == []


@pytest.mark.promise("000-014")
def test_a_checkpoint_put_away_has_the_status_archived(words):
    kept = words.ask("save/checkpoint", summary="Login works")["created"]["id"]
    words.whence.archive(kept)
    told = words.ask("load/context", id=kept)["memory"]
    assert (told["metadata"]["status"], told["status"]) == ("archived", "archived")


@pytest.mark.promise("000-054")
def test_a_checkpoint_has_the_links_it_states_and_no_other(words):
    decision = words.decide()
    words.ask("save/checkpoint", summary="Use JWT")
    reply = words.ask("save/checkpoint", summary="Use JWT everywhere", implements=[decision])
    assert reply["implements"] == [decision]
    links = words.whence.store.graph().links(reply["created"]["id"])
    assert [(each.to_id, each.relationship) for each in links] == [(decision, "implements")]


# -- insights


@pytest.mark.promise("000-055", "000-003", "000-014")
def test_an_insight_keeps_category_tags_and_where_it_was_learned(words):
    asked = {"content": "pg_dump needs the same major version", "category": "ops", "source": "incident 7"}
    created = words.ask("save/insight", **asked, tags=["postgres"])["created"]
    assert (created["type"], created["content"], created["confidence"]) == (
        "insight",
        asked["content"],
        1.0,
    )
    assert created["metadata"] == {"category": "ops", "source": "incident 7", "tags": ["postgres"]}
    assert created["tags"] == ["postgres"]
    assert words.whence.get(created["id"]).source == "explicit", "001's enum is a column of its own"


def test_an_insight_alone_has_no_details(words):
    created = words.ask("save/insight", content="x")["created"]
    assert "metadata" not in created
    assert "tags" not in created


# -- every save


@SAVES
def test_korean_is_saved_to_the_letter_and_found(words, tool):
    korean = {
        "save/decision": {
            "topic": "인증_방식",
            "decision": "JWT를 쓴다",
            "reasoning": "상태가 없어 확장된다",
        },
        "save/checkpoint": {"summary": "로그인이 동작한다", "next_steps": "확장 테스트"},
        "save/insight": {"content": "토큰은 한 시간 뒤 만료된다", "category": "인증"},
    }[tool]
    created = words.ask(tool, **korean)["created"]
    assert created["content"] in korean.values()
    assert words.hits(created["content"]) == [created["id"]]


def test_a_korean_question_meets_the_reasoning_of_a_korean_decision(words):
    kept = words.decide("JWT를 쓴다", "인증_방식", reasoning="상태가 없어 확장된다")
    assert words.hits("왜 확장이 쉬운가") == [kept]


@SAVES
def test_the_text_of_a_save_says_what_was_saved_under_which_id(words, tool):
    outcome = words.call(tool, **OWN[tool])
    created = outcome.structured["created"]
    assert created["id"] in outcome.text
    assert created["content"] in outcome.text


def test_the_text_of_a_decision_tells_similar_conflicts_and_the_action(words):
    old = words.decide("Use sessions", alternatives=[{"option": "JWT"}])
    outcome = words.call("save/decision", **{**DECISION, "topic": "auth"})
    lines = outcome.text.splitlines()
    assert lines[0] == f"Saved {outcome.structured['created']['id']}: Use JWT"
    assert lines[1].startswith("Similar auth: Use sessions")
    assert lines[2].startswith(f"Conflict with {old}: 'JWT' was rejected")
    assert lines[3] == outcome.structured["action_required"]


@SAVES
def test_without_a_model_a_save_succeeds_and_says_what_waits(words, tool):
    outcome = words.call(tool, **OWN[tool])
    assert "EMBEDDING_ERROR" in outcome.structured["notices"][0]
    assert outcome.structured["created"]["labels"] == ["pending"]


@SAVES
def test_with_a_model_nothing_waits_and_nothing_is_noticed(facts, tool):
    reply = facts.ask(tool, **OWN[tool])
    assert "notices" not in reply
    assert "labels" not in reply["created"]


@SAVES
def test_the_history_says_who_saved_by_which_tool_in_which_session(words, tool):
    created = words.of(client="probe 1").ask(tool, **OWN[tool], session="conversation-7")["created"]["id"]
    (event,) = words.whence.history(created)
    assert event.author.client == "probe 1"
    assert (event.author.session, event.author.tool) == ("conversation-7", tool)


@SAVES
def test_a_save_goes_to_the_workspace_that_is_named_and_else_to_the_projects(words, tool):
    here = words.ask(tool, **OWN[tool])["created"]["id"]
    everywhere = words.ask(tool, **OWN[tool], workspace="global")["created"]["id"]
    names = {each.id: each.name for each in words.whence.store.workspaces()}
    assert names[words.whence.get(here).workspace] == "project"
    assert names[words.whence.get(everywhere).workspace] == "global"
    assert words.refused(tool, **OWN[tool], workspace="porject")["did_you_mean"] == ["project"]


@SAVES
def test_a_save_wakes_the_background_once_it_is_stored(words, tool):
    woken = []
    caller = words.of(on_saved=lambda: woken.append(tool))
    caller.refused(tool)
    assert woken == []
    caller.ask(tool, **OWN[tool])
    assert woken == [tool]


@SAVES
def test_what_is_saved_here_is_read_through_the_facts_family(words, tool):
    created = words.ask(tool, **OWN[tool])["created"]
    assert words.recent() == [created["id"]]
    assert words.found(created["content"]) == [created["id"]]
    successor = words.ask(tool, **OWN[tool], tags=["later"])["created"]["id"]
    words.ask("supersede_memory", old_memory_id=created["id"], new_memory_id=successor)
    assert words.recent() == [successor]


@SAVES
def test_every_spelling_of_the_name_saves(words, tool):
    for name in (tool, tool.replace("/", "."), flat(tool)):
        assert words.ask(name, **OWN[tool])["created"]
