"""A run takes the memory of its suite, and no more for ten times the results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import environment

PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from tunaeval.harness import RunOptions, SuiteRun, load_report, load_suite
from tunaeval.parsing import parser_for
from tunaeval.types import Reply

REPLY = '{"name": "read_file", "arguments": {"filepath": "a.py"}}' + "So it is. " * 2000

class Client:
    name = "client"
    async def complete(self, request):
        return Reply({"role": "assistant", "content": REPLY[:]}, "stop")
    async def close(self): ...

def peak():
    words = Path("/proc/self/status").read_text().split()
    return int(words[words.index("VmHWM:") + 1])

folder, repeats = Path(sys.argv[1]), int(sys.argv[2])
rows = [{"id": f"s{n}", "prompt": f"Read {n}.", "expected_tool": "read_file",
         "expected_args": {"filepath": "a.py"}} for n in range(50)]
(folder / "s.json").write_text(json.dumps(rows))
suite = load_suite(folder / "s.json")
run = SuiteRun(suite, Client(), parser_for("auto"), RunOptions(repeats=repeats, concurrency=4),
               out=folder / "runs")
report = asyncio.run(run.run())
assert len(report.results) == 50 * repeats == sum(1 for _ in report.results)
assert load_report(run.directory).summary == report.summary
print(peak())
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="Linux says how much memory it was")
def test_ten_times_the_results_take_no_more_memory(tmp_path: Path) -> None:
    """20 KB each: 2,000 of them in memory would be 40 MB and more."""

    def peak(repeats: int) -> int:
        folder = tmp_path / str(repeats)
        folder.mkdir()
        command = [sys.executable, "-c", PROGRAM, str(folder), str(repeats)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment(), check=True, timeout=120
        )
        return int(done.stdout)

    assert peak(40) < 1.2 * peak(4)
