"""`tunaeval doctor`: does a server call tools correctly, and if not, whose fault is it?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .listing import add_json
from .network import add_network, network_of
from .numbers import POSITIVE, seconds
from .output import Output

if TYPE_CHECKING:
    # At run time this is imported when there is a server to examine, not for --help.
    from tunaeval.doctor.values import Answer

_GROUPS = (
    "reach", "prompt", "calls", "parallel", "stream", "choice", "schema", "values", "history",
    "reasoning", "limits", "names", "stability",
)  # fmt: skip
"""The values of `--only`, written here so that --help does not import the doctor."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--base-url", metavar="URL", required=True, help="an OpenAI-compatible server's address"
    )
    parser.add_argument("--model", metavar="NAME", help="the server's model (its first)")
    parser.add_argument(
        "--only", metavar="GROUP", help=f"one group of checks: {', '.join(_GROUPS)}"
    )
    parser.add_argument("--quick", action="store_true", help="about 30 requests instead of 90")
    parser.add_argument(
        "--repeats", type=POSITIVE, default=3, metavar="N", help="for rates, how often (3)"
    )
    parser.add_argument(
        "--concurrency", type=POSITIVE, default=1, metavar="N", help="requests at once (1)"
    )
    parser.add_argument(
        "--deadline", type=seconds, default=600.0, metavar="SECONDS", help="for all of it (600)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_network(parser.add_argument_group("how the server is reached"))
    shape = parser.add_mutually_exclusive_group()
    add_json(shape)
    shape.add_argument(
        "--markdown", action="store_true", help="Markdown for an issue report instead of text"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0 if the server has no fault, 1 if it has one, 2 if it was not tested."""
    import asyncio  # noqa: PLC0415 - not for --help

    from tunaeval.doctor.examination import examine  # noqa: PLC0415 - httpx2, not for --help
    from tunaeval.doctor.report import markdown, show_examination  # noqa: PLC0415 - httpx2, not for --help
    from tunaeval.doctor.runner import Settings  # noqa: PLC0415 - httpx2, not for --help
    from tunaeval.reports.json import json_text  # noqa: PLC0415 - as above

    def report(answer: Answer) -> None:
        output.note(f"tunaeval: {answer.ask.key}: {answer.status or answer.failure}")

    settings = Settings(
        model=arguments.model,
        repeats=arguments.repeats,
        concurrency=arguments.concurrency,
        deadline_seconds=arguments.deadline,
        quick=arguments.quick,
    )
    found = asyncio.run(
        examine(
            arguments.base_url,
            settings,
            only=arguments.only,
            network=network_of(arguments),
            on_answer=None if arguments.quiet else report,
        )
    )
    if arguments.json:
        output.result(json_text(found.as_json()))
    elif arguments.markdown:
        output.result(markdown(found).rstrip("\n"))
    else:
        output.draw(lambda stream: show_examination(found, stream))
    return found.exit
