"""What a docstring says about a function and its arguments, in Google, NumPy and Sphinx style.

    Args:                         Parameters                    :param path: Where it is,
        path (str): Where it is,  ----------                        on disk.
            on disk.              path : str                    :param int limit: How many.
        limit: How many.              Where it is,              :returns: the text.
                                      on disk.
                                  limit : int, optional
                                      How many.

The description is the text before the first section. The style is recognized line by line. Any
text is accepted without an error, and each line is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import NamedTuple, TypeAlias

_FirstLine: TypeAlias = Callable[[str], "tuple[Sequence[str], str] | None"]

_ARGUMENT_SECTIONS = frozenset({
    "args", "arguments", "parameters", "params", "keyword args", "keyword arguments",
    "keyword parameters", "other args", "other arguments", "other parameters", "other params",
})  # fmt: skip
_OTHER_SECTIONS = frozenset({
    "attributes", "classes", "deprecated", "example", "examples", "exceptions", "functions",
    "methods", "modules", "note", "notes", "raises", "receives", "references", "return", "returns",
    "see also", "todo", "warning", "warnings", "warns", "yield", "yields",
})  # fmt: skip
_ARGUMENT_FIELDS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})
_OTHER_FIELDS = frozenset({
    "type", "return", "returns", "rtype", "raise", "raises", "except", "exception", "var", "ivar",
    "cvar", "vartype", "yields", "ytype", "meta",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Docstring:
    """A function's description, and the description of each argument by its name."""

    description: str = ""
    arguments: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """Read `text`, a `__doc__`. If an argument is described twice, the first description counts."""
    lines = cleandoc(text or "").split("\n")
    first = at = next((at for at in range(len(lines)) if _section(lines, at)), len(lines))
    arguments: dict[str, str] = {}
    while at < len(lines):
        section = _section(lines, at)
        end = section.end(lines, at + 1) if section else at + 1
        for name, words in section.read(lines[at:end]) if section else ():
            arguments.setdefault(name, words)
        at = end
    return Docstring("\n".join(lines[:first]).strip(), arguments)


class _Section(NamedTuple):
    """How to find the end of a section, and how to read (argument, description) pairs from it."""

    end: Callable[[Sequence[str], int], int]
    read: Callable[[Sequence[str]], Iterable[tuple[str, str]]]


def _section(lines: Sequence[str], at: int) -> _Section | None:
    """Return the section that begins at line `at`, or None; reads that line and the next."""
    line = lines[at]
    if line.startswith(":"):
        return _FIELD.get(line[1:].partition(":")[0].partition(" ")[0])
    if line[:1].isspace():
        return None  # sections have the indent of the docstring
    following = lines[at + 1] if at + 1 < len(lines) else ""
    heading = line.rstrip().lower()
    if heading.endswith(":") and following[:1].isspace():
        return _GOOGLE.get(heading[:-1])
    underlined = len(following.rstrip()) >= 3 and not following.rstrip().strip("-")
    return _NUMPY.get(heading) if underlined else None


def _while_indented(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and (not lines[at].strip() or lines[at][0].isspace()):
        at += 1
    return at


def _until_next(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and _section(lines, at) is None:
        at += 1
    return at


def _skipped(_lines: Sequence[str]) -> Iterable[tuple[str, str]]:
    return ()


def _google(lines: Sequence[str]) -> Iterable[tuple[str, str]]:
    return _entries(lines[1:], _google_entry)


def _google_entry(line: str) -> tuple[Sequence[str], str] | None:
    """Read `limit (int, optional): How many.` as the name and the text after the colon."""
    name, rest = _leading_name(line)
    rest = rest.lstrip()
    if rest.startswith("("):
        _, closed, rest = rest.partition("):")
        return ((name,), rest) if name and closed else None
    return ((name,), rest[1:]) if name and rest.startswith(":") else None


def _numpy(lines: Sequence[str]) -> Iterable[tuple[str, str]]:
    return _entries(lines[2:], _numpy_entry)


def _numpy_entry(line: str) -> tuple[Sequence[str], str] | None:
    """Read `first, second : int, optional` as its names; the text is in the lines below."""
    names = [name.strip().lstrip("*") for name in line.partition(":")[0].split(",")]
    return (names, "") if all(name.isidentifier() for name in names) else None


def _sphinx(lines: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Read `:param int limit: How many.`; the words between `param` and the name are a type."""
    field_, _, text = lines[0][1:].partition(":")
    name = field_.split()[-1].lstrip("*\\")
    if name.isidentifier() and len(field_.split()) > 1:
        yield name, _words(text, lines[1:])


_FIELD = {
    **dict.fromkeys(_ARGUMENT_FIELDS, _Section(_while_indented, _sphinx)),
    **dict.fromkeys(_OTHER_FIELDS, _Section(_while_indented, _skipped)),
}
_GOOGLE = {
    **dict.fromkeys(_ARGUMENT_SECTIONS, _Section(_while_indented, _google)),
    **dict.fromkeys(_OTHER_SECTIONS, _Section(_while_indented, _skipped)),
}
_NUMPY = {
    **dict.fromkeys(_ARGUMENT_SECTIONS, _Section(_until_next, _numpy)),
    **dict.fromkeys(_OTHER_SECTIONS, _Section(_until_next, _skipped)),
}


def _entries(lines: Sequence[str], first: _FirstLine) -> Iterator[tuple[str, str]]:
    """Yield the entries at the first line's indent, each with the deeper lines below it."""
    indent = next((_indent(line) for line in lines if line.strip()), 0)
    starts = [
        (at, entry)
        for at, line in enumerate(lines)
        if line.strip() and _indent(line) == indent and (entry := first(line[indent:])) is not None
    ]
    ends = [*(at for at, _ in starts), len(lines)][1:]
    for (at, (names, text)), end in zip(starts, ends, strict=True):
        words = _words(text, lines[at + 1 : end])
        for name in names:
            yield name, words


def _words(text: str, below: Sequence[str]) -> str:
    return cleandoc("\n".join([text.strip(), *below])).strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _leading_name(line: str) -> tuple[str, str]:
    """Return the identifier at the start of a line, without the stars of `**kw`, and the rest."""
    line = line.lstrip("*\\")
    end = next(
        (at for at, character in enumerate(line) if not (character == "_" or character.isalnum())),
        len(line),
    )
    name = line[:end]
    return (name if name.isidentifier() else ""), line[end:]
