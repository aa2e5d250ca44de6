"""Measure repair, statistics and the scorer on this machine: a line of JSON for each.

    python benchmarks/selftest.py [repair stats scorer] [--seed S] [--simulations N]

Exit code 1 if one is below its bar. `tunaeval selftest` measures what authors of formats ask of
theirs; these measure what no format changes.
"""

from __future__ import annotations

import argparse
import json

from selftests.repair import repair
from selftests.scorer import scorer
from selftests.stats import stats

from tunaeval.testing.selftest.measured import Extent, subjects

MEASURINGS = {"repair": repair, "stats": stats, "scorer": scorer}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("measuring", nargs="*", help=f"{', '.join(MEASURINGS)} (default: all)")
    parser.add_argument("--format", action="append", default=[], help="for `repair` (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int)
    parser.add_argument("--simulations", type=int)
    asked = parser.parse_args()
    if unknown := [*{*asked.measuring} - MEASURINGS.keys()]:
        parser.error(f"found {unknown[0]!r}; wanted {', '.join(MEASURINGS)}")
    extent = Extent(examples=asked.examples, seed=asked.seed, simulations=asked.simulations)
    fine = True
    for name in asked.measuring or MEASURINGS:
        found = MEASURINGS[name](subjects(asked.format), extent)
        print(json.dumps(found.line()), flush=True)  # the next one may take minutes
        fine = fine and found.ok
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
