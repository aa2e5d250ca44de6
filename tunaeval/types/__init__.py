"""What packages exchange: calls, messages, results, and the protocols that plug-ins implement.

A name's module is imported when the name is first used, since a parse needs few of them; type
checkers read `__init__.pyi`. `types.runs` and others with pydantic models are imported by
themselves.
"""

from importlib import import_module

_NAMES = {
    "calls": "JsonObject JsonValue Repair Source Span ToolCall Tools ToolSpec",
    "conversations": "Conversation",
    "exchange": "AgentRun AgentTask Reply Request Streamed",
    "messages": "Message ToolExecution Usage",
    "parsing": "Diagnosis Level Outcome ParseResult",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a name's module when it is first used (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tunaeval.types' has no attribute {name!r}")
    thing: object = getattr(import_module(f"tunaeval.types.{_HOMES[name]}"), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted(_HOMES)
