"""Does a question find why something was decided, and does its chain hold what it should and no more?"""

from __future__ import annotations

import re
from collections import deque
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from whence.core.details import Alternative, DecisionDetails
from whence.core.errors import InvalidParameter, LinkToItself, MemoryNotFound
from whence.core.memories import Author, Draft, Memory, Tie
from whence.core.ports import Scope
from whence.features.causal import (
    EDGE_TYPES,
    CausalChain,
    CausalEdge,
    CausalNode,
    Version,
    add_edge,
    explain,
    query_chain,
    record_decision,
    visualize,
)
from whence.features.causal.chain import NODES, chain_of
from whence.features.causal.mermaid import LONGEST
from whence.features.workspaces import Place, found_workspace

# -- A grammar of our diagrams, stricter than Mermaid's own

TEXT = r"(?:[^\x00-\x1f\"#;:\[\](){}<>|`\\%&*~$^!?=@+°¶\u2028\u2029]|#quot;|#\d+;)+"
NODE = re.compile(
    rf'    (?P<id>n\d+)(?:\["(?P<box>{TEXT})"\]|\("(?P<round>{TEXT})"\)'
    rf'|\(\["(?P<stadium>{TEXT})"\]\)|\{{\{{"(?P<hexagon>{TEXT})"\}}\}})'
)
EDGE = re.compile(r"    (?P<from>n\d+) -->\|(?P<type>CAUSES|JUSTIFIES|LEADS_TO|BLOCKS)\| (?P<to>n\d+)")
DASHED = re.compile(r"    (?P<from>n\d+) -\.->\|(?P<type>SUPERSEDES)\| (?P<to>n\d+)")
CLASS = re.compile(r"    class (n\d+(?:,n\d+)*) superseded")
# What Mermaid reads as a statement or strips even inside a label.
TRAPS = re.compile(r"direction\s+(?:TB|BT|RL|LR|TD)|style.*:\S*#.*;|classDef.*:\S*#.*;|%%|---|\bwww\.")


def drawn(diagram):
    """Check a diagram line by line and return its labels, its edges and what is dashed."""
    first, *lines = diagram.split("\n")
    assert first == "graph TD"
    labels, edges, dashed = {}, [], []
    for line in lines:
        assert not TRAPS.search(line), line
        if node := NODE.fullmatch(line):
            assert not edges, "nodes come first"
            assert node["id"] == f"n{len(labels)}"
            labels[node["id"]] = shown(next(each for each in node.groups()[1:] if each is not None))
        elif edge := EDGE.fullmatch(line) or DASHED.fullmatch(line):
            assert {edge["from"], edge["to"]} <= set(labels)
            edges.append((labels[edge["from"]], edge["type"], labels[edge["to"]]))
        elif named := CLASS.fullmatch(line):
            dashed = [labels[each] for each in named[1].split(",")]
        else:
            assert line == "    classDef superseded stroke-dasharray:5 5", line
    return labels, edges, dashed


def shown(label):
    """Return a label as a reader sees it."""
    text = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), label.replace("#quot;", '"'))
    assert 0 < len(text) <= LONGEST
    return text


@pytest.fixture
def record(whence, workspace):
    """Record a decision and return its id."""

    def one(decision, reasons=(), consequences=None, constraints=None, **more):
        return record_decision(
            whence, decision, list(reasons), consequences, constraints, workspace=workspace, **more
        )

    return one


# -- What is recorded


