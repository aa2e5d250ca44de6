"""A million rows by Ray Data over two local nodes; on the way a worker is killed, and then a node.

    python killed.py ROWS

Prints one line of JSON: the rows, their distinct ids and the sum of rewards, and those of a plain
loop; and what was killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster

from tunaeval.data.columns import score_table

GOOD = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
COMPLETIONS = [GOOD, GOOD.replace("Paris", "Rome"), "No.", GOOD + GOOD]
GOLD = json.dumps([{"name": "weather", "arguments": {"city": "Paris"}}])
PARTS = 32


def paced(table: pa.Table, *, marks: str) -> pa.Table:
    """The same as `score_table`; leaves a mark, so that something is killed in the middle."""
    Path(marks, f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return score_table(table)


def write_input(folder: Path, rows: int) -> None:
    each = rows // PARTS
    for part in range(PARTS):
        ids = range(part * each, (part + 1) * each)
        texts = [COMPLETIONS[number % 4] for number in ids]
        table = pa.table({"id": [*ids], "completion": texts, "gold": [GOLD] * each})
        pq.write_table(table, folder / f"{part:03}.parquet")


class Killer(threading.Thread):
    """Kills a worker when an eighth of the batches has begun, and a node after a third."""

    def __init__(self, cluster: Cluster, node: object, marks: Path, batches: int) -> None:
        super().__init__(daemon=True)
        self.killed: list[str] = []
        self._cluster, self._node, self._marks, self._batches = cluster, node, marks, batches

    def run(self) -> None:
        self._wait(self._batches // 8)
        last = max(self._marks.iterdir(), key=lambda mark: mark.stat().st_mtime)
        os.kill(int(last.name.partition("-")[0]), signal.SIGKILL)
        self.killed.append("worker")
        self._wait(self._batches // 3)
        self._cluster.remove_node(self._node, allow_graceful=False)
        self.killed.append("node")

    def _wait(self, marks: int) -> None:
        while len([*self._marks.iterdir()]) < marks:
            time.sleep(0.05)


def main(rows: int) -> None:
    batch = 8192
    head = {"num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.add_node(num_cpus=1)
    lost = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    with tempfile.TemporaryDirectory() as name:
        source, target, marks = (Path(name) / part for part in ("in", "out", "marks"))
        source.mkdir()
        marks.mkdir()
        write_input(source, rows)
        killer = Killer(cluster, lost, marks, rows // batch)
        killer.start()
        began = time.monotonic()
        data = ray.data.read_parquet(str(source), override_num_blocks=PARTS)
        score = partial(paced, marks=str(marks))
        data.map_batches(score, batch_format="pyarrow", batch_size=batch).write_parquet(str(target))
        seconds = time.monotonic() - began
        scored = pq.read_table(target, columns=["id", "reward"])
        cpu = time.process_time()
        plain = sum(
            sum(score_table(pq.read_table(path))["reward"].to_pylist())
            for path in sorted(source.iterdir())
        )
        found = {
            "rows": len(scored),
            "ids": len(scored["id"].unique()),
            "input": rows // PARTS * PARTS,
            "sum": round(sum(scored["reward"].to_pylist()), 3),
            "plain_sum": round(plain, 3),
            "killed": killer.killed,
            "batches_begun": len([*marks.iterdir()]),
            "seconds": round(seconds, 1),
            "plain_cpu_seconds": round(time.process_time() - cpu, 1),
        }
    ray.shutdown()
    cluster.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
