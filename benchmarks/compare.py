"""Two runs of 100,000 results compared: seconds of CPU, and the peak of memory.

    python benchmarks/compare.py [--results 100000] [--rounds 1] [--json] [--check]

The runs are made up and written as a run writes them, 1.2 KB a result; a fifth of the
scenarios is answered anew in the second.
The comparison is a process of its own, as `tunaeval compare A B --json` is, and so is measured
whole: start, both readings, the statistics of 20 tools and tags, and the page.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from measuring import Aim, options, told

from tunaeval.harness.directory import RunDirectory
from tunaeval.types import LEVELS
from tunaeval.types.runs import (
    AttemptRecord,
    CallRecord,
    Expectation,
    ExpectedCall,
    LevelResult,
    RunInfo,
    ScenarioResult,
)

SECONDS, MEGABYTES = 10.0, 300.0
TOOLS = ("bash", "glob", "grep", "list_dir", "read_file", "update_file", "web_fetch", "write_file")
TAGS = tuple(f"tag-{number}" for number in range(12))


def main() -> None:
    parser = options(__doc__, rounds=1)
    parser.add_argument("--results", type=int, default=100_000, help="of each run (100000)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = [Path(folder) / name for name in "ab"]
        for number, run in enumerate(runs):
            write_run(run, given.results, anew=0.2 * number)
        rounds = [measured(runs) for _ in range(given.rounds)]
    best = min(rounds, key=lambda found: found["CPU seconds"])
    seconds, megabytes = best["CPU seconds"], best["peak MB"]
    told(
        given,
        columns=["two runs", *best],
        rows=[[f"{given.results:,} results each", *best.values()]],
        document={"results": given.results, "rounds": rounds},
        aims=[
            Aim(f"under {SECONDS:g} s", f"{seconds:.1f} s", seconds < SECONDS),
            Aim(f"under {MEGABYTES:g} MB", f"{megabytes:.0f} MB", megabytes < MEGABYTES),
        ],
    )


def measured(runs: list[Path]) -> dict[str, float]:
    """CPU seconds and peak megabytes of the command; other work on the machine counts little."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "tunaeval", "compare", *map(str, runs), "--json"]
    done = subprocess.run(command, capture_output=True, check=True, env=dict(os.environ))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads(done.stdout)["comparisons"][0]
    return {
        "CPU seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall seconds": time.perf_counter() - started,
        "peak MB": after.ru_maxrss / 1024,
        "flipped": len(told["lost"]) + len(told["gained"]),
        "paired": told["overall"]["scenarios"],
    }


def write_run(path: Path, results: int, *, anew: float) -> None:
    """A run in which 7 of 10 pass, always the same ones but for a share that is drawn `anew`."""
    directory = RunDirectory(path, run_info(path.name, results))
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
