"""`expect` is equal to the calls that are wanted, and says of others what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval import ToolCall, expect
from tunaeval.errors import ExpectationError, UnknownNameError, UsageError

READ = ToolCall("read_file", {"filepath": "calc.py"})
TEST = ToolCall("bash", {"command": "pytest -q"})
EDIT = ToolCall("edit", {"path": "calc.py", "old": "a-b", "new": "a+b"})

NAMES = st.sampled_from(["read_file", "bash", "edit"])
CALLS = st.lists(
    st.builds(ToolCall, NAMES, st.dictionaries(NAMES, st.integers(0, 2), max_size=2)), max_size=5
)
MODES = st.sampled_from(["exactly", "in_order", "any_order", "superset", "subset"])


@given(calls=CALLS, mode=MODES)
def test_what_was_made_is_what_is_expected(calls: list[ToolCall], mode: Any) -> None:
    assert calls == expect(*calls, match=mode if calls else "exactly")
    assert expect(*(call.name for call in calls), match=mode if calls else "exactly") == calls


@given(wanted=CALLS.filter(bool), made=CALLS, mode=MODES)
def test_it_agrees_with_match(wanted: list[ToolCall], made: list[ToolCall], mode: Any) -> None:
    calls = [{"name": call.name, "arguments": call.arguments} for call in wanted]
    verdict = tunaeval.match({"calls": calls, "match": mode}, made)
    assert (expect(*wanted, match=mode) == made) == verdict.ok


@given(wanted=CALLS, made=CALLS, mode=MODES)
def test_each_wish_and_each_call_stands_in_the_explanation_once(
    wanted: list[ToolCall], made: list[ToolCall], mode: Any
) -> None:
    expected = expect(*wanted, match=mode)
    if expected == made:
        return
    lines = expected.explain(made)
    assert sum(" expected " in line for line in lines[1:]) == len(wanted)
    text = "\n".join(lines[1:])
    assert [text.count(f"calls[{index}]") for index in range(len(made))] == [1] * len(made)


@pytest.mark.parametrize(
    ("wanted", "made", "fits"),
    [
        (expect(), [], True),
        (expect(), [READ], False),
        (expect("read_file", TEST), [READ, TEST], True),
        (expect("read_file", TEST), [READ, ToolCall("bash", {})], False),
        (expect("read_file", "bash", match="in_order"), [EDIT, READ, EDIT, TEST], True),
        (expect("bash", "read_file", match="in_order"), [READ, TEST], False),
        (expect("bash", READ, match="any_order"), [READ, TEST], True),
        (expect(forbid=["bash"]), [READ, EDIT], True),
        (expect(forbid=["bash"]), [READ, TEST], False),
        (expect("read_file", match="superset", forbid=["bash"]), [READ, TEST], False),
        (expect({"name": "bash", "arguments": {"command": {"$regex": "^py"}}}), [TEST], True),
        (expect({"name": "bash"}), [TEST], True),
    ],
)
def test_names_calls_and_matchers(wanted: Any, made: list[ToolCall], fits: bool) -> None:
    assert (made == wanted) is (wanted == made) is fits
    assert (made != wanted) is not fits


def test_messages_and_results_are_compared_too() -> None:
    message = {"role": "assistant", "content": '{"name": "bash", "arguments": {"command": "ls"}}'}
    assert message == expect("bash")
    assert tunaeval.parse_message(message) == expect(ToolCall("bash", {"command": "ls"}))
    assert expect() == {"role": "assistant", "content": "Done."}


def test_a_call_that_is_malformed_is_no_abstention() -> None:
    message = {"role": "assistant", "content": '<tool_call>{"name": "bash", "argum</tool_call>'}
    assert message != expect()


def test_the_nearest_call_stands_beside_the_wish_argument_by_argument() -> None:
    changed = ToolCall("edit", {"path": "calc.py", "old": "a-c", "count": 2})
    first, *lines = expect("read_file", EDIT, "bash").explain([changed, READ])
    assert first.startswith("2 calls were made, and not those expected: wanted 'read_file', got")
    assert lines == [
        "- expected read_file(...)",
        "    nearest: calls[1] read_file(filepath='calc.py')",
        "    it is the same, but in another place",
        "- expected edit(path='calc.py', old='a-b', new='a+b')",
        "    nearest: calls[0] edit(path='calc.py', old='a-c', count=2)",
        "    path='calc.py', as wanted",
        "    wanted old='a-b', got 'a-c'",
        "    wanted new='a+b', it was left out",
        "    count=2 was not expected",
        "- expected bash(...)",
        "    no call comes near it",
    ]


def test_what_fits_is_nobody_elses_neighbour() -> None:
    first, second = ToolCall("ls", {"path": "a"}), ToolCall("ls", {"path": "b"})
    lines = expect(first, second).explain([second])
    assert lines[1:3] == ["- expected ls(path='a')", "    no call comes near it"]
    assert lines[-1] == "    path='b', as wanted"


def test_a_call_is_forbidden_with_these_and_any_other_arguments() -> None:
    calls = [READ, ToolCall("bash", {"command": "rm -rf .", "timeout": 3})]
    for one in ({"name": "bash", "arguments": {"command": {"$regex": "rm -rf"}}},
                ToolCall("bash", {"command": "rm -rf ."})):  # fmt: skip
        assert calls != expect(forbid=[one])
        assert expect("read_file", "bash", forbid=[one]) == [READ, TEST]
    lost = {"tool_calls": [{"function": {"name": "bash", "arguments": '{"command": "ls'}}]}
    assert lost != expect(forbid=[one])


def test_forbidden_and_other_calls_are_shown() -> None:
    lines = expect("edit", match="superset", forbid=["bash"]).explain([READ, TEST])
    assert lines[-2:] == [
        "    wanted 'edit', got 'read_file'",
        "! forbidden: calls[1] bash(command='pytest -q')",
    ]


def test_calls_of_an_endpoint_are_shown_at_their_turns() -> None:
    from tests.endpoint.asking import chat

    with tunaeval.model_endpoint(["I think.", [READ], [EDIT, TEST]]) as model:
        for _ in range(3):
            chat(model.url)
    assert model.calls.turns == (2, 3, 3)
    lines = expect(READ, TEST).explain(model.calls)
    assert "    made: calls[0] at turn 2" in lines
    assert "    nearest: calls[2] at turn 3 bash(command='pytest -q')" in lines


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: expect(3), "item 0 is 3; wanted the name of a tool, a ToolCall, or"),  # type: ignore[arg-type] # on purpose
        (lambda: expect("ls", match="all"), "no match mode is called 'all'"),  # type: ignore[arg-type] # on purpose
        (
            lambda: expect("ls", forbid="rm"),
            "forbid is 'rm', wanted a list of tool names",
        ),
        (lambda: expect("ls", forbid=["ls"]), "'ls' is both expected and forbidden"),
        (lambda: expect(ToolCall("ls", {"a": {"$or": 1}})), "there is no matcher '$or'"),
        (lambda: expect("ls") == "ls()", "a text is parsed first"),
    ],
)
def test_what_cannot_be_wanted_or_compared_is_refused(made: Any, words: str) -> None:
    with pytest.raises((ExpectationError, UsageError)) as caught:
        made()
    assert words in str(caught.value)


def test_no_escape_of_a_models_names_reaches_a_terminal() -> None:
    made = [ToolCall("b\x1b[31mash", {"comm\x1band": "ls\x1b"})]
    lines = tunaeval.expect("bash").explain(made)
    assert all(line.isprintable() for line in lines)
    assert any("\\x1b[31m" in line for line in lines)


def test_a_profile_that_is_none_is_refused_where_it_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"'stict'.*did you mean 'strict'\?"):
        expect("read_file", profile="stict")
    with pytest.raises(UsageError, match="give tools"):
        expect(READ, profile="bfcl")


PREFIXES = st.sampled_from(["", "functions.", "mcp__shell__", "functions.mcp__my_shell__"])
CASES = st.sampled_from([str.upper, str.title, str.lower])


@given(prefixes=st.tuples(PREFIXES, PREFIXES), cases=st.tuples(CASES, CASES))
def test_a_tool_is_forbidden_by_any_of_its_names_as_in_a_score(
    prefixes: tuple[str, str], cases: tuple[Any, Any]
) -> None:
    name, called = (prefix + case("bash") for prefix, case in zip(prefixes, cases, strict=True))
    made = [ToolCall(called, {})]
    assert made != expect(forbid=[name])
    assert made != expect("read_file", match="subset", forbid=[name])
    assert not tunaeval.match({"forbid": [name]}, made)
    messages = [{"role": "user", "content": "do it"}, spoken(made)]
    assert tunaeval.score(messages, "do it", forbid=[name]).weighted_total == 0.0


def test_two_tools_that_are_both_known_are_two() -> None:
    tools = [{"name": "bash"}, {"name": "mcp__shell__bash"}]
    made = [ToolCall("mcp__shell__bash", {})]
    assert made == expect(forbid=["bash"], tools=tools)
    assert made != expect(forbid=["Bash"], tools=tools[1:])
    with pytest.raises(ExpectationError, match=r"'bsah'.*did you mean 'bash'\?"):
        expect(forbid=["bsah"], tools=tools)


def spoken(calls: list[ToolCall]) -> dict[str, Any]:
    """The calls as a model sends them."""
    made = [
        {"id": f"c{index}", "function": {"name": one.name, "arguments": json.dumps(one.arguments)}}
        for index, one in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def driven(url: str, *results: list[str]) -> None:
    """Ask as an agent does that sends these results back, turn by turn."""
    from tests.endpoint.asking import chat, question, said

    asked = question()
    for texts in (*results, []):
        message = said(chat(url, asked))
        calls = message.get("tool_calls") or []
        more = [
            {"role": "tool", "tool_call_id": call["id"], "content": text}
            for call, text in zip(calls, texts, strict=False)
        ]
        asked["messages"] = [*asked["messages"], message, *more]


def test_forbidding_a_tool_that_was_never_offered_fails_with_the_nearest_name() -> None:
    with tunaeval.model_endpoint(["Fine."]) as model:
        driven(model.url)
    assert model.calls == expect(forbid=["bash"])
    assert model.calls == expect(forbid=["functions.Bash"])
    misspelled = expect(forbid=["bsah"])
    assert model.calls != misspelled
    assert "is called 'bsah'; did you mean 'bash'?" in misspelled.explain(model.calls)[0]


def test_only_calls_whose_result_is_no_failure_have_succeeded() -> None:
    with tunaeval.model_endpoint([[TEST, READ], [TEST], [EDIT], "Done."]) as model:
        driven(model.url, ["4 passed", "Error: no such file\nat all"], ["Exit Code: 2"], [])
    made = model.calls
    assert made == expect(TEST, succeeded=True)
    assert made != expect(TEST, READ, match="superset", succeeded=True)
    assert made == expect(TEST, READ, TEST, EDIT)
    assert made != expect(TEST, succeeded=True, forbid=["read_file"])
    lines = expect(TEST, READ, succeeded=True).explain(made)
    assert lines[1:5] == [
        "  expected bash(command='pytest -q')",
        "    made: calls[0] at turn 1",
        "- expected read_file(filepath='calc.py')",
        "    nearest: calls[1] at turn 1 read_file(filepath='calc.py')",
    ]
    assert lines[5] == "    it failed: Error: no such file, so it does not count"
    assert "    it failed: Exit Code: 2, so it does not count" in lines
    assert "    it has no result, so it does not count" in lines
    with pytest.raises(UsageError, match=r"has no results; wanted the \.calls of an endpoint"):
        assert expect(TEST, succeeded=True) == [TEST]
