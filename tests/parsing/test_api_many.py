"""Many texts over several processes: the same results in order, and nothing left behind.

Each program runs in an interpreter of its own, so that it may be interrupted and killed, and has a
start method and threads of its own.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.runs import within
from tests.interrupts import heed_interrupts
from tunaeval import parse_many, to_tools
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.types.calls import Tools
from tunaeval.types.parsing import Level, ParseResult

METHODS = ["fork", "spawn"]
CALL = '<tool_call>{"name": "f", "arguments": {"n": "%d"}}</tool_call>'
TOOLS = [{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}]

PARSERS = """\
import os, time
from tunaeval.types import ParseResult

class Stubborn:
    name = "stubborn"
    def parse(self, text, *, tools=None, level="standard"):
        if text == "raise":
            raise KeyError("k")
        if text == "peculiar":
            raise Peculiar("odd", 1)
        if text == "die":
            os._exit(7)
        if text == "sleep":
            os.write(1, b"asleep %d\\n" % os.getpid())
            time.sleep(60)
        return ParseResult(content=text)

class Peculiar(ValueError):
    def __init__(self, text, number):
        super().__init__(f"{text} {number}")

class Local(Stubborn):
    def __init__(self):
        self.hook = lambda: None
"""

FRAME = """\
import multiprocessing, sys, tunaeval
from parsers import *
from tunaeval.errors import *

def main():
    {body}

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    main()
    print("left:", multiprocessing.active_children())
"""

WANTED = "wanted a ParseResult, whatever the text"

Program = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Starts a program with that body, in a process group of its own."""
    (tmp_path / "parsers.py").write_text(PARSERS)

    def start(body: str, method: str) -> subprocess.Popen[str]:
        file = tmp_path / "program.py"
        file.write_text(FRAME.format(body=body.replace("\n", "\n    ")))
        return subprocess.Popen(
            [sys.executable, str(file), method],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 - nothing here that a fork could break
        )  # fmt: skip

    return start


def said(process: subprocess.Popen[str], code: int = 0) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    return out + err


def gone(pid: int) -> bool:
    """Whether a process ends within a few seconds; a zombie that nobody fetches has ended."""
    for _ in range(600):
        try:
            state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("method", METHODS)
def test_results_are_the_same_and_in_order(program: Program, method: str) -> None:
    body = f"""\
call = {CALL!r}
texts = [call % n if n % 3 else f"no {{n}} \\ud800" for n in range(1500)] + ["x" * 300_000] * 3
tools = {TOOLS!r}
one = tunaeval.parse_many(texts, "hermes", tools)
for workers in (2, 3):
    print(tunaeval.parse_many(iter(texts), "hermes", tools, workers=workers) == one)
print(one[1].calls[0].repairs != ())
print(tunaeval.parse_many(texts, workers=2) == tunaeval.parse_many(texts))
print(tunaeval.parse_many(texts, tunaeval.formats.get("hermes"), tools, "strict", workers=2)
      == tunaeval.parse_many(texts, "hermes", tools, "strict"))"""
    assert said(program(body, method)) == "True\n" * 5 + "left: []\n"


