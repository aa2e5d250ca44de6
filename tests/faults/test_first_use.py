"""The first use of anything, from 32 threads of a fresh process at once: it is made once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import tunaeval
from tunaeval.grammar.formats import FORMATS
from tunaeval.plugins import registries

_PROGRAM = """
import os, sys, threading, traceback

import tunaeval

THREADS = 32
{uses}

def at_once(name):
    start, made, faults = threading.Barrier(THREADS), [], []

    def run():
        start.wait()
        try:
            made.append(use(name))
        except BaseException as error:
            faults.append("".join(traceback.format_exception_only(error)).strip())

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults[0] if faults else f"made {len(set(map(id, made)))} times"

for name in sys.argv[1:]:
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    else:
        print(name, at_once(name), sep="\\t", flush=True)
        os._exit(0)
"""
"""Each name is used by a child of its own, of a process that has used none of them."""

_FORMATS = """
TEXT = 'Hi <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call> [f(a=1)] ```json\\n{}\\n```'
CALLS = [tunaeval.ToolCall("f", {"a": "b"})]

def use(name):
    tunaeval.parse(TEXT, name)
    stream = tunaeval.stream(name)
    stream.feed(TEXT)
    stream.finish()
    if name in {written}:
        tunaeval.render(CALLS, name)
    return tunaeval.formats.get(name)
"""

_WARM = """
tunaeval.parse(TEXT, tunaeval.formats.get("json"))
"""
"""Imports what all formats need, which takes longer than all else that a first use does."""

_NAMES = """
def use(name):
    return getattr(tunaeval, name)
"""

_REGISTRIES = """
def use(name):
    from tunaeval import registries
    registry = registries()[name]
    names = registry.names()
    return registry.get(names[0]) if names else registry
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fresh processes are forks here")
@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("what", ["formats", "formats, all else cold", "names", "registries"])
def test_what_many_threads_use_first_at_once_is_made_once(what: str, every: int) -> None:
    """Each name costs a process; without `-m slow` it is every seventh of the long lists."""
    formats = _FORMATS.replace("{written}", repr(set(FORMATS)))
    program, names = {
        "formats": (formats + _WARM, tunaeval.formats.names()[::every]),
        "formats, all else cold": (formats, ("auto", "hermes", "glm45", "harmony", "pythonic")),
        "names": (_NAMES, dir(tunaeval)[::every]),
        "registries": (_REGISTRIES, [*registries()]),
    }[what]
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace("{uses}", program), *names],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = dict(line.split("\t") for line in done.stdout.splitlines())
    assert found == dict.fromkeys(names, "made 1 times")
