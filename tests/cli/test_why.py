"""Does `whence why` tell a person and a program why something was decided?"""

from __future__ import annotations

import json

import pytest
from tests.features.test_causal import drawn


@pytest.fixture
def decide(shell):
    """Save a decision from the shell and return its id."""

    def save(decision, reasoning="It fits", topic="web", **more):
        told = json.dumps({"topic": topic, "decision": decision, "reasoning": reasoning, **more})
        done = shell("call", "save_decision", told)
        assert done.code == 0, done.err
        return done.json["created"]["id"]

    return save


@pytest.mark.promise("003-072", "003-074")
def test_a_question_is_answered_in_short_lines(shell, decide):
    old = decide("Use Flask", "Small")
    new = decide(
        "Use FastAPI",
        "Async endpoints",
        reasons=["Typed models"],
        consequences=["Docs for free"],
        constraints=["Python 3.11"],
        alternatives=[{"option": "Django", "why_rejected": "too heavy"}],
        supersedes=old,
    )
    decide("Bundle with Vite", topic="bundler")
    done = shell("why", "why did we use FastAPI?")
    assert done.code == 0
    day = shell.show(new)["created_at"][:10]
    assert done.out.splitlines() == [
        f"web: Use FastAPI ({new}, {day})",
        "Because: Async endpoints",
        "Because: Typed models",
        "Instead of: Django, too heavy",
        "Limited by: Python 3.11",
        "Led to: Docs for free",
        f"Replaced: {day} Use Flask [superseded] ({old})",
    ]
    assert "EMBEDDING_ERROR" in done.err  # this machine has no model


@pytest.mark.promise("003-101")
def test_a_program_gets_what_the_tool_gives(shell, decide):
    decide("Use FastAPI", "Async endpoints")
    told = shell("why", "why FastAPI?", "--json").json
    by_tool = shell("call", "rlm_get_causal_chain", '{"query": "why FastAPI?"}').json
    assert told == by_tool
    assert told["chain"]["root"]["content"] == "Use FastAPI"


@pytest.mark.promise("003-074")
def test_the_diagram_alone_can_be_handed_on(shell, decide):
    decide("Use FastAPI", reasons=["Async endpoints"])
    done = shell("why", "why FastAPI?", "--mermaid")
    assert done.code == 0
    labels, edges, _ = drawn(done.out.removesuffix("\n"))
    assert list(labels.values()) == ["Use FastAPI", "Async endpoints"]
    assert edges == [("Async endpoints", "JUSTIFIES", "Use FastAPI")]


def test_a_question_that_nothing_answers_is_no_error_and_says_so(shell, decide):
    decide("Use FastAPI")
    done = shell("why", "why GraphQL?")
    assert (done.code, done.out[:26]) == (0, "No decision answers this. ")
    assert shell("why", "why GraphQL?", "--json").json["chain"] is None
    diagram = shell("why", "why GraphQL?", "--mermaid")
    assert (diagram.code, diagram.out) == (0, "")
    assert "No decision answers this." in diagram.err


@pytest.mark.promise("003-073", "003-100")
def test_the_depth_is_followed_cut_at_five_and_refused_under_one(shell, decide):
    before = []
    for step in ("golf", "foxtrot", "echo", "delta", "charlie", "bravo", "alpha"):
        links = [{"to_id": each, "relationship": "causes"} for each in before]
        before = [decide(f"Step {step}", topic=step, links=links)]

    def causes(*flags):
        reasons = shell("why", "why golf?", "--json", *flags).json["chain"]["reasons"]
        return [each["content"].removeprefix("Step ") for each in reasons[1:]]

    assert causes() == causes("--depth", "5") == ["foxtrot", "echo", "delta", "charlie", "bravo"]
    assert causes("--depth", "2") == ["foxtrot", "echo"]
    assert causes("--depth", "6") == causes()
    assert "max_depth 6 was cut to 5" in shell("why", "why golf?", "--depth", "6").err
    assert "max_depth" in shell.refused("why", "why golf?", "--depth", "0")


@pytest.mark.parametrize("question", ["", " ", "\u3000"])
def test_no_question_is_refused(shell, question):
    assert "query must not be empty" in shell.refused("why", question)


def test_wrong_usage_is_told_as_such(shell):
    shell.refused("why", code=2)
    shell.refused("why", "why?", "--depth", "deep", code=2)
