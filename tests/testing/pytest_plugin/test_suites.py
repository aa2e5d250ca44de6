"""Suite files are tests; gates decide over them, in one process or in several."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import tunaeval
from tests.testing.pytest_plugin.children import Child, run
from tunaeval import ModelRequest, ToolCall
from tunaeval.types.faults import Fail

SUITE: list[dict[str, Any]] = [
    {
        "id": name,
        "prompt": f"Run {name}.",
        "expected_tool": "bash",
        "expected_args": {"command": name},
    }
    for name in ("ls", "pwd", "date", "id")
]
Says = Callable[[ModelRequest], ToolCall]


def right(request: ModelRequest) -> ToolCall:
    asked = str(request.messages[-1]["content"])
    return ToolCall("bash", {"command": asked.split()[1].rstrip(".")})


def wrong_about(*names: str) -> Says:
    def says(request: ModelRequest) -> ToolCall:
        call = right(request)
        return ToolCall("bash", {"command": "rm"}) if call.arguments["command"] in names else call

    return says


def wrong_each_second_time() -> Says:
    seen: Counter[str] = Counter()

    def says(request: ModelRequest) -> ToolCall:
        command = right(request).arguments["command"]
        seen[command] += 1
        return ToolCall("bash", {"command": command if seen[command] % 2 else "rm"})

    return says


MANY = [
    {**SUITE[0], "id": name, "prompt": f"Run {name}.", "expected_args": {"command": name}}
    for name in (f"c{number}" for number in range(100))
]


def asked(
    folder: Path, says: Says, *arguments: str, suite: list[dict[str, Any]] | None = None
) -> Child:
    text = json.dumps(suite or SUITE)
    with tunaeval.model_endpoint(says) as model:
        address = ("--tunaeval-base-url", model.url)
        return run(folder, *address, *arguments, files={"four.tunaeval.json": text})


def test_each_scenario_and_repeat_is_a_test(tmp_path: Path) -> None:
    child = asked(
        tmp_path, wrong_about("pwd"), "--tunaeval-repeats", "2", "--junitxml", "j.xml", "-v"
    )
    assert child.code == 1
    assert child.counts == {"failed": 2, "passed": 6}
    assert "four.tunaeval.json::pwd[2] FAILED" in child.said
    assert "wanted command='pwd', got 'rm'" in child.said
    assert "Traceback" not in child.said
    case = next(ET.parse(tmp_path / "j.xml").iter("testcase"))  # noqa: S314 - pytest's own
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert properties["tunaeval.scenario"] == "ls"
    assert properties["tunaeval.outcome"] == "calls"


def test_a_server_that_is_not_there_is_no_wrong_answer(tmp_path: Path) -> None:
    files = {"four.tunaeval.json": json.dumps(SUITE[:1])}
    child = run(tmp_path, "--tunaeval-base-url", "http://127.0.0.1:9/v1", files=files)
    assert child.code == 1
    assert "no request succeeded" in child.said


def test_a_broken_suite_is_an_error_of_collection(tmp_path: Path) -> None:
    child = run(tmp_path, files={"bad.tunaeval.json": '[{"id": "a"}]'})
    assert child.code == 2
    assert "'prompt'" in child.said or "prompt" in child.said


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "workers"])
def test_a_baseline_is_compared_in_pairs(tmp_path: Path, workers: tuple[str, ...]) -> None:
    suite = tmp_path / "four.tunaeval.json"
    suite.write_text(json.dumps(MANY))
    with tunaeval.model_endpoint(right) as model:
        tunaeval.run(suite, client="openai", base_url=model.url, out=tmp_path / "base")
    gate = ("--tunaeval-baseline", "base", *workers)
    same = asked(tmp_path, right, *gate, suite=MANY)
    assert same.code == 0, same.said
    assert "GATE PASSED: four.tunaeval: +0.0 points against the baseline" in same.said
    some = wrong_about(*(f"c{number}" for number in range(9)))
    worse = asked(tmp_path, some, *gate, suite=MANY)
    assert worse.code == 1
    assert worse.counts["xfailed"] == 9
    assert "GATE FAILED: four.tunaeval: -9.0 points against the baseline" in worse.said
    assert "may be worse by 5 or more; lost: " in worse.said


def test_pass_k_and_a_bound_gate_only_when_asked_for(tmp_path: Path) -> None:
    twice = ("--tunaeval-repeats", "2")
    child = asked(tmp_path, wrong_each_second_time(), *twice, "--tunaeval-pass-k", "2=80")
    assert child.code == 1
    assert "GATE FAILED: four.tunaeval: pass^2 is 0.0 %, wanted 80 %" in child.said
    child = asked(tmp_path, right, *twice, "--tunaeval-pass-k", "2=80")
    assert child.code == 0, child.said
    assert "GATE PASSED: four.tunaeval: pass^2 is 100.0 %, wanted 80 %" in child.said
    child = asked(tmp_path, right, "--tunaeval-pass-k", "3=80")
    assert "wanted at most as many as --tunaeval-repeats, 1" in child.said


def test_a_gate_with_too_little_data_says_so_and_fails(tmp_path: Path) -> None:
    bound = ("--tunaeval-min-bound", "90")
    few = asked(tmp_path, right, *bound)
    assert few.code == 1
    assert "GATE FAILED (too little data): four.tunaeval: 100.0 % passed" in few.said
    assert "the rate is at least 51.0 %, wanted 90 %" in few.said
    wrong = asked(tmp_path, wrong_about("ls"), *bound)
    assert "GATE FAILED: four.tunaeval: 75.0 % passed" in wrong.said
    many = asked(tmp_path, right, *bound, suite=MANY)
    assert many.code == 0, many.said
    assert "GATE PASSED: four.tunaeval: 100.0 % passed" in many.said
    suite = tmp_path / "four.tunaeval.json"
    suite.write_text(json.dumps(SUITE))
    with tunaeval.model_endpoint(right) as model:
        tunaeval.run(suite, client="openai", base_url=model.url, out=tmp_path / "base")
    same = asked(tmp_path, right, "--tunaeval-baseline", "base")
    assert same.code == 1
    assert "GATE FAILED (too little data): four.tunaeval: +0.0 points" in same.said


def test_a_gate_without_an_answer_has_too_little_data(tmp_path: Path) -> None:
    files = {"four.tunaeval.json": json.dumps(SUITE[:2])}
    with tunaeval.model_endpoint(right, faults=[Fail(at=None, status=400)]) as model:
        gate = ("--tunaeval-base-url", model.url, "--tunaeval-min-bound", "0")
        child = run(tmp_path, *gate, files=files)
    assert child.code == 1
    assert "GATE FAILED (too little data): " in child.said


def test_a_gate_without_a_scenario_has_too_little_data(tmp_path: Path) -> None:
    gate = ("--tunaeval-min-bound", "90")
    files = {"test_it.py": "def test_it(): pass\n"}
    child = run(tmp_path, *gate, files=files)
    assert child.code == 1
    assert "GATE FAILED (too little data): no scenario was asked" in child.said
    assert run(tmp_path, *gate, "--collect-only", files=files).code == 0
    assert run(tmp_path, files=files).code == 0


def test_gates_differ_in_colour_too(tmp_path: Path) -> None:
    child = asked(tmp_path, right, "--tunaeval-min-bound", "40", "--color", "yes")
    assert "\x1b[32mGATE PASSED" in child.said
    assert "\x1b[32mfour.tunaeval: 4 of 4 passed" not in child.said
    child = asked(tmp_path, right, "--tunaeval-min-bound", "90", "--color", "yes")
    assert "\x1b[31mGATE FAILED" in child.said
