"""Reads OpenAI-style messages, whole or as deltas: structured calls first, then the text.

If the server has parsed calls, these are the calls of the result, and the text only gives content
and reasoning, so that a call which the server left in the text does not count twice. If no
structured call is valid, the calls in the text count.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tunaeval.errors import UsageError
from tunaeval.grammar import CallObject, Literal
from tunaeval.grammar.format import Format
from tunaeval.limits import MAX_CALLS, MAX_DIAGNOSES, STARTED_NAME
from tunaeval.showing import brief
from tunaeval.types.calls import LEAKED_CALL, STRUCTURED, JsonValue, Repair, Span, ToolCall, Tools
from tunaeval.types.exchange import foreign_calls, text_of
from tunaeval.types.parsing import LEVELS, NOT_TEXT, Diagnosis, Level, ParseResult, outcome_of

from .collect import Collector, LiveCall, LiveObject, event, widened, without_abstaining
from .judge import JudgedCall, judge
from .repair.machine import JsonReader, read_json
from .repair.values import Note, Read, Unreadable, not_json
from .sse import OTHER_CHOICES, Delta, delta_of
from .window import Window

_CALL = CallObject()
_STRUCTURED = Format(STRUCTURED, (Literal(STRUCTURED), _CALL), checked=False)
"""A format that is never read as text; structured calls have its name and keys."""

_NOWHERE = Span(0, 0)

_FIELDS = ("role", "content", "tool_calls", "function_call")
_WANTED = "role, content and tool_calls"
_REASONING_KEYS = ("reasoning_content", "reasoning")
_OTHER_FIELDS = frozenset({*_FIELDS, *_REASONING_KEYS, "invalid_tool_calls", "refusal"})
"""A dict without a role is a message if it has one of these keys."""


def read_message(
    message: object,
    read: Callable[[str], ParseResult],
    tools: Tools | None,
    level: Level,
    abstain: frozenset[str] = frozenset(),
) -> ParseResult:
    """Read a message (a dict or an object with the same attributes); `read` reads its text."""
    faults: Sequence[Diagnosis] = ()
    if isinstance(message, Mapping):
        if "role" not in message and "choices" in message:
            message, faults = _message_in(message)
        elif "role" not in message and message and _OTHER_FIELDS.isdisjoint(message):
            raise _no_message(message)
    elif not any(hasattr(message, key) for key in _FIELDS):
        raise _no_message(message)
    get = message.get if isinstance(message, dict) else partial(_get, message)
    items = listed(get("tool_calls"))
    if not items and (older := get("function_call")) is not None:
        items = [older]
    content = get("content")
    written = content_of(content) if content else ""
    if isinstance(written, Diagnosis):
        text = _with_attempts(ParseResult(), [written])
    else:
        text = read(written) if written else ParseResult()
    if content and not isinstance(content, str) and (kinds := foreign_calls(content, items)):
        found = f"content has a part of the type {kinds[0]!r}; calls are read from tool_calls"
        text = _with_attempts(text, [Diagnosis(NOT_TEXT, found)])
    text = _with_reasoning(text, get(_REASONING_KEYS[0]) or get(_REASONING_KEYS[1]), faults)
    invalid = listed(get("invalid_tool_calls"))
    if not (items or invalid):
        return text
    server = structured(items, tools, level, abstain)[0]
    return _joined(_with_attempts(server, map(_invalid, range(MAX_CALLS), invalid)), text)


def _no_message(thing: object) -> UsageError:
    return UsageError(f"{brief(thing)} is no message: wanted a dict or an object with {_WANTED}")


def _message_in(
    response: Mapping[str, JsonValue],
) -> tuple[Mapping[str, JsonValue], list[Diagnosis]]:
    """Return the message in a whole response, and a diagnosis if there are other choices.

    What has the fields of a message in addition to `choices` is the message itself.
    """
    choices = response["choices"]
    has_others = isinstance(choices, list | tuple) and len(choices) > 1
    faults = [Diagnosis("other-choices", OTHER_CHOICES)] if has_others else []
    if any(key in response for key in _FIELDS):
        return response, faults
    found = delta_of(response)
    if isinstance(found, Diagnosis):
        raise UsageError(f"the response has no message: {found.message}")
    if not found:
        raise UsageError("the response has no message: nothing is in its choices")
    return found, faults


def content_of(content: JsonValue) -> str | Diagnosis:
    """Return the text of a content (a string, a part, or a list of parts), or a diagnosis."""
    if not content or isinstance(content, str | list | tuple):
        return text_of(content)
    if isinstance(_get(content, "text"), str):
        return text_of((content,))
    hint = "; decode bytes first" if isinstance(content, bytes | bytearray) else ""
    return Diagnosis(NOT_TEXT, f"content is {type(content).__name__}, wanted a str{hint}")


def _invalid(index: int, item: object) -> Diagnosis:
    """Return the diagnosis of an item of `invalid_tool_calls`: a call LangChain could not read."""
    reason = str(_get(item, "error") or "no reason given")[:200]
    return Diagnosis("invalid-arguments", f"invalid_tool_calls[{index}]: {reason}")


def _with_attempts(result: ParseResult, found: Iterable[Diagnosis]) -> ParseResult:
    """Return the result with more diagnoses, each of a failed attempt at a call."""
    diagnoses = tuple(found)
    if not diagnoses:
        return result
    cut = result.outcome == "truncated"
    outcome = outcome_of(result.calls, attempted=True, cut=cut)
    return replace(result, diagnoses=(*result.diagnoses, *diagnoses), outcome=outcome)


def _with_reasoning(
    text: ParseResult, reasoning: JsonValue, faults: Sequence[Diagnosis] = ()
) -> ParseResult:
    """Return a text's result with the reasoning and diagnoses of other fields before its own."""
    before = reasoning if isinstance(reasoning, str) else ""
    if not before and not faults:
        return text
    thought = before + (text.reasoning or "") or text.reasoning
    return replace(text, reasoning=thought, diagnoses=(*faults, *text.diagnoses))


