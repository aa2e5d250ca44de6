"""How an episode is graded: by the files that it left, its calls, and its answer, by checks."""

from .grades import checks as checks
