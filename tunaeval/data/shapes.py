"""The shapes of rows in public data sets: how each is recognized, and how it is read.

docs/how-to/clean-a-data-set.md describes them all. Names of ToolACE's tools may contain spaces,
which no wire format allows. They are replaced by identifiers before the text is parsed, and put
back afterwards. In Glaive's text, arguments are JSON text in single quotes, which belong to this
shape and do not count as a repair:

    USER: ... ASSISTANT: <functioncall> {"name": "f", "arguments": '{"a": 1}'} <|endoftext|>
    FUNCTION RESPONSE: {"b": 2} ASSISTANT: ... <|endoftext|>
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, NamedTuple

from tunaeval.errors import ToolsError, UsageError
from tunaeval.files.plain_files import table_of
from tunaeval.matching.bfcl import wanted_arguments
from tunaeval.parsing.api import parse, parse_message
from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.values import Unreadable, scan
from tunaeval.rewards.gold import Gold
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis
from tunaeval.types.wanted import wanted_name
from tunaeval.wire import messages
from tunaeval.wire.chat import foreign_calls

from .adapters.documents import read_conversation
from .adapters.fields import get, has, listed
from .rows import LOSSES, Fault, Raw, Row, Source, UnreadableRowError, linked, raw_rows, results_in

_NAMES = table_of(__package__, "names.toml")
_SPEAKER = re.compile(r"(?:^|\n|(?<=\s)|(?<=\|>))(USER|ASSISTANT|FUNCTION RESPONSE|SYSTEM): ?")
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
            speaker = turn[1].lower()
            yield {"role": speaker if speaker in _ROLES else "tool", "content": text}


def _glaive_call(written: str) -> ToolCall:
    read = read_json(written)
    value = None if isinstance(read, Unreadable) else read.value
    arguments = value.get("arguments", {}) if isinstance(value, dict) else None
    if isinstance(arguments, str) and arguments.strip():
        inner = read_json(arguments)
        arguments = None if isinstance(inner, Unreadable) else inner.value
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise UnreadableRowError(f"{brief(written)} is no call with a name")
    if not isinstance(arguments or {}, dict) or arguments is None:
        raise UnreadableRowError(f"{brief(written)} has arguments that cannot be read")
    return ToolCall(value["name"], arguments or {})


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
        inner = [get(one, "function") or one for one in items]
        if inner and all(has(one, "name") and has(one, "parameters") for one in inner):
            found += items
    return found or None


_MOST_TRIES = 1_000
"""How many brackets are tried: a prompt of only brackets would take quadratic time."""


def pythonic_calls(turns: Iterable[JsonObject], listed: list[Any] | None) -> Iterator[JsonObject]:
    """Yield the messages; calls in a model's text become `ToolCall`s. Raises UnreadableRowError."""
    try:
        tools = to_tools(listed) if listed else None
    except ToolsError as error:
        raise UnreadableRowError(f"its tools cannot be understood: {error}") from error
    names = {name: f"tool_{index}" for index, name in enumerate(tools or ())}
    odd = {name: short for name, short in names.items() if not name.isidentifier()}
    for index, message in enumerate(turns):
        content = message.get("content") if message.get("role") == "assistant" else None
        text = content if isinstance(content, str) else ""
        yield _called(text, tools, odd, index) if text.lstrip().startswith("[") else message


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
        raise UnreadableRowError(f"message {index}, {brief(content)}: {why}")
    if result.content.lstrip()[:1] == ",":
        raise UnreadableRowError(f"message {index}: {brief(result.content)} is no call")
    own = {short: name for name, short in odd.items()}
    calls = [replace(call, name=own.get(call.name, call.name)) for call in result.calls]
    return {"role": "assistant", "content": result.content, "tool_calls": calls}


def _renamed(text: str, odd: Mapping[str, str]) -> str:
    """Return the text with `odd` names replaced, before a parenthesis and outside of quotes."""

    def short(found: re.Match[str]) -> str:
        begins = found["name"] and text[: found.start()].rstrip()[-1:] in {"[", ",", ""}
        return odd[found["name"]] if begins else found[0]

    names = "|".join(map(re.escape, sorted(odd, key=len, reverse=True)))
    quoted = r"(?P<quote>[\"'])(?:\\.|(?!(?P=quote))[^\\])*+(?:(?P=quote)|\\?\Z)"
    pattern = rf"(?s:(?P<name>{names})(?=\()|{quoted})"
    return re.sub(pattern, short, text) if odd else text


Said = Iterable[JsonObject]
"""Messages in OpenAI's shape; the text of an assistant may still contain its calls."""


