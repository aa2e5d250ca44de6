"""Episodes by their user's turns: which episode it is, tools that arrive, steps, and credit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.runs.tasks import (
    READ,
    REPAIR,
    TASK,
    call,
    report_of,
    result_of,
    scripted,
    suite_of,
)
from tests.runs.whole_runs import Answers
from tunaeval.errors import SuiteError, UsageError
from tunaeval.tasks import checks
from tunaeval.tasks.grades import partial_of
from tunaeval.tasks.state import FinalState
from tunaeval.tasks.suites.loading import write_suite
from tunaeval.types.exchange import Request
from tunaeval.types.runs import CheckRecord, Expectation, ExpectedCall, ScenarioResult

BROKEN = "<tool_call>\n{broken\n</tool_call>"
LIST = call("list_dir")


@pytest.fixture
def seen() -> Iterator[tuple[str, list[FinalState]]]:
    """A check that keeps the states that it is asked about."""
    states: list[FinalState] = []

    def keeps(state: FinalState) -> bool:
        states.append(state)
        return True

    checks.add("keeps-states", keeps)
    yield "keeps-states", states
    checks._added.pop("keeps-states", None)
    checks._loaded.pop("keeps-states", None)


def test_tools_user_and_check_know_their_episode(
    tmp_path: Path, seen: tuple[str, list[FinalState]]
) -> None:
    known: list[tuple[str, str, int, str]] = []

    def note(who: str, episode: tunaeval.Episode | None) -> None:
        assert episode is not None
        known.append((who, episode.scenario.id, episode.repeat, episode.seed))

    def tools(workspace: tunaeval.Workspace, episode: tunaeval.Episode) -> dict[str, Any]:
        note("tools", episode)
        return dict(tunaeval.workspace_tools(workspace))

    def user(messages: Sequence[Any], episode: tunaeval.Episode) -> None:
        assert messages
        note("user", episode)

    task = {"checks": [{"python": seen[0]}]}
    environment = tunaeval.Environment(tools=tools, user=user)
    suite = suite_of(tmp_path, task, task)
    seeds = []
    for seed in (7, 7, 8, None, None):
        known.clear()
        seen[1].clear()
        options = tunaeval.RunOptions(concurrency=1, repeats=2, seed=seed)
        report_of(suite, scripted("Done."), environment=environment, options=options)
        for state in seen[1]:
            note("check", state.episode)
        by = {(name, repeat): one for _, name, repeat, one in known}
        assert len(known) == 3 * 4
        assert set(known) == {
            (who, *k, s) for who in ("tools", "user", "check") for k, s in by.items()
        }
        assert len({*by.values()}) == 4
        seeds.append(by)
    assert seeds[0] == seeds[1]
    assert all(a != b for a, b in [(seeds[1], seeds[2]), (seeds[3], seeds[4])])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tools": str.upper}, r"tools .* wanted a function .* \(workspace, episode\)"),
        ({"user": str.upper}, r"user .* wanted a function .* \(messages, episode\)"),
    ],
)
def test_a_function_that_takes_no_episode_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        tunaeval.Environment(**more)


@pytest.mark.parametrize("error", [ValueError("no data"), SystemExit(3)])
def test_tools_that_cannot_be_made_are_the_episodes_failure(
    tmp_path: Path, error: BaseException
) -> None:
    def tools(workspace: tunaeval.Workspace, episode: tunaeval.Episode) -> dict[str, Any]:
        if episode.scenario.id == "task-0":
            raise error
        return dict(tunaeval.workspace_tools(workspace))

    environment = tunaeval.Environment(tools=tools)
    report = report_of(
        suite_of(tmp_path, TASK, TASK), scripted(REPAIR, "Done."), environment=environment
    )
    assert [one.outcome for one in report.results] == ["transport_failure", "calls"]
    assert "tools cannot be made" in report.results[0].reason
    assert report.results[1].ok


LATER = {"text": "Now repair it.", "add_tools": ["update_file", "bash"]}


@pytest.mark.parametrize("ask", ["api", "prompt", "schema"])
def test_tools_are_offered_from_the_turn_that_adds_them(tmp_path: Path, ask: Any) -> None:
    offered: list[bool] = []

    def answer(request: Request) -> str:
        given = json.dumps([*(request.tools or ()), request.messages[0]])
        offered.append("update_file" in given)
        words = [one["content"] for one in request.messages if one["role"] == "user"]
        assert ask == "schema" or words[0] == "Repair add"
        return [REPAIR, "Cannot.", REPAIR, "Done.", "Yes."][request.attempt - 1]

    suite = suite_of(tmp_path, {**TASK, "users": [LATER, "Really?"]})
    report = report_of(suite, Answers(answer), options=tunaeval.RunOptions(concurrency=1, ask=ask))
    result = report.results[0]
    assert offered == [False, False, True, True, True]
    early, late = result.attempts[0].results[0], result.attempts[2].results[0]
    assert (early.ok, early.content) == (False, "Error: the tool 'update_file' is not offered yet")
    assert late.ok
    assert result.ok
    assert [one.user for one in result.attempts] == [None, None, "Now repair it.", None, "Really?"]


def test_a_call_of_a_tool_that_is_not_offered_yet_is_no_signal(tmp_path: Path) -> None:
    task = {**TASK, "users": [LATER], "done": {"tool": "update_file"}}
    result = result_of(suite_of(tmp_path, task), REPAIR, "Cannot.", REPAIR)
    assert result.task is not None
    assert (result.task.ended, result.ok, len(result.attempts)) == ("signal", True, 3)


@pytest.mark.parametrize(
    ("users", "words"),
    [
        ([3], r"task\.users\[0\]: found 3: wanted a text, or \{"),
        ([None], r"task\.users\[0\]: found None: wanted a text, or \{"),
        ([["a"]], r"task\.users\[0\]: .*wanted a text, or \{"),
        (["Go.", {"text": "x", "add_tools": ["cp"]}], r"users\[1\]\.add_tools\[0\]: .*'cp'"),
        ([{"text": "x", "add_tools": ["bsah"]}], r"add_tools\[0\]: .*'bsah'.*bash"),
        ([{"text": "x", "add_tools": "bash"}], r"users\[0\].*add_tools: found 'bash'"),
        ([{"text": "x", "add_tools": [3]}], r"add_tools\[0\]: found 3"),
        (
            [{"text": "x", "add_tools": ["bash", "bash"]}],
            r"add_tools\[1\]: 'bash' is added already",
        ),
        ([{"text": "x", "tools": ["bash"]}], r"users\[0\].*tools"),
        ([{"add_tools": ["bash"]}], r"users\[0\].*text: is missing"),
        ([{"text": 3}], r"users\[0\].*text: found 3"),
        (["  "], r"users\[0\]: found nothing but white space"),
        ([{"text": ""}], r"users\[0\]: found nothing but white space"),
        (["\ud800"], r"users\[0\]: found a lone surrogate"),
        ("Go.", r"users: found 'Go\.'"),
    ],
)
def test_a_wrong_user_is_refused_when_the_suite_is_read(
    tmp_path: Path, users: Any, words: str
) -> None:
    with pytest.raises(SuiteError, match=words):
        suite_of(tmp_path, {**TASK, "users": users})


@pytest.mark.parametrize("steps", [0, -1, "many", 1.5])
def test_a_wrong_limit_of_steps_is_refused(tmp_path: Path, steps: Any) -> None:
    with pytest.raises(SuiteError, match="steps"):
        suite_of(tmp_path, {**TASK, "limits": {"steps": steps}})


@pytest.mark.parametrize(
    ("script", "ended", "count"),
    [
        ([LIST, LIST, LIST], "steps", 2),
        ([LIST, "Done.", LIST, REPAIR, "Done."], "steps", 4),
        ([LIST, "Done.", REPAIR, "Done."], "answer", 4),
        ([LIST + LIST + LIST, "Done.", "Done."], "answer", 3),
        (["Done.", LIST, REPAIR], "steps", 3),
    ],
)
def test_too_many_replies_with_calls_in_a_turn_of_the_user_end_it(
    tmp_path: Path, script: list[str], ended: str, count: int
) -> None:
    task = {**TASK, "limits": {"steps": 2}, "users": ["Repair it."]}
    result = result_of(suite_of(tmp_path, task), *script)
    assert result.task is not None
    assert (result.task.ended, len(result.attempts)) == (ended, count)
    assert all(len(one.calls) == len(one.results) for one in result.attempts)  # the last, too
    assert result.ok is any(REPAIR in one for one in script[:count])


def unreadable(path: Path, rule: str | None, *replies: str) -> ScenarioResult:
    rows = {"prompt": "Repair add", "task": {**TASK, "users": ["Repair it."]}}
    header: dict[str, Any] = {"catalogue": "tunacode-2025-12", "scenarios": [rows]}
    header["tools"] = ["read_file", "update_file", "list_dir"]
    if rule is not None:
        header["unreadable"] = rule
    file = path / "suite.json"
    file.write_text(json.dumps(header))
    return report_of(tunaeval.load_suite(file), scripted(*replies)).results[0]


def test_what_cannot_be_read_is_noted_or_ends_the_turn(tmp_path: Path) -> None:
    for rule in (None, "retry"):
        noted = unreadable(tmp_path, rule, BROKEN, REPAIR, "Done.", "Done.")
        assert [one.user for one in noted.attempts] == [None, None, None, "Repair it."]
        assert noted.ok
    ended = unreadable(tmp_path, "end", BROKEN, REPAIR, "Done.")
    assert [one.user for one in ended.attempts] == [None, "Repair it.", None]
    assert ended.ok


def test_one_unreadable_call_makes_its_whole_reply_unreadable(tmp_path: Path) -> None:
    both = f"{REPAIR}\n{BROKEN}"
    assert unreadable(tmp_path, "retry", both, "Done.").ok
    result = unreadable(tmp_path, "end", both, "Done.")
    assert (result.ok, [len(one.calls) for one in result.attempts]) == (False, [0, 0])
    assert result.attempts[0].outcome == "malformed"


def test_a_kept_run_is_read_again_by_its_suites_rule(tmp_path: Path) -> None:
    rows = {"prompt": "Repair add", "task": TASK}
    file = tmp_path / "suite.json"
    header = {"catalogue": "tunacode-2025-12", "unreadable": "end", "scenarios": [rows]}
    file.write_text(json.dumps({**header, "tools": ["update_file"]}))
    report = report_of(
        tunaeval.load_suite(file), scripted(f"{REPAIR}\n{BROKEN}", "Done."), out=tmp_path / "runs"
    )
    assert report.passed == 0
    again = tunaeval.rescore(report.directory or "")
    assert (again.gained, again.lost, again.unasked) == (0, 0, 0)


@pytest.mark.parametrize("rule", ["stop", "", None, 3, ["end"]])
def test_a_wrong_rule_is_refused(tmp_path: Path, rule: Any) -> None:
    file = tmp_path / "suite.json"
    file.write_text(json.dumps({"unreadable": rule, "scenarios": [{"prompt": "x", "task": TASK}]}))
    with pytest.raises(SuiteError, match="unreadable"):
        tunaeval.load_suite(file)


def test_only_a_suite_with_another_rule_has_another_digest(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, TASK)
    assert suite.with_(unreadable="retry").digest == suite.digest
    assert suite.with_(unreadable="end").digest != suite.digest
    stepped = suite_of(tmp_path, {**TASK, "limits": {"steps": 3}})
    assert stepped.digest != suite.digest


def test_a_suite_with_arriving_tools_is_written_and_read_back(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {**TASK, "users": ["Go.", LATER]}).with_(unreadable="end")
    write_suite(suite, tmp_path / "copy.jsonl")
    again = tunaeval.load_suite(tmp_path / "copy.jsonl")
    assert (again.scenarios, again.unreadable) == (suite.scenarios, "end")


def test_the_final_state_has_the_turns_of_the_user(
    tmp_path: Path, seen: tuple[str, list[FinalState]]
) -> None:
    task = {"files": {"a": "1"}, "users": ["And now?", "Bye."], "checks": [{"python": seen[0]}]}
    result_of(suite_of(tmp_path, task), LIST + READ, LIST, "Listed.", "Nothing.", READ, "Bye.")
    (state,) = seen[1]
    turns = state.user_turns
    assert [one.user for one in turns] == ["Repair add", "And now?", "Bye."]
    assert [one.answer for one in turns] == ["Listed.", "Nothing.", "Bye."]
    assert [one.steps for one in turns] == [2, 0, 1]
    assert [[made.name for made in one.calls] for one in turns] == [
        ["list_dir", "read_file", "list_dir"], [], ["read_file"],
    ]  # fmt: skip
    assert [[made.tool for made in one.results] for one in turns] == [
        ["list_dir", "read_file", "list_dir"], [], ["read_file"],
    ]  # fmt: skip
    assert state.calls == tuple(made for one in turns for made in one.calls)


CHANGE = {"filepath": "calc.py", "target": "a - b", "patch": "a + b"}
WANTED = [
    {"name": "read_file", "arguments": {"filepath": "calc.py"}},
    {"name": "update_file", "arguments": CHANGE},
]


@pytest.mark.parametrize(
    ("expect", "more", "script", "calls", "share"),
    [
        ({"calls": WANTED}, [], [READ, REPAIR, "Done."], 1.0, 1.0),
        ({"calls": WANTED}, [], [READ, "Done."], 0.5, 1 / 3),
        ({"calls": WANTED}, [], [REPAIR, READ, "Done."], 0.5, 2 / 3),
        ({"calls": WANTED}, [], [LIST, "Done."], 0.0, 1 / 3),
        ({"tools": ["read_file", "update_file"]}, [], [READ, "Done."], 0.5, 1 / 3),
        ({}, [], [REPAIR, "Done."], None, 1.0),
        ({}, [], ["Done."], None, 0.5),
        ({"calls": WANTED}, [{"forbid": {"calls": "list_dir"}}], [READ, LIST, REPAIR], 0.0, 0.0),
        ({}, [{"forbid": {"calls": "list_dir"}}], [READ, LIST, REPAIR, "Done."], 0.0, 0.0),
        ({}, [{"unchanged": "calc.py"}], [REPAIR, "Done."], 0.0, 0.0),
    ],
)
def test_partial_credit(  # noqa: PLR0917 - the columns of the table
    tmp_path: Path, expect: Any, more: Any, script: list[str], calls: Any, share: float
) -> None:
    task = {**TASK, "checks": [*TASK["checks"], *more], "limits": {"turns": 3}}
    task["limits"] = {"turns": len(script)}
    suite = suite_of(tmp_path, task, expect=expect)
    report = report_of(suite, scripted(*script), out=tmp_path / "runs")
    (result,) = report.results
    assert result.task is not None
    assert result.task.partial.calls == calls
    assert result.task.partial.checks == pytest.approx(share)
    again = tunaeval.rescore(report.directory or "").report
    kept = tunaeval.load_report(again.directory or "").results[0]
    assert kept.task == result.task


NAMES = st.lists(st.sampled_from("abc"), max_size=6)


@given(wanted=NAMES.filter(bool), made=NAMES)
def test_partial_calls_are_the_longest_part_in_order(wanted: list[str], made: list[str]) -> None:
    """As the textbook's recursion says."""

    def longest(left: tuple[str, ...], right: tuple[str, ...]) -> int:
        if not left or not right:
            return 0
        if left[0] == right[0]:
            return 1 + longest(left[1:], right[1:])
        return max(longest(left[1:], right), longest(left, right[1:]))

    record = CheckRecord(
        check="calls",
        ok=False,
        reason="",
        calls=Expectation(calls=tuple(ExpectedCall(name=name) for name in wanted)),
    )
    state = FinalState("", "", calls=tuple(tunaeval.ToolCall(name, {}) for name in made))
    found = partial_of([record], state)
    assert found.calls == longest(tuple(wanted), tuple(made)) / len(wanted)
    assert found.checks == 0


def test_partial_credit_never_decides(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, TASK, expect={"calls": WANTED, "match": "any_order"})
    result = result_of(suite, REPAIR, READ, "Done.")
    assert result.ok
    assert result.task is not None
    assert result.task.partial.calls == 0.5
