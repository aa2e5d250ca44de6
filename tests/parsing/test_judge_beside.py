"""Arguments beside the arguments: they are no part of the call, and never lost without a word."""

from __future__ import annotations

import json

import pytest

from tests.parsing.samples import TOOLS, codes, said, tagged
from tunaeval import parse
from tunaeval.types.calls import JsonObject
from tunaeval.types.parsing import LEVELS, Level

DIRECTORY = {"name": "bash", "arguments": {"command": "ls"}}


def read(level: Level, **beside: object) -> tuple[object, list[str]]:
    result = parse(tagged(json.dumps({**DIRECTORY, **beside})), "hermes", TOOLS, level)
    return said(result), codes(result)


@pytest.mark.parametrize("level", LEVELS)
def test_a_declared_argument_outside_is_reported(level: Level) -> None:
    assert read(level, timeout=5) == ([("bash", {"command": "ls"})], ["misplaced-argument"])


@pytest.mark.parametrize("level", LEVELS)
def test_a_second_key_with_arguments_is_reported(level: Level) -> None:
    assert read(level, parameters={"command": "rm"})[1] == ["misplaced-argument"]
    assert parse(tagged('{"name": "f", "arguments": {}, "args": {"a": 1}}'), "hermes").diagnoses


@pytest.mark.parametrize(
    "beside", [{}, {"id": "c1"}, {"thought": "hm"}, {"parameters": {}}, {"command": "ls"},
               {"parameters": {"command": "ls"}}]
)  # fmt: skip
def test_what_loses_nothing_is_silent(beside: JsonObject) -> None:
    assert read("standard", **beside) == ([("bash", {"command": "ls"})], [])


@pytest.mark.parametrize("name", ['bash, "arguments": {"command": "ls', "f’, ‘s’: ‘x"])
def test_a_name_that_ran_over_its_quote_is_none(name: str) -> None:
    """At lenient all up to the last quote was the name."""
    result = parse(tagged(f'{{"name": "{name}"}}}}'), "hermes", level="lenient")
    expected = (["invalid-name"], "malformed") if '"' in name else ([], "calls")
    assert (codes(result), result.outcome) == expected
