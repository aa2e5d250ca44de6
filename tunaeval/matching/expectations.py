"""Reading and checking of expectations, which are written in one of three shapes.

    {"calls": [...], "match": ...}  and the other fields of `Expectation`
    {"expected_tool": "glob", "expected_args": {...}}       one call, none if the tool is null
    {"expected_tool_sequence": ["glob", "read_file"]}       tool names in order

The last two shapes are those of the TunaCode mini harness and of its training data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from tunaeval.errors import ExpectationError, UnknownNameError, UsageError
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall
from tunaeval.types.runs import Expectation, ExpectedCall

from .matchers import matcher_faults

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_ONE_CALL_KEYS = frozenset({"expected_tool", "expected_args"})
_EXAMPLE = '{"calls": [{"name": "grep", "arguments": {}}]}'


def read_expectation(data: Mapping[str, Any]) -> Expectation:
    """Return the expectation in `data`. Raises `ExpectationError` with the place of a fault."""
    if not isinstance(data, Mapping):
        raise ExpectationError(
            f"an expectation is a mapping such as {_EXAMPLE}, or an Expectation; "
            f"found {brief(data)}"
        )
    try:
        expect = Expectation.model_validate(_modern(data))
        check_expectation(expect)
    except ValidationError as error:
        faults = "; ".join(_faults(error.errors()))
        raise ExpectationError(f"this expectation cannot be used: {faults}") from None
    except ValueError as error:
        raise ExpectationError(f"this expectation cannot be used: {error}") from error
    return expect


def _faults(errors: Sequence[ErrorDetails]) -> Iterator[str]:
    """Yield pydantic's errors in our words, without "missing" beside a misspelled field."""
    renamed = {at["loc"][:-1] for at in errors if at["type"] == "extra_forbidden"}
    for at in errors:
        *parent, name = at["loc"] or ("",)
        place = _place(at["loc"])
        if at["type"] == "extra_forbidden":
            kind, fields = _KINDS["calls" in parent]
            where = f"{_place(tuple(parent))}: " if parent else ""
            yield f"{where}{UnknownNameError(f'field of {kind}', name, fields.model_fields)}"
        elif at["type"] != "missing":
            wanted = at["msg"].removeprefix("Input should be ")
            hint = " (json.loads makes one of JSON text)" if isinstance(at["input"], str) else ""
            more = hint if at["type"] == "dict_type" else ""
            yield f"{place} is {brief(at['input'])}, wanted {_WANTED.get(at['type'], wanted)}{more}"
        elif at["loc"][:-1] not in renamed:
            yield f"{place} is missing"


_KINDS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("an expectation", Expectation),
    ("a call", ExpectedCall),
)
_WANTED = {
    "tuple_type": "a list",
    "dict_type": "a dict",
    "string_type": "a text",
    "model_type": 'a call such as {"name": "grep", "arguments": {}}',
    "bool_parsing": "True or False",
    "bool_type": "True or False",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
}


def one_call(tool: str | None, arguments: JsonValue) -> JsonObject:
    """Return an `Expectation`'s fields for one wanted call, or for no call if `tool` is None."""
    if tool is None:
        return {"none": True}
    return {"calls": [{"name": tool, "arguments": arguments}]}


def check_expectation(expect: Expectation) -> None:
    """Raise ValueError if nothing could meet the expectation, or if it expects nothing."""
    try:
        for fault in (*_contradictions(expect), *_argument_faults(expect)):
            raise ValueError(fault)
    except RecursionError as error:
        raise ValueError("its arguments are nested too deeply to be compared") from error


def _modern(data: Mapping[str, Any]) -> JsonObject:
    if data.keys() == {"expected_tool_sequence"}:
        return {"tools": data["expected_tool_sequence"]}
    if "expected_tool" in data and data.keys() <= _ONE_CALL_KEYS:
        arguments = data.get("expected_args")
        if data["expected_tool"] is None and arguments:
            raise ValueError(
                "expected_args has arguments, but expected_tool is null, which means no call"
            )
        return one_call(data["expected_tool"], arguments or {})
    return dict(data)


def _place(keys: tuple[int | str, ...]) -> str:
    """Return `calls[0].arguments` for ("calls", 0, "arguments")."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)[1:]


def _contradictions(expect: Expectation) -> Iterator[str]:
    calls, tools = expect.calls, expect.tools
    least, most = expect.min_calls, expect.max_calls
    every = (calls, tools, expect.forbid or None, least, most)
    given = [value for value in every if value is not None]
    if expect.none and given:
        yield "none: true wants no call at all; nothing else can be beside it"
    if not (expect.none or given):
        yield "nothing is expected; give calls, tools, none, forbid, min_calls or max_calls"
    if calls is not None and tools is not None:
        yield "calls and tools exclude each other: tools is for names alone"
    if calls == () or tools == ():
        yield "an empty list of calls or tools; to want no call write none: true"
    if most is not None and most < 1:
        yield f"max_calls is {most}, wanted at least 1; to want no call write none: true"
    if least is not None and not 1 <= least <= (most or least):
        yield f"min_calls is {least}, wanted at least 1 and at most max_calls"
    names = {call.name for call in calls or ()} | set(tools or ())
    clash = sorted(names & set(expect.forbid))
    if clash:
        yield f"{', '.join(map(repr, clash))}: both expected and forbidden"


def _argument_faults(expect: Expectation) -> Iterator[str]:
    for index, call in enumerate(expect.calls or ()):
        where = f"calls[{index}].arguments"
        for name, value in call.arguments.items():
            yield from matcher_faults(value, f"{where}.{name}")
            if name.startswith("$"):
                yield f"{where}: {name!r} is no argument; a matcher replaces a value"


def read_forbidden(given: object) -> tuple[str | ExpectedCall, ...]:
    """Return what is forbidden, validated: tools' names, or calls, which may have other arguments,
    too. Raises UsageError for anything else.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise UsageError(
            f"forbid is {brief(given)}, wanted a list of tool names, or of calls such as "
            f"{_FORBIDDEN}"
        )
    return tuple(_forbidden(index, one) for index, one in enumerate(given))


_FORBIDDEN = '{"name": "bash", "arguments": {"command": {"$regex": "rm -rf"}}}'


def _forbidden(index: int, one: object) -> str | ExpectedCall:
    if isinstance(one, str) and one.strip():
        return one
    if isinstance(one, ExpectedCall | ToolCall):
        one = {"name": one.name, "arguments": one.arguments}
    if isinstance(one, Mapping):
        try:
            (read,) = read_expectation({"calls": [dict(one)]}).calls or ()
        except ExpectationError as error:
            raise UsageError(f"forbid[{index}]: {error}") from error
        return read
    raise UsageError(
        f"forbid[{index}] is {brief(one)}, wanted a tool's name, or a call such as {_FORBIDDEN}"
    )
