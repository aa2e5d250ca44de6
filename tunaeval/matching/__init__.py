"""Expected against got: the one comparison that every score and reward rests on.

Nothing here knows a network, a clock or a disk, and nothing raises on any calls.
"""

from .answers import NoExampleError, own_answer
from .calls import Verdict, match, without_calls
from .expectations import check_expectation, one_call, read_expectation
from .failures import FAILURES, Failure, shown
from .gold import wanted_arguments
from .matchers import MATCHERS
from .patterns import Pattern
from .profiles import DEFAULT_PROFILE, PROFILES, Profile, profile_of

__all__ = [
    "DEFAULT_PROFILE",
    "FAILURES",
    "MATCHERS",
    "PROFILES",
    "Failure",
    "NoExampleError",
    "Pattern",
    "Profile",
    "Verdict",
    "check_expectation",
    "match",
    "one_call",
    "own_answer",
    "profile_of",
    "read_expectation",
    "shown",
    "wanted_arguments",
    "without_calls",
]
