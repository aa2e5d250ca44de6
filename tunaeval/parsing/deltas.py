"""Chunks of an OpenAI-compatible stream: text and structured calls that arrive in fragments.

Structured calls are told of like those in a text, and in the end count as in `message`: where the
server has parsed calls, those are the calls.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping

import orjson

from tunaeval.repair import JsonReader
from tunaeval.types import Diagnosis, JsonValue, Level, ParseResult, Tools
from tunaeval.window import Window

from .collect import MAX_CALLS
from .events import Event, event
from .live import LiveCall
from .live_objects import LiveObject
from .message import REASONING_KEYS, joined, reasoned, structured


class _Fragments:
    """One structured call, as far as it has arrived."""

    def __init__(self, events: list[Event], index: int, start: int, tools: Tools | None) -> None:
        self.call = LiveCall(events, index, start, tools)
        self._id: JsonValue = None
        self._name = ""
        self._text: list[str] = []
        self._window = Window()
        reader = JsonReader(self._window)
        self._object = LiveObject(self.call, reader.draft.pieces, depth=1)
        self._reading = reader.read()
        self._ended = False

    def take(self, fragment: Mapping[str, JsonValue]) -> None:
        """The next fragment; name and arguments grow, the rest stands once."""
        self._id = self._id if self._id is not None else fragment.get("id")
        function = fragment.get("function")
        if not isinstance(function, Mapping):
            return
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(name, str):
            self._name += name
        if arguments is not None and self._name:
            self.call.start(self._name)
        if isinstance(arguments, str):
            self._text.append(arguments)
            self._follow(arguments)

    def _follow(self, text: str) -> None:
        self._window.feed(text)
        if not self._ended and self._window.text.strip():
            try:
                next(self._reading)
            except StopIteration:
                self._ended = True
            self._object.tell()

    def whole(self) -> JsonValue:
        """The call as a message has it."""
        function: JsonValue = {"name": self._name, "arguments": "".join(self._text)}
        return {"id": self._id, "function": function}


class Deltas:
    """The structured calls and the reasoning of one streamed message."""

    def __init__(self, events: list[Event], tools: Tools | None, level: Level) -> None:
        self._events = events
        self._tools = tools
        self._level = level
        self._calls: dict[object, _Fragments] = {}
        self._reasoning: list[str] = []
        self._faults: list[Diagnosis] = []

    def take(self, delta: Mapping[str, JsonValue], at: int) -> None:
        """A delta's fragments of calls and of reasoning; `at` is how much text there has been."""
        reasoning = next(filter(None, (delta.get(key) for key in REASONING_KEYS)), None)
        if isinstance(reasoning, str):
            self._reasoning.append(reasoning)
            self._events.append(event("reasoning", at, at, reasoning))
        fragments = delta.get("tool_calls")
        for place, fragment in enumerate(fragments if isinstance(fragments, list) else ()):
            if isinstance(fragment, Mapping):
                self._call(fragment.get("index", place), at).take(fragment)

    def _call(self, index: object, at: int) -> _Fragments:
        """The call that a fragment belongs to, by its index."""
        key = index if isinstance(index, int) else 0
        if key not in self._calls:
            number = len(self._calls)
            listened = self._events if number < MAX_CALLS else []
            self._calls[key] = _Fragments(listened, number, at, self._tools)
        return self._calls[key]

    def unreadable(self, message: str) -> None:
        """A chunk that could not be understood; nothing else is lost."""
        self._faults.append(Diagnosis("invalid-chunk", message))
        self._events.append(event("diagnosis", 0, 0, diagnosis=self._faults[-1]))

    def finish(self, text: ParseResult) -> ParseResult:
        """The whole message, whose text gave `text`."""
        text = reasoned(text, "".join(self._reasoning), self._faults)
        if not self._calls:
            return text
        items = [call.whole() for call in self._calls.values()]
        found, calls = structured(items, self._tools, self._level)
        for fragments, call in zip(self._calls.values(), calls, strict=False):
            if call is None:
                fragments.call.drop()
            else:
                fragments.call.finish(call)
        return joined(found, text)


class Lines:
    """Server-sent events from pieces of a byte stream: the data of each."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest: list[str] = []

    def feed(self, piece: str | bytes) -> list[str]:
        """The data that this piece completes; what is not data (comments, ids) is passed over."""
        text = piece if isinstance(piece, str) else self._decode(piece)
        *lines, rest = text.split("\n")
        if lines:
            lines[0] = "".join(self._rest) + lines[0]
            self._rest.clear()
        self._rest.append(rest)
        found = [line[5:].strip() for line in lines if line.startswith("data:")]
        return [data for data in found if data and data != "[DONE]"]


def delta_of(data: str) -> Mapping[str, JsonValue] | str:
    """The first choice's delta of a chunk; a text that says why there is none."""
    try:
        chunk = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return f"a chunk that is no JSON ({error}): {data[:60]!r}"
    if not isinstance(chunk, dict):
        return f"a chunk is an object, not {data[:60]!r}"
    if chunk.get("error"):
        return f"the server reports: {chunk['error']!r:.200}"
    choices = chunk.get("choices")
    first = next((c for c in choices or () if isinstance(c, dict) and not c.get("index")), None)
    delta = first.get("delta", first.get("message")) if first else None
    return delta if isinstance(delta, dict) else {}
