"""A suite as an environment of TRL: what is trained is run and graded as in an evaluation.

    found = environment("repair-tasks", trained_on="trained.jsonl")
    GRPOTrainer(
        model, reward_funcs=found.reward, train_dataset=Dataset.from_list(found.rows),
        environment_factory=found.factory,
    )

TRL makes tools of the methods of a class: it reads their types from the signatures, and what is
said of them from the docstrings. It is not imported here.
"""

from __future__ import annotations

import asyncio
import re
import weakref
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from inspect import Parameter, Signature
from keyword import iskeyword
from operator import or_
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from tunaeval.errors import TransportFailure, UnknownNameError, UsageError
from tunaeval.parsing.api import sole_parser_for
from tunaeval.reports.replies import reading
from tunaeval.tasks.space import Workspace
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, ToolSpec
from tunaeval.types.exchange import Reply
from tunaeval.types.runs import ResultRecord, Scenario, ScenarioResult, Suite, Task, TaskRecord
from tunaeval.types.suites import Part
from tunaeval.types.wanted import wanted_name, wanted_path
from tunaeval.workers import in_daemon

from .driving import Driver, Environment, driver_of, workspace_of
from .episode import Trial, Turn, read_at_all_levels
from .options import RunOptions
from .prompts import asked_by, asking
from .trained_on import TrainedOn
from .turns import FinishedEpisode, Results, Run, task_result


def environment(
    suite: Suite | str | Path,
    split: Part = "train",
    trained_on: Path | str | None = None,
    *,
    around: Environment | None = None,
) -> TrainingEnvironment:
    """Return the part of a suite that is trained on, as TRL takes it.

    `trained_on` is a file to which each scenario is added with which an episode begins. `around`
    has the tools, if they are not those of a workspace.

    Raises:
        UsageError: For another part than "train", for users or servers, and for tools that cannot
            be methods, or that nothing runs.
    """
    if wanted_name(split, "part of a suite", get_args(Part)) != "train":
        raise UsageError(
            f"split is {split!r}, the part that a trained model is tested with; wanted 'train'"
        )
    suite = suite if isinstance(suite, Suite) else load_suite(suite)
    if around is None and all(one.task is None for one in suite.scenarios):
        around = Environment(tools=dict.fromkeys(suite.tools, _nothing))
    around = around or Environment()
    for what, where in _not_trained(suite, around):
        raise UsageError(
            f"suite {suite.name!r} has {what} ({where}), which TRL's environments cannot have; "
            "train on other scenarios"
        )
    kept = None if trained_on is None else TrainedOn(wanted_path(trained_on, "trained_on"))
    return TrainingEnvironment(suite.split("train"), around, kept)


def _nothing(**_arguments: object) -> str:
    """Answer a call of a single question, of which the call alone is graded."""
    return ""


def _not_trained(suite: Suite, around: Environment) -> Iterator[tuple[str, str]]:
    """Yield what in a suite cannot be trained on, and where it is."""
    for one in suite.scenarios:
        if one.task is not None and one.task.users:
            yield "users", f"scenario {one.id!r}"
        if one.tools is not None and one.tools != suite.tools:
            yield "tools of one scenario alone", repr(one.id)
    if around.user is not None:
        yield "users", "Environment.user"
    if suite.mcp:
        yield "servers", suite.mcp[0]
    for name, spec in suite.tools.items():
        for word in (name, *_properties(spec)):
            if not word.isidentifier() or iskeyword(word) or word in _TAKEN or name[0] == "_":
                yield f"the name {word!r}", f"tool {name!r}"


_TAKEN = frozenset({"reset", "get_reward", "self"})
"""Names with a meaning of their own in an environment's class."""


