"""What the two older systems got wrong and what holds here, in the mission's own order."""

from __future__ import annotations

import pytest

from tests.parsing.samples import LS, TOOLS, WHERE, call_of, call_with, codes, said, tagged
from tunaeval import parse
from tunaeval.types.calls import JsonValue
from tunaeval.types.parsing import LEVELS, Level, ParseResult

LS_CALL = [("bash", {"command": "ls"})]

PACKAGE = '{"name": "left-pad", "version": "1.0.0", "dependencies": {"bash": "1"}}'


# --- 1: all calls, in order ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        tagged(LS) + "\n" + tagged(WHERE),
        f"<tools>[{LS}, {WHERE}]</tools>",
        f"<tools>{LS}</tools><tools>{WHERE}</tools>",
        f"[{LS},\n {WHERE}]",
        f"{LS}\n{WHERE}",
        f"```json\n[{LS}, {WHERE}]\n```",
        f"```json\n{LS}\n```\nand then\n```json\n{WHERE}\n```",
        f"First {tagged(LS)} then ```json\n{WHERE}\n```",
        f"<tools>{LS}</tools> {WHERE}",
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_all_calls_are_returned_in_order(text: str, level: Level) -> None:
    result = parse(text, level=level)
    assert said(result) == [*LS_CALL, ("bash", {"command": "pwd"})]
    starts = [call.span.start for call in result.calls if call.span]
    assert starts == sorted(starts)


# --- 2: a strategy that fails leaves a diagnosis and the next one runs -----------------------


@pytest.mark.parametrize(
    "broken",
    [
        '<tool_call>{"name": }</tool_call>',
        '<tool_call>{"name": "bash", "arguments": {"command": NaN}}</tool_call>',
        '<tool_call>{"name": "bash", "arguments": {"command": "ls"</tool_call>',
        '<tool_call>["bash"]</tool_call>',
        '<tools>{"command": "ls"}</tools>',
        '{"name": "bash", "arguments": {"command": run(1)}}',
        '```json\n{"name": "bash", "arguments": [1]}\n```',
    ],
)
def test_what_is_broken_leaves_a_diagnosis_and_the_next_call_is_read(broken: str) -> None:
    for good in (LS, tagged(LS), f"```json\n{LS}\n```"):
        result = parse(f"{broken}\n{good}", tools=TOOLS)
        assert said(result) == LS_CALL
        diagnosis = result.diagnoses[0]
        assert diagnosis.span is not None
        assert diagnosis.span.end <= len(broken)
        assert broken in result.content


# --- 3 and 4: JSON is found by a scanner that knows strings ----------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"a": {"b": {"c": [1, {"d": [[]]}]}}},
        {"content": "int main() { return {0}; }"},
        {"content": "}}}}"},
        {"content": "</tool_call>"},
        {"content": 'a\n</tool_call>\n<tool_call>\n{"name": "rm", "arguments": {}}'},
        {"content": "</tools>\n```\n"},
        {"content": "```json\n{}\n```"},
        {"content": 'say \\"hi\\" \\\\'},
        {"content": "<think>no</think>"},
        {"content": "no thought </think> here"},
    ],
)
def test_what_stands_in_a_string_ends_nothing(arguments: dict[str, JsonValue]) -> None:
    text = call_of("write_file", **arguments)
    body = text.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")
    for framed in (text, body, f"<tools>[{body}]</tools>", f"```json\n{body}\n```"):
        result = parse(framed, level="strict")
        assert said(result) == [("write_file", arguments)]
        assert not result.content.strip()
        assert not result.diagnoses


@pytest.mark.parametrize(
    "body",
    [
        '{\n  "name": "bash",\n  "arguments": {\n    "command": "ls"\n  }\n}',
        '{"arguments": {"command": "ls"}, "name": "bash"}',
        '{"id": "c1", "name": "bash", "arguments": {"command": "ls"}}',
        '{"name":"bash","arguments":{"command":"ls"} }',
        '{"type": "function", "index": 0, "name": "bash", "arguments": {"command": "ls"}}',
        '{ "name" : "bash" ,\r\n\t"arguments" : { "command" : "ls" } }',
    ],
)
def test_order_space_and_further_keys_do_not_matter(body: str) -> None:
    for text in (tagged(body), body, f"<tools>{body}</tools>", f"```json\n{body}\n```"):
        result = parse(text, level="strict")
        assert said(result) == LS_CALL
        assert not result.calls[0].repairs


