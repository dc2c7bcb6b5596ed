"""Do evolve/outcome and evolve/supersede keep what INTENTS.md and document 000 say of them?"""

from __future__ import annotations

import pytest
from jsonschema import validate

from whence.features.workspaces import Place
from whence.surfaces.families import find_tool

UNKNOWN = "decision_00000000000000000000000000"
SECRET, MASKED = "AKIAIOSFODNN7EXAMPLE", "[masked AWS key]"
NEW = {"decision": "Use JWT", "reasoning": "Stateless"}


def failed(words, decision_id, reason="Logout takes an hour", **arguments):
    return words.ask("evolve/outcome", decision_id=decision_id, outcome="FAILED", reason=reason, **arguments)


def replaced(words, old_id, **arguments):
    return words.ask("evolve/supersede", old_id=old_id, **{**NEW, **arguments})


# -- evolve/outcome


@pytest.mark.promise("000-060", "000-008")
@pytest.mark.parametrize("outcome", ["SUCCESS", "FAILED", "PARTIAL"])
@pytest.mark.parametrize("written", [str.upper, str.lower, str.title])
def test_each_outcome_in_any_case_is_stored_on_the_decision(words, outcome, written):
    kept = words.decide()
    reply = words.ask("evolve/outcome", decision_id=kept, outcome=written(outcome), reason="As seen")
    assert reply["updated"]["id"] == kept
    assert reply["updated"]["metadata"]["outcome"] == outcome
    assert words.whence.get(kept).metadata["outcome"] == outcome
    assert words.hits("JWT")[0] == kept, "a decision that failed still answers, and says so"


@pytest.mark.promise("000-060")
def test_a_reason_becomes_a_lesson_that_is_linked_to_the_decision(words):
    kept = words.decide()
    reply = failed(words, kept)
    lesson, link = reply["lesson"], reply["link"]
    assert (lesson["type"], lesson["content"], lesson["topic"]) == ("insight", "Logout takes an hour", "auth")
    assert (link["from_id"], link["to_id"]) == (lesson["id"], kept)
    assert (link["relationship"], link["link_type"]) == ("outcome_of", "implementation")
    assert (link["confidence"], link["effective_confidence"], link["created_by"]) == (1.0, 1.0, "llm")
    (stored,) = words.links(kept)
    assert (stored.id, stored.from_id, stored.relationship) == (link["id"], lesson["id"], "outcome_of")
    assert reply["updated"]["metadata"]["outcome_reason"] == "Logout takes an hour"


@pytest.mark.promise("000-008")
def test_a_later_search_of_the_subject_meets_the_failure_and_its_reason(words):
    kept = words.decide("Use JWT for logins")
    failed(words, kept, "Revoking takes an hour")
    for outcome in (
        words.call("search/by_context", query="Use JWT for logins"),
        words.call("search/by_topic", topic="auth"),
        words.call("load/context", topic="auth"),
    ):
        assert "FAILED" in outcome.text
        assert "Revoking takes an hour" in outcome.text
    memories = words.ask("search/by_context", query="logins")["memories"]
    assert [each["content"] for each in memories] == ["Use JWT for logins", "Revoking takes an hour"]


@pytest.mark.promise("000-008")
def test_a_question_about_the_subject_in_other_words_meets_the_failure(facts):
    kept = facts.decide("Keep user sessions in signed tokens", "auth")
    lesson = failed(facts, kept, "Revoking a stolen token was impossible")["lesson"]["id"]
    assert {kept, lesson} <= set(facts.hits("how should people stay logged in?"))


def test_success_without_reason_or_evidence_makes_no_link(words):
    kept = words.decide()
    reply = words.ask("evolve/outcome", decision_id=kept, outcome="SUCCESS")
    assert (reply["lesson"], reply["link"]) == (None, None)
    assert words.links(kept) == []
    assert "outcome_reason" not in reply["updated"]["metadata"]


