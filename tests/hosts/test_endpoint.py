"""A real agent solves a task by the model endpoint, untouched, through both of OpenAI's APIs.

That the other hosts run by it as well is seen in `test_hosts.py`, whose model it is.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.hosts.environments import ROOT, hosts, interpreter

pytestmark = pytest.mark.hosts


def test_openai_agents_recovers_from_a_failing_request_in_each_way_of_asking() -> None:
    python = interpreter(hosts()["openai-agents"])
    if python is None:
        pytest.skip("not installed; python tests/hosts/environments.py openai-agents")
    environment = {key: value for key, value in os.environ.items() if "_proxy" not in key.lower()}
    done = subprocess.run(
        [python, str(ROOT / "tests" / "hosts" / "openai_agents_endpoint.py")],
        capture_output=True, text=True, timeout=300, check=False,
        env=environment | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    ways = ["chat, whole", "chat, streamed", "responses, whole", "responses, streamed"]
    assert list(found) == ways
    for way in ways:
        assert found[way] == {
            "answer": "Done.",
            "calls_are_right": True,
            "turns": [1, 2],
            "codes": [None, None, "fault", None],
            "is_injected": True,
        }
