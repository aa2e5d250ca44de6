"""The settings of scoring: what ends a task, what is expected, and where the thresholds are.

The preset `evals2` ignores all of them; the preset `default` and the categories outside of presets
use them. Tokens are counted with a tokenizer that is passed in, or estimated as characters / 4:
nothing is downloaded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeAlias, runtime_checkable

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.matching.calls import is_same_tool
from tunaeval.matching.expectations import read_expectation, read_forbidden
from tunaeval.matching.profiles import DEFAULT_PROFILE, profile_of
from tunaeval.showing import brief
from tunaeval.types.calls import Tools, ToolSpec
from tunaeval.types.runs import Expectation, ExpectedCall
from tunaeval.types.wanted import refusal, wanted_amount, wanted_items

from .running_tests import TEST_COMMANDS

_CHARACTERS_PER_TOKEN = 4  # a rule of thumb for English


@runtime_checkable
class _EncodesOrdinary(Protocol):
    """A tokenizer of tiktoken; unlike `encode`, this method accepts text like "<|endoftext|>"."""

    def encode_ordinary(self, text: str) -> Sized: ...


@runtime_checkable
class _Encodes(Protocol):
    """A tokenizer of tokenizers, transformers or sentencepiece."""

    def encode(self, text: str) -> Sized: ...


CountsTokens: TypeAlias = Callable[[str], int] | _EncodesOrdinary | _Encodes


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A function that counts a text's tokens, and its name, which the reasons of scores mention."""

    name: str
    count: Callable[[str], float]


ESTIMATE = TokenCounter(
    f"characters / {_CHARACTERS_PER_TOKEN}", lambda text: len(text) / _CHARACTERS_PER_TOKEN
)


def counter_of(given: CountsTokens | None) -> TokenCounter:
    """Return a counter that calls a function or tokenizer; None gives the estimate characters / 4.

    Raises UsageError for anything else.
    """
    if given is None:
        return ESTIMATE
    if isinstance(given, str | bytes):  # these have an `encode` method, too
        raise _no_counter(given)
    name = _name_of(given)
    # A tokenizer of transformers is also callable, but does not return a number then.
    if isinstance(given, _EncodesOrdinary):
        ordinary = given.encode_ordinary
        return TokenCounter(name, lambda text: len(ordinary(text)))
    if isinstance(given, _Encodes):
        encode = given.encode
        return TokenCounter(name, lambda text: len(encode(text)))
    if callable(given):
        count = given
        return TokenCounter(name, lambda text: _number(name, count(text)))
    raise _no_counter(given)


def _no_counter(given: object) -> UsageError:
    return UsageError(
        f"count_tokens is {brief(given)}; "
        "wanted count(text) -> int, or a tokenizer with encode(text)"
    )


def _name_of(given: object) -> str:
    for attribute in ("name", "name_or_path", "__name__"):
        name = getattr(given, attribute, None)
        if isinstance(name, str) and name:
            return name
    return f"{type(given).__module__}.{type(given).__qualname__}"


