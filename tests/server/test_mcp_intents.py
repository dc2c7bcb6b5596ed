"""Does `whence mcp` list the ten intents, and nothing else, as document 000 wants them told?"""

from __future__ import annotations

import json
import re

import pytest

MODERN, LEGACY = "auto", "legacy"  # what the SDK's client calls them: discover, or shake hands
TEN = [
    "save/decision",
    "save/checkpoint",
    "save/insight",
    "load/checkpoint",
    "load/context",
    "search/by_topic",
    "search/by_context",
    "search/recent",
    "evolve/outcome",
    "evolve/supersede",
]
BUDGET = 3_000  # tokens that the ten may cost a model in every conversation
CHARACTERS_A_TOKEN = 4  # a real tokenizer is kinder: 2,396 tokens where this counts 2,499


def flat(name):
    return name.replace("/", "_")


@pytest.fixture(scope="module", params=[MODERN, LEGACY])
def session(request, shared_home, connect):
    """One long conversation per era with a server that was told nothing about tools."""
    with connect(
        shared_home, "--workspace", f"intents {request.param}", tools=None, mode=request.param
    ) as one:
        yield one


@pytest.fixture(scope="module")
def tools(session):
    return {each.name: each for each in session.tools().tools}


@pytest.fixture(scope="module")
def slash(shared_home, connect):
    """A conversation whose list has names with a slash."""
    with connect(
        shared_home, "--tool-names", "slash", "--workspace", "slash", tools=None, mode=MODERN
    ) as one:
        yield one


# -- the list


@pytest.mark.promise("000-001", "000-010")
def test_by_default_exactly_the_ten_intents_are_listed_in_their_order(session):
    listed = session.tools().tools
    assert [each.name for each in listed] == [flat(each) for each in TEN]
    assert [each.meta["whence/canonical"] for each in listed] == TEN
    assert {each.split("/")[0] for each in TEN} == {"save", "load", "search", "evolve"}
    for name in TEN:
        assert not {"create", "read", "update", "delete"} & set(re.split("[/_]", name))


@pytest.mark.promise("000-010")
def test_on_request_the_ten_are_listed_with_their_slash(slash):
    assert [each.name for each in slash.tools().tools] == TEN


ARGUMENTS = {
    "save/decision": {"topic": "calls", "decision": "Call by every name", "reasoning": "Clients differ"},
    "save/checkpoint": {"summary": "Called by every name"},
    "save/insight": {"content": "Clients spell names differently"},
    "load/checkpoint": {},
    "load/context": {"topic": "calls"},
    "search/by_topic": {"topic": "calls"},
    "search/by_context": {"query": "how are tools called?"},
    "search/recent": {},
}


@pytest.mark.promise("000-010")
@pytest.mark.parametrize("separator", ["/", ".", "_"])
def test_every_tool_is_called_by_its_slash_dot_or_underscore_name(session, separator):
    for name, arguments in ARGUMENTS.items():
        assert session.ask(name.replace("/", separator), **arguments)
    kept = session.ask("save/decision", **ARGUMENTS["save/decision"], session=separator)["created"]["id"]
    assert session.ask(f"evolve{separator}outcome", decision_id=kept, outcome="SUCCESS")["updated"]
    replaced = session.ask(f"evolve{separator}supersede", old_id=kept, decision="x", reasoning="y")
    assert replaced["superseded"]["id"] == kept


def test_the_ten_cost_a_model_no_more_than_three_thousand_tokens(session):
    told = [
        {"name": each.name, "description": each.description, "input_schema": each.input_schema}
        for each in session.tools().tools
    ]
    compact = json.dumps(told, separators=(",", ":"), ensure_ascii=False)
    assert len(compact) / CHARACTERS_A_TOKEN <= BUDGET


@pytest.mark.promise("000-023")
def test_the_list_publishes_the_documents_parameters_of_a_decision(tools):
    schema = tools["save_decision"].input_schema
    assert schema["required"] == ["topic", "decision", "reasoning"]
    assert list(schema["properties"])[:4] == ["topic", "decision", "reasoning", "confidence"]
    for name in schema["required"]:
        assert schema["properties"][name]["type"] == "string"
    confidence = schema["properties"]["confidence"]
    assert {**confidence, "type": "number", "minimum": 0, "maximum": 1, "default": 0.7} == confidence
    assert schema["properties"]["topic"]["description"] == 'Decision topic (e.g., "auth_strategy")'


