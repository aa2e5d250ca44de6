"""What a stream reports while a text arrives, and calls that are reported while they are read.

A call is started as soon as its name is known, its arguments are reported as they grow, and it is
finished or dropped. What was reported is compared with the call that came out: the pieces of a
finished call concatenate to its arguments, whatever repairing and fitting did to them.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson

from tunaeval.grammar import Trim
from tunaeval.limits import STARTED_NAME
from tunaeval.repair import fit
from tunaeval.types import (
    ARGUMENTS_KEYS,
    NAME_KEYS,
    Diagnosis,
    JsonValue,
    Span,
    ToolCall,
    Tools,
    cheap,
)

from .judge import line_end

EventKind: TypeAlias = Literal[
    "content",
    "reasoning",
    "markup",
    "call_started",
    "arguments",
    "call_finished",
    "call_dropped",
    "reclassified",
    "diagnosis",
]

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


class LiveCall:
    """Reports the call with number `index`, which begins at offset `start`, as events.

    Nothing is reported of a call to a tool that is not among `tools`.
    """

    def __init__(self, events: list[Event], index: int, start: int, tools: Tools | None) -> None:
        self.started = False
        self._events = events
        self._index = index
        self._start = start
        self._tools = tools
        self._name = ""
        self._schema: Mapping[str, JsonValue] = {}
        self._sent: list[str] = []

    def start(self, name: str) -> None:
        """Report that the call begins, now that its name is known."""
        if self.started or (self._tools is not None and name not in self._tools):
            return
        self.started, self._name = True, name
        self._schema = self._tools[name].parameters if self._tools else {}
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

    def fitted(self, key: str, value: JsonValue) -> JsonValue:
        """Return the value as the tool's schema wants it."""
        found = fit({key: value}, self._schema).value
        return found.get(key, value) if isinstance(found, dict) else value

    def plain(self, key: str, *, text: bool) -> bool:
        """Return whether an argument's value (a text?) will stay as it is written."""
        properties = self._schema.get("properties")
        schema = properties.get(key) if isinstance(properties, Mapping) else None
        return not schema or (
            text and isinstance(schema, Mapping) and schema.get("type") == "string"
        )

    def finish(self, call: ToolCall) -> None:
        """Report the rest of the arguments and the whole call.

        Where what was reported cannot be continued to this call, it is dropped and begins again.
        """
        rest = self._rest(call) if self.started and self._name == call.name else None
        if rest is None:
            self.drop()
            self._name, self._sent = call.name, []
            self._report("call_started")
            rest = arguments_text(call.arguments)
        self._report("arguments", rest)
        start, end = call.span or (self._start, self._start)
        self._events.append(
            event("call_finished", start, end, index=self._index, name=call.name, call=call)
        )

    def drop(self) -> None:
        """Report that what was started is no call."""
        if self.started:
            self._report("call_dropped")
        self.started = False

    def _report(self, kind: EventKind, text: str = "") -> None:
        start = self._start
        self._events.append(event(kind, start, start, text, index=self._index, name=self._name))

    def _rest(self, call: ToolCall) -> str | None:
        """Return what has to follow the reported pieces; None if nothing can make them right.

        Of two members with one name the last counts, so a value can still be corrected.
        """
        if not self._sent:
            return arguments_text(call.arguments)
        sent = "".join(self._sent) + "}"
        if sent == arguments_text(call.arguments):
            return "}"
        reported = loaded(sent)
        if not isinstance(reported, dict) or reported.keys() - call.arguments.keys():
            return None
        wrong = {
            key: value
            for key, value in call.arguments.items()
            if key not in reported or arguments_text(reported[key]) != arguments_text(value)
        }
        if not wrong:
            return "}"
        return ("," if reported else "") + arguments_text(wrong)[1:]


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


@dataclass(slots=True)
class _Member:
    """One argument: its key as JSON, where its value's pieces begin and end, how many were sent."""

    key: str
    at: int
    end: int | None = None
    sent: int | None = None


_OPENERS, _CLOSERS = frozenset("{["), frozenset("}]")


