"""What a tool does to its arguments: it changes no call and no record, and what is its caller's."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.spoiling import spoil
from tests.tools.executing import Time, calls_of, execute_all, run
from tunaeval import Backoff, Executor, Recorder, ToolCall
from tunaeval.tools.success import Result, Success
from tunaeval.types.copies import copied
from tunaeval.types.messages import ToolExecution

ARGUMENTS: dict[str, Any] = {"names": [["a", {"b": [1]}]], "more": {"deep": [{"x": []}]}}
CALL = ToolCall("act", ARGUMENTS, "c1")


class Spoiler:
    """Tools of each kind that change what they are given, fail twice, and then answer."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def begin(self, *given: Any) -> str:
        self.seen.append(copied(given))
        spoil(given)
        if len(self.seen) < 3:
            raise OSError("again")
        return "done"

    def plain(self, names: Any, more: Any) -> str:
        return self.begin(names, more)

    async def awaited(self, names: list[Any], more: dict[str, Any]) -> str:
        return self.begin(names, more)

    def keys(self, **given: Any) -> str:
        return self.begin(given["names"], given["more"])

    @property
    def langchain(self) -> Any:
        async def ainvoke(given: dict[str, Any]) -> str:
            return self.begin(given["names"], given["more"])

        return type("Tool", (), {"name": "act", "ainvoke": staticmethod(ainvoke)})()

    @property
    def tinyagent(self) -> Any:
        async def execute(_id: str, given: dict[str, Any], *_: object) -> str:
            return self.begin(given["names"], given["more"])

        return type("T", (), {"name": "act", "parameters": {}, "execute": staticmethod(execute)})()


KINDS = ("plain", "awaited", "keys", "langchain", "tinyagent")


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_that_changes_its_arguments_changes_no_call(kind: str, wrapped: bool) -> None:
    before = copied(CALL)
    spoiler, recorder = Spoiler(), Recorder()
    tool = getattr(spoiler, kind)
    if wrapped and kind in KINDS[:3]:
        tool = tunaeval.wrap_tool(tool, recorder)
    (result,) = execute_all([CALL], {"act": tool}, recorder=recorder)
    assert CALL == before == result.call
    assert spoiler.seen == [(before.arguments["names"], before.arguments["more"])] * 3
    kept = [one.arguments for one in (*result.executions, *recorder.executions)]
    assert kept == [before.arguments] * 6


@given(
    st.dictionaries(
        st.sampled_from("abc"),
        st.recursive(st.integers(), lambda inner: st.lists(inner) | st.lists(inner).map(list)),
    )
)
def test_each_call_of_one_object_gets_what_was_called(arguments: dict[str, Any]) -> None:
    seen: list[object] = []

    async def act(**given: Any) -> None:
        seen.append(copied(given))
        spoil(given)

    call = ToolCall("act", arguments)
    before = copied(arguments)
    run(Executor({"act": act}).execute([call, call]))
    assert seen == [before, before]
    assert call.arguments == before


def test_a_wrapped_tool_changes_its_callers_own_objects() -> None:
    def add(names: list[str], *more: list[int], options: dict[str, Any]) -> int:
        names.append("b")
        more[0].append(2)
        options["inner"]["x"] = 1
        return len(names)

    recorder = Recorder()
    names, numbers, options = ["a"], [1], {"inner": {"x": 0}}
    assert tunaeval.wrap_tool(add, recorder)(names, numbers, options=options) == 2
    assert (names, numbers, options) == (["a", "b"], [1, 2], {"inner": {"x": 1}})
    passed = {"names": ["a"], "more": ([1],), "options": {"inner": {"x": 0}}}
    assert recorder.executions[0].arguments == passed


