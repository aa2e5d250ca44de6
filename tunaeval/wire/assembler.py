"""Puts a streamed answer together, whatever the API, and however a server numbers its calls.

The index of a fragment should say which call it adds to, and the first fragment of a call should
have its id and its name. Servers do otherwise, and this is how their fragments are read:

- An index that is missing is that of the call with the fragment's id, else that of the last
  fragment, or the fragment's place if there are several in one event. A text of digits is a number.
- Under one index a new call begins with a name and another id, and behind complete arguments with
  another name or other arguments. These are of the same name if it was repeated before them.
- Another id without a name continues a call whose arguments are not complete: some servers make a
  new id for each fragment, and some send it in pieces before the arguments.
- A name comes in pieces before the arguments. Later it is a repetition, or the name of a call that
  has none so far. A name that equals the name so far is a repetition, too;
  one that begins with it is all of it.
- What is repeated whole at the end adds only what is missing.

Joining is a matter of the server and no repair of what the model wrote: each oddity is reported
once, by its code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.messages import Usage

from . import chat
from .apis import recognised
from .brackets import Brackets
from .chat import numbered
from .endings import finish_of, usage_of
from .events import DONE, decoded
from .fields import identifier, listed
from .gemini import whole_arguments
from .values import CUT_OFF, MALFORMED, PARTIAL, Api, Fragment

_SHOWN = 60


class Added(NamedTuple):
    """What an event added: a text ("text", "thought", "refusal"), or the text of arguments to a
    `call`. "odd" is a part of the stream that cannot be read, and "error" what a server reports;
    `text` says why, and `code` is that of the diagnosis.
    """

    kind: Literal["text", "thought", "refusal", "call", "odd", "error"]
    text: str = ""
    call: GrowingCall | None = None
    code: str = "invalid-chunk"


class Halves:
    """Joins the halves of characters that come in two pieces (surrogates, in escapes of JSON)."""

    def __init__(self) -> None:
        self.kept = ""
        """Half a character at the end of the last piece."""

    def joined(self, piece: str) -> str:
        """Return the piece behind the half that was kept back; a half at its end is kept back."""
        if piece.isascii() and not self.kept:
            return piece
        text, self.kept = self.kept + piece, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self.kept = text[:-1], text[-1]
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class GrowingCall:
    """A call of which fragments are arriving; `number` counts the calls before it.

    `index` is the server's number of the call, which several calls may share; `key` is the id by
    which its fragments are known. `odd` has the fragment if that is no object. The arguments have
    `begun`, and are `complete` if they are a whole JSON text so far. The name is complete as far as
    one can know (`is_named`), came behind arguments (`is_late`), or was repeated behind complete
    ones, so that it may begin another call (`is_named_again`).
    """

    def __init__(self, number: int, index: int, *, is_older: bool = False) -> None:
        self.number, self.index, self.is_older = number, index, is_older
        self.key = ""
        self.id: JsonValue = None
        self.odd: tuple[JsonValue, ...] = ()
        self.status = ""
        self.is_custom = self.begun = self.complete = False
        self.is_named = self.is_late = self.is_named_again = False
        self.name_size = 0
        self._names: list[str] = []
        self._odd_name: JsonValue = ""
        self._texts: list[str] = []
        self._pieces: list[JsonValue] = []
        self._value: JsonValue = None
        """Arguments that arrived as an object instead of a string."""
        self._halves = Halves()
        self._brackets = Brackets(lists=True)
        self._filled = False

    @property
    def name(self) -> str:
        """The part of the name that has arrived."""
        return "".join(self._names)

    def is_called(self, name: JsonValue) -> bool:
        """Whether `name` is the name that has arrived."""
        return isinstance(name, str) and len(name) == self.name_size and name == self.name

    def take(self, fragment: Fragment) -> str:
        """Add a fragment; return the text that it adds to the arguments."""
        if not self.id and fragment.id is not None:
            self.id = fragment.id
        self.is_custom = self.is_custom or fragment.value == "custom"
        self._take_name(fragment.name)
        arguments = fragment.arguments
        self.is_named = self.is_named or fragment.begins or arguments is not None
        if fragment.value in (CUT_OFF, MALFORMED):
            self.status = fragment.value
        if fragment.value == PARTIAL:
            self._pieces += listed(arguments)
            return ""
        if isinstance(arguments, str):
            text = self._halves.joined(arguments) if arguments else ""
            self._texts.append(text)
            self._follow(text)
            return text
        if arguments is not None:
            self._value, self.begun, self.complete = arguments, True, True
        return ""

    def fill(self, fragment: Fragment) -> str:
        """Add what is missing of a call that is repeated whole; return the text that it adds."""
        rest, whole = None, fragment.arguments
        if whole and not self._filled:
            self._filled, text = True, "".join(self._texts)
            if isinstance(whole, str) and whole.startswith(text + self._halves.kept):
                rest = whole[len(text) :]
                self._halves.kept = ""
            elif self._value is None and not text.strip():
                rest = whole
        name = None if self.name_size else fragment.name
        return self.take(fragment._replace(name=name, arguments=rest or None))

    def _take_name(self, name: JsonValue) -> None:
        if not isinstance(name, str):
            self._odd_name = name or self._odd_name
        elif (
            name
            and not self.is_called(name)
            and (not self.begun or self.is_late or not self._names)
        ):
            self.is_late = self.begun
            if len(name) > self.name_size and name.startswith(self.name):  # all of it so far
                self._names, self.name_size = [], 0
            self._names.append(name)
            self.name_size += len(name)

    def _follow(self, text: str) -> None:
        """Follow the brackets of the next piece of the arguments."""
        if not self.begun:
            text = text.lstrip()
            self.begun = bool(text)
        if self.complete or not text:
            return
        for _, what in self._brackets.follow(text):
            if self._brackets.depth <= 0 and what in '"}]':
                self.complete = True
                return

    @property
    def is_empty(self) -> bool:
        """Whether it has no arguments so far."""
        return not (self._value or self._pieces or self.odd or "".join(self._texts).strip())

    def item(self) -> JsonValue:
        """Return the call as an item of a message's `tool_calls`."""
        if self.odd:
            return self.odd[0]
        text = "".join(self._texts) + self._halves.kept
        arguments = self._value if self._value is not None and not text.strip() else text
        if self.is_custom:
            arguments = {"input": arguments}
        if self._pieces:
            arguments = whole_arguments(self._pieces)
        function = {"name": self.name or self._odd_name, "arguments": arguments}
        why = {"status": self.status, "raw": text} if self.status else {}
        return {"id": self.id, "type": "function", "function": function, **why}


