"""What a host may say about scoring: what ends a task, what is expected, where the thresholds lie.

The preset `evals2` is fixed and looks at none of it; `default` and the further categories do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.matching import PROFILES, read_expectation
from tunaeval.types import Tools
from tunaeval.types.runs import Expectation

from .tokens import CountsTokens, TokenCounter, counter_of


@dataclass(frozen=True, slots=True)
class Steps:
    """A value that falls in steps: that of the first limit which an amount does not exceed."""

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
        return next((value for limit, value in self.limits if amount <= limit), self.beyond)


@dataclass(frozen=True, slots=True)
class Price:
    """What a model's tokens cost, for servers that report tokens and no price."""

    prompt_usd_per_million: float
    completion_usd_per_million: float

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_amount(field.name, getattr(self, field.name))


COMPLETION_TOOLS = frozenset({"done_tool"})
PLANNERS = frozenset({"planner_tool", "classification_tool", "planner", "classification"})
CONTEXT_STEPS = Steps(((32_000, 1.0), (64_000, 0.8), (128_000, 0.6), (256_000, 0.4)), beyond=0.2)
"""In tokens. These three are those of `evals2` too."""

_SECONDS = Steps(
    (
        (30, 1.0), (60, 0.9), (120, 0.8), (180, 0.7), (240, 0.6),
        (300, 0.5), (360, 0.4), (480, 0.3), (600, 0.2),
    ),
    beyond=0.1,
)  # fmt: skip
"""The time buckets of the harness that `evals2` is named after."""

_DOLLARS = Steps(((0.01, 1.0), (0.10, 0.8), (1.00, 0.6), (10.00, 0.4)), beyond=0.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """How the categories read a transcript; each field names the categories that look at it.

    Raises UsageError for what cannot be used, ExpectationError for an impossible `expect`.
    """

    completion_tools: frozenset[str] = COMPLETION_TOOLS
    """goal-completion: a call of one of these says that the task is done."""
    completion_phrases: tuple[str, ...] = ("TUNACODE DONE:",)
    """goal-completion: so does a line of the assistant's that begins with one of these."""
    planners: frozenset[str] = PLANNERS
    """plan-correctness: tools that plan, and do nothing else."""
    many_steps: int = 20
    """plan-correctness: more steps than these are too many; parallel calls are one step."""
    polling_tools: frozenset[str] = frozenset()
    """Equal calls of these are expected: they are no retry, no waste and no loop."""
    retry_penalty: float = 0.05
    """success-ratio: taken off for each retry."""
    failure_penalty: float = 0.10
    """success-ratio: taken off for each failure."""
    context_steps: Steps = CONTEXT_STEPS
    """context-efficiency, in tokens."""
    count_tokens: CountsTokens | None = None
    """context-efficiency: counts a text's tokens where none were reported; None: characters / 4.

    `count(text) -> int`, or a tokenizer of tiktoken, tokenizers, transformers or sentencepiece.
    """
    latency_steps: Steps = _SECONDS
    """latency, in seconds."""
    cost_steps: Steps = _DOLLARS
    """cost, in dollars."""
    price: Price | None = None
    """cost: what tokens cost where the server reported no price."""
    expect: Expectation | Mapping[str, Any] | None = None
    """expected-trajectory: the calls that are wanted, as `tunaeval.match` takes them."""
    profile: str = "strict"
    """expected-trajectory: the profile of `tunaeval.match`."""
    tools: Tools | None = None
    """argument-validity, plan-correctness, expected-trajectory: the tools that were offered."""

    def __post_init__(self) -> None:
        _set(self, "completion_phrases", tuple(_names("completion_phrases", self)))
        for name in ("completion_tools", "planners", "polling_tools"):
            _set(self, name, frozenset(_names(name, self)))
        for name in ("retry_penalty", "failure_penalty", "many_steps"):
            _check_amount(name, getattr(self, name))
        if self.expect is not None and not isinstance(self.expect, Expectation):
            _set(self, "expect", read_expectation(self.expect))
        if self.profile not in PROFILES:
            raise UnknownNameError("match profile", self.profile, PROFILES)
        if not isinstance(self.tools, Tools | None):
            raise UsageError(f"tools is {self.tools!r:.60}; write tools=tunaeval.to_tools(...)")
        if self.count_tokens is not None:
            counter_of(self.count_tokens)

    @property
    def counter(self) -> TokenCounter:
        return counter_of(self.count_tokens)

    @property
    def wanted(self) -> Expectation | None:
        """`expect`, read: it is an `Expectation` from the first moment on."""
        return self.expect if isinstance(self.expect, Expectation) else None


def _set(settings: ScoreSettings, name: str, value: object) -> None:
    object.__setattr__(settings, name, value)


def _names(name: str, settings: ScoreSettings) -> list[str]:
    given = getattr(settings, name)
    names = given if isinstance(given, str) else list(given)
    if isinstance(names, str) or not all(isinstance(one, str) and one for one in names):
        raise UsageError(f"{name} is {given!r:.60}, wanted a list of texts that are not empty")
    return names


def _check_amount(name: str, amount: object) -> None:
    if not (isinstance(amount, int | float) and math.isfinite(amount) and amount >= 0):
        raise UsageError(f"{name} is {amount!r}, wanted a number from 0 up")


USUAL_SETTINGS = ScoreSettings()
