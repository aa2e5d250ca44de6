"""What a model is asked: the system message, the tools, the question, and the second attempt.

`ask` says how the tools are given:

    api      by the API, in the field `tools`
    prompt   in the system message, with instructions to write calls in a wire format
    schema   in the system message, and the answer is bound to a JSON schema of all calls
             (constrained decoding): one call, a list of calls, or {"answer": text}

Under `prompt` a grammar may be sent besides, which the calls have to fit. The system message, the
tools, the schema and the grammar are made once for a suite. The words are in `prompts.toml`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import orjson
from pydantic import TypeAdapter

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.files.plain_files import table_of
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import format_named, instructions, parser_for, render
from tunaeval.parsing.constraint import Constraint, breach, constrain, takes_prose
from tunaeval.tasks.suites.variables import filled_prompt
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.exchange import Reply, text_of
from tunaeval.types.roles import Parser
from tunaeval.types.runs import Scenario, Suite

Ask: TypeAlias = Literal["api", "prompt", "schema"]
ASKS: tuple[Ask, ...] = get_args(Ask)

CONSTRAINED = "constrained decoding"

FIELDS = ("grammar", "structured_outputs", "ebnf")
"""The fields of llama.cpp, vLLM and SGLang for a grammar. All are sent: each server ignores those
of the others.

https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
https://docs.vllm.ai/en/latest/features/structured_outputs/
https://docs.sglang.io/docs/advanced_features/structured_outputs.md
"""
_SHAPES: dict[str, Callable[[Constraint], JsonValue]] = {
    "structured_outputs": lambda made: {"structural_tag": made.as_tag()},
    "response_format": lambda made: json.loads(made.as_tag()),
}
"""What is in a field that does not have the grammar's text as it is."""
_TAKEN = frozenset({
    "model", "messages", "max_tokens", "temperature", "seed", "tools", "tool_choice", "stream",
    "stream_options",
})  # fmt: skip
"""Fields that a request has already."""

_WORDS = table_of(__package__, "prompts.toml")
RETRY: str = _WORDS["retry"]


@dataclass(frozen=True, slots=True)
class Asking:
    """The parts of a request that are the same for all questions of a suite."""

    ask: Ask
    opening: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] | None
    schema: JsonObject | None
    heading: str | None
    digest: str
    """SHA-256 of everything that a model gets besides the questions."""
    remade: Callable[[Suite], Asking]
    """Makes the same kind of `Asking` for another suite."""
    fields: JsonObject | None = None
    """The fields of the request's body with the grammar."""
    omitted: tuple[str, ...] = ()
    """What the grammar does not enforce."""
    breach: Callable[[Reply], str | None] = lambda _: None
    """Returns what in a reply breaks the grammar, or None."""

    def messages(self, prompt: str, earlier: Sequence[JsonObject] = ()) -> list[JsonObject]:
        """Return the messages of a first attempt; two system messages are merged into one. Without
        a prompt the last of the earlier messages, a tool's result, is to be answered.
        """
        opening, before = list(self.opening), list(earlier)
        if opening and before and opening[0]["role"] == before[0]["role"] == "system":
            both = f"{before.pop(0)['content']}\n\n{opening[0]['content']}"
            opening[0] = {"role": "system", "content": both}
        asked = [{"role": "user", "content": prompt}] if prompt or not before else []
        return [*opening, *before, *asked]


def asking(
    suite: Suite,
    ask: Ask = "api",
    *,
    form: str | Format = "hermes",
    examples: Sequence[Example] | None = None,
    constrain: bool | str = False,
) -> Asking:
    """Prepare what is the same in all requests of a suite.

    `form` is the wire format of calls if `ask` is "prompt"; `examples` are turns shown before the
    question, by default a few if `ask` is "schema", and none otherwise. `constrain` sends a grammar
    of the calls, see `RunOptions`. Raises UnknownNameError.
    """
    if ask not in ASKS:
        raise UnknownNameError("way to ask", ask, ASKS)
    if examples is None:
        examples = EXAMPLES if ask == "schema" else ()
    given = instructions(suite.tools, form) if ask == "prompt" else ""
    if ask == "schema":
        given = _WORDS["schema"].format(tools="\n".join(map(_signature, suite.tools.values())))
    opening: list[JsonObject] = []
    system = "\n\n".join(part for part in (suite.system_prompt.strip(), given) if part)
    if system:
        opening.append({"role": "system", "content": system})
    for example in fitting(examples, suite.tools):
        opening.append({"role": "user", "content": example.question})
        opening.append({"role": "assistant", "content": _example_answer(example, ask, form)})
    tools = tuple(suite.tools.as_openai()) if ask == "api" and suite.tools else None
    schema = call_schema(suite.tools) if ask == "schema" else None
    bound = _bound(suite.tools, form, constrain) if constrain and suite.tools else {}
    sent = [bound["fields"]] if bound else []
    everything = json.dumps([opening, tools, schema, RETRY, *sent], sort_keys=True)
    return Asking(
        ask=ask,
        opening=tuple(opening),
        tools=tools,
        schema=schema,
        heading=bound.pop("heading", CONSTRAINED if ask == "schema" else None),
        digest=hashlib.sha256(everything.encode()).hexdigest(),
        remade=partial(asking, ask=ask, form=form, examples=examples, constrain=constrain),
        **bound,
    )


