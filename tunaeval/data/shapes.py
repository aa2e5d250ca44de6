"""The shapes of rows in public data sets: how each is recognized, and how it is read.

openai          messages, tools as objects, as text or as a list of texts; When2Call's SFT rows
sharegpt        conversations of from/value, calls in the text, tools in the system's turn (Hermes)
llama-factory   conversations with function_call and observation (LLaMA-Factory, APIGen-MT)
xlam            query, answers and tools, the last two as JSON text (xLAM, APIGen)
toolace         system with a list of tools in it, calls as `[Get Weather(city="Oslo")]`
glaive          system and one text with the names of the speakers (Glaive v2)
when2call       messages and a chosen response (preferences), or a question and its answers
trl             prompt and completion, texts or messages

Names of ToolACE's tools may contain spaces, which no wire format allows. They are replaced by
identifiers before the text is parsed, and put back afterwards. In Glaive's text, arguments are JSON
text in single quotes, which belong to this shape and do not count as a repair:

    USER: ... ASSISTANT: <functioncall> {"name": "f", "arguments": '{"a": 1}'} <|endoftext|>
    FUNCTION RESPONSE: {"b": 2} ASSISTANT: ... <|endoftext|>
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tunaeval.errors import ToolsError, UsageError
from tunaeval.parsing.api import parse, parse_message
from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.values import Unreadable, scan
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.exchange import foreign_calls, text_of
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis
from tunaeval.types.wanted import wanted_name

from .rows import Fault, Raw, Row, Source, UnreadableRowError, raw_rows

_SPEAKER = re.compile(r"(?:^|\n|(?<=\s)|(?<=\|>))(USER|ASSISTANT|FUNCTION RESPONSE|SYSTEM): ?")
_SPEAKERS = {
    "USER": "user",
    "ASSISTANT": "assistant",
    "FUNCTION RESPONSE": "tool",
    "SYSTEM": "system",
}
_GLAIVE_CALL = "<functioncall>"
_GLAIVE_END = "<|endoftext|>"


def glaive_messages(system: str, chat: str) -> Iterator[JsonObject]:
    """Yield the messages of a Glaive row, without speakers' names and end markers."""
    prompt = system.strip().removeprefix("SYSTEM:").strip()
    if prompt:
        yield {"role": "system", "content": prompt}
    turns = [*_SPEAKER.finditer(chat)]
    if not turns or chat[: turns[0].start()].strip():
        raise UnreadableRowError(f"the chat begins with {chat[:40]!r}, wanted a speaker (USER:)")
    ends = [turn.start() for turn in turns[1:]] + [len(chat)]
    for turn, end in zip(turns, ends, strict=True):
        text = chat[turn.end() : end].strip().removesuffix(_GLAIVE_END).strip()
        if turn[1] == "ASSISTANT" and _GLAIVE_CALL in text:
            before, *written = text.split(_GLAIVE_CALL)
            calls = [_glaive_call(one.replace(_GLAIVE_END, "").strip()) for one in written]
            yield {"role": "assistant", "content": before.strip(), "tool_calls": calls}
        else:
            yield {"role": _SPEAKERS[turn[1]], "content": text}


def _glaive_call(written: str) -> ToolCall:
    read = read_json(written)
    value = None if isinstance(read, Unreadable) else read.value
    arguments = value.get("arguments", {}) if isinstance(value, dict) else None
    if isinstance(arguments, str) and arguments.strip():
        inner = read_json(arguments)
        arguments = None if isinstance(inner, Unreadable) else inner.value
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise UnreadableRowError(f"{written!r:.60} is no call with a name")
    if not isinstance(arguments or {}, dict) or arguments is None:
        raise UnreadableRowError(f"{written!r:.60} has arguments that cannot be read")
    return ToolCall(value["name"], arguments or {})


_QUOTES = "\"'"


def tools_in(system: str) -> list[Any] | None:
    """Return the tools that a prompt contains as JSON objects, or lists of them; None if none."""
    found: list[Any] = []
    at = 0
    for _ in range(_MOST_TRIES):
        starts = [place for mark in "[{" if (place := system.find(mark, at)) >= 0]
        if not starts:
            break
        at = min(starts)
        read = scan(system, at)
        if isinstance(read, Unreadable):
            at += 1
            continue
        value, at = read[0], read[1]
        items = value if isinstance(value, list) else [value]
        if items and all(isinstance(one, Mapping) and _is_tool(one) for one in items):
            found += items
    return found or None


_MOST_TRIES = 1_000
"""How many brackets are tried: a prompt of only brackets would take quadratic time."""


