"""Turns an HTTP request to the endpoint into its response, plays faults, and records the turn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import httpx2
import orjson

from tunaeval.clients.network import LOOPBACK
from tunaeval.errors import TunaevalError
from tunaeval.files import records
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
from tunaeval.types.json_text import decoded_or
from tunaeval.types.wanted import wanted_items
from tunaeval.wire.apis import APIS
from tunaeval.wire.requests import put
from tunaeval.wire.responses import reply_id
from tunaeval.wire.values import Answer, ApiName, Result

from . import routes
from .apis import EndpointTurn, ModelRequest, Refused, accepted, estimated_tokens
from .cassettes import Cassette
from .connections import HttpRequest, HttpResponse, options, streamed, whole
from .routes import SENT_ON, Route
from .sources import Passing, Scripted

Source: TypeAlias = Scripted | Cassette | Passing
"""Where answers come from: a script, a cassette, or an upstream."""


class Answering:
    """Answers requests, and records them as turns."""

    def __init__(self, source: Source, faults: Faults, model: str) -> None:
        self._source, self._faults, self._model = source, faults, model
        self._history: dict[str, tuple[JsonObject, ...]] = {}
        self._count = 0
        self.turns: list[EndpointTurn] = []
        self.errors: list[str] = []

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
        return whole(refused.status, _json(written))

    def _covered(self, refused: Refused, http: HttpRequest) -> Refused:
        """Return an error without the secrets of the environment, the source and the request."""
        body = decoded_or(http.body)
        of_source: frozenset[str] = getattr(self._source, "secrets", frozenset())
        secrets = of_environment() | of_source | of_headers(http.headers) | of_fields(body)
        words = covered(str(refused), secrets)
        return Refused(words, status=refused.status, code=refused.code)

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
        self._count += 1
        number = self._count
        hit = self._faults.at(number)
        turn = partial(EndpointTurn, number, request, faults=(*hit, *planted))
        for fault in hit:
            if isinstance(fault, Garbage):
                self.turns.append(turn(error="garbage was sent"))
                return whole(200, fault.body.encode("utf-8", "surrogatepass"), "text/html")
        try:
            answer = await self._answer(request, http, [*hit, *planted])
        except Refused as refused:
            words = str(self._covered(refused, http))
            self.turns.append(turn(error=words, code=refused.code))
            raise
        for fault in hit:
            if isinstance(fault, Cut) and fault.by == "connection":
                self.turns.append(turn(error="the reply broke off"))
                return broken(_written(answer, request, number, http), fault.share)
        message = answer.message or {}
        # Structured calls count even if no such tool was offered, so that tests can see them.
        tools = None if message.get("tool_calls") else request.tools
        read = parse_message(message, tools=tools)
        made = turn(message, read.calls, answer.finish, answer.usage)
        self.turns.append(replace(made, lost=lost_calls(message, read, tools)))
        if request.api == "responses":
            self._history[reply_id(answer, number)] = (*request.messages, message)
        return _written(answer, request, number, http)

    async def _answer(self, request: ModelRequest, http: HttpRequest, met: list[Fault]) -> Answer:
        """Return the source's answer with this turn's faults. Raise Refused if there is none."""
        hit = [fault for fault in met if not is_of_result(fault)]
        for fault in met:
            if isinstance(fault, Delay):
                await asyncio.sleep(fault.seconds)
        for fault in hit:
            if isinstance(fault, Fail):
                raise Refused(fault.message, status=fault.status, code="fault")
        try:
            keeps = any(isinstance(fault, Cut) for fault in hit)  # it does not arrive whole
            answer = await self._source.answer(request, _sent_on(http), keeps=keeps)
        except Refused:
            raise
        except Exception as error:
            if isinstance(error, TunaevalError):
                raise Refused(str(error)) from error
            raise _own_failure(error) from error
        used = [call.id for turn in self.turns for call in turn.calls if call.id]
        return spoiled(answer, hit, used)


def _own_failure(error: Exception) -> Refused:
    words = f"the endpoint itself failed: {type(error).__name__}: {str(error)[:300]}"
    return Refused(words, status=500)


def _check_local(headers: Mapping[str, str]) -> None:
    """Refuse a request of a web page from another origin, or to a host name that is not this
    machine's. Otherwise any open page could spend the API key and read the answers. Another port of
    this machine is another origin, too, as any program may serve a page there.
    """
    host, origin = headers.get("host"), headers.get("origin")
    site = headers.get("sec-fetch-site", "none")
    sent = ""
    if host is not None and _host_in(f"//{host}") not in LOOPBACK:
        sent = f"to the host {host!r:.200}"
    elif origin is not None and origin != f"http://{host}":
        sent = f"by a page of {origin!r:.200}"
    elif site.lower() not in {"same-origin", "none"}:
        sent = f"by a page of another origin (Sec-Fetch-Site: {site:.200})"
    if sent:
        raise Refused(
            f"the request was sent {sent}; this endpoint only answers programs on this machine, "
            "which ask 127.0.0.1 or localhost, and no web pages but its own",
            status=403,
            code="foreign",
        )


def _host_in(url: str) -> str | None:
    try:
        return httpx2.URL(url).host
    except (httpx2.InvalidURL, ValueError):
        return None


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


def _written(answer: Answer, request: ModelRequest, number: int, http: HttpRequest) -> HttpResponse:
    api = APIS[request.api]
    if not request.streams:
        return whole(200, _json(api.write_reply(answer, request, number)))
    events = api.write_events(answer, request, number)
    if request.api == "gemini" and "alt=sse" not in http.path:  # then Google sends one list
        return whole(200, _json([*events]))
    sent = (
        (b"event: " + one["type"].encode() + b"\n" if "type" in one else b"")
        + (b"data: " + _json(one) + b"\n\n")
        for one in events
    )
    return streamed((*sent, *([b"data: [DONE]\n\n"] if request.api == "chat" else [])))


def _json(document: JsonValue) -> bytes:
    return records.encode(document).rstrip(b"\n")


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


def spoiled(answer: Answer, faults: Sequence[Fault], used: Sequence[str]) -> Answer:
    """Return the answer with repeated ids (the last one `used`, or its own first), or cut short."""
    for fault in faults:
        if isinstance(fault, RepeatId):
            answer = _with_one_id(answer, used)
        elif isinstance(fault, Cut) and fault.by == "length":
            cut = cut_message(answer.message or {}, fault.share)
            answer = replace(answer, message=cut, finish="length", items=None)
    return answer


def broken(response: HttpResponse, share: float) -> HttpResponse:
    """Return the response, of which only a share arrives before the connection breaks off."""
    if response.length is None:
        kept = response.parts[: int(len(response.parts) * share)]
    else:
        kept = tuple(part[: int(len(part) * share)] for part in response.parts)
    return replace(response, parts=kept, breaks_off=True)


def _with_one_id(answer: Answer, used: Sequence[str]) -> Answer:
    message = answer.message or {}
    calls = message.get("tool_calls") or []
    if not calls:
        return answer
    again = used[-1] if used else calls[0].get("id")
    same = [{**call, "id": again} for call in calls]
    return replace(answer, message={**message, "tool_calls": same}, items=None)
