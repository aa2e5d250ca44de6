"""The built-in suites and tool catalogues: their names, files and descriptions."""

from __future__ import annotations

from typing import NamedTuple

from tunaeval.files.plain_files import table_of


class BuiltIn(NamedTuple):
    """A file in this folder, and a line about its content."""

    file: str
    about: str


SUITES, CATALOGUES, FAULTS = (
    {name: BuiltIn(**one) for name, one in table_of(__package__, "built-in.toml")[kind].items()}
    for kind in ("suites", "catalogues", "faults")
)

DEFAULT_CATALOGUE = "tunacode-2025-12"
DEFAULT_PROMPT = "prompts/tunacode.md"
"""The system prompt of suites that have none of their own, with tools of a catalogue."""
