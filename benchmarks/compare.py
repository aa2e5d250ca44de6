"""Two runs of 100,000 results compared: seconds, and the peak of memory.

    python benchmarks/compare.py [--results 100000] [--rounds 1] [--json] [--check]

The runs are made up (`made_up.py`); a fifth of the scenarios is answered anew in the second.
The comparison is a process of its own, as `tunaeval compare A B --json` is, and so is measured
whole: start, both readings, the statistics of 20 tools and tags, and the page.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from measuring import Aim, options, print_results, process

SECONDS, MEGABYTES = 10.0, 300.0
MADE_UP = Path(__file__).parent / "made_up.py"


def main() -> None:
    parser = options(__doc__, rounds=1)
    parser.add_argument("--results", type=int, default=100_000, help="of each run (100000)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = [str(Path(folder) / name) for name in "ab"]
        for run, anew in zip(runs, ("0", "0.2"), strict=True):
            process([sys.executable, str(MADE_UP), run, str(given.results), "--anew", anew])
        rounds = [measured(runs) for _ in range(given.rounds)]
    best = min(rounds, key=lambda found: found["wall seconds"])
    seconds, megabytes = best["wall seconds"], best["peak MB"]
    print_results(
        given,
        columns=["two runs", *best],
        rows=[[f"{given.results:,} results each", *best.values()]],
        document={"results": given.results, "rounds": rounds},
        aims=[
            Aim(f"under {SECONDS:g} s, on a quiet machine", f"{seconds:.1f} s", seconds < SECONDS),
            Aim(f"under {MEGABYTES:g} MB", f"{megabytes:.0f} MB", megabytes < MEGABYTES),
        ],
    )


def measured(runs: list[str]) -> dict[str, float]:
    figures, said = process([sys.executable, "-m", "tunaeval", "compare", *runs, "--json"])
    compared = json.loads(said)["comparisons"][0]
    flipped = len(compared["lost"]) + len(compared["gained"])
    return {**figures, "flipped": flipped, "paired": compared["overall"]["scenarios"]}


if __name__ == "__main__":
    main()
