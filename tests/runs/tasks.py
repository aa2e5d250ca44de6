"""Suites of one small task, and scripted models that do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tunaeval
from tests.runs.whole_runs import Answers
from tunaeval.runs.options import RunOptions
from tunaeval.types.exchange import Request
from tunaeval.types.runs import Report, ScenarioResult, Suite

EIGHT = ["bash", "glob", "grep", "list_dir", "read_file", "update_file", "web_fetch", "write_file"]
CALC = "def add(a, b):\n    return a - b\n"
ONE = RunOptions(concurrency=1)


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


READ = call("read_file", filepath="calc.py")
REPAIR = call("update_file", filepath="calc.py", target="a - b", patch="a + b")
TASK: dict[str, Any] = {
    "files": {"calc.py": CALC, "tests/t.py": ["from calc import add", "assert add(2, 3) == 5"]},
    "commands": [["python", "-m", "tests.t"]],
    "checks": [{"file": "calc.py", "contains": "a + b"}, {"unchanged": "tests/"}],
}


def suite_of(path: Path, *tasks: dict[str, Any], **row: Any) -> Suite:
    rows = [
        {"id": f"task-{n}", "prompt": "Repair add", "task": one, **row}
        for n, one in enumerate(tasks)
    ]
    header = {"catalogue": "tunacode-2025-12", "tools": EIGHT, "scenarios": rows}
    file = path / "tasks.json"
    file.write_text(json.dumps(header))
    return tunaeval.load_suite(file)


def scripted(*replies: Any) -> Answers:
    """Each episode is given these, turn by turn."""

    def answer(request: Request) -> Any:
        return replies[min(request.attempt, len(replies)) - 1]

    return Answers(answer)


def report_of(suite: Suite, client: Any, **more: Any) -> Report:
    settings: dict[str, Any] = {"options": ONE, "out": None, "format": "hermes", **more}
    return tunaeval.run(suite, client=client, **settings)


def result_of(suite: Suite, *replies: Any, **more: Any) -> ScenarioResult:
    return report_of(suite, scripted(*replies), **more).results[0]
