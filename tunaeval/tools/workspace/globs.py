"""Which paths match a pattern: `*` and `?` within a name, `**` for any directories, `{a,b}`.

Names are matched character by character, and directories by dynamic programming, so that matching
takes at most the length of the pattern times that of the path.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from tunaeval.errors import WorkspaceError

MAX_PATTERN = 400
_MAX_CHOICES = 64


def path_fits(path: str, pattern: str) -> bool:
    """Whether a path from the root matches. A pattern without a slash matches names in any
    directory; one that ends in a slash matches everything below that directory.

        path_fits("src/a/b.py", "src/**/*.py")   path_fits("src/a.py", "*.py")
    """
    return any(_fits_one(path, one) for one in choices(pattern))


@lru_cache(maxsize=256)
def choices(pattern: str) -> tuple[str, ...]:
    """Return the patterns without braces: "*.{py,md}" is "*.py" and "*.md"."""
    if len(pattern) > MAX_PATTERN:
        raise WorkspaceError(f"the pattern {pattern!r:.60} has over {MAX_PATTERN} characters")
    waiting, found = [pattern], []
    while waiting:
        one = waiting.pop()
        start = one.find("{")
        end = one.find("}", start)
        if start < 0 or end < 0:
            found.append(one)
        else:
            waiting += [
                one[:start] + each + one[end + 1 :] for each in one[start + 1 : end].split(",")
            ]
        if len(found) + len(waiting) > _MAX_CHOICES:
            raise WorkspaceError(f"the pattern {pattern!r:.60} has over {_MAX_CHOICES} choices")
    return tuple(found)


def _fits_one(path: str, pattern: str) -> bool:
    if pattern.endswith("/"):
        pattern += "**"
    wanted = [name for name in pattern.split("/") if name not in {"", "."}]
    if "/" not in pattern:
        wanted = ["**", *wanted]
    names = path.split("/")
    met = [True] + [False] * len(names)
    for want in wanted:
        if want == "**":
            first = met.index(True) if True in met else len(met)
            met = [index >= first for index in range(len(met))]
        else:
            met = [False] + [
                met[index] and name_fits(name, want) for index, name in enumerate(names)
            ]
    return met[-1]


def name_fits(name: str, pattern: str) -> bool:
    """Whether one name matches: `*` is any characters, `?` is one."""
    met = [True] + [False] * len(name)
    for want in pattern:
        if want == "*":
            first = met.index(True) if True in met else len(met)
            met = [index >= first for index in range(len(met))]
        else:
            met = [False] + [
                met[index] and want in {"?", character} for index, character in enumerate(name)
            ]
    return met[-1]


def plain(name: str) -> str:
    """Return a name in a form that is equal for names that file systems may treat as the same,
    because they ignore case or invisible characters.
    """
    read = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # as git's output is
    compared = unicodedata.normalize("NFKC", read)
    return "".join(one for one in compared if unicodedata.category(one) != "Cf").casefold()
