"""Writes new files: complete or not at all, with one clear error if that fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tunaeval.errors import RecordError

from .plain_files import (
    check_writable,
    is_absent,
    is_directory,
    is_output,
    make_directory,
)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, and create missing directories. Raises RecordError if that fails."""
    with new_text(path) as file:
        file.write(text)


@contextmanager
def new_text(path: Path) -> Iterator[TextIO]:
    """Yield a new text file, which replaces `path` when the block ends without an error.

    It is UTF-8, with lone surrogates as escapes. Raises RecordError.
    """
    with (
        new_file(path) as made,
        made.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        yield file


@contextmanager
def new_bytes(path: Path) -> Iterator[Callable[[bytes], int]]:
    """Yield a writer of bytes to a new file, which replaces `path` if the block raises nothing."""
    with new_file(path) as made, made.open("wb") as file:
        yield file.write


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path; its file replaces `path` when the block ends without an error."""
    try:
        check_writable(path)  # first, as a path without a name, such as ".", has none beside it
        beside = path if is_output(path) else path.with_name(f".{path.name[:200]}.{os.getpid()}")
        make_directory(path.parent)
        try:
            yield beside
            if beside != path:
                beside.replace(path)
        finally:
            if beside != path:
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error


def try_to_write(path: Path) -> None:
    """Raise RecordError if a file cannot be written there; leave no file behind.

    Missing directories above it are created and remain.
    """
    try:
        check_writable(path)
        make_directory(path.parent)
        is_new = is_absent(path)
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> RecordError:
    if is_directory(path):
        return RecordError(f"{str(path)!r} cannot be written: it is a directory; name a file in it")
    return RecordError(
        f"{str(path)!r} cannot be written: {error.strerror or error}; choose a place that can be "
        "written to"
    )
