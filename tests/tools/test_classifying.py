"""Success is decided by an ordered list of classifiers, the built-in ones or anybody's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.samples import BrokenError, fail, made, only
from tunaeval import classifiers, wrap_tool
from tunaeval.errors import PluginShapeError, UnknownNameError, UsageError
from tunaeval.plugins import registries
from tunaeval.testing.strategies import json_values
from tunaeval.tools.recorder import Recorder
from tunaeval.tools.success import CLASSIFIERS, Result, Success, declares_nothing, returned


class Empty:
    """Takes an empty text for a failure."""

    name = "empty"

    def classify(self, result: Result) -> Success | None:
        return Success(ok=False, reason=self.name, error="nothing") if result.value == "" else None


class Paused:
    """Takes an exception of a host that waits for a human for no failure."""

    name = "paused"

    def classify(self, result: Result) -> Success | None:
        return Success(ok=True, reason=self.name) if type(result.error) is BrokenError else None


class Broken:
    name = "broken"

    def classify(self, result: Result) -> Success | None:
        raise BrokenError(result)


def judged(result: object, *chosen: Any) -> tuple[bool, str]:
    recorder = Recorder(classifiers=chosen)
    wrap_tool(made(("return", result), []), recorder)()
    return only(recorder).ok, only(recorder).ok_reason


def test_the_first_that_speaks_decides() -> None:
    result = '{"ok": false, "status": "error"}'
    assert judged(result, "status", "ok-false") == (False, "status")
    assert judged(result, "ok-false", "status") == (False, "ok-false")
    assert judged("", Empty(), "ok-false") == (False, "empty")
    assert judged(result, "exit-code") == (True, "assumed")
    assert judged(result) == (True, "assumed")


def test_a_classifier_may_know_an_exception() -> None:
    recorder = Recorder(classifiers=[Paused()])
    with pytest.raises(BrokenError):
        wrap_tool(fail, recorder)("a")
    assert (only(recorder).ok, only(recorder).ok_reason) == (True, "paused")


def test_one_that_fails_is_passed_over() -> None:
    assert judged("", Broken(), Empty()) == (False, "empty")
    assert judged("x", Broken(), Empty()) == (True, "unreadable")


def test_one_that_answers_something_else_is_passed_over() -> None:
    class Vague:
        name = "vague"

        def classify(self, result: Result) -> Any:
            return bool(result.value)

    assert judged("", Vague(), Empty()) == (False, "empty")
    assert judged("x", Vague(), Empty()) == (True, "unreadable")


def test_one_that_misbehaves_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    class Leaves:
        name = "leaves"

        def classify(self, result: Result) -> Success | None:
            raise SystemExit(result.value)

    class Half:
        name = "half"

        def classify(self, result: Result) -> Any:
            wrong: Any = result.value
            return Success(ok=wrong, reason=self.name)

    leaves, half = Leaves(), Half()
    for _ in range(2):
        assert judged("x", leaves, half) == (True, "unreadable")
    wanted = "wanted a Success(ok=True or False, reason='why'), or None"
    assert [record.getMessage() for record in caplog.records] == [
        (
            "success classifier 'leaves' raised SystemExit: x (tools/test_classifying.py:89); "
            f"{wanted}"
        ),
        f"success classifier 'half' returned Success(ok='x', reason='half', error=None); {wanted}",
    ]


def test_a_result_that_breaks_is_no_fault_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    class Odd:
        def __getattr__(self, name: str) -> object:
            raise BrokenError(name)

    assert judged(Odd(), *CLASSIFIERS) == (True, "unreadable")
    assert not caplog.records


def test_what_is_no_classifier_is_refused() -> None:
    for wrong in (3, Empty, object()):
        bad: Any = [wrong]
        with pytest.raises(UsageError, match="no classifier of success"):
            Recorder(classifiers=bad)
    with pytest.raises(UsageError, match=r"write \['status'\]"):
        Recorder(classifiers="status")
    with pytest.raises(UnknownNameError, match="exit-code"):
        Recorder(classifiers=["exit-cod"])


def test_the_registry_has_them_all_and_takes_more() -> None:
    assert set(classifiers.names()) >= {one.name for one in CLASSIFIERS}
    assert registries()["classifiers"] is classifiers
    for one in CLASSIFIERS:
        assert classifiers.get(one.name) is one
    shapeless: Any = object()
    with pytest.raises(PluginShapeError, match="classify"):
        classifiers.add("shapeless", shapeless)


declared: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["ok", "is_error", "isError", "status", "outcome", "error", *"abcdefgh"]),
    st.sampled_from([True, False, None, 1, "error", "Failed", "fine", []]),
)


@given(fields=declared)
def test_the_quick_look_at_a_dict_agrees_with_the_classifiers(fields: dict[str, Any]) -> None:
    assert declares_nothing(fields) == returned(fields).ok


@given(result=st.text() | json_values() | declared)
def test_what_is_judged_later_is_judged_alike(result: Any) -> None:
    """A wrapper keeps short texts to judge them when they are asked for."""
    recorder = Recorder()
    wrap_tool(made(("return", result), []), recorder)()
    run = only(recorder)
    assert (run.ok, run.ok_reason, run.error) == returned(result)


def test_a_result_that_changes_later_was_judged_as_it_came() -> None:
    result: dict[str, object] = {"status": "fine"}
    recorder = Recorder()
    tool: Callable[[], object] = wrap_tool(made(("return", result), []), recorder)
    tool()
    result["status"] = "error"
    assert only(recorder).ok


@pytest.mark.parametrize(
    "text",
    [
        "Tool execution failed: x", "Error executing tool bash: x", "exit code 1",
        "a\nexit status 1",
        "Process exited with code 3\nx", "Command failed with exit code 2.", "Exit code: 1",
        "bash: foo: command not found", "bash: line 1: foo: command not found",
        "zsh: command not found: foo", "sh: 1: foo: not found", "Permission denied",
        "cat: /etc/a b: Permission denied\n", "ls: x: No such file or directory",
        "Unknown tool: bash", "<tool_use_error>no</tool_use_error>", "Error\nno such file",
    ],
)  # fmt: skip
def test_what_reads_like_a_failure_is_one(text: str) -> None:
    assert not returned(text).ok


@pytest.mark.parametrize(
    "text",
    [
        "Exit code: 0", "exit status 0", "it ends with exit code 1 where it fails", "Error",
        "status: 404", "a.txt\nfind: b: Permission denied", "It says: Permission denied, sorry",
        "Errors: none", "the command not found in the index",
    ],
)  # fmt: skip
def test_what_only_mentions_a_failure_is_none(text: str) -> None:
    assert returned(text).ok
