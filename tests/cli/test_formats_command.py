"""`tunaeval formats`: all of them, one of them, and the page of documentation made from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tunaeval
from tunaeval.cli import main
from tunaeval.grammar.formats import FORMATS

PAGE = Path(__file__).parents[2] / "docs/reference/formats.md"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["formats", *arguments]) == 0
    return capsys.readouterr().out


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    names = {line.split()[0] for line in printed(capsys).splitlines()[1:]}
    assert set(FORMATS) <= names


def test_machines_are_told_everything(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["name"]: row for row in json.loads(printed(capsys, "--json"))["formats"]}
    for name, form in FORMATS.items():
        row = rows[name]
        assert set(form.aliases) <= set(row["aliases"])
        assert (row["models"], row["summary"]) == (list(form.models), form.summary)
        declared = {"city": {"type": "string"}, "days": {"type": "integer"}}
        tools = [{"name": "get_weather", "parameters": {"properties": declared}}]
        (call,) = tunaeval.parse(row["example"], format=name, tools=tools).calls
        assert call.arguments == {"city": "Oslo", "days": 2}
    assert rows["mistral"]["reads"] == ["mistral-v11", "mistral-array"]
    assert rows["mistral"]["example"] == ""


def test_an_alias_shows_its_format_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    said = printed(capsys, "glm")
    assert said.startswith("name     glm45\naliases  glm, ")
    assert "<arg_key>city</arg_key>" in said


def test_a_name_that_is_none_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "hermess"]) == 2
    assert "did you mean 'hermes'" in capsys.readouterr().err


def test_the_page_is_made_from_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    again = "write it again: tunaeval formats --markdown > docs/reference/formats.md"
    assert PAGE.read_text("utf-8") == printed(capsys, "--markdown"), again


def test_a_line_of_the_list_is_one_that_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()
    assert max(map(len, lines)) <= 240
    assert any("…" in line for line in lines)
