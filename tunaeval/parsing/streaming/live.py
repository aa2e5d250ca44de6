"""Calls that are told of while they are read.

A call is started as soon as its name is known, its arguments are told as they grow, and it is
finished or dropped. What was told is compared with the call that came out: the pieces of a
finished call concatenate to its arguments, whatever repairing and fitting did to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import orjson

from tunaeval.grammar import Trim
from tunaeval.repair import fit
from tunaeval.types import JsonValue, ToolCall, Tools

from ..typing import line_end
from .events import Event, EventKind, event


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

    def grown(self, text: str) -> Event:
        """The same of a call that was started, to whoever asks."""
        self._sent.append(text)
        start = self._start
        return event("arguments", start, start, text, index=self.index, name=self._name)

    def whole(self, key: str, value: JsonValue) -> None:
        """An argument that is not told of while it grows."""
        self.grow(self.member(arguments_text(key)) + arguments_text(value))

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
        sent = "".join(self._sent) + "}"
        if sent == arguments_text(call.arguments):
            return "}"
        told = loaded(sent)
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


class LiveText:
    """Tells of an argument that is bare text while it grows; `trim` is what is no part of it."""

    def __init__(self, call: LiveCall, key: str, trim: Trim) -> None:
        self._call = call
        self._opening = call.member(arguments_text(key)) + '"'
        self._trim = trim
        self._held = self._line_end = ""

    def grow(self, text: str) -> None:
        """More of it; what may turn out to stand behind it is held."""
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
        self._tell(kept)

    def _tell(self, kept: str) -> None:
        if kept:
            self._call.grow(self._opening + arguments_text(kept)[1:-1])
            self._opening = ""

    def end(self) -> None:
        """That was all of it."""
        if self._trim != "space":
            self._tell(self._held.removesuffix(self._line_end) if self._line_end else self._held)
        self._call.grow(self._opening + '"')


def arguments_text(value: JsonValue) -> str:
    """A value as JSON text; integers of any size and lone surrogates included, as they are.

    Two of them side by side, escaped, would be read as one character.
    """
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False)


def loaded(text: str) -> JsonValue:
    """The value, integers of any size included; None if the text is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None