@pytest.mark.parametrize(
    ("tool", "required", "optional"),
    [
        (
            "save_decision",
            {"topic", "decision", "reasoning"},
            {"confidence", "alternatives", "reasons", "consequences", "constraints", "supersedes"}
            | {"implements"},
        ),
        ("save_checkpoint", {"summary"}, {"open_files", "next_steps", "implements"}),
        ("save_insight", {"content"}, {"category", "tags", "source"}),
        ("load_checkpoint", set(), {"name"}),
        ("load_context", set(), {"id", "topic", "depth"}),
        ("search_by_topic", {"topic"}, {"include_history"}),
        (
            "search_by_context",
            {"query"},
            {"limit", "types", "as_of", "include_evolution", "min_confidence", "max_tokens"},
        ),
        ("search_recent", set(), {"limit", "types", "since"}),
        ("evolve_outcome", {"outcome"}, {"decision_id", "reason", "limitation", "evidence_id"}),
        (
            "evolve_supersede",
            {"old_id"},
            {"decision", "reasoning", "new_id", "topic", "confidence", "reason"},
        ),
    ],
)
def test_every_parameter_is_published_and_no_more_is_required_than_is_needed(tools, tool, required, optional):
    schema = tools[tool].input_schema
    assert set(schema.get("required", [])) == required
    of_every_save = {"links", "tags", "level", "domain", "module", "code_ref", "valid_from"}
    common = {"workspace", "session"} | (of_every_save if tool.startswith("save") else set())
    own = required | optional | ({"decision_type"} if tool == "save_decision" else set())
    own |= {"confidence"} if tool == "save_insight" else set()
    assert set(schema["properties"]) == own | common
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("save_decision", {"created", "similar", "conflicts", "action_required", "links_created"}),
        ("save_checkpoint", {"created", "implements"}),
        ("save_insight", {"created", "similar", "action_required"}),
        ("load_checkpoint", {"summary", "open_files", "next_steps", "timestamp", "id", "since", "hint"}),
        ("load_context", {"memory", "chain", "neighbours", "causes", "outcome"}),
        ("search_by_topic", {"current", "also_live", "evolution_chain", "related", "near_topics"}),
        ("search_by_context", {"memories", "evolution", "explain"}),
        ("search_recent", {"memories"}),
        ("evolve_outcome", {"updated", "lesson", "link"}),
        ("evolve_supersede", {"created", "superseded", "chain"}),
    ],
)
def test_the_list_publishes_a_schema_of_the_returned_fields(tools, tool, fields):
    assert set(tools[tool].output_schema["properties"]) == fields | {"notices"}


def test_only_loads_and_searches_are_marked_as_reading_and_nothing_as_destroying(tools):
    for name, tool in tools.items():
        assert tool.annotations.read_only_hint is name.startswith(("load", "search"))
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.open_world_hint is False
        assert tool.title
        assert len(tool.meta["anthropic/searchHint"].split()) >= 4


# -- the words


@pytest.mark.promise("000-065")
def test_every_description_says_when_to_use_it_when_not_and_gives_an_example(tools):
    for name, tool in tools.items():
        assert re.search(r"\bUse\b", tool.description), name
        assert "Don't use" in tool.description, name
        assert re.search(r"Example: (no arguments$|\w+=)", tool.description), name


@pytest.mark.promise("000-065")
def test_every_example_is_a_call_that_the_tool_takes(session, tools):
    kept = session.ask("save/decision", topic="examples", decision="x", reasoning="y")["created"]["id"]
    for tool in tools.values():
        example = tool.description.split("Example: ")[1]
        arguments = {} if example == "no arguments" else eval(f"dict({example})")  # noqa: S307  our own words
        assert set(arguments) <= set(tool.input_schema["properties"])
        told = {name: kept if value == "decision_..." else value for name, value in arguments.items()}
        if tool.name == "load_context":
            session.ask("save/decision", topic=told["topic"], decision="x", reasoning="y")
        session.ask(tool.name, **told)


def named_in(client):
    """Return the tools that the descriptions and instructions of a list name; each must be listed so."""
    listed = {each.name for each in client.tools().tools}
    texts = {each.name: each.description for each in client.tools().tools}
    texts["the instructions"] = client.client.instructions
    named = set()
    for where, text in texts.items():
        found = set(re.findall(r"\b(?:save|load|search|evolve)[/_.]\w+", text))
        found |= set(re.findall(r"\b[a-z]+_memor(?:y|ies)\b", text))
        assert found <= listed, where
        assert not re.search(r"\{[a-z]+/", text), where
        named |= found
    return named


