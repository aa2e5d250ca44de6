"""What Ray Data adds to a row, beside a plain loop over the same files: CPU of all processes.

    pip install '.[ray]' && python benchmarks/rewards_on_ray.py

Two jobs of different size run in one session; what the larger costs more is what rows cost, and
what is left is what a job costs. The loop's CPU a row is taken off. Linux only (/proc).
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import ray

from tunaeval.columns import score_table

SIZES = (50_000, 200_000)
TOOLS = [{"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}]
GOLD = json.dumps([{"name": "weather", "arguments": {"city": "Paris"}}])
GOOD = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
TICKS = os.sysconf("SC_CLK_TCK")


class Watch(threading.Thread):
    """Looks at this process and at all of Ray's, again and again, for those that end have no CPU.

    Another Ray on this machine would be counted, too.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._seen: dict[int, float] = {}

    def run(self) -> None:
        while True:
            self.seconds()
            time.sleep(0.1)

    def seconds(self) -> float:
        """CPU of all of them so far."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if (
                    int(folder.name) != os.getpid()
                    and b"ray" not in (folder / "cmdline").read_bytes()
                ):
                    continue
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            self._seen[int(folder.name)] = sum(map(int, fields[11:13])) / TICKS
        return sum(self._seen.values())


def write_input(folder: Path, rows: int) -> None:
    folder.mkdir()
    each = rows // 4
    for part in range(4):
        table = pa.table({"completion": [GOOD] * each, "gold": [GOLD] * each})
        pq.write_table(table, folder / f"{part}.parquet")


def loop(folder: Path, target: Path) -> None:
    target.mkdir()
    for path in sorted(folder.iterdir()):
        pq.write_table(score_table(pq.read_table(path), tools=TOOLS), target / path.name)


def on_ray(folder: Path, target: Path) -> None:
    score = partial(score_table, tools=TOOLS)
    rows = ray.data.read_parquet(str(folder))
    rows.map_batches(score, batch_format="pyarrow", batch_size=4096).write_parquet(str(target))


def main() -> None:
    watch = Watch()
    watch.start()
    began = time.monotonic()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    start = time.monotonic() - began
    costs: dict[str, list[float]] = {"loop": [], "ray": []}
    with tempfile.TemporaryDirectory() as name:
        for rows in SIZES:
            source = Path(name) / f"in-{rows}"
            write_input(source, rows)
            for way, work in (("loop", loop), ("ray", on_ray)):
                before = watch.seconds()
                work(source, Path(name) / f"{way}-{rows}")
                costs[way].append(watch.seconds() - before)
    a_row = {
        way: (more - less) / (SIZES[1] - SIZES[0]) * 1e6 for way, (less, more) in costs.items()
    }
    job = costs["ray"][0] - a_row["ray"] * SIZES[0] / 1e6
    print(
        f"loop {a_row['loop']:.1f} µs a row; Ray {a_row['ray']:.1f} µs a row and {job:.1f} s a job"
    )
    print(f"Ray's start: {start:.1f} s")
    ray.shutdown()


if __name__ == "__main__":
    main()