@pytest.mark.promise("003-068", "003-071")
def test_a_decision_is_recorded_with_all_its_context_and_comes_back_as_nodes_of_a_chain(
    whence, record, scope, clock
):
    before = clock.now()
    decision = record(
        "Use FastAPI",
        ["Async endpoints", "Typed models"],
        ["Generated API pages"],
        ["Python 3.11 only"],
        topic="web",
        alternatives=[Alternative(option="Flask", why_rejected="no async")],
        author=Author(session="s-7"),
    )
    assert whence.get(decision).type == "decision"
    chain = query_chain(whence, "why did we use FastAPI?", scope)
    assert chain.root == whence.get(decision)
    assert [(each.node_type, each.content) for each in chain.nodes] == [
        ("DECISION", "Use FastAPI"),
        ("REASON", "Async endpoints"),
        ("REASON", "Typed models"),
        ("CONSTRAINT", "Python 3.11 only"),
        ("CONSEQUENCE", "Generated API pages"),
    ]
    for node in chain.nodes:
        assert whence.get(node.id).content == node.content
        assert before < node.created_at <= clock.now()
        assert node.session_id == "s-7"
    assert [each.content for each in chain.reasons] == ["Async endpoints", "Typed models"]
    assert [each.content for each in chain.constraints] == ["Python 3.11 only"]
    assert [each.content for each in chain.consequences] == ["Generated API pages"]
    assert chain.details.alternatives == (Alternative(option="Flask", why_rejected="no async"),)


@pytest.mark.promise("003-068")
def test_a_node_saved_without_a_session_says_that_it_is_unknown(whence, record, scope):
    record("Use FastAPI", ["Async endpoints"])
    chain = query_chain(whence, "why FastAPI?", scope)
    assert [each.session_id for each in chain.nodes] == ["unknown", "unknown"]


@pytest.mark.promise("003-071")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((" ", ["x"]), "decision must not be empty"),
        (("x", [""]), "reasons must not be empty"),
        (("x", [], ["\n"]), "consequences must not be empty"),
        (("x", [], None, ["x" * 50_001]), "constraints must be at most 50,000 characters"),
    ],
)
def test_a_decision_with_one_bad_text_is_not_recorded_at_all(whence, record, scope, arguments, message):
    with pytest.raises(InvalidParameter, match=message):
        record(*arguments)
    assert whence.recent(Scope(types=("decision", "reason", "consequence", "constraint")), 10) == []


@pytest.mark.promise("003-069")
def test_the_edges_of_a_decision_say_what_acts_on_what_and_how_strongly(whence, record, scope):
    decision = record("Use FastAPI", ["Async"], ["API pages"], ["Python 3.11 only"])
    chain = query_chain(whence, "why FastAPI?", scope)
    (reason,), (consequence,), (constraint,) = chain.reasons, chain.consequences, chain.constraints
    assert set(chain.edges) == {
        CausalEdge(reason.id, decision, "JUSTIFIES", 1.0),
        CausalEdge(decision, consequence.id, "LEADS_TO", 1.0),
        CausalEdge(constraint.id, decision, "BLOCKS", 0.5),
    }


@pytest.mark.promise("003-069")
@pytest.mark.parametrize("edge_type", EDGE_TYPES)
def test_an_edge_of_every_type_is_followed_and_its_strength_is_one_unless_told(
    whence, record, scope, edge_type
):
    outage, choice = record("Retry payments"), record("Use an outbox table")
    assert add_edge(whence, outage, choice, edge_type) == CausalEdge(outage, choice, edge_type, 1.0)
    chain = query_chain(whence, "why the outbox table?", scope)
    assert chain.edges == (CausalEdge(outage, choice, edge_type, 1.0),)
    assert [each.id for each in chain.reasons + chain.constraints] == [outage]
    assert (chain.constraints != ()) == (edge_type == "BLOCKS")


@pytest.mark.promise("003-069")
@pytest.mark.parametrize("strength", [0.0, 0.25, 1.0])
def test_a_stated_strength_is_kept(whence, record, scope, strength):
    add_edge(whence, record("Retry payments"), record("Use an outbox"), "CAUSES", strength)
    (edge,) = query_chain(whence, "why the outbox?", scope).edges
    assert edge.strength == strength


