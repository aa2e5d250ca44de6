"""Expected against got: the one comparison that every score and reward rests on.

Nothing here knows a network, a clock or a disk, and nothing raises on any calls.
"""

from .calls import Verdict, check_expectation, match
from .values import MATCHERS, PROFILES, Failure, Profile

__all__ = [
    "MATCHERS",
    "PROFILES",
    "Failure",
    "Profile",
    "Verdict",
    "check_expectation",
    "match",
]
