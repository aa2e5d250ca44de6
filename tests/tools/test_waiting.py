"""A tool in which a framework waits for a human has not failed."""

from __future__ import annotations

import pytest

import tunaeval
from tunaeval.tools.success import INTERRUPTED, WAITING, Result, Success, raised_in_wrapper


@pytest.mark.parametrize(("module", "name"), sorted(WAITING))
def test_what_a_framework_raises_to_wait_is_no_failure(module: str, name: str) -> None:
    waits = type(name, (Exception,), {"__module__": module})
    inherits = type("Mine", (waits,), {})
    for kind in (waits, inherits):
        recorder = tunaeval.Recorder()

        def ask(kind: type[Exception] = kind) -> None:
            raise kind("name?")

        with pytest.raises(waits):
            tunaeval.wrap_tool(ask, recorder)()
        (run,) = recorder.executions
        assert (run.ok, run.ok_reason, run.error) == INTERRUPTED
    assert raised_in_wrapper(type(name, (Exception,), {"__module__": "mine"})()).ok is False


@pytest.mark.parametrize(("module", "name"), sorted(WAITING))
def test_the_real_framework_has_it(module: str, name: str) -> None:
    real = pytest.importorskip(module)
    assert raised_in_wrapper(getattr(real, name)()) == INTERRUPTED


class Strict:
    """Takes every exception for a failure."""

    name = "strict"

    def classify(self, result: Result) -> Success | None:
        return Success(ok=False, reason=self.name) if result.error else None


def test_a_classifier_knows_better() -> None:
    waits = type("GraphInterrupt", (Exception,), {"__module__": "langgraph.errors"})
    assert raised_in_wrapper(waits(), [Strict()]) == (False, "strict", None)
