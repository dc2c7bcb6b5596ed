"""A tool, defined once: its words, its schemas, its call and its errors."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from whence.core.errors import InvalidParameter, StorageFailed, WhenceError
from whence.core.masking import mask
from whence.core.memories import Author
from whence.features.workspaces import NOWHERE, Place, one_to_search, to_search, to_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from whence.core.life import Whence
    from whence.core.links import Creator
    from whence.core.memories import Workspace

logger = logging.getLogger(__name__)
_TOOL_NAME = re.compile(r"\{([a-z_/]+)\}")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # what no store can keep and no answer can repeat


# Taken from older clients, and not advertised to new ones.
UNLISTED = SkipJsonSchema()  # type: ignore[type-arg]  # pydantic declares it for types, and documents both


class Arguments(BaseModel):
    """What every tool accepts."""

    model_config = ConfigDict(extra="forbid", strict=True)

    workspace: Annotated[str | None, Field(description='Default: this project; of the user: "global"')] = None
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls and from where: what a door knows of a connection."""

    client: str | None = None
    session: str | None = None
    place: Place = NOWHERE
    creator: Creator = "llm"  # who states what this caller states
    may_repeat: bool = False  # the session is the client's own, so the same call again is a retry
    listed: Mapping[str, str] | None = None  # canonical name -> listed name; None: everything
    on_saved: Callable[[], None] = lambda: None  # a memory may get links: make them in the background
    on_unread: Callable[[], None] = lambda: None  # memories wait for a model: read them in the background


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(slots=True)
class Call(Generic[ArgumentsT]):
    """One call under way: the memory, the caller, the arguments, and what is to be said beside the answer."""

    whence: Whence
    caller: Caller
    tool: str
    arguments: ArgumentsT
    raw: Mapping[str, Any]
    notices: list[str] = field(default_factory=list)

    @property
    def author(self) -> Author:
        session = self.arguments.session or self.caller.session
        session = mask(session).text if session else None
        return Author(client=self.caller.client, session=session, tool=self.tool)

    @property
    def request(self) -> str | None:
        """Return what makes this call the same as an earlier one, if its session can have retries."""
        if not (self.arguments.session or self.caller.may_repeat):
            return None
        place = self.caller.place
        same = [self.tool, self.author.session, place.name, place.identity, dict(self.raw)]
        return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()

    def lists(self, name: str) -> bool:
        """True when the caller sees this tool."""
        return self.caller.listed is None or name in self.caller.listed

    def listed_name(self, name: str) -> str:
        """Return the name under which the caller sees a tool."""
        return (self.caller.listed or {}).get(name, flat(name))

    def workspace(self) -> Workspace:
        return to_write(self.whence, self.arguments.workspace, self.caller.place)

    def workspace_here(self) -> tuple[str, ...]:
        """Return the one workspace that is meant, `global` not included; none if it was not founded yet."""
        return one_to_search(self.whence, self.arguments.workspace, self.caller.place)

    def workspaces(self) -> tuple[str, ...] | None:
        return to_search(self.whence, self.arguments.workspace, self.caller.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[ArgumentsT]):
    """One verb of a family."""

    name: str  # canonical, with a slash where its document has one
    family: str
    title: str
    description: str
    search_hint: str
    arguments: type[ArgumentsT]
    reply: type[BaseModel]
    run: Callable[[Call[ArgumentsT]], dict[str, Any]]
    tell: Callable[[Mapping[str, Any]], str]  # the same answer in a few plain lines
    error: Callable[[WhenceError], dict[str, Any]]
    reads_only: bool = False
    destroys: bool = False
    is_idempotent: bool = False
    has_fixed_reply: bool = False  # its document allows no further key: the rest goes beside the reply

    def described(self, *, slash: bool = False) -> str:
        """Return the description, with other tools by the name under which they are listed."""
        return named(self.description, slash=slash)

    def input_schema(self) -> dict[str, Any]:
        return _input_schema(self.arguments)

    def output_schema(self) -> dict[str, Any]:
        return _plain(self.reply.model_json_schema())


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave: the structured answer, the same in words, and whether it is an error."""

    structured: dict[str, Any]
    text: str
    notices: tuple[str, ...] = ()
    is_error: bool = False
    hint: str | None = None  # where the family's error has no place for it
    did_you_mean: tuple[str, ...] = ()


def flat(name: str) -> str:
    """Return the name under which every client takes a tool."""
    return re.sub(r"[/.]", "_", name)


def named(text: str, *, slash: bool) -> str:
    """Return a text whose {save/decision} is replaced by that tool's listed name."""
    return _TOOL_NAME.sub(lambda match: match.group(1) if slash else flat(match.group(1)), text)


