"""Everything that can be extended, by entry-point group."""

from __future__ import annotations

from typing import Any

from tunaeval.grading import checks
from tunaeval.parsing import formats
from tunaeval.registry import Registry, instance_of, maker_of
from tunaeval.reports import WRITERS
from tunaeval.scoring import SCORERS
from tunaeval.tools import classifiers
from tunaeval.types.roles import Client, Scorer, Writer

PAGE_WRITERS = {"html": "tunaeval.viewer:page_writer"}
"""The writer that reads replies again, and so lives above the reports."""

_CLIENTS = {
    "llamacpp": "tunaeval.clients:LlamaCppClient",
    "openai": "tunaeval.clients:OpenAIClient",
    "replay": "tunaeval.clients:ReplayClient",
    "scripted": "tunaeval.clients:ScriptedClient",
}

scorers: Registry[Scorer] = Registry(
    "tunaeval.scorers", "scoring category", builtins=SCORERS, check=instance_of(Scorer)
)
clients: Registry[Any] = Registry(  # what makes a Client: its class, or a callable
    "tunaeval.clients", "client", builtins=_CLIENTS, check=maker_of(Client)
)
writers: Registry[Writer] = Registry(
    "tunaeval.writers", "report writer", builtins=WRITERS | PAGE_WRITERS, check=instance_of(Writer)
)


def registries() -> dict[str, Registry[Any]]:
    """The registries by the last word of their group."""
    return {
        "parsers": formats,
        "scorers": scorers,
        "clients": clients,
        "writers": writers,
        "classifiers": classifiers,
        "checks": checks,
    }
