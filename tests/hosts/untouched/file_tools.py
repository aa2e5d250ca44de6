"""The tools of agents that bring none: files and commands of the directory that they work in."""

from __future__ import annotations

import subprocess
from pathlib import Path


def read_file(filepath: str) -> str:
    """Read a file.

    Args:
        filepath: Its path from the root of the repository.
    """
    path = Path(filepath)
    return path.read_text("utf-8") if path.is_file() else f"Error: {filepath} is not there"


def update_file(filepath: str, target: str, patch: str) -> str:
    """Replace a text in a file.

    Args:
        filepath: Its path from the root of the repository.
        target: The text that is there now.
        patch: The text that takes its place.
    """
    path = Path(filepath)
    text = path.read_text("utf-8") if path.is_file() else ""
    if target not in text:
        return f"Error: {filepath} has no {target!r}"
    path.write_text(text.replace(target, patch, 1), "utf-8")
    return "updated"


def bash(command: str) -> str:
    """Run a command.

    Args:
        command: As a shell reads it.
    """
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    return f"exit {done.returncode}\n{done.stdout}{done.stderr}"


TOOLS = (read_file, update_file, bash)
