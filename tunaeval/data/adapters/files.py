"""Reading files of transcripts: JSON, JSON lines, and Inspect's archives of JSON."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.showing import brief
from tunaeval.types.calls import JsonValue
from tunaeval.types.conversations import Conversation

from .documents import DOCUMENT_SHAPES, holds_transcript, read_conversations, tells_spans

MAX_SAMPLE_BYTES = 32 * 1024 * 1024
"""The largest size of one unpacked sample."""
LEAST_ARCHIVE_BYTES = 64 * 1024 * 1024
MAX_RATIO = 50
"""All samples together may unpack to this many times the archive's size, or to
`LEAST_ARCHIVE_BYTES` if that is more; JSON packs about ten to one.
"""

_ZIP = b"PK\x03\x04"
_SAMPLES = "samples/"
_WANTED = "wanted JSON, JSON lines, or an archive of Inspect (.eval)"
_ZSTD = 93
"""The number of zstd compression in archives."""
_NO_ZSTD = (
    "{file}: its samples are compressed with zstd, which this Python does not read; install "
    "inspect-ai (or zipfile-zstd, which it brings), or write the log as JSON: "
    "inspect log convert --to json"
)
_PIECES = (
    "{file}: its samples are kept in pieces, or it has none; wanted samples/*.json in it. "
    "Write the log as JSON: inspect log convert --to json"
)


def read_file(
    data: bytes, *, file: str = "the file", shape: str | None = None
) -> tuple[Conversation, ...]:
    """Return the conversations in a file. Raises UsageError, naming the file and the place."""
    if shape is not None and shape not in DOCUMENT_SHAPES:
        raise UnknownNameError("shape of messages", shape, DOCUMENT_SHAPES)
    documents = _archived(data, file) if data.startswith(_ZIP) else _documents(data, file)
    found = tuple(
        given if given.name else replace(given, name=place)
        for place, document in documents
        for given in _read(document, f"{file}, {place}" if place else file, shape)
    )
    if not found:
        raise UsageError(f"{file}: it contains no transcript; {_WANTED}")
    return found


def _read(document: JsonValue, where: str, shape: str | None) -> tuple[Conversation, ...]:
    try:
        return read_conversations(document, shape=shape)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _documents(data: bytes, file: str) -> list[tuple[str, JsonValue]]:
    """Return the documents in a file, each with its line: one in all, or one on each line."""
    text = _decoded(data, file)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _lines(text, file, error)
    if isinstance(document, dict) and not holds_transcript(document):
        document = [document]
    return [("", document)]


def _lines(text: str, file: str, whole: Exception) -> list[tuple[str, JsonValue]]:
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values.append((f"line {number}", json.loads(line)))
        except (ValueError, RecursionError) as error:
            if values:
                raise _not_json(f"{file}, line {number}", error, line) from error
            raise _not_json(file, whole, text.lstrip()) from whole  # it is not JSON lines either
    if not values:
        raise UsageError(f"{file}: it is empty; {_WANTED}")
    if all(holds_transcript(value) and not tells_spans(value) for _, value in values):
        return values
    return [("", [value for _, value in values])]


def _not_json(where: str, error: Exception, text: str) -> UsageError:
    return UsageError(f"{where}: not JSON ({error}), found {text[:60]!r}; {_WANTED}")


def _decoded(data: bytes, file: str) -> str:
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file}: byte 0x{data[error.start]:02x} at {error.start} is not {encoding}; {_WANTED}"
        ) from error


def _archived(data: bytes, file: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield the samples of an archive of Inspect, one at a time."""
    budget = max(LEAST_ARCHIVE_BYTES, MAX_RATIO * len(data))
    count = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in filter(_is_sample, archive.namelist()):
                packed = _unpacked(archive, name, file, min(budget, MAX_SAMPLE_BYTES))
                budget -= len(packed)
                count += 1
                sample = json.loads(packed)
                del packed
                yield name, sample
    except UsageError:
        raise
    except Exception as error:  # zipfile and its decompressors raise many kinds
        raise UsageError(
            f"{file}: the archive cannot be read: {brief(error, 200)}; {_WANTED}"
        ) from error
    if not count:
        raise UsageError(_PIECES.format(file=file))


def _is_sample(name: str) -> bool:
    return name.startswith(_SAMPLES) and name.endswith(".json") and name.count("/") == 1


def _unpacked(archive: zipfile.ZipFile, name: str, file: str, most: int) -> bytes:
    """Return at most `most` bytes, no matter which size the archive declares."""
    if archive.getinfo(name).compress_type == _ZSTD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        try:
            import_module("zipfile_zstd")  # registers itself with zipfile; inspect-ai depends on it
        except ImportError as error:
            raise UsageError(_NO_ZSTD.format(file=file)) from error
    with archive.open(name) as packed:
        text = packed.read(most + 1)
    if len(text) > most:
        raise UsageError(
            f"{file}, {name}: unpacks to more than {most:,} bytes; write the log as JSON, or split "
            "it: inspect log convert --to json"
        )
    return text
