"""The places of files that belong to a test: beside it, by its module and name."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

_UNSAFE = re.compile(r"[^\w.=-]+")
_LONGEST = 100


def beside(node: pytest.Item, folder: str, ending: str) -> Path:
    """Return `FOLDER/MODULE/TEST.ENDING`; unsafe characters become dashes plus a digest."""
    inner = node.nodeid.partition("::")[2].replace("::", ".")
    name = _UNSAFE.sub("-", inner).strip("-")
    if len(name) > _LONGEST or name != inner:
        digest = hashlib.sha256(inner.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        name = f"{name[:_LONGEST]}-{digest}"
    return node.path.parent / folder / node.path.stem / f"{name}{ending}"
