"""Replies from one format to another: the same calls, the same words, or a reason why not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.data.convert import Unconvertible, convert_row, convert_text, route_between
from tunaeval.errors import UsageError
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import parse, parse_message, render
from tunaeval.testing.strategies import damaged, json_values, prose, tools_for, writable
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall

CALLS = (
    ToolCall("write_file", {"path": "a b.py", "text": 'x = "1"\n\ty</b> é\n', "n": 3}),
    ToolCall("ping", {}),
    ToolCall("add", {"a": "7", "b": -1500.5, "deep": {"l": [1, 2.5, None, True], "s": "5"}}),
)
TOOLS = tools_for(CALLS)
LS = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'
XML = (
    "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>"
)

_FORMS = st.sampled_from([*FORMATS.values()])


def said(calls: tuple[ToolCall, ...]) -> list[tuple[str, str]]:
    """The calls as text; some templates sort the arguments, so their order means nothing."""
    return [(call.name, json.dumps(call.arguments, sort_keys=True)) for call in calls]


def converted(row: JsonValue, source: str, target: str) -> JsonValue:
    found = convert_row(row, route_between(source, target))
    assert not isinstance(found, Unconvertible), found
    return found


def reply(form: Format) -> str:
    """A reply in that format: reasoning where it knows any, words, calls, words, a call."""
    thought = form.reasoning[0] if form.reasoning else None
    before = f"{thought.open}Hm.\nYes.{thought.close}\n\n" if thought else ""
    return f"{before}Sure:\n{render(CALLS[:2], form)}\nAnd\n{render(CALLS[2:], form)}"


@pytest.mark.parametrize("source", [name for name, form in FORMATS.items() if not form.whole])
def test_an_ordinary_reply_goes_to_every_format_and_back(source: str) -> None:
    text = reply(FORMATS[source])
    before = parse(text, source, TOOLS)
    assert said(before.calls) == said(CALLS)
    for target in ("hermes", "qwen3-coder", "glm45", "deepseek-v3.1", "kimi-k2", source):
        there = convert_text(text, route_between(source, target, TOOLS))
        assert isinstance(there, str), (target, there)
        after = parse(there, target, TOOLS)
        assert said(after.calls) == said(CALLS)
        assert after.content.split() == before.content.split()
        assert after.reasoning == before.reasoning
        back = convert_text(there, route_between(target, source, TOOLS))
        assert isinstance(back, str), (target, back)
        assert said(parse(back, source, TOOLS).calls) == said(CALLS)


@given(data=st.data(), source=_FORMS, target=_FORMS, before=prose(), after=prose())
def test_what_is_converted_reads_the_same(
    data: st.DataObject, source: Format, target: Format, before: str, after: str
) -> None:
    made = data.draw(writable(source))
    tools = tools_for(made)
    text = f"{before}\n{render(made, source)}\n{after}"
    there = convert_text(text, route_between(source, target, tools))
    if isinstance(there, str):
        old, new = parse(text, source, tools), parse(there, target, tools)
        assert said(new.calls) == said(old.calls)
        assert new.content.split() == old.content.split()


@given(data=st.data(), source=_FORMS, target=_FORMS)
def test_damaged_replies_are_converted_or_told_why_not(
    data: st.DataObject, source: Format, target: Format
) -> None:
    text = data.draw(damaged(source))
    there = convert_text(text, route_between(source, target))
    if isinstance(there, str):
        assert said(parse(there, target).calls) == said(parse(text, source).calls)
    else:
        assert there.reason


def test_words_and_reasoning_stay_where_they_were() -> None:
    text = f"<think>Hm.</think>\n\nFirst:\n{LS}\n{LS}\nThen `this`:\n{LS}\nDone.\n"
    assert convert_text(text, route_between("hermes", "qwen3-coder")) == text.replace(LS, XML)
    assert convert_text(f"Hm.</think>\n{LS}", route_between("hermes", "qwen3-coder")) == (
        f"Hm.</think>\n{XML}"
    )


def test_reasoning_gets_the_markers_of_the_new_format() -> None:
    route = route_between("hermes", "mistral-v11")
    assert convert_text(f"<think>Hm.</think>\n{LS}\n<think>So.</think>Done.", route) == (
        '[THINK]Hm.[/THINK]\n[TOOL_CALLS]bash[ARGS]{"command": "ls"}\n[THINK]So.[/THINK]Done.'
    )


def test_a_format_of_line_starts_gets_one() -> None:
    there = convert_text(f"Sure: {LS} Done.", route_between("hermes", "fence"))
    assert isinstance(there, str)
    assert said(parse(there, "fence").calls) == [("bash", '{"command": "ls"}')]


@pytest.mark.parametrize(
    ("text", "target", "reason"),
    [
        ('<tool_call>{"name": "bash", "arg</tool_call>', "glm45", "invalid-arguments"),
        (f"{LS}\n<tool_call>{{broken}}</tool_call>", "glm45", "invalid-json"),
        (LS[:40], "glm45", "truncated"),
        (LS.replace("ls", "5"), "glm45", 'is read as bash({"command":5}); with tools, the types'),
        (LS.replace("bash", "b a s h"), "glm45", "in glm45"),
        (f"As in {XML}", "qwen3-coder", ""),
        ("Write <function=f>{}</function> so.", "functionary-v3.1", "no call is read as f({})"),
    ],
)  # fmt: skip
def test_what_could_not_be_read_the_same_is_refused(text: str, target: str, reason: str) -> None:
    found = convert_text(text, route_between("hermes", target))
    assert isinstance(found, Unconvertible)
    assert reason in found.reason


def test_mends_are_made_as_far_as_the_level_allows() -> None:
    text = LS.replace('"', "'")
    assert convert_text(text, route_between("hermes", "hermes")) == LS
    assert isinstance(convert_text(text, route_between("hermes", "hermes", level="strict")),
                      Unconvertible)  # fmt: skip


ASKED: JsonObject = {"role": "user", "content": f"Say {LS}"}
CALLED: JsonObject = {"role": "assistant", "content": f"Sure.\n{LS}", "name": "kept"}
ANSWERED: JsonObject = {"role": "tool", "tool_call_id": "id-7", "content": "a.txt"}
STRUCTURED = [
    {"id": "id-7", "type": "function",
     "function": {"name": "bash", "arguments": '{"command": "ls"}'}},
]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        (LS, XML),
        ({"text": LS, "id": 1}, {"text": XML, "id": 1}),
        ({"prompt": LS, "completion": LS}, {"prompt": LS, "completion": XML}),
        (
            {"prompt": [ASKED], "completion": [CALLED]},
            {"prompt": [ASKED], "completion": [{**CALLED, "content": f"Sure.\n{XML}"}]},
        ),
        ({"role": "assistant", "content": LS}, {"role": "assistant", "content": XML}),
        (ASKED, ASKED),
        (
            {"messages": [ASKED, CALLED, ANSWERED], "id": 1},
            {"messages": [ASKED, {**CALLED, "content": f"Sure.\n{XML}"}, ANSWERED], "id": 1},
        ),
        (
            {"conversations": [{"from": "human", "value": LS}, {"from": "gpt", "value": LS}]},
            {"conversations": [{"from": "human", "value": LS}, {"from": "gpt", "value": XML}]},
        ),
        ({"message": CALLED}, {"message": {**CALLED, "content": f"Sure.\n{XML}"}}),
        (
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": LS}}]},
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": XML}}]},
        ),
        (
            {"role": "assistant", "content": [{"type": "text", "text": LS}, {"type": "image"}]},
            {"role": "assistant", "content": [{"type": "text", "text": XML}, {"type": "image"}]},
        ),
    ],
)
def test_rows_of_every_shape_are_converted_and_the_rest_is_kept(
    row: JsonValue, wanted: JsonValue
) -> None:
    before = json.dumps(row)
    assert convert_row(row, route_between("hermes", "qwen3-coder")) == wanted
    assert json.dumps(row) == before


@pytest.mark.parametrize(
    "row",
    ["no call", {"text": "no call"}, ASKED, {"messages": [ASKED]}, {"role": "assistant",
     "content": None}, {"messages": []}],
)  # fmt: skip
def test_a_row_without_calls_is_returned_itself(row: JsonValue) -> None:
    for source, target in (("hermes", "glm45"), ("hermes", "openai"), ("openai", "hermes")):
        assert convert_row(row, route_between(source, target)) is row


@pytest.mark.parametrize("target", ["hermes", "qwen3-coder", "harmony"])
def test_a_message_of_nothing_but_structured_calls_is_left_alone(target: str) -> None:
    row: JsonObject = {"messages": [ASKED, {"role": "assistant", "tool_calls": STRUCTURED}]}
    assert convert_row(row, route_between("hermes", target)) is row
    assert convert_row(row["messages"][1], route_between("hermes", target)) is row["messages"][1]


def test_structured_calls_are_linked_with_their_results() -> None:
    row = {"messages": [ASKED, CALLED, ANSWERED, CALLED]}
    there = convert_row(row, route_between("hermes", "openai", arguments="text"))
    called = {**CALLED, "content": "Sure.", "tool_calls": STRUCTURED}
    last = {**called, "tool_calls": [{**STRUCTURED[0], "id": "call_3_0"}]}
    assert there == {"messages": [ASKED, called, ANSWERED, last]}
    assert convert_row(there, route_between("openai", "hermes")) == row


def test_arguments_of_structured_calls_are_turned_into_objects_and_back() -> None:
    unwrapped = {**ANSWERED, "content": "a.txt"}
    texts = {"messages": [ASKED, {**CALLED, "tool_calls": STRUCTURED}, unwrapped]}
    objects = json.loads(json.dumps(texts))
    objects["messages"][1]["tool_calls"][0]["function"]["arguments"] = {"command": "ls"}
    for kind, wanted in (("object", objects), ("text", texts)):
        route = route_between("structured", "structured", arguments=kind)
        assert convert_row(texts, route) == convert_row(objects, route) == wanted
    wrapped = {**ANSWERED, "content": "<tool_response>\na.txt\n</tool_response>"}
    route = route_between("hermes", "structured", arguments="text")
    there = convert_row({"messages": [ASKED, {**CALLED}, wrapped]}, route)
    assert isinstance(there, dict)
    assert there["messages"][2] == unwrapped


def test_structured_calls_and_text_are_turned_into_each_other() -> None:
    message = converted(LS, "hermes", "openai")
    assert message["content"] is None
    assert said(parse_message(message).calls) == [("bash", '{"command": "ls"}')]
    assert converted(message, "openai", "hermes") == {"role": "assistant", "content": LS}
    field = converted({"text": f"<think>Hm.</think>{LS}"}, "hermes", "openai")
    assert field["text"] == "<think>Hm.</think>"
    legacy = {"role": "assistant", "content": "", "function_call": STRUCTURED[0]["function"]}
    assert converted(legacy, "openai", "hermes") == {"role": "assistant", "content": LS}


def test_calls_are_put_behind_the_parts_of_a_content() -> None:
    parts: JsonValue = {"role": "assistant", "content": [{"type": "image"}]}
    there = converted({**parts, "tool_calls": STRUCTURED}, "openai", "hermes")
    assert there["content"] == [{"type": "image"}, {"type": "text", "text": LS}]


def test_the_tools_of_a_row_say_what_types_its_arguments_have() -> None:
    text = LS.replace('"ls"', '"5"')
    tools = [{"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}}]
    route = route_between("hermes", "qwen3-coder")
    assert isinstance(convert_row({"text": text}, route), Unconvertible)
    found = convert_row({"text": text, "tools": tools}, route)
    assert found == {"text": XML.replace("ls", "5"), "tools": tools}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (17, "a row is a text or an object, not int"),
        ({"else": 1}, "found 'else'; wanted messages"),
        ({}, "found nothing"),
        ({"text": "a", "completion": "b"}, "found 'text', 'completion'"),
        ({"text": 5}, "content is a text or a list, not int"),
        ({"messages": ["a"]}, "messages[0]: this is no object"),
        ({"messages": [CALLED, {**CALLED, "content": LS[:30]}]}, "messages[1]: "),
        ({"text": LS, "tools": [1]}, "its own tools cannot be understood"),
    ],
)
def test_a_row_that_cannot_be_converted_says_why(row: JsonValue, reason: str) -> None:
    found = convert_row(row, route_between("hermes", "glm45"))
    assert isinstance(found, Unconvertible)
    assert reason in found.reason


def test_calls_in_text_beside_structured_ones_are_not_mixed() -> None:
    row = {"role": "assistant", "content": LS, "tool_calls": STRUCTURED}
    for source, target in (("hermes", "openai"), ("openai", "hermes")):
        found = convert_row(row, route_between(source, target))
        assert isinstance(found, Unconvertible)
    broken = [{"function": {"name": "bash", "arguments": "{"}}]
    found = convert_row({**row, "tool_calls": broken}, route_between("openai", "hermes"))
    assert isinstance(found, Unconvertible)


def test_a_field_may_be_named() -> None:
    row = {"answer": LS, "text": LS}
    found = convert_row(row, route_between("hermes", "qwen3-coder"), field="answer")
    assert found == {"answer": XML, "text": LS}
    missing = convert_row(row, route_between("hermes", "qwen3-coder"), field="reply")
    assert missing == Unconvertible("it has no field 'reply'")


@given(row=json_values(), target=st.sampled_from(["glm45", "openai"]))
def test_no_row_is_an_exception(row: JsonValue, target: str) -> None:
    """It is converted, left as it is, or told why not; and what was given stays."""
    before = repr(row)
    for given_row, route in (
        (row, route_between("hermes", target)),
        ({"messages": row, "tool_calls": row}, route_between("openai", "hermes")),
        ({"content": row, "tool_calls": row}, route_between("openai", "hermes")),
        ({"messages": [row, {"content": row}]}, route_between("hermes", target)),
        ({"tool_calls": row}, route_between("hermes", "glm45")),
    ):
        found = convert_row(given_row, route)
        assert isinstance(found, Unconvertible | type(given_row)) or found is None
    assert repr(row) == before


def test_a_route_has_two_ends_that_can_be_read_and_written() -> None:
    for source, target in (("openai", "openai"), ("hermes", "auto"), ("hermes", "nothing")):
        with pytest.raises(UsageError):
            route_between(source, target)
    with pytest.raises(UsageError, match="structured calls are in messages"):
        convert_text("", route_between("openai", "hermes"))
