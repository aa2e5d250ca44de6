"""Each kind of check holds, fails with its reason and its turn, and fails itself as no answer."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.errors import PluginShapeError, UsageError
from tunaeval.tasks.checks import read_checks
from tunaeval.tasks.grades import grade
from tunaeval.tasks.named import checks
from tunaeval.tasks.space import Workspace
from tunaeval.tasks.state import FinalState
from tunaeval.tasks.suites.loading import load_catalogue
from tunaeval.tools.specs import COMMAND_ARGUMENTS
from tunaeval.types.calls import ToolCall
from tunaeval.types.runs import CheckRecord

FILES = {"calc.py": "def add(a, b):\n    return a - b\n", "tests/t.py": "from calc import add\n"}
CALLS = (
    ToolCall("read_file", {"filepath": "calc.py"}),
    ToolCall("update_file", {"filepath": "./calc.py", "target": "a - b", "patch": "a + b"}),
    ToolCall("bash", {"command": "rm -rf ."}),
)


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace(FILES) as made:
        yield made


def state(workspace: Workspace, **more: Any) -> FinalState:
    return FinalState(
        prompt="Repair add",
        answer=more.pop("answer", "I repaired add."),
        calls=CALLS,
        turns=4,
        call_turns=(1, 2, 3),
        workspace=workspace,
        after=workspace.snapshot(),
        tools=load_catalogue("tunacode-2025-12"),
        **more,
    )


def made(workspace: Workspace, check: dict[str, Any], **more: Any) -> CheckRecord:
    (record,) = grade(read_checks([check]), state(workspace, **more))
    return record


def change(workspace: Workspace, path: str, text: str) -> None:
    workspace.confined.write(path, text.encode())


GOOD = "def add(a, b):\n    return a + b\n"


@pytest.mark.parametrize(
    ("check", "ok", "words"),
    [
        ({"file": "calc.py", "contains": "a + b"}, True, "calc.py is as wanted"),
        ({"file": "calc.py", "contains": "sub"}, False, "contain 'sub'; it says 'def add"),
        ({"file": "calc.py", "lacks": "a + b"}, False, "contains 'a + b'"),
        ({"file": "calc.py", "equals": GOOD}, True, "as wanted"),
        ({"file": "calc.py", "equals": "x"}, False, "wanted 'x'"),
        ({"file": "calc.py", "fits": {"$regex": r"a \+ b"}}, True, "as wanted"),
        ({"file": "calc.py", "fits": {"$regex": "a - b"}}, False, "wanted what fits"),
        ({"file": "calc.py", "any_of": ["x", "def"]}, True, "as wanted"),
        ({"file": "gone.py"}, False, "gone.py is not there"),
        ({"absent": "*.bak"}, True, "nothing of it is there"),
        ({"absent": "tests/"}, False, "tests/t.py is there"),
        ({"unchanged": "tests/"}, True, "as it was"),
        ({"unchanged": "**"}, False, "calc.py was changed"),
        ({"unchanged": "**", "but": "calc.py"}, True, "as it was"),
        ({"command": ["python", "-c", "from calc import add; print(add(2, 3))"]}, True, "'5'"),
        ({"command": ["python", "-c", "raise SystemExit(3)"]}, False, "exits with 3, wanted 0"),
        ({"command": ["python", "-c", "print(1)"], "prints": "2"}, False, "does not print '2'"),
        ({"command": ["python", "-c", "while 1: pass"], "seconds": 0.5}, False, "took over 0.5 s"),
        ({"answer": {"contains": "REPAIRED", "ignore_case": True}}, True, "as wanted"),
        ({"answer": {"contains": "REPAIRED"}}, False, "the answer does not contain"),
        ({"calls": {"tools": ["update_file"], "match": "superset"}}, True, "expected call"),
        ({"calls": {"tools": ["grep"], "match": "superset"}}, False, "no call of 'grep'"),
        ({"forbid": {"calls": ["write_file"], "paths": ["tests/"]}}, True, "nothing forbidden"),
        ({"forbid": {"calls": ["bash"]}}, False, "bash was called"),
        ({"forbid": {"paths": ["calc.py"]}}, False, "read_file was called with calc.py"),
    ],
)
def test_a_check_says_whether_and_why(
    workspace: Workspace, check: dict[str, Any], ok: bool, words: str
) -> None:
    change(workspace, "calc.py", GOOD)
    record = made(workspace, check)
    assert (record.ok, words in record.reason) == (ok, True), record
    assert (record.turn is None) == ok


@pytest.mark.parametrize(
    ("check", "turn"),
    [
        ({"forbid": {"calls": ["bash", "read_file"]}}, 1),
        ({"forbid": {"calls": [{"name": "bash", "arguments": {"command": "rm -rf ."}}]}}, 3),
        ({"forbid": {"paths": ["tests/"]}}, 2),
        ({"unchanged": "tests/"}, 2),
        ({"absent": "tests/t.py"}, 2),
        ({"file": "tests/t.py", "contains": "assert"}, 3),
        ({"file": "calc.py", "contains": "a * b"}, 1),
        ({"file": "new.py"}, 4),
        ({"answer": {"contains": "42"}}, 4),
        ({"calls": {"tools": ["read_file", "grep", "bash"]}}, 2),
        ({"command": ["python", "-c", "import nothing_of_that_name"]}, 3),
    ],
)
def test_the_turn_is_named_where_it_went_wrong(
    workspace: Workspace, check: dict[str, Any], turn: int
) -> None:
    change(workspace, "tests/t.py", "pass\n")
    change(workspace, "calc.py", "x\n")
    touched = (("calc.py",), ("tests/t.py",), ("tests/t.py",), ())
    assert made(workspace, check, touched=touched).turn == turn


@given(text=st.text(max_size=30), part=st.text(min_size=1, max_size=5))
def test_contains_and_lacks_are_opposites(text: str, part: str) -> None:
    outcome = [
        grade(read_checks([{"answer": {key: [part]}}]), FinalState("", text))[0].ok
        for key in ("contains", "lacks")
    ]
    assert sorted(map(str, outcome)) == ["False", "True"]
    assert grade(read_checks([{"answer": {"equals": text}}]), FinalState("", text))[0].ok


def plug_in(found: FinalState, least: int = 1) -> tuple[bool, str]:
    return len(found.calls) >= least, f"{len(found.calls)} calls"


def raises(_: FinalState) -> bool:
    raise ValueError("the database is gone")


def leaves(_: FinalState) -> bool:
    raise SystemExit(3)


async def late(state: FinalState) -> bool:
    return state.turns == 1


class Late:
    async def __call__(self, state: FinalState) -> bool:
        return await late(state)


@pytest.mark.parametrize("check", [late, Late(), functools.partial(late)])
def test_a_check_that_has_to_be_awaited_is_refused(check: Any) -> None:
    with pytest.raises(PluginShapeError, match="'later' is refused: it is async: async def"):
        checks.add("later", check)


@pytest.mark.parametrize("check", [lambda: True, functools.partial(lambda _: True, None)])
def test_a_check_that_takes_no_state_is_refused(check: Any) -> None:
    with pytest.raises(PluginShapeError, match="'empty' is refused: too many positional"):
        checks.add("empty", check)


checks.add("some-calls", plug_in)
checks.add("raises-always", raises)
checks.add("says-maybe", lambda _: "maybe")
checks.add("leaves", leaves)
checks.add("is-late", lambda _: late(FinalState("", "")))


def test_a_python_check_is_called_by_its_name_with_its_settings(workspace: Workspace) -> None:
    assert made(workspace, {"python": "some-calls"}).ok is True
    record = made(workspace, {"python": "some-calls", "settings": {"least": 9}})
    assert (record.ok, record.reason) == (False, "3 calls")


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            {"python": "raises-always"},
            "the check itself failed: check 'raises-always' raised ValueError: the database",
        ),
        ({"python": "leaves"}, "the check itself failed: check 'leaves' raised SystemExit: 3"),
        ({"python": "says-maybe"}, "check 'says-maybe' returned 'maybe'; wanted a bool or (bool,"),
        ({"python": "is-late"}, "check 'is-late' returned <coroutine object"),
        ({"python": "nobody-has-it"}, "no check is called 'nobody-has-it'"),
        ({"python": "some-calls", "settings": {"most": 1}}, "TypeError"),
        ({"command": ["no-such-program"]}, "no program 'no-such-program'"),
    ],
)
def test_a_check_that_fails_itself_says_nothing_of_the_model(
    workspace: Workspace, check: dict[str, Any], words: str
) -> None:
    record = made(workspace, check)
    assert record.ok is None
    assert words in record.reason


def test_a_check_of_files_without_a_workspace_fails_itself() -> None:
    (record,) = grade(read_checks([{"file": "a.py"}]), FinalState("", ""))
    assert record.ok is None
    assert "pass workspace=" in record.reason


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ([{"fil": "a"}], "with one of the keys file, absent"),
        ([{"file": "a", "absent": "b"}], "with one of the keys"),
        ([{"file": "a", "contain": "b"}], "checks[0].contain"),
        ([{"answer": {}}], "any answer would do"),
        ([], "wanted one check or more"),
        ([{"forbid": {}}], "it forbids nothing"),
        ([{"forbid": {"calls": [], "paths": []}}], "it forbids nothing"),
        ([{"unchanged": []}], "it names no path"),
        ([{"absent": []}], "it names no path"),
        ([{"unchanged": "**", "but": "**"}], "leaves out what is to be unchanged"),
        ([{"file": "a", "contains": []}], "any text would do"),
        ([{"file": "a", "contains": ""}], "contains has the empty text"),
        ([{"answer": {"contains": ""}}], "contains has the empty text"),
        ([{"answer": {"any_of": ["a", ""]}}], "any_of has the empty text"),
        ([{"file": "../x"}], "leads out of the workspace"),
        ([{"file": "/x"}], "leads out of the workspace"),
        ([{"file": "a", "fits": {"$regx": "a"}}], "there is no matcher '$regx'"),
        ([{"answer": {"fits": {"$regx": "a"}}}], "there is no matcher '$regx'"),
        ([{"calls": {}}], "nothing is expected"),
        ([{"command": []}], "checks[0].command"),
        (
            [{"command": "python -m a"}],
            'wanted a list of words, since no shell splits a text; write ["python", "',
        ),
        ([{"command": "a 'b"}], 'write ["python", "-c", "print(1)"]'),
        ({"file": "a"}, "wanted a list of checks"),
    ],
)
def test_what_is_no_check_is_refused_with_its_place(written: Any, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_checks(written)
    assert words in str(raised.value)


MESSAGES = [
    {"role": "user", "content": "Repair add"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "calc.py"},
    {"role": "assistant", "content": "Done."},
]


def test_the_same_checks_serve_a_score(workspace: Workspace) -> None:
    good = tunaeval.Checks([{"unchanged": "**"}, {"answer": {"contains": "Done"}}], workspace)
    score = tunaeval.score(MESSAGES, "Repair add", check=good)
    assert score.goal_completion == 1.0
    bad = tunaeval.Checks([{"forbid": {"calls": ["bash"]}}, {"file": "calc.py"}], workspace)
    score = tunaeval.score(MESSAGES, "Repair add", check=bad)
    assert score.weighted_total == 0.0
    assert "bash was called (turn 1)" in score.categories["goal-completion"].reason
    assert [record.ok for record in bad.records] == [False, True]


def test_a_check_that_fails_itself_leaves_no_total(workspace: Workspace) -> None:
    broken = tunaeval.Checks([{"python": "raises-always"}], workspace)
    score = tunaeval.score(MESSAGES, "Repair add", check=broken)
    assert score.weighted_total is None
    assert "the database is gone" in score.categories["goal-completion"].reason


def test_a_check_that_leaves_is_named_in_a_score(workspace: Workspace) -> None:
    leaving = tunaeval.Checks([{"python": "leaves"}], workspace)
    reason = (
        tunaeval.score(MESSAGES, "Repair add", check=leaving).categories["goal-completion"].reason
    )
    assert "check 'leaves' raised SystemExit: 3" in reason


def test_one_call_may_be_forbidden_without_a_list(workspace: Workspace) -> None:
    call = {"name": "bash", "arguments": {"command": "rm -rf ."}}
    for one in ("bash", call):
        assert read_checks([{"forbid": {"calls": one}}]) == read_checks(
            [{"forbid": {"calls": [one]}}]
        )
        (record,) = grade(read_checks([{"forbid": {"calls": one}}]), state(workspace))
        assert record.ok is False


@pytest.mark.parametrize("argument", sorted(COMMAND_ARGUMENTS))
def test_a_path_is_forbidden_in_every_argument_that_is_run(argument: str) -> None:
    call = ToolCall("shell", {argument: "head -1 ./.env | wc"})
    (record,) = grade(read_checks([{"forbid": {"paths": [".env"]}}]), FinalState("", "", (call,)))
    assert (record.ok, record.reason) == (False, "shell was called with .env")
