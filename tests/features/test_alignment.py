"""Which decisions speak about a technology or a pattern, and which of them rejected it?"""

from dataclasses import replace
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.core.details import Alternative, DecisionDetails
from whence.core.memories import Memory
from whence.features.alignment import UNKNOWN, align, rejected_by
from whence.features.alignment.choices import bare_names, chosen
from whence.features.alignment.technologies import names_in

unhurried = settings(deadline=None)  # the first example also reads the tables


def decision(content="Use Memcached", *, rejected=(), reasoning=None, kind="tech_choice", **fields):
    details = DecisionDetails(
        reasoning=reasoning,
        decision_type=kind,
        alternatives=tuple(Alternative(option=each) for each in rejected),
    )
    given_fields = {
        "id": content,
        "topic": "cache",
        "confidence": 0.8,
        "created_at": 0,
        "updated_at": 0,
        "accessed_at": 0,
        "valid_from": 0,
        "workspace": "w",
        **fields,
    }
    return Memory(type="decision", content=content, metadata=details.metadata(), **given_fields)


SQLITE = decision(
    "Use SQLite for local-first storage",
    topic="database",
    rejected=("PostgreSQL", "MySQL"),
    reasoning="Single file, no server",
    confidence=0.9,
    tags=("storage", "local-first"),
)
SIGNALS = decision(
    "Signals", topic="state management", rejected=("Redux",), tags=("ui", "react"), confidence=0.65
)


def reasons(conflicts):
    return [each.reason for each in conflicts]


# -- the rule of the document


def test_a_rejected_technology_is_a_conflict_with_its_sentence():
    found = align([SIGNALS, SQLITE], technology="PostgreSQL")
    assert not found.aligned
    assert found.relevant == (SQLITE,)
    (reason,) = reasons(found.conflicts)
    assert reason == (
        "'PostgreSQL' was rejected in favor of 'Use SQLite for local-first storage' "
        "(rationale: Single file, no server)"
    )
    assert found.conflicts[0].memory == SQLITE
    assert found.confidence == 0.9


def test_the_sentence_has_the_technology_as_typed_and_none_without_a_rationale():
    found = align([decision("Podman", rejected=("Docker",))], technology="doCKer")
    assert reasons(found.conflicts) == ["'doCKer' was rejected in favor of 'Podman' (rationale: none)"]


@pytest.mark.parametrize("technology", ["react", "REACT", "state", "ui"])
def test_a_decision_is_relevant_by_its_subject_or_its_tags_in_any_letter_case(technology):
    found = align([SIGNALS], technology=technology)
    assert found.relevant == (SIGNALS,)
    assert found.aligned


def test_neither_the_decision_nor_its_rationale_is_searched():
    kept = decision("Use Redis", topic="cache", reasoning="Valkey was new")
    assert align([kept], technology="Redis").relevant == ()
    assert align([kept], technology="Valkey").relevant == ()


@pytest.mark.parametrize(
    ("technology", "option"), [("SQL", "PostgreSQL"), ("Go", "Django"), ("mod", "CSS modules")]
)
def test_what_was_typed_is_met_within_a_word(technology, option):
    assert not align([decision(rejected=(option,))], technology=technology).aligned


def test_a_needle_never_spans_two_tags_or_two_options():
    kept = decision(topic="t", tags=("ab", "cd"), rejected=("ef", "gh"))
    for technology in ("bc", 'b", "c', "fg", ", ", "[", '"'):
        assert align([kept], technology=technology).relevant == ()


def test_percent_and_underscore_stand_for_themselves():
    kept = decision(topic="snakeXcase", rejected=("100 of 100",))
    assert align([kept], technology="snake_case").relevant == ()
    assert align([kept], technology="100%").aligned


def test_composed_and_decomposed_letters_are_the_same():
    apart = normalize("NFD", "레디스")
    assert apart != "레디스"
    assert not align([decision(rejected=(apart,))], technology="레디스").aligned


@pytest.mark.parametrize(
    "state",
    [
        {"superseded_by": "x"},
        {"status": "archived"},
        {"known_until": 5},
        {"superseded_by": "x", "status": "reconsidering"},
    ],
)
def test_what_is_no_longer_held_conflicts_with_nothing(state):
    found = align([replace(SQLITE, **state)], technology="PostgreSQL")
    assert found == align([], technology="PostgreSQL")
    assert found.aligned
    assert found.confidence == UNKNOWN


def test_a_reconsidered_decision_only_may_conflict():
    found = align([replace(SQLITE, status="reconsidering")], technology="PostgreSQL")
    assert found.aligned
    assert found.relevant == ()
    assert found.confidence == UNKNOWN
    assert [each.memory.topic for each in found.reconsidering] == ["database"]
    assert reasons(found.reconsidering) == reasons(align([SQLITE], technology="PostgreSQL").conflicts)


