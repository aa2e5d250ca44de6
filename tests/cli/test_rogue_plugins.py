"""Plug-ins that misbehave when they are used: one sentence that names them, and never exit code 1,
which says that a score is below the bar.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli import rogues

RUN = ("run", "--suite", "smoke", "--quiet", "--attempts", "1")
CLAIMED = """
import tunaeval
from tunaeval.errors import PluginClashError
def tried(what, work, *args, **settings):
    try:
        work(*args, **settings)
    except PluginClashError:
        print(f"{what}: clash")
print(tunaeval.parse("hello", format="mimo").outcome)
settings = {"client": "c-sound", "attempts": 1}
tried("run", tunaeval.run, "smoke", format="mimo", out=None, **settings)
kept = tunaeval.run("smoke", out="kept", **settings)
tried("rescore", tunaeval.rescore, kept.directory, format="mimo")
"""
Rogue = Callable[..., rogues.Done]
PLACE = re.compile(r" \(\S+/tuna_rogue\.py:\d+\)")
"""Where a plug-in raised."""


@pytest.fixture(scope="module")
def rogue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rogue]:
    """Runs `tunaeval` where the plug-ins are installed."""
    with rogues.shell(tmp_path_factory.mktemp("rogue")) as run:
        yield run


@pytest.mark.parametrize("command", [("parse", "a.txt"), (*RUN, "--client", "c-sound")])
@pytest.mark.parametrize(
    ("name", "did"),
    [
        ("p-returns", "returned 0.5; wanted a ParseResult"),
        ("p-raises", "raised ValueError: no such thing; wanted a ParseResult"),
        ("p-leaves", "raised SystemExit: 0; wanted a ParseResult"),
        (
            "p-listed",
            "returned a ParseResult with calls=[{'name': 'ls'}]; wanted a tuple of ToolCalls",
        ),
    ],
)
def test_a_parser_that_misbehaves_is_named(
    rogue: Rogue, command: tuple[str, ...], name: str, did: str
) -> None:
    done = rogue(*command, "--format", name)
    assert done.code == 2
    said = PLACE.sub("", done.err.splitlines()[-1])
    assert said.startswith(f"tunaeval: format or parser {name!r} of {rogues.NAME} {did}")


@pytest.mark.parametrize(
    "command",
    [
        ("parse", "a.txt", "--format", "mimo"),
        ("parse", "a.txt", "--jsonl", "--format", "mimo"),
        (*RUN, "--client", "c-sound", "--format", "mimo"),
        ("convert", "a.txt", "--from", "mimo", "--to", "structured"),
        ("convert", "a.txt", "--from", "structured", "--to", "mimo"),
        ("formats", "mimo"),
    ],
)
def test_a_name_of_ours_that_a_package_claims_is_an_error_that_names_both(
    rogue: Rogue, command: tuple[str, ...]
) -> None:
    done = rogue(*command)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        f"tunaeval: format or parser 'mimo' is a name of tunaeval itself, and is claimed by "
        f"{rogues.NAME}; uninstall {rogues.NAME}"
    )


def test_a_claimed_name_is_an_error_in_a_run_and_its_rescore_and_ours_in_a_parse(
    tmp_path: Path,
) -> None:
    rogues.install(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", CLAIMED],
        env={**os.environ, "PYTHONPATH": rogues.path(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["no_call", "run: clash", "rescore: clash"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("c-unmade", "cannot be made: ValueError: no such thing"),
        ("c-needs", "cannot be made: TypeError: Needs.__init__() missing 1 required positional"),
        ("c-returns", "made something that is no client: a float has no name"),
        ("c-details", "has the details 3; wanted a dictionary"),
    ],
)
def test_a_client_that_cannot_be_had_is_named(rogue: Rogue, name: str, said: str) -> None:
    done = rogue(*RUN, "--client", name)
    assert (done.code, done.out) == (2, "")
    assert PLACE.sub("", done.err).startswith(f"tunaeval: client {name!r} of {rogues.NAME} {said}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("c-leaves", "raised SystemExit: 0"),
        ("c-usage", "gave a Reply with usage=None, wanted a Usage"),
    ],
)
def test_a_client_that_misbehaves_answers_nothing(rogue: Rogue, name: str, said: str) -> None:
    done = rogue(*RUN, "--client", name)
    assert done.code == 2
    assert f"12 x body: client {name!r} of {rogues.NAME} {said}" in done.out


def test_a_client_that_cannot_be_closed_leaves_the_score(rogue: Rogue) -> None:
    done = rogue(*RUN, "--client", "c-unclosed", "--fail-under", "0")
    assert done.code == 0
    assert "16.7 %" in done.out
    assert PLACE.sub("", done.err) == (
        f"tunaeval: client 'c-unclosed' of {rogues.NAME} raised ValueError: no such thing when "
        "it was closed; no result is lost\n"
    )


@pytest.mark.parametrize(
    ("name", "did"),
    [
        ("w-raises", "raised ValueError: no such thing"),
        ("w-leaves", "raised SystemExit: 0"),
        ("w-nothing", "wrote nothing"),
    ],
)
@pytest.mark.parametrize("bar", ["0", "100"])
def test_a_writer_that_fails_hides_no_score_and_is_exit_code_2(
    rogue: Rogue, name: str, did: str, bar: str
) -> None:
    done = rogue(
        *RUN, "--client", "c-sound", "--report", "r.csv", "--writer", name, "--fail-under", bar
    )
    assert done.code == 2
    assert "16.7 %" in done.out
    assert ("below the 100 %" in done.err) == (bar == "100")
    assert PLACE.sub("", done.err.splitlines()[-1]) == (
        f"tunaeval: report writer {name!r} of {rogues.NAME} {did}; report 'r.csv' is not "
        "written, and the score is as reported"
    )


@pytest.mark.parametrize(
    ("name", "did"),
    [
        ("e-raises", "raised ValueError: no such thing"),
        ("e-leaves", "raised SystemExit: 3"),
        ("e-number", "returned 0.5; wanted a bool or (bool, reason)"),
    ],
)
def test_a_check_that_misbehaves_is_named_and_says_nothing_of_the_model(
    rogue: Rogue, tmp_path: Path, name: str, did: str
) -> None:
    task = {"files": {"a.txt": ""}, "checks": [{"python": name}]}
    scenario = {"id": "one", "prompt": "Go.", "task": task}
    suite = {
        "name": "tasks",
        "catalogue": "tunacode-2025-12",
        "tools": ["bash"],
        "scenarios": [scenario],
    }
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(suite))
    done = rogue("run", "--suite", str(path), "--quiet", "--client", "c-sound")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "outcomes: judge_failure 1" in done.out
    said = f"the check itself failed: check {name!r} of {rogues.NAME} {did}"
    assert f"1 x check: python {name}: {said}" in done.out


@pytest.mark.parametrize(
    ("group", "name", "why"),
    [
        ("checks", "e-async", "it is async: async def later(state); wanted"),
        ("scorers", "s-minus", "its weight is -1; wanted a number from 0 up"),
    ],
)
def test_what_could_never_be_used_is_listed_as_broken(
    rogue: Rogue, group: str, name: str, why: str
) -> None:
    done = rogue("plugins", "--group", group, "--json")
    (row,) = [one for one in json.loads(done.out)["plugins"] if one["name"] == name]
    assert (done.code, row["status"]) == (1, "broken")
    assert f"{name!r} of {rogues.NAME} is refused: {why}" in row["reason"]


def test_an_exception_of_a_plug_in_is_told_with_the_line_that_raised_it(rogue: Rogue) -> None:
    line = rogues.SOURCE.splitlines().index('    raise ValueError("no such\\nthing")') + 1
    said = rogue("parse", "a.txt", "--format", "p-raises").err
    assert f"raised ValueError: no such thing (rogue0/tuna_rogue.py:{line}); wanted" in said


def test_a_client_that_cannot_be_made_without_a_setting_is_listed_with_it(rogue: Rogue) -> None:
    rows = json.loads(rogue("plugins", "--group", "clients", "--json").out)["plugins"]
    found = {row["name"]: (row["status"], row["reason"]) for row in rows}
    assert found["c-needs"] == ("ok", "needs port")
    assert found["c-sound"] == ("ok", "")


def test_a_group_that_there_is_not_is_listed_with_what_was_meant(rogue: Rogue) -> None:
    done = rogue("plugins", "--json")
    lost = [row for row in json.loads(done.out)["plugins"] if row["name"] == "s-lost"]
    assert [(row["group"], row["source"], row["status"], row["reason"]) for row in lost] == [(
        "tunaeval.scorer", rogues.NAME, "broken",
        "no entry-point group is called 'tunaeval.scorer'; did you mean 'tunaeval.scorers'?",
    )]  # fmt: skip
    assert "s-lost" not in rogue("plugins", "--group", "scorers").out


def test_what_nobody_foresaw_is_never_a_score_below_the_bar(rogue: Rogue) -> None:
    done = rogue(*RUN, "--client", "c-dies")
    assert done.code == 2
    assert "Traceback" in done.err
