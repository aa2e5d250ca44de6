"""Reads replies for a model server: the words and the calls of each, whole or as they arrive.

The words are the text without calls and their markup. Reasoning is part of them, with its markers,
and so is markup that turns out to belong to no call: a text without a call is left as it is. What
was sent cannot be taken back, so by default a call is sent when it is finished.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from tunaeval.errors import UsageError
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import Level, ParseResult
from tunaeval.wire.assembler import Halves

from .api import reader_named
from .events import Event
from .reader import Reader

VARIABLES = {
    "TUNAEVAL_LEVEL": ("standard", "strict", "lenient"),
    "TUNAEVAL_DELTAS": ("finished", "growing"),
    "TUNAEVAL_UNKNOWN_TOOLS": ("text", "call"),
}
"""The values of each environment variable, of which the first one is the default."""


class Settings(NamedTuple):
    """How all replies are read: in which format, and as the environment says."""

    form: str
    level: Level
    deltas: str
    unknown: str

    @classmethod
    def of(cls, form: str, environment: Mapping[str, str]) -> Settings:
        """Return the settings; raise UsageError for a format or a value that is none."""
        values: list[Any] = []
        for variable, known in VARIABLES.items():
            values.append(value := environment.get(variable) or known[0])
            if value not in known:
                wanted = ", ".join(map(repr, known))
                raise UsageError(f"{variable} is {value!r}; wanted one of {wanted}, or no value")
        reader_of(form)
        return cls(form, *values)


@cache
def reader_of(form: str, *, plain: bool = False, forced: bool = False) -> Reader:
    """Return the reader of a format. If it is `plain`, no marker means reasoning; if a call was
    `forced`, it may be JSON, in which replies are constrained where a format has no grammar.
    """
    reader = reader_named(form)
    if forced:
        forms = tuple(dict.fromkeys((*reader.formats, *reader_named("json").formats)))
        turns, wants = reader.turns, reader.wants_tools
        reader = Reader(reader.name, forms, wants_tools=wants, turns=turns)
    return reader.without_reasoning() if plain else reader


class Sent(NamedTuple):
    """A piece of a call for the client. `at` is the call's place; `name` is in its first piece
    alone. The arguments are whole or the next part of them, and the call itself is there when it
    is finished.
    """

    at: int
    name: str | None
    arguments: str
    call: ToolCall | None = None


class Reply:
    """A reply while it is read. `tools` are those of its request; with None, any name counts."""

    def __init__(
        self, settings: Settings, tools: Tools | None, *, plain: bool = False, forced: bool = False
    ) -> None:
        if tools is not None and settings.unknown == "call":
            tools = _AnyName(tools.values())
        self.tools, self._level, self._grows = tools, settings.level, settings.deltas == "growing"
        self._reader = reader_of(settings.form, plain=plain, forced=forced)
        self._stream = self._reader.stream(tools=tools, level=settings.level, growing=self._grows)
        self._halves = Halves()
        self._held, self._after_call = "", False
        self._sent = dict[int | None, tuple[int, str]]()
        """The index and the arguments of each call that was sent, by the number of its events."""
        self._begun = 0
        self._left: tuple[str | None, int, str] | None = None
        """The name, the index and the arguments of a call that was sent and is none."""
        self.lost = 0
        """How many calls were sent and are none."""

    def whole(self, text: str) -> tuple[str, list[Sent], ParseResult]:
        """Read a whole reply; return its words, its calls, and the result."""
        result, pieces = self._reader.read_tiled(text, self.tools, self._level)
        words = [self._words(kind, text[start:end]) for kind, start, end in pieces]
        calls = [
            Sent(index, call.name, _encoded(call), call) for index, call in enumerate(result.calls)
        ]
        return "".join([*words, self._words("end")]), calls, result

    def feed(self, piece: str) -> tuple[str, list[Sent]]:
        """Read the next piece; return the words and the calls that it made certain."""
        return self._news(self._stream.feed(self._halves.joined(piece)))

    def finish(self) -> tuple[str, list[Sent], ParseResult]:
        """End the reply; return what that has made certain, and the result."""
        events = self._stream.feed(self._halves.kept)
        result = self._stream.finish()
        words, calls = self._news([*events, *self._stream.last_events()])
        return words + self._words("end"), calls, result

    def _news(self, events: Iterable[Event]) -> tuple[str, list[Sent]]:
        words, calls = list[str](), list[Sent]()
        for event in events:
            if event.kind in ("content", "reasoning", "markup"):
                words.append(self._words(event.kind, event.text))
            else:
                if event.call is not None:
                    words.append(self._words("call"))
                calls += self._grown(event) if self._grows else self._finished(event)
        return "".join(words), calls

    def _words(self, kind: str, text: str = "") -> str:
        """Take the next piece, or the "end"; return the words that are certain now."""
        if kind == "markup":
            self._held += text
            return ""
        held, self._held = self._held, ""
        if held and (kind == "call" or self._after_call):
            held = "".join(_marks(self._reader).findall(held))
        self._after_call = kind == "call"
        return held if kind == "call" else held + text

    def _finished(self, event: Event) -> Iterator[Sent]:
        if event.call is not None:
            yield self._start(event, _encoded(event.call))
        elif event.kind == "call_dropped":
            self.lost += event.index in self._sent

    def _grown(self, event: Event) -> Iterator[Sent]:
        """Yield what an event adds; a call that is dropped goes on as the next one that fits it."""
        number, name, left = event.index, event.name, self._left
        if event.kind == "call_dropped" and number in self._sent:
            self._left, self.lost = (name, *self._sent.pop(number)), self.lost + 1
        elif event.kind == "call_started" and not (left and left[0] == name):
            yield self._start(event)
        elif event.kind == "arguments":
            text = _on_wire(event.text)
            if number not in self._sent and left and text.startswith(left[2]):
                self._sent[number], text = left[1:], text.removeprefix(left[2])
                self.lost -= 1
            elif number not in self._sent:
                yield self._start(event)
            self._left = None
            index, sent = self._sent[number]
            self._sent[number] = index, sent + text
            yield Sent(index, None, text)

    def _start(self, event: Event, arguments: str = "") -> Sent:
        index, self._begun = self._begun, self._begun + 1
        self._sent[event.index] = index, arguments
        return Sent(index, event.name, arguments, event.call)


class _AnyName(Tools):
    """Tools among which every name is, without a schema if it is none of them."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> ToolSpec:
        return self._by_name.get(name) or ToolSpec(name)


