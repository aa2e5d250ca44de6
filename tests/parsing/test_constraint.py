"""What `constrain` lets a model write: what `render` writes, and nothing that is misread."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.parsing.gbnf_matcher import Gbnf
from tests.parsing.lark_matcher import Lark
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import format_named
from tunaeval.parsing.constraint import breach
from tunaeval.types.calls import ToolCall, Tools

TOOLS = tunaeval.to_tools(
    [
        {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer", "minimum": -3, "maximum": 120},
                    "unit": {"enum": ["celsius", "kelvin"]},
                    "more": {
                        "type": "object",
                        "properties": {
                            "deep": {"type": "boolean"},
                            "list": {"type": "array", "items": {"type": "number"}},
                        },
                        "required": ["deep"],
                    },
                },
                "required": ["city"],
            },
        },
        {
            "name": "many",
            "parameters": {
                "properties": {key: {"type": ["integer", "null"]} for key in "abcdefg"},
                "required": ["b", "f"],
            },
        },
        {"name": "ls", "parameters": {}},
    ]
)
SCHEMAS = {name: jsonschema.Draft202012Validator(spec.parameters) for name, spec in TOOLS.items()}

WEATHER = ToolCall(
    "get_weather", {"more": {"list": [1, 2.5], "deep": True}, "days": 7, "city": "a \"b\"\n'c' é"}
)
CALLS = [
    [WEATHER, ToolCall("ls", {})],
    [ToolCall("ls", {})],
    [ToolCall("many", {"b": 1, "f": None, "g": -20}), ToolCall("get_weather", {"city": "Oslo"})],
]
LOOSE = "loose-json"
WITHOUT_PROSE = {
    "beam", "call-line", "harmony", "inkling", "json", "llama3-bare", "muse", "name-json",
    "python-calls", "solar-open", "tag-parameters", "tool-calls", "tool-elements",
}  # fmt: skip
"""The formats in which nothing tells prose from a call that begins, or that have messages."""
CONSTRAINED = [name for name in FORMATS if name != LOOSE]


def constraint_of(properties: dict[str, Any], name: str, **options: Any) -> tunaeval.Constraint:
    return tunaeval.constrain(_tool(properties), format=name, text="none", **options)


def _tool(properties: dict[str, Any]) -> Tools:
    given = {"name": "f", "parameters": {"properties": properties, "required": [*properties]}}
    return tunaeval.to_tools([given])


def grammars(name: str, text: Any = "none") -> tuple[Lark, Gbnf]:
    lark, gbnf = (
        tunaeval.constrain(TOOLS, format=name, kind=kind, text=text).text
        for kind in ("lark", "gbnf")
    )
    return Lark(lark), Gbnf(gbnf)


@pytest.mark.parametrize("name", CONSTRAINED)
def test_what_render_writes_is_accepted_and_damage_is_refused(name: str) -> None:
    lark, gbnf = grammars(name)
    for calls in CALLS:
        text = tunaeval.render(calls, name)
        assert (lark.accepts(text), gbnf.accepts(text)) == (True, True), text
    for other in damaged(name):
        assert (lark.accepts(other), gbnf.accepts(other)) == (False, False), other


@pytest.mark.parametrize("name", [name for name in CONSTRAINED if name not in WITHOUT_PROSE])
def test_prose_may_come_before_calls_in_each_kind(name: str) -> None:
    call = tunaeval.render(CALLS[0], name)
    for grammar in grammars(name, "before"):
        found = [grammar.accepts(text) for text in (call, f"See: é.\n{call}", "Só?", call[:-2])]
        assert found == [True, True, True, False]


def damaged(name: str) -> Iterator[str]:
    """Yield a call with a wrong end, name, key, number and type, unless it is read as before."""
    text = tunaeval.render([WEATHER], name)
    right = tunaeval.parse(text, name, TOOLS, "strict")
    for other in (
        text[:-1],
        text.replace("get_weather", "get_whether"),
        text.replace("city", "town"),
        text.replace("7", "121"),
        text.replace("7", "seven"),
        text.replace("True", "Tru").replace("true", "tru"),
    ):
        if tunaeval.parse(other, name, TOOLS, "strict") != right:
            yield other


@pytest.mark.parametrize("wanted", [2, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", ["none", "before"])
@pytest.mark.parametrize("name", CONSTRAINED)
def test_what_is_drawn_is_read_strictly_and_fits_the_schema(
    name: str, text: Any, wanted: int
) -> None:
    if text == "before" and name in WITHOUT_PROSE:
        with pytest.raises(UsageError, match="text='none'"):
            tunaeval.constrain(TOOLS, format=name, text=text)
        return
    grammar = Lark(tunaeval.constrain(TOOLS, format=name, text=text, reasoning=False).text)
    random = Random(7)
    texts = (grammar.drawn(random) for _ in range(50 * wanted))
    few = [*islice((one for one in texts if one is not None), wanted)]
    assert len(few) == wanted
    for drawn in few:
        result = tunaeval.parse(drawn, name, TOOLS, "strict")
        assert not result.diagnoses, drawn
        assert not any(call.repairs for call in result.calls), drawn
        assert text == "before" or (result.calls and not result.content.strip()), drawn
        for call in result.calls:
            SCHEMAS[call.name].validate(call.arguments)


def test_reasoning_and_prose_may_come_first_and_nothing_after() -> None:
    call = tunaeval.render([ToolCall("ls", {})], "hermes")
    grammar = Lark(tunaeval.constrain(TOOLS, format="hermes").text)
    accepted = [call, "Let me look.\n" + call, "Just prose.", "<think>\nHm.</think>\n" + call]
    refused = [call + " Done.", "<think>Hm.\n" + call, "Let me <tool_call>", call[:-3]]
    assert [grammar.accepts(text) for text in accepted + refused] == [True] * 4 + [False] * 4


def test_one_call_at_most_unless_parallel() -> None:
    one, two = (tunaeval.render([ToolCall("ls", {})] * n, "hermes") for n in (1, 2))
    grammar = Lark(tunaeval.constrain(TOOLS, format="hermes", parallel=False).text)
    assert (grammar.accepts(one), grammar.accepts(two)) == (True, False)


def test_many_members_come_in_any_order_in_lark() -> None:
    keys = [f"k{number}" for number in range(7)]
    given = {"properties": {key: {"type": "null"} for key in keys}, "required": keys[:2]}
    made = tunaeval.constrain([{"name": "f", "parameters": given}], format="hermes", text="none")
    assert made.omitted == ()
    grammar = Lark(made.text)

    def accepts(*names: str) -> bool:
        call = ToolCall("f", dict.fromkeys(names))
        return grammar.accepts(tunaeval.render([call], "hermes"))

    assert all(accepts(*keys[at:], *keys[:at]) for at in range(7))
    assert accepts("k5", "k1", "k0")
    assert not accepts("k5", "k1")


NAN = float("nan")
CANNOT_BE_SAID = {
    "open object": ({"type": "object"}, "hermes", "may repeat"),
    "any value": ({}, "hermes", "may repeat"),
    "multiple": ({"type": "integer", "multipleOf": 2}, "hermes", "multipleOf of integer"),
    "bounds of a number": ({"type": "number", "minimum": 2}, "hermes", "minimum of number"),
    "length of bare text": ({"type": "string", "maxLength": 2}, "glm45", "maxLength"),
    "lookahead": ({"type": "string", "pattern": "(?=a)"}, "hermes", "pattern"),
    "a length in words": ({"type": "string", "minLength": "x"}, "hermes", "minLength is 'x'"),
    "a bound in words": ({"type": "integer", "minimum": "3"}, "hermes", "minimum is '3'"),
    "a type that is none": ({"type": "strng"}, "hermes", "type is 'strng'"),
    "a list that is none": ({"type": "string", "anyOf": 5}, "glm45", "anyOf is 5"),
    "an object that is none": ({"type": "object", "properties": 5}, "minimax-m3", "is 5"),
    "no regular expression": ({"type": "string", "pattern": "["}, "hermes", "pattern"),
    "another set in a class": ({"type": "string", "pattern": "[a&&b]"}, "hermes", "pattern"),
    "a bound that is no number": ({"type": "integer", "minimum": NAN}, "hermes", "minimum is nan"),
    "a bound that is a word": ({"type": "number", "maximum": True}, "hermes", "maximum is True"),
    "types of which one is none": ({"type": ["string", []]}, "hermes", "type is .'string', ..."),
    "names that are none": ({"required": [1]}, "gemma4", "required is .1."),
    "names that are lists": ({"type": "object", "required": [[]]}, "hermes", "required is ...."),
    "schemas that are none": ({"anyOf": [1, {"type": "null"}]}, "hermes", "anyOf is .1"),
    "properties that are none": ({"properties": {"a": 5}}, "hermes", "properties is"),
    "items that are none": ({"type": "array", "items": 5}, "hermes", "items is 5"),
    "choices that are none": ({"enum": [b"x"]}, "gemma4", "enum is "),
    "a choice that is no number": ({"const": NAN}, "hermes", "const is nan"),
    "exclusive choice": (
        {"oneOf": [{"type": "integer"}, {"type": "number"}]}, "hermes", "oneOf admits"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CANNOT_BE_SAID)
def test_what_cannot_be_said_is_refused_or_listed(case: str) -> None:
    schema, name, why = CANNOT_BE_SAID[case]
    with pytest.raises(UsageError, match=rf"tool 'f': .*{why}.*or allow a looser"):
        constraint_of({"x": schema}, name)
    looser = constraint_of({"x": schema}, name, allow_looser=True)
    Lark(looser.text)
    assert re.search(why, " ".join(looser.omitted))


@pytest.mark.parametrize("inner", [{"items": {"type": ["string", []]}}, {"type": ["string", {}]}])
def test_an_odd_type_somewhere_inside_is_refused_and_read_as_any(inner: Any) -> None:
    schema = {"anyOf": [inner, {"type": "boolean"}], **inner}
    for kind in ("lark", "gbnf"):
        with pytest.raises(UsageError, match=r"type is .'string', "):
            constraint_of({"x": inner}, "hermes", kind=kind)
    tools = [{"name": "f", "parameters": {"properties": {"x": schema}}}]
    text = tunaeval.render([ToolCall("f", {"x": "a"})], "hermes")
    assert tunaeval.parse(text, format="hermes", tools=tools).calls[0].arguments == {"x": "a"}


@pytest.mark.parametrize("choices", [[], [b"x"]])
def test_arguments_that_nothing_fits_are_refused(choices: Any) -> None:
    with pytest.raises(UsageError, match="tool 'f': "):
        tunaeval.constrain([{"name": "f", "parameters": {"enum": choices}}], format="hermes")


NO_VALUE_FITS = {
    "no number": ({"type": "integer", "minimum": 7, "maximum": 3}, "no value fits"),
    "no length": ({"type": "string", "minLength": 5, "maxLength": 3}, "no value fits"),
    "no list": ({"type": "array", "items": {}, "minItems": 5, "maxItems": 3}, "no value fits"),
    "too many digits": ({"type": "integer", "minimum": 10**30}, "no value fits"),
    "endless": ({"type": "integer", "minimum": float("inf")}, "no value fits"),
    "no choice": ({"type": "integer", "enum": ["a"]}, "no value fits"),
    "false": (False, "no value fits"),
    "a reference to nowhere": ({"$ref": "#/nope"}, "leads nowhere"),
    "an object that needs itself": (
        {"type": "object", "properties": {"y": {"$ref": "#/properties/x"}}, "required": ["y"]},
        "requires itself, so no value that ends",
    ),
    "a list that needs itself": (
        {"type": "array", "items": {"$ref": "#/properties/x"}, "minItems": 1},
        "requires itself",
    ),
    "a choice that no grammar quotes": ({"enum": ["a\x7fb"]}, "which no grammar can quote"),
    "a reference to itself": ({"$ref": "#/properties/x"}, "leads only to itself"),
}


@pytest.mark.parametrize("case", NO_VALUE_FITS)
def test_a_schema_that_no_value_fits_is_refused(case: str) -> None:
    schema, why = NO_VALUE_FITS[case]
    with pytest.raises(UsageError, match=why):
        constraint_of({"x": schema}, "hermes", allow_looser=True)


def test_a_schema_that_is_nested_too_deep_is_refused() -> None:
    nested: dict[str, Any] = {"type": "string"}
    for _ in range(900):
        nested = {"type": "array", "items": nested}
    with pytest.raises(UsageError, match=r"tool 'f': .* too deep or has too many"):
        constraint_of({"x": nested}, "hermes")


@pytest.mark.parametrize("combined", ["$ref", "allOf"])
def test_keywords_beside_others_are_enforced_with_them(combined: str) -> None:
    text = {"type": "string", "title": "a text"}
    one: dict[str, Any] = {"maxLength": 2, "title": "a short text"}
    one[combined] = "#/properties/y" if combined == "$ref" else [text]
    grammar = Lark(constraint_of({"x": one, "y": text}, "hermes").text)
    for value, fits in (("ab", True), ("abc", False)):
        call = tunaeval.render([ToolCall("f", {"x": value, "y": "abc"})], "hermes")
        assert grammar.accepts(call) == fits


@pytest.mark.parametrize("name", ["hermes", "glm45", "minimax-m3", "gemma4", "pythonic"])
def test_definitions_that_others_use_twice_are_written_once(name: str) -> None:
    two = {
        f"d{i}": {"properties": {key: {"$ref": f"#/$defs/d{i + 1}"} for key in "xy"}}
        for i in range(40)
    }
    schema = {
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": {**two, "d40": {"type": "null"}},
    }
    tools = [{"name": "f", "parameters": schema}]
    assert len(tunaeval.constrain(tools, format=name, text="none", kind="gbnf").text) < 120_000


@pytest.mark.parametrize("kind", ["lark", "gbnf"])
def test_members_in_order_take_a_rule_each(kind: Any) -> None:
    small, large = (
        len(constraint_of({f"a{i}": {"type": "null"} for i in range(n)}, "hermes", kind=kind).text)
        for n in (20, 200)
    )
    assert large < 11 * small


@pytest.mark.parametrize(
    ("name", "schema", "value"),
    [
        ("gemma4", {"type": "object"}, {"key": [1]}),
        ("minimax-m3", {"properties": {"x": {"$ref": "#/properties/x"}}}, {"x": {"x": {"x": {}}}}),
    ],
)
def test_objects_are_accepted_as_they_are_written(name: str, schema: Any, value: Any) -> None:
    for kind, matcher in (("lark", Lark), ("gbnf", Gbnf)):
        made = constraint_of({"x": schema}, name, kind=kind, allow_looser=True)
        assert matcher(made.text).accepts(tunaeval.render([ToolCall("f", {"x": value})], name))


def test_no_grammar_has_an_escape_that_python_has_not() -> None:
    made = constraint_of({"x": {"type": "array", "items": {"type": "string"}}}, "lfm2-pythonic")
    written = '<|tool_call_start|>[f(x=["%s"])]<|tool_call_end|>'
    found = [Lark(made.text).accepts(written % text) for text in ("a/b", "a\\nb", "a\\/b")]
    assert found == [True, True, False]


@pytest.mark.parametrize(
    ("prose", "accepted"),
    [("Let me see:\n\n", True), ("Let me see,\n", False), ("f(\n", False), ("x =\n", False)],
)
def test_prose_before_a_bare_list_is_no_code(prose: str, accepted: bool) -> None:
    text = prose + tunaeval.render([ToolCall("ls", {})], "pythonic")
    assert Lark(tunaeval.constrain(TOOLS, format="pythonic").text).accepts(text) == accepted
    assert (tunaeval.parse(text, "pythonic", TOOLS, "strict").outcome == "calls") == accepted


@pytest.mark.parametrize(
    ("tools", "name", "why"),
    [
        ([], "hermes", "no tools"),
        (TOOLS, LOOSE, "only with repairs"),
        (TOOLS, "qwen3", "several formats"),
        ([{"name": "get weather"}], "glm45", "cannot write the name"),
        (
            [{"name": "f", "parameters": {"class": {"type": "string"}}}],
            "pythonic",
            "no name in Python",
        ),
        (
            [{"name": "f", "parameters": {"a": {"type": "str", "enum": ["</arg_value>"]}}}],
            "glm45",
            "bare text",
        ),
    ],
)
def test_what_a_format_cannot_write_is_refused(tools: Any, name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        tunaeval.constrain(tools, format=name, text="none")


def test_a_recursive_schema_becomes_a_recursive_rule() -> None:
    node = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/properties/x"}},
        "required": ["v"],
    }
    call = ToolCall("f", {"x": {"v": 1, "next": {"v": 2, "next": {"v": 3}}}})
    for kind, matcher in (("lark", Lark), ("gbnf", Gbnf)):
        grammar = matcher(constraint_of({"x": node}, "hermes", kind=kind).text)
        text = tunaeval.render([call], "hermes")
        assert grammar.accepts(text)
        assert not grammar.accepts(text.replace("3", "true"))


bounds = st.none() | st.integers(-2000, 2000)


@given(low=bounds, high=bounds, value=st.integers(-2100, 2100))
def test_whole_numbers_are_within_their_bounds(
    low: int | None, high: int | None, value: int
) -> None:
    schema = {"type": "integer"} | {
        word: bound for word, bound in (("minimum", low), ("maximum", high)) if bound is not None
    }
    fits = (low is None or low <= value) and (high is None or value <= high)
    try:
        grammar = Gbnf(constraint_of({"x": schema}, "hermes", kind="gbnf", reasoning=False).text)
    except UsageError:
        assert not fits
        return
    assert grammar.accepts(tunaeval.render([ToolCall("f", {"x": value})], "hermes")) == fits


def test_lengths_and_patterns_of_json_strings_are_enforced() -> None:
    grammar = Lark(
        constraint_of({
            "short": {"type": "string", "minLength": 1, "maxLength": 2},
            "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d+$"},
        }, "hermes").text
    )  # fmt: skip

    def accepts(short: str, code: str) -> bool:
        return grammar.accepts(
            tunaeval.render([ToolCall("f", {"short": short, "code": code})], "hermes")
        )

    assert accepts("é", "AB-12")
    assert accepts('"\n', "AB-1")
    assert not accepts("", "AB-12")
    assert not accepts("abc", "AB-12")
    assert not accepts("a", "xAB-12")


@pytest.mark.parametrize("pattern", ["^/[^/]+$", "^\\/[a-z/]{2,3}$", "/a"])
def test_a_slash_in_a_pattern_ends_nothing(pattern: str) -> None:
    grammar = Lark(constraint_of({"x": {"type": "string", "pattern": pattern}}, "hermes").text)
    texts = [tunaeval.render([ToolCall("f", {"x": text})], "hermes") for text in ("/ab", "ab")]
    assert [grammar.accepts(text) for text in texts] == [True, False]


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\ufeff", "é😀", "\\\"/'"])
def test_odd_names_are_quoted(odd: str) -> None:
    call = ToolCall("f", {odd: 1})
    text = tunaeval.render([call], "hermes")
    for kind, matcher in (("lark", Lark), ("gbnf", Gbnf)):
        made = constraint_of({odd: {"type": "integer"}}, "hermes", kind=kind)
        assert matcher(made.text).accepts(text)


def test_a_grammar_grows_with_its_tools_and_no_faster() -> None:
    tool = TOOLS["get_weather"]
    small, large = (
        len(tunaeval.constrain([tool.as_bare() | {"name": f"t{i}"} for i in range(n)]).text)
        for n in (50, 500)
    )
    assert large < 10.5 * small


def test_a_structural_tag_has_the_grammar_inside() -> None:
    tag = json.loads(tunaeval.constrain(TOOLS, kind="structural-tag").text)
    gbnf = tunaeval.constrain(TOOLS, kind="gbnf").text
    assert tag == {"type": "structural_tag", "format": {"type": "grammar", "grammar": gbnf}}


@pytest.mark.parametrize("name", [name for name in CONSTRAINED if name not in WITHOUT_PROSE])
def test_prose_that_is_accepted_has_no_call(name: str) -> None:
    grammar = Lark(tunaeval.constrain(TOOLS, format=name, reasoning=False).text)
    others = [tunaeval.render(call, other) for other in (name, *CONSTRAINED[::9]) for call in ODD]
    # A tag of the format in another namespace is read, too, and no grammar knows all of these.
    others = [other for other in others if ":invoke name=" not in other]
    for text in (
        *others,
        *("hi " + other for other in others),
        "`ls()`",
        "Run `ls`.\n",
        "x <tool_",
    ):
        if grammar.accepts(text):
            read = tunaeval.parse(text, name, TOOLS, "strict")
            is_call = text in (tunaeval.render(call, name) for call in ODD[1:])
            assert bool(read.calls) == is_call, text
            assert breach(text, format_named(name), TOOLS, calls_alone=False) is None


ODD = ([ToolCall("get_weather", {"city": "Oslo", "dayz": 3})], [ToolCall("ls", {})])


def test_a_backtick_is_for_prose_alone() -> None:
    call = tunaeval.render([ToolCall("ls", {})], "hermes")
    grammar = Lark(tunaeval.constrain(TOOLS, format="hermes").text)
    texts = ["Run `ls` now.", "```sh\nls\n```", f"Run `ls`.\n{call}", f"```\n{call}"]
    assert [grammar.accepts(text) for text in texts] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{0}", None),
        ("Let me see.\n{0}", None),
        ("It is `ls`.", None),
        ('[TOOL_CALLS]get_weather[ARGS]{{"city": "Oslo"}}', None),
        ("{0} Done.", "text after the first call: 'Done.'"),
        ("{0}\nand\n{0}", "text after the first call"),
        (
            '<tool_call>\n{{"name": "many", "arguments": {{"b": 1, "f": "x"}}}}\n</tool_call>',
            "wrong-type",
        ),
    ],
)
def test_a_breach_is_what_no_grammar_accepts(text: str, why: str | None) -> None:
    call = tunaeval.render([ToolCall("ls", {})], "hermes")
    text = text.format(call)
    found = breach(text, format_named("hermes"), TOOLS, calls_alone=False)
    assert Lark(tunaeval.constrain(TOOLS, format="hermes").text).accepts(text) == (why is None)
    assert found is None if why is None else why in (found or "")


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(UsageError, match="parallel is 'no'; wanted True or False"):
        tunaeval.constrain(TOOLS, parallel="no")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(UsageError, match=r"tool 'f': no value fits .*'minimum': 7"):
        constraint_of({"x": {"type": "integer", "minimum": 7, "maximum": 3}}, "hermes")
    dated = constraint_of({"x": {"type": "string", "format": "date-time"}}, "hermes")
    assert dated.omitted == ("tool 'f': format 'date-time' is not enforced",)
    open_object = {"properties": {"a": {"type": "null"}}, "additionalProperties": True}
    declared = constraint_of({"x": open_object}, "hermes")
    assert declared.omitted == ("tool 'f': only declared properties of an object are written",)


def test_a_grammar_is_the_same_in_each_process() -> None:
    """A server caches grammars by their text, and a set's order changes with the hash seed."""
    program = "import tunaeval; print(tunaeval.constrain([{'name': 'ls'}], kind='gbnf').text)"
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(texts) == 1
