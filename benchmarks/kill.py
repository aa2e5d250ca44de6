"""Runs that are killed and continued, again and again: what is lost, and what is counted twice.

    python benchmarks/kill.py [--kills 1000] [--seconds 3600] [--scenarios 200] [--matrix]
                              [--json] [--check]

A run of `tunaeval run` against a server on loopback is ended by SIGKILL at random moments and goes
on with `--resume`, until so many kills have struck. Before each kill the results on disk are read:
whole lines are what was acknowledged. Lost is what was there once and is not any more, doubled what
is there twice. The server counts the requests: asked again may be what was in flight at a kill, 8
at most. In the end each killed run is compared with one that never was: all but times has to be the
same. After `--seconds` no more strike, and what was found by then is printed. With `--matrix` two
models are asked so many scenarios with two system prompts each, in one command.
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
TIMES = frozenset({"latency_seconds", "latency_seconds_median", "retries"})
IN_FLIGHT = 8
ABOUT = frozenset({"run_id", "started_at", "resumed_at", "concurrency", "results_file"})


@dataclass
class Found:
    """What the kills came to."""

    kills: int = 0
    runs: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    torn: int = 0
    asked_again: int = 0
    unequal: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        is_asked_enough = 0 <= self.asked_again <= IN_FLIGHT * self.kills
        return is_asked_enough and not (self.lost or self.doubled or self.unequal)


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
    command = [sys.executable, "-m", "tunaeval", "run", "--quiet"]
    command += ["--concurrency", str(IN_FLIGHT), *options]
    return subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": ROOT},
    )


def files_of_results(directory: Path) -> list[Path]:
    """The results of a run, or those of each cell of a matrix."""
    return [*directory.glob("results.jsonl"), *directory.glob("cells/*/results.jsonl")]


def acknowledged(directory: Path) -> Counter[tuple[str, str]]:
    """The cells and scenarios of whole lines."""
    return Counter(
        (file.parent.name, json.loads(line)["scenario"])
        for file in files_of_results(directory)
        for line in file.read_bytes().splitlines(keepends=True)
        if line.endswith(b"\n")
    )


def one_run(
    folder: Path,
    asked: list[str],
    found: Found,
    is_enough: Callable[[], bool],
    chance: random.Random,
) -> Path:
    """One run, killed until it is whole or enough kills have struck; its directory."""
    out = folder / f"runs-{found.runs}"
    child, go_on = begin(folder, *asked, "--out", str(out)), None
    before: Counter[tuple[str, str]] = Counter()
    while True:
        # Until there is something to lose, and for a random moment more.
        while child.poll() is None and go_on is None:
            go_on = next(iter([*out.glob("*/run.json"), *out.glob("*/matrix.json")]), None)
            time.sleep(0.002)
        assert go_on is not None, "the run wrote nothing"
        directory = go_on.parent
        if not is_enough():
            wait_for_more(child, directory, chance)
        if is_enough() or child.poll() is not None:
            assert child.wait(120) == 0, "the run failed"
            check(directory, before, found)
            return directory
        child.send_signal(signal.SIGKILL)
        child.wait()
        found.kills += 1
        tails = (file.read_bytes()[-1:] for file in files_of_results(directory))
        found.torn += any(tail not in (b"\n", b"") for tail in tails)
        before = check(directory, before, found)
        child = begin(folder, "--resume", str(directory))


def wait_for_more(child: subprocess.Popen[bytes], directory: Path, chance: random.Random) -> None:
    """Until the files of results have grown, and then for up to 20 ms.

    One kill in six does not wait for that, so that it may strike while the command starts.
    """
    size = size_of_results(directory)
    if chance.random() < 1 / 6:
        time.sleep(chance.uniform(0, 1))
        return
    while child.poll() is None and size_of_results(directory) <= size:
        time.sleep(0.002)
    time.sleep(chance.uniform(0, 0.02))


def size_of_results(directory: Path) -> int:
    return sum(file.stat().st_size for file in files_of_results(directory))


def check(
    directory: Path, before: Counter[tuple[str, str]], found: Found
) -> Counter[tuple[str, str]]:
    """Count what is gone, and what is there twice."""
    now = acknowledged(directory)
    found.lost += len(before.keys() - now.keys())
    found.doubled += sum(count - 1 for count in now.values())
    found.acknowledged += len(now.keys() - before.keys())
    return now


def without_times(directory: Path) -> dict[str, Any]:
    """All of a run that has to be the same however often it was killed."""
    sys.path.insert(0, ROOT)
    from tunaeval.runs.directory import load_report

    reports = [load_report(file.parent) for file in sorted(directory.rglob("run.json"))]
    results = [
        sorted((plain(result.model_dump()) for result in report.results), key=str)
        for report in reports
    ]
    summaries = [plain(report.summary.model_dump()) for report in reports]
    infos = [
        {key: value for key, value in report.run.model_dump().items() if key not in ABOUT}
        for report in reports
    ]
    return {"results": results, "summary": summaries, "run": infos}


def plain(value: Any) -> Any:
    """A value without times."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in TIMES}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def matrix_options(folder: Path) -> list[str]:
    """A second model, and two system prompts."""
    options = ["--model", "bench-2"]
    for name in ("terse", "kind"):
        (folder / f"{name}.md").write_text(f"Be {name}.")
        options += ["--system-prompt", str(folder / f"{name}.md")]
    return options


def measure(kills: int, seconds: float, scenarios: int, seed: int, *, is_matrix: bool) -> Found:
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
        address = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        suite = suite_file(Path(folder), scenarios)
        asked = ["--suite", str(suite), "--base-url", address, "--model", "bench"]
        if is_matrix:
            asked += matrix_options(Path(folder))
        unbroken = Found(runs=-1)
        whole = without_times(one_run(Path(folder), asked, unbroken, lambda: True, chance))
        while not is_enough():
            killed = without_times(one_run(Path(folder), asked, found, is_enough, chance))
            found.unequal += [part for part in whole if whole[part] != killed[part]]
            found.runs += 1
        requests, _ = server.communicate()
        found.asked_again = int(requests) - unbroken.acknowledged - found.acknowledged
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--kills", type=int, default=50)
    arguments.add_argument("--seconds", type=float, default=math.inf)
    arguments.add_argument("--scenarios", type=int, default=200)
    arguments.add_argument("--matrix", action="store_true", help="four cells, two by two")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--check", action="store_true", help="exit with 1 if anything was lost")
    given = arguments.parse_args()
    began = time.monotonic()
    found = measure(given.kills, given.seconds, given.scenarios, given.seed, is_matrix=given.matrix)
    if given.json:
        print(json.dumps({**vars(found), "seconds": round(time.monotonic() - began, 1)}))
    else:
        print(
            f"{found.kills} kills in {found.runs} runs, {found.acknowledged} results acknowledged: "
            f"{found.lost} lost, {found.doubled} doubled, {found.torn} torn tails cut off, "
            f"{found.asked_again} asked again, {len(found.unequal)} parts of reports unlike the "
            "unbroken ones; "
            f"{time.monotonic() - began:.0f} s"
        )
    if given.check and not found.is_clean:
        sys.exit(1)


if __name__ == "__main__":
    main()
