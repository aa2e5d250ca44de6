"""Values that parsers of others were seen to change: 10 and 19 of `test_peer_defects.py`.

The formats of 10 write values as bare text, so that the schema says what a text is.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.formats.reading import TOOLS, read, saving, takes
from tests.parsing.samples import codes, said
from tunaeval import render
from tunaeval.grammar import Attribute, Many, Word
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import JsonValue, ToolCall, Tools, ToolSpec


def _words(words: tuple[Word, ...]) -> list[Word]:
    return [each for word in words for each in _words(getattr(word, "words", ())) or [word]]


def _is_bare(form: Format) -> bool:
    """Whether values are bare text, and nothing but the schema says of what type."""
    one_by_one = any(isinstance(word, Many) for word in form.words)
    typed = [word for word in _words(form.words) if isinstance(word, Attribute)]
    return one_by_one and all(word.hint for word in typed)


BARE = [name for name, form in FORMATS.items() if _is_bare(form)]


def value_of(text: str, schema: JsonValue, name: str) -> tuple[JsonValue, list[str], list[str]]:
    """What an argument of that schema is when it is written so; its repairs; the diagnoses."""
    tools = Tools([ToolSpec("f", "", takes(a=schema) if schema else {})])
    found = read(render([ToolCall("f", {"a": text})], name), name, tools)
    (call,) = found.calls
    return call.arguments["a"], [repair.code for repair in call.repairs], codes(found)


def test_the_formats_that_peers_type_wrongly_are_among_those_asked() -> None:
    assert {"qwen3-coder", "minimax-m2", "glm45", "mimo", "step3", "minicpm5"} <= set(BARE)


class Row(NamedTuple):
    """A text, its schema, and what it is: the value, the repairs of the call, the diagnoses."""

    number: str
    text: str
    schema: JsonValue
    value: JsonValue
    repairs: tuple[str, ...] = ()
    diagnoses: tuple[str, ...] = ()


_EITHER: JsonValue = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
_OR_NULL: JsonValue = {"type": ["string", "null"]}
_TYPED = (
    Row("10", "null", "string", "null"),
    Row("10", "None", "string", "None"),
    Row("10", "5", "string", "5"),
    Row("10b", "True", "boolean", True),
    Row("10b", "{'k': 1}", "object", {"k": 1}, ("single-quotes",)),
    Row("10b", "abc", "integer", "abc", (), ("wrong-type",)),
    Row("10b", "yes", "boolean", "yes", (), ("wrong-type",)),
    Row("10c", "3.0", "integer", 3, ("type",)),
    Row("10c", "1e3", "number", 1000.0),
    Row("10c", "7", _EITHER, 7),
    Row("10c", "x", _EITHER, "x"),
    Row("10c", "5", None, 5),
    Row("10d", "x", _OR_NULL, "x"),
    Row("10d", "null", _OR_NULL, None),
)


@pytest.mark.parametrize("name", BARE)
@pytest.mark.parametrize("row", _TYPED, ids=lambda row: f"{row.number}: {row.text}")
def test_10_a_bare_text_is_typed_by_its_schema_alike_everywhere(name: str, row: Row) -> None:
    schema = {"type": row.schema} if isinstance(row.schema, str) else row.schema
    value, repairs, diagnoses = value_of(row.text, schema, name)
    assert (value, tuple(repairs), tuple(diagnoses)) == (row.value, row.repairs, row.diagnoses)
    assert type(value) is type(row.value)


def test_10e_atoms_inside_braces_are_what_they_look_like() -> None:
    text = "<|tool_call>call:save_file{opts:{ok:false,l:[1,2.5],z:null}}<tool_call|>"
    for format_ in ("gemma4", "auto"):
        for tools in (TOOLS, None):
            found = said(read(text, format_, tools))
            assert found == [("save_file", {"opts": {"ok": False, "l": [1, 2.5], "z": None}})]


def test_10f_a_bare_number_between_braces_is_an_argument() -> None:
    text = (
        "<start_function_call>call:find_files{folder:<escape>src<escape>,depth:2}"
        "<end_function_call>"
    )
    for format_ in ("functiongemma", "auto"):
        for tools in (TOOLS, None):
            found = said(read(text, format_, tools))
            assert found == [("find_files", {"folder": "src", "depth": 2})]


# --- 19: numbers and letters -------------------------------------------------------------------

_JSON_FRAMES = {
    "hermes": "<tool_call>\n{}\n</tool_call>",
    "qwen25": "<tool_call>\n{}\n</tool_call>",
    "jamba": "<tool_calls>[{}]</tool_calls>",
    "mistral": "[TOOL_CALLS] [{}]",
    "auto": "<tool_call>\n{}\n</tool_call>",
}
json_frames = pytest.mark.parametrize(("name", "frame"), _JSON_FRAMES.items(), ids=_JSON_FRAMES)


@json_frames
def test_19_integers_of_any_size_stay_integers(name: str, frame: str) -> None:
    call = '{"name": "f", "arguments": {"a": 123456789012345678901234567890}}'
    result = read(frame.format(call), name, level="strict")
    assert said(result) == [("f", {"a": 123456789012345678901234567890})]


@json_frames
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_19_what_is_no_number_in_json_makes_no_call(name: str, frame: str, number: str) -> None:
    call = f'{{"name": "f", "arguments": {{"a": {number}}}}}'
    result = read(frame.format(call), name)
    assert result.outcome == "malformed"
    assert result.diagnoses


@json_frames
def test_19_half_a_letter_is_kept_and_told(name: str, frame: str) -> None:
    result = read(frame.format(saving(r"\ud83d")), name, TOOLS)
    assert said(result) == [("save_file", {"path": "a", "content": "\ud83d"})]
    assert codes(result) == ["lone-surrogate"]


@json_frames
def test_19_a_raw_newline_in_a_string_is_mended(name: str, frame: str) -> None:
    text = frame.format(saving("line1\nline2"))
    result = read(text, name, TOOLS)
    assert said(result) == [("save_file", {"path": "a", "content": "line1\nline2"})]
    assert [repair.code for repair in result.calls[0].repairs] == ["control-character"]
    assert not read(text, name, TOOLS, "strict").calls


def test_19_a_raw_newline_in_bare_text_needs_no_mend() -> None:
    for name in BARE:
        value, repairs, diagnoses = value_of("line1\nline2", {"type": "string"}, name)
        assert (value, repairs, diagnoses) == ("line1\nline2", [], []), name
