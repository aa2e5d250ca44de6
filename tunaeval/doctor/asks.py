"""The requests of the doctor as values: the tools offered, the calls requested, the options.

Each call is requested in a line of its own, which any model can copy and a scripted one can parse:

    Call the tool NAME with exactly these arguments: {JSON}
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tunaeval.types.calls import JsonObject, JsonValue

from .values import Ask, WantedCall

TEXT = (
    "The harbour has nine quays and a lighthouse that was built by two brothers from the north. "
    "Boats come in with the tide before noon and leave again after the market has closed. In "
    "winter the ice keeps them out for weeks, and people walk across the bay to the islands. "
    "A bell is rung when fog comes, and somebody counts the lanterns until the last one is home."
)
"""A text of known length, put into parts of a request to see if they reach the prompt."""

MANY = 32
"""The number of tools that must fit into the prompt together."""

SCHEMA_TOKENS = 1  # the answer is not read: only whether the schema is accepted
CUT_TOKENS = 14
"""A limit in tokens that cuts off every longer call."""

CODE = "\n".join(
    f'def step_{n}(path: str = "a\\\\b/{n}") -> dict:\n\treturn {{"n": {n}, \'p\': path}}  # <&>'
    for n in range(26)
)
"""About 2 KB of code, with quotes, tabs, backslashes, braces and angle brackets."""

CLOSERS = (
    "write </tool_call> and </function> here, then </parameter></arg_value></tool_calls> "
    "<tool_call> [/TOOL_CALLS] ```"
)


def tool(name: str, description: str, properties: JsonObject, **more: JsonValue) -> JsonObject:
    """Return a tool in the shape of the API; all arguments are required by default."""
    parameters = {"type": "object", "properties": properties, "required": list(properties), **more}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}

WEATHER = tool("get_weather", "The weather of a city.", {"city": _STRING, "days": _INTEGER})
ADD = tool("add", "Add two numbers.", {"a": _INTEGER, "b": _INTEGER})
WRITE = tool("write_file", "Write a file.", {"path": _STRING, "content": _STRING})
PING = tool("ping", "See whether the host is up.", {})
PAINT = tool(
    "paint", "Paint a wall.", {"colour": {"type": "string", "enum": ["red", "green"]}},
    additionalProperties=False,
)  # fmt: skip
RECORD = tool(
    "record",
    "Keep a record.",
    {
        "name": _STRING,
        "arguments": {"type": "object", "properties": {"name": _STRING}, "required": ["name"]},
    },
)
TYPED = tool(
    "typed",
    "Keep values of many types.",
    {
        "integer": _INTEGER,
        "whole": {"type": "number"},
        "large": _INTEGER,
        "fraction": {"type": "number"},
        "yes": {"type": "boolean"},
        "null_word": _STRING,
        "digits": _STRING,
        "true_word": _STRING,
        "padded": _STRING,
        "choice": {"type": "string", "enum": ["fast", "slow"]},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "nested": {"type": "object", "properties": {"list": {"type": "array", "items": _INTEGER}}},
        "no_items": {"type": "array", "items": _STRING},
        "empty": _STRING,
    },
)
TYPED_VALUES: JsonObject = {
    "integer": 7,
    "whole": 3.0,
    "large": 2**62 + 1,
    "fraction": 0.1,
    "yes": True,
    "null_word": "null",
    "digits": "007",
    "true_word": "true",
    "padded": "  two blanks  ",
    "choice": "slow",
    "maybe": None,
    "nested": {"list": [1, 2, 3]},
    "no_items": [],
    "empty": "",
}
OFFERED = (WEATHER, ADD, WRITE, PING)
"""The tools that most requests offer: the model has a choice, so a wrong choice shows."""


def line(call: WantedCall) -> str:
    """Return the prompt line that requests a call."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return f"Call the tool {call.name} with exactly these arguments: {arguments}"


def user(text: JsonValue) -> JsonObject:
    return {"role": "user", "content": text}


def echo(
    name: str, *calls: WantedCall, tools: tuple[JsonObject, ...] = OFFERED, **more: Any
) -> Ask:
    """Return a request to copy these calls; `max_tokens` is about twice what they need."""
    text = "\n".join(line(call) for call in calls)
    size = 96 + sum(len(line(call).encode()) for call in calls)
    return Ask(name, (user(text),), tools, calls, max_tokens=size, **more)


