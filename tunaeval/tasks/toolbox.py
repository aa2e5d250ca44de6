"""The eight tools of a coding agent as functions over a workspace, for models without own tools.

They take the arguments of the catalogue `tunacode-2025-12`, return text, and raise
`WorkspaceError` with a message that a model can act on. `bash` runs what the workspace's list of
commands allows, without a shell; `web_fetch` returns the workspace's pages and uses no network.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Collection, Iterator
from typing import Any

from tunaeval.errors import WorkspaceError
from tunaeval.matching.patterns import Pattern
from tunaeval.showing import brief, counted

from .commands import COMMAND_SECONDS, allowed, check_unread
from .confined import MAX_WALKED, path_fits
from .space import Workspace

MAX_SHOWN = 64 * 1024
"""Characters of the longest result."""
_MAX_LINE = 2_000
_MOST_SECONDS = 300


def workspace_tools(workspace: Workspace) -> dict[str, Callable[..., str]]:
    """Return `bash`, `glob`, `grep`, `list_dir`, `read_file`, `update_file`, `web_fetch` and
    `write_file` by name.

    Examples:
        >>> with tunaeval.Workspace({"a.txt": "hello"}) as workspace:
        ...     tunaeval.workspace_tools(workspace)["read_file"]("a.txt")
        ...
        'hello'
    """
    box = _Toolbox(workspace)
    tools = (
        box.bash, box.glob, box.grep, box.list_dir, box.read_file, box.update_file,
        box.web_fetch, box.write_file,
    )  # fmt: skip
    return {tool.__name__: tool for tool in tools}


class _Toolbox:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._confined = workspace.confined

    def bash(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout: int | None = 30,
        capture_output: bool = True,
    ) -> str:
        """Run a command that the workspace allows, and return its output and exit code."""
        if env:
            raise WorkspaceError("commands cannot be given variables here; leave env out")
        if why := self._workspace.loss():
            raise WorkspaceError(f"no command can run: the workspace {why}")
        folder, seconds = self._confined.parts(cwd or "."), _seconds(timeout)
        with allowed(command, self._workspace.commands, self._confined, folder) as line:
            ran = self._workspace.run_line(line, seconds)
        return _cut(str(ran)) if capture_output else f"Exit Code: {ran.code}"

    def glob(
        self,
        pattern: str,
        directory: str = ".",
        *,
        recursive: bool = True,
        include_hidden: bool = False,
        exclude_dirs: list[str] | None = None,
        max_results: int = 5000,
        sort_by: str = "modified",
        case_sensitive: bool = False,
        use_gitignore: bool = True,
    ) -> str:
        """Find files whose names match a pattern, below `directory`; sorted by path."""
        del use_gitignore, sort_by
        top = self._confined.parts(directory)
        found: list[str] = []
        for path in self._files(top):
            below = path.split("/")[len(top) :]
            if not include_hidden and any(name.startswith(".") for name in below):
                continue
            if set(below[:-1]) & set(exclude_dirs or ()) or (len(below) > 1 and not recursive):
                continue
            name, wanted = "/".join(below), pattern
            if not case_sensitive:
                name, wanted = name.lower(), wanted.lower()
            if path_fits(name, wanted):
                found.append(path)
        kept = found[: max(1, max_results)]
        return _cut("\n".join(kept)) if kept else f"No files match {brief(pattern, 200)}"

    def grep(
        self,
        pattern: str,
        directory: str = ".",
        *,
        path: str | None = None,
        case_sensitive: bool = False,
        use_regex: bool = False,
        include_files: str | None = None,
        exclude_files: str | None = None,
        max_results: int = 50,
        context_lines: int = 2,
        search_type: str = "smart",
        return_format: str = "string",
        output_mode: str = "content",
    ) -> str:
        """Search files for a text, or with `use_regex` for a regular expression; "a.py:3: text"."""
        del search_type, context_lines
        if not pattern:
            raise WorkspaceError("the pattern is empty; give a text to look for")
        finds = _finder(pattern, use_regex=use_regex, case_sensitive=case_sensitive)
        hits: list[tuple[str, int, str]] = []
        for file in self._searched(path if path is not None else directory):
            if include_files and not _named(file, include_files):
                continue
            if exclude_files and _named(file, exclude_files):
                continue
            hits += [(file, number, line) for number, line in self._lines(file) if finds(line)]
            if len(hits) >= max_results:
                break
        if not hits:
            return f"No matches for {brief(pattern, 200)}"
        if return_format == "list" or output_mode == "files_with_matches":
            return _cut("\n".join(dict.fromkeys(file for file, _, _ in hits)))
        shown = (f"{file}:{number}: {line}" for file, number, line in hits[: max(1, max_results)])
        return _cut("\n".join(shown))

    def list_dir(
        self,
        directory: str = ".",
        max_files: int = 100,
        show_hidden: bool = False,
        ignore: list[str] | None = None,
    ) -> str:
        """List what is in a directory; a name that ends in / is a directory, in @ a link."""
        shown = [
            f"{name}{_MARKS.get(stat.S_IFMT(status.st_mode), '')}"
            for name, status in self._confined.names(self._confined.parts(directory))
            if show_hidden or not name.startswith(".")
            if not any(path_fits(name, one) for one in ignore or ())
        ]
        more = f"\n({len(shown) - max_files} more)" if len(shown) > max_files else ""
        return _cut("\n".join(shown[: max(1, max_files)]) + more) if shown else "(empty)"

    def read_file(self, filepath: str, offset: int = 0, limit: int | None = None) -> str:
        """Read a text file: `limit` lines (all if not given) after skipping the first `offset`."""
        lines = self._text(filepath).splitlines(keepends=True)
        start = max(0, offset)
        kept = lines[start:] if limit is None else lines[start : start + max(0, limit)]
        return _cut("".join(kept))

    def update_file(self, filepath: str, target: str, patch: str) -> str:
        """Replace the text `target`, which has to be there once, by the text `patch`."""
        text = self._text(filepath)
        times = text.count(target) if target else 0
        if times != 1:
            there = f"is there {counted(times, 'time')}" if times else "is not there"
            found = there if target else "is empty"
            raise WorkspaceError(f"the target {found} in {brief(filepath, 80)}; wanted it once")
        self._write(filepath, text.replace(target, patch))
        return f"{filepath} was changed"

    def web_fetch(self, url: str, timeout: int = 60) -> str:
        """Return the text of one of the workspace's pages."""
        del timeout
        if url not in self._workspace.pages:
            raise WorkspaceError(
                f"the page {brief(url, 200)} cannot be reached: there is no network here"
            )
        return _cut(self._workspace.pages[url])

    def write_file(self, filepath: str, content: str) -> str:
        """Create a new file with the given content."""
        self._write(filepath, content, new=True)
        return f"{filepath} was written"

    def _write(self, path: str, text: str, *, new: bool = False) -> None:
        check_unread(self._confined.parts(path), self._workspace.commands, self._confined.root)
        self._confined.write(path, _bytes(text), new=new)

    def _text(self, path: str) -> str:
        return self._workspace[path].text

    def _searched(self, path: str) -> Iterator[str]:
        """Yield the file, or all files below the directory."""
        parts = self._confined.parts(path)
        status = self._confined.status(path)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            yield "/".join(parts)
        else:
            yield from self._files(parts)

    def _files(self, top: tuple[str, ...]) -> Iterator[str]:
        """Yield the paths of all files below a directory, in order; links are not followed."""
        waiting, walked = [top], 0
        while waiting and walked < MAX_WALKED:
            folder = waiting.pop()
            inner = []
            for name, status in self._confined.names(folder):
                walked += 1
                if stat.S_ISREG(status.st_mode):
                    yield "/".join((*folder, name))
                elif stat.S_ISDIR(status.st_mode) and name not in _LEFT_OUT:
                    inner.append((*folder, name))
            waiting += reversed(inner)

    def _lines(self, path: str) -> Iterator[tuple[int, str]]:
        try:
            text = self._text(path)
        except WorkspaceError:  # binary, huge or unreadable files match nothing
            return
        for number, line in enumerate(text.splitlines(), 1):
            yield number, line[:_MAX_LINE]


