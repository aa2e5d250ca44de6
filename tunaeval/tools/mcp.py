"""Tools of MCP servers: connect to a server, list its tools, and run calls against it.

A server is a command, which is started without a shell, or the address of one that speaks
streamable HTTP. The official SDK (the extra `mcp`) negotiates the version of the protocol.

    async with McpServer("python server.py") as server:
        await server.tools[0].execute(None, {"city": "Oslo"})

What a server does wrong is a `TransportFailure`: it cannot be reached, hangs, dies, or answers with
what the protocol does not allow. After a failure its connection is not used again. What is wrong
with a call (an unknown tool, refused arguments, a result with `isError`) is a failed `McpResult`.

A connection lives in a task of its own: the SDK's task groups cancel the task that entered them if
a transport fails. A command runs below the supervisor that the commands of a workspace have: all
that it has started ends with the connection, and with this process, however that ends. Of what it
prints to stderr the end is kept, for messages; a line on stdout has at most `MAX_LINE` bytes.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import shlex
import shutil
import tempfile
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self, TypeVar

from pydantic import ValidationError

from tunaeval.errors import ToolsError, TransportFailure, UsageError
from tunaeval.registry import words_of
from tunaeval.showing import brief, visible
from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec
from tunaeval.types.wanted import wanted_items
from tunaeval.workers import in_a_loop, in_daemon

from .launching import launched
from .tool_prompts import tool_spec

CONNECT_SECONDS = 60.0
"""Seconds that a server may take to start, to agree on a version, and to list its tools."""
MAX_TOOLS = 10_000
"""The most tools of a server; a server that always names one more page has no end."""
MAX_STRUCTURED = 1024 * 1024
"""The most characters of a structured result, written as JSON, that are kept."""
MAX_LINE = 16 * 1024 * 1024
"""The most bytes of a message of a command: as many as a reply over HTTP may have."""
_CLOSE_SECONDS = 10.0
"""Seconds to close a connection; the SDK kills a command that goes on after four."""
_WORKSPACE = "{workspace}"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class McpResult:
    """The result of a call: the text for the model, whether the server calls it an error, and its
    structured result, a JSON value or None.

    Examples:
        >>> McpResult("21 degrees", structured={"degrees": 21}).is_error
        False
    """

    text: str
    is_error: bool = False
    structured: JsonValue = None


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool of a server: `to_tools` describes it, and an `Executor` runs it."""

    name: str
    description: str
    parameters: JsonObject
    server: McpServer = field(repr=False)

    async def execute(self, call_id: str | None, arguments: JsonObject, *_: object) -> McpResult:
        """Run a call. Raises TransportFailure if the server fails."""
        del call_id
        return await self.server.call(self.name, arguments)


def mcp_tools(*servers: str) -> Tools:
    """Return the tools that MCP servers offer, by name; each server is asked once.

    A server is a command, such as "python server.py", or an address, such as
    "http://127.0.0.1:8000/mcp". In a command `{workspace}` is a directory: that of the task whose
    calls the server runs, and here an empty one. Raises ToolsError for a server that cannot be
    asked, and for a name that two tools have; UsageError if the extra `mcp` is not installed.

    Examples:
        >>> [*tunaeval.mcp_tools("mcp-server-time")]  # doctest: +SKIP
        ['get_current_time', 'convert_time']
    """
    return _waited(_offered(servers))


async def _offered(places: Iterable[str]) -> Tools:
    specs: dict[str, ToolSpec] = {}
    source: dict[str, str] = {}
    for place in places:
        try:
            with tempfile.TemporaryDirectory(prefix="tunaeval-") as folder:
                async with McpServer(place, workspace=folder) as server:
                    found = [_spec(tool) for tool in server.tools]
        except TransportFailure as failure:
            raise ToolsError(str(failure)) from failure
        for spec in found:
            if spec.name in specs:
                raise ToolsError(
                    f"{server}: the tool {spec.name!r} is also one of {source[spec.name]}; a call "
                    "could mean either, so leave out one of the servers"
                )
            specs[spec.name], source[spec.name] = spec, str(server)
    return Tools(specs.values())


def _spec(tool: McpTool) -> ToolSpec:
    try:
        return tool_spec(tool)
    except ToolsError as error:  # a schema that describes no arguments
        raise ToolsError(f"{tool.server}: {brief(tool.name, 80)}: {error}") from error


