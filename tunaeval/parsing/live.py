"""Calls that are told of while they are read.

A call is started as soon as its name is known, its arguments are told as they grow, and it is
finished or dropped. What was told is compared with the call that came out: the pieces of a
finished call concatenate to its arguments, whatever mending and fitting did to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import orjson

from tunaeval.grammar import Trim
from tunaeval.repair import Draft, Mark, fit
from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS, JsonValue, ToolCall, Tools

from .events import Event, EventKind, event

_LONGEST_NAME = 200
"""A longer name, as JSON, is told when the call is finished."""


class LiveCall:
    """The events of the call with number `index`, which begins at offset `start`.

    Nothing is told of a call to a tool that is not among `tools`.
    """

    def __init__(self, events: list[Event], index: int, start: int, tools: Tools | None) -> None:
        self.index = index
        self.started = False
        self._events = events
        self._start = start
        self._tools = tools
        self._name = ""
        self._sent: list[str] = []

    def start(self, name: str) -> None:
        """The name is known."""
        if self.started or (self._tools is not None and name not in self._tools):
            return
        self.started, self._name = True, name
        self._tell("call_started")

    def grow(self, text: str) -> None:
        """The next piece of the arguments, as JSON text but for the last bracket."""
        if self.started and text:
            self._sent.append(text)
            self._tell("arguments", text)

    def member(self, key: str) -> str:
        """What stands in front of the value of an argument; `key` is JSON."""
        return f"{',' if self._sent else '{'}{key}:"

    def fitted(self, key: str, value: JsonValue) -> JsonValue:
        """The value as the tool's schema wants it."""
        if self._tools is None or self._name not in self._tools:
            return value
        found = fit({key: value}, self._tools[self._name].parameters).value
        return found.get(key, value) if isinstance(found, dict) else value

    def plain(self, key: str, *, text: bool) -> bool:
        """Whether an argument's value (a text?) will stay as it is written."""
        if self._tools is None or self._name not in self._tools:
            return True
        properties = self._tools[self._name].parameters.get("properties")
        schema = properties.get(key) if isinstance(properties, Mapping) else None
        return not schema or (
            text and isinstance(schema, Mapping) and schema.get("type") == "string"
        )

    def finish(self, call: ToolCall) -> None:
        """It is a call: tell what is left of it."""
        rest = self._rest(call) if self.started and self._name == call.name else None
        if rest is None:
            self.drop()
            self._name, self._sent = call.name, []
            self._tell("call_started")
            rest = arguments_text(call.arguments)
        self._tell("arguments", rest)
        start, end = call.span or (self._start, self._start)
        self._events.append(
            event("call_finished", start, end, index=self.index, name=call.name, call=call)
        )

    def drop(self) -> None:
        """It is none."""
        if self.started:
            self._tell("call_dropped")
        self.started = False

    def _tell(self, kind: EventKind, text: str = "") -> None:
        start = self._start
        self._events.append(event(kind, start, start, text, index=self.index, name=self._name))

    def _rest(self, call: ToolCall) -> str | None:
        """What has to follow what was told; None if nothing can make it right.

        Of two members with one name the last counts, so a value can still be set right.
        """
        if not self._sent:
            return arguments_text(call.arguments)
        told = _loaded("".join(self._sent) + "}")
        if not isinstance(told, dict) or told.keys() - call.arguments.keys():
            return None
        wrong = {
            key: value
            for key, value in call.arguments.items()
            if key not in told or arguments_text(told[key]) != arguments_text(value)
        }
        if not wrong:
            return "}"
        return ("," if told else "") + arguments_text(wrong)[1:]


