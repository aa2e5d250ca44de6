"""Turns the byte stream of an OpenAI-compatible server (server-sent events) into deltas.

An event that cannot be read gives a diagnosis in place of its delta; the other events are read. A
stream is complete if the server sent `[DONE]` or a finish reason, and no error before that. A
server that does not stream answers with one JSON object, which is read as the only event.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from itertools import groupby
from typing import TypeAlias

import orjson

from tunaeval.limits import MAX_TEXT
from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue
from tunaeval.types.parsing import Diagnosis

_LINE_END = re.compile(r"\r\n|\n|\r")
"""The line ends of the standard: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

OTHER_CHOICES = "there are other choices beside the one of index 0, which are not read"
"""The message of the diagnosis `other-choices`, for whole responses and for streams."""

_DONE = "[DONE]"
_SHOWN = 60

_QUIET = frozenset(
    {
        "choices", "citations", "created", "error", "event", "id", "metrics", "model", "object",
        "obfuscation", "prompt_filter_results", "prompt_progress", "provider", "request_id",
        "search_results", "service_tier", "stats", "system_fingerprint", "time_info", "timings",
        "type", "usage", "x_groq",
    }
)  # fmt: skip
"""Fields that a chunk without choices may have: none of them contains output of the model."""

_SAID = ("delta", "message", "text")
"""The keys under which a choice has the model's output."""

_OWN = ("content", "tool_calls", "function_call", "reasoning_content", "reasoning")
"""The keys by which a delta is recognised."""

Delta: TypeAlias = Mapping[str, JsonValue]


