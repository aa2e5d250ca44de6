"""What the pytest plug-in adds to the start of a session that does not use it.

    python benchmarks/pytest_start.py [--rounds 15] [--json] [--check]

Whole processes of `pytest` that collect one test, with the plug-in and without, in turns, with
byte code compiled beforehand. CPU is what the aim is about: other programs disturb it less.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from measuring import Aim, Rounds, options, print_results, ratio
from startup import ROOT, whole_process

MOST_MS = 30.0
BARE, WITH = "pytest", "pytest, with the plug-in"
COMMAND = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
COMMANDS = {BARE: COMMAND, WITH: [*COMMAND, "-p", "tunaeval.testing.pytest_plugin"]}


def started(rounds: int) -> tuple[Rounds, Rounds]:
    """Wall and CPU of both, in turns; the first turn compiles and is left out."""
    walls: Rounds = {name: [] for name in COMMANDS}
    cpus: Rounds = {name: [] for name in COMMANDS}
    with TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "test_it.py").write_text("def test_it(): ...\n")
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        quiet = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
        environment = {**kept, **quiet, "PYTHONPYCACHEPREFIX": str(place / "compiled")}
        for turn in range(rounds + 1):
            for name, command in COMMANDS.items():
                found = whole_process([*command, "--rootdir", directory, directory], environment)
                if turn:
                    walls[name].append(found[0])
                    cpus[name].append(found[1])
    return walls, cpus


def added(times: Rounds) -> float:
    """Milliseconds that the plug-in adds, by the median of pairs."""
    return median(more - less for more, less in zip(times[WITH], times[BARE], strict=True))


def main() -> None:
    given = options(__doc__, rounds=15).parse_args()
    walls, cpus = started(given.rounds)
    rows = [
        (name, median(walls[name]), median(cpus[name]), ratio(cpus, name, BARE))
        for name in COMMANDS
    ]
    aim = Aim(
        f"at most {MOST_MS:g} ms more, in CPU", f"{added(cpus):.1f} ms", added(cpus) <= MOST_MS
    )
    print_results(
        given,
        columns=["whole process", "wall ms", "CPU ms", "times bare (CPU)"],
        rows=rows,
        document={"added_ms": {"wall": added(walls), "cpu": added(cpus)}},
        aims=[aim],
    )


if __name__ == "__main__":
    main()
