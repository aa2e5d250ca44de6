"""Whether anything comes through at all: the first failures may be anyone's own, or everyone's.

A wrong key or address refuses all requests; a content filter, one. So the results of refused and
unconnected requests are kept back until something else is heard; then they are without the advice
that is for a wrong key or address. When nothing is, the run ends, and what was kept back is in no
file: once the key is right, it is asked like all the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tunaeval.errors import ClientSetupError, TransportFailure
from tunaeval.types.exchange import Reply
from tunaeval.types.runs import ScenarioResult

from .resume import Begun
from .waiting import HOPELESS

_PATIENCE = 5
"""So many refusals, or failures to connect, and nothing else, and no request can succeed."""


class Placed(NamedTuple):
    """A result and its place in the run."""

    place: int
    result: ScenarioResult


class Contact:
    """What a run has heard of its server. `places` is how many results are to come."""

    def __init__(self, begun: Begun, concurrency: int, places: int) -> None:
        most = max(_PATIENCE, concurrency)
        # Of a run that had answers before, a few that are left prove nothing.
        self._most = most if begun.was_answered else min(places, most)
        self._is_heard = False
        self._refused = 0
        self._held: list[Placed] = []
        self._advice: set[str] = set()

    def hold_nothing(self) -> None:
        """Let every result through: of an agent, whose requests nobody hears here."""
        self._is_heard = True

    def heard(self, answer: Reply | TransportFailure) -> None:
        """Count what a request came to."""
        is_hopeless = isinstance(answer, TransportFailure) and answer.kind in HOPELESS
        if isinstance(answer, TransportFailure) and answer.advice:
            self._advice.add(f"; {answer.advice}")
        self._refused += is_hopeless
        self._is_heard = self._is_heard or not is_hopeless

    def known(self, place: int, result: ScenarioResult) -> Iterator[Placed]:
        """The results that are what they seem by now, this one and those kept back before.

        Raises ClientSetupError when nothing came through.
        """
        if self._is_heard and not self._held:
            return iter((Placed(place, self._told(result)),))
        self._held.append(Placed(place, result))
        if not self._is_heard and self._refused >= self._most:
            error = result.error or ""
            hint = "; is the server running at this address?"
            raise ClientSetupError(
                f"no request came through; the first {self._refused} failed alike "
                f"({error}){hint if error.startswith('connect') else ''}"
            )
        return self.rest() if self._is_heard else iter(())

    def rest(self) -> Iterator[Placed]:
        """Whatever is kept back."""
        while self._held:
            place, result = self._held.pop(0)
            yield Placed(place, self._told(result))

    def _told(self, result: ScenarioResult) -> ScenarioResult:
        """The result, with the advice only where nothing else was heard."""
        if result.error is None or not self._is_heard:
            return result
        for advice in self._advice:
            if result.error.endswith(advice):
                shorter = {
                    "error": result.error.removesuffix(advice),
                    "reason": result.reason.removesuffix(advice),
                }
                return result.model_copy(update=shorter)
        return result
