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
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
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


class _Leaf(NamedTuple):
    """A text with variables and its place in a scenario. It stays a text if `is_text`."""

    path: tuple[str | int, ...]
    template: Template
    is_text: bool
    is_argument: bool


_Part: TypeAlias = JsonValue
"""A part of a scenario, with a `_Leaf` in the place of each text that has variables."""
_Rows: TypeAlias = Iterator[tuple[str, JsonValue]]
"""Rows of values, each with its place, such as "vars[1]" or "cities.csv, line 3"."""


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
        key, given = "task_id" if "task_id" in fields else "id", fields.get("vars")
        unused = set[str]()
        base, names = str(fields.get(key, f"scenario-{number}")), dict[str, None]()
        parts = _templates_in({**fields, key: base}, place, names)
        at = self.file.place.at("system_prompt")
        for text in self.given or [self.own]:
            names |= dict.fromkeys(one.names) if (one := _template(text, at)) else {}
        used.update(names)
        group = base if "vars" in fields else None
        rows = self._rows(given, place.at("vars")) if "vars" in fields else iter([("", {})])
        is_csv = isinstance(given, str) and given.lower().endswith(".csv")
        for at, digest, own in _unequal(rows, place, given):
            unused |= own.keys() - names.keys()
            if unused and not isinstance(given, str):
                raise at.at(name := min(unused)).error(_UNUSED.format(name))
            values = {**self.file.header.get("vars", {}), **own}
            made = _fill(parts, values, at, own.keys() if is_csv else frozenset())
            if not self.given:
                filled_prompt(self.own, values, at)
            if own and not isinstance(parts[key], _Leaf):
                in_order = not isinstance(given, list | str) or is_csv
                in_order = in_order or [*own] == [name for name in names if name in own]
                made[key] = f"{base}/{_in_id(own, digest, in_order=in_order, is_csv=is_csv)}"
            yield Row(number, at, made, values, group)
        if unused:
            columns = ", ".join(map(repr, sorted(unused)))
            self.notes.append(f"{given}: no text of {base!r} uses the columns {columns}")

    def _rows(self, given: JsonValue, at: Place) -> _Rows:
        """Return the rows of a scenario's `vars`: a list, an object, or the name of a file."""
        if isinstance(given, list | dict):
            return _listed_rows(given, at, "")
        suffix = PurePosixPath(given).suffix.lower() if isinstance(given, str) else ""
        if suffix not in (".csv", ".json", ".jsonl"):
            wanted = "a list of rows, an object, or the name of a .csv, .json or .jsonl file"
            raise at.error(f"found {brief(given)}, wanted {wanted}")
        text, place = read_text(inside(self.file.folder, given, at), Place(given)), Place(given)
        if suffix == ".csv":
            return _csv_rows(text, place)
        if suffix == ".jsonl":
            return ((f"{given}, {at.row}", row) for at, row in json_lines(text, place))
        return _listed_rows(read_json(text, place), place, f"{given}, ")


def prompted(suite: Suite, text: str, name: str) -> Suite:
    """Return the suite with another system prompt, which the error calls `name`.

    Raises `SuiteError` if it has a variable that a scenario with variables has not.
    """
    for scenario in suite.scenarios if "{" in text else ():
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


def _templates_in(fields: JsonObject, place: Place, names: dict[str, None]) -> _Part:
    """Return a scenario with its templates, and add their variables to `names`."""

    def part(value: JsonValue, path: tuple[str | int, ...]) -> _Part:
        match value:
            case dict():
                return {key: part(one, (*path, key)) for key, one in value.items()}
            case list():
                return [part(one, (*path, index)) for index, one in enumerate(value)]
            case str() if template := _template(value, place.at(*path)):
                names.update(dict.fromkeys(template.names))
                in_list = path[0] in _LISTS_OF_TEXTS and len(path) > 1
                is_argument = "arguments" in path or path[0] == "expected_args"
                return _Leaf(path, template, in_list or path[0] in _TEXTS, is_argument)
        return value

    known = _OF_A_SEQUENCE if "expected_tool_sequence" in fields else fields.keys() - _NO_TEMPLATES
    return {
        key: part(value, (key,)) if key in known else value
        for key, value in fields.items()
        if key != "vars"
    }


