"""What each level repairs and refuses, that every repair and diagnosis is named, and where."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from tests.parsing.samples import LS, TOOLS, WHERE, call_with, codes, said, tagged
from tunaeval import parse
from tunaeval.parsing.repair.values import REPAIRS
from tunaeval.types.calls import JsonValue, Repair, Span
from tunaeval.types.parsing import LEVELS, Level


class Repaired(NamedTuple):
    """A damaged call: what it means, and the characters that the repair's span begins with."""

    text: str
    arguments: JsonValue
    at: str


LS_ARGUMENTS = {"command": "ls"}

IN_JSON = {
    "single-quotes": Repaired(call_with("{\"command\": 'ls'}"), LS_ARGUMENTS, "'ls'"),
    "smart-quotes": Repaired(call_with('{"command": “ls”}'), LS_ARGUMENTS, "“ls"),
    "python-literal": Repaired(call_with('{"a": None}'), {"a": None}, "None"),
    "bare-key": Repaired(call_with('{command: "ls"}'), LS_ARGUMENTS, "command:"),
    "comment": Repaired(call_with('{"command": "ls" /* all */}'), LS_ARGUMENTS, "/* all"),
    "trailing-comma": Repaired(call_with('{"command": "ls",}'), LS_ARGUMENTS, ",}"),
    "missing-comma": Repaired(call_with('{"a": 1 "b": 2}'), {"a": 1, "b": 2}, '"b"'),
    "extra-comma": Repaired(call_with('{"a": 1,, "b": 2}'), {"a": 1, "b": 2}, ', "b"'),
    "control-character": Repaired(call_with('{"a": "x\ny"}'), {"a": "x\ny"}, '\ny"'),
    "odd-space": Repaired(call_with('{"a":\xa05}'), {"a": 5}, "\xa05"),
    "guessed-comma": Repaired(call_with('{"a": ["x" "y"]}'), {"a": ["x", "y"]}, '"y"'),
    "missing-colon": Repaired(call_with('{"command" "ls"}'), LS_ARGUMENTS, '"ls"'),
    "separator": Repaired(call_with('{"command"= "ls"}'), LS_ARGUMENTS, '= "ls'),
    "invalid-escape": Repaired(call_with(r'{"a": "\d"}'), {"a": r"\d"}, r"\d"),
    "inner-quote": Repaired(call_with('{"a": "a "b" c"}'), {"a": 'a "b" c'}, '"b"'),
    "unquoted-string": Repaired(call_with('{"command": ls}'), LS_ARGUMENTS, "ls}"),
    "odd-number": Repaired(call_with('{"a": 1_000.}'), {"a": 1000.0}, "1_000"),
    "missing-closer": Repaired(call_with('{"a": [1}'), {"a": [1]}, "}"),
    "extra-closer": Repaired(call_with('{"a": 1]}'), {"a": 1}, "]"),
    "truncated": Repaired('{"name": "bash", "arguments": {"command": "l', {"command": "l"}, ""),
}

IN_OTHER_NOTATIONS = {
    "leading-zero", "missing-quote", "one-dictionary", "other-quotes", "positional-arguments",
    "python-set", "unknown-escape", "unmarked-text",
}  # fmt: skip
"""Shown by the fixtures of `pythonic`, `lfm2-pythonic` and `gemma4`."""

AROUND_IT = {
    "fence": Repaired(tagged(f"```json\n{LS}\n```"), LS_ARGUMENTS, ""),
    "unclosed": Repaired(f"<tool_call>\n{LS}", LS_ARGUMENTS, ""),
    "several-calls": Repaired(f"<longcat_tool_call>[{LS}]</longcat_tool_call>", LS_ARGUMENTS, ""),
    "extra-closer": Repaired(tagged(LS + "}"), LS_ARGUMENTS, "}\n</tool_call>"),
    "key-alias": Repaired(tagged(LS.replace("arguments", "args")), LS_ARGUMENTS, "{"),
    "wrapped-call": Repaired(tagged(f'{{"function": {LS}}}'), LS_ARGUMENTS, "{"),
    "encoded-arguments": Repaired(call_with(r'"{\"command\": \"ls\"}"'), LS_ARGUMENTS, "{"),
    "type": Repaired(call_with('{"timeout": "3"}'), {"timeout": 3}, "{"),
}


