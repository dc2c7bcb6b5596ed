"""Does a check name the decisions that a change goes against, and no others?"""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.core.details import Alternative, DecisionDetails
from whence.core.memories import Memory
from whence.features.alignment.checks import as_json, check, sarif, told
from whence.features.alignment.diffs import Addition, added


def decision(content="Use Memcached", *, rejected=(), reasoning=None, number=12, **fields):
    details = DecisionDetails(
        reasoning=reasoning, alternatives=tuple(Alternative(option=each) for each in rejected)
    )
    given_fields = {
        "id": content,
        "topic": "cache",
        "created_at": 0,
        "updated_at": 0,
        "accessed_at": 0,
        "valid_from": 0,
        "workspace": "w",
        **fields,
    }
    return Memory(
        type="decision", content=content, number=number, metadata=details.metadata(), **given_fields
    )


def addition(package="ioredis", ecosystem="npm", why="dependency", **fields):
    return Addition(
        **{
            "package": package,
            "ecosystem": ecosystem,
            "file": "web/package.json",
            "line": 7,
            "text": f'"{package}": "^5.0.0",',
            "why": why,
            **fields,
        }
    )


MEMCACHED = decision(rejected=("Redis",), reasoning="one server less")


def test_a_rejected_technology_behind_an_added_package_is_a_hard_finding():
    (found,) = check([MEMCACHED], [addition()])
    assert found.hard
    assert found.decision == MEMCACHED
    assert found.addition == addition()
    assert found.reason == "'Redis' was rejected in favor of 'Use Memcached' (rationale: one server less)"


def test_a_change_is_read_and_checked_from_its_diff():
    diff = "--- a/requirements.txt\n+++ b/requirements.txt\n@@ -1 +1,2 @@\n flask\n+redis>=5\n"
    assert told(check([MEMCACHED], added(diff))) == (
        "requirements.txt:2: 'Redis' was rejected in favor of 'Use Memcached' (rationale: one server less) "
        "(decision 12)"
    )


@pytest.mark.parametrize(
    ("option", "ecosystem", "package"),
    [
        ("redis", "pypi", "django-redis"),
        ("Redis for sessions", "npm", "bullmq"),
        ("a Redis cluster", "npm", "connect-redis"),
        ("Use Express with TypeScript", "npm", "express"),
        ("Redis (too much to run)", "docker", "bitnami/redis"),
        ("레디스", "go", "github.com/redis/go-redis/v9"),
        ("Postgres", "cargo", "tokio-postgres"),
        ("k8s", "pypi", "kubernetes"),
        ("left-pad", "npm", "left-pad"),
        ("date-fns everywhere", "npm", "date-fns"),
        ("Moment or Luxon", "npm", "luxon"),
        ("async", "npm", "async"),
        ("redis-py", "pypi", "redis"),
        ("Spring Boot", "maven", "org.springframework.boot:spring-boot-starter-web"),
    ],
)
def test_a_whole_name_or_an_alias_is_hard(option, ecosystem, package):
    (found,) = check([decision("Other", rejected=(option,))], [addition(package, ecosystem)])
    assert found.hard
    assert found.reason.startswith(f"'{option}' was rejected")


@pytest.mark.parametrize(
    ("option", "ecosystem", "package"),
    [
        ("Redis", "npm", "redistribute"),
        ("SQL", "npm", "pg"),
        ("Go", "npm", "google-auth-library"),
        ("React Native", "npm", "react-dom"),
        ("React Query", "npm", "react"),
        ("go-redis", "go", "github.com/redis/rueidis"),
        ("async everywhere", "npm", "async"),
        ("Memcached instead of Redis", "npm", "ioredis"),
        ("Without Redis", "npm", "ioredis"),
        ("JSON files", "npm", "js-yaml"),
        ("Google Analytics", "npm", "@google/genai"),
        ("C", "pypi", "c-parser"),
    ],
)
def test_a_part_of_a_name_is_no_finding(option, ecosystem, package):
    assert check([decision("Other", rejected=(option,))], [addition(package, ecosystem)]) == []