def _number(name: str, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise UsageError(f"{name} counted {brief(count)} tokens, wanted a whole number from 0 up")
    return count


@dataclass(frozen=True, slots=True)
class Steps:
    """A step function: the value of the first limit that is not exceeded, else `beyond`."""

    limits: tuple[tuple[float, float], ...]
    beyond: float

    def __post_init__(self) -> None:
        limits = [limit for limit, _ in self.limits]
        values = [*(value for _, value in self.limits), self.beyond]
        if not all(map(math.isfinite, limits)) or limits != sorted(set(limits)):
            raise UsageError(f"the limits are {limits!r}; wanted numbers, each above the last")
        if not all(0 <= value <= 1 for value in values):
            raise UsageError(f"the values are {values!r}; wanted numbers from 0 to 1")

    def value(self, amount: float) -> float:
        """Return the value, from 0 to 1, for this amount."""
        return next((value for limit, value in self.limits if amount <= limit), self.beyond)


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model's tokens in US dollars, for servers that report tokens but no price."""

    prompt_usd_per_million: float
    completion_usd_per_million: float

    def __post_init__(self) -> None:
        for field in fields(self):
            wanted_amount(getattr(self, field.name), field.name)


COMPLETION_TOOLS = frozenset({"done_tool"})
"""The completion tools of `evals2`."""
PLANNERS = frozenset({"planner_tool", "classification_tool", "planner", "classification"})
CONTEXT_STEPS = Steps(((32_000, 1.0), (64_000, 0.8), (128_000, 0.6), (256_000, 0.4)), beyond=0.2)
"""Limits in tokens. Both this and the planners are also those of `evals2`."""

_SECONDS = Steps(
    (
        (30, 1.0), (60, 0.9), (120, 0.8), (180, 0.7), (240, 0.6),
        (300, 0.5), (360, 0.4), (480, 0.3), (600, 0.2),
    ),
    beyond=0.1,
)  # fmt: skip
"""The time buckets, in seconds, of the harness that `evals2` is named after."""

_DOLLARS = Steps(((0.01, 1.0), (0.10, 0.8), (1.00, 0.6), (10.00, 0.4)), beyond=0.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """How the categories read a transcript; each field names the categories that use it.

    Raises UsageError for invalid values, and ExpectationError for an impossible `expect`.

    Examples:
        >>> tunaeval.ScoreSettings(forbid=("bash",)).forbid
        ('bash',)
    """

    completion_tools: frozenset[str] = COMPLETION_TOOLS | {"final_answer"}
    """goal-completion: a call of one of these claims that the task is done; it is no work."""
    completion_phrases: tuple[str, ...] = ()
    """goal-completion: a line of the assistant's that begins with one of these is a claim, too."""
    last_word_ends: bool = False
    """goal-completion: the assistant's last message is a claim, too, if it has text and no call.

    A message that a host appended as the user does not count.
    """
    forbid: tuple[str | ExpectedCall, ...] = ()
    """goal-completion: a call of one of these makes the total 0.

    Each is a tool's name, or a call with the forbidden arguments, as in an expectation; other
    arguments may accompany them. Calls with unreadable arguments, calls written as text, and
    executions count.
    """
    test_commands: tuple[str, ...] = TEST_COMMANDS
    """success-ratio: prefixes of commands that run tests; a failed test is no failed tool."""
    planners: frozenset[str] = PLANNERS
    """plan-correctness: tools that plan, and do nothing else."""
    many_steps: int = 20
    """plan-correctness: the most steps of a good plan; parallel calls are one step."""
    many_calls: int = 60
    """plan-correctness: the most calls of a good plan, even if they ran in parallel."""
    polling_tools: frozenset[str] = frozenset()
    """Equal calls of these are expected: they are no retry, no waste and no loop."""
    retry_penalty: float = 0.05
    """success-ratio: the amount subtracted for each retry."""
    failure_penalty: float = 0.10
    """success-ratio: the amount subtracted for each failure."""
    context_steps: Steps = CONTEXT_STEPS
    """context-efficiency: the values by context size in tokens."""
    count_tokens: CountsTokens | None = None
    """context-efficiency: counts a text's tokens if none were reported; None: characters / 4.

    `count(text) -> int`, or a tokenizer of tiktoken, tokenizers, transformers or sentencepiece.
    """
    latency_steps: Steps = _SECONDS
    """latency: the values by time in seconds."""
    cost_steps: Steps = _DOLLARS
    """cost: the values by cost in dollars."""
    price: Price | None = None
    """cost: the price of tokens if the server reported no cost."""
    expect: Expectation | Mapping[str, Any] | None = None
    """goal-completion without a check, expected-trajectory: what `tunaeval.match` expects."""
    profile: str = DEFAULT_PROFILE
    """goal-completion, expected-trajectory: the profile of `tunaeval.match`."""
    tools: Tools | None = None
    """argument-validity, plan-correctness, expected-trajectory: the tools that were offered."""

    def __post_init__(self) -> None:
        _set(self, "completion_phrases", _names("completion_phrases", self))
        for name in ("completion_tools", "planners", "polling_tools"):
            _set(self, name, frozenset(_names(name, self)))
        for name in ("retry_penalty", "failure_penalty", "many_steps", "many_calls"):
            wanted_amount(getattr(self, name), name)
        if not isinstance(self.last_word_ends, bool):
            raise refusal("last_word_ends", self.last_word_ends, "True or False")
        if self.expect is not None and not isinstance(self.expect, Expectation):
            _set(self, "expect", read_expectation(self.expect))
        profile_of(self.profile)
        if not isinstance(self.tools, Tools | None):
            raise UsageError(f"tools is {brief(self.tools)}; write tools=tunaeval.to_tools(...)")
        _set(self, "forbid", _forbidden_of(self.forbid, self.tools))
        _set(self, "test_commands", _names("test_commands", self))
        if self.count_tokens is not None:
            counter_of(self.count_tokens)

    @property
    def counter(self) -> TokenCounter:
        return counter_of(self.count_tokens)

    @property
    def wanted(self) -> Expectation | None:
        """`expect` as the `Expectation` that it was converted to, or None."""
        return self.expect if isinstance(self.expect, Expectation) else None


def _forbidden_of(given: object, tools: Tools | None) -> tuple[str | ExpectedCall, ...]:
    """Return the forbidden tools and calls, validated.

    Raises UsageError for an invalid entry, and for a tool that is not in `tools`: a misspelled name
    would forbid nothing.
    """
    found = read_forbidden(given)
    for index, one in enumerate(found):
        name = one if isinstance(one, str) else one.name
        same = [key for key in tools or () if is_same_tool(name, key, tools or ())]
        if tools is not None and not same:
            raise UsageError(f"forbid[{index}]: {UnknownNameError('tool', name, tools)}")
        if tools is not None and isinstance(one, ExpectedCall):
            _check_arguments(f"forbid[{index}]", one, tools[same[0]])
    return found


def _check_arguments(where: str, forbidden: ExpectedCall, tool: ToolSpec) -> None:
    """Raise UsageError for a forbidden argument that the tool lacks: it would forbid nothing."""
    schema = tool.parameters
    known = schema.get("properties")
    if (
        not isinstance(known, Mapping)
        or schema.get("additionalProperties")
        or schema.keys() & _MORE
    ):
        return
    for name in sorted(forbidden.arguments.keys() - known.keys()):
        unknown = UnknownNameError(f"argument of {tool.name!r}", name, known)
        raise UsageError(f"{where}: {unknown}")


_MORE = frozenset({"$ref", "allOf", "anyOf", "if", "oneOf", "patternProperties"})
"""Keywords with which a schema may allow arguments that are not in its properties."""


def _set(settings: ScoreSettings, name: str, value: object) -> None:
    object.__setattr__(settings, name, value)


def _names(name: str, settings: ScoreSettings) -> tuple[str, ...]:
    names = wanted_items(getattr(settings, name), name, str, _TEXTS)
    if not all(names):
        raise refusal(name, names, _TEXTS)
    return names


_TEXTS = "texts that are not empty"

USUAL_SETTINGS = ScoreSettings()

TUNACODE_2025_12 = ScoreSettings(
    completion_tools=frozenset(),
    completion_phrases=("TUNACODE DONE:", "TUNACODE_TASK_COMPLETE"),
    last_word_ends=True,
    planners=frozenset({"todoclear", "todoread", "todowrite"}),
)
"""For the TunaCode agent as it was in December 2025 (0.1.19, on pydantic-ai).

The model is asked to begin its last message with "TUNACODE DONE:". The agent removes the marker
before it stores the message, in memory and in the session file, without a replacement: the phrases
are found in recordings of the model's endpoint, never in a session. In a session only the last
response without a call, whose `finish_reason` is "stop", ends a task. After a response without the
marker the agent may store a user's prompt of its own that no model has answered. No tool reports
that a task is done; the to-do tools plan.
"""

TUNACODE_0_2 = ScoreSettings(
    completion_tools=frozenset(), completion_phrases=(), last_word_ends=True, planners=frozenset()
)
"""For the TunaCode agent since 0.2 (on tinyagent).

There is no marker: the model is not asked for one, and its text is stored unchanged. A task ends
with an assistant's message without a call, whose `stop_reason` is "stop" ("length" if it was cut; a
cancelled task lacks the results of its last calls). No tool reports that a task is done, and none
plans.
"""
