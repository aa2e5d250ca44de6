"""The options of `tunaeval run`; what it does is in `running`, imported when it runs."""

from __future__ import annotations

import argparse

from .asked import add_client
from .budget import add_budget
from .listing import add_bfcl, add_json
from .numbers import POSITIVE, above_zero, amount, any_whole_number, percentage, seconds
from .output import Output
from .reading import add_abstain
from .resuming import add_resume


def configure(parser: argparse.ArgumentParser) -> None:
    _questions(parser.add_argument_group("what to ask"))
    _client(parser.add_argument_group("the model"))
    _rules(parser.add_argument_group("the rules"))
    _outputs(parser.add_argument_group("what the model is given"))


def run(arguments: argparse.Namespace, output: Output) -> int:
    from .running import run_suite  # noqa: PLC0415 - httpx2 and pydantic, not for --help

    return run_suite(arguments, output)


def _questions(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--suite", default="tunacode", metavar="NAME|FILE", help="see `tunaeval suites` (tunacode)"
    )
    add_bfcl(group)
    _chosen(group)
    group.add_argument(
        "--faults",
        metavar="NAME|FILE",
        help="ask each task of many turns once for each way in which things go wrong: model, agent "
        "(for a command), or a JSON file of lists of faults by name",
    )
    group.add_argument(
        "--tools-from",
        action="append",
        default=[],
        metavar="MODULE:NAME",
        help="ask with the tools of an installed agent in place of the suite's: a list, a "
        "dictionary or one of them; may be given again",
    )
    group.add_argument(
        "--tools",
        choices=("api", "prompt"),
        help="give the tools through the API, or write them into the prompt "
        "(default: api; the embedded model can only write what fits a schema of the calls)",
    )
    group.add_argument(
        "--free-text", action="store_true", help="the embedded model answers without a schema"
    )


def _chosen(group: argparse._ArgumentGroup) -> None:
    """Add the options that select scenarios."""
    group.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="ID|TAG",
        help="leave out a scenario, or all with a tag; may be given again",
    )
    group.add_argument(
        "--id",
        action="append",
        default=[],
        dest="ids",
        metavar="ID",
        help="only this scenario; may be given again",
    )
    group.add_argument(
        "--tag",
        action="append",
        default=[],
        dest="tags",
        metavar="TAG",
        help="only scenarios with this tag; may be given again",
    )
    group.add_argument(
        "-k",
        "--like",
        action="append",
        default=[],
        dest="patterns",
        metavar="PATTERN",
        help="only scenarios with this in their id or prompt, or whose id fits it (read-*); may "
        "be given again",
    )
    group.add_argument("--limit", type=POSITIVE, metavar="N", help="only the first N scenarios")


def _client(group: argparse._ArgumentGroup) -> None:
    add_client(group, otherwise="the embedded model, or its recording where it is not installed")
    group.add_argument(
        "--rpm", type=above_zero, metavar="N", help="begin at most N requests in a minute"
    )
    group.add_argument(
        "--check-server",
        action="store_true",
        help="examine the server first (`tunaeval doctor --quick`), and keep the verdict in "
        "run.json",
    )
    for side, what in (("in", "that are asked"), ("out", "that are answered")):
        group.add_argument(
            f"--price-{side}",
            type=amount,
            metavar="PRICE",
            help=f"of a million tokens {what}: the run says what it cost",
        )
    group.add_argument(
        "--stream",
        action="store_true",
        default=None,
        help="have replies streamed: time to the first token, tokens per second, and whether the "
        "calls that come in pieces are those of the whole",
    )
    group.add_argument("--temperature", type=amount, default=0.0, help="(0)")
    group.add_argument("--max-tokens", type=POSITIVE, default=300, metavar="N", help="(300)")
    group.add_argument(
        "--seed", type=any_whole_number, metavar="N", help="the server's own unless given"
    )


def _rules(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--format",
        default="auto",
        help="wire format (auto); openai is harmony, not tool_calls",
    )
    group.add_argument(
        "--level",
        default="standard",
        choices=("strict", "standard", "lenient"),
        help="which repairs are allowed (standard); the report has all three",
    )
    group.add_argument(
        "--profile",
        help="how arguments are matched, see the reference (the suite's, or strict)",
    )
    group.add_argument(
        "--calls",
        default="any",
        choices=("any", "structured"),
        help="which calls count: any, or at every level those alone that the server parsed (any)",
    )
    add_abstain(group)
    group.add_argument(
        "--attempts",
        type=POSITIVE,
        default=2,
        metavar="N",
        help="at most, while no call is found at the level that counts (2)",
    )
    group.add_argument("--repeats", type=POSITIVE, default=1, metavar="N", help="of the suite (1)")
    group.add_argument(
        "--timeout", type=seconds, metavar="SECONDS", help="for a scenario (30; embedded: 120)"
    )
    group.add_argument(
        "--concurrency",
        type=POSITIVE,
        metavar="N",
        help="scenarios at once, fewer after 429 and timeouts (8; embedded: 1)",
    )


def _outputs(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--out", default="runs", metavar="DIR", help="where runs are kept (runs)")
    add_resume(group)
    group.add_argument("--record", metavar="FILE", help="write the replies for `--client replay`")
    group.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FILE",
        help="write a report, as its suffix says: .html, .md, .xml (JUnit), .csv, .json, .parquet; "
        "may be given again; missing directories are made",
    )
    group.add_argument(
        "--writer", metavar="NAME", help="github or a plug-in, for a --report of another suffix"
    )
    group.add_argument(
        "--fail-under", type=percentage, metavar="PERCENT", help="exit 1 when the score is lower"
    )
    add_budget(group)
    group.add_argument("--quiet", action="store_true", help="no progress")
    add_json(group)