class Told(NamedTuple):
    """What a shape finds in a row: all messages, or those after the `prompt`; and what belongs to
    it. `gold` has the calls that are wanted and whether they are matchers, if the row has some.
    """

    turns: Said
    tools: Any = None
    prompt: Said | None = None
    rejected: Said | None = None
    gold: tuple[Any, bool] | None = None


_ROLES: Mapping[str, str] = _NAMES["roles"]


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
        return _read_row(SHAPES[found](_decoded(raw.value)), number, found, raw)
    except _UNREADABLE as error:
        own = isinstance(error, UnreadableRowError | UsageError | RecursionError)
        why = str(error) if own else f"not of this shape ({type(error).__name__}: {error})"
        if type(error) is KeyError:
            why = f"not of this shape: it has no {error}"
        return Fault(number, f"{found}: {why}", raw.value, raw.line)


def _shapeless(row: JsonObject) -> str:
    for key in ("messages", "conversations", "conversation"):
        if key in row:
            return f"its {key!r} is {brief(row[key], 40)}, wanted a list of messages"
    if not row:
        return "the row is an empty object"
    for key, value in row.items():
        rows = [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
        if any(map(shape_of, rows)):
            return f"its rows are in {key!r}; write that list alone, or its items as JSON lines"
    keys = ", ".join(repr(str(key)[:40]) for key in [*row][:8])
    return f"no shape is known that has {keys}; the shapes are {', '.join(SHAPES)}"


def shape_of(row: Mapping[str, Any]) -> str | None:
    """Return the shape of a row, judged by its keys, or None if no known shape has them."""
    row = _decoded(row)
    if isinstance(row.get("conversations", row.get("conversation")), list):
        turns = row.get("conversations", row.get("conversation")) or []
        if any(get(one, "from") in _CALLERS for one in turns):  # or null
            return "llama-factory"
        system = row.get("system")
        in_system = isinstance(system, str) and "<tools>" not in system and not row.get("tools")
        return "toolace" if in_system else "sharegpt"
    if "correct_answer" in row or "chosen_response" in row:
        return "when2call"
    if isinstance(row.get("messages"), list):
        if any(
            foreign_calls(get(one, "content"), listed(get(one, "tool_calls")))
            for one in row["messages"]
        ):
            return "transcript"
        called = any(get(one, "role") in _CALLERS for one in row["messages"])
        return "llama-factory" if called else "openai"
    return next((shape for shape, fits in _KEYS.items() if fits(row)), None)


_CALLERS = ("function_call", "tool_call", "observation")
_KEYS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "swe-agent": lambda row: isinstance(row.get("trajectory"), list),
    "bfcl": lambda row: "question" in row and "function" in row,
    "xlam": lambda row: "query" in row and "answers" in row,
    "glaive": lambda row: isinstance(row.get("chat"), str),
    "openai-preference": lambda row: "preferred_output" in row,
    "trl": lambda row: (
        ("prompt" in row and ("completion" in row or "chosen" in row))
        or (isinstance(row.get("chosen"), list) and isinstance(row.get("rejected"), list))
    ),
    "verl": lambda row: "prompt" in row and isinstance(row.get("reward_model"), Mapping),
    "gold": lambda row: "prompt" in row and "gold" in row,
}  # fmt: skip
"""How each shape is told by its keys, in the order in which they are tried."""


def _decoded(row: Mapping[str, Any]) -> JsonObject:
    """Return the row with lists of messages in place of their JSON text."""
    made = dict(row)
    for key in _NAMES["fields"]["of_messages"]:
        text = row.get(key)
        if isinstance(text, str) and text.lstrip()[:1] == "[":
            with suppress(ValueError, RecursionError):
                found = json.loads(text)
                if found and all(get(one, "role") or get(one, "from") for one in found):
                    made[key] = found
    return made


def _read_row(source: Told, number: int, shape: str, raw: Raw) -> Row:
    found = _Found(to_tools(source.tools) if source.tools else None)
    if any(get(get(one, "function") or one, "strict") for one in listed(source.tools)):
        found.lose("lost-field", 0)
    found.add(source.prompt or ())
    prompt = None if source.prompt is None else len(found.messages)
    found.add(source.turns)
    if not found.messages:
        raise UnreadableRowError("there is no message in it")
    for index, (_, note) in enumerate(linked(found.messages)):
        found.notes += [(index, note)] if note else []
    rejected: Row | Fault | None = None
    if source.rejected is not None:
        alone = Raw({"messages": source.rejected, "tools": found.tools})
        rejected = read_row(alone, number, "openai")
        if isinstance(rejected, Fault):
            found.lose("unread-rejected", 0)
    gold: Gold | Fault | None = None
    if source.gold or "gold" in raw.value:
        calls, are_matchers = source.gold or (raw.value["gold"], False)
        try:
            gold = Gold.of(calls, found.tools, literal=not are_matchers)
        except UsageError as error:
            gold = Fault(number, str(error))
    return Row(
        number, shape, tuple(found.messages), found.tools, tuple(found.notes), raw.value, raw.line,
        tuple(found.others), prompt, rejected, gold,
    )  # fmt: skip


