"""What a first parse waits for: a program pays for what it uses."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS

_SOUND = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def test_to_import_the_package_loads_no_parser() -> None:
    program = "import sys, tunaeval; print([name for name in sys.modules if 'parsing' in name])"
    assert _printed(program) == "[]\n"


@pytest.mark.parametrize("format_name", ["auto", "hermes"])
def test_a_first_parse_loads_no_large_library(format_name: str) -> None:
    program = (
        "import sys, tunaeval\n"
        f"assert tunaeval.parse({_SOUND!r}, {format_name!r}).calls\n"
        "print({'pydantic', 'httpx2', 'asyncio', 'importlib.metadata'} & set(sys.modules))"
    )
    assert _printed(program) == "set()\n"


def test_a_sound_and_a_damaged_call_are_read_by_a_new_interpreter() -> None:
    program = (
        "import tunaeval\n"
        f"sound = tunaeval.parse({_SOUND!r}, 'hermes')\n"
        f"cut = tunaeval.parse({_SOUND[:-14]!r}, 'hermes', level='lenient')\n"
        "print(sound.outcome, cut.calls[0].arguments, [r.code for r in cut.calls[0].repairs])"
    )
    assert _printed(program) == "calls {'a': 1} ['truncated', 'unclosed']\n"


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_what_comes_with_tunaeval_would_be_taken_from_anybody(form: Format) -> None:
    """To build it again asks what is asked of any format; `shipped` did not."""
    assert type(form) is Format
    assert replace(form) == form


def _printed(program: str) -> str:
    """What a program prints in a new interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
