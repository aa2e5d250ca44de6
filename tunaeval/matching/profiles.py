"""The profiles: rules by which calls are compared, by name.

tunacode    the rule of the TunaCode mini harness: expected arguments are equal by Python's ==,
            others are allowed; declared paths are normalized before they are compared
strict      types count, and unexpected arguments fail
bfcl        the AST checker of the Berkeley Function Calling Leaderboard, with its quirks
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from tunaeval.types.wanted import wanted_name

from . import bfcl, values
from .assignment import ASSIGNMENTS, Compare, Fit, Pairs, counted, greedy
from .bfcl import gold_arguments
from .values import Arguments


@dataclass(frozen=True, slots=True)
class Profile:
    """How calls are compared, and how they are assigned in each mode."""

    name: str
    compare: Compare
    assignments: Mapping[str, Callable[[Fit], Pairs]] = field(default_factory=lambda: ASSIGNMENTS)
    prepare: Callable[[Arguments], Arguments] | None = None
    """Converts an expected call's arguments before they are compared."""
    needs_tools: bool = False


_EVERY = (
    Profile("tunacode", partial(values.call_misses, exact=False)),
    Profile("strict", partial(values.call_misses, exact=True)),
    Profile(
        "bfcl",
        bfcl.call_misses,
        {**ASSIGNMENTS, "exactly": counted, "any_order": greedy},
        prepare=gold_arguments,
        needs_tools=True,
    ),
)
PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in _EVERY}
"""Every profile by its name."""

DEFAULT_PROFILE = "strict"
"""The profile that is used if neither the caller nor the suite names one."""


def profile_of(name: str | None) -> Profile:
    """Return the profile of that name, or the default for None. Raises UnknownNameError."""
    wanted = DEFAULT_PROFILE if name is None else name
    return PROFILES[wanted_name(wanted, "match profile", PROFILES)]