@pytest.mark.promise("003-070")
def test_an_edge_is_unique_by_its_ends_and_its_type(whence, record, scope):
    one, other = record("Retry payments"), record("Use an outbox")
    first = add_edge(whence, one, other, "CAUSES", 0.4)
    assert add_edge(whence, one, other, "CAUSES", 0.9) == first
    add_edge(whence, one, other, "JUSTIFIES")
    add_edge(whence, other, one, "CAUSES")
    chain = query_chain(whence, "why the outbox?", scope)
    assert sorted((each.from_id, each.to_id, each.edge_type) for each in chain.edges) == sorted(
        [(one, other, "CAUSES"), (one, other, "JUSTIFIES"), (other, one, "CAUSES")]
    )


@pytest.mark.promise("003-069", "003-070")
def test_an_edge_without_an_end_of_another_type_or_strength_is_refused(whence, record):
    one, other = record("Retry payments"), record("Use an outbox")
    for ends in ((one, "decision_gone"), ("decision_gone", other)):
        with pytest.raises(MemoryNotFound):
            add_edge(whence, *ends, "CAUSES")
    with pytest.raises(LinkToItself):
        add_edge(whence, one, one, "CAUSES")
    for strength in (-0.01, 1.01, float("nan"), float("inf")):
        with pytest.raises(InvalidParameter, match="from 0 to 1"):
            add_edge(whence, one, other, "CAUSES", strength)
    with pytest.raises(InvalidParameter, match="CAUSES or JUSTIFIES or LEADS_TO or BLOCKS"):
        add_edge(whence, one, other, "RELATES_TO")
    assert whence.store.graph().links(one) == []


# -- Which decision a question finds

DECISIONS = [
    ("web_framework", "Use FastAPI for the public API", "Async endpoints", ("Flask", "Django")),
    ("cache", "Use Memcached for the page cache", "Plain key expiry is all we need", ("Redis",)),
    ("jobs", "Keep background jobs in Redis lists", "Redis is there already", ()),
    ("ui_state", "Use Zustand for client state", "Less boilerplate", ("MobX",)),
    ("auth_strategy", "Use JWT for API authentication", "Stateless; scales out", ("server sessions",)),
    ("database", "Use PostgreSQL 16 as primary database", "Concurrent writers", ("MongoDB", "MySQL")),
    ("ci", "Run CI on GitHub Actions", "The repository lives there", ("Jenkins",)),
    ("queue", "Use RabbitMQ between importer and workers", "Acknowledges messages", ("Kafka",)),
    ("styling", "Style components with Tailwind CSS", "Design tokens in one file", ()),
    ("bundler", "Bundle the front end with Vite", "Fast hot reload", ("webpack",)),
    ("logging", "Write logs as JSON lines", "Loki parses them without rules", ()),
    ("errors", "Report exceptions to Sentry", "Stack traces with releases", ()),
    ("orm", "Access tables through SQLAlchemy Core", "Plain SQL stays visible", ()),
    ("migrations", "Number schema migrations by hand", "Autogeneration lost an index once", ()),
    ("secrets", "Keep secrets in Vault", "Rotation without a deployment", ()),
    ("deploy", "Deploy with Helm charts to Kubernetes", "Same charts everywhere", ("docker compose",)),
    ("monorepo", "Keep all packages in one repository", "Atomic changes across packages", ()),
    ("testing", "Test against a real database instead of mocks", "Mocks hid a bug", ()),
    ("search", "Search documents with Meilisearch", "Typo tolerance", ("Elasticsearch",)),
    ("images", "Resize images with libvips", "A tenth of the memory", ()),
    ("mobile", "Build the mobile app with Flutter", "One code base", ("React Native",)),
    ("analytics", "Count page views with Plausible", "No cookie banner", ()),
    ("email", "Send mail through Postmark", "Delivery within seconds", ()),
    ("payments", "Take payments with Stripe", "Strong authentication is built in", ()),
    ("i18n", "Translate with ICU message files", "Plural rules", ()),
    ("versioning", "Put the API version in the path", "Visible in every log line", ()),
    ("pagination", "Page lists by cursor", "Stable under inserts", ("offset pagination",)),
    ("rate_limit", "Limit each key to 100 requests a minute", "One client took us down", ()),
    ("linting", "Lint with Ruff", "One tool for all rules", ("flake8",)),
    ("backup", "Back up every night to Glacier", "Cheap, and outside our account", ()),
    ("flags", "Roll out features with Unleash", "We host it ourselves", ()),
    ("license", "Publish under Apache-2.0", "Patent grant", ()),
    ("time", "모든 시각은 UTC로 저장한다", "서버마다 시간대가 달라서 버그가 났다", ()),
    ("release_day", "배포는 매주 화요일에 한다", "주말 장애를 피하려고", ()),
]
QUESTIONS = {
    "why did we use FastAPI?": "web_framework",
    "Why FastAPI and not something else?": "web_framework",
    "왜 FastAPI를 썼지?": "web_framework",
    "why not Flask?": "web_framework",
    "why not Redis?": "cache",  # not the decision that takes it, but the one that turned it down
    "why do we use Redis?": "jobs",
    "what led to the deny list?": "security",
    "who asked for the SSRF protection?": "security",
    "why is authentication stateless?": "auth_strategy",
    "why do tokens expire so quickly?": "auth_strategy",
    "why postgres and not mongo?": "database",
    "Why did we decide against MongoDB?": "database",
    "데이터베이스는 왜 PostgreSQL이야?": "database",
    "why don't we run Jenkins?": "ci",
    "why didn't we pick React Native?": "mobile",
    "reason for the nightly backups": "backup",
    "why are there no mocks in the tests?": "testing",
    "why 100 requests a minute?": "rate_limit",
    "왜 시각을 UTC로 저장해?": "time",
    "왜 화요일에 배포하지?": "release_day",
    "결제는 왜 Stripe로 해?": "payments",
}


