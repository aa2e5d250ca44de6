"""`tunaeval selftest`: measures tunaeval on this machine, with a JSON line for each measuring."""

from __future__ import annotations

import argparse
import json

from .numbers import any_whole_number, whole_number
from .output import Output

_MEASURINGS = ("linear", "stream", "accuracy", "null")
"""The arguments of the command, listed here so that --help does not import the measurings."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "measuring",
        nargs="*",
        type=_measuring,
        metavar="MEASURING",
        help=f"{', '.join(_MEASURINGS)} (default: all of them)",
    )
    parser.add_argument(
        "--format",
        action="append",
        default=[],
        help="measure only this wire format; may be repeated (default: all that are registered)",
    )
    parser.add_argument(
        "--seed", type=any_whole_number, default=0, help="what chance begins with (default: 0)"
    )
    parser.add_argument(
        "--examples",
        type=whole_number(1, 10_000_000),
        help="texts of each kind (default: as each measuring thinks)",
    )
    parser.add_argument(
        "--largest",
        type=whole_number(4096, 16 * 1024 * 1024),
        default=65536,
        help="characters of the largest text that growth is measured on (default: 65536)",
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0 if every measuring reaches its bar, else 1."""
    from tunaeval.testing.selftest import MEASURINGS  # noqa: PLC0415 - not for --help
    from tunaeval.testing.selftest.measured import Extent, subjects  # noqa: PLC0415 - not for --help

    measured = subjects(arguments.format)
    extent = Extent(arguments.examples, arguments.seed, arguments.largest)
    fine = True
    for name in arguments.measuring or MEASURINGS:
        found = MEASURINGS[name](measured, extent)
        output.result(json.dumps(found.line()))
        output.out.flush()  # the next one may take minutes
        fine = fine and found.ok
    return 0 if fine else 1


def _measuring(text: str) -> str:
    if text not in _MEASURINGS:
        raise argparse.ArgumentTypeError(f"found {text!r}; wanted {', '.join(_MEASURINGS)}")
    return text
