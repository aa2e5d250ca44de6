"""A parser of somebody else's, by its name or as it is: what it does wrong has that name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import tunaeval
from tests.spoiling import spoil
from tunaeval.errors import PluginError, UnknownNameError, UsageError
from tunaeval.parsing.api import formats
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.copies import copied
from tunaeval.types.parsing import Level, ParseResult
from tunaeval.types.roles import Parser

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


ASKED: dict[str, Callable[[Any], object]] = {
    "parse": lambda rogue: tunaeval.parse("x", rogue),
    "parse_levels": lambda rogue: tunaeval.parse_levels("x", rogue),
    "parse_message": lambda rogue: tunaeval.parse_message({"content": "x"}, rogue),
    "parse_many": lambda rogue: tunaeval.parse_many(["x"], rogue),
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
    ask: Callable[[Any], object],
    does: Callable[[], Any],
    words: str,
    named: Callable[[Callable[[], Any]], None],
) -> None:
    named(does)
    for rogue in (NAME, Rogue(does)):
        with pytest.raises(PluginError, match=NAME) as raised:
            ask(rogue)
        assert words in str(raised.value)


class Nameless(Parser):
    """A parser without what only messages need."""

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        return ParseResult(content=f"{text} {tools} {level}")


def test_who_says_that_it_is_a_parser_needs_no_name() -> None:
    parser = Nameless()  # type: ignore[abstract]  # the claim
    assert tunaeval.parse("x", parser).content == "x None standard"


@pytest.mark.parametrize("ask", [*ASKED.values(), tunaeval.stream])
@pytest.mark.parametrize("kind", [Rogue, Nameless, tunaeval.Format, int])
def test_a_class_is_no_instance_of_it(ask: Callable[[Any], object], kind: type) -> None:
    wanted = f"is no format: it is the class {kind.__name__}; wanted an instance of it"
    with pytest.raises(UsageError, match=wanted):
        ask(kind)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("HERMES", "hermes"), ("DEEPSEEK_V31", "deepseek-v3.1"), ("Tools Tag", "tools-tag")],
)
def test_a_name_in_capitals_is_nearly_one(name: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"; did you mean '{meant}'\?$"):
        tunaeval.parse("x", name)


@pytest.mark.parametrize("name", ["", "-._", "zzz"])
def test_a_name_that_is_like_none_is_not_guessed(name: str) -> None:
    with pytest.raises(UnknownNameError, match="`tunaeval formats` lists all"):
        tunaeval.parse("x", name)


def test_one_that_does_right_is_heard(named: Callable[[Callable[[], Any]], None]) -> None:
    call = ToolCall("f", {})
    named(lambda: ParseResult((call,), outcome="calls"))
    assert tunaeval.parse("x", NAME).calls == (replace(call, format=NAME),)


class Spoils(Rogue):
    """A parser that changes the tools that it is given."""

    def parse(self, text: str, *, tools: Any = None, **_: object) -> ParseResult:
        spoil(tools)
        return ParseResult(content=text)


def test_a_parser_changes_no_tools() -> None:
    tools = tunaeval.to_tools([{"name": "ls", "parameters": {"properties": {"a": {"enum": [1]}}}}])
    before = copied(tools)
    rogue = Spoils(lambda: None)
    tunaeval.parse("x", rogue, tools=tools)
    tunaeval.parse_levels("x", rogue, tools=tools)
    assert tools == before
