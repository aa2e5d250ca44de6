"""Whole agents as clients of a run: a function, or a command that is started for each task.

Both work in the task's directory. With a script or an upstream, the agent's model is an endpoint on
loopback that records the requests and replies; without one, the model's replies are unknown.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from tunaeval.errors import ClientSetupError, UnknownNameError, UsageError
from tunaeval.files.keys import without
from tunaeval.showing import brief
from tunaeval.tasks.sandbox import SOCKET, sandbox_of
from tunaeval.tools.forwarding import served
from tunaeval.tools.launching import launched
from tunaeval.tools.processes import PIPE, Child, Kept
from tunaeval.types.calls import JsonValue
from tunaeval.types.exchange import AgentRun, AgentTask, Reply, text_of
from tunaeval.types.faults import Fault, read_fault
from tunaeval.types.third_party import in_time
from tunaeval.types.wanted import wanted_items
from tunaeval.workers import beside, in_daemon

from .serving import ModelEndpoint, model_endpoint

COMMAND = "command:"
"""The prefix of a client's name that makes it a command."""
_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ")
"""The caller's variables that a command gets: none of them has a secret."""
_KEPT = 64 * 1024  # bytes, of the end of what a command prints
_PLACES = ("base_url", "prompt", "workspace", "model")
_PLACE = re.compile(r"{{(\w+)}}|(?<![$]){([A-Za-z_]\w*)}")
"""Matches a placeholder `{name}`, or `{{name}}`, which means `{name}`; not a shell's `${name}`."""

AgentFunction: TypeAlias = Callable[[str, str, str], "str | Awaitable[str]"]
"""Takes the prompt, the workspace's path and the model's base URL; returns the agent's answer."""


