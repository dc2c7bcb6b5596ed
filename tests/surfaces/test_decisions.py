"""Does decision_memory keep document 004 to the letter, and do the families see each other's decisions?"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, given
from hypothesis import settings as tried
from hypothesis import strategies as st
from mcp.client import Client

from whence.bootstrap import open_memory
from whence.config import Settings
from whence.core.life import Whence
from whence.core.times import SECOND
from whence.features.workspaces import NOWHERE, Place
from whence.models import NoModels
from whence.server.mcp import Door
from whence.server.opening import Opening
from whence.storage import open_store
from whence.surfaces.families import chosen, find_tool
from whence.surfaces.tool import Caller, Outcome, call

LISTED = {
    "id",
    "decision_type",
    "subject",
    "decision",
    "rationale",
    "alternatives_rejected",
    "context_tags",
    "confidence",
    "status",
    "superseded_by",
    "created_at",
    "updated_at",
}
RELEVANT = LISTED - {"superseded_by", "updated_at"}
SECONDS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
SECRET = "AKIAIOSFODNN7EXAMPLE"
ELSEWHERE = Place(name="elsewhere")
ARGUMENTS = [
    *("action", "decision_type", "subject", "decision", "rationale", "alternatives_rejected", "context_tags"),
    *("confidence", "filter_type", "filter_status", "limit", "technology", "pattern", "id", "new_decision"),
    *("new_rationale", "new_status", "new_confidence", "old_id", "new_id"),
]


@dataclass(frozen=True)
class Register:
    """decision_memory, called as a door calls it."""

    door: Any

    def tell(self, action: str, **arguments: Any) -> Outcome:
        return self.door.call("decision_memory", action=action, **arguments)

    def __call__(self, action: str, **arguments: Any) -> dict[str, Any]:
        """Do what must succeed and return the reply."""
        return self.door.ask("decision_memory", action=action, **arguments)

    def refused(self, **arguments: Any) -> str:
        """Do what must fail, show that nothing changed, and return the sentence, which is all there is."""
        before = self.door.dump()
        outcome = self.door.call("decision_memory", **arguments)
        assert outcome.is_error, outcome.structured
        assert list(outcome.structured) == ["error"]
        assert self.door.dump() == before
        return outcome.structured["error"]

    def record(self, subject: str = "database", decision: str = "Use SQLite", **more: Any) -> int:
        return self("record", subject=subject, decision=decision, **more)["id"]

    def listed(self, **filters: Any) -> list[dict[str, Any]]:
        return self("list", **filters)["decisions"]

    def ids(self, **filters: Any) -> list[int]:
        return [each["id"] for each in self.listed(**filters)]

    def one(self, number: int) -> dict[str, Any]:
        (found,) = [each for each in self.listed(limit=1000) if each["id"] == number]
        return found

    def check(self, technology: str | None = None, **more: Any) -> dict[str, Any]:
        return self("check_alignment", technology=technology, **more)

    def relevant(self, technology: str | None = None, **more: Any) -> list[int]:
        return [each["id"] for each in self.check(technology, **more)["relevant_decisions"]]

    def memory_id(self, number: int) -> str:
        """Return the id by which the other families call a decision."""
        (found,) = [each.id for each in self.door.whence.store.every() if each.number == number]
        return found

    def of(self, **changes: Any) -> Register:
        return Register(self.door.of(**changes))


@pytest.fixture
def decisions(words):
    """The family by words alone, in the workspace "project"."""
    return Register(words)


@pytest.fixture
def understood(facts):
    """The family with its models."""
    return Register(facts)


# -- record


@pytest.mark.promise("004-008")
@pytest.mark.parametrize(
    "subject", ["database", "api transport", "언어", 'a "quoted" 100% subject', " padded "]
)
def test_a_record_is_answered_with_success_its_number_and_its_subject(decisions, subject):
    for number in (1, 2):
        reply = decisions("record", subject=subject, decision="Use SQLite")
        assert reply == {"success": True, "id": number, "message": f"Decision recorded: {subject}"}


@pytest.mark.promise("004-003", "004-004", "004-005", "004-006", "004-007", "004-018")
@pytest.mark.parametrize(
    "left_out",
    [
        {},
        dict.fromkeys(
            ["decision_type", "rationale", "alternatives_rejected", "context_tags", "confidence", "session"]
        ),
        {"rationale": "", "decision_type": "", "alternatives_rejected": [], "context_tags": []},
        {"rationale": "  \n"},
    ],
)
def test_what_is_left_out_null_or_empty_has_its_default(decisions, clock, left_out):
    clock.advance(86_400 * SECOND)
    assert decisions.record(**left_out) == 1
    clock.advance(60 * SECOND)
    (kept,) = decisions.listed()
    assert kept == {
        "id": 1,
        "decision_type": "tech_choice",
        "subject": "database",
        "decision": "Use SQLite",
        "rationale": None,
        "alternatives_rejected": [],
        "context_tags": [],
        "confidence": 0.8,
        "status": "active",
        "superseded_by": None,
        "created_at": "2025-06-16 15:06:40",
        "updated_at": "2025-06-16 15:06:40",
    }


@pytest.mark.promise("004-005", "004-006", "004-018")
@pytest.mark.parametrize("kind", ["tech_choice", "architecture", "workflow", "pattern", "dependency"])
@pytest.mark.parametrize("confidence", [0, 0.0, 0.35, 1])
def test_what_is_given_is_kept_as_given(decisions, kind, confidence):
    told = {
        "decision_type": kind,
        "subject": "데이터베이스",
        "decision": "SQLite를 쓴다\nfor 100% of the data",
        "rationale": "서버가 없다",
        "alternatives_rejected": ["PostgreSQL", "  MySQL ", "PostgreSQL"],
        "context_tags": ["저장소", "local-first", "저장소"],
        "confidence": confidence,
    }
    number = decisions("record", **told)["id"]
    kept = decisions.one(number)
    assert {name: kept[name] for name in told} == told
    assert type(kept["confidence"]) in {int, float}


@pytest.mark.promise("004-007")
def test_a_recorded_decision_is_one_memory_like_every_other(decisions):
    decisions.record(rationale="No server", alternatives_rejected=["PostgreSQL"], context_tags=["storage"])
    (memory,) = decisions.door.whence.store.every()
    assert (memory.type, memory.topic, memory.content) == ("decision", "database", "Use SQLite")
    assert (memory.reasoning, memory.tags, memory.number) == ("No server", ("storage",), 1)
    assert (memory.source, memory.status, memory.created_at) == ("explicit", "active", memory.updated_at)
    (event,) = decisions.door.whence.history(memory.id)
    assert (event.action, event.author.tool) == ("created", "decision_memory")


@pytest.mark.promise("004-002", "004-050")
@pytest.mark.parametrize("missing", [None, "", " ", "\t\n", "\u200b"])
@pytest.mark.parametrize("names", [["subject"], ["decision"], ["subject", "decision"]])
def test_a_record_without_subject_or_decision_is_refused_and_stores_nothing(decisions, missing, names):
    told = {"subject": "database", "decision": "Use SQLite"}
    needed = "subject and decision are required for record action"
    assert decisions.refused(action="record", **told | dict.fromkeys(names, missing)) == needed
    left = {name: value for name, value in told.items() if name not in names}
    assert decisions.refused(action="record", **left) == needed
    assert decisions.door.whence.store.workspaces() == [], "not even a workspace"


@pytest.mark.promise("004-050", "004-054")
@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"decision_type": "guess"}, 'decision_type must be "tech_choice" or "architecture" or "workflow"'),
        ({"decision_type": "Pattern"}, 'decision_type must be "tech_choice"'),
        ({"subject": 5}, "subject must be text"),
        ({"decision": ["x"]}, "decision must be text"),
        ({"rationale": 5}, "rationale must be text"),
        pytest.param(
            {"confidence": 1.01},
            "confidence must be a number from 0 to 1",
            marks=pytest.mark.promise("004-006"),
        ),
        pytest.param(
            {"confidence": -0.01},
            "confidence must be a number from 0 to 1",
            marks=pytest.mark.promise("004-006"),
        ),
        ({"confidence": float("nan")}, "confidence must be a number from 0 to 1"),
        ({"confidence": "0.5"}, "confidence must be a number from 0 to 1"),
        ({"confidence": True}, "confidence must be a number from 0 to 1"),
        ({"alternatives_rejected": "Redis"}, "alternatives_rejected must be a list"),
        ({"alternatives_rejected": ["Redis", 5]}, "alternatives_rejected[1] must be text"),
        ({"alternatives_rejected": [{"option": "Redis"}]}, "alternatives_rejected[0] must be text"),
        ({"alternatives_rejected": [" "]}, "alternatives_rejected must not be empty"),
        ({"alternatives_rejected": ["x" * 201]}, "alternatives_rejected must be at most 200 characters"),
        ({"context_tags": "ui"}, "context_tags must be a list"),
        ({"context_tags": [None]}, "context_tags[0] must be text"),
        ({"context_tags": [""]}, "context_tags must not be empty"),
        ({"context_tags": ["x" * 65]}, "context_tags must be at most 64 characters"),
        ({"context_tags": ["x"] * 51}, "tags must be at most 50"),
        ({"subject": "x" * 201}, "subject must be at most 200 characters"),
        ({"decision": "x" * 50_001}, "decision must be at most 50,000 characters"),
        ({"rationale": "x" * 50_001}, "rationale must be at most 50,000 characters"),
        ({"subject": "a\0b"}, "subject holds characters that are no text"),
        ({"decision": "a\ud800b"}, "decision holds characters that are no text"),
        ({"context_tags": ["a\0b"]}, "context_tags holds characters that are no text"),
        ({"reasoning": "x"}, 'Unknown parameter "reasoning"'),
        ({"status": "active"}, 'Unknown parameter "status"'),
        ({"workspace": "nowhere"}, 'Workspace "nowhere" not found'),
        ({"workspace": "*"}, "A memory is stored in one workspace"),
    ],
)
def test_a_bad_record_is_refused_in_one_sentence_about_the_parameter_that_is_wrong(decisions, told, sentence):
    given_ = {"action": "record", "subject": "database", "decision": "Use SQLite", **told}
    assert decisions.refused(**given_).startswith(sentence)
    assert decisions.door.whence.store.workspaces() == []


@pytest.mark.promise("004-010")
def test_a_record_changes_no_other_decision_not_even_one_on_the_same_subject(understood):
    for decision in ("Use SQLite", "Use SQLite", "Use PostgreSQL instead of SQLite", "Do not use SQLite"):
        before = understood.door.dump()
        understood.record("database", decision)
        after = understood.door.dump()
        assert [line for line in after if line in before] == before
    assert [each["status"] for each in understood.listed()] == ["active"] * 4


# -- numbers


@pytest.mark.promise("004-009")
def test_every_action_calls_a_decision_by_the_number_that_its_record_gave(decisions):
    first = decisions.record("cache", "Read-through LRU", alternatives_rejected=["Redis"])
    second = decisions.record("cache", "Write-through LRU")
    assert decisions.ids() == [second, first]
    assert decisions.check("Redis")["conflicts"][0]["decision_id"] == first
    decisions("update", id=second, new_decision="LRU, written through")
    assert decisions.one(second)["decision"] == "LRU, written through"
    decisions("supersede", old_id=first, new_id=second)
    assert decisions.one(first)["superseded_by"] == second


@pytest.mark.promise("004-009")
def test_numbers_count_up_over_all_workspaces_and_all_families_and_are_never_given_twice(decisions):
    door, there = decisions.door, decisions.of(place=ELSEWHERE)
    assert decisions.record() == 1
    assert there.record() == 2
    assert decisions.record(workspace="global") == 3
    asked = {"topic": "cache", "decision": "LRU", "reasoning": "Fast"}
    assert door.ask("save/decision", **asked)["created"]["number"] == 4
    door.store("A fact has no number")
    door.learn("Nor has an insight")
    door.whence.archive(decisions.memory_id(4))
    assert decisions.record() == 5
    door.whence.move(decisions.memory_id(5), door.whence.get(decisions.memory_id(2)).workspace)
    assert there.ids() == [5, 3, 2], "a number goes with its decision"
    door.refused("save/decision", **asked, supersedes="decision_of_nobody")
    assert decisions.record() == 6
    assert decisions.ids(workspace="*") == [6, 5, 3, 2, 1]


@pytest.mark.promise("004-009")
@pytest.mark.parametrize("told", [2, 2.0, "2", " 2 "])
def test_a_number_may_be_written_as_a_number_or_as_text(decisions, told):
    for _ in range(3):
        decisions.record()
    assert decisions("update", id=told, new_confidence=0.1)["message"] == "Decision 2 updated"
    assert [each["confidence"] for each in decisions.listed()] == [0.1, 0.8, 0.8]
    assert decisions("supersede", old_id=told, new_id=3)["message"] == "Decision 2 superseded by 3"


def test_the_id_of_another_family_names_the_decision_too_and_that_of_a_fact_does_not(decisions):
    number = decisions.record()
    fact = decisions.door.store("SQLite is a file")
    told = decisions("update", id=decisions.memory_id(number), new_decision="Use DuckDB")
    assert told["message"] == "Decision 1 updated"
    sentence = f"Decision {fact} not found. Use the list action to see decisions."
    assert decisions.refused(action="update", id=fact, new_decision="x") == sentence


# -- list


def filled(register, clock):
    """Record six decisions a minute apart, and return the register."""
    for number, (kind, subject) in enumerate(
        [
            ("architecture", "sync"),
            ("tech_choice", "database"),
            ("workflow", "branching"),
            ("architecture", "cache"),
            ("tech_choice", "css"),
            ("architecture", "plugins"),
        ],
        start=1,
    ):
        clock.advance(60 * SECOND)
        assert register.record(subject, f"Decision {number}", decision_type=kind) == number
    clock.advance(60 * SECOND)
    return register


@pytest.mark.promise("004-017", "004-018")
def test_a_list_holds_the_decisions_whole_and_their_count(decisions, clock):
    filled(decisions, clock)
    decisions("supersede", old_id=1, new_id=4)
    reply = decisions("list")
    assert set(reply) == {"decisions", "count"}
    assert reply["count"] == len(reply["decisions"]) == 6
    assert decisions("list", limit=2)["count"] == 2
    for each in reply["decisions"]:
        assert set(each) == LISTED
        assert isinstance(each["alternatives_rejected"], list)
        assert isinstance(each["context_tags"], list)
        assert SECONDS.fullmatch(each["created_at"])
        assert SECONDS.fullmatch(each["updated_at"])
    assert {each["id"]: each["superseded_by"] for each in reply["decisions"]} == {
        1: 4,
        **dict.fromkeys(range(2, 7)),
    }


def test_an_empty_list_is_no_error(decisions):
    assert decisions("list") == {"decisions": [], "count": 0}
    assert decisions.door.whence.store.workspaces() == [], "looking founds no workspace"


@pytest.mark.promise("004-019", "004-020", "004-021")
def test_filters_keep_exactly_one_type_and_one_status_and_both_together_mean_both(decisions, clock):
    filled(decisions, clock)
    decisions("supersede", old_id=1, new_id=4)
    decisions("supersede", old_id=2, new_id=5)
    decisions("update", id=6, new_status="reconsidering")
    assert decisions.ids(filter_type="architecture") == [6, 1, 4]
    assert decisions.ids(filter_type="workflow") == [3]
    assert decisions.ids(filter_status="superseded") == [2, 1]
    assert decisions.ids(filter_status="reconsidering") == [6]
    assert decisions.ids(filter_status="active") == [5, 4, 3]
    assert decisions.ids(filter_type="architecture", filter_status="superseded") == [1]
    assert decisions.ids(filter_type="workflow", filter_status="superseded") == []
    assert sorted(decisions.ids()) == [1, 2, 3, 4, 5, 6], "every status, superseded ones included"
    assert decisions.ids(filter_type="", filter_status=None) == decisions.ids()


@pytest.mark.promise("004-019", "004-020")
@pytest.mark.parametrize("name", ["filter_type", "filter_status"])
@pytest.mark.parametrize("value", ["nonsense", "Architecture", "architect", "ACTIVE", "%", "' OR 1=1 --"])
def test_an_unknown_filter_gives_an_empty_list_and_no_error(decisions, name, value):
    decisions.record(decision_type="architecture")
    assert decisions("list", **{name: value}) == {"decisions": [], "count": 0}


def test_an_archived_decision_is_listed_only_when_asked_for(decisions, clock):
    filled(decisions, clock)
    decisions("supersede", old_id=1, new_id=4)
    for number in (1, 3):
        decisions.door.whence.archive(decisions.memory_id(number))
    assert sorted(decisions.ids()) == [2, 4, 5, 6]
    assert sorted(decisions.ids(filter_status="archived")) == [1, 3]
    assert decisions.ids(filter_status="superseded") == []
    assert {each["status"] for each in decisions.listed(filter_status="archived")} == {"archived"}
    assert decisions.ids(filter_status="archived", filter_type="workflow") == [3]
    decisions.door.whence.restore(decisions.memory_id(3))
    assert sorted(decisions.ids()) == [2, 3, 4, 5, 6]


@pytest.mark.promise("004-022", "004-040", "004-044")
def test_the_last_changed_is_first_whether_it_was_updated_or_superseded(decisions, clock):
    filled(decisions, clock)
    assert decisions.ids() == [6, 5, 4, 3, 2, 1]
    decisions("update", id=2, new_confidence=0.1)
    clock.advance(SECOND)
    decisions("supersede", old_id=3, new_id=6)
    assert decisions.ids() == [3, 2, 6, 5, 4, 1]
    assert decisions.ids(limit=2) == [3, 2], "ordered before it is cut"
    assert decisions.ids(filter_type="architecture") == [6, 4, 1]
    times = [each["updated_at"] for each in decisions.listed()]
    assert times == sorted(times, reverse=True)


@pytest.mark.promise("004-022")
def test_of_decisions_changed_at_the_same_moment_the_higher_number_is_first():
    class Stopped:
        def now(self) -> int:
            return 1_750_000_000_000_000

    whence = Whence(open_store("sqlite:///:memory:", tenant="local", clock=Stopped()), NoModels(), Stopped())
    tool = find_tool("decision_memory")
    for workspace in ("global", None, "global", None):
        told = {"action": "record", "subject": "x", "decision": "y", "workspace": workspace}
        assert not call(tool, whence, Caller(), told).is_error
    listed = call(tool, whence, Caller(), {"action": "list"}).structured["decisions"]
    assert [each["id"] for each in listed] == [4, 3, 2, 1]
    whence.close()


@pytest.mark.promise("004-022", "004-039", "004-040")
def test_what_changes_neither_text_nor_status_nor_confidence_nor_tags_moves_nothing(decisions, clock):
    filled(decisions, clock)
    whence, first = decisions.door.whence, decisions.memory_id(1)
    before = decisions.listed()
    decisions("update", id=1, new_decision="Decision 1", new_status="active", new_confidence=0.8)
    decisions.refused(action="update", id=1)
    decisions("check_alignment", technology="sync")
    decisions.door.ask("evolve/outcome", decision_id=first, outcome="FAILED", reason="Merges lost edits")
    decisions.door.ask("load/context", id=first)
    decisions.door.ask("save/checkpoint", summary="Sync works", implements=[first])
    assert decisions.listed() == before
    clock.advance(SECOND)
    for number, changes in enumerate([{"tags": ("a",)}, {"metadata": {"reasoning": "b"}}], start=1):
        whence.edit(decisions.memory_id(number), changes)
        assert decisions.ids()[0] == number, changes


@pytest.mark.promise("004-023")
def test_a_list_holds_twenty_unless_told_otherwise(decisions):
    for number in range(25):
        decisions.record(f"subject {number}")
    newest = list(range(25, 0, -1))
    assert decisions.ids() == newest[:20]
    assert decisions("list")["count"] == 20
    for twenty in (0, 0.0, None):
        assert decisions.ids(limit=twenty) == newest[:20]
    for limit in (1, 2.0, 20, 21, 24):
        assert decisions.ids(limit=limit) == newest[: int(limit)]
    for everything in (25, 26, 1000):
        assert decisions.ids(limit=everything) == newest


@pytest.mark.parametrize("limit", [-1, 1001, 10**400, 1.5, 0.5, "5", True, [5], float("nan"), float("inf")])
def test_another_limit_is_refused(decisions, limit):
    decisions.record()
    assert decisions.refused(action="list", limit=limit) in {
        "limit must be a whole number from 1 to 1,000",
        "limit must be a number",
    }


# -- check_alignment


@pytest.mark.promise("004-024")
@pytest.mark.parametrize("told", [{}, {"technology": None}, {"technology": ""}, {"technology": " "}])
@pytest.mark.parametrize("more", [{}, {"pattern": None}, {"pattern": " "}, {"subject": "database"}])
def test_an_alignment_of_nothing_is_refused_in_the_documents_words(decisions, told, more):
    decisions.record()
    sentence = decisions.refused(action="check_alignment", **told, **more)
    assert sentence == "technology is required for check_alignment action"


@pytest.mark.promise("004-034", "004-032", "004-033")
def test_a_technology_that_no_decision_mentions_is_aligned_at_half_confidence(decisions):
    nothing = {"aligned": True, "relevant_decisions": [], "conflicts": [], "confidence": 0.5}
    assert decisions.check("Elixir") == nothing
    decisions.record(alternatives_rejected=["PostgreSQL"], context_tags=["storage"], confidence=0.9)
    assert decisions.check("Elixir") == nothing


@pytest.mark.promise("004-034")
def test_with_models_too_the_answer_about_an_unknown_technology_is_exactly_that(understood):
    understood.record(alternatives_rejected=["PostgreSQL"], rationale="One file, no server", confidence=0.9)
    assert understood.check("Elixir") == {
        "aligned": True,
        "relevant_decisions": [],
        "conflicts": [],
        "confidence": 0.5,
    }


@pytest.mark.promise("004-029", "004-030", "004-031", "004-032")
def test_a_rejected_technology_conflicts_with_the_reason_in_the_documents_words(decisions):
    first = decisions.record(
        rationale="Single file, no server",
        alternatives_rejected=["Postgres (needs a server)", "MySQL"],
        context_tags=["storage"],
        confidence=0.9,
    )
    second = decisions.record("queue", "A table", alternatives_rejected=["postgres queues"], confidence=0.4)
    reply = decisions.check("pOsTgReS")
    assert reply["aligned"] is False
    assert reply["conflicts"] == [
        {
            "decision_id": first,
            "subject": "database",
            "reason": "'pOsTgReS' was rejected in favor of 'Use SQLite' (rationale: Single file, no server)",
        },
        {
            "decision_id": second,
            "subject": "queue",
            "reason": "'pOsTgReS' was rejected in favor of 'A table' (rationale: none)",
        },
    ]
    for told in reply["relevant_decisions"]:
        listed = decisions.one(told["id"])
        assert told == {name: listed[name] for name in RELEVANT}
    assert reply["confidence"] == 0.9


@pytest.mark.promise("004-028", "004-029", "004-031")
@pytest.mark.parametrize("technology", ["grove", "GROVE", "Boxgrove", " grove "])
def test_a_technology_is_met_within_subject_tags_and_rejected_options_in_any_case(decisions, technology):
    by_subject = decisions.record("Boxgrove caching", "LRU")
    by_tag = decisions.record("queue", "A table", context_tags=["misc", "boxGROVE"])
    by_option = decisions.record("store", "A file", alternatives_rejected=["Boxgrove 3"])
    decisions.record("layout", "Use Boxgrove", rationale="Boxgrove is quick")
    reply = decisions.check(technology)
    assert [each["id"] for each in reply["relevant_decisions"]] == [by_subject, by_tag, by_option]
    assert [each["decision_id"] for each in reply["conflicts"]] == [by_option]
    assert reply["aligned"] is False
    assert decisions.check("layou")["aligned"] is True


@pytest.mark.promise("004-032", "004-033")
def test_what_was_chosen_is_aligned_with_the_highest_confidence_of_what_speaks_of_it(decisions):
    decisions.record("SQLite", "For the store", confidence=0.3)
    decisions.record("cache", "In process", context_tags=["sqlite"], confidence=0.7)
    decisions.record("queue", "A table", context_tags=["sqlite"], confidence=0.6)
    decisions.record("css", "Tailwind", confidence=1)
    reply = decisions.check("sqlite")
    assert (reply["aligned"], reply["conflicts"], reply["confidence"]) == (True, [], 0.7)
    assert decisions.check("sqlite", subject="queue")["confidence"] == 0.6


@pytest.mark.promise("004-033")
@pytest.mark.parametrize("confidence", [0, 0.2])
def test_a_low_confidence_is_told_and_not_replaced_by_the_half_of_not_knowing(decisions, confidence):
    decisions.record(alternatives_rejected=["MySQL"], confidence=confidence)
    assert decisions.check("MySQL")["confidence"] == confidence


@pytest.mark.promise("004-027")
def test_only_active_decisions_conflict(decisions):
    numbers = [
        decisions.record(f"store {name}", name, alternatives_rejected=["Oracle"], confidence=0.9)
        for name in ("superseded", "reconsidered", "archived", "active")
    ]
    decisions("supersede", old_id=numbers[0], new_id=decisions.record("other", "x"))
    decisions("update", id=numbers[1], new_status="reconsidering")
    decisions.door.whence.archive(decisions.memory_id(numbers[2]))
    assert decisions.relevant("Oracle") == [numbers[3]]
    assert [each["decision_id"] for each in decisions.check("Oracle")["conflicts"]] == [numbers[3]]
    decisions("update", id=numbers[3], new_status="reconsidering", new_confidence=0.1)
    reply = decisions.check("Oracle")
    assert (reply["aligned"], reply["relevant_decisions"], reply["confidence"]) == (True, [], 0.5)
    assert [each["decision_id"] for each in reply["possible_conflicts"]] == [numbers[1], numbers[3]]
    decisions("update", id=numbers[1], new_status="active")
    assert decisions.relevant("Oracle") == [numbers[1]]


def test_a_reconsidered_rejection_is_advice_in_the_same_words(decisions):
    number = decisions.record("sync", "CRDT", alternatives_rejected=["OT"], rationale="Offline edits")
    decisions("update", id=number, new_status="reconsidering")
    (advice,) = decisions.check("OT")["possible_conflicts"]
    assert (advice["decision_id"], advice["subject"]) == (number, "sync")
    assert advice["reason"].startswith("'OT' was rejected in favor of 'CRDT' (rationale: Offline edits)")
    assert "reconsidered" in advice["reason"]


@pytest.mark.promise("004-028")
@pytest.mark.parametrize(
    ("technology", "option"),
    [
        ("postgres", "PostgreSQL"),
        ("PostgreSQL", "postgres"),
        ("kubernetes", "k8s"),
        ("golang", "Go"),
        ("Redis", "레디스"),
        ("카프카", "Kafka"),
    ],
)
def test_an_alias_counts_as_the_name_itself(decisions, technology, option):
    number = decisions.record("choice", "Another", alternatives_rejected=[option], confidence=0.3)
    reply = decisions.check(technology)
    assert reply["aligned"] is False
    assert reply["conflicts"][0]["reason"].startswith(f"'{technology}' was rejected"), "as typed"
    assert reply["confidence"] == 0.3
    assert decisions.relevant(technology) == [number]


@pytest.mark.promise("004-025")
def test_a_pattern_is_met_like_a_technology_and_in_the_text_of_architecture_and_pattern(decisions):
    kinds = ["architecture", "pattern", "tech_choice", "workflow", "dependency"]
    numbers = {kind: decisions.record(kind, "Event sourcing of it", decision_type=kind) for kind in kinds}
    rejecting = decisions.record("audit", "Rows", alternatives_rejected=["Event Sourcing"], confidence=0.95)
    reply = decisions.check(None, pattern="event sourcing")
    assert [each["id"] for each in reply["relevant_decisions"]] == [
        numbers["architecture"],
        numbers["pattern"],
        rejecting,
    ]
    assert reply["conflicts"] == [
        {
            "decision_id": rejecting,
            "subject": "audit",
            "reason": "'event sourcing' was rejected in favor of 'Rows' (rationale: none)",
        }
    ]
    assert (reply["aligned"], reply["confidence"]) == (False, 0.95)
    assert decisions.relevant("event sourcing") == [rejecting], "a technology is not met in the text"


@pytest.mark.promise("004-025")
def test_a_technology_and_a_pattern_together_give_what_either_does(decisions):
    one = decisions.record("cache", "LRU", alternatives_rejected=["Redis"], confidence=0.6)
    two = decisions.record("writes", "Write-behind", decision_type="pattern", confidence=0.7)
    both = decisions.record("sessions", "Cookies", alternatives_rejected=["Redis", "write-behind"])
    reply = decisions.check("Redis", pattern="write-behind")
    assert [each["id"] for each in reply["relevant_decisions"]] == [one, two, both]
    assert [(each["decision_id"], each["reason"].split()[0]) for each in reply["conflicts"]] == [
        (one, "'Redis'"),
        (both, "'Redis'"),
        (both, "'write-behind'"),
    ]
    assert reply["confidence"] == 0.8
    assert decisions.check("Redis", pattern="")["conflicts"] == decisions.check("Redis")["conflicts"]


@pytest.mark.promise("004-026")
@pytest.mark.parametrize("subject", ["Message Queue", "message_queue", "queue"])
def test_a_subject_narrows_to_decisions_about_it(decisions, subject):
    queue = decisions.record("message queue", "A table", alternatives_rejected=["Redis"])
    decisions.record("cache", "LRU", alternatives_rejected=["Redis"])
    assert decisions.relevant("Redis", subject=subject) == [queue]
    assert len(decisions.relevant("Redis", subject="")) == 2
    assert decisions.check("Redis", subject="css")["aligned"] is True


def test_decisions_in_korean_are_met_whatever_the_form_of_the_letters(decisions):
    import unicodedata

    number = decisions.record(
        "백엔드 언어", "Rust와 TypeScript", rationale="성능과 생산성", alternatives_rejected=["고", "자바"]
    )
    for technology in ("자바", unicodedata.normalize("NFD", "자바")):
        (conflict,) = decisions.check(technology)["conflicts"]
        assert conflict["decision_id"] == number
        assert conflict["reason"].endswith(
            "was rejected in favor of 'Rust와 TypeScript' (rationale: 성능과 생산성)"
        )
    assert decisions.relevant("언어") == [number]
    assert decisions.check("언어")["aligned"] is True


NEAR = {
    "Structured JSON logs": "JSON log output",
    "No ORM, plain SQL": "plain SQL without an ORM",
    "Signals in the frontend": "frontend framework with signals",
}


@pytest.mark.promise("004-032", "004-033")
def test_closeness_alone_is_advice_and_never_a_conflict(understood):
    for number, decision in enumerate(NEAR, start=1):
        understood.record(f"subject {number}", decision, alternatives_rejected=["Nothing of it"])
    for number, technology in enumerate(NEAR.values(), start=1):
        reply = understood.check(technology)
        assert (reply["aligned"], reply["conflicts"], reply["confidence"]) == (True, [], 0.5)
        assert reply["relevant_decisions"] == []
        advice = reply["possible_conflicts"][0]
        assert (advice["decision_id"], advice["subject"]) == (number, f"subject {number}")
        assert 0.6 < advice["similarity"] <= 1
        assert "close in meaning" in advice["reason"]


def test_advice_is_about_live_decisions_here_that_the_answer_does_not_hold_already(understood):
    number = understood.record("logging", "Structured JSON logs")
    assert understood.check("JSON log output")["possible_conflicts"]
    assert "possible_conflicts" not in understood.check("JSON log output", pattern="logging")
    there = understood.of(place=ELSEWHERE)
    there.record("css", "Tailwind")
    assert "possible_conflicts" not in there.check("JSON log output")
    successor = understood.record("logging", "Plain text lines")
    understood("supersede", old_id=number, new_id=successor)
    (advice,) = understood.check("JSON log output")["possible_conflicts"]
    assert advice["decision_id"] == successor, "the old words lead to what holds now"
    assert advice["reason"].startswith("'Plain text lines', or what it replaced, is close in meaning")
    understood.door.whence.archive(understood.memory_id(successor))
    assert "possible_conflicts" not in understood.check("JSON log output")


WORDS = st.sampled_from(["Redis", "redis", "SQL", "ab", "b", "Go", "go", "레디스", "queue", "%", "_", "x y"])


@pytest.mark.promise("004-027", "004-028", "004-029", "004-032", "004-033")
@tried(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    known=st.lists(
        st.tuples(WORDS, WORDS, st.lists(WORDS, max_size=2), st.lists(WORDS, max_size=2), st.floats(0, 1)),
        max_size=4,
    ),
    technology=WORDS,
)
def test_the_rule_of_the_document_holds_for_any_register(known, technology):
    whence = Whence(open_store("sqlite:///:memory:", tenant="local", clock=CLOCK), NoModels(), CLOCK)
    tool = find_tool("decision_memory")
    for subject, decision, options, tags, confidence in known:
        told = {"subject": subject, "decision": decision, "confidence": confidence}
        told |= {"alternatives_rejected": options, "context_tags": tags}
        assert not call(tool, whence, Caller(), {"action": "record", **told}).is_error
    asked = {"action": "check_alignment", "technology": technology}
    reply = call(tool, whence, Caller(), asked).structured
    whence.close()
    needle = technology.lower()
    options = {n: [each.lower() for each in told[2]] for n, told in enumerate(known, start=1)}
    texts = {n: [t[0].lower(), *(tag.lower() for tag in t[3]), *options[n]] for n, t in enumerate(known, 1)}
    conflicts = [each["decision_id"] for each in reply["conflicts"]]
    relevant = [each["id"] for each in reply["relevant_decisions"]]
    # Aliases may add to what the document's program finds; nothing may be lost.
    assert {n for n in options if any(needle in each for each in options[n])} <= set(conflicts)
    assert {n for n in texts if any(needle in each for each in texts[n])} <= set(relevant)
    assert set(conflicts) <= set(relevant)
    assert relevant == sorted(relevant)
    assert reply["aligned"] is (conflicts == [])
    assert reply["confidence"] == max((known[n - 1][4] for n in relevant), default=0.5)


class _Clock:
    moment = 1_750_000_000_000_000

    def now(self) -> int:
        self.moment += 1
        return self.moment


CLOCK = _Clock()


# -- update


@pytest.mark.promise("004-036", "004-037", "004-038", "004-040", "004-041")
@pytest.mark.parametrize(
    ("told", "after"),
    [
        ({"new_decision": "Use DuckDB"}, {"decision": "Use DuckDB"}),
        ({"new_rationale": "Columns"}, {"rationale": "Columns"}),
        ({"new_confidence": 0}, {"confidence": 0}),
        ({"new_confidence": 1}, {"confidence": 1}),
        ({"new_status": "reconsidering"}, {"status": "reconsidering"}),
        (
            {"new_decision": "Use DuckDB", "new_rationale": "Columns", "new_confidence": 0.25},
            {"decision": "Use DuckDB", "rationale": "Columns", "confidence": 0.25},
        ),
        ({"new_decision": "데이터베이스", "new_rationale": ""}, {"decision": "데이터베이스"}),
        ({"new_decision": "", "new_rationale": " ", "new_confidence": 0.5}, {"confidence": 0.5}),
        ({"new_decision": None, "new_rationale": None, "new_confidence": 0.5}, {"confidence": 0.5}),
    ],
)
def test_an_update_changes_what_it_names_and_leaves_the_rest(decisions, clock, told, after):
    other = decisions.record("other", "Stays")
    number = decisions.record(
        rationale="No server", alternatives_rejected=["MySQL"], context_tags=["a"], decision_type="dependency"
    )
    before, stays = decisions.one(number), decisions.one(other)
    clock.advance(90 * SECOND)
    reply = decisions("update", id=number, **told)
    assert reply == {"success": True, "message": f"Decision {number} updated"}
    assert decisions.one(number) == {**before, **after, "updated_at": "2025-06-15 15:08:10"}
    assert before["updated_at"] == "2025-06-15 15:06:40"
    assert decisions.one(other) == stays


@pytest.mark.promise("004-038")
def test_a_reconsidered_decision_becomes_active_again(decisions):
    number = decisions.record()
    for status in ("reconsidering", "reconsidering", "active", "active"):
        decisions("update", id=number, new_status=status)
        assert decisions.one(number)["status"] == status


@pytest.mark.promise("004-035", "004-039", "004-042")
def test_an_update_is_checked_in_the_documents_order(decisions):
    number = decisions.record()
    needed = "id is required for update action"
    for missing in ({}, {"id": None}, {"id": 0}, {"id": ""}, {"id": " "}):
        assert decisions.refused(action="update", new_decision="x", **missing) == needed
        assert decisions.refused(action="update", **missing) == needed
    nothing = {"new_decision": "", "new_rationale": None, "new_status": "", "new_confidence": None}
    for told in (number, 99):
        assert decisions.refused(action="update", id=told) == "No fields to update"
        assert decisions.refused(action="update", id=told, **nothing) == "No fields to update"
        assert decisions.refused(action="update", id=told, subject="x", decision="y") == "No fields to update"
    unknown = "Decision 99 not found. Use the list action to see decisions."
    assert decisions.refused(action="update", id=99, new_decision="x") == unknown
    assert decisions.refused(action="update", id=99, new_status="superseded") == unknown


@pytest.mark.promise("004-042")
@pytest.mark.parametrize(
    "unknown", [2, -1, 1.5, 9999, 2**53, 10**22, "4da:12", "decision_x", "1.0", "٣", "one"]
)
def test_an_unknown_id_is_told_as_it_was_given(decisions, unknown):
    decisions.record()
    sentence = f"Decision {unknown} not found. Use the list action to see decisions."
    assert decisions.refused(action="update", id=unknown, new_decision="x") == sentence
    assert decisions.refused(action="supersede", old_id=unknown, new_id=1) == sentence
    assert decisions.refused(action="supersede", old_id=1, new_id=unknown) == sentence


@pytest.mark.promise("004-050", "004-054")
@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"new_status": "archived"}, 'new_status must be "active" or "superseded" or "reconsidering"'),
        ({"new_status": "Active"}, 'new_status must be "active"'),
        pytest.param(
            {"new_status": "superseded"},
            "Only superseding sets superseded. Use the supersede action with old_id and new_id.",
            marks=pytest.mark.promise("004-038"),
        ),
        ({"new_confidence": 1.5}, "new_confidence must be a number from 0 to 1"),
        ({"new_confidence": -1}, "new_confidence must be a number from 0 to 1"),
        ({"new_confidence": "1"}, "new_confidence must be a number from 0 to 1"),
        ({"new_confidence": float("nan")}, "new_confidence must be a number from 0 to 1"),
        ({"new_decision": 5}, "new_decision must be text"),
        ({"new_decision": "x" * 50_001}, "new_decision must be at most 50,000 characters"),
        ({"new_rationale": "x" * 50_001}, "new_rationale must be at most 50,000 characters"),
        ({"new_rationale": "a\0b"}, "new_rationale holds characters that are no text"),
        ({"id": True, "new_decision": "x"}, "id must be a number or text"),
        ({"id": [1], "new_decision": "x"}, "id must be a number or text"),
        ({"new_decision": "x", "new_subject": "y"}, 'Unknown parameter "new_subject"'),
    ],
)
def test_a_bad_update_is_refused_and_changes_nothing(decisions, told, sentence):
    decisions.record()
    assert decisions.refused(**{"action": "update", "id": 1, **told}).startswith(sentence)


@pytest.mark.promise("004-038")
@pytest.mark.parametrize("status", ["active", "reconsidering"])
def test_a_superseded_decision_is_not_revived_and_its_successor_is_named(decisions, status):
    for _ in range(3):
        decisions.record()
    decisions("supersede", old_id=1, new_id=2)
    decisions("supersede", old_id=2, new_id=3)
    sentence = decisions.refused(action="update", id=1, new_status=status)
    assert sentence.startswith(f"Decision 1 is superseded by 2, so it cannot be {status}.")
    decisions.refused(action="update", id=1, new_status=status, new_decision="x", new_confidence=0)
    decisions("update", id=1, new_rationale="Its words may still be mended")
    assert decisions.one(1)["status"] == "superseded"


def test_a_successor_that_is_no_decision_is_named_by_its_id(decisions):
    number = decisions.record()
    fact = decisions.door.store("We use DuckDB now")
    decisions.door.ask("supersede_memory", old_memory_id=decisions.memory_id(number), new_memory_id=fact)
    assert decisions.one(number)["status"] == "superseded"
    revived = decisions.refused(action="update", id=number, new_status="active")
    assert f"is superseded by {fact}, so" in revived
    again = decisions.refused(action="supersede", old_id=number, new_id=decisions.record())
    assert f"Its current version is {fact};" in again


# -- supersede


@pytest.mark.promise("004-044", "004-045", "004-046", "004-022")
def test_superseding_marks_the_old_one_and_leaves_the_new_one_untouched(decisions, clock):
    old = decisions.record("framework", "React", rationale="Experience", confidence=0.6)
    new = decisions.record("framework", "Svelte")
    before = {number: decisions.one(number) for number in (old, new)}
    clock.advance(30 * SECOND)
    reply = decisions("supersede", old_id=old, new_id=new)
    assert reply == {"success": True, "message": f"Decision {old} superseded by {new}"}
    assert decisions.one(old) == {
        **before[old],
        "status": "superseded",
        "superseded_by": new,
        "updated_at": "2025-06-15 15:07:10",
    }
    assert decisions.one(new) == before[new]
    assert decisions.ids() == [old, new]


@pytest.mark.promise("004-043")
@pytest.mark.parametrize(
    "told",
    [
        {},
        {"old_id": 1},
        {"new_id": 1},
        {"old_id": 1, "new_id": 0},
        {"old_id": None, "new_id": 2},
        {"old_id": 1, "new_id": ""},
        {"old_id": 99},
    ],
)
def test_superseding_needs_both_ids(decisions, told):
    for _ in range(2):
        decisions.record()
    sentence = "old_id and new_id are required for supersede action"
    assert decisions.refused(action="supersede", **told) == sentence


@pytest.mark.promise("004-047", "004-048")
def test_superseding_itself_in_a_circle_or_a_second_time_is_refused_with_what_to_do(decisions):
    for _ in range(4):
        decisions.record()
    itself = decisions.refused(action="supersede", old_id=1, new_id="1")
    assert itself == "Decision 1 cannot supersede itself. Give the ids of two different decisions."
    decisions("supersede", old_id=1, new_id=2)
    decisions("supersede", old_id=2, new_id=3)
    for old in (2, 3):
        assert decisions.refused(action="supersede", old_id=old, new_id=1)
    circle = decisions.refused(action="supersede", old_id=3, new_id=1)
    assert circle.startswith("Decision 1 was itself replaced by 3, so it cannot replace it.")
    second = decisions.refused(action="supersede", old_id=1, new_id=4)
    assert second == (
        "Decision 1 is already superseded. Its current version is 3; supersede that one instead."
    )
    assert decisions.one(1)["superseded_by"] == 2


@pytest.mark.promise("004-046")
def test_the_same_pair_again_is_success_and_changes_nothing(decisions, clock):
    for _ in range(2):
        decisions.record()
    first = decisions("supersede", old_id=1, new_id=2)
    before = decisions.door.dump()
    clock.advance(SECOND)
    assert decisions("supersede", old_id=1, new_id=2) == first
    assert decisions.door.dump() == before


def test_one_decision_may_replace_many(decisions):
    for _ in range(3):
        decisions.record()
    for old in (1, 2):
        decisions("supersede", old_id=old, new_id=3)
    assert [each["superseded_by"] for each in decisions.listed()] == [3, 3, None]
    assert decisions.ids(filter_status="active") == [3]


# -- errors and doors


@pytest.mark.promise("004-049", "004-053")
@pytest.mark.parametrize("action", ["nonsense", "List", "record ", "", "delete", "목록", 5, ["list"], True])
def test_an_unknown_action_is_named_and_nothing_else_is_looked_at(decisions, action):
    sentence = f"Unknown action: {action}"
    assert decisions.refused(action=action) == sentence
    assert decisions.refused(action=action, subject=5, colour="red", limit="x") == sentence
    outcome = decisions.door.call("decision_memory", action=action)
    assert all(each in outcome.hint for each in ("record", "list", "check_alignment", "update", "supersede"))


@pytest.mark.promise("004-049")
@pytest.mark.parametrize("told", [{}, {"action": None}])
def test_no_action_is_told_as_its_program_told_it(decisions, told):
    assert decisions.refused(**told) == "Unknown action: undefined"


@pytest.mark.promise("004-050")
def test_a_near_name_and_the_next_step_stand_beside_the_error_and_never_in_it(decisions):
    decisions.record()
    outcome = decisions.tell("list", workspace="projekt")
    assert outcome.structured == {"error": 'Workspace "projekt" not found'}
    assert outcome.did_you_mean == ("project",)
    assert outcome.hint
    assert "project?" in outcome.text
    assert outcome.hint in outcome.text
    unknown = decisions.tell("list", colour="red")
    assert unknown.structured == {"error": 'Unknown parameter "colour"'}
    for name in (*ARGUMENTS, "workspace", "session"):
        assert name in unknown.hint


def test_a_secret_is_masked_in_every_field_and_told_beside_the_reply(understood):
    clean = understood.tell("record", subject="keys", decision="Rotate them weekly")
    assert clean.notices == ()
    outcome = understood.tell(
        "record",
        subject=f"key {SECRET}",
        decision=f"Use {SECRET}",
        rationale=f"{SECRET} works",
        alternatives_rejected=[SECRET],
        context_tags=[SECRET],
    )
    (notice,) = outcome.notices
    assert notice.startswith("Masked before storing: AWS key")
    assert outcome.structured == {
        "success": True,
        "id": 2,
        "message": "Decision recorded: key [masked AWS key]",
    }
    assert notice in outcome.text
    updated = understood.tell("update", id=1, new_decision=SECRET, new_rationale=f"as {SECRET}")
    assert updated.structured == {"success": True, "message": "Decision 1 updated"}
    assert updated.notices[0].startswith("Masked before storing")
    assert SECRET not in "".join(understood.door.dump())
    assert SECRET not in str(understood.listed())


def test_a_retry_answers_with_the_first_and_any_difference_is_another_decision(decisions, clock):
    here = decisions.of(may_repeat=True)
    told = {"subject": "database", "decision": "Use SQLite", "confidence": 0.5}
    first = here("record", **told)
    assert here("record", **told) == first
    assert decisions("record", **told, session="named")["id"] == 2
    assert decisions("record", **told, session="named")["id"] == 2
    others = [
        here("record", **told | {"confidence": 0.6}),
        here("record", **told, rationale="x"),
        here.of(session="other")("record", **told),
        here.of(place=ELSEWHERE)("record", **told),
        decisions("record", **told),
    ]
    assert [each["id"] for each in others] == [3, 4, 5, 6, 7]
    clock.advance(11 * 60 * SECOND)
    assert here("record", **told)["id"] == 8
    here("supersede", old_id=8, new_id=7)
    assert here("record", **told)["id"] == 9, "the first is live no longer"


def test_the_family_sees_its_workspace_and_global_and_no_other(decisions):
    there = decisions.of(place=ELSEWHERE)
    here = decisions.record("database", "Use SQLite", alternatives_rejected=["MySQL"])
    other = there.record("database", "Use MySQL", alternatives_rejected=["SQLite"])
    everywhere = decisions.record("language", "Korean", workspace="global", context_tags=["mysql"])
    assert decisions.ids() == [everywhere, here]
    assert there.ids() == [everywhere, other]
    assert decisions.ids(workspace="Elsewhere") == [everywhere, other]
    assert decisions.ids(workspace="global") == [everywhere]
    assert decisions.ids(workspace="*") == [everywhere, other, here]
    assert decisions.relevant("MySQL") == [here, everywhere]
    assert there.check("MySQL")["aligned"] is True
    for told in (
        {"action": "update", "id": other, "new_decision": "x"},
        {"action": "supersede", "old_id": other, "new_id": here},
        {"action": "supersede", "old_id": here, "new_id": other},
        {"action": "update", "id": decisions.memory_id(other), "new_decision": "x"},
    ):
        assert "not found. Use the list action to see decisions." in decisions.refused(**told)
    decisions("supersede", old_id=here, new_id=everywhere)
    assert decisions.one(here)["superseded_by"] == everywhere


@contextmanager
def connected(settings):
    """Lend a client's call on a server in this process."""
    opening = Opening(settings, keeps_models=False)
    client = Client(Door(settings, opening, NOWHERE).server)
    with start_blocking_portal() as portal:
        entering = portal.wrap_async_context_manager(client)
        entering.__enter__()
        try:
            yield client, portal
        finally:
            entering.__exit__(None, None, None)
            opening.close()


