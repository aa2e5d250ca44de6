"""How peers are compared: side by side in one process, in turns, by CPU time; tables and aims.

Every round times every peer once, so that a busy moment of the machine falls on all of them.
A ratio is the median over the rounds of the quotient within a round.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

Rounds: TypeAlias = dict[str, list[float]]
"""For each peer its microseconds of every round."""

_TURN_SECONDS = 0.004
"""How long one peer is timed in one round: far above the clock's grain, far below a busy moment."""


class Work(NamedTuple):
    """What is timed: `function(*given, **named)`."""

    function: Callable[..., Any]
    given: tuple[Any, ...]
    named: Mapping[str, Any] = MappingProxyType({})

    def done(self) -> Any:
        return self.function(*self.given, **self.named)

    def timer(self) -> timeit.Timer:
        """The call written out, so that nothing is timed but what a user would write."""
        names = {f"_{index}": value for index, value in enumerate(self.given)}
        written = ", ".join([*names, *(f"{name}={name}" for name in self.named)])
        names = {"function": self.function, **names, **self.named}
        return timeit.Timer(f"function({written})", timer=time.process_time, globals=names)


class Aim(NamedTuple):
    """What is wanted of a figure, and whether it is so."""

    wanted: str
    found: str
    met: bool


def options(description: str | None, *, rounds: int) -> argparse.ArgumentParser:
    """What all benchmarks are given."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=rounds, help=f"of each peer ({rounds})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit with 1 if an aim is missed")
    return parser


def in_turns(peers: Mapping[str, Work], rounds: int) -> Rounds:
    """Time all peers, each in its turn, the order shifted from round to round."""
    timers = {peer: work.timer() for peer, work in peers.items()}
    loops = {peer: _loops(timer) for peer, timer in timers.items()}
    found: Rounds = {peer: [] for peer in timers}
    order = list(timers)
    for _ in range(rounds):
        gc.collect()
        order.append(order.pop(0))
        for peer in order:
            found[peer].append(timers[peer].timeit(loops[peer]) / loops[peer] * 1e6)
    return found


def _loops(timer: timeit.Timer) -> int:
    """So many that one turn takes its time, once all that is made at first use has been made."""
    timer.timeit(10)
    loops = 10
    while (seconds := timer.timeit(loops)) < _TURN_SECONDS / 4:
        loops *= 4
    return max(1, round(loops * _TURN_SECONDS / seconds))


def process(command: Sequence[str]) -> tuple[dict[str, float], bytes]:
    """Run a command to its end: its seconds, its peak of memory, and what it said.

    A process is counted for no less memory than the one that starts it: keep that one small.
    """
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        said = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    figures = {
        "CPU seconds": used.ru_utime + used.ru_stime,
        "wall seconds": time.perf_counter() - begun,
        "peak MB": used.ru_maxrss / 1024,
    }
    return figures, said


def ratio(found: Rounds, peer: str, to: str) -> float:
    """How many times the time of `to` a peer takes."""
    return median(one / other for one, other in zip(found[peer], found[to], strict=True))


def machine() -> dict[str, str | int]:
    """On what kind of machine this is."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
    }


def print_results(
    given: argparse.Namespace,
    *,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    document: Mapping[str, Any],
    aims: Sequence[Aim] = (),
) -> None:
    """Print the table and what became of the aims, or all of it as JSON; exit 1 if asked to."""
    if given.json:
        whole = {"machine": machine(), **document, "aims": [aim._asdict() for aim in aims]}
        print(json.dumps(whole))
    else:
        print(", ".join(map(str, machine().values())), "core(s)\n")
        print(table(columns, rows))
        for aim in aims:
            print(f"\n{'met' if aim.met else 'MISSED'}: {aim.wanted}; {aim.found}", end="")
        print()
    if given.check and not all(aim.met for aim in aims):
        sys.exit(1)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers to the right, with three digits that count."""
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return "\n".join(_line(row, widths) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = map(str.rjust, row, widths)
    return f"| {first.strip():{widths[0]}} | {' | '.join(others)} |"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return "-" if value is None else str(value)
