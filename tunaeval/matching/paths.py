"""Normalization of file system paths that are written differently and mean the same.

    "src/" is "src", "./src" is "src", "a//b/./c" is "a/b/c", "./" is "."

"/" and "" stay unchanged, and so does "..", because of links. Only arguments that a tool declares
as paths, or that an expectation calls one, are normalized: never contents or commands.
"""

from __future__ import annotations

from tunaeval.types.calls import JsonValue


def normalised(value: JsonValue) -> JsonValue:
    """Return the path, or the list of paths, in its normal form; other values unchanged."""
    if isinstance(value, str):
        return _normalised_path(value)
    if isinstance(value, list):
        return [_normalised_path(item) if isinstance(item, str) else item for item in value]
    return value


def _normalised_path(path: str) -> str:
    root = "/" if path.startswith("/") else ""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    return root + "/".join(parts) or ("." if path else "")
