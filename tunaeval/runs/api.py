"""`run` and `arun`: a whole run in one call, from names or from objects."""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack, cast

from tunaeval.clients import clients, with_cache
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import sole_parser_for
from tunaeval.reports.progress import Live, in_notebook
from tunaeval.showing import brief
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.parsing import Level
from tunaeval.types.roles import Agent, Client, Harness, Parser
from tunaeval.types.runs import CountedCalls, Report, Suite
from tunaeval.types.suites import Part
from tunaeval.types.third_party import closed, made_client
from tunaeval.workers import in_a_loop

from .driving import Environment, sandboxed
from .harnesses import OURS, PARAMETERS, made_harness, name_of, run_by, takes_of
from .options import RunOptions
from .prompts import Ask
from .runner import OnResult, SuiteRun

P = ParamSpec("P")
T = TypeVar("T")

EMBEDDED = RunOptions(ask="schema", concurrency=1, deadline_seconds=120.0)
"""The embedded model's defaults: a schema, one request at a time, and time for slow machines."""


class _Unset:
    """The default of a parameter whose value comes from `options` or from the client."""

    def __repr__(self) -> str:
        return "unset"


_UNSET: Any = _Unset()


class ClientSettings(TypedDict, total=False):
    """The keywords of all built-in clients together.

    A client refuses the keywords of the others. For a client of a plug-in, which has keywords of
    its own, make the client and pass it.
    """

    # of "openai"
    base_url: str | None
    model: str | None
    attempt_timeout: float
    deadline: float | None
    connections: int
    max_retries: int | None
    rpm: float | None
    stream: bool
    key_variables: Sequence[str]
    headers: Mapping[str, str] | None
    ca: str | None
    cert: str | None
    cert_key: str | None
    proxy: str | None
    http2: bool
    transport: Any
    # of "llamacpp"
    model_file: str | None
    threads: int | None
    context: int
    slots: int
    # of "replay" and "scripted"
    path: str | Path | None
    replies: Sequence[Any]
    # of a command
    script: Any
    upstream: str | None
    pass_env: Sequence[str]


async def arun(
    suite: Suite | str | Path | JsonObject | list[JsonValue],
    *,
    client: Client | Agent | str = "llamacpp",
    format: str | Format | Parser = "auto",  # noqa: A002 - the public word for it
    out: Path | str | None = "runs/",
    options: RunOptions | None = None,
    resume: Path | str | None = None,
    environment: Environment | None = None,
    retry_failures: bool = False,
    take_over: bool = False,
    cache: Path | str | None = None,
    harness: Any = OURS,
    split: Part | None = None,
    sandbox: str | None = None,
    sandbox_bind: Sequence[str | Path] = (),
    progress: bool | None = None,
    on_result: OnResult | None = None,
    ask: Ask = _UNSET, level: Level = _UNSET, profile: str | None = _UNSET,
    calls: CountedCalls = _UNSET, constrain: bool | str = _UNSET,
    abstain: tuple[str, ...] = _UNSET, attempts: int = _UNSET, max_tokens: int = _UNSET,
    temperature: float | None = _UNSET, seed: int | None = _UNSET, repeats: int = _UNSET,
    deadline_seconds: float = _UNSET, concurrency: int = _UNSET,
    **client_settings: Unpack[ClientSettings],
) -> Report:  # fmt: skip
    """Ask a model every scenario of a suite, score its calls, and return a report.

        report = tunaeval.run("suite.yaml", client="openai", base_url="http://127.0.0.1:8000/v1")

    `client` is a `Client`, which the caller closes, or the name of one, which is made with the
    `client_settings` (for "openai": `base_url`, `model`). `format` is the wire format of the
    replies. Runs are stored in the directory `out`, or nowhere if it is None; `resume` is the
    directory of a stored run to go on with (see `SuiteRun`). `cache` is a directory of replies: a
    model is asked only what is not there, and what it replies is kept there. `environment` has the
    tools and the user of tasks of many turns. `harness` is the name of what runs the suite, a class
    or function that makes one, or a `Harness` that is made already. `split` asks one part of the
    suite alone (see `Suite.split`). `sandbox="bwrap"` runs commands in a sandbox, in which they can
    read the paths in `sandbox_bind`, too. `progress` shows results on stderr, or in a notebook how
    far the run is (default: in a terminal and a notebook). `on_result` is called with each result;
    if it raises, the run ends. The parameters from `ask` on
    are fields of `RunOptions` and override `options`.

    Raises UsageError (SuiteError, UnknownNameError), ClientSetupError, RecordError.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> replies = ScriptedClient(["I cannot."] * 12)
        >>> report = tunaeval.run("smoke", client=replies, out=None, attempts=1)
        >>> report.passed, report.total
        (2, 12)
    """
    environment = sandboxed(environment, sandbox, sandbox_bind)
    given = {name: value for name, value in locals().items() if name in OPTION_NAMES}
    values = {name: value for name, value in locals().items() if name in PARAMETERS}
    loaded = _part(suite if isinstance(suite, Suite) else load_suite(suite), split)
    asked = {name for name, value in values.items() if value is not None and value is not False}
    asked |= {"options"} if any(value is not _UNSET for value in given.values()) else set()
    values["options"] = chosen_options(options, client, given)
    made, shown = _made_harness(harness, loaded, values, asked, live_for(progress))
    keep = None if "out" in takes_of(harness) else out
    async with opened(client, dict(client_settings), cache) as model:
        parser = sole_parser_for(format)
        with shown:
            return await run_by(made, loaded, model, parser, name=name_of(harness), out=keep)


