"""Read a suite into a header and rows, each with its place for error messages.

.json .yaml .yml    {"name": ..., "scenarios": [row, ...]}   or the bare list of rows
.jsonl              a row a line; the first line may be the header
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources.abc import Traversable
from itertools import islice
from math import isfinite
from pathlib import Path, PurePosixPath, PureWindowsPath

from tunaeval.errors import SuiteError, UnknownNameError
from tunaeval.files.packed_files import read_plain
from tunaeval.files.plain_files import real, seen_at, unread
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import decoded

from .yaml import read_yaml

MAX_BYTES = 64 * 1024 * 1024
HEADER_KEYS = frozenset(
    {"name", "description", "catalogue", "tools", "paths", "system_prompt", "system_prompt_file"}
    | {"from", "select", "profile", "abstain", "parameter_descriptions", "mcp", "prompt_of_tools"}
    | {"vars", "templates", "unreadable"}
)
_ROW_KEYS = frozenset({"prompt", "query"})  # tell a row of .jsonl from a header


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a value, for error messages: the file, the row in it, the field in the row.

    `spelling` pairs our names of fields with the names that the file uses for them.
    """

    file: str
    row: str = ""
    field: str = ""
    spelling: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        shown_field = self.field
        for ours, theirs in self.spelling:
            if shown_field.startswith(ours):
                shown_field = theirs + shown_field.removeprefix(ours)
                break
        return ", ".join(part for part in (self.file, self.row, shown_field) if part)

    def at(self, *keys: str | int) -> Place:
        """Return the place of a field below this one."""
        path = self.field
        for key in keys:
            path += f"[{key}]" if isinstance(key, int) else f".{key}" if path else key
        return replace(self, field=path)

    def error(self, message: object) -> SuiteError:
        return SuiteError(f"{self}: {message}")

    def refuse_unknown(self, kind: str, name: JsonValue, known: Collection[str]) -> None:
        """Raise a SuiteError with suggestions unless the name is one of those that are known."""
        if not isinstance(name, str) or name not in known:
            raise self.error(UnknownNameError(kind, str(name), known))

    @contextmanager
    def named_in(self, *kinds: type[Exception]) -> Iterator[None]:
        """Turn errors of these kinds, raised in the block, into a SuiteError with this place."""
        try:
            yield
        except kinds as error:
            raise self.error(error) from error


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A suite file, read but not yet interpreted; it may refer to files in `folder`."""

    place: Place
    folder: Traversable
    header: JsonObject = field(default_factory=dict)
    rows: Callable[[], Iterator[tuple[Place, JsonValue]]] = lambda: iter(())
    """Parses one row at a time, so that a long suite is never in memory twice."""


def read_suite_file(source: Traversable, folder: Traversable, file: str) -> SuiteFile:
    """Read a suite file in the syntax of its file extension. Raises `SuiteError`."""
    place = Place(file)
    read = _READERS.get(PurePosixPath(source.name).suffix.lower())
    if read is None:
        raise place.error(
            f"a suite file's name ends in {', '.join(_READERS)}; rename or convert it"
        )
    return read(read_text(source, place), SuiteFile(place, folder))


def given_suite(value: Mapping[str, JsonValue] | list[JsonValue]) -> SuiteFile:
    """Return a suite that a program has as values; its files are in the working directory."""
    place = Place("suite")
    return _document(_plain(value, place), SuiteFile(place, Path()))


def _plain(value: object, place: Place) -> JsonValue:
    """Return a copy of a value, all of JSON's types but for the tools in it."""
    match value:
        case None | str() | int():
            return value
        case float() if isfinite(value):
            return value
        case list() | tuple():
            return [_plain(one, place.at(index)) for index, one in enumerate(value)]
        case Mapping():
            for key in value:
                if not isinstance(key, str):
                    raise place.error(f"found the key {brief(key)}, wanted a string")
            return {
                key: one if key == "tools" else _plain(one, place.at(key))
                for key, one in value.items()
            }
    raise place.error(f"found {brief(value)}, wanted a value that JSON has")


