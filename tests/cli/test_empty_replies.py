"""A server that answers with nothing: what a filter took is no answer, and silence is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tests.faults import Answer, FaultServer, completion
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.runs.directory import load_report
from tunaeval.types.exchange import Reply
from tunaeval.types.runs import Report

NOTHING: dict[str, Any] = {"role": "assistant", "content": ""}
CALL = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """Two scenarios that want no call, and two that want one."""
    rows = [{"id": f"no-{n}", "prompt": "Hi.", "expect": {"none": True}} for n in range(2)]
    rows += [{"id": f"ls-{n}", "prompt": "ls", "expect": {"tools": ["bash"]}} for n in range(2)]
    (tmp_path / "four.jsonl").write_text("\n".join(map(json.dumps, [{"name": "four"}, *rows])))
    return str(tmp_path / "four.jsonl")


def scripted(suite: str, *replies: Reply, **more: Any) -> Report:
    return tunaeval.run(suite, client=ScriptedClient(replies), concurrency=1, **more)


def gated(here: Tuna, suite: str, answer: Answer) -> Any:
    with FaultServer(then=answer) as server:
        return here("run", "--suite", suite, "--base-url", server.base_url, "--model", "m",
                    "--quiet", "--fail-under", "10")  # fmt: skip


@pytest.mark.parametrize(
    "message",
    [NOTHING, {"content": None}, {"content": " \n"}, {"content": []},
     {"content": "", "refusal": None}, {"content": "", "reasoning_content": "Let me"},
     {"content": [{"type": "text", "text": ""}]}],
)  # fmt: skip
def test_what_a_filter_took_is_no_answer(here: Tuna, suite: str, message: dict[str, Any]) -> None:
    done = gated(here, suite, completion(message, "content_filter"))
    assert done.returncode == 3
    assert "4 x filter: the reply is empty and its finish_reason is 'content_filter'" in done.stderr
    assert "no scenario got an answer" not in done.stderr


@pytest.mark.parametrize(
    "message",
    [{"content": "Here is"}, {"content": None, "tool_calls": [CALL]},
     {"content": None, "refusal": "I can't help with that."}],
)  # fmt: skip
def test_what_a_filter_left_is_an_answer(suite: str, message: dict[str, Any]) -> None:
    reply = Reply({"role": "assistant", **message}, "content_filter", source="structured")
    report = scripted(suite, *[reply] * 8, out=None)
    assert report.summary.infrastructure_failures == 0
    assert report.passed == 2


def test_a_filter_on_the_second_attempt_fails_the_scenario(suite: str) -> None:
    words = Reply({"role": "assistant", "content": "Hm."}, "stop")
    taken = Reply(NOTHING, "content_filter")
    report = scripted(suite, words, words, words, taken, words, taken, out=None)
    assert [result.outcome for result in report.results[2:]] == ["transport_failure"] * 2
    assert [len(result.attempts) for result in report.results[2:]] == [1, 1]


def test_a_kept_reply_that_a_filter_took_is_no_answer_either(suite: str, tmp_path: Path) -> None:
    """As runs have it that were kept before filters were known."""
    old = scripted(suite, *[Reply(NOTHING, "stop")] * 6, out=tmp_path / "runs")
    results = Path(str(old.directory)) / "results.jsonl"
    kept = results.read_text().replace('"finish_reason":"stop"', '"finish_reason":"content_filter"')
    results.write_text(kept)
    again = tunaeval.rescore(str(old.directory)).report
    assert again.summary.infrastructure_failures == 4
    assert next(iter(again.summary.failures)).startswith("filter: the reply is empty")


def test_empty_replies_are_answers_and_told(here: Tuna, suite: str, tmp_path: Path) -> None:
    done = gated(here, suite, completion({"role": "assistant", "content": None}))
    assert done.returncode == 3, "the two that want no call would pass the bar"
    assert "every reply is empty" in done.stderr
    assert "50.0 %" in done.stdout
    assert "warning: in 4 of 4 scenarios a reply was empty" in done.stdout
    (directory,) = (tmp_path / "runs").iterdir()
    report = load_report(directory)
    assert report.summary.empty_replies == 4
    assert tunaeval.rescore(directory).report.summary.empty_replies == 4
    both = ("compare", str(directory), str(directory))
    assert here(*both).returncode == 0
    assert here(*both, "--fail-if-worse", "100%").returncode == 3


@pytest.mark.parametrize(
    ("message", "finish_reason"),
    [({"content": "Hi."}, "stop"), ({"content": "", "reasoning": "Hm."}, "stop"),
     ({"content": None, "tool_calls": [CALL]}, "tool_calls"), ({"content": ""}, "length")],
)  # fmt: skip
def test_what_holds_something_or_was_cut_off_is_not_told_as_empty(
    suite: str, message: dict[str, Any], finish_reason: str
) -> None:
    reply = Reply({"role": "assistant", **message}, finish_reason, source="structured")
    assert scripted(suite, *[reply] * 8, out=None).summary.empty_replies == 0


LONG = completion({"role": "assistant", "content": "Let me think about"}, "length")


def test_replies_that_used_up_their_tokens_are_told_with_what_helps(
    here: Tuna, suite: str, tmp_path: Path
) -> None:
    done = gated(here, suite, LONG)
    assert "the reply was cut off without a whole call" in done.stdout
    assert "--max-tokens" in done.stdout
    (directory,) = (tmp_path / "runs").iterdir()
    report = load_report(directory)
    assert report.summary.cut_replies == report.summary.outcomes["truncated"] > 0
    shown = here("show", str(directory), "--failed").stdout
    assert "finish_reason 'length'" in shown
    assert "the reply was cut off before a call began" in " ".join(shown.split())
    assert "--max-tokens" in shown
