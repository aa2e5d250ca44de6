"""Which patterns may run over a model's text: those whose matches have a bound."""

from __future__ import annotations

import re


def pattern_fault(pattern: str) -> str | None:
    """Why `pattern` may not be used, if so."""
    try:
        re.compile(pattern)
    except re.error as error:
        return f"the pattern {pattern!r} is none: {error}"
    outside_classes = re.sub(r"\[(?:\\.|[^\]])*\]", "x", pattern)
    if re.search(r"(?<!\\)[*+]|,\}", outside_classes):
        return f"the pattern {pattern!r} has no bound; write {{0,24}} instead of * or +"
    return None
