"""What is asked for on the command line, and what a session keeps."""

from __future__ import annotations

from typing import Any

import pytest

OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("record", {"action": "store_true", "help": "record cassettes anew, asking the base URL"}),
    ("update", {"action": "store_true", "help": "write the expectations of tunaeval_expected"}),
    ("client", {"metavar": "NAME", "help": "the client that suites are asked of"}),
    ("base-url", {"metavar": "URL", "help": "the server that is asked, by suites and --record"}),
    ("model", {"metavar": "NAME", "help": "the model that is asked"}),
    ("recording", {"metavar": "FILE", "help": "replay this recording for suites"}),
    ("repeats", {"metavar": "N", "type": int, "default": 1, "help": "ask each scenario N times"}),
    ("baseline", {"metavar": "DIR", "help": "gate: not worse than this run, in pairs"}),
    (
        "margin",
        {"metavar": "POINTS", "type": float, "default": 5.0, "help": "of the baseline; default 5"},
    ),
    ("pass-k", {"metavar": "K=PERCENT", "help": "gate: K repeats all pass, so often at least"}),
    ("min-bound", {"metavar": "PERCENT", "type": float, "help": "gate: lower bound of the rate"}),
)
GATES = ("baseline", "pass-k", "min-bound")

MEASURED = pytest.StashKey[list[dict[str, Any]]]()
"""What each scenario came to, as JSON that a worker of xdist can send."""
VERDICTS = pytest.StashKey[list[tuple[bool, str]]]()
"""What the gates say."""
ASKER = pytest.StashKey[Any]()
"""Who asks the scenarios, once one was asked."""


def option(config: pytest.Config, name: str) -> Any:
    """The value of `--tunaeval-NAME`."""
    return config.getoption(f"tunaeval_{name.replace('-', '_')}")