def _made_harness(
    harness: Any, suite: Suite, values: dict[str, Any], given: set[str], live: Live | None
) -> tuple[Harness, AbstractContextManager[None]]:
    """Return the harness, whose results `live` shows, and what is entered while it runs."""
    values["on_result"] = hearing(live, values["on_result"])
    shown: AbstractContextManager[None] = nullcontext()
    if live is None:
        return made_harness(harness, values, given), shown

    def watched(run: SuiteRun) -> AbstractContextManager[None]:
        return live.progress({None: run.planned}, heading=run.info.heading)

    if harness != OURS and "on_result" in takes_of(harness):
        every = len(suite.scenarios) * values["options"].repeats
        shown = live.progress({None: (0, every)}, heading=None)
    return made_harness(harness, values, given, watched=watched), shown


def live_for(progress: bool | None) -> Live | None:
    """Return what shows a run's results, or None if nothing does."""
    if progress not in (None, True, False):
        raise UsageError(f"progress is {brief(progress)}; wanted True, False or None")
    if sys.stderr is None or progress is False:
        return None
    return Live(sys.stderr) if progress or in_notebook() or sys.stderr.isatty() else None


def hearing(live: Live | None, on_result: object) -> Any:
    """Return what is called with each result: both of them, or None if there is neither."""
    if on_result is not None and (
        not callable(on_result) or inspect.iscoroutinefunction(on_result)
    ):
        raise UsageError(f"on_result is {brief(on_result)}; wanted a function that is not async")
    heard = [one for one in (live, on_result) if one is not None]

    def hear(*given: Any) -> None:
        for one in heard:
            one(*given)

    return hear if heard else None


def _part(suite: Suite, part: Part | None) -> Suite:
    return suite if part is None else suite.split(part)


OPTION_NAMES = frozenset(field.name for field in fields(RunOptions))


def blocking(work: Callable[P, Coroutine[Any, Any, T]], instead: str) -> Callable[P, T]:
    """Return a synchronous form of `work`. In the running event loop of a notebook it works in a
    thread of its own; in another one it raises, naming `instead`.
    """

    @wraps(work)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
        if not in_a_loop():
            return asyncio.run(work(*args, **kwargs))
        if in_notebook():
            return _in_thread(work(*args, **kwargs))
        raise UsageError(
            f"tunaeval.{waiting.__name__}() runs an event loop of its own, and one is running "
            f"here already, as in an async test; use: {instead}"
        )

    return waiting


