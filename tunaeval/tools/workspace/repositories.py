"""Which files the configuration of git repositories names: included files, and programs.

`git status` runs the program in `core.fsmonitor`; other commands run those in `core.hooksPath`,
filters and aliases. Who can write such a program, or a file that the configuration includes, can
make git run anything, as if the configuration itself could be written.

A value may be a shell command, in which files cannot be recognized. So a given path is searched
for in the values, rather than paths being extracted from them.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tunaeval.errors import WorkspaceError

from .globs import plain
from .running import run_command

Parts = tuple[str, ...]

MAX_SEARCHED = 50_000
"""How many files are searched for repositories, which may be anywhere."""
MAX_REPOSITORIES = 100
_LIST = ("git", "config", "--list", "--show-origin", "--includes", "-z")
_BYTES = 1 << 20
_SECONDS = 2.0
_WORD = re.compile(r"""[^\s'"=;:|&<>()$`,!]+""")
_QUOTES = str.maketrans("", "", "'\"\\")
_NAMES_FILES = ("path", "file", "dir")
_NAMES_NO_FILE = re.compile(
    r"user\..*|branch\..*|remote\..*\.(?:url|pushurl|fetch|push)|submodule\..*\.url"
    r"|init\.defaultbranch|core\.worktree|safe\..*"
)
_BARE = {"HEAD", "objects", "refs"}


class _Tree(NamedTuple):
    """The result of a walk: directories that are or contain a repository, and symbolic links."""

    tops: list[Path]
    links: list[Path]


def named_by_git(root: Path, parts: Parts) -> str | None:
    """Return the part of a repository's configuration that names the path, or one above or below.

    All repositories below `root` count, and the one that contains `root`. Without git the result is
    None. Raises `WorkspaceError` if a configuration cannot be read.
    """
    tree = _walked(root)
    above = next((one for one in (root, *root.parents) if (one / ".git").exists()), None)
    texts: list[str] = []
    files: set[Path] = set()
    for top in dict.fromkeys([*([above] if above else []), *tree.tops]):
        _read(top, texts, files)
    inside = str(root) + os.sep
    texts = [plain(text.replace(inside, "./")) for text in texts]
    found = _in_texts(parts, texts)
    if found or not parts:
        return found
    files |= {one for one in tree.links if _in_texts(one.relative_to(root).parts, texts)}
    names = tuple(map(plain, parts))
    for file in map(Path, map(os.path.realpath, files)):
        if file == root or root in file.parents:
            named = file.relative_to(root)
            first = tuple(map(plain, named.parts))
            if first[: len(names)] == names[: len(first)]:
                return str(named)
    return None


def _in_texts(parts: Parts, texts: list[str]) -> str | None:
    """Return the path, a directory above it, or one of its names, if a text has it as a word."""
    whole = ("/".join(parts[: end + 1]) for end in range(len(parts)))
    names = {one for name in (*whole, *parts) for one in (name, name.translate(_QUOTES)) if one}
    by_plain = {plain(name): name for name in sorted(names)}
    either = "|".join(map(re.escape, sorted(by_plain, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w.-])(?:{either})(?![\w.-])")
    found = next(filter(None, map(pattern.search, texts)), None) if names else None
    return by_plain[found[0]] if found else None


def _walked(root: Path) -> _Tree:
    """Return the repositories and links below a directory, the highest first."""
    tree = _Tree([], [])
    waiting, count = deque([root]), 0
    while waiting:
        folder = waiting.popleft()
        with suppress(OSError):  # git cannot look into it either
            with os.scandir(folder) as found:
                entries = list(found)
            count += len(entries)
            if count > MAX_SEARCHED:
                raise WorkspaceError(
                    f"there are over {MAX_SEARCHED} files here, too many to look for git "
                    "repositories whose configuration may name the path; allow no git here"
                )
            names = {entry.name for entry in entries}
            if ".git" in names or names >= _BARE:
                tree.tops.append(folder)
            tree.links.extend(Path(entry) for entry in entries if entry.is_symlink())
            waiting.extend(
                Path(entry)
                for entry in entries
                if entry.name != ".git" and entry.is_dir(follow_symlinks=False)
            )
    if len(tree.tops) > MAX_REPOSITORIES:
        raise WorkspaceError(
            f"there are over {MAX_REPOSITORIES} git repositories here, too many to look for the "
            "path in their configurations; allow no git here"
        )
    return tree


def _read(top: Path, texts: list[str], files: set[Path]) -> None:
    """Collect from a repository's configuration the values that may name files, into `texts`, and
    the files that are certain, into `files`.
    """
    own = _directory(top)
    if own.parent != top or own.is_symlink():
        files.add(own)
    folders = {own, own / "hooks"}
    for origin, key, value in _listed(top, own):
        file = top / origin.removeprefix("file:")
        files.add(file)
        if _NAMES_NO_FILE.fullmatch(key):
            continue
        unquoted = value.translate(_QUOTES)
        is_command = len(value.split()) > 1 or value.startswith("!")
        if is_command or key.endswith(_NAMES_FILES) or "/" in unquoted or "." in unquoted:
            texts += [value, unquoted]
            words = {value, unquoted, *_WORD.findall(unquoted)}
            paths = {str(base / word) for base in (top, file.parent) for word in words}
            files |= {Path(one) for one in paths if os.path.realpath(one) != os.path.normpath(one)}
            if key == "core.hookspath":
                folders.add(top / value)
                files.add(top / value)
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as found:
            files |= {Path(entry) for entry in found if entry.is_symlink()}


def _directory(top: Path) -> Path:
    """Return the repository's own directory: `.git`, the one a `.git` file names, or `top`."""
    own = top / ".git"
    if own.is_file():
        with suppress(OSError):
            return top / own.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
    return own if os.path.lexists(own) else top


def _listed(top: Path, own: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the file, the key and the value of each entry of the configuration."""
    try:
        listing = run_command(_LIST, top, output_bytes=_BYTES, seconds=_SECONDS)
    except WorkspaceError:
        return  # there is no git
    if listing.code is None or listing.cut or (listing.code and os.path.lexists(own / "config")):
        raise WorkspaceError(
            "nothing is written, moved or deleted by tools: git, which may run here, cannot list "
            f"its configuration in {top.name!r:.80}, so the files that it names are not known; "
            "repair the configuration, or allow no git here"
        )
    fields = listing.output.split("\0") if not listing.code else []
    for origin, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        yield origin, key, value
