"""The answer that an expectation describes: its calls, with an example value for each matcher.

A scenario that fails its own answer cannot be passed. Arguments that the schema requires and the
expectation leaves open get some value of their type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.runs import Expectation

from .matchers import ABSENT, inner_schema
from .patterns import (
    Alternatives,
    Assertion,
    Characters,
    Node,
    Repeat,
    Sequence,
    compiled,
    read_pattern,
)
from .values import kinds_of


class NoExampleError(ValueError):
    """No answer was found for an expectation, though it may have one."""


def own_answer(expect: Expectation, tools: Tools) -> tuple[ToolCall, ...]:
    """Return calls that meet the expectation. Raises `NoExampleError` if none are found."""
    if expect.none:
        return ()
    if expect.calls is not None:
        return tuple(_wanted_call(call.name, call.arguments, tools) for call in expect.calls)
    if expect.tools is not None:
        return tuple(_wanted_call(name, {}, tools) for name in expect.tools)
    allowed = [name for name in tools if name not in expect.forbid]
    if expect.min_calls and not allowed:
        raise NoExampleError("every tool is forbidden")
    return tuple(_wanted_call(allowed[0], {}, tools) for _ in range(expect.min_calls or 0))


def _wanted_call(name: str, wanted: JsonObject, tools: Tools) -> ToolCall:
    parameters = tools.get(name, _UNKNOWN).parameters
    properties = inner_schema(parameters, "properties")
    arguments = _object(wanted, properties)
    for key in parameters.get("required", ()):
        if key not in arguments:
            arguments[key] = _present(wanted.get(key), properties.get(key))
    return ToolCall(name, arguments)


_UNKNOWN = ToolSpec("")


def _present(want: JsonValue, schema: JsonValue) -> JsonValue:
    """Return a value that meets `want`, for an argument that only the schema requires."""
    alternatives = want.get("$any_of", ()) if isinstance(want, dict) else ()
    values = (_value(one, schema) for one in alternatives)
    found = next((value for value in values if value is not ABSENT), ABSENT)
    return _any_value(schema) if found is ABSENT else found


def _object(wanted: Mapping[str, JsonValue], properties: Mapping[str, JsonValue]) -> JsonObject:
    found = ((key, _value(want, properties.get(key))) for key, want in wanted.items())
    return {key: value for key, value in found if value is not ABSENT}


def _value(want: JsonValue, schema: JsonValue) -> JsonValue:
    """Return a value that meets `want`, or `ABSENT` if the argument has to be left out."""
    if isinstance(want, list):
        return _items(want, schema)
    if not isinstance(want, dict):
        return want
    for key, example in _EXAMPLES.items():
        if key in want:
            return example(want[key], schema)
    return _object(want, inner_schema(schema, "properties"))


def _items(wanted: list[JsonValue], schema: JsonValue) -> list[JsonValue]:
    """Return a value for each wanted item: where `_value` returns `ABSENT`, any of its type."""
    inner = inner_schema(schema, "items")
    found = (_value(want, inner) for want in wanted)
    return [_any_value(inner) if value is ABSENT else value for value in found]


def _any_of(wanted: list[JsonValue], schema: JsonValue) -> JsonValue:
    failure: NoExampleError | None = None
    for want in wanted:
        try:
            return _value(want, schema)
        except NoExampleError as error:
            failure = error
    if failure is not None:
        raise failure
    return ABSENT  # there are no alternatives


def _contains(part: JsonValue, schema: JsonValue) -> JsonValue:
    """Return a text with all parts if they are texts and the schema allows one, else a list."""
    parts = part if isinstance(part, list) else [part]
    texts = [text for text in parts if isinstance(text, str)]
    kinds = kinds_of(schema)
    if len(texts) == len(parts) and ("string" in kinds or "array" not in kinds):
        return " ".join(texts)
    return _items(parts, schema)


def _regex(pattern: str, _schema: JsonValue) -> str:
    node, _ = read_pattern(pattern)
    # Optional parts are tried absent, then once; and with characters around that anchors may want.
    for most in (0, 1):
        text: str = "".join(_texts(node, most))
        for around in ("{}", " {} ", "a{}a", "\n{}\n"):
            if compiled(pattern).found_in(example := around.replace("{}", text)):
                return example
    raise NoExampleError(f"no text was found for the pattern {pattern!r}")


_EXAMPLES: Mapping[str, Callable[[JsonValue, JsonValue], JsonValue]] = {
    "$any_of": _any_of,
    "$regex": _regex,
    "$approx": lambda number, _: number,
    "$contains": _contains,
    "$set": _items,
    "$path": lambda path, _: path,
    "$default": lambda _, __: ABSENT,
    "$ignore": lambda _, __: ABSENT,
}
"""For each matcher's key, the function that makes a matching value from its operand and schema."""


def _texts(node: Node, optional: int) -> Iterator[str]:
    """Yield the parts of a text that the node matches, with optional parts `optional` times."""
    match node:
        case Characters():
            yield _character(node)
        case Assertion():
            return
        case Sequence(parts):
            for part in parts:
                yield from _texts(part, optional)
        case Alternatives(parts):
            yield from _texts(parts[0], optional)
        case Repeat(part, least, most):
            times = max(least, optional if most is None else min(optional, most))
            yield "".join(_texts(part, optional)) * times


def _character(node: Characters) -> str:
    listed: tuple[str, ...] = (*sorted(node.singles), *(low for low, _ in node.ranges), *_PRINTED)
    found = next((one for one in listed if node.has(one)), None)
    if found is None:
        raise NoExampleError("no character was found for a set of a pattern")
    return found


_PRINTED = "a0 _A-./\n\t" + "".join(map(chr, range(33, 127))) + "\xa0\xe9\u4e2d"


def _any_value(schema: JsonValue) -> JsonValue:
    """Return a value that the schema allows; only simple schemas are understood."""
    if not isinstance(schema, Mapping):
        return _PLAIN["string"]
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return _any_value(schema[key][0])
    if schema.get("minimum") is not None:
        return schema["minimum"]
    return next((_PLAIN[kind] for kind in kinds_of(schema) if kind in _PLAIN), _PLAIN["string"])


_PLAIN: Mapping[str, JsonValue] = {
    "string": "a",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}