@cache
def _marks(reader: Reader) -> re.Pattern[str]:
    """Return the pattern of a reader's markers of reasoning."""
    of = [one for form in reader.formats for one in form.reasoning]
    marks = sorted({*(one.open for one in of), *(one.close for one in of)}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, marks)) or "(?!)")


def read_tools(given: Iterable[Any] | None, warn: Callable[..., None]) -> Tools | None:
    """Return the tools of a request, which may be a server's objects. Return None, which lets any
    name count, if there are none or one cannot be read; that is a warning.
    """
    dumped = [one.model_dump() if hasattr(one, "model_dump") else one for one in given or ()]
    try:
        return to_tools(dumped) if dumped else None
    except UsageError as error:
        warn("the tools cannot be read (%s), so any name counts", type(error).__name__)
        return None


def report_of(result: ParseResult, tools: Tools | None) -> str:
    """Return for a log what was repaired and what is no call, by codes and names of tools alone."""
    repairs = sorted({repair.code for call in result.calls for repair in call.repairs})
    codes = sorted({note.code for note in result.diagnoses})
    if not (repairs or codes):
        return ""
    known = [*(tools or ())]
    names = [call.name if call.name in known else "(an unknown tool)" for call in result.calls]
    return f"calls: {names}; repairs: {repairs}; diagnoses: {codes}"


def _encoded(call: ToolCall) -> str:
    return _on_wire(json.dumps(call.arguments, ensure_ascii=False))


def _on_wire(text: str) -> str:
    """Return JSON with escapes for halves of characters, which cannot be sent otherwise."""
    return text if text.isascii() else _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


_HALF = re.compile("[\ud800-\udfff]")