@pytest.mark.promise("000-060")
@pytest.mark.parametrize("outcome", ["SUCCESS", "PARTIAL"])
def test_an_evidence_memory_is_linked_the_same_way(words, outcome):
    kept, shown = words.decide(), words.store("Load test of 19 November: 3,000 logins a second")
    reply = words.ask("evolve/outcome", decision_id=kept, outcome=outcome, evidence_id=shown)
    assert reply["lesson"] is None
    assert (reply["link"]["from_id"], reply["link"]["to_id"]) == (shown, kept)
    assert (reply["link"]["relationship"], reply["link"]["link_type"]) == ("outcome_of", "implementation")
    (told,) = words.ask("load/context", id=kept)["outcome"]["lessons"]
    assert told["id"] == shown


def test_a_reason_and_an_evidence_are_both_linked(words):
    kept, shown = words.decide(), words.store("Incident 7")
    reply = failed(words, kept, evidence_id=shown)
    assert {each.from_id for each in words.links(kept)} == {reply["lesson"]["id"], shown}
    assert reply["link"]["from_id"] == reply["lesson"]["id"]


def test_the_evidence_may_be_a_decision_called_by_its_number(words):
    kept, shown = words.decide(), words.decide("Use cookies", "sessions")
    words.ask("evolve/outcome", decision_id="1", outcome="PARTIAL", evidence_id="2")
    assert [(each.from_id, each.to_id) for each in words.links(kept)] == [(shown, kept)]


def test_a_limitation_is_kept_and_told(words):
    kept = words.decide()
    reply = words.ask("evolve/outcome", decision_id=kept, outcome="PARTIAL", limitation="Web only")
    assert reply["updated"]["metadata"]["limitation"] == "Web only"
    assert words.ask("load/context", id=kept)["outcome"] == {"outcome": "PARTIAL", "limitation": "Web only"}


def test_the_last_outcome_counts_and_takes_the_earlier_ones_words_away(words):
    kept = words.decide()
    failed(words, kept, limitation="Web only")
    reply = words.ask("evolve/outcome", decision_id=kept, outcome="SUCCESS")
    details = reply["updated"]["metadata"]
    assert details["outcome"] == "SUCCESS"
    assert not {"outcome_reason", "limitation"} & set(details)
    assert details["reasoning"] == "It fits"


def test_the_earlier_outcome_stays_in_history(words):
    kept = words.decide()
    failed(words, kept)
    words.ask("evolve/outcome", decision_id=kept, outcome="SUCCESS")
    events = words.whence.history(kept)
    assert [each.action for each in events] == ["created", "outcome", "outcome"]
    assert events[2].replaced["metadata"]["outcome"] == "FAILED"


def test_an_outcome_moves_neither_the_time_of_change_nor_what_held(words):
    kept = words.ask("save/decision", topic="auth", decision="Use JWT", reasoning="x")["created"]
    told = failed(words, kept["id"])["updated"]
    for name in ("created_at", "updated_at", "valid_from", "status", "confidence", "content"):
        assert told[name] == kept[name]
    assert "valid_until" not in told


@pytest.mark.parametrize("reason", ["Logout takes an hour", f"The key {SECRET} leaked"])
def test_the_same_outcome_again_makes_no_second_lesson_and_no_second_link(words, reason):
    kept = words.decide()
    first = failed(words, kept, reason)
    before = words.dump()
    again = failed(words, kept, reason)
    assert words.dump() == before
    assert (again["lesson"], again["link"]) == (first["lesson"], first["link"])


def test_another_reason_is_another_lesson_which_replaces_the_earlier_one(words):
    kept = words.decide()
    first, second = (failed(words, kept, reason)["lesson"]["id"] for reason in ("Logout", "Token size"))
    assert words.whence.get(first).superseded_by == second
    assert words.hits("Logout", types=["insight"]) == [second]


def test_an_outcome_that_turned_good_puts_the_lesson_of_the_failure_away_and_no_evidence(words):
    kept, shown = words.decide(), words.learn("Incident 7: logout", category="incidents")
    lesson = failed(words, kept, "Logout", evidence_id=shown)["lesson"]["id"]
    words.ask("evolve/outcome", decision_id=kept, outcome="SUCCESS")
    assert words.hits("logout", types=["insight"]) == [shown]
    assert words.whence.get(lesson).status == "archived"


