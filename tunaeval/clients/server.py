"""One OpenAI-compatible server: its address, single tries of a request, requests with retries."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn, TypeVar

import httpx2
import orjson

from tunaeval.errors import ClientSetupError, TransportFailure
from tunaeval.files.keys import Secret, covered, of_environment, variable_name
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, Source
from tunaeval.types.deadlines import Deadline
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.json_text import encode

from . import answers
from .network import LOOPBACK, WANTS_A_USER, KeyFilter, Network, Pools
from .pace import (
    MAX_RETRY_AFTER_SECONDS,
    REFUSED,
    Pace,
    Patience,
    TryFailed,
    asks_for_too_long,
    read_retry_after,
)
from .statuses import meaning

T = TypeVar("T")

_PASSED_ON: ContextVar[frozenset[str]] = ContextVar("_PASSED_ON", default=frozenset())
"""The secrets in the request of another client, which is passed on."""

KEY_VARIABLES = ("TUNAEVAL_API_KEY", "OPENAI_API_KEY")

_SETUP_ADVICE = {
    404: "check the name of the model and the path of the base URL",
    405: "check the path of the base URL",
    407: WANTS_A_USER,
}


@dataclass(frozen=True, slots=True)
class Heard:
    """A server's answer with any status; `failure` says why it is missing or incomplete."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    failure: str | None = None
    retry_after: float | None = None
    dropped: bool = False
    """The connection ended before anything came: a kept one may just have grown too old."""
    timed_out: bool = False


