"""All levels at once are what each level reads alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsing.test_law_alike import READERS, TOOLS, texts
from tunaeval import parse, parse_levels
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import Tools
from tunaeval.types.parsing import LEVELS, ParseResult


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data(), tools=st.sampled_from([None, TOOLS]))
def test_levels_together_are_those_read_alone(
    name: str, data: st.DataObject, tools: Tools | None
) -> None:
    text = data.draw(texts(FORMATS[name]))
    together = parse_levels(text, name, tools)
    alone = {level: READERS[name].parse(text, tools=tools, level=level) for level in LEVELS}
    assert repr(together) == repr(alone)


def test_a_damaged_call_is_one_from_the_level_of_its_repair_on() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"s": "a",}}</tool_call>'
    found = parse_levels(text)
    assert {level: result.outcome for level, result in found.items()} == {
        "strict": "malformed", "standard": "calls", "lenient": "calls",
    }  # fmt: skip
    assert found["lenient"] is found["standard"]


def test_a_well_formed_text_is_read_once() -> None:
    found = parse_levels("Nothing to call.", tools=TOOLS)
    assert found["strict"] is found["standard"] is found["lenient"]


class Shouting:
    """A parser that is no format."""

    name = "shouting"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: str = "standard"
    ) -> ParseResult:
        del tools
        return ParseResult(content=f"{level}: {text}")


def test_a_parser_of_others_is_asked_for_each_level() -> None:
    found = parse_levels("hi", Shouting())
    assert {level: result.content for level, result in found.items()} == {
        level: f"{level}: hi" for level in LEVELS
    }


def test_what_is_no_text_is_refused() -> None:
    for wrong in (None, b"text", 5):
        with pytest.raises(UsageError, match="a text is a str"):
            parse_levels(wrong)  # type: ignore[arg-type]  # that is what is tested
        with pytest.raises(UsageError, match="a text is a str"):
            parse(wrong)  # type: ignore[arg-type]  # as above
