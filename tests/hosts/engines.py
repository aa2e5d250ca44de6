"""vLLM and SGLang without a GPU: their own Python, with stubs in place of torch and the like.

    python tests/hosts/engines.py [NAME ...]

downloads the wheels of these releases, or of all, and unpacks their Python below `.host-envs/` in
the checkout, or below the directory that TUNAEVAL_HOST_ENVS names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
RELEASES = ("vllm-0.32.0", "vllm-0.33.0", "sglang-0.5.22", "sglang-0.5.23")
"""The last two releases of each."""


def directory(release: str) -> Path:
    return Path(os.environ.get("TUNAEVAL_HOST_ENVS") or ROOT / ".host-envs") / release


def install(release: str) -> None:
    name, _, version = release.partition("-")
    with TemporaryDirectory() as place:
        wanted = [f"{name}=={version}", "--no-deps", "--dest", place]
        subprocess.run([sys.executable, "-m", "pip", "download", *wanted], check=True)
        (wheel,) = Path(place).glob("*.whl")
        with ZipFile(wheel) as packed:
            files = [one for one in packed.namelist() if one.startswith(f"{name}/")]
            packed.extractall(directory(release), [one for one in files if one.endswith(".py")])


class Engine:
    """A process with a release's own parsers, which is asked with one line of JSON at a time."""

    def __init__(self, release: str, *arguments: str) -> None:
        name = release.partition("-")[0]
        if not (directory(release) / name).is_dir():
            pytest.skip(f"{release} is not here; python tests/hosts/engines.py {release}")
        program = Path(__file__).with_name("programs") / f"{name}_parser.py"
        self._process = subprocess.Popen(
            [sys.executable, str(program), str(directory(release)), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    def ask(self, **question: Any) -> Any:
        """Return the answer of the program to a question."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        while line := process.stdout.readline():
            if line.startswith("> "):  # others are what the engine prints
                return json.loads(line[2:])
        raise AssertionError(f"{process.args!r} ended with {process.wait()}")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


if __name__ == "__main__":
    for each in sys.argv[1:] or RELEASES:
        install(each)
