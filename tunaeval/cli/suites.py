"""`tunaeval suites`: lists suites or the scenarios of one, checks or renames a suite, or makes one
of a transcript's turn.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from tunaeval.data.adapters.documents import read_path
from tunaeval.errors import UsageError
from tunaeval.runs.from_transcripts import suite_of_turn
from tunaeval.showing import counted
from tunaeval.tasks.suites.check import checked
from tunaeval.tasks.suites.loading import about_suites, load_suite, write_suite
from tunaeval.tasks.suites.renamed import renamed
from tunaeval.types.calls import JsonObject
from tunaeval.types.runs import Suite
from tunaeval.types.tables import expected_words

from .named_tools import read_tools
from .output import Output, print_listing

_BELOW_THE_BAR, _SILENCE = 1, 5.0  # seconds without a line while a suite is checked


def run(arguments: argparse.Namespace, output: Output) -> int:
    match arguments.words:
        case []:
            return _list_all(arguments, output)
        case [name]:
            rows = _scenarios(load_suite(name, bfcl=arguments.bfcl))
            print_listing(output, "scenarios", rows, list(rows[0]), as_json=arguments.json)
            return 0
        case ["check", name]:
            return _check_suite(load_suite(name, bfcl=arguments.bfcl), arguments, output)
        case ["renamed", name]:
            return _rename(load_suite(name, bfcl=arguments.bfcl), arguments, output)
        case ["from-transcript", file]:
            return _write_turn(file, arguments, output)
    words = " ".join(arguments.words)
    raise UsageError(
        f"found {words!r}; wanted at most one SUITE, check SUITE, renamed SUITE "
        "or from-transcript FILE"
    )


def _list_all(arguments: argparse.Namespace, output: Output) -> int:
    rows = [_overview(load_suite(suite), about) for suite, about in about_suites().items()]
    print_listing(output, "suites", rows, list(rows[0]), as_json=arguments.json)
    return 0


def _check_suite(suite: Suite, arguments: argparse.Namespace, output: Output) -> int:
    profile = arguments.profile or suite.profile or "strict"
    for note in suite.notes:
        output.note(f"tunaeval: {note}")
    found, noted_at, count = [], monotonic(), counted(len(suite.scenarios), "scenario")
    for one in checked(suite, profile=profile):
        found.append(one)
        if monotonic() - noted_at > _SILENCE:
            output.note(f"tunaeval: {len(found)} of {count} checked")
            noted_at = monotonic()
    doubts = [doubt for one in found for doubt in one.doubts]
    failed = sum(doubt.found == "fails its own answer" for doubt in doubts)
    passed = sum(doubt.found == "a cheat passes" for doubt in doubts)
    rows: Sequence[JsonObject] = [
        {"id": doubt.scenario, "found": doubt.found, "reason": doubt.reason} for doubt in doubts
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
    return _write(renamed(suite, seed=arguments.seed), "renamed", arguments, output)


def _write_turn(file: str, arguments: argparse.Namespace, output: Output) -> int:
    if not arguments.out or not arguments.turn:
        raise UsageError(
            "from-transcript needs a turn and a file to write; give --turn N and -o FILE.jsonl"
        )
    found = read_path(file, shape=arguments.shape)
    number = arguments.transcript or 1
    if number > len(found) or (arguments.transcript is None and len(found) > 1):
        raise UsageError(
            f"{file}: it has {counted(len(found), 'transcript')}; give --transcript with a number "
            f"from 1 to {len(found)}"
        )
    name = "transcript" if file == "-" else Path(file).name.partition(".")[0]
    tools = read_tools(arguments.tools) if arguments.tools else None
    try:
        made = suite_of_turn(found[number - 1], arguments.turn, name=name, tools=tools)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
    return _write(made, "written", arguments, output)


def _write(made: Suite, what: str, arguments: argparse.Namespace, output: Output) -> int:
    write_suite(made, arguments.out)
    if arguments.json:
        row: JsonObject = {"name": made.name, "file": arguments.out, "digest": made.digest}
        print_listing(output, what, [row], list(row), as_json=True)
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
