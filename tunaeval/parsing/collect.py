"""What has been read so far: pieces that tile the text, calls, diagnoses; and the result of it.

Pieces are offsets into the whole text, so nothing is copied until the end.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import orjson

from tunaeval.types import Diagnosis, Outcome, ParseResult, Span, ToolCall

from .events import Event

Kind: TypeAlias = Literal["content", "reasoning", "markup", "call"]

MAX_CALLS = 1024

MAX_TEXT = 16 * 1024 * 1024
"""Characters of one text that are looked at; what stands behind them is content."""


class Collector:
    """Takes in pieces in order. `events` is None when nobody listens."""

    def __init__(self, *, listened: bool) -> None:
        self.pieces: list[tuple[Kind, int, int]] = []
        self.calls: list[ToolCall] = []
        self.events: list[Event] | None = [] if listened else None
        self.truncated = False
        self.has_reasoning = False
        self.full = False
        """As many calls as are read at the most have been read, and another follows."""
        self._blank: tuple[int, int] | None = None
        self._diagnoses: list[Diagnosis] = []
        self._attempts: list[tuple[int, bool]] = []

    @property
    def end(self) -> int:
        """Up to where the text is accounted for."""
        return self.pieces[-1][2] if self.pieces else 0

    @property
    def last(self) -> Kind | None:
        """What the last piece was."""
        return self.pieces[-1][0] if self.pieces else None

    def blank(self, start: int, end: int) -> None:
        """White space that is content if more content follows and markup if anything else does."""
        self._blank = (self._blank[0] if self._blank else start, end)

    def settle_blank(self, kind: Kind) -> None:
        if self._blank:
            start, end = self._blank
            self._blank = None
            self.piece(kind, start, end)

    def piece(self, kind: Kind, start: int, end: int) -> None:
        """Characters `start` to `end` are of this kind."""
        if start == end:
            return
        if self._blank:
            self.settle_blank("content" if kind == "content" else "markup")
        if self.pieces and self.pieces[-1][0] == kind != "call":
            self.pieces[-1] = (kind, self.pieces[-1][1], end)
        else:
            self.pieces.append((kind, start, end))
        if self.events is not None and kind != "call":
            self.events.append(Event(kind, Span(start, end)))

    def call(self, call: ToolCall) -> None:
        """A call that stands, at its span."""
        span = call.span or Span(0, 0)
        self.piece("call", *span)
        if self.events is not None:
            index, name = len(self.calls), call.name
            self.events += [
                Event("call_started", span, index=index, name=name),
                Event("arguments", span, arguments_text(call), index, name),
                Event("call_finished", span, index=index, name=name, call=call),
            ]
        self.calls.append(call)

    def diagnose(self, code: str, message: str, start: int, end: int) -> None:
        """Note why something is no call, or what is odd."""
        diagnosis = Diagnosis(code, message, Span(start, end))
        self._diagnoses.append(diagnosis)
        if self.events is not None:
            self.events.append(Event("diagnosis", Span(start, end), diagnosis=diagnosis))

    def attempt(self, start: int, *, cut: bool = False) -> None:
        """Something tried to be a call and is none; `cut` when the text ended inside it."""
        self._attempts.append((start, cut))
        self.truncated = self.truncated or cut

    def reclassify(self, start: int, marker: int = 0) -> None:
        """All since `start` was reasoning, behind a marker of so many characters.

        Its calls and diagnoses are taken back.
        """
        self.settle_blank("content")
        self.has_reasoning = True
        end = self.end
        kept = [piece for piece in self.pieces if piece[2] <= start]
        split = next((piece for piece in self.pieces if piece[1] < start < piece[2]), None)
        if split:
            kept.append((split[0], split[1], start))
        self.pieces = kept
        self.calls = [call for call in self.calls if call.span and call.span.start < start]
        self._diagnoses = [d for d in self._diagnoses if d.span and d.span.start < start]
        self._attempts = [attempt for attempt in self._attempts if attempt[0] < start]
        if start < end and self.events is not None:
            self.events.append(Event("reclassified", Span(start, end)))
        listened, self.events = self.events, None
        self.piece("markup", start, start + marker)
        self.piece("reasoning", start + marker, end)
        self.events = listened

    def result(self, text: str) -> ParseResult:
        """The whole, once `text` is complete."""
        return ParseResult(
            calls=tuple(self.calls),
            content=self._said("content", text),
            reasoning=self._said("reasoning", text) if self.has_reasoning else None,
            diagnoses=tuple(self._diagnoses),
            truncated=self.truncated,
            outcome=self._outcome(),
        )

    def _said(self, kind: Kind, text: str) -> str:
        return "".join([text[start:end] for each, start, end in self.pieces if each == kind])

    def _outcome(self) -> Outcome:
        if self.calls:
            return "calls"
        if any(cut for _, cut in self._attempts):
            return "truncated"
        return "malformed" if self._attempts else "no_call"


def arguments_text(call: ToolCall) -> str:
    """The arguments as JSON text; integers of any size and lone surrogates included."""
    try:
        return orjson.dumps(call.arguments).decode()
    except orjson.JSONEncodeError:
        import json  # noqa: PLC0415 - only for what orjson refuses

        return json.dumps(call.arguments)
