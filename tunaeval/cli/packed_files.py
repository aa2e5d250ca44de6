"""Read and write files of lines, of any size, that may be compressed (gzip, Zstandard).

Input is recognized by its first bytes, output by its suffix. Zstandard needs the extra `zstd`.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import open_plain

LONGEST = 64 * 1024 * 1024
"""The most bytes that a line may have; a longer one is surely no row."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LEVELS = {".gz": 4, ".zst": 3}
"""Compression levels, chosen so that compression is no slower than parsing."""


@contextmanager
def opened(file: str) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed; "-" is stdin. Raise UsageError if that fails."""
    try:
        with _raw(file) as raw:
            yield _unpacked(file, raw)
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{file!r} cannot be read: {why}; wanted a file, or - for stdin"
        ) from error


@contextmanager
def _raw(file: str) -> Iterator[io.BufferedReader]:
    if file == "-":
        yield cast("io.BufferedReader", sys.stdin.buffer)
        return
    with open_plain(file) as raw:
        yield raw


def _unpacked(file: str, raw: io.BufferedReader) -> IO[bytes]:
    begins = raw.peek(4)[:4]
    if begins.startswith(_GZIP):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if begins == _ZSTD:
        return io.BufferedReader(_Zstandard(file, raw), 1 << 18)
    return raw


class _Zstandard(io.RawIOBase):
    """Reads Zstandard frames as one file. Raises UsageError if the last one is cut off."""

    def __init__(self, file: str, raw: IO[bytes]) -> None:
        self._file, self._raw = file, raw
        self._zstandard = _zstandard(file)
        self._frame: Any = None
        self._packed = self._plain = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._plain and self._more():
            continue
        size = min(len(buffer), len(self._plain))
        buffer[:size] = self._plain[:size]
        self._plain = self._plain[size:]
        return size

    def _more(self) -> bool:
        """Decompress the next piece; return False at the end."""
        self._packed = self._packed or self._raw.read(_PACKED_BYTES)
        if not self._packed:
            if self._frame is not None:
                raise UsageError(f"{self._file!r} cannot be decompressed: its end is missing")
            return False
        if self._frame is None:
            self._frame = self._zstandard.ZstdDecompressor().decompressobj()
        try:
            self._plain = self._frame.decompress(self._packed)
        except self._zstandard.ZstdError as error:
            raise UsageError(f"{self._file!r} cannot be unpacked: {error}") from error
        self._packed = b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, None
        return True


_PACKED_BYTES = 1 << 16
"""How many bytes are decompressed at a time."""


def _zstandard(file: str) -> Any:
    try:
        import zstandard  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            f"{file!r} is compressed with Zstandard; to read it, run pip install zstandard "
            f"({error})"
        ) from error
    return zstandard


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines without their ends; a longer line is cut after `LONGEST` + 1 bytes."""
    first = True
    while line := file.readline(LONGEST + 1):
        if len(line) > LONGEST:
            while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
                continue
        if first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            first = False
        yield line.rstrip(b"\r\n")


def packing(suffix: str) -> Callable[[IO[bytes]], IO[bytes]]:
    """Return a function that wraps a file, so that writes are compressed as its suffix says."""
    if suffix == ".gz":
        level = _LEVELS[suffix]
        return lambda file: cast("IO[bytes]", gzip.GzipFile("", "wb", level, file))
    if suffix == ".zst":
        packer = _zstandard(f"*{suffix}").ZstdCompressor(level=_LEVELS[suffix])
        return lambda file: packer.stream_writer(file, closefd=False)
    return lambda file: file
