"""Does rlm_get_causal_chain explain what any family decided, in the shape of document 003?"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from tests.features.test_causal import drawn

from whence.features.causal import add_edge
from whence.features.workspaces import Place
from whence.surfaces.families import find_tool

TOOL = "rlm_get_causal_chain"


@pytest.fixture
def why(facts):
    """Ask, check the answer against the advertised shape, and return it."""

    def ask(query, **arguments):
        reply = facts.ask(TOOL, query=query, **arguments)
        find_tool(TOOL).reply.model_validate(reply)
        assert reply["status"] == "success"
        if reply["chain"] is not None:
            assert reply["mermaid"].startswith("graph TD")
            drawn(reply["mermaid"])
        return reply

    return ask


def decide(facts, decision, reasoning="It fits", topic="choice", **more):
    saved = facts.ask("save/decision", topic=topic, decision=decision, reasoning=reasoning, **more)
    return saved["created"]["id"]


def texts(nodes):
    return [each["content"] for each in nodes]


# -- What it takes


@pytest.mark.promise("003-100")
def test_the_tool_takes_a_question_and_a_depth_of_five_unless_told():
    schema = find_tool(TOOL).input_schema()
    assert schema["required"] == ["query"]
    assert list(schema["properties"])[:2] == ["query", "max_depth"]
    assert schema["properties"]["query"]["type"] == "string"
    assert schema["properties"]["max_depth"]["type"] == "integer"
    assert schema["properties"]["max_depth"]["default"] == 5


@pytest.mark.promise("003-100", "003-073")
def test_left_out_the_depth_is_five_and_a_deeper_one_is_cut_with_a_word(facts, why):
    line = [decide(facts, f"Step {number}") for number in range(8)]
    for cause, effect in pairwise(line):
        add_edge(facts.whence, cause, effect, "CAUSES")
    question = "why step 7?"
    deepest = why(question, max_depth=5)
    assert texts(deepest["chain"]["reasons"]) == [
        "It fits",
        *(f"Step {number}" for number in (6, 5, 4, 3, 2)),
    ]
    assert why(question) == deepest
    assert "notices" not in deepest
    assert texts(why(question, max_depth=1.0)["chain"]["reasons"]) == ["It fits", "Step 6"]
    cut = why(question, max_depth=9)
    assert cut["notices"] == ["max_depth 9 was cut to 5, the deepest there is."]
    assert cut["chain"] == deepest["chain"]


@pytest.mark.promise("003-100")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "query is required"),
        ({"query": ""}, "query must not be empty"),
        ({"query": " \n"}, "query must not be empty"),
        ({"query": 5}, "query must be text of at most 10,000 characters"),
        ({"query": "x" * 10_001}, "query must be text of at most 10,000 characters"),
        ({"query": "x\0"}, "query holds characters that are no text (NUL or half a surrogate pair)"),
        ({"query": "x", "max_depth": 0}, "max_depth must be a whole number of at least 1"),
        ({"query": "x", "max_depth": -1}, "max_depth must be a whole number of at least 1"),
        ({"query": "x", "max_depth": 1.5}, "max_depth must be a whole number of at least 1"),
        ({"query": "x", "max_depth": "2"}, "max_depth must be a whole number of at least 1"),
        ({"query": "x", "max_depth": True}, "max_depth must be a whole number of at least 1"),
        ({"query": "x", "max_depth": None}, "max_depth must be a whole number of at least 1"),
        ({"query": "x", "depth": 2}, 'Unknown parameter "depth"'),
        ({"query": "x", "workspace": "projct"}, 'Workspace "projct" not found'),
    ],
)
def test_a_bad_argument_is_an_error_in_the_shape_of_its_document(facts, arguments, message):
    decide(facts, "Use FastAPI")
    before = facts.dump()
    outcome = facts.call(TOOL, **arguments)
    assert outcome.is_error
    assert outcome.structured.keys() <= {"status", "message", "hint", "did_you_mean"}
    assert (outcome.structured["status"], outcome.structured["message"]) == ("error", message)
    assert message in outcome.text
    assert facts.dump() == before
    if "workspace" in arguments:
        assert outcome.structured["did_you_mean"] == ["project"]
    if "depth" in arguments:
        assert "query, max_depth" in outcome.structured["hint"]


# -- What it answers


@pytest.mark.promise("003-101", "003-072", "003-074")
def test_what_save_decision_stored_is_explained_with_its_reasons_and_what_stands_beside_them(facts, why):
    decide(facts, "Bundle with Vite", "Fast reload", "bundler")
    kept = decide(
        facts,
        "Use FastAPI for the public API",
        "Async endpoints",
        "web",
        reasons=["The team knows type hints", "Generated pages"],
        consequences=["Python 3.11 is required"],
        constraints=["One process a container"],
        alternatives=[{"option": "Flask", "why_rejected": "no async"}, {"option": "Django"}],
    )
    reply = why("why did we use FastAPI?")
    assert set(reply) == {"status", "chain", "mermaid"}
    chain = reply["chain"]
    assert (
        chain["root"].items()
        >= {
            "type": "decision",
            "content": "Use FastAPI for the public API",
            "id": kept,
            "number": 2,
            "topic": "web",
            "status": "active",
        }.items()
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", chain["root"]["created_at"])
    # RULINGS F13: its own reasoning stands first, without a node of its own.
    assert chain["reasons"][0] == {"type": "reason", "content": "Async endpoints"}
    assert texts(chain["reasons"][1:]) == ["The team knows type hints", "Generated pages"]
    assert texts(chain["consequences"]) == ["Python 3.11 is required"]
    assert texts(chain["constraints"]) == ["One process a container"]
    assert chain["alternatives"] == [{"option": "Flask", "why_rejected": "no async"}, {"option": "Django"}]
    assert (chain["superseded"], chain["outcome"]) == ([], None)
    for kind in ("reasons", "consequences", "constraints"):
        for node in chain[kind][kind == "reasons" :]:
            assert facts.whence.get(node["id"]).content == node["content"]
            assert node["type"] == kind[:-1]
            assert node["session_id"] == "test"
    labels, edges, _ = drawn(reply["mermaid"])
    assert next(iter(labels.values())) == chain["root"]["content"]
    assert len(labels) == len(edges) + 1 == 5


@pytest.mark.promise("003-101")
def test_a_decision_without_reasons_of_their_own_is_explained_by_its_reasoning(facts, why):
    decide(facts, "Use FastAPI", "Async endpoints")
    chain = why("why FastAPI?")["chain"]
    assert chain["reasons"] == [{"type": "reason", "content": "Async endpoints"}]
    assert [chain[each] for each in ("consequences", "constraints", "alternatives")] == [[], [], []]


@pytest.mark.promise("003-101")
def test_what_decision_memory_recorded_is_explained_as_well(facts, why):
    facts.ask(
        "decision_memory",
        action="record",
        decision_type="tech_choice",
        subject="cache",
        decision="Use Memcached",
        rationale="Plain key expiry",
        alternatives_rejected=["Redis"],
    )
    decide(facts, "Keep jobs in Redis lists", "Redis is there already", "jobs")
    chain = why("why not Redis?")["chain"]
    assert chain["root"]["content"] == "Use Memcached"
    assert texts(chain["reasons"]) == ["Plain key expiry"]
    assert chain["alternatives"] == [{"option": "Redis"}]
    assert why("why do we use Redis?")["chain"]["root"]["content"] == "Keep jobs in Redis lists"


@pytest.mark.promise("003-101")
def test_korean_questions_and_korean_decisions_meet_english_ones(facts, why):
    english = decide(facts, "Use FastAPI for the public API", "Async endpoints", "web")
    korean = decide(facts, "모든 시각은 UTC로 저장한다", "서버마다 시간대가 달랐다", "시간대")
    assert why("왜 FastAPI를 썼지?")["chain"]["root"]["id"] == english
    reply = why("왜 시각을 UTC로 저장해?")
    assert reply["chain"]["root"]["id"] == korean
    assert texts(reply["chain"]["reasons"]) == ["서버마다 시간대가 달랐다"]
    assert "모든 시각은 UTC로 저장한다" in reply["mermaid"]
    assert why("why do we store times in UTC?")["chain"]["root"]["id"] == korean


@pytest.mark.promise("003-101")
def test_a_replaced_choice_answers_with_the_one_that_holds_what_it_replaced_and_how_it_went(facts, why):
    old = decide(facts, "Use Redux for client state", "Time travel", "ui", reasons=["Known from last year"])
    facts.ask("evolve/outcome", decision_id=old, outcome="FAILED", reason="Too much boilerplate")
    new = facts.ask(
        "evolve/supersede",
        old_id=old,
        decision="Use Zustand for client state",
        reasoning="A tenth of the code",
        reason="Nobody wrote reducers",
    )["created"]["id"]
    facts.ask("evolve/outcome", decision_id=new, outcome="SUCCESS", limitation="No devtools yet")
    reply = why("why did we use Redux?")
    chain = reply["chain"]
    assert (chain["root"]["id"], texts(chain["reasons"])) == (new, ["A tenth of the code"])
    assert chain["outcome"] == {"outcome": "SUCCESS", "limitation": "No devtools yet"}
    (version,) = chain["superseded"]
    assert (
        version.items()
        >= {
            "id": old,
            "first_line": "Use Redux for client state",
            "content": "Use Redux for client state",
            "status": "superseded",
            "superseded_by": new,
            "why_replaced": "Nobody wrote reducers",
            "met": True,
        }.items()
    )
    assert version["reasons"] == ["Time travel", "Known from last year"]
    assert version["outcome"] == {"outcome": "FAILED", "reason": "Too much boilerplate"}
    _, edges, dashed = drawn(reply["mermaid"])
    assert edges == [("Use Zustand for client state", "SUPERSEDES", "Use Redux for client state")]
    assert dashed == ["Use Redux for client state"]
    (plain,) = why("why Zustand?")["chain"]["superseded"]
    assert not plain.keys() & {"met", "content", "reasons"}


@pytest.mark.promise("003-101", "003-073")
def test_what_led_here_and_what_followed_says_what_it_belongs_to(facts, why):
    limit = decide(facts, "Limit each key", "One client took us down", "limit", reasons=["An outage in May"])
    queue = decide(facts, "Queue the imports", "They come in bursts", "queue")
    worker = decide(facts, "Start two workers", "One is not enough", "worker", reasons=["Imports take hours"])
    add_edge(facts.whence, limit, queue, "LEADS_TO")
    add_edge(facts.whence, queue, worker, "CAUSES")
    chain = why("why are the imports queued?")["chain"]
    _, cause, reason = chain["reasons"]
    assert (cause["type"], cause["id"], cause.get("of")) == ("decision", limit, None)
    assert (reason["content"], reason["of"], reason["distance"]) == ("An outage in May", limit, 2)
    (effect,) = chain["consequences"]
    assert (effect["type"], effect["id"]) == ("decision", worker)
    (beside,) = chain["related"]
    assert (beside["content"], beside["of"]) == ("Imports take hours", worker)


@pytest.mark.promise("003-101")
def test_where_nothing_answers_the_chain_is_null_the_diagram_empty_and_a_hint_says_why(facts, why):
    empty = why("why did we use FastAPI?")
    assert (empty["status"], empty["chain"], empty["mermaid"]) == ("success", None, "")
    assert "Searched 0 memories" in empty["hint"]
    kept = decide(facts, "Use PostgreSQL 16 as the primary database", "Concurrent writers")
    for question in ("why GraphQL?", "why did the dinosaurs die out?", "why?"):
        reply = why(question)
        assert set(reply) == {"status", "chain", "mermaid", "hint"}
        assert (reply["chain"], reply["mermaid"]) == (None, "")
        assert reply["hint"].startswith("No decision answers this. ")
        assert facts.call(TOOL, query=question).text == reply["hint"]
    nearest = why("why Cassandra?")
    assert nearest["chain"] is None
    assert kept in nearest["hint"]


def test_a_chain_stays_within_its_workspace_and_global_unless_all_are_asked(facts, why):
    elsewhere = facts.of(place=Place(name="elsewhere"))
    decide(elsewhere, "Use FastAPI", "Async endpoints")
    decide(facts, "Use Vite", "Fast reload", workspace="global")
    assert why("why FastAPI?")["chain"] is None
    assert why("why FastAPI?", workspace="elsewhere")["chain"]["root"]["content"] == "Use FastAPI"
    assert why("why FastAPI?", workspace="*")["chain"]["root"]["content"] == "Use FastAPI"
    assert why("why Vite?")["chain"]["root"]["content"] == "Use Vite"


def test_asking_changes_nothing_but_when_a_memory_was_last_returned(facts, why):
    decide(facts, "Use FastAPI", reasons=["Async endpoints"])

    def all_but_accesses():
        return [re.sub(r'"accessed_at":\d+', "", line) for line in facts.dump()]

    before = all_but_accesses()
    why("why FastAPI?")
    assert all_but_accesses() == before


def test_secrets_are_in_no_answer(facts, why):
    secret = "ghp_" + "a1B2" * 9
    decide(facts, "Use GitHub Actions", f"The token {secret}", reasons=[f"Also {secret}"])
    reply = why("why GitHub Actions?")
    assert secret not in str(reply) + facts.call(TOOL, query="why GitHub Actions?").text


def test_the_answer_in_words_says_what_because_of_what_instead_of_what_and_what_came_of_it(facts):
    old = decide(facts, "Use Flask", "Small", "web")
    new = decide(
        facts,
        "Use FastAPI",
        "Async\nendpoints",
        "web",
        reasons=["Typed models"],
        consequences=["Docs for free"],
        constraints=["Python 3.11"],
        alternatives=[{"option": "Django", "why_rejected": "too heavy"}],
        supersedes=old,
    )
    facts.ask("evolve/outcome", decision_id=new, outcome="PARTIAL", reason="Slow start")
    told = facts.call(TOOL, query="why Flask?").text
    assert [re.sub(rf"{old}|{new}", "ID", each) for each in told.splitlines()] == [
        "web: Use FastAPI (ID, 2025-06-15)",
        "Because: Async endpoints",
        "Because: Typed models",
        "Instead of: Django, too heavy",
        "Limited by: Python 3.11",
        "Led to: Docs for free",
        "Outcome: PARTIAL, Slow start",
        "Replaced: 2025-06-15 Use Flask [superseded] (ID), which the question met",
        "  chosen because: Small",
    ]


def test_memories_that_wait_for_a_model_are_read_in_the_background(facts, monkeypatch):
    decide(facts, "Use FastAPI", "Async endpoints")
    monkeypatch.setattr("whence.core.recall.PATIENCE", -1)
    woken = []
    reply = facts.of(on_unread=lambda: woken.append(1)).ask(TOOL, query="왜 FastAPI를 썼지?")
    assert reply["chain"]["root"]["content"] == "Use FastAPI"
    assert woken == [1]
    assert any("not read" in each for each in reply["notices"])


def test_where_no_model_is_words_answer_and_it_is_told(words):
    decide(words, "Use FastAPI", "Async endpoints")
    reply = words.ask(TOOL, query="why did we use FastAPI?")
    assert reply["chain"]["root"]["content"] == "Use FastAPI"
    assert "EMBEDDING_ERROR" in reply["notices"][0]
