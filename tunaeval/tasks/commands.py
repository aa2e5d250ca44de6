"""Which commands are allowed in a workspace, what decides what they do, and how they are run.

An allowed command is a list of words. Each word has to match exactly; `{path}` matches any one path
inside of the workspace. A command is run without a shell and within limits: it gets neither the
caller's environment nor an input, its output is kept up to a limit, and after its time limit it is
killed with all processes that it started. "python" is the interpreter of this program.

This is no sandbox: a command that runs a file runs what the model has written, with the rights of
this process. Who can write the files that a command reads as its configuration can make it run any
program, so no tool of a workspace writes, moves or deletes them while the command is allowed.
`configurations.toml` lists them by program; for a program that is not listed, nothing is refused.
The import path is configuration, too: `python -m` of a module that is not in the workspace imports
nothing from there, but for test runners.

Of git the configuration itself names further files. `git status` runs the program in
`core.fsmonitor`; other commands run those in `core.hooksPath`, filters and aliases. A value may be
a shell command, in which files cannot be recognized. So a given path is searched for in the values,
rather than paths being extracted from them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import sysconfig
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import NamedTuple

from tunaeval.errors import WorkspaceError
from tunaeval.files.plain_files import table_of
from tunaeval.tools.launching import launched
from tunaeval.tools.processes import Child, Kept

from .confined import Confined, Parts, check_kind, name_fits, plain, walked
from .sandbox import Sandbox

PATH_WORD = "{path}"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """An allowed command line: the words that the program gets, the directory that it runs in, as a
    path and as parts in the workspace, and the file descriptors that it inherits.
    """

    words: Words
    folder: Path
    parts: Parts = ()
    files: tuple[int, ...] = ()


@contextmanager
def allowed(
    line: str, commands: Sequence[Sequence[str]], confined: Confined, folder: Parts = ()
) -> Iterator[CommandLine]:
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
        place = here if here.is_dir() else confined.root.joinpath(*folder)
        yield CommandLine(words, place, folder, files)


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


Commands = tuple[tuple[str, ...], ...]

_PROGRAM = re.compile(r"[a-z0-9_+.-]++")
_VERSION = re.compile(r"[\d.]{1,16}\Z")


@dataclass(frozen=True, slots=True)
class Program:
    """The files that a program reads as its configuration, and the programs that it starts."""

    files: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


class ProgramRead(NamedTuple):
    """A file name that a program reads, in lower case; `below`: any file below that directory."""

    pattern: str
    below: bool
    program: str


def configurations() -> Mapping[str, Program]:
    """Return the programs that the package knows, by name."""
    programs: Mapping[str, Mapping[str, Sequence[str]]] = table_of(__package__, _TABLE)["programs"]
    return {
        name: Program(**{key: tuple(names) for key, names in one.items()})
        for name, one in programs.items()
    }


def programs_that(do: str) -> frozenset[str]:
    """Return the programs in the list `do`: "readers", "nameless", "writers" or "importers"."""
    return frozenset(table_of(__package__, _TABLE)[do])


_TABLE = "configurations.toml"


@lru_cache(maxsize=256)
def read_by(commands: Commands) -> tuple[ProgramRead, ...]:
    """Return the names that allowed commands read. Any word of a command may be a program, because
    `sh -c` and `timeout` have theirs among their arguments.
    """
    table = configurations()
    found: dict[tuple[str, bool], ProgramRead] = {}
    for program, name in _run_by(commands).items():
        for one in table.get(program, Program()).files:
            pattern, below = one.removesuffix("/").casefold(), one.endswith("/")
            found.setdefault((pattern, below), ProgramRead(pattern, below, name))
    return tuple(found.values())


@lru_cache(maxsize=256)
def _run_by(commands: Commands) -> Mapping[str, str]:
    """Map each program that may run, also one that another starts, to the allowed command's own."""
    table = configurations()
    found: dict[str, str] = {}
    words = (word.lower() for command in commands for word in command)
    names = {name for word in words for name in _PROGRAM.findall(word)}
    for name in sorted(names | {_VERSION.sub("", name) for name in names}):  # python3.12
        waiting = [name]
        while waiting:
            program = waiting.pop()
            if program not in found:
                found[program] = name
                waiting += table.get(program, Program()).runs
    return found