@pytest.mark.parametrize(
    ("option", "package"),
    [
        ("React Context", "react-dom"),
        ("Redis Streams", "ioredis"),
        ("Self-hosted Kafka", "kafkajs"),
        ("Firebase Auth", "firebase-admin"),
        ("Express with TypeScript", "typescript"),
        ("Node + Express", "express"),
    ],
)
def test_a_part_of_a_technology_or_a_way_to_use_it_gives_advice(option, package):
    (found,) = check([decision("Other", rejected=(option,))], [addition(package)])
    assert not found.hard
    assert found.level == "warning"
    assert told([found]).endswith("(decision 12, which may not speak of this)")


def test_who_chose_another_way_to_run_it_did_not_reject_it():
    managed = decision("Managed PostgreSQL", rejected=("Self-hosted PostgreSQL",))
    newer = decision("React 19", rejected=("React 18", "Preact"))
    assert check([managed, newer], [addition("pg"), addition("react")]) == []
    (found,) = check([managed, newer], [addition("pg"), addition("react"), addition("preact")])
    assert found.reason.startswith("'Preact' was rejected")


def test_a_decision_that_names_what_it_rejects_still_rejects_it():
    kept = decision("Memcached, since Redis is slower", rejected=("Redis",))
    named = decision("A cache, Redis or not, stays out", rejected=("Redis",))
    assert [each.hard for each in check([kept, named], [addition()])] == [True, True]


def test_a_reconsidered_decision_gives_advice():
    (found,) = check([replace(MEMCACHED, status="reconsidering")], [addition()])
    assert not found.hard
    assert found.level == "note"
    assert told([found]).endswith("(decision 12, being reconsidered)")


@pytest.mark.parametrize("state", [{"status": "archived"}, {"superseded_by": "x"}, {"known_until": 1}])
def test_a_decision_that_is_no_longer_held_finds_nothing(state):
    assert check([replace(MEMCACHED, **state)], [addition()]) == []


def test_what_another_decision_chose_is_a_warning_and_not_hard():
    other = decision("Use Redis for rate limits", number=20, topic="rate limits")
    (found,) = check([MEMCACHED, other], [addition()])
    assert not found.hard
    assert found.level == "warning"
    assert found.allowed_by == other
    assert told([found]).endswith("(decision 12; decision 20 chose it)")


@pytest.mark.parametrize(
    "other",
    [
        decision("Use Redis", number=3, valid_from=-1),  # an older one on the same topic
        decision("Use Redis", topic="rate limits", status="reconsidering"),
        decision("Use Redis", topic="rate limits", superseded_by="x"),
        decision("Kafka instead of Redis", topic="queue"),
        decision("No Redis in tests", topic="tests"),
    ],
)
def test_only_an_active_choice_on_another_topic_or_made_later_allows(other):
    (found,) = check([MEMCACHED, other], [addition()])
    assert found.hard


def test_findings_come_in_the_order_of_the_change_and_name_each_decision_once():
    other = decision("Kafka", rejected=("Redis Streams", "Redis"), number=3, topic="queue")
    first, second = addition("bullmq", line=1), addition(line=2)
    found = check([MEMCACHED, other], [first, addition("koa"), second])
    assert [(each.addition.line, each.decision.number) for each in found] == [
        (1, 12),
        (1, 3),
        (2, 12),
        (2, 3),
    ]


def test_nothing_added_or_nothing_decided_finds_nothing():
    assert check([], [addition()]) == check([MEMCACHED], []) == []
    assert told([]) == ""
    assert as_json([]) == {"aligned": True, "findings": []}


# -- how it is told


def test_a_line_of_text_stays_one_line_and_names_a_decision_without_number_by_its_id():
    kept = decision("Use\nMemcached", rejected=("Redis",), number=None, id="7")
    line = told(check([kept], [addition()]))
    assert line == (
        "web/package.json:7: 'Redis' was rejected in favor of 'Use Memcached' (rationale: none) (decision 7)"
    )


