"""A client for any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import httpx2

from tunaeval.errors import ClientSetupError
from tunaeval.types.calls import JsonObject
from tunaeval.types.wanted import wanted_count, wanted_seconds

from .network import Network
from .pace import Patience
from .server import KEY_VARIABLES, Chat, Server, read_key


class OpenAIClient(Chat):
    """Sends requests to `{base_url}/chat/completions`.

    The key is only read from environment variables: the first of `key_variables` that is set in
    `environment` (by default that of the process). If none is set, no key is sent. `base_url` is
    `$OPENAI_BASE_URL` by default, `model` the first that the server lists.

    Statuses 408, 409, 429 and 5xx and broken connections are tried again until the time of the
    request is over, or at most `max_retries` times (8 if neither is given); a broken body once. One
    try may take `attempt_timeout` seconds, all tries of a request with their pauses `deadline`
    seconds. At most `connections` requests are in flight at once, fewer after 429 and timeouts, and
    at most `rpm` begin per minute. Other requests wait; this wait, and a pause that the server asks
    for, count only towards `deadline`.

    `stream` asks for the reply in pieces: `Reply.streamed` then says when the first came.

    `headers` are sent with every request, and replace the client's own of the same name. `ca`,
    `cert` and `cert_key` are PEM files: the authorities that are trusted instead of the system's,
    the client's own certificate, and its key, unless the certificate's file contains it. `proxy` is
    the URL of a proxy, used instead of those of the environment (HTTP_PROXY, HTTPS_PROXY,
    ALL_PROXY, NO_PROXY); "" is none. `http2` uses HTTP/2 if the server supports it.

    `transport` is an asynchronous httpx2 transport that is used instead of the built-in one, with
    its own proxy, certificates and HTTP version.

    Raises ClientSetupError for an address or a key that cannot be right, UsageError for an invalid
    name of a variable; `complete` raises what `Client` documents.

    Examples:
        >>> client = tunaeval.OpenAIClient(base_url="http://127.0.0.1:8000/v1", model="qwen3")
        >>> client.name
        'openai'
    """

    name: str = "openai"

    def __init__(
        self,
        *,
        base_url: str | None = None,
        model: str | None = None,
        attempt_timeout: float = 60.0,
        deadline: float | None = None,
        connections: int = 64,
        max_retries: int | None = None,
        rpm: float | None = None,
        stream: bool = False,
        key_variables: Sequence[str] = KEY_VARIABLES,
        environment: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        ca: str | None = None,
        cert: str | None = None,
        cert_key: str | None = None,
        proxy: str | None = None,
        http2: bool = False,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        address = base_url or os.environ.get("OPENAI_BASE_URL")
        if not address:
            raise ClientSetupError(
                "the client 'openai' needs the address of a server: give the option 'base_url' "
                "(--base-url http://127.0.0.1:8000/v1), or set $OPENAI_BASE_URL"
            )
        wanted_seconds(attempt_timeout, "attempt_timeout")
        wanted_count(connections, "connections")
        for option, number in {"deadline": deadline, "rpm": rpm}.items():
            if number is not None:
                wanted_seconds(number, option)
        if max_retries is not None:
            wanted_count(max_retries, "max_retries", 0)
        server = Server(
            address,
            key=read_key(key_variables, environment),
            key_variables=key_variables,
            attempt_timeout=attempt_timeout,
            network=Network(headers or {}, ca, cert, cert_key, proxy, http2),
            transport=transport,
        )
        patience = Patience(max_retries, deadline)
        super().__init__(
            server, model=model, patience=patience, connections=connections, rpm=rpm, streams=stream
        )

    @property
    def details(self) -> JsonObject:
        details: JsonObject = {"model": self.model, "base_url": self.server.address}
        return details | {"stream": True} if self.streams else details

    def __repr__(self) -> str:
        if not hasattr(self, "server"):  # a traceback of what kept it from being made
            return "OpenAIClient()"
        return f"OpenAIClient(base_url={self.server.address!r}, model={self.model!r})"
