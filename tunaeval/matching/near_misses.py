"""For each expected call that was not made, the nearest call and the differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tunaeval.types.calls import ToolCall, Tools

from .assignment import Fit, Pairs, Wish
from .failures import Failure
from .profiles import profile_of


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest call to a wish; without failures, only its position is wrong."""

    call: int
    failures: tuple[Failure, ...]


def nearest(
    wishes: Sequence[Wish],
    calls: Sequence[ToolCall],
    pairs: Pairs,
    *,
    profile: str | None = None,
    tools: Tools | None = None,
) -> dict[int, Nearest]:
    """Return the nearest unpaired call for each unpaired wish. Calls of the same tool come before
    others, then those with the fewest failures, then those at the nearest index.
    """
    fit = Fit(wishes, calls, tools or Tools(), profile_of(profile).compare)
    met, used = {wish for wish, _ in pairs}, {call for _, call in pairs}
    alone = [wish for wish in range(len(wishes)) if wish not in met]
    spare = [call for call in range(len(calls)) if call not in used]
    # Wishes with a fitting call choose first, so that no other wish takes it.
    alone.sort(key=lambda wish: not any(fit(wish, call) for call in spare))
    found: dict[int, Nearest] = {}
    for wish in alone:
        ranked = [(_rank(fit, wish, call), call) for call in spare]
        if ranked:
            call = min(ranked)[1]
            spare.remove(call)
            found[wish] = Nearest(call, tuple(fit.failures(wish, call)))
    return found


def _rank(fit: Fit, wish: int, call: int) -> tuple[bool, int, int]:
    is_other = fit.wishes[wish][0] != fit.calls[call].name
    return is_other, sum(1 for _ in fit.failures(wish, call)), abs(wish - call)
