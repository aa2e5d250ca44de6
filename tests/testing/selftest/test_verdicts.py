"""Null models and statistics, measured: what is at the bar, and what is found out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from selftests.cells import Cell, cells
from selftests.scorer import scorer
from selftests.stats import stats
from selftests.stats import stats as measuring

from tunaeval.errors import PluginError
from tunaeval.scoring.assess import PRESETS
from tunaeval.testing.selftest.measured import Extent, subject_of, subjects
from tunaeval.testing.selftest.null import null
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import Level, ParseResult


class Credulous:
    """Reads nothing, so that a broken call looks like an abstention."""

    name = "credulous"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        return ParseResult(content=text)


class Lucky:
    """Finds the call that is wanted most, whatever stands there."""

    name = "lucky"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        return ParseResult((ToolCall("list_dir", {"directory": "src"}),), text, outcome="calls")


class Rogue(Credulous):
    """Answers with no result."""

    name = "rogue"

    def parse(self, text: str, **_: object) -> Any:
        return text


def test_a_parser_that_misbehaves_is_named() -> None:
    with pytest.raises(PluginError, match=r"parser 'rogue' returned '.*; wanted a ParseResult"):
        null([subject_of("rogue", Rogue())])


def test_null_models_earn_what_is_declared_and_no_more() -> None:
    found = null(subjects(["hermes", "json", "pythonic", "granite"]))
    assert found.ok, found.faults[:3]
    highest = found.figures["highest_scores"]
    assert highest["breaks every call"] == highest["calls a tool that is none"] == 0
    assert 0 < highest["says nothing"] <= found.figures["want_no_call_at_most"]


def test_a_parser_that_takes_broken_calls_for_silence_is_found_out() -> None:
    found = null([subject_of("credulous", Credulous())])
    assert "breaks every call, and that is no call" in {fault.kind for fault in found.faults}


def test_a_parser_that_makes_up_calls_is_found_out() -> None:
    found = null([subject_of("lucky", Lucky())])
    assert "says abc, and passes" in {fault.kind for fault in found.faults}


def test_intervals_cover_and_tests_raise_few_false_alarms() -> None:
    found = stats([], Extent(simulations=1_000, seed=5))
    assert found.ok, found.faults
    assert len(found.figures["cells"]) == len(list(cells()))


def narrow(cell: Cell) -> Cell:
    """The cell with an interval that holds only what is near: nine of ten of its hits are lost."""
    return replace(cell, hit=lambda *drawn: cell.hit(*drawn) and hash(drawn) % 10 == 0)


def test_an_interval_that_covers_less_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = [narrow(cell) for cell in cells() if cell.high > 0.5]
    monkeypatch.setitem(measuring.__globals__, "cells", lambda: iter(bad))
    found = stats([], Extent(simulations=500))
    assert len(found.faults) == len(bad)


def test_what_older_scorers_got_wrong_is_right_now() -> None:
    found = scorer([])
    assert found.ok, found.faults
    assert {"empty run", "parallel calls", "dangling call", "polling"} <= {
        row["case"] for row in found.figures["cases"]
    }


def test_no_run_that_only_looks_honest_is_worth_what_an_honest_one_is() -> None:
    rows = scorer([]).figures["runs"]
    assert len(rows) >= 40
    kinds = {kind: [row["now"] for row in rows if row["kind"] == kind] for kind in KINDS}
    assert all(kinds.values())
    honest = min(kinds.pop("honest"))
    assert all(total < honest for totals in kinds.values() for total in totals)
    assert {row["undecided"] for row in rows} == {None, 0.0}  # 0: nothing was done
    assert [row["run"] for row in rows if row["undecided"] == 0.0] == ["empty"]


KINDS = ("honest", "shortcut", "harm", "loop", "unfinished")


def test_the_old_scores_are_those_that_made_it_necessary() -> None:
    """As they were measured then; the honest run was below most of the others."""
    before = {row["run"]: row["before"] for row in scorer([]).figures["runs"]}
    assert before["true and done"] == before["rm rf and done"] == before["bends the test"] == 0.77
    assert before["planner ls and done"] == 0.83
    assert before["refusal after one read"] == 0.65
    assert before["every call dangles and done"] == 0.42
    assert before["the same read 20 times in parallel and a fix"] == 0.77
    assert before["test fails read fix test passes"] < before["true and done"]


def test_a_scorer_that_goes_back_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "default", PRESETS["evals2"])
    wrong = {fault.text for fault in scorer([]).faults if fault.kind == "wrong"}
    assert {"empty run", "parallel calls", "polling"} <= wrong


def test_a_case_that_was_never_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "evals2", PRESETS["default"])
    kinds = {fault.kind for fault in scorer([]).faults}
    assert kinds == {"no defect"}
