"""The explanation that pytest shows when a comparison of calls with an expectation fails."""

from __future__ import annotations

import sys


def compared(left: object, right: object) -> list[str] | None:
    """Return the lines of the explanation; None if neither side is an expectation."""
    expecting = sys.modules.get("tunaeval.api.matching")
    if expecting is None:  # without the module there are no expectations
        return None
    for expected, calls in ((right, left), (left, right)):
        if isinstance(expected, expecting.Expected):
            return [f"calls == {expected!r}", *expected.explain(calls)]
    return None