@pytest.fixture
def decided(whence, record):
    """Thirty-five decisions, and the topic of each by its id."""
    made = {}
    for topic, decision, reasoning, rejected in DECISIONS:
        options = [Alternative(option=each, why_rejected=f"{each} did not fit") for each in rejected]
        details = DecisionDetails(reasoning=reasoning, alternatives=tuple(options))
        constraints = ["Tokens must expire within 15 minutes"] if topic == "auth_strategy" else []
        parts = tuple(Draft(content=each, type="constraint") for each in constraints)
        draft = Draft(
            content=decision, type="decision", topic=topic, metadata=details.metadata(), parts=parts
        )
        room = found_workspace(whence, Place(name="project")).id
        made[whence.remember(draft, workspace=room).memory.id] = topic
    made[record("Block unknown hosts with a deny list", ["An SSRF report in March"], topic="security")] = (
        "security"
    )
    return made


@pytest.mark.promise("003-072")
def test_natural_questions_in_two_languages_find_their_decision_among_thirty_others(whence, decided, scope):
    assert len(decided) == 35
    chains = {question: query_chain(whence, question, scope) for question in QUESTIONS}
    found = {question: chain and decided[chain.root.id] for question, chain in chains.items()}
    assert found == QUESTIONS


UNANSWERED = [
    "why did the dinosaurs die out?",
    "why GraphQL?",
    "why did we use Terraform?",
    "why did we choose gRPC?",
    "why k8s?",
    "why are invoices sent on Fridays?",
    "왜 하늘은 파란가요?",
    "점심은 왜 김밥이야?",
    "왜 Terraform을 썼지?",
    "why?",
    "왜 그랬지?",
    "why did we choose it?",
    "?!",
]


@pytest.mark.promise("003-072")
def test_a_question_that_no_decision_answers_gets_no_chain_and_a_reason(whence, decided, scope):
    told = {question: explain(whence, question, scope) for question in UNANSWERED}
    assert [question for question in UNANSWERED if told[question].chain is not None] == []
    assert all(each.nothing_because or each.nearest for each in told.values())


