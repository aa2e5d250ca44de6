"""Whole agents as clients of a run: a function, or a command that is run for each task.

Both work in the directory of the task. Where there is a script or an upstream, their model is an
endpoint on loopback that sees what passes; else what the model said is not known.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import TypeAlias

from tunaeval.errors import ClientSetupError, TransportFailure, UnknownNameError, UsageError
from tunaeval.models.endpoint.serving import ModelEndpoint, model_endpoint
from tunaeval.registry import shown, who, words_of
from tunaeval.runs.left_behind import beside
from tunaeval.types.calls import JsonValue
from tunaeval.types.exchange import AgentRun, AgentTask, Reply, Request, text_of
from tunaeval.types.faults import Fault, read_fault

COMMAND = "command:"
"""How the name of a client begins that is a command."""
_KEPT = 64 * 1024
_PLACES = ("base_url", "prompt", "workspace", "model")
_PLACE = re.compile(r"{{(\w+)}}|(?<![$]){([A-Za-z_]\w*)}")
"""`{{name}}`, which is written for `{name}`, or a placeholder; a shell's `${name}` is neither."""

AgentFunction: TypeAlias = Callable[[str, str, str], "str | Awaitable[str]"]
"""Is given the prompt, the workspace's path and the model's base URL, and returns its answer."""


class AgentClient:
    """An agent of yours as a client: `function(prompt, workspace, base_url)` returns its answer.

        report = tunaeval.run("repair-tasks", client=tunaeval.AgentClient(my_agent, upstream=url))

    Its model answers by the `script` (one for all tasks, or by a task's id), else the `upstream`
    does; without either `base_url` is empty. A function that is no coroutine function runs in a
    thread. Raises UsageError for what is no function, and for a script beside an upstream.

    Examples:
        >>> def agent(prompt, workspace, base_url):
        ...     (workspace / "notes.md").write_text("done")
        ...     return "I wrote notes.md."
        ...
        >>> client = tunaeval.AgentClient(agent)
        >>> client.name
        'agent'
    """

    name: str = "agent"

    def __init__(
        self,
        function: AgentFunction,
        *,
        script: JsonValue = None,
        upstream: str | None = None,
        model: str | None = None,
    ) -> None:
        if not callable(function):
            raise UsageError(f"the agent is {shown(function)}; wanted a function")
        if script is not None and upstream is not None:
            raise UsageError("a script answers alone; leave out upstream")
        self._function = function
        self._script, self._upstream, self.model = script, upstream, model

    async def work(self, task: AgentTask) -> AgentRun:
        async with AsyncExitStack() as stack:
            served = self._endpoint(task)
            if served is not None:
                await stack.enter_async_context(served)
            run = await self._ran(task, "" if served is None else served.url)
            if served is None:
                return run
            met = tuple(_met(served, read_fault(one)) for one in task.faults)
            return replace(run, replies=_replies(served), met=met)

    async def _ran(self, task: AgentTask, base_url: str) -> AgentRun:
        """What it did; what passed its model is known of one that raises or hangs as well."""
        try:
            async with asyncio.timeout(task.within_seconds):
                return await self._run(task, base_url)
        except TimeoutError:
            return AgentRun("", ended="seconds", words=f"it took over {task.within_seconds:g} s")
        except TransportFailure:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an agent may raise what it likes
            words = f"{who(self, 'agent')} raised {words_of(error)}"
            return AgentRun("", ended="error", words=words)

    async def _run(self, task: AgentTask, base_url: str) -> AgentRun:
        if inspect.iscoroutinefunction(self._function):
            said = await self._function(task.prompt, task.workspace, base_url)
        else:
            said = await beside(self._function, task.prompt, task.workspace, base_url)
        return AgentRun(said if isinstance(said, str) else text_of(said))

    def _endpoint(self, task: AgentTask) -> ModelEndpoint | None:
        script, faults = self._script, [read_fault(one) for one in task.faults]
        if isinstance(script, Mapping):
            if task.scenario not in script:
                raise ClientSetupError(f"there is no script for the task {task.scenario!r}")
            script = script[task.scenario]
        if script is not None:
            return model_endpoint(script, faults=faults)
        if self._upstream is None:
            return None
        return model_endpoint(upstream=self._upstream, model=self.model, faults=faults)

    async def complete(self, request: Request) -> Reply:
        """A whole agent answers no single question."""
        raise ClientSetupError(
            f"scenario {request.scenario!r} is one question, and a whole agent works on tasks of "
            "many turns; ask a suite such as 'repair-tasks', or a model"
        )

    async def close(self) -> None:
        """Nothing is open."""


