"""One message, written as the events of a stream in every way that is legal or seen of a server.

A `Said` is what a model says. `WAYS` has for each API a function that writes it; a tape of random
bytes chooses how. What a choice cannot say (calls that share an index and have no ids, in pieces
side by side) is not chosen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from tunaeval.testing import tape as made
from tunaeval.testing.tape import Tape
from tunaeval.types.calls import JsonObject, JsonValue

Events = list[JsonObject]


@dataclass(frozen=True)
class Call:
    """A call, whose arguments are an object, and the same as text."""

    id: str
    name: str
    arguments: JsonObject

    @property
    def written(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True)
class Said:
    """What a model says. `finish` is the finish reason in the words of chat completions."""

    text: str = ""
    thought: str = ""
    calls: tuple[Call, ...] = ()
    has_ids: bool = True

    @property
    def finish(self) -> str:
        return "tool_calls" if self.calls else "stop"


def said(tape: Tape) -> Said:
    """What a model says: words, a thought, and up to three calls, most of them with ids."""
    calls = [
        Call(f"call_{number}{made.word(tape, 4)}", _name(tape), _arguments(tape))
        for number in range(tape.below(4))
    ]
    text, thought = (_words(tape) if tape.below(2) else "" for _ in range(2))
    return Said(text, thought, tuple(calls), has_ids=tape.below(4) > 0)


_NAMES = ("read_file", "bash", "get_weather", "ls", "f")
_LETTERS = ("a", " ", "\n", "é", "読", "\U0001f642", "\U00020000", "\\", '"', "1", "Look: ")


def _name(tape: Tape) -> str:
    return tape.pick(_NAMES)


def _words(tape: Tape) -> str:
    return "".join(tape.row(lambda tape: tape.pick(_LETTERS), 8, 1))


def _arguments(tape: Tape) -> JsonObject:
    values: list[Callable[[], JsonValue]] = [
        lambda: _words(tape), lambda: tape.below(300) - 100, lambda: tape.below(2) == 1,
        lambda: None, lambda: [_words(tape), {"b": 1.5}], lambda: {"{": "}", "[": _words(tape)},
    ]  # fmt: skip
    return {key: tape.pick(values)() for key in "abc"[: tape.below(4)]}


def pieces(tape: Tape, text: str) -> list[str]:
    """A text in up to five pieces, none of them empty; a character may be cut into its halves."""
    halves = text.encode("utf-16-le", "surrogatepass")
    size = len(halves) // 2
    cuts = sorted({tape.below(size + 1) for _ in range(tape.below(5))} | {0, size})
    cut = [halves[2 * start : 2 * end] for start, end in pairwise(cuts)]
    return [one.decode("utf-16-le", "surrogatepass") for one in cut]


# --- chat completions -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbering:
    """How a server numbers, identifies and names calls, and what it puts into one event."""

    numbers: str = "own"
    """"own", "text", "gaps", or such that do not tell calls apart: "zero" and "none"."""
    ids: str = "first"
    """"first", "each", "late", "empty" or "null" later, "new" on each, in "pieces", or "none"."""
    names: str = "first"
    """"first", "each", "late", in "pieces", or "empty" later."""
    whole: bool = False
    """A call is one fragment; `as_object`: its arguments are an object then."""
    as_object: bool = False
    side_by_side: bool = False
    """The fragments of all calls come by turns."""

    @property
    def is_readable(self) -> bool:
        """Whether the fragments say which call they are of."""
        shares = self.numbers in {"zero", "none"}
        if self.names == "late" and (self.whole or (shares and self.ids in {"none", "late"})):
            return False
        if self.ids == "pieces" and (self.whole or shares or self.names == "late"):
            return False
        if self.ids == "late" and self.whole:
            return False
        if self.ids == "new" and (self.names != "first" or (shares and self.side_by_side)):
            return False
        if shares and self.names == "pieces":
            return False
        if shares and self.side_by_side and not self.whole:
            return self.ids == "each" and self.names in {"first", "each"}
        return True


NUMBERINGS = [
    numbering
    for numbers in ("own", "text", "gaps", "zero", "none")
    for ids in ("first", "each", "late", "empty", "null", "new", "pieces", "none")
    for names in ("first", "each", "late", "pieces", "empty")
    for whole, as_object in ((False, False), (True, False), (True, True))
    for side_by_side in (False, True)
    if (numbering := Numbering(numbers, ids, names, whole, as_object, side_by_side)).is_readable
]
SOUND = [Numbering(whole=whole, side_by_side=turns)
         for whole in (False, True) for turns in (False, True)]  # fmt: skip
"""What OpenAI's documentation allows."""