def call(tool: Tool[Any], whence: Whence, caller: Caller, raw: Mapping[str, Any]) -> Outcome:
    """Run a tool; whatever goes wrong becomes an error in its family's own shape."""
    try:
        arguments = _parse(tool, raw)
        under_way = Call(whence, caller, tool.name, arguments, raw)
        structured = tool.run(under_way)
    except WhenceError as error:
        return failed(tool, error)
    except Exception:  # the last resort: a user gets a sentence, the log the details
        logger.exception("%s failed", tool.name)
        unexpected = StorageFailed(
            f"{tool.title} failed unexpectedly; nothing was changed",
            hint="Run `whence doctor`, and report the log if it finds nothing.",
        )
        return failed(tool, unexpected)
    notices = tuple(under_way.notices)
    if notices and not tool.has_fixed_reply:
        structured = {**structured, "notices": list(notices)}
    return Outcome(structured, "\n".join([tool.tell(structured), *notices]), notices)


def failed(tool: Tool[Any], error: WhenceError) -> Outcome:
    """Return an error as this tool's family says it."""
    lines = [error.message, *([error.hint] if error.hint else [])]
    if error.did_you_mean:
        lines.append(f"Did you mean: {', '.join(error.did_you_mean)}?")
    beside = (error.hint, error.did_you_mean) if tool.has_fixed_reply else (None, ())
    return Outcome(tool.error(error), "\n".join(lines), (), True, *beside)


def _parse(tool: Tool[Any], raw: Mapping[str, Any]) -> Any:  # noqa: ANN401  the tool's own arguments
    try:
        _check_texts(raw)
    except RecursionError:
        raise InvalidParameter("The arguments are nested too deeply", hint="Give plain values.") from None
    # JSON knows one kind of number: 5.0 is the whole number 5.
    whole = {
        name for name, each in tool.input_schema()["properties"].items() if each.get("type") == "integer"
    }
    told = {
        name: int(value) if name in whole and isinstance(value, float) and value.is_integer() else value
        for name, value in raw.items()
    }
    try:
        return tool.arguments.model_validate(told)
    except ValidationError as error:
        raise _sentence(tool, error) from None


def _check_texts(raw: Mapping[str, Any]) -> None:
    """Raise for NUL and for half a surrogate pair, wherever it stands."""
    for name, value in raw.items():
        if _NO_TEXT.search(name):
            raise InvalidParameter(
                "The name of a parameter holds characters that are no text", hint="Remove that parameter."
            )
        if any(_NO_TEXT.search(text) for text in _texts(value)):
            raise InvalidParameter(
                f"{name} holds characters that are no text (NUL or half a surrogate pair)",
                hint=f"Remove them from {name}.",
            )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for each in pair for text in _texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in _texts(each))


def _sentence(tool: Tool[Any], error: ValidationError) -> InvalidParameter:
    """Return the first thing wrong with the arguments, in plain words."""
    first = min(error.errors(), key=lambda each: each["type"] == "extra_forbidden")
    name = str(first["loc"][0]) if first["loc"] else "arguments"
    properties = tool.input_schema()["properties"]
    taken = _taken(tool, name)
    inner = [each for each in first["loc"][1:] if not _is_kind(each)]
    if inner and isinstance(inner[0], int):
        return _sentence_within(taken, name, inner, first["type"])
    if first["type"] == "extra_forbidden":
        return InvalidParameter(
            f'Unknown parameter "{name}"', hint=f"{flat(tool.name)} accepts {', '.join(properties)}."
        )
    expected = describe(taken)
    if first["type"] == "missing":
        return InvalidParameter(f"{name} is required", hint=f"Give {name} as {expected}.")
    return InvalidParameter(f"{name} must be {expected}")


