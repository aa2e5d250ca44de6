"""`tunaeval run`: what can be said to it. What it does is in `running`, imported when it runs."""

from __future__ import annotations

import argparse

from .asked import add_client
from .listing import add_bfcl, add_json
from .output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    _asked(parser.add_argument_group("what is asked"))
    _client(parser.add_argument_group("of which model"))
    _rules(parser.add_argument_group("by which rules"))
    _told(parser.add_argument_group("what is told"))


def run(arguments: argparse.Namespace, output: Output) -> int:
    from .running import run_suite  # noqa: PLC0415 - httpx and pydantic, not for --help

    return run_suite(arguments, output)


def _asked(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--suite", default="tunacode", metavar="NAME|FILE", help="see `tunaeval suites` (tunacode)"
    )
    add_bfcl(group)
    group.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="ID|TAG",
        help="leave out a scenario, or all with a tag; may be given again",
    )
    group.add_argument("--limit", type=_positive, metavar="N", help="only the first N scenarios")
    group.add_argument(
        "--tools",
        choices=("api", "prompt"),
        help="tell the tools by the API, or write them into the prompt "
        "(default: api; the embedded model is held to a schema of the calls)",
    )
    group.add_argument(
        "--free-text", action="store_true", help="the embedded model answers without a schema"
    )


def _client(group: argparse._ArgumentGroup) -> None:
    add_client(group, otherwise="the embedded model, or its recording where it is not installed")
    group.add_argument("--temperature", type=float, default=0.0, help="(0)")
    group.add_argument("--max-tokens", type=_positive, default=300, metavar="N", help="(300)")
    group.add_argument("--seed", type=int, metavar="N", help="the server's own unless given")


def _rules(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format", default="auto", help="wire format, see `tunaeval formats` (auto)"
    )
    group.add_argument(
        "--level",
        default="standard",
        choices=("strict", "standard", "lenient"),
        help="which mends are allowed (standard); the report has all three",
    )
    group.add_argument("--profile", default="tunacode", help="how arguments are matched (tunacode)")
    group.add_argument(
        "--attempts", type=_positive, default=2, metavar="N", help="when no call is found (2)"
    )
    group.add_argument("--repeats", type=_positive, default=1, metavar="N", help="of the suite (1)")
    group.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="for a scenario (30; embedded: 120)"
    )
    group.add_argument(
        "--concurrency", type=_positive, metavar="N", help="scenarios at once (8; embedded: 1)"
    )


def _told(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--out", default="runs", metavar="DIR", help="where runs are kept (runs)")
    group.add_argument(
        "--resume", metavar="RUN", help="continue a run that was cut off, with the options of then"
    )
    group.add_argument("--record", metavar="FILE", help="write the replies for `--client replay`")
    group.add_argument("--report", metavar="FILE", help="write a report, as its suffix says")
    group.add_argument("--writer", metavar="NAME", help="json, markdown or a plug-in, for --report")
    group.add_argument(
        "--fail-under", type=_percent, metavar="PERCENT", help="exit 1 when the score is lower"
    )
    group.add_argument("--quiet", action="store_true", help="no progress")
    add_json(group)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _percent(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"{number:g} is not between 0 and 100")
    return number


# argparse names a type by its function when it refuses a value.
_positive.__name__, _percent.__name__ = "whole number", "percentage"
