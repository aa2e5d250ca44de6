"""What callers give, as the parser takes it: a text, tools, and names that mean no call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.types import Tools

if TYPE_CHECKING:
    from tunaeval.tools import ToolLike

AnyTools: TypeAlias = "Tools | Iterable[ToolLike] | None"


def known_text(text: object) -> str:
    """The text of a str, or of a subclass of it, whose own `str()` may say something else."""
    if not isinstance(text, str):
        raise UsageError(f"a text is a str, not {type(text).__name__}{_advice(text)}")
    return str.__str__(text)


def _advice(thing: object) -> str:
    if isinstance(thing, bytes | bytearray):
        return "; decode bytes first"
    if isinstance(thing, Mapping):
        return "; messages are read by parse_message"
    return "; many texts are read by parse_many" if isinstance(thing, Iterable) else ""


def may_abstain(abstain: object) -> bool:
    """Whether names may be given that mean no call; the empty tuple of most callers has none.

    Anything else is looked at, so that an empty string is refused as any string is.
    """
    return bool(abstain) or type(abstain) is not tuple


def known_tools(tools: AnyTools) -> Tools | None:
    """The tools as the parser takes them."""
    if tools is None or type(tools) is Tools:
        return tools
    from tunaeval.tools import to_tools  # noqa: PLC0415 - what describes a tool: most have done it

    return to_tools(tools)
