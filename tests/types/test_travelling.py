"""The package itself goes to other processes: as a global of what is pickled by value."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tunaeval

CALL = '<tool_call>{"name": "f", "arguments": {"n": %d}}</tool_call>'

READING = """\
import sys, threading
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
import cloudpickle
import tunaeval

CALL = '<tool_call>{"name": "f", "arguments": {"n": %d}}</tool_call>'
gate = threading.Barrier(8)

def read(number):
    (call,) = tunaeval.parse(CALL % number, tools=[{"name": "f"}]).calls
    return call.arguments["n"]

def by_value(pickled):
    return cloudpickle.loads(pickled)(7)

def at_once(number):
    gate.wait()
    return read(number)

"""
IN_PROCESSES = """\
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(read, range(4)), pool.map(by_value, [cloudpickle.dumps(read)]))
"""
BY_VALUE = "print(cloudpickle.loads(cloudpickle.dumps(read))(7))\n"
IN_THREADS = """\
with ThreadPoolExecutor(8) as pool:
    print(list(pool.map(at_once, range(8))))
"""


@pytest.mark.parametrize(
    ("uses", "printed"),
    [
        (IN_PROCESSES, "[0, 1, 2, 3] [7]\n"),
        (BY_VALUE, "7\n"),
        (IN_THREADS, "[0, 1, 2, 3, 4, 5, 6, 7]\n"),
    ],
    ids=["spawned processes", "by value", "threads that begin together"],
)
def test_a_function_with_the_package_as_a_global_goes_anywhere(
    uses: str, printed: str, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(READING + uses)
    done = subprocess.run(
        [sys.executable, "program.py"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
        env={"PYTHONPATH": str(Path(tunaeval.__file__).parent.parent)},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (printed, "")


def test_one_list_of_tools_serves_many_threads() -> None:
    tools = tunaeval.to_tools([{"name": "f"}])
    with ThreadPoolExecutor(8) as pool:
        read = pool.map(lambda n: tunaeval.parse(CALL % n, tools=tools).calls[0], range(2_000))
        assert [call.arguments["n"] for call in read] == [*range(2_000)]


@pytest.mark.ray
def test_a_remote_function_uses_the_package() -> None:
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install '.[ray]'")

    def read(number: int) -> int:
        (call,) = tunaeval.parse(CALL % number).calls
        return int(call.arguments["n"])

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        remote = ray.remote(read)
        assert ray.get([remote.remote(number) for number in range(4)]) == [0, 1, 2, 3]
    finally:
        ray.shutdown()
