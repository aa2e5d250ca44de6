"""A run read again by `tunaeval rescore`: seconds, and how its peak of memory grows with the run.

    python benchmarks/rescore.py [--results 200000] [--json] [--check]

A tenth of the results is read first, then all of them, each in a process of its own, measured
from its start to its end. The runs are made up (`made_up.py`), 1.2 KB a result.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from measuring import Aim, options, print_results, process

GROWTH = 1.1
"""Times the peak, for ten times the results; latencies take 8 bytes each."""
MADE_UP = Path(__file__).parent / "made_up.py"


def main() -> None:
    parser = options(__doc__, rounds=1)
    parser.add_argument("--results", type=int, default=200_000, help="of the large run (200000)")
    given = parser.parse_args()
    sizes = (given.results // 10, given.results)
    found = {size: min(_rounds(size, given.rounds), key=_seconds) for size in sizes}
    peaks = [found[size]["peak MB"] for size in sizes]
    growth = peaks[1] / peaks[0]
    print_results(
        given,
        columns=["results", *found[sizes[0]]],
        rows=[[f"{size:,}", *figures.values()] for size, figures in found.items()],
        document={"runs": found, "growth": growth},
        aims=[
            Aim(
                f"ten times the results in at most {GROWTH:g} times the memory",
                f"{growth:.2f} times, {peaks[1] - peaks[0]:.1f} MB more",
                growth <= GROWTH,
            )
        ],
    )


def _rounds(results: int, rounds: int) -> list[dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        process([sys.executable, str(MADE_UP), run, str(results)])
        return [measured(run, f"{folder}/{number}") for number in range(rounds)]


def measured(run: str, out: str) -> dict[str, float]:
    options = ("--level", "strict", "--profile", "strict", "--out", out, "--json")
    figures, said = process([sys.executable, "-m", "tunaeval", "rescore", run, *options])
    results = json.loads(said)["summary"]["scenarios"]
    return {**figures, "µs of CPU a result": figures["CPU seconds"] / results * 1e6}


def _seconds(figures: dict[str, float]) -> float:
    return figures["CPU seconds"]


if __name__ == "__main__":
    main()
