"""How a command runs an agent: its base URL and prompt as words, its answer on standard output."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Work = Callable[[str, str], Coroutine[Any, Any, str]]
"""Is given the base URL and the prompt, works in the current directory, and returns an answer."""

MODEL = "gpt-4o"


def main(work: Work) -> None:
    """Print the answer, and nothing else that an agent prints.

    `python` is this interpreter for what the agent runs, and its home an empty directory.
    """
    logging.disable()
    out = sys.stdout
    sys.stdout = sys.stderr
    _, base_url, prompt = sys.argv
    with TemporaryDirectory(prefix="home-") as home:
        _settle(home)
        answer = asyncio.run(work(base_url, prompt))
    print(answer, file=out, flush=True)


def _settle(home: str) -> None:
    path = os.environ.get("PATH", "")
    os.environ |= {
        "HOME": home,
        "XDG_DATA_HOME": home,
        "XDG_CONFIG_HOME": home,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{path}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    os.environ.pop("PYTHONPATH", None)  # which leads to this package, for this process alone
