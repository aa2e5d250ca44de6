"""Whether a tool's run succeeded: by classifiers in a fixed order, the first that speaks decides.

What raised has failed (`raised`). Of what came back (`returned`), each classifier says what shows a
failure, or None: first those that read fields (of a dict, of an object, or of JSON text that holds
an object), then those that read text. When none speaks the success is assumed, and the reason says
so. The reasons are "exception", "cancelled", the names in `BY_FIELDS` and `BY_TEXT`, "assumed",
"awaitable" for a promise that nobody watched, and "unreadable" for a result that raised when it
was looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import orjson

from tunaeval.types import JsonValue

ERROR_CHARACTERS = 500
"""What is kept of an error's words."""

Fields: TypeAlias = Mapping[str, JsonValue]

_EDGE = 1000
_MAX_JSON = 1_000_000
_FIELDS = ("is_error", "isError", "status", "outcome", "ok", "error", "message")
_FAILED_WORDS = frozenset({"error", "failed", "failure", "denied"})
_PREFIXES = ("Error:", "ERROR:", "error:")
_SILENT = frozenset({type(None), bool, int, float, complex, bytes, list, tuple, set})


class Success(NamedTuple):
    """Did it succeed, which classifier says so, and in a failure the words that show it."""

    ok: bool
    reason: str
    error: str | None = None


ASSUMED = Success(ok=True, reason="assumed")


def returned(result: object) -> Success:
    """Judge what a tool gave back."""
    if type(result) in _SILENT:
        return ASSUMED
    try:
        if isinstance(result, str):
            return _judged(_json_fields(result), result)
        if isinstance(result, (dict, Mapping)):  # dict first: the abstract class is slow to ask
            return _judged(result, "")
        if hasattr(type(result), "__await__"):
            return Success(ok=True, reason="awaitable")
        content = getattr(result, "content", "")
        fields = {name: getattr(result, name, None) for name in _FIELDS}
        return _judged(fields, content if isinstance(content, str) else "")
    except Exception as error:  # noqa: BLE001 - a result's own attributes may raise anything
        return Success(ok=True, reason="unreadable", error=type(error).__name__)


def raised(error: BaseException) -> Success:
    """Judge what a tool raised. What is no `Exception` ended the run from outside: cancelled."""
    reason = "exception" if isinstance(error, Exception | SystemExit) else "cancelled"
    name = type(error).__name__
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - an exception's own __str__ may raise anything
        words = "its message cannot be read"
    return Success(ok=False, reason=reason, error=f"{name}: {words}"[:ERROR_CHARACTERS])


def _judged(fields: Fields | None, text: str) -> Success:
    if fields:
        for reason, declares in BY_FIELDS:
            if (error := declares(fields)) is not None:
                return _failure(reason, _said(fields, text) or error)
    if text:
        for reason, shows in BY_TEXT:
            if (error := shows(text)) is not None:
                return _failure(reason, error)
    return ASSUMED


def _failure(reason: str, error: str) -> Success:
    return Success(ok=False, reason=reason, error=error[:ERROR_CHARACTERS])


def _said(fields: Fields, text: str) -> str:
    """What a result that declares itself failed says of it."""
    said = fields.get("error") or fields.get("message") or text
    return said if isinstance(said, str) else ""


def _json_fields(text: str) -> Fields | None:
    """The object that a text holds, when the whole of it is JSON."""
    if "{" not in text[:_EDGE] or not text.lstrip().startswith("{") or len(text) > _MAX_JSON:
        return None
    try:
        fields: Fields = orjson.loads(text)
    except ValueError:
        return None
    return fields


def _is_error(fields: Fields) -> str | None:
    failed = fields.get("is_error") is True or fields.get("isError") is True
    return "is_error is true" if failed else None


def _status(fields: Fields) -> str | None:
    return _failed_word("status", fields.get("status"))


def _outcome(fields: Fields) -> str | None:
    return _failed_word("outcome", fields.get("outcome"))


def _failed_word(field: str, word: JsonValue) -> str | None:
    failed = isinstance(word, str) and word.lower() in _FAILED_WORDS
    return f"{field} is {word!r}" if failed else None


def _ok_false(fields: Fields) -> str | None:
    return "ok is false" if fields.get("ok") is False else None


def _exit_code(text: str) -> str | None:
    """A line "Exit Code: 3" near the beginning or the end, where tools write it."""
    if len(text) > 2 * _EDGE:
        text = f"{text[:_EDGE]}\n{text[-_EDGE:]}"
    if "xit " not in text:
        return None
    for line in text.splitlines():
        before, colon, code = line.partition(":")
        if colon and before.strip().lower() == "exit code" and _is_failure_code(code.strip()):
            return line.strip()
    return None


def _is_failure_code(code: str) -> bool:
    digits = code.removeprefix("-")
    return digits.isascii() and digits.isdigit() and digits.strip("0") != ""


def _error_prefix(text: str) -> str | None:
    head = text[:_EDGE].lstrip()
    return head.partition("\n")[0] if head.startswith(_PREFIXES) else None


BY_FIELDS: tuple[tuple[str, Callable[[Fields], str | None]], ...] = (
    ("is-error", _is_error),
    ("status", _status),
    ("outcome", _outcome),
    ("ok-false", _ok_false),
)
"""What a result declares, by the name that stands as the reason, in order."""

BY_TEXT: tuple[tuple[str, Callable[[str], str | None]], ...] = (
    ("exit-code", _exit_code),
    ("error-prefix", _error_prefix),
)
"""How a result reads; asked after what it declares."""