def settings_of(folder, **more):
    return Settings(
        home=folder, store=f"sqlite:///{folder / 'whence.db'}", tools="decisions", offline=True, **more
    )


@pytest.mark.promise("004-001", "004-050")
def test_a_client_gets_the_fixed_reply_and_the_rest_in_meta_and_text(tmp_path):
    def asked(portal, client, **arguments):
        return portal.call(client.call_tool, "decision_memory", arguments)

    with connected(settings_of(tmp_path)) as (client, portal):
        (tool,) = portal.call(client.list_tools).tools
        assert (tool.name, tool.meta["whence/canonical"]) == ("decision_memory", "decision_memory")
        recorded = asked(portal, client, action="record", subject="db", decision=f"Key {SECRET}")
        assert recorded.structured_content == {
            "success": True,
            "id": 1,
            "message": "Decision recorded: db",
        }
        assert recorded.meta["whence/notices"][0].startswith("Masked before storing: AWS key")
        assert recorded.meta["whence/notices"][0] in recorded.content[0].text
        refused = asked(portal, client, action="list", workspace="defalt")
        assert refused.is_error
        assert refused.structured_content == {"error": 'Workspace "defalt" not found'}
        assert refused.meta["whence/did_you_mean"] == ["default"]
        assert refused.meta["whence/hint"] in refused.content[0].text
        unknown = asked(portal, client, action="nonsense")
        assert unknown.is_error
        assert unknown.structured_content == {"error": "Unknown action: nonsense"}
        assert "whence/notices" not in unknown.meta
    with connected(settings_of(tmp_path)) as (client, portal):  # a later session, another server
        portal.call(client.list_tools)
        listed = asked(portal, client, action="list")
        assert listed.structured_content["decisions"][0]["decision"] == "Key [masked AWS key]"
        assert listed.meta is None or not any(name.startswith("whence/") for name in listed.meta)
        for told in (
            {"action": "check_alignment", "technology": "db"},
            {"action": "update", "id": 1, "new_confidence": 0},
            {"action": "record", "subject": "db", "decision": "Two"},
            {"action": "supersede", "old_id": "1", "new_id": 2},
        ):
            assert not asked(portal, client, **told).is_error


