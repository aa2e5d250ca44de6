"""A writer: the scenarios that took longest, as a short text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tunaeval.types.runs import Report


@dataclass(frozen=True, slots=True)
class Slowest:
    """Writes the `most` results with the longest latency, the slowest first, a line each.

    A result that got no answer has no latency and is left out.
    """

    most: int = 10
    name: str = "acme-slowest"

    def write(self, report: Report, path: Path) -> None:
        timed = [
            (one.latency_seconds, one.scenario)
            for one in report.results
            if one.latency_seconds is not None
        ]
        lines = [f"{seconds:8.2f} s  {name}\n" for seconds, name in sorted(timed, reverse=True)]
        path.write_text("".join(lines[: self.most]), "utf-8")


SLOWEST = Slowest()
