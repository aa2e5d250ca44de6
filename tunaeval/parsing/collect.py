"""What has been read so far, and what a stream reports of it.

Pieces are offsets into the whole text, so nothing is copied until the end. A call is started as
soon as its name is known, its arguments are reported as they grow, and it is finished or dropped.
What was reported is compared with the call that came out: the pieces of a finished call concatenate
to its arguments, whatever repairing and fitting did to them.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import orjson

from tunaeval.grammar import Trim
from tunaeval.limits import MAX_CALLS, MAX_DIAGNOSES, MAX_ECHOED, STARTED_NAME
from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, JsonValue, Span, ToolCall, Tools
from tunaeval.types.makers import cheap
from tunaeval.types.parsing import ABSTAINED, REMARKS, Diagnosis, ParseResult, outcome_of

from .judge import Verdict, line_end
from .repair.schema import fit

EventKind: TypeAlias = Literal[
    "content", "reasoning", "markup", "call_started", "arguments", "call_finished", "call_dropped",
    "reclassified", "diagnosis",
]  # fmt: skip

TILES: frozenset[EventKind] = frozenset({"content", "reasoning", "markup", "call_finished"})
"""The kinds whose spans tile the text: every character lies in exactly one of them."""

TEXTS: frozenset[EventKind] = frozenset({"content", "reasoning", "markup", "reclassified"})
"""The kinds that carry the text of their span."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that became certain.

    - "content", "reasoning", "markup": `text` at `span`.
    - "call_started": call number `index` of tool `name` begins, as soon as the name is known.
    - "arguments": a piece of its arguments as JSON text; the pieces of one call concatenate to
      the whole, with the values as they are after repair and fitting.
    - "call_finished": `call`, at `span`.
    - "call_dropped": what was started is no call after all (a broken end, a repair that the level
      does not allow); the number will be used again.
    - "reclassified": what was in `span` turned out to be reasoning; calls in it are taken back.
    - "diagnosis": `diagnosis`.

    Examples:
        >>> reader = tunaeval.stream("hermes")
        >>> events = reader.feed('<tool_call>{"name": "ls", "arguments": {}}</tool_call>')
        >>> [event.kind for event in events]
        ['call_started', 'markup', 'arguments', 'call_finished', 'markup']
    """

    kind: EventKind
    span: Span
    text: str = ""
    index: int | None = None
    name: str | None = None
    call: ToolCall | None = None
    diagnosis: Diagnosis | None = None


_new_event = cheap(Event)


def event(kind: EventKind, start: int, end: int, text: str = "", **more: Any) -> Event:
    """Make an event at a span at half of the cost: streams make one for each chunk."""
    return _new_event(kind, Span(start, end), text, **more)


NO_NAMES: frozenset[str] = frozenset()


def widened(tools: Tools | None, names: frozenset[str]) -> Tools | None:
    """Return the tools that a text is read with; without tools any name may be called."""
    if tools is None or not names or names <= tools.keys():
        return tools
    return tools.widened(names)


def without_abstaining(
    result: ParseResult, names: frozenset[str], *, attempted: bool | None = None
) -> ParseResult:
    """Return the result without calls of these names.

    If no other call is left and nothing else was attempted, the outcome is "no_call". `attempted`
    says whether it was; if it is None, the diagnoses do.
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
        attempted = any(note.code not in REMARKS | {"later-turn"} for note in left)
    outcome = outcome_of(calls, attempted=attempted, cut=attempted and result.truncated)
    return replace(result, calls=calls, diagnoses=(*left, _abstained(out[0])), outcome=outcome)


def _abstained(call: ToolCall) -> Diagnosis:
    return Diagnosis(ABSTAINED, f"a call of {call.name!r:.60} means no call", call.span)