def test_an_answer_that_only_its_meaning_speaks_for_says_so_and_any_other_does_not(whence, decided, scope):
    near = explain(whence, "why is everything in a single git repo?", scope)
    assert decided[near.chain.root.id] == "monorepo"
    assert any("nearest in meaning" in each for each in near.notices)
    assert not any("nearest" in each for each in explain(whence, "why FastAPI?", scope).notices)


def test_without_models_words_alone_find_the_decision(wordless):
    room = found_workspace(wordless, Place(name="project")).id
    decision = record_decision(wordless, "Use FastAPI", ["Async"], workspace=room)
    record_decision(wordless, "Use Vite", ["Fast"], workspace=room)
    told = explain(wordless, "why did we use FastAPI?", Scope(workspaces=(room,)))
    assert told.chain.root.id == decision
    assert "EMBEDDING_ERROR" in told.notices[0]
    assert query_chain(wordless, "why do we sail?", Scope(workspaces=(room,))) is None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Why Go?", "Write the agent in Go"),
        ("why did we go with Go?", "Write the agent in Go"),
        ("why use make?", "Build with Make"),
        ("Warum nutzen wir Größenangaben?", "Größenangaben stehen in rem"),
        ("WHY DID WE USE ELIXIR?", "Serve sockets with Elixir"),
        ("why not Java?", "Write the agent in Go"),
        ("why not JavaScript?", "Serve sockets with Elixir"),
        ("왜 자바스크립트 말고 elixir를 썼지?", "Serve sockets with Elixir"),
        ("why didn\u2019t we take a managed Redis cluster?", "Build with Make"),
        ("why not serverless?", None),
        ("why not Perl?", None),
        ("why not?", None),
    ],
)
def test_a_question_means_what_it_names_and_no_word_that_only_begins_alike(wordless, question, answer):
    room = found_workspace(wordless, Place(name="project")).id
    for decision, option in (
        ("Write the agent in Go", "Java"),
        ("Serve sockets with Elixir", "JavaScript"),
        ("Build with Make", "a managed Redis cluster"),
        ("Größenangaben stehen in rem", "server sessions"),
    ):
        options = [Alternative(option=option)]
        record_decision(wordless, decision, ["It fits"], workspace=room, alternatives=options)
    chain = query_chain(wordless, question, Scope(workspaces=(room,)))
    assert (chain and chain.root.content) == answer


@pytest.mark.promise("003-072")
def test_a_superseded_choice_answers_with_the_one_that_holds_and_shows_what_it_was(
    whence, record, scope, workspace
):
    redux = record("Use Redux for client state", ["Time travel debugging"], topic="ui_state")
    mobx = record("Use MobX for client state", ["Less typing"], topic="ui_state")
    zustand = record("Use Zustand for client state", ["A tenth of the code"], topic="ui_state")
    whence.supersede(redux, by=mobx, reason="Too much boilerplate")
    whence.supersede(mobx, by=zustand)
    record("Use Vite to bundle", ["Fast"])
    for question in ("why did we use Redux?", "왜 Redux를 썼지?", "why time travel debugging?"):
        chain = query_chain(whence, question, scope)
        assert chain.root.id == zustand
        assert [each.content for each in chain.reasons] == ["A tenth of the code"]
        assert [each.id for each in chain.versions] == [redux, mobx, zustand]
        first, second = chain.superseded
        assert (first.memory.id, first.why_replaced) == (redux, "Too much boilerplate")
        assert (first.is_met, first.reasons) == (True, ("Time travel debugging",))
        assert (second.memory.id, second.why_replaced, second.is_met) == (mobx, None, False)
    chain = query_chain(whence, "why Zustand?", scope)
    assert [each.is_met for each in chain.superseded] == [False, False]


def test_what_an_older_version_rejected_leads_to_the_version_that_holds(whence, workspace, scope):
    details = DecisionDetails(alternatives=(Alternative(option="Kafka Streams"),))
    old = Draft(content="Use RabbitMQ 3", type="decision", metadata=details.metadata())
    first = whence.remember(old, workspace=workspace).memory
    new = Draft(content="Use RabbitMQ 4", type="decision", supersedes=(first.id,))
    second = whence.remember(new, workspace=workspace).memory
    chain = query_chain(whence, "why not Kafka?", scope)
    assert chain.root.id == second.id
    assert chain.superseded[0].is_met


