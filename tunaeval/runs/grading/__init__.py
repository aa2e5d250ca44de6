"""How an episode is graded: by the files that it left, its calls, and its answer, by checks."""

from .checks import Checks as Checks
from .grades import checks as checks  # the registry; in this order it, and not the module, stays