# -- the tool as it is listed


@pytest.mark.promise("004-001", "004-051")
def test_the_family_is_one_tool_whose_description_says_what_each_action_does():
    (family,) = chosen("decisions")
    (tool,) = family.tools
    assert tool.name == "decision_memory"
    told = tool.described()
    assert told.startswith("Record, query, and manage architectural decisions across sessions")
    for action, deed in {
        "record": "create a decision",
        "list": "query decisions",
        "check_alignment": "does a technology or pattern conflict with decisions",
        "update": "modify one",
        "supersede": "replace an old decision with a new one",
    }.items():
        assert f"{action} ({deed}" in told


KINDS = {
    "confidence": "number",
    "limit": "number",
    "new_confidence": "number",
    "id": ["number", "string"],
    "old_id": ["number", "string"],
    "new_id": ["number", "string"],
    "alternatives_rejected": "array",
    "context_tags": "array",
}
SERVES = {
    "record": ARGUMENTS[1:8],
    "list": ["filter_type", "filter_status", "limit"],
    "check_alignment": ["technology", "pattern", "subject"],
    "update": ["id", "new_decision", "new_rationale", "new_status", "new_confidence"],
    "supersede": ["old_id", "new_id"],
}


@pytest.mark.promise("004-052", "004-053", "004-054")
def test_the_schema_has_the_twenty_properties_of_the_document_and_the_two_that_all_share():
    schema = find_tool("decision_memory").input_schema()
    properties = schema["properties"]
    assert list(properties) == [*ARGUMENTS, "workspace", "session"]
    assert schema["required"] == ["action"]
    assert schema["type"] == "object"
    assert {name: properties[name]["type"] for name in ARGUMENTS} == {
        **dict.fromkeys(ARGUMENTS, "string"),
        **KINDS,
    }
    assert properties["action"]["enum"] == ["record", "list", "check_alignment", "update", "supersede"]
    assert properties["decision_type"]["enum"] == [
        "tech_choice",
        "architecture",
        "workflow",
        "pattern",
        "dependency",
    ]
    assert properties["new_status"]["enum"] == ["active", "superseded", "reconsidering"]
    for name in ("alternatives_rejected", "context_tags"):
        assert properties[name]["items"] == {"type": "string"}
    enums = {name for name in ARGUMENTS if "enum" in properties[name]}
    assert enums == {"action", "decision_type", "new_status"}
    assert properties["action"]["description"] == "Action to perform"
    for action, names in SERVES.items():
        for name in names:
            assert re.search(rf"\(for [a-z_, ]*\b{action}\b", properties[name]["description"]), name


