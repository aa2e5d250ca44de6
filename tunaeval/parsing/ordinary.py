"""The ordinary shape at once: sound JSON objects between tags, and nothing unusual anywhere.

Made from the same words as the engine reads. It answers only where it can be sure that the engine
would say the same, else None: if the slice from an opener to the *first* closer is one sound JSON
object, every reader that knows strings ends at the same place. What the decoder hides (duplicate
keys, integers that became floats, NUL) is looked for apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson

from tunaeval.grammar import CallObject, Format, Literal, Space
from tunaeval.repair import LONG_NUMBER, MAX_DEPTH, MAX_DIGITS
from tunaeval.types import JsonObject, JsonValue, ParseResult, Repair, Span, ToolCall, Tools

from .collect import MAX_CALLS
from .finder import Finder

OrdinaryReader: TypeAlias = Callable[[str, Tools | None], ParseResult | None]
_Frame: TypeAlias = tuple[str, str, str, str]
_Signature: TypeAlias = tuple[dict[str, tuple[type, ...]], frozenset[str]]

_loads, _Refused, _new_tuple = orjson.loads, orjson.JSONDecodeError, tuple.__new__
_LARGE = float(2**63)
_TYPES: dict[object, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_PLAIN_KEYWORDS = frozenset({"type", "description", "title", "default", "examples", "format"})


class _Call:
    """The same slots as `ToolCall`, cheap to fill; becomes one by its `__class__`."""

    __slots__ = ToolCall.__slots__
    name: str
    arguments: JsonObject
    id: str | None
    format: str
    span: Span | None
    repairs: tuple[Repair, ...]


class _Result:
    """The same for `ParseResult`."""

    __slots__ = ParseResult.__slots__
    calls: tuple[ToolCall, ...]
    content: str
    reasoning: str | None
    diagnoses: tuple[()]
    truncated: bool
    outcome: str


def ordinary_reader(finder: Finder) -> OrdinaryReader:
    """The reader of the ordinary shape for the formats of `finder`."""
    frames = _frames(finder)
    search = finder.search.search
    usual = next(iter(frames), "\0")
    at_once = (frames.get(usual), 0, len(usual))

    def next_block(text: str, position: int) -> tuple[_Frame | None, int, int] | None:
        hit = search(text, position)
        return (frames.get(hit.group()), hit.start(), hit.end()) if hit else None

    def read(text: str, tools: Tools | None) -> ParseResult | None:
        calls: list[ToolCall] = []
        content, position, length = "", 0, len(text)
        found = at_once if text.startswith(usual) else next_block(text, 0)
        while found is not None:
            frame, start, body = found
            if frame is None:
                return None
            end = text.find(frame[0], body)
            call = _call_between(text, body, end, frame, tools)
            if call is None or (start and text[start - 1] == "`"):
                return None
            calls.append(call)
            if position < start and not text[position:start].isspace():
                content += text[position:start]
            position = end + len(frame[0])
            found = next_block(text, position) if position < length else None
        if position < length:
            tail = text[position:] if position else text
            if tail[-80:].rstrip().endswith(("...", "…")) or finder.cut(tail[-80:]):
                return None
            if not position or not tail.isspace():
                content += tail
        return _result_of(calls, content) if len(calls) <= MAX_CALLS else None

    return read


def _call_between(
    text: str, body: int, end: int, frame: _Frame, tools: Tools | None
) -> ToolCall | None:
    """The call that is all of the text from `body` to `end`; None if the engine has to look."""
    if end < 0:
        return None
    _, name_key, arguments_key, format_name = frame
    try:
        value = _loads(text[body:end])
    except _Refused:
        return None
    if type(value) is not dict or len(value) != 2:
        return None
    name, arguments = value.get(name_key), value.get(arguments_key)
    if type(name) is not str or not name or type(arguments) is not dict:
        return None
    # More white space than a newline each side is left to the engine.
    first = body if text[body] == "{" else body + 1
    last = end if text[end - 1] == "}" else end - 1
    if text[first] != "{" or text[last - 1] != "}":
        return None
    if last - first > MAX_DIGITS and LONG_NUMBER.search(text, first, last):
        return None
    if not _sound(name, arguments, text, first, last):
        return None
    if tools is not None and not _fits(name, arguments, tools):
        return None
    call: Any = _Call()
    call.name = name
    call.arguments = arguments
    call.id = None
    call.format = format_name
    call.span = _new_tuple(Span, (first, last))
    call.repairs = ()
    call.__class__ = ToolCall
    made: ToolCall = call
    return made


def _result_of(calls: list[ToolCall], content: str) -> ParseResult:
    result: Any = _Result()
    result.calls = tuple(calls)
    result.content = content
    result.reasoning = None
    result.diagnoses = ()
    result.truncated = False
    result.outcome = "calls" if calls else "no_call"
    result.__class__ = ParseResult
    made: ParseResult = result
    return made


def _frames(finder: Finder) -> dict[str, _Frame]:
    """The frames by their openers, where an object behind the opener decides for that format."""
    return {
        opener: frame
        for form in finder.formats
        for opener, frame in _frame(form)
        if finder.chosen(opener, "{") is form
    }


def _frame(form: Format) -> list[tuple[str, _Frame]]:
    """The opener, closer and keys of a format that is one object between two tags."""
    words = [word for word in form.words if not isinstance(word, Space)]
    match words:
        case [Literal() as opener, CallObject() as call, Literal() as closer] if form.marked:
            alone = not opener.also and not closer.also
            frame = (closer.text, call.name, call.arguments, form.name)
            return [(opener.text, frame)] if alone else []
    return []


def _sound(name: str, arguments: JsonObject, text: str, first: int, last: int) -> bool:
    r"""Whether the decoder hid nothing of the object that stands at `first` to `last`.

    Told by the quotes: every key and string that arrived has two, and one for each quote inside
    it; a key that was overwritten leaves two too many. An escape spelled `\u0022` could hide
    that, so with quotes inside strings there must be none.
    """
    strings = [name, *arguments]
    for value in arguments.values():
        kind = type(value)
        if kind is str:
            strings.append(value)
        elif kind is dict or kind is list:
            if not _gather(value, strings):
                return False
        elif kind is float and not -_LARGE < value < _LARGE:
            return False
    joined = "".join(strings)
    inner = joined.count('"')
    if "\x00" in joined or text.count('"', first, last) != 4 + 2 * len(strings) + inner:
        return False
    return not inner or text.find("\\u0022", first, last) < 0


def _gather(value: JsonValue, strings: list[str]) -> bool:
    """Add all keys and strings inside `value`; false if the engine has to look at it."""
    level = [value]
    for _ in range(MAX_DEPTH - 2):  # two levels are the call's own
        below: list[JsonValue] = []
        for outer in level:
            if type(outer) is dict:
                strings += outer
            for item in outer.values() if type(outer) is dict else outer:
                kind = type(item)
                if kind is str:
                    strings.append(item)
                elif kind is dict or kind is list:
                    below.append(item)
                elif kind is float and not -_LARGE < item < _LARGE:
                    return False
        if not below:
            return True
        level = below
    return False


def _fits(name: str, arguments: JsonObject, tools: Tools) -> bool:
    """Whether the call is of a known tool and its arguments fit as they are."""
    signature: _Signature | None = tools.prepared.get(name)
    if signature is None:
        if name not in tools:
            return False
        signature = tools.prepared[name] = _signature(tools[name].parameters)
    accepted, required = signature
    for key, value in arguments.items():
        if type(value) not in accepted.get(key, ()):
            return False
    return required <= arguments.keys()


def _signature(schema: Mapping[str, JsonValue]) -> _Signature:
    """Per argument the Python types that its schema takes as they are; none if it says more."""
    properties = schema.get("properties")
    required = schema.get("required")
    usual = {"type", "properties", "required", "additionalProperties", "title", "description"}
    if not isinstance(properties, Mapping) or not usual >= schema.keys():
        properties = {}
    return (
        {key: _accepted(value) for key, value in properties.items()},
        frozenset(required) if isinstance(required, list) else frozenset(),
    )


def _accepted(schema: JsonValue) -> tuple[type, ...]:
    if not isinstance(schema, Mapping) or not schema.keys() <= _PLAIN_KEYWORDS:
        return ()
    types = schema.get("type")
    names = types if isinstance(types, list) else [types]
    return tuple(kind for name in names for kind in _TYPES.get(name, ()))