def test_an_unknown_technology_is_aligned_with_half_confidence():
    found = align([SQLITE, SIGNALS], technology="Elixir")
    assert (found.aligned, found.relevant, found.conflicts, found.confidence) == (True, (), (), 0.5)


def test_confidence_is_the_highest_of_the_relevant_ones_and_the_order_is_as_given():
    low, high = (
        decision("A", rejected=("Redis",), confidence=0.2),
        decision("B", topic="redis", confidence=0.4),
    )
    found = align([low, high], technology="redis")
    assert found.relevant == (low, high)
    assert found.confidence == 0.4
    assert align([high, low], technology="redis").relevant == (high, low)


# -- beyond it: aliases, patterns, a subject


@pytest.mark.parametrize(
    ("technology", "option"),
    [
        ("postgres", "PostgreSQL 15"),
        ("PostgreSQL", "Postgres"),
        ("PostgreSQL", "plain postgres15"),
        ("k8s", "Kubernetes"),
        ("Kubernetes", "k8s"),
        ("JavaScript", "js everywhere"),
        ("golang", "Go"),
        ("nodejs", "Node"),
        ("Redis", "레디스"),
    ],
)
def test_an_alias_counts_as_the_name_itself(technology, option):
    found = align([decision("X", rejected=(option,), confidence=0.3)], technology=technology)
    assert not found.aligned
    assert found.confidence == 0.3
    assert found.conflicts[0].reason.startswith(f"'{technology}' ")


@pytest.mark.parametrize(
    ("technology", "option"),
    [
        ("JavaScript", "JSON files"),
        ("golang", "MongoDB"),
        ("TypeScript", "tsv"),
        ("Python", "numpy"),
        ("Elasticsearch", "tests"),
    ],
)
def test_a_short_alias_counts_as_a_whole_name_only(technology, option):
    assert align([decision(rejected=(option,))], technology=technology).relevant == ()


def test_a_pattern_is_met_like_a_technology_and_in_the_text_of_patterns_and_architecture():
    pattern = decision("Result types at boundaries", topic="errors", kind="pattern", rejected=("Exceptions",))
    architecture = decision("Event sourcing for orders", topic="orders", kind="architecture", confidence=0.6)
    choice = decision("Result codes from Kafka", topic="queue", kind="tech_choice")
    known = [pattern, architecture, choice]
    assert align(known, pattern="result").relevant == (pattern,)
    assert align(known, pattern="event sourcing").confidence == 0.6
    assert align(known, pattern="event sourcing").aligned
    assert align(known, technology="event sourcing").relevant == ()
    assert reasons(align(known, pattern="exceptions").conflicts) == [
        "'exceptions' was rejected in favor of 'Result types at boundaries' (rationale: none)"
    ]


def test_both_given_are_joined_each_decision_once_and_the_technology_first():
    both = decision("LRU in process", topic="layer", rejected=("Redis", "Write-through"))
    other = decision("B", topic="write-through")
    found = align([other, both], technology="Redis", pattern="write-through")
    assert found.relevant == (other, both)
    assert [reason.split()[0] for reason in reasons(found.conflicts)] == ["'Redis'", "'write-through'"]
    assert len(align([both], technology="Redis", pattern="Redis").conflicts) == 1


@pytest.mark.parametrize("subject", ["data base", "DATABASE", "data_base", "data-base", "base", "", " "])
def test_a_subject_narrows_whatever_its_case_and_spacing(subject):
    assert align([SQLITE], technology="mysql", subject=subject).relevant == (SQLITE,)


def test_another_subject_leaves_a_decision_out():
    known = [SQLITE, replace(SQLITE, status="reconsidering"), replace(SQLITE, topic=None)]
    found = align(known, technology="mysql", subject="cache")
    assert found.aligned
    assert found.reconsidering == ()


def test_without_technology_and_pattern_nothing_is_relevant():
    assert align([SQLITE]) == align([SQLITE], technology=" ", pattern="") == align([])


texts = st.text(alphabet='abR edis,[]"%_레', max_size=8)
decisions = st.builds(
    decision,
    content=texts,
    topic=st.none() | texts,
    rejected=st.lists(texts.filter(bool), max_size=3),
    tags=st.lists(texts, max_size=3).map(tuple),
    kind=st.sampled_from(["tech_choice", "pattern"]),
    status=st.sampled_from(["active", "reconsidering", "archived"]),
    superseded_by=st.sampled_from([None, "x"]),
    confidence=st.floats(0, 1),
)
maybe = st.none() | texts


