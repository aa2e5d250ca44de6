"""Python's literals and braces: what is taken whole says what the steps say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.parsing.repair.dialects import BraceReader, PythonReader
from tunaeval.parsing.repair.machine import JsonReader
from tunaeval.parsing.repair.values import Read, Unreadable, number_as_json
from tunaeval.parsing.window import Window
from tunaeval.types.calls import JsonValue

MARK = "<escape>"
STOPS = ("</c>",)

SOUND = {
    "json": '{"city": "Oslo", "l": [1, "a, b", {}], "o": {"x": null, "y": "it\'s"}, "e": []}',
    "python": """(city='Oslo', l=[1, "a, b", (2,)], o={'x': None, "y": "it's"}, e=[], s='\\n')""",
    "brace": "{city:<escape>Oslo<escape>,days:3,l:[1,<escape>a, b<escape>],o:{x:null,y:-1.5},e:[]}",
}
PIECES = (
    "'", '"', MARK, MARK[:4], "\\", "\\n", "\\x4", "\\u00e9", ",", ":", "=", "=>", "{", "}", "[",
    "]", "(", ")", " ", "\n", "1", "07", "-", "True", "null", "x", "k:", "k=", "'k':", "**{}",
    "**{'a':1}", "{1,", "</c>", "</", "#", "/*", "'a' 'b'", "'''", "é", " " * 30,
)  # fmt: skip


def reader_of(dialect: str, window: Window) -> JsonReader | PythonReader | BraceReader:
    match dialect:
        case "json":
            return JsonReader(window, STOPS)
        case "python":
            return PythonReader(window, ("city", "days"), STOPS)
    return BraceReader(window, MARK, STOPS)


def read(dialect: str, text: str, step: int) -> tuple[Read | Unreadable, int]:
    """What comes of a text in chunks of so many characters, and where it ends."""
    window = Window()
    reader = reader_of(dialect, window)
    for at in range(0, len(text), step):
        window.feed(text[at : at + step])
        window.final = at + step >= len(text)
        if result := reader.advance():
            return result, window.offset
    raise AssertionError(f"a reader asked for more than all of {text!r}")


@st.composite
def damaged(draw: st.DrawFn, dialect: str) -> str:
    text = SOUND[dialect]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(1, len(text)))
        piece = draw(st.sampled_from(["", *PIECES]))
        text = text[:at] + piece + text[at + draw(st.integers(0, 3)) :]
    return text


@pytest.mark.parametrize("dialect", SOUND)
@given(data=st.data(), step=st.sampled_from([1, 2, 7, 30]))
def test_chunks_do_not_matter(dialect: str, data: st.DataObject, step: int) -> None:
    """Character by character next to nothing is taken whole."""
    text = data.draw(damaged(dialect))
    whole, end = read(dialect, text, len(text))
    parts, parts_end = read(dialect, text, step)
    if isinstance(whole, Unreadable) and isinstance(parts, Unreadable):
        assert (parts.code, parts.message, parts.at) == (whole.code, whole.message, whole.at)
    else:
        assert parts == whole
    assert parts_end == end


NAMES = st.sampled_from(["a", "b_c", "é", "x1"])


@pytest.mark.parametrize("space", [1, 24, 25, 90])
@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("python", "(a~='x',b=1)"),
        ("python", "(a=~'x'~,~b=~1~)"),
        ("brace", "{a~:~<escape>x<escape>~,~b:~1~}"),
    ],
)
def test_white_space_is_as_long_in_pieces(dialect: str, text: str, space: int) -> None:
    text = text.replace("~", " " * space)
    assert read(dialect, text, 1) == read(dialect, text, len(text))


def values(inner: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)


SCALARS: st.SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab,:[]{}()'\"\\\n\t é", max_size=9)
)
VALUES = st.recursive(SCALARS, values, max_leaves=6)


def as_python(arguments: dict[str, JsonValue]) -> str:
    return f"({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def as_braces(value: JsonValue) -> str:
    match value:
        case str():
            return f"{MARK}{value}{MARK}"
        case dict():
            return f"{{{','.join(f'{key}:{as_braces(item)}' for key, item in value.items())}}}"
        case list():
            return f"[{','.join(map(as_braces, value))}]"
    return json.dumps(value)


@given(arguments=st.dictionaries(NAMES, VALUES, max_size=4), step=st.sampled_from([1, 5, 1000]))
def test_what_is_sound_is_read_without_a_repair(arguments: dict[str, JsonValue], step: int) -> None:
    assert read("python", as_python(arguments), step)[0] == Read(arguments)
    assert read("brace", as_braces(arguments), step)[0] == Read(arguments)
    assert read("json", json.dumps(arguments), step)[0] == Read(arguments)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a:1,b:2,<esc", {"a": 1, "b": 2}),
        ("{o:{a:1} <esc", {"o": {"a": 1}}),
    ],
)
def test_a_mark_that_is_cut_off_takes_no_member_with_it(text: str, value: JsonValue) -> None:
    result, _ = read("brace", text, len(text))
    assert isinstance(result, Read)
    assert (result.value, result.truncated) == (value, True)


@pytest.mark.parametrize(
    ("dialect", "text", "value"),
    [("json", "[1,}2]", [1, 2]), ("python", "(a=[1,}2])", {"a": [1, 2]}),
     ("brace", "{a:[1,)2]}", {"a": [1, 2]})],
)  # fmt: skip
def test_behind_a_stray_closer_is_due_what_was_due_before_it(
    dialect: str, text: str, value: JsonValue
) -> None:
    result, _ = read(dialect, text, len(text))
    assert isinstance(result, Read)
    assert result.value == value
    assert [repair.code for repair in result.repairs] == ["extra-closer"]


# --- Python's literals -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelled", "number"),
    [
        ("1", "1"), ("-0", "-0"), ("+3", "3"), ("1_000", "1000"), ("0x1F", "31"), ("0b11", "3"),
        ("0o17", "15"), ("1.", "1.0"), (".5", "0.5"), ("-.5e3", "-0.5e3"), ("00.5", "0.5"),
        ("1_0.2_5", "10.25"), ("+1e5", "1.0e5"), ("01", None), ("1j", None), ("-", None),
        (".", None), ("0x", None), ("1e", None), ("٣", None),
    ],
)  # fmt: skip
def test_numbers_are_spelled_as_in_python(spelled: str, number: str | None) -> None:
    assert number_as_json(spelled) == number


@pytest.mark.parametrize(
    ("written", "value", "repairs"),
    [
        ("{1, 2}", [1, 2], ["python-set"]),
        ("{1}", [1], ["python-set"]),
        ("{'a', \"b\",}", ["a", "b"], ["python-set"]),
        ("{ True , (1,), -2.5 }", [True, [1], -2.5], ["python-set"]),
        ("[{1}, {'a': {2}}]", [[1], {"a": [2]}], ["python-set"] * 2),
        ("{}", {}, []),
        ("07", 7, ["leading-zero"]),
        ("-007", -7, ["leading-zero"]),
        ("{'m': 07, 'd': {8}}", {"m": 7, "d": [8]}, ["leading-zero", "python-set"]),
        ("00", 0, []),
        ("07.5", 7.5, []),
    ],
)
def test_sets_and_leading_zeros_are_repaired(
    written: str, value: JsonValue, repairs: list[str]
) -> None:
    """LFM2 writes them."""
    result, _ = read("python", f"(a={written})", 1)
    assert isinstance(result, Read)
    assert result.value == {"a": value}
    assert [repair.code for repair in result.repairs] == repairs


@pytest.mark.parametrize("written", ["{1: 2, 3}", "{1, 2: 3}", "{'a': 1, 'b'}", "{1 2}", "0_7"])
def test_what_is_neither_set_nor_dictionary_is_refused(written: str) -> None:
    assert isinstance(read("python", f"(a={written})", 1)[0], Unreadable)
