"""Detect calls that run tests, because failed tests are a result and not a failed tool.

An agent that reproduces a failure before repairing it runs a command that exits with an error; the
tool that ran the command worked. A call runs tests if its tool is named accordingly, or if one of
its arguments is a command line with a part that begins with one of `TEST_COMMANDS`. Command lines
are only split into words, and never executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tunaeval.files.plain_files import table_of
from tunaeval.tools.specs import COMMAND_ARGUMENTS
from tunaeval.tools.success import Success, exit_lines
from tunaeval.types.calls import JsonValue, ToolCall

_KNOWN = table_of(__package__, "running_tests.toml")
TEST_COMMANDS: tuple[str, ...] = tuple(_KNOWN["commands"])
"""The first words of commands that run tests, after words that only start a program."""

_SEPARATORS = str.maketrans(dict.fromkeys(";|&(){}", "\n"))
_QUOTES = "\"'`"
_MAX_COMMAND = 4000  # characters of a command line that are examined
_MAX_WORDS = 50  # words of a command that are examined
_NOT_RUN = frozenset({"126", "127"})
"""Exit codes of a shell that could not start the command."""
_MISSING = ("command not found", "No module named pytest", "not recognized as an internal")
_READ_FROM_TEXT = frozenset({"exit-code", "error-prefix", "traceback"})
_DECLARED = frozenset({"is-error", "status", "outcome"})
"""How failed tests may be reported; an exception or `ok: false` is a failure of the tool."""


def shows_failed_tests(
    call: ToolCall, success: Success, answer: str | None, commands: Sequence[str]
) -> bool:
    """Whether a failed call ran tests that failed, so that the tool itself worked."""
    if success.reason not in _READ_FROM_TEXT | _DECLARED:
        return False
    if not runs_tests(call.name, call.arguments, commands):
        return False
    text = answer or success.error or ""
    codes = {code for _, code in exit_lines(text)}
    return not codes & _NOT_RUN and not any(words in text for words in _MISSING)


def runs_tests(tool: str, arguments: JsonValue, commands: Sequence[str] = TEST_COMMANDS) -> bool:
    """Whether a call runs tests, by its tool's name or by a command line in its arguments."""
    if tool.lower() in _KNOWN["tools"]:
        return True
    if not isinstance(arguments, dict):
        return False
    known = [tuple(command.split()) for command in commands]
    return any(
        _is_test(words, known)
        for name, value in arguments.items()
        if name in COMMAND_ARGUMENTS
        for words in _commands(value)
    )


def _commands(value: JsonValue) -> Iterator[list[str]]:
    """Yield the commands of a command line, each as its words; a list is joined to a line first."""
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        value = " ".join(value[:_MAX_WORDS])
    if isinstance(value, str):
        for line in value[:_MAX_COMMAND].translate(_SEPARATORS).split("\n"):
            if words := line.split(maxsplit=_MAX_WORDS)[:_MAX_WORDS]:
                yield [word.strip(_QUOTES) for word in words]


def _is_test(words: list[str], known: Iterable[tuple[str, ...]]) -> bool:
    plain = [word for word in words if not word.startswith("-")]
    return any(
        tuple([_program(line[at]), *line[at + 1 :]][: len(command)]) == command
        for line in (words, plain)
        for at in _beginnings(line)
        for command in known
    ) or any(_is_test_file(words[at]) for at in _beginnings(words))


def _beginnings(words: list[str]) -> Iterator[int]:
    """Yield where a program may be: at the leading words like `env`, and at the word after them."""
    for at, word in enumerate(words):
        yield at
        if not (word in _KNOWN["starters"] or _is_setting(word)):
            return


def _is_setting(word: str) -> bool:
    """Whether a word before a program is a variable (`CI=1`), an option, or a duration (`60s`)."""
    return "=" in word or word.startswith("-") or word.rstrip("smh").isdigit()


def _program(word: str) -> str:
    return word.rsplit("/", 1)[-1]


_SCRIPTS = (".py", ".sh", ".js", ".ts", ".rb", ".pl", ".php")


def _is_test_file(word: str) -> bool:
    """Whether a word is a test script run directly: test_calc.py, tests/test.sh, run_tests.sh."""
    stem, dot, _ = _program(word).partition(".")
    named = stem.startswith("test_") or stem.endswith(("_test", "_tests"))
    return bool(dot) and word.endswith(_SCRIPTS) and (named or stem in {"test", "tests"})