class TrainingEnvironment:
    """A suite as TRL takes it: `factory` is its `environment_factory`, `rows` are its data set (a
    list with the `prompt` and the id of each `scenario`), and `reward` is its reward function.
    """

    def __init__(self, suite: Suite, around: Environment, kept: TrainedOn | None) -> None:
        self._suite, self._around = suite, around
        self._keep: Callable[[Scenario], object] = lambda _: None
        if kept is not None:
            self._keep = partial(kept.add, suite)
        self._options = RunOptions().for_suite(suite)
        self._scenarios = {one.id: one for one in suite.scenarios}
        with workspace_of(Task(), around) as workspace:  # raises for a tool that nothing runs
            self._driver(suite.scenarios[0], workspace)

    @cached_property
    def rows(self) -> list[JsonObject]:
        """A row for each scenario: its `prompt`, as messages, and its id, `scenario`."""
        suite, how = self._suite, asking(self._suite)
        asked = [(one, asked_by(how, suite, one, suite.tools)) for one in suite.scenarios]
        return [
            {"prompt": how.messages(one.prompt, one.messages), "scenario": one.id}
            for one, how in asked
        ]

    @cached_property
    def factory(self) -> type[_Rollout]:
        """A class whose objects play one episode after another, with the tools as methods."""
        methods = {name: _method(spec) for name, spec in self._suite.tools.items()}
        return type("SuiteEnvironment", (_Rollout,), {"_training": self, **methods})

    def reward(
        self, completions: Sequence[Any], environments: Sequence[Any], **_columns: object
    ) -> list[float | None]:
        """Return 1.0 for each episode that passes. Another earns the mean of the two shares of its
        partial credit (see `Partial`); None is for a check that could not be made.
        """
        if len(completions) != len(environments or ()):
            raise UsageError(
                f"there are {len(completions)} completions and {len(environments or ())} "
                "environments; wanted an environment for each, as environment_factory makes them"
            )
        return [
            _worth(one._graded(made))  # noqa: SLF001 - TRL would take a public name for a tool
            for made, one in zip(completions, environments, strict=True)
        ]

    def _begun(self, name: object) -> tuple[Driver, Callable[[], object]]:
        """Return what drives an episode of a scenario, and what removes its workspace."""
        if name not in self._scenarios:
            raise UnknownNameError("scenario to train on", name, self._scenarios)
        scenario = self._scenarios[str(name)]
        workspace = workspace_of(scenario.task or Task(), self._around)
        return self._driver(scenario, workspace), workspace.close

    def _driver(self, scenario: Scenario, workspace: Workspace) -> Driver:
        suite, options = self._suite, self._options
        read = reading(
            sole_parser_for("auto"), suite.tools, abstain=(*options.abstain, *scenario.abstain)
        )
        trial = Trial(scenario, suite.tools, read, options)
        return _waited(driver_of(trial, workspace, self._around, _nobody))


async def _nobody(*_: object) -> TransportFailure:
    return TransportFailure("the model is asked by its trainer", kind="body")


def _worth(result: ScenarioResult) -> float | None:
    if result.ok or result.error is not None:
        return 1.0 if result.ok else None
    done = result.task.partial if result.task else None
    known = [one for one in (done.checks, done.calls) if one is not None] if done else []
    return sum(known) / max(1, len(known))


class _Rollout:
    """Plays one episode after another. TRL takes each public method but `reset` for a tool."""

    _training: TrainingEnvironment

    def __init__(self) -> None:
        self._ran: list[tuple[ToolCall, Results]] = []
        self._driver: Driver | None = None
        self._end: Callable[[], object] = lambda: None

    def reset(self, **row: Any) -> str | None:
        """Begin an episode of the row's `scenario`; its prompt is in the row."""
        self._end()
        self._driver, close = self._training._begun(row.get("scenario"))  # noqa: SLF001 - as above
        self._end, self._ran = weakref.finalize(self, close), []
        self._training._keep(self._driver.trial.scenario)  # noqa: SLF001 - as above
        return None

    def _begun(self) -> Driver:
        if self._driver is None:
            raise UsageError("no episode has begun; call reset(scenario=ID) first")
        return self._driver

    def _call(self, name: str, arguments: JsonObject) -> str:
        """Run a call and return its result, as the model gets it in an evaluation."""
        driver, number = self._begun(), len(self._ran) + 1
        most = driver.task.limits.calls
        if most is not None and number > most:
            return f"Error: the {most} calls of this task are used up"
        call = ToolCall(name, arguments, f"call_{number}")
        sent = _waited(driver.answer(Run((call,))))
        if not isinstance(sent, Results):
            words = "Error: it took too long"
            record = ResultRecord(id=call.id, tool=name, ok=False, content=words)
            sent = Results((record,))
        self._ran.append((call, sent))
        return sent.records[0].content

    def _graded(self, completion: Any) -> ScenarioResult:
        driver = self._begun()
        turns = [*self._turns(completion, driver.trial)]
        last = turns[-1].read[driver.trial.options.level].content.strip()
        record = _waited(driver.answer(FinishedEpisode("answer", last, tuple(turns))))
        assert isinstance(record, TaskRecord)  # noqa: S101 - what grading returns
        return task_result(driver.trial, turns, record, None)

    def _turns(self, completion: Any, trial: Trial) -> Iterator[Turn]:
        """Yield a turn for each of the model's messages, with those of its calls that were run."""
        if isinstance(completion, str):
            completion = [{"role": "assistant", "content": completion}]
        messages = [one for one in completion if one.get("role") == "assistant"]
        waiting = [*self._ran]
        for at, message in enumerate(messages or [_SILENT], 1):
            reply = Reply(dict(message), source="structured")
            found = read_at_all_levels(reply, trial.read)
            known = [one for one in found["lenient"].calls if one.source == "structured"]
            many = len(waiting) if at >= len(messages) else len(known)
            ran, waiting = waiting[:many], waiting[many:]
            yield Turn(
                reply,
                found,
                tuple(call for call, _ in ran),
                results=tuple(one for _, sent in ran for one in sent.records),
                touched=tuple(path for _, sent in ran for path in sent.touched),
            )