def test_every_mend_of_json_is_shown_here() -> None:
    assert IN_JSON.keys() | IN_OTHER_NOTATIONS == REPAIRS.keys()


@pytest.mark.parametrize("code", IN_JSON)
def test_a_mend_of_json_waits_for_its_level(code: str) -> None:
    text, arguments, at = IN_JSON[code]
    needed = REPAIRS[code][0]
    for level in LEVELS:
        result = parse(text, level=level)
        if LEVELS.index(level) < LEVELS.index(needed):
            assert not result.calls
            assert result.content == text
            assert result.outcome == ("truncated" if code == "truncated" else "malformed")
            assert f"{code}: {REPAIRS[code][1]}" in result.diagnoses[0].message
        else:
            assert said(result) == [("bash", arguments)]
            repair = result.calls[0].repairs[0]
            assert (repair.code, repair.level) == (code, needed)
            assert repair.span is not None
            assert text[repair.span.start :].startswith(at)


@pytest.mark.parametrize("code", AROUND_IT)
def test_a_mend_around_the_json_is_one_of_standard(code: str) -> None:
    text, arguments, at = AROUND_IT[code]
    standard = parse(text, tools=TOOLS)
    assert said(standard) == [("bash", arguments)]
    assert [repair.code for repair in standard.calls[0].repairs] == [code]
    assert standard == parse(text, tools=TOOLS, level="lenient")
    span = standard.calls[0].repairs[0].span
    assert span is not None
    assert text[span.start :].startswith(at)
    strict = parse(text, tools=TOOLS, level="strict")
    assert strict != standard
    assert strict.diagnoses


@pytest.mark.parametrize(
    ("arguments", "certain"),
    [
        ('{"a": 1}', True),
        ('{"a": {"b": {}}}', True),
        ('{"a": [1], "b": {}, "c": 2}', True),
        ('{"a": 1, "b": 2, "c": {"d": {}}}', True),
        ('{"a": {"b": {}}, "c": 1}', False),
        ('{"a": 1, "b": {"c": {}}, "d": 2}', False),
        ('{"a": [1, [], [[]], 2]}', False),
    ],
)
def test_a_closer_too_many_is_lenient_where_one_before_it_may_be_the_wrong_one(
    arguments: str, certain: bool
) -> None:
    text = call_with(arguments + "}")
    assert bool(parse(text).calls) == certain
    lenient = parse(text, level="lenient")
    assert said(lenient) == [("bash", json.loads(arguments))]
    assert [repair.code for repair in lenient.calls[0].repairs] == ["extra-closer"]


@pytest.mark.parametrize("code", [code for code in AROUND_IT if code != "type"])
def test_strict_takes_no_call_that_needed_a_mend(code: str) -> None:
    strict = parse(AROUND_IT[code].text, tools=TOOLS, level="strict")
    assert strict.outcome == "malformed"
    assert LS in strict.content or code in ("key-alias", "encoded-arguments")


def test_strict_leaves_a_value_of_the_wrong_type_and_the_call_stands() -> None:
    result = parse(call_with('{"command": "ls", "timeout": "3"}'), tools=TOOLS, level="strict")
    assert said(result) == [("bash", {"command": "ls", "timeout": "3"})]
    assert codes(result) == ["wrong-type"]
    assert "$.timeout" in result.diagnoses[0].message
    assert not result.calls[0].repairs


@pytest.mark.parametrize("level", LEVELS)
def test_several_mends_are_all_named_and_the_worst_decides(level: Level) -> None:
    result = parse(call_with('{\'a\': True, b: "x "y" z",}'), level=level)
    assert bool(result.calls) == (level == "lenient")
    if result.calls:
        made = [repair.code for repair in result.calls[0].repairs]
        assert made == [
            "single-quotes",
            "python-literal",
            "bare-key",
            "inner-quote",
            "inner-quote",
            "trailing-comma",
        ]


def test_a_right_call_has_no_repairs_at_any_level() -> None:
    results = [parse(tagged(LS), tools=TOOLS, level=level) for level in LEVELS]
    assert results[0] == results[1] == results[2]
    assert results[0].calls[0].repairs == ()


# --- diagnoses -------------------------------------------------------------------------------

SCHEMA = '{"name": "bash", "parameters": {"type": "object", "properties": {}}}'
DEEP = '{"name": "bash", "arguments": {"a": ' + "[" * 200 + "]" * 200 + "}}"
LONG = '{"name": "bash", "arguments": {"a": ' + "1" * 4301 + "}}"


