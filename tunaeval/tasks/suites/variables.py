"""The variables of a suite: the rows of their values, and a scenario for each row.

    {"id": "weather", "prompt": "How is it in {{city}}?", "vars": [{"city": "Lisbon"}], ...}

The rows are a list of objects; an object, whose lists are combined, the first of them slowest; or a
.csv, .json or .jsonl file in the suite's folder. A scenario with variables is a template: so are
all its texts but those of `_NO_TEMPLATES`, and the system prompt that it is asked with.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tunaeval.errors import SuiteError
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import written
from tunaeval.types.runs import Suite

from .files import Place, SuiteFile, inside, json_lines, read_json, read_text

if TYPE_CHECKING:
    from .templates import Template

MAX_ROWS = 1_000_000
"""The most rows that an object's lists are combined to."""
_MAX_ID = 300
"""The most characters of the values in an id."""
_NO_TEMPLATES = frozenset({"tools", "sources", "notes", "metadata"})
_OF_A_SEQUENCE = frozenset({"id", "task_id", "prompt", "query", "tags", "expected_tool_sequence"})
"""The fields of a row with a sequence of tools; its others are metadata."""
_TEXTS = frozenset({"id", "task_id", "prompt", "query", "group"})
_LISTS_OF_TEXTS = frozenset({"messages", "tags"})
_NO_STRING = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null")
"""A text that another value of JSON is written like."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_UNUSED = "no text of a scenario uses it; write {{{{{}}}}} where it belongs, or leave it out"


class Cell(str):
    """The text of a CSV file's cell that is alone in an expected argument: it may be a number."""

    __slots__ = ()


class Row(NamedTuple):
    """A scenario as it is read: its number in the file, its place and fields; and for one with
    variables their values, and the group of all rows of its template.
    """

    number: int
    place: Place
    fields: JsonValue
    values: JsonObject | None = None
    group: str | None = None


class _Table(NamedTuple):
    """Rows of values by number, and the words for a number: "vars[1]" or "cities.csv, line 3"."""

    rows: Iterable[tuple[int, JsonValue]]
    label: Callable[[int], str] = "vars[{}]".format
    file: str = ""
    is_csv: bool = False


class _Leaf(NamedTuple):
    """A text with variables and its place in a scenario. It stays a text if `is_text`."""

    path: tuple[str | int, ...]
    template: Template
    is_text: bool
    is_argument: bool


_Part: TypeAlias = JsonValue
"""A part of a scenario, with a `_Leaf` in the place of each text that has variables."""


@dataclass(slots=True)
class Variables:
    """The variables of a suite file whose scenarios are asked with its system prompt `own`; or with
    those `given`, which `prompted` compares with the values.
    """

    file: SuiteFile
    own: str
    given: Sequence[str] = ()
    notes: list[str] = field(default_factory=list)
    """Which columns of files no text uses."""

    def rows(self) -> Iterator[Row]:
        """Yield every scenario, one with variables once for each row. Raises `SuiteError`."""
        header, at, used = self.file.header, self.file.place.at("vars"), set[str]()
        shared = _named(header.get("vars", {}), at)
        self.notes.clear()
        for number, (place, fields) in enumerate(self.file.rows(), 1):
            is_plain = header.get("templates") is False or not isinstance(fields, dict)
            if is_plain or not (shared or "vars" in fields):
                yield Row(number, place, fields)
            else:
                yield from self._filled(number, fields, place, used)
        for name in shared.keys() - used:
            raise at.at(name).error(_UNUSED.format(name))

    def _filled(
        self, number: int, fields: JsonObject, place: Place, used: set[str]
    ) -> Iterator[Row]:
        key = "task_id" if "task_id" in fields else "id"
        base, names, unused = str(fields.get(key, f"scenario-{number}")), set[str](), set[str]()
        parts = _templates_in({**fields, key: base}, place, names)
        names.update(*(one.names for one in self._prompts()))
        used |= names
        group, table = None, _Table([(0, {})])
        if "vars" in fields:
            group, table = base, self._table(fields["vars"], place.at("vars"))
        for at, digest, own in _rows_of(table, place, is_given="vars" in fields):
            unused |= own.keys() - names
            if unused and not table.file:
                raise at.at(name := min(unused)).error(_UNUSED.format(name))
            values = {**self.file.header.get("vars", {}), **own}
            made = _fill(parts, values, at, own.keys() if table.is_csv else ())
            if not self.given:
                filled_prompt(self.own, values, at)
            if own and not isinstance(parts[key], _Leaf):
                made[key] = f"{base}/{_in_id(own, digest, is_csv=table.is_csv)}"
            yield Row(number, at, made, values, group)
        if unused:
            columns = ", ".join(map(repr, sorted(unused)))
            self.notes.append(f"{table.file}: no text of {base!r} uses the columns {columns}")

    def _prompts(self) -> Iterator[Template]:
        at = self.file.place.at("system_prompt")
        found = (_template(text, at) for text in self.given or [self.own])
        return (one for one in found if one is not None)

    def _table(self, given: JsonValue, at: Place) -> _Table:
        match given:
            case list():
                return _Table(enumerate(given))
            case dict():
                return _Table(_combined(given, at))
            case str() if read := _READERS.get(PurePosixPath(given).suffix.lower()):
                place = Place(given)
                return read(read_text(inside(self.file.folder, given, at), place), place)
        wanted = f"a list of rows, an object, or the name of a file in {', '.join(_READERS)}"
        raise at.error(f"found {brief(given)}, wanted {wanted}")


