"""An adapter of transcripts: the diaries that Acme's agent writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Diary:
    """Reads a diary: `{"acme diary": [["user", "Go."], ["agent", "Done."]]}`."""

    name = "acme-diary"

    def reads(self, document: object) -> bool:
        return isinstance(document, dict) and "acme diary" in document

    def read(self, document: Any) -> Iterator[object]:
        roles = {"agent": "assistant"}
        entries = document["acme diary"]
        yield [{"role": roles.get(who, who), "content": text} for who, text in entries]


DIARY = Diary()
