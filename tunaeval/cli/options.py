"""The options of every command, and how their values are read.

`NAME.toml` has the options of the command NAME, in the order of its help. Each is a table with the
settings that argparse gets for it. The table's title has the names of the option, or of the
argument, and the name of its value, as in the usage: `["-o --out FILE"]`.

- A table without settings, such as `["--json"]`, is one that several commands have, from
  `options.toml`.
- A table of tables is a group with this title; in the group "one of", options exclude each other.
- `type` is a name in `_TYPES`; a whole number may have `least` and `most`.

A command's own module is imported when it runs, so `--help` loads nothing that a command needs.
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError, _ActionsContainer
from collections.abc import Callable, Mapping
from typing import Any

from tunaeval.errors import UsageError
from tunaeval.files.keys import Secret, variable_name
from tunaeval.files.plain_files import table_of
from tunaeval.types.error_budget import ErrorBudget
from tunaeval.types.json_text import decoded


def options_in(command: str) -> dict[str, Any]:
    """Return the options of a command as its file has them, by title."""
    return {title: one for title, one in _file(command).items() if title != "usage"}


def usage_of(command: str) -> str | None:
    """Return the usage of a command whose first word is a part of the command, else None."""
    usage: str | None = _file(command).get("usage")
    return usage


def _file(name: str) -> dict[str, Any]:
    return table_of(__package__, f"{name}.toml")


def add_options(parser: _ActionsContainer, options: Mapping[str, Any]) -> None:
    """Add the options to a parser, or to a group of it."""
    for title, settings in options.items():
        one = settings or _file("options")[title]
        if not all(isinstance(value, dict) for value in one.values()):
            _add(parser, title, **one)
        elif not settings:
            add_options(parser, one)
        elif title == "one of":
            add_options(parser.add_mutually_exclusive_group(), one)
        else:
            add_options(parser.add_argument_group(title), one)


def _add(
    parser: _ActionsContainer,
    title: str,
    *,
    type: str | None = None,  # noqa: A002 - argparse's own name
    least: int | None = None,
    most: int | None = None,
    **settings: Any,
) -> None:
    first, *others = title.split()
    names = [first, *(word for word in others if word.startswith("-"))]
    if called := " ".join(others[len(names) - 1 :]):
        settings["metavar"] = called
    if type is not None:
        settings["type"] = _TYPES[type] if least is None else whole_number(least, most)
    parser.add_argument(*names, **settings)


def whole_number(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """Return a function that reads a whole number within these bounds."""
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    upper = "or more" if most is None else f"to {most}"
    bounds = "" if least is None else f", {least} {upper}"

    def read(text: str) -> int:
        try:
            number: int | None = int(text)
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise ArgumentTypeError(f"found {text!r}; wanted a whole number{bounds}")
        return number

    return read


def number(wanted: str, is_valid: Callable[[float], bool]) -> Callable[[str], float]:
    """Return a function that reads a number if it is valid. NaN never is, as it compares so."""

    def read(text: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if not is_valid(found):
            raise ArgumentTypeError(f"found {text!r}; wanted {wanted}")
        return found

    return read


def fields(text: str) -> dict[str, Any]:
    """Read the fields of a JSON object."""
    try:
        found = decoded(text)
    except ValueError as error:
        raise ArgumentTypeError(f"found {text!r:.80}; wanted a JSON object ({error})") from None
    if not isinstance(found, dict):
        raise ArgumentTypeError(f"found {text!r:.80}; wanted a JSON object such as {{}}")
    return found


def percentage(text: str) -> float:
    """Read "70" or "70%" as 70.0. Below one percent, "%" is required, as 0.7 could be a share."""
    digits = text.removesuffix("%")
    try:
        number = float(digits)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise ArgumentTypeError(f"found {text!r}; wanted a percentage from 0 to 100, as 70 or 70%")
    if 0 < number < 1 and digits == text:
        raise ArgumentTypeError(
            f"found {text!r}, which may be a share; write {100 * number:g}% for it, or {text}% for "
            "less than one percent"
        )
    return number


def share(text: str) -> float:
    """Read a percentage as a share: "2%" is 0.02."""
    return percentage(text) / 100


def any_share(text: str) -> float:
    """Read "0.2" or "20%" as 0.2."""
    is_percentage = text.endswith("%")
    wanted = "a share from 0 to 1, or a percentage with %"
    read = number(wanted, lambda found: 0 <= found <= (100 if is_percentage else 1))
    return read(text.removesuffix("%")) / (100 if is_percentage else 1)


def secret(text: str) -> str:
    """Return the text as a Secret, which is hidden wherever it is shown."""
    return Secret(text)


def key_variable(text: str) -> str:
    """Return the name of a variable. An invalid one may be a key, so no error shows it."""
    try:
        return variable_name(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


def error_budget(text: str) -> ErrorBudget:
    """Read "3" or "5%" as an error budget."""
    try:
        return ErrorBudget.read(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


_TYPES: dict[str, Callable[[str], Any]] = {
    "above-zero": number("a number above 0", lambda found: 0 < found < math.inf),
    "any-share": any_share,
    "amount": number("a number, 0 or more", lambda found: 0 <= found < math.inf),
    "error-budget": error_budget,
    "fields": fields,
    "float": float,
    "int": int,
    "key-variable": key_variable,
    "percentage": percentage,
    "seconds": number("seconds above 0", lambda found: found > 0),  # infinity is allowed
    "secret": secret,
    "share": share,
    "whole-number": whole_number(),
}