# -- written here, read there


@pytest.fixture
def chosen_elsewhere(words):
    """A decision that save/decision made."""
    return words.ask(
        "save/decision",
        topic="cache",
        decision="Read-through LRU in process",
        reasoning="95% reads",
        confidence=0.75,
        alternatives=[{"option": "Redis", "why_rejected": "A server"}, {"option": "Memcached"}],
        tags=["performance"],
        decision_type="architecture",
    )["created"]


@pytest.mark.promise("004-009", "004-018", "004-029")
def test_what_save_decision_saves_is_listed_and_conflicts(decisions, chosen_elsewhere):
    assert decisions.one(chosen_elsewhere["number"]) == {
        "id": 1,
        "decision_type": "architecture",
        "subject": "cache",
        "decision": "Read-through LRU in process",
        "rationale": "95% reads",
        "alternatives_rejected": ["Redis", "Memcached"],
        "context_tags": ["performance"],
        "confidence": 0.75,
        "status": "active",
        "superseded_by": None,
        "created_at": "2025-06-15 15:06:40",
        "updated_at": "2025-06-15 15:06:40",
    }
    assert decisions.check("redis")["conflicts"] == [
        {
            "decision_id": 1,
            "subject": "cache",
            "reason": "'redis' was rejected in favor of 'Read-through LRU in process' (rationale: 95% reads)",
        }
    ]