@unhurried
@given(st.lists(decisions, max_size=6), maybe, maybe, maybe)
def test_aligned_is_true_exactly_when_nothing_conflicts(known, technology, pattern, subject):
    found = align(known, technology=technology, pattern=pattern, subject=subject)
    assert found.aligned == (found.conflicts == ())
    assert {id(each.memory) for each in found.conflicts} <= {id(each) for each in found.relevant}
    assert all(each.status == "active" and each.is_live for each in found.relevant)
    assert all(each.memory.status == "reconsidering" for each in found.reconsidering)
    assert found.confidence == max((each.confidence for each in found.relevant), default=UNKNOWN)
    assert list(found.relevant) == [each for each in known if any(each is one for one in found.relevant)]


@unhurried
@given(st.lists(decisions, max_size=6), texts.filter(lambda text: bool(text.strip())))
def test_the_rule_of_the_document_always_holds(known, technology):
    needle = technology.strip().casefold()
    found = align(known, technology=technology)
    for each in known:
        if each.status != "active" or each.superseded_by:
            continue
        options = [one["option"].casefold() for one in each.metadata.get("alternatives", [])]
        searched = [(each.topic or "").casefold(), *(tag.casefold() for tag in each.tags), *options]
        assert any(needle in text for text in searched) <= any(each is one for one in found.relevant)
        assert any(needle in text for text in options) <= any(each is one.memory for one in found.conflicts)


# -- a new choice that was rejected before

MEMCACHED = decision("Use Memcached", rejected=("Redis", "Hazelcast"), reasoning="simpler", topic="cache")


@pytest.mark.parametrize(
    "choice",
    [
        "Use Redis instead of Memcached",
        "Redis 7, not Memcached",
        "Move the cache from Memcached to Redis",
        "Memcached -> Redis",
        "레디스를 쓴다",
        "Memcached 대신 Redis를 쓴다",
        "Replace Memcached with Redis",
        "Hazelcast rather than Memcached",
    ],
)
def test_a_choice_that_was_rejected_names_the_decision(choice):
    found = rejected_by([SQLITE, MEMCACHED], "sessions", choice)
    assert [each.memory for each in found] == [MEMCACHED]
    assert found[0].reason.endswith("was rejected in favor of 'Use Memcached' (rationale: simpler)")


@pytest.mark.parametrize(
    "choice",
    [
        "Use Memcached instead of Redis",
        "Use Memcached, not Redis",
        "Use Memcached over Redis or Hazelcast",
        "Use Memcached rather than Hazelcast, Ehcache or Redis",
        "Never use Redis",
        "Do not use Redis; keep Memcached",
        "Migrate from Redis to Memcached",
        "Replacing Redis with Memcached",
        "Memcached because Redis needs too much memory",
        "Since Redis is slow, take Memcached",
        "Redis was rejected, Memcached stays",
        "Redis 대신 Memcached를 쓴다",
        "Redis 사용을 금지한다",
        "Redis 안 쓴다",
        "We considered Redis and chose Memcached",
        "Evaluated Redis but kept Memcached",
        "Memcached를 Redis 대신 쓴다",
        "Redis 말고 Memcached",
        "Redis를 쓰지 않고 Memcached를 쓴다",
        "Redis를 도입하지않는다",
        "Redis와 Hazelcast에서 Memcached로 옮긴다",
        "Use go-redis naming for helpers",
        "",
    ],
)
def test_a_choice_that_turns_it_away_again_names_nothing(choice):
    assert rejected_by([MEMCACHED], "cache", choice) == []


def test_the_option_stands_in_the_sentence_as_it_was_written_down():
    kept = decision("Use SQLite", rejected=("Postgres (needs a server)",), topic="database")
    assert reasons(rejected_by([kept], None, "PostgreSQL 16 for reports")) == [
        "'Postgres (needs a server)' was rejected in favor of 'Use SQLite' (rationale: none)"
    ]


def test_a_reconsidered_decision_is_still_told_and_a_replaced_one_is_not():
    states = [{"status": "reconsidering"}, {"status": "archived"}, {"superseded_by": "x"}, {"known_until": 1}]
    known = [replace(MEMCACHED, **state) for state in states]
    assert [each.memory for each in rejected_by(known, "cache", "Use Redis")] == known[:1]


def test_a_decision_is_told_once_and_those_on_the_same_topic_first():
    other = replace(MEMCACHED, topic="rate limits")
    found = rejected_by([other, MEMCACHED], "Cache", "Use Redis and Hazelcast")
    assert [each.memory for each in found] == [MEMCACHED, other]


def test_a_longer_option_is_met_as_a_whole_but_on_its_own_topic_whatever_its_use():
    sessions = decision("SQLite table", rejected=("Redis for sessions",), topic="sessions")
    assert rejected_by([sessions], "queue", "Use Redis") == []
    assert rejected_by([sessions], "queue", "Use Redis for sessions too")
    assert rejected_by([sessions], "Sessions", "Use Redis")
    context = decision("Zustand", rejected=("React Context",), topic="state")
    assert rejected_by([context], "state", "A reducer of React") == []
    assert rejected_by([context], "forms", "React context for forms")