class Server:
    """Sends requests to one server, without retries. No message, repr or traceback has the key."""

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None,
        key_variables: Sequence[str] = KEY_VARIABLES,
        attempt_timeout: float,
        network: Network | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._key_places = " or ".join(f"${name}" for name in key_variables)
        self._base = _checked_url(base_url, self._key_places)
        self.address = str(self._base.copy_with(query=None, fragment=None)).rstrip("/")
        """The address without its query, which may be shown and kept."""
        self.reached = False
        """Whether the server has ever answered."""
        self._key = Secret(key) if key else None
        network = Network() if network is None else network
        if transport is not None:
            _check_transport(transport, network)

        self._pools = Pools(network, self._base, transport)
        self._known = of_environment() | network.secrets | ({self._key} if self._key else set())
        self._attempt_timeout = attempt_timeout
        headers = {
            "Host": self._base.netloc.decode("ascii"),
            "accept": "application/json",
            "accept-encoding": answers.ACCEPT_ENCODING,
            "content-type": "application/json",
            "user-agent": "tunaeval",
        }
        if key:
            headers["authorization"] = Secret(f"Bearer {key}")
        self._headers = network.over(headers)
        # Packed pieces come late, once there are enough of them.
        self._headers_of_stream = network.over(headers | {"accept-encoding": "identity"})
        self._urls: dict[str, httpx2.URL] = {}
        self._redaction = KeyFilter(self.hide)

    async def exchange(
        self,
        path: str,
        payload: Mapping[str, object] | None,
        read: Callable[[httpx2.Response], Awaitable[T]],
        *,
        clock: Deadline | None = None,
    ) -> T:
        """Return what `read` makes of the response at `path`, in one try of limited time. Without
        a `payload`, which is sent by POST, it is a GET.

        Raises TryFailed, or TimeoutError if the time of `clock` is over.
        """
        request = self._request(path, payload)
        self._redaction.begin()
        most = self._attempt_timeout
        response: httpx2.Response | None = None
        try:
            seconds = most if clock is None else min(most, clock.left)
            async with self._response(request, seconds) as response:
                if not response.is_success:
                    await self._refuse(response, path)
                return await read(response)
        except TimeoutError:
            if clock is not None and clock.left <= 0:
                raise
            failure = TryFailed(f"no whole reply within {most:g} s", kind="timeout")
        except (httpx2.TransportError, OSError) as error:  # what TLS raises comes as it is
            failure = self._pools.failure_of(error, is_answered=response is not None)
        except TryFailed as failed:
            failure = failed
        failure.message = self.hide(failure.message)  # it may quote a server that repeats the key
        failure.args = (failure.message,)
        # Raised out here, it has no frames of the transport behind it, whose locals show headers.
        raise failure

    async def hear(
        self,
        path: str,
        payload: Mapping[str, object] | None = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        secrets: frozenset[str] = frozenset(),
    ) -> Heard:
        """Return the answer at `path`, whatever its status, in one try of limited time.

        It is used to examine a server, and to pass on requests of other clients. `headers` replace
        the client's own; a header whose value is None is not sent. `secrets` of that client are in
        no log, either. If the body breaks off, the part that came is kept. Never raises for what a
        server does.
        """
        request = self._request(path, payload)
        for name, value in (headers or {}).items():
            request.headers.pop(name, None)
            if value is not None:
                request.headers[name] = value
        self._redaction.begin()
        passed = _PASSED_ON.set(secrets)
        heard, body = Heard(), bytearray()
        failure: str | None = None
        try:
            async with self._response(request, self._attempt_timeout) as response:
                asked = read_retry_after(response.headers.get("retry-after"))
                heard = Heard(response.status_code, dict(response.headers), retry_after=asked)
                await answers.read_into(body, response)
        except TimeoutError:
            failure = f"no whole reply within {self._attempt_timeout:g} s"
            heard = replace(heard, timed_out=True)
        except TryFailed as error:
            failure = str(error)
        except (httpx2.TransportError, OSError) as error:
            failed = self._pools.failure_of(error, is_answered=heard.status is not None)
            failure = f"{failed}{self.through}"
            is_new = isinstance(error, httpx2.ConnectError | httpx2.ProxyError)
            heard = replace(heard, dropped=heard.status is None and not is_new)
        finally:
            failure = self.hide(failure) if failure else None
            _PASSED_ON.reset(passed)
        return replace(heard, body=bytes(body), failure=failure)

    @asynccontextmanager
    async def _response(
        self, request: httpx2.Request, seconds: float
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request and yield the response, which has to be read within `seconds` in all."""
        async with asyncio.timeout(seconds), self._pools.transport() as transport:
            response = await transport.handle_async_request(request)
            self.reached = True
            try:
                yield response
            finally:
                await response.stream.aclose()  # type: ignore[union-attr] # async transports give async streams

    @property
    def root_path(self) -> str:
        """The path of the base URL without a final `/v1` or slash."""
        return self._base.path.rstrip("/").removesuffix("/v1").rstrip("/")

    @property
    def is_overheard(self) -> bool:
        """Whether the server is on another machine and reached without encryption."""
        return self._base.scheme == "http" and self._base.host not in LOOPBACK

    def hide(self, words: str) -> str:
        """Return `words` with this client's key, and any other text known to be a key, replaced."""
        words = words.replace(self._key, "(the key)") if self._key else words
        return covered(words, self._known | _PASSED_ON.get())

    def quote(self, words: str) -> str:
        """Return a server's message without keys, shortened, and quoted on one line."""
        return brief(self.hide(words), 200) if words.strip() else "(nothing)"

    @property
    def through(self) -> str:
        """The words that follow the server's address in messages: " through" its proxy, or ""."""
        return "" if self._pools.route is None else f" through {self._pools.route}"

    async def close(self) -> None:
        await self._pools.aclose()
        self._redaction.end()

    def _request(self, path: str, payload: Mapping[str, object] | None) -> httpx2.Request:
        """Return the request; httpx2's own way takes four times as long for the same headers."""
        url = self._url(path)
        if payload is None:
            return httpx2.Request("GET", url, headers=self._headers)
        content = _encode(payload)
        length = (b"Content-Length", b"%d" % len(content))
        headers = self._headers_of_stream if payload.get("stream") else self._headers
        return httpx2.Request(
            "POST", url, headers=[*headers, length], stream=httpx2.ByteStream(content)
        )

    def _url(self, path: str) -> httpx2.URL:
        if path not in self._urls:
            whole = path if path.startswith("/") else f"{self._base.path.rstrip('/')}/{path}"
            self._urls[path] = self._base.copy_with(path=whole)
        return self._urls[path]

    async def _refuse(self, response: httpx2.Response, path: str) -> NoReturn:
        """Raise TryFailed for a response that is no success, with the server's message if any."""
        status = response.status_code
        known = httpx2.codes.get_reason_phrase(status)
        phrase = f"{status} {known or '(not a known status)'}"
        if response.is_redirect:
            location = self.quote(response.headers.get("location", ""))
            raise TryFailed(
                f"{phrase} at {path} to {location}; redirects are not followed, as the prompt and "
                "the key would go there; if that address is right, use it as the base URL",
                kind=REFUSED,
                status=status,
                again=False,
            )
        try:
            words = answers.words_of(await answers.read_body(response))
        except (TryFailed, httpx2.TransportError):
            words = "(something that cannot be read)"
        advice = _SETUP_ADVICE.get(status)
        if advice is None and meaning(status).about == "key":
            advice = self._key_advice()
        if advice:
            raise TryFailed(
                f"{phrase} at {path}",
                words=words,
                advice=advice,
                kind=REFUSED,
                status=status,
                again=False,
            )
        header = response.headers.get("retry-after")
        if asks_for_too_long(header):
            phrase += f" (Retry-After asks for over {MAX_RETRY_AFTER_SECONDS:g} s)"
        raise TryFailed(
            phrase,
            words=words,
            kind="status",
            status=status,
            again=meaning(status).again,
            retry_after=read_retry_after(header),
        )

    def _key_advice(self) -> str:
        if self._key:
            return f"a key of {len(self._key)} characters was sent: check it in {self._key_places}"
        if names := [repr(name) for name, _ in self._base.params.multi_items()]:
            return f"the base URL's {', '.join(names)} was sent, and no Authorization: check both"
        return f"no key was sent: set {self._key_places} to one"


def _check_transport(transport: object, network: Network) -> None:
    """Raise ClientSetupError unless it is an httpx2 transport, and no option conflicts with it."""
    if not isinstance(transport, httpx2.AsyncBaseTransport):
        kind = type(transport)
        raise ClientSetupError(
            f"the transport is a {kind.__module__}.{kind.__qualname__}; wanted an "
            "httpx2.AsyncBaseTransport (httpx2 continues httpx with the same names, so that "
            "`import httpx2 as httpx` is often all)"
        )
    if network.ca or network.cert or network.cert_key or network.proxy or network.http2:
        raise ClientSetupError(
            "a transport of your own decides about proxy, certificates and HTTP/2: leave out "
            "'ca', 'cert', 'cert_key', 'proxy' and 'http2', or the transport"
        )


def read_key(
    variables: Sequence[str] = KEY_VARIABLES, environment: Mapping[str, str] | None = None
) -> Secret | None:
    """Return the key from the first of `variables` that is set, or None.

    Raises UsageError for an invalid name of a variable, ClientSetupError for an invalid key.
    """
    for variable in map(variable_name, variables):
        key = Secret((os.environ if environment is None else environment).get(variable, "").strip())
        if key:
            if not (key.isascii() and key.isprintable()) or " " in key:
                raise ClientSetupError(
                    f"${variable} has a space or a character that keys may not have; correct it"
                )
            return key
    return None


def _checked_url(base_url: str, key_places: str) -> httpx2.URL:
    wanted = "wanted something like http://127.0.0.1:8000/v1"
    if not isinstance(base_url, str):
        raise ClientSetupError(f"the base URL is {brief(base_url)}; {wanted}")
    try:
        url = httpx2.URL(base_url.strip())
    except httpx2.InvalidURL as error:
        raise ClientSetupError(f"the base URL cannot be read ({error}); {wanted}") from None
    if url.userinfo:
        raise ClientSetupError(
            f"the base URL of {url.host!r} has a user name or password in it; take it out, and "
            f"put the key in {key_places}"
        )
    if url.scheme not in ("http", "https") or not url.host:
        raise ClientSetupError(f"the base URL is {base_url!r}; {wanted}")
    if url.port is not None and not 0 < url.port < 1 << 16:
        raise ClientSetupError(f"the base URL has the port {url.port}; wanted 1 to 65535")
    try:
        url.raw_host.decode("ascii").encode("idna")  # as the system is asked for its address
    except UnicodeError:
        raise ClientSetupError(
            f"the host of the base URL is {brief(url.host)}, in which a part is empty or has more "
            f"than 63 characters; {wanted}"
        ) from None
    return url


def _encode(payload: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(payload)
    except TypeError:  # a model's lone surrogates or huge integers, which it is told again
        return encode(payload)


_NO_LIST = (404, 405, 501)
_UNNAMED = "default"
"""The model to ask for if a server lists none: most such servers have one and ignore the name."""


class Chat:
    """Makes requests to a server, with retries, as fast as the server allows."""

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
        """The model that is asked; None until it is known."""
        self.streams = streams
        self._patience = patience
        self._pace = Pace(server.address, connections, rpm=rpm)

    async def complete(self, request: Request) -> Reply:
        clock = clock_of(request)
        model = await self.find_model(clock)
        payload = chat_payload(request, model)
        if self.streams:
            payload |= {"stream": True, "stream_options": {"include_usage": True}}
        source: Source | None = "structured" if "tools" in payload else "text"

        read = answers.read_stream if self.streams else answers.read_whole

        async def one_try() -> Reply:
            started = time.perf_counter()
            reading = partial(read, seconds=lambda: time.perf_counter() - started, source=source)
            return await self.server.exchange("chat/completions", payload, reading, clock=clock)

        reply, retries = await self._patiently(one_try, clock)
        return replace(reply, retries=retries) if retries else reply

    async def look_up(self, path: str, clock: Deadline | None = None) -> JsonObject:
        """Return the JSON object at a path of the server, such as its models or its properties."""

        async def read(response: httpx2.Response) -> JsonObject:
            return answers.read_object(await answers.read_body(response))

        asking = partial(self.server.exchange, path, None, read, clock=clock)
        answer, _ = await self._patiently(asking, clock)
        return answer

    async def close(self) -> None:
        await self.server.close()

    async def find_model(self, clock: Deadline | None) -> str:
        """Return the model to ask: the one that was named, else the first that the server lists."""
        if self.model:
            return self.model
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
        self, one_try: Callable[[], Awaitable[T]], clock: Deadline | None
    ) -> tuple[T, int]:
        """Return the result of `one_try`, tried until it succeeds, and how many tries failed.

        When the time is over, the last try's failure is raised in place of a timeout, because a
        server that answers every try with an error did answer.
        """
        hard = self._patience.deadline
        failures: list[TryFailed] = []
        first: list[TryFailed] = []

        async def in_turn() -> T:
            if first:
                raise first.pop()
            try:
                longest_rest = math.inf if hard is None else hard
                return await self._pace.in_turn(one_try, clock, longest_rest)
            except TryFailed as failed:
                failures.append(failed)
                raise

        try:
            async with nullcontext() if hard is None else asyncio.timeout(hard):
                # A first try by tenacity would cost every request a tenth of a millisecond.
                try:
                    return await in_turn(), 0
                except TryFailed as failed:
                    first.append(failed)
                tries = self._patience.tries(reached=lambda: self.server.reached, clock=clock)
                result: T = await tries(in_turn)
                return result, len(failures)
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

    def _failure(self, failed: TryFailed, tries: int) -> TransportFailure:
        """Return the failure of a whole request, made from that of its last try."""
        words = None if failed.words is None else self.server.quote(failed.words)
        quoted = "" if words is None else f"; the server says: {words}"
        after = f" (after {tries} tries)" if tries > 1 else ""
        where = f"{self.server.address}{self.server.through}"
        return TransportFailure(
            f"{where}: {failed}{quoted}{after}",
            kind=failed.kind,
            status=failed.status,
            advice=failed.advice,
        )


def clock_of(request: Request) -> Deadline | None:
    """Return the clock that limits the time of a request, or None if it has no limit."""
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
    options = {"temperature": request.temperature, "seed": request.seed}
    payload |= {name: value for name, value in options.items() if value is not None}
    if request.tools:
        payload |= {"tools": request.tools, "tool_choice": "auto"}
    if request.schema is not None:
        payload["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": request.schema},
        }
    return payload | (request.fields or {})
