"""A judge sees what its category needs, within limits, and is told what it does not see."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.judging.judges import cpu_seconds
from tunaeval.errors import UsageError
from tunaeval.scoring.judging.view import Shown, View, view_of
from tunaeval.types.calls import ToolCall
from tunaeval.types.conversations import Transcript
from tunaeval.types.messages import Message


def lines(view: View) -> list[dict[str, Any]]:
    return [json.loads(line) for line in view.lines]


def talk(*contents: str, role: str = "assistant") -> Transcript:
    return Transcript("q", tuple(Message(role, content) for content in contents))


def called(number: int, **arguments: object) -> Transcript:
    messages: list[Message] = []
    for index in range(number):
        call = ToolCall("read", {"path": f"{index}.txt", **arguments}, f"c{index}")
        messages += [Message("assistant", "", (call,))]
        messages += [Message("tool", "Error: no" if index else "ok", tool_call_id=f"c{index}")]
    return Transcript("q", tuple(messages))


def test_the_last_five_messages_are_shown_and_the_others_counted() -> None:
    view = view_of(talk(*"abcdefg"), ["messages"], Shown())
    task, left_out, *shown = lines(view)
    assert task == {"task": "q"}
    assert left_out == {"left_out": "2 earlier (messages 0 to 1) with 2 characters"}
    assert [line["content"] for line in shown] == list("cdefg")
    assert view.left_out == [left_out["left_out"]]
    assert view.messages == {2, 3, 4, 5, 6}


def test_all_messages_can_be_asked_for() -> None:
    view = view_of(talk(*"abcdefg"), ["messages"], Shown(last_messages=None))
    assert len(view.lines) == 8
    assert view.left_out == []


def test_a_long_message_is_cut_in_the_middle_and_says_by_how_much() -> None:
    view = view_of(talk("a" * 20 + "b" * 20), ["messages"], Shown(message_characters=9))
    (line,) = lines(view)[1:]
    assert line["content"] == "aaaaaa … bbb"
    assert line["left_out_characters"] == 31
    assert view.left_out == ["31 characters of message 0"]


def test_a_long_task_is_cut_too() -> None:
    view = view_of(Transcript("q" * 50, ()), [], Shown(message_characters=20))
    assert lines(view)[0]["left_out_characters"] == 30
    assert view.left_out == ["30 characters of the task"]


@given(sizes=st.lists(st.integers(0, 400), max_size=12), characters=st.integers(1, 2_000))
def test_every_message_is_shown_or_counted(sizes: list[int], characters: int) -> None:
    shown = Shown(last_messages=None, characters=characters)
    view = view_of(talk(*("x" * size for size in sizes)), ["messages"], shown)
    told = sum("message" in line for line in lines(view))
    counted = sum(int(line["left_out"].split()[0]) for line in lines(view) if "left_out" in line)
    assert told + counted == len(sizes)
    assert told >= min(1, len(sizes))  # the newest, however long
    if told > 1:
        assert sum(map(len, view.lines)) <= characters + 120  # the task, and what is left out


def test_the_host_s_own_words_are_no_part() -> None:
    messages = (Message("system", "secret"), Message("developer", "secret"), Message("user", "hi"))
    view = view_of(Transcript("q", messages), ["messages", "sizes"], Shown())
    assert "secret" not in view.text
    assert lines(view)[-1]["sizes"]["messages"] == 1


def test_reasoning_is_shown_when_asked_for_and_results_unless_not() -> None:
    messages = (Message("assistant", "", reasoning="because"), Message("tool", "out", (), "c"))
    usual = view_of(Transcript("q", messages), ["messages"], Shown())
    other = view_of(
        Transcript("q", messages), ["messages"], Shown(reasoning=True, tool_results=False)
    )
    assert "because" not in usual.text
    assert "out" in usual.text
    assert "because" in other.text
    assert lines(other)[-1] == {
        "message": 1, "role": "tool", "content": "", "left_out_characters": 3
    }  # fmt: skip


def test_calls_tell_how_they_ended() -> None:
    dangling = Message("assistant", "", (ToolCall("write", {}, "x"),))
    whole = called(2)
    view = view_of(Transcript("q", (*whole.messages, dangling)), ["calls"], Shown())
    ends = [line["ended"] for line in lines(view)[1:]]
    assert ends[0] == "well"
    assert ends[1].startswith("in failure (")
    assert ends[2] == "without a result"
    assert [line["call"] for line in lines(view)[1:]] == [1, 2, 3]


def test_of_many_calls_the_first_and_the_last_are_shown() -> None:
    view = view_of(called(200), ["calls"], Shown())
    numbers = [line.get("call") for line in lines(view)[1:]]
    assert numbers == [*range(1, 31), None, *range(171, 201)]
    assert view.left_out == ["140 calls, from number 31 on"]


def test_no_call_is_said_to_be_none() -> None:
    assert lines(view_of(talk("hi"), ["calls"], Shown()))[-1] == {"calls": "none was made"}


def test_arguments_that_are_no_json_are_shown_as_they_are() -> None:
    view = view_of(
        called(1, when=datetime(2026, 1, 1, tzinfo=UTC), what={1, 2}), ["calls"], Shown()
    )
    assert "{1, 2}" in lines(view)[1]["arguments"]


@pytest.mark.parametrize("setting", ["last_messages", "message_characters", "characters"])
def test_nothing_at_all_cannot_be_shown(setting: str) -> None:
    with pytest.raises(UsageError, match=f"{setting} is 0; wanted a whole number, 1 or more"):
        replace(Shown(), **{setting: 0})  # type: ignore[arg-type] # the name is a parameter


def test_twice_the_transcript_takes_about_twice_the_time() -> None:
    def seconds(number: int) -> float:
        whole, shown = called(number, text="x<" * 50), Shown(last_messages=None)
        return cpu_seconds(lambda: view_of(whole, ["messages", "calls", "sizes"], shown))

    assert seconds(8_000) < 0.02 + 9 * seconds(2_000)  # 4 times as many; a square would be 16
