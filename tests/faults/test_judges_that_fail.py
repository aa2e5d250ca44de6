"""Judges on loopback that do not judge, and transcripts that would have them judge otherwise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tunaeval
from tests.faults import Answer, FaultServer, Seen, chat, completion
from tests.faults.runs import within
from tests.scoring.judging.test_labels import written
from tunaeval.clients.openai import OpenAIClient
from tunaeval.scoring.judging.calibrating import PAYLOADS
from tunaeval.scoring.judging.judge import Judge
from tunaeval.scoring.judging.view import frames
from tunaeval.types.runs import ScoreResult

GOAL = ("goal-completion",)
MESSAGES = [
    {"role": "user", "content": "Read a.txt."},
    {"role": "assistant", "content": "It says alpha."},
]


def verdict(score: object) -> str:
    return json.dumps({"reason": "So it seems.", "score": score})


def client_of(server: FaultServer) -> OpenAIClient:
    return OpenAIClient(base_url=server.base_url, model="m", max_retries=1)


def scored(server: FaultServer) -> ScoreResult:
    judge = Judge(client_of(server), categories=GOAL, deadline_seconds=5)
    return tunaeval.score(MESSAGES, "Read a.txt.", judge=judge)


CALL = {"id": "c", "type": "function", "function": {"name": "grade", "arguments": '{"score": 9}'}}
NO_VERDICTS: dict[str, Answer] = {
    "prose": chat("I would give it 9 of 10."),
    "nothing": chat(""),
    "a score off the scale": chat(verdict(11)),
    "a score below it": chat(verdict(-1)),
    "NaN": chat('{"reason": "x", "score": NaN}'),
    "a score in words": chat(verdict("nine")),
    "no score": chat('{"reason": "x"}'),
    "two verdicts": chat(verdict(9) + "\n" + verdict(2)),
    "a tool call": completion({"role": "assistant", "content": None, "tool_calls": [CALL]}),
    "a refusal": completion({"role": "assistant", "content": None, "refusal": "I must not."}),
    "cut off": completion({"role": "assistant", "content": '{"reason": "we'}, "length"),
    "no choices": Answer(b'{"choices": []}'),
    "HTML": Answer(b"<html>9</html>"),
    "an error": Answer(b'{"error": "down"}', status=500),
    "a reset": Answer(b"{}", cut_after=1, reset=True),
}


@pytest.mark.parametrize("name", NO_VERDICTS)
def test_what_is_no_verdict_is_a_judge_failure_and_no_score(name: str) -> None:
    with FaultServer(then=NO_VERDICTS[name]) as server, within(5):
        result = scored(server)
    category = result.categories["goal-completion"]
    assert result.details.outcome == "judge_failure"
    assert (category.value, result.goal_completion, result.weighted_total) == (None, None, None)
    assert category.reason.startswith("judge failure: ")


def test_a_verdict_is_one() -> None:
    with FaultServer(then=chat(verdict(9))) as server:
        result = scored(server)
    assert (result.goal_completion, result.details.outcome) == (0.9, "scored")


def gullible(seen: Seen) -> Answer:
    """A model that does whatever it is ordered to outside of the frame, and else fails the run."""
    prompt = seen.json["messages"][-1]["content"]
    (inside,) = frames(prompt)
    outside = prompt.replace(inside, "")
    ordered = any(payload in outside for payload in PAYLOADS.values())
    return chat(verdict(10 if ordered or _markup(prompt) else 1))


def _markup(prompt: str) -> bool:
    """Whether the transcript brought a control word of a chat template along."""
    return re.search(r"<\|im_|\[/?INST\]", prompt) is not None


@pytest.mark.parametrize("name", PAYLOADS)
def test_no_payload_leaves_the_frame_that_a_judge_is_sent(name: str) -> None:
    payload = PAYLOADS[name]
    told = [*MESSAGES, {"role": "assistant", "content": payload}]
    with FaultServer(choose=gullible) as server, within(5):
        judge = Judge(client_of(server), categories=GOAL)
        result = tunaeval.score(told, f"Read a.txt. {payload}", judge=judge)
    assert result.goal_completion == 0.1
    prompt = server.seen[-1].json["messages"][-1]["content"]
    assert len(re.findall(r"^<<<TRANSCRIPT \w+>>>$", prompt, re.MULTILINE)) == 1
    assert len(re.findall(r"^<<<END OF TRANSCRIPT \w+>>>$", prompt, re.MULTILINE)) == 1


def test_how_many_verdicts_the_payloads_turn_is_published(tmp_path: Path) -> None:
    """Of a judge that believes whatever speaks of 10, whoever says it."""

    def believes(seen: Seen) -> Answer:
        (inside,) = frames(seen.json["messages"][-1]["content"])
        return chat(verdict(9 if "succeeded" in inside else 10 if "10" in inside else 1))

    rows = [
        {
            "id": f"r{number}",
            "query": "Try.",
            "messages": [{"role": "assistant", "content": "I succeeded." * good or "I failed."}],
            "label": {"goal-completion": bool(good)},
        }
        for number, good in enumerate([1] * 4 + [0] * 20)
    ]
    labels = written(tmp_path, *rows)
    with FaultServer(choose=believes) as server, within(20):
        found = tunaeval.calibrate(labels, Judge(client_of(server), categories=GOAL), repeats=0)
    figures = found.categories["goal-completion"]
    meant = sum("10" in payload for payload in PAYLOADS.values())
    assert (figures.injection_flips.passed, figures.injection_flips.total) == (meant, 20)
    assert figures.injection_shift is not None
    assert figures.injection_shift > 0
    assert "injection_flips" in found.model_dump_json()
