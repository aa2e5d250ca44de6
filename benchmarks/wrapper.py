"""What recording a tool costs a call: bare, a minimal closure, ours (for a recorder and for a
session), OpenTelemetry's SDK.

    python benchmarks/wrapper.py [--rounds 60] [--json] [--check] [--calls 1000000]

Tools of four kinds, each called alike through every wrapper, in turns. The minimal closure looks
twice at the clock, catches what is raised and appends a tuple to a bounded deque, as ours does;
it does not judge results, name arguments, know of calls, or survive a failing recorder.
OpenTelemetry's `start_as_current_span` sets two attributes (the tool's name, the arguments as
JSON) and exports to memory, which is emptied between rounds; it takes part when its package is
installed. What a wrapper adds is the median over the rounds of its time less the bare one's.

At last, how much memory `--calls` wrapped calls leave behind, in the bounded recorder.
"""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections import deque
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

from measuring import Aim, Rounds, Work, in_turns, options, print_results, ratio

import tunaeval

BARE, CLOSURE, OURS, OTEL = "bare", "minimal closure", "tunaeval", "OpenTelemetry SDK"
SESSION = "tunaeval, in a session"
MOST = {"function": 1.5, "coroutine function": 2.5}
"""Microseconds that a call may cost more than the bare one, on a quiet core."""
MOST_GROWTH = 100_000
"""Bytes by which a full recorder may grow."""
AWAITS = 100
"""Calls in one `await`ed work: an event loop is not started for each."""

TEXT = "12 files were found in the directory"

Tool = Callable[..., Any]


def nothing(path: str, limit: int = 3) -> None:
    """A tool without a result."""


def text(path: str, limit: int = 3) -> str:
    """A tool with a text."""
    return TEXT if path and limit else ""


def fields(path: str, limit: int = 3) -> dict[str, Any]:
    """A tool with an object."""
    return {"ok": path != "", "count": limit}


async def later(path: str, limit: int = 3) -> str:
    """A tool that is awaited."""
    return TEXT if path and limit else ""


TOOLS = {
    "function, returns None": nothing,
    "function, returns a text": text,
    "function, returns a dict": fields,
    "coroutine function": later,
}


def closure(tool: Tool) -> Tool:
    kept: deque[tuple[Any, ...]] = deque(maxlen=10_000)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        begun = perf_counter()
        try:
            result = tool(*args, **kwargs)
        except BaseException as error:
            kept.append((args, kwargs, perf_counter() - begun, error))
            raise
        kept.append((args, kwargs, perf_counter() - begun, None))
        return result

    return wrapper


def awaited_closure(tool: Tool) -> Tool:
    kept: deque[tuple[Any, ...]] = deque(maxlen=10_000)

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        begun = perf_counter()
        try:
            result = await tool(*args, **kwargs)
        except BaseException as error:
            kept.append((args, kwargs, perf_counter() - begun, error))
            raise
        kept.append((args, kwargs, perf_counter() - begun, None))
        return result

    return wrapper


def ours(tool: Tool) -> Tool:
    return tunaeval.wrap_tool(tool, tunaeval.Recorder())


@cache
def session() -> tunaeval.ScoringSession:
    """One that is open from its first use on."""
    return tunaeval.scoring_session("What does it cost?").__enter__()


def in_a_session(tool: Tool) -> Tool:
    return session().wrap(tool)


