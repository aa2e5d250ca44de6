"""Episodes of six turns against the model endpoint: do all end rightly, and what does a turn cost.

    python benchmarks/episodes.py [--episodes 1000] [--concurrency 64] [--rounds 3]
                                  [--json] [--check]

One endpoint in a process of its own answers by a script: five calls, then an answer that names the
task, which is read from the conversation. Each row runs as many episodes, so many in flight, in
another process, so that CPU and memory are its own:

- the bare loops send the same six requests with httpx2 or aiohttp, put the same results between
  them, and compare the last answer;
- the harness runs them as tasks through `tunaeval.arun`: a workspace made, compared and removed
  for each, tools of a user's run, replies parsed, checks made, results logged, a report.

An episode ends rightly when it has its own answer after exactly six turns. Figures are medians over
the rounds, in which the rows take turns; the endpoint's own CPU is in a column of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

from measuring import Aim, options, print_results

TURNS = 6
HARNESS, LEAST = "tunaeval, whole harness", "aiohttp, bare loop"
TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look at a line of the file.",
        "parameters": {
            "type": "object",
            "properties": {"line": {"type": "integer"}},
            "required": ["line"],
        },
    },
}

Post: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]


class Row(NamedTuple):
    """One way to run the episodes. `ratio` is its CPU to that of the bare aiohttp loop."""

    name: str
    right: int
    cpu_ms: float
    ratio: float | None
    server_ms: float
    wall_ms: float
    peak_mb: float


def look(line: int) -> str:
    """Look at a line of the file."""
    return f"line {line}: x = {line}"


def prompt(number: int) -> str:
    return f"Look at five lines, one after another. This is task {number}."


def answer(number: int) -> str:
    return f"Task {number} is done."


async def episode(post: Post, number: int) -> bool:
    """The six requests of an episode, and whether it ends rightly."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt(number)}]
    for turn in range(1, TURNS + 1):
        reply = await post({"model": "bench", "messages": messages, "tools": [TOOL]})
        message = reply["choices"][0]["message"]
        messages.append(message)
        calls = message.get("tool_calls")
        if not calls:
            return turn == TURNS and message["content"] == answer(number)
        for call in calls:
            result = look(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return False


async def in_flight(post: Post, numbers: range, concurrency: int) -> int:
    """How many of the episodes end rightly."""
    left = iter(numbers)

    async def worker() -> int:
        return sum([await episode(post, number) for number in left])

    return sum(await asyncio.gather(*(worker() for _ in range(concurrency))))


async def bare_httpx2(url: str, numbers: range, concurrency: int) -> int:
    import httpx2

    limits = httpx2.Limits(max_connections=concurrency)
    async with httpx2.AsyncClient(limits=limits, trust_env=False, timeout=60) as client:

        async def post(body: dict[str, Any]) -> Any:
            return (await client.post(f"{url}/chat/completions", json=body)).json()

        return await in_flight(post, numbers, concurrency)


async def bare_aiohttp(url: str, numbers: range, concurrency: int) -> int:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def post(body: dict[str, Any]) -> Any:
            async with session.post(f"{url}/chat/completions", json=body) as response:
                return await response.json()

        return await in_flight(post, numbers, concurrency)


async def harness(url: str, numbers: range, concurrency: int) -> int:
    import tunaeval

    with TemporaryDirectory() as directory:
        report = await tunaeval.arun(
            written(numbers, directory),
            client="openai",
            base_url=url,
            model="bench",
            connections=concurrency,
            concurrency=concurrency,
            environment=tunaeval.Environment(tools=[look]),
            out=directory,
        )
        return sum(one.ok and len(one.attempts) == TURNS for one in report.results)


def written(numbers: range, directory: str) -> str:
    """The path of a suite with as many tasks."""
    rows = [
        {
            "id": f"task-{number}",
            "prompt": prompt(number),
            "task": {
                "files": {"notes.txt": "x = 1"},
                "checks": [{"answer": {"equals": answer(number)}}, {"unchanged": "**"}],
            },
        }
        for number in numbers
    ]
    suite = Path(directory, "episodes.json")
    suite.write_text(json.dumps({"tools": [TOOL], "scenarios": rows}), "utf-8")
    return str(suite)


ROWS: dict[str, tuple[Callable[[str, range, int], Awaitable[int]], tuple[str, ...]]] = {
    HARNESS: (harness, ()),
    LEAST: (bare_aiohttp, ("aiohttp",)),
    "httpx2, bare loop": (bare_httpx2, ()),
}


def serve() -> None:
    """The endpoint: prints its URL, then its CPU seconds for each line that it reads."""
    import tunaeval

    def said(request: tunaeval.ModelRequest) -> tunaeval.ToolCall | str:
        seen = len(request.results)
        if seen < TURNS - 1:
            return tunaeval.ToolCall("look", {"line": seen + 1})
        asked = next(one for one in request.messages if one["role"] == "user")["content"]
        return answer(int(asked.rstrip(".").rsplit(" ", 1)[1]))

    with tunaeval.model_endpoint(said) as model:
        print(model.url, flush=True)
        for _ in sys.stdin:
            print(
                time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True
            )


def measure(name: str, url: str, episodes: int, concurrency: int) -> None:
    """In a process of its own: print how many ended rightly, seconds, and the peak."""
    run, _ = ROWS[name]

    async def measured() -> list[float]:
        await run(url, range(2 * concurrency), concurrency)  # what is imported, and warms up
        cpu, wall = time.process_time(), time.perf_counter()
        right = await run(url, range(episodes), concurrency)
        return [right, time.process_time() - cpu, time.perf_counter() - wall]

    figures = asyncio.run(measured())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux
    print(json.dumps([*figures, peak]))


def compare(episodes: int, concurrency: int, rounds: int) -> tuple[list[Row], float]:
    """All rows whose packages are here, and the endpoint's own peak in MB."""
    asked = ["--episodes", str(episodes), "--concurrency", str(concurrency)]
    found: dict[str, list[list[float]]] = {
        name: [] for name, (_, needs) in ROWS.items() if all(map(find_spec, needs))
    }
    peak = 0.0
    for _ in range(rounds):
        for name, figures in found.items():
            with subprocess.Popen(
                [sys.executable, __file__, "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ) as server:
                assert server.stdin is not None
                assert server.stdout is not None
                url = server.stdout.readline().strip()
                command = [sys.executable, __file__, *asked, "--measure", name, "--url", url]
                said = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
                server.stdin.write("\n")
                server.stdin.flush()
                spent, resident = map(float, server.stdout.readline().split())
                server.stdin.close()
            figures.append([*json.loads(said), spent])
            print(name, *(f"{one:.1f}" for one in figures[-1]), file=sys.stderr, flush=True)
            peak = max(peak, resident / 1024)
    return [
        _row(name, figures, found, episodes, concurrency) for name, figures in found.items()
    ], peak


def _row(
    name: str,
    figures: list[list[float]],
    found: dict[str, list[list[float]]],
    episodes: int,
    concurrency: int,
) -> Row:
    least = found.get(LEAST)
    right = min(one[0] for one in figures)
    cpu, wall, peak, server = (median(one[at] for one in figures) for at in range(1, 5))
    ratios = [one[1] / other[1] for one, other in zip(figures, least or (), strict=bool(least))]
    turns, served = episodes * TURNS, (episodes + 2 * concurrency) * TURNS
    return Row(
        name,
        int(right),
        cpu / turns * 1e3,
        median(ratios) if ratios else None,
        server / served * 1e3,
        wall / turns * 1e3,
        peak,
    )


def main() -> None:
    arguments = options(__doc__, rounds=3)
    arguments.add_argument("--episodes", type=int, default=1000)
    arguments.add_argument("--concurrency", type=int, default=64)
    arguments.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments.add_argument("--measure", help=argparse.SUPPRESS)
    arguments.add_argument("--url", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.serve:
        serve()
    elif given.measure:
        measure(given.measure, given.url, given.episodes, given.concurrency)
    else:
        show(given)


def show(given: argparse.Namespace) -> None:
    rows, peak = compare(given.episodes, given.concurrency, given.rounds)
    least = min(row.right for row in rows)
    title = f"{given.episodes:,} episodes of {TURNS} turns, {given.concurrency} in flight"
    print_results(
        given,
        columns=[
            title, "end rightly", "CPU ms a turn", "times aiohttp", "of the endpoint",
            "wall ms a turn", "peak MB",
        ],
        rows=rows,
        document={"rows": [row._asdict() for row in rows], "endpoint_peak_mb": peak},
        aims=[
            Aim(
                "every episode ends rightly",
                f"{least:,} at the least; the endpoint, which keeps all, had {peak:.0f} MB",
                least == given.episodes,
            )
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