def test_descriptions_and_instructions_name_only_listed_tools_by_their_listed_names(session, slash):
    with_underscores, with_slashes = named_in(session), named_in(slash)
    assert {flat(each) for each in with_slashes} == with_underscores
    # The other two stand beside a tool that is named, and are taken for none.
    assert with_underscores == {flat(each) for each in TEN} - {"load_context", "search_recent"}


@pytest.mark.promise("000-026")
def test_the_description_of_a_decision_says_what_the_document_says(tools):
    told = tools["save_decision"].description.lower()
    for words in (
        "architectural decision",
        "technology choices (jwt vs session, react vs vue)",
        "architectural patterns (microservices, event sourcing)",
        "design decisions with trade-offs",
        "don't use for the end of a session (save_checkpoint) or quick notes (save_insight)",
    ):
        assert words in told


@pytest.mark.promise("000-028")
def test_the_description_of_resuming_says_what_the_document_says(tools):
    told = tools["load_checkpoint"].description
    for words in (
        "Use when starting a coding session",
        'when the user says "continue from yesterday"',
        "when returning after a break",
        "Returns session summary, open files, next steps",
    ):
        assert words in told


def test_the_instructions_say_that_similarity_is_no_command_to_replace(session):
    told = " ".join(session.client.instructions.split())
    assert "first review whether the two truly conflict" in told
    assert "if both hold, keep both" in told
    assert 'belongs to workspace "global"' in told


# -- the calls


def test_the_answer_stands_in_the_structure_and_in_the_text(session):
    asked = {"topic": "database", "decision": "Use PostgreSQL", "reasoning": "Concurrent writers"}
    result = session.call("save_decision", asked)
    created = result.structured_content["created"]
    (block,) = result.content
    assert block.type == "text"
    assert created["id"] in block.text
    assert "Use PostgreSQL" in block.text
    assert result.structured_content["links_created"] == 0


def test_a_bad_call_is_answered_by_the_family_and_not_by_the_protocol(session):
    for arguments in (
        {"topic": "x", "decision": "y"},
        {"topic": "x", "decision": "y", "reasoning": "z", "confidence": 2},
        {"topic": "x", "decision": "y", "reasoning": "z", "links": [{"to_id": "q"}]},
        {"topic": "x", "decision": "y", "reasoning": "z", "supersedes": 5},
        {"topic": "x", "decision": "y", "reasoning": "z", "colour": "red"},
    ):
        result = session.call("save/decision", arguments)
        assert result.is_error
        assert result.structured_content["error"]["code"] == "INVALID_PARAMETER"
        assert result.structured_content["error"]["message"] in result.content[0].text


def test_an_unlisted_tool_is_callable_and_offers_a_listed_one(session):
    old = session.ask("store_memory", content="The user lives in Oslo")["created"]["id"]
    reply = session.ask("store_memory", content="The user moved to Bergen")
    assert reply["action_required"].startswith(f'Call evolve_supersede(old_id="{old}"')


def test_a_listed_tool_offers_what_this_list_calls_it(slash):
    first = slash.ask("save/decision", topic="offers", decision="x", reasoning="y")["created"]["id"]
    reply = slash.ask("save/decision", topic="offers", decision="z", reasoning="y")
    assert reply["action_required"].startswith(f'Call evolve/supersede(old_id="{first}"')


def test_a_notice_stands_in_the_structure_the_text_and_beside_the_reply(session):
    result = session.call("load_context", {"topic": "notices"})
    assert result.is_error
    session.ask("save/decision", topic="notices", decision="x", reasoning="y")
    result = session.call("load_context", {"topic": "notices", "depth": 7})
    (notice,) = result.structured_content["notices"]
    assert result.meta["whence/notices"] == [notice]
    assert notice in result.content[0].text


def test_the_family_of_facts_is_listed_on_request_alone_or_beside(bare, connect):
    with connect(bare, tools="facts,intents", mode=MODERN) as client:
        listed = [each.name for each in client.tools().tools]
    assert listed[4:] == [flat(each) for each in TEN]
    assert listed[:4] == ["store_memory", "supersede_memory", "search_memories", "list_recent_memories"]