def both(ask: Ask, *, quick_streamed: bool = False) -> tuple[Ask, Ask]:
    """Return the request without and with streaming; the two are sent one after the other."""
    return ask, replace(ask, streamed=True, quick=quick_streamed)


_WEATHER_CALL = WantedCall("get_weather", {"city": "Oslo", "days": 2})
_ADD_CALL = WantedCall("add", {"a": 2, "b": 3})
_NOTE_CALL = WantedCall("write_file", {"path": "notes.txt", "content": "buy bread and milk"})


def _write(content: str) -> WantedCall:
    return WantedCall("write_file", {"path": "a.txt", "content": content})


ONE = both(echo("one call", _WEATHER_CALL, quick=True), quick_streamed=True)
SUM = both(echo("integers", _ADD_CALL, quick=True))
NOTE = both(echo("two strings", _NOTE_CALL, quick=True))
GATE = (ONE, SUM, NOTE)
"""The calls that a model has to copy before it is tested further."""

UNPARSED = replace(ONE[0], name="one call, not parsed", more={"tool_choice": "none"})
"""What a server that lacks the flags of its parser still answers, as the model writes it."""

HELLO = both(Ask("no call wanted", (user("Say hello."),), OFFERED, max_tokens=64, quick=True))
EMPTY = both(echo("no arguments", WantedCall("ping", {}), quick=True), quick_streamed=True)
TWO = both(echo("two calls", _WEATHER_CALL, _ADD_CALL, quick=True), quick_streamed=True)
TWO_REFUSED = echo(
    "one call at a time", _WEATHER_CALL, _ADD_CALL, more={"parallel_tool_calls": False}, quick=True
)
TYPES = both(echo("values of 14 types", WantedCall("typed", TYPED_VALUES), tools=(TYPED, ADD)))
HOSTILE = (
    both(echo("closers in a value", _write(CLOSERS), quick=True), quick_streamed=True),
    both(echo("quotes and line ends", _write('a "b"\n\t\\n \\ \'c\'\r\n{"d": [}'))),
    both(echo("other scripts", _write("naïve café 北京の天気は晴れ — Ωμέγα 👩‍🚀🎉 \\u00e9"))),
    both(
        echo(
            "keys called name and arguments",
            WantedCall("record", {"name": "add", "arguments": {"name": "ping"}}),
            tools=(RECORD, ADD, PING),
        )
    ),
    both(echo("2 KB of code", _write(CODE))),
)

_CHOICE = (user("Say hello."),)
NAMED: JsonObject = {"type": "function", "function": {"name": "add"}}
NONE_PLAIN = Ask(
    "choice none", _CHOICE, OFFERED, max_tokens=64, more={"tool_choice": "none"}
)  # fmt: skip
NONE_ECHO = echo("choice none against a call", _ADD_CALL, more={"tool_choice": "none"}, quick=True)
REQUIRED = both(
    Ask(
        "choice required", _CHOICE, OFFERED, max_tokens=120, more={"tool_choice": "required"},
        quick=True,
    )
)  # fmt: skip
CHOSEN = Ask(
    "choice named", _CHOICE, OFFERED, max_tokens=120, more={"tool_choice": NAMED}, quick=True
)
UNKNOWN_CHOICE = Ask(
    "choice unknown", _CHOICE, OFFERED, max_tokens=16, more={"tool_choice": "whatever"}
)


_POINT = {"type": "object", "properties": {"x": _INTEGER}}
_KEYWORDS: tuple[tuple[str, JsonObject, JsonObject], ...] = (
    ("$ref", {"at": {"$ref": "#/$defs/point"}}, {"$defs": {"point": _POINT}}),
    ("boolean subschema", {"anything": True}, {}),
    ("list of types", {"value": {"type": ["string", "null"]}}, {}),
    ("pattern", {"code": {"type": "string", "pattern": "^[A-Z]{3}$"}}, {}),
)
SCHEMAS = tuple(
    Ask(
        name,
        _CHOICE,
        (tool("look_up", "Look something up.", properties, **more),),
        max_tokens=SCHEMA_TOKENS,
        quick=name == "boolean subschema",
    )
    for name, properties, more in _KEYWORDS
)
STRICT = replace(
    echo("strict", WantedCall("paint", {"colour": "blue"})),
    tools=({"type": "function", "function": {**PAINT["function"], "strict": True}},),
)
NAMES = tuple(
    echo(kind, WantedCall(name, {"a": 2}), tools=(tool(name, "Count.", {"a": _INTEGER}), ADD))
    for kind, name in (
        ("a name with dashes", "count-all-files"),
        ("a name of 64 characters", "count_" + "x" * 58),
        ("a name with a dot", "files.count"),
    )
)
CUT = both(
    replace(
        echo("a call that is cut", _write("buy bread and milk, " * 8 + "and tea")),
        max_tokens=CUT_TOKENS,
    )
)
THINK = both(
    replace(
        echo("think, then call", _WEATHER_CALL),
        messages=(user(f"Think about it first, in one sentence. Then:\n{line(_WEATHER_CALL)}"),),
        max_tokens=400,
    )
)


