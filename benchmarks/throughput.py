"""CPU per request and peak memory at 64 in flight: HTTP clients, and the whole harness.

    python benchmarks/throughput.py [--requests 2000] [--concurrency 64] [--rounds 3]
                                    [--json] [--check]

An instant server (raw asyncio, canned reply with a Qwen-style call) runs in a process of its own,
each row in another, so that memory is its own; CPU is the asking process's alone, measured after
a warm-up. Figures are medians over the rounds, in which the rows take turns. The harness runs so
many generated scenarios through `tunaeval.arun`: prompts made, replies parsed and matched, results
logged to a run directory, a report made. All rows send the same tools and system prompt. aiohttp
takes part when it is installed (`pip install 'tunaeval[bench]'`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from measuring import Aim, options, print_results

if TYPE_CHECKING:
    from tunaeval.types.runs import Suite

SERVER = Path(__file__).with_name("instant_server.py")
HARNESS, BARE, LEAST = "tunaeval, whole harness", "httpx2, bare loop", "aiohttp, bare loop"
MOST_CPU_MS, MOST_TIMES, MOST_MB = 1.2, 2.7, 90.0

Ask: TypeAlias = Callable[[], Awaitable[object]]

SYSTEM = "You call tools. " * 50
MESSAGES = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": "Show me src/main.py."},
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "What this tool is for, in a sentence or two.",
            "parameters": {
                "type": "object",
                "properties": {"filepath": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["filepath"],
            },
        },
    }
    for name in ("read_file", *(f"tool_{number}" for number in range(7)))
]
PAYLOAD = {"model": "bench", "messages": MESSAGES, "max_tokens": 300, "tools": TOOLS}


class Row(NamedTuple):
    """One client, measured. `ratio` is its CPU to that of the bare aiohttp loop, where that is."""

    client: str
    cpu_ms: float
    ratio: float | None
    wall_ms: float
    peak_mb: float


@asynccontextmanager
async def ours(address: str, concurrency: int) -> AsyncIterator[Ask]:
    from tunaeval.clients.openai import OpenAIClient
    from tunaeval.types.exchange import Request

    client = OpenAIClient(base_url=address, model="bench", connections=concurrency)
    request = Request(messages=MESSAGES, tools=TOOLS)
    yield lambda: client.complete(request)
    await client.close()


@asynccontextmanager
async def bare_httpx2(address: str, concurrency: int) -> AsyncIterator[Ask]:
    import httpx2

    limits = httpx2.Limits(max_connections=concurrency)
    async with httpx2.AsyncClient(limits=limits, trust_env=False) as client:

        async def ask() -> Any:
            return (await client.post(f"{address}/chat/completions", json=PAYLOAD)).json()

        yield ask


@asynccontextmanager
async def bare_aiohttp(address: str, concurrency: int) -> AsyncIterator[Ask]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask() -> Any:
            async with session.post(f"{address}/chat/completions", json=PAYLOAD) as response:
                return await response.json()

        yield ask


async def hammer(
    open_client: Callable[..., Any], address: str, requests: int, concurrency: int
) -> tuple[float, float]:
    """CPU and wall seconds of so many requests."""
    async with open_client(address, concurrency) as ask:
        warm_up, measured = iter(range(2 * concurrency)), iter(range(requests))

        async def worker(numbers: Any) -> None:
            for _ in numbers:
                await ask()

        await asyncio.gather(*(worker(warm_up) for _ in range(concurrency)))
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.gather(*(worker(measured) for _ in range(concurrency)))
        return time.process_time() - cpu, time.perf_counter() - wall


def over(open_client: Callable[..., Any]) -> Callable[..., tuple[float, float]]:
    """A row that is a loop over one client."""
    return lambda *options: asyncio.run(hammer(open_client, *options))


def harness(address: str, scenarios: int, concurrency: int) -> tuple[float, float]:
    """CPU and wall seconds of a whole run, its directory and its report."""
    import tunaeval

    async def measured(directory: str) -> tuple[float, float]:
        async def run(suite: Suite) -> None:
            report = await tunaeval.arun(
                suite,
                client="openai",
                base_url=address,
                model="bench",
                connections=concurrency,
                concurrency=concurrency,
                out=directory,
            )
            assert report.passed == len(suite.scenarios)

        warm_up, suite = generated(2 * concurrency), generated(scenarios)
        await run(warm_up)
        cpu, wall = time.process_time(), time.perf_counter()
        await run(suite)
        return time.process_time() - cpu, time.perf_counter() - wall

    with TemporaryDirectory() as directory:
        return asyncio.run(measured(directory))


def generated(scenarios: int) -> Suite:
    """As many scenarios, each with a prompt of its own, all answered rightly by the one reply."""
    import tunaeval
    from tunaeval.types.runs import Expectation, ExpectedCall, Scenario, Suite

    call = ExpectedCall(name="read_file", arguments={"filepath": "src/main.py"})
    return Suite(
        name="generated",
        scenarios=tuple(
            Scenario(
                id=f"generated-{number}",
                prompt=f"Show me src/main.py. (This is question {number}.)",
                expect=Expectation(calls=(call,)),
                tags=("generated",),
            )
            for number in range(scenarios)
        ),
        tools=tunaeval.to_tools(TOOLS) or tunaeval.Tools(),
        system_prompt=SYSTEM,
    )


# Each measures (address, requests, concurrency) -> CPU and wall seconds; and what it needs.
ROWS: dict[str, tuple[Callable[..., tuple[float, float]], tuple[str, ...]]] = {
    HARNESS: (harness, ()),
    "tunaeval, client alone": (over(ours), ()),
    BARE: (over(bare_httpx2), ("httpx2",)),
    LEAST: (over(bare_aiohttp), ("aiohttp",)),
}


def measure(name: str, port: str, requests: int, concurrency: int) -> None:
    """In a process of its own: print CPU and wall milliseconds and the peak as JSON."""
    run, _ = ROWS[name]
    cpu, wall = run(f"http://127.0.0.1:{port}/v1", requests, concurrency)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux
    print(json.dumps([cpu / requests * 1e3, wall / requests * 1e3, peak]))


def compare(requests: int, concurrency: int, rounds: int) -> list[Row]:
    """All rows whose packages are here, the medians of their rounds."""
    measuring = [sys.executable, __file__, "--requests", str(requests)]
    measuring += ["--concurrency", str(concurrency)]
    found: dict[str, list[list[float]]] = {
        name: [] for name, (_, needs) in ROWS.items() if all(map(find_spec, needs))
    }
    with subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        for _ in range(rounds):
            for name, figures in found.items():
                command = [*measuring, "--measure", name, "--port", port]
                output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
                figures.append(json.loads(output))
        server.communicate()  # closes its standard input, at which it ends
    return [_row(name, figures, found.get(LEAST)) for name, figures in found.items()]


def _row(name: str, figures: list[list[float]], least: list[list[float]] | None) -> Row:
    cpu, wall, peak = map(median, zip(*figures, strict=True))
    pairs = zip(figures, least or (), strict=least is not None)
    ratios = [one[0] / other[0] for one, other in pairs]
    return Row(name, cpu, median(ratios) if ratios else None, wall, peak)


def aims(rows: list[Row]) -> list[Aim]:
    row = next(row for row in rows if row.client == HARNESS)
    beside = (
        ()
        if row.ratio is None
        else (
            Aim(
                f"at most {MOST_TIMES} times the CPU of a bare aiohttp loop",
                f"{row.ratio:.2f} times",
                row.ratio <= MOST_TIMES,
            ),
        )
    )
    return [
        *beside,
        Aim(
            f"at most {MOST_CPU_MS} ms of CPU a scenario, logging included",
            f"{row.cpu_ms:.2f} ms",
            row.cpu_ms <= MOST_CPU_MS,
        ),
        Aim(f"under {MOST_MB:.0f} MB at the peak", f"{row.peak_mb:.0f} MB", row.peak_mb < MOST_MB),
    ]


def main() -> None:
    arguments = options(__doc__, rounds=3)
    arguments.add_argument("--requests", type=int, default=2000)
    arguments.add_argument("--concurrency", type=int, default=64)
    arguments.add_argument("--measure", help=argparse.SUPPRESS)
    arguments.add_argument("--port", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.measure:
        measure(given.measure, given.port, given.requests, given.concurrency)
    else:
        rows = compare(given.requests, given.concurrency, given.rounds)
        title = f"{given.requests:,} requests, {given.concurrency} in flight"
        print_results(
            given,
            columns=[title, "CPU ms each", "times aiohttp", "wall ms each", "peak MB"],
            rows=rows,
            document={
                "requests": given.requests,
                "concurrency": given.concurrency,
                "rows": [row._asdict() for row in rows],
            },
            aims=aims(rows),
        )


if __name__ == "__main__":
    main()