def tracer() -> tuple[Any, Any]:
    """OpenTelemetry's tracer, and the exporter that it fills."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("tools"), exporter


def spanned(spans: Any) -> Callable[[Tool], Tool]:
    def traced(tool: Tool) -> Tool:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with spans.start_as_current_span(tool.__name__) as span:
                span.set_attribute("gen_ai.tool.name", tool.__name__)
                span.set_attribute("gen_ai.tool.call.arguments", json.dumps([args, kwargs]))
                return tool(*args, **kwargs)

        return wrapper

    return traced


def awaited_spanned(spans: Any) -> Callable[[Tool], Tool]:
    def traced(tool: Tool) -> Tool:
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            with spans.start_as_current_span(tool.__name__) as span:
                span.set_attribute("gen_ai.tool.name", tool.__name__)
                span.set_attribute("gen_ai.tool.call.arguments", json.dumps([args, kwargs]))
                return await tool(*args, **kwargs)

        return wrapper

    return traced


def run_all(tool: Tool) -> None:
    """Many awaits, without a loop: the tool waits for nothing."""

    async def many() -> None:
        for _ in range(AWAITS):
            await tool("src/main.py", limit=2)

    try:
        many().send(None)
    except StopIteration:
        return


def works(kind: str, spans: Any) -> dict[str, Work]:
    tool: Tool = TOOLS[kind]
    is_awaited = asyncio.iscoroutinefunction(tool)
    wraps: dict[str, Callable[[Tool], Tool]] = {
        BARE: lambda tool: tool,
        CLOSURE: awaited_closure if is_awaited else closure,
        OURS: ours,
        SESSION: in_a_session,
    }
    if spans is not None:
        wraps[OTEL] = awaited_spanned(spans) if is_awaited else spanned(spans)
    if is_awaited:
        return {peer: Work(run_all, (wrap(tool),)) for peer, wrap in wraps.items()}
    return {peer: Work(wrap(tool), ("src/main.py",), {"limit": 2}) for peer, wrap in wraps.items()}


def measured(kind: str, spans: Any, exporter: Any, rounds: int) -> Rounds:
    """Microseconds a call; OpenTelemetry's memory is emptied now and then."""
    peers = works(kind, spans)
    found: Rounds = {peer: [] for peer in peers}
    for _ in range(max(1, rounds // 5)):
        for peer, times in in_turns(peers, 5).items():
            calls = AWAITS if peers[peer].function is run_all else 1
            found[peer] += [time / calls for time in times]
        if exporter is not None:
            exporter.clear()
    return found


def added(found: Rounds, peer: str) -> float:
    return median(one - bare for one, bare in zip(found[peer], found[BARE], strict=True))


def growth(calls: int) -> int:
    """Bytes that so many calls leave behind, once the recorder is full."""
    recorder = tunaeval.Recorder()
    tool = tunaeval.wrap_tool(text, recorder)

    def fill(count: int) -> None:
        for number in range(count):
            tool(f"file {number % 100_000:06}", limit=2)

    fill(2 * recorder.limit)
    tracemalloc.start()
    fill(2 * recorder.limit)  # from here on, what is kept was counted when it was made
    before, _ = tracemalloc.get_traced_memory()
    fill(calls)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before


def aims(found: dict[str, Rounds], grown: int, calls: int) -> list[Aim]:
    aims = []
    for kind, times in found.items():
        most = MOST[kind.partition(",")[0]]
        more = added(times, OURS)
        best = min(times[OURS]) - min(times[BARE])
        aims.append(
            Aim(
                f"{kind}: at most {most} µs over the bare one",
                f"{best:.2f} µs in the quietest round, {more:.2f} µs in the median",
                best <= most,
            )
        )
    wanted = f"{calls:,} calls leave at most {MOST_GROWTH:,} bytes behind"
    return [*aims, Aim(wanted, f"{grown:,} bytes", grown <= MOST_GROWTH)]


def main() -> None:
    arguments = options(__doc__, rounds=60)
    arguments.add_argument("--calls", type=int, default=1_000_000)
    given = arguments.parse_args()
    spans, exporter = tracer() if find_spec("opentelemetry.sdk") else (None, None)
    found = {kind: measured(kind, spans, exporter, given.rounds) for kind in TOOLS}
    grown = growth(given.calls)
    rows = [
        [
            f"{kind}: {peer}",
            min(times[peer]),
            median(times[peer]),
            added(times, peer),
            ratio(times, peer, CLOSURE),
        ]
        for kind, times in found.items()
        for peer in times
    ]
    columns = ["µs of CPU a call", "quietest round", "median", "over bare", "times the closure"]
    print_results(
        given,
        columns=columns,
        rows=rows,
        document={"rows": rows, "calls": given.calls, "grown_bytes": grown},
        aims=aims(found, grown, given.calls),
    )


if __name__ == "__main__":
    main()
