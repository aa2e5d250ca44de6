"""Where the documents of each API, requests and answers, have their messages and their usage."""

from __future__ import annotations

from collections.abc import Sequence

from tunaeval.types.calls import JsonValue
from tunaeval.types.messages import Usage

from .chat import choice_order
from .endings import usage_of
from .fields import first, get, listed
from .gemini import claims
from .values import USAGE

_SYSTEM = ("system_instruction", "systemInstruction")

_ANSWERS = frozenset({"output", "choices", "candidates"})

Placed = list[tuple[str, JsonValue]]
"""Messages, each with its JSON Pointer."""


def placed(items: JsonValue, key: str) -> Placed:
    """Return the items of the list in a field, with their places."""
    return [(f"/{key}/{index}", item) for index, item in enumerate(listed(items))]


def messages_in(document: object) -> Placed | None:
    """Return the messages in an answer, in a request of Gemini, or in a session of its Agent
    Development Kit; None if it is neither. What is asked in an answer's document comes first.
    """
    output, given = get(document, "output"), get(document, "input")
    if get(document, "type") == "message" and get(document, "role") == "assistant":
        return [("", document)]
    if isinstance(output, list):
        asked = {"role": "user", "content": given}
        before = [("/input", asked)] if isinstance(given, str) else placed(given, "input")
        return [*before, *placed(output, "output")]
    if (message := get(output, "message")) is not None:
        return [("/output/message", message)]
    contents = _contents(document)
    if any(claims(content) for _, content in contents):
        return contents
    at = _answering(document, "choices")
    message = None if at is None else get(listed(get(document, "choices"))[at], "message")
    return None if message is None else [(f"/choices/{at}/message", message)]


def _answering(document: object, key: str) -> int | None:
    """Return the place of the choice or candidate that is the answer; None if there is none."""
    items = listed(get(document, key))
    places = range(len(items))
    return min(places, key=lambda at: choice_order(get(items[at], "index")), default=None)


def _contents(document: object) -> Placed:
    found: Placed = [
        (f"/{key}", {"role": "system", "parts": listed(get(system, "parts"))})
        for key in _SYSTEM
        if (system := get(document, key)) is not None
    ]
    found += placed(get(document, "contents"), "contents") or placed(
        get(document, "events"), "events"
    )
    if (at := _answering(document, "candidates")) is not None:
        content = get(listed(get(document, "candidates"))[at], "content")
        found += [] if content is None else [(f"/candidates/{at}/content", content)]
    return found


def is_answer(places: Sequence[str]) -> bool:
    """Whether the last message with one of these places is an answer."""
    return bool(places) and (not places[-1] or places[-1].split("/")[1] in _ANSWERS)


def usage_in(document: object) -> Usage:
    """Return the usage that an answer reports."""
    return usage_of(first(document, USAGE))
