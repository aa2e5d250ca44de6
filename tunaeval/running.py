"""A whole run in one call, from names or from objects."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from tunaeval.errors import UsageError
from tunaeval.grammar import Format
from tunaeval.harness import RunOptions, SuiteRun, load_suite
from tunaeval.parsing import parser_for
from tunaeval.types.roles import Client, Parser
from tunaeval.types.runs import Report, Suite

from .extensions import registries

EMBEDDED = RunOptions(ask="schema", concurrency=1, deadline_seconds=120.0)
"""The embedded model is asked under a schema, one question at a time, and slow machines are met."""


async def arun(
    suite: Suite | str | Path,
    *,
    client: Client | str = "llamacpp",
    format: str | Format | Parser = "auto",  # noqa: A002 - the face's word for it
    out: Path | str | None = "runs/",
    options: RunOptions | None = None,
    resume: Path | str | None = None,
    **settings: Any,
) -> Report:
    """Ask a client every scenario of a suite and report.

    `client` is a `Client` (yours to close) or the name of one, made with those of the `settings`
    that `RunOptions` does not know; the rest of `settings` are fields of `RunOptions`. `out` is
    the directory that runs are kept in, None to keep nothing; `resume` that of one run, which was
    cut off and goes on, made as it was then.
    """
    ours = {name: value for name, value in settings.items() if name in RunOptions.__slots__}
    theirs = {name: value for name, value in settings.items() if name not in ours}
    named = isinstance(client, str)
    chosen = replace(options or _options_for(client), **ours)
    model = _made(client, theirs)
    try:
        run = SuiteRun(
            suite if isinstance(suite, Suite) else load_suite(suite),
            model,
            parser_for(format),
            chosen,
            out=out,
            resume=resume,
        )
        return await run.run()
    finally:
        if named:
            await model.close()


def run(
    suite: Suite | str | Path,
    *,
    client: Client | str = "llamacpp",
    format: str | Format | Parser = "auto",  # noqa: A002 - as in `arun`
    out: Path | str | None = "runs/",
    options: RunOptions | None = None,
    resume: Path | str | None = None,
    **settings: Any,
) -> Report:
    """`arun` for code without an event loop."""
    asked = arun(
        suite, client=client, format=format, out=out, options=options, resume=resume, **settings
    )
    return asyncio.run(asked)


def _options_for(client: Client | str) -> RunOptions:
    name = client if isinstance(client, str) else client.name
    return EMBEDDED if name == "llamacpp" else RunOptions()


def _made(client: Client | str, settings: dict[str, Any]) -> Client:
    if not isinstance(client, str):
        if settings:
            names = ", ".join(sorted(settings))
            raise UsageError(f"{names}: no field of RunOptions, and the client is already made")
        return client
    try:
        made: Client = registries()["clients"].get(client)(**settings)
    except TypeError as error:
        raise UsageError(
            f"client {client!r} cannot be made with {sorted(settings)}: {error}"
        ) from None
    return made
