"""The models that can be asked: over HTTP, embedded, from a recording, from a script.

The only package with a network. Nothing is imported until it is named: httpx2 costs a start-up more
than everything else of tunaeval together.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # For type checkers; at run time `__getattr__` below imports them one by one.
    from ._answers import error_words, read_usage
    from ._broken import LOOPBACK
    from ._network import Network
    from ._redaction import KeyFilter
    from ._server import Heard, Server, read_key
    from .llamacpp import LlamaCppClient
    from .openai import OpenAIClient
    from .recording import Recording, read_recording, write_recording
    from .replay import ReplayClient
    from .scripted import ScriptedClient

_MODULES = {
    "LOOPBACK": "_broken",
    "Heard": "_server",
    "KeyFilter": "_redaction",
    "LlamaCppClient": "llamacpp",
    "Network": "_network",
    "OpenAIClient": "openai",
    "Recording": "recording",
    "ReplayClient": "replay",
    "ScriptedClient": "scripted",
    "Server": "_server",
    "error_words": "_answers",
    "read_key": "_server",
    "read_recording": "recording",
    "read_usage": "_answers",
    "write_recording": "recording",
}

__all__ = [
    "LOOPBACK",
    "Heard",
    "KeyFilter",
    "LlamaCppClient",
    "Network",
    "OpenAIClient",
    "Recording",
    "ReplayClient",
    "ScriptedClient",
    "Server",
    "error_words",
    "read_key",
    "read_recording",
    "read_usage",
    "write_recording",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
