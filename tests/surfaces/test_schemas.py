"""Does every tool refuse whatever its schema excludes, in its family's shape, and change nothing?"""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, WithJsonSchema
from tests.surfaces.conftest import told_error

from whence.surfaces.families import all_tools
from whence.surfaces.tool import describe, flat

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
OF_TYPE = {
    "string": TEXT,
    "integer": st.integers(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "null": st.none(),
    "array": st.lists(st.integers() | TEXT, max_size=3),
    "object": st.dictionaries(TEXT, st.integers(), max_size=3),
}
TIMES = {"as_of", "known_at", "valid_from", "since"}
NEVER_BLANK = {"content", "query", "summary", "reasoning", "userQuestion"}
GOOD_TEXT = {"workspace": "project", "outcome": "SUCCESS", **dict.fromkeys(TIMES, "2026-01-01")}


def whole(tool, name):
    """Return all that a parameter takes: the list that clients read says some of it in few words."""
    field = tool.arguments.model_fields[name]
    limits = [each for each in field.metadata if not isinstance(each, WithJsonSchema)]
    schema = TypeAdapter(Annotated[field.annotation, *limits] if limits else field.annotation).json_schema()
    return schema if set(schema) - {"title"} else tool.input_schema()["properties"][name]


def kinds_of(schema, whole_schema):
    """Return the kinds of value that a schema takes, each with its own schema."""
    if "$ref" in schema:
        return kinds_of(whole_schema["$defs"][schema["$ref"].rpartition("/")[2]], whole_schema)
    if "anyOf" in schema:
        return {kind: each for one in schema["anyOf"] for kind, each in kinds_of(one, whole_schema).items()}
    return {schema["type"]: schema}


def good(name, schema, whole_schema):
    """Return a value that the schema allows."""
    kind, schema = next(iter(kinds_of(schema, whole_schema).items()))
    if "enum" in schema:
        return "list" if name == "action" else schema["enum"][0]
    if kind == "array":
        return [good(name, schema["items"], whole_schema)]
    if kind == "object":
        properties = schema["properties"]
        return {each: good(each, properties[each], whole_schema) for each in properties}
    if name == "limit":
        return 1  # which decision_memory's document calls a number
    return {"string": GOOD_TEXT.get(name, "some text"), "integer": 1, "number": 0.5, "boolean": True}[kind]


# Two ways to say the same thing: of these, one alone is given.
EITHER_OR = {
    "load/context": (("id",), ("topic",)),
    "update_outcome": (("decisionId",), ("topic",)),
    "evolve/supersede": (("new_id",), ("decision", "reasoning", "topic", "confidence")),
}


def agreed(tool, arguments, keep=None):
    """Return arguments that do not contradict each other; `keep` stays among them."""
    if tool.name == "evolve/outcome":
        return {"decision_id": "some text", **arguments}
    sides = EITHER_OR.get(tool.name, ())
    if not sides:
        return arguments
    side = next(
        (each for each in sides if keep in each),
        next((each for each in sides if set(each) & set(arguments)), sides[0]),
    )
    others = {name for each in sides for name in each} - set(side)
    needed = dict.fromkeys(side[:2], "some text")  # a new decision needs its reasoning
    return {**needed, **{name: value for name, value in arguments.items() if name not in others}}


def bad_items(items, whole_schema):
    """Return a strategy of what is no entry of a list."""
    (kind,) = kinds = kinds_of(items, whole_schema)
    wrong = [OF_TYPE[other] for other in OF_TYPE if other != kind]
    if "enum" in kinds[kind]:
        wrong.append(TEXT.filter(lambda value: value not in kinds[kind]["enum"]))
    if kind == "object":
        properties, required = kinds[kind]["properties"], kinds[kind]["required"]
        entry = {each: good(each, properties[each], whole_schema) for each in properties}
        lacking = [{name: value for name, value in entry.items() if name != each} for each in required]
        wrong += [
            st.sampled_from(lacking),
            TEXT.filter(lambda name: name not in properties).map(lambda name: {**entry, name: 1}),
            st.sampled_from(list(properties)).map(lambda name: {**entry, name: ["a list"]}),
        ]
    return st.one_of(wrong)


def bad_values(name, schema):  # noqa: PLR0912  a case for each thing that a schema can say
    """Return a strategy of values that the schema, or what the field means, excludes."""
    kinds = kinds_of(schema, schema)
    taken = set(kinds) | ({"integer"} if "number" in kinds else set())  # 5 is a number
    wrong = [OF_TYPE[other] for other in OF_TYPE if other not in taken]
    if "integer" in kinds and "number" not in kinds:  # 5.0 is the whole number 5
        wrong[wrong.index(OF_TYPE["number"])] = OF_TYPE["number"].filter(lambda value: not value.is_integer())
    for kind, each in kinds.items():
        if "enum" in each:
            wrong.append(TEXT.filter(lambda value, each=each: value not in each["enum"]))
        if "minimum" in each:
            wrong.append(st.sampled_from([float("nan"), float("inf"), float("-inf")]))
            wrong.append(st.integers(max_value=each["minimum"] - 1))
        if "maximum" in each:
            wrong.append(st.integers(min_value=each["maximum"] + 1))
        if kind == "number" and {"minimum", "maximum"} <= set(each):
            wrong.append(st.floats(max_value=each["minimum"], exclude_max=True, allow_nan=False))
            wrong.append(st.floats(min_value=each["maximum"], exclude_min=True, allow_nan=False))
        if "maxLength" in each:
            limit = each["maxLength"]
            wrong.append(st.integers(1, 50).map(lambda more, limit=limit: "x" * (limit + more)))
        if kind == "string":
            wrong.append(TEXT.map(lambda text: f"{text}\0") | TEXT.map(lambda text: f"{text}\ud800"))
        if kind == "array":
            entry = good(name, each["items"], schema)
            spoiled = bad_items(each["items"], schema)
            wrong.append(spoiled.map(lambda bad: [bad]) | spoiled.map(lambda bad, entry=entry: [entry, bad]))
    if name in NEVER_BLANK:
        wrong.append(st.text(" \t\n\u3000", max_size=5))
    if name in TIMES:
        wrong.append(TEXT.filter(lambda text: not text[:1].isdigit()))
    if name == "outcome":
        wrong.append(TEXT.filter(lambda text: not text.isascii()))
    if name == "workspace":
        wrong.append(TEXT.filter(lambda text: text.casefold() not in {"project", "global", "default", "*"}))
    return st.one_of(wrong)


@st.composite
def bad_calls(draw, tool):
    """Return arguments with exactly one thing wrong: a bad value, a missing or an unknown parameter."""
    schema = tool.input_schema()
    properties, required = schema["properties"], schema.get("required", [])
    optional = [name for name in properties if name not in required]
    given_names = [*required, *draw(st.lists(st.sampled_from(optional), unique=True))]
    schemas = {name: whole(tool, name) for name in properties}
    arguments = agreed(tool, {name: good(name, schemas[name], schemas[name]) for name in given_names})
    way = draw(st.sampled_from(["value", "unknown", *(["missing"] if required else [])]))
    if way == "missing":
        name = draw(st.sampled_from(required))
        del arguments[name]
    elif way == "unknown":
        name = draw(TEXT.filter(lambda text: text not in tool.arguments.model_fields))
        arguments[name] = draw(st.one_of(list(OF_TYPE.values())))
    else:
        name = draw(st.sampled_from(list(properties)))
        bad = bad_values(name, schemas[name])
        if tool.name == "decision_memory" and name != "action":
            bad = bad.filter(lambda value: value != "")  # which its document takes for nothing said
        arguments = {**agreed(tool, arguments, keep=name), name: draw(bad)}
    return way, name, arguments


@pytest.mark.promise("001-045", "001-047")
@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: flat(tool.name))
@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_what_a_schema_excludes_is_an_error_of_the_family_and_changes_nothing(words, tool, data):
    if not words.whence.store.workspaces():
        words.store("Something is here already")
    way, name, arguments = data.draw(bad_calls(tool))
    error = words.refused(tool.name, **arguments)
    assert error.get("code", "INVALID_PARAMETER") == "INVALID_PARAMETER"
    if name == "action" and way != "unknown":
        assert error["message"].startswith(("Unknown action: ", "action holds"))  # document 004's sentence
    elif way == "missing":
        assert error["message"] == f"{name} is required"
        assert describe(tool.input_schema()["properties"][name]) in error["hint"]
    elif way == "unknown":
        assert error["message"] == f'Unknown parameter "{name}"'
        assert all(each in error["hint"] for each in tool.input_schema()["properties"])
    else:
        told = (name, f'Workspace "{arguments[name]}" not found', "A memory is", "Work stands in one")
        inside_a_list = (f'Unknown parameter "{each}" in {name}[' for each in _names_in(arguments[name]))
        assert error["message"].startswith((*told, *inside_a_list))
    assert "another value" not in repr(error), "it does not say what it takes"


