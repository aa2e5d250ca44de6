"""The options on the command line, and the values that a session stashes."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import pytest

from tunaeval.files.plain_files import is_directory

_FLAG: dict[str, Any] = {"action": "store_true"}
OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("record", "record cassettes again, from the base URL", _FLAG),
    ("update", "write the expectation files of tunaeval_expected", _FLAG),
    ("client", "the client that answers suites", {"metavar": "NAME"}),
    ("base-url", "the server for suites and for recording", {"metavar": "URL"}),
    ("model", "the model that the server is asked for", {"metavar": "NAME"}),
    ("recording", "replay this recording for suites", {"metavar": "FILE"}),
    ("repeats", "ask each scenario N times", {"metavar": "N", "type": int, "default": 1}),
    ("baseline", "gate: the suite is surely not worse than this run", {"metavar": "DIR"}),
    ("margin", "the margin of --tunaeval-baseline; default 5",
     {"metavar": "POINTS", "type": float, "default": 5.0}),
    ("pass-k", "gate: least share of scenarios whose K repeats all pass", {"metavar": "K=PERCENT"}),
    ("min-bound", "gate: least lower bound of the pass rate",
     {"metavar": "PERCENT", "type": float}),
)  # fmt: skip
"""The options: the name behind `--tunaeval-`, the help, and further settings."""
GATES = ("baseline", "pass-k", "min-bound")

MEASURED = pytest.StashKey[list[dict[str, Any]]]()
"""The result of each scenario, as JSON that a worker of xdist can send."""
VERDICTS = pytest.StashKey[list["SuiteLine"]]()
"""The lines about suites and gates."""
FAILED = pytest.StashKey[bool]()
"""Whether a phase of the test has failed."""

ASKER = pytest.StashKey[Any]()
"""The `Asker` that asks scenarios, created with the first one."""


class SuiteLine(NamedTuple):
    """A line about a suite: its result, or the result of a gate."""

    words: str
    gate: Literal["passed", "failed", "too little data"] | None = None
    """None if it is no gate. A gate with too little data fails."""

    @property
    def fails(self) -> bool:
        """Whether this makes the session fail."""
        return self.gate not in {None, "passed"}

    def __str__(self) -> str:
        if self.gate is None:
            return self.words
        if self.gate == "too little data":
            return f"GATE FAILED ({self.gate}): {self.words}"
        return f"GATE {self.gate.upper()}: {self.words}"


def check_options(config: pytest.Config) -> None:
    """Raise pytest's UsageError for an invalid option, before any model is asked."""
    repeats, margin = option(config, "repeats"), option(config, "margin")
    if repeats < 1:
        raise _refused("repeats", repeats, "a whole number, 1 or more")
    if not 0 <= margin <= 100:
        raise _refused("margin", margin, "points, from 0 to 100")
    bound = option(config, "min-bound")
    if bound is not None and not 0 <= bound <= 100:
        raise _refused("min-bound", bound, "a percentage, from 0 to 100")
    baseline = option(config, "baseline")
    if baseline is not None and not is_directory(baseline):
        raise _refused("baseline", baseline, "the directory of a run, or of runs")
    if (wanted := option(config, "pass-k")) is not None:
        k, _ = read_pass_k(wanted)
        if k > repeats:
            raise _refused("pass-k", wanted, f"at most as many as --tunaeval-repeats, {repeats}")


def read_pass_k(wanted: str) -> tuple[int, float]:
    """Return K and the percentage in "3=80". Raises pytest's UsageError."""
    k, _, percent = wanted.partition("=")
    try:
        read = int(k), float(percent)
    except ValueError:
        read = 0, 0.0
    if read[0] < 1 or not 0 <= read[1] <= 100:
        raise _refused("pass-k", wanted, "K=PERCENT, as in 3=80")
    return read


def _refused(name: str, value: object, wanted: str) -> pytest.UsageError:
    return pytest.UsageError(f"--tunaeval-{name} is {value!r}; wanted {wanted}")


def option(config: pytest.Config, name: str) -> Any:
    """Return the value of `--tunaeval-NAME`."""
    return config.getoption(f"tunaeval_{name.replace('-', '_')}")


def gates_asked(config: pytest.Config) -> bool:
    """Whether any gate was requested."""
    return any(option(config, gate) is not None for gate in GATES)
