"""All JSON lines that tunaeval writes and reads: append, read, and recover after a crash.

A record is a JSON object on one line. `RecordWriter.append` returns when the operating system has
the whole line: a killed process loses no acknowledged record, and leaves at most the line that it
was writing incomplete. Only such a line, which can be the beginning of one record, is left out or
removed, and that is logged. Anything else that is no record raises an error.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
from codecs import getincrementaldecoder
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

from tunaeval.errors import RecordError
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import decoded, encode

from .locks import turn
from .plain_files import check_writable, is_absent, open_plain, read_bounded, table_of, unread

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_UNWRITTEN = re.compile(rb"[\x00-\x1f]")
"""What no record has: they are escaped where a text has them."""
_CUT = re.compile(r"(-|[.eE][-+\d]*|t(ru?)?|f(a(ls?)?)?|n(ul?)?|u[\da-fA-F]{0,4})?")
"""What JSON's own reader may leave of a number, a word or an escape that was cut."""
_BLOCK = 1 << 16
_LOG = logging.getLogger("tunaeval.files")


def decode(line: bytes) -> JsonObject:
    """Return the record of one line. Raise ValueError if the line is not a JSON object."""
    record = decoded(line, constants=True)
    if not isinstance(record, dict):
        raise ValueError(f"a record is a JSON object, this is {type(record).__name__}")  # noqa: TRY004 - like every other fault of the line
    return record


