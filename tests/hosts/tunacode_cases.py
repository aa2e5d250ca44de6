"""What both TunaCodes are tried with, by tools that both have."""

from __future__ import annotations

from tests.hosts.host_runs import cases
from tests.hosts.scripted_server import Call

CASES = cases(
    Call("call_a", "read_file", {"filepath": "a.txt"}),
    Call("call_b", "read_file", {"filepath": "b.txt"}),
    Call("call_c", "read_file", {"filepath": "gone.txt"}),
    Call("call_d", "bash", {"command": "exit 3"}),
)
