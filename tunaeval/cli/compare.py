"""`tunaeval compare`: runs against the first of them, and whether they are worse."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from .listing import add_json
from .output import Output

if TYPE_CHECKING:
    from tunaeval.reports import Comparison


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="run directories, the baseline first"
    )
    parser.add_argument(
        "--level",
        choices=("strict", "standard", "lenient"),
        help="take the verdicts of this level (default: that of the runs)",
    )
    parser.add_argument(
        "--cluster",
        default="group",
        metavar="BY",
        help="which scenarios hang together: group, scenario (none), or tag:PREFIX (group)",
    )
    parser.add_argument(
        "--intersect",
        action="store_true",
        help="compare runs of other suites, prompts, profiles or levels, in what they share",
    )
    parser.add_argument(
        "--fail-if-worse",
        type=_points,
        metavar="PERCENT",
        help="exit 1 unless a run is surely not worse than the first by so many points",
    )
    parser.add_argument(
        "--flips", type=_count, default=20, metavar="N", help="flipped scenarios shown (20)"
    )
    parser.add_argument("--markdown", action="store_true", help="as Markdown, for a pull request")
    add_json(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """0, or 1 when a run does not clear the margin that was asked for."""
    from tunaeval.harness import run_source  # noqa: PLC0415 - pydantic, not for --help
    from tunaeval.reports import compare_runs  # noqa: PLC0415 - as above

    found = compare_runs(
        [run_source(path) for path in arguments.runs],
        level=arguments.level,
        cluster=arguments.cluster,
        intersect=arguments.intersect,
    )
    _tell(found, arguments, output)
    margin = arguments.fail_if_worse
    worse = [one for one in found if margin is not None and not one.overall.clears(margin)]
    for one in worse:
        output.note(
            f"tunaeval: run {one.b.run_id} may be worse by {100 * margin:g} points or more: the "
            f"interval of the difference begins at {100 * one.overall.low:+.1f} points"
        )
    return 1 if worse else 0


def _tell(found: tuple[Comparison, ...], arguments: argparse.Namespace, output: Output) -> None:
    from tunaeval.reports import (  # noqa: PLC0415 - as in `run`
        comparison_markdown,
        comparison_object,
        json_text,
        show_comparison,
    )

    margin, shown = arguments.fail_if_worse, arguments.flips
    if arguments.json:
        objects = [comparison_object(one, margin=margin) for one in found]
        output.result(json_text({"comparisons": objects}))
        return
    for one in found:
        if arguments.markdown:
            output.result(comparison_markdown(one, margin=margin, shown=shown))
        else:
            output.draw(partial(show_comparison, one, margin=margin, shown=shown))


def _points(text: str) -> float:
    number = float(text.removesuffix("%"))
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"{number:g} is not between 0 and 100")
    return number / 100


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is less than 0")
    return number


# argparse names a type by its function when it refuses a value.
_points.__name__, _count.__name__ = "percentage", "whole number"
