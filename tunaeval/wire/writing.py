"""What the writers of answers share: pieces of texts, arguments, times, counts and errors."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import text_of
from tunaeval.types.messages import Usage

CREATED = 0
"""The time in every reply; it is fixed, so that equal requests get equal bytes."""
_PIECE = 16
"""How many characters of a text or of arguments one event of a stream has."""
_NO_JSON = "INVALID_JSON"
"""The key of arguments that are no JSON object, where an API can only send objects. It is the one
that Anthropic recommends for them:
https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/fine-grained-tool-streaming"""


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces, as a stream sends it."""
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def arguments_of(function: JsonObject) -> str:
    """Return a call's arguments as text; some servers give them as an object."""
    arguments = function.get("arguments") or ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def object_of(function: JsonObject) -> JsonObject:
    """Return a call's arguments as an object."""
    text = arguments_of(function)
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        arguments = None
    return arguments if isinstance(arguments, dict) else {_NO_JSON: text}


def calls_in(message: JsonObject) -> Iterator[tuple[JsonObject, JsonObject]]:
    """Yield the calls of a message of chat completions, each with its function."""
    return ((call, call.get("function") or {}) for call in message.get("tool_calls") or ())


def thought_in(message: JsonObject) -> str:
    return text_of(message.get("reasoning_content"))


def said_in(message: JsonObject) -> str:
    """Return the text of a message, or the words of its refusal, which some APIs send as text."""
    return text_of(message.get("content")) or text_of(message.get("refusal"))


def counts(usage: Usage) -> tuple[int, int]:
    return usage.prompt_tokens or 0, usage.completion_tokens or 0
