"""A judge's verdict is a share, or none with the reason why; a failure never counts as a value."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.scoring.judging.judges import Rule, goal, transcript, verdict
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import ClientSetupError, RecordError, TransportFailure, UsageError
from tunaeval.scoring.judging.judge import Judge
from tunaeval.scoring.judging.prompts import RUBRICS
from tunaeval.types.conversations import Transcript
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.messages import Message
from tunaeval.types.runs import CategoryScore, ScoreResult

GOAL = ("goal-completion",)
MESSAGES = transcript("It says alpha.").messages


def scripted(*replies: Any, **settings: Any) -> CategoryScore:
    return goal(Judge(ScriptedClient(replies), categories=GOAL, **settings))


def scored(judge: Any, **more: Any) -> ScoreResult:
    given = {"preset": "evals2", **more}
    return tunaeval.score(MESSAGES, "Read a.txt.", judge=judge, **given)


FAILURES = st.sampled_from(
    [TransportFailure("gone", kind="connect"), ClientSetupError("no key"), RuntimeError("odd")]
)
MESSAGE = st.dictionaries(
    st.sampled_from(["content", "tool_calls", "refusal", "role"]),
    st.none() | st.text(max_size=9) | st.lists(st.text(max_size=3) | st.dictionaries(
        st.just("text"), st.text(max_size=9) | st.integers(), max_size=1), max_size=2),
)  # fmt: skip
REPLIES = (
    st.text(max_size=40)
    | st.integers(-2, 13).map(verdict)
    | FAILURES
    | MESSAGE
    | st.builds(Reply, MESSAGE, st.sampled_from([None, "stop", "length"]))
)


@given(
    replies=st.lists(REPLIES, max_size=6),
    votes=st.integers(1, 3),
    swap=st.booleans(),
    together=st.booleans(),
    decided_by=st.sampled_from(["median", "majority"]),
)
def test_whatever_is_replied_a_score_is_a_share_or_says_why_not(
    replies: list[Any], votes: int, swap: bool, together: bool, decided_by: Any
) -> None:
    judge = Judge(
        ScriptedClient(replies),
        categories=tuple(RUBRICS), together=together,
        votes=votes, swap=swap, decided_by=decided_by,
    )  # fmt: skip
    result = scored(judge)
    failed = [s for s in result.categories.values() if s.judged and s.judged.failure]
    assert (result.details.outcome == "judge_failure") == bool(failed)
    for score in result.categories.values():
        assert score.judged
        values = [vote.value for vote in score.judged.votes if vote.value is not None]
        if score.value is None:
            assert score.reason == f"judge failure: {score.judged.failure}"
            assert not score.evidence
        else:
            assert min(values) <= score.value <= max(values)
            assert 2 * len(values) > len(score.judged.votes)
    json.loads(result.model_dump_json())


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("I would say 5.", "wanted one JSON object"),
        ("", "the reply is empty"),
        (verdict(50), "the score is 50"),
        ({"content": None, "tool_calls": [{"id": "1"}]}, "it called a tool"),
        ({"content": None, "refusal": "I must not."}, "it refused: 'I must not.'"),
        (
            Reply({"content": '{"reason": "wel'}, "length"),
            "its reply was cut off; raise max_tokens",
        ),
        (TransportFailure("gone", kind="connect"), "no reply: TransportFailure: gone"),
        (ZeroDivisionError("odd"), "no reply: client 'scripted' raised ZeroDivisionError: odd"),
    ],
)
def test_a_failure_is_explicit_and_has_no_value(reply: Any, words: str) -> None:
    score = scripted(reply)
    assert score.value is None
    assert score.reason.startswith("judge failure: ")
    assert words in score.reason


@pytest.mark.parametrize("preset", ["default", "evals2"])
def test_a_judge_that_fails_leaves_no_total_and_the_others_their_verdicts(preset: str) -> None:
    result = scored(ScriptedClient(["no idea", verdict(6)]), preset=preset)
    assert result.weighted_total is None
    assert (result.goal_completion, result.plan_correctness) == (None, 0.6)
    assert result.details.outcome == "judge_failure"
    assert result.details.reasoning.startswith("no total: goal-completion has no verdict: ")
    assert all(score.share is None for score in result.categories.values())


def test_a_judge_stands_in_for_two_formulas_and_keeps_their_weights() -> None:
    result = scored(ScriptedClient([verdict(10), verdict(0)]))
    formulas = scored(None)
    assert result.goal_completion == 1.0
    assert result.plan_correctness == 0.0
    assert result.success_ratio == formulas.success_ratio
    assert result.context_efficiency == formulas.context_efficiency
    weights = {name: score.weight for name, score in result.categories.items()}
    assert weights == {name: score.weight for name, score in formulas.categories.items()}
    assert result.details.outcome == "scored"


def test_ascore_takes_a_judge_and_score_refuses_one_inside_a_loop() -> None:
    async def both() -> ScoreResult:
        with pytest.raises(UsageError, match=r"await tunaeval\.ascore"):
            tunaeval.score(MESSAGES, "q", judge=ScriptedClient())
        return await tunaeval.ascore(MESSAGES, "q", judge=ScriptedClient([verdict(7)] * 2))

    assert asyncio.run(both()).goal_completion == 0.7


def test_what_was_said_is_kept() -> None:
    score = scripted(verdict(7, "Alpha was read.\ud800"))
    assert score.judged
    assert score.judged.model == "scripted"
    assert score.judged.prompt_version == Judge(ScriptedClient(), categories=GOAL).prompt_version
    (vote,) = score.judged.votes
    assert json.loads(vote.raw)["score"] == 7
    assert (vote.value, vote.order, vote.cached) == (0.7, "as-written", False)
    assert "Alpha was read." in score.reason
    assert score.evidence == (0, 1, 2, 3)


def test_without_a_calibration_a_score_says_so() -> None:
    score = scripted(verdict(7))
    assert score.judged
    assert not score.judged.calibrated
    assert "uncalibrated" in score.reason


def test_votes_are_settled_by_their_median_and_the_spread_is_told() -> None:
    score = scripted(verdict(2), verdict(9), verdict(8), votes=3)
    assert score.value == 0.8
    assert score.judged
    assert score.judged.spread == pytest.approx(0.7)
    assert "votes 0.20, 0.90, 0.80, spread 0.70" in score.reason


def test_a_majority_is_more_than_half_of_all_votes() -> None:
    assert scripted(*map(verdict, (3, 3, 9)), votes=3, decided_by="majority").value == 0.3
    none = scripted(*map(verdict, (3, 4, 9)), votes=3, decided_by="majority")
    assert none.reason == "judge failure: no majority among the votes 0.30, 0.40, 0.90"
    assert scripted(verdict(3), "?", "?", votes=3, decided_by="majority").value is None


@pytest.mark.parametrize(("lost", "value"), [(1, 0.5), (2, None)])
def test_more_than_half_of_the_votes_have_to_be_verdicts(lost: int, value: float | None) -> None:
    score = scripted(*["?"] * lost, *[verdict(5)] * (3 - lost), votes=3)
    assert score.value == value
    assert f"{lost} of 3 votes" in score.reason


def test_with_swap_both_orders_are_asked_and_their_difference_told() -> None:
    def first_end(request: Request) -> str:
        content = request.messages[1]["content"]
        return verdict(2 if content.index("0 means") < content.index("10 means") else 8)

    client = Rule(first_end)
    score = goal(Judge(client, categories=GOAL, swap=True))
    assert score.value == 0.5
    assert "the two orders differ by 0.60" in score.reason
    assert score.judged
    assert [vote.order for vote in score.judged.votes] == ["as-written", "swapped"]


def test_together_asks_once_for_all() -> None:
    def reply(request: Request) -> str:
        assert request.schema
        scores = enumerate(request.schema["required"])
        return json.dumps({name: json.loads(verdict(score)) for score, name in scores})

    client = Rule(reply)
    judge = Judge(client, categories=tuple(RUBRICS), together=True)
    values = [score.value for score in asyncio.run(judge.judge(transcript("x"))).values()]
    assert values == [0.0, 0.1, 0.2, 0.3]
    assert len(client.requests) == 1


def test_an_agent_that_did_nothing_scores_nothing_and_no_judge_is_asked() -> None:
    client = ScriptedClient()
    judge = Judge(client, categories=tuple(RUBRICS))
    for messages in ((), (Message("user", "Do it."),), (Message("assistant", " "),)):
        scores = asyncio.run(judge.judge(Transcript("q", messages)))
        assert [score.value for score in scores.values()] == [0.0, 0.0, None, None]
    assert not client.requests


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"categories": "goal-completion"}, r"in a list; write \['goal-completion'\]"),
        ({"categories": ()}, "wanted one name or more"),
        ({"categories": ("goal",)}, "no judged category is called 'goal'; did you mean"),
        ({"categories": GOAL * 2}, "wanted each once"),
        ({"votes": 0}, "votes is 0; wanted a whole number, 1 or more"),
        ({"scale": 0}, "scale is 0"),
        ({"deadline_seconds": 0}, "deadline_seconds is 0"),
        ({"client": 3}, "3 is no client"),
    ],
)
def test_a_judge_that_cannot_be_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Judge(**{"client": ScriptedClient(), **settings})


def test_a_calibration_that_cannot_be_read_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"schema_version": 1}')
    for name, words in {
        "other.json": "'made_at' is .*field required",
        "none.json": "cannot be read",
    }.items():
        with pytest.raises(RecordError, match=words):
            Judge(ScriptedClient(), calibration=tmp_path / name)