# --- 5: reasoning ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decoy", [tagged(LS), LS, f"```json\n{LS}\n```", "<tool_call>{", '{"name": "bash", "argum']
)
def test_calls_in_reasoning_are_no_calls(decoy: str) -> None:
    result = parse(f"<think>\n{decoy}\n</think>\n{tagged(WHERE)}")
    assert said(result) == [("bash", {"command": "pwd"})]
    assert result.reasoning == f"\n{decoy}\n"
    assert not result.diagnoses
    assert not result.truncated


def test_a_reply_of_reasoning_alone_calls_nothing() -> None:
    result = parse(f"<think>{LS}</think>\nThere is nothing to do.")
    assert result.outcome == "no_call"
    assert result.content == "There is nothing to do."


def test_what_stands_before_a_lone_closer_was_reasoning() -> None:
    result = parse(f"I could {LS}\n</think>\n\n{tagged(WHERE)}")
    assert said(result) == [("bash", {"command": "pwd"})]
    assert result.reasoning == f"I could {LS}\n"
    assert not result.content


def test_reasoning_that_never_ends_is_cut_and_calls_nothing() -> None:
    result = parse(f"<think>I will {tagged(LS)} now")
    assert result.outcome == "no_call"
    assert result.truncated
    assert codes(result) == ["unclosed-reasoning"]


def test_a_marker_that_is_only_mentioned_is_content() -> None:
    for text in (
        "Put `<think>` before it.",
        "Use `<tool_call>` for that.",
        "A <tool_call> is a tag.",
    ):
        assert parse(text) == ParseResult(content=text)


# --- 6: aliases and encoded arguments --------------------------------------------------------


@pytest.mark.parametrize("name_key", ["name", "tool", "function", "tool_name"])
@pytest.mark.parametrize("arguments_key", ["arguments", "args", "parameters", "input"])
def test_aliases_are_read_and_recorded(name_key: str, arguments_key: str) -> None:
    body = f'{{"{name_key}": "bash", "{arguments_key}": {{"command": "ls"}}}}'
    aliases = [key for key in (name_key, arguments_key) if key not in ("name", "arguments")]
    for text in (tagged(body), body, f"```json\n{body}\n```"):
        # `auto` has a format of its own for an object with `parameters`.
        name = "qwen25" if aliases == ["parameters"] else "auto"
        result = parse(text, name)
        assert said(result) == LS_CALL
        repairs = result.calls[0].repairs
        assert [repair.code for repair in repairs] == ["key-alias"] * len(aliases)
        assert all(
            repr(key) in repair.message for key, repair in zip(aliases, repairs, strict=True)
        )
        assert bool(parse(text, name, level="strict").calls) == (not aliases)


def test_a_call_wrapped_in_the_shape_of_the_api_is_read() -> None:
    result = parse(tagged(f'{{"type": "function", "function": {LS}}}'))
    assert said(result) == LS_CALL
    assert [repair.code for repair in result.calls[0].repairs] == ["wrapped-call"]


def test_arguments_encoded_as_a_string_are_decoded_once() -> None:
    result = parse(call_with(r'"{\"command\": \"echo {}\"}"'))
    assert said(result) == [("bash", {"command": "echo {}"})]
    assert [repair.code for repair in result.calls[0].repairs] == ["encoded-arguments"]
    twice = parse(call_with(r'"\"{}\""'), level="lenient")
    assert codes(twice) == ["invalid-arguments"]


# --- 7: empty is empty, broken is broken -----------------------------------------------------


@pytest.mark.parametrize("empty", ["null", '""', '"  "', "{}", '"{}"', '"null"'])
def test_null_and_empty_arguments_are_none(empty: str) -> None:
    assert said(parse(call_with(empty))) == [("bash", {})]


@pytest.mark.parametrize(
    "broken", ['"ls -la"', '"{command: }"', "[1]", "5", "true", '"[1]"', '"5"', r'"{\"a\": NaN}"']
)
@pytest.mark.parametrize("level", LEVELS)
def test_broken_arguments_are_invalid_and_never_empty(broken: str, level: Level) -> None:
    result = parse(call_with(broken), level=level)
    assert not result.calls
    assert codes(result) == ["invalid-arguments"]
    assert result.outcome == "malformed"


def test_arguments_beside_a_name_are_not_dropped_in_silence() -> None:
    result = parse(tagged('{"name": "bash", "command": "ls"}'))
    assert not result.calls
    assert codes(result) == ["missing-arguments"]


