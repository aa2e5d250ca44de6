"""Decide whether no request can succeed, while the first failures may be one request's own.

A wrong key or address fails all requests; a content filter fails one. So results of refused and
unconnected requests are kept back until any other answer arrives; then they are passed on without
the advice about a wrong key or address. If none arrives, the run ends, and no file has what was
kept back: a resumed run with the right key asks for all of it.
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
"""With this many refusals or failures to connect, and no other answer, no request can succeed."""


class Placed(NamedTuple):
    """A result and its place in the run."""

    place: int
    result: ScenarioResult


class Contact:
    """The contact of a run with its server; `places` is the number of results to come."""

    def __init__(self, begun: Begun, concurrency: int, places: int) -> None:
        most = max(_PATIENCE, concurrency)
        # If the run had answers before, failures of the few requests that are left prove nothing.
        self._most = most if begun.was_answered else min(places, most)
        self._is_heard = False
        self._refused = 0
        self._kept_back: list[Placed] = []
        self._advice: set[str] = set()

    def hold_nothing(self) -> None:
        """Keep nothing back; an agent sends its own requests, whose failures are unknown."""
        self._is_heard = True

    def heard(self, answer: Reply | TransportFailure) -> None:
        """Count the outcome of one request."""
        is_hopeless = isinstance(answer, TransportFailure) and answer.kind in HOPELESS
        if isinstance(answer, TransportFailure) and answer.advice:
            self._advice.add(f"; {answer.advice}")
        self._refused += is_hopeless
        self._is_heard = self._is_heard or not is_hopeless

    def known(self, place: int, result: ScenarioResult) -> Iterator[Placed]:
        """Return the results that can be passed on by now: this one, and those kept back before.

        Raises ClientSetupError if no request can succeed.
        """
        if self._is_heard and not self._kept_back:
            return iter((Placed(place, self._without_stale_advice(result)),))
        self._kept_back.append(Placed(place, result))
        if not self._is_heard and self._refused >= self._most:
            error = result.error or ""
            hint = "; is the server running at this address?"
            raise ClientSetupError(
                f"no request came through; the first {self._refused} failed alike "
                f"({error}){hint if error.startswith('connect') else ''}"
            )
        return self.rest() if self._is_heard else iter(())

    def rest(self) -> Iterator[Placed]:
        """Yield the results that are kept back."""
        while self._kept_back:
            place, result = self._kept_back.pop(0)
            yield Placed(place, self._without_stale_advice(result))

    def _without_stale_advice(self, result: ScenarioResult) -> ScenarioResult:
        """Return the result, without the advice once another answer has arrived."""
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
