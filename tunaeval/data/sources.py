"""Reading rows one at a time from files and objects: JSON lines, JSON, Parquet, `datasets`, tables.

Only one row (or for Parquet one batch) is in memory. A row that cannot be read is not left out:
a `Raw` with the reason takes its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import open_plain
from tunaeval.types.calls import JsonValue
from tunaeval.types.wanted import refusal

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
        return _of_objects(source)
    raise refusal("source", source, "a path, or rows: a list, a datasets object, an Arrow table")


def rows_of_lines(lines: Iterable[bytes]) -> Iterator[Raw]:
    """Yield the rows of JSON lines, without empty lines."""
    for line in lines:
        if line.strip():
            yield _of_line(line)


def _of_line(line: bytes) -> Raw:
    try:
        return Raw(json.loads(line.decode("utf-8-sig")), line=line)
    except (ValueError, RecursionError) as error:
        return Raw(None, f"no JSON: {error}", line)


def _of_objects(rows: Iterable[Any]) -> Iterator[Raw]:
    for row in rows:
        yield Raw(dict(row) if isinstance(row, Mapping) else row)


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
        raise UsageError(
            f"{path}: Parquet is read by pyarrow, which is missing: pip install pyarrow"
        ) from error
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
