"""Runs that are made up, and written as a run writes them: 1.2 KB a result, with its reply.

python benchmarks/made_up.py DIRECTORY RESULTS [--anew SHARE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random

from tunaeval.reports.replies import RunTools, keep_tools
from tunaeval.runs.directory import RunDirectory
from tunaeval.tools.specs import to_tools
from tunaeval.types.parsing import LEVELS
from tunaeval.types.runs import (
    AttemptRecord,
    CallRecord,
    Expectation,
    ExpectedCall,
    LevelResult,
    RunInfo,
    ScenarioResult,
)

TOOLS = ("bash", "glob", "grep", "list_dir", "read_file", "update_file", "web_fetch", "write_file")
TAGS = tuple(f"tag-{number}" for number in range(12))
_STRINGS = {name: {"type": "string"} for name in ("command", "path")}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("results", type=int)
    parser.add_argument("--anew", type=float, default=0.0, help="share that is drawn again (0)")
    given = parser.parse_args()
    write_run(given.directory, given.results, anew=given.anew)


def write_run(path: Path, results: int, *, anew: float) -> None:
    """A run in which 7 of 10 pass, always the same ones but for a share that is drawn `anew`."""
    directory = RunDirectory(path, run_info(path.name, results))
    parameters = {"type": "object", "properties": _STRINGS}
    keep_tools(
        path, RunTools(to_tools([{"name": name, "parameters": parameters} for name in TOOLS]))
    )
    first, again = Random(0), Random(1)
    for number in range(results):
        luck, other = first.random(), again.random()
        directory.append(result(number, (other if again.random() < anew else luck) < 0.7, luck))
    directory.close(run_info(path.name, results))


def result(number: int, ok: bool, latency: float) -> ScenarioResult:
    tool = TOOLS[number % len(TOOLS)]
    wanted = {"command": f"do thing {number}", "path": f"src/file_{number}.py"}
    got = CallRecord(name=tool, arguments=wanted if ok else {**wanted, "path": "elsewhere.py"})
    text = f'<tool_call>{{"name": "{tool}", "arguments": {json.dumps(got.arguments)}}}</tool_call>'
    at = LevelResult(ok=ok, first_attempt_ok=ok)
    attempt = AttemptRecord(message={"content": text}, outcome="calls", calls=(got,))
    return ScenarioResult(
        scenario=f"scenario-{number:06}",
        prompt=f"Please do thing {number} to the file src/file_{number}.py, and nothing else.",
        expected=Expectation(calls=(ExpectedCall(name=tool, arguments=wanted),)),
        got=(got,),
        ok=ok,
        first_attempt_ok=ok,
        reason="as expected" if ok else "wanted another path",
        outcome="calls",
        format="hermes",
        repairs=(),
        levels=dict.fromkeys(LEVELS, at),
        attempts=(attempt,),
        latency_seconds=latency,
        prompt_tokens=812,
        completion_tokens=31,
        tags=(TAGS[number % len(TAGS)],),
    )


def run_info(name: str, results: int) -> RunInfo:
    return RunInfo(
        run_id=name,
        started_at="2026-01-02T03:04:05Z",
        suite="made-up",
        suite_digest="0",
        scenarios=results,
        client="scripted",
        model=name,
        format="hermes",
        level="standard",
        profile="tunacode",
        ask="api",
        repeats=1,
        attempts=2,
        max_tokens=300,
        temperature=0.0,
        seed=None,
        concurrency=8,
        deadline_seconds=30,
        prompt_digest="0",
        versions={},
    )


if __name__ == "__main__":
    main()
