"""Law 5: twice the text takes at most about twice the time, whatever the text; and the caps.

Only growth is measured, never seconds: a busy machine slows both sizes alike. A first look at small
sizes lets most floods pass; one that seems to grow too fast is measured again, longer.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import process_time

import pytest

from tests.parsing.samples import LS, TOOLS, codes, said, tagged
from tunaeval import ToolCall, parse, parse_message, render, stream
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.reader import Reader
from tunaeval.testing.streams import stream_of
from tunaeval.types.parsing import LEVELS, Level, ParseResult

BOUND = 3.0
"""What a doubling may cost; the real figure is about 2, squares give 4."""

WHOLE = 8 * 1024
STREAMED = 4 * 1024
"""Characters of the smaller of two texts."""

FAR = 200_000
"""The same where what is repeated may be a search, which takes a nanosecond a character."""

ADDRESSED = [name for name, form in FORMATS.items() if form.addressed and form.envelope]
"""Formats with a tool's name in the header of a message."""

FLOODS = (
    "{", "[", "[{", "[{'a':", '{"', '{"a":', "{a:", '{"name": "x", "arguments": {', "<tool_call>",
    "<tool_call>{", '<tool_call>{"name": "x", "arguments": {"a": "', "<tools>[", "</tool_call>",
    "<think>", "\n<think>", "</think>", "<", "```", "\n```json\n{", "`", '"', "'", '"a" "',
    "it's ", "“", "\\", '\\"', "\\u", ",", '"a",', ":", "}]", "}", "/*", "*/", "//", "#", " ",
    " \n", "...", "1", "1e", "a", "NaN,", '{"a": 1},', '"k": 1,', '"k": "v" ', "\x00", "é",
    '{"name": "f"} ', '{"name": "f", "arguments": {}}', "<tool_call>{}</tool_call>",
)  # fmt: skip

PREFIXES = (
    "",
    '<tool_call>{"name": "bash", "arguments": {"x": ',
    '{"name": "bash", "arguments": {"x": "',
    '<tool_call>{"name": "bash", "arguments": {"x": 1}}',
)


def whole(text: str) -> object:
    return parse(text, tools=TOOLS, level="lenient")


def streamed(text: str) -> object:
    """In chunks of four characters, as a model's tokens come."""
    reading = stream(tools=TOOLS, level="lenient")
    for start in range(0, len(text), 4):
        reading.feed(text[start : start + 4])
    return reading.finish()


def in_one_chunk(text: str) -> object:
    """As a server sends it that does not really stream."""
    return stream_of(stream(tools=TOOLS, level="lenient"), [text])