def _names_in(value):
    """Return the names that the entries of a list carry."""
    entries = value if isinstance(value, list) else []
    return [name for each in entries if isinstance(each, dict) for name in each]


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: flat(tool.name))
@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_what_a_schema_allows_is_never_called_invalid(words, tool, data):
    schema = tool.input_schema()
    required = schema.get("required", [])
    optional = [name for name in schema["properties"] if name not in required]
    names = [*required, *data.draw(st.lists(st.sampled_from(optional), unique=True))]
    words.ask("store_memory", content="so that the workspace is there")
    schemas = {name: whole(tool, name) for name in names}
    told = {name: good(name, schemas[name], schemas[name]) for name in names}
    outcome = words.call(tool.name, **agreed(tool, told))
    if outcome.is_error:
        error = told_error(tool.name, outcome)
        assert error.get("code", "MEMORY_NOT_FOUND") == "MEMORY_NOT_FOUND"
        assert "some text" in error["message"], "only what nothing carries is refused"


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: flat(tool.name))
def test_the_advertised_default_is_the_one_that_applies(tool):
    for name, schema in tool.input_schema()["properties"].items():
        field = tool.arguments.model_fields[name]
        if "default" in schema:
            assert field.default == schema["default"]
        elif name not in tool.input_schema().get("required", []):
            assert field.default in (None, []), "left out is left out"


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: flat(tool.name))
def test_what_is_advertised_in_few_words_excludes_nothing_that_is_taken(tool):
    for name, advertised in tool.input_schema()["properties"].items():
        schema = whole(tool, name)
        if not {"type", "anyOf"} & set(advertised):
            continue  # it excludes nothing
        kinds = advertised.get("type")
        told = set(kinds) if isinstance(kinds, list) else set(kinds_of(advertised, advertised))
        assert set(kinds_of(schema, schema)) - {"null"} <= told | ({"integer"} if "number" in told else set())
