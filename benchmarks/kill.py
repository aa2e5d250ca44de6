"""Runs that are killed and continued, again and again: what is lost, and what is counted twice.

    python benchmarks/kill.py [--kills 1000] [--seconds 3600] [--scenarios 200] [--json] [--check]

A run of `tunaeval run` against a server on loopback is ended by SIGKILL at random moments and goes
on with `--resume`, until so many kills have struck. Before each kill the results on disk are read:
whole lines are what was acknowledged. Lost is what was there once and is not any more, doubled what
is there twice. In the end each killed run is compared with one that never was: all but times has
to be the same. After `--seconds` no more strike, and what was found by then is printed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("instant_server.py")
ROOT = str(Path(__file__).parent.parent)
TIMES = frozenset({"latency_seconds", "retries"})
ABOUT = frozenset({"run_id", "started_at", "resumed_at", "concurrency"})


@dataclass
class Found:
    """What the kills came to."""

    kills: int = 0
    runs: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    torn: int = 0
    unequal: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.unequal)


def suite_file(folder: Path, scenarios: int) -> Path:
    """Half of the scenarios pass by what the server answers."""
    rows = [
        {
            "id": f"s{n}",
            "prompt": f"Read the file number {n}.",
            "expected_tool": "read_file",
            "expected_args": {"filepath": "src/main.py" if n % 2 else f"src/{n}.py"},
        }
        for n in range(scenarios)
    ]
    path = folder / "kill.json"
    path.write_text(json.dumps({"name": "kill", "scenarios": rows}))
    return path


def begin(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """A `tunaeval run` in a process of its own."""
    command = [sys.executable, "-m", "tunaeval", "run", "--quiet", "--concurrency", "8", *options]
    return subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": ROOT},
    )


def acknowledged(results: Path) -> Counter[str]:
    """The scenarios of whole lines."""
    if not results.exists():
        return Counter()
    lines = results.read_bytes().splitlines(keepends=True)
    return Counter(json.loads(line)["scenario"] for line in lines if line.endswith(b"\n"))


def one_run(
    folder: Path,
    asked: list[str],
    found: Found,
    is_enough: Callable[[], bool],
    chance: random.Random,
) -> Path:
    """One run, killed until it is whole or enough kills have struck; its directory."""
    out = folder / f"runs-{found.runs}"
    child, before, go_on = begin(folder, *asked, "--out", str(out)), Counter[str](), None
    while True:
        # Until there is something to lose, and for a random moment more.
        while child.poll() is None and go_on is None:
            go_on = next(iter(out.glob("*/run.json")), None)
            time.sleep(0.002)
        assert go_on is not None, "the run wrote nothing"
        results = go_on.parent / "results.jsonl"
        if not is_enough():
            wait_for_more(child, results, chance)
        if is_enough() or child.poll() is not None:
            assert child.wait(120) == 0, "the run failed"
            check(results, before, found)
            return go_on.parent
        child.send_signal(signal.SIGKILL)
        child.wait()
        found.kills += 1
        found.torn += results.exists() and results.read_bytes()[-1:] not in (b"\n", b"")
        before = check(results, before, found)
        child = begin(folder, "--resume", str(go_on.parent))


def wait_for_more(child: subprocess.Popen[bytes], results: Path, chance: random.Random) -> None:
    """Until the file of results has grown, and then for up to 20 ms."""
    size = results.stat().st_size if results.exists() else 0
    while child.poll() is None and (not results.exists() or results.stat().st_size <= size):
        time.sleep(0.001)
    time.sleep(chance.uniform(0, 0.02))


def check(results: Path, before: Counter[str], found: Found) -> Counter[str]:
    """Count what is gone, and what is there twice."""
    now = acknowledged(results)
    found.lost += len(before.keys() - now.keys())
    found.doubled += sum(count - 1 for count in now.values())
    found.acknowledged += len(now.keys() - before.keys())
    return now


def without_times(directory: Path) -> dict[str, Any]:
    """All of a run that has to be the same however often it was killed."""
    sys.path.insert(0, ROOT)
    from tunaeval.runs.directory import load_report

    report = load_report(directory)
    results = sorted((plain(result.model_dump()) for result in report.results), key=str)
    summary = plain(report.summary.model_dump())
    del summary["latency_seconds_median"]
    info = {key: value for key, value in report.run.model_dump().items() if key not in ABOUT}
    return {"results": results, "summary": summary, "run": info}


def plain(value: Any) -> Any:
    """A value without times."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in TIMES}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def measure(kills: int, seconds: float, scenarios: int, seed: int) -> Found:
    """Kill so many times, or for so long, in runs of so many scenarios."""
    found, chance = Found(), random.Random(seed)
    end = time.monotonic() + seconds

    def is_enough() -> bool:
        return found.kills >= kills or time.monotonic() >= end

    command = [sys.executable, str(SERVER), "--pause", "0.01"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server,
    ):
        assert server.stdout is not None
        assert server.stdin is not None
        address = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        suite = suite_file(Path(folder), scenarios)
        asked = ["--suite", str(suite), "--base-url", address, "--model", "bench"]
        whole = without_times(one_run(Path(folder), asked, Found(runs=-1), lambda: True, chance))
        while not is_enough():
            killed = without_times(one_run(Path(folder), asked, found, is_enough, chance))
            found.unequal += [part for part in whole if whole[part] != killed[part]]
            found.runs += 1
        server.stdin.close()
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--kills", type=int, default=50)
    arguments.add_argument("--seconds", type=float, default=math.inf)
    arguments.add_argument("--scenarios", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--check", action="store_true", help="exit with 1 if anything was lost")
    given = arguments.parse_args()
    began = time.monotonic()
    found = measure(given.kills, given.seconds, given.scenarios, given.seed)
    if given.json:
        print(json.dumps({**vars(found), "seconds": round(time.monotonic() - began, 1)}))
    else:
        print(
            f"{found.kills} kills in {found.runs} runs, {found.acknowledged} results acknowledged: "
            f"{found.lost} lost, {found.doubled} doubled, {found.torn} torn tails cut off, "
            f"{len(found.unequal)} reports unlike the unbroken one; "
            f"{time.monotonic() - began:.0f} s"
        )
    if given.check and not found.is_clean:
        sys.exit(1)


if __name__ == "__main__":
    main()
