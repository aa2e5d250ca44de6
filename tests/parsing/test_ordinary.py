"""The fast path says what the engine says, in every field, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.formats import FORMATS
from tunaeval.grammar import Format, Literal
from tunaeval.parsing import Reader, qwen25, reader_of, render
from tunaeval.parsing.finder import Finder
from tunaeval.parsing.ordinary import ordinary_reader
from tunaeval.types import LEVELS, Level, ParseResult, ToolCall, Tools, ToolSpec

ALL = Reader("all", tuple(FORMATS.values()))
READERS = {"all": ALL, "qwen25": qwen25, **{n: reader_of(form) for n, form in FORMATS.items()}}
FAST = {name: ordinary_reader(Finder(reader.formats)) for name, reader in READERS.items()}

_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_PROPERTIES = {
    "s": {"type": "string", "description": "a text"},
    "n": {"type": "integer"},
    "x": {"type": "number"},
    "b": {"type": "boolean"},
    "l": {"type": "array", "items": {"type": "integer"}},
    "o": {"type": "object"},
    "m": {"type": ["string", "null"]},
    "u": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "e": {"enum": ["fast", "slow"]},
    "t": {"type": "string", "enum": ["1", "2"]},
}
TOOLS = Tools(
    [
        ToolSpec("f", parameters={"type": "object", "properties": _PROPERTIES}),
        ToolSpec("g.h", parameters={"type": "object", "properties": {}, "required": ["a"]}),
        ToolSpec("k", parameters={"type": "object", "properties": _PROPERTIES,
                                  "additionalProperties": False}),
        ToolSpec("bare"),
    ]
)  # fmt: skip
KEYS = (*_PROPERTIES, "a", "properties", "type", "name", "arguments", 'q"', "ä", "x y")

# --- texts as a model writes them, or nearly -----------------------------------------------------

_INNER = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "ls", '"', "\\", "</tool_call>", "\x00", "\ud83d", "ü", "12", "true"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=4,
)  # fmt: skip
_STRINGS = (
    st.sampled_from(["3", "-0", "007", "1e9", "null", "None", "True", "false", " 5 ", "[1, 2]", "{",
                     "[1,]", '{"a": 1}', "\n", "\nx\n", "a\n\n", "fast", "NaN", "nothing", "/etc",
                     "<think>", "</parameter>", "</arg_value>", "```", "`", "\u00a05", '"quoted"'])
    | st.text(max_size=8)
)  # fmt: skip
_VALUES = _STRINGS | st.integers(-5, 5) | _INNER


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    name = draw(st.sampled_from(["f", "f", "f", "g.h", "k", "bare", "unknown"]))
    return ToolCall(name, draw(st.dictionaries(st.sampled_from(KEYS), _VALUES, max_size=3)))


_GAPS = st.sampled_from(
    ["", "", "", "", "\n", "\n\n", " ", "Sure. ", "Sure.\n", "...", "…", "`", "<think>I</think>",
     "\n<think>\nA thought\n</think>\n\n", "thought</think>", "<think>", "```", "```json\n{}\n```",
     "```python\nx = {'a': 1}\n```\n", "```\ncode\n```", '{"a": 1}', '{"name": "f"}', "[", "{",
     '[{"b": 2}]', ", ", "; ", "}", "]", "\u3000", "<tool", "<tool_call>", "</tool_call>", "[TOOL_"]
)  # fmt: skip


def _marks(form: Format) -> list[str]:
    """The fixed texts of a format, and the beginnings of them."""
    words = [*form.words, *(form.around or ())]
    whole = [text for word in words if isinstance(word, Literal) for text in word.spellings]
    thoughts = [text for each in form.reasoning for text in (each.open, each.close)]
    return [*whole, *thoughts, *(text[: len(text) * 2 // 3] for text in whole)] or ["{"]


@st.composite
def texts(draw: st.DrawFn, form: Format) -> str:
    """Blocks of the format with anything between them, now and then damaged."""
    parts = [draw(_GAPS)]
    for _ in range(draw(st.integers(0, 3))):
        several = 2 if draw(st.integers(0, 3)) == 0 else 1
        written = _written([draw(calls()) for _ in range(several)], form)
        parts += [written, draw(_GAPS)]
    text = "".join(parts)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2]))):
        text = draw(_damaged(text, form))
    return text


def _written(some: list[ToolCall], form: Format) -> str:
    return render(some, form)


@st.composite
def _damaged(draw: st.DrawFn, text: str, form: Format) -> str:
    """Something put in, left out, or said twice."""
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 12)))
    added = draw(
        st.sampled_from(["", "", text[start:end] * 2, " ", "\n", '"', "'", ",", "}", "{", "]", "`",
                         " " * 45, "\\", ":", "9" * 20, "\\u0022", *_marks(form)])
    )  # fmt: skip
    return text[:start] + added + text[end:]


def _engine(reader: Reader, text: str, tools: Tools | None, level: Level) -> ParseResult:
    stream = reader.stream(tools=tools, level=level)
    stream.feed(text)
    return stream.finish()


def _check(name: str, text: str, tools: Tools | None, level: Level) -> bool:
    """Whether the fast path answers; if so it says what the engine says."""
    fast = FAST[name](text, tools)
    if fast is None:
        return False
    assert fast == _engine(READERS[name], text, tools, level)
    assert repr(fast) == repr(_engine(READERS[name], text, tools, level)), "1 and True are equal"
    return True


_TOOLS = st.sampled_from([None, TOOLS])
_LEVELS = st.sampled_from(LEVELS)


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data(), tools=_TOOLS, level=_LEVELS)
def test_it_agrees_with_the_engine(
    name: str, data: st.DataObject, tools: Tools | None, level: Level
) -> None:
    text = data.draw(texts(FORMATS[name]))
    _check(name, text, tools, level)
    _check("all", text, tools, level)
    _check("qwen25", text, tools, level)