@pytest.mark.parametrize("name", ["decision_id", "id", "decisionId"])
def test_the_decision_may_be_named_by_three_words_and_by_its_number(words, name):
    kept = words.decide()
    for told in (kept, "1", " 1 "):
        reply = words.ask("evolve/outcome", **{name: told}, outcome="SUCCESS")
        assert reply["updated"]["id"] == kept


def test_the_same_decision_under_two_words_is_no_contradiction(words):
    kept = words.decide()
    assert words.ask("evolve/outcome", decision_id=kept, id=kept, outcome="SUCCESS")["updated"]["id"] == kept


def test_a_superseded_decision_still_gets_its_outcome(words):
    old = words.decide()
    new = words.decide("Use cookies", supersedes=old)
    failed(words, old)
    assert words.whence.get(old).superseded_by == new
    assert words.whence.get(old).metadata["outcome"] == "FAILED"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"outcome": "SUCCESS"}, "INVALID_PARAMETER", "decision_id is required"),
        ({"decision_id": " ", "outcome": "SUCCESS"}, "INVALID_PARAMETER", "decision_id is required"),
        ({"decision_id": "KNOWN"}, "INVALID_PARAMETER", "outcome is required"),
        ({"decision_id": 1, "outcome": "SUCCESS"}, "INVALID_PARAMETER", "decision_id must be text"),
        ({"id": 1, "outcome": "SUCCESS"}, "INVALID_PARAMETER", "id must be text"),
        (
            {"decision_id": "KNOWN", "id": "OTHER", "outcome": "SUCCESS"},
            "INVALID_PARAMETER",
            "decision_id, id and decisionId name different decisions",
        ),
        *(
            (
                {"decision_id": "KNOWN", "outcome": outcome},
                "INVALID_PARAMETER",
                'outcome must be "SUCCESS" or "FAILED" or "PARTIAL"',
            )
            for outcome in ("", "GREAT", "PENDING", "SUCCESSFUL", "성공")
        ),
        ({"decision_id": "KNOWN", "outcome": 1}, "INVALID_PARAMETER", "outcome must be text"),
        ({"decision_id": "KNOWN", "outcome": "FAILED"}, "INVALID_PARAMETER", "reason is required for FAILED"),
        (
            {"decision_id": "KNOWN", "outcome": "failed", "limitation": "x"},
            "INVALID_PARAMETER",
            "reason is required for FAILED",
        ),
        (
            {"decision_id": "KNOWN", "outcome": "FAILED", "reason": " "},
            "INVALID_PARAMETER",
            "reason must not be empty",
        ),
        (
            {"decision_id": "KNOWN", "outcome": "FAILED", "reason": "x" * 2001},
            "INVALID_PARAMETER",
            "reason must be at most 2,000 characters",
        ),
        (
            {"decision_id": "KNOWN", "outcome": "SUCCESS", "limitation": ""},
            "INVALID_PARAMETER",
            "limitation must not be empty",
        ),
        (
            {"decision_id": UNKNOWN, "outcome": "SUCCESS"},
            "MEMORY_NOT_FOUND",
            f"Memory with ID {UNKNOWN} not found",
        ),
        ({"decision_id": "99", "outcome": "SUCCESS"}, "MEMORY_NOT_FOUND", "Memory with ID 99 not found"),
        (
            {"decision_id": "KNOWN", "outcome": "SUCCESS", "evidence_id": UNKNOWN},
            "MEMORY_NOT_FOUND",
            f"Memory with ID {UNKNOWN} not found",
        ),
        (
            {"decision_id": "KNOWN", "outcome": "SUCCESS", "evidence_id": "KNOWN"},
            "INVALID_PARAMETER",
            "evidence_id is the decision itself",
        ),
        (
            {"decision_id": "INSIGHT", "outcome": "SUCCESS"},
            "INVALID_PARAMETER",
            "Memory INSIGHT is of type insight, and only a decision has an outcome",
        ),
        (
            {"decision_id": "KNOWN", "outcome": "SUCCESS", "workspace": "nowhere"},
            "INVALID_PARAMETER",
            'Workspace "nowhere" not found',
        ),
        (
            {"decision_id": "KNOWN", "outcome": "SUCCESS", "failure_reason": "x"},
            "INVALID_PARAMETER",
            'Unknown parameter "failure_reason"',
        ),
    ],
)
def test_a_bad_outcome_is_refused_in_one_sentence_and_changes_nothing(words, arguments, code, message):
    ids = {"KNOWN": words.decide(), "OTHER": words.decide("x", "y"), "INSIGHT": words.learn("z")}
    asked = {
        name: ids.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()
    }
    error = words.refused("evolve/outcome", **asked)
    assert error["code"] == code
    assert error["message"].startswith(message.replace("INSIGHT", ids["INSIGHT"]))


