"""Tests that are loaded once, and run for each mutant in a process forked off: a pytest plugin.

Most of what a test costs is Python, imports and collection. A forked process has all that, gives
the functions that a mutant changes their new code, and runs the shortest tests first. A mutant that
changes what a module does when it is imported cannot be tried so, and one that survives may have
come too late for a table that was made then: `mutants.py` tries both afresh.

It reads JSON lines, {"path", "package", "text"}, from the descriptor named first in the variable
TUNAEVAL_MUTANTS, and writes [verdict, test] to the other; null for one that cannot be tried so.
"""

from __future__ import annotations

import gc
import inspect
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from time import process_time
from types import CodeType, FunctionType
from typing import IO

import pytest

MOST_SECONDS = 4.0
"""Of the processor, for all tests of one mutant; longer tests run in the stages that follow."""
TIMES = 10
LEAST_SECONDS = 2.0
"""A test of a mutant may take so many times what it takes else, and so many seconds at least."""

_MEASURED = (
    *("twice_the_t", "linear", "memory", "cost_what", "take_no_time", "growth_of_streams"),
    *("spawn", "never_escapes"),  # long for other reasons
)
UNMEASURED = " and ".join(f"not {word}" for word in _MEASURED)
"""What pytest is asked for: tests that do not measure time or memory."""

TESTS = {
    "parsing": ("tests/parsing",),
    "repair": ("tests/parsing/repair", "tests/parsing"),
    "matching": (
        "tests/matching",
        "tests/rewards/test_laws.py",
    ),
}
"""Where the tests of a package are."""

DESCRIPTORS = "TUNAEVAL_MUTANTS"

CACHED = type(lru_cache(len))

Answer = IO[str]
Timed = tuple[float, int]
"""The processor seconds of a test, and which it is."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Answers, until there is no further mutant."""
    reading, writing = map(int, os.environ[DESCRIPTORS].split(","))
    needed = [float(said) for said in _forked(partial(_measure, session)).split()]
    if len(needed) != len(session.items):
        raise pytest.UsageError("a test fails on the code as it is")
    order = {package: _order(session.items, needed, tests) for package, tests in TESTS.items()}
    for package, tests in order.items():
        seconds = sum(one for one, _ in tests)
        print(f"{package}: {len(tests)} tests, {seconds:.1f} s", file=sys.stderr, flush=True)
    with os.fdopen(reading) as asked, os.fdopen(writing, "w") as answered:
        for line in asked:
            told = json.loads(line)
            work = partial(_try, session, order[told["package"]], Path(told["path"]), told["text"])
            answered.write(_forked(work) + "\n")
            answered.flush()
    return True


def _order(
    items: Sequence[pytest.Item], needed: Sequence[float], tests: tuple[str, ...]
) -> list[Timed]:
    """The shortest first, as many as take no longer than they may."""
    mine = sorted(
        (seconds, at)
        for at, (item, seconds) in enumerate(zip(items, needed, strict=True))
        if item.nodeid.startswith(tests)
    )
    spent = itertools.accumulate(seconds for seconds, _ in mine)
    return [one for one, until in zip(mine, spent, strict=True) if until < MOST_SECONDS]


def _forked(work: Callable[[Answer], None]) -> str:
    """What a forked process wrote before it ended; that it timed out, if it was stopped."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        try:
            with os.fdopen(writing, "w") as answer:
                work(answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    status = os.waitpid(process, 0)[1]
    stopped = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGVTALRM
    return json.dumps(["timed out", ""]) if stopped else said or "null"


def _measure(session: pytest.Session, answer: Answer) -> None:
    for item in session.items:
        start = process_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            print("FAILS", item.nodeid, file=sys.stderr, flush=True)
            return
        answer.write(f"{process_time() - start}\n")


def _try(
    session: pytest.Session, tests: list[Timed], path: Path, text: str, answer: Answer
) -> None:
    if not take(path, text):
        answer.write("null")
        return
    for seconds, at in tests:
        item = session.items[at]
        # Ends the process: what it wrote so far is nothing.
        signal.setitimer(signal.ITIMER_VIRTUAL, max(LEAST_SECONDS, TIMES * seconds))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            answer.write(json.dumps(["killed", item.nodeid]))
            return
    answer.write(json.dumps(["survived", ""]))


def take(path: Path, text: str) -> bool:
    """Whether all that is changed are functions, which now have their new code."""
    sound = compile(path.read_text("utf-8"), str(path), "exec", dont_inherit=True)
    changed = compile(text, str(path), "exec", dont_inherit=True)
    before, after = dict(_codes(sound)), dict(_codes(changed))
    if before.keys() != after.keys() or _own(sound) != _own(changed):
        return False
    new = {name: after[name] for name in before if before[name] != after[name]}
    for made in gc.get_objects():
        if isinstance(made, CACHED) and made.__module__.startswith("tunaeval"):
            made.cache_clear()
        elif isinstance(made, FunctionType) and made.__code__.co_filename == str(path):
            key = (made.__code__.co_qualname, made.__code__.co_firstlineno)
            if key in new:
                made.__code__ = new[key]
    return True


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """All functions, by name and line; those within a function too."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield (inner.co_qualname, inner.co_firstlineno), inner
            yield from _codes(inner)


def _own(code: CodeType) -> object:
    """What a module does by itself, classes included, without its functions."""
    inner = [
        (_own(each) if _is_class(each) else None) if isinstance(each, CodeType) else repr(each)
        for each in code.co_consts
    ]
    return code.co_code, code.co_names, inner


def _is_class(code: CodeType) -> bool:
    """Its names are those of a namespace, not of a frame."""
    return not code.co_flags & inspect.CO_NEWLOCALS
