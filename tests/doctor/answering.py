"""What the loopback server answers: the model's text served rightly, or with one defect.

The calls are known from the one who wrote them, so no parser of ours has a part in this. A defect
is one place in which the answer differs from the right one; `defects.py` lists them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple, Self

from tests.doctor.scripted_model import PROSE, Written, hermes
from tests.doctor.serving import Served, logprobs
from tests.doctor.spoiling import SPOILING, Answered, unspoilt
from tests.doctor.streaming import body_of
from tunaeval.parsing import served as engine

_FLAGS = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'


class Reply(NamedTuple):
    """An HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: int | None = None
    """After how many bytes of the body the connection ends."""

    @classmethod
    def json(cls, value: object, status: int = 200) -> Self:
        body = json.dumps(value).encode()
        return cls(status, {"Content-Type": "application/json"}, body)

    @classmethod
    def error(cls, status: int, words: str) -> Self:
        return cls.json({"error": {"message": words, "code": status}}, status)


def answer(served: Served, body: dict[str, Any]) -> Reply:
    """The response to a chat completion's request."""
    if served.defect == "gateway-strips":
        body = {key: body[key] for key in ("messages", "max_tokens", "stream") if key in body}
    refusal = _refusal(served.defect, body)
    if refusal is not None:
        return refusal
    written = _constrained(served, body) or served.model(_reaching(served.defect, body))
    made = _made(served, body, written)
    if body.get("stream") and served.defect != "stream-answered-whole":
        data = body_of(made, served, body)
        return Reply(200, {"Content-Type": "text/event-stream; charset=utf-8"}, data)
    return Reply.json(_whole(made, served, body))


