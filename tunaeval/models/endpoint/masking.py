"""Masks: replacements in a cassette for the parts of a request that differ from run to run.

Call ids are numbered in order of appearance; texts are masked by patterns that take linear time.
The built-in patterns are a fixed prefix and a class of characters. Custom ones, which may come from
a file of unknown origin, are run by an automaton (`tunaeval.matching.Pattern`) and match greedily.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import TypeAlias

import orjson

from tunaeval.errors import UsageError
from tunaeval.files import records
from tunaeval.files.keys import COVER, without
from tunaeval.matching.patterns import Pattern
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.wanted import refusal

from .exchange import ModelRequest

MASKS: dict[str, str] = {
    "<tmp>": r"TMP/(?:pytest-of-[^/\s\"']+/pytest-\d+/(?:popen-gw\d+/)?)?[^/\s\"']+",
    "<uuid>": r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    "<time>": r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?[\d.,]*(?:Z|[+-]\d\d:?\d\d)?",
    "<date>": r"\b\d{4}-\d\d-\d\d\b",
    "<address>": r"\b0x[0-9a-fA-F]{6,16}\b",
    "<port>": r"(?<=127\.0\.0\.1:)\d{2,5}\b|(?<=localhost:)\d{2,5}\b",
    "<seconds>": r"\b\d+\.\d+ ?m?s\b",
}
"""Patterns by the replacement of their matches; TMP stands for the directory of temporary files."""


_Find: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]


def checked_masks(masks: object) -> dict[str, str]:
    """Return a caller's own masks. Raise UsageError if they are invalid."""
    if masks is None:
        return {}
    if not isinstance(masks, Mapping) or not all(
        isinstance(one, str) for pair in masks.items() for one in pair
    ):
        raise refusal("masks", masks, 'patterns by what replaces them, as {"<pid>": r"pid [0-9]+"}')
    found = dict(masks)
    for shown, pattern in found.items():
        _finder(shown, pattern)
    return found


_VOLATILE = frozenset({
    "stream", "stream_options", "user", "metadata", "store", "prompt_cache_key",
    "prompt_cache_retention", "safety_identifier", "service_tier", "include", "background",
})  # fmt: skip
"""Fields of a request that do not affect the model's answer."""

_IDS = frozenset({"tool_call_id", "call_id"})
_ID_OF_A_CALL = re.compile(r"function_call|function")


class Masker:
    """Masks requests by patterns (`masks`, in the shape of `MASKS`), and covers `secrets`."""

    def __init__(self, masks: Mapping[str, str], secrets: frozenset[str] = frozenset()) -> None:
        self.masks = dict(masks)
        places = "|".join({re.escape(tempfile.gettempdir()), "/private/tmp", "/tmp"})  # noqa: S108 - searched for, not used
        self._masks = [
            (_finder(shown, pattern, f"(?:{places})"), shown) for shown, pattern in masks.items()
        ]
        self._secrets = secrets

    def text(self, text: str) -> str:
        for find, shown in self._masks:
            pieces, done = [], 0
            for start, end in find(text):
                pieces += [text[done:start], shown]
                done = end
            text = "".join([*pieces, text[done:]])
        return text

    def normalised(self, request: ModelRequest) -> JsonObject:
        """Return the masked request, by which a recorded reply is found."""
        kept = {name: value for name, value in request.body.items() if name not in _VOLATILE}
        masked: JsonObject = self._masked(without(kept, self._secrets), _Numbers())
        return {"api": request.api, **masked}

    def variables(self, request: ModelRequest) -> dict[str, str]:
        """Return the masked texts of a request by numbered names: `<tmp 1>` is the first directory.
        A reply that repeats such a text is stored with the name, and replayed with the new
        request's text.
        """
        known = {name: one for name, one in request.body.items() if name not in _VOLATILE}
        found: dict[str, str] = {}
        for find, shown in self._masks:
            if shown != COVER:  # old cassettes have a mask for keys
                every = dict.fromkeys(
                    text[start:end] for text in _texts(known) for start, end in find(text)
                )
                found |= {f"{shown[:-1]} {at}>": one for at, one in enumerate(every, start=1)}
        return found

    def without_secrets(self, value: JsonValue) -> JsonValue:
        """Return a reply with its keys covered and otherwise unchanged."""
        return without(value, self._secrets)

    def _masked(self, value: JsonValue, ids: _Numbers) -> JsonValue:
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {
                    name: ids.of(one) if _is_id(name, one, value) else self._masked(one, ids)
                    for name, one in value.items()
                }
            case list() | tuple():
                return [self._masked(one, ids) for one in value]
        return value


def replaced(value: JsonValue, words: Mapping[str, str]) -> JsonValue:
    """Return a value with words replaced in all its texts, the longest words first."""
    match value:
        case str():
            for old in sorted(words, key=len, reverse=True):
                value = value.replace(old, words[old])
            return value
        case Mapping():
            return {name: replaced(one, words) for name, one in value.items()}
        case list() | tuple():
            return [replaced(one, words) for one in value]
    return value


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            yield from (text for one in value.values() for text in _texts(one))
        case list() | tuple():
            yield from (text for one in value for text in _texts(one))


def _finder(shown: str, written: str, places: str = "") -> _Find:
    """Return a function that finds a mask's matches. Raise UsageError if it is not linear."""
    pattern = written.replace("TMP", places) if places else written
    if written in MASKS.values():
        ours = re.compile(pattern)
        return lambda text: (match.span() for match in ours.finditer(text))
    try:
        theirs = Pattern(pattern)
    except ValueError as error:
        raise UsageError(f"the mask {shown!r} cannot be used: {error}") from None
    if theirs.is_lazy:
        raise UsageError(
            f"the mask {shown!r} has a lazy repeat, as in '<.*?>', and masks find as much as they "
            "can; name the characters instead, as in '<[^>]*>'"
        )
    return theirs.spans


class _Numbers:
    """Numbers ids in order of appearance."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._next = count(1)

    def of(self, value: str) -> str:
        if value not in self._known:
            self._known[value] = f"<id {next(self._next)}>"
        return self._known[value]


def _is_id(name: str, value: JsonValue, around: Mapping[str, JsonValue]) -> bool:
    if not isinstance(value, str):
        return False
    is_own = name == "id" and _ID_OF_A_CALL.fullmatch(str(around.get("type"))) is not None
    return name in _IDS or is_own or name == "previous_response_id"


def masked(text: str) -> str:
    """Return the text with the built-in masks applied."""
    return Masker(MASKS).text(text)


def key_of(normalised: JsonObject) -> str:
    """Return the key of a masked request: the first 16 digits of its SHA-256."""
    plain = orjson.loads(records.encode(normalised))
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
