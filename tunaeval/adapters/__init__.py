"""Frameworks' messages as the library's own, and their tools recorded, a file per framework."""

from .openai import to_messages
from .tools import wrap_tool

__all__ = ["to_messages", "wrap_tool"]
