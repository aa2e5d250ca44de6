"""Server-sent events of an OpenAI-compatible server: pieces of a byte stream to deltas.

What cannot be understood is a diagnosis in the delta's place, and nothing else is lost. A stream
has ended when the server said `[DONE]`, gave a finish reason, or reported an error.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from typing import TypeAlias

import orjson

from tunaeval.types import Diagnosis, JsonValue

_LINE_END = re.compile(r"\r\n|\n|\r")
"""As the standard has it: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

Delta: TypeAlias = Mapping[str, JsonValue]


class DataLines:
    """The data of a stream's lines. Pieces may end anywhere, inside a line or a letter."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest: list[str] = []
        self._fed = self._ended_in_cr = False

    def feed(self, piece: str | bytes) -> list[str]:
        """What this piece completes; what is not data (comments, ids) is passed over."""
        text = piece if isinstance(piece, str) else self._decoder.decode(piece)
        *lines, rest = _LINE_END.split(self._whole_ends(text))
        if lines:
            lines[0] = "".join(self._rest) + lines[0]
            self._rest.clear()
        self._rest.append(rest)
        data = [line[5:].strip() for line in lines if line.startswith("data:")]
        return [each for each in data if each]

    def end(self) -> list[str]:
        """Nothing more comes: the last line."""
        return self.feed(self._decoder.decode(b"", final=True) + "\n")

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


class Lines:
    """The events of one stream, as deltas of its first choice."""

    def __init__(self) -> None:
        self._data = DataLines()
        self._begun = False
        self._ended = False

    def feed(self, piece: str | bytes) -> list[Delta | Diagnosis]:
        """What this piece completes."""
        return [self._event(each) for each in self._data.feed(piece)]

    def end(self) -> list[Delta | Diagnosis]:
        """Nothing more comes: the last line, and a diagnosis where the stream had not ended."""
        found = [self._event(each) for each in self._data.end()]
        if self._begun and not self._ended:
            message = "the stream ended without [DONE] and without a finish reason"
            found.append(Diagnosis("stream-cut", message))
        return found

    def _event(self, data: str) -> Delta | Diagnosis:
        self._begun = True
        if data == "[DONE]":
            self._ended = True
            return {}
        try:
            chunk = chunk_of(data)
        except (ValueError, RecursionError) as error:
            return _invalid(f"a chunk that is no JSON ({error}): {data[:60]!r}")
        if not isinstance(chunk, dict):
            return _invalid(f"a chunk is an object, not {data[:60]!r}")
        if chunk.get("error"):
            self._ended = True
            return _invalid(f"the server reports: {chunk['error']!r:.200}")
        return self._delta(chunk.get("choices"))

    def _delta(self, choices: JsonValue) -> Delta:
        """The first choice's delta; an empty one where there is none."""
        listed = choices if isinstance(choices, list) else []
        first = next((c for c in listed if isinstance(c, dict) and not c.get("index")), {})
        self._ended = self._ended or bool(first.get("finish_reason"))
        delta = first.get("delta", first.get("message"))
        return delta if isinstance(delta, dict) else {}


def chunk_of(data: str) -> JsonValue:
    """The JSON in a line's data. Raises ValueError, or RecursionError.

    A chunk that contains half a surrogate pair is read by the decoder that keeps it.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)


def _invalid(message: str) -> Diagnosis:
    return Diagnosis("invalid-chunk", message)