@contextmanager
def uncollected() -> Iterator[None]:
    """Garbage is not looked for: that takes as long as the tests before have left objects."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(read: Callable[[str], object], text: str, runs: int) -> float:
    best = float("inf")
    for _ in range(runs):
        with uncollected():
            start = process_time()
            read(text)
            best = min(best, process_time() - start)
    return best


def growth(read: Callable[[str], object], prefix: str, flood: str, size: int, runs: int) -> float:
    """How many times longer twice the text takes."""
    small = prefix + flood * (size // len(flood))
    large = prefix + flood * (2 * size // len(flood))
    floor = 0.0005  # below half a millisecond it is all noise, and no danger
    return seconds(read, large, runs) / max(seconds(read, small, runs), floor)


def assert_linear(read: Callable[[str], object], prefix: str, flood: str, size: int) -> None:
    """Twice the text takes at most `BOUND` times as long in one of three measurements.

    What slows a machine between two measurements only ever adds; a square fails all three.
    """
    found = [growth(read, prefix, flood, size, runs=2)]
    while found[-1] > BOUND and len(found) < 3:
        found.append(growth(read, prefix, flood, size, runs=2))
    assert min(found) <= BOUND, f"{flood!r} behind {prefix!r} grows {min(found):.1f} a doubling"


@pytest.mark.parametrize("prefix", PREFIXES, ids=["bare", "tagged", "in a string", "behind"])
@pytest.mark.parametrize(
    ("read", "size"),
    [(whole, WHOLE), (streamed, STREAMED), (in_one_chunk, STREAMED)],
    ids=["whole", "streamed", "in one chunk"],
)
def test_twice_the_text_takes_about_twice_the_time(
    read: Callable[[str], object], size: int, prefix: str
) -> None:
    for flood in FLOODS:
        if growth(read, prefix, flood, size, runs=1) > BOUND:
            assert_linear(read, prefix, flood, 4 * size)


@pytest.mark.parametrize("name", ADDRESSED)
def test_a_flood_of_headers_is_not_searched_for_the_end_of_each(name: str) -> None:
    """To find nothing in all that follows is fast, so only long texts show that it is repeated."""
    written = render([ToolCall("f", {})], name)
    opener = FORMATS[name].words[0].spellings[0]  # type: ignore[union-attr]  # these begin with one
    header = written[: written.index(opener)] + opener
    assert_linear(lambda text: parse(text, name, TOOLS), "", header, FAR)


def test_many_small_calls_cost_what_they_are_long() -> None:
    text = f"{tagged(LS)}\nand\n"
    assert_linear(whole, "", text, 4 * WHOLE)
    assert_linear(streamed, "", text, 4 * STREAMED)


@pytest.mark.parametrize("prefix", ["", "<think>", PREFIXES[2]], ids=["prose", "thought", "string"])
def test_a_stream_forgets_what_was_read(prefix: str) -> None:
    """What it kept would be copied with each chunk, which shows only in very long texts."""
    reading = stream()
    for chunk in [prefix, *["word "] * 2000]:
        reading.feed(chunk)
        assert len(reading._scanner.window.text) < 1000


# --- caps ------------------------------------------------------------------------------------


def both(text: str, level: Level = "standard") -> ParseResult:
    """The result of the whole text, which is that of the stream."""
    result = parse(text, level=level)
    reading = stream(level=level)
    for start in range(0, len(text), 997):
        reading.feed(text[start : start + 997])
    assert reading.finish() == result
    return result


def nested(depth: int) -> str:
    """A call that is `depth` levels deep: itself, its arguments, and lists."""
    return f'{{"name": "f", "arguments": {{"a": {"[" * (depth - 2)}{"]" * (depth - 2)}}}}}'


@pytest.mark.parametrize("level", LEVELS)
def test_depth_is_capped(level: Level) -> None:
    for frame in (str, tagged):
        assert both(frame(nested(128)), level).outcome == "calls"
        for depth in (130, 2000, 100_000):
            result = both(frame(nested(depth)), level)
            assert not result.calls
            assert codes(result) == ["too-deep"]


@pytest.mark.parametrize("opener", ["[", "{", '{"a":', "[{'a':"])
@pytest.mark.parametrize("level", LEVELS)
def test_recursion_never_escapes(opener: str, level: Level) -> None:
    for start in ("", "<tool_call>", '<tool_call>{"name": "f", "arguments": {"a": '):
        both(start + opener * 2000, level)
    text = '{"name": "f", "arguments": "' + opener.replace('"', '\\"') * 2000 + '"}'
    assert not both(text, level).calls


def test_recursion_never_escapes_from_a_message() -> None:
    deep = "[" * 50_000 + "]" * 50_000
    result = parse_message({"tool_calls": [{"function": {"name": "f", "arguments": deep}}]})
    assert codes(result) == ["invalid-arguments"]


def test_digits_are_capped() -> None:
    for sign in ("", "-"):
        text = f'{{"name": "f", "arguments": {{"a": {sign}%s}}}}'
        assert both(text % ("1" * 4299)).outcome == "calls"
        result = both(text % ("1" * 4302))
        assert codes(result) == ["too-many-digits"]
        assert result.outcome == "malformed"


@pytest.mark.parametrize("block", [tagged(LS), f"{LS}\n", f"<tools>[{LS}, {LS}]</tools>"])
def test_calls_are_capped(block: str) -> None:
    result = both(block * 1025)
    assert len(result.calls) == 1024
    assert codes(result) == ["too-many-calls"]
    assert not parse(tagged(LS) * 1024).diagnoses


def test_text_is_capped() -> None:
    text = " " * (16 * 1024 * 1024) + tagged(LS)
    result = parse(text)
    assert not result.calls
    assert codes(result) == ["too-long"]
    span = result.diagnoses[0].span
    assert span is not None
    assert text[span.start : span.end] == tagged(LS)
    assert len(result.content) == len(text)


def test_what_stands_before_the_cap_is_read() -> None:
    result = parse(tagged(LS) + "\n" * (16 * 1024 * 1024))
    assert said(result) == [("bash", {"command": "ls"})]
    assert codes(result) == ["too-long"]


def check_floods(reader: Reader, before: str, floods: Sequence[str]) -> None:
    """Behind `before` no flood makes the reader slow; a doubtful figure is taken again."""

    def whole(text: str) -> object:
        return reader.parse(text, level="lenient")

    def streamed(text: str) -> object:
        steps = range(0, len(text), 4)
        return stream_of(reader.stream(level="lenient"), [text[at : at + 4] for at in steps])

    for flood in floods:
        for read, size in ((whole, 8 * 1024), (streamed, 4 * 1024)):
            if growth(read, before, flood, size, runs=1) > BOUND:
                assert_linear(read, before, flood, 4 * size)
