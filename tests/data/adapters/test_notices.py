"""Every warning that can be given is a row of the reference, word for word."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tunaeval.data.adapters.documents import DOCUMENT_SHAPES
from tunaeval.data.adapters.reading import NOTICES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/reference/transcripts.md").read_text("utf-8")


def test_the_reference_has_every_warning() -> None:
    section = PAGE.partition("## Warnings")[2]
    assert dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", section, re.MULTILINE)) == NOTICES


def test_the_reference_has_every_shape() -> None:
    section = PAGE.partition("## Shapes")[2].partition("## ")[0]
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.MULTILINE)) == {
        *DOCUMENT_SHAPES, "tunaeval",
    }  # fmt: skip


def test_a_warning_has_one_of_the_codes() -> None:
    given = {
        str(node.args[0].value)
        for path in (ROOT / "tunaeval/data/adapters").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
        if getattr(node.func, "attr", getattr(node.func, "id", "")) in {"notice", "Notice"}
    }
    assert given <= NOTICES.keys()
    assert NOTICES.keys() - given == {"invalid-arguments"}  # a constant, shared with the repair
