"""Cassettes: a model's recorded answers, in a file that people can read and version control can
keep.

The file has JSON lines. The first is `{"cassette": 1, "masks": {...}}`: patterns of what differs
from run to run, with replacements. Each other line is an exchange: `key` (a digest of `request`),
`request` (masked), `message`, `finish_reason`, `prompt_tokens`, `completion_tokens`, the `usage` as
the upstream counted it, and for the Responses API the upstream's `items` and `id`. No header and no
known secret is kept: see `tunaeval.files.keys`.

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
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import orjson
from pydantic import BaseModel, ConfigDict

from tunaeval.errors import RecordError, UsageError
from tunaeval.files import records
from tunaeval.files.kept_replies import KeptReply, checked
from tunaeval.files.keys import mapped, of_environment, of_fields, without
from tunaeval.files.plain_files import is_absent, table_of
from tunaeval.matching.patterns import Pattern
from tunaeval.showing import brief, counted
from tunaeval.types.calls import JsonObject, JsonValue, texts_in
from tunaeval.types.exchange import text_of
from tunaeval.types.json_text import encode
from tunaeval.types.messages import Usage
from tunaeval.types.wanted import refusal, wanted_path
from tunaeval.wire.apis import APIS
from tunaeval.wire.chat import is_result
from tunaeval.wire.values import Answer, Request
from tunaeval.wire.volatile import VOLATILE, stable

from .apis import ModelRequest, Refused
from .routes import UPSTREAMS

VERSION = 1
Match: TypeAlias = Literal["exact", "loose"]
_AGAIN = "record it again (record=True; --tunaeval-record with pytest)"


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    cassette: Literal[1]
    masks: dict[str, str]


class _Exchange(KeptReply):
    key: str
    request: JsonObject
    finish_reason: str
    items: tuple[JsonObject, ...] | None = None
    id: str | None = None
    usage: JsonObject | None = None

    def as_answer(self) -> Answer:
        return Answer(
            self.message,
            finish=self.finish_reason,
            usage=Usage(self.prompt_tokens, self.completion_tokens),
            items=self.items,
            id=self.id,
            counted=self.usage,
        )


class Cassette:
    """A recorded cassette that is replayed. Raises RecordError if the file cannot be read."""

    def __init__(self, path: Path, masks: Mapping[str, str], match: Match = "exact") -> None:
        header, recorded = read_cassette(path)
        self._masks = {**header, **masks}
        # Today's rules may know secrets, ids and fields that those of the recording did not.
        masker = Masker(self._masks)
        again = [(one, masker.body(one.request)) for one in recorded]
        self._exchanges = tuple(
            one.model_copy(update={"request": asked, "key": key_of(asked)}) for one, asked in again
        )
        self._waiting: dict[str, deque[_Exchange]] = defaultdict(deque)
        for exchange in self._exchanges:
            self._waiting[exchange.key].append(exchange)
        self._name = path.name
        # The first of equal requests is enough here: what is alike in it is so in the others.
        heads = self._waiting.items() if match == "loose" else ()
        self._loose = {key: _outline(waiting[0].request) for key, waiting in heads}

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
        waiting = self._waiting.get(key_of(masked)) or self._alike(masked)
        if not waiting:
            raise Refused(self._missing(masked), code="not_in_cassette")
        answer, words = waiting[0].as_answer(), masker.variables(request)
        if not keeps:
            waiting.popleft()
        items = replaced(answer.items, words)
        return replace(answer, message=replaced(answer.message, words), items=items)

    def _alike(self, masked: JsonObject) -> deque[_Exchange] | None:
        """Return the nearest exchanges of the same turn with the same last results, if any."""
        outline = _outline(masked) if self._loose else None
        alike = [
            waiting
            for key, waiting in self._waiting.items()
            if waiting and outline is not None and self._loose.get(key) == outline
        ]
        unlike = [len([*differences(waiting[0].request, masked)]) for waiting in alike]
        return alike[unlike.index(min(unlike))] if alike else None

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
        line, unlike = self._nearest(masked)
        shown = "; ".join(unlike[:3])
        more = f"; and {len(unlike) - 3} more" if len(unlike) > 3 else ""
        outline = None if self._loose else _outline(masked)
        is_alike = outline is not None and outline == _outline(self._exchanges[line].request)
        hint = ', or play it with match="loose",' if is_alike else ""
        return (
            f"the cassette {self._name} does not have this request; the nearest, in line "
            f"{line + 2}, differs in {shown}{more}; {_AGAIN}{hint} if that is meant"
        )

    def _nearest(self, masked: JsonObject) -> tuple[int, list[str]]:
        """Return the index of the recorded request that differs least, and the differences; those
        of the same turn come first, as a missing message is one difference, however long it is.
        """
        turn = (_outline(masked) or [])[:2]
        is_other = [(_outline(one.request) or [])[:2] != turn for one in self._exchanges]
        unlike = [[*differences(one.request, masked)] for one in self._exchanges]
        near = min(range(len(unlike)), key=lambda at: (is_other[at], len(unlike[at]), -at))
        return near, unlike[near]

    def report(self, request: ModelRequest) -> str:
        """Return whether a request is in the cassette, and what the comparison leaves out."""
        masker = Masker(self._masks, request.secrets | of_environment())
        masked = masker.normalised(request)
        found = [at for at, one in enumerate(self._exchanges) if one.key == key_of(masked)]
        if found:
            places = ", ".join(str(at + 2) for at in found)
            lines = [f"the cassette {self._name} has this request, in line {places}"]
        elif self._exchanges:
            near, unlike = self._nearest(masked)
            shown = counted(len(unlike), "difference")
            where = f"the nearest is in line {near + 2}, with {shown}:"
            lines = [f"the cassette {self._name} does not have this request; {where}"]
            lines += [f"  {one}" for one in unlike[:_REPORTED]]
            if len(unlike) > _REPORTED:
                lines.append(f"  and {len(unlike) - _REPORTED} more")
        else:
            lines = [f"the cassette {self._name} is empty"]
        ignored = ", ".join(name for name in request.body if name in VOLATILE)
        hidden = ", ".join(f"{shown}: {one}" for shown, one in masker.variables(request).items())
        return "\n".join(
            [*lines, f"not compared: {ignored or 'nothing'}", f"masked: {hidden or 'nothing'}"]
        )


_REPORTED = 20


def cassette_report(path: str | PathLike[str], request: ModelRequest) -> str:
    """Return why a cassette does or does not have a request, as text of several lines: the nearest
    recorded request with all differences, the fields that are not compared, and the masked texts.

    Raises RecordError if the cassette cannot be read, UsageError for what is no request.

    Examples:
        >>> _ = Path("fix.jsonl").write_text('{"cassette": 1, "masks": {}}')
        >>> body = {"messages": [{"role": "user", "content": "Hi"}], "user": "me"}
        >>> request = tunaeval.ModelRequest("chat", body, (), None, "m")
        >>> print(tunaeval.cassette_report("fix.jsonl", request))
        the cassette fix.jsonl is empty
        not compared: user
        masked: nothing
    """
    if not isinstance(request, ModelRequest):
        raise refusal("request", request, "a ModelRequest, as in model.requests[0]")
    return Cassette(wanted_path(path, "path"), {}).report(request)


def checked_match(match: object, *, is_played: bool) -> Match:
    """Return how a cassette is compared. Raise UsageError for another word, or without a cassette
    that is played.
    """
    if match not in get_args(Match):
        raise refusal("match", match, "'exact' or 'loose'")
    if match == "loose" and not is_played:
        raise UsageError(
            "match is 'loose', which is how a cassette is played; pass only a cassette"
        )
    return "loose" if match == "loose" else "exact"


def _outline(masked: JsonObject) -> list[JsonValue] | None:
    """Return what a loose comparison looks at: the API, how many replies the conversation has, and
    the tool results since the last one. None for what is of no API.
    """
    if (name := masked.get("api", "")) not in UPSTREAMS:
        return None
    messages = APIS[name].read_request(masked, {})[0].messages
    replies = [at for at, one in enumerate(messages) if one.get("role") == "assistant"]
    last = messages[replies[-1] + 1 if replies else 0 :]
    results = [text_of(one.get("content")) for one in last if is_result(one)]
    return [name, len(replies), results]


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
            "finish_reason": answer.finish,
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
        }
        if answer.counted:
            line["usage"] = without(answer.counted, secrets)
        if answer.items is not None:
            line |= {"items": replaced(without(answer.items, secrets), words), "id": answer.id}
        self._lines.append(_Exchange.model_validate(line).as_record())

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
            new.touch(0o600)
            new.write_bytes(b"".join(map(encode, (header, *self._lines))))
            new.replace(self._path)
        except OSError as error:
            raise RecordError(
                f"cannot write the cassette {str(self._path)!r}: {error.strerror or error}"
            ) from error
        finally:
            new.unlink(missing_ok=True)


def read_cassette(path: Path) -> tuple[dict[str, str], tuple[_Exchange, ...]]:
    """Return a cassette's masks and exchanges. Raise RecordError, with the line, if one is bad."""
    if is_absent(path):
        raise RecordError(f"there is no cassette {str(path)!r}; {_AGAIN}")
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise RecordError(f"the cassette {str(path)!r} is empty; {_AGAIN}")
    version = first.get("cassette")
    if version != VERSION:
        raise RecordError(
            f"the cassette {str(path)!r} is of version {brief(version, 20)}, and this tunaeval "
            f"plays version {VERSION}; {_AGAIN}"
        )
    try:
        header = checked(_Header, first, f"{path}, line 1", _AGAIN)
        Masker(header.masks)
    except UsageError as error:
        raise RecordError(f"{path}, line 1: {error}; {_AGAIN}") from None
    return header.masks, tuple(_exchanges(path, rows))


