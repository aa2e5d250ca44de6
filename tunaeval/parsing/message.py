"""Reads messages, whole or as the events of a stream: structured calls first, then the text.

If the server has parsed calls, these are the calls of the result, and the text only gives content
and reasoning, so that a call which the server left in the text does not count twice. If no
structured call is valid, the calls in the text count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tunaeval.errors import UsageError
from tunaeval.grammar import CallObject, Literal
from tunaeval.grammar.format import Format
from tunaeval.limits import MAX_CALLS, MAX_DIAGNOSES, STARTED_NAME
from tunaeval.showing import brief
from tunaeval.types.calls import (
    LEAKED_CALL,
    REPEATED_CALL,
    STRUCTURED,
    JsonObject,
    JsonValue,
    Repair,
    Span,
    ToolCall,
    Tools,
    one_each,
)
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import OTHER_ROLES
from tunaeval.types.parsing import (
    LATER_TURN,
    LENGTH,
    LEVELS,
    NOT_TEXT,
    REFUSED,
    Diagnosis,
    Level,
    ParseResult,
    outcome_of,
)
from tunaeval.wire.apis import recognised
from tunaeval.wire.assembler import Added, Assembler, GrowingCall
from tunaeval.wire.chat import REASONING_KEYS, called, content_texts, foreign_calls, items_in
from tunaeval.wire.endings import error_in
from tunaeval.wire.events import DataLines, is_event

from .collect import Collector, LiveCall, LiveObject, event, widened, without_abstaining
from .judge import JudgedCall, judge
from .repair.machine import JsonReader, read_json
from .repair.values import Note, Read, Unreadable, not_json
from .window import Window

_CALL = CallObject()
_STRUCTURED = Format(STRUCTURED, (Literal(STRUCTURED), _CALL), checked=False)
"""A format that is never read as text; structured calls have its name and keys."""

_NOWHERE = Span(0, 0)

_FIELDS = ("role", "content", "tool_calls", "function_call")
_WANTED = "role, content and tool_calls"
_OTHER_FIELDS = frozenset({*_FIELDS, *REASONING_KEYS, "invalid_tool_calls", "refusal"})
"""A dict without a role is a message if it has one of these keys."""

OTHER_CHOICES = "there are other choices beside the one of index 0, which are not read"
"""The message of the diagnosis `other-choices`, for whole responses and for streams."""
_SHOWN = 60


def read_message(
    message: object,
    read: Callable[[str], ParseResult],
    tools: Tools | None,
    level: Level,
    abstain: frozenset[str] = frozenset(),
) -> ParseResult:
    """Read a message (a dict or an object with the same attributes); `read` reads its text."""
    faults: Sequence[Diagnosis] = ()
    if (other := _of_another(message)) is not None:
        return other
    if isinstance(message, Mapping):
        if "role" not in message or isinstance(message.get("content"), list):
            message, faults = _message_in(message)
    elif not isinstance(getattr(message, "content", None), str):
        message, faults = _out_of_answer(message)
    get = message.get if isinstance(message, dict) else partial(_get, message)
    items = items_in(get("tool_calls"))
    if not items and (older := get("function_call")) is not None:
        items = [older]
    content, thought, odd = get("content"), "", ""
    if content and not isinstance(content, str):
        kinds = foreign_calls(content, items)
        content, thought, odd = content_texts(content)
        if kinds:
            odd = f"content has a part of the type {kinds[0]!r}; calls are read from tool_calls"
    text = read(content) if content else ParseResult()
    if odd:
        text = _with_attempts(text, [Diagnosis(NOT_TEXT, odd)])
    thought = get(REASONING_KEYS[0]) or get(REASONING_KEYS[1]) or thought
    text = _with_reasoning(text, thought, faults or _remarks(None, get("refusal")))
    invalid = items_in(get("invalid_tool_calls"))
    if not (items or invalid):
        return text
    server, *_ = structured(items, tools, level, abstain)
    return _joined_results(_with_attempts(server, map(_invalid, range(MAX_CALLS), invalid)), text)


def _of_another(message: object) -> ParseResult | None:
    """Return the result of a message that is not the model's, in which nothing is a call."""
    role = _get(message, "role")
    if not isinstance(role, str) or role not in OTHER_ROLES:
        return None
    fault = Diagnosis(LATER_TURN, f"the message is not the model's: its role is {role!r}")
    return ParseResult((), text_of(_get(message, "content")), diagnoses=(fault,))


