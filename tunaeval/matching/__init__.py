"""Expected against got: the one comparison that every score and reward rests on.

Nothing here knows a network, a clock or a disk, and nothing raises on any calls.
"""

from .answers import NoExampleError, own_answer
from .assignment import NO_OTHERS, Wish
from .calls import Verdict, check_wishes, match, match_wishes, without_calls
from .expectations import check_expectation, one_call, read_expectation
from .failures import FAILURES, Failure, shown
from .gold import wanted_arguments
from .matchers import MATCHERS
from .nearest import Nearest, nearest
from .patterns import Pattern
from .profiles import DEFAULT_PROFILE, PROFILES, Profile, profile_of

__all__ = [
    "DEFAULT_PROFILE",
    "FAILURES",
    "MATCHERS",
    "NO_OTHERS",
    "PROFILES",
    "Failure",
    "Nearest",
    "NoExampleError",
    "Pattern",
    "Profile",
    "Verdict",
    "Wish",
    "check_expectation",
    "check_wishes",
    "match",
    "match_wishes",
    "nearest",
    "one_call",
    "own_answer",
    "profile_of",
    "read_expectation",
    "shown",
    "wanted_arguments",
    "without_calls",
]
