"""Checks of an agent's results: a callable or a command that returns yes or no.

A check that raises, hangs, cannot be started or returns something else has failed itself; its
result is unknown, not "no". Both kinds run in a thread of their own. At the timeout the thread of a
callable is abandoned, and a command is killed with all that it has started.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tunaeval.errors import UsageError
from tunaeval.showing import brief
from tunaeval.tools.processes import Child, Kept
from tunaeval.types.calls import JsonObject
from tunaeval.types.conversations import Checked, Conversation
from tunaeval.types.copies import copied
from tunaeval.types.messages import Message
from tunaeval.types.wanted import wanted_seconds
from tunaeval.workers import in_daemon

Verdict: TypeAlias = bool | tuple[bool, str]
Check: TypeAlias = Callable[[Conversation], Verdict | Awaitable[Verdict]] | str | Sequence[str]
"""A callable that takes the conversation, or a command: a line for the shell, or its words."""

_KEPT = 4_000
"""How many bytes of the end of a command's output are kept."""
_SHOWN = 300
_NOT_STARTED = {126: "is not executable", 127: "was not found"}
"""Exit codes with which a shell reports that it could not start a command."""
_WANTED = (
    "wanted a callable that is given the conversation and returns a bool or (bool, reason), or a "
    'command ("pytest -q", or ["pytest", "-q"]) that exits with 0 when all is well'
)


@dataclass(frozen=True, slots=True)
class Checking:
    """A valid check with its timeout, ready to run. Raises UsageError for an invalid one."""

    check: Check
    timeout_seconds: float = 60.0

    def __post_init__(self) -> None:
        if not _is_check(self.check):
            raise UsageError(f"check is {brief(self.check)}; {_WANTED}")
        wanted_seconds(self.timeout_seconds, "check_timeout")

    @property
    def awaits(self) -> bool:
        """Whether the check is a coroutine function, which has to run in its host's event loop."""
        called = self.check if inspect.isroutine(self.check) else type(self.check).__call__
        return inspect.iscoroutinefunction(called)

    def made(self, conversation: Conversation, query: str) -> Checked:
        """Run the check and wait for it. A coroutine function gets an event loop of its own."""
        run = self._run(conversation, query)
        try:
            return in_daemon(run.outcome).result(min(self.timeout_seconds, threading.TIMEOUT_MAX))
        except TimeoutError:
            return run.late(self.timeout_seconds)
        except BaseException:
            run.give_up()
            raise

    async def made_later(self, conversation: Conversation, query: str) -> Checked:
        """Run the check without blocking the event loop; await a coroutine function in it."""
        if self.awaits and callable(self.check):
            return await self._awaited(conversation)
        run = self._run(conversation, query)
        try:
            async with asyncio.timeout(min(self.timeout_seconds, threading.TIMEOUT_MAX)):
                return await asyncio.wrap_future(in_daemon(run.outcome))
        except TimeoutError:
            return run.late(self.timeout_seconds)
        except BaseException:
            run.give_up()
            raise

    async def _awaited(self, conversation: Conversation) -> Checked:
        assert callable(self.check)  # noqa: S101 - `awaits` has looked
        try:
            async with asyncio.timeout(min(self.timeout_seconds, threading.TIMEOUT_MAX)):
                value = self.check(copied(conversation))
                return _checked(await value if inspect.isawaitable(value) else value)
        except TimeoutError:
            return Checked(None, _took_over(self.timeout_seconds))
        except Exception as error:  # noqa: BLE001 - a check may raise what it likes
            return _raised(error)

    def _run(self, conversation: Conversation, query: str) -> _CheckRun:
        if callable(self.check):
            return _CallableRun(self.check, conversation)
        return _CommandRun(self.check, _document(conversation, query))


def _is_check(check: object) -> bool:
    if isinstance(check, str):
        return bool(check.strip())
    if isinstance(check, Sequence) and not isinstance(check, bytes):
        return bool(check) and all(isinstance(word, str) and word for word in check)
    return callable(check) and not isinstance(check, type)