def test_what_is_recorded_here_is_found_by_every_other_family(decisions):
    told = {"rationale": "Rootless", "alternatives_rejected": ["Docker"], "context_tags": ["ops"]}
    number = decisions.record("container engine", "Run everything in Podman", **told)
    door, kept = decisions.door, decisions.memory_id(number)
    current = door.ask("search/by_topic", topic="container_engine")["current"]
    assert (current["id"], current["number"], current["content"]) == (kept, 1, "Run everything in Podman")
    assert current["metadata"]["reasoning"] == "Rootless"
    assert door.found("podman") == [kept]
    assert door.found("rootless") == [kept], "its reasons are a way in"
    assert door.hits("podman") == [kept]
    assert door.recent() == [kept]
    assert [each["id"] for each in door.ask("search/recent", types=["decision"])["memories"]] == [kept]
    for around in ({"id": kept}, {"id": str(number)}, {"topic": "Container Engine"}):
        context = door.ask("load/context", **around)
        assert context["memory"]["id"] == kept
        assert context["causes"] == {"reasons": ["Rootless"], "alternatives": [{"option": "Docker"}]}
    saved = door.ask("save/decision", topic="ci", decision="Use Docker in CI", reasoning="Runners have it")
    assert [each["id"] for each in saved["conflicts"]] == [kept]
    assert f"{kept} (active)" in door.ask("recall_decision", topic="container engine")["history"]


