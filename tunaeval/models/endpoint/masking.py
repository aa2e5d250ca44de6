"""What of a request differs from run to run, and what replaces it in a cassette.

Call ids are numbered in their order; texts are masked by patterns that take linear time. Ours are
a fixed beginning and a class of characters; those of others, whoever wrote the file, are read by an
automaton (`tunaeval.matching.Pattern`) and find as much as they can.
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
"""Patterns by what replaces what they find; TMP is the directory for such files."""


_Find: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]


def checked_masks(masks: object) -> dict[str, str]:
    """Masks of a caller's own. Raises UsageError for what are none."""
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
"""Fields that do not change what is asked."""

_IDS = frozenset({"tool_call_id", "call_id"})
_ID_OF_A_CALL = re.compile(r"function_call|function")


class Masker:
    """Masks requests by patterns (`masks`, as `MASKS`) and by words that are never kept."""

    def __init__(self, masks: Mapping[str, str], secrets: frozenset[str] = frozenset()) -> None:
        self.masks = dict(masks)
        places = "|".join({re.escape(tempfile.gettempdir()), "/private/tmp", "/tmp"})  # noqa: S108 - is looked for, not used
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
        """The request by which a reply is found again."""
        kept = {name: value for name, value in request.body.items() if name not in _VOLATILE}
        masked: JsonObject = self._masked(without(kept, self._secrets), _Numbers())
        return {"api": request.api, **masked}

    def variables(self, request: ModelRequest) -> dict[str, str]:
        """What is masked in a request, by numbered words: `<tmp 1>` for the first directory.

        A reply that repeats it is kept with the words, and played with what is there then.
        """
        known = {name: one for name, one in request.body.items() if name not in _VOLATILE}
        found: dict[str, str] = {}
        for find, shown in self._masks:
            if shown != COVER:  # of a cassette that was recorded when keys had a mask
                every = dict.fromkeys(
                    text[start:end] for text in _texts(known) for start, end in find(text)
                )
                found |= {f"{shown[:-1]} {at}>": one for at, one in enumerate(every, start=1)}
        return found

    def without_secrets(self, value: JsonValue) -> JsonValue:
        """A reply as it may be kept: its own words, but no key."""
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
    """A value with words in the place of others, the longest first, wherever they are in it."""
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
    """What finds the mask `shown` in a text. Raises UsageError for what is no linear pattern."""
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
    """Ids by the order in which they come."""

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
    """The text without what differs from run to run."""
    return Masker(MASKS).text(text)


def key_of(normalised: JsonObject) -> str:
    """What a request is looked up by: the first 16 digits of its SHA-256."""
    plain = orjson.loads(records.encode(normalised))
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
