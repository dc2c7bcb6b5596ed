"""Do the user stories of document 000 come true for a real client, process after process?"""

from __future__ import annotations

import pytest

MODERN, LEGACY = "auto", "legacy"  # what the SDK's client calls them: discover, or shake hands
ERAS = pytest.mark.parametrize(("first", "second"), [(MODERN, LEGACY), (LEGACY, MODERN)])


def contents(reply):
    return [each["content"] for each in reply["memories"]]


@pytest.mark.promise("000-005")
@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_us1_the_tool_for_an_architectural_decision_is_plain_and_three_texts_save_it(home, connect, mode):
    with connect(home, tools=None, mode=mode) as client:
        about = {each.name: each.description.split("Don't use")[0] for each in client.tools().tools}
        fitting = [
            name
            for name, words in about.items()
            if all(each in words.lower() for each in ("save", "architectural decision", "technology choice"))
        ]
        assert fitting == ["save_decision"]
        reply = client.ask(
            fitting[0],
            topic="auth_strategy",
            decision="Use JWT with refresh tokens",
            reasoning="Stateless, so that it scales out",
        )
        assert reply["created"]["type"] == "decision"
        assert reply["action_required"] is None
    with connect(home, tools=None, mode=mode) as later:
        current = later.ask("search_by_topic", topic="auth_strategy")["current"]
    assert current["content"] == "Use JWT with refresh tokens"
    assert current["metadata"]["reasoning"] == "Stateless, so that it scales out"


@ERAS
@pytest.mark.promise("000-007")
def test_us3_one_search_covers_every_kind_of_memory(home, connect, first, second):
    with connect(home, tools=None, mode=first) as client:
        client.ask(
            "save/decision", topic="job_queue", decision="Jobs run on PostgreSQL", reasoning="One server less"
        )
        client.ask("save/checkpoint", summary="The job queue drains, retries are red")
        client.ask("save/insight", content="A job queue needs a lease, not a lock", category="ops")
        client.ask("store_memory", content="The user calls the job queue Beaver")
    everything = {
        "Jobs run on PostgreSQL",
        "The job queue drains, retries are red",
        "A job queue needs a lease, not a lock",
        "The user calls the job queue Beaver",
    }
    with connect(home, tools=None, mode=second) as later:
        by_meaning = later.ask("search/by_context", query="what do we know about background work?")
        assert set(contents(by_meaning)) == everything
        assert {each["type"] for each in by_meaning["memories"]} == {
            "decision",
            "checkpoint",
            "insight",
            "fact",
        }
        assert set(contents(later.ask("search/recent"))) == everything
        by_topic = later.ask("search/by_topic", topic="Job queue")
        assert by_topic["current"]["content"] == "Jobs run on PostgreSQL"


@ERAS
@pytest.mark.promise("000-008")
def test_us4_a_later_session_meets_the_failure_and_its_reason(home, connect, first, second):
    with connect(home, tools=None, mode=first) as client:
        decided = client.ask(
            "save/decision",
            topic="session_store",
            decision="Keep sessions in process memory",
            reasoning="No further server to run",
        )["created"]["id"]
        client.ask("save/insight", content="The office printer is on the second floor")
    with connect(home, tools=None, mode=second) as production:
        reply = production.ask(
            "evolve/outcome",
            decision_id=decided,
            outcome="FAILED",
            reason="Every deployment logged all users out",
        )
        assert reply["updated"]["metadata"]["outcome"] == "FAILED"
    with connect(home, tools=None, mode=first) as later:
        for tool, arguments in (
            ("search/by_context", {"query": "where should user sessions live?"}),
            ("search/by_context", {"query": "is in-process session storage a good idea?"}),
            ("search/by_topic", {"topic": "session_store"}),
            ("load/context", {"topic": "session store"}),
        ):
            result = later.call(tool, arguments)
            assert not result.is_error
            told = result.content[0].text
            assert "Keep sessions in process memory" in told
            assert "FAILED" in told
            assert "Every deployment logged all users out" in told


@ERAS
def test_work_goes_on_where_it_stood_and_knows_what_was_decided_since(home, connect, first, second):
    with connect(home, tools=None, mode=first) as client:
        client.ask(
            "save/checkpoint",
            summary="Login works, refresh tokens are half done",
            open_files=["src/auth.py"],
            next_steps=["mend test_refresh"],
        )
        client.ask("save/decision", topic="tokens", decision="Rotate on use", reasoning="Theft shows")
    with connect(home, tools=None, mode=second) as later:
        work = later.ask("load/checkpoint")
    assert work["summary"] == "Login works, refresh tokens are half done"
    assert (work["open_files"], work["next_steps"]) == (["src/auth.py"], ["mend test_refresh"])
    assert [each["content"] for each in work["since"]] == ["Rotate on use"]


@ERAS
def test_a_replaced_decision_answers_no_more_in_any_process_and_its_history_is_whole(
    home, connect, first, second
):
    with connect(home, tools=None, mode=first) as client:
        asked = {"topic": "database", "reasoning": "Fits the load"}
        old = client.ask("save/decision", decision="Use SQLite", **asked)["created"]["id"]
        reply = client.ask("save/decision", decision="Use PostgreSQL", **asked)
        new = reply["created"]["id"]
        assert old in reply["action_required"]
        assert new in reply["action_required"]
    with connect(home, tools=None, mode=second) as later:
        later.ask("evolve/supersede", old_id=old, new_id=new, reason="Many writers")
    with connect(home, tools=None, mode=first) as last:
        answer = last.ask("search/by_context", query="do we use SQLite?")
        assert contents(answer) == ["Use PostgreSQL"]
        chain = answer["evolution"][new]
        assert [each["first_line"] for each in chain] == ["Use SQLite", "Use PostgreSQL"]
        assert chain[0]["why_replaced"] == "Many writers"