def _no_message(thing: object) -> UsageError:
    return UsageError(f"{brief(thing)} is no message: wanted a dict or an object with {_WANTED}")


def _out_of_answer(thing: object) -> tuple[object, list[Diagnosis]]:
    """Return a message that is an object, or the message in an answer of a provider's client."""
    dump = getattr(thing, "model_dump", None)
    document = dump() if callable(dump) and not isinstance(thing, type) else None
    if isinstance(document, dict) and recognised(document) is not None:
        return _message_in(document)
    if not any(hasattr(thing, key) for key in _FIELDS):
        raise _no_message(thing)
    return thing, []


def _message_in(document: Mapping[str, JsonValue]) -> tuple[JsonObject, list[Diagnosis]]:
    """Return the message in a whole answer of any API, and a diagnosis if it has other choices.

    What has the fields of a message in addition to those of an answer is the message itself.
    """
    api, is_one = recognised(document), any(key in document for key in _FIELDS)
    if api is None or (is_one and api.name != "messages"):
        if is_one or not document or not _OTHER_FIELDS.isdisjoint(document):
            return document, []  # type: ignore[return-value]  # it is only read
        if error := error_in(document):
            raise UsageError(f"the response has no message: the server reports an error: {error}")
        raise _no_message(document)
    answer = api.read_reply(document)
    if answer.message is None or answer.error is not None:
        why = "it has no " + " and no ".join(answer.missing)
        if answer.error is not None:
            why = f"the server reports: {answer.error}"
        raise UsageError(f"the response has no message: {why}")
    others = [Diagnosis("other-choices", OTHER_CHOICES)] * answer.has_others
    return answer.message, [*others, *_remarks(answer.finish, answer.message.get("refusal"))]


def _remarks(finish: str | None, refusal: JsonValue) -> list[Diagnosis]:
    """Return the diagnosis of an answer that ended at its limit of tokens, or was refused."""
    if refusal or finish == "content_filter":
        return [_refused(refusal)]
    return [Diagnosis(LENGTH, "the answer ended at its limit of tokens")] * (finish == "length")


def _refused(refusal: JsonValue) -> Diagnosis:
    words = f": {brief(refusal)}" if refusal else ""
    return Diagnosis(REFUSED, f"the model, or its provider, refused to answer{words}")


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
    truncated = text.truncated or any(fault.code == LENGTH for fault in faults)
    diagnoses = (*faults, *text.diagnoses)
    return replace(text, reasoning=thought, diagnoses=diagnoses, truncated=truncated)


def _joined_results(server: ParseResult, text: ParseResult) -> ParseResult:
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


def _get(thing: object, key: str) -> JsonValue:
    """Return a field of a dictionary or an object; None if the field is missing."""
    # dict first: an isinstance check of the abstract class is slow
    return thing.get(key) if isinstance(thing, (dict, Mapping)) else getattr(thing, key, None)


