"""BFCL's categories of many turns, with a class in the place of BFCL's own.

That they are judged as by BFCL itself is in `tests/tasks/test_bfcl_multi_turn.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.faults.runs import within
from tests.runs.bfcl_folders import write_lines, write_package, write_task_prompts
from tests.runs.whole_runs import Answers
from tunaeval.errors import SuiteError
from tunaeval.tasks.suites.loading import write_suite
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.runs import ScenarioResult

TWO = {
    "question": [[{"role": "user", "content": "Open a."}], [{"role": "user", "content": "Count."}]],
    "ground_truth": [["open(title='a')"], ["count()"]],
}
HELD = {
    "question": [
        [{"role": "user", "content": "Count."}],
        [],
        [{"role": "user", "content": "Bye."}],
    ],
    "ground_truth": [[], ["open('a')", "count()"], ["count()"]],
    "missed_function": {"1": ["count", "close"]},
}
Play = Callable[..., ScenarioResult]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Puts the package in the place of BFCL's, if that is installed; its constructor's code."""

    def clear() -> dict[str, Any]:
        names = [one for one in sys.modules if one.partition(".")[0] in {"bfcl_eval", "mpmath"}]
        return {name: sys.modules.pop(name) for name in names}

    def made(init: str = "pass") -> Path:
        folder = write_package(tmp_path / "site", init)
        monkeypatch.syspath_prepend(str(folder))
        return folder

    before = clear()
    yield made
    clear()
    sys.modules.update(before)


def calls(*made: tuple[str, Any]) -> Reply:
    return Reply({
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for name, given in made
        ],
    })  # fmt: skip


def play(folder: Path, category: str, *replies: Any, **options: Any) -> list[ScenarioResult]:
    asked: list[Request] = options.pop("asked", [])

    def answer(request: Request) -> Any:
        asked.append(request)
        return replies[request.attempt - 1] if request.attempt <= len(replies) else "Done."

    suite = tunaeval.load_suite(f"bfcl:multi_turn_{category}", bfcl=folder)
    return [*tunaeval.run(suite, client=Answers(answer), out=None, **options).results]


OPEN, COUNT = calls(("open", {"title": "a"})), calls(("count", {}))


@pytest.mark.parametrize(
    ("replies", "passes", "words"),
    [
        ([OPEN, "Opened.", COUNT, "One."], True, "states and results are as wanted"),
        ([OPEN, COUNT, "Opened.", COUNT], True, ""),
        ([OPEN, "Opened.", "One."], False, "turn 2 of the user: no call"),
        ([OPEN, "Opened.", calls(("leave", {}))], False, "no result is that of count"),
        ([OPEN, "Opened.", OPEN], False, "TicketAPI.opened is"),
        ([COUNT, OPEN, calls(("close", {"number": 1})), OPEN, "", COUNT], True, ""),
        ([calls(("open", {"title": "a"}), ("no_such", {})), "", COUNT], True, ""),
        ([calls(("open", {"title": "a"}), ("exit", {})), "", COUNT], True, ""),
        ([calls(("open", {"title": "a", "urgent": "false"})), "", COUNT], False, "opened is"),
        ([calls(("open", {"title": 1})), "", COUNT], False, "opened is"),
        ([calls(("open", {"title": "a"}), ("count", [])), "", OPEN, "", COUNT], False, ""),
    ],
)
def test_a_task_is_judged_by_its_states_and_results(
    package: Callable[..., Path], tmp_path: Path, replies: Any, passes: bool, words: str
) -> None:
    package()
    (result,) = play(write_task_prompts(tmp_path / "data", "base", [TWO]), "base", *replies)
    assert (result.ok, words in result.task.checks[0].reason if result.task else None) == (
        passes,
        True,
    )


def test_functions_that_were_missing_arrive_with_bfcls_words(
    package: Callable[..., Path], tmp_path: Path
) -> None:
    package()
    asked: list[Request] = []
    folder = write_task_prompts(tmp_path / "data", "miss_func", [HELD])
    replies = ["Cannot.", OPEN, COUNT, "One.", COUNT]
    (result,) = play(folder, "miss_func", *replies, asked=asked)
    assert result.ok, result.reason
    first, *_, last = asked
    assert [one["role"] for one in first.messages] == ["user"]  # without a system prompt
    offered = [{one["function"]["name"] for one in request.tools or ()} for request in asked]
    assert offered[0] == {"open", "wait", "exit", "leave"}
    assert offered[1:] == [offered[0] | {"count", "close"}] * 5
    assert [one["content"] for one in last.messages if one["role"] == "user"] == [
        "Count.",
        "I have updated some more functions you can choose from. What about now?",
        "Bye.",
    ]


def test_a_held_out_function_runs_early(package: Callable[..., Path], tmp_path: Path) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "miss_func", [HELD])
    (result,) = play(folder, "miss_func", COUNT, "None.", OPEN, COUNT, "One.", COUNT)
    assert (result.ok, result.attempts[0].results[0].content) == (True, "0")


