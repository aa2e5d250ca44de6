"""Deltas of an OpenAI-compatible stream: text and structured calls that arrive in fragments.

Structured calls are reported like those in a text, and in the end count as in `message`: where the
server has parsed calls, those are the calls.

Which call a fragment belongs to, its index should say, but servers number all calls 0 or leave the
index out. So under one index a new call begins where the id changes, or, without ids, where a name
comes again with arguments although those before are complete. As some servers make a new id for
each fragment, one that has a new id and no name goes on with the call before while that call's
arguments are not complete. The older `function_call` is a call without index and id, which does not
count beside others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tunaeval.limits import MAX_CALLS, MAX_DIAGNOSES, STARTED_NAME
from tunaeval.repair import JsonReader, Read
from tunaeval.sse import Delta
from tunaeval.types import NOT_TEXT, Diagnosis, JsonValue, Level, ParseResult, Tools
from tunaeval.window import Window

from ..message import REASONING_KEYS, content_of, function_in, joined, listed, reasoned, structured
from .events import Event, event
from .live import LiveCall
from .live_objects import LiveObject


class _Halves:
    """Text in pieces, some of which end in half a surrogate pair: it waits for the other half."""

    def __init__(self) -> None:
        self._half = ""

    def take(self, piece: str) -> str:
        """What is certain with the next piece."""
        if not piece:
            return ""
        if self._half and "\udc00" <= piece[0] <= "\udfff":
            pair = (self._half + piece[0]).encode("utf-16-le", "surrogatepass")
            piece = pair.decode("utf-16-le") + piece[1:]
        else:
            piece = self._half + piece
        self._half = piece[-1] if "\ud800" <= piece[-1] <= "\udbff" else ""
        return piece[:-1] if self._half else piece

    def rest(self) -> str:
        """The half that nothing has come for."""
        half, self._half = self._half, ""
        return half


class _Fragments:
    """One structured call, as far as it has arrived."""

    def __init__(self, events: list[Event], index: int, start: int, tools: Tools | None) -> None:
        self.call = LiveCall(events, index, start, tools)
        self.index: int | None = 0
        """What the server numbers it; the number of several calls may be one. None: of the older
        kind, which has none."""
        self.odd: tuple[JsonValue, ...] = ()
        """What is in the place of fragments, if it is no object."""
        self.id: JsonValue = None
        self._names: list[str] = []
        self._name_size = 0
        self._texts: list[str] = []
        self._halves = _Halves()
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
        name, arguments = function_in(fragment)
        if isinstance(name, str) and name:
            self._take_name(name)
        if arguments is not None and 0 < self._name_size <= STARTED_NAME:
            self.call.start("".join(self._names))
        if isinstance(arguments, str):
            arguments = self._halves.take(arguments)
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
        name, arguments = function_in(fragment)
        if id_ and self.id and id_ != self.id:
            return not name and bool(arguments) and not self._complete
        return not (self._complete and name and _begins_arguments(arguments))

    def whole(self) -> JsonValue:
        """The call as a message has it."""
        if self.odd:
            return self.odd[0]
        text = "".join(self._texts) + self._halves.rest()
        arguments = self._value if self._value is not None and not text.strip() else text
        return {"id": self.id, "function": {"name": "".join(self._names), "arguments": arguments}}


def _begins_arguments(arguments: JsonValue) -> bool:
    if isinstance(arguments, str):
        return arguments.lstrip().startswith("{")
    return arguments is not None


class Deltas:
    """The structured calls and the reasoning of one streamed message."""

    def __init__(
        self, events: list[Event], tools: Tools | None, level: Level, abstain: frozenset[str]
    ) -> None:
        self._events = events
        self._abstain = abstain
        self._tools = tools
        self._level = level
        self._calls: list[_Fragments] = []
        self._latest: dict[int | None, _Fragments] = {}
        """By index, the call that it was last said of."""
        self._by_id: dict[tuple[int | None, str], _Fragments] = {}
        self._index_of: dict[str, int] = {}
        self._last_index = 0
        self._reasoning: list[str] = []
        self._thoughts, self._content = _Halves(), _Halves()
        self._faults: list[Diagnosis] = []
        self._cut = False

    def take(self, delta: Delta, at: int) -> str:
        """A delta's fragments of calls and of reasoning; `at` is how much text there has been.

        Returns what of the text is certain with it.
        """
        reasoning = next(filter(None, (delta.get(key) for key in REASONING_KEYS)), None)
        if isinstance(reasoning, str):
            self._reason(self._thoughts.take(reasoning), at)
        items = listed(delta.get("tool_calls"))
        for place, item in enumerate(items):
            self._item(item, self._last_index if len(items) == 1 else place, at)
        older = delta.get("function_call")
        if older is not None:
            self._of(None, {"function": older} if isinstance(older, Mapping) else older, at)
        content = content_of(delta.get("content"))
        if isinstance(content, Diagnosis):
            self.fault(content)
            return ""
        return self._content.take(content)

    def rest(self, at: int) -> str:
        """Nothing more comes: halves of characters, in the reasoning and in the text."""
        self._reason(self._thoughts.rest(), at)
        return self._content.rest()

    def _reason(self, text: str, at: int) -> None:
        if text:
            self._reasoning.append(text)
            self._events.append(event("reasoning", at, at, text))

    def _item(self, item: JsonValue, place: int, at: int) -> None:
        """One of `tool_calls`; its place, if it does not say which call it is of."""
        index: JsonValue = None
        if isinstance(item, Mapping):
            index = item.get("index")
            if not isinstance(index, int):
                id_ = item.get("id")
                index = self._index_of.get(id_, place) if isinstance(id_, str) else place
        self._of(index if isinstance(index, int) else place, item, at)

    def _of(self, index: int | None, fragment: JsonValue, at: int) -> None:
        """Hand a fragment to its call; what is no object is one of its own, and none."""
        if isinstance(fragment, Mapping):
            found = fragment.get("id")
            self._call(fragment, index, found if isinstance(found, str) else "", at).take(fragment)
        else:
            self._begin(index, at).odd = (fragment,)

    def _call(self, fragment: Delta, index: int | None, id_: str, at: int) -> _Fragments:
        """The call that a fragment belongs to; see the module's first words."""
        call = self._by_id.get((index, id_))
        if call is None:
            latest = self._latest.get(index)
            call = latest if latest and latest.goes_on_with(fragment, id_) else None
        call = call or self._begin(index, at)
        self._latest[index] = call
        if index is not None:
            self._last_index = index
            if id_:
                self._by_id[index, id_] = call
                self._index_of[id_] = index
        return call

    def _begin(self, index: int | None, at: int) -> _Fragments:
        number = len(self._calls)
        call = _Fragments(self._events if number < MAX_CALLS else [], number, at, self._tools)
        call.index = index
        self._calls.append(call)
        return call

    def fault(self, diagnosis: Diagnosis) -> None:
        """A chunk that could not be understood, or a stream that was cut; nothing else is lost."""
        cut = diagnosis.code == "stream-cut"
        self._cut = self._cut or cut
        if cut or len(self._faults) < MAX_DIAGNOSES:
            self._faults.append(diagnosis)
            self._events.append(event("diagnosis", 0, 0, diagnosis=diagnosis))

    def finish(self, text: ParseResult, failed: bool) -> ParseResult:
        """The whole message, whose text gave `text`; `failed` if that is the server's failure."""
        result = self._with_calls(text)
        if failed and result.outcome == "no_call":
            return replace(result, outcome="truncated", truncated=True)
        return result

    def _with_calls(self, text: ParseResult) -> ParseResult:
        if text.outcome == "no_call" and any(fault.code == NOT_TEXT for fault in self._faults):
            text = replace(text, outcome="malformed")
        text = reasoned(text, "".join(self._reasoning), self._faults)
        if self._cut:
            text = replace(text, truncated=True)
        if not self._calls:
            return text
        ordered = self._ordered()
        items = [call.whole() for call in ordered]
        found, calls = structured(items, self._tools, self._level, self._abstain)
        for fragments, call in zip(ordered, calls, strict=False):
            if call is None:
                fragments.call.drop()
            else:
                fragments.call.finish(call)
        return joined(found, text)

    def _ordered(self) -> list[_Fragments]:
        """The calls that count, by index; those of one index stay as they came."""
        numbered = [call for call in self._calls if call.index is not None]
        if numbered and len(numbered) < len(self._calls):
            for call in self._calls:
                if call.index is None:
                    call.call.drop()
        return sorted(numbered, key=lambda call: call.index or 0) or self._calls
