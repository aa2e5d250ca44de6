"""Completions scored by Ray Data, on this machine or on a cluster: every row once, or no success.

    $ python examples/score_on_ray.py
    20000 rows, 20000 ids, 20000 in the input; mean reward 0.750

Ray runs a batch again when a worker is lost, so the function has to be pure, as `score_table` is,
and every row needs a key. The rows go into a directory that is new, for Ray appends to one that is
not, and nobody calls it done before its rows, their ids and the input agree. On a cluster give
`ray.init(address="auto")` and a directory that all nodes can write to.
"""

import json
import logging
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")

import pyarrow as pa
import pyarrow.parquet as pq
import ray

from tunaeval.data.columns import score_table

TOOLS = [{"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}]
GOLD = json.dumps([{"name": "weather", "arguments": {"city": "Paris"}}])
GOOD = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
COMPLETIONS = [GOOD, GOOD, "No.", GOOD]
ROWS = 20_000


def write_input(folder: Path) -> None:
    for part in range(4):
        ids = range(part * ROWS // 4, (part + 1) * ROWS // 4)
        texts = [COMPLETIONS[number % 4] for number in ids]
        table = pa.table({"id": [*ids], "completion": texts, "gold": [GOLD] * len(ids)})
        pq.write_table(table, folder / f"{part}.parquet")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "in", Path(name) / "scored"
        source.mkdir()
        write_input(source)
        score = partial(score_table, tools=TOOLS)
        rows = ray.data.read_parquet(str(source))
        rows.map_batches(score, batch_format="pyarrow", batch_size=4096).write_parquet(str(target))
        scored = pq.read_table(target)
        ids, given = len(scored["id"].unique()), pq.read_table(source).num_rows
        if not len(scored) == ids == given:
            sys.exit(f"{len(scored)} rows, {ids} ids, {given} in the input: do not use {target}")
        mean = sum(scored["reward"].to_pylist()) / given
        print(f"{len(scored)} rows, {ids} ids, {given} in the input; mean reward {mean:.3f}")


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    main()
