"""The functions of the public API that join several packages: run, score, compare, match, sessions.

`tunaeval` itself names them. A module here is imported when its first name is used, so that
nobody loads what they do not call.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # For type checkers; at run time `__getattr__` below imports them one by one.
    from .agents import COMMAND, AgentClient, CommandClient
    from .calibrating import calibrate
    from .comparing import compare
    from .expecting import Expected, expect
    from .extensions import registries
    from .looking import looked_at
    from .running import EMBEDDED, arun, run
    from .score_files import read_scores
    from .scores import ascore, score
    from .sessions import ScoringSession, scoring_session
    from .switches import from_environment
    from .verdicts import match

_MODULES = {
    "AgentClient": "agents",
    "COMMAND": "agents",
    "CommandClient": "agents",
    "EMBEDDED": "running",
    "Expected": "expecting",
    "ScoringSession": "sessions",
    "arun": "running",
    "ascore": "scores",
    "calibrate": "calibrating",
    "compare": "comparing",
    "expect": "expecting",
    "from_environment": "switches",
    "match": "verdicts",
    "looked_at": "looking",
    "registries": "extensions",
    "read_scores": "score_files",
    "run": "running",
    "score": "scores",
    "scoring_session": "sessions",
}

__all__ = [
    "COMMAND",
    "EMBEDDED",
    "AgentClient",
    "CommandClient",
    "Expected",
    "ScoringSession",
    "arun",
    "ascore",
    "calibrate",
    "compare",
    "expect",
    "from_environment",
    "looked_at",
    "match",
    "read_scores",
    "registries",
    "run",
    "score",
    "scoring_session",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = found
    return found
