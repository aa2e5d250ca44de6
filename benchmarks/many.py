"""`parse_many` in one process beside several: from where workers pay.

    python benchmarks/many.py [--rounds 5] [--workers 2] [--json]

CPU time, because cores that others use say nothing: of the whole in one process, of the process
that collects the results of several, and of these. With free cores the time that passes is the
larger of the collector's and of the workers' share; `gain` is what one process takes divided by
that. What it costs to start a process is below, for each start method.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from statistics import median

from measuring import options, print_results

from tunaeval import parse_many, render
from tunaeval.types.calls import ToolCall

CALL = ToolCall("write_file", {"filepath": "notes/today.md", "content": "one\ntwo", "append": True})
LONG = ToolCall("write_file", {**CALL.arguments, "content": "x = {'a': \"b\"}\n" * 260})

TEXTS = {
    "prose, 1,000 characters": ("hermes", "The file is in the directory. " * 33),
    "hermes, 150 characters": ("hermes", render([CALL], "hermes")),
    "hermes, 4,000 characters": ("hermes", render([LONG], "hermes")),
    "hermes in single quotes": ("hermes", render([CALL], "hermes").replace('"', "'")),
    "qwen3-coder, 200 characters": ("qwen3-coder", render([CALL], "qwen3-coder")),
    "qwen3-coder, 4,000 characters": ("qwen3-coder", render([LONG], "qwen3-coder")),
}
"""A kind of text: the format that reads it, and one of it."""


def main() -> None:
    parser = options(__doc__, rounds=5)
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    given = parser.parse_args()
    rows: list[list[object]] = []
    document: dict[str, dict[str, float]] = {}
    for kind, (format_name, text) in TEXTS.items():
        texts = _enough(text, format_name)
        figures = _measured(texts, format_name, given.workers, given.rounds)
        document[kind] = figures
        rows.append([kind, *figures.values()])
    starts = {method: _start_ms(method) for method in multiprocessing.get_all_start_methods()}
    rows += [
        [f"to start a process by {method}, ms", ms] + [None] * 3 for method, ms in starts.items()
    ]
    print_results(
        given,
        columns=["CPU µs a text", "one process", "collector", "workers, all", "gain"],
        rows=rows,
        document={"kinds": document, "start_ms": starts, "workers": given.workers},
    )


def _enough(text: str, format_name: str) -> list[str]:
    """As many as take about a second."""
    one = _cpu(lambda: parse_many([text] * 200, format_name))[0] / 200
    return [f"{text}\n{number}" for number in range(max(2_000, min(20_000, int(1 / one))))]


def _measured(texts: list[str], format_name: str, workers: int, rounds: int) -> dict[str, float]:
    alone, collector, crew = [], [], []
    assert parse_many(texts[:600], format_name) == parse_many(
        texts[:600], format_name, workers=workers
    )
    for _ in range(rounds):
        alone.append(_cpu(lambda: parse_many(texts, format_name))[0])
        ours, theirs = _cpu(lambda: parse_many(texts, format_name, workers=workers))
        collector.append(ours)
        crew.append(theirs)
    each = [median(seconds) / len(texts) * 1e6 for seconds in (alone, collector, crew)]
    return {
        "alone_us": each[0],
        "collector_us": each[1],
        "workers_us": each[2],
        "gain": each[0] / max(each[1], each[2] / workers),
    }


def _cpu(work: Callable[[], object]) -> tuple[float, float]:
    """The CPU seconds of this process and of those it has started and waited for."""
    before = _used()
    kept = work()
    after = _used()
    del kept
    return after[0] - before[0], after[1] - before[1]


def _used() -> tuple[float, float]:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), children.ru_utime + children.ru_stime


def _start_ms(method: str) -> float:
    """From nothing to the end of a process that had two chunks of next to nothing to read."""
    multiprocessing.set_start_method(method, force=True)
    begun = time.perf_counter()
    parse_many([""] * 300, "hermes", workers=1)
    alone = time.perf_counter() - begun
    begun = time.perf_counter()
    parse_many([""] * 300, "hermes", workers=2)
    return (time.perf_counter() - begun - alone) / 2 * 1e3


if __name__ == "__main__":
    main()
