"""A scoring category: whether the agent got there in few calls."""

from __future__ import annotations

from dataclasses import dataclass

from tunaeval.types.roles import Transcript
from tunaeval.types.runs import CategoryScore


@dataclass(frozen=True, slots=True)
class Brevity:
    """1 for up to `enough` calls, then `enough` divided by the calls; None where there are none.

    What does not apply is None and not a good score: the weights of the others take its place.
    """

    enough: int = 3
    name: str = "acme-brevity"
    weight: float = 0.1

    async def score(self, transcript: Transcript) -> CategoryScore:
        calling = [i for i, message in enumerate(transcript.messages) if message.tool_calls]
        count = sum(len(transcript.messages[i].tool_calls) for i in calling)
        if not count:
            return CategoryScore(value=None, reason="nothing was called")
        value = min(1.0, self.enough / count)
        reason = f"{count} calls, and {self.enough} are enough"
        return CategoryScore(value=value, reason=reason, evidence=tuple(calling))


BREVITY = Brevity()
