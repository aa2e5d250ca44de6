"""Turns an HTTP request to the endpoint into its response, plays faults, and records the turn."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import httpx2
import orjson

from tunaeval.errors import TunaevalError
from tunaeval.files.keys import Secret, covered, of_environment, of_fields, of_headers
from tunaeval.parsing.api import parse_message
from tunaeval.parsing.message import lost_calls
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.faults import (
    FAULTS,
    Cut,
    Delay,
    Fail,
    Fault,
    Garbage,
    Inject,
    RepeatId,
    cut_message,
    is_of_result,
    spoiled_result,
)
from tunaeval.types.json_text import decoded_or, encode
from tunaeval.types.messages import Usage
from tunaeval.types.wanted import wanted_items
from tunaeval.wire.apis import APIS
from tunaeval.wire.chat import CHAT
from tunaeval.wire.live import LiveAnswer
from tunaeval.wire.requests import put
from tunaeval.wire.responses import reply_id
from tunaeval.wire.values import Answer, ApiName, Result
from tunaeval.wire.writing import counts

from . import routes
from .apis import EndpointTurn, ModelRequest, Refused, accepted, estimated_tokens
from .cassettes import Cassette
from .connections import EVENTS, HttpRequest, HttpResponse, foreign, options, streamed, whole
from .routes import SENT_ON, Route
from .sources import Growing, Passing, Scripted

Source: TypeAlias = Scripted | Cassette | Passing
"""Where answers come from: a script, a cassette, or an upstream."""


class Answering:
    """Answers requests, and records them as turns."""

    def __init__(
        self, source: Source, faults: Faults, model: str, keep_turns: int | None = None
    ) -> None:
        self._source, self._faults, self._model = source, faults, model
        self._history: dict[str, tuple[JsonObject, ...]] = {}
        self._keeps = keep_turns
        self.asked = 0
        """How many turns there were, also those that are not kept."""
        self.turns: deque[EndpointTurn] = deque(maxlen=keep_turns)
        self.errors: deque[str] = deque(maxlen=None if keep_turns is None else max(1, keep_turns))
        self.met: set[Fault] = set()
        self.usage = Usage(0, 0)

    async def respond(self, http: HttpRequest) -> HttpResponse:
        """Return the response. Errors become responses; only a cancellation is raised."""
        try:
            http = _with_key(http)
            return await self._response(http)
        except Refused as error:
            refused = error
        except Exception as error:  # noqa: BLE001 - an error must not end the connection
            refused = _own_failure(error)
        refused = self._covered(refused, http)
        self.errors.append(str(refused))
        api = APIS[routes.speaker(routes.path_of(http.path), http.headers)]
        written = api.write_error(str(refused), refused.status, refused.code)
        return whole(refused.status, _json(written), headers=refused.headers)

    def _covered(self, refused: Refused, http: HttpRequest) -> Refused:
        """Return an error without the secrets of the environment, the source and the request."""
        body = decoded_or(http.body)
        of_source: frozenset[str] = getattr(self._source, "secrets", frozenset())
        secrets = of_environment() | of_source | of_headers(http.headers) | of_fields(body)
        words = covered(str(refused), secrets)
        sent = {name: covered(one, secrets) for name, one in refused.headers.items()}
        return Refused(words, status=refused.status, code=refused.code, headers=sent)

    async def _response(self, http: HttpRequest) -> HttpResponse:
        _check_local(http.headers)
        path = routes.path_of(http.path)
        route = routes.route_of(path, http.headers)
        if http.method == "OPTIONS" and route is not None:
            return options({"OPTIONS", *route.methods})
        if route is None or http.method not in route.methods:
            raise Refused(
                f"there is no {http.method} {path or '/'}; this endpoint has {routes.PATHS}",
                status=404 if route is None else 405,
                code="unknown_url",
            )
        match route.does:
            case "answer":
                return await self._turn(route, http)
            case "count":
                counted = estimated_tokens(self._read(route, _body(http), http))
                return whole(200, _json(APIS[route.api].write_count(counted)))
            case "list":
                return whole(200, _json(await self._listed(route.api, http)))
            case "show":
                return whole(200, _json(APIS[route.api].write_model(route.model or "")))
            case "exist":  # Claude Code asks for this before anything else
                return whole(200, b"{}")

    async def _listed(self, api: ApiName, http: HttpRequest) -> JsonObject:
        if isinstance(self._source, Passing):
            return await self._source.models(api, _sent_on(http))
        names = getattr(self._source, "recorded_models", ()) or (self._model,)
        return APIS[api].write_models(names)

    def _read(self, route: Route, body: JsonObject, http: HttpRequest) -> ModelRequest:
        read = accepted(APIS[route.api], body, self._history)
        if route.model is not None:
            read = replace(read, model=route.model, streams=bool(route.streams))
        return replace(read, secrets=of_headers(http.headers) | of_fields(body))

    async def _turn(self, route: Route, http: HttpRequest) -> HttpResponse:
        """Answer a request, and record it as a turn if it could be read."""
        body, planted = self._faults.planted(_body(http), route.api)
        request = self._read(route, body, http)
        self.asked += 1
        number = self.asked
        hit = self._faults.at(number)
        turn = partial(EndpointTurn, number, request, faults=(*hit, *planted))
        for fault in hit:
            if isinstance(fault, Garbage):
                self._keep(turn(error="garbage was sent"))
                return whole(200, fault.body.encode("utf-8", "surrogatepass"), "text/html")
        try:
            answer = await self._answer(request, http, [*hit, *planted])
        except Refused as refused:
            words = str(self._covered(refused, http))
            self._keep(turn(error=words, code=refused.code))
            raise
        if isinstance(answer, Growing):
            return await self._live(answer, turn, http)
        for fault in hit:
            if isinstance(fault, Cut) and fault.by == "connection":
                self._keep(turn(error="the reply broke off"))
                return broken(_respond(answer, request, number, http), fault.share)
        self._keep(turn(), answer)
        return _respond(answer, request, number, http)

    def _keep(self, turn: EndpointTurn, answer: Answer | None = None) -> None:
        """Keep a turn, with its answer if there is one."""
        self.met.update(turn.faults)
        if answer is not None:
            message = answer.message or {}
            # Structured calls count even if no such tool was offered, so that tests can see them.
            tools = None if message.get("tool_calls") else turn.request.tools
            read = parse_message(message, tools=tools)
            turn = replace(
                turn, message=message, calls=read.calls, finish_reason=answer.finish,
                usage=answer.usage, lost=lost_calls(message, read, tools),
            )  # fmt: skip
            self.usage = Usage(
                *map(sum, zip(counts(self.usage), counts(answer.usage), strict=True))
            )
            if turn.request.api == "responses":
                history = (*turn.request.messages, message)
                self._history[reply_id(answer, turn.number)] = history
                if self._keeps is not None and len(self._history) > max(1, self._keeps):
                    del self._history[next(iter(self._history))]
        self.turns.append(turn)

    async def _live(
        self, growing: Growing, turn: Callable[..., EndpointTurn], http: HttpRequest
    ) -> HttpResponse:
        """Return the response that is sent while the answer grows, once that has begun."""
        events = self._events(growing, turn, http)
        await anext(events)  # an error before the first delta has a status of its own
        kind = EVENTS if _is_sse(turn().request, http) else "application/json"
        return HttpResponse(200, events, kind)

    async def _events(
        self, growing: Growing, turn: Callable[..., EndpointTurn], http: HttpRequest
    ) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of a stream, behind nothing when the answer has begun, and keep the turn
        at the end.
        """
        request, number = turn().request, turn().number
        live = LiveAnswer(APIS[request.api], request, number)
        framed = _Framed(request, http)
        error, has_begun = "the client left before the end", False
        code, answer = None, None
        try:
            added = await growing.next()
            yield b""
            has_begun = True
            yield framed.events(live.begin())
            while added is not None:
                if found := live.take(added):
                    yield framed.events(found)
                added = await growing.next()
            answer = growing.answer
            yield framed.events(live.end(answer)) + framed.end(answer)
        except Refused as refused:
            hidden = self._covered(refused, http)
            error, code, answer = str(hidden), refused.code, None
            if not has_begun:
                raise
            self.errors.append(error)
            yield framed.failed(hidden)
        finally:
            await growing.close()
            self._keep(turn() if answer else turn(error=error, code=code), answer)

    async def _answer(
        self, request: ModelRequest, http: HttpRequest, met: list[Fault]
    ) -> Answer | Growing:
        """Return the source's answer with this turn's faults. Raise Refused if there is none. It
        grows only where it is streamed as it is.
        """
        hit = [fault for fault in met if not is_of_result(fault)]
        for fault in met:
            if isinstance(fault, Delay):
                await asyncio.sleep(fault.seconds)
        for fault in hit:
            if isinstance(fault, Fail):
                status, headers = fault.status, fault.headers
                raise Refused(fault.message, status=status, code="fault", headers=headers)
        try:
            keeps = any(isinstance(fault, Cut) for fault in hit)  # it does not arrive whole
            answer = await self._source.answer(request, _sent_on(http), keeps=keeps)
            if isinstance(answer, Growing):
                if request.streams and not any(isinstance(one, Cut | RepeatId) for one in hit):
                    return answer
                answer = await answer.whole()
        except Refused:
            raise
        except Exception as error:
            if isinstance(error, TunaevalError):
                raise Refused(str(error)) from error
            raise _own_failure(error) from error
        return spoiled(answer, hit, self.turns)