class LiveObject:
    """Tells of a call while its JSON is read, by looking at the draft now and then.

    `depth` is that of the arguments' members: 1 when the object is the arguments, 2 when it also
    holds the name. `keys` are the keys of name and arguments; None when the only key is the name.
    """

    def __init__(
        self,
        call: LiveCall,
        draft: Draft,
        *,
        depth: int,
        keys: tuple[str, str] | None = None,
        marked: bool = True,
    ) -> None:
        self.call = call
        self._marks = draft.marks
        self._pieces = draft.pieces
        self._draft = draft
        self._depth = depth
        self._keys = keys
        self._marked = marked
        self._seen = 0
        self._name_at: int | None = None
        self._name = ""
        self._inside = depth == 1
        self._members: list[_Member] = []

    def tell(self) -> None:
        """Tell what has become certain since the last time."""
        while self._seen < len(self._marks):
            mark = self._marks[self._seen]
            self._seen += 1
            if mark.depth <= self._depth:
                self._end(mark)
                self._begin(mark)
        if self._name_at is not None and not self.call.started:
            self._learn(self._name_at)
        if self.call.started and self._members:
            self._send()

    def _end(self, mark: Mark) -> None:
        """A mark behind the last member shows where its value ends."""
        if self._members and self._members[-1].end is None:
            own = mark.depth == self._depth and not mark.key
            self._members[-1].end = mark.at if own else mark.at - 1

    def _begin(self, mark: Mark) -> None:
        if mark.depth == self._depth and mark.key and self._inside:
            self._members.append(_Member(mark.key, mark.at))
        elif mark.depth == self._depth - 1 and self._depth > 1:
            self._outer(mark)

    def _outer(self, mark: Mark) -> None:
        """A member of the object that holds name and arguments, or its end."""
        self._inside = False
        key = json.loads(mark.key) if mark.key else ""
        name_key, arguments_key = self._keys or ("", "")
        if key == name_key or (self._name_at is None and key in NAME_KEYS):
            self._name_at, self._name = mark.at, ""
        elif key == arguments_key or key in ARGUMENTS_KEYS:
            self._inside = True
        elif key and self._keys is None:
            self._inside = True
            self.call.start(key)

    def _learn(self, at: int) -> None:
        """The name, once all of it is there; a bare object needs arguments as well."""
        if not (self._marked or self._inside or self._members):
            return
        for piece in self._pieces[at:]:
            if len(self._name) > _LONGEST_NAME or self.call.started:
                return
            self._name += piece
            self._name_at = at = at + 1
            name = _loaded(self._name) if piece[-1] == '"' else None
            if isinstance(name, str):
                self.call.start(name)

    def _send(self) -> None:
        told: list[str] = []
        while self._members and self._whole(self._members[0], told):
            self._members.pop(0)
        self.call.grow("".join(told))

    def _whole(self, member: _Member, told: list[str]) -> bool:
        """Tell what there is of a member; whether that is all of it."""
        pieces, at = self._pieces, member.at
        end = member.end
        limit = self._draft.firm() if end is None else end
        if limit <= max(at, member.sent or 0):
            return end is not None
        if member.sent is None:
            text = pieces[at][0] == '"'
            if not self.call.plain(json.loads(member.key), text=text):
                return end is not None and self._held(member, end, told)
            told.append(self._opening(member, told))
            member.sent = at
        told += pieces[member.sent : limit]
        member.sent = limit
        return end is not None

    def _held(self, member: _Member, end: int, told: list[str]) -> bool:
        """A value that the schema may change is told when it is whole."""
        value = json.loads("".join(self._pieces[member.at : end]))
        fitted = self.call.fitted(json.loads(member.key), value)
        told += (self._opening(member, told), arguments_text(fitted))
        return True

    def _opening(self, member: _Member, told: list[str]) -> str:
        return f",{member.key}:" if told else self.call.member(member.key)


class LiveText:
    """Tells of an argument that is bare text while it grows; `trim` is what is no part of it."""

    def __init__(self, call: LiveCall, key: str, trim: Trim) -> None:
        self._call = call
        self._opening = call.member(arguments_text(key)) + '"'
        self._trim = trim
        self._held = ""

    def grow(self, text: str) -> None:
        """More of it; what may turn out to stand behind it is held."""
        text = self._held + text
        if self._opening and self._trim != "no":
            text = text.lstrip() if self._trim == "space" else text.removeprefix("\n")
        kept = text
        if self._trim != "no":
            kept = text.rstrip() if self._trim == "space" else text.removesuffix("\n")
        self._held = text[len(kept) :]
        if kept:
            self._call.grow(self._opening + arguments_text(kept)[1:-1])
            self._opening = ""

    def end(self) -> None:
        """That was all of it."""
        self._call.grow(self._opening + '"')


class _Member:
    """One argument: its key as JSON, where its value's pieces begin and end, what was told."""

    __slots__ = ("at", "end", "key", "sent")

    def __init__(self, key: str, at: int) -> None:
        self.key = key
        self.at = at
        self.end: int | None = None
        self.sent: int | None = None


def arguments_text(value: JsonValue) -> str:
    """A value as JSON text; integers of any size and lone surrogates included."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value)


def _loaded(text: str) -> JsonValue:
    """The value, integers of any size included; None if the text is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None
