"""Null models, which call nothing or never correctly, have to pass next to no scenario.

A suite, a parser or a verdict that lets one of them pass would count chance or failure as skill.
They answer every scenario of every built-in suite, and may pass only a small share at any level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import HERMES
from tunaeval.matching.answers import own_answer
from tunaeval.matching.calls import match
from tunaeval.parsing.api import parse_message
from tunaeval.parsing.write import render_calls
from tunaeval.reports.replies import Read
from tunaeval.runs.episode import Episode, Trial, episode, read_at_all_levels
from tunaeval.runs.options import RunOptions
from tunaeval.runs.prompts import asking
from tunaeval.tasks.suites.loading import load_suite, suite_names
from tunaeval.types.calls import JsonObject, ToolCall, Tools
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import LEVELS, Level, ParseResult
from tunaeval.types.roles import Parser
from tunaeval.types.runs import Expectation, Scenario, ScenarioResult, Suite

from .measured import USUAL, Extent, Measured, MeasuredFault, Subject

ABSTENTIONS_AT_MOST = 0.2
"""The share of a built-in suite's scenarios that may want no call; more would reward silence."""

_ONE_TOOL_SHARE = 0.05
"""The share that always calling one tool may pass: suites ask for more than a tool's name."""

_RIGHT_TOOL_SHARE = 0.05
"""The share that the right tools without arguments may pass: few questions are about no value."""


class _Question(NamedTuple):
    """What a null model gets: a scenario, its tools, and the format in which it may call."""

    scenario: Scenario
    tools: Tools
    form: Format | None

    def calls(self, *calls: ToolCall) -> str:
        """Return the calls as text in the format, or in "hermes" if the parser has no `Format`.

        What the format cannot express is malformed there, which may pass no scenario either.
        """
        return render_calls(calls, self.form or HERMES)


@dataclass(frozen=True, slots=True)
class NullModel:
    """A model that answers without thinking. If it `abstains`, it may pass if no call is wanted.

    `floor` is the share of the other scenarios that it may pass. If it is `marked`, its text is an
    attempt only in formats that mark their calls; others recognize a call by the tool's name.
    """

    name: str
    says: Callable[[_Question], str]
    abstains: bool = False
    floor: float = 0.0
    marked: bool = False


def _first_call(asked: _Question) -> str:
    """Return a call of the first tool, with arbitrary required arguments of the right types."""
    return asked.calls(*_anything_for(asked, next(iter(asked.tools))))


def _anything_for(asked: _Question, *names: str) -> tuple[ToolCall, ...]:
    return own_answer(Expectation(tools=names), asked.tools)