@pytest.mark.promise("004-044")
def test_what_is_superseded_here_is_gone_from_every_answer_and_present_in_every_history(decisions):
    old = decisions.record("tubes", "Use pneumatic pipes", alternatives_rejected=["Pigeons"])
    new = decisions.record("tubes", "Use vacuum pipes")
    decisions("supersede", old_id=old, new_id=new)
    door, gone, stays = decisions.door, decisions.memory_id(old), decisions.memory_id(new)
    assert door.found("pneumatic pipes") == [stays], "the old words are a way in, never an answer"
    assert door.hits("pneumatic pipes") == [stays]
    assert door.recent() == [stays]
    assert [each["id"] for each in door.ask("search/recent")["memories"]] == [stays]
    topic = door.ask("search/by_topic", topic="tubes")
    assert (topic["current"]["id"], topic["also_live"]) == (stays, [])
    assert gone not in door.ask("list_decisions")["list"]
    assert gone not in door.ask("suggest_decision", userQuestion="pneumatic pipes")["suggestions"]
    assert decisions.check("Pigeons")["aligned"] is True
    assert [each["id"] for each in topic["evolution_chain"]] == [gone, stays]
    context = door.ask("load/context", id=gone)
    assert context["memory"]["superseded_by"] == stays
    assert [each["id"] for each in context["chain"]] == [gone, stays]
    history = door.ask("search_memories", query="pneumatic pipes", include_history=True)["memories"]
    assert [each["labels"][0] for each in history if each["id"] == gone] == ["superseded"]
    assert f"{gone} (superseded)" in door.ask("recall_decision", topic="tubes")["history"]
    assert decisions.ids(filter_status="superseded") == [old]