def _is_kind(step: int | str) -> bool:
    """True for a step that pydantic adds to say which kind of a choice it tried."""
    return isinstance(step, str) and (step in {"str", "int", "float", "bool"} or "[" in step)


def _taken(tool: Tool[Any], name: str) -> Mapping[str, Any]:
    """Return the schema of a parameter, spelled out where the advertised one says it in few words."""
    told = tool.arguments.model_fields.get(name)
    advertised: Mapping[str, Any] | None = tool.input_schema()["properties"].get(name)
    if told is None:
        return {}
    if advertised is None or any(isinstance(each, WithJsonSchema) for each in told.metadata):
        spelled_out: TypeAdapter[Any] = TypeAdapter(told.annotation)
        return spelled_out.json_schema()
    return advertised


def _sentence_within(
    taken: Mapping[str, Any], name: str, inner: Sequence[int | str], kind: str
) -> InvalidParameter:
    """Return what is wrong with one entry of a list."""
    entry = f"{name}[{inner[0]}]"
    items = _item_schema(taken)
    fields = ", ".join(items.get("properties", {}))
    if len(inner) == 1:
        return InvalidParameter(f"{entry} must be {describe(items)}")
    if kind == "extra_forbidden":
        return InvalidParameter(f'Unknown parameter "{inner[1]}" in {entry}', hint=f"It takes {fields}.")
    expected = describe(items.get("properties", {}).get(str(inner[1]), {}))
    if kind == "missing":
        return InvalidParameter(f"{entry}.{inner[1]} is required", hint=f"Add it to {entry}.")
    return InvalidParameter(f"{entry}.{inner[1]} must be {expected}")


def _item_schema(taken: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of one entry of a list parameter."""
    options = [taken, *taken.get("anyOf", [])]
    items: Mapping[str, Any] = next((each["items"] for each in options if "items" in each), {})
    if "$ref" in items:
        defined: Mapping[str, Any] = taken["$defs"][str(items["$ref"]).rsplit("/", 1)[-1]]
        return defined
    return items


_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def describe(schema: Mapping[str, Any]) -> str:
    """Return what a parameter takes, in words: "a whole number from 1 to 20"."""
    options = [describe(each) for each in schema.get("anyOf", []) if each.get("type") != "null"]
    if options:
        return " or ".join(dict.fromkeys(options))
    if "enum" in schema:
        return " or ".join(f'"{each}"' for each in schema["enum"])
    told = schema.get("type", "object" if "properties" in schema else "")
    kinds = [_KINDS.get(each, "another value") for each in (told if isinstance(told, list) else [told])]
    kind = " or ".join(kinds)
    if "maxLength" in schema:
        return f"{kind} of at most {schema['maxLength']:,} characters"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{kind} from {low:g} to {high:g}"
    return f"{kind} of at least {low:g}" if low is not None else kind


@cache
def _input_schema(arguments: type[Arguments]) -> dict[str, Any]:
    schema = _plain(arguments.model_json_schema())
    # What is a tool's own comes first, as its document has it, then what its like share.
    classes = [each for each in arguments.__mro__ if issubclass(each, Arguments)]
    declared = {name: at for at, each in enumerate(classes) for name in each.__annotations__}
    common = Arguments.model_fields
    properties = sorted(
        schema["properties"].items(),
        key=lambda each: len(classes) if each[0] in common else declared[each[0]],
    )
    return {**schema, "properties": dict(properties)}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without pydantic's titles, and with an optional value's null left out."""
    if "properties" in schema:
        schema = {key: value for key, value in schema.items() if key not in {"title", "description"}}
        schema["properties"] = {name: _plain_property(value) for name, value in schema["properties"].items()}
    if "$defs" in schema:
        schema["$defs"] = {name: _plain(value) for name, value in schema["$defs"].items()}
    return schema


def _plain_property(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key != "title"}
    if kept.get("default", 0) in ([], None):
        del kept["default"]  # left out is left out
        options = [each for each in kept.get("anyOf", []) if each.get("type") != "null"]
        if len(options) == 1:
            del kept["anyOf"]
            kept.update(options[0])
    return kept