def _own_failure(error: Exception) -> Refused:
    words = f"the endpoint itself failed: {type(error).__name__}: {str(error)[:300]}"
    return Refused(words, status=500)


def _check_local(headers: Mapping[str, str]) -> None:
    """Refuse a request of a web page from another origin, or to another machine's name."""
    if sent := foreign(headers):
        raise Refused(
            f"the request was sent {sent}; this endpoint only answers programs on this machine, "
            "which ask 127.0.0.1 or localhost, and no web pages but its own",
            status=403,
            code="foreign",
        )


def _body(http: HttpRequest) -> JsonObject:
    try:
        body: JsonValue = orjson.loads(http.body)
    except orjson.JSONDecodeError as error:
        raise Refused(f"the body is no JSON ({error}); wanted a JSON object") from None
    if not isinstance(body, dict):
        raise Refused(f"the body is {type(body).__name__}; wanted a JSON object")
    return body


def _with_key(http: HttpRequest) -> HttpRequest:
    """Return the request with the key of its query, as Google's API takes it, moved to a header."""
    _, _, query = http.path.partition("?")
    key = httpx2.QueryParams(query).get("key") if "key=" in query else None
    return replace(http, headers={"x-goog-api-key": Secret(key), **http.headers}) if key else http


def _sent_on(http: HttpRequest) -> dict[str, str]:
    return {name: http.headers[name] for name in SENT_ON if name in http.headers}