def fragments(
    tape: Tape, how: Numbering, number: int, call: Call, *, has_ids: bool
) -> Iterator[JsonObject]:
    """The fragments of one call."""
    ids, name = (how.ids if has_ids else "none"), call.name
    indices: dict[str, JsonObject] = {
        "own": {"index": number}, "text": {"index": str(number)}, "gaps": {"index": 3 * number + 1},
        "zero": {"index": 0}, "none": {},
    }  # fmt: skip
    index = indices[how.numbers]
    arguments: list[JsonValue] = [*pieces(tape, call.written)]
    if how.whole:
        arguments = [call.arguments if how.as_object else call.written]
    elif how.names != "late":
        arguments = ["", *arguments]
    if how.names == "pieces":
        for piece in (name[:1], name[1:]):
            head = (
                {"id": call.id}
                if piece == name[:1] and ids not in {"none", "late", "pieces"}
                else {}
            )
            if piece:
                yield {**index, **head, "function": {"name": piece}}
    if ids == "pieces":
        yield {
            **index,
            "id": call.id[:3],
            "function": {"name": name} if how.names != "pieces" else {},
        }
        yield {**index, "id": call.id[3:]}
    for place, piece in enumerate(arguments):
        is_first, is_last = place == 0, place == len(arguments) - 1
        function: JsonObject = {"arguments": piece}
        if (how.names in {"first", "empty"} and is_first) or how.names == "each":
            function["name"] = name
        elif how.names == "empty":
            function["name"] = ""
        fragment: JsonObject = {**index, "type": "function", "function": function}
        fragment |= _id(ids, call.id, place, is_first=is_first, is_last=is_last)
        yield fragment
    if how.names == "late":
        yield {**index, "function": {"name": name, "arguments": ""}, **_again(ids, call.id)}


def _id(ids: str, own: str, place: int, *, is_first: bool, is_last: bool) -> JsonObject:
    if ids in {"none", "pieces"}:
        return {}
    if ids == "late":
        return {"id": own} if is_last else {}
    if is_first or ids == "each":
        return {"id": own}
    later: dict[str, JsonObject] = {"first": {}, "empty": {"id": ""}, "null": {"id": None}}
    return later.get(ids, {"id": f"{own}-{place}"})


def _again(ids: str, own: str) -> JsonObject:
    return {"id": own} if ids == "each" else {}


def chat_events(tape: Tape, told: Said, how: Numbering | None = None) -> Events:
    """The message as chunks of chat completions; without `how`, in any way."""
    is_odd = how is None
    how = how or tape.pick(NUMBERINGS)
    reasoning = "reasoning_content" if not is_odd else tape.pick(("reasoning_content", "reasoning"))
    as_parts = is_odd and tape.below(4) == 0
    deltas: list[JsonObject] = [{"role": "assistant", "content": ""}]
    deltas += [{reasoning: piece} for piece in pieces(tape, told.thought)]
    deltas += [
        {"content": [{"type": "text", "text": piece}] if as_parts else piece}
        for piece in pieces(tape, told.text)
    ]
    deltas += called(tape, told, how, is_odd=is_odd)
    behind = is_odd and tape.below(4) == 0
    entries: list[list[JsonObject]] = [[_entry(delta)] for delta in deltas]
    if behind and told.calls:  # calls behind the finish reason
        entries.insert(1, [_entry({}, told.finish)])
    else:
        entries.append([_entry({}, told.finish)])
    if is_odd and tape.below(3) == 0:  # several entries of one choice in a chunk
        entries = [[*chain(*entries[at : at + 2])] for at in range(0, len(entries), 2)]
    if is_odd and tape.below(4) == 0:  # another choice
        for entry in entries:
            entry.insert(tape.below(2), {"index": 1, "delta": {"content": "Other."}})
    if is_odd and tape.below(4) == 0:  # the whole message at the end
        entries.append([{"index": 0, "message": chat_message(told)}])
    head: JsonObject = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return [{**head, "choices": entry} for entry in entries] + [
        {**head, "choices": [], "usage": USAGE}
    ]


USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


def _entry(delta: JsonObject, finish: str | None = None) -> JsonObject:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def called(tape: Tape, told: Said, how: Numbering, *, is_odd: bool) -> list[JsonObject]:
    """The deltas of the calls; a single one may be in the older field."""
    if is_odd and len(told.calls) == 1 and not told.has_ids and tape.below(2):
        (call,) = told.calls
        rest = [{"function_call": {"arguments": piece}} for piece in pieces(tape, call.written)]
        return [{"function_call": {"name": call.name, "arguments": ""}}, *rest]
    rows = [
        [*fragments(tape, how, number, call, has_ids=told.has_ids)]
        for number, call in enumerate(told.calls)
    ]
    if not told.has_ids and not _is_told_apart(how):
        rows = [[_whole(number, call, how)] for number, call in enumerate(told.calls)]
    if how.side_by_side and rows:
        longest = max(map(len, rows))
        turns = [[row[at] for row in rows if at < len(row)] for at in range(longest)]
        if how.numbers not in {"zero", "none"} and tape.below(2):  # several in one delta
            return [{"tool_calls": turn} for turn in turns]
        rows = turns
    return [{"tool_calls": [one]} for one in chain(*rows)]


def _is_told_apart(how: Numbering) -> bool:
    """Whether the fragments are readable without ids."""
    return replace(how, ids="none").is_readable


def _whole(number: int, call: Call, how: Numbering) -> JsonObject:
    index = {"zero": {"index": 0}, "none": {}}.get(how.numbers, {"index": number})
    return {**index, "function": {"name": call.name, "arguments": call.written}}


def chat_message(told: Said) -> JsonObject:
    """The message whole."""
    message: JsonObject = {"role": "assistant", "content": told.text or None}
    if told.thought:
        message["reasoning_content"] = told.thought
    if told.calls:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": call.name, "arguments": call.written}}
            | ({"id": call.id} if told.has_ids else {})
            for call in told.calls
        ]
    return message


def chat_whole(told: Said) -> JsonObject:
    choice = {"index": 0, "message": chat_message(told), "finish_reason": told.finish}
    return {"id": "c", "object": "chat.completion", "choices": [choice], "usage": USAGE}


# --- OpenAI's Responses ---------------------------------------------------------------------------


def responses_whole(told: Said) -> JsonObject:
    items: list[JsonObject] = []
    if told.thought:
        text = [{"type": "summary_text", "text": told.thought}]
        items.append({"type": "reasoning", "id": "rs_1", "summary": text})
    if told.text:
        part = {"type": "output_text", "text": told.text, "annotations": []}
        head = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        items.append({**head, "content": [part]})
    for number, call in enumerate(told.calls):
        head = {"type": "function_call", "id": f"fc_{number}", "status": "completed"}
        items.append({**head, "call_id": call.id, "name": call.name, "arguments": call.written})
    usage: JsonObject = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    usage |= {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
              "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    answer: JsonObject = {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "completed",
    }
    answer |= {"error": None, "incomplete_details": None, "instructions": None, "metadata": {},
               "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "temperature": 1.0,
               "top_p": 1.0}  # fmt: skip
    return {**answer, "model": "m", "output": items, "usage": usage}


def responses_events(tape: Tape, told: Said, *, is_odd: bool = True) -> Events:
    """The message as events of a response; odd ones leave out indices, deltas or the end."""
    whole = responses_whole(told)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: Events = [{"type": "response.created", "response": begun}]
    leaves_out = tape.pick(("", "deltas", "indices", "items")) if is_odd else ""
    for index, item in enumerate(whole["output"]):
        at = {} if leaves_out == "indices" else {"output_index": index}
        events += _item_events(tape, item, at, leaves_out)
    shared = 0 if is_odd and leaves_out == "" and tape.below(4) == 0 else None
    if shared is not None:  # all items have one index
        events = [{**one, "output_index": 0} if "output_index" in one else one for one in events]
    if is_odd and leaves_out != "items" and tape.below(4) == 0:
        whole = {**whole, "output": []}  # some do not repeat the answer
    events.append({"type": "response.completed", "response": whole})
    return [{**one, "sequence_number": number} for number, one in enumerate(events)]


