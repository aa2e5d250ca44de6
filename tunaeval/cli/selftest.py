"""`tunaeval selftest`: measures tunaeval on this machine; prints a JSON line per measurement."""

from __future__ import annotations

import argparse
import json

from tunaeval.errors import UsageError
from tunaeval.testing.selftest import MEASURINGS
from tunaeval.testing.selftest.measured import Extent, subjects

from .output import Output


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0 if every measurement reaches its bar, else 1."""
    if unknown := [name for name in arguments.measuring if name not in MEASURINGS]:
        raise UsageError(f"found {unknown[0]!r}; wanted {', '.join(MEASURINGS)}")
    measured = subjects(arguments.format)
    extent = Extent(arguments.examples, arguments.seed, arguments.largest)
    fine = True
    for name in arguments.measuring or MEASURINGS:
        found = MEASURINGS[name](measured, extent)
        output.result(json.dumps(found.line()))
        output.out.flush()  # the next one may take minutes
        fine = fine and found.ok
    return 0 if fine else 1
