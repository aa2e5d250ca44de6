"""A call whose beginning is damaged is never lost in silence, where its tool is known by name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.formats.reading import read, takes
from tests.parsing.samples import codes, said
from tests.parsing.test_law_growth import WHOLE, assert_linear
from tunaeval import parse, render, stream
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import Span, ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import LEVELS

TOOLS = Tools(
    [
        ToolSpec("book", parameters=takes(city="string", nights="integer")),
        ToolSpec("plan", parameters=takes()),
    ]
)
ROME, OSLO = (ToolCall("book", {"city": city, "nights": 2}) for city in ("Rome", "Oslo"))
JSON = '{"city": "Rome", "nights": 2}'
MARKED = sorted(name for name, form in FORMATS.items() if form.marked and form.opener)


def _hurt_openers(name: str) -> Iterator[str]:
    """A call with another letter in its opener, one less, two that changed places."""
    opener, text = FORMATS[name].opener, render([ROME], name)
    assert opener
    start = text.index(opener.text)
    for at, letter in enumerate(opener.text, start):
        other = "x" if letter != "x" else "y"
        yield text[:at] + other + text[at + 1 :]
        yield text[:at] + text[at + 1 :]
        yield text[:at] + text[at + 1 : at + 2] + letter + text[at + 2 :]


@pytest.mark.parametrize("name", MARKED)
def test_a_damaged_opener_is_no_silence(name: str) -> None:
    for text in _hurt_openers(name):
        if not re.search(r"\bbook\b", text) or re.search(r"```[^\W_]+\nbook\(", text):
            continue  # another tool's name, or a program in another language
        alone = parse(text, name, TOOLS)
        assert alone.calls or (alone.outcome != "no_call" and alone.diagnoses), text
        among = parse(f"Sure.\n{text}\n{render([OSLO], name)}", name, TOOLS)
        assert len(among.calls) == 2 or among.diagnoses, text


LOST = {
    "an opener": ("gigachat3", f'<|functoin_call|>{{"name": "book", "arguments": {JSON}}}'),
    "a middle marker": ("functionary-v2", f"<|recipient|>book\n<|con.tent|>{JSON}"),
    "two words": ("react", f"Acton: book\nAction Input: {JSON}"),
    "the other word": ("react", f"Action: book\nActin Input: {JSON}"),
    "a quote of the name's key": ("json", f'{{"name: "book", "arguments": {JSON}}}'),
    "a quote in a fence": ("auto", f'```json\n{{"name: "book", "arguments": {JSON}}}\n```'),
    "the key of the arguments": ("json", f'{{"name": "book", :arguments": {JSON}}}'),
    "an object without arguments": ("mistral-v11", "[TOOL_CALS]plan[ARGS]{}"),
    "all markers": ("hermes", f'{{"name": "book", "arguments": {JSON}}}'),
    "two letters of a tag with an attribute": (
        "anthropic",
        '<invok nme="book">\n<parameter name="city">Rome</parameter>\n</invok>',
    ),
    "a letter of a tag in front of a word": ("gemma4", '<|tool_cal>call:book{city:<|"|>a<|"|>}'),
    "a letter of a fence": ("tool-code", "```tol_code\nbook(city='Rome', nights=2)\n```"),
    "a fence of four": ("auto", f'````json\n{{"name": "book", "arguments": {JSON}}}\n````'),
}


@pytest.mark.parametrize(("name", "text"), LOST.values(), ids=LOST)
def test_a_call_without_its_opener_is_malformed(name: str, text: str) -> None:
    for level in LEVELS:
        result = read(text, name, TOOLS, level)
        assert (result.outcome, codes(result)[:1]) == ("malformed", ["missing-opener"])
        span = result.diagnoses[0].span
        assert span
        assert text[slice(*span)] in TOOLS
        assert read(text, name, None, level).outcome == "no_call", "no tool is known"


def test_each_lost_call_has_its_diagnosis() -> None:
    lost = f"[TOOL_CALS]book[ARGS]{JSON}"
    text = f"{lost}\n{render([OSLO], 'mistral-v11')}\nAnd:\n{lost}"
    result = read(text, "mistral-v11", TOOLS)
    assert said(result) == [("book", {"city": "Oslo", "nights": 2})]
    assert codes(result) == ["missing-opener"] * 2
    reader = stream("mistral-v11", TOOLS)
    reader.feed(text)
    reader.finish()
    spans = [event.span for event in reader.last_events() if event.kind == "diagnosis"]
    starts = [found.start() + len("[TOOL_CALS]") for found in re.finditer(r"\[TOOL_CALS\]", text)]
    assert spans == [Span(start, start + len("book")) for start in starts]


def test_the_definition_of_a_tool_is_no_lost_call() -> None:
    properties = '{"type": "object", "properties": {"city": {"type": "string"}}}'
    result = read(f'{{"name": "book", "parameters": {properties}}}', "hermes", TOOLS)
    assert (result.outcome, codes(result)) == ("no_call", [])


def test_content_that_has_a_diagnosis_says_no_more() -> None:
    unknown = render([ToolCall("boot", {"city": "Rome"})], "mistral-v11")
    result = read(f"{unknown}\n[TOOL_CALS]book[ARGS]{JSON}", "mistral-v11", TOOLS)
    assert (result.outcome, codes(result)) == ("malformed", ["unknown-tool"])


@pytest.mark.parametrize(
    "text",
    [
        f"I would call book with {JSON}",
        "The call `book(city=1)`",
        'It is `{"name": "book", "args" {"city": "Rome"}}`',
        f"The tools:\n- book: {JSON}\n- plan: {{}}",
        f"| book | {JSON} |",
        f"book returned:\n{JSON}",
        "例如：book(city='罗马')。",
        "Source: book(city='Rome')",
        "### book(city: str, nights: int = 1)\n\nBooks a room.\n\n### plan()",
        "[INFO] book(city='Rome', nights=3)",
        '{"tags": ["book"], "city": {}}',
        '{"title": "The book {city: 1}"}',
        '{"intent": "book", "entities": {"city": "Rome"}}',
        '{"next": "plan", "messages": [], "arguments": {}}',
        'Found: {"book": {"city": "Rome", "nights": 2}}',
        "shell: book\ncity: {}",
        "```bash\n#!/bin/book\ncity() {\n  ls\n}\n```",
        "```typescript\nexport async function book({ city = 1 }) {\n  return city;\n}\n```",
        'print(book(city="Rome"))',
        "Recommended Action: book (city: Rome)",
        f"<x>book {JSON} and then I wait for what you say.",
        f"[TOOL_CALS]boot[ARGS]{JSON}",
        '[TOOL_CALS]book[ARGS]{"country": "Italy"}',
        f"[TOOLS]book[ARGS]{JSON}",
    ],
)
def test_what_is_said_of_a_tool_is_no_lost_call(text: str) -> None:
    for name in ("auto", "hermes", "mistral-v11", "react"):
        result = read(text, name, TOOLS)
        assert result.outcome == "no_call", name
        assert not {*codes(result)} - {"quoted", "mention"}, name


FLOODS = [
    "book ", "<x>book ", "book {", "<x>book( ", "[TOOL_CALS]book{}", '<x>book {"city"} ', "} ",
    "book(city=1)\n", "<x>book {}</x>\n", '{"name": "book", "args": 1}',
]  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.parametrize("name", ["mistral-v11", "auto"])
def test_looking_for_lost_calls_takes_linear_time(name: str, flood: str) -> None:
    def whole(text: str) -> object:
        return parse(text + "}", name, TOOLS)

    assert_linear(whole, "", flood, 4 * WHOLE)