def _broken(asked: _Question) -> str:
    whole = _first_call(asked)
    return whole[: len(whole) * 2 // 3]


def _right_tools(asked: _Question) -> str:
    """Return the expected tools' calls without arguments, or the first tool's if none is expected.

    So answers a model that takes no value from the question.
    """
    expect = asked.scenario.expect
    names = [call.name for call in expect.calls or ()] or expect.tools or [next(iter(asked.tools))]
    return asked.calls(*(ToolCall(name, {}) for name in names))


NULL_MODELS = (
    NullModel("says nothing", lambda _: "", abstains=True),
    NullModel("says abc", lambda _: "abc", abstains=True),
    NullModel("repeats the prompt", lambda asked: asked.scenario.prompt, abstains=True),
    NullModel("breaks every call", _broken),
    NullModel(
        "calls a tool that is none",
        lambda asked: asked.calls(ToolCall("no_such_tool", {"value": "x"})),
        marked=True,
    ),
    NullModel("calls the first tool", _first_call, floor=_ONE_TOOL_SHARE),
    NullModel(
        "calls every tool",
        lambda asked: asked.calls(*_anything_for(asked, *asked.tools)),
    ),
    NullModel("calls the right tools without arguments", _right_tools, floor=_RIGHT_TOOL_SHARE),
)


def null(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Let each null model answer each built-in suite, in each format, with one retry.

    The bar: no model passes more scenarios that want a call than its floor; none that attempts a
    call passes where none is wanted; and no suite has more of these than `ABSTENTIONS_AT_MOST`.
    """
    del extent  # nothing is random here
    faults: list[MeasuredFault] = []
    shares: dict[str, float] = {}
    scores: dict[str, float] = {}
    for name in suite_names():
        suite = load_suite(name)
        if any(one.task for one in suite.scenarios):
            continue  # graded by its effects; its own tests run it with no action at all
        share = sum(not _wants_call(one, suite) for one in suite.scenarios) / len(suite.scenarios)
        shares[name] = round(share, 4)
        if share > ABSTENTIONS_AT_MOST:
            faults.append(
                MeasuredFault("", "silence is rewarded", name, f"{share:.3f} want no call")
            )
        for subject, model in product(subjects, NULL_MODELS):
            forms = subject.forms or (None,)
            for form in forms[:1] if model.abstains else forms:  # its text has no format
                if model.marked and form is not None and (form.whole or form.by_tool):
                    continue  # the format does not mark calls, so the text is no attempt in it
                results = list(_answers(model, suite, subject.parser, form))
                passed = sum(result.ok for result in results) / len(results)
                scores[model.name] = round(max(passed, scores.get(model.name, 0.0)), 4)
                faults += _above(model, suite, subject, results)
    figures: JsonObject = {
        "formats": len(subjects),
        "want_no_call": shares,
        "want_no_call_at_most": ABSTENTIONS_AT_MOST,
        "highest_scores": scores,
        "floors": {model.name: model.floor for model in NULL_MODELS},
    }
    return Measured("null", figures, tuple(faults))


def _above(
    model: NullModel, suite: Suite, subject: Subject, results: Sequence[ScenarioResult]
) -> Iterator[MeasuredFault]:
    """Yield a fault for each level at which a model passed more than its floor."""
    wanting = {one.id for one in suite.scenarios if _wants_call(one, suite)}
    for level in LEVELS:
        passed = [result for result in results if result.levels[level].ok]
        unearned = [result for result in passed if result.scenario in wanting]
        if len(unearned) > model.floor * len(wanting):
            detail = f"{level}: {len(unearned)} of {len(wanting)}, as {unearned[0].scenario}"
            yield MeasuredFault(subject.name, f"{model.name}, and passes", suite.name, detail)
        for result in passed:
            if not model.abstains and result.scenario not in wanting:
                detail = f"{level}: {result.scenario}"
                yield MeasuredFault(
                    subject.name, f"{model.name}, and that is no call", suite.name, detail
                )


def _wants_call(scenario: Scenario, suite: Suite) -> bool:
    tools = _tools_of(scenario, suite)
    return not match(scenario.expect, (), profile=suite.profile, tools=tools).ok


def _tools_of(scenario: Scenario, suite: Suite) -> Tools:
    return suite.tools if scenario.tools is None else scenario.tools


def _answers(
    model: NullModel, suite: Suite, parser: Parser, form: Format | None
) -> Iterator[ScenarioResult]:
    """Yield the result of each scenario, answered by the model with calls in the format `form`."""
    wording, options = asking(suite), RunOptions().for_suite(suite)
    readers: dict[tuple[object, ...], Read] = {}
    for scenario in suite.scenarios:
        tools = _tools_of(scenario, suite)
        text = model.says(_Question(scenario, tools, form))
        reply = Reply({"role": "assistant", "content": text}, "stop")
        same = (text, *map(id, tools.values()))
        if same not in readers:
            readers[same] = _reader(parser, tools, reply)
        read = readers[same]
        yield _null_result(episode(Trial(scenario, tools, read, options), wording), reply)


def _reader(parser: Parser, tools: Tools, reply: Reply) -> Read:
    """Return a reader that parses a reply once, for all scenarios with the same tools."""

    def read(reply: Reply, level: Level) -> ParseResult:
        return parse_message(reply.message, format=parser, tools=tools, level=level)

    known = read_at_all_levels(reply, read)
    return lambda _reply, level: known[level]


def _null_result(talk: Episode, reply: Reply) -> ScenarioResult:
    """Return the result of a scenario in which every request gets the same reply."""
    next(talk)
    while True:
        try:
            talk.send(reply)
        except StopIteration as end:
            result: ScenarioResult = end.value
            return result
