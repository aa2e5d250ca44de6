"""The reader of nearly-JSON: sound text as the standard reads it, damage named, prose refused."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.repair.samples import FRAGMENTS, damaged_json, written
from tunaeval.parsing.repair.machine import JsonReader, read_json
from tunaeval.parsing.repair.values import REPAIRS, Read, Unreadable
from tunaeval.parsing.window import Window
from tunaeval.testing.strategies import fragments
from tunaeval.types.calls import JsonValue, Span
from tunaeval.types.parsing import LEVELS


def streamed(chunks: Iterator[str], stops: tuple[str, ...] = ()) -> Read | Unreadable:
    """What the reader makes of a text that arrives in pieces."""
    window = Window()
    reading = JsonReader(window, stops).read()
    try:
        for chunk in chunks:
            window.feed(chunk)
            next(reading)
        window.final = True
        next(reading)
    except StopIteration as stop:
        result: Read | Unreadable = stop.value
        return result
    raise AssertionError("the reader waits for more than the whole text")


def whole(text: str, stops: tuple[str, ...] = ()) -> Read | Unreadable:
    return streamed(iter([text]), stops)


def made(text: str) -> list[str]:
    """The codes of the repairs of a text that can be read."""
    read = read_json(text)
    assert isinstance(read, Read), read
    return [repair.code for repair in read.repairs]


@given(text=written())
def test_sound_json_is_read_as_the_standard_library_reads_it(text: str) -> None:
    read = read_json(f" {text}\n")
    assert isinstance(read, Read)
    assert repr(read.value) == repr(json.loads(text))
    assert not read.repairs
    assert not read.truncated


@given(text=written(), step=st.integers(1, 9))
def test_sound_json_that_arrives_is_read_as_the_whole(text: str, step: int) -> None:
    pieces = (text[i : i + step] for i in range(0, len(text), step))
    assert streamed(pieces) == read_json(text)


@given(text=damaged_json())
def test_every_split_of_a_damaged_text_gives_the_same(text: str) -> None:
    expected = whole(text)
    for at in range(len(text) + 1):
        assert streamed(iter([text[:at], text[at:]])) == expected
    assert streamed(iter(text)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"""["\bclass\s"]""", r"\bclass\s"),
        (r"""["\s\b\f"]""", r"\s\b\f"),
        (r"""["\b\f"]""", "\b\f"),
        (r"""["\b\f\n", "\s"]""", "\b\f\n"),
    ],
)
def test_a_backspace_beside_unknown_escapes_is_a_word_boundary(text: str, value: str) -> None:
    for read in (read_json(text), streamed(iter(text))):
        assert isinstance(read, Read)
        assert read.value[0] == value


@given(text=fragments() | st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join))
def test_nothing_raises_and_what_is_read_is_json(text: str) -> None:
    read = read_json(text)
    if isinstance(read, Read):
        json.dumps(read.value, allow_nan=False)
        assert read.truncated == ("truncated" in [repair.code for repair in read.repairs])


@given(text=written(), data=st.data())
def test_every_beginning_is_refused_or_truncated(text: str, data: st.DataObject) -> None:
    read = read_json(text[: data.draw(st.integers(0, len(text) - 1))])
    assert isinstance(read, Unreadable) or read.truncated


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        ("{'a': 'b'}", {"a": "b"}, ["single-quotes"] * 2),
        ("{'a': 'say \"x\"'}", {"a": 'say "x"'}, ["single-quotes"] * 2),
        (r"{'a': 'it\'s'}", {"a": "it's"}, ["single-quotes"] * 2),
        ("{“a”: ‘b’}", {"a": "b"}, ["smart-quotes"] * 2),
        ("[True, False, None]", [True, False, None], ["python-literal"] * 3),
        ("{a: 1, b-c: 2, $d: 3}", {"a": 1, "b-c": 2, "$d": 3}, ["bare-key"] * 3),
        ("[1, // one\n 2 # two\n, /* three */ 3]", [1, 2, 3], ["comment"] * 3),
        ("[1, 2,]", [1, 2], ["trailing-comma"]),
        ('{"a": 1,}', {"a": 1}, ["trailing-comma"]),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, ["missing-comma"]),
        ("[{} {}]", [{}, {}], ["missing-comma"]),
        ("[1,, 2]", [1, 2], ["extra-comma"]),
        ('["a\tb\nc"]', ["a\tb\nc"], ["control-character"]),
        ('["a" "b"]', ["a", "b"], ["guessed-comma"]),
        ('{"a": "x," "b": 1}', {"a": "x,", "b": 1}, ["guessed-comma"]),
        ('{"a": {"b": 1,} "c": 2}', {"a": {"b": 1}, "c": 2}, ["trailing-comma", "guessed-comma"]),
        (
            '{"a": {"b": 1,}, "c": 2 "d": 3}',
            {"a": {"b": 1}, "c": 2, "d": 3},
            ["trailing-comma", "missing-comma"],
        ),
        ('{"a" 1}', {"a": 1}, ["missing-colon"]),
        ('{"a" = 1, "b" => 2}', {"a": 1, "b": 2}, ["separator"] * 2),
        (r'["\w\."]', [r"\w\."], ["invalid-escape"] * 2),
        ('{"a": "say "hi" now"}', {"a": 'say "hi" now'}, ["inner-quote"] * 2),
        ('{"a": /etc/passwd, "n": 1}', {"a": "/etc/passwd", "n": 1}, ["unquoted-string"]),
        ('{"a": [1, 2}', {"a": [1, 2]}, ["missing-closer"]),
        ("[1}]", [1], ["extra-closer"]),
        ('{"a": "b', {"a": "b"}, ["truncated"]),
        ('{"a": [1, {"b": 2', {"a": [1, {"b": 2}]}, ["truncated"]),
        ('{"a": 1, "b', {"a": 1}, ["truncated"]),
        ('{"a": 1, "b": ', {"a": 1}, ["truncated"]),
        ('{"a": 1, "b": tru', {"a": 1}, ["truncated"]),
        ('{"a": "\\u00', {"a": ""}, ["truncated"]),
    ],
)
def test_a_mend_is_named(text: str, value: JsonValue, repairs: list[str]) -> None:
    read = read_json(text)
    assert isinstance(read, Read)
    assert read.value == value
    assert made(text) == repairs
    for repair in read.repairs:
        assert (repair.level, repair.message) == REPAIRS[repair.code]
        assert repair.span is not None
        assert 0 <= repair.span.start < repair.span.end <= len(text) + 1


def test_a_cut_is_told_even_where_mends_are_no_longer_listed() -> None:
    read = read_json("[" + "a, " * 100)
    assert isinstance(read, Read)
    assert len(read.repairs) == 64
    assert read.truncated


def test_a_mend_tells_where() -> None:
    read = read_json("  {\"a\": 1, 'b': True}")
    assert isinstance(read, Read)
    assert [repair.span for repair in read.repairs] == [Span(11, 12), Span(16, 17)]


def test_every_mend_has_a_level_that_exists() -> None:
    assert {level for level, _ in REPAIRS.values()} == set(LEVELS) - {"strict"}


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "Hello there.", "{{name}}", "[1] Smith, J.", "{see below, please}", "{}{}",
        "[] and more", "function f() { return 1; }", "{ return 1; }", "a[0] = {1, 2}", "{1: 2}",
        "{f(x) for x in y}", "[x for x in range(3)]", "{,}", '{"a": , "b": 1}', '{"a":}', "{:}",
        "{'a'}", "{a, b}", "{...}", "[...]", "{ x => x + 1 }", "{% if x %}", "[link](https://x.y)",
    ],
)  # fmt: skip
def test_prose_and_code_are_no_values(text: str) -> None:
    assert isinstance(read_json(text), Unreadable)


@pytest.mark.parametrize(
    "expression",
    [
        "1 + 2", "2 ** 8", "f(1)", "__import__('os')", "range(10)", "x[0]", "a.b()", "not True",
        "lambda: 1", "datetime.now()", "0x1F", "+1", ".5", "5.", "01234", "1e", "--1",
        "NaN", "-NaN", "nan", "Infinity", "-Infinity", "inf", "undefined", "f'x'", "b'x'",
    ],
)  # fmt: skip
def test_an_expression_is_never_evaluated(expression: str) -> None:
    for text in (f'{{"a": {expression}}}', f"[{expression}]", f'{{"a": {expression}, "b": 1}}'):
        read = read_json(text)
        if isinstance(read, Read):
            assert {repair.level for repair in read.repairs} == {"lenient"}
            assert json.dumps(expression)[1:-1] in json.dumps(read.value)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1" + "0" * 400 + ".0"])
def test_a_number_too_large_for_a_float_is_invalid(text: str) -> None:
    read = read_json(f"[{text}]")
    assert isinstance(read, Unreadable)
    assert read.code == "invalid-number"


@pytest.mark.parametrize("value", [2**53 + 1, 2**64 + 1, -(2**64) - 1, 10**4299, -(10**4298)])
def test_integers_stay_integers(value: int) -> None:
    for text in (f"[{value}]", f"[{value},]"):
        read = read_json(text)
        assert isinstance(read, Read)
        assert read.value == [value]
        assert type(read.value[0]) is int


@pytest.mark.parametrize("digits", [4302, 9000, 100_000])
def test_digits_are_capped(digits: int) -> None:
    for text in (f"[{'1' * digits}]", f"[{'1' * digits}", f"[{'1' * digits},]"):
        read = read_json(text)
        assert isinstance(read, Unreadable)
        assert read.code == "too-many-digits"
        assert streamed(iter([text[:50], text[50:5000], text[5000:]])) == whole(text)


@pytest.mark.parametrize("depth", [129, 1000, 100_000])
@pytest.mark.parametrize("opener", ["[", '{"a":', "[{'a':"])
def test_depth_is_capped(opener: str, depth: int) -> None:
    read = read_json(opener * depth)
    assert isinstance(read, Unreadable)
    assert read.code == "too-deep"


@pytest.mark.parametrize(
    ("text", "value", "note"),
    [
        ('{"a": 1, "a": 2}', {"a": 2}, "duplicate-key"),
        ("{a: 1, 'a': 2}", {"a": 2}, "duplicate-key"),
        (r'["\ud83d"]', ["\ud83d"], "lone-surrogate"),
        (r"['\ude00']", ["\ude00"], "lone-surrogate"),
        (r'["\u0000"]', ["\x00"], "nul"),
        ("['\x00']", ["\x00"], "nul"),
    ],
)
def test_oddities_are_kept_and_noted(text: str, value: JsonValue, note: str) -> None:
    for read in (read_json(text), whole(text)):
        assert isinstance(read, Read)
        assert read.value == value
        assert [each.code for each in read.notes] == [note]


def test_a_surrogate_pair_is_one_character_and_not_odd() -> None:
    for text in (r'["\ud83d\ude00"]', r"['\ud83d\ude00']"):
        read = read_json(text)
        assert isinstance(read, Read)
        assert (read.value, read.notes) == (["😀"], ())


def test_a_byte_order_mark_is_no_json() -> None:
    assert isinstance(read_json("\ufeff[1]"), Unreadable)


def test_a_stop_outside_a_string_closes_what_is_open() -> None:
    read = whole('{"a": ["</x>", 1</x> more', ("</x>",))
    assert isinstance(read, Read)
    assert read.value == {"a": ["</x>", 1]}
    assert [repair.code for repair in read.repairs] == ["missing-closer"]
    assert not read.truncated
