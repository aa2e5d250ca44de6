"""The measurings: a format of ours is at every bar, and a parser that is not is found out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selftests.repair import repair

from tunaeval.grammar.format import Format
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.testing.selftest import MEASURINGS
from tunaeval.testing.selftest.accuracy import accuracy
from tunaeval.testing.selftest.growth import linear
from tunaeval.testing.selftest.measured import (
    Extent,
    Measured,
    MeasuredFault,
    Subject,
    subject_of,
    subjects,
)
from tunaeval.testing.selftest.streaming import stream
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import Level, ParseResult

SMALL = Extent(examples=60, seed=3, largest=4096)
MANY = Extent(examples=400, seed=3)
"""Enough for a share of 1.5 %."""


class Plain:
    """A parser in code that reads nothing; the others below are bad in one way each."""

    name = "plain"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        return ParseResult(content=text)


class Slow(Plain):
    """Looks for every closer from every opener on."""

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        for at, char in enumerate(text):
            if char == "{":
                text.count("}", at)
        return super().parse(text, tools=tools, level=level)


class Greedy(Plain):
    """Takes every bracket for a call."""

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        calls = (ToolCall("bash", {}),) if "{" in text else ()
        return ParseResult(calls, text, outcome="calls" if calls else "no_call")


class Hungry(Plain):
    """Keeps a list of all characters."""

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        kept = [[char] for char in text]
        return super().parse(text[: len(kept)], tools=tools, level=level)


class Wordy(Plain):
    """Gives large results, and needs little to make them."""

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        calls = tuple(ToolCall("bash", {}, format="wordy") for _ in text)
        return ParseResult(calls, outcome="calls")


class Silent(Reader):
    """Repairs whatever it can, and says nothing of it."""

    def parse(
        self, text: str, *, tools: Any = None, level: Level = "standard", **more: Any
    ) -> ParseResult:
        del level
        result = super().parse(text, tools=tools, level="lenient", **more)
        calls = tuple(replace(call, repairs=()) for call in result.calls)
        return replace(result, calls=calls, truncated=False)


def kinds(found: Measured) -> set[str]:
    return {fault.kind for fault in found.faults}


@pytest.mark.parametrize("name", sorted(MEASURINGS.keys() - {"linear", "scorer", "stats"}))
def test_hermes_is_at_every_bar(name: str) -> None:
    found = MEASURINGS[name](subjects(["hermes"]), MANY if name == "repair" else SMALL)
    assert found.ok, found.faults[:3]
    assert json.loads(json.dumps(found.line()))["formats"] == 1


def test_growth_of_hermes_is_told_with_its_worst_families() -> None:
    """Whether it is at the bar depends on how busy the machine is; tests/parsing looks at that."""
    found = linear(subjects(["hermes"]), SMALL)
    assert found.figures["families"] >= 2 * 32
    assert {row["reading"] for row in found.figures["slowest"]} <= {"whole", "streamed"}
    assert found.figures["worst_growth"][0]["growth"] > 0


def test_a_reader_that_starts_anew_at_each_opener_is_found() -> None:
    found = linear([subject_of("slow", Slow())], replace(SMALL, largest=16384))
    assert "growth" in kinds(found)
    assert any("'{'" in fault.text for fault in found.faults)


def test_a_reader_that_keeps_too_much_is_found() -> None:
    assert "memory" in kinds(linear([subject_of("hungry", Hungry())], SMALL))
    assert "memory" not in kinds(linear([subject_of("wordy", Wordy())], SMALL))


def test_a_parser_that_takes_anything_for_a_call_is_found() -> None:
    found = accuracy([subject_of("greedy", Greedy())], SMALL)
    assert all(kind.startswith("false call in ") for kind in kinds(found))
    assert found.figures["false_calls"] > 10


def test_a_parser_that_reads_nothing_misses_every_rendering() -> None:
    hermes = subjects(["hermes"])[0]
    found = accuracy([Subject("plain", Plain(), hermes.forms)], SMALL)
    assert kinds(found) == {"not read back"}
    assert found.figures["read_back"] == 0


def test_a_mender_that_says_nothing_is_found() -> None:
    silent = Silent("silent", subjects(["hermes"])[0].forms)
    found = repair([subject_of("silent", silent)], MANY)
    assert kinds(found) >= {"cut without a flag", "wrong without a flag at standard"}


@pytest.mark.parametrize("name", ["accuracy", "stream", "null"])
def test_calls_that_a_format_cannot_express_are_left_out(name: str) -> None:
    short = "<a>⟨name⟩|⟨each⟩[⟨key pattern=[a-z]{1,9}⟩=⟨value⟩]⟨/each⟩</a>"
    found = MEASURINGS[name]([subject_of("short", reader_of(Format.of("short", short)))], SMALL)
    assert found.ok, found.faults[:3]


@pytest.mark.parametrize("name", ["accuracy", "stream"])
def test_a_format_that_expresses_no_argument_is_a_fault_of_its_own(name: str) -> None:
    swallows = "<a>⟨name⟩|⟨each⟩[⟨key pattern=[a-z_=]{1,99}⟩=⟨value⟩]⟨/each⟩</a>"
    nothing = subject_of("nothing", reader_of(Format.of("nothing", swallows, checked=False)))
    found = MEASURINGS[name]([*subjects(["hermes"]), nothing], SMALL)
    assert [(fault.format, fault.kind) for fault in found.faults] == [("nothing", "not written")]
    assert found.faults[0].detail.startswith("format 'nothing' cannot write the argument ")
    alone = MEASURINGS[name](subjects(["hermes"]), SMALL).figures
    for count in ("renderings", "read_back", "texts"):  # what was not written is not counted
        assert found.figures.get(count) == alone.get(count)


def test_what_cannot_be_streamed_is_told() -> None:
    found = stream([subject_of("plain", Plain())], SMALL)
    assert found.ok
    assert found.figures["not_streamed"] == ["plain"]


def test_all_that_is_registered_is_measured_unless_some_are_named() -> None:
    names = [subject.name for subject in subjects()]
    assert {"hermes", "json", "qwen3-coder"} <= set(names)
    assert len(names) == len(set(names))
    assert [subject.name for subject in subjects(["json", "hermes"])] == ["json", "hermes"]


def test_a_line_shows_some_faults_and_counts_all() -> None:
    faults = tuple(MeasuredFault("f", "kind", "x" * 5000, "why") for _ in range(50))
    line = Measured("stream", {"texts": 50}, faults).line()
    assert (line["ok"], line["faults"], line["texts"]) == (False, 50, 50)
    assert len(line["first_faults"]) == 20
    assert len(line["first_faults"][0]["text"]) == 400


def test_templates_speak_of_tools_that_are_given() -> None:
    """Else they would be no trap at all."""
    import tunaeval.testing.selftest as room
    from tunaeval.testing.selftest.texts import TOOLS

    text = Path(room.__file__).with_name("negatives.toml").read_text("utf-8")
    assert all(f'"{name}"' in text for name in TOOLS)
