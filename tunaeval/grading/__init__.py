"""How an episode is graded: by the files that it left, its calls, and its answer, by checks."""

from .checks import Checks, check_fault, read_checks
from .grades import checks, grade
from .state import FinalState

__all__ = ["Checks", "FinalState", "check_fault", "checks", "grade", "read_checks"]
