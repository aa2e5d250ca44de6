"""Tools: how each way of describing one becomes a `ToolSpec`."""

from .specs import ToolLike, to_tools

__all__ = ["ToolLike", "to_tools"]
