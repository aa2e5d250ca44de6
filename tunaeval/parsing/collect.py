"""Collects what was read of a text, and the events that a stream reports.

Pieces are offsets into the whole text, so that nothing is copied until the end. A call's start is
reported as soon as its name is certain, its arguments as they grow, and then its end, or that it
was dropped. At its end, the reported text is compared with the final arguments, after repair and
fitting, so that the reported pieces of a finished call always concatenate to its arguments.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import orjson

from tunaeval.grammar import Trim
from tunaeval.limits import MAX_CALLS, MAX_DIAGNOSES, MAX_ECHOED, STARTED_NAME
from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, JsonValue, Span, ToolCall, Tools
from tunaeval.types.makers import cheap
from tunaeval.types.parsing import ABSTAINED, REMARKS, Diagnosis, ParseResult, outcome_of

from .events import Event, EventKind
from .judge import JudgedCall, line_end
from .repair.schema import fit

_new_event = cheap(Event)


def event(kind: EventKind, start: int, end: int, text: str = "", **more: Any) -> Event:
    """Return an event at half the cost of `Event(...)`: streams make one for each chunk."""
    return _new_event(kind, Span(start, end), text, **more)


NO_NAMES: frozenset[str] = frozenset()


def widened(tools: Tools | None, names: frozenset[str]) -> Tools | None:
    """Return the tools with `names` added as tools; None, which allows any name, stays None."""
    if tools is None or not names or names <= tools.keys():
        return tools
    return tools.widened(names)


def without_abstaining(
    result: ParseResult, names: frozenset[str], *, attempted: bool | None = None
) -> ParseResult:
    """Return the result without calls of these names, which mean that no tool is called.

    If no other call is left and none was attempted, the outcome is "no_call". `attempted` says
    whether another call was attempted; if it is None, that is concluded from the diagnoses.
    """
    out = [call for call in result.calls if call.name in names] if names else []
    if not out:
        return result
    calls = tuple(call for call in result.calls if call.name not in names)
    spans = [call.span for call in out if call.span]  # in the order of the text
    starts = [span.start for span in spans]

    def is_outside(span: Span | None) -> bool:
        at = bisect_left(starts, span.end) - 1 if span else -1
        return span is None or at < 0 or spans[at].end <= span.start

    left = [note for note in result.diagnoses if is_outside(note.span)]
    if attempted is None:
        attempted = any(note.code not in REMARKS for note in left)
    outcome = outcome_of(calls, attempted=attempted, cut=attempted and result.truncated)
    return replace(result, calls=calls, diagnoses=(*left, _abstained(out[0])), outcome=outcome)


def _abstained(call: ToolCall) -> Diagnosis:
    return Diagnosis(ABSTAINED, f"a call of {call.name!r:.60} means no call", call.span)


class LiveCall:
    """Reports a call that begins at offset `start` as events of a collector.

    Before its end, nothing is reported of a call whose tool is not in `tools`. A call by a name
    that means no call is reported as markup. It gets a number whenever it is started.
    """

    def __init__(self, collector: Collector, start: int, tools: Tools | None) -> None:
        self.started = False
        self._collector = collector
        self._index = 0
        self._at = Span(start, start)
        self._tools = tools
        self._name = ""
        self.schema: Mapping[str, JsonValue] = {}
        self._sent: list[str] = []

    def start(self, name: str) -> None:
        """Report that the call begins, now that its name is known."""
        if self.started or (self._tools is not None and name not in self._tools):
            return
        self.started, self._name = True, name
        self.schema = self._tools[name].parameters if self._tools else {}
        self._report("call_started")

    def grow(self, text: str) -> None:
        """Report the next piece of the arguments, as JSON text without the last bracket."""
        if self.started and text:
            self._sent.append(text)
            self._report("arguments", text)

    def whole(self, key: str, value: JsonValue) -> None:
        """Report a whole argument, `key` with its value, at once."""
        self.grow(self.member(arguments_text(key)) + arguments_text(value))

    def member(self, key: str) -> str:
        """Return the JSON text before the value of an argument; `key` is JSON, with its quotes."""
        return f"{',' if self._sent else '{'}{key}:"

    def finish(self, call: ToolCall) -> None:
        """Report the rest of a call. If what was reported differs, or a call before it has a higher
        number, drop it and report all anew.
        """
        rest, collector = arguments_text(call.arguments), self._collector
        begun = self.started and self._name == call.name and collector.follows(self._index)
        if begun and self._sent:
            begun = arguments_text(loaded("".join(self._sent) + "}")) == rest
            rest = "}" if begun else rest
        if not begun:
            self.drop()
            self._name, self._sent = call.name, []
            self._report("call_started")
        self._report("arguments", rest)
        self._report("call_finished", span=call.span, call=call)
        if call.name not in collector.abstain:
            collector.kept.append((self._index, call))

    def drop(self) -> None:
        """Report that a call whose start was reported is no call."""
        if self.started:
            self._report("call_dropped")
        self.started, self._sent = False, []

    def begins_at(self, start: int) -> bool:
        """Whether it begins at offset `start` or later."""
        return self._at.start >= start

    def _report(
        self,
        kind: EventKind,
        text: str = "",
        *,
        span: Span | None = None,
        call: ToolCall | None = None,
    ) -> None:
        """Report an event, or only markup for a finished call by a name that means no call."""
        collector, span = self._collector, span or self._at
        if self._name not in collector.abstain:
            if kind == "call_started":
                self._index = collector.number()
            collector.report(_new_event(kind, span, text, self._index, self._name, call))
        elif call:
            collector.withhold(call, *span)


class LiveText:
    """Reports an argument that is bare text while it grows.

    `trim` says which characters around the text are not part of the value.
    """

    def __init__(self, call: LiveCall, key: str, trim: Trim) -> None:
        self._call = call
        self._opening = call.member(arguments_text(key)) + '"'
        self._trim = trim
        self._held = self._line_end = ""

    def grow(self, text: str) -> None:
        """Report more of the text, except characters at the end that may have to be trimmed."""
        text = self._held + text
        if self._trim == "space":
            text = text.lstrip() if self._opening else text
            kept = text.rstrip()
        elif self._trim == "no":
            kept = text
        elif not self._line_end and text in ("", "\r"):
            kept = ""
        else:
            if not self._line_end:
                self._line_end = line_end(text)
                text = text.removeprefix(self._line_end)
            kept = text.removesuffix(self._line_end).removesuffix(self._line_end[:-1])
        self._held = text[len(kept) :]
        self._report(kept)

    def _report(self, kept: str) -> None:
        if kept:
            self._call.grow(self._opening + arguments_text(kept)[1:-1])
            self._opening = ""

    def end(self) -> None:
        """Report the rest of the text and the closing quote."""
        if self._trim != "space":
            self._report(self._held.removesuffix(self._line_end) if self._line_end else self._held)
        self._call.grow(self._opening + '"')


_DEPTH = {"{": 1, "[": 1, "}": -1, "]": -1}


class LiveObject:
    """Reports a call while its JSON is read, by looking at the reader's draft after each step.

    A draft is a list of pieces. A key with its colon is one piece, and so is each bracket. A short
    string is one piece; of a long one, each quote and each part of its text is a piece.

    `depth` is the nesting depth of the arguments' members: 1 if the object is the arguments, 2 if
    it also has the name. `keys` are the keys of name and arguments; None if the object's only key
    is the tool's name. A call whose name comes after its arguments is reported when it is finished.
    `marked`: the call has markers; without them it is reported only from its arguments on.
    """

    def __init__(
        self,
        call: LiveCall,
        pieces: list[str],
        *,
        depth: int,
        keys: tuple[str, str] | None = None,
        marked: bool = True,
    ) -> None:
        self._call, self._pieces = call, pieces
        self._depth, self._keys, self._marked = depth, keys, marked
        self._seen = self._open = 0
        self._in_string = self._is_name = False
        self._inside = depth == 1
        self._name = self._key = ""
        self._value: list[str] = []
        """The pieces of the current member's value that have not been reported."""
        self._grows: bool | None = None
        """Whether the current argument is reported while it grows; None before its value."""

    def update(self) -> None:
        """Report what has become certain by the pieces added since the last update."""
        news = self._pieces[self._seen :]
        self._seen += len(news)
        for piece in news:
            if self._grows and self._in_string and piece != '"':
                self._value.append(piece)
            else:
                self._take(piece)
        if self._grows:
            self._report()

    def _take(self, piece: str) -> None:
        """Process the next piece: a member's key, part of a value, or a bracket around members."""
        outside, change = not self._in_string, 0
        if piece == '"':
            self._in_string = outside
        elif outside:
            change = _DEPTH.get(piece, 0)
            self._open += change
        depth = self._open - self._depth
        if outside and depth <= 0 and piece[-1:] == ":":
            self._end()
            self._begin(piece[:-1].removeprefix(","), outer=depth < 0)
        elif depth < 0 and change < 0:
            self._end()
        else:
            self._add(piece)

    def _begin(self, key: str, *, outer: bool) -> None:
        """Begin an argument or, if `outer`, a member of the call's object, such as its name.

        When the arguments begin, the call's start is reported.
        """
        if not outer:
            self._key = key if self._inside else ""
            return
        name, (name_key, arguments_key) = loaded(key), self._keys or ("", "")
        self._is_name = self._keys is not None and (name == name_key or name in NAME_KEYS)
        self._inside = not self._is_name and (
            self._keys is None or name == arguments_key or name in ARGUMENTS_KEYS
        )
        if self._inside:
            self._start(name if self._keys is None else self._name)

    def _add(self, piece: str) -> None:
        """Add a piece to the current member's value; a complete name may start the call."""
        if self._key and self._grows is None:
            properties = self._call.schema.get("properties")
            schema = properties.get(loaded(self._key)) if isinstance(properties, Mapping) else None
            is_text = isinstance(schema, Mapping) and schema.get("type") == "string"
            # A value that the schema may change is not reported while it grows.
            kept = not schema or (is_text and piece[:1] == '"')
            self._grows = self._call.started and kept
            self._value = [self._call.member(self._key)] if self._grows else []
        self._value.append(piece)
        if self._is_name and piece[-1:] == '"' and not self._in_string:
            name = loaded("".join(self._value))
            self._name = name if isinstance(name, str) else ""
            if self._marked:
                self._start(self._name)

    def _start(self, name: str) -> None:
        """Report the call's start if its name is neither empty nor too long."""
        if name and len(name) <= STARTED_NAME:
            self._call.start(name)

    def _end(self) -> None:
        """End the current member; fit an argument that did not grow to its schema and report it."""
        if self._key and not self._grows and self._call.started:
            key, value = loaded(self._key), loaded("".join(self._value))
            fitted = fit({key: value}, self._call.schema).value
            value = fitted.get(key, value) if isinstance(fitted, dict) else value
            self._value = [self._call.member(self._key), arguments_text(value)]
        if self._key:
            self._report()
        self._key, self._value, self._grows, self._is_name = "", [], None, False

    def _report(self) -> None:
        self._call.grow("".join(self._value))
        self._value.clear()


