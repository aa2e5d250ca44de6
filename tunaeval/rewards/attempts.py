"""The attempts that a model made: calls, and what is broken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tunaeval.types.calls import ToolCall
from tunaeval.types.parsing import Diagnosis

NO_COMPLETION = "no_completion"
TOO_LONG = "too_long"
NOT_A_CALL = "not-a-call"


class BrokenSpan(NamedTuple):
    """A broken attempt: characters `start` to `end` of the text of a message.

    `message` is its index, or None if the completion is one text or one message.
    """

    start: int
    end: int
    message: int | None = None


@dataclass(slots=True)
class Attempts:
    """The attempts in a completion: its calls, the indices of those that are in a fence or have two
    guesses, and what is broken.
    """

    calls: list[ToolCall]
    fenced: set[int]
    hedged: set[int] = field(default_factory=set)
    broken: int = 0
    spans: tuple[BrokenSpan, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    outcome: str = "no_call"
    speaks: bool = False
    """Whether the completion ends with something besides its calls."""
    placed: int | None = None
    """How many calls come before everything broken; None if nothing is broken."""

    def add(self, other: Attempts, message: int) -> None:
        """Add the attempts in the model's next message."""
        if self.placed is None and other.placed is not None:
            self.placed = len(self.calls) + other.placed
        self.fenced |= {index + len(self.calls) for index in other.fenced}
        self.hedged |= {index + len(self.calls) for index in other.hedged}
        self.calls += other.calls
        self.broken += other.broken
        self.spans += tuple(span._replace(message=message) for span in other.spans)
        self.diagnoses += other.diagnoses
        self.speaks = other.speaks
        self.outcome = max(self.outcome, other.outcome, key=_WEIGHT.__getitem__)


_WEIGHT = {NO_COMPLETION: -1, "no_call": 0, "truncated": 1, "malformed": 2, "calls": 3, TOO_LONG: 4}
