"""A model on loopback for agents under test: by a script, from a cassette, or passed on.

It sees everything below and is seen by the public functions alone. Nothing is imported until it
is named: a server costs a start-up.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # For type checkers; at run time `__getattr__` below imports them one by one.
    from .exchange import EndpointTurn, MadeCalls, ModelRequest
    from .masking import MASKS, checked_masks, masked
    from .serving import ModelEndpoint, model_endpoint

_MODULES = {
    "MASKS": "masking",
    "EndpointTurn": "exchange",
    "MadeCalls": "exchange",
    "ModelEndpoint": "serving",
    "ModelRequest": "exchange",
    "checked_masks": "masking",
    "masked": "masking",
    "model_endpoint": "serving",
}

__all__ = [
    "MASKS",
    "EndpointTurn",
    "MadeCalls",
    "ModelEndpoint",
    "ModelRequest",
    "checked_masks",
    "masked",
    "model_endpoint",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = found
    return found
