"""A matrix beside the runs that it is made of, a cached run beside a replayed one, and memory.

    python benchmarks/matrix.py [--scenarios 250] [--many 2000] [--rounds 5] [--json] [--check]
    python benchmarks/matrix.py --promptfoo node_modules/.bin/promptfoo [--rounds 5] [--json]

An instant server on loopback answers in a process of its own, and each row is measured in another,
after a warm-up, so that CPU and memory are those of the asking process alone. The rows take turns;
figures are medians over the rounds, and a ratio is the median of the ratios within a round.

Four models are asked so many scenarios: by four runs, one after the other, and by one matrix, both
through the public functions, with their directories and reports. Then one model is asked all of
them once more: from a cache that has every reply, and from a recording (`client="replay"`) of the
same replies. Last, a matrix of four models and `--many` scenarios says how memory grows.

With `--promptfoo` a newcomer's question is timed instead: three models, two system prompts and
twelve scenarios, by one command of each tool, eight requests at a time, with a page of the results.
Seconds and CPU are those of the whole process and its children. Both have to pass all 72.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

from measuring import Aim, options, print_results
from throughput import SERVER, SYSTEM, TOOLS

MODELS = ("bench-1", "bench-2", "bench-3", "bench-4")
FOUR, MATRIX, CACHED, REPLAYED, LARGE = (
    "four runs", "a matrix of four models", "a run from the cache", "a run from a recording",
    "a matrix of many scenarios",
)  # fmt: skip
MOST_OF_RUNS, MOST_OF_REPLAY, MOST_MEMORY = 1.1, 1.3, 1.1

Work: TypeAlias = Callable[[], Awaitable[None]]


class Row(NamedTuple):
    """One way to ask, measured. `ratio` is its CPU to that of the row that it is compared with."""

    way: str
    results: int
    cpu_ms: float
    ratio: float | None
    peak_mb: float


def suite_file(folder: Path, scenarios: int) -> Path:
    """A suite of scenarios that the one reply of the server answers rightly."""
    path = folder / f"suite-{scenarios}.json"
    rows = [
        {
            "id": f"s{number}",
            "prompt": f"Show me src/main.py. (This is question {number}.)",
            "expected_tool": "read_file",
            "expected_args": {"filepath": "src/main.py"},
        }
        for number in range(scenarios)
    ]
    suite = {"name": "bench", "system_prompt": SYSTEM, "tools": TOOLS, "scenarios": rows}
    path.write_text(json.dumps(suite))
    return path


async def prepared(way: str, address: str, folder: Path, scenarios: int) -> Work:
    """What is measured of a row, with all files that it needs."""
    import tunaeval
    from tunaeval.clients.replay import write_recording

    suite = tunaeval.load_suite(suite_file(folder, scenarios))
    out, cache, recording = folder / "runs", folder / "cache", folder / f"{scenarios}.jsonl"
    asked: dict[str, Any] = {"client": "openai", "base_url": address, "out": out}

    async def runs() -> None:
        for model in MODELS:
            report = await tunaeval.arun(suite, model=model, **asked)
            assert report.passed == scenarios

    async def matrix() -> None:
        settings = {**asked, "base_urls": asked["base_url"]}
        del settings["base_url"]
        found = await tunaeval.arun_matrix(suite, models=MODELS, **settings)
        assert [report.passed for report in found.cells] == [scenarios] * len(MODELS)

    async def cached() -> None:
        report = await tunaeval.arun(suite, model=MODELS[0], cache=cache, **asked)
        assert report.passed == scenarios

    async def replayed() -> None:
        report = await tunaeval.arun(suite, client="replay", path=recording, out=out)
        assert report.passed == scenarios

    if way == CACHED:
        await cached()  # the first time asks
    if way == REPLAYED:
        first = await tunaeval.arun(suite, model=MODELS[0], **asked)
        write_recording(recording, first.run, first.results)
    return {FOUR: runs, MATRIX: matrix, LARGE: matrix, CACHED: cached, REPLAYED: replayed}[way]


def measure(way: str, port: str, scenarios: int) -> None:
    """In a process of its own: print CPU seconds and the peak in megabytes as JSON."""

    async def measured() -> float:
        with TemporaryDirectory() as place:
            address = f"http://127.0.0.1:{port}/v1"
            warm_up = await prepared(way, address, Path(place), 32)
            work = await prepared(way, address, Path(place), scenarios)
            await warm_up()
            began = time.process_time()
            await work()
            return time.process_time() - began

    seconds = asyncio.run(measured())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux
    print(json.dumps([seconds, peak]))


def compare(scenarios: int, many: int, rounds: int) -> list[Row]:
    """All rows, the medians of their rounds; the large matrix is made once."""
    four = len(MODELS) * scenarios
    sizes = {FOUR: scenarios, MATRIX: scenarios, CACHED: four, REPLAYED: four}
    found: dict[str, list[list[float]]] = {way: [] for way in (*sizes, LARGE)}
    with subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()

        def once(way: str, size: int) -> None:
            command = [sys.executable, __file__, "--scenarios", str(size)]
            command += ["--measure", way, "--port", port]
            said = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            found[way].append(json.loads(said))

        for _ in range(rounds):
            for way, size in sizes.items():
                once(way, size)
        once(LARGE, many)
        server.communicate()  # closes its standard input, at which it ends
    beside = {MATRIX: FOUR, CACHED: REPLAYED}
    return [
        _row(way, len(MODELS) * many if way == LARGE else four, found[way], found.get(other))
        for way, other in ((way, beside.get(way, "")) for way in found)
    ]


def _row(way: str, results: int, figures: list[list[float]], to: list[list[float]] | None) -> Row:
    cpu, peak = map(median, zip(*figures, strict=True))
    ratios = [one[0] / other[0] for one, other in zip(figures, to, strict=True)] if to else []
    return Row(way, results, cpu / results * 1e3, median(ratios) if ratios else None, peak)


class Asked(NamedTuple):
    """One command that compares three models with two prompts, measured."""

    tool: str
    passed: int
    seconds: float
    cpu_seconds: float


PROMPTS = {"terse": "Call the right tool.", "kind": "Be kind, and call the right tool."}


def beside_promptfoo(promptfoo: Path, rounds: int) -> list[Asked]:
    """Each command in turn, against the same server; medians of the rounds behind the first."""
    found: dict[str, list[Asked]] = {"tunaeval": [], "promptfoo": []}
    with (
        TemporaryDirectory() as place,
        subprocess.Popen(
            [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server,
    ):
        assert server.stdout is not None
        folder, address = Path(place), f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        commands = {
            "tunaeval": ours(folder, address),
            "promptfoo": [str(promptfoo.absolute()), *theirs(folder, address)],
        }
        for _ in range(rounds + 1):
            for tool, command in commands.items():
                found[tool].append(timed(tool, command, folder))
        server.communicate()
    return [
        Asked(tool, rows[0].passed, *map(median, zip(*(row[2:] for row in rows[1:]), strict=True)))
        for tool, rows in found.items()
    ]


def ours(folder: Path, address: str) -> list[str]:
    for name, text in PROMPTS.items():
        (folder / f"{name}.md").write_text(text)
    models = [part for model in MODELS[:3] for part in ("--model", model)]
    prompts = [part for name in PROMPTS for part in ("--system-prompt", f"{name}.md")]
    suite = suite_file(folder, 12).name
    return [
        sys.executable, "-m", "tunaeval", "run", "--suite", suite, "--base-url", address, *models,
        *prompts, "--report", "page.html", "--quiet", "--json", "--concurrency", "8",
    ]  # fmt: skip


def theirs(folder: Path, address: str) -> list[str]:
    rows = json.loads(suite_file(folder, 12).read_text())["scenarios"]
    # promptfoo reads no calls from text; a newcomer writes this for each question.
    check = (
        "(call => call.name === 'read_file' && call.arguments.filepath === 'src/main.py')"
        "(JSON.parse(output.split('tool_call>')[1].slice(0, -2)))"
    )
    config = {
        "prompts": [
            json.dumps(
                [
                    {"role": "system", "content": text},
                    {"role": "user", "content": "{{question}}"},
                ]
            )
            for text in PROMPTS.values()
        ],
        "providers": [
            {
                "id": f"openai:chat:{model}",
                "config": {
                    "apiBaseUrl": address,
                    "apiKey": "none",
                    "max_tokens": 300,
                    "tools": TOOLS,
                },
            }
            for model in MODELS[:3]
        ],
        "tests": [
            {
                "vars": {"question": row["prompt"]},
                "assert": [{"type": "javascript", "value": check}],
            }
            for row in rows
        ],
    }
    (folder / "promptfooconfig.json").write_text(json.dumps(config))
    return [
        "eval", "--config", "promptfooconfig.json", "--no-cache", "--no-progress-bar", "--no-table",
        "--max-concurrency", "8", "--output", "page.html", "--output", "found.json",
    ]  # fmt: skip


def timed(tool: str, command: list[str], folder: Path) -> Asked:
    """Run the command, and count what passed."""
    quiet = {f"PROMPTFOO_DISABLE_{name}": "1" for name in ("TELEMETRY", "UPDATE", "SHARING")}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **quiet, "HOME": str(folder)},
    )  # fmt: skip
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        if tool == "tunaeval":
            cells = json.loads(done.stdout)["cells"]
            passed = sum(cell["summary"]["final"]["passed"] for cell in cells)
        else:
            stats = json.loads((folder / "found.json").read_text())["results"]["stats"]
            passed = stats["successes"]
    except (KeyError, ValueError, OSError):
        raise SystemExit(f"{tool} exited with {done.returncode}: {done.stderr[-2000:]}") from None
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Asked(tool, passed, seconds, cpu)


def aims(rows: list[Row]) -> list[Aim]:
    by_way = {row.way: row for row in rows}
    matrix, cached = by_way[MATRIX].ratio or 0.0, by_way[CACHED].ratio or 0.0
    memory = by_way[LARGE].peak_mb / by_way[MATRIX].peak_mb
    return [
        Aim(f"a matrix at most {MOST_OF_RUNS} times the CPU of its runs", f"{matrix:.2f} times",
            matrix <= MOST_OF_RUNS),
        Aim(f"a cached run at most {MOST_OF_REPLAY} times the CPU of a replayed one",
            f"{cached:.2f} times", cached <= MOST_OF_REPLAY),
        Aim(f"a matrix of many scenarios at most {MOST_MEMORY} times the memory",
            f"{memory:.2f} times", memory <= MOST_MEMORY),
    ]  # fmt: skip


def main() -> None:
    arguments = options(__doc__, rounds=5)
    arguments.add_argument("--scenarios", type=int, default=250, help="of each model (250)")
    arguments.add_argument("--many", type=int, default=2000, help="for the memory (2000)")
    arguments.add_argument("--promptfoo", type=Path, help="its command, to be timed beside ours")
    arguments.add_argument("--measure", help=argparse.SUPPRESS)
    arguments.add_argument("--port", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.measure:
        measure(given.measure, given.port, given.scenarios)
    elif given.promptfoo:
        asked = beside_promptfoo(given.promptfoo, given.rounds)
        print_results(
            given,
            columns=["tool", "passed", "seconds", "CPU seconds"],
            rows=asked,
            document={"rows": [row._asdict() for row in asked]},
            aims=[],
        )
    else:
        rows = compare(given.scenarios, given.many, given.rounds)
        print_results(
            given,
            columns=["way to ask", "results", "CPU ms each", "times the other", "peak MB"],
            rows=rows,
            document={"rows": [row._asdict() for row in rows]},
            aims=aims(rows),
        )


if __name__ == "__main__":
    main()