class LiveCall:
    """Reports a call that begins at offset `start` as events of a collector.

    Nothing is reported of a call to a tool that is not among `tools`, or by a name that means no
    call. `index` counts the calls before it that are reported.
    """

    def __init__(self, collector: Collector, index: int, start: int, tools: Tools | None) -> None:
        self.started = False
        self._collector = collector
        self._index = index
        self._start = start
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
        """Report a whole argument at once."""
        self.grow(self.member(arguments_text(key)) + arguments_text(value))

    def member(self, key: str) -> str:
        """Return what comes before the value of an argument; `key` is JSON."""
        return f"{',' if self._sent else '{'}{key}:"

    def finish(self, call: ToolCall) -> None:
        """Report the rest of the arguments and the call, or all of it if others were reported."""
        rest, begun = arguments_text(call.arguments), self.started and self._name == call.name
        if begun and self._sent:
            begun = arguments_text(loaded("".join(self._sent) + "}")) == rest
            rest = "}" if begun else rest
        if not begun:
            self.drop()
            self._name, self._sent = call.name, []
            self._report("call_started")
        self._report("arguments", rest)
        self._report("call_finished", span=call.span, call=call)

    def drop(self) -> None:
        """Report that what was started is no call."""
        if self.started:
            self._report("call_dropped")
        self.started = False

    def _report(
        self,
        kind: EventKind,
        text: str = "",
        *,
        span: Span | None = None,
        call: ToolCall | None = None,
    ) -> None:
        start, end = span or (self._start, self._start)
        if self._name not in self._collector.abstain:
            found = event(kind, start, end, text, index=self._index, name=self._name, call=call)
            self._collector.report(found)
        elif call:
            self._collector.withhold(call, start, end)


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
        """Report more of the text, but keep back what may turn out to be trimmed from its end."""
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
        """Report the end of the text."""
        if self._trim != "space":
            self._report(self._held.removesuffix(self._line_end) if self._line_end else self._held)
        self._call.grow(self._opening + '"')


_DEPTH = {"{": 1, "[": 1, "}": -1, "]": -1}


class LiveObject:
    """Reports a call while its JSON is read, by looking at the reader's draft after each step.

    A draft is a list of pieces. A key with its colon is one piece, and so is each bracket. A short
    string is one piece; of a long one, each quote and each part of its text is a piece.

    `depth` is that of the arguments' members: 1 when the object is the arguments, 2 when it also
    has the name. `keys` are the keys of name and arguments; None when the only key is the name.
    A call whose name comes behind its arguments is reported when it is finished.
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
        """The pieces of the present member's value, but for those that were reported."""
        self._grows: bool | None = None
        """Whether the present argument is reported while it grows; None before its value."""

    def update(self) -> None:
        """Report what has become certain since the last time."""
        news = self._pieces[self._seen :]
        self._seen += len(news)
        for piece in news:
            self._take(piece)
        if self._grows:
            self._report()

    def _take(self, piece: str) -> None:
        """Take the next piece: a member's key, part of its value, or a bracket around members."""
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
        """Begin a member: an argument, or, of the `outer` object, the name, arguments, or others.

        Without markers around it, an object is only a call if it has arguments, too.
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
        """Add a piece to the present member's value."""
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
        if name and len(name) <= STARTED_NAME:
            self._call.start(name)

    def _end(self) -> None:
        """End the present member; an argument that did not grow is reported as the schema wants."""
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
"""What is between bare calls, and behind them, is no content: Llama 3 joins them by `; `."""

Kind: TypeAlias = Literal["content", "reasoning", "markup", "call"]