def _fill(part: _Part, values: JsonObject, place: Place, cells: AbstractSet[str]) -> JsonValue:
    """Return a scenario with its templates filled; the variables `cells` are from a CSV file."""
    match part:
        case _Leaf(path, template, is_text, is_argument):
            with place.at(*path).named_in(SuiteError):
                value = template.fill(values)
            if is_text:
                return written(value)
            is_cell = is_argument and template.is_whole and isinstance(value, str)
            return Cell(value) if is_cell and cells & {*template.names} else value
        case dict():
            return {key: _fill(one, values, place, cells) for key, one in part.items()}
        case list():
            return [_fill(one, values, place, cells) for one in part]
    return part


def _unequal(
    rows: _Rows, place: Place, given: JsonValue
) -> Iterator[tuple[Place, bytes, JsonObject]]:
    """Yield the place, the digest and the values of each row. Raise `SuiteError` for no rows, for
    equal ones, and for one without a value. A label is empty if there are no rows to be named.
    """
    known = dict[bytes, str]()
    for label, row in rows:
        at = replace(place, row=", ".join(filter(None, (place.row, label))))
        own = _named(row, at)
        if label and not own:
            raise at.error("has no value; give one for each variable")
        digest = hashlib.sha256(json.dumps(own, sort_keys=True).encode()).digest()[:16]
        if (first := known.setdefault(digest, label)) != label:
            raise at.error(f"has the same values as {first}; leave one of them out")
        yield at, digest, own
    if not known:
        raise place.at("vars").error(f"{brief(given)} has no rows; give one or more")


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


def _in_id(own: JsonObject, digest: bytes, *, in_order: bool, is_csv: bool) -> str:
    """Return the values of a row for its id, with a digest if they alone might be those of another
    row. So no id depends on other rows. They are `in_order` if no row has another order of names.
    """
    text, texts = "-".join(map(written, own.values())), [*own.values()]
    shown = "".join(one if one.isprintable() and one not in "[]*?" else "_" for one in text)
    odd = (one for one in texts if isinstance(one, str) and len(texts) > 1 and "-" in one)
    like = (one for one in texts if isinstance(one, str) and _NO_STRING.fullmatch(one))
    is_clear = shown == text and 0 < len(text) <= _MAX_ID and in_order
    if is_clear and not any(odd) and (is_csv or not any(like)):
        return text
    return "-".join(filter(None, (shown[:_MAX_ID], digest.hex()[:12])))


def _listed_rows(given: JsonValue, at: Place, label: str) -> _Rows:
    """Yield the rows of a list, or every combination of the items of an object's lists."""
    rows = given
    if isinstance(given, dict):
        several = [one if isinstance(one, list) else [one] for one in given.values()]
        if (count := prod(map(len, several))) > MAX_ROWS:
            raise at.error(f"its lists make {count:,} rows; wanted at most {MAX_ROWS:,}")
        rows = (dict(zip(given, items, strict=True)) for items in product(*several))
    elif not isinstance(given, list):
        raise at.error(f"found {brief(given)}, wanted a list of rows, or an object")
    return ((f"{label}vars[{number}]", row) for number, row in enumerate(rows))


def _csv_rows(text: str, place: Place) -> _Rows:
    """Yield the rows of a CSV file, each with the line in which it begins; blank lines are none."""
    reader, columns = csv.reader((one[0] for one in _LINE.finditer(text)), strict=True), list[str]()
    while True:
        at = replace(place, row=f"line {reader.line_num + 1}")
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise at.error(f"this is no CSV: {error}") from error
        if cells is None:
            return
        if cells and not columns:
            columns = _columns(cells, at)
        elif cells:
            if len(cells) != len(columns):
                raise at.error(
                    f"found {len(cells)} cells, wanted {len(columns)}, one for each column; put a "
                    "cell that has a comma in quotes"
                )
            yield str(at), dict(zip(columns, cells, strict=True))


def _columns(cells: Sequence[str], at: Place) -> list[str]:
    names = [one.strip() for one in cells]
    for number, name in enumerate(names, 1):
        if not name or name in names[: number - 1]:
            what = "is there twice" if name else "has no name"
            raise at.error(f"column {number}, {name!r}, {what}; wanted another name for each")
    return [*_named(dict.fromkeys(names), at)]