@pytest.mark.parametrize("method", METHODS)
def test_what_a_parser_raises_is_raised_and_nothing_is_left(program: Program, method: str) -> None:
    body = """\
for text in ("raise", "peculiar"):
    try:
        tunaeval.parse_many(["a"] * 700 + [text] + ["b"] * 700, Stubborn(), workers=2)
    except Exception as raised:
        print(raised, "in a worker process" in raised.__notes__[0])"""
    assert re.sub(r" \(\S+/parsers\.py:\d+\)", "", said(program(body, method))) == (
        f"parser 'stubborn' raised KeyError: 'k'; {WANTED} True\n"
        f"parser 'stubborn' raised Peculiar: odd 1; {WANTED} True\nleft: []\n"
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_worker_that_dies_is_an_error(program: Program, method: str) -> None:
    body = """\
try:
    tunaeval.parse_many(["a"] * 700 + ["die"] + ["b"] * 700, Stubborn(), workers=2)
except TunaevalError as error:
    print(error)"""
    out = said(program(body, method))
    assert "died (exit code 7)" in out
    assert out.endswith("left: []\n")


def test_a_parser_that_cannot_be_copied_is_refused_or_goes_by_its_name(program: Program) -> None:
    body = """\
texts = [str(n) for n in range(600)]
try:
    tunaeval.parse_many(texts, Local(), workers=2)
except UsageError as error:
    print(error)
tunaeval.formats.add("local", Local())
print([r.content for r in tunaeval.parse_many(texts, "local", workers=2)] == texts)"""
    out = said(program(body, "fork"))
    assert "'stubborn' cannot be sent to other processes (" in out
    assert "use workers=1" in out
    assert out.endswith("True\nleft: []\n")


def test_a_name_that_other_processes_do_not_know_is_told(program: Program) -> None:
    body = """\
tunaeval.formats.add("local", Local())
try:
    tunaeval.parse_many([""] * 600, "local", workers=2)
except UsageError as error:
    print(error)"""
    assert "is called 'local'" in said(program(body, "spawn"))


def test_texts_are_taken_as_they_are_needed(program: Program) -> None:
    body = """\
taken = 0
def texts():
    nonlocal taken
    while True:
        taken += 1
        yield "raise" if taken == 5000 else "fine"
try:
    tunaeval.parse_many(texts(), Stubborn(), workers=2)
except PluginError:
    print(5000 <= taken <= 5000 + 4 * 256)"""
    assert said(program(body, "fork")) == "True\nleft: []\n"


@pytest.mark.parametrize("method", [*METHODS, "forkserver"])
def test_an_interrupt_releases_the_workers(program: Program, method: str) -> None:
    body = """\
try:
    tunaeval.parse_many((["a"] * 255 + ["sleep"]) * 4, Stubborn(), workers=2)
except KeyboardInterrupt:
    print("interrupted")"""
    process = program(body, method)
    assert process.stdout
    workers = [int(process.stdout.readline().split()[1]) for _ in range(2)]
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to parent and workers alike
    with within(20):
        assert said(process) == "interrupted\nleft: []\n"
    assert all(map(gone, workers))


@pytest.mark.parametrize("method", METHODS)
def test_workers_of_a_killed_parent_end_by_themselves(program: Program, method: str) -> None:
    body = """\
import itertools, os
def texts():
    for n in itertools.count():
        if n == 2000:
            print(*[child.pid for child in multiprocessing.active_children()], flush=True)
            os.kill(os.getpid(), 9)
        yield "a"
tunaeval.parse_many(texts(), Stubborn(), workers=3)"""
    process = program(body, method)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    workers = [int(pid) for pid in out.split()]
    assert len(workers) == 3
    assert all(map(gone, workers))


def test_a_daemon_is_told_that_it_cannot_have_workers(program: Program) -> None:
    body = """\
with multiprocessing.Pool(1) as pool:
    try:
        pool.apply(tunaeval.parse_many, ([""] * 600,), {"workers": 2})
    except UsageError as error:
        print(error)"""
    assert "use workers=1 in it" in said(program(body, "fork"))


def test_one_worker_and_few_texts_start_no_process() -> None:
    program = """\
import sys, tunaeval
tunaeval.parse_many(['a'] * 600)
tunaeval.parse_many(['a'] * 256, workers=8)
print({'multiprocessing', 'concurrent.futures'} & set(sys.modules))"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("workers", [0, -1, True, 1.5, "2", None])
def test_a_counted_workers_is_a_number(workers: int) -> None:
    with pytest.raises(UsageError, match="wanted a number of processes"):
        parse_many(["a"], workers=workers)


@pytest.mark.parametrize("texts", ["abc", {"a": "b"}, 5, None])
def test_texts_are_several(texts: list[str]) -> None:
    with pytest.raises(UsageError, match=r"texts is .*for one text use parse"):
        parse_many(texts)


class Other:
    """A parser of somebody else."""

    name = "other"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        assert tools is None
        return ParseResult(content=f"{text} {level}")


@pytest.mark.parametrize("format_", ["auto", "no-such", Other()])
def test_a_level_is_known_before_there_is_a_text(format_: str | Other) -> None:
    with pytest.raises(UnknownNameError, match="no level is called 'Strict'; did you mean 'stric"):
        parse_many([], format_, level="Strict")  # type: ignore[arg-type]  # the claim


def test_any_parser_reads_any_iterable() -> None:
    assert parse_many([], Other()) == []
    assert [r.content for r in parse_many(iter("ab"), Other(), level="lenient")] == [
        "a lenient",
        "b lenient",
    ]
    assert parse_many([CALL % 1], "hermes", to_tools(TOOLS))[0].calls[0].arguments == {"n": 1}
