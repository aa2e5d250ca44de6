"""A call by which a model abstains is none: whole, streamed, in messages, at every level."""

from __future__ import annotations

import pytest

from tests.parsing.samples import LS, TOOLS, said, tagged
from tunaeval import parse, parse_levels, parse_many, parse_message, stream
from tunaeval.errors import UsageError
from tunaeval.types import LEVELS, ParseResult, Tools

NO = ("no_function", "out_of_domain")
TEXTS = {
    "granite": '<function_call> {"name": "no_function", "arguments": {}}',
    "raven": "out_of_domain(user_query='a poem')",
    "tagged": tagged('{"name": "no_function", "arguments": {"reason": "none fits"}}'),
}


def abstained(result: ParseResult) -> None:
    assert (result.outcome, result.detail, result.calls) == ("no_call", "abstained", ())
    assert [note.code for note in result.diagnoses] == ["abstained"]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("tools", [TOOLS, Tools([*TOOLS.values()])], ids=["tools", "copied"])
def test_a_model_abstains_by_name(text: str, tools: Tools) -> None:
    for level in LEVELS:
        abstained(parse(text, tools=tools, level=level, abstain=NO))
    for result in parse_levels(text, tools=tools, abstain=NO).values():
        abstained(result)
    (one,) = parse_many([text], tools=tools, abstain=NO)
    abstained(one)
    reader = stream(tools=tools, abstain=NO)
    for char in text:
        reader.feed(char)
    assert reader.finish() == one
    abstained(parse_message({"content": text}, tools=tools, abstain=NO))
    assert parse(text, tools=tools).detail != "abstained"


def test_a_structured_call_abstains_too() -> None:
    call = {"type": "function", "function": {"name": "no_function", "arguments": "{}"}}
    abstained(parse_message({"tool_calls": [call]}, tools=TOOLS, abstain=NO))


def test_a_call_beside_it_counts() -> None:
    result = parse(TEXTS["tagged"] + tagged(LS), tools=TOOLS, abstain=NO)
    assert said(result) == [("bash", {"command": "ls"})]
    assert (result.outcome, result.detail) == ("calls", None)


def test_many_texts_in_several_processes_abstain() -> None:
    results = parse_many([TEXTS["tagged"]] * 600, tools=TOOLS, workers=2, abstain=NO)
    assert {result.detail for result in results} == {"abstained"}


@pytest.mark.parametrize("wrong", ["no_function", [""], [3]])
def test_what_is_no_name_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match=r"abstain is .*wanted names"):
        parse("x", abstain=wrong)  # type: ignore[arg-type]  # the claim
