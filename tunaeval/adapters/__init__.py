"""Frameworks' messages as the library's own, a file per framework."""

from .openai import to_messages

__all__ = ["to_messages"]
