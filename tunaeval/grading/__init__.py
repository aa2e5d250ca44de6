"""How an episode is graded: by the files that it left, its calls, and its answer, by checks."""

from .checks import Checks, check_fault, read_checks
from .grades import checks, grade
from .reactions import Met, obeyed, recovered, reported
from .state import FinalState

__all__ = [
    "Checks",
    "FinalState",
    "Met",
    "check_fault",
    "checks",
    "grade",
    "obeyed",
    "read_checks",
    "recovered",
    "reported",
]
