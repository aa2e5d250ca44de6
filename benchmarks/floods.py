"""Texts that make careless readers slow: 100 kB of every family of them, in every format.

    python benchmarks/floods.py [--format NAME ...] [--size 100000] [--json]

The families are those of `tunaeval selftest linear`: a short piece again and again, alone and in
the midst of a call, with fixed texts of the format and calls whole and cut. Each text is read once
with tools; one that is over the aim is read again, and the less counts. A row for each format: how
many families there are, how many take longer than the aim, the median, and the slowest.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from statistics import median
from typing import NamedTuple

from measuring import Aim, options, print_results

from tunaeval.testing.selftest.growth import Flood, floods_of
from tunaeval.testing.selftest.measured import Subject, subjects
from tunaeval.testing.selftest.texts import TOOLS

AIM_MS = 50.0


class Row(NamedTuple):
    """What one format takes for all of its families."""

    name: str
    families: int
    over: int
    median_ms: float
    slowest_ms: float
    slowest: str


def main() -> None:
    parser = options(__doc__, rounds=1)
    parser.add_argument("--format", action="append", help="only this one; may be repeated (all)")
    parser.add_argument("--size", type=int, default=100_000, help="characters (100,000)")
    given = parser.parse_args()
    rows = list(measured(subjects(given.format or ()), given.size))
    columns = ["format", "families", f"over {AIM_MS:g} ms", "median ms", "slowest ms", "slowest"]
    document = {"size": given.size, "rows": [dict(zip(columns, row, strict=True)) for row in rows]}
    families, over = sum(row.families for row in rows), sum(row.over for row in rows)
    found = f"{over} of {families} take longer"
    aim = Aim(f"every family in at most {AIM_MS:g} ms", found, not over)
    print_results(given, columns=columns, rows=rows, document=document, aims=[aim])


def measured(chosen: Iterable[Subject], size: int) -> Iterator[Row]:
    for subject in chosen:
        found = [(milliseconds(subject, flood, size), flood) for flood in floods_of(subject.forms)]
        over = sum(spent > AIM_MS for spent, _ in found)
        slowest, flood = max(found, key=lambda pair: pair[0])
        middle = median(spent for spent, _ in found)
        yield Row(subject.name, len(found), over, middle, slowest, f"{flood.name:.60}")


def milliseconds(subject: Subject, flood: Flood, size: int) -> float:
    """CPU time of one reading, of two if the first took long."""
    text = flood.text(size)
    spent = once(subject, text)
    return min(spent, once(subject, text)) if spent > AIM_MS else spent


def once(subject: Subject, text: str) -> float:
    begun = time.process_time()
    subject.parser.parse(text, tools=TOOLS)
    return (time.process_time() - begun) * 1e3


if __name__ == "__main__":
    main()
