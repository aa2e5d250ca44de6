"""Who brought a plug-in is said where it misbehaves, and it is said in one line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli import rogues
from tunaeval.registry import LONGEST, who, words_of
from tunaeval.showing import brief

PROGRAM = """
import json, logging, sys
import tunaeval
from tunaeval.errors import TunaevalError
logging.getLogger("tunaeval.registry").addHandler(logging.StreamHandler(sys.stdout))
def tried(category):
    try:
        result = tunaeval.score([], "q", categories=[category])
        return result.categories[category].failure
    except TunaevalError as error:
        return str(error)
print(tried("s-raises"))
print(tried("s-text"))
recorder = tunaeval.Recorder(classifiers=["k-raises", "k-number"])
tool = tunaeval.wrap_tool(lambda: "fine", recorder)
tool(), tool()
assert [one.ok_reason for one in recorder.executions] == ["unreadable"] * 2
"""


def test_the_package_of_a_plug_in_is_named_with_it(tmp_path: Path) -> None:
    rogues.install(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": rogues.path(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    wanted = "wanted a Success(ok=True or False, reason='why'), or None"
    category, classifier, by = "scoring category", "success classifier", f"of {rogues.NAME}"
    said = re.sub(r" \(\S+/tuna_rogue\.py:\d+\)", "", done.stdout)
    assert said.splitlines() == [
        f"the {category} 's-raises' {by} raised ValueError: no such thing",
        f"{category} 's-text' {by} is refused: its weight is '0.1'; wanted a float",
        f"{classifier} 'k-raises' {by} raised ValueError: no such thing; {wanted}",
        f"{classifier} 'k-number' {by} returned 0.5; {wanted}",
    ]


class Rude:
    """Its attributes, its repr and its errors' words raise."""

    @property
    def name(self) -> str:
        raise OSError

    def __repr__(self) -> str:
        raise OSError


class RudeError(Exception):
    def __str__(self) -> str:
        raise OSError


def test_nothing_about_a_plug_in_keeps_it_from_being_named() -> None:
    assert who(Rude(), "client") == "client a Rude"
    assert who(json, "client", "mine") == "client 'mine'"
    assert brief(Rude()) == "a Rude"
    assert words_of(RudeError()) == "RudeError"
    assert words_of(ValueError("one\n  two\r\nthree")) == "ValueError: one two three"
    assert len(words_of(ValueError("x" * 9999))) == len("ValueError: ") + LONGEST
