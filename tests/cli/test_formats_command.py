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


@pytest.fixture
def tools_file(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    properties = {"path": {"type": "string"}, "more": {"type": "object"}}
    path.write_text(json.dumps([{"name": "ls", "parameters": {"properties": properties}}]))
    return str(path)


def test_a_grammar_is_printed_and_what_it_omits_is_told(
    capsys: pytest.CaptureFixture[str], tools_file: str
) -> None:
    command = ["formats", "constrain", "glm45", "--tools", tools_file, "--kind", "gbnf"]
    assert main(command) == 2
    assert "allow a looser grammar" in capsys.readouterr().err
    assert main([*command, "--allow-looser"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("root ::= ")
    assert "tunaeval: tool 'ls': the keys of an object" in err
    assert main([*command, "--allow-looser", "--json"]) == 0
    made = tunaeval.constrain(
        json.loads(Path(tools_file).read_text()), format="glm45", kind="gbnf", allow_looser=True
    )
    wanted = {"kind": "gbnf", "text": made.text, "omitted": [*made.omitted]}
    assert json.loads(capsys.readouterr().out) == wanted


@pytest.mark.parametrize("words", [["constrain"], ["constrain", "glm45"], ["glm45", "hermes"]])
def test_a_grammar_needs_a_format_and_tools(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(["formats", *words]) == 2
    assert "formats constrain NAME --tools FILE" in capsys.readouterr().err
