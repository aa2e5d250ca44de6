"""`tunaeval dataset difficulty`: how often each scenario passes, over the repeats of runs."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.runs.whole_runs import Answers
from tunaeval.cli import main
from tunaeval.reports.statistics import wilson
from tunaeval.types.exchange import Request

REPEATS = 5


def kept(path: Path, *, repeats: int = REPEATS, prompt: str = "?", passes: int = 2) -> str:
    """A run of three scenarios: none passes, some do, all do."""
    rows: list[dict[str, Any]] = [
        {
            "id": one,
            "prompt": f"{one}{prompt}",
            "expect": {"calls": [{"name": "glob", "arguments": {}}]},
        }
        for one in ("none", "some", "all")
    ]
    path.mkdir(parents=True, exist_ok=True)
    (path / "s.json").write_text(json.dumps({"tools": [{"name": "glob"}], "scenarios": rows}))
    call = '<tool_call>{"name": "glob", "arguments": {}}</tool_call>'

    def answer(request: Request) -> str:
        most = {"none": 0, "some": passes, "all": repeats}[str(request.scenario)]
        return call if request.repeat <= most else "No."

    report = tunaeval.run(
        path / "s.json", client=Answers(answer), out=path / "runs", repeats=repeats,
        attempts=1, format="hermes", ask="prompt",
    )  # fmt: skip
    return str(report.directory)


def found(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["dataset", "difficulty", *words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [*document] == ["scenarios"]
    return list(document["scenarios"])


def test_each_scenario_has_its_rate_interval_and_pass_at_k(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    none, some, every = found(capsys, kept(tmp_path))
    rate = wilson(2, 5)
    at = {str(k): (comb(5, k) - comb(3, k)) / comb(5, k) for k in (1, 2, 4)}
    assert some == {
        "id": "some", "passed": 2, "of": 5, "low": rate.low, "high": rate.high, "pass_at": at,
    }  # fmt: skip
    assert none["pass_at"] == {"1": 0.0, "2": 0.0, "4": 0.0}
    assert (every["passed"], every["high"], every["pass_at"]["4"]) == (5, 1.0, 1.0)


def test_runs_are_pooled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [kept(tmp_path / "a"), kept(tmp_path / "b", passes=4)]
    some = found(capsys, *runs)[1]
    assert (some["passed"], some["of"]) == (6, 10)
    assert [*some["pass_at"]] == ["1", "2", "4", "8"]


@pytest.mark.parametrize(
    ("low", "high", "ids"),
    [
        ("0.2", "0.8", ["some"]), ("20%", "100%", ["some", "all"]), ("0", "0", ["none"]),
        ("0.4", "0.4", ["some"]),
    ],
)  # fmt: skip
def test_a_filter_takes_rates_between_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], low: str, high: str, ids: list[str]
) -> None:
    assert [one["id"] for one in found(capsys, kept(tmp_path), "--between", low, high)] == ids


def test_one_repeat_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = kept(tmp_path, repeats=1)
    capsys.readouterr()
    assert main(["dataset", "difficulty", directory]) == 0
    printed = capsys.readouterr()
    assert "1 of 1" in printed.out
    assert "asked once at most" in printed.err
    two = kept(tmp_path / "two")
    capsys.readouterr()
    assert main(["dataset", "difficulty", two]) == 0
    assert "asked once" not in capsys.readouterr().err


def test_an_answer_that_did_not_come_does_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = Path(kept(tmp_path))
    lines = [json.loads(one) for one in (directory / "results.jsonl").read_text().splitlines()]
    for one in lines:
        if one["scenario"] == "some" and one["repeat"] > 3:
            one["outcome"] = "transport_failure"
        if one["scenario"] == "none":
            one["outcome"] = "judge_failure"
    (directory / "results.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    none, some, _ = found(capsys, str(directory))
    assert (some["passed"], some["of"]) == (2, 3)
    assert none == {"id": "none", "passed": 0, "of": 0, "low": None, "high": None, "pass_at": {}}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--between", "0.8", "0.2"], "the first above"),
        (["--between", "20", "80"], "a share from 0 to 1"),
        (["--between", "nan", "1"], "a share from 0 to 1"),
        (["other"], "has another prompt"),
        (["nowhere"], "nowhere"),
        (["--kept", "x.jsonl"], "takes --between and --json"),
    ],
)  # fmt: skip
def test_wrong_use_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    other = kept(tmp_path / "other", prompt="!")
    words = [other if one == "other" else one for one in words]
    assert main(["dataset", "difficulty", kept(tmp_path), *words]) == 2
    assert why in capsys.readouterr().err