def test_another_way_to_run_what_was_chosen_is_no_rejection_of_it():
    managed = decision("Managed PostgreSQL", rejected=("Self-hosted PostgreSQL",), topic="database")
    newer = decision("Python 3", rejected=("Python 2",), topic="language")
    assert rejected_by([managed], "database", "Upgrade PostgreSQL to 17") == []
    assert rejected_by([newer], "linting", "Type hints in all Python code") == []


@pytest.mark.parametrize(
    ("option", "choice"),
    [
        ("Go", "Go with Memcached"),
        ("No", "No retries for writes"),
        ("React", "React Native for the app"),
        ("C", "C# services"),
        ("Without Redis", "Use Redis"),
    ],
)
def test_an_ordinary_word_or_a_part_of_a_name_rejects_nothing(option, choice):
    assert rejected_by([decision("X", rejected=(option,))], None, choice) == []


def test_a_name_that_nobody_knows_is_met_as_whole_words():
    kept = decision("CRDT", rejected=("Last write wins",), topic="sync")
    assert rejected_by([kept], None, "Resolve with last-write-wins per field")
    assert rejected_by([kept], None, "The last writes win") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Use Redis instead of Memcached, Hazelcast or Ehcache for sessions; Kafka for events",
            {"redis", "kafka"},
        ),
        ("Use Redis instead of Memcached, and Kafka for events", {"redis", "kafka"}),
        ("Use Redis instead of Memcached, which our team of four never ran before, or so", {"redis"}),
        ("Use Postgres (instead of MySQL) for orders", {"postgresql"}),
        ("Read secrets from Vault", {"vault"}),
        ("Avoid ORMs such as Prisma and use plain SQL", {"sql"}),
        ("Kafka it is; Pulsar considered but new to us", {"kafka"}),
        ("We decided against Kubernetes; ECS it is", {"ecs"}),
        ("Until p99 rises, do not introduce Redis", set()),
        ("Use SQLite, no Postgres", {"sqlite"}),
        ("PostgreSQL을 쓴다 (MySQL 아님)", {"postgresql"}),
        ("Not only Redis but also Kafka", {"redis", "kafka"}),
        ("gRPC over HTTP/2", {"grpc", "http2"}),
        ("Drop Memcached in favour of Redis", {"redis"}),
        ("No ORM, plain SQL", {"sql"}),
        ("Use Node.js. Not Deno.", {"node.js"}),
        ("Redis에서 세션을 관리한다", {"redis"}),
        ("Memcached와 RabbitMQ 대신 Redis, Kafka", {"redis", "kafka"}),
        ("Memcached를 Redis로 교체한다", {"redis"}),
        ("Memcached보다 Redis", {"redis"}),
    ],
)
def test_what_a_sentence_turns_away_is_not_what_it_chooses(text, names):
    assert names_in(chosen(text)) == names


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("PostgreSQL 15", {"postgresql"}),
        ("Kafka 3 (too heavy)", {"kafka"}),
        ("Use the moment library", {"moment"}),
        ("MySQL: needs a server", {"mysql"}),
        ("Memcached instead of Redis", {"memcached"}),
        ("Kafka/RabbitMQ", {"kafka", "rabbitmq"}),
        ("`left-pad`", {"leftpad"}),
    ],
)
def test_an_option_is_what_its_name_says(option, names):
    assert names <= bare_names(option)
    assert not {"redis", "server", "library"} & bare_names(option)


@unhurried
@given(st.text(alphabet="abc ,.;not from 대신 말고 Redis에서로 ->instead of", max_size=60))
def test_any_sentence_is_read(text):
    assert len(chosen(text)) <= 2 * len(text) + 3
    assert len(rejected_by([MEMCACHED], text, text)) <= 1


# -- what can stand in for it


def test_every_name_of_a_kind_is_a_technology_that_the_table_knows():
    from whence.features.alignment.technologies import _table, is_known

    named = [each.strip() for names in _table()["kinds"].values() for each in names.split(",")]
    assert [each for each in named if not is_known(each)] == []


def test_a_decision_for_or_against_another_of_the_same_kind_stands_beside():
    from whence.features.alignment import stands_beside

    chose = decision("Use SQLite for local storage", number=1)
    rejected = decision("Keep it in the process", rejected=["Redis"], number=2)
    other = decision("Use React", number=3)
    known = [chose, rejected, other]
    beside = "sqlite was chosen there, and both are relational databases"
    assert stands_beside(known, "MariaDB") == [(chose, beside)]
    assert stands_beside(known, "Valkey") == [(rejected, "redis was rejected there, and both are caches")]
    assert stands_beside(known, "SQLite") == []
    assert stands_beside(known, "something nobody knows") == []
