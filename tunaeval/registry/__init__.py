"""Named things that others can add to, what they have to be, and how they are called."""

from __future__ import annotations

from .calling import closed, guarded, made_client, reply_of
from .names import Entry, Registry, strays
from .shapes import Check, head, instance_of, is_async, maker_of

__all__ = [
    "Check",
    "Entry",
    "Registry",
    "closed",
    "guarded",
    "head",
    "instance_of",
    "is_async",
    "made_client",
    "maker_of",
    "reply_of",
    "strays",
]
