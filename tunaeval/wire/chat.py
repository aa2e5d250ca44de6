"""OpenAI's chat completions, which most servers speak.

Format: https://platform.openai.com/docs/api-reference/chat

The text of a reply is content, even if it looks like a call. A chunk of a stream may have several
entries of one choice, or the whole message; the older completions API has `text` in its choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.parsing import NOT_TEXT

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
    """Return one of `tool_calls` as a part."""
    kind, call_id = word(get(call, "type")), get(call, "id")
    name, arguments = called(call)
    lacks = [key for key, value in (("name", name), ("arguments", arguments)) if value is None]
    lacks += ["id"] if call_id is None else []
    return Part(
        "call", "", name, arguments, call_id, type=kind, given=call, path=path, missing=tuple(lacks)
    )


def called(call: object) -> tuple[JsonValue, JsonValue]:
    """Return the name and arguments of one of `tool_calls`; None for what is missing. The input of
    a custom tool is text.
    """
    function = get(call, "function")
    if function is not None:
        source = call if isinstance(function, str) else function
        return get(source, "name"), get(source, "arguments")
    custom = get(call, "custom")
    if custom is not None and not isinstance(custom, str):
        return get(custom, "name"), {"input": get(custom, "input")}
    arguments = get(call, "arguments")
    return get(call, "name"), get(call, "args") if arguments is None else arguments


def items_in(value: object) -> list[JsonValue]:
    """Return a list's items; another value becomes the only item, unless it is empty."""
    if isinstance(value, list | tuple):
        return list(value)
    return [value] if value else []


def answers(document: Mapping[str, JsonValue]) -> bool:
    return "choices" in document


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
    given = next((choice[key] for key in ("message", "delta") if choice.get(key) is not None), None)
    text = choice.get("text")
    if given is None and isinstance(text, str):  # the older completions API
        given = {"role": "assistant", "content": text}
    message: JsonObject | None = dict(given) if isinstance(given, Mapping) else None
    reason = choice.get("finish_reason")
    lacks = [f"/choices/{at}/message"] if message is None else []
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


_QUIET = frozenset({
    "choices", "citations", "created", "error", "event", "id", "metrics", "model", "object",
    "obfuscation", "prompt_filter_results", "prompt_progress", "provider", "request_id",
    "search_results", "service_tier", "stats", "system_fingerprint", "time_info", "timings",
    "type", "usage", "x_groq",
})  # fmt: skip
"""Fields that a chunk without choices may have: none of them contains output of the model."""
_SAID = ("delta", "message", "text")
"""The keys under which a choice has the model's output."""
_OWN = ("content", "tool_calls", "function_call", *REASONING_KEYS, "refusal")
"""The keys by which a delta is recognised."""