def _joined(server: ParseResult, text: ParseResult) -> ParseResult:
    """Join two results: the server's calls count if there are any, else those of the text."""
    calls, outcome, diagnoses = text.calls, text.outcome, text.diagnoses
    if server.calls:
        diagnoses = () if calls else diagnoses
        calls, outcome = server.calls, server.outcome
    return ParseResult(
        calls,
        text.content,
        text.reasoning,
        (*server.diagnoses, *diagnoses),
        text.truncated or server.truncated,
        server.outcome if outcome == "no_call" else outcome,
    )


def listed(value: object) -> list[object]:
    """Return a list's items; another value becomes the only item, unless it is empty."""
    if isinstance(value, list | tuple):
        return list(value)
    return [value] if value else []


def _get(thing: object, key: str) -> JsonValue:
    """Return a field of a dictionary or an object; None if the field is missing."""
    # dict first: an isinstance check of the abstract class is slow
    return thing.get(key) if isinstance(thing, (dict, Mapping)) else getattr(thing, key, None)


def structured(
    items: Sequence[object],
    tools: Tools | None,
    level: Level,
    abstain: frozenset[str] = frozenset(),
) -> tuple[ParseResult, list[ToolCall | None]]:
    """Return the result of a server's parsed calls, and a list of the call or None for each item.

    Calls of names in `abstain` are missing in the result, but not in the list.
    """
    known = widened(tools, abstain)
    calls: list[ToolCall | None] = []
    diagnoses: list[Diagnosis] = []
    cut = False
    for index, item in enumerate(items[:MAX_CALLS]):
        call, notes, _, truncated = _judged(item, known, level)
        diagnoses += [Diagnosis(code, f"tool_calls[{index}]: {text}") for code, text in notes]
        cut = cut or truncated
        if call:  # a structured call has no span in a text
            repairs = tuple(replace(repair, span=None) for repair in call.repairs)
            call = replace(call, span=None, repairs=repairs)
        calls.append(call)
    if len(items) > MAX_CALLS:
        diagnoses.append(Diagnosis("too-many-calls", f"more than {MAX_CALLS} calls"))
    found = tuple(call for call in calls if call)
    outcome = outcome_of(found, attempted=bool(items), cut=cut)
    result = ParseResult(found, "", None, tuple(diagnoses), cut, outcome)
    return without_abstaining(result, abstain, attempted=None in calls), calls


