"""Cassettes: a model's recorded answers, in a file that people can read and version control can
keep.

The file has JSON lines. The first is `{"cassette": 1, "masks": {...}}`: patterns of what differs
from run to run, with replacements. Each other line is an exchange: `key` (a digest of `request`),
`request` (masked), `message`, `finish_reason`, `prompt_tokens`, `completion_tokens`, and for the
Responses API the upstream's `items` and `id`. No header and no known secret is kept: see
`tunaeval.files.keys`.

Masks replace the parts of a request that differ from run to run. Call ids are numbered in order of
appearance; texts are masked by patterns that take linear time. The built-in patterns are a fixed
prefix and a class of characters. Custom ones, which may come from a file of unknown origin, are run
by an automaton (`tunaeval.matching.Pattern`) and match greedily.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Literal, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from tunaeval.errors import RecordError, UsageError
from tunaeval.files import records
from tunaeval.files.keys import COVER, of_environment, without
from tunaeval.matching.patterns import Pattern
from tunaeval.showing import brief, counted
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.messages import Usage
from tunaeval.types.wanted import refusal

from .apis import Answer, ModelRequest, Refused

VERSION = 1
_AGAIN = "record it again (record=True; --tunaeval-record with pytest)"


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    cassette: Literal[1]
    masks: dict[str, str]


class _Exchange(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    request: JsonObject
    message: JsonObject
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    items: tuple[JsonObject, ...] | None = None
    id: str | None = None

    def as_answer(self) -> Answer:
        usage = Usage(self.prompt_tokens, self.completion_tokens)
        return Answer(self.message, self.finish_reason, usage, self.items, self.id)


class Cassette:
    """A recorded cassette that is replayed. Raises RecordError if the file cannot be read."""

    def __init__(self, path: Path, masks: Mapping[str, str]) -> None:
        header, self._exchanges = read_cassette(path)
        self._masks = {**header, **masks}
        self._waiting: dict[str, deque[_Exchange]] = defaultdict(deque)
        for exchange in self._exchanges:
            # Today's rules may recognize keys that were not covered when this was recorded.
            self._waiting[key_of(without(exchange.request, ()))].append(exchange)
        self._name = path.name

    @property
    def left(self) -> int:
        """How many exchanges were not asked for."""
        return sum(map(len, self._waiting.values()))

    @property
    def recorded_models(self) -> tuple[str, ...]:
        """The names of the models in the recorded requests, each once."""
        named = (exchange.request.get("model") for exchange in self._exchanges)
        return tuple(dict.fromkeys(one for one in named if isinstance(one, str)))

    async def answer(
        self, request: ModelRequest, headers: Mapping[str, str], *, keeps: bool = False
    ) -> Answer:
        """Return the recorded answer to this request, and use it up unless `keeps` is set. Raises
        Refused, naming the most similar request, if this one was not recorded.
        """
        masker = Masker(self._masks, request.secrets | of_environment())
        del headers  # no server is asked
        masked = masker.normalised(request)
        waiting = self._waiting[key_of(masked)]
        if not waiting:
            raise Refused(self._missing(masked), code="not_in_cassette")
        answer, words = waiting[0].as_answer(), masker.variables(request)
        if not keeps:
            waiting.popleft()
        items = None if answer.items is None else tuple(replaced(answer.items, words))
        return replace(answer, message=replaced(answer.message, words), items=items)

    def _missing(self, masked: JsonObject) -> str:
        """Return why a request is not in the cassette, with the differences to the nearest one."""
        if not self._exchanges:
            return f"the cassette {self._name} is empty; {_AGAIN}"
        key = key_of(masked)
        times = sum(exchange.key == key for exchange in self._exchanges)
        if times:
            often = counted(times, "time")
            return (
                f"the cassette {self._name} has this request {often}, and it was asked once more; "
                f"{_AGAIN}"
            )
        unlike = [differences(one.request, masked) for one in self._exchanges]
        near = min(range(len(unlike)), key=lambda at: (len(unlike[at]), -at))
        shown = "; ".join(unlike[near][:3])
        more = f"; and {len(unlike[near]) - 3} more" if len(unlike[near]) > 3 else ""
        return (
            f"the cassette {self._name} does not have this request; the nearest, in line "
            f"{near + 2}, differs in {shown}{more}; {_AGAIN} if that is meant"
        )


class CassetteWriter:
    """A cassette in recording; `close` writes the whole file, if there was an exchange."""

    def __init__(self, path: Path, masks: Mapping[str, str]) -> None:
        self._path = path
        self._masks = {**MASKS, **masks}
        self._lines: list[JsonObject] = []

    def add(self, request: ModelRequest, answer: Answer, secrets: frozenset[str]) -> None:
        """Record an exchange without its secrets."""
        masker = Masker(self._masks, secrets)
        masked = masker.normalised(request)
        words = {one: shown for shown, one in masker.variables(request).items()}
        line: JsonObject = {
            "key": key_of(masked),
            "request": masked,
            "message": replaced(without(answer.message, secrets), words),
            "finish_reason": answer.finish_reason,
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
        }
        if answer.items is not None:
            line |= {
                "items": replaced(without(answer.items, secrets), words),
                "id": answer.id,
            }
        self._lines.append(line)

    def close(self, unanswered: Sequence[str] = ()) -> None:
        """Write the file. Raise RecordError, and write nothing, if a request was `unanswered`."""
        if unanswered:
            raise RecordError(
                f"the cassette {str(self._path)!r} was not recorded and is unchanged: "
                f"{unanswered[0]}; record it again when the upstream answers"
            )
        if not self._lines:
            return
        header = {"cassette": VERSION, "masks": self._masks}
        new = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(b"".join(map(records.encode, (header, *self._lines))))
            new.replace(self._path)
        except OSError as error:
            raise RecordError(
                f"cannot write the cassette {str(self._path)!r}: {error.strerror or error}"
            ) from error
        finally:
            new.unlink(missing_ok=True)


def read_cassette(path: Path) -> tuple[dict[str, str], tuple[_Exchange, ...]]:
    """Return a cassette's masks and exchanges. Raise RecordError, with the line, if one is bad."""
    if not path.exists():
        raise RecordError(f"there is no cassette {str(path)!r}; {_AGAIN}")
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        what = "has no whole line" if path.stat().st_size else "is empty"
        raise RecordError(f"the cassette {str(path)!r} {what}; {_AGAIN}")
    version = first.get("cassette")
    if version != VERSION:
        raise RecordError(
            f"the cassette {str(path)!r} is of version {brief(version, 20)}, and this tunaeval "
            f"plays version {VERSION}; {_AGAIN}"
        )
    try:
        header = _Header.model_validate(first)
        Masker(header.masks)
    except (ValueError, UsageError) as error:
        raise _fault(path, 1, error) from None
    return header.masks, tuple(_exchanges(path, rows))