@pytest.mark.parametrize("name", ["reason", "limitation"])
def test_a_secret_in_an_outcome_is_masked_and_told(words, name):
    kept = words.decide()
    outcome = words.call(
        "evolve/outcome", decision_id=kept, outcome="PARTIAL", **{name: f"The key {SECRET} leaked"}
    )
    assert SECRET not in outcome.text + repr(outcome.structured) + "".join(words.dump())
    assert MASKED in repr(outcome.structured["updated"])
    assert len([each for each in outcome.notices if "AWS key" in each]) == 1


def test_the_text_of_an_outcome_tells_it_and_the_lesson(words):
    outcome = words.call("evolve/outcome", decision_id=words.decide(), outcome="FAILED", reason="Logout")
    lines = outcome.text.splitlines()
    assert lines[0].startswith("Outcome noted: auth: Use JWT")
    assert "[outcome FAILED]" in lines[0]
    assert lines[1] == f"Lesson: Logout ({outcome.structured['lesson']['id']})"


def test_an_outcome_of_another_project_keeps_its_lesson_there(words):
    kept = words.decide()
    lesson = failed(words.of(place=Place(name="theirs")), kept)["lesson"]["id"]
    assert words.whence.get(lesson).workspace == words.whence.get(kept).workspace


# -- evolve/supersede


@pytest.mark.promise("000-061", "000-003")
def test_a_new_decision_replaces_the_old_one(words):
    old = words.decide("Use sessions")
    reply = replaced(words, old)
    new = reply["created"]
    assert (new["type"], new["content"], new["topic"], new["confidence"]) == (
        "decision",
        "Use JWT",
        "auth",
        0.7,
    )
    assert new["metadata"]["reasoning"] == "Stateless"
    assert new["supersedes"] == old
    assert reply["superseded"]["id"] == old
    assert (reply["superseded"]["status"], reply["superseded"]["superseded_by"]) == ("superseded", new["id"])
    assert reply["superseded"]["valid_until"] == new["valid_from"]
    assert [each["id"] for each in reply["chain"]] == [old, new["id"]]
    (link,) = words.links(old)
    assert (link.from_id, link.to_id, link.link_type) == (new["id"], old, "evolution")
    assert (link.relationship, link.confidence, link.created_by) == ("supersedes", 1.0, "llm")
    assert words.hits("Use sessions") == [new["id"]]


def test_topic_confidence_and_reason_are_taken(words):
    old = words.decide("Use sessions")
    reply = replaced(words, old, topic="tokens", confidence=0.95, reason="Restarts lose them")
    assert (reply["created"]["topic"], reply["created"]["confidence"]) == ("tokens", 0.95)
    assert reply["chain"][0]["why_replaced"] == "Restarts lose them"
    assert words.links(old)[0].metadata["reason"] == "Restarts lose them"


def test_what_the_old_decision_was_about_passes_on(words):
    old = words.decide(
        "Use sessions",
        level=2,
        domain="backend",
        module="auth",
        decision_type="architecture",
        workspace="global",
    )
    new = words.whence.get(replaced(words, old)["created"]["id"])
    assert (new.level, new.domain, new.module) == (2, "backend", "auth")
    assert new.metadata["decision_type"] == "architecture"
    assert new.workspace == words.whence.get(old).workspace