def _in_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread with an event loop; what interrupts the wait cancels it."""
    tasks: list[asyncio.Task[Any]] = []

    async def cancellable() -> T:
        tasks.append(cast("asyncio.Task[Any]", asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1) as thread:
        # What it displays belongs to the cell of the notebook, which a context variable names.
        done = thread.submit(copy_context().run, asyncio.run, cancellable())
        try:
            return done.result()
        except BaseException:
            for task in tasks:
                with suppress(RuntimeError):  # it has just ended
                    task.get_loop().call_soon_threadsafe(task.cancel)
            raise


run = blocking(arun, "await tunaeval.arun(...)")
run.__name__ = run.__qualname__ = "run"


def chosen_options(
    options: RunOptions | None, client: Client | Agent | str, given: Mapping[str, Any]
) -> RunOptions:
    if options is not None and not isinstance(options, RunOptions):
        raise UsageError(f"options is {options!r:.60}; wanted tunaeval.RunOptions(...)")
    named = {name: value for name, value in given.items() if value is not _UNSET}
    if named.get("constrain"):
        named.setdefault("ask", "prompt")  # in place of the embedded model's schema
    return replace(options or usual_options(client), **named)


def usual_options(client: Client | Agent | str) -> RunOptions:
    """Return the default options for a client, or for the client of that name."""
    name = client if isinstance(client, str) else getattr(client, "name", None)
    return EMBEDDED if name == "llamacpp" else RunOptions()


@asynccontextmanager
async def opened(
    client: Client | Agent | str, settings: dict[str, Any], cache: Path | str | None = None
) -> AsyncIterator[Client]:
    """Yield the client, with a cache if one is named; close it at the end if it was made here."""
    model = _client_of(client, settings)
    try:
        if cache is None:
            yield model
        else:
            async with with_cache(model, cache) as asked:
                yield asked
    finally:
        if isinstance(client, str):
            fault = await closed(model)
            if fault is not None:
                logging.getLogger("tunaeval.runs").warning("%s; no result is lost", fault)


def _client_of(client: Client | Agent | str, settings: dict[str, Any]) -> Client:
    from tunaeval.endpoint.agents import (  # noqa: PLC0415 - it serves a model over HTTP
        COMMAND,
        CommandClient,
    )

    if not isinstance(client, str):
        if isinstance(client, type):
            raise UsageError(
                f"client is the class {client.__name__}; wanted one of its objects: "
                f"{client.__name__}(...)"
            )
        if not isinstance(client, Client | Agent):
            raise UsageError(
                f"client is {client!r:.60}; wanted a name ({', '.join(clients.names())}), or an "
                "object with name, async complete(request), or async work(task), and async close()"
            )
        if settings:
            words, is_typo = _unknown(settings)
            why = "" if is_typo else "; the client is made already, so it takes nothing more"
            raise UsageError(words + why)
        return cast("Client", client)  # an agent has no `complete`, which `reply_of` knows
    if client.startswith(COMMAND):
        return cast("Client", CommandClient(client.removeprefix(COMMAND), **settings))
    maker = clients.get(client)
    takes = _keywords(maker)
    if takes is not None and settings.keys() - takes:
        raise UsageError(_unknown(settings, client, takes)[0])
    return made_client(maker, client, settings)


def _keywords(maker: object) -> frozenset[str] | None:
    """Return the names of a maker's parameters, or None if it takes any keyword."""
    try:
        parameters = inspect.signature(maker).parameters.values()  # type: ignore[arg-type] # caught below
    except (TypeError, ValueError):  # not callable, or written in C without a signature
        return None
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return None
    return frozenset(one.name for one in parameters)


_OF_A_SHELL = {"timeout": "deadline_seconds", "tools": "ask"}
"""Names of command-line options with the parameter that does the same."""


def _unknown(
    settings: Mapping[str, object], client: str = "", takes: Iterable[str] = ()
) -> tuple[str, bool]:
    """Return a sentence on the first unknown keyword, and whether it suggests another name."""
    own = inspect.signature(arun).parameters.keys() - {"client_settings"}
    wrong = min(settings.keys() - set(takes))
    kind = "parameter of run()" + (f" or of client {client!r}" if client else "")
    if meant := _OF_A_SHELL.get(wrong):
        return f"no {kind} is called {wrong!r}; did you mean {meant!r}?", True
    unknown = UnknownNameError(kind, wrong, [*own, *takes])
    return str(unknown), bool(unknown.near)
