"""Where reports go: one clear error when a file cannot be written."""

from __future__ import annotations

from pathlib import Path

from tunaeval.errors import RecordError


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, making the directories above; RecordError when that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(
            f"the report cannot be written to {str(path)!r}: {error.strerror or error}; "
            "choose a place that can be written"
        ) from error
