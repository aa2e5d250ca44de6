"""Runs suites by our harness and by the one of `examples/inspect_harness.py`.

Prints for each what came of every scenario by either, without durations, and what Inspect logged.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from inspect_ai.log import list_eval_logs, read_eval_log

import tunaeval
from tests.runs.tasks import READ, REPAIR, TASK, call, suite_of
from tests.runs.whole_runs import Answers
from tunaeval import RunOptions
from tunaeval.errors import ClientSetupError, TransportFailure, TunaevalError
from tunaeval.types.exchange import Request
from tunaeval.types.runs import Suite

EXAMPLE = Path(__file__).parents[3] / "examples" / "inspect_harness.py"
MADE = {"bash-pytest-quiet": call("bash", command="pytest -q"), "grep-regex": "<tool_call>\n{"}
OPTIONS = RunOptions(repeats=3, attempts=2, concurrency=4)


def says(request: Request) -> Any:
    """One scenario is answered rightly in every repeat but the last, and some are not at all."""
    if request.scenario.startswith("task"):
        return [READ, REPAIR if request.repeat < OPTIONS.repeats else "No.", "Done."][
            min(request.attempt, 3) - 1
        ]
    if request.scenario == "two-reads":
        return TransportFailure("connection reset", kind="reset")
    return MADE.get(request.scenario, "No.") if request.repeat < OPTIONS.repeats else "No."


def refuses(_: Request) -> Any:
    return ClientSetupError("no key")


def clerk(prompt: str, workspace: str, _url: str) -> str:
    """A whole agent, which does one of two tasks."""
    Path(workspace, "notes.md").write_text(prompt, "utf-8")
    return "I wrote notes.md."


NOTES: list[dict[str, Any]] = [
    {"files": {}, "checks": [{"file": name, "contains": "Write this."}]}
    for name in ("notes.md", "b.md")
]
CASES: dict[str, tuple[Callable[[Path], Suite], Callable[[], Any]]] = {
    "questions": (lambda _: tunaeval.load_suite("smoke"), partial(Answers, says)),
    "tasks": (lambda at: suite_of(at, TASK, TASK), partial(Answers, says)),
    "agent": (
        lambda at: suite_of(at, *NOTES, prompt="Write this."),
        partial(tunaeval.AgentClient, clerk),
    ),
    "refused": (lambda _: tunaeval.load_suite("smoke"), partial(Answers, refuses)),
}


def untimed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: untimed(one) for key, one in value.items() if not key.endswith("seconds")}
    return [untimed(one) for one in value] if isinstance(value, list) else value


def results(suite: Suite, client: Any, harness: Any, **options: Any) -> Any:
    try:
        report = tunaeval.run(suite, client=client, harness=harness, out=None, **options)
    except TunaevalError as error:
        return repr(error)
    return [untimed(one.model_dump(mode="json")) for one in report.results]


def logged(log_dir: str) -> dict[str, Any]:
    (log,) = (read_eval_log(one) for one in list_eval_logs(log_dir))
    scores = [[one.id, one.epoch, one.scores["ok"].value] for one in log.samples or ()]
    return {"status": log.status, "task": log.eval.task, "scores": sorted(scores)}


def main() -> None:
    out, reports = sys.stdout, {}
    with redirect_stdout(sys.stderr), TemporaryDirectory() as place:
        harness = runpy.run_path(str(EXAMPLE))["InspectHarness"]
        for name, (suite, client) in CASES.items():
            folder, logs = Path(place, name), str(Path(place, name, "logs"))
            folder.mkdir()
            loaded = suite(folder)
            reports[name] = {
                "ours": results(loaded, client(), "tunaeval", options=OPTIONS),
                "inspect": results(loaded, client(), harness(OPTIONS, logs)),
                "log": logged(logs),
            }
    json.dump(reports, out)


if __name__ == "__main__":
    main()
