"""Wrapped tools go to other processes: by their name, by value, or as a tool and its recorder."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest

from tests.tools.samples import count, fetch, only, read
from tunaeval import scoring_session, wrap_tool
from tunaeval.tools.recorder import ContextRecorder, Recorder

RECORDER = Recorder(7, classifiers=["exit-code"])


class Server:
    def restart(self, service: str) -> str:
        return service


@partial(wrap_tool, recorder=RECORDER)
def decorated(path: str) -> str:
    return path


def bound(path: str) -> str:
    return path


bound = wrap_tool(bound, RECORDER)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("tool", [decorated, bound])
def test_a_function_is_pickled_where_it_is_bound_under_its_name(tool: Any, protocol: int) -> None:
    assert ForkingPickler.loads(ForkingPickler.dumps(tool, protocol)) is tool


@pytest.mark.parametrize("tool", [read, fetch, count])
def test_one_that_is_bound_under_another_name_is_no_more_pickled_than_any_function(
    tool: Any,
) -> None:
    with pytest.raises(Exception, match="not the same object"):
        ForkingPickler.dumps(wrap_tool(tool, RECORDER))


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("tool", [Server().restart, partial(read, lines=3), len])
def test_what_is_no_function_is_pickled_as_its_tool_and_its_recorder(
    tool: Any, protocol: int
) -> None:
    wrapped = wrap_tool(tool, RECORDER)
    again = ForkingPickler.loads(ForkingPickler.dumps(wrapped, protocol))
    assert inspect.signature(again) == inspect.signature(wrapped)
    _settings_are_kept(again)


def _settings_are_kept(again: Any) -> None:
    theirs = vars(again)["__tunaeval_recorder__"]
    assert theirs is not RECORDER
    assert (theirs.limit, theirs.classifiers) == (7, RECORDER.classifiers)
    assert wrap_tool(again, theirs) is again


def test_by_value_a_function_goes_with_an_empty_recorder() -> None:
    by_value = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")

    def whisper(path: str) -> str:
        return path.lower()

    def shout(path: str) -> str:
        return wrapped_inside(path).upper()

    wrapped_inside = wrap_tool(whisper, RECORDER)
    again: Callable[[str], str] = ForkingPickler.loads(by_value.dumps(wrap_tool(shout, RECORDER)))
    assert again("a") == "A"
    _settings_are_kept(again)
    theirs: Recorder = vars(again)["__tunaeval_recorder__"]
    assert [run.tool for run in theirs.executions] == ["whisper", "shout"]
    assert not RECORDER.executions


@pytest.mark.parametrize("recorder", [Recorder(), ContextRecorder()])
def test_every_kind_goes_by_value(recorder: Recorder) -> None:
    by_value = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    for tool in (read, fetch, count):
        wrapped = wrap_tool(tool, recorder)
        again = ForkingPickler.loads(by_value.dumps(wrapped))
        assert again is not wrapped
        assert inspect.signature(again) == inspect.signature(tool)
        assert inspect.iscoroutinefunction(again) == inspect.iscoroutinefunction(tool)
    again = ForkingPickler.loads(by_value.dumps(wrap_tool(fetch, recorder)))
    assert asyncio.run(again("u")) == "u"
    assert only(vars(again)["__tunaeval_recorder__"]).arguments == {"url": "u"}


def test_a_tool_of_a_session_goes_by_value_and_reports_to_no_session_there() -> None:
    by_value = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")
    with scoring_session("Read.") as session:
        again = ForkingPickler.loads(by_value.dumps(session.wrap(read)))
    assert again("a") == "a:10"


MODULE = """\
import tunaeval
recorder = tunaeval.Recorder()
def read(path):
    return path
read = tunaeval.wrap_tool(read, recorder)
"""
PROGRAM = (
    "import sys; from multiprocessing.reduction import ForkingPickler as Pickler;"
    "tool = Pickler.loads(sys.stdin.buffer.read()); tool('a');"
    "sys.stdout.buffer.write(Pickler.dumps(tool.__tunaeval_recorder__.take()))"
)


def test_what_is_recorded_in_another_process_is_sent_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function is found by its name there, wrapped as its module wraps it."""
    (tmp_path / "tools_of_a_host.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("tools_of_a_host")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=ForkingPickler.dumps(module.read),
        capture_output=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    (execution,) = ForkingPickler.loads(done.stdout)
    assert (execution.tool, execution.arguments) == ("read", {"path": "a"})