@dataclass(slots=True)
class _Found:
    """The messages of a row that were read so far, each with its other fields, and the notes."""

    tools: Tools | None
    messages: list[Message] = field(default_factory=list)
    others: list[JsonObject] = field(default_factory=list)
    notes: list[tuple[int, Diagnosis]] = field(default_factory=list)

    def add(self, turns: Said) -> None:
        """Read messages; one becomes several if it contains the results of several calls."""
        for message in turns:
            index = len(self.messages)
            if not isinstance(message, Mapping):
                kind = type(message).__name__
                raise UnreadableRowError(f"message {index} is {kind}, not an object")
            read = self._read(message, index)
            content = _parts_of(message)
            if content and text_of(content) != read.content:
                words = [{"type": "text", "text": read.content}] * bool(read.content)
                content = [*(part for part in content if part.get("text") is None), *words]
                self.lose("moved-part", index)
            if any(get(part, "source") for part in content):  # as Anthropic's API has them
                self.lose("foreign-part", index)
            more = _carried(message, read) | ({"content": content} if content else {})
            for text in results_in(read.content) if read.is_result else [read.content]:
                self.messages.append(replace(read, content=text))
                self.others.append(more)
                read = replace(read, tool_call_id=None)

    def lose(self, code: str, index: int) -> None:
        self.notes.append((index, Diagnosis(code, LOSSES[code])))

    def _read(self, message: Mapping[str, Any], index: int) -> Message:
        role, content = message.get("role"), message.get("content")
        if not isinstance(role, str) or role not in _ROLES:
            known = "user, assistant, tool, system or developer"
            raise UnreadableRowError(
                f"message {index} has the role {brief(role, 40)}, wanted {known}"
            )
        result = _ROLES[role] == "tool"
        if result and isinstance(content, Mapping | list) and not _are_parts(content):
            content = json.dumps(content, ensure_ascii=False)
        if content is not None and not isinstance(content, str | list):
            raise UnreadableRowError(
                f"message {index} has the content {brief(content, 40)}, wanted a text"
            )
        if _ROLES[role] == "assistant":
            read, odd = _reply(message, self.tools, index)
            self.notes += [(index, note) for note in odd]
            for code in _lost_in(message, read):
                self.lose(code, index)
            return read
        calls = parse_message({"tool_calls": listed(get(message, "tool_calls"))}).calls
        if calls:
            self.lose("user-call", index)
        answered = self._answered(message) if result else None
        return Message(_ROLES[role], text_of(content), calls, answered)

    def _answered(self, message: Mapping[str, Any]) -> str | None:
        """Return the id of the call that a result answers, under one of the names in use."""
        several = message.get("tool_call_ids")
        for known in (message.get("tool_call_id"), several, *listed(several)):
            if isinstance(known, str):
                return known
        own = message.get("id")
        calls = (call for one in self.messages for call in one.tool_calls)
        return own if isinstance(own, str) and any(call.id == own for call in calls) else None


_UNREADABLE = (UsageError, RecursionError, TypeError, AttributeError, LookupError, ValueError)


def _lost_in(message: Mapping[str, Any], read: Message) -> Iterator[str]:
    """Yield the codes of what a reply's structured calls lose as they are written."""
    made = listed(get(message, "tool_calls"))
    if len(read.tool_calls) < len(made):
        yield "lost-call"
    if any(call.repairs for call in read.tool_calls):
        yield "changed-call"
    fields = {
        key for one in made if isinstance(one, Mapping) for key in one if one[key] is not None
    }
    if fields - _OF_CALLS:
        yield "lost-field"


_OF_CALLS = frozenset(_NAMES["fields"]["of_calls"])


def _carried(message: Mapping[str, Any], read: Message) -> JsonObject:
    """Return the other fields of a message, without nulls, which Arrow adds."""
    read_here = _NAMES["fields"]["read"]
    others = ((key, value) for key, value in message.items() if key not in read_here)
    more = {key: value for key, value in others if value is not None}
    if read.reasoning:
        more["reasoning" if "reasoning" in more else "reasoning_content"] = read.reasoning
    return more


