"""OpenAI-style messages: structured calls first, then the text.

Where the server has parsed calls, those are the calls, and the text is read for its content and
reasoning only, so that a call which a server left in the text is not counted twice. When none of
the structured calls stands, the text is read as if there had been none.

Most structured calls are sound in every way; `_sound` reads those by the rule for sound calls in a
text, and leaves anything else to `_judged`, which would say the same of those as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import orjson

from tunaeval.errors import UsageError
from tunaeval.grammar import CallObject, Format, Literal
from tunaeval.limits import MAX_CALLS, MAX_FAST
from tunaeval.repair import Note, Read, Unreadable, not_json, nothing_hidden, read_json
from tunaeval.showing import shown
from tunaeval.sse import OTHER_CHOICES, delta_of
from tunaeval.types import (
    NOT_TEXT,
    STRUCTURED,
    Diagnosis,
    JsonValue,
    Level,
    Outcome,
    ParseResult,
    Span,
    ToolCall,
    Tools,
    foreign_calls,
    text_of,
)

from .abstaining import widened, without_abstaining
from .judge import Verdict, judge, sound_call
from .made import result_of

_CALL = CallObject()
_STRUCTURED = Format(STRUCTURED, (Literal(STRUCTURED), _CALL))
"""Never read as text: it gives structured calls their name and keys."""

_SILENT = ParseResult()
"""What a message without text says."""

_NO_CALLS = ParseResult()
"""What a message without structured calls says beside its text."""

_FIELDS = ("role", "content", "tool_calls", "function_call")
_WANTED = "role, content and tool_calls"
REASONING_KEYS = ("reasoning_content", "reasoning")
_SAYS = frozenset({*_FIELDS, *REASONING_KEYS, "invalid_tool_calls", "refusal"})
"""What a message has one of, if it has no role."""


def read_message(
    message: object,
    read: Callable[[str], ParseResult],
    tools: Tools | None,
    level: Level,
    abstain: frozenset[str] = frozenset(),
) -> ParseResult:
    """Read a message (a dict or an object with the same attributes); `read` reads its text."""
    is_mapping = isinstance(message, (dict, Mapping))  # dict first, as in `_get`
    if not is_mapping and not any(hasattr(message, key) for key in _FIELDS):
        raise _no_message(message)
    faults: tuple[Diagnosis, ...] = ()
    if isinstance(message, (dict, Mapping)) and "role" not in message:
        if "choices" in message:
            faults = _others_in(message)
            message = _message_in(message)
        elif message and _SAYS.isdisjoint(message):
            raise _no_message(message)
    get = message.get if type(message) is dict else partial(_get, message)
    items = listed(get("tool_calls")) or _legacy(message)
    content = get("content")
    said = content_of(content) if content else ""
    if isinstance(said, Diagnosis):
        text = ParseResult(diagnoses=(said,), outcome="malformed")
    else:
        text = read(said) if said else _SILENT
    if content and not isinstance(content, str):
        text = _with_foreign(text, foreign_calls(content, items))
    first, second = REASONING_KEYS
    reasoning = get(first) or get(second)
    if isinstance(reasoning, str) or faults:
        text = reasoned(text, reasoning if isinstance(reasoning, str) else "", faults)
    server = structured(items, tools, level, abstain)[0] if items else _NO_CALLS
    if invalid := get("invalid_tool_calls"):
        server = _with_invalid(server, listed(invalid))
    return text if server is _NO_CALLS else joined(server, text)


def _no_message(thing: object) -> UsageError:
    return UsageError(f"{shown(thing)} is no message: wanted a dict or an object with {_WANTED}")


def _message_in(response: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """The message of a whole response; of another dictionary with that field, itself."""
    if any(key in response for key in _FIELDS):
        return response
    found = delta_of(response)
    if isinstance(found, Diagnosis):
        raise UsageError(f"the response has no message: {found.message}")
    if not found:
        raise UsageError("the response has no message: nothing is in its choices")
    return found


def _others_in(response: Mapping[str, JsonValue]) -> tuple[Diagnosis, ...]:
    choices = response["choices"]
    has_others = isinstance(choices, list | tuple) and len(choices) > 1
    return (Diagnosis("other-choices", OTHER_CHOICES),) if has_others else ()


def content_of(content: JsonValue) -> str | Diagnosis:
    """The text of a content: of a string, of parts, or of one part; what else there is has none."""
    if not content or isinstance(content, str | list | tuple):
        return text_of(content)
    if isinstance(_get(content, "text"), str):
        return text_of((content,))
    hint = "; decode bytes first" if isinstance(content, bytes | bytearray) else ""
    return Diagnosis(NOT_TEXT, f"content is {type(content).__name__}, wanted a str{hint}")


def _with_foreign(text: ParseResult, kinds: Sequence[str]) -> ParseResult:
    """With a word on parts that are calls of another API, which are not read here."""
    if not kinds:
        return text
    message = f"content has a part of the type {kinds[0]!r}; calls are read from tool_calls"
    outcome: Outcome = "malformed" if text.outcome == "no_call" else text.outcome
    diagnoses = (*text.diagnoses, Diagnosis(NOT_TEXT, message))
    return replace(text, diagnoses=diagnoses, outcome=outcome)


def _with_invalid(server: ParseResult, invalid: Sequence[object]) -> ParseResult:
    """With the calls whose arguments LangChain could not read; it keeps them apart."""
    found = (
        Diagnosis(
            "invalid-arguments",
            f"invalid_tool_calls[{index}]: {str(_get(item, 'error') or 'no reason given')[:200]}",
        )
        for index, item in enumerate(invalid[:MAX_CALLS])
    )
    outcome: Outcome = "malformed" if server.outcome == "no_call" else server.outcome
    return replace(server, diagnoses=(*server.diagnoses, *found), outcome=outcome)


def reasoned(text: ParseResult, reasoning: str, faults: Sequence[Diagnosis] = ()) -> ParseResult:
    """What the text says, with what came beside it."""
    if not reasoning and not faults:
        return text
    said = reasoning + (text.reasoning or "")
    return replace(text, reasoning=said or text.reasoning, diagnoses=(*faults, *text.diagnoses))


def joined(server: ParseResult, text: ParseResult) -> ParseResult:
    """What the server parsed, with what the text says beside it."""
    if text is _SILENT:
        return server
    diagnoses = server.diagnoses
    if server.calls:
        told = () if text.calls else text.diagnoses
        outcome, calls = server.outcome, server.calls
    else:
        told, calls = text.diagnoses, text.calls
        outcome = text.outcome if text.outcome != "no_call" else server.outcome
    return replace(
        text,
        calls=calls,
        diagnoses=(*diagnoses, *told),
        truncated=text.truncated or server.truncated,
        outcome=outcome,
    )


def structured(
    items: Sequence[object],
    tools: Tools | None,
    level: Level,
    abstain: frozenset[str] = frozenset(),
) -> tuple[ParseResult, list[ToolCall | None]]:
    """The calls that a server had parsed, and why some of them are none; also item by item.

    The result is without calls of the names in `abstain`; the items are not.
    """
    if abstain:
        found, calls = structured(items, widened(tools, abstain), level)
        return without_abstaining(found, abstain, attempted=None in calls), calls
    calls = [_sound(item, tools) for item in items[:MAX_CALLS]]
    if all(calls) and len(calls) == len(items):
        return result_of(tuple(filter(None, calls)), "", None), calls
    diagnoses: list[Diagnosis] = []
    truncated = False
    for index, (item, sound) in enumerate(zip(items, calls, strict=False)):
        if sound is not None:
            continue
        verdict = _judged(item, tools, level)
        where = f"tool_calls[{index}]: "
        diagnoses += [Diagnosis(note.code, where + note.message) for note in verdict.notes]
        truncated = truncated or verdict.truncated
        calls[index] = _placeless(verdict.call) if verdict.call else None
    if len(items) > MAX_CALLS:
        diagnoses.append(Diagnosis("too-many-calls", f"more than {MAX_CALLS} calls"))
    stand = tuple(call for call in calls if call)
    outcome: Outcome = "calls" if stand else "truncated" if truncated else "malformed"
    return ParseResult(stand, "", None, tuple(diagnoses), truncated, outcome), calls


def _placeless(call: ToolCall) -> ToolCall:
    """The call without spans: it stands in no text."""
    repairs = tuple(replace(repair, span=None) for repair in call.repairs)
    return ToolCall(call.name, call.arguments, call.id, call.format, None, repairs)


def _sound(item: object, tools: Tools | None) -> ToolCall | None:
    """The call of an item that is sound, known and fitting in every way; None for any other."""
    if type(item) is not dict or type(function := item.get("function")) is not dict:
        return None
    arguments = function.get("arguments")
    if type(arguments) is str and len(arguments) <= MAX_FAST:
        written = arguments
        try:
            arguments = orjson.loads(written)
        except orjson.JSONDecodeError:
            return None
        if type(arguments) is not dict or not nothing_hidden(arguments, written, ()):
            return None
    elif type(arguments) is not dict or not_json(arguments):
        return None
    id_ = item.get("id")
    if id_ is not None and type(id_) is not str:
        return None
    return sound_call(function.get("name"), arguments, STRUCTURED, None, tools, id_=id_)


def _judged(item: object, tools: Tools | None, level: Level) -> Verdict:
    """One structured call. Its arguments are text by the API's rule: to read them is no repair."""
    if failed := _failed(item):
        return Verdict(None, (failed,), truncated=failed.code == "truncated")
    if item is None or isinstance(item, str | bytes | int | float | list | tuple):
        return Verdict(None, (Note("invalid-name", f"{shown(item):.60} is no object with a name"),))
    name, arguments = function_in(item)
    read = _read_arguments(arguments)
    if isinstance(read, Note):
        return Verdict(None, (read,))
    call = {"name": name, "arguments": read.value, "id": _get(item, "id")}
    return judge(
        read._replace(value=call),
        word=_CALL,
        form=_STRUCTURED,
        span=Span(0, 0),
        tools=tools,
        level=level,
    )