def event_of(given: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return a delta as an event. `given` may also be the choice with it, or the event itself."""
    if "choices" in given or given.get("error"):
        return given
    is_delta = any(given.get(key) is not None for key in _OWN)
    if is_delta or all(given.get(key) is None for key in _SAID):
        given = {"delta": given}
    return {"choices": [given]}


def fragments(event: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield what a chunk adds, which may also be a whole answer."""
    if error := error_in(event):
        yield Fragment("error", f"the server reports: {error}")
        return
    if odd := _odd_choices(event):
        yield Fragment("odd", odd)
        return
    choices = listed(event.get("choices"))
    if len(choices) == 1 and not choices[0].get("index"):
        yield from _choice(choices[0])
    else:
        yield from _choices([one for one in choices if isinstance(one, Mapping)])
    if isinstance(usage := event.get("usage"), Mapping):
        yield Fragment("usage", value=usage)


def _odd_choices(chunk: Mapping[str, JsonValue]) -> str:
    """Return what is wrong with a chunk's choices; "" if nothing is, or none are needed."""
    choices = chunk.get("choices")
    if isinstance(choices, list | tuple):
        sound = not choices or any(isinstance(choice, Mapping) for choice in choices)
        return "" if sound else f"a choice is an object, not {type(choices[0]).__name__}"
    if choices is not None:
        return f"choices are a list, not {type(choices).__name__}"
    strange = [key for key in chunk if key not in _QUIET]
    return f"a chunk without choices, but with {strange[0]!r:.60}" if strange else ""


def _choices(choices: Sequence[Mapping[str, JsonValue]]) -> Iterator[Fragment]:
    """Yield what all entries of the choice of index 0 add, or the first one without an index."""
    own = [one for one in choices if choice_order(one.get("index")) == 0]
    own = own or [one for one in choices if choice_order(one.get("index")) == 1][:1]
    for choice in own:
        yield from _choice(choice)
    if len(own) < len(choices):
        yield Fragment("other")


def _choice(choice: Mapping[str, JsonValue]) -> Iterator[Fragment]:
    """Yield what one entry adds. With a delta, a message is the whole at the end."""
    delta, message, text = (choice.get(key) for key in _SAID)
    if isinstance(delta, Mapping):
        yield from delta_fragments(delta)
    elif delta is not None:
        yield Fragment("odd", f"a choice whose delta is {type(delta).__name__}")
    if isinstance(message, Mapping):
        yield Fragment("whole", value=message)
    elif message is not None and delta is None:
        yield Fragment("odd", f"a choice whose message is {type(message).__name__}")
    if text is not None and delta is None and message is None:
        is_text = isinstance(text, str)
        odd = Fragment("odd", f"a choice whose text is {type(text).__name__}")
        yield Fragment("text", text) if is_text else odd
    reason = choice.get("finish_reason")
    if reason == "error" or choice.get("error"):
        yield Fragment("error", error_in(choice) or "the server ended the reply with an error")
    elif isinstance(reason, str) and reason:
        yield Fragment("finish", reason)


def delta_fragments(
    delta: Mapping[str, JsonValue], *, is_whole: bool = False
) -> Iterator[Fragment]:
    """Yield what a delta adds, or a whole message, whose calls are whole."""
    for key in REASONING_KEYS:
        if thought := delta.get(key):
            if isinstance(thought, str):
                yield Fragment("thought", thought, name=key)
            break
    if calls := delta.get("tool_calls"):
        items = items_in(calls)
        for place, item in enumerate(items):
            yield _call_fragment(item, place, len(items) == 1, is_whole)
    if (older := delta.get("function_call")) is not None:
        item = {"function": older} if isinstance(older, Mapping) else older
        yield _call_fragment(item, 0, True, is_whole)._replace(is_older=True)
    if isinstance(refusal := delta.get("refusal"), str) and refusal:
        yield Fragment("refusal", refusal)
    if content := delta.get("content"):
        if isinstance(content, str):
            yield Fragment("text", content)
        else:
            yield from _content(content)


def _content(content: JsonValue) -> Iterator[Fragment]:
    text, thought, odd = said(content)
    if odd:
        yield Fragment("odd", odd, value=NOT_TEXT)
    if thought:
        yield Fragment("thought", thought)
    if text:
        yield Fragment("text", text)


def said(content: JsonValue) -> tuple[str, str, str]:
    """Return the text and the reasoning in a content (a string, a part, or a list of parts), and
    what is wrong with it, or "".
    """
    if not content or isinstance(content, str):
        return text_of(content), "", ""
    if not isinstance(content, list | tuple):
        if not isinstance(get(content, "text"), str):
            hint = "; decode bytes first" if isinstance(content, bytes | bytearray) else ""
            return "", "", f"content is {type(content).__name__}, wanted a str{hint}"
        content = [content]
    parts = [*parts_of(content, KINDS)]
    thought = "".join(part.text for part in parts if part.kind == "thought")
    return text_of([part.given for part in parts if part.kind != "thought"]), thought, ""


def _call_fragment(item: object, place: int, alone: bool, is_whole: bool) -> Fragment:
    if not isinstance(item, Mapping):
        return Fragment("call", index=place, arguments=item, value="no object")
    index = place if is_whole else item.get("index")
    id_, name, kind = item.get("id"), None, None
    if item.get("function") is None and isinstance(custom := item.get("custom"), Mapping):
        name, arguments, kind = custom.get("name"), custom.get("input"), "custom"
    else:
        name, arguments = called(item)
    where = None if alone else place
    return Fragment(
        "call", "", index, id_, name, arguments, place=where, begins=is_whole, value=kind
    )


CHAT = Api("chat", claims, answers, read_message, read_reply, fragments, WANTED)