# --- 9: known tools --------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_json_with_a_name_is_a_call_only_of_a_known_tool(level: Level) -> None:
    assert parse(PACKAGE, level=level) == ParseResult(content=PACKAGE)
    assert parse(PACKAGE, tools=TOOLS, level=level) == ParseResult(content=PACKAGE)
    for text in ('{"name": "rm", "arguments": {}}', tagged('{"name": "rm"}')):
        result = parse(text, tools=TOOLS, level=level)
        assert result.outcome == "malformed"
        assert codes(result) == ["unknown-tool"]
        assert "bash, read_file" in result.diagnoses[0].message


def test_a_bare_name_is_a_call_when_it_is_a_tool() -> None:
    assert not parse('{"name": "bash"}').calls
    assert said(parse('{"name": "bash"}', tools=TOOLS)) == [("bash", {})]


def test_no_tools_at_all_means_no_call_at_all() -> None:
    result = parse(tagged(LS), tools=[])
    assert result.outcome == "malformed"
    assert codes(result) == ["unknown-tool"]


def test_a_definition_that_is_repeated_is_no_call() -> None:
    body = '{"name": "bash", "parameters": {"type": "object", "properties": {"command": {}}}}'
    for text in (body, tagged(body), f"<tools>{body}</tools>", f"```json\n{body}\n```"):
        result = parse(text, tools=TOOLS)
        assert result.outcome == "malformed"
        assert codes(result) == ["schema-echo"]


# --- 10: one rule for each thing that JSON leaves open ---------------------------------------


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("NaN", "invalid-json"),
        ("Infinity", "invalid-json"),
        ("-Infinity", "invalid-json"),
        ("1e400", "invalid-number"),
        ("-1e400", "invalid-number"),
        ("01234", "invalid-json"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_no_counted_json_is_refused(value: str, code: str, level: Level) -> None:
    result = parse(call_with(f'{{"x": {value}}}'), level=level)
    assert not result.calls
    assert codes(result) == [code]


@pytest.mark.parametrize("integer", [2**53 + 1, 2**63, 2**64 + 1, -(2**64) - 1, 10**400, 10**4299])
def test_integers_stay_integers_of_any_size(integer: int) -> None:
    result = parse(call_with(f'{{"x": {integer}}}'))
    assert said(result) == [("bash", {"x": integer})]
    assert not result.diagnoses


@pytest.mark.parametrize(
    ("arguments", "wanted", "code"),
    [
        ('{"x": 1, "x": 2}', {"x": 2}, "duplicate-key"),
        ('{"x": {"y": 1, "y": 2}}', {"x": {"y": 2}}, "duplicate-key"),
        (r'{"x": "a\ud83d"}', {"x": "a\ud83d"}, "lone-surrogate"),
        ('{"x": "\ud800"}', {"x": "\ud800"}, "lone-surrogate"),
        (r'{"x": "a\u0000b"}', {"x": "a\x00b"}, "nul"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_odd_values_are_kept_and_told(
    arguments: str, wanted: JsonValue, code: str, level: Level
) -> None:
    result = parse(call_with(arguments), level=level)
    assert said(result) == [("bash", wanted)]
    assert codes(result) == [code]


def test_a_duplicate_key_of_the_call_itself_is_told() -> None:
    result = parse(tagged('{"name": "rm", "name": "bash", "arguments": {}}'))
    assert said(result) == [("bash", {})]
    assert codes(result) == ["duplicate-key"]


# --- 11: values are left as they are ---------------------------------------------------------


@pytest.mark.parametrize("value", ["/", "a/", "./a", " a ", "", "rm -rf /", "\n\n"])
def test_parsing_normalises_nothing(value: str) -> None:
    for key in ("directory", "filepath", "content", "command", "patch"):
        assert said(parse(call_of("bash", **{key: value}))) == [("bash", {key: value})]


# --- 13: the outcomes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", "no_call"),
        ("There is no tool for that.", "no_call"),
        ("```python\nprint(1)\n```", "no_call"),
        (PACKAGE, "no_call"),
        (tagged(LS), "calls"),
        (tagged(LS) + '<tool_call>{"name": ', "calls"),
        (tagged(LS) + "<tool_call>{1}</tool_call>", "calls"),
        ("<tool_call>{1}</tool_call>", "malformed"),
        ('<tool_call>bash(command="ls")</tool_call>', "calls"),
        ('<tool_call>bash command="ls"</tool_call>', "malformed"),
        ("<tool_call>{1}</tool_call> <tool_call>{", "truncated"),
        ("<tool_call>\n", "truncated"),
        (LS[:-9], "truncated"),
    ],
)
def test_outcomes_are_told_apart(text: str, outcome: str) -> None:
    assert parse(text, tools=TOOLS).outcome == outcome