def test_a_fact_that_took_a_decisions_place_answers_for_it(whence, record, workspace, scope):
    old = record("Use Redux for client state")
    fact = whence.remember(Draft(content="Client state lives in Zustand now"), workspace=workspace).memory
    whence.supersede(old, by=fact.id)
    chain = query_chain(whence, "why did we use Redux?", scope)
    assert (chain.root.id, chain.nodes[0].node_type) == (fact.id, "DECISION")
    assert [each.memory.id for each in chain.superseded] == [old]


# -- How far a chain reaches


@pytest.mark.promise("003-073")
def test_causes_and_effects_are_followed_with_the_parts_of_the_decisions_on_the_way(whence, record, scope):
    outage = record("Retry payments twice", ["The bank drops calls"], ["Double bookings"])
    outbox = record("Use an outbox table")
    worker = record("Start a relay worker", ["Somebody must empty it"])
    insight = whence.remember(
        Draft(content="Kill -9 loses buffers", type="insight"), workspace=scope.workspaces[0]
    ).memory
    add_edge(whence, outage, outbox, "LEADS_TO")
    add_edge(whence, outbox, worker, "CAUSES")
    add_edge(whence, insight.id, outbox, "JUSTIFIES")
    whence.link(outbox, Tie(to_id=record("Something else"), relationship="relates_to"))

    def told(depth):
        chain = query_chain(whence, "why the outbox table?", scope, depth)
        sides = (chain.reasons, chain.consequences, chain.related)
        return [[(each.content, each.distance) for each in side] for side in sides]

    near = [[("Kill -9 loses buffers", 1), ("Retry payments twice", 1)], [("Start a relay worker", 1)], []]
    assert [sorted(each) for each in told(1)] == near
    far = [sorted(each) for each in told(2)]
    assert far[0] == sorted([*near[0], ("The bank drops calls", 2)])
    assert far[2] == [("Double bookings", 2), ("Somebody must empty it", 2)]
    assert [sorted(each) for each in told(5)] == far
    types = {each.content: each.node_type for each in query_chain(whence, "why the outbox?", scope).nodes}
    assert types["Kill -9 loses buffers"] == "REASON"
    assert types["Retry payments twice"] == types["Start a relay worker"] == "DECISION"


@pytest.mark.promise("003-073")
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6, 100])
def test_a_long_line_of_causes_ends_at_the_depth_asked_and_at_five(whence, record, scope, depth):
    words = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")
    line = [record(f"Step {word}") for word in words]
    for cause, effect in pairwise(line):
        add_edge(whence, cause, effect, "CAUSES")
    chain = query_chain(whence, "why hotel?", scope, depth)
    assert [each.id for each in chain.nodes] == line[::-1][: min(depth, 5) + 1]
    assert max(each.distance for each in chain.nodes) == min(depth, 5)


@pytest.mark.promise("003-073")
@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_under_one_is_refused(whence, scope, depth):
    with pytest.raises(InvalidParameter, match="max_depth"):
        query_chain(whence, "why?", scope, depth)


@pytest.mark.promise("003-073")
def test_a_circle_of_causes_ends_and_names_each_memory_once(whence, record, scope):
    circle = [record(f"Step {word}") for word in ("alpha", "bravo", "charlie")]
    for cause, effect in zip(circle, [*circle[1:], circle[0]], strict=True):
        add_edge(whence, cause, effect, "CAUSES")
    chain = query_chain(whence, "why alpha?", scope)
    assert sorted(each.id for each in chain.nodes) == sorted(circle)
    assert len(chain.edges) == 3
    assert len(drawn(visualize(chain))[0]) == 3


