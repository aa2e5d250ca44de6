"""Requests that got no answer: counted by cause, in no score, and past the budget of every gate."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.cli.conftest import Tuna
from tests.faults import Answer, FaultServer, chat
from tunaeval.cli.budget import over_budget
from tunaeval.errors import UsageError
from tunaeval.types.error_budget import ErrorBudget

GOOD = chat('<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>')
WORDS = "CUDA out of memory on worker 3"
ERROR = json.dumps({"error": {"message": WORDS}}).encode()
REFUSED = Answer(ERROR, 400, {"content-type": "application/json"})
BROKEN = Answer(ERROR, 500, {"content-type": "application/json"})
ASK = ("--model", "m", "--concurrency", "1", "--attempts", "1", "--format", "hermes")


@pytest.fixture
def eight(tmp_path: Path) -> Path:
    path = tmp_path / "eight.jsonl"
    call = {"name": "bash", "arguments": {"command": "ls"}}
    rows = [{"id": f"ls-{n}", "prompt": f"Run ls, {n}.", "expect": {"calls": [call]}}
            for n in range(8)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, [{"name": "eight"}, *rows])))
    return path


def half_broken() -> FaultServer:
    """The first four answers are right, and no other request is ever answered."""
    return FaultServer(GOOD, GOOD, GOOD, GOOD, then=REFUSED)


@pytest.fixture
def run(here: Tuna, eight: Path) -> Callable[..., tuple[int, str, str]]:
    def asked(server: FaultServer, *more: str) -> tuple[int, str, str]:
        with server:
            where = ("--suite", str(eight), "--client", "openai", "--base-url", server.base_url)
            done = here("run", *where, *ASK, "--tools", "prompt", "--timeout", "3", *more)
        return done.returncode, done.stdout, done.stderr

    return asked


def test_a_gate_does_not_open_on_the_few_that_were_answered(
    run: Callable[..., tuple[int, str, str]],
) -> None:
    code, _, said = run(half_broken(), "--fail-under", "70%")
    assert code == 3
    sentence = said.strip().splitlines()[-1]
    assert sentence.startswith(
        "tunaeval: 4 of 8 results failed, more than --max-errors 0 allows, so nothing is judged; "
        "by cause: 4 x "
    )
    assert WORDS in sentence


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ((), 0),
        (("--fail-under", "70%", "--max-errors", "4"), 0),
        (("--fail-under", "70%", "--max-errors", "50%"), 0),
        (("--fail-under", "70%", "--max-errors", "49%"), 3),
        (("--fail-under", "70%", "--max-errors", "3"), 3),
        (("--max-errors", "3"), 3),
    ],
)
def test_the_budget_says_how_many_may_fail(
    run: Callable[..., tuple[int, str, str]], more: tuple[str, ...], code: int
) -> None:
    assert run(half_broken(), *more)[0] == code


def test_a_score_below_the_gate_is_worse_than_no_failure(
    run: Callable[..., tuple[int, str, str]],
) -> None:
    code, _, said = run(FaultServer(then=chat("No.")), "--fail-under", "70%")
    assert code == 1
    assert "results failed" not in said


@pytest.mark.parametrize("more", [(), ("--quiet",)])
def test_the_last_lines_say_what_failed_of_which_cause(
    run: Callable[..., tuple[int, str, str]], more: tuple[str, ...]
) -> None:
    _, told, said = run(half_broken(), *more)
    last = (told or said).rstrip().splitlines()[-3:]
    assert any("not answered: 4 of 8 scenarios, and in no score" in line for line in last)
    assert WORDS in last[-1]


def test_a_500_that_was_retried_to_the_end_is_told_in_the_words_of_the_server(
    eight: Path,
) -> None:
    with FaultServer(then=BROKEN) as server:
        report = tunaeval.run(
            eight, client="openai", base_url=server.base_url, model="m", out=None, ask="prompt",
            deadline_seconds=2, concurrency=8,
        )  # fmt: skip
    assert {result.outcome for result in report.results} == {"transport_failure"}
    for result in report.results:
        assert result.error is not None
        assert WORDS in result.error
        assert "500" in result.error
        assert "took over" not in result.error
    assert sum(report.summary.failures.values()) == 8


def test_a_server_that_says_nothing_timed_out(eight: Path) -> None:
    with FaultServer(then=Answer(GOOD.body, headers=GOOD.headers, seconds_before=9)) as server:
        report = tunaeval.run(
            eight, client="openai", base_url=server.base_url, model="m", out=None, ask="prompt",
            deadline_seconds=0.5, concurrency=8,
        )  # fmt: skip
    assert {result.outcome for result in report.results} == {"transport_failure"}
    assert all("0.5 s" in (result.error or "") for result in report.results)


# --- compare -------------------------------------------------------------------------------------


@pytest.fixture
def directories(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> list[str]:
    """One run that was answered whole, and one of which half was."""
    run(FaultServer(then=GOOD), "--out", "whole")
    run(half_broken(), "--out", "half")
    return [str(next((tmp_path / name).iterdir())) for name in ("whole", "half")]


def test_what_failed_on_one_side_is_left_out_and_counted(
    here: Tuna, directories: list[str]
) -> None:
    done = here("compare", *directories)
    assert done.returncode == 0
    assert "4 scenarios paired" in done.stdout
    assert "not answered in B: 4" in done.stdout.splitlines()[-2]
    assert WORDS in done.stdout.splitlines()[-1]
    found = tunaeval.compare(*directories)
    assert found.overall.scenarios == 4
    assert sum(found.left_out.values()) == 4


@pytest.mark.parametrize(
    ("more", "code"),
    [((), 3), (("--max-errors", "4"), 0), (("--max-errors", "50%"), 0), (("--max-errors", "3"), 3)],
)
def test_the_gate_of_a_comparison_has_a_budget_too(
    here: Tuna, directories: list[str], more: tuple[str, ...], code: int
) -> None:
    done = here("compare", *directories, "--fail-if-worse", "70%", *more)
    assert done.returncode == code, done.stdout + done.stderr
    assert (WORDS in done.stderr) == (code == 3)


@pytest.mark.parametrize(
    ("more", "code"),
    [(("--fail-if-worse", "70%"), 3), (("--fail-if-worse", "70%", "--max-errors", "3"), 3),
     (("--fail-if-worse", "70%", "--max-errors", "4"), 0), (("--max-errors", "3"), 3), ((), 0)],
)  # fmt: skip
@pytest.mark.parametrize("cut", [0, 1])
def test_a_comparison_does_not_open_on_a_run_that_was_interrupted(
    here: Tuna, directories: list[str], more: tuple[str, ...], code: int, cut: int
) -> None:
    """Of two runs that are the same, one has only the first four of its eight results."""
    whole = Path(directories[0])
    interrupted = whole.with_name("interrupted")
    shutil.copytree(whole, interrupted)
    results = interrupted / "results.jsonl"
    results.write_text("".join(results.read_text().splitlines(keepends=True)[:4]))
    both = [str(whole), str(interrupted)]
    done = here("compare", *(reversed(both) if cut == 0 else both), *more)
    assert done.returncode == code, done.stdout + done.stderr
    sentence = "4 of 8 results failed, more than --max-errors"
    assert (sentence in done.stderr) == ("the run was interrupted" in done.stderr) == (code == 3)


# --- the budget itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "-1", "1.5", "101%", "nan", "inf", "many", "5 %%"])
def test_what_is_no_budget_is_refused(here: Tuna, text: str) -> None:
    with pytest.raises(UsageError, match="wanted the most failures that are allowed"):
        ErrorBudget.read(text)
    done = here("run", "--suite", "smoke", "--fail-under", "1%", f"--max-errors={text}")
    assert done.returncode == 2
    assert "wanted the most failures that are allowed" in done.stderr


@given(st.integers(0, 100), st.integers(1, 1000), st.data())
def test_a_percentage_allows_exactly_its_share(percent: int, of: int, data: st.DataObject) -> None:
    failed = data.draw(st.integers(0, of))
    allowed = ErrorBudget.read(f"{percent}%").allows(failed, of)
    assert allowed == (failed * 100 <= percent * of)


@given(st.dictionaries(st.text(min_size=1), st.integers(1, 50), max_size=4), st.integers(0, 99))
def test_nothing_is_judged_when_more_failed_than_is_allowed(
    causes: dict[str, int], most: int
) -> None:
    failed = sum(causes.values())
    words = over_budget(ErrorBudget.read(str(most)), causes, of=failed + 1)
    assert (words is None) == (failed <= most)
    if words is not None:
        assert words.startswith(f"{failed} of {failed + 1} results failed")
        assert all(f"{count} x {cause}" in words for cause, count in causes.items())
