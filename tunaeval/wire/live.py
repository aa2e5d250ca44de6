"""Writes an answer as the events of a stream while it is made, from deltas of chat completions.

An API sends one part after another, and closes one before the next begins. A call that begins
inside another one is kept, and sent when that is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tunaeval.types.calls import JsonObject

from .assembler import Added, GrowingCall
from .values import Answer, Api, LivePart, Request, Step
from .writing import arguments_of


class LiveAnswer:
    """An answer to a request that grows. Its methods return the events that have to be sent; `end`
    takes the whole answer.
    """

    def __init__(self, api: Api, request: Request, number: int) -> None:
        self._api, self._request, self._number = api, request, number
        self._sent = 0
        self._waiting: dict[int, GrowingCall] = {}
        self._parts: list[LivePart] = []
        self._calls: dict[int, LivePart] = {}
        self._open: tuple[LivePart, GrowingCall | None] | None = None

    def begin(self) -> list[JsonObject]:
        return self._written([Step("begin")])

    def take(self, added: Iterable[Added]) -> list[JsonObject]:
        return self._written(step for one in added for step in self._steps(one))

    def end(self, answer: Answer) -> list[JsonObject]:
        late = self._waiting.values()
        found = self._written(step for call in late for step in self._begun("call", call))
        found += self._written(self._closed())
        return found + self._written([Step("end", parts=tuple(self._parts), answer=answer)])

    def _written(self, steps: Iterable[Step]) -> list[JsonObject]:
        write, found = self._api.write_step, list[JsonObject]()
        for step in steps:
            for event in write(step, self._request, self._number):
                found.append(self._numbered(event))
        return found

    def _numbered(self, event: JsonObject) -> JsonObject:
        if self._api.name != "responses":
            return event
        self._sent += 1
        return {**event, "sequence_number": self._sent - 1}

    def _steps(self, added: Added) -> Iterator[Step]:
        call = added.call
        if added.kind in ("text", "thought", "refusal"):
            if self._open is None or self._open[0].kind != added.kind:
                yield from self._begun(added.kind)
            yield from _more(self._parts[-1], added.text)
        elif call is not None and call.number in self._calls:
            yield from _more(self._calls[call.number], "" if call.is_custom else added.text)
        elif call is not None:
            self._waiting[call.number] = call
            while (call := next(iter(self._waiting.values()), None)) and call.is_named:
                before = self._open and self._open[1]
                if before is not None and not before.complete:
                    return
                del self._waiting[call.number]
                yield from self._begun("call", call)

    def _begun(self, kind: Any, call: GrowingCall | None = None) -> Iterator[Step]:
        yield from self._closed()
        nth = len(self._calls)
        part = LivePart(kind, len(self._parts), nth)
        if call is not None:
            part.id, part.name = call.id or f"call_{self._number}_{nth}", call.name
            self._calls[call.number] = part
        self._parts.append(part)
        self._open = part, call
        yield Step("open", part)
        if call is not None and call.begun and not call.is_custom:
            yield from _more(part, _arguments(call))

    def _closed(self) -> Iterator[Step]:
        """Close the open part, behind what of its call did not come as text."""
        if self._open is not None:
            part, call = self._open
            if call is not None:
                yield from _more(part, _arguments(call)[sum(map(len, part.texts)) :])
            yield Step("close", part)
        self._open = None


def _more(part: LivePart, text: str) -> Iterator[Step]:
    if text:
        part.texts.append(text)
        yield Step("more", part, text)


def _arguments(call: GrowingCall) -> str:
    item = call.item()
    return arguments_of(item["function"]) if isinstance(item, dict) else ""
