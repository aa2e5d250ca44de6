"""What a parser of a plug-in has read carries its name, and is from a text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tunaeval.parsing.api import formats
from tunaeval.types.calls import STRUCTURED, Span, ToolCall
from tunaeval.types.parsing import ParseResult


class Zing:
    """Reads `!name` as a call: by turns without a format, as if a server had, and in its own."""

    name = "zing"

    def __init__(self, *kinds: str) -> None:
        self._kinds = kinds

    def parse(self, text: str, **_: object) -> ParseResult:
        calls = tuple(
            ToolCall(
                word[1:], {}, format=self._kinds[at % len(self._kinds)], span=Span(0, len(text))
            )
            for at, word in enumerate(text.split())
            if word.startswith("!")
        )
        return ParseResult(calls, outcome="calls" if calls else "no_call")


@pytest.fixture
def zing() -> Iterator[str]:
    formats.add("zing", Zing("", STRUCTURED, "zing-2"))
    yield "zing"
    formats._added.pop("zing", None)
    formats._loaded.pop("zing", None)


def test_its_calls_have_its_name_and_are_from_a_text(zing: str) -> None:
    found = tunaeval.parse("!a !b !c", zing).calls
    assert [call.format for call in found] == ["zing", "zing", "zing-2"]
    assert {call.source for call in found} == {"text"}
    levels = tunaeval.parse_levels("!a", Zing(""))
    assert {call.format for result in levels.values() for call in result.calls} == {"zing"}
    (message,) = tunaeval.parse_message({"content": "!a"}, zing).calls
    assert message.format == "zing"


def test_a_command_prints_its_name(zing: str, here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("!a")
    done = here("parse", "--format", zing, "a.txt")
    assert "zing, text" in done.stdout
    assert "structured" not in done.stdout
    (call,) = json.loads(here("parse", "--format", zing, "a.txt", "--json").stdout)["calls"]
    assert (call["format"], call["source"]) == ("zing", "text")


def test_a_summary_counts_it_by_its_name(zing: str, here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "!a"}\n' * 4)
    assert "formats: zing 4" in here("parse", "--format", zing, "a.jsonl").stderr
    suite = {"scenarios": [{"prompt": f"{n}", "expect": {"tools": ["bash"]}} for n in range(4)]}
    (tmp_path / "s.json").write_text(json.dumps(suite))
    (tmp_path / "r.jsonl").write_text('"!bash"\n' * 4)
    report = tunaeval.run(
        tmp_path / "s.json", client=tunaeval.ScriptedClient(["!bash"] * 4), format=zing, out=None
    )
    assert report.summary.formats == {"zing": 4}
    assert report.summary.sources == {"text": 4}