def _is_tool(value: Mapping[str, Any]) -> bool:
    inner = value.get("function", value)
    return isinstance(inner, Mapping) and "name" in inner and "parameters" in inner


def pythonic_calls(turns: Iterable[JsonObject], listed: list[Any] | None) -> Iterator[JsonObject]:
    """Yield the messages; calls in a model's text become `ToolCall`s. Raises UnreadableRowError."""
    try:
        tools = to_tools(listed) if listed else None
    except ToolsError as error:
        raise UnreadableRowError(f"its tools cannot be understood: {error}") from error
    names = {name: f"tool_{index}" for index, name in enumerate(tools or ())}
    odd = {name: short for name, short in names.items() if not name.isidentifier()}
    for index, message in enumerate(turns):
        content = message.get("content")
        if message.get("role") != "assistant" or not isinstance(content, str):
            yield message
            continue
        if not content.lstrip().startswith("["):
            yield message
            continue
        yield _called(content, tools, odd, index)


def _called(content: str, tools: Tools | None, odd: Mapping[str, str], index: int) -> JsonObject:
    text = _renamed(content, odd)
    known = None
    if tools is not None:
        kept = [spec for name, spec in tools.items() if name not in odd]
        short = [replace(tools[name], name=one) for name, one in odd.items()]
        # Other tools that the text calls are added, so that no call is taken for prose.
        called = {call.name for call in parse(text, "llama4-pythonic").calls}
        more = sorted(called - {spec.name for spec in (*kept, *short)})
        known = Tools([*kept, *short, *map(ToolSpec, more)])
    result = parse(text, "llama4-pythonic", known)
    if not result.calls:
        if result.outcome == "no_call" and "(" not in content:
            return {"role": "assistant", "content": content}
        why = result.diagnoses[0].message if result.diagnoses else "its calls cannot be read"
        raise UnreadableRowError(f"message {index}, {content!r:.60}: {why}")
    if result.content.lstrip()[:1] == ",":
        raise UnreadableRowError(f"message {index}: {result.content!r:.60} is no call")
    own = {short: name for name, short in odd.items()}
    calls = [replace(call, name=own.get(call.name, call.name)) for call in result.calls]
    return {"role": "assistant", "content": result.content, "tool_calls": calls}


def _renamed(text: str, odd: Mapping[str, str]) -> str:
    """Return the text with `odd` names replaced, before a parenthesis and outside of quotes."""
    if not odd:
        return text
    names = sorted(odd, key=len, reverse=True)
    parts, at, start = [], 0, 0
    quote = ""
    while at < len(text):
        character = text[at]
        if quote:
            at += 1 + (character == "\\")
            quote = "" if character == quote else quote
            continue
        found = next((name for name in names if text.startswith(f"{name}(", at)), None)
        if found is not None and text[:at].rstrip()[-1:] in {"[", ",", ""}:
            parts += [text[start:at], odd[found]]
            at = start = at + len(found)
            continue
        quote = character if character in _QUOTES else ""
        at += 1
    return "".join([*parts, text[start:]])


Said = Iterable[JsonObject]
"""Messages in OpenAI's shape; the text of an assistant may still contain its calls."""

_ROLES = {
    "human": "user", "user": "user", "system": "system", "gpt": "assistant", "model": "assistant",
    "assistant": "assistant", "ai": "assistant", "function_call": "function_call",
    "tool_call": "function_call", "observation": "tool", "tool": "tool", "function": "tool",
    "tool_response": "tool", "ipython": "tool", "developer": "developer",
}  # fmt: skip


def read_rows(source: Source, shape: str = "auto") -> Iterator[Row | Fault]:
    """Yield the rows of a data set in order, each as a `Row`, or as a `Fault` with the reason.

    `source` is a path (`.jsonl`, `.json`, `.parquet`), or rows: a list of dictionaries, an object
    of `datasets`, an Arrow table. `shape` is one of `SHAPES`; "auto" detects it for each row. As
    many rows are yielded as the source has, and only one at a time is in memory.

    Examples:
        >>> rows = read_rows([{"query": "?", "answers": "[]", "tools": "[]"}])
        >>> next(rows).shape
        'xlam'

    Raises `UsageError` for a file that cannot be opened, and `UnknownNameError` for the shape.
    """
    wanted_name(shape, "shape", ("auto", *SHAPES))
    return (read_row(raw, number, shape) for number, raw in enumerate(raw_rows(source), 1))