class DataLines:
    """Splits a stream into the data of its events. Pieces may end inside a line or a character.

    A blank line ends an event, whose `data:` lines are joined. If a server leaves the blank line
    out, each line that is a JSON object or `[DONE]` is an event.
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
        *lines, rest = _LINE_END.split(self._whole_ends(text))
        if lines:
            lines[0] = "".join(self._rest) + lines[0]
            self._rest.clear()
        self._rest.append(rest)
        return [each for line in lines for each in self._line(line)]

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
        if len(self._data) == 1 and _is_event(self._data[0]):
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
        if _is_event(whole):
            return [whole]
        found: list[str] = []
        for sound, run in groupby(lines, _is_event):
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


def _is_event(data: str) -> bool:
    """Whether the data are `[DONE]` or a JSON object, as those of an event are."""
    if data == _DONE:
        return True
    try:
        return isinstance(chunk_of(data), dict)
    except (ValueError, RecursionError):
        return False


class Lines:
    """Turns the events of one stream into deltas of the first choice, and diagnoses."""

    def __init__(self) -> None:
        self._data = DataLines()
        self.failed = False
        """Whether the stream ended in an error, or had no event that could be read."""
        self._begun = self._ended = self._understood = self._has_others = False
        self._fault = ""
        """What was wrong with the last event; "" if nothing was."""
        self._failed = False
        """Whether the last event was an error in a stream that was not complete."""

    def feed(self, piece: str | bytes) -> list[Delta | Diagnosis]:
        """Return the deltas and diagnoses of the events that this piece completes."""
        return [self._event(each) for each in self._data.feed(piece)]

    def end(self) -> list[Delta | Diagnosis]:
        """End the stream; return its last deltas, and a diagnosis if it was not complete."""
        found = [self._event(each) for each in self._data.end()]
        if not self._begun:
            found += self._whole("\n".join(self._data.others).strip())
        if self._begun and self._data.replaced:
            found.append(Diagnosis("invalid-chunk", "bytes that are no UTF-8 were replaced"))
        if self._has_others:
            found.append(Diagnosis("other-choices", OTHER_CHOICES))
        self.failed = self._failed or not (self._begun and self._understood)
        if self._failed or not self._ended:
            found.append(Diagnosis("stream-cut", self._why()))
        return found

    def _why(self) -> str:
        if not self._begun:
            return f"there is no event in the stream{self._fault}"
        how = "in an error" if self._failed else "without [DONE] and without a finish reason"
        return f"the stream ended {how}{self._fault}"

    def _whole(self, body: str) -> list[Delta | Diagnosis]:
        """Return, in a list, the delta of a body that is a whole response and no event stream."""
        found = self._event(body) if _is_event(body) else {}
        if isinstance(found, Diagnosis) and not self._failed:
            found = {}
        self._ended = self._begun = bool(found)
        if body and not found:
            self._fault = f", which begins with {body[:_SHOWN]!r}"
        return [found] if found else []

    def _event(self, data: str) -> Delta | Diagnosis:
        self._begun = True
        if data == _DONE:
            self._ended = True
            self._understood = self._understood or not self._fault
            return {}
        try:
            chunk = chunk_of(data)
        except (ValueError, RecursionError) as error:
            return self._invalid(f"a chunk that is no JSON ({error}): {data[:_SHOWN]!r}")
        if not isinstance(chunk, dict):
            return self._invalid(f"a chunk is an object, not {data[:_SHOWN]!r}")
        if reported := _error_in(chunk):
            self._failed = not self._ended
            return self._invalid(reported)
        self._ended = self._ended or bool(_answer_in(chunk).get("finish_reason"))
        self._has_others = self._has_others or any(map(_is_other, _choices(chunk)))
        found = delta_of(chunk)
        if isinstance(found, Diagnosis):
            return self._invalid(found.message)
        self._understood = self._understood or "choices" in chunk
        if found:
            self._fault, self._failed = "", False
        return found

    def _invalid(self, message: str) -> Diagnosis:
        self._fault = f": {message}"
        return Diagnosis("invalid-chunk", message)


def delta_of(chunk: Delta) -> Delta | Diagnosis:
    """Return the first choice's delta in a chunk, {} if there is none; or a diagnosis of the chunk.

    A chunk may also be a whole response, or one of the older completions API (`text`).
    """
    if error := _error_in(chunk):
        return Diagnosis("invalid-chunk", error)
    if odd := _odd_choices(chunk):
        return Diagnosis("invalid-chunk", odd)
    first = _answer_in(chunk)
    found = next(((key, first[key]) for key in _SAID if first.get(key) is not None), None)
    if found is None:
        return {}
    key, said = found
    if isinstance(said, str if key == "text" else Mapping):
        return {"content": said} if isinstance(said, str) else said
    return Diagnosis("invalid-chunk", f"a choice whose {key} is {type(said).__name__}")


def delta_in(given: Delta) -> Delta | Diagnosis:
    """Return the delta in `given`: a delta itself, a choice with a delta, or a whole chunk."""
    if "choices" in given or given.get("error"):
        return delta_of(given)
    is_delta = any(given.get(key) is not None for key in _OWN)
    if is_delta or all(given.get(key) is None for key in _SAID):
        return given
    return delta_of({"choices": [given]})


def _error_in(chunk: Delta) -> str:
    is_error = "error" in (chunk.get("object"), chunk.get("type"))
    error = chunk.get("error") or (is_error and chunk.get("message"))
    return f"the server reports: {brief(error)}" if error else ""


def _odd_choices(chunk: Delta) -> str:
    """Return what is wrong with a chunk's choices; "" if nothing is, or none are needed."""
    choices = chunk.get("choices")
    if choices is None:
        strange = [key for key in chunk if key not in _QUIET]
        return f"a chunk without choices, but with {strange[0]!r:.{_SHOWN}}" if strange else ""
    if isinstance(choices, list | tuple):
        sound = not choices or any(isinstance(choice, Mapping) for choice in choices)
        return "" if sound else f"a choice is an object, not {type(choices[0]).__name__}"
    return f"choices are a list, not {type(choices).__name__}"


def _answer_in(chunk: Delta) -> Delta:
    """Return a chunk's choice of index 0 or without an index; {} if only others are there."""
    first = first_choice(chunk)
    return {} if _is_other(first) else first


def _is_other(choice: Delta) -> bool:
    return bool(choice.get("index"))


def _choices(chunk: Delta) -> list[Delta]:
    choices = chunk.get("choices")
    listed = choices if isinstance(choices, list | tuple) else ()
    return [choice for choice in listed if isinstance(choice, Mapping)]


def first_choice(response: Delta) -> Delta:
    """Return the choice of a response that is its answer; {} if there are no choices.

    That is the choice of index 0, or else the first without an index, or else the first.
    """
    return min(_choices(response), key=lambda choice: choice_order(choice.get("index")), default={})


def choice_order(index: object) -> int:
    """Return the sort key of a choice, which puts index 0, the answer, first."""
    return 1 if index is None else 2 if index else 0


def chunk_of(data: str) -> JsonValue:
    """Return the JSON value of an event's data. Raises ValueError, or RecursionError.

    orjson refuses a lone surrogate, so such data is decoded by the standard library.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)
