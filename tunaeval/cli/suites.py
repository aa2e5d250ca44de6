"""`tunaeval suites`: lists suites or the scenarios of one, checks or renames a suite."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tunaeval.errors import UsageError
from tunaeval.reports.wording import expected_words
from tunaeval.runs.suites.check import checked
from tunaeval.runs.suites.loading import about_suites, load_suite, write_suite
from tunaeval.runs.suites.renamed import renamed
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject
from tunaeval.types.runs import Suite

from .output import Output, print_listing

_BELOW_THE_BAR = 1


def run(arguments: argparse.Namespace, output: Output) -> int:
    match arguments.words:
        case []:
            return _list_all(arguments, output)
        case [name]:
            rows = _scenarios(load_suite(name, bfcl=arguments.bfcl))
            print_listing(output, "scenarios", rows, list(rows[0]), as_json=arguments.json)
            return 0
        case ["check", name]:
            return _check(load_suite(name, bfcl=arguments.bfcl), arguments, output)
        case ["renamed", name]:
            return _rename(load_suite(name, bfcl=arguments.bfcl), arguments, output)
    words = " ".join(arguments.words)
    raise UsageError(f"found {words!r}; wanted at most one SUITE, check SUITE or renamed SUITE")


def _list_all(arguments: argparse.Namespace, output: Output) -> int:
    rows = [_overview(load_suite(suite), about) for suite, about in about_suites().items()]
    print_listing(output, "suites", rows, list(rows[0]), as_json=arguments.json)
    return 0


def _check(suite: Suite, arguments: argparse.Namespace, output: Output) -> int:
    profile = arguments.profile or suite.profile or "strict"
    found = list(checked(suite, profile=profile))
    doubts = [doubt for one in found for doubt in one.doubts]
    failed = sum(doubt.found == "fails its own answer" for doubt in doubts)
    passed = sum(doubt.found == "a cheat passes" for doubt in doubts)
    rows: Sequence[JsonObject] = [
        {
            "id": doubt.scenario,
            "found": doubt.found,
            "reason": doubt.reason,
        }
        for doubt in doubts
    ]
    if doubts or arguments.json:
        print_listing(output, "doubts", rows, ["id", "found", "reason"], as_json=arguments.json)
    output.note(
        f"tunaeval: {suite.name}: {counted(len(suite.scenarios), 'scenario')}, {failed} fail "
        f"their own answer under {profile}, {len(doubts) - failed - passed} could not be tried"
    )
    if references := sum(one.references for one in found):
        output.note(
            f"tunaeval: {suite.name}: {counted(references, 'reference')} and "
            f"{counted(sum(one.cheats for one in found), 'cheat')} were tried; {passed} cheats pass"
        )
    return _BELOW_THE_BAR if failed or passed else 0


def _rename(suite: Suite, arguments: argparse.Namespace, output: Output) -> int:
    if not arguments.out:
        raise UsageError("renamed needs a file to write; give -o FILE.jsonl")
    made = renamed(suite, seed=arguments.seed)
    write_suite(made, arguments.out)
    if arguments.json:
        row: JsonObject = {"name": made.name, "file": arguments.out, "digest": made.digest}
        print_listing(output, "renamed", [row], list(row), as_json=True)
    output.note(
        f"tunaeval: {made.name}: {counted(len(made.scenarios), 'scenario')} in {arguments.out}"
    )
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
    return [
        {
            "id": scenario.id,
            "expected": expected_words(scenario.expect, 60),
            "prompt": scenario.prompt,
            "tags": list(scenario.tags),
        }
        for scenario in suite.scenarios
    ]
