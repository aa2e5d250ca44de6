"""Null models: what calls nothing, or never correctly, must pass next to nothing.

A suite, a parser or a verdict that lets one of them pass would count chance or failure as skill.
They answer every scenario of every built-in suite, and each level is compared with their floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tunaeval.grammar.format import Format
from tunaeval.matching.calls import match
from tunaeval.parsing.api import parse_message, render
from tunaeval.runs.episode import Episode, Read, episode
from tunaeval.runs.options import RunOptions
from tunaeval.runs.prompts import asking
from tunaeval.runs.suites.loading import load_suite, suite_names
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, ToolSpec
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import LEVELS
from tunaeval.types.roles import Parser
from tunaeval.types.runs import Scenario, ScenarioResult, Suite

from .measured import USUAL, Extent, Measured, MeasuredFault, Subject

ABSTENTIONS_AT_MOST = 0.2
"""The share of a built-in suite's scenarios that may want no call; more would reward silence."""

_ONE_TOOL_SHARE = 0.05
"""The share that always calling one tool may pass: suites ask for more than a tool's name."""


@dataclass(frozen=True, slots=True)
class NullModel:
    """A model that answers every question alike. `abstains`: it may pass where no call is wanted.

    `floor` is the share of the other scenarios that it may pass. `marked`: its text is an attempt
    only in formats that mark their calls; other formats recognize a call by the tool's name.
    """

    name: str
    says: Callable[[Suite, Format | None], str]
    abstains: bool = False
    floor: float = 0.0
    marked: bool = False


def _first_call(suite: Suite, form: Format | None) -> str:
    """Return a call of the first tool, with arbitrary required arguments of the right types."""
    spec = next(iter(suite.tools.values()))
    return _written(ToolCall(spec.name, _anything_for(spec)), form)


def _broken(suite: Suite, form: Format | None) -> str:
    """Return the first call without its last third."""
    whole = _first_call(suite, form)
    return whole[: len(whole) * 2 // 3]


NULL_MODELS = (
    NullModel("says nothing", lambda _, __: "", abstains=True),
    NullModel("says abc", lambda _, __: "abc", abstains=True),
    NullModel("breaks every call", _broken),
    NullModel(
        "calls a tool that is none",
        lambda _, form: _written(ToolCall("no_such_tool", {"value": "x"}), form),
        marked=True,
    ),
    NullModel("calls the first tool", _first_call, floor=_ONE_TOOL_SHARE),
)


def null(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Let each null model answer each built-in suite, in each format, with one retry.

    The bar: no model passes more scenarios that want a call than its floor; none that attempts a
    call passes where none is wanted; and no suite has more such scenarios than declared.
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
        for subject in subjects:
            for model in NULL_MODELS:
                results = list(_answers(model, suite, subject))
                if not results:
                    continue  # the subject's formats do not mark calls: no result for this model
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
    return not match(scenario.expect, (), profile=suite.profile, tools=suite.tools).ok


def _answers(model: NullModel, suite: Suite, subject: Subject) -> Iterator[ScenarioResult]:
    wording, options = asking(suite), RunOptions().for_suite(suite)
    for form in subject.forms or (None,):
        if model.marked and form is not None and (form.whole or form.by_tool):
            continue
        reply = Reply({"role": "assistant", "content": model.says(suite, form)}, "stop")
        read = _reader(subject.parser, suite, reply)
        for scenario in suite.scenarios:
            talk = episode(scenario, asking=wording, tools=suite.tools, read=read, options=options)
            yield _ended(talk, reply)


def _reader(parser: Parser, suite: Suite, reply: Reply) -> Read:
    """Return a reader that parses the model's only reply once, for all scenarios."""
    known = {
        level: parse_message(reply.message, format=parser, tools=suite.tools, level=level)
        for level in LEVELS
    }
    return lambda _reply, level: known[level]


def _ended(talk: Episode, reply: Reply) -> ScenarioResult:
    """Return the result of a scenario in which every request gets the same reply."""
    next(talk)
    while True:
        try:
            talk.send(reply)
        except StopIteration as end:
            result: ScenarioResult = end.value
            return result


def _written(call: ToolCall, form: Format | None) -> str:
    """Return the call in the format; for a parser in code, in the format of most models."""
    return render([call], form or "hermes")


def _anything_for(spec: ToolSpec) -> JsonObject:
    properties = spec.parameters.get("properties", {})
    return {
        name: _ANYTHING.get(properties.get(name, {}).get("type"), "x")
        for name in spec.parameters.get("required", ())
    }


_ANYTHING: dict[str, JsonValue] = {
    "string": "x",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
}