new_result = cheap(ParseResult)

JOINTS = re.compile(r"[\s;]*+")
"""The separators between and after calls without markers: Llama 3 joins calls with `; `."""

Kind: TypeAlias = Literal["content", "reasoning", "markup", "call"]


class Collector:
    """Collects the pieces of a text, in order, with its calls and diagnoses.

    `listened`: a stream takes the events; otherwise `events` is None. Calls by the names in
    `abstain` mean that no tool is called, and are reported as markup.
    """

    abstain = NO_NAMES
    growing = True
    """Whether a stream reports calls while they are read."""
    live: LiveObject | None = None
    """The object of the call that is being read, if a stream reports it."""
    bare = False
    """Whether the last block that was read had no markers."""
    full = False
    """Whether `MAX_CALLS` calls were read and another one follows."""
    answered: int | None = None
    """The offset of a later turn, which was not read; None if there is none."""
    truncated = False
    has_reasoning = False
    _withheld = False
    _numbers = 0
    _blank: tuple[int, int] | None = None
    _settled = 0
    _of_others = 0

    def __init__(self, *, listened: bool) -> None:
        self._kinds: list[Kind] = []
        self._ends = array("q")
        self.calls: list[ToolCall] = []
        self.events: list[Event] | None = [] if listened else None
        self.others: list[tuple[Span, bool]] = []
        """What others have said, as markup; and whether the model has made it up."""
        self.diagnoses: list[Diagnosis] = []
        self._started: dict[int, LiveCall] = {}
        self.kept: list[tuple[int, ToolCall]] = []
        """The reported calls that were not withdrawn, with their numbers, which ascend."""
        self.attempts: dict[bool, int] = {}
        """The offset of the first attempt that was cut off (True), and of the first other one."""

    @property
    def pieces(self) -> Iterator[tuple[Kind, int, int]]:
        """Each piece's kind, start and end."""
        return zip(self._kinds, (0, *self._ends), self._ends, strict=False)

    def spans(self, kind: Kind) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each piece of a kind; a list of them would be large."""
        if kind in self._kinds:
            yield from ((start, end) for each, start, end in self.pieces if each == kind)

    @property
    def end(self) -> int:
        """The end of the last piece."""
        return self._ends[-1] if self._ends else 0

    @property
    def last(self) -> Kind | None:
        """The kind of the last piece."""
        return self._kinds[-1] if self._kinds else None

    @property
    def last_start(self) -> int:
        """Where the last piece begins."""
        return self._ends[-2] if len(self._ends) > 1 else 0

    def text(self, text: str, start: int, end: int) -> None:
        """Add a text between blocks, from offset `start` to `end`, as content.

        White space after a block, and separators of calls without markers, wait: they are content
        if more content follows, else markup.
        """
        is_blank = text.isspace() or (self.bare and JOINTS.fullmatch(text) is not None)
        if not is_blank or self.last == "content":
            self.piece("content", start, end)
        elif start < end:
            self._blank = (self._blank[0] if self._blank else start, end)

    def settle_blank(self, kind: Kind) -> None:
        """Add the waiting white space, if any, as a piece of this kind."""
        if self._blank:
            start, end = self._blank
            self._blank = None
            self.piece(kind, start, end)

    def piece(self, kind: Kind, start: int, end: int) -> None:
        """Add a piece: characters `start` to `end` are of this kind."""
        if start == end:
            return
        if self._blank:
            self.settle_blank("content" if kind == "content" else "markup")
        kinds = self._kinds
        if kinds and kinds[-1] == kind != "call":
            self._ends[-1] = end
        else:
            kinds.append(kind)
            self._ends.append(end)
        if self.events is not None and kind != "call":
            self.events.append(event(kind, start, end))

    def begin(self, held: Sequence[ToolCall], start: int, tools: Tools | None) -> LiveCall | None:
        """Return a reporter of the call after all calls and `held` ones; None without a stream, or
        if calls are reported when they are finished.
        """
        if self.events is None or not self.growing:
            return None
        self._started[len(self.calls) + len(held)] = live = LiveCall(self, start, tools)
        return live

    def number(self) -> int:
        """Return a number for a call that starts, which no other call has had."""
        self._numbers += 1
        return self._numbers - 1

    def follows(self, number: int) -> bool:
        """Whether the number is behind those of all reported calls."""
        return not self.kept or self.kept[-1][0] < number

    def withdraw(self, start: int = -1) -> None:
        """Report that the calls from offset `start` on are dropped; by default, all of them."""
        for at in [at for at, live in self._started.items() if live.begins_at(start)]:
            self._started.pop(at).drop()
        kept = len(self.kept)
        while kept and (self.kept[kept - 1][1].span or Span(0, 0)).start >= start:
            kept -= 1
        for index, call in self.kept[kept:]:
            span = call.span or Span(0, 0)
            self.report(_new_event("call_dropped", span, "", index, call.name))
        del self.kept[kept:]

    def report(self, found: Event) -> None:
        """Report an event if a stream listens."""
        if self.events is not None:
            self.events.append(found)

    def withhold(self, call: ToolCall, start: int, end: int) -> None:
        """Report a call whose name means no call as markup, the first one also with a diagnosis."""
        if start < end:
            self.report(event("markup", start, end))
        if not self._withheld:
            self.report(event("diagnosis", start, end, diagnosis=_abstained(call)))
        self._withheld = True

    def take(self) -> list[Event]:
        """Return the events since the last call of this method, and clear them."""
        taken, self.events = self.events or [], []
        return taken

    def drop(self, waiting: int = 0) -> None:
        """Withdraw the reported starts of calls after the collected ones and `waiting` more."""
        if self._started:
            least = len(self.calls) + waiting
            for index in [index for index in self._started if index >= least]:
                self._started.pop(index).drop()

    def call(self, call: ToolCall) -> None:
        """Add a call at its span, and report it."""
        span = call.span or Span(0, 0)
        self.piece("call", *span)
        if self.events is not None:
            live = self._started.pop(len(self.calls), None)
            live = live or LiveCall(self, span.start, None)
            live.finish(call)
        self.calls.append(call)

    def verdict(self, verdict: JudgedCall, span: Span) -> None:
        """Add the diagnoses of an object that is a call or an attempt at one; note a failed one."""
        for code, message in verdict.notes:
            if verdict.call or verdict.attempt or code == "schema-echo":
                self.diagnose(code, message, *span)
        if verdict.attempt and not verdict.call:
            self.attempt(span.start, cut=verdict.truncated)

    def diagnose(self, code: str, message: str, start: int, end: int) -> None:
        """Add a diagnosis: why a text is no call, or what is unusual about it."""
        self.note(Diagnosis(code, message, Span(start, end)))

    def refuse(self, code: str, message: str, start: int, end: int, *, cut: bool = False) -> None:
        """Add an attempt that gives no call, and its diagnosis; `cut`: the text ended inside it."""
        self.diagnose(code, message, start, end)
        self.attempt(start, cut=cut)

    def note(self, diagnosis: Diagnosis) -> None:
        """Add a diagnosis, up to `MAX_DIAGNOSES`; the last says that there are too many."""
        room = MAX_DIAGNOSES - len(self.diagnoses)
        if room <= 0:
            return
        if room == 1:
            message = f"{MAX_DIAGNOSES} are listed at the most"
            diagnosis = Diagnosis("too-many-diagnoses", message, diagnosis.span)
        self.diagnoses.append(diagnosis)
        if self.events is not None and diagnosis.span:
            self.events.append(event("diagnosis", *diagnosis.span, diagnosis=diagnosis))

    def has_call(self, start: int) -> bool:
        """Whether a call begins at offset `start` or later."""
        span = self.calls[-1].span if self.calls else None
        return span is not None and span.start >= start

    def has_said(self, start: int) -> bool:
        """Whether the last call or diagnosis begins at offset `start` or later."""
        span = self.diagnoses[-1].span if self.diagnoses else None
        return self.has_call(start) or (span is not None and span.start >= start)

    def has_diagnosis(self, start: int, end: int) -> bool:
        """Whether a diagnosis concerns some of the text between two offsets."""
        spans = (note.span for note in self.diagnoses if note.span)
        return any(span.start < end and start < max(span.end, span.start + 1) for span in spans)

    def note_full(self, waiting: int = 0) -> bool:
        """Set and return `full`: whether the calls and `waiting` more reach `MAX_CALLS`."""
        self.full = len(self.calls) + waiting >= MAX_CALLS
        return self.full

    def attempt(self, start: int, *, cut: bool = False) -> None:
        """Note a failed attempt at a call at offset `start`; `cut`: the text ended inside it."""
        self.attempts[cut] = min(start, self.attempts.get(cut, start))
        self.truncated = self.truncated or cut

    def adopt(self, found: Collector, place: Callable[[int], int]) -> None:
        """Add what another collector has read; `place` maps its offsets to those of this text."""
        for note in found.diagnoses:
            self.note(replace(note, span=_moved(note.span, place)))
        calls = iter(found.calls)
        for kind, _, end in found.pieces:
            if kind == "call":
                call = next(calls)
                if place is not unmoved:
                    repairs = tuple(replace(r, span=_moved(r.span, place)) for r in call.repairs)
                    call = replace(call, span=_moved(call.span, place), repairs=repairs)
                self.call(call)
            else:
                self.piece(kind, self.end, place(end))
        for cut, start in found.attempts.items():
            self.attempt(place(start), cut=cut)
        self.truncated = self.truncated or found.truncated
        self.full = self.full or found.full

    def repeats(self, other: Collector) -> bool:
        """Whether each call equals one of the last calls of `other`, which ends with content."""
        if not self.calls or not other.calls or other.last != "content":
            return False
        made = [(call.name, call.arguments) for call in other.calls[-MAX_ECHOED:]]
        return all((call.name, call.arguments) in made for call in self.calls)

    def reclassify(self, start: int, marker: int = 0, kind: Kind = "reasoning") -> None:
        """Turn the text from `start` on into reasoning, without calls and diagnoses; its first
        `marker` characters, the opener of the reasoning, become markup.
        """
        self.settle_blank("content")
        self.has_reasoning = self.has_reasoning or kind == "reasoning"
        end, same = self.end, self.last == kind and self.last_start <= start and not marker
        self._forget(start)
        if start < end and not same:
            self.report(event("reclassified", start, end, name=kind))
        listened, self.events = self.events, None
        self.piece("markup", start, start + marker)
        self.piece(kind, start + marker, end)
        self.events = listened

    def disown(self, start: int, end: int, *, made_up: bool = False, first: bool = False) -> None:
        """Make a text markup, and withdraw what was read in it, as another has said it.

        `first`: the model has said nothing before.
        """
        if first:
            self._settled = min(self._settled, self._of_others)
            self.has_reasoning = self.truncated = False
        if start < self.end or self._blank:
            self.reclassify(start, kind="markup")
        self.piece("markup", self.end, end)
        self.bare, self._of_others = False, len(self.diagnoses) + 1
        self.others.append((Span(start, end), made_up))

    def _forget(self, start: int) -> None:
        """Remove everything that was collected from offset `start` on.

        Only diagnoses since the last call of this method are checked. Earlier ones are before
        `start`, and to check them again would be quadratic in a text with much reasoning.
        """
        self.uncover(start)
        self.withdraw(start)
        calls = self.calls
        while calls and calls[-1].span and calls[-1].span.start >= start:
            calls.pop()
        self._withheld = self._withheld and any(call.name in self.abstain for call in calls)
        settled, diagnoses = self._settled, self.diagnoses
        diagnoses[settled:] = [d for d in diagnoses[settled:] if d.span and d.span.start < start]
        self._settled = len(diagnoses)
        self.attempts = {cut: at for cut, at in self.attempts.items() if at < start}

    def uncover(self, start: int) -> None:
        """Remove all pieces from offset `start` on; one across `start` is cut there."""
        kind = self.last
        while self.end > start:
            kind = self._kinds.pop()
            self._ends.pop()
        if kind and self.end < start:
            self._kinds.append(kind)
            self._ends.append(start)

    def result(self, text: str, content: str | None = None) -> ParseResult:
        """Return the result of reading `text`, whose content may be known already."""
        return new_result(
            tuple(self.calls),
            self.text_of("content", text) if content is None else content,
            self.text_of("reasoning", text) if self.has_reasoning else None,
            tuple(self.diagnoses),
            self.truncated,
            outcome_of(self.calls, attempted=bool(self.attempts), cut=True in self.attempts),
        )

    def text_of(self, kind: Kind, text: str) -> str:
        """Return the concatenated pieces of `text` that are of this kind."""
        if kind not in self._kinds:
            return ""
        if self._kinds == [kind]:
            return text
        return "".join([text[start:end] for start, end in self.spans(kind)])


def calls_at_end(found: Collector, text: str, base: int) -> list[tuple[Kind, int, int]]:
    """Return the calls and markup pieces at the end of a text that begins at offset `base`."""
    tail: list[tuple[Kind, int, int]] = []
    for kind, start, end in reversed([*found.pieces]):
        begins = max(start, base)
        content = text[begins - base : end - base]
        if kind == "reasoning" or (kind == "content" and not content.isspace()):
            break
        tail.append((kind, begins, end))
    while tail and tail[-1][0] == "content":
        tail.pop()
    return tail[::-1]


def unmoved(offset: int) -> int:
    """Return the offset: the text that was read is the text itself."""
    return offset


def _moved(span: Span | None, place: Callable[[int], int]) -> Span | None:
    return span and Span(place(span.start), place(span.end))


def arguments_text(value: JsonValue) -> str:
    """Return a value as JSON text; large integers and lone surrogates are supported.

    Surrogates are not escaped, because two adjacent escapes would be read as one character.
    """
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False)


def loaded(text: str) -> JsonValue:
    """Return the value of a JSON text, which may have integers of any size; None if invalid."""
    try:
        return json.loads(text)
    except ValueError:
        return None
