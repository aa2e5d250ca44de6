"""What "auto" makes of texts that are no calls, and of those that a narrower reader knows too."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.fixtures import ALL
from tests.formats.reading import FOUND, TOOLS, read
from tests.parsing.samples import TOOLS as TOOLS_OF_SAMPLES
from tests.parsing.samples import codes, said
from tunaeval.grammar.formats import AUTO, CHAIN
from tunaeval.parsing.api import parser_for
from tunaeval.parsing.finder import Finder
from tunaeval.testing.strategies import damaged_calls, taped, tools_for
from tunaeval.types.calls import ToolCall
from tunaeval.types.parsing import LEVELS, Level

NO_CALLS = (
    # prose and citations
    "As shown in [1] and [2, 3].", "[see(1)]", "as told [see(1)] there", "man pages: [ls(1)]",
    "[Smith(2020)] and [Doe(2019, 2020)]", "Take [f(a=1)] for that.", '"[f(a=1)]"', "[^1]: f(a=1)",
    # Markdown
    "[text](https://a.b)", "[f(a=1)](https://a.b)", "- [f(a=1)]", "1. [f(a=1)]", "> [f(a=1)]",
    "- [x] f(a=1)", "[call(a=1)]: https://a.b", "`[f(a=1)]`", "| [f(a=1)] | b |",
    "```python\n[f(a=1)]\n```", "Like so:\n\n```\n[f(a=1), g(b=2)]\n```\n",
    # logs of agents, and words that some formats begin with
    "[Calling tool: f] took 3 ms", "[Calling tool: f, g]", "Action: call f, then g.", "✿ f ✿",
    "The recipient is <|recipient|>, they say.", "A ```tool_code fence holds code.",
    "Write `<thinking>` and `</thinking>` around it.",
    # programs
    "[f(x) for x in y]", "[f(a=x) for x in y]", "x = [f(a=1), g(b=2)]", "return [f(a=1)]",
    "print([f(a=1)])", "d[get(key='a')]", "def f(a: Annotated[int, Field(gt=0)]): pass",
    ">>> [f(1)]\n[1]", ">>> f(a=1)\n2", "[f(a=1)].pop()", "[f(a=1)][0]", "[f(a=1)] + [g(b=2)]",
    "@[deco(a=1)]", '#[cfg(feature = "x")]', '#[serde(rename="a")]\nstruct X;',
    '[HttpGet("api")]', "[lambda: f(a=1)]",
    "<Foo items={[f(a=1)]} />", "<div>[t(n=1)]</div>", "f([g(a=1)])", "[[f(a=1)]]",
    # numbers, settings and logs
    "[sin(x), cos(x)]", "f on [a(0), b(1)]", "[f(1), g(2)]", "[section]\nkey = value",
    "[INFO(main)] started", "[worker(pid=3)] done", "[0.1s] [worker(pid=3)] done",
    "2024-01-01 [INFO(main)] [worker(pid=3)] done",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_CALLS)
@pytest.mark.parametrize("level", LEVELS)
def test_none_is_preferred_over_a_guess(text: str, level: Level) -> None:
    for tools in (None, TOOLS):
        result = read(text, "auto", tools, level)
        assert (result.calls, result.outcome, result.content) == ((), "no_call", text)


@pytest.mark.parametrize("frame", ["{}", "So:\n{}\n", "\n\n{}  \nDone.", "<think>hm</think>{}"])
def test_a_list_that_has_its_lines_for_itself_is_called(frame: str) -> None:
    text = frame.format("[find_files(folder='src', depth=2)]")
    for tools in (None, TOOLS):
        assert said(read(text, "auto", tools)) == [FOUND]


@pytest.mark.parametrize("word", ["function", "function call", "Action", "funct"])
def test_a_text_that_ends_in_a_word_is_whole(word: str) -> None:
    """Some formats begin with words, but nothing was cut where a sentence ends in one."""
    result = read(f"That is how I call the {word}")
    assert (result.outcome, result.truncated, result.diagnoses) == ("no_call", False, ())


def test_a_known_tool_is_called_at_the_end_of_a_line_too() -> None:
    """But not inside of one: that speaks of a call, `[find_files(depth=2)] was what they tried`."""
    text = "I call [find_files(folder='src', depth=2)]"
    assert said(read(text, "auto", TOOLS)) == [FOUND]
    assert read(text, "auto").outcome == "no_call"
    assert read(f"{text} now.", "auto", TOOLS).outcome == "no_call"


@pytest.mark.parametrize("name", ["...", "-", "/", ".", "./x"])
def test_what_is_no_name_is_not_called(name: str) -> None:
    """As it stands in descriptions of a format."""
    for text in (
        f"In logs: <tool_call>{name}</tool_call>",
        f'<invoke name="{name}">\n</invoke>',
        f"<function={name}>{{}}</function>",
    ):
        result = read(text)
        assert not result.calls
        assert result.content == text
    assert not read(f"<|channel|>commentary to=functions.{name}<|message|>{{}}<|call|>").calls


def test_what_stands_around_hunyuans_calls_closes_nothing_of_others() -> None:
    """`</tool_calls>` is also the closer of another format."""
    text = (
        "<tool_calls>\n<tool_call>find_files<tool_sep>\n<arg_key>folder</arg_key>\n"
        "<arg_value>src</arg_value>\n</tool_call>\n</tool_calls>"
    )
    for reader in ("auto", "hy_v3", "hunyuan"):
        for tools in (None, TOOLS):
            result = read(text, reader, tools)
            assert said(result) == [("find_files", {"folder": "src"})]
            assert (result.content, codes(result)) == ("", [])


# --- auto and qwen25 ---------------------------------------------------------------------------

_QWEN = parser_for("qwen25")
_AUTO = parser_for("auto")
_CHAIN_NAMES = {"qwen25", *(form.name for form in CHAIN)}
_FOREIGN = Finder(AUTO).tokens.keys() - Finder(CHAIN).tokens.keys()
"""Markers of formats that only "auto" knows; a text with one of them may say more to it."""


_NAMED = re.compile(r"<tool_call>\s*\w")
"""A name behind a marker that is also that of others; bare Python calls begin with one too."""


def _is_foreign(text: str) -> bool:
    """Whether another format has a say in this text."""
    named = "(" in text or _NAMED.search(text)
    return bool(named) or any(mark in text for mark in _FOREIGN)


@given(
    example=st.sampled_from(CHAIN).flatmap(
        lambda form: taped(lambda tape: damaged_calls(tape, form, most=4), 192)
    ),
    others=st.booleans(),
    level=st.sampled_from(LEVELS),
)
def test_auto_says_what_qwen25_says_of_its_texts(
    example: tuple[str, list[ToolCall]], level: Level, *, others: bool
) -> None:
    """Sound and damaged ones, with the tools that they call or with others."""
    text, meant = example
    tools = TOOLS if others else tools_for(meant)
    if not _is_foreign(text):
        assert _AUTO.parse(text, tools=tools, level=level) == _QWEN.parse(
            text, tools=tools, level=level
        )


@pytest.mark.parametrize("text", [case.text for case in ALL if case.format in _CHAIN_NAMES])
@pytest.mark.parametrize("level", LEVELS)
def test_auto_says_what_qwen25_says_of_the_fixtures(text: str, level: Level) -> None:
    tools = TOOLS_OF_SAMPLES
    if not _is_foreign(text):
        assert _AUTO.parse(text, tools=tools, level=level) == _QWEN.parse(
            text, tools=tools, level=level
        )
