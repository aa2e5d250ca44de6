"""Commands in a workspace: which are allowed.

An allowed command is a list of words. A word is meant to the letter; `{path}` stands for any one
path inside of the workspace. How one is run is in `running`.

A command that runs a file runs what the model has written, with the rights of this process: that
is no prison. Allow such commands where the whole process is in a container. What an allowed command
reads as its configuration is not written (`configured.py`), where the command is one of those that
are listed there; of any other, nothing of that is known.
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
    """A command line that is allowed: its words as the program gets them, the directory that it
    runs in, and the descriptors that it is given.
    """

    words: Words
    folder: Path
    files: tuple[int, ...] = ()


@contextmanager
def allowed(
    line: str, commands: Sequence[Sequence[str]], confined: Confined, folder: Parts = ()
) -> Iterator[Line]:
    """A command line that the list allows, to be run in a directory. Raises `WorkspaceError`.

    The directory is open meanwhile, and so is a file of which the program prints no name, so that
    nothing can be put in their place. Any other path is opened by the program, as it is then.
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
    """The words of a command line that the list allows, and its paths by their places in it."""
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
    """The path that a word means in a directory: with no link on the way, nor at its end."""
    parts = confined.parts(word if word.startswith(("/", "~")) else "/".join((*folder, word)))
    with confined.directory(parts[:-1]):
        found = confined.status("/".join(parts) or ".")
    if found is not None:
        check_kind(found, word, folders=True)
    return parts


def _check_unread(
    path: Parts, words: Words, commands: Sequence[Sequence[str]], confined: Confined
) -> None:
    """Raise `WorkspaceError` where the command may change what another reads as configuration."""
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
    """The path from the directory, without a link or ".." that would be gone through once more."""
    word = os.path.relpath("/".join(("/", *path)), "/".join(("/", *folder)))
    return f"./{word}" if word.startswith("-") else word