def read_row(raw: Raw, number: int = 1, shape: str = "auto") -> Row | Fault:
    """Read one row. Never raises for its content."""
    if raw.fault is not None:
        return Fault(number, raw.fault, raw.value, raw.line)
    if not isinstance(raw.value, dict):
        why = f"a row is an object, not {type(raw.value).__name__}"
        return Fault(number, why, raw.value, raw.line)
    found = shape_of(raw.value) if shape == "auto" else shape
    if found is None:
        return Fault(number, _shapeless(raw.value), raw.value, raw.line)
    try:
        messages, tools, notes = _read(*SHAPES[found](raw.value))
    except (UnreadableRowError, ToolsError, UsageError, RecursionError) as error:
        return Fault(number, f"{found}: {error}", raw.value, raw.line)
    except (TypeError, AttributeError, KeyError, ValueError, IndexError) as error:
        why = f"{found}: not of this shape ({type(error).__name__}: {error})"
        return Fault(number, why, raw.value, raw.line)
    return Row(number, found, messages, tools, notes, raw.value, raw.line)


def _shapeless(row: JsonObject) -> str:
    for key in ("messages", "conversations", "conversation"):
        if key in row:
            return f"its {key!r} is {brief(row[key], 40)}, wanted a list of messages"
    if not row:
        return "the row is an empty object"
    keys = ", ".join(repr(str(key)[:40]) for key in [*row][:8])
    return f"no shape is known that has {keys}; the shapes are {', '.join(SHAPES)}"


def shape_of(row: Mapping[str, Any]) -> str | None:
    """Return the shape of a row, judged by its keys, or None if no known shape has them."""
    if isinstance(row.get("conversations", row.get("conversation")), list):
        turns = row.get("conversations", row.get("conversation")) or []
        if any(_get(one, "from") in ("function_call", "observation") for one in turns):  # or null
            return "llama-factory"
        system = row.get("system")
        in_system = isinstance(system, str) and "<tools>" not in system and not row.get("tools")
        return "toolace" if in_system else "sharegpt"
    if "correct_answer" in row or "chosen_response" in row:
        return "when2call"
    if isinstance(row.get("messages"), list):
        return "openai"
    if "query" in row and "answers" in row:
        return "xlam"
    if isinstance(row.get("chat"), str):
        return "glaive"
    return "trl" if "prompt" in row and ("completion" in row or "chosen" in row) else None


def _read(
    turns: Said, tools: Any
) -> tuple[tuple[Message, ...], Tools | None, tuple[tuple[int, Diagnosis], ...]]:
    known = to_tools(tools) if tools else None
    messages: list[Message] = []
    notes: list[tuple[int, Diagnosis]] = []
    for index, message in enumerate(turns):
        if not isinstance(message, Mapping):
            raise UnreadableRowError(f"message {index} is {type(message).__name__}, not an object")
        if message.get("role") == "assistant":
            _refuse_empty(message, index)
            read, odd = _reply(message, known)
            notes += [(index, note) for note in odd]
        else:
            read = _other(message, index)
        messages.append(read)
    if not messages:
        raise UnreadableRowError("there is no message in it")
    return tuple(messages), known, tuple(notes)


def _reply(message: Mapping[str, Any], tools: Tools | None) -> tuple[Message, Iterable[Diagnosis]]:
    """Return an assistant's message and its diagnoses; `ToolCall`s in it are read already."""
    made = message.get("tool_calls")
    if isinstance(made, list) and made and all(isinstance(one, ToolCall) for one in made):
        return Message("assistant", message.get("content") or "", tuple(made)), ()
    result = parse_message(message, tools=tools)
    message_ = Message("assistant", result.content, result.calls, reasoning=result.reasoning)
    return message_, result.diagnoses


def _refuse_empty(message: Mapping[str, Any], index: int) -> None:
    """Raise UnreadableRowError unless the message has text, parts or calls in OpenAI's shape."""
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        raise UnreadableRowError(
            f"message {index} has the content {brief(content, 40)}, wanted a text"
        )
    if content is None and not any(message.get(key) for key in _IN_PLACE_OF_WORDS):
        raise UnreadableRowError(f"message {index}, of the model, has neither content nor calls")
    items = message.get("tool_calls")
    if kinds := foreign_calls(content, items if isinstance(items, list) else ()):
        raise UnreadableRowError(
            f"message {index} has a {kinds[0]!r} part, a call of another API; wanted tool_calls"
        )


_IN_PLACE_OF_WORDS = (
    "tool_calls", "function_call", "reasoning_content", "reasoning", "thinking", "refusal", "audio",
)  # fmt: skip