def _rows(path: Path) -> Iterator[JsonObject]:
    try:
        yield from (row for _, row in records.placed(path, whole=True))
    except RecordError as error:
        raise RecordError(f"{error}, or {_AGAIN}") from None


def _exchanges(path: Path, rows: Iterator[JsonObject]) -> Iterator[_Exchange]:
    for number, row in enumerate(rows, start=2):
        where = f"{path}, line {number}"
        exchange = checked(_Exchange, row, where, _AGAIN)
        if exchange.key != key_of(exchange.request):
            words = "its request was changed, so its key is that of another"
            raise RecordError(f"{where}: {words}; {_AGAIN}")
        exchange.as_reply(where)  # which raises for a damaged one
        yield exchange


_KNOWN = table_of(__package__, "cassettes.toml")
MASKS: dict[str, str] = _KNOWN["masks"]
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

    def normalised(self, request: Request) -> JsonObject:
        """Return the masked request, by which a recorded reply is found."""
        masked = self.body(request.body)
        model = {} if "model" in masked or not request.model else {"model": request.model}
        return {"api": request.api, **model, **masked}

    def body(self, body: JsonObject) -> JsonObject:
        """Return the masked body of a request, or of a recorded one, without volatile fields."""
        known = without(stable(body), self._secrets | of_fields(body))
        masked: JsonObject = mapped(known, self.text, keys=False)
        return masked

    def variables(self, request: ModelRequest) -> dict[str, str]:
        """Return the masked texts of a request by numbered names: `<tmp 1>` is the first directory.
        A reply that repeats such a text is stored with the name, and replayed with the new
        request's text.
        """
        known = {name: one for name, one in request.body.items() if name not in VOLATILE}
        found: dict[str, str] = {}
        for find, shown in self._masks:
            every = dict.fromkeys(
                text[start:end] for text in texts_in(known) for start, end in find(text)
            )
            found |= {f"{shown[:-1]} {at}>": one for at, one in enumerate(every, start=1)}
        return found


