"""Runs that were really made, by a client with a script; and the same many times."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tunaeval.files.results import RESULTS_FILE
from tunaeval.parsing.api import parser_for
from tunaeval.runs.directory import RUN_FILE, load_report
from tunaeval.runs.options import RunOptions
from tunaeval.runs.runner import SuiteRun
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.messages import Usage
from tunaeval.types.runs import Report

READ = '{"name": "read_file", "arguments": {"filepath": "a.txt"}}'
ANSWERS = {
    "right": f"I look. <tool_call>{READ}</tool_call> Done.",
    "repaired": "<tool_call>{'name': 'read_file', 'arguments': {'filepath': 'a.txt',}}</tool_call>",
    "wrong-value": f"<tool_call>{READ.replace('a.txt', 'b.txt')}</tool_call>",
    "wrong-tool": '<tool_call>{"name": "bash", "arguments": {"command": "cat a.txt"}}</tool_call>',
    "prose": "The file is long, and I would rather not.",
    "malformed": '<tool_call>{"name": "read_file", "arguments": }</tool_call>',
    "cut": '<tool_call>{"name": "read_file", "arguments": {"filepath": "a.t',
    "nothing": "",
}
"""What each scenario is answered, by its id: all want `read_file(filepath="a.txt")`."""
PASSED = ("right", "repaired")


class Told:
    """A client that gives each scenario its answer: a text, a message, or what is raised."""

    name = "told"
    model = "made-1"

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    async def complete(self, request: Request) -> Reply:
        answer = self._answers[request.scenario]
        if isinstance(answer, Exception):
            raise answer
        message = {"role": "assistant", "content": answer} if isinstance(answer, str) else answer
        number = len(request.scenario) + len(str(answer))
        return Reply(message, "stop", Usage(100 + number, 3 * number), 0.01 * number)

    async def close(self) -> None:
        return


def made_run(
    folder: Path,
    answers: Mapping[str, Any] = ANSWERS,
    *,
    prompts: Mapping[str, str] | None = None,
    tags: tuple[str, ...] = ("files",),
    **options: Any,
) -> Path:
    """The directory of a run whose scenarios were answered so."""
    folder.mkdir(parents=True, exist_ok=True)
    suite = folder / "suite.json"
    scenarios = [
        {
            "id": name,
            "prompt": (prompts or {}).get(name, f"Read a.txt ({name})."),
            "expected_tool": "read_file",
            "expected_args": {"filepath": "a.txt"},
            "tags": list(tags),
        }
        for name in answers
    ]
    suite.write_text(
        json.dumps({"name": "made", "catalogue": "tunacode-2025-12", "scenarios": scenarios})
    )
    chosen = RunOptions(**{"ask": "prompt", **options})
    run = partial(
        SuiteRun, load_suite(suite), Told(answers), parser_for("auto"), chosen, out=folder
    )
    # In a thread of its own: a driver of browsers has an event loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(run(run_id="made").run())).result()
    return folder / "made"


def multiplied(run: Path, folder: Path, total: int) -> Path:
    """A run directory with so many results: those of `run`, again and again, by further ids."""
    folder.mkdir(parents=True)
    info = json.loads((run / RUN_FILE).read_text())
    (folder / RUN_FILE).write_text(json.dumps({**info, "scenarios": total}))
    (folder / "tools.jsonl").write_bytes((run / "tools.jsonl").read_bytes())
    lines = [json.loads(line) for line in (run / RESULTS_FILE).read_text().splitlines()]
    with (folder / RESULTS_FILE).open("w") as file:
        for number in range(total):
            line = lines[number % len(lines)]
            name = f"{line['scenario']}-{number:05}"
            file.write(json.dumps({**line, "scenario": name, "index": number}) + "\n")
    return folder


def report_of(run: Path) -> Report:
    return load_report(run)
