"""OpenAI's chat completions, which most servers speak.

Format: https://platform.openai.com/docs/api-reference/chat

The text of a reply is content, even if it looks like a call. A chunk of a stream may have several
entries of one choice, or the whole message; the older completions API has `text` in its choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tunaeval.types.calls import JsonObject, JsonValue

from .endings import usage_of
from .fields import first, get, listed, word
from .parts import Kinds, Wanted, declared, kinds_of, parts_of
from .values import Answer, Api, Fragment, Message, Part

KINDS: Kinds = kinds_of({
    "text": {"text": ("text",), "input_text": ("text",), "output_text": ("text",)},
    "refusal": {"refusal": ("refusal",)},
    "thought": {"thinking": ("thinking", "text"), "reasoning": ("reasoning", "summary", "text")},
    "media": (
        "image", "audio", "video", "document", "image_url", "input_image", "input_audio", "file",
        "input_file",
    ),
    "silent": ("redacted_thinking",),
})  # fmt: skip

WANTED: Wanted = {
    "text": {"text": str},
    "input_text": {"text": str},
    "output_text": {"text": str},
    "refusal": {"refusal": str},
    "image_url": {"image_url": object},
    "input_audio": {"input_audio": dict},
    "file": {"file": dict},
}

REASONING_KEYS = ("reasoning_content", "reasoning")


def claims(message: object) -> bool:
    """Whether the message can only be one of chat completions."""
    calls = get(message, "tool_calls")
    return any(get(get(call, "function"), "name") is not None for call in listed(calls))


def read_message(message: object, path: str = "") -> Message:
    given = get(message, "role")
    role = str.__str__(given) if isinstance(given, str) else ""  # it may be of a str enum
    answers = get(message, "tool_call_id")
    is_result = answers is not None or role in {"tool", "function"}
    return Message(
        role,
        tuple(_parts(message, path)),
        usage=None if (usage := get(message, "usage")) is None else usage_of(usage),
        answers=answers,
        is_error=declared(message) if is_result else None,
        given=message,
    )


def _parts(message: object, path: str) -> Iterator[Part]:
    thought = first(message, REASONING_KEYS)
    if isinstance(thought, str) and thought:
        yield Part("thought", thought, given=thought, path=f"{path}/reasoning_content")
    yield from parts_of(get(message, "content"), KINDS, f"{path}/content", WANTED)
    if refusal := word(get(message, "refusal")):
        yield Part("refusal", refusal, given=refusal, path=f"{path}/refusal")
    yield from calls_of(message, path)


def calls_of(message: object, path: str = "") -> Iterator[Part]:
    """Yield the calls in `tool_calls`, or in the older `function_call`."""
    calls = listed(get(message, "tool_calls"))
    for index, call in enumerate(calls):
        yield call_of(call, f"{path}/tool_calls/{index}")
    older = None if calls else get(message, "function_call")
    if older is not None:
        yield call_of(older, f"{path}/function_call")


def call_of(call: object, path: str = "") -> Part:
    """Return one of `tool_calls` as a part. The input of a custom tool is text."""
    kind, call_id = word(get(call, "type")), get(call, "id")
    name, arguments = called(call)
    custom = get(call, "custom")
    if get(call, "function") is None and custom is not None and not isinstance(custom, str):
        name, arguments = get(custom, "name"), {"input": get(custom, "input")}
    lacks = [key for key, value in (("name", name), ("arguments", arguments)) if value is None]
    lacks += ["id"] if call_id is None else []
    return Part(
        "call", "", name, arguments, call_id, type=kind, given=call, path=path, missing=tuple(lacks)
    )


def called(call: object) -> tuple[JsonValue, JsonValue]:
    """Return the name and arguments of one of `tool_calls`; None for what is missing."""
    function = get(call, "function")
    source = function if function is not None and not isinstance(function, str) else call
    arguments = get(source, "arguments")
    if arguments is None and function is None:
        arguments = get(source, "args")
    return get(source, "name"), arguments


def answers(document: Mapping[str, JsonValue]) -> bool:
    return "choices" in document or str(document.get("object")).startswith("chat.completion")


def first_choice(choices: Sequence[JsonValue]) -> tuple[int, Mapping[str, JsonValue]]:
    """Return the place and the choice that is the answer: that of index 0, else the first without
    an index, else the first; an empty one if there are none.
    """
    found = [(at, one) for at, one in enumerate(choices) if isinstance(one, Mapping)]
    return min(found, key=lambda pair: choice_order(pair[1].get("index")), default=(0, {}))


def choice_order(index: object) -> int:
    """Return the sort key of a choice, which puts index 0, the answer, first."""
    number = numbered(index)
    return 2 if number is None and index is not None else 1 if number is None else 2 * bool(number)


def numbered(index: object) -> int | None:
    """Return an index, which may be a text, as a number; None if it is none."""
    if isinstance(index, bool):
        return None
    if isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < _LONGEST:
        return int(index)
    return index if isinstance(index, int) else None


_LONGEST = 10


def read_reply(document: Mapping[str, JsonValue]) -> Answer:
    choices = listed(document.get("choices"))
    at, choice = first_choice(choices)
    given = choice.get("message")
    text = choice.get("text")
    if not isinstance(given, Mapping) and isinstance(text, str):  # the older completions API
        given = {"role": "assistant", "content": text}
    message: JsonObject = dict(given) if isinstance(given, Mapping) else {}
    reason = choice.get("finish_reason")
    lacks = [] if isinstance(given, Mapping) else [f"/choices/{at}/message"]
    lacks += [] if isinstance(reason, str) else [f"/choices/{at}/finish_reason"]
    return Answer(
        message,
        tuple(_parts(message, f"/choices/{at}/message")),
        finish=reason if isinstance(reason, str) else None,
        reason=reason,
        usage=usage_of(document.get("usage")),
        id=document.get("id"),
        model=document.get("model"),
        error=error_in(choice) or error_in(document),
        missing=tuple(lacks),
        has_others=len(choices) > 1,
    )


def error_in(document: Mapping[str, JsonValue]) -> str | None:
    """Return the error that a document of any API reports, in words, or None."""
    error = document.get("error")
    if not error and "error" in (document.get("object"), document.get("type")):
        error = document.get("message")
    if not error:
        return None
    words = error.get("message") if isinstance(error, Mapping) else error
    return words if isinstance(words, str) and words else _shown(error)


def _shown(value: JsonValue) -> str:
    try:
        return f"{value!r:.200}"
    except RecursionError:
        return "an error that is nested too deeply"


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:  # the assembler's reader
    raise NotImplementedError


CHAT = Api("chat", claims, answers, read_message, read_reply, fragments, WANTED)
