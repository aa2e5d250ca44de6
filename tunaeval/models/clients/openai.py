"""Any server that speaks OpenAI's chat completions."""

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
    """Asks `{base_url}/chat/completions`.

    The key comes from the environment only, from the first of `key_variables` that is set
    (`TUNAEVAL_API_KEY`, `OPENAI_API_KEY`) in `environment`, that of the process unless another is
    passed in; a server that wants none gets none. `base_url` is
    `OPENAI_BASE_URL` if not given; `model` is the first that the server lists.

    Tried again are 408, 409, 429, 5xx and broken connections, until the time of the request is
    over, or at most `max_retries` times (8 where neither is given); a broken body once. One try
    may take `attempt_timeout` seconds whatever the server does, all tries of a request and their
    pauses `deadline` seconds. At most `connections` requests are in flight at once, fewer after
    429 and timeouts, and `rpm` are begun in a minute; others wait, and the wait, like one that the
    server asks for, counts for `deadline` alone.

    `stream` asks for the reply in pieces: `Reply.streamed` then says when the first came.

    `headers` go along with every request, in place of the client's own of the same name. `ca`,
    `cert` and `cert_key` are files in PEM: the authorities that are trusted in place of the
    system's, the client's own certificate, and its key, unless the certificate's file contains it.
    `proxy` is the URL of a proxy, in place of those of the environment (HTTP_PROXY, HTTPS_PROXY,
    ALL_PROXY, NO_PROXY); an empty one is none. `http2` speaks HTTP/2 where the server does.

    `transport` is any asynchronous transport of httpx2, in place of the built-in one, and is used
    as it is: proxy, certificates and HTTP/2 are its own.

    Raises ClientSetupError for an address or a key that cannot be right, UsageError for what can
    be no name of a variable, and from `complete` what `Client` says.

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
