"""`tunaeval suites`: the built-in suites with their sizes; or one suite, a file's too, in full."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .listing import add_bfcl, add_json, print_listing
from .output import Output

if TYPE_CHECKING:
    # At run time it comes with the suite.
    from tunaeval.types import JsonObject
    from tunaeval.types.runs import Suite


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "suite",
        nargs="?",
        help="a built-in name, a file or bfcl:CATEGORY: check it, and list its scenarios",
    )
    add_bfcl(parser)
    add_json(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    from tunaeval.harness import about_suites, load_suite  # noqa: PLC0415 - not for --help

    rows: Sequence[JsonObject]
    if arguments.suite is None:
        name = "suites"
        rows = [_overview(load_suite(suite), about) for suite, about in about_suites().items()]
    else:
        name, rows = "scenarios", _scenarios(load_suite(arguments.suite, bfcl=arguments.bfcl))
    print_listing(output, name, rows, list(rows[0]), as_json=arguments.json)
    return 0


def _overview(suite: Suite, about: str) -> JsonObject:
    wants = [scenario.expect for scenario in suite.scenarios]
    return {
        "name": suite.name,
        "scenarios": len(wants),
        "no call": sum(expect.none for expect in wants),
        "several calls": sum(max(len(e.calls or ()), len(e.tools or ())) > 1 for e in wants),
        "tools": len(suite.tools),
        "about": about,
    }


def _scenarios(suite: Suite) -> list[JsonObject]:
    from tunaeval.reports import expected_words  # noqa: PLC0415 - as above

    return [
        {
            "id": scenario.id,
            "expected": expected_words(scenario.expect, 60),
            "prompt": scenario.prompt,
            "tags": list(scenario.tags),
        }
        for scenario in suite.scenarios
    ]
