"""Categories of somebody else's, for the tests of scoring."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tunaeval.types.conversations import Transcript
from tunaeval.types.runs import CategoryScore


@dataclass(frozen=True)
class Fixed:
    """A category of somebody else's."""

    name: str
    weight: float
    value: float | None

    async def score(self, transcript: Transcript) -> CategoryScore:
        await asyncio.sleep(0)
        return CategoryScore(value=self.value, reason=transcript.query)


@dataclass
class Doing:
    """One that does what it is told."""

    name: str
    does: Callable[[], Any]
    weight: float = 1.0

    async def score(self, transcript: Transcript) -> CategoryScore:
        del transcript
        verdict: CategoryScore = self.does()
        return verdict
