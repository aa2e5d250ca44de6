"""`tunaeval parse` of a file of JSON lines beside `parse_many` over the same texts in memory.

    python benchmarks/parse_file.py [--texts 1000000] [--workers 2] [--rounds 1] [--json]

CPU time of a process with all that it started, as cores that others use say nothing; the time that
passed; and the memory of its largest process at its peak. `bare` decodes the lines and parses the
texts, and writes nothing.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import options, print_results

WORDS = ("the file", "is in a", "directory", "and I", "will look", "at what", "it says", "today")
BARE = """\
import sys, orjson, tunaeval
with open(sys.argv[1], "rb") as file:
    tunaeval.parse_many(orjson.loads(line)["text"] for line in file)
"""


def main() -> None:
    parser = options(__doc__, rounds=1)
    parser.add_argument("--texts", type=int, default=1_000_000, help="lines (1000000)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "texts.jsonl", Path(folder) / "out.jsonl"
        _write(file, given.texts)
        command = [sys.executable, "-m", "tunaeval", "parse", str(file), "--json", "-o", str(out)]
        kinds = {
            "bare": [sys.executable, "-c", BARE, str(file)],
            "one process": command,
            f"{given.workers} processes": [*command, "--workers", str(given.workers)],
        }
        measured = {kind: _best(words, given.rounds) for kind, words in kinds.items()}
        size = file.stat().st_size / 1e6
    bare = measured["bare"][0]
    rows = [
        [kind, cpu, passed, given.texts / passed, memory, cpu / bare]
        for kind, (cpu, passed, memory) in measured.items()
    ]
    columns = ["CPU s", "passed s", "rows a second", "memory MB", "CPU to bare"]
    document = {str(row[0]): dict(zip(columns, row[1:], strict=True)) for row in rows}
    print_results(
        given,
        columns=[f"{given.texts:,} lines, {size:.0f} MB", *columns],
        rows=rows,
        document=document,
    )


def _write(file: Path, texts: int) -> None:
    """Seven of ten hold a call, one is prose, one is repaired, and one was cut."""
    chance = random.Random(0)
    with file.open("w", encoding="ascii") as lines:
        for number in range(texts):
            record = {"id": number, "source": "made up", "text": _text(chance, number)}
            lines.write(json.dumps(record) + "\n")


def _text(chance: random.Random, number: int) -> str:
    prose = " ".join(chance.choices(WORDS, k=30))
    call = {
        "name": "read_file",
        "arguments": {"filepath": f"src/{number}.py", "limit": number % 50},
    }
    match number % 10:
        case 7:
            return prose
        case 8:
            return f"<tool_call>{call}</tool_call>"
        case 9:
            return f"<tool_call>{json.dumps(call)[:-8]}"
    return f"{prose} <tool_call>\n{json.dumps(call)}\n</tool_call>"


def _best(command: list[str], rounds: int) -> tuple[float, float, float]:
    return min(_measured(command) for _ in range(rounds))


def _measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds of CPU, seconds that passed, and megabytes."""
    began = time.perf_counter()
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss / unit


if __name__ == "__main__":
    main()
