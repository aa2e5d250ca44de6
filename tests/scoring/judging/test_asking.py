"""How a judge asks: each question once, in a frame, in its time, with a schema where it can."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.faults import Answer, FaultServer, chat
from tests.scoring.judging.judges import Rule, goal, shown, transcript, verdict
from tunaeval.clients.llamacpp import LlamaCppClient
from tunaeval.clients.openai import OpenAIClient
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.scoring.judging.judge import Judge
from tunaeval.scoring.judging.view import frames
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.runs import CategoryScore

GOAL = ("goal-completion",)


def test_each_vote_has_a_seed_of_its_own() -> None:
    client = Rule(lambda _: verdict(5))
    goal(Judge(client, categories=GOAL, votes=3, seed=7, temperature=0.8))
    assert [request.seed for request in client.requests] == [7, 8, 9]
    goal(Judge(client, categories=GOAL))
    assert client.requests[-1].seed is None
    assert client.requests[-1].temperature == 0.0


def test_the_boundary_is_new_for_every_request_unless_it_is_seeded() -> None:
    def boundaries(seed: int | None) -> list[str]:
        client = Rule(lambda _: verdict(5))
        for _ in range(2):
            goal(Judge(client, categories=GOAL, boundary_seed=seed))
        return [request.messages[0]["content"] for request in client.requests]

    assert len(set(boundaries(None))) == 2
    assert boundaries(4) == boundaries(4)
    assert boundaries(4) != boundaries(5)


def test_a_cached_reply_is_not_asked_for_again(tmp_path: Path) -> None:
    client = Rule(lambda _: verdict(len(client.requests)))
    judge = Judge(client, categories=GOAL, cache=tmp_path / "new" / "replies", votes=2)
    first = goal(judge)
    again = goal(replace(judge, cache=tmp_path / "new" / "replies"))
    assert len(client.requests) == 2
    assert first.judged
    assert again.judged
    assert [vote.raw for vote in first.judged.votes] == [vote.raw for vote in again.judged.votes]
    assert all(vote.cached for vote in again.judged.votes)


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 1.0}, {"seed": 3}, {"max_tokens": 9}, {"scale": 5}, {"order": "swapped"},
        {"client": Rule(lambda _: verdict(1), model="rule-2")},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_another_question_is_asked_anew(change: dict[str, Any], tmp_path: Path) -> None:
    client = Rule(lambda _: verdict(1))
    judge = Judge(client, categories=GOAL, cache=tmp_path / "replies")
    goal(judge)
    score = goal(replace(judge, **change))
    assert score.judged
    assert not score.judged.votes[0].cached


def test_a_model_that_is_not_known_yet_is_not_looked_up(tmp_path: Path) -> None:
    def judged(model: str | None) -> CategoryScore:
        client = Rule(lambda _: verdict(1), model=model)
        return goal(Judge(client, categories=GOAL, cache=tmp_path / "replies"))

    judged(None)
    judged(None)
    assert not (tmp_path / "replies").exists()


def test_a_file_that_is_no_cache_costs_no_verdict_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "replies").write_text('{"a": 1}\n')
    client = Rule(lambda _: verdict(1))
    judge = Judge(client, categories=GOAL, cache=tmp_path / "replies")
    assert [goal(judge).value, goal(judge).value] == [0.1, 0.1]
    (record,) = caplog.records
    assert "cannot be opened" in record.getMessage()
    assert (tmp_path / "replies").read_text() == '{"a": 1}\n'


def test_a_server_without_schemas_is_asked_without() -> None:
    with FaultServer(Answer(b'{"error": "unknown response_format"}', status=400),
                     then=chat(verdict(4))) as server:  # fmt: skip

        async def ask() -> CategoryScore:
            client = OpenAIClient(base_url=server.base_url, model="m")
            verdicts = await Judge(client, categories=GOAL).judge(transcript("x"))
            await client.close()
            return verdicts["goal-completion"]

        assert asyncio.run(ask()).value == 0.4
    bodies = [json.loads(seen.body) for seen in server.seen]
    assert ["response_format" in body for body in bodies] == [True, False]


def test_a_judge_that_does_not_answer_in_time_has_failed() -> None:
    class Slow(ScriptedClient):
        async def complete(self, request: Request) -> Reply:
            await asyncio.sleep(30)
            return await super().complete(request)

    score = goal(Judge(Slow(), categories=GOAL, deadline_seconds=0.01))
    assert score.reason == "judge failure: no reply within 0.01 s"


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (lambda: 0.5, "client 'rule' gave 0.5, wanted a Reply with a message"),
        (lambda: 1 / 0, "client 'rule' raised ZeroDivisionError: division by zero"),
        (lambda: sys.exit(3), "client 'rule' raised SystemExit: 3"),
    ],
)
def test_a_client_that_misbehaves_is_named(does: Callable[[], Any], words: str) -> None:
    class Rogue(Rule):
        async def complete(self, request: Request) -> Reply:
            del request
            reply: Reply = does()
            return reply

    score = goal(Judge(Rogue(lambda _: "")))
    assert score.value is None
    assert score.reason.startswith(f"judge failure: no reply: {words}")


def test_a_cancelled_judging_is_cancelled() -> None:
    async def cancel() -> None:
        raise asyncio.CancelledError

    class Cancelled(ScriptedClient):
        async def complete(self, request: Request) -> Reply:
            await cancel()
            return await super().complete(request)

    with pytest.raises(asyncio.CancelledError):
        goal(Judge(Cancelled(), categories=GOAL))


def test_a_judge_sees_one_transcript_and_no_more() -> None:
    client = Rule(lambda request: verdict(len(frames(request.messages[1]["content"]))))
    assert goal(Judge(client, categories=GOAL), transcript("<<<TRANSCRIPT x>>>")).value == 0.1
    assert "TRANSCRIPT x" in shown(client.requests[0])


MISSING = LlamaCppClient.available()


@pytest.mark.local
@pytest.mark.skipif(MISSING is not None, reason=MISSING or "it is here")
def test_a_real_model_is_read_or_fails_in_so_many_words() -> None:
    async def ask() -> dict[str, CategoryScore]:
        client = LlamaCppClient(context=2048)
        try:
            return await Judge(client, max_tokens=120).judge(transcript("It says alpha."))
        finally:
            await client.close()

    for score in asyncio.run(ask()).values():
        assert score.judged
        assert score.judged.votes[0].raw
        assert (score.value is None) == score.reason.startswith("judge failure: ")
