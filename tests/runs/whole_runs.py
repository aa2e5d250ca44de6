"""A run with a client that gives what it is told, and the lines that are kept of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tunaeval.files.results import RESULTS_FILE
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Client, Parser
from tunaeval.types.runs import Report, Suite

GOOD = '{"name": "read_file", "arguments": {"filepath": "a.py"}}'
ONE = RunOptions(concurrency=1)
MakeSuite = Callable[..., Suite]


class Answers:
    """A client that gives each scenario what `answer` says, after `seconds`."""

    name = "answers"
    heading = "not a model"

    def __init__(self, answer: Callable[[Request], Any], seconds: float = 0.0) -> None:
        self.answer = answer
        self.seconds = seconds
        self.asked: list[str] = []
        self.model: str | None = None
        self.at_once = self.most_at_once = 0

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request.scenario)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.at_once -= 1
        self.model = "tuna-1"
        answer = self.answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return Reply({"role": "assistant", "content": answer}, "stop")
        reply: Reply = answer
        return reply

    async def close(self) -> None:
        return


def good(request: Request) -> str:
    del request
    return GOOD


def run(suite: Suite, client: Client, parser: Parser, *options: RunOptions, **more: Any) -> Report:
    return asyncio.run(SuiteRun(suite, client, parser, *options, **more).run())


def lines(directory: str | Path | None) -> list[JsonObject]:
    assert directory is not None
    return [json.loads(line) for line in (Path(directory) / RESULTS_FILE).read_bytes().splitlines()]
