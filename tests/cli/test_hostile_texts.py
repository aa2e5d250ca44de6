"""Whatever others wrote, nothing of it moves a cursor, turns text around or commands a runner."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tunaeval.cli.output import Output
from tunaeval.showing import visible

PIECES = (
    "\x1b]0;title\x07", "\x1b[2J", "\x1b[31mred", "\x1b]8;;http://x\x07", "\x1b]52;c;eA==\x07",
    "\x9b2J", "\x9d0;t\x9c", "\r", "\n::error::owned", "\n ::set-output name=x::y", "\x00", "\x07",
    "\x08" * 9, "\x7f", "\u202eabc", "\u2066x\u2069", "\u2028::error::x", "\u200b", "\ufeff",
    "\x0b\x0c", "::error file=a::b", "  ::warning::w", "\ud800", "\x1bP$q\x1b\\", "\x1b(0",
    "\u061c",
)  # fmt: skip
HOSTILE = [f"{a}x{b}" for a in PIECES for b in PIECES[:8]][:200]
COMMAND = re.compile(r"^\s*::", re.MULTILINE)


def active(said: str) -> list[str]:
    """What is left in an output that a terminal or a runner would obey."""
    found = [c for c in said if not c.isprintable() and c != "\n"]
    return [*found, *COMMAND.findall(said)]


def rows(text: str) -> Iterator[tuple[str, object]]:
    """Suites that are wrong in one place each, which the error quotes."""
    fine = {"id": "a", "prompt": "p", "expected_tool": "read_file", "expected_args": {}}
    yield "a key of the suite", {"name": "s", text: 1, "scenarios": [fine]}
    yield "the suite's name", {"name": text, "scenarios": [{**fine, "expected_tool": "no"}]}
    yield "a catalogue", {"name": "s", "catalogue": text, "scenarios": [fine]}
    yield "a tool", {"name": "s", "scenarios": [{**fine, "expected_tool": text}]}
    yield "an argument", {"name": "s", "scenarios": [{**fine, "expected_args": {text: 1}}]}
    yield "a field", {"name": "s", "scenarios": [{**fine, text: 1}]}
    yield "an id twice", {"name": "s", "scenarios": [{**fine, "id": text}] * 2}
    yield "from", {"name": "s", "from": text, "select": ["x"]}


def test_there_are_two_hundred_hostile_texts_and_all_are_made_visible() -> None:
    assert len(HOSTILE) == 200
    assert [text for text in HOSTILE if active(visible(text))] == []
    assert [text for text in HOSTILE if active("tunaeval: " + visible(text, 30))] == []


@pytest.mark.parametrize("place", [name for name, _ in rows("x")])
def test_errors_of_suites_are_made_visible(here: Tuna, tmp_path: Path, place: str) -> None:
    for text in HOSTILE:
        suite = dict(rows(text))[place]
        (tmp_path / "s.json").write_text(json.dumps(suite))
        done = here("suites", "check", "s.json")
        assert active(done.stdout + done.stderr) == [], text


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--suite", "{}"),
        ("run", "--suite", "smoke", "--format", "{}"),
        ("run", "--suite", "smoke", "--client", "{}"),
        ("run", "--suite", "smoke", "--base-url", "{}"),
        ("run", "--resume", "{}"),
        ("parse", "--format", "{}", "no-such-file"),
        ("parse", "{}"),
        ("compare", "{}", "{}"),
        ("{}",),
        ("run", "--{}"),
        ("plugins", "--group", "{}"),
    ],
)
def test_errors_of_what_is_given_are_made_visible(here: Tuna, command: tuple[str, ...]) -> None:
    for text in HOSTILE[::5]:
        done = here(*(word.replace("{}", text.replace("\0", "")) for word in command))
        assert active(done.stdout + done.stderr) == [], text


def test_suites_are_listed_without_commands(here: Tuna, tmp_path: Path) -> None:
    for text in HOSTILE[::3]:
        clean = text.replace("\ud800", "")
        if not clean.strip():
            continue
        row = {"id": clean, "prompt": clean, "expected_tool": None, "tags": [clean]}
        (tmp_path / "s.json").write_text(json.dumps({"name": clean, "scenarios": [row]}))
        for command in (("suites", "s.json"), ("suites", "check", "s.json")):
            done = here(*command)
            assert active(done.stdout + done.stderr) == [], text


def test_somebody_elses_results_are_compared_without_harm(here: Tuna, tmp_path: Path) -> None:
    """Outcomes, errors, tags and ids that a run of ours would never have written."""
    here("run", "--suite", "smoke", "--client", "scripted", "--recording", _script(tmp_path, 24))
    [run] = (tmp_path / "runs").iterdir()
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    other = tmp_path / "other"
    other.mkdir()
    (other / "run.json").write_bytes((run / "run.json").read_bytes())
    for text in HOSTILE[::10]:
        for field in ("outcome", "error", "scenario", "format"):
            changed = [{**line, field: text} for line in lines]
            (other / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in changed))
            done = here("compare", str(run), str(other))
            assert active(done.stdout + done.stderr) == [], (field, text)


def _script(folder: Path, replies: int) -> str:
    file = folder / "script.jsonl"
    file.write_text('"no"\n' * replies)
    return str(file)


def test_notes_are_made_visible_in_one_place() -> None:
    for text in HOSTILE:
        err = io.StringIO()
        with contextlib.suppress(UnicodeEncodeError):
            Output(io.StringIO(), err).note(f"tunaeval: {text}")
        assert active(err.getvalue()) == []
        assert err.getvalue().count("\n") == 1
