"""What checks, categories and judges do to a transcript: it changes neither it nor any verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tunaeval
from tests.spoiling import spoil
from tunaeval.data.adapters.documents import adapters, read_conversation
from tunaeval.errors import UsageError
from tunaeval.types.calls import JsonObject
from tunaeval.types.conversations import Transcript
from tunaeval.types.copies import copied
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.runs import CategoryScore, ScoreResult

MESSAGES: list[JsonObject] = [
    {"role": "user", "content": "Put a and b on the list"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "add", "arguments": {"names": [["a"], {"b": [1]}]}},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    {"role": "assistant", "content": "Both are there."},
]
EXPECT = {"calls": [{"name": "add", "arguments": {"names": [["a"], {"b": [1]}]}}]}


class Category:
    """A category of others."""

    weight = 0.5

    def __init__(self, name: str, act: Callable[[object], None]) -> None:
        self.name, self.act = name, act

    async def score(self, transcript: Transcript) -> CategoryScore:
        words = repr(transcript.messages)
        self.act(transcript)
        return CategoryScore(value=0.5, reason=words)


class Judging:
    """A judge's model that keeps what it was asked."""

    name = "judging"
    model = "m"

    def __init__(self, act: Callable[[object], None]) -> None:
        self.act = act
        self.asked: list[object] = []

    async def complete(self, request: Request) -> Reply:
        self.asked.append((len(request.messages), copied(request.schema)))
        self.act(request)
        return Reply({"role": "assistant", "content": '{"reason": "fine", "score": 10}'})

    async def close(self) -> None: ...


def leave(_: object) -> None:
    """Change nothing."""


def scored(act: Callable[[object], None], **more: Any) -> tuple[ScoreResult, object, object]:
    """Return the score, what the judge was asked, and the messages afterwards."""
    model, messages = Judging(act), copied(MESSAGES)
    judge = tunaeval.Judge(model, categories=("goal-completion",), votes=3)
    categories = [Category("first", act), Category("second", act)]
    given = more or {"judge": judge}
    result = asyncio.run(tunaeval.ascore(messages, "Put", categories=categories, **given))
    return result, model.asked, messages


def test_a_judge_and_categories_change_nothing_that_they_are_shown() -> None:
    found = scored(spoil)
    assert found == scored(leave)
    assert found[0].weighted_total is not None
    assert found[2] == MESSAGES


@pytest.mark.parametrize("awaits", [False, True])
def test_a_check_changes_no_transcript_and_no_score(*, awaits: bool) -> None:
    def check_with(act: Callable[[object], None]) -> Any:
        def check(conversation: tunaeval.Conversation) -> bool:
            act(conversation)
            return True

        async def later(conversation: tunaeval.Conversation) -> bool:
            await asyncio.sleep(0)
            return check(conversation)

        return later if awaits else check

    found = scored(spoil, check=check_with(spoil), forbid=["remove"])
    assert found == scored(leave, check=check_with(leave), forbid=["remove"])
    assert found[2] == MESSAGES
    if not awaits:
        before = copied(MESSAGES)
        assert tunaeval.score(before, "Put", check=check_with(spoil)).weighted_total == 1.0
        assert before == MESSAGES


def test_a_category_changes_no_expected_call() -> None:
    found = scored(spoil, expect=EXPECT)
    assert found == scored(leave, expect=EXPECT)
    assert found[0].weighted_total is not None


class Adapter:
    """An adapter of others that changes each document that it is asked about."""

    name = "own"

    def reads(self, document: object) -> bool:
        spoil(document)
        return False

    def read(self, document: object) -> list[object]:
        return [document]


@pytest.fixture
def adapter() -> Iterator[None]:
    adapters.add("own", Adapter())
    yield
    adapters._added.pop("own", None)
    adapters._loaded.pop("own", None)


@pytest.mark.usefixtures("adapter")
def test_an_adapter_changes_no_document() -> None:
    document = {"unknown": [[1], {"x": [2]}]}
    with pytest.raises(UsageError):
        read_conversation(document)
    assert document == {"unknown": [[1], {"x": [2]}]}
