"""`tunaeval parse`: texts and JSON lines, for people and for machines."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tunaeval.cli import main

Tuna = Callable[..., subprocess.CompletedProcess[str]]
CALL = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
TOOLS = [{"name": "bash", "parameters": {"type": "object", "properties": {"command": {}}}}]


def test_a_text_is_read_from_stdin(tuna: Tuna) -> None:
    done = tuna("parse", "--json", stdin=f"Sure.\n{CALL}".encode())
    read = json.loads(done.stdout)
    assert read["outcome"] == "calls"
    assert read["calls"][0]["name"] == "bash"
    assert read["calls"][0]["arguments"] == {"command": "ls"}
    assert read["content"].strip() == "Sure."


def test_people_see_calls_content_and_why_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "reply.txt").write_text(f"Well\x1b[2J.\n{CALL}\n{CALL.replace('bash', 'sh')}")
    assert (
        main(["parse", str(tmp_path / "reply.txt"), "--tools", str(tmp_path / "tools.json")]) == 0
    )
    page = capsys.readouterr().out
    assert "1. bash(command='ls')" in page
    assert "unknown-tool" in page
    assert "^^^" in page
    assert r"Well\x1b[2J." in page
    assert "\x1b" not in page


def test_a_catalogue_gives_the_tools_by_name(tuna: Tuna) -> None:
    text = CALL.replace("bash", "no_such_tool").encode()
    done = tuna("parse", "-", "--json", "--tools", "tunacode-2025-12", stdin=text)
    assert [found["code"] for found in json.loads(done.stdout)["diagnoses"]] == ["unknown-tool"]


def test_json_lines_give_a_result_for_each_record(tuna: Tuna, tmp_path: Path) -> None:
    structured = {"function": {"name": "bash", "arguments": '{"command": "ls"}'}, "id": "c1"}
    message = {"role": "assistant", "content": None, "tool_calls": [structured]}
    records: list[object] = [
        {"text": CALL},
        {"completion": "no call"},
        CALL,
        message,
        {"choices": [{"message": message}]},
        {"messages": [{"role": "user", "content": "do"}, message]},
    ]
    file = tmp_path / "replies.jsonl"
    file.write_text("\n\n".join(map(json.dumps, records)))
    done = tuna("parse", "replies.jsonl", "--json")
    read = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result["line"] for result in read] == [1, 3, 5, 7, 9, 11]
    assert [result["outcome"] for result in read] == ["calls", "no_call", *["calls"] * 4]


@pytest.mark.parametrize("line", ["{broken", '{"else": 1}', "17", "[" * 100_000])
def test_a_line_that_holds_no_reply_is_named(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text(f'{{"text": "fine"}}\n{line}\n')
    for options, code in (([], 1), (["--strict"], 2)):
        assert main(["parse", str(file), *options]) == code
        told = capsys.readouterr()
        assert "replies.jsonl, line 2" in told.err
        assert 'wanted {"text": "..."}' in told.err
        assert "line 1" in told.out or options


def test_text_that_is_not_utf8_is_read_and_that_is_said(tuna: Tuna) -> None:
    done = tuna("parse", "--json", stdin=b"\xff\xfe caf\xe9 " + CALL.encode())
    assert done.returncode == 0
    assert "not UTF-8 (byte 0xff at 0)" in done.stderr
    assert json.loads(done.stdout)["outcome"] == "calls"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "this is no JSON"),
        ('{"a": 1}', "wanted a list of tools"),
        ("[1]", "tools[0] is 1"),
    ],
)
def test_a_bad_tools_file_is_named(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools.json").write_text(content)
    (tmp_path / "reply.txt").write_text(CALL)
    assert (
        main(["parse", str(tmp_path / "reply.txt"), "--tools", str(tmp_path / "tools.json")]) == 2
    )
    error = capsys.readouterr().err
    assert "tools.json: " in error
    assert said in error


def test_an_unknown_format_gets_its_near_misses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "reply.txt").write_text(CALL)
    assert main(["parse", str(tmp_path / "reply.txt"), "--format", "hermse"]) == 2
    assert "did you mean 'hermes'" in capsys.readouterr().err