class Assembler:
    """One streamed answer. `data` and `event` take the next event and return what it added.

    `begun`: an event has come; `understood`: one that could be read. The stream has `ended` with a
    finish reason or the mark of the end, or `failed` if the last event was an error before that;
    `fault` is what was wrong with that event, or "". `final` is the whole message that came at the
    end, or in place of a stream, and `is_streamed` says that anything came in pieces. `has_others`:
    there are choices beside the one that is read. `oddities` has what is odd about the fragments,
    in words, by its code.
    """

    def __init__(self) -> None:
        self.oddities: dict[str, str] = {}
        self.calls: list[GrowingCall] = []
        self.final: JsonObject | None = None
        self.fault = ""
        self.begun = self.understood = self.ended = self.failed = False
        self.is_streamed = self.has_others = False
        self._latest: dict[int, GrowingCall] = {}
        """The call that got the latest fragment, by index."""
        self._by_key: dict[str, GrowingCall] = {}
        self._hosted: set[int | None] = set()
        """The indices of blocks that are no calls of the client."""
        self._index, self._highest = 0, -1
        """The index of the last fragment, and the highest of all."""
        self._texts: dict[str, list[str]] = {}
        self._halves: dict[str, Halves] = {}
        self._places: set[tuple[str, str]] = set()
        """Where texts came in pieces, by kind."""
        self._api: Api | None = None
        self._reason: str | None = None
        self._usage: JsonObject = {}

    def data(self, data: str) -> list[Added]:
        """Take the data of one server-sent event."""
        self.begun = True
        if data == DONE:
            self.ended = True
            self.understood = self.understood or not self.fault
            return []
        try:
            event = decoded(data)
        except (ValueError, RecursionError) as error:
            return [self._odd(f"a chunk that is no JSON ({error}): {data[:_SHOWN]!r}")]
        if not isinstance(event, dict):
            return [self._odd(f"a chunk is an object, not {data[:_SHOWN]!r}")]
        return self.event(event)

    def event(self, event: Mapping[str, JsonValue]) -> list[Added]:
        """Take one event, or a whole answer of a server that does not stream."""
        api = recognised(event)
        self.begun, self._api = True, api or self._api
        added = self.take((api or chat.CHAT).fragments(event))
        if added and added[-1].kind in {"odd", "error"}:
            return added
        self.understood = self.understood or api is not None
        if added:
            self.fault, self.failed = "", False
        return added

    def delta(self, given: Mapping[str, JsonValue]) -> list[Added]:
        """Take a delta of chat completions, or the choice or the event that it is in."""
        is_plain = isinstance(given.get("content"), str) or "tool_calls" in given  # most are
        if is_plain and "choices" not in given and not given.get("error"):
            self._api = chat.CHAT
            return self.take(chat.delta_fragments(given))
        return self.event(given if recognised(given) is not None else chat.event_of(given))

    def take(self, fragments: Iterable[Fragment], *, streamed: bool = True) -> list[Added]:
        """Take fragments of the answer."""
        found: list[Added] = []
        for one in fragments:
            kind = one.kind
            if kind in _KEYS:
                found += self._text(one)
            elif kind in {"call", "hosted"}:
                found += self._called(one)
            elif kind == "whole":
                found += self._whole(one.value or {})
            elif kind == "odd":
                found.append(self._odd(one.text, one.value))
            elif kind == "error":
                self.failed, self.fault = not self.ended, f": {one.text}"
                found.append(Added("error", one.text))
            elif kind == "usage":
                given = ((key, value) for key, value in one.value.items() if value is not None)
                self._usage.update(given)
            elif kind == "other":
                self.has_others = True
            else:
                self.ended, self._reason = True, one.text or self._reason
        if streamed and found and found[0].kind != "odd":
            self.is_streamed = True
        return found

    def end(self) -> list[Added]:
        """End the stream; return lone halves of characters that were kept back."""
        kept = ((kind, halves.kept) for kind, halves in self._halves.items() if halves.kept)
        return [self._added(kind, half) for kind, half in kept]

    @property
    def counted(self) -> JsonObject:
        """The usage as it was written."""
        return self._usage

    @property
    def usage(self) -> Usage:
        return usage_of(self._usage)

    @property
    def finish(self) -> str | None:
        """The finish reason: a server's of chat completions as it is, else in their words."""
        if self._api is chat.CHAT:
            return self._reason
        return finish_of(self._reason, called=bool(self.calls))

    def ordered(self) -> list[GrowingCall]:
        """Return the calls by index and arrival. One in the older field counts only alone."""
        newer = [call for call in self.calls if not call.is_older]
        return sorted(newer, key=lambda call: call.index) or self.calls

    def items(self) -> list[JsonValue]:
        """Return the calls as items of a message. If the answer ended at its limit of tokens, the
        last one was cut off if it has no arguments.
        """
        ordered = self.ordered()
        if ordered and self.finish == "length" and ordered[-1].is_empty:
            ordered[-1].status = CUT_OFF
        return [call.item() for call in ordered]

    def message(self) -> JsonObject:
        """Return the answer as a message of chat completions."""
        if self.final is not None and not self.is_streamed:
            return self.final
        message: JsonObject = {"role": "assistant", "content": None}
        message |= {key: "".join(texts) for key, texts in self._texts.items() if texts}
        if calls := self.items():
            message["tool_calls"] = calls
        return message

    def report(self, code: str, words: str) -> None:
        """Note an oddity, the first of its code."""
        self.oddities.setdefault(code, words)

    def _odd(self, why: str, code: str | None = None) -> Added:
        self.fault = f": {why}"
        return Added("odd", why, code=code or "invalid-chunk")

    def _text(self, one: Fragment) -> list[Added]:
        """Add a text; one that is repeated whole counts only if none of its place has come."""
        if one.key:
            place = (one.kind, one.key)
            if one.is_whole and place in self._places:
                return []
            self._places.add(place)
        key = one.name or _KEYS[one.kind]
        halves = self._halves.get(key)
        if halves is None:
            halves = self._halves[key] = Halves()
            self._texts[key] = []
        text = halves.joined(one.text)
        return [self._added(key, text)] if text else []

    def _added(self, key: str, text: str) -> Added:
        self._texts[key].append(text)
        return Added(_KINDS.get(key, "thought"), text)

    def _whole(self, message: Mapping[str, JsonValue]) -> list[Added]:
        """Take the whole message: what is missing of the answer so far is taken from it."""
        self.final = dict(message)
        has_text = {_KINDS.get(key, "thought"): any(texts) for key, texts in self._texts.items()}
        has_text["call"] = bool(self.calls)
        missing = (one for one in chat.delta_fragments(message, is_whole=True)
                   if not has_text.get(one.kind) or one.kind == "odd")  # fmt: skip
        return self.take(missing, streamed=False)

    def _called(self, one: Fragment) -> list[Added]:
        """Add to a call, but not what belongs to a block that is no call of the client."""
        index = numbered(one.index)
        if one.kind == "hosted":
            self._hosted.add(index)
        elif one.begins:
            self._hosted.discard(index)
        if index in self._hosted:
            return []
        call = self._call_of(one)
        return [Added("call", self._grown(call, one), call)]

    def _call_of(self, one: Fragment) -> GrowingCall:
        """Return the call that a fragment adds to, which may be a new one."""
        if one.is_older:
            older = [call for call in self.calls[:1] if call.is_older]
            return older[0] if older else self._begin(one, -1)
        key = one.key or identifier(one.id) or ""
        known = self._by_key.get(key) if key else None
        index = numbered(one.index)
        if (index is None or isinstance(one.index, str)) and not (
            one.begins or one.value == PARTIAL
        ):
            given = "no index" if one.index is None else f"the index {brief(one.index):.{_SHOWN}}"
            self.report("index-missing", f"a fragment of a call has {given}")
        slot = self._slot(one, known) if index is None else index
        call = known if known is not None and known.index == slot else self._latest.get(slot)
        if call is None and known is not None and not one.name and not known.complete:
            call, slot = known, known.index
        if call is None or not self._goes_on(call, one, key):
            call = self._begin(one, slot)
            call.key = key
        self._latest[slot] = call
        self._index, self._highest = slot, max(slot, self._highest)
        if key:
            call.key = call.key or key
            self._by_key[key] = call
        return call

    def _slot(self, one: Fragment, known: GrowingCall | None) -> int:
        """Return the index of a fragment that has none."""
        if one.begins:
            return self._highest + 1 if known is None else known.index
        if known is not None:
            return known.index
        return self._index if one.place is None else one.place

    def _goes_on(self, call: GrowingCall, one: Fragment, key: str) -> bool:
        """Whether a fragment of a call's index belongs to this call."""
        if one.value == "no object" or call.odd:
            return False
        is_other = bool(key and call.key and key != call.key)
        if one.is_whole and not one.begins:
            return not is_other
        text = one.arguments.lstrip() if isinstance(one.arguments, str) else one.arguments
        is_value = text is not None and not isinstance(text, str)
        begins = is_value or (isinstance(text, str) and text.startswith("{"))
        if one.begins:
            goes_on = bool(key) and not is_other and not call.begun
        elif is_other:
            goes_on = not call.complete and self._is_renamed(call, one, begins)
        elif not call.complete or call.is_late or not one.name or text or is_value:
            goes_on = not (call.complete and begins and (one.name or call.is_named_again))
        else:
            goes_on = not call.name_size or call.is_called(one.name)
            call.is_named_again = goes_on and call.name_size > 0
        if not goes_on and numbered(one.index) is not None and (is_other or not key):
            self.report("index-shared", "several calls have one index")
        return goes_on

    def _is_renamed(self, call: GrowingCall, one: Fragment, begins: bool) -> bool:
        """Whether a fragment with another id continues an incomplete call all the same."""
        if one.name and (
            begins or not call.begun or not one.arguments or not call.is_called(one.name)
        ):
            return False
        if isinstance(call.id, str) and isinstance(one.id, str) and _is_piece(one, call):
            call.id += one.id
        self.report("id-changed", f"the id {call.key!r:.{_SHOWN}} changed within one call")
        return True

    def _begin(self, one: Fragment, index: int) -> GrowingCall:
        before = self._latest.get(index)
        call = GrowingCall(len(self.calls), index, is_older=one.is_older)
        if before is not None and before.is_named_again and not one.name:
            call.take(Fragment("call", name=before.name))
        self.calls.append(call)
        return call

    def _grown(self, call: GrowingCall, one: Fragment) -> str:
        if one.value == "no object":
            call.odd = (one.arguments,)
            return ""
        was_late = call.is_late
        text = call.fill(one) if one.is_whole and not one.begins else call.take(one)
        if call.is_late and not was_late:
            self.report("name-late", f"the name {call.name!r:.{_SHOWN}} came after the arguments")
        return text


def _is_piece(one: Fragment, call: GrowingCall) -> bool:
    """Whether a fragment's id is a piece of the call's. A new id for each is like the first one."""
    is_alike = len(one.id) == len(call.key) or one.id[:_ALIKE] == call.key[:_ALIKE]
    alone = not call.begun and not one.arguments
    return alone or call.key.endswith(("_", "-")) or not is_alike


_ALIKE = 3
_KEYS = {"text": "content", "thought": "reasoning_content", "refusal": "refusal"}
_KINDS: dict[str, Literal["text", "refusal"]] = {"content": "text", "refusal": "refusal"}
"""The keys of texts in a message, by the kind of a fragment, and the kinds by key."""
