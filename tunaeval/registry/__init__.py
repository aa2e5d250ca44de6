"""Named things that others can add to, what they have to be, and how they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunaeval.later import imported_later

if TYPE_CHECKING:
    # For type checkers; at run time each is imported when it is asked for.
    from .calling import closed, guarded, made_client, reply_of
    from .names import Entry, Registry, strays
    from .shapes import Check, head, instance_of, is_async, maker_of

_HOMES = {
    "Check": "shapes",
    "Entry": "names",
    "Registry": "names",
    "closed": "calling",
    "guarded": "calling",
    "head": "shapes",
    "instance_of": "shapes",
    "is_async": "shapes",
    "made_client": "calling",
    "maker_of": "shapes",
    "reply_of": "calling",
    "strays": "names",
}

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

__getattr__ = imported_later(__name__, _HOMES)
