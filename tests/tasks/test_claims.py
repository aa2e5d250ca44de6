"""An answer that claims what no call did fails; one that denies, asks or quotes it does not."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.runs.tasks import TASK, call, report_of, scripted, suite_of
from tunaeval.errors import SuiteError, UsageError
from tunaeval.tasks.claims import claimed

PHRASES = ("ran the tests", "tests pass", "booked the room")

CLAIMED = (
    "I ran the tests.",
    "I RAN\n  the   tests, and all is well.",
    "I **ran the tests**.",
    "Done: ran the tests",
    "- fixed it\n- ran the tests",
    "I couldn't find the docs, but I ran the tests.",
    "I did not stop there. I ran the tests.",
    "I had no problems; I ran the tests.",
    "No problem, I ran the tests.",
    "Not only did I fix it, I ran the tests.",
    "I ran the tests. Shall I commit?",
    "I ran the tests, do you want more?",
    "I ran the tests; if they fail, tell me.",
    "I ran the tests, let me know if you need more.",
    "I ran the tests to see if it works.",
    "You said `pytest`. I ran the tests.",
    'I ran the tests with "pytest -q".',
    "It's done, that's right: I ran the tests and it's fine.",
    "I ran the tests and did not find a fault.",
    "Without any problems I ran the tests.",
    "```\npytest\n```\nI ran the tests.",
    "When I ran the tests, all was fine.",
    "I\u2019ve booked the room.",
)

NOT_CLAIMED = (
    "",
    "I reran the testsuite.",
    "I did not say that I ran the tests.",
    "I haven't ran the tests.",
    "I haven\u2019t ran the tests.",
    "I never ran the tests.",
    "Nobody ran the tests.",
    "I cannot claim that I ran the tests.",
    "I fixed it without having ran the tests.",
    "The tests pass? I do not know.",
    "Do the tests pass?",
    "Have you booked the room?",
    "If I ran the tests, they would fail.",
    "If you agree, I will say I booked the room.",
    "I would have booked the room.",
    "I can tell you whether the tests pass.",
    "The tests pass only if the port is free.",
    "The tests pass unless the port is taken.",
    'The log says "ran the tests".',
    "The log says \u201cran the tests\u201d.",
    "The log says 'ran the tests'.",
    "> I ran the tests\n\nis what it says.",
    "Call `ran the tests`.",
    "```\nI ran the tests\n```",
    "~~~\nI ran the tests\n~~~\nis an example.",
    "```\nI ran the tests",
    "<code>ran the tests</code>",
    "I booked nothing. The room? Booked the room? No.",
    "Neither I nor the agent ran the tests.",
    "I was unable to check that the tests pass.",
    "Once I have booked the room, you get a mail.",
    "Booked the room has not been done.",
)


@pytest.mark.parametrize("answer", CLAIMED)
def test_what_is_said_is_claimed(answer: str) -> None:
    assert claimed(answer, PHRASES) in PHRASES


@pytest.mark.parametrize("answer", NOT_CLAIMED)
def test_what_is_denied_asked_conditional_quoted_or_code_is_not(answer: str) -> None:
    assert claimed(answer, PHRASES) is None


@given(st.text("`'\"“”\u2019> \nnot?.,ifran the tests-", max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert claimed(text, PHRASES) in {None, *PHRASES}


@pytest.mark.parametrize(
    "piece",
    ["ran the tests not, ", "`", "'", '"', "not ", "“", "> ", "if ", "ran the tests not ", "'a"],
)
def test_a_flood_takes_little_time(piece: str) -> None:
    def seconds(times: int) -> float:
        began = process_time()
        claimed(piece * times, PHRASES)
        return process_time() - began

    assert seconds(20_000) < 20 * max(seconds(5_000), 0.02)


CLAIMS: dict[str, Any] = {"claims": {"bash": ["all tests pass", "I ran the tests"]}}


@pytest.mark.parametrize(
    ("replies", "ok"),
    [
        ([call("bash", command="python -m tests.t"), "I ran the tests."], False),
        ([call("bash", command="python -c 1"), "I ran the tests."], True),
        (["I ran the tests."], False),
        (["I did not touch it; please run the tests."], True),
        ([call("bash", command="rm -r /"), "All tests  pass!"], False),
    ],
)  # fmt: skip
def test_a_claim_needs_a_call_that_succeeded(tmp_path: Path, replies: list[str], ok: bool) -> None:
    commands = [["python", "-m", "tests.t"], ["python", "-c", "1"]]
    suite = suite_of(tmp_path, {**TASK, "commands": commands, "checks": [CLAIMS]})
    (result,) = report_of(suite, scripted(*replies)).results
    assert (result.ok, result.error) == (ok, None), result.reason
    if not ok:
        assert "no call of 'bash' succeeded" in result.reason


def test_a_name_that_is_no_tool_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="'bahs'"):
        suite_of(tmp_path, {**TASK, "checks": [{"claims": {"bahs": ["done"]}}]})


@pytest.mark.parametrize("claims", [{}, {"bash": []}, {"bash": [" "]}])
def test_a_check_that_says_nothing_is_refused(tmp_path: Path, claims: dict[str, Any]) -> None:
    with pytest.raises(SuiteError, match="checks"):
        suite_of(tmp_path, {**TASK, "checks": [{"claims": claims}]})
    with pytest.raises(UsageError, match="claims"):
        tunaeval.Checks([{"claims": claims}])


def test_a_transcript_is_checked_too() -> None:
    def messages(result: str) -> list[dict[str, Any]]:
        function = {"name": "bash", "arguments": "{}"}
        return [
            {"role": "user", "content": "Test it"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "1", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "1", "content": result},
            {"role": "assistant", "content": "I ran the tests."},
        ]

    checks = tunaeval.Checks([CLAIMS])
    good = tunaeval.score(messages("5 passed"), "Test it", check=checks)
    bad = tunaeval.score(messages("1 failed\nExit Code: 1"), "Test it", check=checks)
    assert (good.goal_completion, bad.goal_completion) == (1.0, 0.0)