def asked_by(asking: Asking, suite: Suite, scenario: Scenario, tools: Tools) -> Asking:
    """Return what a scenario is asked with, with these tools; the system prompt is filled with its
    variables.
    """
    own = suite if tools is suite.tools else suite.with_(tools=tools)
    prompt = filled_prompt(own.system_prompt, scenario.vars)
    if prompt != own.system_prompt:
        own = own.with_(system_prompt=prompt)
    return asking if own is suite else asking.remade(own)


def asking_by(suite: Suite, ask: Ask, parser: Parser | Format, constrain: bool | str) -> Asking:
    """Prepare the requests of a run whose replies this parser reads."""
    if not constrain:
        return asking(suite, ask)
    form = format_named(reader_of_bound(parser, constrain))
    return asking(suite, ask, form=form, constrain=constrain)


def reader_of_bound(parser: Parser | Format, constrain: bool | str) -> Parser:
    """Return what reads the replies: for `auto` with a grammar it is `hermes` alone, as a grammar
    has calls of one format, and a call of another one is prose to it.
    """
    if isinstance(parser, Format):
        return parser_for(parser)
    return parser_for("hermes") if constrain and parser.name == "auto" else parser


def constrained_by(constrain: bool | str) -> tuple[str, ...]:
    """Return the names of the fields that have the grammar. Raise UsageError for another value."""
    if isinstance(constrain, bool):
        return FIELDS if constrain else ()
    if not (type(constrain) is str and constrain) or constrain in _TAKEN:
        raise UsageError(
            f"constrain is {constrain!r:.60}; wanted True, False, or the field in which the server "
            "takes a grammar, such as 'grammar', and no other part of the request is"
        )
    return (constrain,)


def _bound(tools: Tools, form: str | Format, by: bool | str) -> dict[str, Any]:
    """Return the parts of an `Asking` that bind its replies to a grammar of calls."""
    form = format_named(form)
    text: Literal["before", "none"] = "before" if takes_prose(form) else "none"
    made = constrain(tools, format=form, kind="gbnf", text=text, allow_looser=True)
    fields = {
        name: _SHAPES[name](made) if name in _SHAPES else made.text for name in constrained_by(by)
    }

    def breach_of(reply: Reply) -> str | None:
        if reply.finish_reason == "length" or reply.message.get("tool_calls"):
            return None  # what was cut off, or read by the server, is not the text that was bound
        return breach(
            text_of(reply.message.get("content")), form, tools, calls_alone=text == "none"
        )

    only = "" if text == "before" else ", calls alone"
    heading = f"{CONSTRAINED} ({form.name}{only})"
    return {"heading": heading, "fields": fields, "omitted": made.omitted, "breach": breach_of}


def retry_prompt(task: str) -> str:
    """Return the message that asks again for a call; the text of the task is inserted unchanged."""
    return RETRY.replace("{task}", task)


def kept_reply(message: Mapping[str, object]) -> JsonObject:
    """Return an assistant's reply as a message that any server accepts.

    Calls become text, because a server demands a result for each call in `tool_calls`, and there is
    none. Null content, lists of parts and reasoning become one text.
    """
    calls = message.get("tool_calls")
    texts = [text_of(message.get("content"))]
    if isinstance(calls, list):
        texts += [_call_text(call) for call in calls]
    content = "\n".join(text for text in texts if text)
    return {"role": "assistant", "content": content or "(no answer)"}


