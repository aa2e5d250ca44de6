"""A whole value is read by the scanner or by steps, and both say the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tunaeval.parsing.repair.machine import JsonReader, read_json
from tunaeval.parsing.repair.values import Read, Unreadable
from tunaeval.parsing.window import Window
from tunaeval.testing.strategies import json_values


def stepwise(text: str) -> Read | Unreadable:
    window = Window(text, final=True)
    window.pos = len(text) - len(text.lstrip())
    read = JsonReader(window).advance()
    assert read is not None
    return read


@given(st.dictionaries(st.text(), json_values()) | st.lists(json_values()))
@example({"a": "v", f"it's {'x' * 80}": 1})
@example({"a": "v", f"” {'é' * 80}": 1})
@example([1e22, -0.0, 2**64, "\ud800", "\x00", {"": []}])
def test_a_sound_value_is_read_as_step_by_step(value: object) -> None:
    text = json.dumps(value)
    read = read_json(f" \n{text}\t")
    assert repr(read) == repr(stepwise(f" \n{text}\t"))


@pytest.mark.parametrize("spaces", [0, 24, 25, 199, 200, 201, 900])
def test_white_space_before_a_colon_changes_nothing(spaces: int) -> None:
    text = f'{{"a": "v", "b"{" " * spaces}: "w"}}'
    assert repr(read_json(text)) == repr(stepwise(text)) == repr(Read({"a": "v", "b": "w"}))


def test_what_is_odd_is_told_by_either() -> None:
    for text in (
        '{"a": 1, "a": 2}',
        '{"a": "\\u0000"}',
        '{"a": NaN}',
        f"[{'9' * 5000}]",
        "[" * 500,
    ):
        assert repr(read_json(text)) == repr(stepwise(text))


def test_what_stands_behind_a_value_is_no_part_of_it() -> None:
    read = read_json('{"a": 1} {"b": 2}')
    assert isinstance(read, Unreadable)
    assert "comes after the value" in read.message
