"""Whether a tool succeeded: by what it declares, then by how it reads, else assumed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.testing.strategies import json_values
from tunaeval.tools.success import CLASSIFIERS, ERROR_CHARACTERS, raised, returned


@dataclass
class Result:
    content: Any = ""
    is_error: bool = False
    status: Any = None


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (Result("no such file", is_error=True), "is-error"),
        ({"isError": True}, "is-error"),
        ({"is_error": True, "ok": False}, "is-error"),
        (Result("gone", status="error"), "status"),
        ({"status": "FAILED"}, "status"),
        ({"outcome": "denied"}, "outcome"),
        ({"ok": False}, "ok-false"),
        ('  {"ok": false, "error": "gone"}', "ok-false"),
        ('{"ok":false}\n', "ok-false"),
        ("Exit Code: 3", "exit-code"),
        ("ran\n  exit code: -9\nbye", "exit-code"),
        (Result("Exit Code: 127"), "exit-code"),
        ("x" * 5000 + "\nExit Code: 1", "exit-code"),
        ("Error: no such directory\nmore", "error-prefix"),
        ("\n error: what", "error-prefix"),
        ("KeyError: 'x'", "error-prefix"),
        ("Exception: gone\n", "error-prefix"),
        ("httpx.ConnectError: refused", "error-prefix"),
        ("HTTP 500 Internal Server Error", "error-prefix"),
        ("HTTP/1.1 404", "error-prefix"),
        ("HTTP error 503: busy", "error-prefix"),
        ("{'error': 'no such city'}", "error-prefix"),
        ({"errors": ["gone"]}, "lone-error"),
        ('{"errors": [{"title": "gone"}], "code": 3}', "lone-error"),
        ({"success": False, "stderr": "no"}, "success-false"),
        ('{"success": false}', "success-false"),
        ({"error": "no such file"}, "lone-error"),
        ('{"error": {"message": "gone"}}', "lone-error"),
        ('Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1', "traceback"),
    ],
)
def test_a_failure_is_known_by(result: object, reason: str) -> None:
    success = returned(result)
    assert (success.ok, success.reason) == (False, reason)
    assert success.error


@pytest.mark.parametrize(
    "result",
    [
        None, 0, False, [], "", "fine", {"ok": True}, '{"ok": true}', '{"ok": "false"}',
        '[{"ok": false}]', "null", "3", '{"ok": false', '{"a": NaN}', "{" * 5000, "Exit Code: 0",
        "Exit Code: x", "Exit Code: ²", "see Exit Code: 3 for more", "No Error: none",
        "x" * 3000 + "\nExit Code: 1\n" + "y" * 3000, {"status": 500}, {"status": "shipped"},
        {"success": True}, {"success": "no"}, {"error": None}, {"error": "", "data": 1},
        {"error": "see the log", "data": 1}, "a Traceback is printed on failure",
        "KeyError: 'x'\nis what the log says", "A KeyError: x", "Failed: 0", "HTTP 200 OK",
        "HTTP 404 means that nothing is there", "HTTP/1.1 404 Not Found\nServer: x",
        {"errors": []}, {"errors": 3}, {"errors": ["a"], "data": 1}, "{'error': None, 'n': 1}",
        Result("fine"), Result(["parts"]), b"Error: no", object(), "\ud800", '{"ok": "\ud800"}',
    ],
)  # fmt: skip
def test_what_shows_no_failure_is_assumed_to_have_succeeded(result: object) -> None:
    assert returned(result) == (True, "assumed", None)


@given(st.text() | json_values())
def test_any_result_can_be_judged(result: Any) -> None:
    success = returned(result)
    assert success.reason != "unreadable"
    assert success.ok == (success.error is None)


def test_a_failure_says_what_the_result_says() -> None:
    assert returned('{"ok": false, "error": "gone"}').error == "gone"
    assert returned({"ok": False, "error": {"code": 3}}).error == "ok is false"
    assert returned("Error: " + "x" * 9000).error == ("Error: " + "x" * 9000)[:ERROR_CHARACTERS]


def test_an_exception_without_words_is_still_named() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert raised(MuteError()) == (False, "exception", "MuteError: its message cannot be read")


@pytest.mark.parametrize("text", ["x", "Exit Code: \n", "{", " ", "Error "])
def test_ten_times_the_text_takes_at_most_about_ten_times_the_time(text: str) -> None:
    def seconds(count: int) -> float:
        said, begun = text * count, time.process_time()
        for _ in range(20):
            returned(said)
        return time.process_time() - begun

    assert any(seconds(200_000) < 30 * seconds(20_000) for _ in range(3))


TELLING = st.sampled_from(
    ["{", "Exit Code: 3", "exit ", "Error: no", "\n", " ", "}", '{"ok": false}']
)


@given(st.text() | st.lists(TELLING | st.text(max_size=3), max_size=6).map("".join))
def test_texts_are_judged_quickly_as_by_all_classifiers(text: str) -> None:
    assert returned(text) == returned(text, CLASSIFIERS)
