"""Named things that others can add to, what they have to be, and how they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunaeval.later import imported_later

if TYPE_CHECKING:
    # For type checkers; at run time each is imported when it is asked for.
    from .calling import closed, guarded, made_client, reply_of
    from .importing import import_seconds, not_imported, too_long
    from .names import Entry, Registry, in_order, strays
    from .shapes import Check, head, instance_of, is_async, maker_of

_HOMES = {
    "Check": "shapes",
    "Entry": "names",
    "Registry": "names",
    "closed": "calling",
    "guarded": "calling",
    "head": "shapes",
    "import_seconds": "importing",
    "in_order": "names",
    "instance_of": "shapes",
    "is_async": "shapes",
    "made_client": "calling",
    "maker_of": "shapes",
    "not_imported": "importing",
    "reply_of": "calling",
    "strays": "names",
    "too_long": "importing",
}

__all__ = [
    "Check",
    "Entry",
    "Registry",
    "closed",
    "guarded",
    "head",
    "import_seconds",
    "in_order",
    "instance_of",
    "is_async",
    "made_client",
    "maker_of",
    "not_imported",
    "reply_of",
    "strays",
    "too_long",
]

__getattr__ = imported_later(__name__, _HOMES)
