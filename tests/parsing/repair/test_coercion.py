"""Arguments written as bare text: what each becomes under a tool's schema, and what is told of it.

All through a format whose values are bare text. `parsing/repair/test_schema.py` has the rules.
"""

from __future__ import annotations

import pytest

from tunaeval import parse
from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec
from tunaeval.types.parsing import Level, ParseResult

STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer"}
NUMBER: JsonObject = {"type": "number"}
BOOLEAN: JsonObject = {"type": "boolean"}
OBJECT: JsonObject = {"type": "object"}
LIST: JsonObject = {"type": "array", "items": INTEGER}
EITHER: JsonObject = {"anyOf": [INTEGER, STRING]}
MAYBE: JsonObject = {"anyOf": [INTEGER, {"type": "null"}]}
WORDS: JsonObject = {"$ref": "#/$defs/Words"}
NAMED: JsonObject = {"$ref": "#/$defs/Count"}


def read(
    text: str, schema: object, format_name: str = "glm45", level: Level = "standard"
) -> ParseResult:
    """A reply that gives `text` for the argument `v`, of which the tool says `schema`."""
    shapes = {
        "glm45": f"<tool_call>f\n<arg_key>v</arg_key>\n<arg_value>{text}</arg_value>\n</tool_call>",
        "qwen3-coder": f"<tool_call>\n<function=f>\n<parameter=v>\n{text}\n</parameter>\n"
        "</function>\n</tool_call>",
    }
    properties = {} if schema is None else {"v": schema}
    parameters = {
        "type": "object",
        "properties": properties,
        "$defs": {"Count": INTEGER, "Words": STRING},
    }
    tools = Tools([ToolSpec("f", parameters=parameters)])
    return parse(shapes[format_name], format=format_name, tools=tools, level=level)


@pytest.mark.parametrize("format_name", ["glm45", "qwen3-coder"])
@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("null", STRING, "null"),
        ("5", STRING, "5"),
        ("007", STRING, "007"),
        ("True", STRING, "True"),
        ('{"a": 1}', STRING, '{"a": 1}'),
        ("true", BOOLEAN, True),
        ("True", BOOLEAN, True),
        ("7", INTEGER, 7),
        (" 7 ", INTEGER, 7),
        ("1e3", NUMBER, 1000.0),
        ("2", NUMBER, 2),
        ("[1, 2]", LIST, [1, 2]),
        ('{"k": 1}', OBJECT, {"k": 1}),
        ("7", EITHER, 7),
        ("seven", EITHER, "seven"),
        ("007", EITHER, "007"),
        (" 7", EITHER, " 7"),
        ("3.5", EITHER, "3.5"),
        ("null", MAYBE, None),
        ("None", MAYBE, None),
        ("7", MAYBE, 7),
        ("null", {"type": ["string", "null"]}, None),
        ("nothing", {"type": ["string", "null"]}, "nothing"),
        ("null", {"type": "string", "nullable": True}, None),
        ("[1]", {"type": ["string", "array"]}, [1]),
        ("{'a': 1}", {"type": ["string", "object"]}, "{'a': 1}"),
        ("5", None, 5),
        ("five", None, "five"),
        ("5", {}, 5),
        ("7", NAMED, 7),
        ("7", WORDS, "7"),
        ("7", {"allOf": [WORDS, {"minLength": 1}]}, "7"),
        ("null", {"anyOf": [WORDS, {"type": "null"}]}, None),
        ("7", {"allOf": [NAMED]}, 7),
        ("7", {"anyOf": [NAMED, {"type": "null"}]}, 7),
        ("2", {"enum": [1, 2]}, 2),
        ("2", {"enum": ["1", "2"]}, "2"),
        ("2", {"const": "2"}, "2"),
        ("auto", {"enum": ["auto", 1]}, "auto"),
        ("1", {"enum": ["auto", 1]}, 1),
    ],
)
def test_a_text_is_read_as_the_schema_asks(
    text: str, schema: object, value: JsonValue, format_name: str
) -> None:
    for level in ("strict", "standard"):
        result = read(text, schema, format_name, level)
        (call,) = result.calls
        assert repr(call.arguments["v"]) == repr(value)
        assert not call.repairs
        assert {found.code for found in result.diagnoses} <= {
            "unknown-argument", "undeclared-argument",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "schema", "value", "code"),
    [
        ("3.0", INTEGER, 3, "type"),
        ("{'k': 1}", OBJECT, {"k": 1}, "single-quotes"),
        ("{'k': True}", OBJECT, {"k": True}, "python-literal"),
        ('["1", 2]', LIST, [1, 2], "type"),
        (
            "{ok:false,l:[1,2.5],z:null}",
            OBJECT,
            {"ok": False, "l": [1, 2.5], "z": None},
            "bare-key",
        ),
    ],
)
def test_what_is_more_than_reading_is_a_repair(
    text: str, schema: object, value: JsonValue, code: str
) -> None:
    (call,) = read(text, schema).calls
    assert repr(call.arguments["v"]) == repr(value)
    assert code in {repair.code for repair in call.repairs}
    assert not any(repair.code == "type" for c in read(text, schema, level="strict").calls
                   for repair in c.repairs)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "schema", "value", "said"),
    [
        ("abc", INTEGER, "abc", "$.v: 'abc' is not of type integer"),
        ("3.5", INTEGER, 3.5, "$.v: 3.5 is not of type integer"),
        ("yes", BOOLEAN, "yes", "$.v: 'yes' is not of type boolean"),
        ("1", BOOLEAN, 1, "$.v: 1 is not of type boolean"),
        ("abc", NAMED, "abc", "$.v: 'abc' is not of type integer"),
        ('["x"]', LIST, ["x"], "$.v[0]: 'x' is not of type integer"),
        ("{1}", OBJECT, "{1}", "$.v: '{1}' is not of type object"),
        ("3", {"enum": [1, 2]}, 3, "$.v: 3 is none of [1, 2]"),
    ],
)
def test_what_does_not_fit_stays_and_is_told_with_its_path(
    text: str, schema: object, value: JsonValue, said: str
) -> None:
    result = read(text, schema)
    (call,) = result.calls
    assert repr(call.arguments["v"]) == repr(value)
    assert said in [diagnosis.message for diagnosis in result.diagnoses]


def test_arguments_that_stand_behind_a_reference_are_typed_too() -> None:
    inner = {"type": "object", "properties": {"v": INTEGER}, "additionalProperties": STRING}
    parameters = {"$ref": "#/$defs/Arguments", "$defs": {"Arguments": inner}}
    text = (
        "<tool_call>f\n<arg_key>v</arg_key>\n<arg_value>7</arg_value>\n"
        "<arg_key>w</arg_key>\n<arg_value>7</arg_value>\n</tool_call>"
    )
    (call,) = parse(text, "glm45", Tools([ToolSpec("f", parameters=parameters)])).calls
    assert call.arguments == {"v": 7, "w": "7"}


def test_a_tool_that_asks_for_no_object_leaves_its_arguments_one() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"v": 1}}</tool_call>'
    result = parse(text, "hermes", Tools([ToolSpec("f", parameters={"type": "array"})]))
    assert result.calls[0].arguments == {"v": 1}
    assert [diagnosis.code for diagnosis in result.diagnoses] == ["wrong-type"]
