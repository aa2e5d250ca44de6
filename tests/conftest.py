"""How long hypothesis looks: `default` for those who wait, `ci`, and `nightly` for those who sleep.

HYPOTHESIS_PROFILE names one of them; without it CI=true means `ci`. Tests that are marked slow, ray
or trainers are skipped unless some marks are asked for.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

# Both of these measure the machine, which may be busy, and not the code.
_CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", _CALM, max_examples=100)
# The same examples in every run: what is merged today does not fail by tomorrow's luck.
_STEADY = settings(_CALM, derandomize=True, print_blob=True)
settings.register_profile("ci", _STEADY, max_examples=50)
# For `mutants.py`, which runs the tests for each of hundreds of mutants: that one fails is enough.
_FOUND = (Phase.explicit, Phase.generate)
settings.register_profile("few", _STEADY, max_examples=15, phases=_FOUND)
settings.register_profile("nightly", _CALM, max_examples=10_000, print_blob=True)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "default")
)

ASKED_FOR = ("slow", "ray", "trainers")
"""Marks of tests that are left out unless some mark is asked for."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("-m"):
        for item in items:
            for mark in ASKED_FOR:
                if item.get_closest_marker(mark):
                    item.add_marker(pytest.mark.skip(reason=f"{mark}; ask for it with -m {mark}"))
