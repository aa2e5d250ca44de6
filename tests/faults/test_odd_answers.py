"""Answers of odd shapes and depths, whole and streamed: kept as they came, read without a guess."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faults import Answer, FaultServer, completion
from tests.faults.runs import asked, within
from tests.runs.whole_runs import lines
from tunaeval.limits import TOO_DEEP
from tunaeval.runs.directory import load_report
from tunaeval.runs.options import RunOptions
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.runs import Report

ONCE = RunOptions(attempts=1, deadline_seconds=5)
READ = {"filepath": "a.py"}
LEFT_OUT = object()


def call(**changed: object) -> dict[str, Any]:
    """A structured call of `read_file`, with parts changed or left out."""
    function: dict[str, Any] = {"name": "read_file", "arguments": json.dumps(READ)}
    made: dict[str, Any] = {"index": 0, "id": "c1", "type": "function", "function": function}
    for key, value in changed.items():
        part = function if key in function else made
        part[key] = value
        if value is LEFT_OUT:
            del part[key]
    return made


def message(*calls: object) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def run_of(folder: Path, answer: Answer, expect: object = None, **settings: Any) -> Report:
    """One scenario that wants `read_file`, answered so; what is on disk is what was reported."""
    row = {"id": "a", "prompt": "Read a.py.", "expect": expect or {"calls": [
        {"name": "read_file", "arguments": READ}]}}  # fmt: skip
    (folder / "s.json").write_text(json.dumps([row]))
    with FaultServer(then=answer) as server, within(5):
        report = asked(
            load_suite(folder / "s.json"), server, ONCE, out=folder / "runs", run_id="r", **settings
        )
    assert load_report(folder / "runs" / "r").results == report.results
    return report


SHAPES: dict[str, tuple[dict[str, Any], str, bool, str]] = {
    "as it should be": (call(), "calls", True, ""),
    "arguments null": (call(arguments=None), "calls", False, "missing-argument"),
    "no arguments": (call(arguments=LEFT_OUT), "calls", False, "missing-argument"),
    "arguments empty": (call(arguments=""), "calls", False, "missing-argument"),
    "arguments an object": (call(arguments=READ), "calls", True, ""),
    "arguments a list": (call(arguments=["a.py"]), "malformed", False, "invalid-arguments"),
    "arguments cut": (call(arguments='{"filepath": "a'), "malformed", False, "truncated"),
    "id null": (call(id=None), "calls", True, ""),
    "no id": (call(id=LEFT_OUT), "calls", True, ""),
    "no index": (call(index=LEFT_OUT), "calls", True, ""),
    "no type": (call(type=LEFT_OUT), "calls", True, ""),
    "another name": (call(name="rm"), "malformed", False, "unknown-tool"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_of_an_odd_shape_is_kept_and_never_guessed(tmp_path: Path, shape: str) -> None:
    made, outcome, ok, code = SHAPES[shape]
    result = run_of(tmp_path, completion(message(made), "tool_calls")).results[0]
    assert (result.outcome, result.ok) == (outcome, ok)
    assert result.levels["strict"].ok == ok
    assert [found.partition(":")[0] for found in result.attempts[0].diagnoses] == [code] * bool(
        code
    )
    (kept,) = lines(tmp_path / "runs" / "r")
    assert kept["attempts"][0]["message"]["tool_calls"] == [made]


def test_no_arguments_are_none_where_none_are_wanted(tmp_path: Path) -> None:
    """Null is an empty object, where that is a whole call."""
    expect = {"calls": [{"name": "list_dir"}]}
    answer = completion(message(call(name="list_dir", arguments=None)), "tool_calls")
    result = run_of(tmp_path, answer, expect).results[0]
    assert (result.ok, result.got[0].arguments) == (True, {})


def streamed(*deltas: dict[str, Any]) -> Answer:
    events = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return Answer(text.encode(), headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize("shape", ["as it should be", "id null", "no id", "no index", "no type"])
def test_the_same_in_pieces(tmp_path: Path, shape: str) -> None:
    made, outcome, ok, _ = SHAPES[shape]
    written = made["function"]["arguments"]
    first = {**made, "function": {"name": "read_file", "arguments": written[:7]}}
    more = {**made, "function": {"arguments": written[7:]}}
    more.pop("id", None)
    answer = streamed({"tool_calls": [first]}, {"tool_calls": [more]})
    result = run_of(tmp_path, answer, stream=True).results[0]
    assert (result.outcome, result.ok) == (outcome, ok)


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


DEEP = 1_000_000


def test_a_body_a_million_deep_is_a_broken_body(tmp_path: Path) -> None:
    body = json.dumps({"choices": [{"message": message(call(arguments="HERE"))}]}).encode()
    result = run_of(tmp_path, Answer(body.replace(b'"HERE"', nested(DEEP)))).results[0]
    assert result.outcome == "transport_failure"
    assert str(result.error).startswith("body: ")


@pytest.mark.parametrize("depth", [150, 900])
def test_arguments_deeper_than_a_record_are_cut_before_they_are_kept(
    tmp_path: Path, depth: int
) -> None:
    body = json.dumps({"choices": [{"message": message(call(arguments="HERE"))}]}).encode()
    result = run_of(tmp_path, Answer(body.replace(b'"HERE"', nested(depth)))).results[0]
    assert (result.outcome, result.ok) == ("malformed", False)
    assert "deeper than 128" in result.attempts[0].diagnoses[0]
    kept = (tmp_path / "runs" / "r" / "results.jsonl").read_text()
    assert (TOO_DEEP in kept) == (depth > 200)


def test_arguments_a_million_deep_in_a_text_are_kept_as_a_text(tmp_path: Path) -> None:
    text = nested(DEEP).decode()
    result = run_of(tmp_path, completion(message(call(arguments=text)), "tool_calls")).results[0]
    assert (result.outcome, result.ok) == ("malformed", False)
    (kept,) = lines(tmp_path / "runs" / "r")
    assert kept["attempts"][0]["message"]["tool_calls"][0]["function"]["arguments"] == text


@pytest.mark.parametrize(
    ("written", "outcome", "ok"),
    [
        ("9" * 5000, "malformed", False),
        ("9" * 400, "calls", True),
        ("1e400", "malformed", False),
        ("NaN", "malformed", False),
    ],
)
def test_huge_numbers_are_read_exactly_or_not_at_all(
    tmp_path: Path, written: str, outcome: str, ok: bool
) -> None:
    spec = {"name": "count", "parameters": {"type": "object", "properties": {"n": {}}}}
    wanted: object = int("9" * 400)
    rows = [{"id": "a", "prompt": "Count.", "expect": {"calls": [
        {"name": "count", "arguments": {"n": wanted}}]}}]  # fmt: skip
    (tmp_path / "s.json").write_text(json.dumps({"name": "s", "tools": [spec], "scenarios": rows}))
    answer = completion(message(call(name="count", arguments=f'{{"n": {written}}}')), "tool_calls")
    with FaultServer(then=answer) as server, within(5):
        report = asked(load_suite(tmp_path / "s.json"), server, ONCE, out=tmp_path / "runs")
    assert (report.results[0].outcome, report.results[0].ok) == (outcome, ok)
