"""Checks that are classes: how they are written, made and graded, and what is said of a bad one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import tunaeval
from tunaeval.errors import PluginShapeError, UsageError
from tunaeval.tasks import named
from tunaeval.types.tasks import KINDS

DONE = [{"role": "assistant", "content": "a.py"}]


@dataclass
class FewCalls:
    few_calls: int
    but: tuple[str, ...] = ()
    label = "few calls"

    def fault(self) -> str | None:
        return "it allows a negative number of calls" if self.few_calls < 0 else None

    def grade(self, state: tunaeval.FinalState) -> tuple[bool, str]:
        made = [call.name for call in state.calls if call.name not in self.but]
        return len(made) <= self.few_calls, f"{len(made)} calls"


@dataclass
class Odd:
    odd: str

    def fault(self) -> Any:
        if self.odd == "raises":
            raise ValueError("no such thing")
        return 42 if self.odd == "returns" else None

    @property
    def label(self) -> str:
        raise ValueError("no label")

    def grade(self, state: tunaeval.FinalState) -> Any:
        raise SystemExit(len(state.calls))


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    added = named.checks._added
    before = dict(added)
    tunaeval.registries()["checks"].add("few-calls", FewCalls)
    tunaeval.registries()["checks"].add("odd", Odd)
    named.checks._loaded.clear()
    yield
    added.clear()
    added.update(before)
    named.checks._loaded.clear()


def score(*checks: dict[str, Any]) -> Any:
    return tunaeval.score(DONE, "What is here?", check=tunaeval.Checks(checks))


def test_a_check_is_made_of_its_keys_and_kept_as_it_is_written() -> None:
    written = {"few-calls": 0, "but": ["ls"]}
    checks = tunaeval.Checks([written])
    assert checks.checks[0].model_dump() == written
    assert score(written).goal_completion == 1.0
    checks(tunaeval.read_conversation(DONE))
    (record,) = checks.records
    assert (record.check, record.ok, record.reason) == ("few calls", True, "0 calls")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"few-calls": -1}, "it allows a negative number of calls"),
        ({"few-calls": 1, "of": 2}, "check 'few-calls' cannot be made of .* unexpected keyword"),
        ({"few-cals": 1}, "found the keys 'few-cals'; wanted a check, an object with one of"),
        ({"odd": "raises"}, r"check 'odd' is made of .*, and its fault\(\) raised ValueError"),
        ({"odd": "returns"}, r"check 'odd': its fault\(\) returned 42; wanted a text, or None"),
    ],
)
def test_what_is_wrong_with_a_check_is_said_when_it_is_read(
    written: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        tunaeval.Checks([written])


def test_a_check_that_leaves_is_its_own_failure() -> None:
    result = score({"odd": "at last"})
    assert result.details.outcome == "check_failure"
    assert "check 'odd' raised SystemExit: 0" in result.details.reasoning


def test_the_shape_of_a_class_is_looked_at_when_it_is_added() -> None:
    with pytest.raises(PluginShapeError, match="wanted a class with grade"):
        tunaeval.registries()["checks"].add("empty", type("Empty", (), {}))


BUILT_IN: dict[str, tuple[dict[str, Any], str]] = {
    "file": ({"file": "a.py", "contains": "x"}, "file a.py"),
    "absent": ({"absent": "b.py"}, "absent b.py"),
    "unchanged": ({"unchanged": ["a.py", "tests/"]}, "unchanged a.py, tests/"),
    "command": ({"command": ["true"]}, "command 'true'"),
    "answer": ({"answer": {"equals": "a.py"}}, "answer"),
    "calls": ({"calls": {"none": True}}, "calls"),
    "claims": ({"claims": {"bash": "I ran"}}, "claims bash"),
    "forbid": ({"forbid": {"calls": "bash"}}, "forbid"),
    "returns": ({"returns": "a:f"}, "returns a:f"),
    "python": ({"python": "quiet"}, "python quiet"),
}
"""For each kind how a check is written, and what reports call it."""


def test_every_built_in_kind_is_tried() -> None:
    assert BUILT_IN.keys() == {*KINDS}


@pytest.mark.parametrize("kind", BUILT_IN)
def test_a_built_in_check_is_a_class_by_the_same_door(kind: str) -> None:
    written, label = BUILT_IN[kind]
    made = tunaeval.registries()["checks"].get(kind)(**written)
    assert named._no_check(type(made)) is None
    assert made.label == label
    if not made.needs_workspace and kind != "python":
        state = tunaeval.FinalState(prompt="", answer="a.py", calls=(), turns=1)
        assert made.grade(state)[0] is True


def test_a_built_in_class_says_where_it_went_wrong_too() -> None:
    answer = tunaeval.registries()["checks"].get("answer")(answer={"lacks": "a.py"})
    ok, reason, turn, _ = answer.grade(tunaeval.FinalState("", "a.py", (), 3))
    assert (ok, turn) == (False, 3)
    assert "the answer contains" in reason
