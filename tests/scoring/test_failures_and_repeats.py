"""What counts as a failed tool and what as a result, and what calling again costs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.transcripts import (
    FAILED_TESTS,
    FINE,
    batches,
    scored,
    shell,
    transcript,
    yes,
)  # fmt: skip

# --- tests that fail are results -----------------------------------------------------------------

HONEST = [*shell("sed -i s/-/+/ calc.py", "", 1), *shell("pytest -q", "4 passed\nExit Code: 0", 2)]
TEST_RUNS = st.sampled_from([
    "pytest", "python -m pytest -q tests", "cd repo && pytest -x", "CI=1 npm test", "cargo test",
    "uv run pytest", "timeout 60 pytest", "go test ./...", "make -j2 test", "./run_tests.sh",
    "python tests/test_calc.py", "bash -lc 'pytest -q'", "poetry run python -m unittest",
])  # fmt: skip
FAILURES = st.sampled_from([
    FAILED_TESTS, "FAILED tests/test_calc.py\nExit Code: 1", "Error: 2 tests failed",
    'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nAssertionError: 3',
])  # fmt: skip


@given(command=TEST_RUNS, answer=FAILURES, times=st.integers(1, 3))
def test_reproducing_a_failure_before_repairing_it_costs_nothing(
    command: str, answer: str, times: int
) -> None:
    seen = [
        message
        for at in range(times)
        for message in shell(command, f"run {at} {answer}" if times > 1 else answer, 10 + at)
    ]
    plain, careful = scored(HONEST, check=yes), scored([*seen, *HONEST], check=yes)
    assert careful.success_ratio == plain.success_ratio == 1.0
    assert (careful.weighted_total or 0) >= (plain.weighted_total or 1)
    assert (careful.details.failed_calls, careful.details.retries) == (0, 0)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("pytest -q", "bash: pytest: command not found\nExit Code: 127"),
        ("pytest -q", "no such program\nExit code 127"),
        ("python -m pytest", "/usr/bin/python: No module named pytest\nExit Code: 1"),
        ("pytest -q", '{"ok": false, "error": "the sandbox is gone"}'),
        ("grep -rn pytest .", "Exit Code: 2"),
        ("pip install pytest", "Error: no network"),
        ("echo 'pytest'", "Exit Code: 1"),
    ],
)
def test_a_command_that_could_not_run_is_a_failed_tool(command: str, answer: str) -> None:
    result = scored(shell(command, answer), check=yes)
    assert (result.details.failed_calls, result.success_ratio) == (1, 0.0)


@pytest.mark.parametrize(
    "answer",
    [
        '{"success": false}',
        '{"success": false, "data": null}',
        '{"error": "no such file"}',
        '{"error": {"code": 404}, "message": "gone"}',
        'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: no',
        'starting\nTraceback (most recent call last):\n  File "x.py", line 1\nValueError: no\n',
    ],
)
def test_a_failure_is_one_however_it_is_told(answer: str) -> None:
    assert scored(transcript(("fetch", answer)), check=yes).details.failed_calls == 1
    assert scored(transcript(("fetch", answer)), preset="evals2").details.failed_calls == 0


@pytest.mark.parametrize(
    "answer",
    [
        '{"success": true, "error": null}',
        '{"rows": 3, "error": "none of them is new"}',
        '{"error": ""}',
        "a log:\nTraceback (most recent call last):\n  File x\nValueError: no\nthen it went on",
        "what a `Traceback (most recent call last):` is",
    ],
)
def test_a_result_that_mentions_an_error_is_none(answer: str) -> None:
    assert scored(transcript(("read", answer)), check=yes).details.failed_calls == 0


# --- repetition ----------------------------------------------------------------------------------


@given(times=st.integers(2, 9), shape=st.sampled_from(["serial", "parallel", "alternating"]))
def test_calling_again_for_the_same_answer_never_pays(times: int, shape: str) -> None:
    once = scored(batches([("read a", FINE)], [("read b", FINE)]), check=yes)
    steps: Any = {
        "serial": [[("read a", FINE)]] * times + [[("read b", FINE)]],
        "parallel": [[("read a", FINE)] * times, [("read b", FINE)]],
        "alternating": [[("read a", FINE)], [("read b", FINE)]] * times,
    }[shape]
    again = scored(batches(*steps), check=yes)
    assert (again.weighted_total or 0) < (once.weighted_total or 0)
    assert (again.categories["repetition"].value or 0) < 1