def test_the_new_decision_goes_to_the_workspace_that_is_named(words):
    old = words.decide("Use sessions")
    new = words.whence.get(replaced(words, old, workspace="global")["created"]["id"])
    names = {each.id: each.name for each in words.whence.store.workspaces()}
    assert names[new.workspace] == "global"


@pytest.mark.parametrize("kind", ["fact", "insight", "checkpoint"])
def test_a_decision_may_replace_a_memory_of_any_type(words, kind):
    old = {
        "fact": lambda: words.store("Auth uses sessions"),
        "insight": lambda: words.learn("Auth uses sessions"),
        "checkpoint": lambda: words.ask("save/checkpoint", summary="Auth uses sessions")["created"]["id"],
    }[kind]()
    reply = replaced(words, old)
    assert "topic" not in reply["created"], "there was none to pass on"
    assert words.hits("Auth uses sessions") == [reply["created"]["id"]]


def test_a_checkpoint_replaces_a_checkpoint_alone(words):
    old, new = (words.ask("save/checkpoint", summary=each)["created"]["id"] for each in ("red", "green"))
    for other in (words.decide(), words.learn("x"), words.store("y")):
        error = words.refused("evolve/supersede", old_id=other, new_id=new)
        assert error["message"].startswith(f"Memory {new} is a checkpoint and cannot replace a")
    assert words.ask("evolve/supersede", old_id=old, new_id=new)["created"]["id"] == new


def test_two_stored_memories_are_joined_by_new_id(words):
    old, new = words.store("The user lives in Seattle"), words.learn("The user lives in Austin")
    reply = words.ask("evolve/supersede", old_id=old, new_id=new, reason="They moved")
    assert reply["created"]["id"] == new
    assert reply["superseded"]["id"] == old
    assert [each["id"] for each in reply["chain"]] == [old, new]
    assert reply["chain"][0]["why_replaced"] == "They moved"
    assert words.recent() == [new], "what is replaced here is gone from the facts family"
    assert words.found("user lives in Seattle") == [new]


def test_the_same_pair_again_is_success_and_changes_nothing(words):
    old, new = words.decide("Use sessions"), words.decide("Use JWT")
    first = words.ask("evolve/supersede", old_id=old, new_id=new)
    before = words.dump()
    assert words.ask("evolve/supersede", old_id=old, new_id=new) == first
    assert words.dump() == before


def test_decisions_are_called_by_their_numbers_too(words):
    old, new = words.decide("Use sessions"), words.decide("Use JWT")
    reply = words.ask("evolve/supersede", old_id="1", new_id="2")
    assert (reply["superseded"]["id"], reply["created"]["id"]) == (old, new)


def test_the_action_that_a_save_asks_for_can_be_made_as_it_stands(words):
    old = words.decide("Use sessions")
    reply = words.ask("save/decision", topic="auth", **NEW)
    told = dict(part.split("=") for part in reply["action_required"].split("(")[1].split(")")[0].split(", "))
    told = {name: value.strip('"') for name, value in told.items()}
    assert words.ask("evolve/supersede", **told)["superseded"]["id"] == old


def test_the_action_that_store_memory_asks_for_joins_decisions_too(words):
    old, new = words.decide("Use sessions"), words.decide("Use JWT")
    words.ask("supersede_memory", old_memory_id=old, new_memory_id=new)
    assert [each["id"] for each in words.ask("load/context", id=old)["chain"]] == [old, new]


def test_the_chain_holds_every_version_before_and_after(words):
    ids = [words.decide("version 0")]
    for number in range(1, 7):
        reply = replaced(words, ids[-1], decision=f"version {number}")
        ids.append(reply["created"]["id"])
        assert [each["id"] for each in reply["chain"]] == ids


def test_an_already_replaced_memory_is_refused_with_the_head_of_its_chain(words):
    old = words.decide("Use sessions")
    middle = replaced(words, old)["created"]["id"]
    head = replaced(words, middle, decision="Use PASETO")["created"]["id"]
    other = words.learn("x")
    for more in (NEW, {"new_id": other}):
        error = words.refused("evolve/supersede", old_id=old, **more)
        assert (error["code"], error["message"]) == (
            "INVALID_PARAMETER",
            f"Memory {old} is already superseded",
        )
        assert head in error["hint"]


