"""`tunaeval plugins`: what is registered, who brought it, and what is broken and why."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from tunaeval.errors import UnknownNameError
from tunaeval.plugins import looked_at, registries
from tunaeval.registry import strays

from .output import Output, print_listing


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 1 if something that is listed cannot be used."""
    groups = registries()
    lost = strays([registry.group for registry in groups.values()])
    if arguments.group is not None:
        if arguments.group not in groups:
            raise UnknownNameError("group", arguments.group, groups)
        groups, lost = {arguments.group: groups[arguments.group]}, []
    rows = [asdict(entry) for entry in (*looked_at(groups.values()), *lost)]
    columns = ("group", "name", "status", "source", "reason")
    print_listing(output, "plugins", rows, columns, as_json=arguments.json)
    return 0 if all(row["status"] == "ok" for row in rows) else 1
