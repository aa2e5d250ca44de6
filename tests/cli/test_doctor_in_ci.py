"""The doctor in CI and every night: 1 means a new fault, and each fault keeps its id."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.doctor.loopback import Loopback
from tunaeval.doctor.news import News, news

Tuna = Callable[..., CompletedProcess[str]]

CLOSERS = {"value-closers/whole/calls-in-content", "value-closers/streamed/calls-in-content"}
INDEX = "stream-fragments/streamed/index-shared"


def asked(here: Tuna, defect: str, *more: str, seed: int = 1) -> CompletedProcess[str]:
    with Loopback(defect, seed=seed) as server:
        groups = ("--only", "values", "--only", "stream-fragments")
        return here("doctor", "--base-url", server.base_url, "--quiet", *groups, *more)


def test_a_known_fault_passes_a_new_one_fails_and_a_cured_one_is_named(here: Tuna) -> None:
    done = asked(here, "closer-ends-a-call", "--write-known", "known.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert {row["id"] for row in json.loads(Path("known.json").read_text())["findings"]} == CLOSERS

    done = asked(here, "closer-ends-a-call", "--known", "known.json", seed=2)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("KNOWN  SERVER") == 2
    assert "0 new faults, 2 known, 0 cured (exit 0)" in done.stdout

    done = asked(here, "index-always-0", "--known", "known.json", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == told["exit"] == 1
    assert told["news"]["new"] == [INDEX]
    assert set(told["news"]["cured"]) == CLOSERS

    done = asked(here, "", "--known", "known.json")
    assert done.returncode == 0, "a cured fault is no failure"
    assert "cured: value-closers/streamed/calls-in-content" in done.stdout


def test_reports_are_written_by_suffix_and_compared_without_a_server(here: Tuna) -> None:
    kinds = ("old.json", "ci/old.xml", "old.md")
    done = asked(
        here, "closer-ends-a-call", *(part for kind in kinds for part in ("--report", kind))
    )
    assert done.returncode == 1
    suite = ET.fromstring(Path("ci/old.xml").read_text("utf-8"))[0]  # noqa: S314 - ours
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == CLOSERS
    assert suite.get("failures") == "2"
    assert int(str(suite.get("tests"))) == len(suite.findall("testcase")) == 7
    assert "`value-closers/whole/calls-in-content`" in Path("old.md").read_text()

    done = asked(here, "index-always-0", "--report", "new.json")
    assert done.returncode == 1
    done = here("doctor", "compare", "old.json", "new.json")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"new: {INDEX}",
        "cured: value-closers/whole/calls-in-content",
        "cured: value-closers/streamed/calls-in-content",
        "1 new fault, 0 known, 2 cured",
    ]
    done = here("doctor", "compare", "old.json", "new.json", "--markdown")
    assert done.stdout.startswith(f"- `new: {INDEX}`\n")
    done = here("doctor", "compare", "new.json", "new.json", "--json")
    assert (done.returncode, json.loads(done.stdout)["known"]) == (0, [INDEX])


def test_annotations_are_of_new_faults_alone(here: Tuna) -> None:
    asked(here, "closer-ends-a-call", "--write-known", "known.json")
    report = ("--report", "lines", "--writer", "github")
    asked(here, "closer-ends-a-call", "--known", "known.json", *report)
    assert "::error" not in Path("lines").read_text()
    asked(here, "index-always-0", "--known", "known.json", *report)
    assert f"::error title={INDEX}::" in Path("lines").read_text()


def test_a_check_or_a_group_is_left_out(here: Tuna) -> None:
    done = asked(here, "", "--skip", "value-closers", "--json")
    names = {row["check"] for row in json.loads(done.stdout)["passed"]}
    assert names == {
        "value-quotes",
        "value-scripts",
        "value-keys",
        "value-code",
        "stream-fragments",
    }


def test_what_died_is_3_and_its_known_faults_are_kept(here: Tuna) -> None:
    Path("known.json").write_text('{"schema": 1, "findings": []}')
    with Loopback("index-always-0", lives=60) as server:
        done = here(
            "doctor", "--base-url", server.base_url, "--quiet", "--report", "r.xml",
            "--known", "known.json", "--write-known", "known.json",
        )  # fmt: skip
    assert done.returncode == 3
    assert INDEX in done.stdout, "what was found is listed all the same"
    assert json.loads(Path("known.json").read_text()) == {"schema": 1, "findings": []}
    assert "is not written" in done.stderr
    suite = ET.fromstring(Path("r.xml").read_text("utf-8"))[0]  # noqa: S314 - ours
    assert suite.get("errors") == "1"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"schema": 2, "findings": []}', "its schema is 2, and this tunaeval reads 1"),
        ('{"findings": []}', "this is no report of the doctor"),
        ('{"schema": 1, "findings": [{"id": 3}]}', "this is no report of the doctor"),
        ("[]", "wanted one JSON object"),
    ],
)
def test_what_is_no_report_is_a_sentence(here: Tuna, text: str, words: str) -> None:
    Path("other.json").write_text(text)
    for arguments in (("compare", "other.json", "other.json"), ("--known", "other.json")):
        done = here("doctor", "--base-url", "http://127.0.0.1:9/v1", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--report", "page.html"), "cannot be written as html"),
        (("--report", "page.foo"), "cannot be written as foo; wanted a name that ends in .xml"),
        (("compare", "a.json"), "wanted --base-url URL, compare OLD NEW, or replay FILE"),
        ((), "name the server to examine"),
    ],
)
def test_wrong_use_is_said_before_anything_is_asked(
    here: Tuna, arguments: tuple[str, ...], words: str
) -> None:
    done = here("doctor", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_recorded_pairs_are_replayed_with_the_same_reports(here: Tuna) -> None:
    tool = {"type": "function", "function": {"name": "add"}}
    raw = '<tool_call>{"name": "add", "arguments": {}}</tool_call>'
    lost = {"id": "lost", "raw": raw, "tools": [tool], "message": {"content": raw}}
    Path("pairs").mkdir()
    Path("pairs/a.jsonl").write_text(json.dumps(lost) + "\n")
    done = here("doctor", "replay", "pairs", "--report", "r.xml", "--write-known", "known.json")
    assert (done.returncode, done.stderr) == (0, "")
    done = here("doctor", "replay", "pairs/a.jsonl", "--known", "known.json", "--json")
    assert json.loads(done.stdout)["news"]["known"] == ["lost/whole/calls-in-content"]
    Path("ids.jsonl").write_text('{"token_ids": [1], "tools": [], "message": {}}\n')
    done = here("doctor", "replay", "ids.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "token ids alone, and nothing decodes them; give --tokenizer FILE" in done.stderr
    Path("cut.jsonl").write_text(json.dumps(lost)[:-9])
    done = here("doctor", "replay", "cut.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cut.jsonl, line 1: wanted a JSON object" in done.stderr


def row(name: str, mode: str = "whole", verdict: str = "server", **evidence: str) -> dict[str, Any]:
    return {"id": f"{name}/{mode}/x", "check": name, "verdict": verdict, "evidence": evidence}


def test_what_was_not_judged_is_not_cured() -> None:
    late = row("b", "streamed", ask="two strings")
    old = {"schema": 1, "findings": [row("a"), row("b"), late, row("c"), row("c", "streamed")]}
    new = {
        "schema": 1,
        "findings": [row("a", verdict="not tested"), row("c", "streamed")],
        "passed": [{"check": "b", "group": "calls"}],
        "asked": {"b": ["one call, whole", "one call, streamed"], "c": ["one call, whole"]},
    }
    assert news(old, {"schema": 1, "findings": [], "passed": [3], "asked": [3]}).cured == ()
    assert news(old, new) == News(
        known=("c/streamed/x",),
        cured=("b/whole/x", "c/whole/x"),
        unjudged=("a/whole/x", "b/streamed/x"),
    )


def test_a_quick_examination_cures_nothing_that_it_does_not_ask(here: Tuna) -> None:
    with Loopback("required-ignored", seed=1) as server:
        only = ("--base-url", server.base_url, "--quiet", "--only", "choice")
        here("doctor", *only, "--report", "old.json", "--write-known", "known.json")
        rows = json.loads(Path("known.json").read_text())["findings"]
        streamed = "choice-required/streamed/choice-ignored"
        assert {streamed} < {found["id"] for found in rows}
    with Loopback(seed=1) as server:
        quick = ("--base-url", server.base_url, "--quiet", "--only", "choice", "--quick")
        done = here("doctor", *quick, "--known", "known.json", "--json", "--report", "new.json")
        assert json.loads(done.stdout)["news"]["unjudged"] == [streamed]
        here("doctor", *quick, "--known", "known.json", "--write-known", "known.json")
    assert f"not judged: {streamed}" in here("doctor", "compare", "old.json", "new.json").stdout
    assert [found["id"] for found in json.loads(Path("known.json").read_text())["findings"]] == [
        streamed
    ]


def test_where_nothing_could_be_judged_the_exit_code_is_3(here: Tuna) -> None:
    asked(here, "closer-ends-a-call", "--report", "old.json")
    with Loopback() as server:
        reach = ("--base-url", server.base_url, "--quiet", "--only", "reach")
        done = here("doctor", *reach, "--known", "old.json", "--report", "new.json")
    assert done.returncode == 3
    assert "too little could be judged for a verdict; 0 new faults, 0 known" in done.stdout
    Path("empty.json").write_text('{"schema": 1, "findings": []}')
    for name in ("new.json", "empty.json"):
        done = here("doctor", "compare", "old.json", name)
        assert done.returncode == 3
        assert "too little could be judged (exit code 3)" in done.stderr
    assert here("doctor", "compare", "empty.json", "empty.json").returncode == 3