def test_a_memory_cannot_replace_itself_nor_what_replaced_it(words):
    one, two, three = (words.decide(f"version {number}") for number in range(3))
    itself = words.refused("evolve/supersede", old_id=one, new_id=one)
    words.ask("evolve/supersede", old_id=one, new_id=two)
    words.ask("evolve/supersede", old_id=two, new_id=three)
    cycles = [words.refused("evolve/supersede", old_id=three, new_id=each) for each in (one, two)]
    assert {each["code"] for each in (itself, *cycles)} == {"INVALID_PARAMETER"}
    assert itself["message"] == f"Memory {one} cannot supersede itself"
    assert [each["message"].split(" was itself replaced by ")[1] for each in cycles] == [
        f"{three}, so it cannot replace it"
    ] * 2


def test_an_archived_memory_cannot_replace_another(words):
    old, new = words.decide("Use sessions"), words.decide("Use JWT")
    words.whence.archive(new)
    error = words.refused("evolve/supersede", old_id=old, new_id=new)
    assert error["message"].startswith(f"Memory {new} is archived and answers nothing")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({}, "INVALID_PARAMETER", "old_id is required"),
        ({"old_id": ""}, "INVALID_PARAMETER", "old_id must not be empty"),
        ({"old_id": 1, **NEW}, "INVALID_PARAMETER", "old_id must be text"),
        ({"old_id": "KNOWN"}, "INVALID_PARAMETER", "decision is required"),
        ({"old_id": "KNOWN", "decision": "x"}, "INVALID_PARAMETER", "reasoning is required"),
        ({"old_id": "KNOWN", "reasoning": "x"}, "INVALID_PARAMETER", "decision is required"),
        ({"old_id": "KNOWN", **NEW, "decision": " "}, "INVALID_PARAMETER", "decision must not be empty"),
        ({"old_id": "KNOWN", **NEW, "reasoning": ""}, "INVALID_PARAMETER", "reasoning must not be empty"),
        ({"old_id": "KNOWN", **NEW, "topic": " "}, "INVALID_PARAMETER", "topic must not be empty"),
        ({"old_id": "KNOWN", **NEW, "topic": "x" * 201}, "INVALID_PARAMETER", "topic must be at most 200"),
        (
            {"old_id": "KNOWN", **NEW, "confidence": 1.1},
            "INVALID_PARAMETER",
            "confidence must be a number from 0 to 1",
        ),
        ({"old_id": "KNOWN", **NEW, "reason": " "}, "INVALID_PARAMETER", "reason must not be empty"),
        ({"old_id": "KNOWN", "new_id": " "}, "INVALID_PARAMETER", "new_id must not be empty"),
        *(
            (
                {"old_id": "KNOWN", "new_id": "OTHER", name: value},
                "INVALID_PARAMETER",
                "new_id names a stored memory, so decision, reasoning, topic and confidence must be left out",
            )
            for name, value in (("decision", "x"), ("reasoning", "x"), ("topic", "x"), ("confidence", 0.7))
        ),
        ({"old_id": UNKNOWN, **NEW}, "MEMORY_NOT_FOUND", f"Memory with ID {UNKNOWN} not found"),
        ({"old_id": "KNOWN", "new_id": UNKNOWN}, "MEMORY_NOT_FOUND", f"Memory with ID {UNKNOWN} not found"),
        ({"old_id": "99", **NEW}, "MEMORY_NOT_FOUND", "Memory with ID 99 not found"),
        ({"old_id": "KNOWN", **NEW, "workspace": "*"}, "INVALID_PARAMETER", "A memory is stored in one"),
        (
            {"old_id": "KNOWN", "new_id": "OTHER", "workspace": "nowhere"},
            "INVALID_PARAMETER",
            'Workspace "nowhere" not found',
        ),
        ({"old_id": "KNOWN", **NEW, "tags": ["x"]}, "INVALID_PARAMETER", 'Unknown parameter "tags"'),
    ],
)
def test_a_bad_supersession_is_refused_in_one_sentence_and_changes_nothing(words, arguments, code, message):
    ids = {"KNOWN": words.decide(), "OTHER": words.decide("x", "y")}
    asked = {
        name: ids.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()
    }
    error = words.refused("evolve/supersede", **asked)
    assert error["code"] == code
    assert error["message"].startswith(message)