def test_what_was_put_away_or_lies_elsewhere_is_no_part_of_a_chain(whence, record, scope):
    decision = record("Use FastAPI", ["Async endpoints", "Typed models"])
    first, second = query_chain(whence, "why FastAPI?", scope).reasons
    whence.archive(first.id)
    whence.move(second.id, found_workspace(whence, Place(name="elsewhere")).id)
    chain = query_chain(whence, "why FastAPI?", scope)
    assert [each.id for each in chain.nodes] == [decision]
    assert chain.edges == ()
    everywhere = query_chain(whence, "why FastAPI?", Scope(workspaces=None))
    assert [each.id for each in everywhere.reasons] == [second.id]


def test_a_link_that_was_taken_away_is_followed_no_more(whence, record, scope):
    cause, decision = record("Retry payments"), record("Use an outbox")
    add_edge(whence, cause, decision, "CAUSES")
    assert query_chain(whence, "why the outbox?", scope).edges
    (link,) = whence.store.graph().links(decision)
    whence.unlink(link.id)
    assert not query_chain(whence, "why the outbox?", scope).edges


def test_of_very_many_causes_the_nearest_are_told_and_the_rest_is_counted(whence, record, scope):
    record("Use FastAPI", [f"Reason {number}" for number in range(NODES + 7)])
    chain = query_chain(whence, "why FastAPI?", scope)
    assert len(chain.reasons) == NODES
    assert chain.left_out == 7
    drawn(visualize(chain))


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@pytest.mark.promise("003-073")
@given(
    joins=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(EDGE_TYPES)), max_size=25),
    depth=st.integers(1, 7),
)
def test_no_chain_of_any_shape_goes_deeper_than_asked_or_beyond_its_edges(wordless, joins, depth):
    room = found_workspace(wordless, Place(name="project")).id
    scope = Scope(workspaces=(room,))
    made = [
        wordless.remember(Draft(content=f"Step {at}", type="decision"), workspace=room).memory.id
        for at in range(10)
    ]
    for one, other, edge_type in joins:
        if one != other:
            add_edge(wordless, made[one], made[other], edge_type)
    chain = chain_of(wordless, wordless.get(made[0]), scope, min(depth, 5))
    reach = distances(chain.root.id, chain.edges)
    assert set(reach) == {each.id for each in chain.nodes}
    assert all(reach[each.id] <= each.distance <= min(depth, 5) for each in chain.nodes)
    assert all(each.joined_to in reach for each in chain.nodes[1:])
    stated = {(made[one], made[other], kind) for one, other, kind in joins if one != other}
    assert {(each.from_id, each.to_id, each.edge_type) for each in chain.edges} <= stated
    drawn(visualize(chain))


def distances(root, edges):
    """Return how far each memory is from the root along these edges, whichever way they point."""
    far, waiting = {root: 0}, deque([root])
    while waiting:
        here = waiting.popleft()
        for edge in edges:
            for one, other in ((edge.from_id, edge.to_id), (edge.to_id, edge.from_id)):
                if one == here and other not in far:
                    far[other] = far[here] + 1
                    waiting.append(other)
    return far


# -- How a chain is drawn

TIMES = {"created_at": 0, "updated_at": 0, "accessed_at": 0, "valid_from": 0}


def pictured(texts):
    """Return a chain of these texts: a root, its parts of all kinds, and what it replaced."""
    kinds = ["DECISION", "REASON", "CONSEQUENCE", "CONSTRAINT"]
    root = Memory(id="m0", type="decision", content=texts[0], workspace="w", **TIMES)
    old = Memory(id="old", type="decision", content=texts[-1], workspace="w", superseded_by="m0", **TIMES)
    nodes = tuple(
        CausalNode(
            id=f"m{at}", node_type=kinds[at % 4], content=text, created_at=0, session_id="s", distance=at > 0
        )
        for at, text in enumerate(texts)
    )
    edges = tuple(CausalEdge(f"m{at}", "m0", EDGE_TYPES[at % 4]) for at in range(1, len(texts)))
    return CausalChain(
        root=root, versions=(old, root), superseded=(Version(memory=old),), nodes=nodes, edges=edges
    )


