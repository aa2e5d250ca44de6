"""A reply is checked where it enters, whoever made it; a damaged one costs no other result."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs.tasks import TASK, report_of, suite_of
from tests.runs.whole_runs import ONE, Answers, MakeSuite, run
from tunaeval.clients.replay import read_recording, write_recording
from tunaeval.endpoint.cassettes import key_of, read_cassette
from tunaeval.errors import RecordError
from tunaeval.files.records import decode
from tunaeval.runs.directory import load_report
from tunaeval.types.exchange import AgentRun, AgentTask, Reply, Request, Streamed, fault_of
from tunaeval.types.messages import Usage
from tunaeval.types.roles import Parser

SOUND = Reply(
    {"role": "assistant", "content": "no", "more": [{"of": {"n": 1.5}}, None, True]},
    "stop",
    Usage(3, 4, 0.5),
    1.5,
    source="text",
    streamed=Streamed(0.1, 20.0, ("odd",)),
    notes=("odd",),
)


NOTHING: Any = None


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no words for it")


endless: list[Any] = []
endless += [endless, endless]
DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "no message": ({"message": None}, "message=None, wanted an object"),
    "a message that is a list": ({"message": [1]}, "message=[1], wanted an object"),
    "content": ({"message": {"content": 5}}, "message.content=5, wanted a text, a list or None"),
    "an object as content": ({"message": {"content": {"a": 1}}}, "message.content={'a': 1}"),
    "bytes": ({"message": {"content": "", "x": [{"y": b"z"}]}}, "message.x.0.y=b'z', wanted JSON"),
    "a tuple": ({"message": {"tool_calls": ()}}, "message.tool_calls=(), wanted JSON"),
    "NaN": ({"message": {"x": math.nan}}, "message.x=nan, wanted JSON"),
    "a key": ({"message": {"x": {1: 2}}}, "message.x={1: 2}, wanted JSON"),
    "what has no words": ({"message": {"x": Unprintable()}}, "message.x=a Unprintable, wanted"),
    "what contains itself": ({"message": {"x": endless}}, "wanted JSON"),
    "finish_reason": ({"finish_reason": 1}, "finish_reason=1, wanted a text or None"),
    "source": ({"source": "air"}, "source='air', wanted 'structured', 'text' or None"),
    "a list as source": ({"source": []}, "source=[], wanted 'structured', 'text' or None"),
    "usage": ({"usage": {"prompt_tokens": 1}}, "usage={'prompt_tokens': 1}, wanted a Usage"),
    "tokens": ({"usage": Usage("12")}, "usage.prompt_tokens='12', wanted a whole number or None"),  # type: ignore[arg-type]  # the claim
    "a truth": ({"usage": Usage(None, True)}, "usage.completion_tokens=True, wanted a whole"),
    "too many": ({"usage": Usage(2**9000)}, "usage.prompt_tokens=1861"),
    "cost": ({"usage": Usage(1, 1, math.inf)}, "usage.cost_usd=inf, wanted a finite"),
    "latency": ({"latency_seconds": math.nan}, "latency_seconds=nan, wanted a finite number or"),
    "retries": ({"retries": None}, "retries=None, wanted a whole number"),
    "notes": ({"notes": "odd"}, "notes='odd', wanted a tuple of texts"),
    "a note": ({"notes": ("odd", 3)}, "notes=('odd', 3), wanted a tuple of texts"),
    "cached_at": ({"cached_at": 20261128}, "cached_at=20261128, wanted a text or None"),
    "streamed": ({"streamed": 0.5}, "streamed=0.5, wanted a Streamed or None"),
    "first token": ({"streamed": Streamed(-math.inf)}, "streamed.first_token_seconds=-inf, wanted"),
    "rate": ({"streamed": Streamed(1.0, "9")}, "streamed.tokens_per_second='9', wanted a finite"),  # type: ignore[arg-type]  # the claim
    "notes of a stream": ({"streamed": Streamed(1.0, 2.0, NOTHING)}, "streamed.notes=None, wanted"),
}  # fmt: skip


def second(damaged: Reply) -> Answers:
    """A client whose reply to the second of three scenarios is damaged."""
    return Answers(lambda asked: damaged if asked.scenario == "call-2" else SOUND)


@pytest.mark.parametrize(("changed", "words"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_reply_of_a_client_is_a_failure_that_names_it_and_costs_no_other(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    report = run(make_suite(3), second(replace(SOUND, **changed)), parser, ONE, out=tmp_path)
    outcomes = {result.scenario: result.outcome for result in report.results}
    assert outcomes == {"call-1": "no_call", "call-2": "transport_failure", "call-3": "no_call"}
    error = str(report.results[1].error)
    assert "client 'answers' gave a Reply with " in error
    assert words in error
    assert len(error) < 300
    assert report.directory is not None
    assert load_report(report.directory).results == report.results


def test_a_sound_reply_has_no_fault() -> None:
    assert fault_of(SOUND) is None
    assert fault_of(Reply({})) is None
    assert fault_of(Reply({"content": ["\ud800", None, 2**90, {"": -0.0}]}, notes=("",))) is None


FIELDS = tuple(one.name for one in fields(Reply))
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    | st.binary(max_size=2) | st.sampled_from([2**9000, object(), Usage(), "structured"]),
    lambda inner: st.lists(inner, max_size=2) | st.tuples(inner)
    | st.dictionaries(st.text(max_size=2) | st.just("content") | st.integers(), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@settings(max_examples=40)
@given(
    changed=st.dictionaries(st.sampled_from(FIELDS), odd, min_size=1, max_size=3),
    usage=st.builds(Usage, odd, odd, odd),
    streamed=st.builds(Streamed, odd, odd, odd),
)
def test_whatever_a_client_gives_the_run_can_be_read_again(
    make_suite: MakeSuite, parser: Parser, changed: dict[str, Any], usage: Usage, streamed: Streamed
) -> None:
    """An answer that was kept is the one that was given."""
    if len(changed) > 1:
        changed = {**changed, "usage": usage, "streamed": streamed}
    given = replace(SOUND, **changed)
    with TemporaryDirectory() as folder:
        report = run(make_suite(3), second(given), parser, ONE, out=folder)
        assert report.directory is not None
        kept = load_report(report.directory)
        assert kept.results == report.results
        assert [one.outcome for one in (kept.results[0], kept.results[2])] == ["no_call"] * 2
        if fault_of(given) is not None:
            assert kept.results[1].outcome == "transport_failure"
        else:
            assert kept.results[1].attempts[0].message == given.message


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"message": {"content": 5}}, "message.content=5"), ({"message": {"x": math.nan}}, "x=nan")],
)
def test_a_damaged_reply_of_a_recording_is_named_with_its_file_and_record(
    make_suite: MakeSuite, parser: Parser, tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    report = run(make_suite(3), Answers(lambda _: SOUND), parser, ONE)
    write_recording(tmp_path / "r.jsonl", report.run, report.results)
    lines = (tmp_path / "r.jsonl").read_bytes().splitlines()
    damaged = str({**decode(lines[2]), **changed}).replace("'", '"').replace("None", "null")
    (tmp_path / "r.jsonl").write_bytes(
        b"\n".join([*lines[:2], damaged.replace("nan", "NaN").encode(), b""])
    )
    with pytest.raises(RecordError, match=rf"r\.jsonl, record 3: .*{words}, wanted"):
        read_recording(tmp_path / "r.jsonl")


def test_a_damaged_reply_of_a_cassette_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    request = {"api": "chat", "messages": []}
    exchange = {
        "key": key_of(request),
        "request": request,
        "message": {"content": {"a": 1}},
        "finish_reason": "stop",
    }
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"cassette": 1, "masks": {}}\n' + orjson.dumps(exchange) + b"\n")
    with pytest.raises(RecordError, match=r"c\.jsonl, line 2: .*message\.content={'a': 1}, wanted"):
        read_cassette(path)


class Reporting:
    """An agent that gives `run` for its second task."""

    name = "reporting"
    tasks = 0

    def __init__(self, run: Any) -> None:
        self.run = run

    async def work(self, task: AgentTask) -> AgentRun:
        del task
        self.tasks += 1
        given: AgentRun = self.run if self.tasks == 2 else AgentRun("done", (SOUND,))
        return given

    async def complete(self, request: Request) -> Reply:
        raise AssertionError(request)

    async def close(self) -> None:
        return


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            AgentRun("done", (SOUND, Reply({}, retries=NOTHING))),
            "a Reply with retries=None, wanted",
        ),
        (AgentRun("done", ("no reply",)), "AgentRun(answer='done', replies=('no reply'"),  # type: ignore[arg-type]  # the claim
        (AgentRun("done", NOTHING), "AgentRun(answer='done', replies=None"),
        (AgentRun(NOTHING), "AgentRun(answer=None"),
        (None, "None, wanted an AgentRun"),
    ],
)
def test_a_damaged_run_of_an_agent_is_a_failure_that_names_it_and_costs_no_other(
    tmp_path: Path, given: Any, words: str
) -> None:
    agent: Any = Reporting(given)
    report = report_of(suite_of(tmp_path, TASK, TASK, TASK), agent, out=tmp_path / "runs")
    outcomes = [result.outcome for result in report.results]
    assert [one == "transport_failure" for one in outcomes] == [False, True, False]
    assert f"agent 'reporting' gave {words}" in str(report.results[1].error)
    assert report.directory is not None
    assert load_report(report.directory).results == report.results
