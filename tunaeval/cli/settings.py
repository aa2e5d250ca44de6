"""Default values of options, from a file in the working directory, and the source of each value.

`tunaeval.toml` has a table for each command, such as `[run]`; without that file,
`[tool.tunaeval.run]` in `pyproject.toml` is read. The command line overrides both.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.files.keys import COVER
from tunaeval.files.packed_files import read_plain
from tunaeval.files.plain_files import is_absent, unread

if TYPE_CHECKING:
    from tunaeval.types.calls import JsonObject, JsonValue  # --help must be quick
    from tunaeval.types.messages import Prices

FILES = (("tunaeval.toml", ()), ("pyproject.toml", ("tool", "tunaeval")))
"""The files that may have defaults, with the table below which each has them."""

COLUMNS, PRICES = "columns", "prices"
"""The tables that have the columns of a matrix, and the prices of models, by name."""

_MAX_BYTES = 1 << 20
_MAX_PARTS = 100
"""A key of thousands of parts takes the reader of TOML seconds, and one of 32,000 half a minute."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:\.[ \t]*+{_PART}){{{_MAX_PARTS}}}")

_NEVER = frozenset({"help", "show_config"})
_WANTED = "wanted a table for each command, as in [run]"


class Settings(NamedTuple):
    """A command's options by name, and the file that has them, or None."""

    file: str | None
    options: JsonObject


def settings_of(command: str, commands: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of a command. Raise UsageError for a file that cannot be read, or that
    has a table for none of the `commands`.
    """
    for name, tables in FILES:
        path = Path(name)
        if is_absent(path) and not path.is_symlink():  # a link to nothing is no missing file
            continue
        found = _tables(path, tables)
        if found is None:
            continue
        for one in found:
            if commands and one not in {COLUMNS, PRICES, *commands}:
                raise UsageError(f"{name}: {UnknownNameError('command', one, commands)}")
            if not isinstance(found[one], dict):
                raise UsageError(f"{name}: {one} is {found[one]!r:.60}; {_WANTED}")
        return Settings(name, found.get(command, {}))
    return Settings(None, {})


def tables_by_name(table: str) -> Settings:
    """Return the tables in [columns] or [prices] by name. Raises UsageError for any other value."""
    found = settings_of(table)
    for name, options in found.options.items():
        if not isinstance(options, dict):
            raise UsageError(
                f"{found.file}: {table}.{name} is {options!r:.60}; wanted a table, as in "
                f"[{table}.{name}]"
            )
    return found


def prices_of(model: str | None) -> Prices:
    """Return a model's prices per million prompt and completion tokens in the file, None if none.

    Raises UsageError for an invalid price.
    """
    file, tables = tables_by_name(PRICES)
    table = tables.get(model or "", {})
    for name, price in table.items():
        if name not in {"in", "out"} or not isinstance(price, int | float) or price < 0:
            raise UsageError(
                f"{file}, [{PRICES}.{model}]: {name} = {price!r:.40}; wanted in and out, each the "
                "price of a million tokens"
            )
    for name in ("in", "out") if model in tables else ():
        if name not in table:
            raise UsageError(
                f"{file}, [{PRICES}.{model}]: {name} is missing; wanted in and out, each the price "
                "of a million tokens"
            )
    return table.get("in"), table.get("out")


def _tables(path: Path, below: tuple[str, ...]) -> JsonObject | None:
    """Return the tables for all commands, or None if the file has none for tunaeval."""
    import tomllib  # noqa: PLC0415 - most directories have no such file

    try:
        text = read_plain(path, _MAX_BYTES).decode()
        is_deep = _LONG_KEY.search(text) is not None
        found: JsonValue = {} if is_deep else tomllib.loads(text)
    except RecursionError:
        is_deep = True
    except (OSError, ValueError) as error:
        words = unread(path, "repair it, or move it away", error)
        raise UsageError(f"{path} {words}") from error
    if is_deep:
        raise UsageError(f"{path} is nested too deeply to be read; write fewer levels, or move it")
    for name in below:
        found = found.get(name)
        if found is None:
            return None
        if not isinstance(found, dict):
            raise UsageError(f"{path}: {name} is {found!r:.60}; {_WANTED}")
    return dict(found)


def apply(
    settings: Settings, command: str, parser: argparse.ArgumentParser, arguments: argparse.Namespace
) -> None:
    """Fill in the file's values for options that the command line does not give. Raises UsageError
    for an unknown option and for an invalid value.
    """
    known = options_of(parser)
    for key, value in settings.options.items():
        name, where = key.replace("_", "-"), f"{settings.file}, [{command}]"
        action = known.get(name)
        if action is None:
            raise UsageError(f"{where}: {UnknownNameError('option', key, known)}")
        try:
            read = _read_setting(action, value)
        except (argparse.ArgumentTypeError, ValueError) as error:
            raise UsageError(f"{where}: {key}: {error}") from error
        if action.dest not in arguments.given and read is not None:
            setattr(arguments, action.dest, read)


def options_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the options of a command by their long names without dashes, as a file has them."""
    return {
        option.removeprefix("--"): action
        for action in parser._actions  # noqa: SLF001 - argparse has no other list of them
        for option in action.option_strings
        if option.startswith("--") and action.dest not in _NEVER
    }


def _read_setting(action: argparse.Action, value: JsonValue) -> JsonValue:
    """Return a file's value as the command line would read it; None for a flag that is false."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise ValueError(f"found {value!r:.60}; wanted true or false")
        return action.const if value else None
    if isinstance(action, argparse._AppendAction):  # noqa: SLF001 - its name in argparse
        items = value if isinstance(value, list) else [value]
        return [_item(action, item) for item in items]
    return _item(action, value)


def _item(action: argparse.Action, value: JsonValue) -> JsonValue:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"found {value!r:.60}; wanted a text or a number")  # noqa: TRY004 - as above
    text = str(value)
    read = action.type(text) if callable(action.type) else text
    if action.choices is not None and read not in action.choices:
        raise ValueError(f"found {text!r}; wanted {', '.join(map(str, action.choices))}")
    return read


def shown(
    settings: Settings, parser: argparse.ArgumentParser, arguments: argparse.Namespace
) -> Iterator[JsonObject]:
    """Yield each option of a command with its value and where the value is from."""
    named = {key.replace("_", "-") for key in settings.options}
    for name, action in options_of(parser).items():
        if action.dest in arguments.given:
            source = "command line"
        else:
            source = settings.file if name in named and settings.file else "default"
        value = visible_value(name, getattr(arguments, action.dest))
        yield {"option": name, "value": "" if value is None else value, "from": source}


_USER = re.compile(r"(?:(?<=://)|^(?!\w+://)).*@")
"""The user and the password of an address, up to its host."""
_QUERY = re.compile(r"(?<=\?).+", re.DOTALL)
"""The query of an address, which may contain a key."""
_ADDRESSES = frozenset({"proxy", "base-url", "base_url"})


def visible_value(option: str, value: JsonValue) -> JsonValue:
    """Return an option's value without secrets: only the names of headers, and addresses without
    user, password and query.
    """
    if option == "header" and isinstance(value, list):
        return [f"{str(line).partition(':')[0].strip()}: {COVER}" for line in value]
    if option in _ADDRESSES and isinstance(value, list):
        return [visible_value(option, one) for one in value]
    if option in _ADDRESSES and isinstance(value, str):
        return _QUERY.sub(COVER, _USER.sub(f"{COVER}@", value))
    return value
