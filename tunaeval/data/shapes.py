"""The shapes of rows in public data sets: how each is recognized, and how it is read.

openai          messages, tools as objects, as text or as a list of texts; When2Call's SFT rows
sharegpt        conversations of from/value, calls in the text, tools in the system's turn (Hermes)
llama-factory   conversations with function_call and observation (LLaMA-Factory, APIGen-MT)
xlam            query, answers and tools, the last two as JSON text (xLAM, APIGen)
toolace         system with a list of tools in it, calls as Python writes them
glaive          system and one text: USER, ASSISTANT, FUNCTION RESPONSE (Glaive v2)
when2call       messages and a chosen response (preferences), or a question and its answers
trl             prompt and completion, texts or messages
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tunaeval.errors import ToolsError, UsageError
from tunaeval.parsing.api import parse_message
from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.values import Unreadable
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools
from tunaeval.types.exchange import foreign_calls, text_of
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis
from tunaeval.types.wanted import wanted_name

from .glaive import glaive_messages
from .pythonic import pythonic_calls, tools_in
from .rows import Fault, Row, UnreadableRowError
from .sources import Raw, Source, raw_rows

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
    """Read an assistant's message; a call that the shape's own reader made is a `ToolCall`."""
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
        raise UnreadableRowError(f"message {index} is of the model, without content and calls")
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


def _openai(row: JsonObject) -> tuple[Said, Any]:
    return row["messages"], row.get("tools") or row.get("functions")


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


def _llama_factory(row: JsonObject) -> tuple[Said, Any]:
    return _conversation(row), row.get("tools")


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
                f"message {index} is from {brief(speaker, 40)}, which is nobody known"
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
    turns = [
        {"role": "user", "content": row["question"]},
        {"role": "assistant", "content": answer},
    ]
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
    "openai": _openai,
    "sharegpt": _sharegpt,
    "llama-factory": _llama_factory,
    "xlam": _xlam,
    "toolace": _toolace,
    "glaive": _glaive,
    "when2call": _when2call,
    "trl": _trl,
}
"""The function for each shape that turns a row into messages and tools."""
