"""Does every tool refuse whatever its schema excludes, in its family's shape, and change nothing?"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
ACCEPTED = {"integer": {"integer"}, "number": {"integer", "number"}}  # 5 is a number, 5.0 an integer


def good(name, schema):
    """Return a value that the schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if name == "workspace":
        return "project"
    if name in {"as_of", "known_at", "valid_from"}:
        return "2026-01-01"
    return {"string": "some text", "integer": 1, "number": 0.5, "boolean": True}[schema["type"]]


def bad_values(name, schema):
    """Return a strategy of values that the schema, or what the field means, excludes."""
    kind = schema["type"]
    wrong = [OF_TYPE[other] for other in OF_TYPE if other not in ACCEPTED.get(kind, {kind})]
    if kind == "integer":
        wrong[wrong.index(OF_TYPE["number"])] = OF_TYPE["number"].filter(lambda value: not value.is_integer())
    if "default" not in schema and name not in {"content", "query", "old_memory_id", "new_memory_id"}:
        wrong.remove(OF_TYPE["null"])  # null is what leaving it out means
    if "enum" in schema:
        wrong.append(TEXT.filter(lambda value: value not in schema["enum"]))
    if "minimum" in schema:
        low, high = schema["minimum"], schema["maximum"]
        wrong += [st.integers(max_value=low - 1), st.integers(min_value=high + 1)]
        wrong.append(st.sampled_from([float("nan"), float("inf"), float("-inf")]))
        if kind == "number":
            wrong.append(st.floats(max_value=low, exclude_max=True, allow_nan=False))
            wrong.append(st.floats(min_value=high, exclude_min=True, allow_nan=False))
    if "maxLength" in schema:
        wrong.append(st.integers(1, 50).map(lambda more: "x" * (schema["maxLength"] + more)))
    if kind == "string":
        wrong.append(TEXT.map(lambda text: f"{text}\0") | TEXT.map(lambda text: f"{text}\ud800"))
    if name in {"content", "query"}:
        wrong.append(st.text(" \t\n\u3000", max_size=5))
    if name in {"as_of", "known_at", "valid_from"}:
        wrong.append(TEXT.filter(lambda text: not text[:1].isdigit()))
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
    arguments = {name: good(name, properties[name]) for name in given_names}
    way = draw(st.sampled_from(["value", "unknown", *(["missing"] if required else [])]))
    if way == "missing":
        name = draw(st.sampled_from(required))
        del arguments[name]
    elif way == "unknown":
        name = draw(TEXT.filter(lambda text: text not in properties))
        arguments[name] = draw(st.one_of(list(OF_TYPE.values())))
    else:
        name = draw(st.sampled_from(list(properties)))
        arguments[name] = draw(bad_values(name, properties[name]))
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
    assert error["code"] == "INVALID_PARAMETER"
    if way == "missing":
        assert error["message"] == f"{name} is required"
        assert describe(tool.input_schema()["properties"][name]) in error["hint"]
    elif way == "unknown":
        assert error["message"] == f'Unknown parameter "{name}"'
        assert all(each in error["hint"] for each in tool.input_schema()["properties"])
    else:
        assert error["message"].startswith((name, f'Workspace "{arguments[name]}" not found', "A memory is"))


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
    outcome = words.call(tool.name, **{name: good(name, schema["properties"][name]) for name in names})
    if outcome.is_error:
        assert outcome.structured["error"]["code"] == "MEMORY_NOT_FOUND"


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: flat(tool.name))
def test_the_advertised_default_is_the_one_that_applies(tool):
    for name, schema in tool.input_schema()["properties"].items():
        field = tool.arguments.model_fields[name]
        if "default" in schema:
            assert field.default == schema["default"]
        elif name not in tool.input_schema().get("required", []):
            assert field.default is None
