"""Whether a tool's run succeeded: small classifiers in a fixed order, the first that speaks decides.

What raised has failed (`raised`). Of what came back (`returned`), each classifier says what shows a
failure, or None. When none speaks the success is assumed, and the reason says so. The reasons are
"exception", "cancelled", the names in `CLASSIFIERS`, "assumed", and "unreadable" for a result that
raised when it was looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import orjson

from tunaeval.types import JsonValue

ERROR_CHARACTERS = 500
"""What is kept of an error's words."""

_EDGE = 1000
_MAX_JSON = 1_000_000
_NO_FIELDS: Mapping[str, JsonValue] = {}
_FIELDS = ("is_error", "isError", "status", "outcome", "ok")
_FAILED_WORDS = frozenset({"error", "failed", "failure", "denied"})
_SILENT = frozenset({type(None), bool, int, float, complex, bytes, list, tuple, set})


class Success(NamedTuple):
    """Did it succeed, which classifier says so, and in a failure the words that show it."""

    ok: bool
    reason: str
    error: str | None = None


class Seen(NamedTuple):
    """What a classifier looks at: a result's fields (an object's, a dict's or those of JSON text
    that holds an object) and its text."""

    fields: Mapping[str, JsonValue]
    text: str


Classifier: TypeAlias = Callable[[Seen], str | None]

ASSUMED = Success(ok=True, reason="assumed")


def returned(result: object) -> Success:
    """Judge what a tool gave back."""
    if type(result) in _SILENT:
        return ASSUMED
    try:
        seen = _seen(result)
        for reason, shows in CLASSIFIERS:
            error = shows(seen)
            if error is not None:
                return Success(ok=False, reason=reason, error=error[:ERROR_CHARACTERS])
    except Exception as error:  # noqa: BLE001 - a result's own attributes may raise anything
        return Success(ok=True, reason="unreadable", error=type(error).__name__)
    return ASSUMED


def raised(error: BaseException) -> Success:
    """Judge what a tool raised. What is no `Exception` ended the run from outside: cancelled."""
    reason = "exception" if isinstance(error, Exception | SystemExit) else "cancelled"
    name = type(error).__name__
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - an exception's own __str__ may raise anything
        words = "its message cannot be read"
    return Success(ok=False, reason=reason, error=f"{name}: {words}"[:ERROR_CHARACTERS])


def _seen(result: object) -> Seen:
    if isinstance(result, str):
        return Seen(_json_fields(result), result)
    if isinstance(result, Mapping):
        return Seen(result, "")
    content = getattr(result, "content", "")
    fields = {name: getattr(result, name, None) for name in _FIELDS}
    return Seen(fields, content if isinstance(content, str) else "")


def _json_fields(text: str) -> Mapping[str, JsonValue]:
    """The object that a text holds, when it is JSON with a field that is looked at."""
    if "{" not in text[:_EDGE] or len(text) > _MAX_JSON or not text.lstrip().startswith("{"):
        return _NO_FIELDS
    try:
        value = orjson.loads(text)
    except ValueError:
        return _NO_FIELDS
    return value if isinstance(value, dict) else _NO_FIELDS


def _is_error(seen: Seen) -> str | None:
    fields = seen.fields
    if not fields or (fields.get("is_error") is not True and fields.get("isError") is not True):
        return None
    return _words(seen, "is_error is true")


def _status(seen: Seen) -> str | None:
    return _failed_word(seen, "status") if seen.fields else None


def _outcome(seen: Seen) -> str | None:
    return _failed_word(seen, "outcome") if seen.fields else None


def _failed_word(seen: Seen, field: str) -> str | None:
    word = seen.fields.get(field)
    if isinstance(word, str) and word.lower() in _FAILED_WORDS:
        return _words(seen, f"{field} is {word!r}")
    return None


def _ok_false(seen: Seen) -> str | None:
    fields = seen.fields
    return _words(seen, "ok is false") if fields and fields.get("ok") is False else None


def _exit_code(seen: Seen) -> str | None:
    """A line "Exit Code: 3" near the beginning or the end, where tools write it."""
    text = seen.text
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


def _error_prefix(seen: Seen) -> str | None:
    head = seen.text[:_EDGE].lstrip()
    return head.partition("\n")[0] if head[:6].lower() == "error:" else None


def _words(seen: Seen, otherwise: str) -> str:
    """What the result itself says of its failure, or what gave it away."""
    said = seen.fields.get("error") or seen.fields.get("message") or seen.text
    return said if isinstance(said, str) and said else otherwise


CLASSIFIERS: tuple[tuple[str, Classifier], ...] = (
    ("is-error", _is_error),
    ("status", _status),
    ("outcome", _outcome),
    ("ok-false", _ok_false),
    ("exit-code", _exit_code),
    ("error-prefix", _error_prefix),
)
"""By the name that stands as the reason; the mission of the library asks for this order."""

GUESSES = frozenset({"exit-code", "error-prefix"})
"""Those that go by how a text reads; the others go by what a result declares."""