def kinds_of(act: Callable[[list[Any]], None]) -> dict[str, Callable[[list[Any]], object]]:
    """The same tool as each kind of function; what is called runs it to its end."""

    def plain(names: list[Any]) -> None:
        act(names)

    async def awaited(names: list[Any]) -> None:
        await asyncio.sleep(0)
        act(names)

    def steps(names: list[Any]) -> Any:
        act(names)
        yield

    async def later(names: list[Any]) -> Any:
        act(names)
        yield

    return {"plain": plain, "awaited": awaited, "steps": steps, "later": later}


async def finish(made: Any) -> None:
    if hasattr(made, "__await__"):
        await made
    elif hasattr(made, "__aiter__"):
        _ = [one async for one in made]
    elif made is not None:
        list(made)


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("kind", ["plain", "awaited", "steps", "later"])
def test_the_recorder_keeps_what_was_passed(kind: str, fails: bool, by_name: bool) -> None:
    def act(names: list[Any]) -> None:
        spoil(names)
        if fails:
            raise ValueError

    recorder = Recorder()
    tool: Any = tunaeval.wrap_tool(kinds_of(act)[kind], recorder)
    names: list[Any] = [["a"], {"b": [1]}]
    try:
        run(finish(tool(names=names) if by_name else tool(names)))
    except ValueError:
        assert fails
    assert names != [["a"], {"b": [1]}]
    assert recorder.executions[0].arguments == {"names": [["a"], {"b": [1]}]}


def test_what_a_record_is_read_for_changes_no_other() -> None:
    recorder = Recorder(listener=lambda execution: spoil(execution.arguments))
    assert tunaeval.wrap_tool(len, recorder)([["a"]]) == 1
    spoil(recorder.executions[0].arguments)
    spoil(recorder.by_call[None][0].arguments)
    own = ToolExecution("f", None, {"x": [[1]]}, 0.0, 0.0, ok=True, ok_reason="assumed")
    recorder.record(own)
    spoil(own.arguments)
    assert [one.arguments for one in recorder.executions] == [{"obj": [["a"]]}, {"x": [[1]]}]


class Own:
    """A recorder of somebody else's."""

    def record(self, execution: ToolExecution) -> None:
        spoil(execution.arguments)


def test_a_recorder_of_others_changes_no_result() -> None:
    before = copied(CALL)
    (result,) = execute_all([CALL], {"act": lambda **given: len(given)}, recorder=Own())
    assert result.executions[0].arguments == before.arguments
    assert result.call == before == CALL


def test_odd_arguments_are_passed_on_as_they_are() -> None:
    circle: list[Any] = []
    circle.append(circle)
    nested: Any = ()
    for _ in range(5000):
        nested = ([nested],)
    given: list[Any] = [circle, nested, OrderedDict(a=[1]), object()]
    got: list[Any] = []
    recorder = Recorder()
    tunaeval.wrap_tool(lambda *rest: got.extend(rest), recorder)(*given)
    assert all(one is two for one, two in zip(got, given, strict=True))
    assert len(recorder.executions) == 1


class Clears:
    """A classifier that changes the results that it looks at."""

    name = "clears"

    def classify(self, result: Result) -> Success | None:
        spoil(result.value)
        result.value = {"ok": False}
        return None


def test_a_classifier_changes_no_result() -> None:
    recorder = Recorder(classifiers=[Clears(), "ok-false"])
    tool: Any = tunaeval.wrap_tool(lambda: {"rows": [[1]]}, recorder)
    assert tool() == {"rows": [[1]]}
    assert recorder.executions[0].ok


def test_only_the_last_attempt_decides_whether_arguments_fit() -> None:
    seen: list[object] = []

    def act(index: int, rows: tuple[list[int], ...] = ()) -> None:
        seen.append((index, copied(rows)))
        spoil(rows)
        raise OSError

    call = replace(calls_of("act")[0], arguments={"index": "3", "rows": [["4"]]})
    execute_all([call], [act], backoff=Backoff(max_attempts=2), pace=Time().pace)
    assert seen == [(3, ([4],))] * 2
