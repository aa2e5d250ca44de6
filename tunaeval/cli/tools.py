"""Tools as a command line names them: a JSON file, or a built-in catalogue."""

from __future__ import annotations

import json
from pathlib import Path

from tunaeval.errors import ToolsError, UnknownNameError
from tunaeval.files.plain_files import is_there, read_plain
from tunaeval.runs.suites.loading import catalogue_names, load_catalogue
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import Tools


def read_tools(name: str) -> Tools:
    """Return the tools of a catalogue, or of a file with a list of tools or {"tools": [...]}."""
    path = Path(name)
    if name in catalogue_names():
        return load_catalogue(name)
    if not (path.suffix or is_there(path)):
        raise UnknownNameError("tool catalogue or file", name, catalogue_names())
    text = _text(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolsError(f"{name}: this is no JSON: {error}; wanted a list of tools") from error
    if isinstance(value, dict) and isinstance(value.get("tools"), list):
        value = value["tools"]
    if not isinstance(value, list):
        raise ToolsError(
            f'{name}: found {text.strip()[:40]!r}; wanted a list of tools, or {{"tools": [...]}}'
        )
    try:
        return to_tools(value)
    except ToolsError as error:
        raise ToolsError(f"{name}: {error}") from error


def _text(path: Path) -> str:
    try:
        return read_plain(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ToolsError(
            f"{path} cannot be read: {why}; wanted a JSON file with a list of tools"
        ) from error
