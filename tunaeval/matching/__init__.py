"""Expected against got: the one comparison that every score and reward rests on.

Nothing here knows a network, a clock or a disk, and nothing raises on any calls. What reads an
expectation comes with pydantic, and is imported when it is asked for, as are the profiles and the
regular expressions: a reward asks for none of these.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .failures import FAILURES, Failure
from .matchers import MATCHERS, matcher_faults
from .values import Likeness, call_misses, likeness
from .weighted import best_pairs, ordered_pairs

if TYPE_CHECKING:
    # At run time they come by `__getattr__`.
    from .answers import NoExampleError, own_answer
    from .assignment import NO_OTHERS, Wish
    from .calls import Verdict, check_wishes, match, match_wishes, without_calls
    from .expectations import check_expectation, one_call, read_expectation
    from .gold import wanted_arguments
    from .near_misses import Nearest, nearest
    from .patterns import Pattern
    from .profiles import DEFAULT_PROFILE, PROFILES, Profile, profile_of

_LATER = {
    "DEFAULT_PROFILE": "profiles",
    "NO_OTHERS": "assignment",
    "Nearest": "near_misses",
    "NoExampleError": "answers",
    "PROFILES": "profiles",
    "Pattern": "patterns",
    "Profile": "profiles",
    "Verdict": "calls",
    "Wish": "assignment",
    "check_expectation": "expectations",
    "check_wishes": "calls",
    "match": "calls",
    "match_wishes": "calls",
    "nearest": "near_misses",
    "one_call": "expectations",
    "own_answer": "answers",
    "profile_of": "profiles",
    "read_expectation": "expectations",
    "wanted_arguments": "gold",
    "without_calls": "calls",
}

__all__ = [
    "DEFAULT_PROFILE",
    "FAILURES",
    "MATCHERS",
    "NO_OTHERS",
    "PROFILES",
    "Failure",
    "Likeness",
    "Nearest",
    "NoExampleError",
    "Pattern",
    "Profile",
    "Verdict",
    "Wish",
    "best_pairs",
    "call_misses",
    "check_expectation",
    "check_wishes",
    "likeness",
    "match",
    "match_wishes",
    "matcher_faults",
    "nearest",
    "one_call",
    "ordered_pairs",
    "own_answer",
    "profile_of",
    "read_expectation",
    "wanted_arguments",
    "without_calls",
]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'tunaeval.matching' has no attribute {name!r}")
    thing: object = getattr(import_module(f"tunaeval.matching.{_LATER[name]}"), name)
    globals()[name] = thing
    return thing