@pytest.mark.parametrize(
    ("before", "after", "ended", "passes"),
    [(20, 0, "answer", True), (21, 0, "steps", False), (0, 20, "answer", True),
     (0, 21, "steps", True), (0, 30, "steps", True)],
)  # fmt: skip
def test_the_21st_step_of_a_turn_is_run_and_ends_it(  # noqa: PLR0917 - the columns of the table
    package: Callable[..., Path], tmp_path: Path, before: int, after: int, ended: str, passes: bool
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    early = [*[calls(("unknown", {}))] * (before - 1), OPEN, "Opened."]
    late = [*[calls(("unknown", {}))] * min(after - 1, 20), COUNT]
    (result,) = play(folder, "base", *early, *(late if after != 30 else [COUNT] * 30))
    assert result.task is not None
    assert (result.task.ended, result.ok) == (ended, passes)
    assert all(len(one.calls) == len(one.results) for one in result.attempts)


EVIL = "__import__('os').system"


def test_no_name_or_value_of_a_model_is_evaluated(
    package: Callable[..., Path], tmp_path: Path
) -> None:
    """BFCL's checker runs a program for this call; played and read again, nothing is run."""
    package()
    trace = tmp_path / "trace"
    code = f"{EVIL}('touch {trace}')"
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    evil = [
        (EVIL, {"command": f"touch {trace}"}),
        (code, {}),
        ("open", {"title": code}),
        ("open", {"title": "a", f"b={code}, c": 1}),
        ("open", {code: code}),
        (f"count() or {EVIL}", {"command": f"touch {trace}"}),
    ]
    for one in evil:
        (result,) = play(folder, "base", calls(one), OPEN, "Opened.", COUNT)
        assert result.task is not None
        assert result.task.checks[0].ok is not None
    steps = [[[{name: json.dumps(given)}] for name, given in evil], [[{"count": "{}"}]]]
    texts = [[f"[{code}]", f"[open(title={code})]", code], [f"{EVIL}(command='touch {trace}')"]]
    rows = [{"id": "multi_turn_base_0", "result": steps}]
    other = [{"id": "multi_turn_base_0", "result": texts}]
    for model, each in (("server", rows), ("prompted", other)):
        file = f"result/{model}/multi_turn/BFCL_v4_multi_turn_base_result.json"
        write_lines(tmp_path / "project" / file, each)
    found = [*tunaeval.rescore_bfcl(tmp_path / "project", prompts=folder)]
    assert [one.results[0].ok for one in found] == [False, False]
    assert not trace.exists()


@pytest.mark.parametrize("init", ["raise ValueError('no')", "raise SystemExit(1)", "1 / 0"])
def test_a_class_that_raises_is_the_episodes_failure(
    package: Callable[..., Path], tmp_path: Path, init: str
) -> None:
    package(init)
    folder = write_task_prompts(tmp_path / "data", "base", [TWO, TWO])
    results = play(folder, "base", OPEN)
    assert [one.outcome for one in results] == ["transport_failure"] * 2
    assert "the episode's tools cannot be made" in results[0].reason
    row = {"id": "multi_turn_base_0", "result": [[[{"count": "{}"}]], [""]]}
    write_lines(tmp_path / "r" / "m" / "BFCL_v4_multi_turn_base_result.json", [row])
    (model,) = tunaeval.rescore_bfcl(tmp_path / "r", prompts=folder)
    assert [one.outcome for one in model.results] == ["judge_failure"]


def test_what_a_function_raises_is_its_result(package: Callable[..., Path], tmp_path: Path) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    close = calls(("close", {"number": 7}))
    (result,) = play(folder, "base", close, calls(("leave", {})), OPEN, "", COUNT)
    contents = [one.results[0].content for one in result.attempts if one.results]
    assert result.ok
    assert contents[:2] == [
        "Error during execution: pop from empty list",
        "Error during execution: left",
    ]


def test_a_function_that_never_returns_ends_its_episode_alone(
    package: Callable[..., Path], tmp_path: Path
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO, TWO])

    def answer(request: Request) -> Any:
        waits = request.scenario.endswith("_0")
        return [calls(("wait", {})) if waits else OPEN, "Opened.", COUNT, "One."][
            request.attempt - 1
        ]

    suite = tunaeval.load_suite("bfcl:multi_turn_base", bfcl=folder)
    options = tunaeval.RunOptions(deadline_seconds=1.0)
    with within(20):
        report = tunaeval.run(suite, client=Answers(answer), out=None, options=options)
    assert [one.ok for one in report.results] == [False, True]
    task = report.results[0].task
    assert task is not None
    assert (task.ended, task.checks[0].reason) == ("seconds", "a call did not return in time")


