"""Rows of a data set: how they are read from files and objects, and how they are written.

JSON lines, JSON, Parquet, objects of `datasets` and tables are read one row (or for Parquet one
batch) at a time, and no more is in memory. A row that cannot be read is not left out: a `Raw` with
the reason takes its place.

A row is written as messages in OpenAI's shape, which TRL and most trainers read. Arguments and
tools are JSON text. Arrow would make columns of objects and give every row every key that any row
has: `{"city": "Oslo"}` becomes `{"city": "Oslo", "days": None}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import open_plain
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis
from tunaeval.types.wanted import refusal


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation: messages with their calls as values, and the tools that were offered.

    `number` counts from 1; `shape` names how the row was written. `notes` are diagnoses of calls,
    each with the index of its message. `raw` is the row as read, `line` its bytes in the file.
    """

    number: int
    shape: str
    messages: tuple[Message, ...]
    tools: Tools | None = None
    notes: tuple[tuple[int, Diagnosis], ...] = ()
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that cannot be read, with the reason; the other fields are those of `Row`."""

    number: int
    reason: str
    raw: JsonValue = field(default=None, repr=False)
    line: bytes | None = field(default=None, repr=False, compare=False)


class UnreadableRowError(ValueError):
    """A row that is no conversation; `read_row` catches it and returns a `Fault`."""


_USED = frozenset({
    "messages", "conversations", "conversation", "system", "tools", "functions", "query", "answers",
    "chat", "prompt", "completion", "chosen", "chosen_response", "question", "correct_answer",
})  # fmt: skip
"""Fields of a row from which messages are made; all other fields are kept."""


def as_openai(row: Row) -> JsonObject:
    """Return the row as `{"messages": [...], "tools": "..."}`, with its other fields.

    Examples:
        >>> from tunaeval.data import read_rows
        >>> answers = '[{"name": "f", "arguments": {"a": 1}}]'
        >>> row = next(read_rows([{"query": "?", "answers": answers}]))
        >>> as_openai(row)["messages"][1]["tool_calls"][0]["function"]["arguments"]
        '{"a": 1}'
    """
    raw = row.raw if isinstance(row.raw, dict) else {}
    kept = {key: value for key, value in raw.items() if key not in _USED}
    made: JsonObject = {**kept, "messages": [*chat_messages(row.messages)]}
    if row.tools is not None:
        made["tools"] = json.dumps(row.tools.as_openai(), ensure_ascii=False)
    return made


def chat_messages(messages: Sequence[Message]) -> Iterator[JsonObject]:
    """Yield the messages in the shape of OpenAI's chat completions API."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        made: JsonObject = {"role": message.role, "content": message.content}
        if message.reasoning:
            made["reasoning_content"] = message.reasoning
        if message.tool_calls:
            ids = [*_ids(messages[index + 1 :], message.tool_calls, index)]
            made["tool_calls"] = [*map(_call, message.tool_calls, ids)]
            waiting = ids
        elif message.is_result:
            made["role"] = "tool"
            made["tool_call_id"] = message.tool_call_id or (waiting.pop(0) if waiting else "call")
        yield made


def _ids(following: Sequence[Message], calls: Sequence[ToolCall], index: int) -> Iterator[str]:
    """Yield for each call its own id, else that of its result, else a new one."""
    results = []
    for message in following:
        if not message.is_result:
            break
        results.append(message.tool_call_id)
    for number, call in enumerate(calls):
        known = results[number] if number < len(results) else None
        yield call.id or known or f"call_{index}_{number}"


def _call(call: ToolCall, id_: str) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": id_, "type": "function", "function": {"name": call.name, "arguments": arguments}}


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
        if path.suffix in _LINES or path.suffix == ".json":
            return _of_text_file(path)
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
        try:
            raw = Raw(json.loads(line.decode("utf-8-sig")), line=line)
        except (ValueError, RecursionError) as error:
            raw = Raw(None, f"no JSON: {error}", line)
        yield raw


def _opened(path: Path) -> IO[bytes]:
    try:
        return open_plain(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def _of_text_file(path: Path) -> Iterator[Raw]:
    with _opened(path) as file:
        listed = (
            path.suffix == ".json" and file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        )
        file.seek(0)
        yield from _of_list(file) if listed else rows_of_lines(file)


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
    with _opened(path) as file:
        try:
            batches = pq.ParquetFile(file).iter_batches(batch_size=_PARQUET_ROWS)
            yield from _of_batches(batches)
        except (pa.ArrowException, OSError) as error:
            yield Raw(None, f"the Parquet file is damaged or was cut off: {error}")


def _of_batches(batches: Iterable[Any]) -> Iterator[Raw]:
    for batch in batches:
        for row in batch.to_pylist():
            yield Raw(row)