NASTY_WORDS = (
    "graph TD LR direction BT subgraph end style: classDef class click linkStyle default href --> --- -.-> "
    '==> --x o-- <--> ~~~ & ::: @{ } %% %%{init}%% 1. - * # > | ` " \\" ( [ { ] ) ; : #quot; #35; ﬂ°°34¶ß '
    "\n \t <script> </b> $$x$$ www.x.com http://x __init__ 한국어 🦜🏽\u200d💻 \u202e \u200b \u2028"
)
NASTY = st.tuples(
    st.lists(st.sampled_from(NASTY_WORDS.split(" ")), min_size=1, max_size=20), st.sampled_from(["", " "])
).map(lambda drawn_words: drawn_words[1].join(drawn_words[0]))
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80) | NASTY


@pytest.mark.promise("003-074")
@settings(max_examples=400, deadline=None)
@example(["Right to left: direction RL"])
@example(['"]; click n0 "javascript:alert(1)'])
@example(["style:#fff;", "classDef x:#1;"])
@given(texts=st.lists(ANY_TEXT, min_size=1, max_size=6))
def test_a_diagram_of_any_texts_keeps_to_the_grammar(texts):
    labels, edges, dashed = drawn(visualize(pictured(texts)))
    assert len(labels) == len(texts) + 1
    assert len(edges) == len(texts)
    assert edges[-1][1] == "SUPERSEDES"
    assert len(dashed) == 1


@pytest.mark.promise("003-074")
def test_a_diagram_shows_each_kind_in_its_shape_each_edge_with_its_type_and_what_was_replaced_dashed(
    whence, record, scope
):
    old = record("Use Flask")
    new = record('Use "FastAPI"\n[async]', ["Typed; `models`"], ["Docs <b>free</b>"], ["end"])
    whence.supersede(old, by=new)
    diagram = visualize(query_chain(whence, "why FastAPI?", scope))
    assert diagram.split("\n") == [
        "graph TD",
        '    n0["Use #quot;FastAPI#quot; #91;async#93;"]',
        '    n1("Typed#59; #96;models#96;")',
        '    n2{{"end"}}',
        '    n3(["Docs #60;b#62;free#60;/b#62;"])',
        '    n4["Use Flask"]',
        "    n1 -->|JUSTIFIES| n0",
        "    n0 -->|LEADS_TO| n3",
        "    n2 -->|BLOCKS| n0",
        "    n0 -.->|SUPERSEDES| n4",
        "    classDef superseded stroke-dasharray:5 5",
        "    class n4 superseded",
    ]
    labels, edges, dashed = drawn(diagram)
    assert labels["n0"] == 'Use "FastAPI" [async]'
    assert edges[-1] == (labels["n0"], "SUPERSEDES", "Use Flask")
    assert dashed == ["Use Flask"]


@pytest.mark.promise("003-074")
def test_a_long_text_is_cut_to_fifty_characters_in_a_diagram_whatever_the_script():
    texts = ["x" * 50, "y" * 51, "한" * 80, '"' * 60, "Use FastAPI, v1.2-rc snake_case"]
    labels, _, _ = drawn(visualize(pictured(texts)))
    assert list(labels.values()) == [
        "x" * 50,
        "y" * 49 + "…",
        "한" * 49 + "…",
        '"' * 49 + "…",
        texts[4],
        texts[4],
    ]


def test_a_secret_in_a_reason_is_in_no_chain_and_in_no_diagram(whence, record, scope):
    secret = "ghp_" + "a1B2" * 9
    record("Use GitHub Actions", [f"The token {secret} works there"])
    chain = query_chain(whence, "why GitHub Actions?", scope)
    assert "token" in chain.reasons[0].content
    assert secret[4:20] not in repr(chain) + visualize(chain)
