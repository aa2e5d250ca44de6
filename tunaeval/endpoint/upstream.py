"""A request passed on to a real server, and what it answers."""

from __future__ import annotations

import asyncio

import httpx
import orjson

from tunaeval import records
from tunaeval.clients import KeyFilter, read_key
from tunaeval.errors import UsageError
from tunaeval.keys import COVER, Secret, long_enough, of_environment, of_headers
from tunaeval.showing import brief
from tunaeval.types import JsonObject, Usage

from .exchange import Answer, ModelRequest, Refused
from .responses import answer_of

_PATHS = {"chat": "chat/completions", "responses": "responses"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Upstream:
    """Asks the server at `base_url`, always for a whole answer; a stream is made of it here.

    The key is that of the environment (`TUNAEVAL_API_KEY`, `OPENAI_API_KEY`), else the one that
    the agent itself sends. `model` replaces the model that is asked for.
    """

    def __init__(self, base_url: str, *, model: str | None, timeout_seconds: float) -> None:
        try:
            url = httpx.URL(base_url.rstrip("/") + "/")
        except (httpx.InvalidURL, AttributeError) as error:
            raise _no_address(base_url) from error
        if url.scheme not in {"http", "https"} or not url.host:
            raise _no_address(base_url)
        self._url = url
        self._key = read_key()
        self._model = model
        self._timeout = timeout_seconds
        self._redaction = KeyFilter(self.secrets)
        self._client: httpx.AsyncClient | None = None

    @property
    def secrets(self) -> frozenset[str]:
        """What must not be kept, of the environment and of the address."""
        reported = (
            self._key or "",
            self._url.userinfo.decode(),
            self._url.username,
            self._url.password,
        )
        asked_with = of_headers(dict(self._url.params))
        return of_environment() | asked_with | long_enough(reported)

    async def answer(self, request: ModelRequest, authorization: str | None) -> Answer:
        """The server's answer. Raises Refused with its own error, or with why there is none."""
        body = {name: one for name, one in request.body.items() if name != "stream_options"}
        body |= {"stream": False} | ({"model": self._model} if self._model else {})
        headers = self._headers(authorization) | {"content-type": "application/json"}
        document = await self._ask(_PATHS[request.api], records.encode(body), headers)
        return answer_of(document) if request.api == "responses" else _chat_answer(document)

    async def models(self) -> JsonObject:
        return await self._ask("models", None, self._headers(None))

    def _headers(self, authorization: str | None) -> dict[str, str]:
        given = f"Bearer {self._key}" if self._key else authorization
        return {"authorization": Secret(given)} if given else {}

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None
            self._redaction.end()

    async def _ask(self, path: str, body: bytes | None, headers: dict[str, str]) -> JsonObject:
        if self._client is None:
            uses_proxies = self._url.host not in _LOOPBACK
            self._client = httpx.AsyncClient(
                timeout=self._timeout, trust_env=uses_proxies, verify=self._url.scheme == "https"
            )
        self._redaction.begin()
        method = "GET" if body is None else "POST"
        try:
            async with asyncio.timeout(self._timeout):
                url = self._url.join(path)
                reply = await self._client.request(method, url, content=body, headers=headers)
        except TimeoutError:
            raise Refused(
                f"the upstream {self._url.host} gave no reply within {self._timeout:g} s",
                status=504,
            ) from None
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            words = f"the upstream {self._url.host} was not reached: {why}"
            raise Refused(words, status=502) from None
        return _document(reply)


def _document(reply: httpx.Response) -> JsonObject:
    try:
        document = orjson.loads(reply.content)
    except orjson.JSONDecodeError:
        document = None
    if reply.is_success and isinstance(document, dict):
        return document
    said = document.get("error") if isinstance(document, dict) else None
    words = said.get("message") if isinstance(said, dict) else None
    status = 502 if reply.is_success else max(400, reply.status_code)
    raise Refused(f"the upstream says: {words or repr(reply.text[:300])}", status=status)


def _chat_answer(document: JsonObject) -> Answer:
    match document:
        case {"choices": [{"message": dict() as message, **choice}, *_]}:
            usage = document.get("usage") or {}
            spent = Usage(usage.get("prompt_tokens"), usage.get("completion_tokens"))
            reason = choice.get("finish_reason")
            return Answer({"role": "assistant", **message}, str(reason or "stop"), spent)
    raise Refused("the upstream's answer has no choices[0].message", status=502)


def _no_address(base_url: object) -> UsageError:
    if isinstance(base_url, str) and "@" in base_url:
        scheme, found, rest = base_url.partition("://")
        base_url = f"{scheme}{found}{COVER}@{rest.rpartition('@')[2]}"
    return UsageError(f"upstream is {brief(base_url)}; wanted a URL as http://127.0.0.1:8000/v1")