def test_what_the_other_families_supersede_is_superseded_here(decisions, clock):
    door, numbers = decisions.door, [decisions.record("tubes", f"Pipes {each}") for each in range(3)]
    ids = [decisions.memory_id(each) for each in numbers]
    clock.advance(SECOND)
    door.ask("supersede_memory", old_memory_id=ids[0], new_memory_id=ids[1])
    clock.advance(SECOND)
    door.ask("evolve/supersede", old_id=ids[1], new_id=ids[2])
    clock.advance(SECOND)
    made = door.ask("evolve/supersede", old_id=str(numbers[2]), decision="Tubes", reasoning="Wider")
    clock.advance(SECOND)
    replacing = {
        "topic": "tubes",
        "decision": "None",
        "reasoning": "Gone",
        "supersedes": made["created"]["id"],
    }
    door.ask("save/decision", **replacing)
    assert [(each["id"], each["superseded_by"]) for each in decisions.listed()] == [
        (5, None),
        (4, 5),
        (3, 4),
        (2, 3),
        (1, 2),
    ]
    assert decisions.ids(filter_status="active") == [5]
    second = decisions.refused(action="supersede", old_id=1, new_id=5)
    assert "Its current version is 5;" in second


def test_an_update_is_found_by_its_new_words_and_no_longer_by_the_old(decisions):
    number = decisions.record("state management", "Zustand", rationale="Redux boilerplate")
    decisions("update", id=number, new_decision="Signals", new_rationale="Followed the Svelte move")
    door, kept = decisions.door, decisions.memory_id(number)
    for query in ("signals", "svelte"):
        assert door.hits(query) == door.found(query) == [kept]
    for query in ("zustand", "redux boilerplate"):
        assert door.hits(query) == door.found(query) == []
    current = door.ask("search/by_topic", topic="state management")["current"]
    assert (current["content"], current["metadata"]["reasoning"]) == ("Signals", "Followed the Svelte move")
    (event,) = [each for each in door.whence.history(kept) if each.action == "edited"]
    assert event.replaced["content"] == "Zustand"


