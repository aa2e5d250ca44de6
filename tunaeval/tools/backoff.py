"""Which failures of a tool are worth another try, and after what pause.

The constants are those of the TunaCode agent, whose TOOL_MAX_RETRIES of 3 counts tries, the first
included. A pause is doubled from try to try up to a cap; then up to a tenth of it is added, so that
many callers do not come back at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tunaeval.types.wanted import wanted_amount, wanted_count

_ABORTING = frozenset({"UserAbortError"})
_FINAL = frozenset({
    # What an agent's tools raise to tell the model (pydantic-ai, tinyagent, TunaCode, LangChain),
    # or to hand a decision to somebody else.
    "ApprovalRequired", "CallDeferred", "FileOperationError", "ModelRetry", "ToolException",
    "ToolExecutionError", "ToolRetryError",
    # What the same arguments bring about every time.
    "ConfigurationError", "FileExistsError", "FileNotFoundError", "IsADirectoryError",
    "NotADirectoryError", "NotImplementedError", "PermissionError", "TypeError", "ValidationError",
})  # fmt: skip
"""Exceptions by name, so that no framework has to be imported; subclasses count as well."""


def aborts(error: BaseException) -> bool:
    """Whether this ends everything: a person said stop, or it is no `Exception` (a cancellation,
    Ctrl-C, an exit).
    """
    return not isinstance(error, Exception) or _is_one_of(error, _ABORTING)


def is_transient(error: Exception) -> bool:
    """Whether another try may end otherwise, as far as the exception's class tells."""
    return not _is_one_of(error, _FINAL | _ABORTING)


def _is_one_of(error: BaseException, names: frozenset[str]) -> bool:
    return any(layer.__name__ in names for layer in type(error).__mro__)


@dataclass(frozen=True, slots=True)
class Backoff:
    """So many attempts, and pauses of `base_seconds` doubled up to `cap_seconds`, each longer by a
    random share of up to `jitter`. `is_retried` is asked about each exception.

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
        """Refuse what could never be kept to."""
        wanted_count(self.max_attempts, "max_attempts")
        for name in ("base_seconds", "cap_seconds", "jitter"):
            wanted_amount(getattr(self, name), name)

    def pause_seconds(self, attempt: int, chance: float) -> float:
        """The pause after the attempt number `attempt` (from 1) failed; `chance` is in [0, 1]."""
        pause = min(self.base_seconds * 2.0 ** min(attempt - 1, 1000), self.cap_seconds)
        return pause * (1 + self.jitter * chance)