def test_a_number_that_python_would_compute_for_hours_is_refused(
    package: Callable[..., Path], tmp_path: Path
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    (result,) = play(folder, "base", calls(("wait", {"exponent": 10**9})), OPEN, "", COUNT)
    assert result.ok
    content = result.attempts[0].results[0].content
    assert content == "Error during execution: exponent is too large"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"involved_classes": ["Ticket"]}, r"no class of BFCL .*'Ticket'"),
        ({"involved_classes": []}, "involved_classes: found"),
        ({"question": []}, "question: found"),
        ({"question": [[], [{"role": "user", "content": "a"}]]}, r"question\[0\]: found"),
        ({"ground_truth": [[]]}, "question: found"),
        ({"missed_function": {"1": ["no_such"]}}, "no_such"),
        ({"initial_config": 3}, "found 3"),
    ],
)
def test_an_entry_that_is_no_task_is_refused(
    package: Callable[..., Path], tmp_path: Path, row: Any, words: str
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [{**TWO, **row}])
    with pytest.raises(SuiteError, match=words):
        tunaeval.load_suite("bfcl:multi_turn_base", bfcl=folder)


COMMANDS = ("pip install --no-deps bfcl-eval", "pip install 'tunaeval[bfcl]'")


@pytest.mark.parametrize("lacking", ["bfcl_eval", "mpmath"])
def test_without_classes_or_mpmath_both_commands_are_named(
    package: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    write_lines(tmp_path / "r" / "m" / "BFCL_v4_multi_turn_base_result.json", [])
    monkeypatch.setitem(sys.modules, lacking, None)
    with pytest.raises(SuiteError, match=rf"^{lacking} is not installed") as refused:
        tunaeval.load_suite("bfcl:multi_turn_base", bfcl=folder)
    (model,) = tunaeval.rescore_bfcl(tmp_path / "r", prompts=folder)
    for words in (str(refused.value), model.faults[0]):
        assert all(command in words for command in COMMANDS)


def test_such_a_suite_is_not_written_as_a_file(
    package: Callable[..., Path], tmp_path: Path
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    suite = tunaeval.load_suite("bfcl:multi_turn_base", bfcl=folder)
    with pytest.raises(SuiteError, match="cannot be written"):
        write_suite(suite, tmp_path / "copy.jsonl")
    found = {one.found for one in tunaeval.check_suite(suite)}
    assert found == set()


def test_kept_episodes_are_read_again_without_schemas(
    package: Callable[..., Path], tmp_path: Path
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    suite = tunaeval.load_suite("bfcl:multi_turn_base", bfcl=folder)
    replies = [calls(("open", {"title": 5}), ("unknown", {"a": 1})), OPEN, "", COUNT, "One."]
    client = Answers(lambda request: replies[request.attempt - 1])
    report = tunaeval.run(suite, client=client, out=tmp_path / "runs")
    (old,) = report.results
    assert [one.arguments for one in old.got] == [{"title": 5}, {"a": 1}, {"title": "a"}, {}]
    again = tunaeval.rescore(report.directory or "").report
    (new,) = tunaeval.load_report(again.directory or "").results
    assert (new.got, new.ok, new.task) == (old.got, old.ok, old.task)


TURNS = [[[{"open": '{"title": "a"}'}], "Opened."], [[{"count": "{}"}], "One."]]


@pytest.mark.parametrize(
    ("result", "outcome", "passes"),
    [
        (TURNS, "calls", True),
        ([TURNS[0], [{"count": {}}]], "calls", True),
        ([[{"open": {"title": "a"}, "count": {}}], TURNS[1]], "calls", True),
        (TURNS[:1], "calls", False),
        ([*TURNS, ["Bye."]], "calls", False),
        ([TURNS[0], []], "calls", False),
        ([], "no_call", False),
        ([["[open(title='a')]", "Opened."], ["count()", "[count()]", "One."]], "calls", True),
        ([[[{"open": '{"title": "a"}'}], "[open(title='b')]"], TURNS[1]], "calls", True),
        ([[[3], [{"open": '{"title": "a"}'}]], [[], None, *TURNS[1]]], "calls", True),
        ("Error during inference: 500", "transport_failure", False),
    ],
)
def test_results_of_many_turns_are_read(
    package: Callable[..., Path], tmp_path: Path, result: Any, outcome: str, passes: bool
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    row = {"id": "multi_turn_base_0", "result": result}
    write_lines(tmp_path / "r" / "m" / "multi_turn" / "BFCL_v4_multi_turn_base_result.json", [row])
    (model,) = tunaeval.rescore_bfcl(tmp_path / "r", prompts=folder)
    assert (model.faults, model.categories) == ([], {"multi_turn_base": 1})
    assert [(one.outcome, one.ok) for one in model.results] == [(outcome, passes)]


@pytest.mark.parametrize("result", ["What?", 3, None, {}, [3], ["a"]])
def test_a_result_that_is_no_list_of_turns_is_a_fault(
    package: Callable[..., Path], tmp_path: Path, result: Any
) -> None:
    package()
    folder = write_task_prompts(tmp_path / "data", "base", [TWO])
    row = {"id": "multi_turn_base_0", "result": result}
    write_lines(tmp_path / "r" / "m" / "BFCL_v4_multi_turn_base_result.json", [row])
    (model,) = tunaeval.rescore_bfcl(tmp_path / "r", prompts=folder)
    assert (model.results, len(model.faults)) == ([], 1)
    assert "in a list for each turn" in model.faults[0]