class CommandClient(AgentClient):
    """A command as an agent: run in the task's directory, without a shell, for each task.

        CommandClient(["./agent", "--base-url", "{base_url}", "{prompt}"], upstream=url)

    In its words `{base_url}`, `{prompt}`, `{workspace}` and `{model}` are replaced, and another
    `{name}` is refused (write `{{name}}` for one that is to stay); a prompt that no word asks for
    comes on standard input. It has the caller's environment, and the base
    URL as OPENAI_BASE_URL. What it prints is its answer; where it ends with another code than 0,
    the episode ended in an error, and what it left is graded all the same. Its time over, it is
    ended with everything that it started.

    Examples:
        >>> client = tunaeval.CommandClient(["python", "agent.py", "{prompt}"], script=["Done."])
        >>> client.name
        'command'
    """

    name: str = "command"

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        script: JsonValue = None,
        upstream: str | None = None,
        model: str | None = None,
    ) -> None:
        words = _split(command) if isinstance(command, str) else list(command)
        if not words or shutil.which(words[0]) is None:
            raise ClientSetupError(f"the command {words[:1]} is no program that can be run")
        self._asks_for = frozenset(place for word in words for place in _places(word))
        # It is run in another directory, so a path to it has to be whole.
        self._words = [os.path.abspath(str(shutil.which(words[0]))), *words[1:]]  # noqa: PTH100 - links stay
        super().__init__(lambda *_: "", script=script, upstream=upstream, model=model)

    async def _run(self, task: AgentTask, base_url: str) -> AgentRun:
        given = (base_url, task.prompt, task.workspace, self.model or "")
        values = dict(zip(_PLACES, map(str, given), strict=True))
        filled = [_filled(word, values) for word in self._words]
        asks = "prompt" in self._asks_for
        process = await asyncio.create_subprocess_exec(
            *filled,
            cwd=task.workspace,
            env={**os.environ, "OPENAI_BASE_URL": base_url} if base_url else None,
            stdin=asyncio.subprocess.DEVNULL if asks else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=sys.platform != "win32",
        )
        try:
            async with asyncio.timeout(task.within_seconds):
                out, err = await process.communicate(None if asks else task.prompt.encode())
        except TimeoutError:
            return AgentRun("", ended="seconds", words=f"it took over {task.within_seconds:g} s")
        finally:
            _end(process)
        answer, words = (one[-_KEPT:].decode(errors="replace").strip() for one in (out, err))
        if process.returncode:
            last = "".join(f": {one[:200]}" for one in words.splitlines()[-1:])
            words = f"the command exits with {process.returncode}{last}"
            return AgentRun(answer, ended="error", words=words)
        return AgentRun(answer)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:  # a quotation that is not closed
        words = str(error).lower().rstrip(".")
        raise UsageError(f"the command {command!r:.80} cannot be read: {words}") from None


def _places(word: str) -> Iterator[str]:
    """The placeholders of a word. Raises UnknownNameError for one that nothing fills."""
    for found in _PLACE.finditer(word):
        if (name := found[2]) is not None:
            known = [f"{{{one}}}" for one in sorted(_PLACES)]
            instead = f"known: {', '.join(known)}; {{{found[0]}}} is written for {found[0]} itself"
            if name not in _PLACES:
                raise UnknownNameError("placeholder", found[0], known, instead=instead)
            yield name


def _filled(word: str, values: Mapping[str, str]) -> str:
    """The word with its places filled, none of them in what another was filled with."""
    return _PLACE.sub(lambda found: values[found[2]] if found[2] else f"{{{found[1]}}}", word)


def _end(process: asyncio.subprocess.Process) -> None:
    """End what is left of the command's group of processes."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _met(served: ModelEndpoint, fault: Fault) -> int | None:
    """The reply (from 1) that a fault hit first, or the next one where it took that away."""
    replies = 1
    for turn in served.turns:
        if fault in turn.faults:
            return replies
        replies += turn.message is not None
    return None


def _replies(served: ModelEndpoint) -> tuple[Reply, ...]:
    return tuple(
        Reply(turn.message, turn.finish_reason, turn.usage, source="structured")
        for turn in served.turns
        if turn.message is not None
    )