def check_unread(parts: Parts, commands: Commands, root: Path) -> None:
    """Raise `WorkspaceError` for a file that an allowed command reads as its configuration, or that
    the configuration of a git repository names.
    """
    check_unlisted(parts, commands)
    if "git" not in _run_by(commands):
        return
    named = named_by_git(root, parts) if parts else None
    if named is not None:
        raise WorkspaceError(
            f"{'/'.join(parts)!r:.80} is not written, moved or deleted by tools: git, which may "
            f"run here, finds {named!r:.80} in its configuration, and may run what is there; leave "
            "it as it is"
        )


def check_unlisted(parts: Parts, commands: Commands) -> None:
    """Raise `WorkspaceError` for a file that `configurations.toml` lists for an allowed command."""
    names = list(map(plain, parts))
    for read in read_by(commands):
        for name in names if read.below else names[-1:]:
            if name_fits(name, read.pattern):
                raise WorkspaceError(
                    f"{'/'.join(parts)!r:.80} is not written, moved or deleted by tools: "
                    f"{read.program}, which may run here, reads {read.pattern!r} as its "
                    "configuration, and what is in it decides which programs run; leave it as it is"
                )


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


def named_by_git(root: Path, parts: Parts) -> str | None:
    """Return the text in a Git configuration that names the path `parts`, or one above or below it.

    All repositories below `root` count, and the one that contains `root`. Without git the result is
    None. Raises `WorkspaceError` if a configuration cannot be read.
    """
    tops, links = _walked(root)
    above = next((one for one in (root, *root.parents) if (one / ".git").exists()), None)
    texts: list[str] = []
    files: set[Path] = set()
    for top in dict.fromkeys([*([above] if above else []), *tops]):
        _collect_values(top, texts, files)
    inside = str(root) + os.sep
    texts = [plain(text.replace(inside, "./")) for text in texts]
    found = _in_texts(parts, texts)
    if found or not parts:
        return found
    files |= {one for one in links if _in_texts(one.relative_to(root).parts, texts)}
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


def _walked(root: Path) -> tuple[list[Path], list[Path]]:
    """Return the directories below one that are or contain a repository, and the symbolic links,
    the highest first.
    """
    tops: list[Path] = []
    links: list[Path] = []
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
                tops.append(folder)
            links.extend(Path(entry) for entry in entries if entry.is_symlink())
            waiting.extend(
                Path(entry)
                for entry in entries
                if entry.name != ".git" and entry.is_dir(follow_symlinks=False)
            )
    if len(tops) > MAX_REPOSITORIES:
        raise WorkspaceError(
            f"there are over {MAX_REPOSITORIES} git repositories here, too many to look for the "
            "path in their configurations; allow no git here"
        )
    return tops, links


def _collect_values(top: Path, texts: list[str], files: set[Path]) -> None:
    """Collect from a repository's configuration the values that may name files, into `texts`, and
    the files that are certain, into `files`.
    """
    own = _directory(top)
    if own.parent != top or own.is_symlink():
        files.add(own)
    folders = {own, own / "hooks"}
    for origin, key, value in _config_entries(top, own):
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