class _CheckRun(ABC):
    def outcome(self) -> Checked:
        """Run the check to its end; what it raises makes its result unknown."""
        try:
            return self.check()
        except BaseException as error:  # noqa: BLE001 - a check may raise what it likes
            return _raised(error)

    def late(self, timeout_seconds: float) -> Checked:
        """Give up the check, and return the unknown result of one that took too long."""
        self.give_up()
        return Checked(None, _took_over(timeout_seconds) + self.so_far())

    @abstractmethod
    def check(self) -> Checked:
        """Run the check to its end and return the result."""

    def give_up(self) -> None:
        """Stop the work if it can be stopped; a callable cannot, so its thread runs on."""
        return

    def so_far(self) -> str:
        return "; it runs on in a thread of its own, which nobody can end"


@dataclass(slots=True)
class _CallableRun(_CheckRun):
    function: Callable[[Conversation], Verdict | Awaitable[Verdict]]
    conversation: Conversation

    def check(self) -> Checked:
        value = self.function(copied(self.conversation))
        if inspect.iscoroutine(value):
            return _checked(asyncio.run(value))
        return _checked(value)


@dataclass(slots=True)
class _CommandRun(_CheckRun):
    """A command that reads the transcript as JSON on standard input; its output's end is kept."""

    command: str | Sequence[str]
    document: bytes
    process: Child | None = field(default=None, init=False)
    printed: Kept | None = field(default=None, init=False)
    is_given_up: bool = field(default=False, init=False)

    def check(self) -> Checked:
        with tempfile.TemporaryFile() as given:
            given.write(self.document)
            given.seek(0)
            try:
                process = self.process = Child(self.command, given=given)
            except OSError as error:
                reason = error.strerror or error
                return Checked(None, f"the command {self._name} cannot run: {reason}")
        with process:
            if self.is_given_up:  # between the start of the process and its arrival here
                process.kill()
            self.printed = Kept(process.out, last=_KEPT)
            code = process.wait() or 0
        printed, name = self._last_line(self.printed.whole()), self._name
        if code in _NOT_STARTED and isinstance(self.command, str):
            return Checked(None, f"the command {name} {_NOT_STARTED[code]}{printed}")
        if code < 0:
            return Checked(None, f"the command {name} was ended by signal {-code}{printed}")
        return Checked(code == 0, f"{name} exits with {code}{printed}")

    @property
    def _name(self) -> str:
        return brief(self.command if isinstance(self.command, str) else " ".join(self.command))

    def _last_line(self, printed: bytes) -> str:
        lines = printed.decode(errors="replace").strip().splitlines()
        return f"; it printed: {lines[-1].strip()[:_SHOWN]!r}" if lines else ""

    def give_up(self) -> None:
        """Kill the command and the processes that it has started, or is about to start."""
        self.is_given_up = True
        if self.process is not None and self.process.wait(0) is None:
            self.process.kill()

    def so_far(self) -> str:
        return f" and was ended{self._last_line(self.printed.so_far() if self.printed else b'')}"


def _checked(value: object) -> Checked:
    match value:
        case bool():
            return Checked(value, "")
        case (bool() as ok, str() as words):
            return Checked(ok, words[:_SHOWN])
    if type(value).__name__ in {"bool_", "bool"}:  # numpy's
        return Checked(bool(value), "")
    return Checked(None, f"it returned {brief(value)}, wanted True, False or (bool, reason)")


def _raised(error: BaseException) -> Checked:
    return Checked(None, f"it raised {type(error).__name__}: {str(error)[:_SHOWN]}")


def _took_over(seconds: float) -> str:
    return f"it took over {seconds:g} s"


def _document(conversation: Conversation, query: str) -> bytes:
    """Return the JSON that a command reads on its standard input."""
    messages = [_as_chat(message) for message in conversation.messages]
    given = {"query": query, "messages": messages}
    try:
        return json.dumps(given, default=repr).encode()
    except (RecursionError, ValueError, TypeError):  # arguments set in code may be no JSON
        return json.dumps({"query": query, "messages": repr(messages)}).encode()


def _as_chat(message: Message) -> JsonObject:
    given: JsonObject = {"role": message.role, "content": message.content}
    if message.tool_calls:
        given["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        given["tool_call_id"] = message.tool_call_id
    if message.is_error is not None:
        given["is_error"] = message.is_error
    return given
