"""Values that no JSON text gives, and schemas that share: a sentence in place of an exception."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.faults.runs import within
from tunaeval.data.convert import Unconvertible, convert_row, route_between
from tunaeval.data.rows import Fault, Row
from tunaeval.data.shapes import read_rows
from tunaeval.errors import ExpectationError, SuiteError, ToolsError, UsageError
from tunaeval.parsing.repair.schema import fit
from tunaeval.rewards.scored import reward, rewards
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.calls import ToolCall

SOUND = '{"name": "a", "arguments": {"x": "q"}}'


def tool(schema: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"x": schema}, "additionalProperties": False}
    return {"type": "function", "function": {"name": "a", "parameters": parameters}}


@pytest.mark.parametrize("role", [{}, [], 1, b"user"])
def test_a_role_that_is_no_text_is_a_reason(role: Any) -> None:
    for row in ({"role": role, "content": "a"}, {"messages": [{"role": role, "content": "a"}]}):
        found = convert_row(row, route_between("hermes", "openai"))
        assert isinstance(found, Unconvertible)
        assert "wanted a text" in found.reason


@pytest.mark.parametrize("speaker", [{}, [], 1])
def test_a_row_from_nobody_is_a_fault(speaker: Any) -> None:
    (found,) = read_rows([{"conversations": [{"from": speaker, "value": "a"}]}])
    assert isinstance(found, Fault)
    assert "unknown speaker" in found.reason
    (row,) = read_rows([{"conversations": [{"from": "human", "value": "a"}]}])
    assert isinstance(row, Row)


@pytest.mark.parametrize("key", [1, None, ("a",), b"a"])
def test_a_key_that_is_no_text_is_a_sentence(key: Any) -> None:
    call = {"name": "a", "arguments": {"b": {key: 1}}}
    with pytest.raises(ExpectationError, match=r"there is the key .*, wanted texts"):
        tunaeval.match({"calls": [call]}, [ToolCall("a", {"b": {"c": 2}})])
    assert not tunaeval.match({"calls": [{"name": "a"}]}, [ToolCall("b", {key: 1})])
    assert fit({key: 1}, {"additionalProperties": False}).notes
    gold = [{"name": "a", "arguments": {key: 1}}]
    if isinstance(key, tuple | bytes):  # JSON has other keys as texts
        with pytest.raises(UsageError, match="which no call can have"):
            reward(SOUND, gold)
    else:
        assert reward(SOUND, gold).value < 1


def shared(levels: int, *, nested: bool = False) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(levels):
        inner = schema
        schema = {"anyOf": [inner, inner]}
        if nested:
            schema |= {"type": "object", "properties": {"x": inner}}
    return schema


@pytest.mark.parametrize("nested", [False, True])
def test_shared_alternatives_are_looked_at_once(nested: bool) -> None:
    value: Any = "q"
    for _ in range(60):
        value = {"x": value} if nested else value
    with within(2):
        assert fit(value, shared(60, nested=nested)).notes


def test_six_times_the_shared_alternatives_take_about_six_times_the_time() -> None:
    def seconds(levels: int) -> float:
        schema = shared(levels)
        started = time.process_time()
        for _ in range(20):
            fit("q", schema)
        return time.process_time() - started

    assert min(seconds(120) for _ in range(5)) < 24 * min(seconds(20) for _ in range(5))


def test_a_tool_with_shared_alternatives_is_read() -> None:
    with within(2):
        result = tunaeval.parse(SOUND, "json", tools=[tool(shared(14))])
    assert [one.code for one in result.diagnoses] == ["wrong-type"]


@pytest.mark.parametrize("schema", [shared(18), shared(60), {"enum": [*range(300_000)]}])
def test_a_schema_that_is_too_long_as_text_is_refused(schema: Any) -> None:
    with within(3), pytest.raises(ToolsError, match=r"more than 200,000 parts .* \$ref"):
        tunaeval.parse(SOUND, tools=[tool(schema)])


def test_a_schema_that_leads_back_to_itself_is_refused() -> None:
    circle: dict[str, Any] = {}
    circle["anyOf"] = [circle, circle]
    with within(3), pytest.raises(ToolsError, match="leads back to itself"):
        tunaeval.to_tools([tool(circle)])
    assert fit(1, circle).notes


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_alternatives_that_are_no_list_are_none(keyword: str) -> None:
    tools = [tool({keyword: 5, "format": {}})]
    calls = tunaeval.parse(SOUND, tools=tools)
    assert tunaeval.match({"calls": [{"name": "a", "arguments": {"x": "q"}}]}, calls, tools=tools)


def test_a_value_without_a_repr_is_refused_in_words() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    values: list[Any] = [deep, 10**5_000]
    for value in values:
        with pytest.raises(UsageError, match="is"):
            tunaeval.parse(SOUND, format=value)
        with pytest.raises(UsageError, match="wanted"):
            tunaeval.from_environment(value)
        with pytest.raises(UsageError, match="wanted"):
            tunaeval.expect(value)


WRONG: list[tuple[str, Any]] = [("commands", [0]), ("commands", 3), ("pages", "x"), ("pages", 1.5)]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_workspace_of_nothing_it_knows_is_refused(name: str, value: Any) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(UsageError, match=f"{name}.* wanted"):
        tunaeval.Workspace(**given)


@pytest.mark.parametrize("rows", [None, 1.5, len])
def test_rewards_of_no_list_are_refused(rows: Any) -> None:
    several: list[Any] = [(rows, [[]]), ([SOUND], rows)]
    for given in several:
        with pytest.raises(UsageError, match="one for each completion"):
            rewards(*given)


def test_a_tool_as_text_that_is_a_list_is_refused() -> None:
    with pytest.raises(ToolsError, match="wanted"):
        tunaeval.to_tools(["[]"])
    assert tunaeval.compare_tools([], []) == ()


@pytest.mark.parametrize("name", ["a" * 10_000, "a\0b", "a" * 300 + ".json", "\ud800"])
def test_a_name_that_no_file_has_is_no_suite(name: str, tmp_path: Path) -> None:
    for path in (name, tmp_path / name):
        with pytest.raises(SuiteError):
            load_suite(path)