_SILENT: JsonObject = {"role": "assistant", "content": ""}
_T = TypeVar("_T")


def _waited(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end in a thread, as the caller's may have an event loop already."""
    return in_daemon(lambda: asyncio.run(work)).result()


def _properties(spec: ToolSpec) -> Mapping[str, Any]:
    found = spec.parameters.get("properties")
    return found if isinstance(found, Mapping) else {}


def _method(spec: ToolSpec) -> Callable[..., str]:
    """Return a tool as a method, with the types and words of its schema."""
    needed = spec.parameters.get("required") or ()
    properties = sorted(_properties(spec).items(), key=lambda item: item[0] not in needed)
    names = [name for name, _ in properties]

    def method(self: _Rollout, *args: Any, **given: Any) -> str:
        return self._call(spec.name, {**dict(zip(names, args, strict=False)), **given})

    kind = Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        Parameter(
            name,
            kind,
            default=Parameter.empty if name in needed else _field(schema, "default"),
            annotation=_type(schema),
        )
        for name, schema in properties
    ]
    words = [f"    {name}: {_line(_field(one, 'description') or name)}" for name, one in properties]
    method.__name__ = method.__qualname__ = spec.name
    method.__doc__ = "\n".join(
        [_line(spec.description or spec.name), *(["", "Args:", *words] if words else [])]
    )
    method.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": str}
    method.__signature__ = Signature(  # type: ignore[attr-defined] # functions have one on request
        [Parameter("self", kind), *parameters], return_annotation=str
    )
    return method


def _field(schema: object, key: str) -> Any:
    return schema.get(key) if isinstance(schema, Mapping) else None


def _line(text: object) -> str:
    """Return a text in one line, without the words that begin a docstring's sections."""
    return re.sub(r"\b(Args|Returns|Raises):", r"\1 -", " ".join(str(text).split()))


_TYPES = {
    "string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict,
    "null": type(None),
}  # fmt: skip
_SCALARS = (str, int, float, bool, type(None))


def _type(schema: JsonValue) -> Any:
    """Return the type that TRL writes as this schema, or one that is wider."""
    match schema:
        case {"enum": [_, *_] as values} if all(isinstance(one, _SCALARS) for one in values):
            return Literal[tuple(values)]
        case {"anyOf": [_, *_] as several} | {"oneOf": [_, *_] as several}:
            return _either(several)
        case {"type": [_, *_] as names}:
            return _either([{**schema, "type": name} for name in names])
        case {"type": "array", "items": items}:
            return list[_type(items)]  # type: ignore[misc] # made while the program runs
        case {"type": "object", "additionalProperties": dict() as values}:
            return dict[str, _type(values)]  # type: ignore[misc] # as above
        case {"type": str() as name}:
            return _TYPES.get(name, Any)
    return Any


def _either(schemas: Sequence[JsonValue]) -> Any:
    found = [*dict.fromkeys(map(_type, schemas))]
    return Any if Any in found else reduce(or_, found)
