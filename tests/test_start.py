"""What each entry loads: a start costs what it imports, and nobody sees one import more.

The packages of tunaeval and of others are exactly these; of the slow modules of the standard
library none but those that are named. `benchmarks/startup.py` has the milliseconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ENGINE = "errors grammar limits parsing registry showing tools types workers"
SLOW = (
    "asyncio csv decimal email hashlib http importlib.metadata logging multiprocessing pathlib"
    " shutil sqlite3 ssl statistics string subprocess tempfile tomllib urllib.request zipfile"
)
CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


class Entry(NamedTuple):
    """A program, and what it may load besides the engine."""

    program: str
    packages: str = ""
    others: str = "orjson"
    slow: str = ""


ENTRIES = {
    "a text": Entry("import tunaeval; tunaeval.parse('x')"),
    "a call": Entry(f"import tunaeval; tunaeval.parse({CALL!r})"),
    "a stream": Entry(f"import tunaeval; tunaeval.stream().feed({CALL!r})"),
    "a reward": Entry(
        "from tunaeval.rewards import Gold, reward\n"
        f"reward({CALL!r}, Gold.of([{{'name': 'f', 'arguments': {{}}}}]))",
        packages="matching rewards wire",
        slow="hashlib",
    ),
    "tunaeval parse": Entry(
        "import sys; sys.argv = ['tunaeval', 'parse', __file__]\n"
        "from tunaeval.cli import main; main()",
        packages="cli files",
        slow="csv email importlib.metadata logging pathlib shutil string tempfile tomllib zipfile",
    ),
    "run": Entry(
        "from tunaeval import run",
        packages="clients files matching reports runs tasks wire",
        others="annotated_types orjson pydantic pydantic_core tenacity typing_extensions"
        " typing_inspection",
        slow="asyncio csv decimal email hashlib importlib.metadata logging pathlib shutil ssl"
        " statistics string subprocess tempfile tomllib zipfile",
    ),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_an_entry_loads_no_module_that_it_does_not_use(entry: Entry, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        f"import sys, json\nbefore = set(sys.modules)\n{entry.program}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent.parent)},
    )  # fmt: skip
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    packages = {name.split(".")[1] for name in loaded if name.startswith("tunaeval.")}
    others = {name.split(".")[0] for name in loaded} - {*sys.stdlib_module_names, "tunaeval"}
    assert packages == {*ENGINE.split(), *entry.packages.split()}
    others.discard("tornado")  # tenacity imports it where it is installed
    assert {name for name in others if "sysconfigdata" not in name} == {*entry.others.split()}
    assert {*SLOW.split()} & loaded <= {*entry.slow.split()}
