"""Where reports go: whole or not at all, and one clear error when a file cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tunaeval.errors import RecordError
from tunaeval.files.plain_files import check_writable, is_output


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, making the directories above; RecordError when that cannot be."""
    with new_text(path) as file:
        file.write(text)


@contextmanager
def new_text(path: Path) -> Iterator[TextIO]:
    """A file to write text into; it takes the place of `path` when all of it is written.

    UTF-8, and what that cannot say (lone surrogates) as an escape. Raises RecordError.
    """
    with (
        new_file(path) as made,
        made.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        yield file


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Where to write what is to be at `path` when this ends well. Raises RecordError."""
    beside = path if is_output(path) else path.with_name(_beside(path))
    try:
        check_writable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield beside
            if beside != path:
                beside.replace(path)
        finally:
            if beside != path:
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error


def _beside(path: Path) -> str:
    return f".{path.name[:200]}.{os.getpid()}"


def try_to_write(path: Path) -> None:
    """Raise RecordError where a file cannot be written there; leaves no file behind.

    Directories above it that are missing are made, and stay.
    """
    try:
        check_writable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> RecordError:
    if path.is_dir():
        return RecordError(f"{str(path)!r} cannot be written: it is a directory; name a file in it")
    return RecordError(
        f"{str(path)!r} cannot be written: {error.strerror or error}; choose a place that can be "
        "written to"
    )