def _other(message: Mapping[str, Any], index: int) -> Message:
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        known = "user, assistant, tool, system or developer"
        raise UnreadableRowError(f"message {index} has the role {brief(role, 40)}, wanted {known}")
    content, result = message.get("content"), _ROLES[role] == "tool"
    if result and isinstance(content, Mapping | list):
        content = json.dumps(content, ensure_ascii=False)
    if content is not None and not isinstance(content, str | list):
        raise UnreadableRowError(
            f"message {index} has the content {brief(content, 40)}, wanted a text"
        )
    id_ = message.get("tool_call_id")
    return Message(role, text_of(content), tool_call_id=id_ if isinstance(id_, str) else None)


def _sharegpt(row: JsonObject) -> tuple[Said, Any]:
    turns = [*_conversation(row)]
    return turns, row.get("tools") or _listed_tools(turns)


def _listed_tools(turns: Iterable[JsonObject]) -> list[Any] | None:
    """Return the tools between `<tools>` and `</tools>` in the system prompt, as Hermes writes."""
    for message in turns:
        content = message.get("content")
        if message.get("role") != "system" or not isinstance(content, str):
            continue
        listed = content.rpartition("</tools>")[0].rpartition("<tools>")[2]
        if listed.strip() and (found := tools_in(listed)):
            return found
    return None


def _conversation(row: JsonObject) -> Iterator[JsonObject]:
    if isinstance(row.get("system"), str) and row["system"]:
        yield {"role": "system", "content": row["system"]}
    turns = row.get("conversations", row.get("conversation"))
    if not isinstance(turns, list):
        raise UnreadableRowError("there are no conversations in it")
    for index, one in enumerate(turns):
        speaker, value = _get(one, "from") or _get(one, "role"), _get(one, "value")
        value = _get(one, "content") if value is None else value
        role = _ROLES.get(speaker) if isinstance(speaker, str) else None
        if role is None:
            raise UnreadableRowError(
                f"message {index} is from the unknown speaker {brief(speaker, 40)}"
            )
        if role == "function_call":
            yield {
                "role": "assistant",
                "content": None,
                "tool_calls": _written(value, f"message {index}"),
            }
        else:
            yield {"role": role, "content": value}


def _written(value: JsonValue, where: str) -> list[JsonObject]:
    """Return the calls in a message of calls alone: an object, a list, or JSON text of either."""
    if isinstance(value, str):
        read = read_json(value)
        if isinstance(read, Unreadable):
            raise UnreadableRowError(f"{where} is a call that is no JSON: {read.message}")
        value = read.value
    calls = value if isinstance(value, list) else [value]
    if not calls or not all(isinstance(call, Mapping) for call in calls):
        raise UnreadableRowError(f"{where} is {brief(value)}, wanted a call or a list of them")
    return [call if "function" in call else {"function": call} for call in calls]


def _xlam(row: JsonObject) -> tuple[Said, Any]:
    answers = row["answers"]
    turns: list[JsonObject] = [{"role": "user", "content": row["query"]}]
    calls = _written(answers, "'answers'") if answers not in ("", "[]", [], None) else []
    turns.append({"role": "assistant", "content": "", **({"tool_calls": calls} if calls else {})})
    return turns, row.get("tools")


def _toolace(row: JsonObject) -> tuple[Said, Any]:
    tools = tools_in(row["system"])
    return pythonic_calls(_conversation(row), tools), tools


def _glaive(row: JsonObject) -> tuple[Said, Any]:
    system = row.get("system") or ""
    return glaive_messages(system, row["chat"]), tools_in(system)


def _when2call(row: JsonObject) -> tuple[Said, Any]:
    if "chosen_response" in row:
        chosen = row["chosen_response"]
        if isinstance(chosen, str):
            chosen = {"role": "assistant", "content": chosen}
        return [*row["messages"], chosen], row.get("tools")
    answer = row["answers"][row["correct_answer"]]
    turns = [{"role": "user", "content": row["question"]}, {"role": "assistant", "content": answer}]
    return turns, row.get("tools")


def _trl(row: JsonObject) -> tuple[Said, Any]:
    completion = row.get("completion", row.get("chosen"))
    if isinstance(completion, str):
        completion = [{"role": "assistant", "content": completion}]
    prompt = row["prompt"]
    prompts = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt or []
    return [*prompts, *(completion or ())], row.get("tools")


def _get(thing: object, key: str) -> Any:
    return thing.get(key) if isinstance(thing, Mapping) else None


SHAPES: Mapping[str, Callable[[JsonObject], tuple[Said, Any]]] = {
    "openai": lambda row: (row["messages"], row.get("tools") or row.get("functions")),
    "sharegpt": _sharegpt,
    "llama-factory": lambda row: (_conversation(row), row.get("tools")),
    "xlam": _xlam,
    "toolace": _toolace,
    "glaive": _glaive,
    "when2call": _when2call,
    "trl": _trl,
}
"""The function for each shape that turns a row into messages and tools."""