def _are_parts(content: object) -> bool:
    """Whether a content is a list of parts that name their type, as opposed to a tool's values."""
    return isinstance(content, list) and all(isinstance(get(one, "type"), str) for one in content)


def _parts_of(message: Mapping[str, Any]) -> list[Any]:
    """Return the parts of a message's content if they are more than texts, else no parts."""
    parts = message["content"] if _are_parts(message.get("content")) else []
    fields = {key for part in parts for key, value in part.items() if value is not None}
    return parts if fields - {"type", "text"} else []


def _reply(
    message: Mapping[str, Any], tools: Tools | None, index: int
) -> tuple[Message, Iterable[Diagnosis]]:
    """Return an assistant's message and its diagnoses; `ToolCall`s in it are read already."""
    content, made = message.get("content"), listed(get(message, "tool_calls"))
    in_place = _NAMES["fields"]["in_place_of_words"]
    if content is None and not any(message.get(key) for key in in_place):
        raise UnreadableRowError(f"message {index}, of the model, has neither content nor calls")
    if kinds := foreign_calls(content, made):
        raise UnreadableRowError(
            f"message {index} has a {kinds[0]!r} part, a call of another API; wanted tool_calls"
        )
    if made and all(isinstance(one, ToolCall) for one in made):
        thought = message.get("reasoning_content")
        return Message("assistant", text_of(content), tuple(made), reasoning=thought), ()
    result = parse_message(message, tools=tools)
    read = Message("assistant", result.content, result.calls, reasoning=result.reasoning)
    return read, [one for one in result.diagnoses if one.code != "refusal"]  # a field of its own


def _sharegpt(row: JsonObject) -> Told:
    turns = [*_conversation(row)]
    return Told(turns, row.get("tools") or _listed_tools(turns))


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
    names = ("conversations", "conversation", "messages", "trajectory")
    turns = next((row[name] for name in names if isinstance(row.get(name), list)), None)
    if turns is None:
        raise UnreadableRowError("there are no conversations in it")
    for index, one in enumerate(turns):
        speaker = get(one, "from") or get(one, "role")
        texts = (get(one, key) for key in ("value", "content", "text", "system_prompt"))
        value = next((text for text in texts if text is not None), None)
        role = _ROLES.get(speaker) if isinstance(speaker, str) else None
        if role is None:
            raise UnreadableRowError(
                f"message {index} is from the unknown speaker {brief(speaker, 40)}"
            )
        more = {key: one[key] for key in one if key not in _NAMES["fields"]["read"]}
        if role == "function_call":
            more["tool_calls"] = _written_calls(value, f"message {index}")
            role, value = "assistant", None
        yield {**more, "role": role, "content": value}


def _written_calls(value: JsonValue, where: str) -> list[JsonObject]:
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


def _xlam(row: JsonObject) -> Told:
    answers = row["answers"]
    calls = _written_calls(answers, "'answers'") if answers not in ("", "[]", [], None) else []
    return _asked(row, row["query"], {"content": "", "tool_calls": calls})


def _asked(row: JsonObject, question: JsonValue, reply: JsonObject) -> Told:
    turns = [{"role": "user", "content": question}, {"role": "assistant", **reply}]
    return Told(turns, row.get("tools"))


def _toolace(row: JsonObject) -> Told:
    tools = tools_in(row["system"])
    return Told(pythonic_calls(_conversation(row), tools), tools)


def _glaive(row: JsonObject) -> Told:
    system = row.get("system") or ""
    return Told(glaive_messages(system, row["chat"]), tools_in(system))


def _when2call(row: JsonObject) -> Told:
    if "chosen_response" in row:
        chosen, rejected = row["chosen_response"], row.get("rejected_response")
        return _trl({**row, "prompt": row["messages"], "chosen": chosen, "rejected": rejected})
    return _asked(row, row["question"], {"content": row["answers"][row["correct_answer"]]})


def _trl(row: JsonObject) -> Told:
    reply = _as_messages(row.get("completion", row.get("chosen")), "assistant")
    rejected = _as_messages(row["rejected"], "assistant") if row.get("rejected") else None
    if "prompt" in row:
        prompt = _as_messages(row["prompt"], "user")
    else:  # both begin with the prompt
        same = zip(reply, rejected or (), strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], same))
        prompt = reply[: min(shared, len(reply) - 1)]
        reply, rejected = reply[len(prompt) :], (rejected or [])[len(prompt) :]
    return Told(reply, row.get("tools"), prompt, rejected)


