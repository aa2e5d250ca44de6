"""Copies: equal to the value, and with nothing in common that could be changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval import ToolCall
from tunaeval.types.copies import copied
from tunaeval.types.exchange import Request
from tunaeval.types.messages import Message

flat = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    flat | st.binary() | st.binary().map(bytearray) | st.sets(st.integers()),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text(), inner).map(lambda given: ToolCall("f", given))
        | st.lists(inner).map(lambda given: Request([{"content": one} for one in given]))
    ),
)


def mutable(value: Any) -> Iterator[object]:
    """Yield all that can be changed in a value."""
    if isinstance(value, dict | list | set | bytearray):
        yield value
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list | tuple):
        inner = value
    elif isinstance(value, ToolCall | Request):
        inner = [getattr(value, name) for name in type(value).__dataclass_fields__]
    for one in inner:
        yield from mutable(one)


@given(values)
def test_a_copy_is_equal_and_shares_nothing_that_can_be_changed(value: object) -> None:
    copy = copied(value)
    assert copy == value
    assert type(copy) is type(value)
    assert {*map(id, mutable(copy))}.isdisjoint(map(id, mutable(value)))


def test_what_cannot_be_changed_is_not_copied() -> None:
    for value in (Message("user", "Hi"), ("a", (1, 2)), "a", tunaeval.Span(1, 2)):
        assert copied(value) is value


def test_objects_of_others_are_shared() -> None:
    thing = object()
    assert copied([thing])[0] is thing


def test_a_cycle_stays_one_and_depth_costs_no_stack() -> None:
    circle: list[Any] = [1]
    circle.append({"again": circle})
    assert (made := copied(circle))[1]["again"] is made is not circle
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert copied(deep) is not deep


class Plain(dict[str, Any]):
    def __iter__(self) -> Iterator[str]:
        raise AssertionError("nobody asked")


def test_a_class_of_others_is_not_asked_how_it_is_read() -> None:
    assert copied([Plain(a=1)]) == [{"a": 1}]


@pytest.mark.parametrize("name", ["smoke", "repair-tasks"])
def test_a_report_is_copied_with_all_that_is_in_it(name: str) -> None:
    suite = tunaeval.load_suite(name)
    copy = copied(suite)
    assert copy == suite
    specs = [*zip(copy.tools.values(), suite.tools.values(), strict=True)]
    assert specs
    assert all(one.parameters is not two.parameters for one, two in specs)
