"""The built-in suites and tool catalogues: their names, files and descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class BuiltIn(NamedTuple):
    """A file in this folder, and a line about its content."""

    file: str
    about: str


SUITES: Mapping[str, BuiltIn] = {
    "everyday": BuiltIn(
        "everyday.jsonl",
        "calendar, mail, files, weather, a shop, a database: one call, several, near misses, none",
    ),
    "repair-tasks": BuiltIn(
        "tasks/repair-tasks.json",
        "twelve tasks of many turns in small repositories, graded by what is left behind",
    ),
    "smoke": BuiltIn("smoke.json", "a first look: twelve scenarios of tunacode, every tool once"),
    "tunacode": BuiltIn(
        "tunacode.jsonl",
        "eight tools of a coding agent: options, near misses, paths, quotes, no call, several",
    ),
}

CATALOGUES: Mapping[str, BuiltIn] = {
    "tunacode-0.2": BuiltIn(
        "catalogues/tunacode-0.2.json", "the six tools of TunaCode since its version 0.2"
    ),
    "tunacode-2025-12": BuiltIn(
        "catalogues/tunacode-2025-12.json",
        "the twelve tools of the TunaCode agent in December 2025",
    ),
}

FAULTS: Mapping[str, BuiltIn] = {
    "agent": BuiltIn("faults/agent.json", "what a whole agent meets: results, replies, the server"),
    "model": BuiltIn("faults/model.json", "what a model meets whose tools are run here: results"),
}

DEFAULT_CATALOGUE = "tunacode-2025-12"
DEFAULT_PROMPT = "prompts/tunacode.md"
"""The system prompt of suites that have none of their own."""
