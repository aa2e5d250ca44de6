"""Every format has a fast reader, which is used where a call is well-formed, and says no other."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsing.samples import tagged
from tests.parsing.test_fast import TOOLS, calls, check_alike, damaged
from tunaeval.formats import FORMATS
from tunaeval.parsing import reader_of, render, render_calls
from tunaeval.parsing.fast.blocks import block_reader
from tunaeval.types import LEVELS, Level, ParseResult, ToolCall, Tools

_SLOW = {
    "loose-json",
    "functionary-v3.2",
    "k2-horizon-xml",
    "minimax-m3",
    "name-json",
    "python-calls",
    "tool-calls",
    "tool-elements",
}
"""Formats whose calls are repaired by their nature, or whose words no fast reader knows."""

_FAST = [name for name, form in FORMATS.items() if name not in _SLOW and not form.addressed]
CALL = ToolCall("f", {"s": "a <b>\n", "n": 3, "b": True})


@pytest.mark.parametrize("name", _FAST)
@pytest.mark.parametrize("tools", [None, TOOLS], ids=["any", "known"])
def test_every_format_has_a_fast_reader(name: str, tools: Tools | None) -> None:
    form, text = FORMATS[name], render([CALL], name)
    opener = form.opener.text if form.opener else ""
    if form.python and not opener:
        text = text[text.index("[") :]
    start, calls = text.index(opener), list[ToolCall]()
    if form.around and opener and opener == form.around[0].text:
        start = text.index(opener, start + 1)
    end = block_reader(form)(text, start, start + len(opener), tools, calls)
    assert end > start, text
    assert [(call.name, call.arguments) for call in calls] == [(CALL.name, CALL.arguments)]


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
def test_without_them_a_call_alone_is_read_alike(
    name: str, data: st.DataObject, tools: Tools | None, level: Level
) -> None:
    """One call, and what its format writes around it; at most one thing in it is damaged."""
    form = FORMATS[name]
    text = render_calls([data.draw(calls())], form)
    if data.draw(st.booleans()):
        text = data.draw(damaged(text, form))
    check_alike(name, text, tools, level)


def test_results_of_fast_readers_are_frozen_and_equal() -> None:
    result = reader_of(FORMATS["hermes"]).parse(tagged('{"name": "f", "arguments": {}}'))
    assert type(result) is ParseResult
    assert repr(result.calls[0]).startswith("ToolCall(name='f'")
    assert hash(result.diagnoses) == hash(())
    with pytest.raises(FrozenInstanceError):
        result.calls[0].name = "g"  # type: ignore[misc]  # that is what is tested