_LEFT_OUT = frozenset({".git", "__pycache__", "node_modules"})
_MARKS = {stat.S_IFDIR: "/", stat.S_IFLNK: "@"}


def _seconds(timeout: Any) -> float:
    """Return the seconds that a command may take; `timeout` is what the model wrote."""
    if timeout is None:
        return COMMAND_SECONDS
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if is_number and 0 < timeout <= _MOST_SECONDS:
        return float(timeout)
    raise WorkspaceError(
        f"the timeout is {brief(timeout)}; wanted seconds, above 0 and {_MOST_SECONDS} at most"
    )


def _finder(pattern: str, *, use_regex: bool, case_sensitive: bool) -> Callable[[str], bool]:
    if use_regex:
        try:
            return Pattern(pattern if case_sensitive else f"(?i){pattern}").found_in
        except ValueError as error:
            raise WorkspaceError(f"the pattern {pattern!r:.80} cannot be used: {error}") from error
    if case_sensitive:
        return lambda line: pattern in line
    lowered = pattern.lower()
    return lambda line: lowered in line.lower()


def _named(path: str, patterns: str) -> bool:
    return any(path_fits(path, one.strip()) for one in patterns.split(",") if one.strip())


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise WorkspaceError(f"the text cannot be written as UTF-8: {error.reason}") from error


def _cut(text: str) -> str:
    if len(text) <= MAX_SHOWN:
        return text
    return f"{text[:MAX_SHOWN]}\n({len(text) - MAX_SHOWN} more characters)"


def not_run(tools: Collection[str], runnables: Collection[str]) -> str | None:
    """Return a message naming a tool that has no implementation, or None if all can be run."""
    lacking = sorted(set(tools) - set(runnables))
    if not lacking:
        return None
    return (
        f"nothing runs the tool {lacking[0]!r}; there are {', '.join(sorted(runnables))}; name "
        "some of them as the suite's `tools`, or give Environment(tools=...)"
    )
