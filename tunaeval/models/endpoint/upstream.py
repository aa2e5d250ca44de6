"""An upstream: passes a request on to a real server and returns its answer."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

import httpx2
import orjson

from tunaeval.errors import ClientSetupError, UsageError
from tunaeval.files.keys import COVER, Secret, SecretBytes, long_enough, of_environment
from tunaeval.models.clients.answers import error_words, read_usage
from tunaeval.models.clients.server import Heard, Server, read_key
from tunaeval.parsing.sse import first_choice
from tunaeval.types.calls import JsonObject, JsonValue

from .exchange import Answer, ModelRequest, Refused
from .responses import answer_of

_PATHS = {"chat": "chat/completions", "responses": "responses"}
_TEXTS = ("content", "reasoning_content", "refusal")


class Upstream:
    """A client for the server at `base_url` that always asks for a whole answer; streams are made
    from it.

    It is asked as every server is: the body is bounded, path and query of the address are kept,
    proxies and certificates are those that the environment names. The key is that of the
    environment (`TUNAEVAL_API_KEY`, `OPENAI_API_KEY`), else the one that the agent itself sends;
    user and password in the address come before both. `model` replaces the model that is asked for.
    """

    def __init__(self, base_url: str, *, model: str | None, timeout_seconds: float) -> None:
        try:
            url = httpx2.URL(base_url)
        except (httpx2.InvalidURL, TypeError) as error:
            raise _no_address(base_url) from error
        if url.scheme not in {"http", "https"} or not url.host:
            raise _no_address(base_url)
        self._url = url
        self._user = SecretBytes(url.userinfo)
        self._key = read_key()
        self._model = model
        try:
            self._server = Server(
                str(url.copy_with(userinfo=b"")),
                key=None if self._user else self._key,
                attempt_timeout=timeout_seconds,
            )
        except ClientSetupError as error:
            raise UsageError(f"upstream: {error}") from error

    @property
    def secrets(self) -> frozenset[str]:
        """The secrets of the environment and of the address, which must not be recorded."""
        asked_as = (self._user.decode(), self._url.username, self._url.password)
        query = (value for _, value in self._url.params.multi_items())
        return of_environment() | long_enough((self._key or "", *asked_as, *query))

    async def answer(self, request: ModelRequest, authorization: str | None) -> Answer:
        """Return the server's answer. Raise Refused with its error, or with why there is none."""
        body = {name: one for name, one in request.body.items() if name != "stream_options"}
        body |= {"stream": False} | ({"model": self._model} if self._model else {})
        given = None if self._key or authorization is None else Secret(authorization)
        document = await self._ask(_PATHS[request.api], body, given)
        answer = answer_of(document) if request.api == "responses" else _chat_answer(document)
        _check(answer.message)
        return answer

    async def models(self) -> JsonObject:
        return await self._ask("models", None, None)

    async def close(self) -> None:
        await self._server.close()

    async def _ask(
        self, path: str, body: Mapping[str, JsonValue] | None, authorization: str | None
    ) -> JsonObject:
        if self._user:
            user = SecretBytes(f"{self._url.username}:{self._url.password}".encode())
            authorization = Secret(f"Basic {base64.b64encode(user).decode()}")
        received = await self._server.hear(path, body, authorization=authorization)
        if received.dropped:
            received = await self._server.hear(path, body, authorization=authorization)
        if received.failure is None:
            return _document(received, self._server.hide)
        if received.timed_out:
            words, status = f"gave {received.failure}", 504
        else:
            how = "was not reached" if received.status is None else "gave no whole reply"
            words, status = f"{how}: {received.failure}", 502
        raise Refused(f"the upstream {self._url.host} {words}", status=status)


def _document(received: Heard, hide: Callable[[str], str]) -> JsonObject:
    document: JsonValue
    try:
        document = orjson.loads(received.body)
    except orjson.JSONDecodeError:
        document = None
    status = received.status or 502
    is_success = 200 <= status < 300
    if isinstance(document, dict) and is_success:
        return document
    words = error_words(document) if isinstance(document, dict) else None
    words = hide(words) if words else repr(hide(received.body.decode(errors="replace"))[:300])
    raise Refused(f"the upstream says: {words}", status=502 if is_success else max(400, status))


def _chat_answer(document: JsonObject) -> Answer:
    choice = first_choice(document)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Refused("the upstream's answer has no choices[0].message", status=502)
    reason = str(choice.get("finish_reason") or "stop")
    return Answer({"role": "assistant", **message}, reason, read_usage(document.get("usage")))


def _check(message: JsonObject) -> None:
    """Raise Refused for a message that could not be written as a stream."""
    for name in _TEXTS:
        if not isinstance(message.get(name), str | list | None):
            raise _odd(name, message[name], "a text")
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else [calls] if calls else []:
        match call:
            case {"function": {"arguments": str() | dict() | None}}:
                continue
            case {"function": dict() as function} if "arguments" not in function:
                continue
        raise _odd("tool_calls", calls, "calls with a function and its arguments")


def _odd(name: str, value: JsonValue, wanted: str) -> Refused:
    words = f"the upstream's message has {name!r}: {value!r:.100}; wanted {wanted}"
    return Refused(words, status=502)


def _no_address(base_url: object) -> UsageError:
    if isinstance(base_url, str) and "@" in base_url:
        scheme, found, rest = base_url.partition("://")
        base_url = f"{scheme}{found}{COVER}@{rest.rpartition('@')[2]}"
    return UsageError(f"upstream is {base_url!r:.60}; wanted a URL as http://127.0.0.1:8000/v1")
