"""What every fault has to leave behind: no descriptor and no thread."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_OPEN = Path("/proc/self/fd")


def _descriptors() -> int:
    return sum(1 for _ in _OPEN.iterdir()) if _OPEN.exists() else 0


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # what lives now is not looked at again: with all tests loaded, that takes a second
    before, threads = _descriptors(), set(threading.enumerate())
    yield
    for _ in range(600):  # what was closed a moment ago may take one more
        gc.collect()
        left = [thread for thread in threading.enumerate() if thread not in threads]
        if _descriptors() <= before and not left:
            return
        time.sleep(0.05)
    assert _descriptors() <= before, "a descriptor is left open"
    assert not left, f"threads are left: {left}"