def test_with_models_an_update_is_found_by_its_new_meaning(understood):
    number = understood.record("container engine", "Run the services in Podman")
    understood.record("css", "Style pages with Tailwind")
    understood("update", id=number, new_decision="Deploy to a cluster of virtual machines")
    (first, *_) = understood.door.ask("search/by_context", query="where do VMs host our services?")[
        "memories"
    ]
    assert first["content"] == "Deploy to a cluster of virtual machines"


def test_a_reconsidered_decision_still_answers_and_says_so(decisions):
    number = decisions.record("sync", "CRDT based merging")
    decisions("update", id=number, new_status="reconsidering")
    (found,) = decisions.door.ask("search/by_context", query="merging")["memories"]
    assert (found["status"], "reconsidering" in found["labels"]) == ("reconsidering", True)


def test_decisions_recorded_in_korean_are_read_by_the_other_families_in_korean(understood):
    number = understood.record("데이터베이스", "SQLite를 쓴다", rationale="서버가 필요 없다")
    understood.record("배포", "2주마다 배포한다")
    kept = understood.memory_id(number)
    assert understood.door.ask("search/by_topic", topic="데이터베이스")["current"]["id"] == kept
    assert understood.door.hits("어떤 데이터베이스를 쓰나요?")[0] == kept
    assert understood.door.found("서버가 필요 없는 이유")[0] == kept


def test_what_was_decided_outlives_the_program(tmp_path):
    settings = Settings(home=tmp_path, store=f"sqlite:///{tmp_path / 'w.db'}")
    tool = find_tool("decision_memory")
    for number in (1, 2):
        whence = open_memory(settings, models=NoModels())
        told = {"action": "record", "subject": "x", "decision": "y"}
        assert call(tool, whence, Caller(), told).structured["id"] == number
        whence.close()
