"""Whether a tool's run succeeded: classifiers are asked in order, and the first answer wins.

A classifier looks at a `Result` and returns a `Success`, or None if it cannot say. Built-in ones
look at the returned value: `BY_FIELDS` and `LATER` at fields (of a dict, of an object, or of JSON
text that is an object), `BY_TEXT` at text. If none answers, a run that raised has failed
("exception", or "cancelled" when it was ended from outside), and any other is assumed to have
succeeded ("assumed"). Further reasons: "awaitable" (an awaitable was returned, not awaited),
"closed" (a generator that its consumer ended), "unreadable" (a classifier failed).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from operator import is_
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import table_of
from tunaeval.registry import Registry, warn_once, who, words_with_place
from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue
from tunaeval.types.copies import copied
from tunaeval.types.json_text import json_object
from tunaeval.types.shapes import instance_of
from tunaeval.types.wanted import wanted_items

Fields: TypeAlias = Mapping[str, JsonValue]

ERROR_CHARACTERS = 500
"""The longest error text that is kept."""

_EDGE, _MAX_JSON, _WORDS = 1000, 1_000_000, ("error", "message")
_WANTED = "a Success(ok=True or False, reason='why'), or None"
_KNOWN = table_of(__package__, "success.toml")
_PREFIXES = tuple(_KNOWN["prefixes"])

SILENT = frozenset({type(None), bool, int, float, complex, bytes, list, tuple, set})
"""Types whose values never show a failure to the built-in classifiers."""


class Success(NamedTuple):
    """The verdict on a run, its reason (the classifier's name), and the error text of a failure."""

    ok: bool
    reason: str
    error: str | None = None


ASSUMED = Success(ok=True, reason="assumed")
AWAITABLE = Success(ok=True, reason="awaitable")
CLOSED = Success(ok=True, reason="closed")
"""For a generator that its consumer closed early."""
INTERRUPTED = Success(ok=True, reason="interrupted")
"""A run that its framework ended to wait for a human is no failure, but has no answer yet."""


class Result:
    """How a run ended, as classifiers see it: the `value` that it returned, or the `error` raised.

    `fields` and `text` are read from the value on first use: the fields of a dict, an object or
    JSON text; a string itself, or an object's content.
    """

    def __init__(self, value: object = None, error: BaseException | None = None) -> None:
        self.value = value
        self.error = error

    @cached_property
    def text(self) -> str:
        return self.value if isinstance(self.value, str) else _content_of(self.value)

    @cached_property
    def fields(self) -> Fields:
        value = self.value
        if isinstance(value, (dict, Mapping)):  # dict first: isinstance of Mapping is slow
            return value
        read = _json_fields(self.text)
        if type(value) in SILENT or isinstance(value, str):
            return read
        found = {name: getattr(value, name, None) for name in (*_DECLARING, *_WORDS)}
        return {**read, **{name: success for name, success in found.items() if success is not None}}

    @property
    def whole(self) -> Fields:
        """All fields of a dict or of JSON text; of an object not all are known, so its text's."""
        is_whole = isinstance(self.value, str | Mapping)
        return self.fields if is_whole else _json_fields(self.text)


@runtime_checkable
class Classifier(Protocol):
    """Decides whether a run succeeded; None if it cannot say (group `tunaeval.classifiers`)."""

    @property
    def name(self) -> str: ...

    def classify(self, result: Result) -> Success | None: ...


class ByFields(NamedTuple):
    """Classifies a result as a failure if `fails` is true for the value of any of `fields`."""

    name: str
    fields: tuple[str, ...]
    fails: Callable[[JsonValue], bool]

    def classify(self, result: Result) -> Success | None:
        for field in self.fields:
            value = result.fields.get(field)
            if value is not None and self.fails(value):
                found = repr(value) if isinstance(value, str) else str(value).lower()
                about = result.fields.get("error") or result.fields.get("message") or result.text
                text = about if isinstance(about, str) else ""
                return _failure(self.name, text or f"{field} is {found}")
        return None


class ByContent(NamedTuple):
    """A classifier of a result's `text`, or of its `whole` fields: `shows` returns the part that
    shows a failure, or None.
    """

    name: str
    shows: Callable[[Any], str | None]
    of: Literal["text", "whole"] = "text"

    def classify(self, result: Result) -> Success | None:
        content = getattr(result, self.of)
        error = self.shows(content) if content else None
        return None if error is None else _failure(self.name, error)


def returned(value: object, classifiers: Iterable[Classifier] | None = None) -> Success:
    """Judge the value that a tool returned, by the built-in classifiers unless others are given."""
    if classifiers is None and type(value) in SILENT:
        return ASSUMED
    if classifiers is None and type(value) is str and _is_silent_text(value):
        return ASSUMED
    if hasattr(type(value), "__await__"):
        return AWAITABLE
    success, fault = _judge(Result(value), CLASSIFIERS if classifiers is None else classifiers)
    if success is not None:
        return success
    return ASSUMED if fault is None else Success(ok=True, reason="unreadable", error=fault)


def raised(error: BaseException, classifiers: Iterable[Classifier] = ()) -> Success:
    """Judge what a tool raised. Unless it is an `Exception`, the run was cancelled from outside."""
    success, _ = _judge(Result(error=error), classifiers)
    if success is not None:
        return success
    reason = "exception" if isinstance(error, Exception | SystemExit) else "cancelled"
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - an exception's own __str__ may raise anything
        words = "its message cannot be read"
    return _failure(reason, f"{type(error).__name__}: {words}")


def declares_nothing(fields: dict[str, JsonValue]) -> bool:
    """Whether the built-in classifiers find nothing in a dict; faster than asking them."""
    few = fields if len(fields) <= len(_DECLARING) else fields.keys() & _DECLARING.keys()
    for field in few:
        if field in _DECLARING and _DECLARING[field](fields[field]):
            return False
    return _lone_error(fields) is None


def _is_silent_text(text: str) -> bool:
    """Whether the built-in classifiers find nothing in a text; faster than asking them."""
    return "{" not in text[:_EDGE] and not any(one.shows(text) for one in BY_TEXT)


def _judge(result: Result, classifiers: Iterable[Classifier]) -> tuple[Success | None, str | None]:
    """Return the first verdict, or None and what was wrong with the last faulty classifier.

    A plug-in's fault is logged once and not raised; if a built-in one fails, the value is at fault.
    """
    fault_found = None
    for classifier in classifiers:
        is_ours = any(classifier is one for one in CLASSIFIERS)
        seen = result if is_ours else Result(copied(result.value), result.error)
        try:
            success: object = classifier.classify(seen)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
            fault_found = f"raised {words_with_place(error)}"
        else:
            if success is None:
                continue
            if isinstance(success, Success) and type(success.ok) is bool:
                return success, None
            fault_found = f"returned {brief(success)}"
        if not is_ours:
            warn_once(classifier, "success classifier", f"{fault_found}; wanted {_WANTED}")
            fault_found = f"{who(classifier, 'success classifier')} {fault_found}"
    return None, fault_found


def _failure(reason: str, error: str) -> Success:
    return Success(ok=False, reason=reason, error=error[:ERROR_CHARACTERS])


def _content_of(value: object) -> str:
    """Return an object's `content`: a text, or the texts among its parts; else ""."""
    if type(value) in SILENT or isinstance(value, Mapping):
        return ""
    content = getattr(value, "content", "")
    if isinstance(content, list):
        parts = (
            one.get("text") if isinstance(one, dict) else getattr(one, "text", "")
            for one in content
        )
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _json_fields(text: str) -> Fields:
    """Return the JSON object that the whole text is, or {}."""
    if "{" not in text[:_EDGE] or not text.lstrip().startswith("{") or len(text) > _MAX_JSON:
        return {}
    return json_object(text) or {}


def _is_failed_word(value: JsonValue) -> bool:
    return isinstance(value, str) and value.lower() in _KNOWN["words"]


_EXIT = re.compile(
    r"\s*(?:exit |(?:process |command )?(?:exited|failed) with (?:exit )?)(?:code|status)"
    r"\s*:?\s*(-?[0-9]+)\.?\s*",
    re.IGNORECASE,
)


def exit_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield lines like "Exit Code: 3" or "exit status 1" near the start or the end, where tools
    write them, each with its code; Codex writes "Process exited with code 3".
    """
    if len(text) > 2 * _EDGE:
        text = f"{text[:_EDGE]}\n{text[-_EDGE:]}"
    for line in text.splitlines() if "xit" in text else ():
        if found := _EXIT.fullmatch(line):
            yield line.strip(), found[1]


def _exit_code(text: str) -> str | None:
    return next((line for line, code in exit_lines(text) if code.strip("-0")), None)


_REFUSED = re.compile(
    r"(?:[^\s:][^:\n]*: ){0,4}(?:permission denied|no such file or directory)\.?"
    r"|(?:\S+: (?:line )?(?:\d+: )?)?(?:\S+: command not found|command not found: \S+)"
    r"|\S*sh: (?:\d+: )?\S+: not found"
    r"|(?-i:(?:\w{1,40}\.){0,8}(?:[A-Z]\w{0,60})?(?:Error|Exception): \S.*"
    r"|HTTP(?:/[\d.]{1,3})? (?:[Ee]rror )?[45]\d\d(?:: .*| [A-Z].*)?)",
    re.IGNORECASE,
)
"""A shell's answer to a command that it could not run, an exception, an HTTP status of an error."""


def _error_prefix(text: str) -> str | None:
    """Return the first line if it begins like an error, or if it is one of `_REFUSED`, alone."""
    head = text[:_EDGE].lstrip()
    line, _, rest = head.partition("\n")
    is_bare = line.strip() in ("Error", "ERROR") and bool(rest.strip())
    if is_bare or head.startswith(_PREFIXES):
        return line
    return line if not rest.strip() and _REFUSED.fullmatch(line.strip()) else None


_TRACEBACK = "Traceback (most recent call last):"
_LONGEST_TRACEBACK = 20_000


def _traceback(text: str) -> str | None:
    """Return the last line of a traceback that the text is or ends with, else None."""
    if _TRACEBACK not in text[:_EDGE] and _TRACEBACK not in text[-_LONGEST_TRACEBACK:]:
        return None
    begins = text.lstrip().startswith(_TRACEBACK)
    lines = text[-_LONGEST_TRACEBACK:].rstrip().splitlines()
    last = max((at for at, line in enumerate(lines) if line.startswith(_TRACEBACK)), default=None)
    if last is None:
        return _TRACEBACK if begins else None
    words = [line for line in lines[last + 1 :] if line and not line[0].isspace()]
    return words[0] if words and (begins or len(words) == 1) else None


_DETAILS = frozenset(_KNOWN["details"])


def _lone_error(fields: Fields) -> str | None:
    """Return the `error`, or a list of `errors`, if all other fields are only details, or None."""
    several = fields.get("errors")
    error = fields.get("error") or (several if isinstance(several, list) else None)
    if not error or fields.keys() - _DETAILS:
        return None
    return error if isinstance(error, str) else repr(error)


IS_ERROR = ByFields("is-error", ("is_error", "isError"), partial(is_, True))
STATUS = ByFields("status", ("status",), _is_failed_word)
OUTCOME = ByFields("outcome", ("outcome",), _is_failed_word)
OK_FALSE = ByFields("ok-false", ("ok",), partial(is_, False))
SUCCESS_FALSE = ByFields("success-false", ("success",), partial(is_, False))
LONE_ERROR = ByContent("lone-error", _lone_error, "whole")
EXIT_CODE = ByContent("exit-code", _exit_code)
ERROR_PREFIX = ByContent("error-prefix", _error_prefix)
TRACEBACK = ByContent("traceback", _traceback)

BY_FIELDS = (IS_ERROR, STATUS, OUTCOME, OK_FALSE)
"""Classifiers of fields that declare a result, in the order in which they are asked."""

LATER: tuple[ByFields | ByContent, ...] = (SUCCESS_FALSE, LONE_ERROR)
"""More classifiers of fields; the preset `evals2` is older and does not use them."""

BY_TEXT = (EXIT_CODE, ERROR_PREFIX, TRACEBACK)
"""Classifiers of a result's text, asked after those of its fields."""

CLASSIFIERS = (*BY_FIELDS, *LATER, *BY_TEXT)
"""The built-in classifiers, in their order."""

_DECLARING = {field: one.fails for one in (*BY_FIELDS, SUCCESS_FALSE) for field in one.fields}

WAITING = frozenset((module, name) for module, names in _KNOWN["waiting"].items() for name in names)
"""Module and name of exceptions that wait for a human; subclasses count."""


def raised_in_wrapper(error: BaseException, classifiers: Iterable[Classifier] = ()) -> Success:
    """Judge what a tool raised; one of `WAITING` is no failure unless a classifier says so."""
    known = tuple(classifiers)
    found = raised(error, known)
    waits = any((kind.__module__, kind.__name__) in WAITING for kind in type(error).__mro__)
    spoken = found.reason in {one.name for one in known}
    return INTERRUPTED if waits and not spoken else found


_check = instance_of(Classifier)

classifiers: Registry[Classifier] = Registry(
    "tunaeval.classifiers",
    "success classifier",
    builtins={
        one.name: f"tunaeval.tools.success:{one.name.upper().replace('-', '_')}"
        for one in sorted(CLASSIFIERS, key=lambda one: one.name)
    },
    check=_check,
)


def chosen(wanted: Iterable[str | Classifier]) -> tuple[Classifier, ...]:
    """Return the classifiers that are given or named. Raises UsageError for anything else."""
    several = "names of classifiers, or classifiers"
    return tuple(map(_classifier, wanted_items(wanted, "classifiers", object, several)))


def _classifier(one: str | Classifier) -> Classifier:
    if isinstance(one, str):
        return classifiers.get(one)
    if fault := _check(one):
        raise UsageError(f"{brief(one)} is no classifier of success: {fault}")
    return one