def test_a_file_name_cannot_write_lines_of_its_own():
    line = told(check([MEMCACHED], [addition(file="a\n::error::\x1b[2J/package.json")]))
    assert line.startswith("a\ufffd::error::\ufffd[2J/package.json:7: 'Redis'")


def test_json_tells_everything_and_no_password():
    line = addition("redis", "pypi", text="redis @ git+https://ana:hunter2secret@example.invalid/redis.git")
    answer = as_json(check([MEMCACHED], [line]))
    assert json.loads(json.dumps(answer)) == answer
    (found,) = answer["findings"]
    assert answer["aligned"] is False
    assert (found["decision_id"], found["subject"], found["file"], found["line"]) == (
        12,
        "cache",
        line.file,
        7,
    )
    assert found["hard"] is True
    assert (found["package"], found["ecosystem"], found["why"]) == ("redis", "pypi", "dependency")
    assert "hunter2secret" not in json.dumps(answer)


def test_advice_alone_is_still_aligned():
    assert as_json(check([replace(MEMCACHED, status="reconsidering")], [addition()]))["aligned"] is True


def test_sarif_is_a_log_that_code_hosts_take():
    reconsidered = decision("B", rejected=("ioredis",), status="reconsidering", number=2, topic="b")
    allowing = decision("Use pg", number=3, topic="c")
    rejecting = decision("D", rejected=("PostgreSQL",), number=4, topic="d")
    additions = [addition(file="web app/캐시.json"), addition("pg", line=9)]
    log = sarif(check([MEMCACHED, reconsidered, allowing, rejecting], additions), "1.2.3")
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("whence", "1.2.3")
    assert [each["level"] for each in run["results"]] == ["error", "note", "warning"]
    for result in run["results"]:
        rule = driver["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["defaultConfiguration"]["level"] == result["level"]
        assert result["message"]["text"]
        assert re.fullmatch("[0-9a-f]{64}", result["partialFingerprints"]["decisionAndPackage/v1"])
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "web%20app/%EC%BA%90%EC%8B%9C.json"
    assert place["region"] == {"startLine": 7}


def test_a_finding_keeps_its_fingerprint_when_its_line_moves():
    def fingerprints(*additions):
        (run,) = sarif(check([MEMCACHED], additions), "1")["runs"]
        return [each["partialFingerprints"]["decisionAndPackage/v1"] for each in run["results"]]

    first, moved, other = fingerprints(addition(), addition(line=99), addition(file="other/package.json"))
    assert first == moved != other


texts = st.text(min_size=1, max_size=12)
additions_of_any_kind = st.builds(
    addition,
    package=texts | st.sampled_from(["redis", "ioredis", "pg"]),
    ecosystem=st.sampled_from(["pypi", "npm", "cargo", "go", "maven", "nuget", "docker"]),
    why=st.sampled_from(["dependency", "import", "image"]),
    file=texts,
    text=texts,
)
decisions_of_any_kind = st.builds(
    decision,
    content=texts | st.sampled_from(["Use Redis", "Use pg, not Redis"]),
    rejected=st.lists(texts | st.sampled_from(["Redis", "Postgres 15", "React Query"]), max_size=3),
    topic=st.none() | texts,
    status=st.sampled_from(["active", "reconsidering", "archived"]),
    valid_from=st.integers(0, 3),
)


@settings(deadline=None)
@given(st.lists(decisions_of_any_kind, max_size=5), st.lists(additions_of_any_kind, max_size=5))
def test_only_active_decisions_are_hard_and_every_finding_is_told(decisions, additions):
    found = check(decisions, additions)
    for each in found:
        assert each.decision.status == ("active" if each.hard else each.decision.status) != "archived"
        assert each.addition in additions
    answer = as_json(found)
    assert answer["aligned"] == (not any(each.hard for each in found))
    assert len(answer["findings"]) == len(sarif(found, "1")["runs"][0]["results"]) == len(found)
    assert json.dumps(sarif(found, "1"))
    assert len(told(found).split("\n")) == max(1, len(found))
