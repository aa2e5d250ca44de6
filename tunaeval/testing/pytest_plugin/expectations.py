"""Expectations in files beside their tests: read, compared, and written with matchers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tunaeval.endpoint.cassettes import masked
from tunaeval.errors import TunaevalError
from tunaeval.files.packed_files import read_plain
from tunaeval.matching.api import Expected, expect
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall

from .models import beside
from .options import option

_SHORT = 60
_ANY: JsonObject = {"$ignore": True}
_KEYS = frozenset({"calls", "match", "forbid", "profile", "succeeded"})


class ExpectedInFile(Expected):
    """An `Expected` that is read from a file, like `tunaeval.expect(...)`.

    With `update` it equals everything, and `save` writes the compared calls to the file, unless
    they meet the expectation in the file already.
    """

    __hash__ = None

    def __init__(self, path: Path, *, update: bool = False) -> None:
        self._path, self._update = path, update
        self._document = _read_expected(path)
        self._compared: list[ToolCall] | None = None
        self._given: object = None
        try:
            known = _expected(self._document or {"calls": []})
        except TunaevalError as error:
            raise pytest.fail.Exception(f"{path}: {error}", pytrace=False) from None
        self.__dict__.update(known.__dict__)

    @classmethod
    def of(cls, request: pytest.FixtureRequest) -> ExpectedInFile:
        path = beside(request.node, "expectations", ".json")
        return cls(path, update=bool(option(request.config, "update")))

    def __eq__(self, calls: object) -> bool:
        if self._update:
            self._compared, self._given = [*self.read(calls).calls], calls
            return True
        if self._document is None:
            pytest.fail(
                f"there is no expectation {str(self._path)!r}; write it with --tunaeval-update, "
                "and read what it says",
                pytrace=False,
            )
        return super().__eq__(calls)

    def save(self) -> None:
        """Write the compared calls, unless the file's expectation is met by them."""
        if self._compared is None:
            return
        known = self._document
        compared = self._given if self.succeeded else self._compared
        if known is not None and _expected(known) == compared:
            return
        calls = [
            {"name": call.name, "arguments": {k: matcher_of(v) for k, v in call.arguments.items()}}
            for call in self._compared
        ]
        document = {**(known or {}), "calls": calls}
        text = json.dumps(document, indent=2, ensure_ascii=False)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(text + "\n", "utf-8", errors="backslashreplace")
        except OSError as error:
            words = f"the expectation {str(self._path)!r} cannot be written: {error.strerror}"
            raise pytest.fail.Exception(words, pytrace=False) from None


def _expected(document: JsonObject) -> Expected:
    more = {key: one for key, one in document.items() if key != "calls"}
    return expect(*document["calls"], **more)


def _read_expected(path: Path) -> JsonObject | None:
    try:
        document: Any = json.loads(read_plain(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        words = f"{path} cannot be read: {error}; write it again with --tunaeval-update"
        raise pytest.fail.Exception(words, pytrace=False) from None
    is_known = isinstance(document, dict) and document.keys() <= _KEYS
    if not is_known or not isinstance(document.get("calls"), list):
        keys = ", ".join(sorted(_KEYS))
        pytest.fail(f"{path}: wanted an object with calls, of {keys}", pytrace=False)
    return dict(document)


def matcher_of(value: JsonValue) -> JsonValue:
    """Return the expected value for an argument: short values unchanged, the first line of long
    ones, and `$ignore` for values that differ between runs.
    """
    match value:
        case str() if (given := masked(value)) != value:
            is_path = given.startswith("<tmp>/") and given.count("<") == 1
            return {"$regex": f"{re.escape(given[len('<tmp>') :])}$"} if is_path else _ANY
        case str() if len(value) > _SHORT or "\n" in value:
            lines = [line.strip() for line in value.splitlines() if line.strip()]
            return {"$contains": lines[0][:_SHORT]} if lines else value
        case float():
            return {"$approx": value}
        case list():
            return [matcher_of(one) for one in value]
        case dict() if any(key.startswith("$") for key in value):
            return _ANY
        case dict():
            return {key: matcher_of(one) for key, one in value.items()}
    return value