_OPEN: dict[str, JsonObject] = {
    "message": {"content": []}, "function_call": {"arguments": ""}, "reasoning": {"summary": []},
}  # fmt: skip


def _item_events(tape: Tape, item: JsonObject, at: JsonObject, leaves_out: str) -> Events:
    if leaves_out == "items":
        return []
    kind, inner = item["type"], {**at, "item_id": item["id"]}
    opened = {**item, **_OPEN[kind], "status": "in_progress"}
    events: Events = [{"type": "response.output_item.added", **at, "item": opened}]
    name, field, text, place = _body(item)
    inner |= place
    if kind == "message":
        part = {"type": "output_text", "text": "", "annotations": []}
        events.append({"type": "response.content_part.added", **inner, "part": part})
    elif kind == "reasoning":
        part = {"type": "summary_text", "text": ""}
        events.append({"type": "response.reasoning_summary_part.added", **inner, "part": part})
    logs: JsonObject = {"logprobs": []} if kind == "message" else {}
    if leaves_out != "deltas":
        events += [
            {"type": f"response.{name}.delta", **inner, "delta": piece, **logs}
            for piece in pieces(tape, text)
        ]
    more = {"name": item["name"]} if kind == "function_call" else {}
    events.append({"type": f"response.{name}.done", **inner, field: text, **logs, **more})
    if kind == "message":
        events.append({"type": "response.content_part.done", **inner, "part": item["content"][0]})
    elif kind == "reasoning":
        part = item["summary"][0]
        events.append({"type": "response.reasoning_summary_part.done", **inner, "part": part})
    return [*events, {"type": "response.output_item.done", **at, "item": item}]


def _body(item: JsonObject) -> tuple[str, str, str, JsonObject]:
    """The events of an item's body, the field with all of it, this, and where it is."""
    if item["type"] == "message":
        return "output_text", "text", item["content"][0]["text"], {"content_index": 0}
    if item["type"] == "reasoning":
        thought = item["summary"][0]["text"]
        return "reasoning_summary_text", "text", thought, {"summary_index": 0}
    return "function_call_arguments", "arguments", item["arguments"], {}


# --- Anthropic's Messages -------------------------------------------------------------------------


def messages_whole(told: Said) -> JsonObject:
    blocks: list[JsonObject] = []
    if told.thought:
        blocks.append({"type": "thinking", "thinking": told.thought, "signature": "c2ln"})
    if told.text:
        blocks.append({"type": "text", "text": told.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in told.calls
    ]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    stop = "tool_use" if told.calls else "end_turn"
    usage = {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5}
    return {**head, "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": usage}


_EMPTY: dict[str, JsonObject] = {
    "text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}},
}  # fmt: skip
_DELTAS = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "input_json_delta"}
_FIELDS = {"text": "text", "thinking": "thinking", "tool_use": "partial_json"}


def messages_events(tape: Tape, told: Said, *, is_odd: bool = True) -> Events:
    """The message as events; odd ones have no indices or one, or arguments at a call's start."""
    whole = messages_whole(told)
    begun = {**whole, "content": [], "stop_reason": None}
    begun["usage"] = {**whole["usage"], "output_tokens": 1}
    events: Events = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    odd = tape.pick(("", "no indices", "one index", "at the start", "new kinds")) if is_odd else ""
    for index, block in enumerate(whole["content"]):
        at: JsonObject = {"no indices": {}, "one index": {"index": 0}}.get(odd, {"index": index})
        kind = block["type"]
        at_start = odd == "at the start" and kind == "tool_use"
        opened = block if at_start else {**block, **_EMPTY[kind]}
        events.append({"type": "content_block_start", **at, "content_block": opened})
        text = json.dumps(block["input"], ensure_ascii=False) if kind == "tool_use" else block[kind]
        cut = (
            []
            if at_start
            else ["", *pieces(tape, text)]
            if kind == "tool_use"
            else pieces(tape, text)
        )
        for piece in cut:
            delta = {"type": _DELTAS[kind], _FIELDS[kind]: piece}
            events.append({"type": "content_block_delta", **at, "delta": delta})
        if kind == "thinking":
            signed = {"type": "signature_delta", "signature": block["signature"]}
            events.append({"type": "content_block_delta", **at, "delta": signed})
        events.append({"type": "content_block_stop", **at})
        if odd == "new kinds":
            events.append({"type": "ping"})
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}})
    return [*events, {"type": "message_stop"}]