def test_a_retry_answers_with_the_first(facts, clock):
    here = facts.of(may_repeat=True)
    old = here.decide("Use sessions")
    first = replaced(here, old, reason="Restarts")
    before = here.dump()
    clock.advance(9 * 60_000_000)
    assert replaced(here, old, reason="Restarts") == first
    assert here.dump() == before


@pytest.mark.parametrize("name", ["decision", "reasoning", "topic", "reason"])
def test_a_secret_in_a_supersession_is_masked_and_told(words, name):
    old = words.decide("Use sessions")
    outcome = words.call("evolve/supersede", old_id=old, **{**NEW, name: f"The key {SECRET} leaked"})
    assert SECRET not in outcome.text + repr(outcome.structured) + "".join(words.dump())
    assert MASKED in repr(outcome.structured)
    assert len([each for each in outcome.notices if "AWS key" in each]) == 1


def test_a_secret_in_the_reason_that_joins_two_memories_is_masked(words):
    old, new = words.decide("Use sessions"), words.decide("Use JWT")
    outcome = words.call("evolve/supersede", old_id=old, new_id=new, reason=f"The key {SECRET} leaked")
    assert SECRET not in outcome.text + repr(outcome.structured) + "".join(words.dump())


def test_a_failing_database_leaves_the_old_decision_as_it_was(words, store):
    old = words.decide("Use sessions")
    with store._file.writing() as connection:
        connection.execute(
            "CREATE TRIGGER fail BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'planted'); END"
        )
    assert words.refused("evolve/supersede", old_id=old, **NEW)["code"] == "STORAGE_ERROR"
    assert words.whence.get(old).is_live


def test_the_text_of_a_supersession_tells_the_chain(words):
    old = words.decide("Use sessions")
    outcome = words.call("evolve/supersede", old_id=old, **NEW)
    lines = outcome.text.splitlines()
    assert lines[0].startswith("auth: Use JWT")
    assert lines[0].endswith(f"replaces {old}.")
    assert "[superseded]" in lines[1]
    assert outcome.structured["created"]["id"] in lines[2]


def test_korean_decisions_evolve(words):
    old = words.decide("세션을 쓴다", "인증_방식")
    reply = replaced(words, old, decision="JWT를 쓴다", reasoning="상태가 없다", reason="재시작하면 사라진다")
    assert words.hits("세션") == [reply["created"]["id"]]
    lesson = failed(words, reply["created"]["id"], "로그아웃이 어렵다")["lesson"]["id"]
    assert lesson in words.hits("로그아웃")


@pytest.mark.parametrize("creator", ["llm", "user"])
def test_a_link_of_evolution_shows_who_stated_it(words, creator):
    caller = words.of(creator=creator)
    kept = caller.decide("Use sessions")
    failed(caller, kept, evidence_id=caller.store("Incident 7"))
    replaced(caller, kept)
    assert {each.created_by for each in words.links(kept)} == {creator}


def test_the_replies_are_what_the_list_of_tools_says_they_are(words):
    old = words.decide("Use sessions")
    schema = find_tool("evolve/outcome").output_schema()
    validate(words.ask("evolve/outcome", decision_id=old, outcome="SUCCESS"), schema)
    validate(failed(words, old), schema)
    validate(replaced(words, old), find_tool("evolve/supersede").output_schema())


def test_both_wake_the_background_where_they_stored_something(words):
    woken = []
    caller = words.of(on_saved=lambda: woken.append(1))
    kept = words.decide()
    caller.ask("evolve/outcome", decision_id=kept, outcome="SUCCESS")
    assert woken == []
    failed(caller, kept)
    replaced(caller, kept)
    assert woken == [1, 1]
