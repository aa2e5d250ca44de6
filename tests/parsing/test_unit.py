"""Calls that are all of a reply or of a code fence; what else names a tool; and later turns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.reading import read
from tests.parsing.samples import LS, TOOLS, codes, said, tagged
from tests.parsing.test_law_growth import assert_linear
from tunaeval import parse, stream
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import AUTO, FORMATS
from tunaeval.limits import MAX_CALLS
from tunaeval.parsing.api import render
from tunaeval.testing.strategies import chunkings, prose, tools_for, writable
from tunaeval.types.calls import Span, ToolCall, Tools
from tunaeval.types.parsing import LEVELS, ParseResult

_LS = ("bash", {"command": "ls"})
_CAT = ("read_file", {"filepath": "a.py"})
CAT = '{"name": "read_file", "arguments": {"filepath": "a.py"}}'
_CALLS = "bash(command='ls'), read_file(filepath='a.py')"

FORMS = {
    "commas": _CALLS,
    "semicolons": "bash(command='ls'); read_file(filepath='a.py');",
    "lines": "bash(command='ls')\nread_file(filepath='a.py')\n",
    "a list in a fence": f"```json\n[{_CALLS}]\n```",
    "a fence of no language": f"```\n{_CALLS}\n```",
    "a fence in prose": f"I will look.\n```python\n{_CALLS}\n```\nThat is all.",
    "a fence in a line": f"```json [{_CALLS}]```",
    "quoted in a list": """['bash(command="ls")', 'read_file(filepath="a.py")']""",
    "quoted together": """['bash(command="ls"), read_file(filepath="a.py")']""",
    "a list of lists": """[['bash(command="ls")'], ['read_file(filepath="a.py")']]""",
    "quoted names": "['bash'(command='ls'), 'read_file'(filepath='a.py')]",
    "ticks": f"`{_CALLS}`",
    "Markdown's escapes": "[bash(command='ls'), read\\_file(filepath='a.py')]",
    "escaped and bare": "bash(command='ls'); read\\_file(filepath='a.py')",
    "escaped, quoted and fenced": """```
['bash(command="ls")', 'read\\_file(filepath="a.py")']
```""",
    "names and JSON": 'bash\n{"command": "ls"}\nread_file\n{"filepath": "a.py"}',
    "tool_calls": f'{{"tool_calls": [{LS}, {CAT}]}}',
    "OpenAI's object": '{"tool_calls":[{"id":"a","type":"function","function":{"name":"bash",'
    '"arguments":"{\\"command\\": \\"ls\\"}"}},{"type":"function","function":{"name":"read_file",'
    '"arguments":{"filepath":"a.py"}}}]}',
    "params": '[{"name": "bash", "params": {"command": "ls"}},'
    ' {"name": "read_file", "params": {"filepath": "a.py"}}]',
    "behind reasoning": f"<think>Hm.</think>\n{_CALLS}",
}
"""What real models write for two calls."""


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_reply_that_is_calls_is_read_as_them(text: str) -> None:
    result = parse(text, tools=TOOLS)
    assert said(result) == [_LS, _CAT]
    assert not result.diagnoses
    assert "bash" not in result.content


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
@given(data=st.data())
def test_a_stream_reads_it_alike(text: str, data: st.DataObject) -> None:
    reader = stream(tools=TOOLS)
    for chunk in data.draw(chunkings(text)):
        reader.feed(chunk)
    assert reader.finish() == parse(text, tools=TOOLS)


@pytest.mark.parametrize("name", ["commas", "a list in a fence", "names and JSON", "tool_calls"])
def test_without_tools_it_is_text(name: str) -> None:
    result = parse(FORMS[name])
    assert (result.calls, result.outcome) == ((), "no_call")


def test_spans_are_those_of_the_text_as_it_is() -> None:
    text = "[read\\_file(filepath='a\\_b.py'), bash(command='ls')]"
    result = parse(text, tools=TOOLS)
    assert said(result) == [("read_file", {"filepath": "a_b.py"}), _LS]
    spans = [text[slice(*(call.span or Span(0, 0)))] for call in result.calls]
    assert spans == ["read\\_file(filepath='a\\_b.py')", "bash(command='ls')"]


@pytest.mark.parametrize("text", [r"get\_price(a=1); ls(b=2)", r"ls(b=2); get\_price(a=1)"])
def test_an_escaped_underscore_is_where_the_repair_says(text: str) -> None:
    result = parse(text, "python-calls", tools=[{"name": "get_price"}, {"name": "ls"}])
    spans = [call.repairs[0].span for call in result.calls]
    assert [text[slice(*span)] for span in spans if span] == ["\\_", "\\_"]


def test_of_several_names_the_tools_are_called() -> None:
    result = parse("bash(command='ls'); rm(path='/')", tools=TOOLS)
    assert (said(result), codes(result)) == ([_LS], ["unknown-tool"])


ATTEMPTS = {
    "a line": "I call it now.\nbash(command='ls')\nThen I wait.",
    "an item": "1. bash(command='ls')\n2. nothing else",
    "a whole call over several lines": "So:\nbash(\n  command='ls',\n)\nDone.",
    "a fence beside other code": "```python\nimport os\nbash(command='ls')\n```",
    "a tag": "<bash>ls</bash> is what I run.",
    "no format's": "[{'bash': {'command': 'ls'}}]",
    "a value that is bare": "[bash(command=ls -l)]",
}


@pytest.mark.parametrize("format_name", ["auto", "hermes", "glm45", "pythonic", "xlam"])
@pytest.mark.parametrize("text", ATTEMPTS.values(), ids=ATTEMPTS)
def test_an_attempt_is_said_whichever_format_is_named(text: str, format_name: str) -> None:
    results = [parse(text, format_name, TOOLS, level) for level in LEVELS]
    for result in results:
        assert result.outcome in ("malformed", "calls")
        assert result.calls or result.diagnoses


MENTIONS = (
    "You could call bash(command='ls') to see it.",
    "def bash(command):\n    return run(command)",
    "The tool `bash(command)` runs a command.",
    'It takes an object: {"tool": "x"} and bash {command} runs it.',
    "x = bash(command='ls')",
)


@pytest.mark.parametrize("format_name", ["auto", "hermes", "pythonic"])
@pytest.mark.parametrize("text", MENTIONS)
def test_a_mention_is_no_attempt(text: str, format_name: str) -> None:
    for level in LEVELS:
        result = parse(text, format_name, TOOLS, level)
        assert (result.outcome, codes(result)) == ("no_call", ["mention"])


@given(before=prose(), after=prose(), name=st.sampled_from(["auto", *FORMATS]))
def test_what_names_a_tool_never_ends_without_a_word(before: str, after: str, name: str) -> None:
    text = f"{before} bash(command='ls'){after}"
    result = parse(text, name, TOOLS)
    assert result.calls or result.diagnoses


@pytest.mark.parametrize(
    ("text", "format_name"),
    [
        ("<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>", "qwen3-bare"),
        ("read_file(filepath='a')", "python-calls"),
    ],
)
def test_the_diagnosis_has_the_format_that_reads_it(text: str, format_name: str) -> None:
    result = parse(text, "glm45", TOOLS)
    assert (result.outcome, codes(result)) == ("malformed", ["reads-as"])
    assert repr(format_name) in result.diagnoses[0].message


TURNS = ("### Instruction:\nAnd now?", "User: And now?", "Observation: 3", "<|im_start|>user\nAnd?",
         "[INST] And now? [/INST]", "    Question: why?")  # fmt: skip


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("answer", [tagged(LS), "bash(command='ls')", f"```json\n{LS}\n```"])
def test_behind_an_answer_a_dialogue_is_not_read(answer: str, turn: str) -> None:
    text = f"{answer}\n{turn}\n{tagged(LS)}"
    result = parse(text, tools=TOOLS)
    assert (said(result), codes(result)) == ([_LS], ["later-turn"])
    assert result.content.rstrip().endswith("</tool_call>")
    reader = stream(tools=TOOLS)
    for char in text:
        reader.feed(char)
    assert reader.finish() == result


def test_a_fence_that_closes_nothing_does_not_hide_a_later_turn() -> None:
    text = f"```json\n{LS}\n```\nIt lists.\n    ```\n\n    ### Instruction:\nAnd now?\n{tagged(LS)}"
    result = read(text, tools=TOOLS)
    assert (said(result), codes(result)) == ([_LS], ["later-turn"])
    told = f"{tagged(LS)}\n```\nprint(1)\n### Instruction: 2\n```\n{tagged(LS)}"
    assert len(read(told, tools=TOOLS).calls) == 2


@pytest.mark.parametrize("turn", [turn for turn in TURNS if not turn.startswith(("<|", "[INST"))])
def test_before_an_answer_a_dialogue_in_words_is_text(turn: str) -> None:
    result = parse(f"{turn}\n{tagged(LS)}", tools=TOOLS)
    assert (said(result), codes(result)) == ([_LS], [])


def test_a_fence_that_repeats_calls_is_an_echo() -> None:
    text = f"```\n{_CALLS}\n```\nFirst it lists, by\n```\nbash(command='ls')\n```\nthen it reads."
    result = parse(text, tools=TOOLS)
    assert (said(result), codes(result)) == ([_LS, _CAT], ["echo"])


# --- auto reads what the formats that it contains read ------------------------------------------


def read_less(text: str, form: Format, tools: Tools) -> tuple[ParseResult, ParseResult] | None:
    """The results of a format and of `auto`, where that reads fewer calls, or others."""
    by_name, by_auto = parse(text, form, tools), parse(text, tools=tools)
    return (by_name, by_auto) if by_name.calls and said(by_name) != said(by_auto) else None


FRAMES = ("{}", "I see.\n{}", "{}\nDone.", "```\n{}\n```", "So:\n```python\n{}\n```\nDone.")


@pytest.mark.parametrize("name", [form.name for form in AUTO])
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data(), frame=st.sampled_from(FRAMES))
def test_auto_reads_what_its_formats_read(name: str, data: st.DataObject, frame: str) -> None:
    form = FORMATS[name]
    calls: list[ToolCall] = data.draw(writable(form))
    tools = tools_for(calls)
    assert read_less(frame.format(render(calls, form)), form, tools) is None


MANY = {
    "semicolons": "; ".join(["bash(command='ls')"] * (MAX_CALLS + 1)),
    "quoted": repr(["bash(command='ls')"] * (MAX_CALLS + 1)).replace("\\", ""),
    "a fence": "```\n" + "\n".join(["bash(command='ls')"] * (MAX_CALLS + 1)) + "\n```",
    "tool_calls": '{"tool_calls": [' + ", ".join([LS] * (MAX_CALLS + 1)) + "]}",
    "names and JSON": "\n".join(['bash\n{"command": "ls"}'] * (MAX_CALLS + 1)),
}


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_more_calls_than_are_read_lose_none_of_those_that_are(text: str) -> None:
    result = parse(text, tools=TOOLS)
    assert (len(result.calls), codes(result)) == (MAX_CALLS, ["too-many-calls"])
    reader = stream(tools=TOOLS)
    for at in range(0, len(text), 97):
        reader.feed(text[at : at + 97])
    assert reader.finish() == result


@pytest.mark.parametrize("end", ["", "\n```"])
@pytest.mark.parametrize(
    "flood", ["```python\nbash(command='ls') ", "```\nbash(command= ", f"```\nbash\n{LS} "]
)
def test_fences_that_begin_as_calls_take_time_in_proportion(flood: str, end: str) -> None:
    assert_linear(lambda text: parse(text + end, tools=TOOLS), "", flood, 128 * 1024)


@pytest.mark.parametrize(
    "text",
    [
        "bash(command='ls') works",
        "<bash/>",
        "The tool <bash/> is called.",
        '{"tool_calls": [{"name": "bash", "arguments": {"command": "ls"}}]}\n\nI called it.',
        '{"action": "bash", "action_input": {"command": "ls"}}',
        'bash:\n{"command": "ls"}',
        'bash\n```json\n{"command": "ls"}\n```',
        "<ns:bash>ls</ns:bash>",
    ],
)
def test_what_a_stranger_wrote_is_no_call_and_no_silence(text: str) -> None:
    for name in ("auto", "hermes"):
        result = read(text, name, TOOLS)
        assert not result.calls
        assert result.diagnoses
