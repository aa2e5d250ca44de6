"""Tools, and the calls that a model makes of them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self, TypeAlias

JsonValue: TypeAlias = Any
"""None, bool, int, float, str, list of JsonValue, or dict from str to JsonValue."""

JsonObject: TypeAlias = dict[str, JsonValue]


def texts_in(value: JsonValue) -> Iterator[str]:
    """Yield all strings in a value, at any depth; the names of fields are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(one)


def json_key(value: JsonValue) -> Hashable:
    """Return a key that equal JSON values share: 3 equals 3.0 but not true, and keys have no order.
    What is no JSON, or too deep, equals nothing.
    """
    try:
        hash(key := _json_key(value))
    except (RecursionError, TypeError):
        return object()
    return key


def _json_key(value: JsonValue) -> Hashable:
    if isinstance(value, dict):
        return frozenset((key, _json_key(one)) for key, one in value.items())
    if isinstance(value, list):
        return tuple(map(_json_key, value))
    return (bool, value) if isinstance(value, bool) else value


NAME_KEYS: tuple[str, ...] = ("name", "tool", "function", "tool_name", "function_name", "tool_call")
"""Keys that may contain a call's name; any but the format's own key is a repair."""

ARGUMENTS_KEYS: tuple[str, ...] = ("arguments", "args", "parameters", "input", "params")
"""Keys that may contain a call's arguments; any but the format's own key is a repair."""

STRUCTURED = "structured"
"""The `format` of a call that a server parsed, which is in no text."""

Source: TypeAlias = Literal["structured", "text"]
"""Where a call comes from: a server parsed it, or it was read from a text."""

LEAKED_CALL = "leaked-call"
"""The code of the repair of a call that the server left in the text instead of parsing it."""

REPEATED_CALL = "repeated-call"
"""The code of the repair, or the diagnosis, of a call that a message has more than once."""

ID_SHARED = "id-shared"
"""The code of the diagnosis of an id that different calls of one message have."""

INVALID_ARGUMENTS = "invalid-arguments"
"""The code of the repair of a call whose arguments were no JSON object; they become empty."""


class Span(NamedTuple):
    """The characters from `start` (included) to `end` (excluded) of the text that was parsed.

    Examples:
        >>> text = 'Look: <tool_call>{"name": "ls", "arguments": {}}</tool_call>'
        >>> span = tunaeval.parse(text).calls[0].span
        >>> text[span.start : span.end][:11]
        '{"name": "l'
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is described to a model.

    `parameters` is a JSON schema of type object. `paths` are the arguments that are file system
    paths: only they are normalised when calls are compared.

    Examples:
        >>> tunaeval.ToolSpec("ls", "List a directory.").as_bare()["name"]
        'ls'
    """

    name: str
    description: str = ""
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()

    def as_bare(self) -> JsonObject:
        """Return name, description and parameters, which OpenAI's shapes have in common."""
        return {"name": self.name, "description": self.description, "parameters": self._schema()}

    def as_openai(self) -> JsonObject:
        """Return the tool in the shape of OpenAI's chat completions API."""
        return {"type": "function", "function": self.as_bare()}

    def as_responses(self) -> JsonObject:
        """Return the tool in the shape of OpenAI's Responses API. That API is strict by default,
        and strict schemas have no optional arguments, so `strict` is False.
        """
        return {"type": "function", **self.as_bare(), "strict": False}

    def as_anthropic(self) -> JsonObject:
        """Return the tool in the shape of Anthropic's messages API."""
        return {"name": self.name, "description": self.description, "input_schema": self._schema()}

    def _schema(self) -> JsonObject:
        return dict(self.parameters) or {"type": "object", "properties": {}}


