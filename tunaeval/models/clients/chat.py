"""A conversation with one server: requests become chat completions, failures are tried again."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TypeVar

from tunaeval.errors import ClientSetupError, TransportFailure
from tunaeval.types.calls import JsonObject, Source
from tunaeval.types.deadlines import Deadline
from tunaeval.types.exchange import Reply, Request

from .answers import read_reply
from .pace import Pace
from .retries import REFUSED, Patience, TryFailed
from .server import Server
from .stream import read_stream

_T = TypeVar("_T")


_NO_LIST = (404, 405, 501)
_UNNAMED = "default"
"""The model to ask for if a server lists none: most such servers have one and ignore the name."""


class Chat:
    """The part that all clients of a server share: requests, retries and pace."""

    def __init__(
        self,
        server: Server,
        *,
        model: str | None,
        patience: Patience,
        connections: int,
        rpm: float | None = None,
        streams: bool = False,
    ) -> None:
        self.server = server
        self.model = model
        self.streams = streams
        self._patience = patience
        self._pace = Pace(server.address, connections, rpm=rpm)

    async def complete(self, request: Request) -> Reply:
        clock = _clock(request)
        model = self.model or await self._first_model(clock)
        payload = chat_payload(request, model)
        if self.streams:
            payload |= {"stream": True, "stream_options": {"include_usage": True}}
        source: Source | None = "structured" if "tools" in payload else "text"

        async def one_try() -> Reply:
            started = time.perf_counter()
            if self.streams:

                def seconds() -> float:
                    return time.perf_counter() - started

                reading = partial(read_stream, seconds=seconds, source=source)
                return await self.server.exchange("chat/completions", payload, reading, clock=clock)
            answer = await self.server.ask("chat/completions", payload, clock=clock)
            latency_seconds = time.perf_counter() - started
            return read_reply(answer, latency_seconds=latency_seconds, source=source)

        reply, retries = await self._patiently(one_try, clock)
        return replace(reply, retries=retries) if retries else reply

    async def look_up(self, path: str, clock: Deadline | None = None) -> JsonObject:
        """Return the JSON object at a path of the server, such as its models or its properties."""
        answer, _ = await self._patiently(lambda: self.server.ask(path, clock=clock), clock)
        return answer

    async def close(self) -> None:
        await self.server.close()

    async def _first_model(self, clock: Deadline | None) -> str:
        advice = "name one with the option 'model'"
        try:
            answer = await self.look_up("models", clock)
        except TransportFailure as error:
            if error.status in _NO_LIST:
                self.model = _UNNAMED
                return _UNNAMED
            if error.kind != REFUSED:
                raise
            raise TransportFailure(
                f"no model was named, and: {error}; or {advice}", kind=REFUSED, status=error.status
            ) from None
        match answer:
            case {"data": [{"id": str(model)}, *_]} if model:
                self.model = model
                return model
            case _:
                raise ClientSetupError(f"{self.server.address} lists no model; {advice}")

    async def _patiently(
        self, one_try: Callable[[], Awaitable[_T]], clock: Deadline | None
    ) -> tuple[_T, int]:
        """Return the result of the last try, and the number of tries that failed before it.

        When the time is over, the last failure says why there is nothing: a server that answers
        every try with an error has not kept silent.
        """
        hard = self._patience.deadline
        failures: list[TryFailed] = []

        async def in_turn() -> _T:
            try:
                longest_rest = math.inf if hard is None else hard
                return await self._pace.in_turn(one_try, clock, longest_rest)
            except TryFailed as failed:
                failures.append(failed)
                raise

        try:
            async with nullcontext() if hard is None else asyncio.timeout(hard):
                try:
                    return await in_turn(), 0
                except TryFailed as failed:
                    return await self._again(in_turn, failed, clock)
        except TryFailed as failed:
            raise self._failure(failed, len(failures)) from None
        except TimeoutError:
            last = failures[-1] if failures else self._pace.breaker.last
            if last is not None:
                raise self._failure(last, len(failures)) from None
            seconds = hard if clock is None else clock.seconds
            where = f"{self.server.address}{self.server.through}"
            raise TransportFailure(
                f"{where}: no reply within {seconds:.3g} s in all",
                kind="timeout",
            ) from None

    async def _again(
        self, in_turn: Callable[[], Awaitable[_T]], first: TryFailed, clock: Deadline | None
    ) -> tuple[_T, int]:
        """Make the tries after the first one, whose failure is passed to tenacity.

        Without this every request pays a tenth of a millisecond for retries it does not make.
        """
        tries = self._patience.tries(reached=lambda: self.server.reached, clock=clock)
        known = [first]

        async def one_more() -> _T:
            if known:
                raise known.pop()
            return await in_turn()

        result: _T = await tries(one_more)
        return result, tries.statistics["attempt_number"] - 1

    def _failure(self, failed: TryFailed, tries: int) -> TransportFailure:
        """Return the failure of a request, made from that of its last try."""
        words = None if failed.said is None else self.server.quote(failed.said)
        said = "" if words is None else f"; the server says: {words}"
        after = f" (after {tries} tries)" if tries > 1 else ""
        where = f"{self.server.address}{self.server.through}"
        return TransportFailure(
            f"{where}: {self.server.hide(str(failed))}{said}{after}",
            kind=failed.kind,
            status=failed.status,
            advice=failed.advice,
        )


def _clock(request: Request) -> Deadline | None:
    """Return the clock of a request whose time is limited, else None."""
    if request.deadline is not None or request.within_seconds is None:
        return request.deadline
    return Deadline(request.within_seconds)


def chat_payload(request: Request, model: str) -> dict[str, object]:
    """Return the body of a request in the shape of OpenAI's chat completions."""
    payload: dict[str, object] = {
        "model": model,
        "messages": request.messages,
        "max_tokens": request.max_tokens,
    }
    if request.temperature is not None:
        payload["temperature"] = request.temperature
    if request.seed is not None:
        payload["seed"] = request.seed
    if request.tools:
        payload["tools"] = request.tools
        payload["tool_choice"] = "auto"
    if request.schema is not None:
        payload["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": request.schema},
        }
    return payload