def replaced(value: JsonValue, words: Mapping[str, str]) -> JsonValue:
    """Return a value with words replaced in all its texts, the longest words first."""

    def change(text: str) -> str:
        for old in sorted(words, key=len, reverse=True):
            text = text.replace(old, words[old])
        return text

    return mapped(value, change, keys=False)


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


def masked(text: str) -> str:
    """Return the text with the built-in masks applied."""
    return Masker(MASKS).text(text)


def key_of(normalised: JsonObject) -> str:
    """Return the key of a masked request: the first 16 digits of its SHA-256."""
    plain = orjson.loads(encode(normalised))
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


_SHOWN = 60
_NOTHING = object()


def differences(recorded: object, asked: object, place: str = "") -> Iterator[str]:
    """Yield one sentence for each place in which the requests differ."""
    if isinstance(recorded, Mapping) and isinstance(asked, Mapping):
        for name in dict.fromkeys((*recorded, *asked)):
            inner = f"{place}.{name}" if place else str(name)
            yield from differences(recorded.get(name, _NOTHING), asked.get(name, _NOTHING), inner)
    elif isinstance(recorded, list) and isinstance(asked, list):
        for index, (old, new) in enumerate(zip_longest(recorded, asked, fillvalue=_NOTHING)):
            yield from differences(old, new, f"{place}[{index}]")
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