def _respond(answer: Answer, request: ModelRequest, number: int, http: HttpRequest) -> HttpResponse:
    api = APIS[request.api]
    named = {_REPAIRS: ", ".join(answer.repairs)} if answer.repairs else {}
    if not request.streams:
        return whole(200, _json(api.write_reply(answer, request, number)), headers=named)
    events = api.write_events(answer, request, number)
    if not _is_sse(request, http):
        return whole(200, _json([*events]), headers=named)
    framed = _Framed(request, http)
    last = framed.end(answer)
    return streamed((*(framed.events([one]) for one in events), *([last] if last else [])))


_REPAIRS = "x-tunaeval-repairs"


def _is_sse(request: ModelRequest, http: HttpRequest) -> bool:
    """Whether a stream is one of server-sent events; without `alt=sse` Google sends one list."""
    return request.api != "gemini" or "alt=sse" in http.path


class _Framed:
    """Writes the events of a stream as bytes: server-sent events, or the items of a list."""

    def __init__(self, request: ModelRequest, http: HttpRequest) -> None:
        self._api, self._is_sse = APIS[request.api], _is_sse(request, http)
        self._takes_comments = "x-goog-api-client" not in http.headers  # Google's SDKs fail on them
        self._before = b"["

    def events(self, events: Iterable[JsonObject]) -> bytes:
        return b"".join(map(self._event, events))

    def _event(self, event: JsonObject) -> bytes:
        if self._is_sse:
            named = b"event: " + event["type"].encode() + b"\n" if "type" in event else b""
            return named + b"data: " + _json(event) + b"\n\n"
        before, self._before = self._before, b",\n"
        return before + _json(event)

    def end(self, answer: Answer) -> bytes:
        """Return what follows the last event: the mark of the end, and a comment on repairs."""
        if not self._is_sse:
            return b"]"
        done = b"data: [DONE]\n\n" if self._api is CHAT else b""
        codes = ", ".join(answer.repairs).encode() if self._takes_comments else b""
        return done + (b": " + _REPAIRS.encode() + b": " + codes + b"\n\n" if codes else b"")

    def failed(self, refused: Refused) -> bytes:
        """Return the error that ends a stream which has begun."""
        error = self._api.write_error(str(refused), refused.status, refused.code)
        return self._event({"type": "error", **error} if self._api.name == "responses" else error)


