"""The fast path says what the engine says, or nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tunaeval.parsing import Reader, qwen25
from tunaeval.parsing.finder import Finder
from tunaeval.parsing.ordinary import ordinary_reader
from tunaeval.types import ParseResult, Tools, ToolSpec

FINDER = Finder(qwen25.formats)
TOOLS = Tools(
    [
        ToolSpec("f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}),
        ToolSpec("g", parameters={"type": "object", "required": ["a"]}),
    ]
)


def _object_of(members: list[tuple[str, str, str]]) -> str:
    return "{" + ", ".join(f"{key}{space}: {value}" for key, space, value in members) + "}"


_SPACE = st.sampled_from(["", "", "", " ", "\n"])
_STRINGS = st.sampled_from(
    ['""', '"a"', '"a: b"', r'"\""', r'"\u0022"', r'"\u0000"', '"</tool_call>"', r'"\ud83d"', '"b"']
)
_VALUES = st.recursive(
    _STRINGS | st.sampled_from(["1", "-0.5", "18446744073709551617", "1e400", "null", "NaN"]),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(_STRINGS, _SPACE, inner), max_size=3).map(_object_of)
    ),
    max_leaves=6,
)


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """A tagged call, written by hand so that it may repeat keys and spell characters oddly."""
    name = draw(st.sampled_from(['"f"', '"g"', '"h"', '""', "1"]))
    members = [('"name"', "", name), ('"arguments"', draw(_SPACE), draw(_VALUES))]
    if draw(st.integers(0, 5)) == 0:
        members.append((draw(_STRINGS), "", draw(_VALUES)))
    body = _object_of(members if draw(st.booleans()) else members[::-1])
    return f"<tool_call>{draw(_SPACE)}{body}{draw(_SPACE)}</tool_call>"


_TEXTS = st.lists(
    blocks() | st.sampled_from(["Sure.", "\n", " ", "`", "...", "{", "</think>", "<think>", "```"]),
    max_size=4,
).map("".join)


@given(text=_TEXTS, tools=st.sampled_from([None, TOOLS]))
def test_the_ordinary_reader_agrees_with_the_engine(text: str, tools: Tools | None) -> None:
    fast = ordinary_reader(FINDER)(text, tools)
    if fast is not None:
        stream = qwen25.stream(tools=tools)
        stream.feed(text)
        assert fast == stream.finish()


def test_ordinary_texts_take_the_fast_path() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    for text in (call, f"Sure.\n{call}", f"{call}\n{call}", "No call at all."):
        fast = ordinary_reader(FINDER)(text, TOOLS)
        assert isinstance(fast, ParseResult), text


def test_results_of_the_fast_path_are_frozen_and_equal() -> None:
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    result = Reader("qwen25", qwen25.formats).parse(call)
    assert result == qwen25.parse(call)
    assert type(result) is ParseResult
    assert repr(result.calls[0]).startswith("ToolCall(name='f'")
    assert hash(result.diagnoses) == hash(())
