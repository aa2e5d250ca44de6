"""Rows of a data set: how they are read from files and objects, and how they are written.

JSON lines, JSON, Parquet, objects of `datasets` and tables are read one row (or for Parquet one
batch) at a time, and no more is in memory. A row that cannot be read is not left out: a `Raw` with
the reason takes its place.

A row is written as messages in OpenAI's shape, which TRL and most trainers read. Arguments are
objects, since almost all chat templates want objects; a template that wants text says so in
`as_openai`. Tools are JSON text: Arrow gives every object of a column the keys of all others.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, repeat, takewhile
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.files.packed_files import LONGEST, PACKED, lines_in, opened
from tunaeval.files.plain_files import open_plain, table_of, unread
from tunaeval.rewards.gold import Gold
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, openai_call
from tunaeval.types.json_text import decoded
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis
from tunaeval.types.wanted import refusal


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation: messages with their calls as values, and the tools that were offered.

    `number` counts from 1; `shape` names how the row was written. `notes` are diagnoses of calls
    and losses (`LOSSES`), each with the index of its message. `raw` is the row as read, `line` its
    bytes in the file. `others` has the other fields of each message (`weight`, `name`, images).
    `prompt` is the number of messages in the prompt, if the row keeps the reply apart. `rejected`
    is the worse reply of a preference, and `gold` the calls that a reward wants.
    """

    number: int
    shape: str
    messages: tuple[Message, ...]
    tools: Tools | None = None
    notes: tuple[tuple[int, Diagnosis], ...] = ()
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)
    others: tuple[JsonObject, ...] = field(default=(), repr=False)
    prompt: int | None = None
    rejected: Row | Fault | None = None
    gold: Gold | Fault | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that cannot be read, with the reason; the other fields are those of `Row`."""

    number: int
    reason: str
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)


class UnreadableRowError(ValueError):
    """A row that is no conversation; `read_row` catches it and returns a `Fault`."""


NAMES = table_of(__package__, "names.toml")
"""The names in rows, and the codes of what is found in them."""

LOSSES: Mapping[str, str] = NAMES["losses"]
"""Every code of a note that says what a row loses as `as_openai` writes it."""


def as_openai(row: Row, arguments: str = "object") -> JsonObject:
    """Return the row as `{"messages": [...], "tools": "..."}`, with its other fields.

    A row that keeps its prompt apart has `prompt` and `completion` instead, or `prompt`, `chosen`
    and `rejected`. `arguments` is "object", "text" (JSON text, as OpenAI's API wants it), or the
    text of a chat template, which decides. Warns of each kind of loss in the row's notes.

    Examples:
        >>> from tunaeval.data import read_rows
        >>> answers = '[{"name": "f", "arguments": {"a": 1}}]'
        >>> row = next(read_rows([{"query": "?", "answers": answers}]))
        >>> as_openai(row)["messages"][1]["tool_calls"][0]["function"]["arguments"]
        {'a': 1}
        >>> as_openai(row, "text")["messages"][1]["tool_calls"][0]["function"]["arguments"]
        '{"a": 1}'

    Raises UsageError for other `arguments`, and for a template that writes no calls.
    """
    for code in losses_of(row):
        if code != "made-id":
            warnings.warn(f"{LOSSES[code]} ({code}; row.notes says where)", stacklevel=2)
    return exported(row, written_arguments(arguments))


def exported(row: Row, written: str) -> JsonObject:
    """Like `as_openai`, without warnings; arguments are written as "object" or as "text"."""
    raw = row.raw if isinstance(row.raw, dict) else {}
    if row.shape == "openai-preference":  # whose `input` has more than messages and tools
        raw = {**raw["input"], **raw}
    worse = row.rejected if isinstance(row.rejected, Row) else None
    known = NAMES["fields"]
    used = {*known["used"], *known["of_a_shape"].get(row.shape, ())}
    used.update(known["rejected"] if worse else ())
    made: JsonObject = {key: value for key, value in raw.items() if key not in used}
    messages = [*chat_messages(row.messages, written, row.others)]
    if row.prompt is None:
        made["messages"] = messages
    else:
        made["prompt"] = messages[: row.prompt]
        if messages[row.prompt :]:
            made["completion" if row.rejected is None else "chosen"] = messages[row.prompt :]
    if worse:
        made["rejected"] = [*chat_messages(worse.messages, written, worse.others)]
    if row.tools is not None:
        made["tools"] = json.dumps(row.tools.as_openai(), ensure_ascii=False)
    return made


def losses_of(row: Row) -> list[str]:
    """Return the codes of what the row loses when it is written, without repetition, sorted."""
    worse = row.rejected.notes if isinstance(row.rejected, Row) else ()
    return sorted({note.code for _, note in (*row.notes, *worse)} & LOSSES.keys())


@lru_cache(maxsize=16)
def written_arguments(arguments: str) -> str:
    """Return "object" or "text": what was asked for, or what a chat template wants."""
    if arguments in {"object", "text"}:
        return arguments
    if "{" not in str(arguments):
        raise refusal("arguments", arguments, "'object', 'text', or the text of a chat template")
    from tunaeval.parsing import templates  # noqa: PLC0415 - it loads jinja2

    templates.turn_by(arguments, [ToolCall("get_weather", {"city": "Oslo"})])
    return templates.wanted_arguments(arguments)


def chat_messages(
    messages: Sequence[Message], arguments: str = "text", others: Sequence[JsonObject] = ()
) -> Iterator[JsonObject]:
    """Yield the messages in the shape of OpenAI's chat completions API, with their other fields."""
    for index, (message, (ids, _)) in enumerate(zip(messages, linked(messages), strict=True)):
        more = others[index] if others else {}
        made: JsonObject = {"role": message.role, "content": message.content}
        if message.reasoning and not others:
            made["reasoning_content"] = message.reasoning
        if message.tool_calls:
            calls = zip(message.tool_calls, ids, strict=True)
            made["tool_calls"] = [openai_call(call, id_, arguments) for call, id_ in calls]
        elif message.is_result:
            made["role"] = "tool"
            made.update({"tool_call_id": ids[0]} if ids else {})
        yield {**made, **more}


def linked(messages: Sequence[Message]) -> Iterator[tuple[list[str], Diagnosis | None]]:
    """Yield for each message the ids of its calls (their own, those of their results, or new ones),
    or the id of the call that it answers; and a note if an id was made, or is unknown.
    """
    waiting: list[str] = []
    for index, message in enumerate(messages):
        ids: list[str] = []
        code = ""
        if message.tool_calls:
            results = takewhile(lambda one: one.is_result, messages[index + 1 :])
            answers = chain((one.tool_call_id for one in results), repeat(None))
            known = [own.id or one for own, one in zip(message.tool_calls, answers, strict=False)]
            ids = [id_ or f"call_{index}_{number}" for number, id_ in enumerate(known)]
            waiting = [*ids]
            code = "" if all(known) else "made-id"
        elif message.is_result:
            answered = message.tool_call_id or (waiting[0] if waiting else None)
            waiting = [one for one in waiting if one != answered]
            ids = [answered] if answered else []
            code = "" if answered else "unlinked-result"
        yield ids, Diagnosis(code, LOSSES[code]) if code else None


_WANTED = "wanted a file of rows, or - for stdin"
_RESPONSE = ("<tool_response>", "</tool_response>")
_NEXT_RESPONSE = re.compile(r"</tool_response>\s*<tool_response>")


def results_in(content: str) -> list[str]:
    """Return the results in a tool's message, without the tags that Hermes puts around each."""
    text, (opened, closed) = content.strip(), _RESPONSE
    if not (text.startswith(opened) and text.endswith(closed)):
        return [content]
    inner = text.removeprefix(opened).removesuffix(closed)
    return [one.strip() for one in _NEXT_RESPONSE.split(inner)]


Source: TypeAlias = "str | Path | Iterable[Mapping[str, Any]]"
"""A path (`.jsonl`, `.json`, `.parquet`), or rows: a list, a `datasets` object, an Arrow table."""

_PIECE = 1 << 20
_PARQUET_ROWS = 256
_LINES = frozenset({".jsonl", ".ndjson", ".jsonlines"})


class Raw(NamedTuple):
    """A row before its shape is known: its value, or why there is none; its line in JSON lines."""

    value: JsonValue
    fault: str | None = None
    line: bytes | None = None


def raw_rows(source: Source) -> Iterator[Raw]:
    """Return the rows of a source in order. Raises `UsageError` if it cannot be opened or read."""
    if isinstance(source, str | Path):
        path = Path(source)
        plain = path.with_suffix("") if path.suffix in PACKED else path
        if plain.suffix in _LINES or plain.suffix == ".json":
            return _of_text_file(path, may_be_list=plain.suffix == ".json")
        if path.suffix in {".parquet", ".pq"}:
            return _of_parquet(path)
        raise refusal("source", str(source), "a path that ends in .jsonl, .json or .parquet")
    if hasattr(source, "to_batches"):
        return _of_batches(source.to_batches(max_chunksize=_PARQUET_ROWS))
    if hasattr(source, "__iter__") and not isinstance(source, Mapping | bytes):
        rows: Iterable[Any] = source  # which may have other items as well
        return (Raw(dict(row) if isinstance(row, Mapping) else row) for row in rows)
    raise refusal("source", source, "a path, or rows: a list, a datasets object, an Arrow table")


def rows_of_lines(lines: Iterable[bytes]) -> Iterator[Raw]:
    """Yield the rows of JSON lines, without empty lines."""
    for line in lines:
        if not line.strip():
            continue
        if len(line) > LONGEST:
            yield Raw(None, f"it is longer than {LONGEST:,} bytes")
            continue
        try:
            raw = Raw(decoded(line, constants=True), line=line)
        except json.JSONDecodeError as error:  # whose line is always 1, or 2 after a cut
            raw = Raw(None, f"no JSON: {error.msg} (at character {error.pos + 1})", line)
        except ValueError as error:
            raw = Raw(None, f"no JSON: {error}", line)
        yield raw


def _of_text_file(path: Path, *, may_be_list: bool) -> Iterator[Raw]:
    with opened(str(path), wanted=_WANTED) as file:
        begins = file.peek(_PIECE) if may_be_list else b""
        listed = begins.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        yield from _of_list(file) if listed else rows_of_lines(lines_in(file))


def _of_list(file: IO[bytes]) -> Iterator[Raw]:
    """Yield the items of a JSON list, each as soon as it was read from the file."""
    decoder = json.JSONDecoder()
    text = _Arriving(file)
    text.skip("[")
    while (first := text.skip(",")) and first != "]":
        wanted = 1
        while True:
            try:
                value, end = decoder.raw_decode(text.held)
            except (ValueError, RecursionError) as error:
                if text.more(wanted):
                    wanted *= 2  # so a long item is not decoded again for each piece
                    continue
                why = text.fault or f"no JSON: {error}"
                yield Raw(None, f"{why}; what follows cannot be separated")
                return
            break
        text.held = text.held[end:]
        yield Raw(value)
    if first != "]":
        yield Raw(None, text.fault or "the file ends before its list does: it was cut off")


class _Arriving:
    """Reads text from a file piece by piece; `held` is the text that was not used yet."""

    def __init__(self, file: IO[bytes]) -> None:
        import codecs  # noqa: PLC0415 - only for JSON lists

        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.held = ""
        self.fault = ""
        """Why no more text can be read, unless the file has ended."""

    def more(self, pieces: int) -> bool:
        """Read `pieces` more pieces; return False at the end of the file."""
        found = b"" if self.fault else self._file.read(_PIECE * pieces)
        try:
            self.held += self._decoder.decode(found, final=not found)
        except UnicodeDecodeError as error:
            self.fault = f"not UTF-8: {error}"
        return bool(found) and not self.fault

    def skip(self, mark: str) -> str:
        """Skip white space and one `mark`; return the next character, or "" at the end."""
        for skipped in (mark, ""):
            self.held = self.held.lstrip()
            while not self.held and self.more(1):
                self.held = self.held.lstrip()
            if skipped and self.held.startswith(skipped):
                self.held = self.held[1:]
        return self.held[:1]


def _of_parquet(path: Path) -> Iterator[Raw]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 - as above
    except ImportError as error:
        raise UsageError(f"{path}: to read Parquet, run pip install pyarrow") from error
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open_plain(path))
        except OSError as error:
            raise UsageError(f"{str(path)!r} {unread(path, _WANTED, error)}") from error
        try:
            batches = pq.ParquetFile(file).iter_batches(batch_size=_PARQUET_ROWS)
            yield from _of_batches(batches)
        except (pa.ArrowException, OSError) as error:
            yield Raw(None, f"the Parquet file is damaged or was cut off: {error}")


def _of_batches(batches: Iterable[Any]) -> Iterator[Raw]:
    for batch in batches:
        for row in batch.to_pylist():
            yield Raw(row)