def structured(
    items: Sequence[object],
    tools: Tools | None,
    level: Level,
    abstain: frozenset[str] = frozenset(),
) -> tuple[ParseResult, list[ToolCall | None], set[int]]:
    """Return the result of a server's parsed calls, a list of the call or None for each item, and
    the indices of items that are one call with an earlier one: "strict" has none (see `one_each`).

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
    once, again, odd = one_each(calls)
    if level == "strict":
        again = set()
    else:
        calls = once
        odd.pop(REPEATED_CALL, None)
    for code, (index, text) in odd.items():
        diagnoses.append(Diagnosis(code, f"tool_calls[{index}]: {text}"))
    found = tuple(call for at, call in enumerate(calls) if call and at not in again)
    outcome = outcome_of(found, attempted=bool(items), cut=cut)
    result = ParseResult(found, "", None, tuple(diagnoses), cut, outcome)
    return without_abstaining(result, abstain, attempted=None in calls), calls, again


def lost_calls(
    message: object, read: ParseResult, tools: Tools | None, level: Level = "standard"
) -> tuple[ToolCall, ...]:
    """Return the attempts at calls that reading a message lost, as calls without arguments (and
    with the repair `invalid-arguments`), so that a forbidden one is seen. A structured one has its
    name; one in a text has none, and its `invalid` is its text.
    """
    items = items_in(_get(message, "tool_calls") or _get(message, "function_call"))
    made = structured(items, tools, level)[1] if items else ()
    lost = [item for item, call in zip(items, made, strict=False) if call is None]
    named = map(called, (*lost, *items_in(_get(message, "invalid_tool_calls"))))
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
        message += f": {raw!r}" if isinstance(raw, str) and raw else ""
        return JudgedCall(None, (Note(code, message),), truncated=code == "truncated")
    if item is None or isinstance(item, str | bytes | int | float | list | tuple):
        return JudgedCall(
            None, (Note("invalid-name", f"{brief(item):.60} is no object with a name"),)
        )
    name, arguments = called(item)
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


class StreamedMessage:
    """A message that arrives in events: what of it is not text, and how the stream ended.

    Each method that takes a piece of it yields the texts that this adds, and reports what else it
    adds in between; `length` returns how many characters of text have been read.
    """

    def __init__(
        self, collector: Collector, tools: Tools | None, level: Level, length: Callable[[], int]
    ) -> None:
        self._collector = collector
        self._tools = tools
        self._level = level
        self._length = length
        self._answer = Assembler()
        self._lines: DataLines | None = None
        self._live: list[_LiveArguments] = []
        self._reasoning: list[str] = []
        self._faults: list[Diagnosis] = []
        self._cut = self._failed = False

    def delta(self, delta: Mapping[str, JsonValue]) -> Iterator[str]:
        """Read a delta, or an event as an object."""
        return self._texts(self._answer.delta(delta))

    def piece(self, piece: str | bytes) -> Iterator[str]:
        """Read the next piece of an event stream."""
        self._lines = self._lines or DataLines()
        for data in self._lines.feed(piece):
            yield from self._texts(self._answer.data(data))

    def end(self) -> Iterator[str]:
        """End the stream: read the rest of it, and note a fault if it was not complete."""
        answer, lines = self._answer, self._lines
        for data in lines.end() if lines else ():
            yield from self._texts(answer.data(data))
        if lines and not answer.begun:
            yield from self._body("\n".join(lines.others).strip())
        yield from self._texts(answer.end())
        if lines and answer.begun and lines.replaced:
            self._fault(Diagnosis("invalid-chunk", "bytes that are no UTF-8 were replaced"))
        if lines and answer.has_others:
            self._fault(Diagnosis("other-choices", OTHER_CHOICES))
        self._failed = bool(lines) and (answer.failed or not (answer.begun and answer.understood))
        if lines and (answer.failed or not answer.ended):
            self._cut = True
            self._fault(Diagnosis("stream-cut", self._why()))
        for code, words in answer.oddities.items():
            self._fault(Diagnosis(code, words))
        for remark in _remarks(answer.finish, answer.message().get("refusal")):
            self._fault(remark)

    def _body(self, body: str) -> Iterator[str]:
        """Read a body that is no event stream: it may be a whole answer."""
        answer = self._answer
        added = answer.data(body) if is_event(body) else []
        if answer.final is None and not answer.ended and not answer.failed:
            added = [one for one in added if one.kind != "odd"]
        answer.begun = bool(added) or answer.final is not None or answer.ended
        answer.ended = answer.begun
        if body and not answer.begun:
            answer.fault = f", which begins with {body[:_SHOWN]!r}"
        return self._texts(added)

    def _why(self) -> str:
        if not self._answer.begun:
            return f"there is no event in the stream{self._answer.fault}"
        how = "in an error" if self._answer.failed else "without [DONE] and without a finish reason"
        return f"the stream ended {how}{self._answer.fault}"

    def _texts(self, added: Iterable[Added]) -> Iterator[str]:
        for one in added:
            match one.kind:
                case "text":
                    yield one.text
                case "thought":
                    self._reasoning.append(one.text)
                    at = self._length()
                    self._collector.report(event("reasoning", at, at, one.text))
                case "call":
                    self._grow(one.call, one.text)
                case "odd" | "error":
                    self._fault(Diagnosis(one.code, one.text))

    def _grow(self, call: GrowingCall | None, text: str) -> None:
        assert call is not None  # noqa: S101 - "call" comes with its call
        if call.number == len(self._live):
            self._live.append(self._begin())
        self._live[call.number].grow(call, text)

    def _begin(self) -> _LiveArguments:
        full, collector = len(self._live) >= MAX_CALLS, self._collector
        if full:
            collector = Collector(listened=False)
        return _LiveArguments(LiveCall(collector, self._length(), self._tools))

    def _fault(self, diagnosis: Diagnosis) -> None:
        """Note the diagnosis of an event that is invalid, or of a stream that is odd or was cut."""
        if len(self._faults) < MAX_DIAGNOSES or diagnosis.code != "invalid-chunk":
            self._faults.append(diagnosis)
            self._collector.report(event("diagnosis", 0, 0, diagnosis=diagnosis))

    def finish(self, text: ParseResult) -> ParseResult:
        """Return the message's result, given that of its text.

        If the server failed, a message without a call is truncated. An event that cannot be read
        may have had one.
        """
        unread = any(fault.code in (NOT_TEXT, "invalid-chunk") for fault in self._faults)
        if text.outcome == "no_call" and unread and not (self._cut or self._failed):
            text = replace(text, outcome=outcome_of(text.calls, attempted=True))
        result = _with_reasoning(text, "".join(self._reasoning), self._faults)
        if self._cut:
            result = replace(result, truncated=True)
        if self._live:
            result = self._with_calls(result)
        if self._failed and result.outcome == "no_call":
            outcome = outcome_of(result.calls, cut=True)
            return replace(result, outcome=outcome, truncated=True)
        return result

    def _with_calls(self, text: ParseResult) -> ParseResult:
        """Return the result with the structured calls."""
        ordered = self._answer.ordered()
        items = self._answer.items()
        server, calls, again = structured(items, self._tools, self._level, self._collector.abstain)
        if server.calls:
            self._collector.withdraw()
        counted = {one.number for one in ordered}
        for number, one in enumerate(self._live):
            if number not in counted:  # of the older field, beside others
                one.live.drop()
        for at, (grown, call) in enumerate(zip(ordered, calls, strict=False)):
            live = self._live[grown.number].live
            live.drop() if call is None or at in again else live.finish(call)
        return _joined_results(server, text)


class _LiveArguments:
    """Reports a structured call while its arguments arrive."""

    def __init__(self, live: LiveCall) -> None:
        self.live = live
        self._window = Window()
        reader = JsonReader(self._window)
        self._object = LiveObject(live, reader.pieces, depth=1)
        self._reading = reader.read()
        self._begun = self._ended = False

    def grow(self, call: GrowingCall, text: str) -> None:
        """Report what a fragment has added to the call, `text` to its arguments.

        A call whose name comes behind its arguments is reported when it is finished, and so is one
        whose arguments are no JSON text.
        """
        if call.is_named and not self._begun and 0 < call.name_size <= STARTED_NAME:
            self.live.start(call.name)
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        if self._ended or not text or call.is_custom:
            return
        self._window.feed(text)
        try:
            next(self._reading)
        except StopIteration:
            self._ended = True
        self._object.update()