class AgentClient:
    """An agent as a client: `function(prompt, workspace, base_url)` returns its answer.

        report = tunaeval.run("repair-tasks", client=tunaeval.AgentClient(my_agent, upstream=url))

    A function that is no coroutine function runs in a thread.

    Args:
        function: The agent. `base_url` is empty if there is neither a script nor an upstream.
        script: The model's replies: for all tasks, or a mapping from each task's id to its replies.
        upstream: The base URL of the server that answers if there is no script.
        model: The name of the upstream's model.

    Raises UsageError if `function` is not callable, or if both script and upstream are given.

    Examples:
        >>> def agent(prompt, workspace, base_url):
        ...     Path(workspace, "notes.md").write_text("done")
        ...     return "I wrote notes.md."
        ...
        >>> task = {"files": {}, "checks": [{"file": "notes.md", "equals": "done"}]}
        >>> suite = {"scenarios": [{"id": "notes", "prompt": "Write notes.md.", "task": task}]}
        >>> tunaeval.run(suite, client=tunaeval.AgentClient(agent), out=None).passed
        1
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
            raise UsageError(f"the agent is {brief(function)}; wanted a function")
        if script is not None and upstream is not None:
            raise UsageError("a script and an upstream cannot be combined; leave one of them out")
        self._function = function
        self._script, self._upstream, self.model = script, upstream, model

    async def work(self, task: AgentTask) -> AgentRun:
        async with AsyncExitStack() as stack:
            served = self._endpoint(task)
            if served is not None:
                await stack.enter_async_context(served)
            # Also of an agent that raises or hangs the replies count.
            url = "" if served is None else served.url
            run = await in_time(self, lambda: self._run(task, url), task.within_seconds)
            if served is None:
                return run
            met = tuple(_met(served, read_fault(one)) for one in task.faults)
            made = {"answer": run.answer, "words": run.words, "results": _results(served)}
            secrets = frozenset[str]().union(*(turn.request.secrets for turn in served.turns))
            replies = _replies(served, secrets)
            return replace(run, **without(made, secrets), replies=replies, met=met)

    async def _run(self, task: AgentTask, base_url: str) -> AgentRun:
        if inspect.iscoroutinefunction(self._function):
            answer = await self._function(task.prompt, task.workspace, base_url)
        else:
            answer = await beside(self._function, task.prompt, task.workspace, base_url)
        return AgentRun(answer if isinstance(answer, str) else text_of(answer))

    def _endpoint(self, task: AgentTask) -> ModelEndpoint | None:
        script, faults = self._script, [read_fault(one) for one in task.faults]
        if isinstance(script, Mapping):
            if task.scenario not in script:
                raise ClientSetupError(
                    f"there is no script for the task {task.scenario!r}; add one under this id"
                )
            script = script[task.scenario]
        if script is not None:
            return model_endpoint(script, faults=faults)
        if self._upstream is None:
            return None
        return model_endpoint(upstream=self._upstream, model=self.model, faults=faults)

    async def close(self) -> None:
        """Do nothing: no connection stays open."""


class CommandClient(AgentClient):
    """A command as an agent, started without a shell in the task's directory, for each task.

        CommandClient(["./agent", "--base-url", "{base_url}", "{prompt}"], upstream=url)

    In its words `{base_url}`, `{prompt}`, `{workspace}` and `{model}` are replaced; write
    `{{name}}` for the text `{name}`, as other placeholders are refused. Without `{prompt}` the
    prompt is written to standard input. Its output is its answer. With an exit code other than 0
    the episode ends in an error, and the workspace is still graded. When it ends, or its time is
    over, all processes that it has started are killed.

    The command's environment is clean: of the caller's variables it gets PATH, LANG, LC_ALL,
    LC_CTYPE, TERM, TMPDIR and TZ, and those in `pass_env`; HOME is a new directory that is removed
    afterwards, and with an endpoint OPENAI_BASE_URL is its address, and OPENAI_API_KEY a text that
    is no key. Without a `sandbox` the command is not isolated, and the report says so: it has this
    user's rights, and can read and write other files. With "bwrap" it reaches the endpoint alone,
    and reads the paths in `sandbox_bind` besides the system's. Raises UsageError for a variable
    that is not set, and for a sandbox that does not work.

    Examples:
        >>> client = tunaeval.CommandClient(["python", "agent.py", "{prompt}"], script=["Done."])
        >>> client.name
        'command'
    """

    name: str = "command"
    heading = (
        "not isolated: the agent ran with the rights of this user, and could read and write files "
        "outside of its task's directory"
    )

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        script: JsonValue = None,
        upstream: str | None = None,
        model: str | None = None,
        pass_env: Sequence[str] = (),
        sandbox: str | None = None,
        sandbox_bind: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        words = _split(command) if isinstance(command, str) else list(command)
        if not words or shutil.which(words[0]) is None:
            raise ClientSetupError(
                f"the command {words[:1]} is no program that can be run; correct its name"
            )
        self._asks_for = frozenset(place for word in words for place in _places(word))
        # The command runs in another directory, so its path must be absolute.
        self._words = [os.path.abspath(str(shutil.which(words[0]))), *words[1:]]  # noqa: PTH100 - keeps links
        self._environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
        for name in wanted_items(pass_env, "pass_env", str, "names of variables"):
            if name not in os.environ:
                raise UsageError(
                    f"pass_env names the variable {name!r}, which is not set; set it, or leave it "
                    "out"
                )
            self._environment[name] = os.environ[name]
        self.sandbox = sandbox_of(sandbox, sandbox_bind)
        super().__init__(lambda *_: "", script=script, upstream=upstream, model=model)

    async def _run(self, task: AgentTask, base_url: str) -> AgentRun:
        given = (base_url, task.prompt, task.workspace, self.model or "")
        values = dict(zip(_PLACES, map(str, given), strict=True))
        filled = [_filled(word, values) for word in self._words]
        asks = "prompt" in self._asks_for
        home = tempfile.TemporaryDirectory(prefix="tunaeval-home-", ignore_cleanup_errors=True)
        ours = {"HOME": home.name, "PYTHONDONTWRITEBYTECODE": "1"}
        if base_url:
            ours |= {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none-is-needed"}
        environment = {**ours, **self._environment}
        async with AsyncExitStack() as stack:
            stack.enter_context(home)
            asked = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
            asked.write(b"" if asks else task.prompt.encode())
            asked.seek(0)
            line = launched(filled)
            if (sandbox := self.sandbox or task.sandbox) is not None:
                sockets = None
                if base_url:
                    port = int(base_url.rpartition(":")[2].partition("/")[0])
                    sockets = home.name, port
                    path = os.path.join(home.name, SOCKET)  # noqa: PTH118 - as `home.name` is
                    await stack.enter_async_context(await served(path, port))
                line = sandbox.launched(filled, Path(task.workspace), sockets=sockets)
                environment = sandbox.environment(environment)
            with Child(
                line,
                folder=Path(task.workspace),
                environment=environment,
                given=asked,
                errors=PIPE,
                supervised=True,
            ) as process:
                kept = Kept(process.out, last=_KEPT), Kept(process.errors, last=_KEPT)
                code = await asyncio.wrap_future(in_daemon(process.wait))
            answer, words = (one.whole().decode(errors="replace").strip() for one in kept)
        if code:
            last = "".join(f": {one[:200]}" for one in words.splitlines()[-1:])
            words = f"the command exits with {code}{last}"
            return AgentRun(answer, ended="error", words=words)
        return AgentRun(answer)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:  # a quotation that is not closed
        words = str(error).lower().rstrip(".")
        raise UsageError(f"the command {brief(command, 80)} cannot be read: {words}") from None


def _places(word: str) -> Iterator[str]:
    for found in _PLACE.finditer(word):
        if (name := found[2]) is not None:
            known = [f"{{{one}}}" for one in sorted(_PLACES)]
            instead = f"known: {', '.join(known)}; {{{found[0]}}} is written for {found[0]} itself"
            if name not in _PLACES:
                raise UnknownNameError("placeholder", found[0], known, instead=instead)
            yield name


def _filled(word: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders in one pass, so that braces in the values stay as they are."""
    return _PLACE.sub(lambda found: values[found[2]] if found[2] else f"{{{found[1]}}}", word)


def _met(served: ModelEndpoint, fault: Fault) -> int | None:
    """Return the number (from 1) of the reply that a fault first changed, or that came after it."""
    replies = 1
    for turn in served.turns:
        if fault in turn.faults:
            return replies
        replies += turn.message is not None
    return None


def _results(served: ModelEndpoint) -> tuple[tuple[int, str], ...]:
    """Return the texts of tools' results, each with the reply (from 1) that it follows first."""
    found: dict[str, int] = {}
    replies = 0
    for turn in served.turns:
        for text in turn.request.results:
            found.setdefault(text, max(1, replies))
        replies += turn.message is not None
    return tuple((at, text) for text, at in found.items())


def _replies(served: ModelEndpoint, secrets: frozenset[str]) -> tuple[Reply, ...]:
    return tuple(
        Reply(without(turn.message, secrets), turn.finish_reason, turn.usage, source="structured")
        for turn in served.turns
        if turn.message is not None
    )
