"""A fixed text is read in all its spellings, wherever it is in a grammar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.fuzz.random_formats import random_formats
from tunaeval.errors import FormatError, UsageError
from tunaeval.grammar import Literal, Many, Maybe, Word
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import parser_for, render
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.testing.laws import names_and_arguments
from tunaeval.testing.strategies import tools_for
from tunaeval.testing.streams import stream_of
from tunaeval.types.calls import ToolCall

CALLS = [ToolCall("f", {"a": "x"}), ToolCall("g", {"b": "y z"})]


def respelled(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """The same words, each time with another spelling first of one of the fixed texts."""
    for at, word in enumerate(words):
        for other in _others(word):
            yield (*words[:at], other, *words[at + 1 :])


def _others(word: Word) -> Iterator[Word]:
    if isinstance(word, Literal):
        for text in word.also:
            yield Literal(text, tuple(each for each in word.spellings if each != text))
    elif isinstance(word, Maybe | Many):
        for words in respelled(word.words):
            yield replace(word, words=words)


def spelled_otherwise(form: Format) -> Iterator[Format]:
    """The formats that write what this one reads as well."""
    changes: list[dict[str, object]] = [{"words": words} for words in respelled(form.words)]
    changes += [{"around": around} for around in respelled(form.around or ())]
    for change in changes:
        try:
            yield replace(form, **change)  # type: ignore[arg-type]  # words, or what is around calls
        except FormatError:
            continue  # what can be read in passing is not all good enough to be written


def check(form: Format) -> None:
    for other in spelled_otherwise(form):
        try:
            text = render(CALLS, other)
        except UsageError:
            continue
        found = reader_of(form).parse(text)
        assert names_and_arguments(found.calls) == names_and_arguments(CALLS), (
            f"{form}: {text!r} is read as {found}"
        )
        agree(reader_of(form), text)


def agree(reader: Reader, text: str) -> None:
    """Chunks do not matter."""
    for size in (1, 7):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        assert stream_of(reader.stream(), chunks)[0] == reader.parse(text)


@settings(max_examples=300, deadline=None)
@given(form=random_formats())
def test_every_spelling_is_read(form: Format) -> None:
    check(form)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())
def test_every_spelling_of_the_formats_that_come_along_is_read(form: Format) -> None:
    check(form)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())
def test_every_spelling_is_read_beside_all_other_formats(form: Format) -> None:
    """An opener may be that of several, and as long as it may, a stream takes none of them."""
    auto = parser_for("auto")
    assert isinstance(auto, Reader)
    for other in spelled_otherwise(form):
        text = render(CALLS, other)
        tools = tools_for(CALLS) if form.whole else None
        assert names_and_arguments(auto.parse(text, tools=tools).calls) == names_and_arguments(
            CALLS
        )
        agree(auto, text)