def prompted(suite: Suite, text: str, name: str) -> Suite:
    """Return the suite with another system prompt, which the error calls `name`.

    Raises `SuiteError` if it has a variable that a scenario with variables has not.
    """
    for scenario in suite.scenarios if "{" in text else ():
        if scenario.vars:
            filled_prompt(text, scenario.vars, Place(name, f"scenario {scenario.id!r}"))
    return suite.with_(system_prompt=text)


def filled_prompt(text: str, values: JsonObject, place: Place | None = None) -> str:
    """Return the system prompt for a scenario with these variables; without any, it stays."""
    at = (place or Place("")).at("system_prompt")
    template = _template(text, at) if values else None
    with at.named_in(SuiteError):
        return text if template is None else written(template.fill(values))


def _template(text: str, place: Place) -> Template | None:
    """Return the template in a text, or None for a text without any."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return None
    from .templates import read_template  # noqa: PLC0415 - it loads jinja2

    with place.named_in(SuiteError):
        return read_template(text)


def _templates_in(fields: JsonObject, place: Place, names: set[str]) -> _Part:
    """Return a scenario with its templates, and add their variables to `names`."""
    is_sequence = "expected_tool_sequence" in fields

    def part(value: JsonValue, path: tuple[str | int, ...]) -> _Part:
        match value:
            case dict():
                return {key: part(one, (*path, key)) for key, one in value.items()}
            case list():
                return [part(one, (*path, index)) for index, one in enumerate(value)]
            case str():
                template = _template(value, place.at(*path))
                if template is not None:
                    names.update(template.names)
                    in_list = path[0] in _LISTS_OF_TEXTS and len(path) > 1
                    is_argument = "arguments" in path or path[0] == "expected_args"
                    return _Leaf(path, template, in_list or path[0] in _TEXTS, is_argument)
        return value

    return {
        key: value
        if key in _NO_TEMPLATES or (is_sequence and key not in _OF_A_SEQUENCE)
        else part(value, (key,))
        for key, value in fields.items()
        if key != "vars"
    }


def _fill(part: _Part, values: JsonObject, place: Place, cells: Collection[str]) -> JsonValue:
    """Return a scenario with its templates filled; the variables `cells` are from a CSV file."""
    match part:
        case _Leaf(path, template, is_text, is_argument):
            with place.at(*path).named_in(SuiteError):
                value = template.fill(values)
            if is_text:
                return written(value)
            is_cell = is_argument and template.is_whole and not template.names.isdisjoint(cells)
            return Cell(value) if is_cell and isinstance(value, str) else value
        case dict():
            return {key: _fill(one, values, place, cells) for key, one in part.items()}
        case list():
            return [_fill(one, values, place, cells) for one in part]
    return part


def _rows_of(
    table: _Table, place: Place, *, is_given: bool
) -> Iterator[tuple[Place, bytes, JsonObject]]:
    """Yield the place, the digest and the values of each row; no two rows are equal."""
    known = dict[bytes, int]()
    for number, row in table.rows:
        label = table.label(number) if is_given else ""
        at = replace(place, row=", ".join(filter(None, (place.row, label))))
        own = _named(row, at)
        if is_given and not own:
            raise at.error("has no value; give one for each variable")
        digest = hashlib.sha256(json.dumps(own, sort_keys=True).encode()).digest()[:16]
        if (first := known.setdefault(digest, number)) != number:
            raise at.error(f"has the same values as {table.label(first)}; leave one of them out")
        yield at, digest, own
    if not known:
        raise place.at("vars").error(f"{table.file or 'the list'} has no rows; give one or more")


def _named(values: JsonValue, at: Place) -> JsonObject:
    """Return the values of variables by name. Raises `SuiteError` for another value or name."""
    if not isinstance(values, dict):
        raise at.error(f"found {brief(values)}, wanted an object with a value for each variable")
    for name in values:
        if name.startswith("__"):
            raise at.error(
                f"{name!r} is a column of promptfoo's own, and is not read as one here; write what "
                "it asserts as `expect`, and leave the column out"
            )
    return values


def _in_id(own: JsonObject, digest: bytes, *, is_csv: bool) -> str:
    """Return the values of a row for its id, with a digest if they alone might be those of another
    row. So no id depends on other rows.
    """
    text = "-".join(map(written, own.values()))
    shown = "".join(one if one.isprintable() and one not in "[]*?" else "_" for one in text)
    texts = [one for one in own.values() if isinstance(one, str)]
    is_clear = shown == text and 0 < len(text) <= _MAX_ID
    is_clear = is_clear and (len(own) == 1 or not any("-" in one for one in texts))
    if is_clear and (is_csv or not any(map(_NO_STRING.fullmatch, texts))):
        return text
    return "-".join(filter(None, (shown[:_MAX_ID], digest.hex()[:12])))


def _combined(lists: JsonObject, at: Place) -> Iterator[tuple[int, JsonObject]]:
    """Yield every combination of the lists' items; a value that is no list is in all of them."""
    several = [one if isinstance(one, list) else [one] for one in lists.values()]
    if (rows := prod(map(len, several))) > MAX_ROWS:
        raise at.error(f"its lists make {rows:,} rows; wanted at most {MAX_ROWS:,}")
    for number, items in enumerate(product(*several)):
        yield number, dict(zip(lists, items, strict=True))


