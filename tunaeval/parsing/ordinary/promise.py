"""What a reader of blocks promises.

It is made once, from the words of a format. It is given the text, where a block begins, where its
opener ends, the tools, and the calls so far. It adds the calls of the block and returns where the
block ends, or returns `ENGINE` if only the engine can tell. When it has added no call, what it
passed over is content.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tunaeval.types import ToolCall, Tools

ENGINE = -1

BlockReader: TypeAlias = Callable[[str, int, int, Tools | None, list[ToolCall]], int]
