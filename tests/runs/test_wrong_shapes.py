"""Whatever is handed to the public functions in a wrong shape is refused in one sentence."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tunaeval import ScoreSettings
from tunaeval.clients.openai import OpenAIClient
from tunaeval.clients.replay import ReplayClient
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import TunaevalError, UsageError
from tunaeval.runs.directory import load_report
from tunaeval.tasks.suites.check import check_suite
from tunaeval.types.calls import ToolCall
from tunaeval.types.runs import CategoryScore

TASK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CALLS = [ToolCall("a", {})]


def scripted(**more: Any) -> Any:
    settings = {"client": ScriptedClient(["x"] * 99), "out": None, **more}
    return tunaeval.run(settings.pop("suite", "smoke"), **settings)


def scored(**more: Any) -> Any:
    return tunaeval.score(more.pop("messages", TASK), more.pop("query", "q"), **more)


def entered(query: Any = "q", **more: Any) -> Any:
    with tunaeval.scoring_session(query, **more) as session:
        return session


# What each parameter takes among `ODD`; all else has to be refused.
PARAMETERS: dict[str, tuple[Callable[[Any], object], str]] = {
    "parse.text": (tunaeval.parse, "text"),
    "parse.format": (lambda v: tunaeval.parse("x", v), ""),
    "parse.tools": (lambda v: tunaeval.parse("x", "hermes", v), "none list"),
    "parse.level": (lambda v: tunaeval.parse("x", "hermes", None, v), ""),
    "parse_message.message": (tunaeval.parse_message, "mapping"),
    "parse_message.level": (lambda v: tunaeval.parse_message({"content": "x"}, level=v), ""),
    "parse_many.texts": (tunaeval.parse_many, "list numbers"),  # one bad text ends nothing
    "parse_many.workers": (lambda v: tunaeval.parse_many(["x"], workers=v), "number"),
    "parse_many.level": (lambda v: tunaeval.parse_many(["x"], level=v), ""),
    "stream.format": (tunaeval.stream, ""),
    "stream.level": (lambda v: tunaeval.stream("hermes", level=v), ""),
    "stream.feed": (lambda v: tunaeval.stream("hermes").feed(v), "text"),
    "render.calls": (tunaeval.render, "list"),
    "render.format": (lambda v: tunaeval.render(CALLS, v), "none"),
    "instructions.format": (lambda v: tunaeval.instructions([], v), ""),
    "load_suite": (tunaeval.load_suite, ""),
    "run.suite": (lambda v: scripted(suite=v), ""),
    "run.client": (lambda v: scripted(client=v), ""),
    "run.format": (lambda v: scripted(format=v), ""),
    "run.options": (lambda v: scripted(options=v), "none"),
    "run.level": (lambda v: scripted(level=v), ""),
    "run.ask": (lambda v: scripted(ask=v), ""),
    "run.profile": (lambda v: scripted(profile=v), "none"),
    "run.calls": (lambda v: scripted(calls=v), ""),
    "run.repeats": (lambda v: scripted(repeats=v), ""),
    "run.deadline_seconds": (lambda v: scripted(deadline_seconds=v), "number share"),
    "run.out": (lambda v: scripted(out=v), "none text"),
    "run.resume": (lambda v: scripted(resume=v), "none"),
    "compare": (lambda v: tunaeval.compare(v, v), ""),
    "rescore": (tunaeval.rescore, ""),
    "rescore_bfcl": (tunaeval.rescore_bfcl, ""),
    "rescore_bfcl.prompts": (lambda v: tunaeval.rescore_bfcl(".", prompts=v), ""),
    "load_report": (load_report, ""),
    "check_suite": (check_suite, ""),
    "score.messages": (lambda v: scored(messages=v), "list"),
    "score.query": (lambda v: scored(query=v), "text"),
    "score.executions": (lambda v: scored(executions=v), "list"),
    "score.preset": (lambda v: scored(preset=v), ""),
    "score.categories": (lambda v: scored(categories=v), "list mapping"),
    "score.settings": (lambda v: scored(settings=v), ""),
    "score.check": (lambda v: scored(check=v), "none text function"),
    "score.check_timeout": (lambda v: scored(check="true", check_timeout=v), "number share"),
    "score.expect": (lambda v: scored(expect=v), "none"),
    "score.forbid": (lambda v: scored(forbid=v), "none list"),
    "score.judge": (lambda v: scored(judge=v), "none"),
    "score.start": (lambda v: scored(start=v), ""),
    "score.notes": (lambda v: scored(notes=v), "list"),
    "scoring_session.out": (lambda v: entered(messages=TASK, out=v), "none text"),
    "read_scores": (tunaeval.read_scores, ""),
    "read_conversation": (tunaeval.read_conversation, "list"),
    "read_conversation.shape": (lambda v: tunaeval.read_conversation(TASK, shape=v), "none"),
    "Recorder.limit": (tunaeval.Recorder, "number"),
    "Recorder.classifiers": (lambda v: tunaeval.Recorder(classifiers=v), "none list"),
    "Recorder.listener": (lambda v: tunaeval.Recorder(listener=v), "none function"),
    "Executor.categories": (lambda v: tunaeval.Executor([], categories=v), "mapping"),
    "Executor.max_parallel": (lambda v: tunaeval.Executor([], max_parallel=v), "none number"),
    "execute.calls": (lambda v: asyncio.run(tunaeval.execute(v, [])), "list"),
    "Backoff.max_attempts": (tunaeval.Backoff, "number"),
    "Backoff.base_seconds": (lambda v: tunaeval.Backoff(base_seconds=v), "number share"),
    "Judge.client": (tunaeval.Judge, ""),
    "Judge.categories": (lambda v: tunaeval.Judge(ScriptedClient(), categories=v), ""),
    "Judge.votes": (lambda v: tunaeval.Judge(ScriptedClient(), votes=v), "number"),
    "calibrate": (lambda v: tunaeval.calibrate(v, tunaeval.Judge(ScriptedClient())), ""),
    "ScoreSettings.completion_tools": (lambda v: ScoreSettings(completion_tools=v), "list"),
    "ScoreSettings.profile": (lambda v: ScoreSettings(profile=v), "none"),
    "ScoreSettings.many_steps": (lambda v: ScoreSettings(many_steps=v), "number share"),
    "ScoreSettings.expect": (lambda v: ScoreSettings(expect=v), "none"),
    "read_tool_prompt": (tunaeval.read_tool_prompt, ""),
    "busy_seconds": (tunaeval.busy_seconds, "list"),
    "from_environment": (tunaeval.from_environment, "none mapping strange"),
    "ScriptedClient": (ScriptedClient, "list"),
    "ReplayClient.path": (lambda v: ReplayClient(path=v), ""),
    "OpenAIClient.base_url": (lambda v: OpenAIClient(base_url=v), ""),
    "OpenAIClient.attempt_timeout": (
        lambda v: OpenAIClient(base_url="http://127.0.0.1:1/v1", attempt_timeout=v),
        "number share",
    ),
    "formats.get": (tunaeval.formats.get, ""),
}  # fmt: skip
ODD: dict[str, object] = {
    "number": 42,
    "share": 0.5,
    "none": None,
    "text": "nope",
    "bytes": b"x",
    "list": [],
    "numbers": [42],
    "mapping": {},
    "strange": {"a": 1},
    "object": object(),
    "function": lambda: True,
}


def refusal_of(use: Callable[[Any], object], value: object, kind: str) -> str:
    try:
        use(value)
    except TunaevalError as error:
        return str(error)
    pytest.fail(f"{value!r} was taken ({kind})")


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_what_a_parameter_cannot_take_is_refused_in_a_sentence(
    parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    use, takes = PARAMETERS[parameter]
    for kind, value in ODD.items():
        if kind in takes.split():
            use(value)
            continue
        words = refusal_of(use, value, kind)
        assert words.strip(), kind
        assert "\n" not in words, kind
        assert not re.search(r"\b(unhashable|object has no attribute|not iterable)\b", words), kind


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (
            lambda: scripted(suite=5),
            (
                "name of a built-in suite (everyday, repair-tasks, smoke, tunacode), the path of "
                "a suite file, or what such a file has"
            ),
        ),
        (lambda: scripted(client=42), "client is 42; wanted a name (llamacpp, openai, replay, "),
        (lambda: scripted(repeat=3), "no parameter of run() is called 'repeat'; did you mean 're"),
        (
            lambda: tunaeval.run("smoke", client="openai", base_ulr="http://x"),  # type: ignore[call-arg]  # what is wrong
            "no parameter of run() or of client 'openai' is called 'base_ulr'; did you mean 'base_",
        ),
        (
            lambda: scripted(client=ScriptedClient),
            "client is the class ScriptedClient; wanted one of its objects: ScriptedClient(...)",
        ),
        (lambda: scripted(timeout=3), "is called 'timeout'; did you mean 'deadline_seconds'?"),
        (lambda: scripted(tools="api"), "is called 'tools'; did you mean 'ask'?"),
        (
            lambda: tunaeval.run("smoke", client="openai", timeout=3),  # type: ignore[call-arg]  # what is wrong
            "is called 'timeout'; did you mean 'deadline_seconds'?",
        ),
        (
            lambda: scripted(base_url="http://x"),
            "; the client is made already, so it",
        ),
        (lambda: scripted(options={"level": "strict"}), "wanted tunaeval.RunOptions(...)"),
        (lambda: scripted(level="Strict"), "no level is called 'Strict'; did you mean 'strict'?"),
        (lambda: scripted(out=42), "out is 42; wanted a path, as a string or a Path"),
        (lambda: scored(forbid="bash"), "forbid is 'bash', wanted a list of tool names"),
    ],
)
def test_the_sentence_says_what_was_wanted(use: Callable[[], object], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        use()
    assert words in str(caught.value)


def test_a_typo_is_not_blamed_on_the_client() -> None:
    with pytest.raises(UsageError) as caught:
        scripted(repeat=3)
    assert str(caught.value).endswith("did you mean 'repeats'?")


class Word:
    """A scorer that returns a bare text."""

    name, weight = "word", 1.0

    async def score(self, transcript: object) -> CategoryScore:
        del transcript
        return "good"  # type: ignore[return-value]  # what a user may get wrong


def test_a_scorer_that_returns_a_text_is_told_what_is_wanted() -> None:
    result = tunaeval.score(TASK, "q", categories=[Word()])
    assert result.weighted_total is None
    assert result.details.outcome == "category_failure"
    assert (
        "the scoring category 'word' returned 'good'; wanted a bool, a number from 0 to 1, None, "
        in result.details.reasoning
    )


def test_run_inside_a_running_loop_names_what_to_await() -> None:
    async def inside() -> None:
        scripted()

    with pytest.raises(UsageError, match=r"use: await tunaeval\.arun\(\.\.\.\)"):
        asyncio.run(inside())


def test_what_it_names_works_there() -> None:
    async def inside() -> int:
        report = await tunaeval.arun("smoke", client=ScriptedClient(["x"] * 99), out=None)
        return report.total

    assert asyncio.run(inside()) == 12


def test_run_has_a_parameter_for_each_of_its_options() -> None:
    for run in (tunaeval.run, tunaeval.arun):
        parameters = inspect.signature(run).parameters
        for field in dataclasses.fields(tunaeval.RunOptions):
            assert parameters[field.name].annotation == field.type, field.name