class Tools(Mapping[str, ToolSpec]):
    """The tools of a request by name, in order; immutable, and cheap to pass to many parses.

    Examples:
        >>> list(tunaeval.to_tools([{"name": "ls"}, {"name": "cat"}]))
        ['ls', 'cat']
    """

    __slots__ = ("_by_name", "_widened", "prepared")

    def __init__(self, specs: Iterable[ToolSpec] = ()) -> None:
        self._by_name = {spec.name: spec for spec in specs}
        self.prepared: dict[Any, Any] = {}
        """The parser's cache of what it derived from each tool; not part of the value."""
        self._widened: dict[frozenset[str], Tools] = {}

    def __getitem__(self, name: str) -> ToolSpec:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __repr__(self) -> str:
        return f"Tools({', '.join(self._by_name)})"

    def __reduce__(self) -> tuple[type[Tools], tuple[tuple[ToolSpec, ...]]]:
        """Pickle the tools alone, without the parser's cache."""
        return Tools, (tuple(self._by_name.values()),)

    def widened(self, names: frozenset[str]) -> Tools:
        """Return these tools, and one without a schema for each other one of `names`; cached."""
        found = self._widened.get(names)
        if found is None:
            more = (ToolSpec(name) for name in sorted(names - self._by_name.keys()))
            found = self._widened[names] = Tools([*self._by_name.values(), *more])
        return found

    def as_openai(self) -> list[JsonObject]:
        """Return all tools in the shape of OpenAI's chat completions API."""
        return [spec.as_openai() for spec in self._by_name.values()]


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair made to read a call: what (`code`), where, and the level from which it is allowed.

    Examples:
        >>> text = '<tool_call>{"name": "ls", "arguments": {},}</tool_call>'
        >>> call = tunaeval.parse(text).calls[0]
        >>> [(repair.code, repair.level) for repair in call.repairs]
        [('trailing-comma', 'standard')]
    """

    code: str
    message: str
    span: Span | None = None
    level: str = "standard"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool: its name and its arguments as an object.

    `format` is the wire format it was read from, and `span` its place in the text (None for a call
    that a server parsed): the JSON object or the `f(...)` that holds name and arguments, without
    the markers around it; where the name is outside of the arguments, the block from its opener or
    message header to its closer. `repairs` lists what was repaired; it is empty if the text was
    correct. `source` is "structured" if a server parsed the call, and "text" if it was read from a
    text.

    Examples:
        >>> tunaeval.ToolCall("read_file", {"path": "a.py"}).arguments["path"]
        'a.py'
    """

    name: str
    arguments: JsonObject
    id: str | None = None
    format: str = ""
    span: Span | None = None
    repairs: tuple[Repair, ...] = ()

    @property
    def source(self) -> Source:
        return "structured" if self.format == STRUCTURED else "text"

    def as_openai(self) -> JsonObject:
        """Return the call in the shape of OpenAI's chat completions API: its arguments are JSON
        text. An id is made for a call that has none, here and in the other shapes.
        """
        return openai_call(self, self._known_id(), "text")

    def as_anthropic(self) -> JsonObject:
        """Return the call as a block of Anthropic's messages API, a `tool_use`."""
        return anthropic_call(self._known_id(), self.name, self.arguments)

    def as_gemini(self) -> JsonObject:
        """Return the call as a part of Gemini's API, a `functionCall`."""
        return gemini_call(self._known_id(), self.name, self.arguments)

    def _known_id(self) -> str:
        from secrets import token_hex  # noqa: PLC0415 - a parse makes no ids

        return self.id or f"call_{token_hex(12)}"

    @classmethod
    def unread(cls, name: str, why: str, id: str | None = None, format: str = STRUCTURED) -> Self:  # noqa: A002 - the fields' names
        """Return a call whose arguments cannot be read: `invalid` says why, or has its text."""
        return cls(name, {}, id, format, repairs=(Repair(INVALID_ARGUMENTS, why, level="lenient"),))

    @property
    def invalid(self) -> str | None:
        """Why `arguments` are empty although the model wrote others; None for other calls."""
        for repair in self.repairs:
            if repair.code == INVALID_ARGUMENTS:
                return repair.message
        return None


def one_each(
    calls: Sequence[ToolCall | None],
) -> tuple[list[ToolCall | None], set[int], dict[str, tuple[int, str]]]:
    """Return the calls of one message, the indices of those that are there again, and what is odd
    by its code: an index and words.

    Calls with the same id, name and arguments are one call, the first, which gets a repair.
    Different calls may share an id.
    """
    found, again, odd = [*calls], set[int](), dict[str, tuple[int, str]]()
    owners, known = dict[str, int](), dict[Hashable, tuple[int, ToolCall]]()
    ids = [call.id for call in calls if call and call.id]
    for at, call in enumerate(calls if len({*ids}) < len(ids) else ()):
        if call is None or not call.id:
            continue
        key = call.id, call.name, call.invalid, json_key(call.arguments)
        first, one = known.setdefault(key, (at, call))
        if first < at:
            again.add(at)
            words = f"the call {call.id!r} of {call.name!r} is there more than once"
            found[first] = replace(one, repairs=(*one.repairs, Repair(REPEATED_CALL, words)))
            odd.setdefault(REPEATED_CALL, (at, words))
        elif owners.setdefault(call.id, at) < at:
            odd.setdefault(ID_SHARED, (at, f"different calls have the id {call.id!r}"))
    return found, again, odd


def openai_call(call: ToolCall, id_: str, arguments: str) -> JsonObject:
    """Return the call in OpenAI's shape, its arguments as an "object" or as JSON "text"."""
    is_text = arguments == "text"
    written = json.dumps(call.arguments, ensure_ascii=False) if is_text else call.arguments
    return {"id": id_, "type": "function", "function": {"name": call.name, "arguments": written}}


def anthropic_call(id_: JsonValue, name: JsonValue, arguments: JsonObject) -> JsonObject:
    """Return a call as a block of Anthropic's messages API."""
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def gemini_call(id_: JsonValue, name: JsonValue, arguments: JsonObject) -> JsonObject:
    """Return a call as a part of Gemini's API."""
    return {"functionCall": {"id": id_, "name": name, "args": arguments}}
