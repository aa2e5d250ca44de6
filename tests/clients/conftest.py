"""The environment of client tests: no key and no address but those that a test sets."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (
        "TUNAEVAL_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "TUNAEVAL_MODEL_FILE",
    ):
        monkeypatch.delenv(variable, raising=False)
