"""What a reader of blocks promises.

It is made once, from the words of a format. It is given the text, where a block begins, where its
opener ends, the tools, and the calls so far. It adds the calls of the block and returns where the
block ends, or returns `UNSURE` if it is not certain. When it has added no call, what it
passed over is content.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tunaeval.types import JsonObject, ToolCall, Tools

UNSURE = -1

FENCE = "```"
"""Of Markdown: what is in it may be code."""

BlockReader: TypeAlias = Callable[[str, int, int, Tools | None, list[ToolCall]], int]

AddressedReader: TypeAlias = Callable[[str, int, str, Tools | None], tuple[JsonObject, int] | None]
"""The same for a call whose tool's name is given, because a header before it has it.

It is given the text, where the body begins, the name and the tools; it returns the arguments and
where they end, or None.
"""
