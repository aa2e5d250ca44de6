"""A parser of somebody else's that is asked for by its name: what it does wrong has that name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tunaeval
from tunaeval.errors import PluginError
from tunaeval.parsing import formats
from tunaeval.types import ParseResult, ToolCall

NAME = "a-rogue"


class Rogue:
    """A parser that does one thing, whatever the text."""

    name, summary, models = NAME, "a rogue", ()

    def __init__(self, does: Callable[[], Any]) -> None:
        self._does = does

    def parse(self, text: str, **_settings: object) -> ParseResult:  # noqa: ARG002 - a Parser's
        return self._does()  # type: ignore[no-any-return]  # that is what is tested


def _raises() -> None:
    raise ValueError("no such thing")


def _leaves() -> None:
    raise SystemExit(3)


@pytest.fixture
def named() -> Iterator[Callable[[Callable[[], Any]], None]]:
    """Registers a parser that does this, and forgets it afterwards."""

    def register(does: Callable[[], Any]) -> None:
        formats.add(NAME, Rogue(does))

    yield register
    formats._added.pop(NAME, None)
    formats._loaded.pop(NAME, None)


ASKED = {
    "parse": lambda: tunaeval.parse("x", NAME),
    "parse_levels": lambda: tunaeval.parse_levels("x", NAME),
    "parse_message": lambda: tunaeval.parse_message({"content": "x"}, NAME),
    "parse_many": lambda: tunaeval.parse_many(["x"], NAME),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize(
    ("does", "words"),
    [
        (_raises, "ValueError: no such thing"),
        (_leaves, "SystemExit: 3"),
        (lambda: None, "None"),
        (lambda: {"calls": []}, "calls"),
        (lambda: ParseResult(calls=[1]), "a tuple of ToolCalls"),  # type: ignore[arg-type]  # on purpose
        (lambda: ParseResult(outcome="fine"), "outcome"),  # type: ignore[arg-type]  # as above
    ],
)
def test_it_is_named_in_the_error(
    ask: Callable[[], object],
    does: Callable[[], Any],
    words: str,
    named: Callable[[Callable[[], Any]], None],
) -> None:
    named(does)
    with pytest.raises(PluginError, match=NAME) as raised:
        ask()
    assert words in str(raised.value)


def test_one_that_does_right_is_heard(named: Callable[[Callable[[], Any]], None]) -> None:
    call = ToolCall("f", {})
    named(lambda: ParseResult((call,), outcome="calls"))
    assert tunaeval.parse("x", NAME).calls == (call,)
