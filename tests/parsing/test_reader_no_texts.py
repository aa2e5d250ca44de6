"""Texts of other classes are read as the texts they are; what is no text ends nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parsing.test_api_many import CALL, Other
from tunaeval import parse, parse_many, parse_message, stream
from tunaeval.errors import UsageError
from tunaeval.types.parsing import LEVELS, Level


class Tag(str):
    """A text of another class, whose own `str()` is something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "tag"


NO_TEXTS = (None, b"b", 7, float("nan"), ["a"], {"content": "a"}, object())
"""What a table may hold where a text belongs."""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_no_text_ends_nothing(workers: int, level: Level) -> None:
    texts: list[Any] = [CALL % n for n in range(300)]
    wanted = parse_many(texts, "hermes", level=level)
    for index, thing in enumerate(NO_TEXTS):
        texts[40 * index + 3] = thing
    found = parse_many(texts, "hermes", level=level, workers=workers)
    for index, (text, got, sound) in enumerate(zip(texts, found, wanted, strict=True)):
        if isinstance(text, str):
            assert got == sound
            continue
        assert (got.outcome, got.calls, got.content) == ("malformed", (), "")
        assert [d.code for d in got.diagnoses] == ["not-text"]
        said = got.diagnoses[0].message
        assert said.startswith(f"texts[{index}] is {type(text).__name__}")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_text_of_another_class_is_the_text_it_is(workers: int) -> None:
    texts = [Tag(CALL % 7)] * 300
    assert parse_many(texts, "hermes", workers=workers) == parse_many([CALL % 7] * 300, "hermes")
    assert [r.content for r in parse_many([Tag(CALL % 7)], Other())] == [f"{CALL % 7} standard"]


def test_one_text_of_another_class_is_read_wherever_it_is_given() -> None:
    wanted = parse(CALL % 7, "hermes")
    assert (
        parse(Tag(CALL % 7), "hermes")
        == parse_message({"content": Tag(CALL % 7)}, "hermes")
        == wanted
    )
    reader = stream("hermes")
    reader.feed(Tag(CALL % 7))
    assert reader.finish() == wanted


@pytest.mark.parametrize("text", [None, b"text", 5])
def test_one_thing_that_is_no_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a text is a str"):
        parse(text)