@pytest.mark.parametrize(
    ("code", "text", "where"),
    [
        ("invalid-json", f"a {tagged('[1]')}", "<tool_call>\n["),
        ("invalid-json", "a <tool_call>(1)</tool_call> b", "<tool_call>(1)</tool_call>"),
        ("missing-name", tagged('{"command": 1}'), '{"command": 1}'),
        ("invalid-name", tagged('{"name": 1}'), '{"name": 1}'),
        ("invalid-name", tagged('{"name": ""}'), '{"name": ""}'),
        ("unknown-tool", 'a {"name": "x", "args": {}} b', '{"name": "x", "args": {}}'),
        ("missing-arguments", tagged('{"name": "bash", "x": 1}'), '{"name": "bash", "x": 1}'),
        ("invalid-arguments", call_with("[1]"), '{"name": "bash", "arguments": [1]}'),
        ("schema-echo", f"a {SCHEMA} b", SCHEMA),
        ("quoted", f"Say `{LS}` to it", LS),
        ("quoted", f"Say `<tool_call>{LS}</tool_call>` to it", LS),
        ("stray-closer", f"{LS}\n</tool_call> b", "</tool_call>"),
        ("unclosed-fence", "a\n```python\nb", ""),
        ("trailing-ellipsis", "Let me look...", ""),
        ("trailing-ellipsis", "Let me look…\n", ""),
        ("unclosed-reasoning", "a\n<think>b", "<think>b"),
        ("truncated", f"a {LS[:-8]}", LS[:-8]),
        ("truncated", "a <tool_call>\n", "<tool_call>\n"),
        ("duplicate-key", call_with('{"command": "1", "command": "2"}'), "{"),
        ("nul", call_with(r'{"command": "\u0000"}'), "{"),
        ("lone-surrogate", call_with(r'{"command": "\udc00"}'), "{"),
        ("invalid-number", call_with('{"command": 1e999}'), "{"),
        ("wrong-type", call_with('{"command": 1.5}'), "{"),
        ("missing-argument", call_with('{"timeout": 1}'), "{"),
        ("unknown-argument", call_with('{"command": "", "x": 1}'), "{"),
        ("too-deep", DEEP, "{"),
        ("too-many-digits", LONG, "{"),
    ],
)
def test_a_diagnosis_points_at_what_it_speaks_of(code: str, text: str, where: str) -> None:
    result = parse(text, tools=TOOLS)
    assert codes(result) == [code]
    span = result.diagnoses[0].span
    assert span is not None
    found = text[span.start : span.end]
    assert found.startswith(where) if where == "{" else found == where


def test_a_span_is_counted_from_the_start_of_the_text() -> None:
    text = "é🙂 中文\n" + tagged(LS) + "\n" + tagged(WHERE) + " <tool_call>{1}</tool_call>"
    result = parse(text)
    assert [text[slice(*call.span)] for call in result.calls if call.span] == [LS, WHERE]
    assert result.diagnoses[0].span == Span(text.index("{1}"), text.index("{1}") + 1)


def test_a_repair_inside_encoded_arguments_is_told_at_the_call() -> None:
    text = call_with(r'"{\"command\": \"ls\",}"')
    (call,) = parse(text).calls
    assert [repair.code for repair in call.repairs] == ["encoded-arguments", "trailing-comma"]
    assert {repair.span for repair in call.repairs} == {call.span}


def test_repairs_beyond_the_cap_are_made_but_not_listed() -> None:
    items = ", ".join("True" for _ in range(500))
    (call,) = parse(call_with(f'{{"a": [{items}]}}')).calls
    assert call.arguments == {"a": [True] * 500}
    assert len(call.repairs) == 64
    (call,) = parse(call_with(f'{{"a": [{items}], "b": c}}'), level="lenient").calls
    assert "unquoted-string" in [repair.code for repair in call.repairs]


def test_a_repair_says_which_level_it_needs() -> None:
    (call,) = parse(call_with('{"command": ls,}'), level="lenient").calls
    assert call.repairs == (
        Repair("unquoted-string", "a string without quotes", call.repairs[0].span, "lenient"),
        Repair("trailing-comma", "a comma before a closer", call.repairs[1].span, "standard"),
    )
