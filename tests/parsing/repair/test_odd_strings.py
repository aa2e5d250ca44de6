r"""Strings full of what needs thought: what they say, what that costs, and where they end."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.parsing.repair.machine import JsonReader, read_json
from tunaeval.parsing.repair.values import Read, Unreadable
from tunaeval.parsing.window import Window

ODD = ("\x00", "\n", "\\u", "\\q", "\\b", "\\ba", '"', "\\'", "é\\x", "\\n")
QUOTES = (
    '"',
    '{"',
    '"a" ',
    '",',
    '", "',
    '"a"=',
    '": ',
    '[ "',
    '"/',
    '"\n',
    "</a>",
    "```",
    "\\",
    "{",
    "x",
)
"""What may be before and behind quotes, where it says whether they end a string."""
SIZE = 65536


def value_of(text: str) -> object:
    """What the only member of an object is."""
    read = read_json(f'{{"s": "{text}"}}')
    assert isinstance(read, Read)
    assert isinstance(read.value, dict)
    return read.value["s"]


def in_pieces(text: str, step: int) -> Read | Unreadable:
    window = Window()
    reader = JsonReader(window)
    for at in range(0, len(text), step):
        window.feed(text[at : at + step])
        if result := reader.advance():
            return result
    window.final = True
    result = reader.advance()
    assert result
    return result


@pytest.mark.parametrize("piece", ODD)
def test_it_takes_little_memory(piece: str) -> None:
    """A piece for each character took 70 times the text."""
    text = '{"s": "' + piece * (SIZE // len(piece))
    tracemalloc.start()
    try:
        read_json(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 14 * len(text)


@given(
    pieces=st.lists(st.sampled_from(ODD), min_size=1, max_size=4),
    times=st.sampled_from([1, 40, 200]),
    step=st.integers(1, 90),
)
def test_it_says_the_same_in_pieces(pieces: list[str], times: int, step: int) -> None:
    text = f'{{"s": "{"".join(pieces) * times}", "t": 1}}'
    assert in_pieces(text, step) == in_pieces(text, len(text))


@pytest.mark.parametrize("times", [1, 50, 500])
def test_a_regular_expression_is_kept_however_late_it_shows(times: int) -> None:
    assert value_of("\\b\\f" * times + "\\d") == "\\b\\f" * times + "\\d"
    assert value_of("\\b\\f" * times) == "\b\f" * times
    assert value_of("\x08" * times + "\\b\\d") == "\b" * times + "\\b\\d"


@pytest.mark.parametrize(
    ("text", "value"),
    [('[}"a"]', ["a"]), ("[1,} 2]", [1, 2]), ("{]}", {})],
)
def test_a_closer_of_nothing_is_passed_over_where_it_stands(text: str, value: object) -> None:
    """A comma was written where no value had been."""
    read = read_json(text)
    assert isinstance(read, Read)
    assert read.value == value
    assert "extra-closer" in [repair.code for repair in read.repairs]


@pytest.mark.parametrize("start", ['{"a": ', "{"])
@pytest.mark.parametrize("flood", ["1", "a"])
def test_what_never_ends_is_refused_after_a_bounded_look(start: str, flood: str) -> None:
    window = Window(start + flood * 20_000)
    assert isinstance(JsonReader(window).advance(), Unreadable)


@pytest.mark.parametrize("escapes", [30, 45, 60, 69, 80])
def test_a_long_key_of_escapes_ends_the_string_before_it_in_pieces_too(escapes: int) -> None:
    text = '{"s": "x","' + "\\'" * escapes + '": 1}'
    assert in_pieces(text, 1) == in_pieces(text, len(text))


@given(
    pieces=st.lists(st.sampled_from(QUOTES), min_size=1, max_size=6),
    before=st.sampled_from(["", "\n", "</b>\n", '"x y" ' * 9]),
    element=st.booleans(),
    step=st.integers(1, 90),
)
def test_a_flood_of_quotes_says_the_same_in_pieces(
    pieces: list[str], before: str, element: bool, step: int
) -> None:
    flood = before + "".join(pieces) * 80
    text = f'["{flood}", 1]' if element else f'{{"s": "{flood}", "t": 1}}'
    assert in_pieces(text, len(text)) == in_pieces(text, step)