class LiveObject:
    """Reports a call while its JSON is read, by looking at the reader's draft now and then.

    A draft is a list of pieces. A string that grows begins and ends with a quote that is a piece of
    its own; a key is one piece with its colon; so is every bracket.

    `depth` is that of the arguments' members: 1 when the object is the arguments, 2 when it also
    has the name. `keys` are the keys of name and arguments; None when the only key is the name.
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
        self.call = call
        self._pieces = pieces
        self._seen = 0
        self._open = 0
        self._in_string = False
        self._depth = depth
        self._keys = keys
        self._marked = marked
        self._name_at: int | None = None
        self._name = ""
        self._inside = depth == 1
        self._members: deque[_Member] = deque()

    def update(self) -> None:
        """Report what has become certain since the last time."""
        pieces = self._pieces
        if self._seen == len(pieces):
            return
        for at in range(self._seen, len(pieces)):
            piece = pieces[at]
            if piece == '"':
                self._in_string = not self._in_string
            elif self._in_string:
                continue
            elif piece in _OPENERS:
                self._open += 1
            elif piece in _CLOSERS:
                self._open -= 1
                self._mark("", at + 1)
            elif piece[-1:] == ":":
                self._mark(piece[:-1].removeprefix(","), at + 1)
        self._seen = len(pieces)
        if self._name_at is not None and not self.call.started:
            self._learn(self._name_at)
        if self.call.started and self._members:
            self._send()

    def _mark(self, key: str, at: int) -> None:
        """A member begins whose value's first piece is `at`; the one before it has ended.

        Without a key, an object or array ends before that piece.
        """
        depth, members = self._open - self._depth, self._members
        if depth <= 0 and members and members[-1].end is None:
            members[-1].end = at - 1 if key or depth else at
        if depth == 0 and key and self._inside:
            members.append(_Member(key, at))
        elif depth == -1 and self._depth > 1:
            self._outer(_key(key) if key else "", at)

    def _outer(self, key: str, at: int) -> None:
        """A member of the object that has name and arguments; without a key, that ends."""
        self._inside = False
        name_key, arguments_key = self._keys or (None, None)
        if key == name_key or (self._name_at is None and key in NAME_KEYS):
            self._name_at, self._name = at, ""
        elif key == arguments_key or key in ARGUMENTS_KEYS:
            self._inside = True
        elif key and self._keys is None:
            self._inside = True
            self.call.start(key)

    def _learn(self, at: int) -> None:
        """Start the call once all of its name is there; a bare object needs arguments as well."""
        if not (self._marked or self._inside or self._members):
            return
        for piece in self._pieces[at:]:
            if len(self._name) > STARTED_NAME or self.call.started:
                return
            self._name += piece
            self._name_at = at = at + 1
            name = loaded(self._name) if piece[-1:] == '"' else None
            if isinstance(name, str):
                self.call.start(name)

    def _send(self) -> None:
        parts: list[str] = []
        while self._members and self._take(self._members[0], parts):
            self._members.popleft()
        self.call.grow("".join(parts))

    def _take(self, member: _Member, parts: list[str]) -> bool:
        """Add what has arrived of a member to `parts`; return whether that is all of it."""
        pieces, at, end = self._pieces, member.at, member.end
        limit = len(pieces) if end is None else end
        if limit <= max(at, member.sent or 0):
            return end is not None
        if member.sent is None:
            if not self.call.plain(_key(member.key), text=pieces[at][0] == '"'):
                if end is not None:  # what the schema may change is reported when it is whole
                    value = self.call.fitted(_key(member.key), loaded("".join(pieces[at:end])))
                    parts += (self._opening(member, parts), arguments_text(value))
                return end is not None
            parts.append(self._opening(member, parts))
            member.sent = at
        parts += pieces[member.sent : limit]
        member.sent = limit
        return end is not None

    def _opening(self, member: _Member, parts: list[str]) -> str:
        return f",{member.key}:" if parts else self.call.member(member.key)


def _key(text: str) -> str:
    """Return the key that is written as JSON."""
    return str(json.loads(text)) if "\\" in text else text[1:-1]


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
