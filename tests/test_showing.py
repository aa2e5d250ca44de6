"""Values at a prompt and in a notebook: short, whatever a model wrote, and none of it is markup."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.reports.results import report, result
from tunaeval import Diagnosis, ParseResult, ToolCall, Verdict
from tunaeval.matching.values import Failure
from tunaeval.showing import brief, counted, table_html
from tunaeval.types.calls import Repair, Tools
from tunaeval.types.runs import ScoreResult, Suite

HOSTILE = st.one_of(
    st.text(max_size=40),
    st.sampled_from([
        "<script>alert(1)</script>", "<td onclick='x'>", '"><img src=x onerror=y>', "&lt;b&gt;",
        "</td></tr></table>", "<!-- -->", "<![CDATA[", "&#60;b>", "\x1b[31m", "\u202e", "\ud800",
        "\0", "x" * 5000, "::error::", "\u2028", "<" * 1000,
    ]),
)  # fmt: skip


def a_result(text: str) -> object:
    call = ToolCall(text, {text: text}, repairs=(Repair(text, text),))
    return ParseResult((call,), text, text, (Diagnosis(text, text),), outcome="calls")


def a_verdict(text: str) -> object:
    return Verdict(ok=False, reason=text, failures=(Failure(text, text, text),), profile=text)


def a_suite(text: str) -> object:
    scenarios = [{"id": f"{number}{text}", "prompt": text, "expect": {"none": True}}
                 for number in range(12)]  # fmt: skip
    fields = {"name": text, "scenarios": scenarios, "tools": Tools()}
    return Suite.model_validate({**fields, "system_prompt": text, "digest": ""})


def a_score(text: str) -> object:
    one = {"value": 0.5, "reason": text, "weight": 1.0}
    details = {"tool_calls": 1, "failed_calls": 0, "dangling_calls": 0, "retries": 0}
    return ScoreResult.model_validate(
        {
            "preset": text,
            "weighted_total": None,
            "details": {**details, "reasoning": text},
            "categories": {text: one},
        }
    )


def a_report(text: str) -> object:
    return report(result(text), result("s"), suite=text, model=text, run_id=text)


def a_comparison(text: str) -> object:
    tagged = report(result("s", ok=True, tags=(text,)), run_id=text)
    return tunaeval.compare(tagged, tagged)


class Read(HTMLParser):
    """What a browser would take a page for."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.others: list[object] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.others += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


MADE: dict[str, Callable[[str], Any]] = {
    "result": a_result, "verdict": a_verdict, "suite": a_suite, "score": a_score,
    "report": a_report, "comparison": a_comparison,
}  # fmt: skip


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@given(text=HOSTILE)
def test_nothing_of_a_value_comes_out_as_markup(made: Callable[[str], Any], text: str) -> None:
    value, plain = made(text), made("plain")
    read, wanted = Read(value._repr_html_()), Read(plain._repr_html_())
    assert read.others == []
    assert sorted({*read.tags} - {"th"}) == ["caption", "table", "td", "tr"]
    assert abs(len(read.tags) - len(wanted.tags)) <= 8  # rows of texts that are empty are left out
    assert all(len(one) <= 300 and one.isprintable() for one in read.texts)
    if isinstance(value, ParseResult):
        return  # its repr is that of a dataclass: whole, and no two results have the same
    line = repr(value)
    assert line.isprintable()
    assert len(line) <= 302
    assert str(value) == line


@given(title=HOSTILE, rows=st.lists(st.lists(HOSTILE, max_size=3), max_size=15))
def test_a_table_has_the_cells_that_it_was_given_and_no_other(
    title: str, rows: list[list[str]]
) -> None:
    read = Read(table_html(title, rows))
    few = rows[:10]
    more = len(rows) > len(few)
    assert read.tags.count("tr") == len(few) + more
    assert read.tags.count("td") == sum(map(len, few)) + 2 * more
    assert read.others == []


def test_what_they_say() -> None:
    text = 'So: <tool_call>{"name": "ls", "arguments": {"path": "src",}}</tool_call>'
    read: Any = tunaeval.parse(text)
    page = read._repr_html_()
    assert "<caption>ParseResult: calls</caption>" in page
    assert "<td>call</td><td>ls(path=&#x27;src&#x27;)</td><td>trailing-comma</td>" in page
    made = report(result(ok=True), suite="s", model="m", run_id="r")
    assert repr(made) == "<Report of 's' by 'm': 1 of 1 passed, 100.0 % (20.7 to 100.0)>"
    found = repr(tunaeval.compare(made, made))
    assert found.startswith("<Comparison of r against r: +0.0 points (")
    assert found.endswith("), 0 lost, 0 gained>")
    verdict = tunaeval.match({"calls": [{"name": "ls"}]}, [ToolCall("cat", {})])
    assert repr(verdict) == "<Verdict: failed (strict): wanted 'ls', got 'cat'>"


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(number, "call") for number in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]
    assert counted(2, "reply", "replies") == "2 replies"
    assert counted(1234567, "row") == "1,234,567 rows"


class Rude:
    """A value whose repr raises, or takes many lines."""

    def __init__(self, words: str | None) -> None:
        self.words = words

    def __repr__(self) -> str:
        if self.words is None:
            raise ValueError("no")
        return self.words


VALUES = st.recursive(
    st.one_of(
        HOSTILE, st.none(), st.integers(), st.floats(), st.binary(), st.integers(2**256, 2**20000),
        st.builds(Rude, st.one_of(st.none(), HOSTILE)),
    ),
    lambda inner: st.one_of(
        st.lists(inner), st.dictionaries(HOSTILE, inner), st.tuples(inner), st.frozensets(HOSTILE),
    ),
)  # fmt: skip


@given(value=VALUES, limit=st.sampled_from([20, 60, 200]))
def test_a_value_in_a_message_is_one_short_line(value: object, limit: int) -> None:
    line = brief(value, limit)
    assert line.isprintable()
    assert 0 < len(line) <= limit


@given(value=st.one_of(st.booleans(), st.integers(-(10**20), 10**20), st.text("ab '", max_size=20)))
def test_a_short_value_is_shown_whole(value: object) -> None:
    assert brief(value) == repr(value)
    assert brief({"b": value, "a": [value]}, 200) == repr({"b": value, "a": [value]})


def test_a_value_that_contains_itself_and_one_of_any_depth_are_shown() -> None:
    circle: list[object] = []
    circle.append({"in": circle})
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    assert brief(circle) == "[{'in': [{...}]}]"
    assert brief(deep) == "[[[[...]]]]"
    assert brief(["x" * 100, *range(10)]) == f"['{'x' * 27}...{'x' * 25}..."
