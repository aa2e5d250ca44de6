"""Deltas of an OpenAI-compatible stream: text and structured calls that arrive in fragments.

Structured calls are reported like those in a text, and in the end count as in `message`: where the
server has parsed calls, those are the calls.

Which call a fragment belongs to, its index should say, but servers number all calls 0 or leave the
index out. So under one index a new call begins where the id changes, or, without ids, where a name
comes again with arguments although those before are complete. A fragment that has a new id but no
name goes on with the call before, as some servers make a new id for each fragment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tunaeval.limits import MAX_CALLS, STARTED_NAME
from tunaeval.repair import JsonReader, Read
from tunaeval.sse import Delta
from tunaeval.types import Diagnosis, JsonValue, Level, ParseResult, Tools
from tunaeval.window import Window

from ..message import REASONING_KEYS, joined, reasoned, structured
from .events import Event, event
from .live import LiveCall
from .live_objects import LiveObject


class _Fragments:
    """One structured call, as far as it has arrived."""

    def __init__(self, events: list[Event], index: int, start: int, tools: Tools | None) -> None:
        self.call = LiveCall(events, index, start, tools)
        self.index = 0
        """What the server numbers it; the number of several calls may be one."""
        self.id: JsonValue = None
        self._names: list[str] = []
        self._name_size = 0
        self._texts: list[str] = []
        self._value: JsonValue = None
        """Arguments that came as an object, not as text."""
        self._window = Window()
        reader = JsonReader(self._window)
        self._object = LiveObject(self.call, reader.draft.pieces, depth=1)
        self._reading = reader.read()
        self._begun = False
        self._ended = False
        self._complete = False

    def take(self, fragment: Delta) -> None:
        """The next fragment; name and arguments grow, the rest comes once."""
        if not self.id:
            found = fragment.get("id")
            self.id = self.id if found is None else found
        name, arguments = _function(fragment)
        if isinstance(name, str) and name:
            self._take_name(name)
        if arguments is not None and 0 < self._name_size <= STARTED_NAME:
            self.call.start("".join(self._names))
        if isinstance(arguments, str):
            self._texts.append(arguments)
            self._follow(arguments)
        elif arguments is not None:
            self._value, self._complete = arguments, True

    def _take_name(self, name: str) -> None:
        """A name may come in pieces before the arguments; afterwards, or whole, it is a repeat."""
        known = self._begun or (len(name) == self._name_size and name == "".join(self._names))
        if not known:
            self._names.append(name)
            self._name_size += len(name)

    def _follow(self, text: str) -> None:
        """Read on in the arguments, until they end or make no sense."""
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
        self._object.tell()

    def goes_on_with(self, fragment: Delta, id_: str) -> bool:
        """Whether a fragment under this call's index is of this call; `id_` is "" for none."""
        name, arguments = _function(fragment)
        if id_ and self.id and id_ != self.id:
            return not name and bool(arguments)
        return not (self._complete and name and _begins_arguments(arguments))

    def whole(self) -> JsonValue:
        """The call as a message has it."""
        text = "".join(self._texts)
        arguments = self._value if self._value is not None and not text.strip() else text
        return {"id": self.id, "function": {"name": "".join(self._names), "arguments": arguments}}


def _function(fragment: Delta) -> tuple[JsonValue, JsonValue]:
    """Name and arguments, as far as a fragment has them."""
    function = fragment.get("function")
    if not isinstance(function, Mapping):
        return None, None
    return function.get("name"), function.get("arguments")


def _begins_arguments(arguments: JsonValue) -> bool:
    if isinstance(arguments, str):
        return arguments.lstrip().startswith("{")
    return arguments is not None


class Deltas:
    """The structured calls and the reasoning of one streamed message."""

    def __init__(self, events: list[Event], tools: Tools | None, level: Level) -> None:
        self._events = events
        self._tools = tools
        self._level = level
        self._calls: list[_Fragments] = []
        self._latest: dict[int, _Fragments] = {}
        """By index, the call that it was last said of."""
        self._by_id: dict[tuple[int, str], _Fragments] = {}
        self._index_of: dict[str, int] = {}
        self._last_index = 0
        self._reasoning: list[str] = []
        self._faults: list[Diagnosis] = []
        self._cut = False

    def take(self, delta: Delta, at: int) -> None:
        """A delta's fragments of calls and of reasoning; `at` is how much text there has been."""
        reasoning = next(filter(None, (delta.get(key) for key in REASONING_KEYS)), None)
        if isinstance(reasoning, str):
            self._reasoning.append(reasoning)
            self._events.append(event("reasoning", at, at, reasoning))
        listed = delta.get("tool_calls")
        fragments = listed if isinstance(listed, list) else []
        for place, fragment in enumerate(fragments):
            if isinstance(fragment, Mapping):
                found = fragment.get("id")
                id_ = found if isinstance(found, str) else ""
                index = fragment.get("index")
                if not isinstance(index, int):
                    alone = self._last_index if len(fragments) == 1 else place
                    index = self._index_of.get(id_, alone)
                self._call(fragment, index, id_, at).take(fragment)

    def _call(self, fragment: Delta, index: int, id_: str, at: int) -> _Fragments:
        """The call that a fragment belongs to; see the module's first words."""
        call = self._by_id.get((index, id_))
        if call is None:
            latest = self._latest.get(index)
            call = latest if latest and latest.goes_on_with(fragment, id_) else None
        if call is None:
            number = len(self._calls)
            listened = self._events if number < MAX_CALLS else []
            call = _Fragments(listened, number, at, self._tools)
            call.index = index
            self._calls.append(call)
        self._latest[index], self._last_index = call, index
        if id_:
            self._by_id[index, id_] = call
            self._index_of[id_] = index
        return call

    def fault(self, diagnosis: Diagnosis) -> None:
        """A chunk that could not be understood, or a stream that was cut; nothing else is lost."""
        self._cut = self._cut or diagnosis.code == "stream-cut"
        self._faults.append(diagnosis)
        self._events.append(event("diagnosis", 0, 0, diagnosis=diagnosis))

    def finish(self, text: ParseResult) -> ParseResult:
        """The whole message, whose text gave `text`."""
        text = reasoned(text, "".join(self._reasoning), self._faults)
        if self._cut:
            text = replace(text, truncated=True)
        if not self._calls:
            return text
        # Those of one index stay as they came.
        ordered = sorted(self._calls, key=lambda call: call.index)
        found, calls = structured([call.whole() for call in ordered], self._tools, self._level)
        for fragments, call in zip(ordered, calls, strict=False):
            if call is None:
                fragments.call.drop()
            else:
                fragments.call.finish(call)
        return joined(found, text)
