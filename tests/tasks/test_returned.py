"""What is returned is compared with the reference: by drawn inputs, and with exact types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.errors import UsageError
from tunaeval.runs.driving import seed_of
from tunaeval.runs.options import RunOptions
from tunaeval.tasks.grades import grade
from tunaeval.tasks.returned import compared, drawn
from tunaeval.tasks.space import Workspace
from tunaeval.tasks.state import FinalState
from tunaeval.types.runs import Scenario
from tunaeval.types.tasks import CaseRecord, CheckRecord, ReturnsCheck

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
INT = {"$int": [1, 99]}


def kind(value: Any) -> Any:
    """A value with the type of every part, so that 1, 1.0 and True differ."""
    match value:
        case list():
            return [kind(one) for one in value]
        case dict():
            return {key: kind(one) for key, one in value.items()}
    return type(value), repr(value)


@given(PLAIN, PLAIN)
def test_values_are_equal_only_with_equal_types(wanted: Any, got: Any) -> None:
    for one in (got, wanted):
        case = CaseRecord(wanted={"value": wanted}, got={"value": json.loads(json.dumps(one))})
        assert compared("m:f", [case])[0] == (kind(one) == kind(wanted))


@given(st.text(), st.text())
def test_inputs_are_those_of_the_seed(first: str, second: str) -> None:
    spec = {"a": [{"$text": "abcdef", "length": [12, 12]}, {"$list": INT, "length": [9, 9]}]}
    check = ReturnsCheck(returns="m:f", arguments=(spec,), times=3)
    assert drawn(check, first) == drawn(check, first)
    assert (drawn(check, first) == drawn(check, second)) == (first == second)


@given(st.text(), st.integers(2, 5))
def test_every_option_is_drawn_equally_often(seed: str, count: int) -> None:
    options = {"$one_of": [*range(count)]}
    check = ReturnsCheck(returns="m:f", arguments=(options,), times=count * 2)
    found = sorted(case.arguments[0] for case in drawn(check, seed))
    assert found == sorted([*range(count)] * 2)


def test_the_seed_of_an_episode_is_known_only_with_that_of_the_run() -> None:
    scenario = Scenario(id="a", prompt="?", expect={})  # type: ignore[arg-type]  # read as a dict
    known = RunOptions(seed=1)
    assert seed_of(known, scenario, 1) == seed_of(known, scenario, 1) != seed_of(known, scenario, 2)
    assert seed_of(RunOptions(), scenario, 1) != seed_of(RunOptions(), scenario, 1)


ADD = "def add(a, b):\n    return a + b\n"


def made(program: str, **more: Any) -> CheckRecord:
    check = ReturnsCheck(**{"returns": "calc:add", "arguments": (INT, INT), "times": 2, **more})
    with Workspace({"calc.py": program}) as workspace:
        state = FinalState(
            "", "", workspace=workspace, after=workspace.before, reference={"calc.py": ADD}
        )
        return grade([check], state)[0]


@pytest.mark.parametrize(
    ("program", "ok", "words"),
    [
        (ADD, True, "it is as in the reference, in 2 cases"),
        ("from operator import add", True, "in 2 cases"),
        ("def add(a, b):\n    return a - b", False, "returns "),
        ("def add(a, b):\n    return a / 0", False, "raises ZeroDivisionError, wanted that it "),
        ("def add(a, b):\n    return [object]", False, "returns what is no JSON"),
        ("def plus(a, b):\n    return a + b", False, "is not there, wanted that it returns "),
        ("def add(a, b:", False, "raises SyntaxError"),
        ("raise SystemExit(0)", False, "raises SystemExit"),
        ("import os\nos._exit(0)", False, "its process ended without a report"),
        ("import os\nos.write(int(__import__('sys').argv[1]), b'{')", False, "without a report"),
        ("def add(a, b):\n    return 'x' * 2_000_000", False, "without a report"),
        ("import json\njson.dumps = print\n" + ADD, False, "returns what is no JSON"),
    ],
)
def test_a_program_is_judged_by_what_it_returns(program: str, ok: bool, words: str) -> None:
    record = made(program)
    assert (record.ok, words in record.reason) == (ok, True), record.reason


def test_the_programs_of_the_reference_are_in_no_file() -> None:
    listed = "import os\ndef add(a, b):\n    return sorted(os.listdir('.'))"
    files = {"sub/two.py": "from calc import add", "data.json": "{}"}
    check = ReturnsCheck(returns="sub.two:add", arguments=(1, 2), times=1)
    with Workspace({"calc.py": ADD, **files}) as workspace:
        state = FinalState(
            "", "", workspace=workspace, after=workspace.before,
            reference={"calc.py": listed, **files},
        )  # fmt: skip
        (case,) = grade([check], state)[0].cases or ()
    assert (case.got, case.wanted) == ({"value": 3}, {"value": ["data.json"]})


def test_a_program_that_hangs_is_ended_and_fails() -> None:
    record = made("import time\ntime.sleep(60)", seconds=0.5)
    assert (record.ok, "without a report" in record.reason) == (False, True)


def test_a_reference_that_returns_nothing_is_a_fault_of_the_check() -> None:
    record = made(ADD, files={"calc.py": {"$join": ["import os\nos._exit(0)"]}})
    assert (record.ok, "the reference of calc:add" in record.reason) == (None, True)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"returns": "calc:add", "arguments": [{"$real": 1}]}, r"'\$real' in .* draws nothing"),
        ({"returns": "calc:add", "arguments": [{"$int": [2, 1]}]}, "empty range"),
        ({"returns": "../calc:add"}, "should match pattern"),
        ({"returns": "calc:add", "times": 0}, "greater than or equal to 1"),
        ({"forbid": {"texts": ""}}, "the empty text"),
    ],
)
def test_what_cannot_be_drawn_is_refused(check: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        tunaeval.Checks([check])


def test_a_run_of_ones_own_is_compared_with_a_reference() -> None:
    said = [{"role": "assistant", "content": "Repaired."}]
    wanted = [{"returns": "calc:add", "arguments": [INT, INT]}]
    with Workspace({"calc.py": ADD.replace("+", "-")}) as workspace:
        for text, total in ((None, 0.0), (ADD, 1.0)):
            if text:
                (workspace.path / "calc.py").write_text(text)
            checks = tunaeval.Checks(wanted, workspace, reference={"calc.py": ADD})
            goal = tunaeval.score(said, "Repair add", check=checks).categories["goal-completion"]
            assert goal.value == total, goal.reason
