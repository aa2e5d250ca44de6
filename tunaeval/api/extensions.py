"""The registries of everything that can be extended, by entry-point group."""

from __future__ import annotations

from typing import Any

from tunaeval.parsing.api import formats
from tunaeval.registry import Registry, instance_of, maker_of
from tunaeval.reports import WRITERS
from tunaeval.runs.grading.grades import checks
from tunaeval.scoring import SCORERS
from tunaeval.scoring.assess import is_weight
from tunaeval.tools.success import classifiers
from tunaeval.types.roles import Client, Scorer, Writer

PAGE_WRITERS = {"html": "tunaeval.runs.viewer.html:page_writer"}
"""The writer that parses replies again, which is why it is in a layer above the reports."""

_CLIENTS = {
    "llamacpp": "tunaeval.models.clients.llamacpp:LlamaCppClient",
    "openai": "tunaeval.models.clients.openai:OpenAIClient",
    "replay": "tunaeval.models.clients.replay:ReplayClient",
    "scripted": "tunaeval.models.clients.scripted:ScriptedClient",
}

_no_scorer = instance_of(Scorer)


def _scorer_fault(thing: Any) -> str | None:
    """Return what is wrong with a scorer's shape, else with its weight, else None."""
    if fault := _no_scorer(thing):
        return fault
    weight = thing.weight
    return None if is_weight(weight) else f"its weight is {weight!r:.60}; wanted a number from 0 up"


scorers: Registry[Scorer] = Registry(
    "tunaeval.scorers", "scoring category", builtins=SCORERS, check=_scorer_fault
)
clients: Registry[Any] = Registry(  # each thing makes a Client: a class, or a callable
    "tunaeval.clients", "client", builtins=_CLIENTS, check=maker_of(Client)
)
writers: Registry[Writer] = Registry(
    "tunaeval.writers", "report writer", builtins=WRITERS | PAGE_WRITERS, check=instance_of(Writer)
)


def registries() -> dict[str, Registry[Any]]:
    """Return the registries by the last word of their entry-point group.

    Examples:
        >>> sorted(tunaeval.registries())
        ['checks', 'classifiers', 'clients', 'parsers', 'scorers', 'writers']
    """
    return {
        "parsers": formats,
        "scorers": scorers,
        "clients": clients,
        "writers": writers,
        "classifiers": classifiers,
        "checks": checks,
    }
