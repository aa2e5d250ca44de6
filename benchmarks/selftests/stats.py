"""Statistics measured: how often intervals cover the truth, and tests raise false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt
from random import Random

from tunaeval.testing.selftest.measured import USUAL, Extent, Measured, MeasuredFault, Subject
from tunaeval.types.calls import JsonObject

from .cells import Cell, cells

SIMULATIONS = 10_000
"""Made-up evaluations in each cell, where none is given."""

_NOISE = 4
"""Standard errors of a share that are taken for the simulation's own noise."""


def stats(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Make up evaluations whose truth is known, and see what intervals and tests say of them.

    The bar: a 95 % interval covers the truth in 93 to 97 of 100, or as near to 95 as counts allow;
    the exact interval in 95 at least; a test at 5 % raises a false alarm in 5 at most; what is said
    to be found in 80 of 100 is found in 75 to 85. Below 10,000 simulations the noise of the
    simulation itself is allowed for.
    """
    del subjects  # this is not about parsers
    count = extent.simulations or SIMULATIONS
    rows: list[JsonObject] = []
    faults: list[MeasuredFault] = []
    for number, cell in enumerate(cells()):
        share = _share(cell, count, Random(f"{extent.seed}/{number}"))
        low, high = _bar(cell, count)
        wanted = [round(low, 4), round(high, 4)]
        rows.append(
            {"method": cell.method, "setting": cell.setting, "share": share, "wanted": wanted}
        )
        if not low <= share <= high:
            detail = f"{share:.4f} of {count}, wanted {low:.4f} to {high:.4f}"
            faults.append(MeasuredFault("", cell.method, cell.setting, detail))
    figures = {"simulations": count, "seed": extent.seed, "cells": rows}
    return Measured("stats", figures, tuple(faults))


def _share(cell: Cell, count: int, chance: Random) -> float:
    """How often the method hits in the cell."""
    hit = cache(cell.hit)
    return sum(hit(*cell.draw(chance)) for _ in range(count)) / count


def _bar(cell: Cell, count: int) -> tuple[float, float]:
    noise = _NOISE if cell.exact or count < SIMULATIONS else 0
    low, high = (noise * sqrt(edge * (1 - edge) / count) for edge in (cell.low, cell.high))
    return cell.low - low, cell.high + high
