"""The tools of hosts that have none of their own, and what they are tried with."""

from __future__ import annotations

from tests.hosts.host_runs import cases
from tests.hosts.scripted_server import Call


def read(path: str) -> str:
    """Read a file.

    Args:
        path: Which file.
    """
    return f"contents of {path}"


async def fail(path: str) -> str:
    """Raise, whatever it is given.

    Args:
        path: Which file.
    """
    raise ValueError(f"{path} cannot be read")


def fail_at_once(path: str) -> str:
    """Raise, whatever it is given.

    Args:
        path: Which file.
    """
    raise ValueError(f"{path} cannot be read")


def check(path: str) -> str:
    """Say that something is wrong.

    Args:
        path: Which file.
    """
    return f"Error: {path} is not there"


CASES = cases(
    Call("call_a", "read", {"path": "a.txt"}),
    Call("call_b", "read", {"path": "b.txt"}),
    Call("call_c", "fail", {"path": "c.txt"}),
    Call("call_d", "check", {"path": "d.txt"}),
)
