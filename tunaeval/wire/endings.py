"""How an answer ended and what it took: errors, finish reasons and token counts of all APIs."""

from __future__ import annotations

from collections.abc import Mapping

from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue
from tunaeval.types.messages import Usage

from .fields import get

_FINISHES = {
    **dict.fromkeys(("end_turn", "stop_sequence", "STOP", "completed"), "stop"),
    "tool_use": "tool_calls",
    **dict.fromkeys(
        (
            "max_tokens", "MAX_TOKENS", "max_output_tokens", "incomplete",
            "model_context_window_exceeded",
        ),
        "length",
    ),
    **dict.fromkeys(
        (
            "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION",
            "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "content_filtered",
            "guardrail_intervened",
        ),
        "content_filter",
    ),
}  # fmt: skip
"""The finish reasons of all APIs in the words of chat completions; others stay as they are."""

ENDS_CALLS = frozenset({"STOP", "completed"})
"""The finish reasons of APIs that have none of their own for an answer with calls."""


def finish_of(reason: JsonValue, *, called: bool) -> str | None:
    """Return a finish reason in the words of chat completions; None if it is no text.

    `called` says that the answer has calls: some APIs have no finish reason of its own for these.
    """
    if not isinstance(reason, str):
        return None
    found = _FINISHES.get(reason, reason)
    return "tool_calls" if called and found == "stop" else found


_PROMPT = (
    ("prompt_tokens",),
    (
        "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
        "input_tokens_cache_write", "input_tokens_cache_read",
    ),
    ("request_tokens",),
    ("input", "cacheRead", "cacheWrite"),
    ("prompt_token_count", "tool_use_prompt_token_count"),
    ("promptTokenCount", "toolUsePromptTokenCount"),
    ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
)  # fmt: skip
_COMPLETION = (
    ("completion_tokens",),
    ("output_tokens",),
    ("response_tokens",),
    ("output",),
    ("candidates_token_count", "thoughts_token_count"),
    ("candidatesTokenCount", "thoughtsTokenCount"),
    ("outputTokens",),
)
"""The names of token counts. Of the first row of which a name is there, all counts are added:
Anthropic, Amazon and Inspect count cached tokens of the prompt apart, Google those of thoughts."""


def usage_of(reported: JsonValue) -> Usage:
    """Return the tokens that a provider reported, by any of the names in use: the prompt with what
    was cached, and the completion with its thoughts. One that is missing or invalid is None.
    """
    return Usage(_added(reported, _PROMPT), _added(reported, _COMPLETION))


def _added(reported: JsonValue, rows: tuple[tuple[str, ...], ...]) -> int | None:
    if reported is None:
        return None
    for names in rows:
        counts = [count for name in names if (count := _count(get(reported, name))) is not None]
        if counts:
            return sum(counts)
    return None


def _count(value: JsonValue) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if whole else None


def error_in(document: Mapping[str, JsonValue]) -> str | None:
    """Return the error that a document of any API reports, in words, or None."""
    error = document.get("error")
    if not error and "error" in (document.get("object"), document.get("type")):
        error = document.get("message")
    words = error.get("message") if isinstance(error, Mapping) else error
    if words and isinstance(words, str):
        return words
    return _repr(error) if error else None


def error_words(document: Mapping[str, JsonValue]) -> str | None:
    """Return the error message in a body that is an error, from any place where servers put it."""
    found = error_in(document) or document.get("message") or document.get("detail")
    if isinstance(found, dict | list):
        return _repr(found)
    return found if isinstance(found, str) else None


def _repr(value: JsonValue) -> str:
    try:
        return f"{value!r:.200}"
    except RecursionError:
        return brief(value)
