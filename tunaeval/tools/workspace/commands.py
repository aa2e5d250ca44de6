"""Which commands are allowed in a workspace.

An allowed command is a list of words. Each word has to match exactly; `{path}` matches any one path
inside of the workspace. `running` runs the commands.

A command that runs a file runs what the model has written, with the rights of this process: this is
no sandbox. Allow such commands only if the whole process is in a container. Tools cannot write the
files that an allowed command reads as its configuration, if `configured.py` lists its program; for
other programs those files are unknown.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tunaeval.errors import WorkspaceError

from .configured import check_unlisted, check_unread, programs_that
from .confined import Confined, Parts, check_kind, walked
from .running import Words

PATH_WORD = "{path}"


@dataclass(frozen=True, slots=True)
class Line:
    """An allowed command line: the words that the program gets, the directory that it runs in, and
    the file descriptors that it inherits.
    """

    words: Words
    folder: Path
    files: tuple[int, ...] = ()


@contextmanager
def allowed(
    line: str, commands: Sequence[Sequence[str]], confined: Confined, folder: Parts = ()
) -> Iterator[Line]:
    """Yield the command line if `commands` allow it; else raise `WorkspaceError`.

    Inside the block the directory is open, and so is the file if the program prints no file names,
    so that neither can be exchanged. The program opens any other path itself, later.
    """
    words, paths = _fitting(line, commands, confined, folder)
    with ExitStack() as stack:
        at = stack.enter_context(confined.directory(folder))
        files: tuple[int, ...] = ()
        if len(paths) == 1 and _name(words) in programs_that("nameless"):
            ((index, path),) = paths.items()
            if (file := confined.opened(path)) is not None:
                stack.callback(os.close, file)
                words = (*words[:index], f"/dev/fd/{file}", *words[index + 1 :])
                files = (file,)
        here = Path(f"/proc/self/fd/{at}")
        yield Line(words, here if here.is_dir() else confined.root.joinpath(*folder), files)


def _fitting(
    line: str, commands: Sequence[Sequence[str]], confined: Confined, folder: Parts
) -> tuple[Words, dict[int, Parts]]:
    """Return the words of an allowed command line, and its paths by their index in it."""
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise WorkspaceError(f"the command {line!r:.80} cannot be read: {error}") from error
    why = "there is no shell"
    for wanted in commands:
        if not _fits(words, wanted):
            continue
        try:
            paths = {
                index: _path(word, confined, folder)
                for index, (word, want) in enumerate(zip(words, wanted, strict=True))
                if want == PATH_WORD
            }
            for path in paths.values():
                _check_unread(path, words, commands, confined)
        except WorkspaceError as error:
            why = str(error)
        else:
            shown = {index: _shown(path, folder) for index, path in paths.items()}
            return tuple(shown.get(index, word) for index, word in enumerate(words)), paths
    listed = "; ".join(shlex.join(one) for one in commands) or "none"
    raise WorkspaceError(f"the command {line!r:.80} is not allowed here ({why}); allowed: {listed}")


def _fits(words: Words, wanted: Sequence[str]) -> bool:
    return len(words) == len(wanted) and all(
        not word.startswith("-") if want == PATH_WORD else word == want
        for word, want in zip(words, wanted, strict=True)
    )


def _path(word: str, confined: Confined, folder: Parts) -> Parts:
    """Return the path that a word names in `folder`; no part of it may be a link."""
    parts = confined.parts(word if word.startswith(("/", "~")) else "/".join((*folder, word)))
    with confined.directory(parts[:-1]):
        found = confined.status("/".join(parts) or ".")
    if found is not None:
        check_kind(found, word, folders=True)
    return parts


def _check_unread(
    path: Parts, words: Words, commands: Sequence[Sequence[str]], confined: Confined
) -> None:
    """Raise `WorkspaceError` if the command may change what another reads as configuration."""
    if _name(words) in programs_that("readers"):
        return
    every = tuple(map(tuple, commands))
    check_unread(path, every, confined.root)
    if not programs_that("writers").isdisjoint(words):
        for inner in walked(confined, path):
            check_unlisted(inner, every)


def _name(words: Words) -> str:
    return words[0].rpartition("/")[2]


def _shown(path: Parts, folder: Parts) -> str:
    """Return the path relative to `folder`, without links or ".." that the program would follow."""
    word = os.path.relpath("/".join(("/", *path)), "/".join(("/", *folder)))
    return f"./{word}" if word.startswith("-") else word
