"""What of a request is made up anew in each run of an agent, and does not affect the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tunaeval.types.calls import JsonObject, JsonValue

VOLATILE = frozenset({
    "stream", "stream_options", "user", "metadata", "client_metadata", "store", "prompt_cache_key",
    "prompt_cache_retention", "safety_identifier", "service_tier", "include", "background",
    "labels",
})  # fmt: skip
"""Fields of a request that no answer depends on."""

_LISTS = frozenset({"messages", "input", "contents"})
_INNER = frozenset({
    "content", "parts", "tool_calls", "function", "functionCall", "functionResponse",
    "function_call", "function_response", "reasoning_details", "thinking_blocks", "extra_content",
    "google", "provider_specific_fields",
})  # fmt: skip
"""Fields of messages and their parts that have parts, calls or signatures inside. All others are
texts, arguments, results and the like, in which everything counts."""
_SIGNATURES = frozenset({"signature", "thoughtSignature", "thought_signature"})
_KNOWN_OBJECTS = _INNER | {"audio", "action", "arguments", "input", "output", "error"}

_IDS = frozenset({"tool_call_id", "call_id", "tool_use_id", "previous_response_id"})
_OF_CALLS = frozenset({"name", "args", "response"})
_CALLS = frozenset({"function_call", "function", "tool_use"})
_ID_OF_AN_API = re.compile(r"(?:call|fc|fco|msg|resp|rs|toolu)_.+|<id \d+>")
"""Matches a numbered id, too: a recorded request is masked again when it is played."""
_NAMES = re.compile(r"(?:.*_)?(?:id|ids|uuid|at|time|timestamp|date)|.*(?:Id|At|Time)")
_ID_OR_TIME = re.compile(
    r"<[a-z][a-z0-9 ]*>|(?:\w{1,20}[_-])?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?=\D{0,50}\d)[\w-]{0,50}[0-9a-zA-Z]{16}[\w-]{0,50}"
    r"|\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?"
)
"""What is masked, a UUID, a word of letters and digits that is made up, a date or a time."""


def stable(body: JsonObject) -> JsonObject:
    """Return a request without what is made up anew in each run. Ids of messages and calls are
    numbered in order of appearance; signatures, and objects beside a message that have nothing but
    ids and times, are left out.
    """
    ids: dict[str, str] = {}
    return {
        name: _stable(value, ids, is_message=True)
        if name in _LISTS and isinstance(value, list)
        else _numbered(value, ids)
        if name in _IDS
        else value
        for name, value in body.items()
        if name not in VOLATILE
    }


def _stable(value: JsonValue, ids: dict[str, str], *, is_message: bool) -> JsonValue:
    if isinstance(value, list | tuple):
        return [_stable(one, ids, is_message=is_message) for one in value]
    if not isinstance(value, Mapping):
        return value
    made: JsonObject = {}
    has_result = value.get("role") in ("tool", "function") or value.get("type") == "tool_result"
    for name, one in value.items():
        if _is_id(name, one, value):
            made[name] = _numbered(one, ids)
        elif name in _INNER and not has_result:
            made[name] = _stable(one, ids, is_message=name == "tool_calls")
        elif not _is_volatile(name, one, is_message=is_message):
            made[name] = one
    return made


def _numbered(value: JsonValue, ids: dict[str, str]) -> JsonValue:
    return ids.setdefault(value, f"<id {len(ids) + 1}>") if isinstance(value, str) else value


def _is_id(name: str, value: JsonValue, around: Mapping[str, JsonValue]) -> bool:
    """Whether a field has an id that is made up anew in each run."""
    if name != "id" or not isinstance(value, str):
        return name in _IDS and isinstance(value, str)
    is_of_call = str(around.get("type")) in _CALLS or not _OF_CALLS.isdisjoint(around)
    return bool(is_of_call or _ID_OF_AN_API.fullmatch(value))


def _is_volatile(name: str, value: JsonValue, *, is_message: bool) -> bool:
    """Whether a field is a signature, or an object that has nothing but ids and times."""
    if isinstance(value, str):
        return name in _SIGNATURES
    if not isinstance(value, Mapping) or name in _KNOWN_OBJECTS:
        return False
    only = is_message and bool(value) and _is_id_or_time(name, value)
    return only or name.endswith("_passthrough")


def _is_id_or_time(name: str, value: JsonValue) -> bool:
    match value:
        case str():
            is_named = _NAMES.fullmatch(name) and not re.search(r"\s", value)
            return bool(is_named or _ID_OR_TIME.fullmatch(value))
        case int() | float() if not isinstance(value, bool):  # since 1970, in seconds or less
            return _NAMES.fullmatch(name) is not None or 1e9 <= value < 1e20
        case list():
            return all(_is_id_or_time(name, one) for one in value)
        case Mapping():
            return all(_is_id_or_time(inner, one) for inner, one in value.items())
    return value is None