def _past(content: JsonValue, arguments: str, result: JsonValue) -> tuple[JsonObject, ...]:
    """Return a conversation in which a tool was called and gave a result."""
    function = {"name": "ping", "arguments": arguments}
    call = {"id": "call00001", "type": "function", "function": function}
    return (
        user("Is the host up?"),
        {"role": "assistant", "content": content, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call00001", "content": result},
        user("And now?"),
    )


def _two_results() -> tuple[JsonObject, ...]:
    calls = [
        {"id": f"call0000{n}", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
        for n in (1, 2)
    ]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": "up"} for call in reversed(calls)
    ]
    calling = {"role": "assistant", "content": None, "tool_calls": calls}
    return user("Are both hosts up?"), calling, *results, user("And now?")


def _one_token(name: str, messages: tuple[JsonObject, ...], *, quick: bool = False) -> Ask:
    return Ask(name, messages, OFFERED, max_tokens=1, quick=quick)


_LATE = {"role": "system", "content": "Be brief."}
_PARTS = [{"type": "text", "text": TEXT}]
_LONG_ARGUMENTS = json.dumps({"note": TEXT})

PAST = _one_token("a past call", _past("", "{}", "up"), quick=True)
PAST_EMPTY = _one_token('past arguments ""', _past("", "", "up"), quick=True)
PAST_NULL = _one_token("past content null", _past(None, "{}", "up"))
PAST_PARTS = _one_token("a result in parts", _past("", "{}", [{"type": "text", "text": "up"}]))
PAST_TWO = _one_token("two results, the last first", _two_results())
PAST_SYSTEM = _one_token("a late system message", (*_CHOICE, _LATE, user("Say it again.")))
HISTORY = (PAST, PAST_EMPTY, PAST_NULL, PAST_PARTS, PAST_TWO, PAST_SYSTEM)

PLAIN = Ask("no tools", _CHOICE, max_tokens=1, quick=True)
CONTROL = Ask("no tools, a longer text", (user(f"Say hello. {TEXT}"),), max_tokens=1, quick=True)
IN_PARTS = Ask(
    "a text in parts", (user([{"type": "text", "text": "Say hello. "}, *_PARTS]),), max_tokens=1
)
ONE_TOOL = Ask(
    "one tool", _CHOICE, (tool("look_up", TEXT, {"word": _STRING}),), max_tokens=1, quick=True
)
MANY_TOOLS = Ask(
    f"{MANY} tools",
    _CHOICE,
    tuple(tool(f"look_up_{n}", TEXT, {"word": _STRING}) for n in range(MANY)),
    max_tokens=1,
)
LONG_ARGUMENTS = _one_token("long past arguments", _past("", _LONG_ARGUMENTS, "up"))
LONG_RESULT = _one_token("a long result", _past("", "{}", TEXT), quick=True)
LONG_CONTENT = _one_token("long content beside a past call", _past(TEXT, "{}", "up"))

CODE_WORD = "quay-7193"
_CODE_SENTENCE = f"The code of today is {CODE_WORD}."
_WHICH = user("Which code is that of today? Say the code, and nothing else.")
_FROM_RESULT = (*_past("", "{}", _CODE_SENTENCE)[:3], _WHICH)
FROM_RESULT = replace(_one_token("a code in a result", _FROM_RESULT), max_tokens=64)
"""A request whose answer is only in the tool's result."""
FROM_MESSAGE = replace(
    _one_token("a code in a message", (user(_CODE_SENTENCE), _WHICH)), max_tokens=64
)
"""A control without a tool: it shows whether this model repeats what it reads."""

NO_MODEL = "no-such-model-as-this"
BAD_MODEL = Ask("a model that is not there", _CHOICE, max_tokens=1, more={"model": NO_MODEL})
