"""JSON text is read by the same rules wherever it comes from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.types.json_text import (
    RepeatedKeyError,
    decoded,
    decoded_at,
    decoded_or,
    json_object,
)

VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.integers(2**62, 2**70), st.text(max_size=8),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(categories=["Cs", "Ll"]), max_size=4),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
)  # fmt: skip


@given(value=VALUES)
def test_what_is_written_is_read_from_text_and_from_bytes(value: Any) -> None:
    text = json.dumps(value)
    assert decoded(text) == decoded(text.encode()) == value
    assert decoded(text, duplicates="refuse") == value
    assert decoded(b"\xef\xbb\xbf" + text.encode(), duplicates="refuse") == value
    assert decoded_at(f"{text} and more") == (value, len(text))
    assert decoded_or(text, "no JSON") == value
    assert repr(decoded(text)) == repr(json.loads(text))  # no integer has become a float


@given(text=st.one_of(st.text(max_size=12), st.text('[]{}:,"1e9\\ualNInftyrus ', max_size=12)))
def test_the_ways_of_reading_agree_on_what_is_json(text: str) -> None:
    found: list[str] = []
    ways: tuple[dict[str, Any], ...] = ({}, {"constants": True}, {"duplicates": "refuse"})
    for more in ways:
        try:
            found.append(repr(decoded(text, **more)))
        except RepeatedKeyError:
            found.append(found[0])
        except ValueError:
            found.append("no JSON")
    assert found[0] == found[2]
    assert found[0] in {found[1], "no JSON"}  # NaN and the infinities alone


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "[-1e999]"])
@pytest.mark.parametrize("more", [{}, {"duplicates": "refuse"}])
def test_what_is_no_number_is_refused(word: str, more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="found"):
        decoded(word, **more)
    assert "f" in repr(decoded(word, constants=True)) or "nan" in repr(
        decoded(word, constants=True)
    )


def test_the_last_of_two_values_counts_unless_that_is_refused() -> None:
    text = '{"a": [{"b": 1, "c": 2, "b": 3}]}'
    assert decoded(text) == decoded(text.encode()) == {"a": [{"b": 3, "c": 2}]}
    with pytest.raises(RepeatedKeyError, match="'b' twice"):
        decoded(text, duplicates="refuse")


@pytest.mark.parametrize("more", [{}, {"constants": True}, {"duplicates": "refuse"}])
def test_text_of_any_depth_is_refused_without_an_end_of_the_stack(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        decoded("[" * 100_000 + "]" * 100_000, **more)
    with pytest.raises(ValueError, match="nested too deeply"):
        decoded_at("[" * 100_000)


def test_what_is_no_object_is_none() -> None:
    assert json_object('{"a": 1}') == json_object(b'{"a": 1}') == {"a": 1}
    assert [json_object(one) for one in ("[1]", "{", None, 3, b"\xff")] == [None] * 5