def _config_entries(top: Path, own: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the file, the key and the value of each entry of the configuration."""
    try:
        listing = run_command(_LIST, top, output_bytes=_BYTES, seconds=_SECONDS, hidden=None)
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


_PYTHON, _FLAGS = r"(?<![\w.-])(?:python|pypy)[\d.]*+(?=\s)", "[bBdEhiIOPqsSuvVx]"
_OPTIONS = rf"(?:\s++-(?:[WX]\s*+\S++|{_FLAGS}++(?=\s)))*+"
_RUNS_MODULE = re.compile(rf"{_PYTHON}{_OPTIONS}\s++-{_FLAGS}*+m\s*+(\S++)")
_RUNS_PYTHON = re.compile(_PYTHON)


def imports_apart(line: CommandLine, given: Collection[str], confined: Confined) -> bool:
    """Whether a command runs only modules of Python (`python -m`) that are not in the workspace,
    so that it has to import nothing from there. `given` are the paths at the workspace's start:
    what was added since may be there to be imported in the place of an installed module.
    """

    def is_inside(module: str) -> bool:
        top = module.partition(".")[0]
        if not programs_that("importers").isdisjoint({module, top}):
            return True
        path = "/".join((*line.parts, *module.split(".")))
        files = [f"{path}{end}" for end in (".py", "/__main__.py")]
        if not any(map(confined.status, files)):
            return False
        places = [sysconfig.get_path(one) for one in ("purelib", "platlib")]
        is_installed = top in sys.stdlib_module_names or PathFinder.find_spec(top, places)
        return not is_installed or not set(given).isdisjoint(files)

    text = " ".join(line.words)  # a shell's line is one word
    modules = _RUNS_MODULE.findall(text)
    runs_others = len(modules) < len(_RUNS_PYTHON.findall(text))
    return not runs_others and bool(modules) and not any(map(is_inside, modules))


COMMAND_SECONDS = 30.0
OUTPUT_BYTES = 64 * 1024

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a command: its exit code (None after a timeout) and its output, stdout and
    stderr together; `cut` if there was more output than was kept.
    """

    words: Words
    code: int | None
    output: str
    cut: bool = False

    def __str__(self) -> str:
        """Return the text that the model gets."""
        cut = "\n(more was printed)" if self.cut else ""
        text = f"{self.output}{cut}"
        if self.code is None:
            return f"{text}\nthe command took too long and was ended\nExit Code: 124".lstrip()
        return f"{text}\nExit Code: {self.code}".lstrip()


def run_command(
    words: Words,
    folder: Path,
    *,
    files: Sequence[int] = (),
    seconds: float = COMMAND_SECONDS,
    output_bytes: int = OUTPUT_BYTES,
    hidden: str | None = "",
    apart: bool = False,
    sandbox: Sandbox | None = None,
    workspace: Path | None = None,
    shown: Sequence[str] = (),
) -> Ran:
    """Run a command in a folder and wait for it; it inherits the descriptors `files`.

    It runs below a supervisor and in a domain of its own (see `launching`), with the directory
    `hidden` hidden from it, if that is not empty; None is for a trusted command, which needs
    neither. With `apart`, Python imports nothing from the folder or a script's directory. In a
    `sandbox` it writes to the `workspace` (by default the folder), and reads the files `shown`.
    Raises `WorkspaceError` if it cannot be started.
    """
    environment = {**_ENVIRONMENT, **({"PYTHONSAFEPATH": "1"} if apart else {})}
    line = _with_path(words)
    if hidden is not None:
        check_system()
        if sandbox is None:
            line = launched(line, hidden=hidden)
        else:
            environment = sandbox.environment(environment)
            line = sandbox.launched(line, workspace or folder, hidden=hidden, shown=shown)
    with _started(line, words, folder, files, environment) as process:
        printed = Kept(process.out, first=output_bytes + 1)
        code = process.wait(seconds)
    kept = printed.whole()
    output = kept[:output_bytes].decode(errors="replace").rstrip()
    return Ran(words, code, output, len(kept) > output_bytes)


def check_system() -> None:
    """Raise `WorkspaceError` on a system without supervisors: on all but Linux."""
    if sys.platform != "linux":
        raise WorkspaceError(
            f"this system ({sys.platform}) can neither end all that a command starts nor hide "
            "files from it, so no command of a workspace is run; that needs Linux, as a container "
            "or a virtual machine has it"
        )


def _with_path(words: Words) -> list[str]:
    """Return the words with the path of their program."""
    program = sys.executable if words[0] in {"python", "python3"} else words[0]
    found = program if "/" in program else shutil.which(program, path=_PATH)
    if found is None:
        raise WorkspaceError(f"there is no program {words[0]!r:.60} on this machine")
    return [found, *words[1:]]


def _started(
    line: Sequence[str],
    words: Words,
    folder: Path,
    files: Sequence[int],
    environment: Mapping[str, str],
) -> Child:
    try:
        return Child(
            line, folder=folder, environment=environment, files=files,
            supervised=len(line) > len(words),
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise WorkspaceError(f"the command {shlex.join(words)!r:.80}: {error}") from error


_PATH = os.pathsep.join((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"))
_ENVIRONMENT = {
    "PATH": _PATH, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
}  # fmt: skip
"""All that commands see of an environment: the caller's variables may have API keys."""
