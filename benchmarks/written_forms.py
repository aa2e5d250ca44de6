"""In which form a reply is written, told from its first characters alone, and not by the parser."""

from __future__ import annotations

import re

_NAME = r"[A-Za-z][\w.\\]*"
FORMS = (
    ("list of calls", re.compile(rf"\[\s*{_NAME}\s*\(")),
    ("calls quoted in a list", re.compile(rf"\[\s*\[?\s*['\"]{_NAME}['\"]?\s*\(")),
    ("calls without a list", re.compile(rf"{_NAME}\s*\([^)]")),
    ("object with tool_calls", re.compile(r"\{\s*['\"]tool_calls?['\"]")),
    ("JSON", re.compile(r"\[?\s*\{")),
    ("tag", re.compile(r"<")),
    ("fence", re.compile(r"```")),
    ("name over JSON", re.compile(rf"{_NAME}\s*\n\s*\{{")),
)
"""By how a text begins, the first that fits."""
PROSE, NOTHING, STRUCTURED = "words first", "nothing", "structured"
_INNER = re.compile(r"```[a-zA-Z_]*\s*")


def form_of(text: str) -> str:
    """The name of the form; of a fence with what is in it, as "fence, list of calls"."""
    text = text.strip()
    if not text or text == "[]":
        return NOTHING
    for name, begins in FORMS:
        if begins.match(text):
            if name != "fence":
                return name
            inner = form_of(_INNER.sub("", text, count=1).partition("```")[0])
            return f"fence, {inner}"
    return PROSE
