"""What the configuration of a git repository names: files that it includes, and programs.

`git status` runs the program in `core.fsmonitor`, and those of `core.hooksPath`, filters and
aliases run with other commands. Whoever writes such a file, or one that the configuration includes,
makes git run anything, as whoever writes the configuration does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tunaeval.errors import WorkspaceError

from .running import run_command

_LIST = ("git", "config", "--list", "--show-origin", "--includes", "-z")
_BYTES = 1 << 20
_WORD = re.compile(r"""[^\s'"=;:|&<>()$`,!]+""")
_NAMES_NO_FILE = re.compile(r"user\..*|(?:remote|branch|submodule)\..*\.(?:url|fetch|merge|remote)")


def named_by_git(root: Path, folder: Path) -> frozenset[tuple[str, ...]]:
    """Paths below `root` that are named in the configuration of the repository `folder` is in.

    They need not exist. Empty without a repository, and without git.
    """
    top = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
    if top is None or folder not in {root, top}:
        return frozenset()  # those above were asked for the directories above
    try:
        said = run_command(_LIST, top, output_bytes=_BYTES)
    except WorkspaceError:
        return frozenset()
    if said.code != 0:
        return frozenset()
    paths = {str(base / word) for base in (top, top / ".git") for word in _words(said.output)}
    paths |= set(map(os.path.realpath, paths))
    inside = (Path(os.path.normpath(path)) for path in paths)
    return frozenset(path.relative_to(root).parts for path in inside if root in path.parents)


def _words(listed: str) -> Iterator[str]:
    """The files that a configuration is in, and what in its values may be the name of a file."""
    fields = listed.split("\0")
    for origin, entry in zip(fields[::2], fields[1::2], strict=False):
        yield origin.removeprefix("file:")
        key, _, value = entry.partition("\n")
        command = len(value.split()) > 1 or value.startswith("!") or key.endswith("path")
        if not _NAMES_NO_FILE.fullmatch(key):
            for word in _WORD.findall(value):
                if command or "/" in word or "." in word:
                    yield word