def _as_messages(messages: Any, role: str) -> list[Any]:
    """Return a list of messages, which may be given as one message or as a text."""
    if isinstance(messages, str):
        return [{"role": role, "content": messages}]
    return [messages] if isinstance(messages, Mapping) else [*(messages or ())]


def _verl(row: JsonObject) -> Told:
    tools = get(row.get("extra_info"), "tools") or row.get("tools")
    prompt = _as_messages(row["prompt"], "user")
    return Told((), tools, prompt, gold=(row["reward_model"]["ground_truth"], False))


def _bfcl(row: JsonObject) -> Told:
    question, functions = row["question"], row["function"]
    turns = _as_messages(question, "user")
    flat = [one for turn in turns for one in (turn if isinstance(turn, list) else [turn])]
    tools = [functions] if isinstance(functions, Mapping) else functions
    calls = [item for call in row.get("ground_truth") or () for item in call.items()]
    gold = [{"name": name, "arguments": wanted_arguments(options)} for name, options in calls]
    return Told((), tools, flat, gold=(gold, True) if "ground_truth" in row else None)


def _preference(row: JsonObject) -> Told:
    asked, worse = row["input"], row.get("non_preferred_output")
    tools, chosen = asked.get("tools"), row["preferred_output"]
    return _trl({"prompt": asked["messages"], "chosen": chosen, "rejected": worse, "tools": tools})


def _with_system(row: JsonObject, turns: list[Any]) -> list[Any]:
    system = text_of(row.get("system"))
    if not system or (turns and get(turns[0], "role") == "system"):
        return turns
    return [{"role": "system", "content": system}, *turns]


def _swe_agent(row: JsonObject) -> Told:
    if isinstance(row.get("history"), list):
        return _transcript({**row, "messages": row["history"]}, row)
    return _of_plain_row(row)


def _of_plain_row(row: JsonObject) -> Told:
    return Told(_conversation(row), row.get("tools"))


def _transcript(row: JsonObject, document: JsonObject | None = None) -> Told:
    """Read messages of another API by its adapter. What the adapter does not read is carried."""
    messages = row["messages"]
    found = read_conversation(document or messages)
    for notice in found.warnings:
        if notice.code in {"unnamed-call", "unread-message"}:
            raise UnreadableRowError(f"message {notice.source} has {notice.message}")
    turns = []
    for message, source in zip(found.messages, found.sources, strict=True):
        thoughts = [
            one for one in listed(get(messages[source], "content"))
            if get(one, "type") in {"thinking", "redacted_thinking"}
            and (get(one, "signature") or get(one, "data"))
        ]  # fmt: skip
        turns.append({
            **messages[source], "role": message.role, "content": _media(messages[source], message),
            "tool_calls": [*message.tool_calls], "tool_call_id": message.tool_call_id,
            "reasoning_content": message.reasoning, "thinking_blocks": thoughts or None,
            "is_error": get(_result_in(messages[source], message), "is_error"),
        })  # fmt: skip
    return Told(_with_system(row, turns), row.get("tools"))


def _media(message: Mapping[str, Any], read: Message) -> JsonValue:
    """Return the content of a message: with its images and documents if it has some."""
    parts = message.get("content")
    if read.is_result and isinstance(parts, list):
        parts = get(_result_in(message, read), "content")
    found = messages.read_message({"content": listed(parts)}).parts
    kept = [part.given for part in found if part.kind in {"text", "media"}]
    return read.content if all(get(one, "text") for one in kept) else kept


def _result_in(message: Mapping[str, Any], read: Message) -> Any:
    """Return the part of a message that is this result; None if there is none."""
    parts = listed(message.get("content")) if read.is_result else ()
    return next((one for one in parts if get(one, "tool_use_id") == read.tool_call_id), None)


SHAPES: Mapping[str, Callable[[JsonObject], Told]] = {
    "openai": lambda row: Told(
        _with_system(row, row["messages"]), row.get("tools") or row.get("functions")
    ),
    "sharegpt": _sharegpt,
    "llama-factory": _of_plain_row,
    "xlam": _xlam,
    "toolace": _toolace,
    "glaive": _glaive,
    "when2call": _when2call,
    "trl": _trl,
    "gold": lambda row: Told((), row.get("tools"), _as_messages(row["prompt"], "user")),
    "verl": _verl,
    "bfcl": _bfcl,
    "swe-agent": _swe_agent,
    "openai-preference": _preference,
    "transcript": _transcript,
}
"""The function for each shape that finds the messages, the tools and more in a row."""
