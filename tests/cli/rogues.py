"""A package of plug-ins that are imported without a fault and misbehave when they are used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import tunaeval

NAME = "tuna-rogue 2.0"

ENTRY_POINTS = {
    "parsers": {"p-returns": "P_RETURNS", "p-raises": "P_RAISES", "p-leaves": "P_LEAVES",
                "p-listed": "P_LISTED", "mimo": "P_RETURNS"},
    "clients": {"c-returns": "make_number", "c-unmade": "Unmade", "c-leaves": "Leaves",
                "c-unclosed": "Unclosed", "c-needs": "Needs", "c-details": "Details",
                "c-dies": "Dies", "c-usage": "NoUsage", "c-sound": "Sound"},
    "writers": {"w-raises": "W_RAISES", "w-leaves": "W_LEAVES", "w-nothing": "W_NOTHING"},
    "scorers": {"s-raises": "S_RAISES", "s-text": "S_TEXT", "s-minus": "S_MINUS"},
    "scorer": {"s-lost": "S_RAISES"},
    "checks": {"e-raises": "boom", "e-leaves": "leave_with", "e-number": "number",
               "e-async": "later"},
    "classifiers": {"k-raises": "K_RAISES", "k-number": "K_NUMBER"},
}  # fmt: skip

SOURCE = '''
from tunaeval.types import ParseResult, Reply


class Thing:
    """A plug-in of any group: what it is asked, `does` answers or raises."""

    weight = 0.1

    def __init__(self, name, does, **more):
        self.name, self.does = name, does
        vars(self).update(more)

    def parse(self, text, *, tools=None, level="standard"):
        return self.does()

    def write(self, report, path):
        return self.does()

    async def score(self, transcript):
        return self.does()

    def classify(self, result):
        return self.does()


def boom(*_):
    raise ValueError("no such\\nthing")


def leave():
    raise SystemExit(0)


def leave_with(state):
    raise SystemExit(3)


def number(state):
    return 0.5


async def later(state):
    return True


P_RETURNS, P_RAISES = Thing("p-returns", lambda: 0.5), Thing("p-raises", boom)
P_LEAVES = Thing("p-leaves", leave)
P_LISTED = Thing("p-listed", lambda: ParseResult([{"name": "ls"}]))
W_RAISES, W_LEAVES = Thing("w-raises", boom), Thing("w-leaves", leave)
W_NOTHING = Thing("w-nothing", lambda: None)
S_RAISES, S_TEXT = Thing("s-raises", boom), Thing("s-text", lambda: None, weight="0.1")
S_MINUS = Thing("s-minus", boom, weight=-1)
K_RAISES, K_NUMBER = Thing("k-raises", boom), Thing("k-number", lambda: 0.5)


class Sound:
    name = "sound"

    async def complete(self, request):
        return Reply({"role": "assistant", "content": "No."})

    async def close(self):
        pass


class Unmade(Sound):
    def __init__(self):
        boom()


class Needs(Sound):
    def __init__(self, port):
        pass


class Unclosed(Sound):
    name = "c-unclosed"

    async def close(self):
        boom()


class Leaves(Sound):
    name = "c-leaves"

    async def complete(self, request):
        leave()


class Details(Sound):
    name = "c-details"
    details = 3


class NoUsage(Sound):
    name = "c-usage"

    async def complete(self, request):
        return Reply({"role": "assistant", "content": "No."}, usage=None)


class Dies(Sound):
    """One that no boundary foresees: its class cannot even be looked at."""

    @property
    def heading(self):
        boom()


def make_number():
    return 0.5
'''


LOOP = """
import contextlib, io, json, sys, traceback
from tunaeval.cli import main
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(json.loads(line))
        except BaseException:
            code = 1
            traceback.print_exc()
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


class Done(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


@contextmanager
def shell(site: Path) -> Iterator[Callable[..., Done]]:
    """Commands, one after another in one process that has the plug-ins."""
    install(site)
    (site / "a.txt").write_text("hello")
    with subprocess.Popen(
        [sys.executable, "-c", LOOP],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=site,
        env={**os.environ, "PYTHONPATH": path(site)},
        text=True,
    ) as child:
        commands, answers = child.stdin, child.stdout
        assert commands is not None
        assert answers is not None

        def run(*arguments: str) -> Done:
            print(json.dumps(arguments), file=commands, flush=True)
            return Done(*json.loads(answers.readline()))

        yield run
        commands.close()


def path(site: Path) -> str:
    """Where a child finds the package, and what is tested here."""
    return os.pathsep.join([str(site), str(Path(tunaeval.__file__).parents[1])])


def install(site: Path) -> None:
    """Put the package onto a path."""
    (site / "tuna_rogue.py").write_text(SOURCE)
    info = site / "tuna_rogue-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tuna-rogue\nVersion: 2.0\n")
    lines = [
        line
        for group, points in ENTRY_POINTS.items()
        for line in (
            f"[tunaeval.{group}]",
            *(f"{name} = tuna_rogue:{attribute}" for name, attribute in points.items()),
        )
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