def _call_text(call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return ""
    name, arguments = function.get("name"), function.get("arguments")
    written = arguments if isinstance(arguments, str) else dumped(arguments or {})
    return f'<tool_call>\n{{"name": {dumped(name)}, "arguments": {written}}}\n</tool_call>'


def _example_answer(example: Example, ask: Ask, form: str | Format) -> str:
    if ask == "schema":
        if not example.calls:
            return dumped({"answer": example.words})
        written = [{"name": call.name, "arguments": call.arguments} for call in example.calls]
        return dumped(written if len(written) > 1 else written[0])
    return "\n".join(render([call], form) for call in example.calls) or example.words


def dumped(value: object) -> str:
    """Return a value as JSON text, even if it has wide integers or lone surrogates."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # wide integers and lone surrogates, which a model may write
        return json.dumps(value, default=repr)


def _signature(spec: ToolSpec) -> str:
    """Describe a tool in one line, which small models read better than its schema."""
    properties: Mapping[str, object] = spec.parameters.get("properties", {})
    required = spec.parameters.get("required", ())
    arguments = ", ".join(
        f"{name}{'' if name in required else '?'}: {plain_type(schema)}"
        for name, schema in properties.items()
    )
    return f"- {spec.name}({arguments}): {' '.join(spec.description.split())}"


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and the calls or (if no tool is needed) the text that answers it."""

    question: str
    calls: tuple[ToolCall, ...] = ()
    words: str = ""


def fitting(examples: Iterable[Example], tools: Tools) -> tuple[Example, ...]:
    """Return the examples whose calls these tools can make."""

    def possible(call: ToolCall) -> bool:
        parameters = tools[call.name].parameters if call.name in tools else None
        return (
            parameters is not None
            and call.arguments.keys() <= dict(parameters.get("properties", {})).keys()
            and call.arguments.keys() >= set(parameters.get("required", ()))
        )

    return tuple(one for one in examples if all(map(possible, one.calls)))


EXAMPLES = TypeAdapter(tuple[Example, ...]).validate_python(_WORDS["examples"])

MAX_STRING = 240  # characters of a string argument
MAX_ITEMS = 8
MAX_CALLS = 4

_KEPT = ("type", "enum", "const", "minimum", "maximum", "minItems")
_MAX_DEPTH = 8  # levels of a schema; anything is allowed below


def call_schema(tools: Tools) -> JsonObject:
    """Return a schema for one call, a list of two to four calls, or {"answer": text}."""
    calls = [_call_schema(spec) for spec in tools.values()]
    answer = _object({"answer": {"type": "string", "maxLength": MAX_STRING}}, ["answer"])
    if not calls:
        return answer
    several = {"type": "array", "items": {"anyOf": calls}, "minItems": 2, "maxItems": MAX_CALLS}
    return {"anyOf": [*calls, several, answer]}


def plain_type(schema: object) -> str:
    """Return the type of an argument in a word or two, for people and small models."""
    plain = _plain(schema, 0)
    kind = plain.get("type", "any")
    if kind == "array":
        return f"list of {plain_type(plain['items'])}" if "items" in plain else "list"
    return "/".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _call_schema(spec: ToolSpec) -> JsonObject:
    properties = spec.parameters.get("properties", {})
    arguments = _object(
        {name: _plain(schema, 0) for name, schema in properties.items()},
        [name for name in spec.parameters.get("required", ()) if name in properties],
    )
    return _object({"name": {"const": spec.name}, "arguments": arguments}, ["name", "arguments"])


def _object(properties: Mapping[str, JsonValue], required: list[str]) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        "additionalProperties": False,
    }


def _plain(schema: object, depth: int) -> JsonObject:
    """Return the part of a schema that a grammar can express: no null, and lengths are limited."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return {}
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            branches = [_plain(one, depth + 1) for one in schema[key] if one != {"type": "null"}]
            return branches[0] if len(branches) == 1 else {"anyOf": branches}
    plain: JsonObject = {key: schema[key] for key in _KEPT if key in schema}
    kind = plain.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        kind = plain["type"] = kinds[0] if len(kinds) == 1 else kinds
    if kind == "string" and "enum" not in plain:
        plain["maxLength"] = min(MAX_STRING, schema.get("maxLength", MAX_STRING))
    if kind == "array":
        plain["items"] = _plain(schema.get("items"), depth + 1)
        plain["maxItems"] = min(MAX_ITEMS, schema.get("maxItems", MAX_ITEMS))
    if kind == "object":
        plain |= _plain_object(schema, depth)
    return plain


def _plain_object(schema: Mapping[str, JsonValue], depth: int) -> JsonObject:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and properties:
        inner = {name: _plain(item, depth + 1) for name, item in properties.items()}
        return _object(inner, [name for name in schema.get("required", ()) if name in inner])
    extra = schema.get("additionalProperties", True)
    return {"additionalProperties": _plain(extra, depth + 1) if isinstance(extra, dict) else extra}
