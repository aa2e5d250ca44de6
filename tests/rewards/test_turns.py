"""A reward for each turn; where attempts are, in characters and in tokens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.rewards.table import GOLDS, TOOLS, WORDS, call
from tunaeval.errors import UsageError
from tunaeval.rewards import (
    TOOLRL,
    Gold,
    Recipe,
    attempt_spans,
    loss_mask,
    reward_turns,
    rewards,
    token_offsets,
    token_spans,
)

GOOD, WRONG, BROKEN = WORDS["GOOD"], WORDS["WRONG"], WORDS["BROKEN"]
PARIS, OSLO, ROME = (call(city=city) for city in ("Paris", "Oslo", "Rome"))
FAILED, RAN = (
    {"role": "tool", "content": '{"error": "no such city"}'},
    {"role": "tool", "content": "1"},
)


def made(*calls: dict[str, Any], content: str = "") -> dict[str, Any]:
    items = [{"type": "function", "function": one} for one in calls]
    return {"role": "assistant", "content": content, "tool_calls": items}


def said(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def values(messages: list[Any], *steps: list[Any], **more: Any) -> list[float]:
    golds = [Gold.of(step, TOOLS) for step in steps]
    return [round(one.value, 3) for one in tunaeval.reward_turns(messages, golds, **more)]


@pytest.mark.parametrize(
    "failed",
    [
        FAILED,
        {**RAN, "is_error": True},
        {**RAN, "status": "error"},
        {**RAN, "content": [{"type": "text", "text": "KeyError: 'city'"}]},
        {**RAN, "content": "{'error': 'no such city'}"},
    ],
)
def test_a_fix_after_an_error_is_paid_and_its_step_only_once(failed: dict[str, Any]) -> None:
    fixed = [made(ROME), failed, made(PARIS), RAN, said("Sunny.")]
    assert values(fixed, [PARIS]) == [0.0, 1.0, 1.0]
    assert values(fixed[:2], [PARIS]) == [0.3]
    assert values(fixed, [PARIS], recipe=TOOLRL) == [-3.0, 4.0, 4.0]


def test_a_shotgun_is_not_paid() -> None:
    assert values([made(ROME), RAN, made(PARIS), RAN], [PARIS]) == [0.3, 0.0]
    assert values([made(ROME, PARIS), RAN, RAN, said("Sunny.")], [PARIS]) == [0.55, 1.0]
    assert values([made(ROME, OSLO, PARIS), FAILED], [PARIS]) == [0.4]


def test_a_step_stays_open_until_something_runs() -> None:
    user = {"role": "user", "content": "No valid call was found."}
    assert values([said(BROKEN), user, said(GOOD), RAN], [PARIS]) == [0.0, 1.0]
    assert values([said("I look."), made(PARIS), RAN, made(OSLO)], [PARIS], [OSLO]) == [0, 1, 1]
    assert values([said("It is sunny."), said("Really.")]) == [1.0, 1.0]
    assert values([made(PARIS), FAILED, said("It is sunny.")], []) == [0.0, 1.0]


def test_a_turn_that_says_and_calls_nothing_is_void() -> None:
    messages = [said(""), said("<think>Hm.</think>"), said("I look."), made(PARIS), made()]
    found = reward_turns(messages, [[PARIS]])
    assert [one.outcome for one in found] == ["void", "void", "no_call", "calls", "void"]
    assert [one.value for one in found] == [0.0, 0.0, 0.0, 1.0, 0.0]


def test_spans_of_a_turn_have_its_message_and_wrong_arguments_are_refused() -> None:
    (found,) = reward_turns([{"role": "user", "content": "?"}, said(BROKEN)], [[PARIS]])
    assert [span.message for span in found.broken_spans] == [1]
    with pytest.raises(UsageError, match="messages is str; wanted a list"):
        reward_turns(GOOD, [[PARIS]])
    with pytest.raises(UsageError, match="golds is Gold; wanted a list"):
        reward_turns([said(GOOD)], GOLDS["one"])  # type: ignore[arg-type]  # what is wrong


def spans(completion: Any, gold: Gold = GOLDS["one"], **more: Any) -> list[tuple[str, str]]:
    def text(message: int | None) -> str:
        return str(completion if message is None else completion[message]["content"])

    found = attempt_spans(completion, gold, **more)
    return [(one.kind, text(one.message)[one.start : one.end]) for one in found]


def test_each_attempt_has_a_span_with_its_markers() -> None:
    expected = [("right", GOOD), ("extra", WRONG), ("broken", BROKEN)]
    assert spans(f"So: {GOOD} and {WRONG} or {BROKEN}.") == expected
    assert spans([said(f"a {GOOD}"), RAN, said(f"b {WRONG}"), said(BROKEN)]) == expected
    assert spans(WRONG) == [("wrong", WRONG)]
    assert spans(f"`{WRONG}` {GOOD}") == [("broken", WRONG), ("right", GOOD)]
    lines = GOOD.replace("call>{", "call>\n{").replace("}<", "}\n<")
    assert spans(lines) == [("right", lines)]
    unread = "<tool_call>{'name': get_w, </tool_call>"
    assert spans(f"a {unread} b") == [("broken", unread)]
    assert spans(f"`{WRONG}` {GOOD}", recipe=Recipe(engine="vllm")) == [
        ("extra", WRONG),
        ("right", GOOD),
    ]


def test_the_span_of_a_call_in_a_fence_has_both_its_marks() -> None:
    for language in ("json", "", "python"):
        fenced = f"```{language}\n{WRONG[11:-12]}\n```"
        assert spans(f"So:\n{fenced}\nDone.") == [("wrong", fenced)]
    assert spans(f"```json\n{WRONG}\n```") == [("wrong", WRONG)]


def test_what_a_mask_cannot_mean_is_refused() -> None:
    several = attempt_spans([said(WRONG), RAN, said(WRONG)], GOLDS["one"])
    offsets = [(0, len(WRONG))]
    for function in (token_spans, loss_mask):
        with pytest.raises(UsageError, match=r"messages is \[0, 2\]; wanted one"):
            function(several, offsets)
    assert loss_mask([one for one in several if one.message == 0], offsets) == [0]
    with pytest.raises(UsageError, match="no kind of attempt is called 'wrng'; did you mean 'wr"):
        loss_mask(several[:1], offsets, kinds=("wrng",))
    with pytest.raises(UsageError, match=r"kinds is 'wrong'; wanted .*write \['wrong'\]"):
        loss_mask(several[:1], offsets, kinds="wrong")
    with pytest.raises(UsageError, match="what decode returns is None; wanted a text"):
        token_offsets([1, 2], lambda _: None)  # type: ignore[arg-type, return-value]  # refused


def test_a_gold_that_cannot_be_read_is_named() -> None:
    for golds, said_of in (
        ([[PARIS], 5], "golds[1]: gold is 5; "),
        ([["x"]], "golds[0]: gold[0] "),
    ):
        for function in (reward_turns, rewards):
            with pytest.raises(UsageError) as caught:
                function([said(GOOD)] * len(golds), golds)
            assert str(caught.value).startswith(said_of)


def decode(ids: Any) -> str:
    """The tokens are bytes."""
    return bytes(ids).decode("utf-8", "replace")


@given(st.lists(st.sampled_from(["é ", "𝄞", GOOD, WRONG, BROKEN, "Hm. "]), max_size=5))
def test_a_mask_covers_just_the_tokens_of_the_spans(pieces: list[str]) -> None:
    text = "".join(pieces)
    ids = list(text.encode())
    offsets = token_offsets(ids, decode)
    assert [text[slice(*one)] for one in offsets] == [char for char in text for _ in char.encode()]
    found = attempt_spans(text, GOLDS["one"])
    for one, tokens in zip(found, token_spans(found, offsets), strict=True):
        assert decode(ids[tokens.start : tokens.end]) == text[one.start : one.end]
    mask = loss_mask(found, offsets)
    kept = [index for index in range(len(text)) if not any(
        one.start <= index < one.end and one.kind != "right" for one in found)]  # fmt: skip
    assert decode([i for i, keep in zip(ids, mask, strict=True) if keep]) == "".join(
        text[index] for index in kept
    )
