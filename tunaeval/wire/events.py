"""Splits the bytes of a server's answer into events, by the standard of server-sent events.

The standard: https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

import codecs
import json
import re
from itertools import groupby

import orjson

from tunaeval.limits import MAX_TEXT
from tunaeval.types.calls import JsonValue

from .brackets import Brackets

_LINE_END = re.compile(r"\r\n|\n|\r")

DONE = "[DONE]"
"""The data of the event that ends a stream of OpenAI's."""


class DataLines:
    """Splits a stream into the data of its events. Pieces may end inside a line or a character.

    A blank line ends an event, whose `data:` lines are joined. If a server leaves the blank line
    out, each line that is a JSON object or `[DONE]` is an event. If the stream is a JSON list, as
    Google sends one without `alt=sse`, its objects are the events.
    """

    def __init__(self) -> None:
        self.others: list[str] = []
        """The lines before any data, without comments: the whole body if it is no event stream."""
        self.replaced = False
        """Whether invalid UTF-8 was replaced, apart from a character cut off by the end."""
        self._others_size = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._rest: list[str] = []
        self._data: list[str] = []
        """The data lines of the event that is arriving."""
        self._fed = self._ended_in_cr = self._begun = False
        self._is_list: bool | None = None
        self._brackets = Brackets(lists=False)

    def feed(self, piece: str | bytes) -> list[str]:
        """Return the data of the events that this piece completes; comments and ids are skipped."""
        return self._text(piece if isinstance(piece, str) else self._decoded(piece))

    def _decoded(self, piece: bytes) -> str:
        try:
            return self._decoder.decode(piece)
        except UnicodeDecodeError:
            self.replaced, self._decoder.errors = True, "replace"
            return self._decoder.decode(piece)

    def _text(self, text: str) -> list[str]:
        if self._is_list is None and (begun := text.removeprefix("\ufeff").lstrip()):
            self._is_list = begun.startswith("[")
        if self._is_list:
            return self._objects(text)
        *lines, rest = _LINE_END.split(self._whole_ends(text))
        if lines:
            lines[0] = "".join(self._rest) + lines[0]
            self._rest.clear()
        self._rest.append(rest)
        return [each for line in lines for each in self._line(line)]

    def _objects(self, text: str) -> list[str]:
        """Return the objects of a list that are complete; their pieces wait in `_rest`."""
        found, start = list[str](), 0
        for at, what in self._brackets.follow(text):
            if what == "{" and self._brackets.depth == 1:
                start = at
            elif what == "}" and self._brackets.depth == 0:
                found.append("".join(self._rest) + text[start : at + 1])
                self._rest.clear()
        if self._brackets.depth > 0:
            self._rest.append(text[start:])
        self._begun = self._begun or bool(found)
        if not self._begun and self._others_size <= MAX_TEXT:
            self._others_size += len(text)
            self.others.append(text)
        return found

    def end(self) -> list[str]:
        """End the stream; return the data of the events that its last line and its end complete."""
        self._decoder.errors = "replace"
        rest = self._text(self._decoder.decode(b"", final=True) + "\n")
        return [*rest, *self._event()]

    def _line(self, line: str) -> list[str]:
        """Return the data of the events that a line completes."""
        if not line:
            return self._event()
        if not line.startswith("data:"):
            self._other(line)
            return []
        data, found = line[5:].strip(), []
        if len(self._data) == 1 and is_event(self._data[0]):
            found = self._event()
        if data:
            self._begun = True
            self._data.append(data)
        return found

    def _other(self, line: str) -> None:
        if not self._begun and not line.startswith(":") and self._others_size <= MAX_TEXT:
            self._others_size += len(line)
            self.others.append(line)

    def _event(self) -> list[str]:
        """Return the data of the event that has ended: its lines joined if that gives JSON.

        Otherwise each line that is an event is one, and the lines between are joined.
        """
        lines, self._data = self._data, []
        if len(lines) < 2:
            return lines
        whole = "\n".join(lines)
        if is_event(whole):
            return [whole]
        found: list[str] = []
        for sound, run in groupby(lines, is_event):
            alike = list(run)
            found += alike if sound else ["\n".join(alike)]
        return found

    def _whole_ends(self, text: str) -> str:
        """Return the text without a BOM at the start, and without a LF whose CR came before."""
        if text and not self._fed:
            self._fed, text = True, text.removeprefix("\ufeff")
        if text and self._ended_in_cr:  # the CR has already ended its line
            text = text.removeprefix("\n")
            self._ended_in_cr = False
        if text:
            self._ended_in_cr = text.endswith("\r")
        return text


def is_event(data: str) -> bool:
    """Whether the data are `[DONE]` or a JSON object, as those of an event are."""
    if data == DONE:
        return True
    try:
        return isinstance(decoded(data), dict)
    except (ValueError, RecursionError):
        return False


def decoded(data: str) -> JsonValue:
    """Return the JSON value of an event's data. Raises ValueError, or RecursionError.

    orjson refuses a lone surrogate, so such data is decoded by the standard library.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)