def read_text(source: Traversable, place: Place) -> str:
    """Return the file's text, which is UTF-8 and at most `MAX_BYTES` long."""
    try:
        data = read_plain(source, MAX_BYTES) if isinstance(source, Path) else source.read_bytes()
    except OSError as error:
        if error.errno == errno.EFBIG:
            too_long = f"has more than {MAX_BYTES >> 20} MiB; split it into several suites"
            raise place.error(too_long) from error
        words = unread(Path(str(source)), "wanted a file in UTF-8", error)
        raise SuiteError(f"{str(place)!r} {words}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise place.error(
            f"line {line}: found the byte 0x{data[error.start]:02x}, which is no UTF-8 here; "
            "save the file as UTF-8"
        ) from error


def read_json(text: str, place: Place, *, first_line: int = 1) -> JsonValue:
    """Return the parsed JSON; a repeated key, NaN and Infinity are errors."""
    try:
        return decoded(text, duplicates="refuse")
    except json.JSONDecodeError as error:
        line = error.lineno + first_line - 1
        hint = "; give JSON lines a name in .jsonl" if error.msg == "Extra data" else ""
        raise replace(place, row=f"line {line}, column {error.colno}").error(
            f"this is no JSON: {error.msg}{hint}"
        ) from error
    except ValueError as error:
        raise place.error(error) from error


def inside(folder: Traversable, name: str, place: Place) -> Traversable:
    """Return the file `name` in the folder. Raises `SuiteError` if it is outside or no file."""
    path = PurePosixPath(name)
    target = folder.joinpath(*path.parts)
    leaves = ".." in path.parts or path.is_absolute() or bool(PureWindowsPath(name).anchor)
    leaves = leaves or "\0" in name  # no file has it in its name
    if isinstance(target, Path) and isinstance(folder, Path):  # a link may lead out, too
        leaves = leaves or not real(target).is_relative_to(real(folder))
    if leaves:
        raise place.error(f"found {name!r}, wanted a file in the suite's own folder")
    if seen_at(target) != "a file" if isinstance(target, Path) else not target.is_file():
        words = unread(Path(str(target)), "wanted a file in the suite file's folder")
        raise place.error(f"{name!r} {words}")
    return target


def known_keys(keys: Iterable[str], known: Iterable[str], kind: str, place: Place) -> None:
    """Raise `SuiteError` for the first unknown key, with suggestions."""
    known = frozenset(known)
    for key in keys:
        if key not in known:
            place.at(key).refuse_unknown(kind, key, known)


def _yaml(text: str, file: SuiteFile) -> SuiteFile:
    with file.place.named_in(ValueError):
        value = read_yaml(text)
    return _document(value, file)


def _document(value: JsonValue, file: SuiteFile) -> SuiteFile:
    header: JsonObject = {}
    rows = value
    if isinstance(value, Mapping):
        known_keys(value, HEADER_KEYS | {"scenarios"}, "suite field", file.place)
        header = {key: item for key, item in value.items() if key != "scenarios"}
        rows = value.get("scenarios", [])
    if not isinstance(rows, list):
        place = file.place.at("scenarios") if isinstance(value, Mapping) else file.place
        raise place.error(f"found {brief(rows)}, wanted a list of scenarios")

    def placed() -> Iterator[tuple[Place, JsonValue]]:
        for number, row in enumerate(rows, 1):
            yield replace(file.place, row=f"scenario {number}"), row

    return replace(file, header=header, rows=placed)


def _json_lines(text: str, file: SuiteFile) -> SuiteFile:
    rows = partial(json_lines, text, file.place)
    place, header = next(rows(), (file.place, None))
    is_header = isinstance(header, dict) and bool(HEADER_KEYS & header.keys())
    if not isinstance(header, dict) or not is_header or _ROW_KEYS & header.keys():
        return replace(file, rows=rows)
    known_keys(header, HEADER_KEYS, "suite field", place)
    return replace(file, place=place, header=header, rows=lambda: islice(rows(), 1, None))


def json_lines(text: str, place: Place) -> Iterator[tuple[Place, JsonValue]]:
    """Yield the value in each line that is not blank, with its place."""
    for number, line in enumerate(text.split("\n"), 1):  # splitlines() also splits at U+2028
        if line.strip():
            at = replace(place, row=f"line {number}")
            yield at, read_json(line, at, first_line=number)


_READERS: Mapping[str, Callable[[str, SuiteFile], SuiteFile]] = {
    ".json": lambda text, file: _document(read_json(text, file.place), file),
    ".jsonl": _json_lines,
    ".yaml": _yaml,
    ".yml": _yaml,
}
