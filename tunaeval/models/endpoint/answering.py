"""Turns an HTTP request to the endpoint into its response, and records the turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import httpx2
import orjson

from tunaeval.errors import TunaevalError
from tunaeval.files import records
from tunaeval.files.keys import of_headers
from tunaeval.models.clients.broken import LOOPBACK
from tunaeval.parsing.api import parse_message
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.faults import Delay, Fail, Fault, Garbage, is_of_result

from .chat import CREATED, chunks, completion, read_chat
from .connections import HttpRequest, HttpResponse, options, streamed, whole
from .exchange import Answer, Api, EndpointTurn, ModelRequest, Refused
from .playing import Faults, breaks_off, broken, keeps_item, spoiled
from .responses import events, read_responses, response, response_id

_APIS: dict[str, Api] = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}
_MODELS = "/v1/models"
_METHODS = {_MODELS: ("GET", "HEAD"), **dict.fromkeys(_APIS, ("POST",))}
_PATHS = ", ".join(f"POST {path}" for path in _APIS) + f" and GET {_MODELS}"


class Source(Protocol):
    """Where answers come from: a script, a cassette, or an upstream."""

    async def answer(
        self, request: ModelRequest, authorization: str | None, *, keeps: bool = False
    ) -> Answer:
        """Return the answer; with `keeps`, the next request gets the same one again."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """A source that can list its models."""

    async def models(self) -> JsonObject: ...


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
            return await self._response(http)
        except Refused as error:
            refused = error
        except Exception as error:  # noqa: BLE001 - an error must not end the connection
            refused = _own_failure(error)
        self.errors.append(str(refused))
        return whole(refused.status, _json(refused.document()))

    async def _response(self, http: HttpRequest) -> HttpResponse:
        _check_local(http.headers)
        path = http.path.partition("?")[0].rstrip("/")
        if http.method == "OPTIONS" and path in _METHODS:
            return options({"OPTIONS", *_METHODS[path]})
        if http.method not in _METHODS.get(path, ()):
            raise _unknown(http.method, path)
        if path == _MODELS:
            return whole(200, _json(await self._listed()))
        return await self._turn(_APIS[path], http)

    async def _listed(self) -> JsonObject:
        if isinstance(self._source, ListsModels):
            return await self._source.models()
        listed = getattr(self._source, "recorded_models", ()) or (self._model,)
        head = {"object": "model", "created": CREATED, "owned_by": "tunaeval"}
        return {"object": "list", "data": [{"id": name, **head} for name in listed]}

    async def _turn(self, api: Api, http: HttpRequest) -> HttpResponse:
        """Answer a request, and record it as a turn if it could be read."""
        body, planted = self._faults.planted(_body(http), api)
        read = read_chat(body) if api == "chat" else read_responses(body, self._history)
        request = replace(read, secrets=of_headers(http.headers))
        self._count += 1
        number = self._count
        hit = self._faults.at(number)
        met = (*hit, *planted)
        try:
            if any(isinstance(fault, Garbage) for fault in hit):
                self._keep(EndpointTurn(number, request, error="garbage was sent", faults=met))
                return _garbage(hit)
            answer = await self._answer(request, http, [*hit, *planted])
        except Refused as refused:
            words, code = str(refused), refused.code
            self._keep(EndpointTurn(number, request, error=words, code=code, faults=met))
            raise
        if breaks_off(hit):
            self._keep(EndpointTurn(number, request, error="the reply broke off", faults=met))
            return broken(_written(answer, request, number), hit)
        self._keep(_made(number, request, answer, met))
        self._history[response_id(answer, number)] = (*request.messages, answer.message)
        return _written(answer, request, number)

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
            sent = http.headers.get("authorization")
            answer = await self._source.answer(request, sent, keeps=keeps_item(hit))
        except Refused:
            raise
        except Exception as error:
            if isinstance(error, TunaevalError):
                raise Refused(str(error)) from error
            raise _own_failure(error) from error
        return spoiled(answer, hit, [call.id for call in self._calls() if call.id])

    def _calls(self) -> Iterator[Any]:
        return (call for turn in self.turns for call in turn.calls)

    def _keep(self, turn: EndpointTurn) -> None:
        self.turns.append(turn)


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
            f"the request was sent {sent}; this endpoint answers programs of this machine, which "
            "ask 127.0.0.1 or localhost, and no pages but its own",
            status=403,
            code="foreign",
        )


def _host_in(url: str) -> str | None:
    try:
        return httpx2.URL(url).host
    except (httpx2.InvalidURL, ValueError):
        return None


def _unknown(method: str, path: str) -> Refused:
    is_known = path in _APIS or path == _MODELS
    return Refused(
        f"there is no {method} {path}; this endpoint has {_PATHS}",
        status=405 if is_known else 404,
        code="unknown_url",
    )


def _made(
    number: int, request: ModelRequest, answer: Answer, met: tuple[Fault, ...]
) -> EndpointTurn:
    # Structured calls count even if no such tool was offered, so that tests can see them.
    tools = None if answer.message.get("tool_calls") else request.tools
    calls = parse_message(answer.message, tools=tools).calls
    reason, usage = answer.finish_reason, answer.usage
    return EndpointTurn(number, request, answer.message, calls, reason, usage, faults=met)


def _body(http: HttpRequest) -> JsonObject:
    try:
        body: JsonValue = orjson.loads(http.body)
    except orjson.JSONDecodeError as error:
        raise Refused(f"the body is no JSON ({error}): {http.body[:60]!r}") from None
    if not isinstance(body, dict):
        raise Refused(f"the body is {type(body).__name__}; wanted a JSON object")
    return body


def _garbage(hit: list[Fault]) -> HttpResponse:
    text = next(fault.body for fault in hit if isinstance(fault, Garbage))
    return whole(200, text.encode("utf-8", "surrogatepass"), "text/html")


def _written(answer: Answer, request: ModelRequest, number: int) -> HttpResponse:
    if request.api == "chat":
        if not request.streams:
            return whole(200, _json(completion(answer, request.model, number)))
        sent = [b"data: " + _json(one) + b"\n\n" for one in chunks(answer, request, number)]
        return streamed([*sent, b"data: [DONE]\n\n"])
    if not request.streams:
        return whole(200, _json(response(answer, request, number)))
    return streamed(
        b"event: " + one["type"].encode() + b"\ndata: " + _json(one) + b"\n\n"
        for one in events(answer, request, number)
    )


def _json(document: JsonObject) -> bytes:
    return records.encode(document).rstrip(b"\n")
