"""Exceptions that are no failure of a tool: frameworks raise them to wait for a human."""

from __future__ import annotations

from collections.abc import Iterable

from .success import INTERRUPTED, Classifier, Success
from .success import raised as failed

WAITING = frozenset({
    ("langgraph.errors", "GraphInterrupt"),
    ("pydantic_ai.exceptions", "ApprovalRequired"),
    ("pydantic_ai.exceptions", "CallDeferred"),
})  # fmt: skip
"""Module and name of the classes; subclasses count."""


def raised(error: BaseException, classifiers: Iterable[Classifier] = ()) -> Success:
    """Judge what a tool raised; the verdict of a classifier wins over `WAITING`."""
    known = tuple(classifiers)
    found = failed(error, known)
    waits = any((kind.__module__, kind.__name__) in WAITING for kind in type(error).__mro__)
    spoken = found.reason in {one.name for one in known}
    return INTERRUPTED if waits and not spoken else found