class Collector:
    """Collects the pieces of a text, in order, with its calls and diagnoses.

    `events` is None where no stream reports them. Calls of the names in `abstain` mean no call:
    their events are those of markup.
    """

    def __init__(self, *, listened: bool) -> None:
        self.abstain = NO_NAMES
        self._withheld = False
        self._kinds: list[Kind] = []
        self._ends = array("q")
        self.calls: list[ToolCall] = []
        self.events: list[Event] | None = [] if listened else None
        self.live: LiveObject | None = None
        """The object of a call that is being read, if anybody listens."""
        self.bare = False
        """Whether the last block that was read had no markers."""
        self.full = False
        """Whether as many calls were read as ever are, and another one follows."""
        self.answered: int | None = None
        """Where a later turn begins, which was not read."""
        self.truncated = self.has_reasoning = False
        self._blank: tuple[int, int] | None = None
        self.diagnoses: list[Diagnosis] = []
        self._started: dict[int, LiveCall] = {}
        self.attempts: dict[bool, int] = {}
        """Where the first attempt began that was cut off, and the first that was not."""
        self._settled = 0

    @property
    def pieces(self) -> Iterator[tuple[Kind, int, int]]:
        """Each piece's kind, start and end."""
        start = 0
        for kind, end in zip(self._kinds, self._ends, strict=True):
            yield kind, start, end
            start = end

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
        """Add text between blocks as content.

        White space after a block, and what separates bare calls, is held back: it is content if
        more content follows, and markup otherwise.
        """
        blank = text.isspace() or (self.bare and JOINTS.fullmatch(text) is not None)
        if self.last == "content" or not blank:
            self.piece("content", start, end)
        elif start < end:
            self._blank = (self._blank[0] if self._blank else start, end)

    def settle_blank(self, kind: Kind) -> None:
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
        if kind != "call" and self.last == kind:
            self._ends[-1] = end
        else:
            self._kinds.append(kind)
            self._ends.append(end)
        if self.events is not None and kind != "call":
            self.events.append(event(kind, start, end))

    def begin(self, held: Sequence[ToolCall], start: int, tools: Tools | None) -> LiveCall | None:
        """Return what reports a call behind others that are held; None where no stream does."""
        if self.events is None:
            return None
        known = [*self.calls, *held]
        self._started[len(known)] = live = LiveCall(self, self._number(known), start, tools)
        return live

    def _number(self, calls: Sequence[ToolCall]) -> int:
        """Return how many of the calls are reported."""
        abstain = self.abstain
        return sum(call.name not in abstain for call in calls) if abstain else len(calls)

    def report(self, found: Event) -> None:
        """Report an event, if anybody listens."""
        if self.events is not None:
            self.events.append(found)

    def withhold(self, call: ToolCall, start: int, end: int) -> None:
        """Report a call that means none as markup; the first one has a diagnosis, too."""
        if start < end:
            self.report(event("markup", start, end))
        if not self._withheld:
            self.report(event("diagnosis", start, end, diagnosis=_abstained(call)))
        self._withheld = True

    def take(self) -> list[Event]:
        """Return and forget the events since the last time."""
        taken, self.events = self.events or [], []
        return taken

    def drop(self, waiting: int = 0) -> None:
        """Report that what began behind so many waiting calls is no call."""
        least = len(self.calls) + waiting
        for index in [index for index in self._started if index >= least]:
            self._started.pop(index).drop()

    def call(self, call: ToolCall) -> None:
        """Add a call at its span, and report it."""
        span = call.span or Span(0, 0)
        self.piece("call", *span)
        if self.events is not None:
            live = self._started.pop(len(self.calls), None)
            live = live or LiveCall(self, self._number(self.calls), span.start, None)
            live.finish(call)
        self.calls.append(call)

    def verdict(self, verdict: Verdict, span: Span) -> None:
        """Note the diagnoses of an object, and whether it tried to be a call and is none."""
        for code, message in verdict.notes if verdict.call or verdict.attempt else ():
            self.diagnose(code, message, *span)
        if verdict.attempt and not verdict.call:
            self.attempt(span.start, cut=verdict.truncated)

    def diagnose(self, code: str, message: str, start: int, end: int) -> None:
        """Note why something is no call, or what is odd."""
        self.note(Diagnosis(code, message, Span(start, end)))

    def refuse(self, code: str, message: str, start: int, end: int, *, cut: bool = False) -> None:
        """Note an attempt that gives no call, and why; `cut`: the text ended inside it."""
        self.diagnose(code, message, start, end)
        self.attempt(start, cut=cut)

    def note(self, diagnosis: Diagnosis) -> None:
        """Note a diagnosis, up to as many as are listed."""
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
        """Whether a call begins at `start` or behind it."""
        span = self.calls[-1].span if self.calls else None
        return span is not None and span.start >= start

    def has_said(self, start: int) -> bool:
        """Whether a call, or a diagnosis, begins at `start` or behind it."""
        span = self.diagnoses[-1].span if self.diagnoses else None
        return self.has_call(start) or (span is not None and span.start >= start)

    def has_diagnosis(self, start: int, end: int) -> bool:
        """Whether a diagnosis concerns some of the text between two offsets."""
        spans = (note.span for note in self.diagnoses if note.span)
        return any(span.start < end and start < max(span.end, span.start + 1) for span in spans)

    def is_full(self, waiting: int = 0) -> bool:
        """Whether as many calls were read as are read at the most; then nothing more is."""
        self.full = len(self.calls) + waiting >= MAX_CALLS
        return self.full

    def attempt(self, start: int, *, cut: bool = False) -> None:
        """Note that something tried to be a call and is none; `cut`: the text ended inside it."""
        self.attempts[cut] = min(start, self.attempts.get(cut, start))
        self.truncated = self.truncated or cut

    def adopt(self, found: Collector, place: Callable[[int], int]) -> None:
        """Take over what another collector has read; `place` says where its offsets are here."""
        for note in found.diagnoses:
            self.note(replace(note, span=_moved(note.span, place)))
        calls = iter(found.calls)
        for kind, _, end in found.pieces:
            if kind == "call":
                call = next(calls)
                repairs = tuple(replace(r, span=_moved(r.span, place)) for r in call.repairs)
                moved = _moved(call.span, place)
                if (moved, repairs) != (call.span, call.repairs):
                    call = replace(call, span=moved, repairs=repairs)
                self.call(call)
            else:
                self.piece(kind, self.end, place(end))
        for cut, start in found.attempts.items():
            self.attempt(place(start), cut=cut)
        self.truncated = self.truncated or found.truncated
        self.full = self.full or found.full

    def repeats(self, other: Collector) -> bool:
        """Whether all calls here are some that the other one has, with words behind them."""
        if not self.calls or not other.calls or other.last != "content":
            return False
        made = [(call.name, call.arguments) for call in other.calls[-MAX_ECHOED:]]
        return all((call.name, call.arguments) in made for call in self.calls)

    def reclassify(self, start: int, marker: int = 0) -> None:
        """Turn all since `start` into reasoning behind a marker; take back calls and diagnoses."""
        self.settle_blank("content")
        self.has_reasoning = True
        end = self.end
        self._forget(start)
        if start < end:
            self.report(event("reclassified", start, end))
        listened, self.events = self.events, None
        self.piece("markup", start, start + marker)
        self.piece("reasoning", start + marker, end)
        self.events = listened

    def _forget(self, start: int) -> None:
        """Take back all that was collected behind `start`.

        Of the diagnoses only those since the last time are looked at, because `start` is never
        before them, and a text full of reasoning would take the square of its length otherwise.
        """
        self.uncover(start)
        calls = self.calls
        while calls and calls[-1].span and calls[-1].span.start >= start:
            calls.pop()
        self._withheld = self._withheld and self._number(calls) < len(calls)
        settled, diagnoses = self._settled, self.diagnoses
        diagnoses[settled:] = [d for d in diagnoses[settled:] if d.span and d.span.start < start]
        self._settled = len(diagnoses)
        self.attempts = {cut: at for cut, at in self.attempts.items() if at < start}

    def uncover(self, start: int) -> None:
        """Take back all pieces behind `start`."""
        kind = self.last
        while self.end > start:
            kind = self._kinds.pop()
            self._ends.pop()
        if kind and self.end < start:
            self._kinds.append(kind)
            self._ends.append(start)

    def result(self, text: str) -> ParseResult:
        """Return the result of all of `text`."""
        return new_result(
            tuple(self.calls),
            self._text_of("content", text),
            self._text_of("reasoning", text) if self.has_reasoning else None,
            tuple(self.diagnoses),
            self.truncated,
            outcome_of(self.calls, attempted=bool(self.attempts), cut=True in self.attempts),
        )

    def _text_of(self, kind: Kind, text: str) -> str:
        """Return all of `text` that is of this kind."""
        if self._kinds == [kind]:
            return text
        return "".join([text[start:end] for each, start, end in self.pieces if each == kind])


def _moved(span: Span | None, place: Callable[[int], int]) -> Span | None:
    return span and Span(place(span.start), place(span.end))


def arguments_text(value: JsonValue) -> str:
    """Return a value as JSON text, with integers of any size and lone surrogates as they are.

    Two surrogates side by side, escaped, would be read as one character.
    """
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False)


def loaded(text: str) -> JsonValue:
    """Return the value of a JSON text, integers of any size included; None if it has none."""
    try:
        return json.loads(text)
    except ValueError:
        return None
