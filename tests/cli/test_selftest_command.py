"""`tunaeval selftest`: a line of JSON for each measuring, and an exit code that says it all."""

from __future__ import annotations

import json

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tunaeval.grammar import CallObject, Literal
from tunaeval.grammar.format import Format
from tunaeval.parsing.reader import reader_of
from tunaeval.testing.selftest import MEASURINGS
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import Level, ParseResult


class Inventive:
    """A parser, brought by somebody else, that sees calls everywhere."""

    name = "inventive"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        del tools, level
        return ParseResult((ToolCall("bash", {}),), text, outcome="calls")


OPEN = Format("wide-open", (Literal("<act>"), CallObject(), Literal("</act>")))


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are registered for this test, and for no other."""
    monkeypatch.setattr(tunaeval.formats, "_added", dict(tunaeval.formats._added))
    tunaeval.formats.add("inventive", Inventive())
    tunaeval.formats.add("wide-open", reader_of(OPEN))


def test_a_measuring_is_a_line_of_json(here: Tuna) -> None:
    done = here("selftest", "stream", "--format", "hermes", "--format", "json", "--examples", "8")
    assert done.returncode == 0
    (line,) = done.stdout.splitlines()
    said = json.loads(line)
    assert (said["selftest"], said["ok"], said["formats"]) == ("stream", True, 2)
    assert said["texts"] == 16
    assert said["microseconds_a_feed"]["median"] > 0


def test_without_a_name_everything_is_measured(here: Tuna) -> None:
    small = ("--format", "hermes", "--examples", "5", "--largest", "4096")
    done = here("selftest", *small)
    assert [json.loads(line)["selftest"] for line in done.stdout.splitlines()] == list(MEASURINGS)


@pytest.mark.usefixtures("brought")
def test_below_the_bar_the_exit_code_is_1(here: Tuna) -> None:
    done = here("selftest", "accuracy", "--format", "inventive", "--examples", "20")
    assert done.returncode == 1
    said = json.loads(done.stdout)
    assert said["false_calls"] == 20
    assert said["first_faults"][0]["kind"].startswith("false call in ")


@pytest.mark.usefixtures("brought")
def test_a_format_of_others_is_measured_by_its_name(here: Tuna) -> None:
    done = here("selftest", "accuracy", "stream", "--format", "wide-open", "--examples", "60")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "hermse"), "hermes"),
        (("lineer",), "wanted linear, stream"),
        (("--largest", "5"), "4096 to 16777216"),
        (("--examples", "none"), "wanted a whole number"),
    ],
)
def test_wrong_use_says_what_was_wanted(here: Tuna, arguments: tuple[str, ...], said: str) -> None:
    done = here("selftest", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_null_models_are_a_line_too(here: Tuna) -> None:
    done = here("selftest", "null", "--format", "hermes")
    assert done.returncode == 0
    assert json.loads(done.stdout)["selftest"] == "null"