def _waited(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, whether or not an event loop runs here already."""
    if in_a_loop():
        return in_daemon(lambda: asyncio.run(work)).result()
    return asyncio.run(work)


def read_servers(servers: str | Iterable[str], where: str) -> tuple[str, ...]:
    """Return the servers of an option or a field, one or several. Raises UsageError for what is
    neither a command nor an address.
    """
    listed = wanted_items([servers] if isinstance(servers, str) else servers, where, str, "servers")
    for place in listed:
        if not _is_address(place):
            _command_words(place)
    return tuple(listed)


def _is_address(place: str) -> bool:
    return place.lower().startswith(("http://", "https://"))


def _command_words(place: str) -> list[str]:
    try:
        words = shlex.split(place)
    except ValueError as error:  # a quotation that is not closed
        why = str(error).lower().rstrip(".")
        raise UsageError(f"the MCP server {brief(place, 80)} cannot be read: {why}") from None
    if not words:
        raise UsageError(
            "the MCP server is an empty text; wanted a command or an address that begins with "
            "http:// or https://"
        )
    return words


def shown_place(place: str) -> str:
    """Return a server as messages and files show it: an address without user and query, which may
    be secrets, or a command unchanged.
    """
    if not _is_address(place):
        return place
    scheme, _, rest = place.partition("://")
    host, slash, path = rest.split("?")[0].split("#")[0].partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


class McpServer:
    """A connection to a server, from the beginning of `async with` to its end.

    `tools` are what it offers, and `protocol` is the version of MCP that was agreed on. `fault` is
    the failure of the server once there was one: calls raise it from then on. Raises UsageError
    without the extra `mcp`, and TransportFailure if the server cannot be asked.
    """

    def __init__(self, place: str, *, workspace: str | os.PathLike[str] = ".") -> None:
        self.place = place
        self.tools: tuple[McpTool, ...] = ()
        self.protocol = ""
        self.fault: TransportFailure | None = None
        self._workspace = os.fspath(workspace)
        self._last_words = b""
        self._listening: Future[None] | None = None
        self._strays = 0
        self._client: Any = None
        self._living: asyncio.Task[None]
        self._ready, self._over = asyncio.Event(), asyncio.Event()

    def __str__(self) -> str:
        return f"the MCP server {visible(shown_place(self.place), 120)!r}"

    async def __aenter__(self) -> Self:
        self._living = asyncio.create_task(self._live())
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({ready, self._living}, return_when=asyncio.FIRST_COMPLETED)
            return self._connected()
        except BaseException:
            await self._close()
            raise
        finally:
            ready.cancel()

    def _connected(self) -> Self:
        if not self._ready.is_set():
            raise self._why()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def _close(self) -> None:
        self._over.set()
        if not (self._ready.is_set() or self._living.cancelling()):
            self._living.cancel()  # once: a second time would interrupt the end of the process
        # `wait` does not pass a cancellation on, and the SDK needs its task to end the process.
        if (await asyncio.wait({self._living}, timeout=_CLOSE_SECONDS))[1]:
            self._living.cancel()
        elif not self._living.cancelled():
            self._living.exception()  # it has been told, or comes after the last call

    async def _live(self) -> None:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_SECONDS):
                with self._heard_of() as errors:
                    self._client = await stack.enter_async_context(self._new_client(errors))
                self.protocol = self._client.protocol_version
                self.tools = tuple(await self._listed())
            self._ready.set()
            await self._over.wait()

    @contextmanager
    def _heard_of(self) -> Iterator[IO[bytes] | None]:
        """Yield a pipe for a command's stderr; it is read as long as anything is printed."""
        if _is_address(self.place):
            yield None
            return
        out, inside = os.pipe()

        def listen() -> None:
            with os.fdopen(out, "rb", buffering=0) as errors:
                while piece := errors.read(1 << 16):
                    self._last_words = (self._last_words + piece)[-_KEPT_BYTES:]

        self._listening = in_daemon(listen)
        with os.fdopen(inside, "wb") as errors:
            yield errors

    def _new_client(self, errors: IO[bytes] | None) -> Any:
        try:
            from mcp import Client, StdioServerParameters  # noqa: PLC0415 - an extra
            from mcp.client.stdio import stdio_client  # noqa: PLC0415 - as above
        except ImportError as error:
            raise UsageError(
                "MCP servers need the official SDK, version 2 or later; run "
                "pip install 'tunaeval[mcp]'"
            ) from error
        # Lines that are no messages are logged, and would appear between ours.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        server: Any = self.place
        if not _is_address(self.place):
            command, *rest = (
                word.replace(_WORKSPACE, self._workspace) for word in _command_words(self.place)
            )
            if (found := shutil.which(command)) is None:
                known = errno.EACCES if Path(command).exists() else errno.ENOENT
                raise OSError(known, os.strerror(known))
            first, *more = launched([found, *rest], line=MAX_LINE)
            server = stdio_client(
                StdioServerParameters(command=first, args=more, env=dict(os.environ)),
                errlog=errors,
            )
        return Client(server, message_handler=self._heard, cache=None)

    async def _heard(self, message: object) -> None:
        self._strays += isinstance(message, Exception)

    async def _listed(self) -> list[McpTool]:
        found: dict[str, McpTool] = {}
        cursor: str | None = None
        while True:
            page = await self._client.list_tools(cursor=cursor)
            for tool in page.tools:
                if tool.name in found:
                    raise ToolsError(
                        f"it offers two tools of the name {tool.name!r:.80}; a call could mean "
                        "either, so one has to be renamed"
                    )
                found[tool.name] = McpTool(
                    tool.name, tool.description or "", tool.input_schema, self
                )
            if (cursor := page.next_cursor) is None:
                return list(found.values())
            if len(found) > MAX_TOOLS or not page.tools:
                raise ToolsError(
                    f"its list of tools does not end: after {len(found):,} it names another page"
                )

    async def call(self, name: str, arguments: Mapping[str, JsonValue]) -> McpResult:
        """Run a call and return its result. Raises TransportFailure if the server fails.

        There is no time limit here: a wait that is cancelled from outside counts as a server that
        hangs.
        """
        if self.fault is not None:
            raise self.fault
        try:
            json.dumps(arguments, ensure_ascii=False).encode()
        except ValueError:
            return McpResult("a text in the arguments is no Unicode: a lone surrogate", True)
        asked = asyncio.create_task(self._client.call_tool(name, dict(arguments)))
        try:
            await asyncio.wait({asked, self._living}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                raise self._failed(self._why())
            return self._result(asked, name)
        except asyncio.CancelledError:
            self._failed(self._failure(f"did not answer the call of {name!r} in time", "timeout"))
            raise
        finally:
            asked.cancel()

    def _result(self, asked: asyncio.Task[Any], name: str) -> McpResult:
        from mcp import MCPError  # noqa: PLC0415 - an extra

        error = asked.exception()
        if error is None:
            try:
                return _read_result(asked.result())
            except ValueError as unreadable:
                error = unreadable
        if not isinstance(error, MCPError):  # the SDK's own check of the answer
            words = f"answered the call of {name!r} with {_fault_of_answer(error)}"
            raise self._failed(self._failure(words, "body")) from error
        if error.code in _OF_THE_CALL or not _RESERVED[0] <= error.code <= _RESERVED[1]:
            return McpResult(error.message, is_error=True)
        event = "ended" if error.code == _CLOSED else f"failed ({error.code}, {error.message})"
        raise self._failed(self._failure(f"{event} at the call of {name!r}", "status")) from error

    def _failed(self, failure: TransportFailure) -> TransportFailure:
        self.fault = self.fault or failure
        return failure

    def _why(self) -> TransportFailure:
        """Return the failure that ended the connection. Raises UsageError if `mcp` is missing."""
        error = None if self._living.cancelled() else self._living.exception()
        while isinstance(error, BaseExceptionGroup):  # of the SDK's task groups
            error = error.exceptions[0]
        match error:
            case UsageError() if not isinstance(error, ToolsError):
                raise error
            case ToolsError():
                return self._failure(f"cannot be used: {error}", "body")
            case ValidationError():
                return self._failure(f"answered with {_fault_of_answer(error)}", "body")
            case TimeoutError():
                return self._failure(f"did not answer within {CONNECT_SECONDS:g} s", "timeout")
            case FileNotFoundError() | PermissionError():
                words = f"cannot be started: {error.strerror}; give a command or an http:// address"
                return self._failure(words, "connect")
        if error is None or getattr(error, "code", None) == _CLOSED:
            return self._failure("ended before it answered", "connect")
        return self._failure(f"failed: {words_of(error)}", "connect")

    def _failure(self, words: str, kind: str) -> TransportFailure:
        if self._listening is not None:
            wait((self._listening,), _LISTENING_SECONDS)
        last = self._last_words.decode(errors="replace").strip().rpartition("\n")[2]
        quoted = f"; the last line of its stderr: {visible(last, 200)}" if last else ""
        strays = (
            f"; it prints to stdout what is no MCP ({self._strays} lines), which belongs to stderr"
            if self._strays
            else ""
        )
        return TransportFailure(f"{self} {words}{quoted}{strays}", kind=kind)


def _fault_of_answer(error: BaseException) -> str:
    """Return in words what the SDK found wrong with an answer."""
    words = words_of(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        words = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"what MCP does not allow: {words}"


_KEPT_BYTES = 4096
_LISTENING_SECONDS = 0.1
"""Seconds for the last words of a command that has ended; one that has not may say more."""
_CLOSED = -32000
_RESERVED = (-32768, -32000)
"""The error codes that JSON-RPC reserves; others are the server's own, about what was asked."""
_OF_THE_CALL = frozenset({-32602, -32601})
"""Reserved codes that are about the call all the same: invalid arguments, an unknown name."""


def _read_result(found: Any) -> McpResult:
    texts = [text for block in found.content if (text := _block_text(block))]
    structured = found.structured_content
    if structured is not None:
        written = json.dumps(structured, allow_nan=False)
        if not texts:
            texts = [written]
        if len(written) > MAX_STRUCTURED:
            structured = None
    return McpResult("\n".join(texts), bool(found.is_error), structured)


def _block_text(block: Any) -> str:
    """Return what a model sees of a part of a result: its text, or what kind of data it is."""
    match block.type:
        case "text":
            return str(block.text)
        case "resource" if isinstance(getattr(block.resource, "text", None), str):
            return str(block.resource.text)
        case "resource" | "resource_link":
            return f"({block.type}: {getattr(block, 'resource', block).uri})"
    return f"({block.type}: {block.mime_type}, {len(block.data)} characters of base64)"