class RecordWriter:
    """Appends records to a file; there may be only one writer at a time. An incomplete last line is
    removed first; `recovered` is how many bytes that were. A new file has this `mode`.
    """

    def __init__(self, path: Path, *, mode: int = 0o666) -> None:
        self.path = path
        with _guarded(path, "write to"):
            check_writable(path)
        self.recovered = 0 if is_absent(path) else recover(path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        with _guarded(path, "open"):
            self._file = os.open(path, flags, mode)

    def append(self, record: Mapping[str, JsonValue]) -> int:
        """Write the whole record, or raise RecordError and leave the file as it was. Returns the
        record's length in bytes.
        """
        line = encode(record)
        written = 0
        try:
            while written < len(line):  # one write, except on a full disk or after a signal
                written += os.write(self._file, line[written:] if written else line)
        except OSError as error:
            if written:
                self._take_back(written)
            raise _record_error(self.path, "write", error) from error
        return written

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_back(self, written: int) -> None:
        """Remove the bytes of a record that was written only in part."""
        try:
            os.ftruncate(self._file, os.fstat(self._file).st_size - written)
        except OSError:  # the tail stays incomplete: `recover` and `read` handle it
            return


def append(path: Path, record: Mapping[str, JsonValue]) -> None:
    """Append one record to a file to which other threads and processes append by this function,
    too. They take turns, as an incomplete line may be one that another is writing. Raises
    RecordError as `RecordWriter` does, and if no turn comes within 5 seconds.
    """
    with _guarded(path, "append to"), turn(path), RecordWriter(path) as writer:
        writer.append(record)


def read(path: Path, *, only: Container[int] | None = None) -> Iterator[JsonObject]:
    """Yield the records of a file in constant memory. `only` selects records by number, counted
    from 1. A last line without its newline counts if it is complete, and is left out if it is the
    beginning of a record. Raises RecordError, with the line's number, for any other line.
    """
    return (record for _, record in placed(path, only=only))


def placed(
    path: Path, *, only: Container[int] | None = None, whole: bool = False, noun: str = "record"
) -> Iterator[tuple[int, JsonObject]]:
    """Like `read`, but yield each record with its byte offset, for `read_at`. An incomplete last
    line raises, too, if the file has to be `whole`. `noun` is what messages call a record.
    """
    with opened(path) as file:
        count = end = 0
        for number, line in enumerate(file, start=1):
            start, end = end, end + len(line)
            if not line.strip():
                continue
            count += 1
            if only is not None and count not in only:
                continue
            try:
                record = decode(line)
            except (ValueError, RecursionError) as error:
                before = f"{counted(count - 1, noun)} before"
                if not whole and is_beginning(line):
                    it = f"the last line, {counted(end - start, 'byte')}, is the beginning of a"
                    _LOG.warning("%s: %s %s and left out, with %s", path, it, noun, before)
                    return
                raise RecordError(
                    f"{path}, line {number}: wanted a JSON object on one line, found "
                    f"{_quoted(line, error)}; the line has {counted(end - start, 'byte')} and "
                    f"{counted(_records_in(line), noun)} in a row, with {before}; nothing is "
                    "changed: repair the line or remove it"
                ) from error
            yield start, record


def opened(path: Path) -> BinaryIO:
    """Open a file to be read. Raise RecordError if that fails."""
    with _guarded(path, "read"):
        return open_plain(path)


def read_at(file: BinaryIO, path: Path, offset: int) -> JsonObject:
    """Return the record at a byte offset of an open file; `path` is for error messages."""
    try:
        file.seek(offset)
        return decode(file.readline())
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(
            f"{path}: there is no record at byte {offset} any more ({error}); the file was changed "
            "while it was read"
        ) from error


def recover(path: Path) -> int:
    """Make the file end in a whole record, and return how many bytes of an incomplete line were
    removed. A last record that lacks only its newline gets one. Raises RecordError, and changes
    nothing, if the last line is no beginning of a record.
    """
    with _guarded(path, "recover"), path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        start = _start_of_last_line(path, size)
        if start == size:
            return 0
        file.seek(start)
        try:
            decode(tail := file.read())
        except (ValueError, RecursionError):
            if not is_beginning(tail):
                for _ in placed(path):  # raises an error that says what is where
                    pass
            file.truncate(start)
            words = "%s: removed %s, the beginning of a record that was never finished"
            _LOG.warning(words, path, counted(size - start, "byte"))
            return size - start
        file.write(b"\n")
        return 0


def is_beginning(line: bytes) -> bool:
    """Whether a line can be the beginning of one record whose rest was never written: JSON without
    a fault that ends inside of its object.
    """
    if not line.startswith(b"{") or _UNWRITTEN.search(line):
        return False
    try:
        text = getincrementaldecoder("utf-8")().decode(line)  # its last character may be cut, too
        json.loads(text)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated string") or _CUT.fullmatch(text[error.pos :])
        return bool(is_cut) and not error.msg.startswith("Extra data")
    except (ValueError, RecursionError):
        return False
    return False


def _records_in(line: bytes) -> int:
    """Return how many whole records follow each other at the beginning of a line."""
    text, decoder, at, found = line.decode(errors="replace"), json.JSONDecoder(), 0, 0
    with suppress(ValueError, RecursionError):
        while (at := text.find("{", at)) >= 0:
            at = decoder.raw_decode(text, at)[1]
            found += 1
    return found


def write_document(path: Path, document: Mapping[str, JsonValue]) -> None:
    """Write one indented JSON object to a new file, completely or not at all."""
    text = _document_text(document)
    with _guarded(path, "write"), path.open("x", encoding="ascii") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise


def replace_document(path: Path, document: Mapping[str, JsonValue]) -> None:
    """Replace a file's JSON object atomically: no reader sees half of it."""
    text = _document_text(document)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with _guarded(path, "replace"):
        try:
            new.write_text(text, encoding="ascii")
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


def _document_text(document: Mapping[str, JsonValue]) -> str:
    return json.dumps(decode(encode(document)), indent=2) + "\n"


def read_document(path: Path) -> JsonObject:
    """Return the JSON object that a file consists of."""
    with _guarded(path, "read"), open_plain(path) as file:
        text = read_bounded(file)
    try:
        return decode(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(
            f"{path}: wanted one JSON object, found {_quoted(text, error)}"
        ) from error


def _quoted(text: bytes, error: Exception) -> str:
    if b"\0" in text or (isinstance(error, UnicodeDecodeError) and _CONTROL.search(text)):
        return "bytes that are no text (is it a binary or a compressed file?)"
    return f"{text[:60]!r} ({error})"


@contextmanager
def _guarded(path: Path, action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _record_error(path, action, error) from error


def _record_error(path: Path, action: str, error: OSError) -> RecordError:
    name, known = errno.errorcode.get(error.errno or 0, ""), table_of(__package__, "advice.toml")
    others = known["reading"] if action == "read" else {}
    advice = others.get(name) or known.get(name, "check the path and the disk")
    if action == "read":
        return RecordError(f"{str(path)!r} {unread(path, advice, error)}")
    return RecordError(f"cannot {action} {str(path)!r}: {error.strerror or error}; {advice}")


def _start_of_last_line(path: Path, size: int) -> int:
    """Return the position after the last newline; `size` if the file ends with one."""
    with path.open("rb") as file:
        end = size
        while end:
            start = max(0, end - _BLOCK)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
    return 0


def json_text(value: JsonObject) -> str:
    """Return `value` as JSON on one line of printable ASCII, which is safe on any terminal.

    Lone surrogates are kept; values that JSON lacks are written as `encode` writes them.
    """
    return json.dumps(decode(encode(value))).replace("\x7f", r"\u007f")
