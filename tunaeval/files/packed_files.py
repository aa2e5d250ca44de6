"""Read and write files of lines, of any size, that may be compressed (gzip, Zstandard).

Input is recognized by its first bytes, output by its suffix. Zstandard needs the extra `zstd`.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, cast

from tunaeval.errors import UsageError
from tunaeval.limits import MAX_UNPACKED_BYTES

from .plain_files import open_plain, read_bounded, unread

LONGEST = 64 * 1024 * 1024
"""The most bytes that a line may have; a longer one is surely no row."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LEVELS = {".gz": 4, ".zst": 3}
"""Compression levels, chosen so that compression is no slower than parsing."""
PACKED = frozenset(_LEVELS)
"""How the name of a compressed file ends."""
_BUFFER = 1 << 18
_WANTED = "wanted a file, or - for stdin"


@contextmanager
def opened(file: str, *, wanted: str = _WANTED) -> Iterator[io.BufferedReader]:
    """Open a file for reading, decompressed; "-" is stdin. Opening and reading it raise UsageError
    that says what was `wanted` if they fail; what else the block raises is let through.
    """

    def refusal(error: Exception) -> UsageError:
        return UsageError(f"{file!r} {unread(file, wanted, error)}")

    with ExitStack() as stack:
        try:
            raw = sys.stdin.buffer if file == "-" else stack.enter_context(open_plain(file))
            packed = unpacked(cast("io.BufferedReader", raw))
        except OSError as error:
            raise refusal(error) from error
        yield io.BufferedReader(_Reading(packed, OSError, refusal), _BUFFER)


def read_plain(path: str | os.PathLike[str], most: int = MAX_UNPACKED_BYTES) -> bytes:
    """Return all bytes of a file, decompressed. Raise OSError as `open_plain` does, and for a file
    that is damaged or has more than `most` bytes.
    """
    with open_plain(path) as raw, unpacked(raw) as file:
        return read_bounded(file, most)


def read_whole(file: str) -> bytes:
    """Return all bytes of a file, decompressed; "-" is stdin. Raise UsageError if that fails."""
    with opened(file) as source:
        try:
            return read_bounded(source)
        except OSError as error:
            raise UsageError(f"{file!r} {unread(file, _WANTED, error)}") from error


def unpacked(raw: io.BufferedReader) -> IO[bytes]:
    """Return what is in an open file, decompressed. Reading it raises OSError if it is damaged."""
    begins = raw.peek(4)[:4]
    if begins.startswith(_GZIP):
        kinds = EOFError, zlib.error, gzip.BadGzipFile
        packed = cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
        return io.BufferedReader(_Reading(packed, kinds, _damaged), _BUFFER)
    if begins == _ZSTD:
        return io.BufferedReader(_Zstandard(raw), _BUFFER)
    return raw


def _damaged(error: Exception | str) -> OSError:
    return OSError(errno.EIO, f"this file is damaged ({error})")


class _Reading(io.RawIOBase):
    """Reads a stream; an error of these kinds is raised as what `fault_of` makes of it."""

    def __init__(
        self,
        stream: IO[bytes],
        kinds: type[Exception] | tuple[type[Exception], ...],
        fault_of: Callable[[Exception], Exception],
    ) -> None:
        self._stream, self._kinds, self._fault_of = (
            cast("io.BufferedReader", stream),
            kinds,
            fault_of,
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return self._stream.readinto1(buffer)
        except self._kinds as error:
            raise self._fault_of(error) from error


class _Zstandard(io.RawIOBase):
    """Reads Zstandard frames as one file. Raises OSError if one is damaged or cut off."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw, self._zstandard = raw, _zstandard()
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
                raise _damaged("its end is missing")
            return False
        if self._frame is None:
            self._frame = self._zstandard.ZstdDecompressor().decompressobj()
        try:
            self._plain = self._frame.decompress(self._packed)
        except self._zstandard.ZstdError as error:
            raise _damaged(error) from error
        self._packed = b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, None
        return True


_PACKED_BYTES = 1 << 16
"""How many bytes are decompressed at a time."""


def _zstandard() -> Any:
    try:
        import zstandard  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise OSError(
            errno.ENOTSUP, f"Zstandard is an extra; run pip install zstandard ({error})"
        ) from error
    return zstandard


def lines_in(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines with their ends; a longer line is cut after `LONGEST` + 1 bytes."""
    while line := file.readline(LONGEST + 1):
        if len(line) > LONGEST:
            while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
                continue
        yield line


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of `lines_in` without their ends, and without a byte order mark."""
    for number, line in enumerate(lines_in(file)):
        yield (line if number else line.removeprefix(b"\xef\xbb\xbf")).rstrip(b"\r\n")


def packing(suffix: str) -> Callable[[IO[bytes]], IO[bytes]]:
    """Return a function that wraps a file, so that writes are compressed as its suffix says."""
    if suffix == ".gz":
        level = _LEVELS[suffix]
        return lambda file: cast("IO[bytes]", gzip.GzipFile("", "wb", level, file))
    if suffix == ".zst":
        try:
            zstandard = _zstandard()
        except OSError as error:
            raise UsageError(f"*{suffix} cannot be written: {error.strerror}") from error
        packer = zstandard.ZstdCompressor(level=_LEVELS[suffix], write_checksum=True)
        return lambda file: packer.stream_writer(file, closefd=False)
    return lambda file: file
