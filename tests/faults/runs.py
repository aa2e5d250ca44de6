"""Small suites that are asked of a faulty server, and how long that may take."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults import FaultServer, Seen
from tunaeval.clients.openai import OpenAIClient
from tunaeval.parsing.api import parser_for
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.runs import Report, Suite

SPARE_SECONDS = 1.0
"""How much longer than its deadline anything may take."""
_TICK_SECONDS = 0.02


def small_suite(folder: Path, scenarios: int, name: str = "small") -> Suite:
    """Scenarios that want words and no call: a server that says hello passes all."""
    return load_suite(suite_file(folder, scenarios, name))


def suite_file(folder: Path, scenarios: int, name: str = "small") -> Path:
    rows = [{"id": f"s{n}", "prompt": f"Say {n}.", "expected_tool": None} for n in range(scenarios)]
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"name": name, "scenarios": rows}))
    return path


def prompt_of(seen: Seen) -> str:
    """What a request asks."""
    prompt: str = seen.json["messages"][-1]["content"]
    return prompt


def made(
    suite: Suite, server: FaultServer, options: RunOptions | None = None, **settings: Any
) -> tuple[SuiteRun, OpenAIClient]:
    """A run of the suite, and its client: of `settings` some are the run's."""
    own = {"out", "run_id", "resume", "retry_failures", "take_over", "on_result"}
    client = OpenAIClient(
        base_url=server.base_url,
        model="m",
        **{key: value for key, value in settings.items() if key not in own},
    )
    mine = {key: value for key, value in settings.items() if key in own}
    return SuiteRun(suite, client, parser_for("auto"), options, **mine), client


def asked(
    suite: Suite, server: FaultServer, options: RunOptions | None = None, **settings: Any
) -> Report:
    """The report of a whole run."""
    run, client = made(suite, server, options, **settings)

    async def whole() -> Report:
        try:
            return await run.run()
        finally:
            await client.close()

    return asyncio.run(whole())


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail where the block takes over a second more than so long.

    The clock counts the short sleeps of a thread: on a busy machine it is as late as all else, so
    that it never fails what is only starved. What the block itself computes counts in any case.
    """
    over, ticks, began = threading.Event(), list[None](), time.thread_time()

    def tick() -> None:
        while not over.wait(_TICK_SECONDS):
            ticks.append(None)

    clock = threading.Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield
    finally:
        over.set()
        clock.join()
    took = max(len(ticks) * _TICK_SECONDS, time.thread_time() - began)
    assert took <= seconds + SPARE_SECONDS, f"took {took:.1f} s of {seconds:g}"


def eventually(is_so: Callable[[], object]) -> bool:
    """Wait until something is so, for minutes if need be; whether it is."""
    for _ in range(12_000):
        if is_so():
            return True
        time.sleep(0.01)
    return False