def function_in(item: object) -> tuple[JsonValue, JsonValue]:
    """Name and arguments of an item of `tool_calls`, as far as it has them."""
    function = _get(item, "function")
    source = function if function is not None and not isinstance(function, str) else item
    arguments = _get(source, "arguments")
    if arguments is None and function is None:
        arguments = _get(source, "args")
    return _get(source, "name"), arguments


def _failed(item: object) -> Note | None:
    """Why an attempt is no call, where who parsed it lists those as well, with what became of each.

    So do PrimeIntellect's renderers (`ToolCallParseStatus` of 0.1.12): `raw` is what was written.
    """
    status = _get(item, "status")
    failed = _FAILED.get(status) if isinstance(status, str) else None
    if failed is None:
        return None
    written = _get(item, "raw")
    shown = f": {written[:60]!r}" if isinstance(written, str) else ""
    return Note(failed.code, failed.message + shown)


_FAILED = {
    "invalid_json": Note("invalid-json", "the call is no JSON"),
    "malformed_structure": Note("invalid-json", "the call has not the shape of its format"),
    "unclosed_block": Note("truncated", "the text ends before the call does"),
    "missing_name": Note("missing-name", "a call without a name"),
    "unknown_tool": Note("unknown-tool", "the name is none of the tools'"),
}


def _read_arguments(arguments: JsonValue) -> Read | Note:
    if isinstance(arguments, str) and arguments.strip():
        read = read_json(arguments)
        if isinstance(read, Unreadable):
            return Note("invalid-arguments", read.message)
        return read
    if fault := not_json(arguments):
        return Note("invalid-arguments", fault)
    return Read(arguments)


def _legacy(message: object) -> list[object]:
    function = _get(message, "function_call")
    return [function] if function is not None and not _get(message, "tool_calls") else []


def listed(value: object) -> list[object]:
    """The items of a list; something else than a list is the only item."""
    if isinstance(value, list | tuple):
        return list(value)
    return [value] if value else []


def _get(thing: object, key: str) -> JsonValue:
    """A field of a dictionary or an object; None if it has none."""
    # dict first: the abstract class is slow to ask
    return thing.get(key) if isinstance(thing, (dict, Mapping)) else getattr(thing, key, None)
