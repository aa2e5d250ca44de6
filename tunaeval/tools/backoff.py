"""Which failures of a tool are worth another attempt, and after which pause.

The constants are the TunaCode agent's, whose TOOL_MAX_RETRIES of 3 counts attempts, including the
first. The pause doubles from attempt to attempt up to a cap; then up to a tenth of it is added, so
that many callers do not retry at the same moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tunaeval.types.wanted import wanted_amount, wanted_count

_ABORTING = frozenset({"UserAbortError"})
_FINAL = frozenset({
    # Agents' tools raise these to report to the model (pydantic-ai, tinyagent, TunaCode,
    # LangChain), or to leave a decision to somebody else.
    "ApprovalRequired", "CallDeferred", "FileOperationError", "ModelRetry", "ToolException",
    "ToolExecutionError", "ToolRetryError",
    # The same arguments raise these every time.
    "ConfigurationError", "FileExistsError", "FileNotFoundError", "IsADirectoryError",
    "NotADirectoryError", "NotImplementedError", "PermissionError", "TypeError", "ValidationError",
})  # fmt: skip
"""Exceptions that are not retried, by name, so that no framework is imported; subclasses too."""


def aborts(error: BaseException) -> bool:
    """Whether `error` ends the whole batch: a user aborted, or it is no `Exception` (a
    cancellation, Ctrl-C, an exit).
    """
    return not isinstance(error, Exception) or _is_one_of(error, _ABORTING)


def is_transient(error: Exception) -> bool:
    """Whether another attempt may succeed, judged by the exception's class."""
    return not _is_one_of(error, _FINAL | _ABORTING)


def _is_one_of(error: BaseException, names: frozenset[str]) -> bool:
    return any(layer.__name__ in names for layer in type(error).__mro__)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often a failing tool is run, and how long the pauses between its attempts are.

    The first pause is `base_seconds`; it doubles after each attempt, up to `cap_seconds`, and a
    random share of up to `jitter` is added. An exception is retried if `is_retried` returns true
    for it. Raises UsageError for numbers that are negative or infinite.

    Examples:
        >>> tunaeval.Backoff(max_attempts=2, base_seconds=0.1).cap_seconds
        5.0
    """

    max_attempts: int = 3
    base_seconds: float = 0.5
    cap_seconds: float = 5.0
    jitter: float = 0.1
    is_retried: Callable[[Exception], bool] = is_transient

    def __post_init__(self) -> None:
        """Raise UsageError for a `max_attempts` below 1, or another number below 0 or infinite."""
        wanted_count(self.max_attempts, "max_attempts")
        for name in ("base_seconds", "cap_seconds", "jitter"):
            wanted_amount(getattr(self, name), name)

    def pause_seconds(self, attempt: int, chance: float) -> float:
        """Return the pause in seconds after attempt `attempt` (from 1); `chance` is in [0, 1]."""
        pause = min(self.base_seconds * 2.0 ** min(attempt - 1, 1000), self.cap_seconds)
        return pause * (1 + self.jitter * chance)
