"""Openers that are words: they end a sentence as well as they begin a call."""

from __future__ import annotations

import pytest

from tests.parsing.samples import codes, said
from tunaeval import parse, stream
from tunaeval.grammar import Literal, PythonCalls, Space
from tunaeval.grammar.format import Format
from tunaeval.types.parsing import ParseResult


def streamed(text: str, name: str) -> ParseResult:
    reader = stream(name)
    for char in text:
        reader.feed(char)
    return reader.finish()


@pytest.mark.parametrize("text", [
    "Run make deploy to=prod", "Set from=2024 to=2025 in the query", "mail to=bob now",
    "gpt-oss writes to=functions.NAME on the commentary channel.", "the kwarg to=None",
    "The module you want is functools", "Useful modules:\n- itertools\n- functools\n",
    "Here is a good Call to Action:", "It ends with a Call to Action:\n", "My next Action: run",
    "return h>>>s", "Compute x>>>0.", "Items:\n- Action: review\n- Action: merge\n",
])  # fmt: skip
def test_a_sentence_that_ends_in_one_is_no_call(text: str) -> None:
    result = parse(text)
    assert (result.outcome, result.truncated, codes(result)) == ("no_call", False, [])
    assert result.content == text
    assert streamed(text, "auto") == result


@pytest.mark.parametrize("text", [
    "to=functions.ls", " to=functions.ls<|channel|>comm", "hm<|end|>to=functions.l",
    "Look: to=functions.ls<|channel|>commentary",
])  # fmt: skip
def test_a_header_that_is_cut_off_is_an_attempt(text: str) -> None:
    result = parse(text, "harmony")
    assert (result.outcome, codes(result)) == ("truncated", ["truncated"])
    assert streamed(text, "harmony") == result


@pytest.mark.parametrize("text", [
    "Action:", "So.\nAction:", "So.\n Action: ls\n", "Hm. Action: f\nAction Inp",
    "Hm. Action: bash\nAction Input: {", "Hm. Action: bash",
])  # fmt: skip
def test_an_action_that_is_cut_off_is_an_attempt(text: str) -> None:
    tools = [{"type": "function", "function": {"name": "bash"}}]
    result = parse(text, "react", tools=tools)
    assert (result.outcome, codes(result)) == ("truncated", ["truncated"])
    reader = stream("react", tools=tools)
    for char in text:
        reader.feed(char)
    assert reader.finish() == result


CALL = 'bash(command="ls")'
TWO = [("bash", {"command": "ls"})] * 2


@pytest.mark.parametrize("name", ["auto", "tool-code"])
@pytest.mark.parametrize("body", [
    f"{CALL}; {CALL}", f"{CALL}\n# then\n{CALL}", f"# both\n{CALL}\n{CALL}", f"{CALL};\n{CALL};",
])  # fmt: skip
def test_lines_of_python_may_have_comments_and_semicolons(body: str, name: str) -> None:
    text = f"```tool_code\n{body}\n```\nDone."
    result = parse(text, name, level="strict")
    assert (said(result), codes(result)) == (TWO, [])
    assert streamed(text, name) == parse(text, name)


@pytest.mark.parametrize("name", ["auto", "tool-code"])
@pytest.mark.parametrize("body", [f"r = {CALL}\nprint(r)", "x = 1", "# nothing"])
def test_a_program_is_an_attempt_in_a_closed_fence(body: str, name: str) -> None:
    text = f"```tool_code\n{body}\n```\nDone."
    result = parse(text, name)
    assert (result.outcome, codes(result), result.content) == ("malformed", ["invalid-json"], text)
    assert streamed(text, name) == result


@pytest.mark.parametrize("closer", [";", "#", "; #", "#;"])
def test_signs_that_a_closer_begins_with_are_only_that(closer: str) -> None:
    words = (Literal("<call>"), Space(), PythonCalls(listed=False), Space(), Literal(closer))
    form = Format("lines", words, summary="calls on lines")
    text = f"<call>{CALL}\n{CALL}{closer}"
    result = parse(text, form, level="strict")
    assert (said(result), codes(result), result.content) == (TWO, [], "")


@pytest.mark.parametrize("name", ["auto", "tool-code"])
def test_a_comment_ends_where_the_fence_does(name: str) -> None:
    text = f"```tool_code\n{CALL} # first\n{CALL} # second```"
    result = parse(text, name, level="strict")
    assert (said(result), codes(result)) == (TWO, [])
    assert streamed(text, name) == parse(text, name)


def test_a_fence_in_a_string_does_not_end_a_refused_one() -> None:
    """What follows it is still the inside of what could not be read."""
    broken = (
        '{"name": "f", "arguments": {"a":}}, {"name": "g", "arguments": {"b": "x```\\ny\\n```"}}'
    )
    text = f'```json\n[{broken}, {{"name": "h", "arguments": {{"c": "d"}}}}]\n``` so'
    result = parse(text)
    assert (result.calls, codes(result)) == ((), ["invalid-json"])
    assert streamed(text, "auto") == result