def _rows(path: Path) -> Iterator[JsonObject]:
    try:
        yield from records.read(path)
    except RecordError as error:
        raise RecordError(f"{error}, or {_AGAIN}") from None


def _exchanges(path: Path, rows: Iterator[JsonObject]) -> Iterator[_Exchange]:
    for number, row in enumerate(rows, start=2):
        try:
            exchange = _Exchange.model_validate(row)
        except ValidationError as error:
            raise _fault(path, number, error) from None
        if exchange.key != key_of(exchange.request):
            words = "its request was changed, so its key is that of another"
            raise RecordError(f"{path}, line {number}: {words}; {_AGAIN}")
        yield exchange


def _fault(path: Path, number: int, error: Exception) -> RecordError:
    words = str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the whole"
        words = f"{field!r} is {brief(first['input'])}; {first['msg'].lower()}"
    return RecordError(f"{path}, line {number}: {words}; {_AGAIN}")


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
        masked: JsonObject = self._masked(without(kept, self._secrets), {})
        model = {} if "model" in masked or not request.model else {"model": request.model}
        return {"api": request.api, **model, **masked}

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

    def _masked(self, value: JsonValue, ids: dict[str, str]) -> JsonValue:
        """Return a masked value; `ids` numbers the ids in order of appearance."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {
                    name: ids.setdefault(one, f"<id {len(ids) + 1}>")
                    if _is_id(name, one, value)
                    else self._masked(one, ids)
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
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        yield from (text for one in inner for text in _texts(one))


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


_SHOWN = 60
_NOTHING = object()


def differences(recorded: JsonValue, asked: JsonValue) -> list[str]:
    """Return one sentence for each place in which the requests differ."""
    return list(_walk(recorded, asked, ""))


def _walk(recorded: object, asked: object, place: str) -> Iterator[str]:
    if isinstance(recorded, Mapping) and isinstance(asked, Mapping):
        for name in dict.fromkeys((*recorded, *asked)):
            inner = f"{place}.{name}" if place else str(name)
            yield from _walk(recorded.get(name, _NOTHING), asked.get(name, _NOTHING), inner)
    elif isinstance(recorded, list) and isinstance(asked, list):
        for index, (old, new) in enumerate(zip_longest(recorded, asked, fillvalue=_NOTHING)):
            yield from _walk(old, new, f"{place}[{index}]")
    elif recorded != asked or type(recorded) is not type(asked):
        yield f"{place}: recorded {_shown(recorded, asked)}, asked {_shown(asked, recorded)}"


def _shown(value: object, other: object) -> str:
    """Return a value as text, or the part of a long text around the first difference."""
    if value is _NOTHING:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _SHOWN:
        return repr(text) if isinstance(value, str) else text
    same = 0
    if isinstance(value, str) and isinstance(other, str):
        pairs = zip(value, other, strict=False)
        same = next((at for at, (one, two) in enumerate(pairs) if one != two), 0)
    start = max(0, same - _SHOWN // 3)
    cut = text[start : start + _SHOWN]
    return f"{'…' if start else ''}{cut!r}{'…' if start + _SHOWN < len(text) else ''}"
