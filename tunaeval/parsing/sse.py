"""Server-sent events of an OpenAI-compatible server: pieces of a byte stream to deltas.

What cannot be understood is a diagnosis in the delta's place, and nothing else is lost. A stream
has ended when the server said `[DONE]` or gave a finish reason, and no error came before that. A
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
from tunaeval.showing import shown
from tunaeval.types.calls import JsonValue
from tunaeval.types.parsing import Diagnosis

_LINE_END = re.compile(r"\r\n|\n|\r")
"""As the standard has it: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

OTHER_CHOICES = "there are other choices beside the one of index 0, which are not read"
"""What is said of them, whole or streamed."""

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
"""The fields of a chunk that may be without choices: none of them is what a model says."""

_SAID = ("delta", "message", "text")
"""Where a choice has what is said."""

_OWN = ("content", "tool_calls", "function_call", "reasoning_content", "reasoning")
"""What a delta itself has."""

Delta: TypeAlias = Mapping[str, JsonValue]


class DataLines:
    """The data of a stream's events. Pieces may end anywhere, inside a line or a letter.

    A blank line ends an event, whose lines of data are one text. Where a server leaves that out, a
    line that is JSON by itself is an event.
    """

    def __init__(self) -> None:
        self.others: list[str] = []
        """Lines before all data, unless they are comments: what there is if it is no stream."""
        self.replaced = False
        """Whether there were bytes that are no UTF-8, other than a letter cut by the end."""
        self._others_size = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._rest: list[str] = []
        self._data: list[str] = []
        """The lines of the event that is arriving."""
        self._fed = self._ended_in_cr = self._begun = False

    def feed(self, piece: str | bytes) -> list[str]:
        """What this piece completes; what is not data (comments, ids) is passed over."""
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
        """Nothing more comes: the last line, and the last event."""
        self._decoder.errors = "replace"
        rest = self._text(self._decoder.decode(b"", final=True) + "\n")
        return [*rest, *self._event()]

    def _line(self, line: str) -> list[str]:
        """The events that a line ends."""
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
        """The data of the event that is over: its lines as one text, if that is JSON."""
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
        """The text from where no line's end is cut: CR and LF may come apart. A BOM is left out."""
        if text and not self._fed:
            self._fed, text = True, text.removeprefix("\ufeff")
        if text and self._ended_in_cr:  # that CR has ended its line
            text = text.removeprefix("\n")
            self._ended_in_cr = False
        if text:
            self._ended_in_cr = text.endswith("\r")
        return text


def _is_event(data: str) -> bool:
    """Whether the data are those of an event that a server sends."""
    if data == _DONE:
        return True
    try:
        return isinstance(chunk_of(data), dict)
    except (ValueError, RecursionError):
        return False


class Lines:
    """The events of one stream, as deltas of the choice that is the answer."""

    def __init__(self) -> None:
        self._data = DataLines()
        self.failed = False
        """Whether the stream ended in an error, or without an event that is understood."""
        self._begun = self._ended = self._understood = self._has_others = False
        self._fault = ""
        """What was wrong with the last event."""
        self._failed = False
        """Whether that was an error, of a stream that had not ended."""

    def feed(self, piece: str | bytes) -> list[Delta | Diagnosis]:
        """What this piece completes."""
        return [self._event(each) for each in self._data.feed(piece)]

    def end(self) -> list[Delta | Diagnosis]:
        """Nothing more comes: the last line, and a diagnosis where the stream had not ended."""
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
        """A body without events: a reply that is not streamed, or nothing that is understood."""
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
    """The answer's delta, an empty one where there is none; or what is wrong with the chunk.

    Also that of a whole response, and of the older completions, whose choices are of text.
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
    """The delta that is given: as it is, or in its choice, or in a whole chunk."""
    if "choices" in given or given.get("error"):
        return delta_of(given)
    is_delta = any(given.get(key) is not None for key in _OWN)
    if is_delta or all(given.get(key) is None for key in _SAID):
        return given
    return delta_of({"choices": [given]})


def _error_in(chunk: Delta) -> str:
    is_error = "error" in (chunk.get("object"), chunk.get("type"))
    error = chunk.get("error") or (is_error and chunk.get("message"))
    return f"the server reports: {_shown(error)}" if error else ""


def _shown(value: JsonValue) -> str:
    try:
        return f"{value!r:.200}"
    except RecursionError:
        return shown(value)


def _odd_choices(chunk: Delta) -> str:
    """What is wrong with a chunk in which no choice can be found; "" where none is to be there."""
    choices = chunk.get("choices")
    if choices is None:
        strange = [key for key in chunk if key not in _QUIET]
        return f"a chunk without choices, but with {strange[0]!r:.{_SHOWN}}" if strange else ""
    if isinstance(choices, list | tuple):
        sound = not choices or any(isinstance(choice, Mapping) for choice in choices)
        return "" if sound else f"a choice is an object, not {type(choices[0]).__name__}"
    return f"choices are a list, not {type(choices).__name__}"


def _answer_in(chunk: Delta) -> Delta:
    """The piece of the answer that a chunk has; empty where it is of other choices alone."""
    first = first_choice(chunk)
    return {} if _is_other(first) else first


def _is_other(choice: Delta) -> bool:
    return bool(choice.get("index"))


def _choices(chunk: Delta) -> list[Delta]:
    choices = chunk.get("choices")
    listed = choices if isinstance(choices, list | tuple) else ()
    return [choice for choice in listed if isinstance(choice, Mapping)]


def first_choice(response: Delta) -> Delta:
    """The choice that is the answer of a whole response, wherever it is in the list: that of
    index 0, else the first without an index, else the first; an empty one where there is none.
    """
    return min(_choices(response), key=lambda choice: choice_order(choice.get("index")), default={})


def choice_order(index: object) -> int:
    """What choices are sorted by, so that the answer comes first."""
    return 1 if index is None else 2 if index else 0


def chunk_of(data: str) -> JsonValue:
    """The JSON in a line's data. Raises ValueError, or RecursionError.

    A chunk that contains half a surrogate pair is read by the decoder that keeps it.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)