def _reaching(defect: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that the model sees."""
    unseen = ("tool",) if defect in ("results-dropped", "results-unseen") else ()
    return [message for message in body["messages"] if message["role"] not in unseen]


def _refusal(defect: str, body: dict[str, Any]) -> Reply | None:
    """Requests that are refused: what means nothing, by right; and what a defect refuses."""
    tools, choice = body.get("tools") or [], body.get("tool_choice", "auto")
    past = [c for m in body["messages"] for c in m.get("tool_calls") or []]
    if body.get("model") not in (None, "scripted"):
        return Reply.error(404, "The model does not exist.")
    if isinstance(choice, str) and choice not in ("auto", "none", "required"):
        return Reply.error(400, "Invalid value for tool_choice")
    strict = any(t["function"].get("strict") for t in tools)
    if strict:
        return Reply.error(400, "strict is not supported")
    if defect == "stream-refused" and body.get("stream"):
        return Reply.error(400, "stream is not supported")
    lacks_flags = defect == "no-flags" or (defect == "no-flags-but-none" and choice != "none")
    if lacks_flags and tools:
        return Reply.error(400, _FLAGS)
    if defect == "boolean-subschema-400" and '"anything": true' in json.dumps(tools):
        return Reply.error(400, "JSON schema conversion failed: Unrecognized schema: true")
    if defect == "empty-history-500" and any(not c["function"]["arguments"] for c in past):
        return Reply.error(500, "parse error: unexpected end of input")
    late = any(m["role"] == "system" for m in body["messages"][1:])
    if defect == "late-system-500" and late:
        return Reply.error(500, "System message must be at the beginning.")
    return None


def _constrained(served: Served, body: dict[str, Any]) -> Written | None:
    """What a grammar makes of any model: a call where one is required, none where none may be."""
    choice, tools = body.get("tool_choice", "auto"), body.get("tools") or []
    if choice == "none" and served.defect == "none-still-calls":
        return None
    if choice == "none" and served.defect not in ("none-leaves-markup", "no-flags-but-none"):
        return Written(PROSE)
    if choice == "required" and served.defect != "required-ignored":
        return _filled(tools[0])
    if isinstance(choice, dict) and served.defect != "named-ignored":
        name = choice["function"]["name"]
        return _filled(next(t for t in tools if t["function"]["name"] == name))
    return None


def _filled(tool: dict[str, Any]) -> Written:
    values = {"string": "a", "integer": 1}
    properties = tool["function"]["parameters"]["properties"]
    call = (
        tool["function"]["name"],
        {k: v.get("enum", [values.get(v["type"])])[0] for k, v in properties.items()},
    )
    return Written(hermes([call]), [call])


def _made(served: Served, body: dict[str, Any], written: Written) -> Answered:
    """The answer, with the defects that are the same whole and streamed."""
    calls = [
        {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        for name, arguments in written.calls
    ]
    tokens = _tokens(written.text, served.chance)
    most = body.get("max_tokens", 100_000)
    cut = len(tokens) > most
    text = "".join(tokens[:most])
    if cut and calls:
        calls = _cut(text)
    content = None if calls else text
    if served.defect == BEHIND_TUNAEVAL:
        content, calls = _read(text, body)
    elif cut and written.calls and not calls:
        content = ""
    finish = "length" if cut else "tool_calls" if calls else "stop"
    if written.thought and not cut:
        text = f"<think>{written.thought}</think>{text}"
    made = Answered(text, content, written.thought, calls, finish, _counted(served, body))
    made.tokens = _tokens(text, served.chance)
    for call in made.calls:
        call["id"] = f"call_{served.chance.randrange(16**12):012x}"
    if not cut:
        SPOILING.get(served.defect, unspoilt)(made, body)
        if body.get("parallel_tool_calls") is False and served.defect != "parallel-ignored":
            made.calls = made.calls[:1]
    elif served.defect == "cut-looks-complete" and made.calls:
        made.calls[-1]["arguments"] = json.dumps({"path": "a.txt"})
    elif served.defect == "cut-says-stop":
        made.calls, made.finish = [], "stop"
    elif served.defect == "cut-says-tool-calls" and made.calls:
        made.finish = "tool_calls"
    return made


BEHIND_TUNAEVAL = "behind-tunaeval"
"""No defect: calls are read as the parsers of tunaeval for model servers read them."""


def _read(text: str, body: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    tools = engine.read_tools(body.get("tools"), print)
    if tools is None or body.get("tool_choice") == "none":
        return text, []
    words, sent, _ = engine.Reply(engine.Settings.of("hermes", {}), tools).whole(text)
    return words, [{"name": one.name, "arguments": one.arguments} for one in sent]


def _cut(text: str) -> list[dict[str, Any]]:
    """The calls of a text that was cut: the arguments of the last end where it ends."""
    head, found, arguments = text.partition('"arguments": ')
    name = head.partition('"name": "')[2].partition('"')[0]
    return [{"name": name, "arguments": arguments}] if found and arguments else []


def _counted(served: Served, body: dict[str, Any]) -> int:
    """The tokens of the prompt: four characters each, of what reaches it."""
    messages = json.loads(json.dumps(body["messages"]))
    tools = [] if served.defect == "tools-dropped" else body.get("tools") or []
    for message in messages:
        if served.defect == "results-dropped" and message["role"] == "tool":
            message["content"] = ""
        if served.defect == "past-calls-dropped":
            message.pop("tool_calls", None)
    count = len(json.dumps([messages, tools])) // 4
    return min(count, 1024) if served.defect == "context-cut" else count


def _tokens(text: str, chance: Random) -> list[str]:
    """The text in pieces of a few characters."""
    found, place = [], 0
    while place < len(text):
        size = chance.randint(2, 6)
        found.append(text[place : place + size])
        place += size
    return found


def _whole(made: Answered, served: Served, body: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": call["id"], "type": "function",
         "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in made.calls
    ]  # fmt: skip
    if served.defect == "arguments-object" and made.finish != "length":
        for call in calls:
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    if served.defect == "ids-missing":
        for call in calls:
            del call["id"]
    content = made.content
    if content is None and served.chance.random() < 0.5:
        content = ""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if made.reasoning:
        message[served.chance.choice(("reasoning", "reasoning_content"))] = made.reasoning
    if calls or served.chance.random() < 0.3:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": made.finish}
    if body.get("logprobs") and served.raw:
        choice["logprobs"] = logprobs([*made.tokens, "<|im_end|>"], served)
    count = len(made.tokens)
    usage = {"prompt_tokens": made.prompt_tokens, "completion_tokens": count,
             "total_tokens": made.prompt_tokens + count}  # fmt: skip
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "scripted",
            "choices": [choice], "usage": usage}  # fmt: skip
