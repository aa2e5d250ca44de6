"""Well-formed calls of every format, alone and in prose, are read alike in all ways."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsing.samples import tagged
from tests.parsing.test_law_alike import TOOLS, calls, check_alike, damaged
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import render
from tunaeval.parsing.reader import reader_of
from tunaeval.parsing.write import render_calls
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import LEVELS, Level, ParseResult

CALL = ToolCall("f", {"s": "a <b>\n", "n": 3, "b": True})


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("frame", ["{}", "{}\n", "I see.\n\n{}\n\nDone.", "{}\n{}"])
def test_well_formed_calls_are_read_alike(name: str, frame: str) -> None:
    text = frame.replace("{}", render([CALL], name))
    check_alike(name, text, TOOLS, "standard")
    thinking = FORMATS[name].reasoning[0]
    thought = f"{thinking.open}\nHm.\n{thinking.close}\n\n{text}"
    check_alike(name, thought, None, "standard")


@pytest.mark.parametrize("count", [1023, 1024, 1025])
def test_no_more_calls_are_read_than_may_be(count: int) -> None:
    check_alike("hermes", tagged('{"name": "f", "arguments": {}}') * count, None, "standard")


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data(), tools=st.sampled_from([None, TOOLS]), level=st.sampled_from(LEVELS))
def test_a_call_alone_is_read_alike(
    name: str, data: st.DataObject, tools: Tools | None, level: Level
) -> None:
    """One call, and what its format writes around it; at most one thing in it is damaged."""
    form = FORMATS[name]
    text = render_calls([data.draw(calls())], form)
    if data.draw(st.booleans()):
        text = data.draw(damaged(text, form))
    check_alike(name, text, tools, level)


def test_results_of_the_shortcut_are_frozen_and_equal() -> None:
    result = reader_of(FORMATS["hermes"]).parse(tagged('{"name": "f", "arguments": {}}'))
    assert type(result) is ParseResult
    assert repr(result.calls[0]).startswith("ToolCall(name='f'")
    assert hash(result.diagnoses) == hash(())
    with pytest.raises(FrozenInstanceError):
        result.calls[0].name = "g"  # type: ignore[misc]  # that is what is tested