def lost_calls(
    message: object, read: ParseResult, tools: Tools | None, level: Level = "standard"
) -> tuple[ToolCall, ...]:
    """Return the attempts at calls that reading a message lost, as calls without arguments (and
    with the repair `invalid-arguments`), so that a forbidden one is seen. A structured one has its
    name; one in a text has none, and its `invalid` is its text.
    """
    items = listed(_get(message, "tool_calls") or _get(message, "function_call"))
    made = structured(items, tools, level)[1] if items else ()
    lost = [item for item, call in zip(items, made, strict=False) if call is None]
    named = map(_function_in, (*lost, *listed(_get(message, "invalid_tool_calls"))))
    found = [(name if isinstance(name, str) else "", why, STRUCTURED) for name, why in named]
    text = text_of(_get(message, "content"))
    spans = dict.fromkeys(one.span for one in read.diagnoses if one.span and one.is_attempt)
    found += [("", text[span.start : span.end], "") for span in spans]
    return tuple(ToolCall.unread(name, str(why), format=form) for name, why, form in found)


def _judged(item: object, tools: Tools | None, level: Level) -> JudgedCall:
    """Judge an item of `tool_calls`. Arguments as a JSON string are usual there and no repair."""
    status, raw = _get(item, "status"), _get(item, "raw")
    if isinstance(status, str) and status in _FAILED:
        code, message = _FAILED[status]
        message += f": {raw[:60]!r}" if isinstance(raw, str) else ""
        return JudgedCall(None, (Note(code, message),), truncated=code == "truncated")
    if item is None or isinstance(item, str | bytes | int | float | list | tuple):
        return JudgedCall(
            None, (Note("invalid-name", f"{brief(item):.60} is no object with a name"),)
        )
    name, arguments = _function_in(item)
    read: Read | Unreadable = Read(arguments)
    if isinstance(arguments, str) and arguments.strip():
        read = read_json(arguments)
    elif fault := not_json(arguments):
        read = Unreadable("invalid-arguments", fault)
    faults: tuple[Note, ...] = ()
    if isinstance(read, Unreadable):
        faults, read = (Note("invalid-arguments", read.message),), Read(None)
    call = {_CALL.name: name, _CALL.arguments: read.value}
    if (id_ := _get(item, "id")) is not None:
        call["id"] = id_
    read = read._replace(value=call)
    found = judge(read, word=_CALL, form=_STRUCTURED, span=_NOWHERE, tools=tools, level=level)
    return JudgedCall(None, (*(() if found.call else found.notes), *faults)) if faults else found


def _function_in(item: object) -> tuple[JsonValue, JsonValue]:
    """Return the name and arguments of an item of `tool_calls`; None for what is missing."""
    function = _get(item, "function")
    source = function if function is not None and not isinstance(function, str) else item
    arguments = _get(source, "arguments")
    if arguments is None and function is None:
        arguments = _get(source, "args")
    return _get(source, "name"), arguments


_FAILED = {
    "invalid_json": ("invalid-json", "the call is no JSON"),
    "malformed_structure": ("invalid-json", "the call has not the shape of its format"),
    "unclosed_block": ("truncated", "the text ends before the call does"),
    "missing_name": ("missing-name", "a call without a name"),
    "unknown_tool": ("unknown-tool", "the name is none of the tools'"),
}
"""The diagnosis of an item by its status, for servers that list failed calls, too.

PrimeIntellect's renderers do (`ToolCallParseStatus` of 0.1.12); `raw` is the text of the call.
"""


_LEAKED_LEVEL: Level = "standard"


def with_leaked(result: ParseResult, level: Level) -> ParseResult:
    """Return a message's result if the server was expected to parse the calls.

    A call that the server left in the text counts with a repair; at "strict" it is a diagnosis.
    """
    calls, notes = list[ToolCall](), list[Diagnosis]()
    for call in result.calls:
        how = f" (as {call.format})" if call.format else ""
        message = f"the server left the call in the text{how}"
        if call.source == STRUCTURED:
            calls.append(call)
        elif LEVELS.index(level) < LEVELS.index(_LEAKED_LEVEL):
            notes.append(Diagnosis(LEAKED_CALL, f"{call.name!r}: {message}", call.span))
        else:
            repair = Repair(LEAKED_CALL, message, call.span, _LEAKED_LEVEL)
            calls.append(replace(call, repairs=(*call.repairs, repair)))
    outcome = outcome_of(calls) if notes else result.outcome
    return _with_attempts(replace(result, calls=tuple(calls), outcome=outcome), notes)