# --- Google's Gemini ------------------------------------------------------------------------------


def gemini_whole(told: Said, *, snake: bool = False) -> JsonObject:
    parts: list[JsonObject] = []
    if told.thought:
        parts.append({"text": told.thought, "thought": True})
    if told.text:
        parts.append({"text": told.text})
    for call in told.calls:
        one = {"name": call.name, "args": call.arguments} | (
            {"id": call.id} if told.has_ids else {}
        )
        parts.append({"functionCall": one, "thoughtSignature": "c2ln"})
    candidate: JsonObject = {
        "content": {"role": "model", "parts": parts},
        "finishReason": "STOP",
        "index": 0,
    }
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
    whole: JsonObject = {"candidates": [candidate], "usageMetadata": usage, "responseId": "r"}
    return _snaked(whole) if snake else whole


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _snaked(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        own = {"args"} & value.keys()
        return {_snake(key): one if key in own else _snaked(one) for key, one in value.items()}
    return [_snaked(one) for one in value] if isinstance(value, list) else value


def gemini_events(tape: Tape, told: Said, *, is_odd: bool = True) -> Events:
    """The message as responses of a stream, each with one part; odd ones have more entries."""
    whole = gemini_whole(told, snake=is_odd and tape.below(4) == 0)
    (candidate,) = whole["candidates"]
    parts: list[JsonObject] = []
    for part in candidate["content"]["parts"]:
        text = part.get("text")
        cut = [{**part, "text": piece} for piece in pieces(tape, text)] if text else []
        parts += cut or [part]
    rest = {key: value for key, value in candidate.items() if key in {"index", "content"}}
    rows: list[list[JsonObject]] = [
        [{**rest, "content": {"role": "model", "parts": [part]}}] for part in parts
    ]
    if is_odd and tape.below(3) == 0:  # several entries of one candidate
        rows = [[*chain(*rows[at : at + 2])] for at in range(0, len(rows), 2)]
    rows.append([{**candidate, "content": {"role": "model", "parts": [{"text": ""}]}}])
    if is_odd and tape.below(4) == 0:
        other = {"index": 1, "content": {"role": "model", "parts": [{"text": "Other."}]}}
        rows = [[*row, other] for row in rows]
    return [{**whole, "candidates": row} for row in rows]


# --- all of them ----------------------------------------------------------------------------------

WAYS: dict[str, Callable[[Tape, Said], Events]] = {
    "chat": chat_events,
    "responses": responses_events,
    "messages": messages_events,
    "gemini": gemini_events,
}
WHOLE: dict[str, Callable[[Said], JsonObject]] = {
    "chat": chat_whole,
    "responses": responses_whole,
    "messages": messages_whole,
    "gemini": gemini_whole,
}


def sse(
    tape: Tape, events: Sequence[JsonObject], *, done: bool = False, style: str | None = None
) -> bytes:
    """The events as bytes: any line ends, comments, names of events, data on several lines."""
    end = "\n" if style else tape.pick(("\n", "\n", "\r\n", "\r"))
    style = style or tape.pick(
        ("plain", "plain", "escaped", "comments", "named", "tight", "indented")
    )
    lines: list[str] = []
    for event in events:
        indent = 1 if style == "indented" else None
        text = json.dumps(event, indent=indent, ensure_ascii=False)
        if style == "escaped" or any("\ud800" <= letter <= "\udfff" for letter in text):
            text = json.dumps(event)  # half a character can only be escaped
        lines += [": a comment", ""] if style == "comments" else []
        lines += [f"event: {event.get('type', 'chunk')}", "id: 7"] if style == "named" else []
        data = "data:" if style == "tight" else "data: "
        lines += [f"{data}{line}" for line in text.split("\n")] + [""]
    lines += ["data: [DONE]", ""] if done else []
    return "".join(line + end for line in lines).encode()
