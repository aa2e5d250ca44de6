"""Run and judge BFCL's tasks of many turns, with the classes that BFCL plays them with.

The classes of the installed `bfcl-eval` are imported. Its executor and checker are not: they `eval`
a text that a model wrote. Here a call is the method of that name, called with the values as they
are, and an expected call is read as a literal. All else is as in `multi_turn_eval` of version
2026.3.23: what is run, in which order, how a result becomes a text, and what is compared when.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any

from tunaeval.errors import SuiteError
from tunaeval.files.plain_files import table_of
from tunaeval.showing import brief
from tunaeval.tasks.state import FinalState, UserTurn
from tunaeval.types.calls import JsonObject
from tunaeval.types.copies import copied
from tunaeval.types.suites import Scenario
from tunaeval.workers import in_daemon

BFCL_TASK = "bfcl"
"""The key of a scenario's metadata that has its classes, their state and the wanted calls."""
CHECK = "bfcl-multi-turn"
"""The name of the check that judges such a task."""

_DATA = table_of(__package__, "bfcl.toml")["classes"]
_PACKAGE: str = _DATA["package"]
CLASS_FILES: Mapping[str, str] = _DATA["modules"]
"""The module of each class, and so the name of the file that describes its functions."""
_STATELESS, _REFUSED = frozenset(_DATA["stateless"]), frozenset(_DATA["refused"])
_LARGEST: Mapping[str, int] = _DATA["largest"]
NEEDED = (
    "BFCL's tasks of many turns need its data and classes: run "
    "pip install --no-deps bfcl-eval, and pip install 'tunaeval[bfcl]'"
)
_ERROR = "Error during execution: "
_PRECISE = Lock()
"""Held while a call uses the precision of mpmath, which all threads share."""


def check_installed() -> None:
    """Raise SuiteError with both commands if the classes, or what they need, are not installed."""
    for name in ("bfcl_eval", "mpmath", _PACKAGE):
        if not _is_there(name):
            raise SuiteError(f"{name} is not installed; {NEEDED}")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # of a package above it, or one that is half imported
        return False


class Instances:
    """The objects of a task's classes, in their first state, and what can be called of them."""

    def __init__(self, task: JsonObject) -> None:
        self._objects: dict[str, Any] = {}
        self.methods: dict[str, Any] = {}
        for name in task["classes"]:
            made = getattr(import_module(f"{_PACKAGE}.{CLASS_FILES[name]}"), name)()
            if name not in _STATELESS:
                state = copied(task["state"].get(name, {}))
                load = getattr(made, "_load_scenario")  # noqa: B009 - private by its name alone
                load(state, long_context=task["long_context"])
            self._objects[name] = made
            methods = inspect.getmembers(made, predicate=inspect.ismethod)
            self.methods |= {key: method for key, method in methods if not key.startswith("_")}

    def result(
        self, name: str, named: Mapping[str, object], positional: Sequence[object] = ()
    ) -> str:
        """Return the text of a call's result, or of its error, as BFCL's executor writes it."""
        if name in _REFUSED:
            return f"{_ERROR}Function call {name} is not allowed."
        if name not in self.methods:
            return f"{_ERROR}name {name!r} is not defined"
        for key, value in named.items():
            if isinstance(value, int) and abs(value) > _LARGEST.get(key, abs(value)):
                return f"{_ERROR}{key} is too large"
        is_precise = "precision" in named and _PRECISE.acquire(timeout=1)
        try:
            return _as_text(self.methods[name](*positional, **copied(dict(named))))
        except BaseException as error:  # noqa: BLE001 - in a thread, where Ctrl-C never arrives
            return f"{_ERROR}{error}"
        finally:
            if is_precise:
                _PRECISE.release()

    def difference(self, wanted: Instances) -> str | None:
        """Return what is not as in the wanted objects, private attributes aside, or None."""
        for name, theirs in wanted._objects.items():
            public = (key for key in vars(theirs) if not key.startswith("_"))
            for key in public:
                found, want = getattr(self._objects[name], key), getattr(theirs, key)
                if found != want:
                    return f"{name}.{key} is {brief(found)}, wanted {brief(want)}"
        return None


def _as_text(value: object) -> str:
    if isinstance(value, dict):
        with suppress(Exception):
            return json.dumps(value)
    return str(value)


@dataclass(frozen=True, slots=True)
class _ClassTool:
    """A method as a tool, which is called with the values as the model wrote them."""

    name: str
    instances: Instances

    async def ainvoke(self, arguments: JsonObject) -> str:
        def work() -> str:
            return self.instances.result(self.name, arguments)

        return await asyncio.wrap_future(in_daemon(work))


def class_tools(scenario: Scenario) -> list[_ClassTool]:
    """Return the tools of a task of BFCL, with objects of their own; none for other scenarios."""
    task = scenario.metadata.get(BFCL_TASK)
    if task is None:
        return []
    instances = Instances(task)
    return [_ClassTool(name, instances) for name in instances.methods]


def judge(state: FinalState) -> tuple[bool, str]:
    """Return whether the calls of each turn of the user lead to the wanted states and results.

    All calls are run again, in new objects beside those of the wanted calls. Raises what a class
    raises when its object is made or compared.
    """
    task = state.episode.scenario.metadata[BFCL_TASK] if state.episode is not None else None
    if task is None:
        raise ValueError("this check is for tasks of BFCL")
    wanted, turns = task["ground_truth"], state.user_turns
    if state.ended == "seconds":
        return False, "a call did not return in time"
    if len(turns) != len(wanted):
        return False, f"it has {len(turns)} turns of the user, wanted {len(wanted)}"
    ours, theirs = Instances(task), Instances(task)
    seen: list[str] = []
    for number, (turn, gold) in enumerate(zip(turns, wanted, strict=True), 1):
        fault = _turn_fault(turn, gold, ours, theirs, seen)
        if fault is not None:
            return False, f"turn {number} of the user: {fault}"
    return True, "states and results are as wanted in each turn of the user"


def _turn_fault(
    turn: UserTurn, gold: Sequence[str], ours: Instances, theirs: Instances, seen: list[str]
) -> str | None:
    seen += [ours.result(call.name, call.arguments) for call in turn.calls]
    expected = [_wanted_result(text, theirs) for text in gold]
    if not gold:  # the model may call what it likes, and should ask
        return None
    if not turn.calls:
        return "no call"
    if (difference := ours.difference(theirs)) is not None:
        return difference
    left = list(seen)  # a result of an earlier turn counts, too
    for text, result in zip(gold, expected, strict=True):
        if result not in left:
            return f"no result is that of {text}: {brief(result)}"
        left.remove(result)
    return None


def _wanted_result(text: str, instances: Instances) -> str:
    call = ast.parse(text.strip(), mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise TypeError(f"the wanted call {text!r:.80} is no call")
    positional = [ast.literal_eval(one) for one in call.args]
    named = {one.arg or "": ast.literal_eval(one.value) for one in call.keywords}
    return instances.result(call.func.id, named, positional)