class Deltas:
    """The structured calls and the reasoning of one streamed message.

    The index of a fragment should say which call it belongs to, but some servers number all calls 0
    or leave the index out. So a new call begins under the same index when the id changes, or,
    without ids, when a name and arguments follow complete arguments. Some servers make a new id for
    each fragment: a fragment with a new id and no name continues the previous call while its
    arguments are incomplete. The older `function_call` is a call without index and id, which does
    not count if there are other calls.
    """

    def __init__(self, collector: Collector, tools: Tools | None, level: Level) -> None:
        self._collector = collector
        self._tools = tools
        self._level = level
        self._calls: list[_StreamedCall] = []
        self._latest: dict[int | None, _StreamedCall] = {}
        """The call that got the latest fragment, by index."""
        self._by_id: dict[str, _StreamedCall] = {}
        self._last_index = 0
        self._reasoning: list[str] = []
        self._reasoning_decoder, self._content_decoder = _surrogate_joiner(), _surrogate_joiner()
        self._faults: list[Diagnosis] = []
        self._cut = False

    def take(self, delta: Delta, at: int) -> str:
        """Read a delta after `at` characters of text; return the text that the delta adds."""
        reasoning = next(filter(None, (delta.get(key) for key in _REASONING_KEYS)), None)
        if isinstance(reasoning, str):
            self._reason(_joined_up(self._reasoning_decoder, reasoning), at)
        items = listed(delta.get("tool_calls"))
        for place, item in enumerate(items):
            fields = item if isinstance(item, Mapping) else {}
            index, id_ = fields.get("index"), fields.get("id")
            if not isinstance(index, int):
                known = self._by_id.get(id_) if isinstance(id_, str) else None
                others = self._last_index if len(items) == 1 else place
                index = others if known is None else known.index
            self._fragment(item, index, at)
        older = delta.get("function_call")
        if older is not None:
            self._fragment({"function": older} if isinstance(older, Mapping) else older, None, at)
        content = content_of(delta.get("content"))
        if isinstance(content, Diagnosis):
            self.fault(content)
            return ""
        return _joined_up(self._content_decoder, content)

    def rest(self, at: int) -> str:
        """End the message; return a lone surrogate kept back at the end of its text, or ""."""
        self._reason(self._reasoning_decoder.decode(b"", final=True), at)
        return self._content_decoder.decode(b"", final=True)

    def _reason(self, text: str, at: int) -> None:
        if text:
            self._reasoning.append(text)
            self._collector.report(event("reasoning", at, at, text))

    def _fragment(self, fragment: JsonValue, index: int | None, at: int) -> None:
        """Add a fragment to its call; one that is no object becomes an invalid call of its own."""
        if not isinstance(fragment, Mapping):
            self._begin(index, at).odd = (fragment,)
            return
        found = fragment.get("id")
        id_ = found if isinstance(found, str) else ""
        call = self._by_id.get(id_)
        if call is None or call.index != index:
            latest = self._latest.get(index)
            goes_on = latest is not None and latest.goes_on_with(fragment, id_)
            call = latest if latest and goes_on else self._begin(index, at)
        self._latest[index] = call
        if index is not None:
            self._last_index = index
            if id_:
                self._by_id[id_] = call
        call.take(fragment)

    def _begin(self, index: int | None, at: int) -> _StreamedCall:
        earlier, collector = self._calls, self._collector
        if len(earlier) >= MAX_CALLS:
            collector = Collector(listened=False)
        hidden = collector.abstain and [one for one in earlier if one.name in collector.abstain]
        live = LiveCall(collector, len(earlier) - len(hidden), at, self._tools)
        call = _StreamedCall(index, live)
        self._calls.append(call)
        return call

    def fault(self, diagnosis: Diagnosis) -> None:
        """Note the diagnosis of a chunk that is invalid, or of a stream that was cut."""
        cut = diagnosis.code == "stream-cut"
        self._cut = self._cut or cut
        if cut or len(self._faults) < MAX_DIAGNOSES:
            self._faults.append(diagnosis)
            self._collector.report(event("diagnosis", 0, 0, diagnosis=diagnosis))

    def finish(self, text: ParseResult, failed: bool) -> ParseResult:
        """Return the message's result, given that of its text.

        If the server `failed`, a message without a call is truncated.
        """
        unread = any(fault.code in (NOT_TEXT, "invalid-chunk") for fault in self._faults)
        if text.outcome == "no_call" and unread and not (self._cut or failed):
            text = replace(text, outcome=outcome_of(text.calls, attempted=True))
        result = _with_reasoning(text, "".join(self._reasoning), self._faults)
        if self._cut:
            result = replace(result, truncated=True)
        if self._calls:
            result = self._with_calls(result)
        if failed and result.outcome == "no_call":
            outcome = outcome_of(result.calls, cut=True)
            return replace(result, outcome=outcome, truncated=True)
        return result

    def _with_calls(self, text: ParseResult) -> ParseResult:
        """Return the result with the structured calls, sorted by index and then by arrival."""
        numbered = [call for call in self._calls if call.index is not None]
        for call in self._calls if numbered else ():
            if call.index is None:
                call.live.drop()
        ordered = sorted(numbered, key=lambda call: call.index or 0) or self._calls
        items = [call.whole() for call in ordered]
        server, calls = structured(items, self._tools, self._level, self._collector.abstain)
        for streamed, made in zip(ordered, calls, strict=False):
            if made is None:
                streamed.live.drop()
            else:
                streamed.live.finish(made)
        return _joined(server, text)


