"""Cassettes: a model's recorded answers, in a file that people can read and version control can
keep.

The file has JSON lines. The first is `{"cassette": 1, "masks": {...}}`: patterns of what differs
from run to run, with replacements. Each other line is an exchange: `key` (a digest of `request`),
`request` (masked), `message`, `finish_reason`, `prompt_tokens`, `completion_tokens`, and for the
Responses API the upstream's `items` and `id`. No header and no known secret is kept: see
`tunaeval.files.keys`.
"""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tunaeval.errors import RecordError, UsageError
from tunaeval.files import records
from tunaeval.files.keys import of_environment, without
from tunaeval.showing import brief, counted
from tunaeval.types.calls import JsonObject
from tunaeval.types.messages import Usage

from .differences import differences
from .exchange import Answer, ModelRequest, Refused
from .masking import MASKS, Masker, key_of, replaced

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
        self, request: ModelRequest, authorization: str | None, *, keeps: bool = False
    ) -> Answer:
        """Return the recorded answer to this request, and use it up unless `keeps` is set. Raises
        Refused, naming the most similar request, if this one was not recorded.
        """
        masker = Masker(self._masks, request.secrets | of_environment())
        del authorization  # no server is asked
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
            "message": replaced(masker.without_secrets(answer.message), words),
            "finish_reason": answer.finish_reason,
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
        }
        if answer.items is not None:
            line |= {
                "items": replaced(masker.without_secrets(answer.items), words),
                "id": answer.id,
            }
        self._lines.append(line)

    def close(self, unanswered: Sequence[str] = ()) -> None:
        """Write the file. Raise RecordError, and write nothing, if a request was `unanswered`."""
        if unanswered:
            raise RecordError(
                f"the cassette {str(self._path)!r} was not recorded and is as it was: "
                f"{unanswered[0]}; record it when the upstream answers"
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