def _csv(text: str, place: Place) -> _Table:
    lines = _csv_lines(text, place)
    begin, columns = next(lines, (1, []))
    columns = [one.strip() for one in columns]
    at = replace(place, row=f"line {begin}")
    for number, name in enumerate(columns, 1):
        if not name:
            raise at.error(f"column {number} has no name; wanted one for each column")
        if name in columns[: number - 1]:
            raise at.error(f"the column {name!r} is there twice; rename or leave out one")
    _named(dict.fromkeys(columns), at)

    def rows() -> Iterator[tuple[int, JsonObject]]:
        for begin, cells in lines:
            if len(cells) != len(columns):
                raise replace(place, row=f"line {begin}").error(
                    f"found {len(cells)} cells, wanted {len(columns)}, one for each column; put a "
                    "cell that has a comma in quotes"
                )
            yield begin, dict(zip(columns, cells, strict=True))

    return _Table(rows(), f"{_escaped(place.file)}, line {{}}".format, place.file, is_csv=True)


def _csv_lines(text: str, place: Place) -> Iterator[tuple[int, list[str]]]:
    """Yield the line in which each row of a CSV file begins, and its cells; no blank line."""
    reader = csv.reader((found[0] for found in _LINE.finditer(text)), strict=True)
    while True:
        begin = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise replace(place, row=f"line {begin}").error(f"this is no CSV: {error}") from error
        if cells is None:
            return
        if cells:
            yield begin, cells


def _json(text: str, place: Place) -> _Table:
    given, label = read_json(text, place), f"{_escaped(place.file)}, vars[{{}}]".format
    if isinstance(given, dict):
        return _Table(_combined(given, place), label, place.file)
    if not isinstance(given, list):
        raise place.error(f"found {brief(given)}, wanted a list of rows, or an object")
    return _Table(enumerate(given), label, place.file)


def _jsonl(text: str, place: Place) -> _Table:
    rows = ((int(at.row.removeprefix("line ")), row) for at, row in json_lines(text, place))
    return _Table(rows, f"{_escaped(place.file)}, line {{}}".format, place.file)


def _escaped(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")


_READERS: dict[str, Callable[[str, Place], _Table]] = {
    ".csv": _csv, ".json": _json, ".jsonl": _jsonl,
}  # fmt: skip