class _StreamedCall:
    """One structured call, of which fragments are arriving.

    `index` is the server's number of the call, which several calls may share; None for the older
    `function_call`. `odd` contains the fragment if that is no object.
    """

    def __init__(self, index: int | None, live: LiveCall) -> None:
        self.index = index
        self.live = live
        self.odd: tuple[JsonValue, ...] = ()
        self.id: JsonValue = None
        self._names: list[str] = []
        self._name_size = 0
        self._texts: list[str] = []
        self._decoder = _surrogate_joiner()
        self._value: JsonValue = None
        """Arguments that arrived as an object instead of a string."""
        self._window = Window()
        reader = JsonReader(self._window)
        self._object = LiveObject(live, reader.pieces, depth=1)
        self._reading = reader.read()
        self._begun = self._ended = self._complete = False

    @property
    def name(self) -> str:
        """The part of the name that has arrived."""
        return "".join(self._names)

    def take(self, fragment: Delta) -> None:
        """Add the next fragment to the name and the arguments; the first id counts.

        A name may come in pieces before the arguments. A name after the arguments began, or one
        that equals the name so far, is a repetition and is ignored.
        """
        if not self.id:
            found = fragment.get("id")
            self.id = self.id if found is None else found
        name, arguments = _function_in(fragment)
        if isinstance(name, str) and not self._begun:
            repeated = len(name) == self._name_size and name == self.name
            self._names += [] if repeated else [name]
            self._name_size += 0 if repeated else len(name)
        if arguments is not None and 0 < self._name_size <= STARTED_NAME:
            self.live.start(self.name)
        if isinstance(arguments, str):
            arguments = _joined_up(self._decoder, arguments)
            self._texts.append(arguments)
            self._follow(arguments)
        elif arguments is not None:
            self._value, self._complete = arguments, True

    def _follow(self, text: str) -> None:
        """Read the next piece of the arguments, unless they have ended or are invalid."""
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        if self._ended or not text:
            return
        self._window.feed(text)
        try:
            next(self._reading)
        except StopIteration as stop:
            self._ended, self._complete = True, isinstance(stop.value, Read)
        self._object.update()

    def goes_on_with(self, fragment: Delta, id_: str) -> bool:
        """Whether a fragment of the same index belongs to this call; its id is `id_` or ""."""
        name, arguments = _function_in(fragment)
        if id_ and self.id and id_ != self.id:
            return not name and bool(arguments) and not self._complete
        text = arguments.lstrip() if isinstance(arguments, str) else arguments
        begins = text.startswith("{") if isinstance(text, str) else text is not None
        return not (self._complete and name and begins)

    def whole(self) -> JsonValue:
        """Return the call as an item of a message's `tool_calls`."""
        if self.odd:
            return self.odd[0]
        text = "".join(self._texts) + self._decoder.decode(b"", final=True)
        arguments = self._value if self._value is not None and not text.strip() else text
        return {"id": self.id, "function": {"name": self.name, "arguments": arguments}}


def _surrogate_joiner() -> codecs.IncrementalDecoder:
    """Make a decoder that keeps half a surrogate pair at the end of a piece for the next piece."""
    return codecs.getincrementaldecoder("utf-16-le")("surrogatepass")


def _joined_up(decoder: codecs.IncrementalDecoder, piece: str) -> str:
    """Return the piece, after the half of a surrogate pair that was kept back before it, if any. A
    half at its end is kept back in turn.
    """
    return decoder.decode(piece.encode("utf-16-le", "surrogatepass")) if piece else ""