def _json(document: JsonValue) -> bytes:
    return encode(document).rstrip(b"\n")


class Faults:
    """The faults of an endpoint. Raises UsageError for a value that is no fault."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        names = ", ".join(kind.__name__ for kind in FAULTS.values())
        wanted = f"one of {names}, of tunaeval.types.faults"
        self.every = wanted_items(faults, "faults", Fault, wanted)
        self._of_results = [one for one in self.every if is_of_result(one)]
        self._of_replies = [one for one in self.every if not is_of_result(one)]

    def at(self, number: int) -> list[Fault]:
        """Return the faults of the reply to request `number`."""
        return [
            fault
            for fault in self._of_replies
            if not isinstance(fault, Inject) and fault.hits(number)
        ]

    def planted(self, body: JsonObject, api: ApiName) -> tuple[JsonObject, list[Fault]]:
        """Return the request with its tool results spoiled, and the faults that did so."""
        if not self._of_results:
            return body, []
        made, met = body, []
        for fault in self._of_results:
            for result in _hit(APIS[api].results(made), fault):
                if isinstance(fault, Delay) and not result.is_new:
                    continue  # an earlier request with this result was delayed
                content = _spoiled(result.content, fault)
                made = put(made, result.path, {result.key: content} if result.key else content)
                met.append(fault)
        return made, list(dict.fromkeys(met))


def _hit(results: Sequence[Result], fault: Fault) -> list[Result]:
    tool: str | None = getattr(fault, "tool", None)
    of_tool = [one for one in results if tool in (None, one.tool) or tool in one.before]
    return of_tool if fault.at is None else of_tool[fault.at - 1 :][:1]


def _spoiled(content: JsonValue, fault: Fault) -> JsonValue:
    """Return a result's content, a text or parts, as the fault changes it."""
    if isinstance(fault, Delay):
        return content
    if isinstance(fault, Inject) and isinstance(content, list):
        kinds = [part.get("type") for part in content if isinstance(part, dict) and "text" in part]
        return [*content, {"type": kinds[0] if kinds else "text", "text": fault.text}]
    return spoiled_result(fault, content if isinstance(content, str) else text_of(content))


def spoiled(answer: Answer, faults: Sequence[Fault], turns: Iterable[EndpointTurn]) -> Answer:
    """Return the answer with repeated ids (the last one of the turns, or its own first), or cut."""
    for fault in faults:
        if isinstance(fault, RepeatId):
            used = [call.id for turn in turns for call in turn.calls if call.id]
            answer = _with_one_id(answer, used)
        elif isinstance(fault, Cut) and fault.by == "length":
            cut = cut_message(answer.message or {}, fault.share)
            answer = replace(answer, message=cut, finish="length", items=None)
    return answer


def broken(response: HttpResponse, share: float) -> HttpResponse:
    """Return the response, of which only a share arrives before the connection breaks off."""
    parts = response.parts if isinstance(response.parts, tuple) else ()
    if response.length is None:
        kept = parts[: int(len(parts) * share)]
    else:
        kept = tuple(part[: int(len(part) * share)] for part in parts)
    return replace(response, parts=kept, breaks_off=True)


def _with_one_id(answer: Answer, used: Sequence[str]) -> Answer:
    message = answer.message or {}
    calls = message.get("tool_calls") or []
    if not calls:
        return answer
    again = used[-1] if used else calls[0].get("id")
    same = [{**call, "id": again} for call in calls]
    return replace(answer, message={**message, "tool_calls": same}, items=None)
